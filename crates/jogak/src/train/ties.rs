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
    /// Left and right text. For an alphabet of bytes each byte is the place of its printable character
    /// among all of them, so that texts compare as they are drawn.
    pub texts: (&'a [u8], &'a [u8]),
    /// How many bytes of the right text a merge strips.
    pub stripped: usize,
    /// Symbols are bytes.
    pub bytes: bool,
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
                let (joined, other) = (a.joined(), b.joined());
                (a.characters(&joined), &joined)
                    .cmp(&(b.characters(&other), &other))
                    .then_with(|| a.texts.0.cmp(b.texts.0))
            }
        }
        .then_with(|| a.ids.cmp(&b.ids))
    }
}

impl Tied<'_> {
    fn joined(&self) -> Vec<u8> {
        [self.texts.0, &self.texts.1[self.stripped..]].concat()
    }

    fn characters(&self, text: &[u8]) -> usize {
        if self.bytes {
            return text.len();
        }
        // Bytes that do not continue a character.
        text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
    }
}
