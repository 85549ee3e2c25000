//! Which of several pairs with the same count is merged: part of what a tokenizer is.

use std::cmp::Ordering;

/// The rule among pairs with the largest count. Each value reproduces a published implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// The pair whose first occurrence comes first, reading the words in the order given.
    FirstSeen,
    /// The smaller (left text, right text), compared by bytes, which is by code points.
    Lexicographic,
    /// The smaller (left id, right id): HF tokenizers.
    LowestId,
    /// The greater (left text, right text): subword-nmt.
    Greatest,
    /// Fewer characters of the joined text, then the smaller joined text, then the smaller left
    /// text: SentencePiece, as read in its `bpe_model_trainer.cc`.
    SentencePiece,
}

/// What a rule may look at: a pair of piece ids, their texts, and where they stand first.
pub struct Tied<'a> {
    /// Left and right id.
    pub ids: (u32, u32),
    /// Left and right text.
    pub texts: (&'a [u8], &'a [u8]),
    /// Position of the first occurrence; only looked at by [`Ties::FirstSeen`].
    pub first: u32,
}

impl Ties {
    /// [`Ordering::Less`] if `a` goes before `b`, both having the same count.
    pub fn compare(self, a: &Tied<'_>, b: &Tied<'_>) -> Ordering {
        match self {
            Ties::FirstSeen => a.first.cmp(&b.first),
            Ties::Lexicographic => a.texts.cmp(&b.texts),
            Ties::LowestId => Ordering::Equal,
            Ties::Greatest => b.texts.cmp(&a.texts),
            Ties::SentencePiece => {
                let joined = |(left, right): (&[u8], &[u8])| {
                    let characters = characters(left) + characters(right);
                    (characters, [left, right].concat())
                };
                joined(a.texts).cmp(&joined(b.texts)).then_with(|| a.texts.0.cmp(b.texts.0))
            }
        }
        .then_with(|| a.ids.cmp(&b.ids))
    }
}

fn characters(text: &[u8]) -> usize {
    // Bytes that do not continue a character.
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
