//! Eight bytes at a time in an ordinary register: for every machine, and the twin of the vector code.
//!
//! In words: adding `0x80 - first` to a byte below 0x80 sets its high bit if it is at least `first`, and
//! adding `0x7F - last` if it is above `last`. The bytes are cut to seven bits before, so that no sum
//! spills into its neighbour. The eight high bits are then gathered by one multiplication, which adds
//! each of them to a place of its own in the top byte.

use super::{Apart, Ascii, BLOCK, Chinese, Eastern, High, Look, PICKED};

/// The portable way.
pub(crate) struct Plain;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x80 * ONES;

/// Eight bytes: their low seven bits, and their high bits.
#[derive(Clone, Copy)]
struct Eight {
    low: u64,
    high: u64,
}

impl Eight {
    /// The high bit of every byte whose low seven bits are in `first..=last`.
    #[inline(always)]
    fn low_within(self, first: u8, last: u8) -> u64 {
        let from_first = self.low + u64::from(0x80 - first) * ONES;
        let above_last = self.low + u64::from(0x7F - last) * ONES;
        from_first & !above_last & HIGHS
    }

    /// The same for bytes below 0x80.
    #[inline(always)]
    fn ascii(self, first: u8, last: u8) -> u64 {
        self.low_within(first, last) & !self.high
    }

    /// The same for bytes from 0x80 on.
    #[inline(always)]
    fn beyond(self, first: u8, last: u8) -> u64 {
        self.low_within(first - 0x80, last - 0x80) & self.high
    }
}

