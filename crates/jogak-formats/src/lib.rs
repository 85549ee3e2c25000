//! The long parts of tokenizer files, read fast: the lines of a rank file, of `vocab.txt` and of `merges.txt`, the pieces of
//! a SentencePiece model, vocabulary and merges of a `tokenizer.json`, the lists of jogak's own file.
//!
//! Rule: reads what is plain and as it should be, else nothing at all (`None`). Whoever is told nothing
//! reads the file the slow way (`jogak.formats`), which knows every spelling and says what is wrong, and
//! where. So what is read here, the slow way reads as well, and with the same result.

mod cursor;
pub mod json;
mod kind;
pub mod lines;
pub mod lists;
pub mod merges;
mod numbers;
pub mod ranks;
pub mod sentencepiece;

use jogak::vocab::Vocab;
pub use kind::{HEAD, Kind, LARGEST};
use sha2::{Digest, Sha256};

/// The SHA-256 of the bytes of a file, in hexadecimal digits: published files are known by it.
///
/// ```
/// let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// assert_eq!(jogak_formats::sha256(b""), empty);
/// ```
#[must_use]
pub fn sha256(data: &[u8]) -> String {
    Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a file as text, if they are that.
///
/// ```
/// assert_eq!(jogak_formats::text("밥".as_bytes()), Some("밥"));
/// assert_eq!(jogak_formats::text(b"\xFF"), None);
/// ```
#[must_use]
pub fn text(data: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(data).ok()
}

/// So many ids may stand for nothing; a file with more is taken for broken rather than given memory.
const MOST_HOLES: usize = 1_000_000;

/// Texts and their ids as a vocabulary, and the id of the empty text, which is a hole there; None if two have one
/// id, one has two, or too many ids are free. `texts` are one behind the other in `bytes`, each with its id and
/// where it ends.
fn by_id(bytes: Vec<u8>, texts: &[(u32, usize)]) -> Option<(Vocab, Option<u32>)> {
    let mut start = 0;
    let in_order = texts
        .iter()
        .zip(0..)
        .all(|(&(id, end), place)| id == place && std::mem::replace(&mut start, end) < end);
    if in_order {
        let vocab = Vocab::of_parts(bytes, texts.iter().map(|&(_, end)| end).collect());
        return (vocab.distinct() == texts.len()).then_some((vocab, None));
    }
    let size = texts.iter().map(|&(id, _)| id as usize + 1).max().unwrap_or(0);
    if size > texts.len() + MOST_HOLES {
        return None;
    }
    let mut places = vec![(0, 0); size];
    let (mut start, mut empty) = (0, None);
    for &(id, end) in texts {
        if start == end {
            if empty.replace(id).is_some() {
                return None;
            }
            continue;
        }
        let place = &mut places[id as usize];
        if place.1 > 0 {
            return None;
        }
        (*place, start) = ((start, end), end);
    }
    if empty.is_some_and(|id| places[id as usize].1 > 0) {
        return None;
    }
    let mut vocab = Vocab::with_capacity(size, bytes.len());
    places.into_iter().for_each(|(start, end)| vocab.push(&bytes[start..end]));
    (vocab.distinct() + usize::from(empty.is_some()) == texts.len()).then_some((vocab, empty))
}
