//! What every id becomes once a text has begun, written down: most of decoding is then copying.
//!
//! Rule: copies nothing that a way of decoding would have to look at. Such ids are refused, and the way
//! takes them one at a time.

/// Up to so many bytes are copied at once, whether they are all wanted or not.
const WIDE: usize = 16;
/// The length of a text, in the lowest bits; what is longer is refused.
const LENGTH: u64 = (1 << 22) - 1;
/// The text is that of a special token.
const SPECIAL: u64 = 1 << 22;
/// The id has no text that can be copied.
const REFUSED: u64 = 1 << 23;
const START_SHIFT: u32 = 24;
/// Memory that is taken ahead, in bytes.
const AHEAD: usize = 1 << 10;

/// How much memory to begin with for the texts of so many ids, in bytes.
pub(super) fn room(ids: usize) -> usize {
    ids * 6 + 2 * WIDE
}

/// The texts of all ids.
#[derive(Debug)]
pub(super) struct Flat {
    /// Where each starts in `bytes`, and what stands above.
    spans: Vec<u64>,
    /// All texts, one behind the other, and as many bytes more as are copied at once.
    bytes: Vec<u8>,
}

/// What a way of decoding says of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copied {
    Always,
    /// Unless special tokens are left out.
    Special,
    Never,
}

impl Flat {
    /// No texts yet, and room for some.
    pub(super) fn with_capacity(texts: usize, bytes: usize) -> Self {
        Self { spans: Vec::with_capacity(texts), bytes: Vec::with_capacity(bytes + WIDE) }
    }

    /// The text of the next id is what `write` puts behind the others.
    pub(super) fn push(&mut self, text: &[u8], copied: Copied) {
        let start = self.bytes.len() as u64;
        self.bytes.extend_from_slice(text);
        let fits = text.len() as u64 <= LENGTH && start < 1 << (64 - START_SHIFT);
        let flags = match copied {
            _ if !fits => REFUSED,
            Copied::Always => 0,
            Copied::Special => SPECIAL,
            Copied::Never => REFUSED,
        };
        self.spans.push(start << START_SHIFT | flags | text.len() as u64 & LENGTH);
    }

    /// All texts have come.
    pub(super) fn finish(mut self) -> Self {
        self.bytes.resize(self.bytes.len() + WIDE, 0);
        self
    }

    /// Appends the texts of `ids` to `out`, up to the first id that is refused; tells how many there
    /// were. `skip` refuses special tokens too.
    pub(super) fn copy(&self, ids: &[u32], skip: bool, out: &mut Vec<u8>) -> usize {
        let refused = if skip { REFUSED | SPECIAL } else { REFUSED };
        let begin = out.len();
        let mut at = begin;
        let mut taken = 0;
        for &id in ids {
            let Some(&span) = self.spans.get(id as usize).filter(|&&span| span & refused == 0)
            else {
                break;
            };
            let (start, len) = ((span >> START_SHIFT) as usize, (span & LENGTH) as usize);
            if at + len.max(WIDE) > out.len() {
                // Twice as much every time, but little where little comes, and what there is room for
                // before more is asked for.
                let wanted = at + len + WIDE;
                let more = wanted + (at - begin).max(AHEAD.min((ids.len() - taken) * 8));
                let room = out.capacity();
                out.resize(if wanted <= room { more.min(room) } else { more }, 0);
            }
            if len <= WIDE {
                out[at..at + WIDE].copy_from_slice(&self.bytes[start..start + WIDE]);
            } else {
                out[at..at + len].copy_from_slice(&self.bytes[start..start + len]);
            }
            at += len;
            taken += 1;
        }
        out.truncate(at);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_up_to_what_is_refused() {
        let mut flat = Flat::with_capacity(4, 0);
        let long = "x".repeat(40);
        flat.push(b"ab", Copied::Always);
        flat.push(long.as_bytes(), Copied::Always);
        flat.push(b"<s>", Copied::Special);
        flat.push(b"", Copied::Never);
        flat.push(b"", Copied::Always);
        let flat = flat.finish();
        for (ids, skip, taken, text) in [
            (&[0, 1, 4, 0, 2, 0][..], false, 6, format!("-ab{long}ab<s>ab")),
            (&[0, 1, 2, 0], true, 2, format!("-ab{long}")),
            (&[0, 3, 0], false, 1, "-ab".into()),
            (&[0, 9, 0], false, 1, "-ab".into()),
            (&[], false, 0, "-".into()),
        ] {
            let mut out = b"-".to_vec();
            assert_eq!(flat.copy(ids, skip, &mut out), taken);
            assert_eq!(out, text.as_bytes());
        }
        let many = vec![1; 5000];
        let mut out = Vec::new();
        assert_eq!(flat.copy(&many, false, &mut out), 5000);
        assert_eq!(out, long.repeat(5000).as_bytes());
    }
}