/// Puts the high bits of the eight bytes side by side, the first one lowest.
#[inline(always)]
fn gather(highs: u64) -> u64 {
    (highs >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Calls `each` with eight bytes and the number of places that their mask is to be shifted.
#[inline(always)]
fn for_each_eight(bytes: &[u8; BLOCK], mut each: impl FnMut(Eight, u32)) {
    let (eights, _) = bytes.as_chunks::<8>();
    for (eight, shift) in eights.iter().zip((0..64).step_by(8)) {
        let eight = u64::from_le_bytes(*eight);
        each(Eight { low: eight & !HIGHS, high: eight & HIGHS }, shift);
    }
}

impl Look for Plain {
    #[inline(always)]
    fn ascii(bytes: &[u8; BLOCK]) -> Ascii {
        let mut masks = Ascii::default();
        for_each_eight(bytes, |eight, shift| {
            let spaces = eight.ascii(b' ', b' ');
            masks.upper |= gather(eight.ascii(b'A', b'Z')) << shift;
            masks.lower |= gather(eight.ascii(b'a', b'z')) << shift;
            masks.digits |= gather(eight.ascii(b'0', b'9')) << shift;
            masks.blanks |= gather(eight.ascii(b'\t', b'\r') | spaces) << shift;
            let line_ends = eight.ascii(b'\n', b'\n') | eight.ascii(b'\r', b'\r');
            masks.line_ends |= gather(line_ends) << shift;
            masks.spaces |= gather(spaces) << shift;
            masks.apostrophes |= gather(eight.ascii(b'\'', b'\'')) << shift;
            masks.slashes |= gather(eight.ascii(b'/', b'/')) << shift;
            masks.high |= gather(eight.high) << shift;
        });
        masks
    }

    #[inline(always)]
    fn high(bytes: &[u8; BLOCK]) -> High {
        let mut masks = High::default();
        for_each_eight(bytes, |eight, shift| {
            masks.two |= gather(eight.beyond(0xC0, 0xDF)) << shift;
            masks.three |= gather(eight.beyond(0xE0, 0xEF)) << shift;
            masks.four |= gather(eight.beyond(0xF0, 0xFF)) << shift;
            let e5_to_ec = eight.beyond(0xE5, 0xE9) | eight.beyond(0xEB, 0xEC);
            masks.e5_to_ec |= gather(e5_to_ec) << shift;
            masks.d0 |= gather(eight.beyond(0xD0, 0xD0)) << shift;
            masks.d1 |= gather(eight.beyond(0xD1, 0xD1)) << shift;
            masks.e4 |= gather(eight.beyond(0xE4, 0xE4)) << shift;
            masks.ea |= gather(eight.beyond(0xEA, 0xEA)) << shift;
            masks.ed |= gather(eight.beyond(0xED, 0xED)) << shift;
            masks.to_9d |= gather(eight.beyond(0x80, 0x9D)) << shift;
            masks.to_9f |= gather(eight.beyond(0x80, 0x9F)) << shift;
            masks.to_af |= gather(eight.beyond(0x80, 0xAF)) << shift;
            masks.from_b0 |= gather(eight.beyond(0xB0, 0xBF)) << shift;
            masks.from_b8 |= gather(eight.beyond(0xB8, 0xBF)) << shift;
        });
        masks
    }

    #[inline(always)]
    fn apart(bytes: &[u8; BLOCK]) -> Apart {
        let mut masks = Apart::default();
        for_each_eight(bytes, |eight, shift| {
            let spaces = eight.ascii(b' ', b' ');
            let lines = eight.ascii(b'\t', b'\n') | eight.ascii(b'\r', b'\r');
            masks.spaces |= gather(spaces) << shift;
            masks.blanks |= gather(lines | spaces) << shift;
            let punctuation = eight.ascii(b'!', b'/')
                | eight.ascii(b':', b'@')
                | eight.ascii(b'[', b'`')
                | eight.ascii(b'{', b'~');
            masks.punctuation |= gather(punctuation) << shift;
            masks.high |= gather(eight.high) << shift;
        });
        masks
    }

    #[inline(always)]
    fn chinese(bytes: &[u8; BLOCK]) -> Chinese {
        let mut masks = Chinese::default();
        for_each_eight(bytes, |eight, shift| {
            masks.always |= gather(eight.beyond(0xE5, 0xE8)) << shift;
            masks.e4 |= gather(eight.beyond(0xE4, 0xE4)) << shift;
            masks.e9 |= gather(eight.beyond(0xE9, 0xE9)) << shift;
            masks.upper |= gather(eight.beyond(0xB8, 0xBF)) << shift;
            masks.last |= gather(eight.beyond(0xBF, 0xBF)) << shift;
        });
        masks
    }

    #[inline(always)]
    fn eastern(bytes: &[u8; BLOCK]) -> Eastern {
        let mut masks = Eastern::default();
        for_each_eight(bytes, |eight, shift| {
            masks.e3 |= gather(eight.beyond(0xE3, 0xE3)) << shift;
            masks.ef |= gather(eight.beyond(0xEF, 0xEF)) << shift;
            masks.at_80 |= gather(eight.beyond(0x80, 0x80)) << shift;
            masks.at_81 |= gather(eight.beyond(0x81, 0x81)) << shift;
            masks.at_82 |= gather(eight.beyond(0x82, 0x82)) << shift;
            masks.at_83 |= gather(eight.beyond(0x83, 0x83)) << shift;
            masks.at_bc |= gather(eight.beyond(0xBC, 0xBC)) << shift;
            masks.of_81 |= gather(eight.beyond(0x81, 0xBF)) << shift;
            let letters = eight.beyond(0x80, 0x96) | eight.beyond(0x9D, 0x9F);
            masks.of_82 |= gather(letters | eight.beyond(0xA1, 0xBF)) << shift;
            let letters = eight.beyond(0x80, 0xBA) | eight.beyond(0xBC, 0xBF);
            masks.of_83 |= gather(letters) << shift;
            let punctuation = eight.beyond(0x81, 0x84) | eight.beyond(0x88, 0xA0);
            masks.of_80 |= gather(punctuation) << shift;
            let punctuation = eight.beyond(0x81, 0x8F) | eight.beyond(0x9A, 0xA0);
            masks.of_bc |= gather(punctuation) << shift;
        });
        masks
    }

    #[inline(always)]
    fn same(bytes: &[u8; BLOCK], low: u64, high: u64) -> u32 {
        let (numbers, _) = bytes.as_chunks::<8>();
        let bit = |at: usize, number| u32::from(u64::from_le_bytes(numbers[at]) == number) << at;
        bit(0, low) | bit(1, low) | bit(2, high) | bit(3, high)
    }

    #[inline(always)]
    fn starts(bytes: &[u8; BLOCK]) -> u64 {
        let mut starts = 0;
        for_each_eight(bytes, |eight, shift| {
            starts |= gather(HIGHS & !(eight.high & !(eight.low << 1))) << shift;
        });
        starts
    }

    #[inline(always)]
    fn pick(bytes: &[u8; PICKED], places: &[u8; PICKED]) -> [u8; PICKED] {
        places.map(|place| bytes.get(usize::from(place)).copied().unwrap_or(0))
    }
}
