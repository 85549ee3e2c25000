//! Where no piece of a vocabulary lies across, told by its marks alone: a word falls into parts there.

/// Where no piece lies across: before `▁`, as far as the vocabulary allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cuts {
    /// Before every `▁`: no piece has one but in front.
    Each,
    /// Before every run of `▁`: no piece has one behind another character.
    Runs,
    /// Nowhere.
    Never,
}

const MARK: &[u8] = "▁".as_bytes();

/// Where every mark stands. (Few other characters begin with its first byte, and looking for one byte is faster.)
#[inline]
fn marks(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(MARK[0], text).filter(|&at| text[at..].starts_with(MARK))
}

impl Cuts {
    pub(super) fn new<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut cuts = Cuts::Each;
        for piece in pieces {
            let mut allowed = 0;
            for at in marks(piece) {
                if at > allowed {
                    return Cuts::Never;
                }
                if at > 0 {
                    cuts = Cuts::Runs;
                }
                allowed = at + MARK.len();
            }
        }
        cuts
    }

    /// Calls `each` with the parts of a word.
    #[inline]
    pub(super) fn for_each_part(self, word: &str, mut each: impl FnMut(usize, usize)) {
        let mut start = 0;
        if self != Cuts::Never {
            let mut last = None;
            for at in marks(word.as_bytes()) {
                let continues = self == Cuts::Runs && last == at.checked_sub(MARK.len());
                if at > start && !continues {
                    each(start, at);
                    start = at;
                }
                last = Some(at);
            }
        }
        if start < word.len() {
            each(start, word.len());
        }
    }
}
