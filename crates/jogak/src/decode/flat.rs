//! What every id becomes once a text has begun, written down: most of decoding is then copying.
//!
//! Rule: copies nothing that a way of decoding would have to look at. Such ids are refused, and the way
//! takes them one at a time.

use std::ops::Range;

use super::Ids;

/// Texts of so many bytes stand beside their length, so that an id is one look at memory.
const INLINE: usize = 12;
/// Up to so many bytes are copied at once, whether they are all wanted or not.
const WIDE: usize = 16;
/// The length of a short text.
const LENGTH: u32 = (1 << 4) - 1;
/// The text is that of a special token.
const SPECIAL: u32 = 1 << 4;
/// The text is longer, and stands elsewhere.
const LONG: u32 = 1 << 5;
/// The id has no text that can be copied.
const REFUSED: u32 = 1 << 6;
/// The text is a byte of a character, which others make whole.
const BYTE: u32 = 1 << 7;
/// Ids for whose short texts there is room before they are looked at.
const AT_ONCE: usize = 64;
/// Memory that is taken ahead, in bytes.
const AHEAD: usize = 1 << 10;

/// How much memory to begin with for the texts of so many ids, in bytes.
pub(super) fn room(ids: usize) -> usize {
    ids * 6 + ids.min(AT_ONCE) * WIDE
}

/// The text of an id in the first [`INLINE`] bytes; behind it, its length and what stands above. Of a long text,
/// where it starts and how long it is stand in its place.
#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
struct Entry([u8; WIDE]);

impl Entry {
    fn new(text: u128, kind: u32) -> Self {
        Self((text | u128::from(kind) << (8 * INLINE)).to_le_bytes())
    }

    #[inline(always)]
    fn kind(&self) -> u32 {
        let [.., a, b, c, d] = self.0;
        u32::from_le_bytes([a, b, c, d])
    }

    /// Where a long text is.
    fn span(&self) -> (usize, usize) {
        let number = u128::from_le_bytes(self.0);
        (number as u64 as usize, (number >> 64) as u32 as usize)
    }
}

/// The texts of all ids.
#[derive(Debug)]
pub(super) struct Flat {
    entries: Vec<Entry>,
    /// All long texts, one behind the other.
    long: Vec<u8>,
    has_bytes: bool,
}

/// Ids that are refused although they have a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct But {
    pub(super) specials: bool,
    /// Those that are a byte of a character.
    pub(super) bytes: bool,
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
    pub(super) fn with_capacity(texts: usize) -> Self {
        Self { entries: Vec::with_capacity(texts), long: Vec::new(), has_bytes: false }
    }

    /// The texts of pieces, one behind the other in `texts` and each up to its place in `ends`. `byte` tells of which piece it is a
    /// byte of a character. These are copied if all other pieces are whole characters; an empty one is refused then, as
    /// bytes before it and behind it are of no one character.
    pub(super) fn with_bytes(
        (texts, ends): (&[u8], &[usize]),
        copied: impl Fn(u32) -> Copied,
        byte: impl Fn(u32, &[u8]) -> Option<u8>,
    ) -> Self {
        let starts = || [0].into_iter().chain(ends.iter().copied());
        let pieces = || (0..).zip(starts().zip(ends).map(|(start, &end)| &texts[start..end]));
        let has_bytes = pieces().any(|(id, text)| byte(id, text).is_some());
        let is_whole = |(id, text)| byte(id, text).is_some() || std::str::from_utf8(text).is_ok();
        let all_whole = has_bytes && pieces().all(is_whole);
        let mut flat = Self::with_capacity(ends.len());
        for (id, text) in pieces() {
            match byte(id, text) {
                Some(byte) if all_whole => flat.push_byte(byte, copied(id)),
                None if !(has_bytes && text.is_empty()) => flat.push(text, copied(id)),
                _ => flat.push(text, Copied::Never),
            }
        }
        flat
    }

    /// Whether some ids are a byte of a character.
    pub(super) fn has_bytes(&self) -> bool {
        self.has_bytes
    }

    /// The next id, which is a byte of a character.
    fn push_byte(&mut self, byte: u8, copied: Copied) {
        self.has_bytes |= copied != Copied::Never;
        self.push_kind(&[byte], copied, BYTE);
    }

    /// The next id, and its text.
    pub(super) fn push(&mut self, text: &[u8], copied: Copied) {
        self.push_kind(text, copied, 0);
    }

    fn push_kind(&mut self, text: &[u8], copied: Copied, kind: u32) {
        let kind = kind | if copied == Copied::Special { SPECIAL } else { 0 };
        let entry = match u32::try_from(text.len()) {
            Ok(_) if copied == Copied::Never => Entry::new(0, REFUSED),
            Ok(len) if text.len() <= INLINE => {
                let mut bytes = [0; WIDE];
                bytes[..text.len()].copy_from_slice(text);
                Entry::new(u128::from_le_bytes(bytes), kind | len)
            }
            Ok(len) => {
                let start = self.long.len() as u64;
                self.long.extend_from_slice(text);
                Entry::new(u128::from(start) | u128::from(len) << 64, kind | LONG)
            }
            Err(_) => Entry::new(0, REFUSED),
        };
        self.entries.push(entry);
    }

    /// Appends the texts of `ids` from a place on to `out`, up to the first id that is refused; tells how many there
    /// were.
    pub(super) fn copy(
        &self,
        ids: &(impl Ids + ?Sized),
        from: usize,
        but: But,
        out: &mut Vec<u8>,
    ) -> usize {
        let refused = |kind, is_refused| if is_refused { kind } else { 0 };
        let refused = REFUSED | refused(SPECIAL, but.specials) | refused(BYTE, but.bytes);
        let (begin, count) = (out.len(), ids.count());
        let (mut at, mut taken) = (begin, from);
        loop {
            let next = taken..count.min(taken + AT_ONCE);
            let wide = next.len() * WIDE;
            if at + wide > out.len() {
                make_room(out, at + wide, at - begin, count - taken);
            }
            let (copied, len) =
                self.copy_short(ids, next.clone(), refused, &mut out[at..at + wide]);
            (taken, at) = (taken + copied, at + len);
            if copied == next.len() && copied > 0 {
                continue;
            }
            // None is left, or the next text is long or refused.
            let entry = ids.id(taken).and_then(|id| self.entries.get(id as usize));
            let Some(entry) = entry.filter(|entry| entry.kind() & refused == 0) else { break };
            let (start, len) = entry.span();
            if at + len > out.len() {
                make_room(out, at + len, at - begin, count - taken);
            }
            out[at..at + len].copy_from_slice(&self.long[start..start + len]);
            (taken, at) = (taken + 1, at + len);
        }
        out.truncate(at);
        taken - from
    }

    /// Writes the texts of ids in some places to `room`, [`WIDE`] bytes for each, up to the first one that is long or refused;
    /// tells how many there were, and how many bytes they have.
    #[inline(always)]
    fn copy_short(
        &self,
        ids: &(impl Ids + ?Sized),
        places: Range<usize>,
        refused: u32,
        mut room: &mut [u8],
    ) -> (usize, usize) {
        let (entries, all) = (&*self.entries, room.len());
        let mut taken = 0;
        for place in places {
            let Some(entry) = ids.id(place).and_then(|id| entries.get(id as usize)) else { break };
            let kind = entry.kind();
            let Some(place) = room.first_chunk_mut() else { break };
            if kind & (refused | LONG) != 0 {
                break;
            }
            *place = entry.0;
            room = &mut room[(kind & LENGTH) as usize..];
            taken += 1;
        }
        (taken, all - room.len())
    }
}

