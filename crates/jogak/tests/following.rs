//! What the ids at the end of a text may become: whoever waits is asked whether to go on. The ways themselves are held to
//! their twin in plain Python, and to tiktoken, by the tests of the package.

use jogak::Error;
use jogak::added::Added;
use jogak::following::Following;
use jogak::model::{Bpe, BpeParts, Model};
use jogak::normalize::Normalizer;
use jogak::pipeline::Tokenizer;
use jogak::prepare::Prepare;
use jogak::pretokenize::Scheme;
use jogak::vocab::Vocab;

/// All bytes, and these pieces, whose ids are their ranks.
fn tokenizer(more: &[&str]) -> Tokenizer {
    let bytes = (0..=255).map(|byte| vec![byte]);
    let pieces: Vec<_> = bytes.chain(more.iter().map(|piece| piece.as_bytes().to_vec())).collect();
    let parts = BpeParts::of_bytes(Vocab::new(pieces));
    let model = Bpe::new(BpeParts { whole_word: true, ..parts });
    Tokenizer::new(
        Prepare::new(&[], &[Scheme::Cl100k]).expect("a front half"),
        Added::new(Vec::new(), &Normalizer::default()).expect("no tokens"),
        Model::Bpe(model.expect("a model")),
        1 << 20,
    )
}

/// Why nobody goes on.
#[derive(Debug, PartialEq)]
enum Stopped {
    Asked,
    Failed,
}

impl From<Error> for Stopped {
    fn from(_: Error) -> Self {
        Self::Failed
    }
}

#[test]
fn who_waits_is_asked_of_long_ends_alone() {
    let tokenizer = tokenizer(&["ab", "abc", "bc"]);
    let following = Following::new(tokenizer.model().bpe().expect("BPE").vocab());
    let ways = tokenizer.following(&following, b"xab", || Err(Stopped::Asked));
    assert_eq!(ways, Ok(vec![vec![120, 256], vec![120, 257]]));
    let long = "ab".repeat(1 << 18);
    let ways = tokenizer.following(&following, long.as_bytes(), || Err(Stopped::Asked));
    assert_eq!(ways, Err(Stopped::Asked));
    let mut asked = 0;
    let ways = tokenizer.following(&following, long.as_bytes(), || {
        asked += 1;
        Ok::<(), Stopped>(())
    });
    // "ab" and "abc" may begin at the last "a", "b" and "bc" at the last "b".
    assert_eq!((ways.map(|ways| ways.len()), asked), (Ok(2), 4));
}