/// Makes `out` at least `wanted` bytes long, where `written` have come and `left` ids come yet: twice as much every
/// time, but little where little comes, and what there is room for before more is asked for.
#[cold]
fn make_room(out: &mut Vec<u8>, wanted: usize, written: usize, left: usize) {
    let more = wanted + written.max(AHEAD.min(left * 8));
    let room = out.capacity();
    out.resize(if wanted <= room { more.min(room) } else { more }, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn copies_up_to_what_is_refused() {
        let mut flat = Flat::with_capacity(4);
        let long = "x".repeat(40);
        flat.push(b"ab", Copied::Always);
        flat.push(long.as_bytes(), Copied::Always);
        flat.push(b"<s>", Copied::Special);
        flat.push(b"", Copied::Never);
        flat.push(b"", Copied::Always);
        assert!(!flat.has_bytes());
        flat.push_byte(b'!', Copied::Always);
        flat.push_byte(b'?', Copied::Special);
        assert!(flat.has_bytes());
        let all = But { specials: false, bytes: false };
        let (no_specials, no_bytes) = (But { specials: true, ..all }, But { bytes: true, ..all });
        for (ids, but, taken, text) in [
            (&[0, 1, 4, 0, 2, 0][..], all, 6, format!("-ab{long}ab<s>ab")),
            (&[0, 1, 2, 0], no_specials, 2, format!("-ab{long}")),
            (&[0, 3, 0], all, 1, "-ab".into()),
            (&[0, 9, 0], all, 1, "-ab".into()),
            (&[], all, 0, "-".into()),
            (&[0, 5, 6, 2, 0], all, 5, "-ab!?<s>ab".into()),
            (&[0, 5, 6, 0], no_specials, 2, "-ab!".into()),
            (&[0, 2, 5, 0], no_bytes, 2, "-ab<s>".into()),
            (&[0, 6, 0], no_bytes, 1, "-ab".into()),
        ] {
            let mut out = b"-".to_vec();
            assert_eq!(flat.copy(ids, 0, but, &mut out), taken);
            assert_eq!(out, text.as_bytes());
        }
        let many = vec![1; 5000];
        let mut out = Vec::new();
        assert_eq!(flat.copy(&many, 0, all, &mut out), 5000);
        assert_eq!(out, long.repeat(5000).as_bytes());
    }

    /// Texts of all lengths in all orders, as many as are copied at once and more.
    #[test]
    fn copies_every_text_whole() {
        let all: Vec<u8> = (0..=255).collect();
        let texts: Vec<&[u8]> = (0..40).map(|len| &all[len * 3..len * 4]).collect();
        let mut flat = Flat::with_capacity(texts.len());
        texts.iter().for_each(|text| flat.push(text, Copied::Always));
        let mut random = SplitMix64::new(7);
        for many in 0..400 {
            // Mostly short ones, or any.
            let kinds = if many % 2 == 0 { INLINE as u64 + 2 } else { texts.len() as u64 };
            let ids: Vec<u32> = (0..many).map(|_| (random.next() % kinds) as u32).collect();
            let mut out = Vec::with_capacity(room(ids.len()));
            let but = But { specials: false, bytes: false };
            assert_eq!(flat.copy(&ids, 0, but, &mut out), ids.len());
            let expected: Vec<&[u8]> = ids.iter().map(|&id| texts[id as usize]).collect();
            assert_eq!(out, expected.concat());
        }
    }
}
