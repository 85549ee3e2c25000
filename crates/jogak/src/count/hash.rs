//! One hash for words: folded multiplication over eight-byte loads.
//!
//! Rule: the same bytes hash to the same number on every machine (loads are little-endian), and no
//! answer of this crate depends on what that number is.
//!
//! Folded multiplication takes the two halves of a 128-bit product and xors them, so that every
//! input bit reaches every output bit in one step. The idea is wyhash's (Wang Yi, public domain,
//! <https://github.com/wangyi-fudan/wyhash>); the layout of the loads is our own. Seeds are fixed:
//! a corpus that was built to collide makes counting slow, never wrong.

/// Odd, with about half of the bits set; from the fractional parts of pi.
const KEYS: [u64; 3] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1];

/// The low and high half of `a * b`, folded into one.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Eight bytes from `at` on. The caller has checked the length.
#[inline(always)]
pub(super) fn eight(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Four bytes from `at` on. The caller has checked the length.
#[inline(always)]
pub(super) fn four(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u64::from(u32::from_le_bytes(word))
}

/// All bytes of a word shorter than eight, in one number; overlapping loads, no loop.
#[inline(always)]
pub(super) fn short(bytes: &[u8]) -> u64 {
    let n = bytes.len();
    if n >= 4 {
        four(bytes, 0) | four(bytes, n - 4) << (8 * (n - 4))
    } else if n > 0 {
        let (middle, last) = (u64::from(bytes[n / 2]), u64::from(bytes[n - 1]));
        u64::from(bytes[0]) | middle << (8 * (n / 2)) | last << (8 * (n - 1))
    } else {
        0
    }
}

/// A word of up to 16 bytes as two numbers, with zeros behind it, and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Short {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) length: u32,
}

/// The longest word that is a [`Short`].
pub(super) const SHORT: usize = 16;

/// Length -> which bits of two numbers are those of so many bytes.
static WITHIN: [(u64, u64); SHORT + 1] = {
    let mut masks = [(0, 0); SHORT + 1];
    let mut n = 1;
    while n <= SHORT {
        let bits = u128::MAX >> (128 - 8 * n);
        masks[n] = (bits as u64, (bits >> 64) as u64);
        n += 1;
    }
    masks
};

impl Short {
    /// Of a word of at most [`SHORT`] bytes.
    #[inline(always)]
    pub(super) fn new(word: &[u8]) -> Self {
        let n = word.len();
        let (first, last) = match n {
            0..8 => (short(word), 0),
            8 => (eight(word, 0), 0),
            _ => (eight(word, 0), eight(word, n - 8) >> (8 * (SHORT - n))),
        };
        Self { first, last, length: n as u32 }
    }

    /// The same of a word of `length` bytes in front of others: no branch, whatever the length.
    #[inline(always)]
    pub(super) fn in_front(bytes: &[u8; SHORT], length: usize) -> Self {
        let (first, last) = WITHIN[length];
        Self { first: eight(bytes, 0) & first, last: eight(bytes, 8) & last, length: length as u32 }
    }

    /// What [`hash`] says of its bytes.
    #[inline(always)]
    pub(super) fn hash(self) -> u64 {
        let state = fold(self.first ^ KEYS[0], self.last ^ KEYS[1]);
        fold(state ^ u64::from(self.length), KEYS[2])
    }

    /// Whether it has these bytes.
    #[inline(always)]
    pub(super) fn is(self, word: &[u8]) -> bool {
        word.len() == self.length as usize && Self::new(word) == self
    }

    /// Its bytes, and how many of them count.
    pub(super) fn bytes(self) -> ([u8; SHORT], usize) {
        let mut bytes = [0; SHORT];
        bytes[..8].copy_from_slice(&self.first.to_le_bytes());
        bytes[8..].copy_from_slice(&self.last.to_le_bytes());
        (bytes, self.length as usize)
    }
}

/// The hash of a word.
#[inline(always)]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let n = bytes.len();
    if n <= SHORT {
        return Short::new(bytes).hash();
    }
    let mut state = KEYS[0] ^ n as u64;
    let mut at = 0;
    while at + 8 < n {
        state = fold(state ^ eight(bytes, at), KEYS[1]);
        at += 8;
    }
    state = fold(state ^ eight(bytes, n - 8), KEYS[1]);
    fold(state, KEYS[2])
}

/// Whether two words are the same: the loads of [`hash`] instead of a call to `memcmp`, which costs
/// more than it saves on words of a few bytes.
#[inline(always)]
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    let n = a.len();
    if n != b.len() {
        return false;
    }
    if n < 8 {
        return short(a) == short(b);
    }
    if n > 32 {
        return a == b;
    }
    let mut at = 0;
    while at + 8 < n {
        if eight(a, at) != eight(b, at) {
            return false;
        }
        at += 8;
    }
    eight(a, n - 8) == eight(b, n - 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `same` and `hash` see every byte, at every length around the sizes of the loads.
    #[test]
    fn every_byte_matters() {
        for n in 0..80 {
            let word: Vec<u8> = (0..n).map(|i| (i * 37 % 251) as u8).collect();
            assert!(same(&word, &word.clone()));
            for at in 0..n {
                let mut other = word.clone();
                other[at] ^= 0x40;
                assert!(!same(&word, &other), "length {n}, byte {at}");
                assert_ne!(hash(&word), hash(&other), "length {n}, byte {at}");
            }
            let longer = [&word[..], &[0]].concat();
            assert!(!same(&word, &longer));
            assert_ne!(hash(&word), hash(&longer));
        }
    }

    /// A short word has the bytes and the hash of the word that it was made of.
    #[test]
    fn short_words_are_the_same_words() {
        for n in 0..=SHORT {
            let word: Vec<u8> = (0..n).map(|i| (i * 37 % 251 + 1) as u8).collect();
            let short = Short::new(&word);
            let (bytes, length) = short.bytes();
            assert_eq!(bytes[..length], word);
            assert_eq!(short.hash(), hash(&word), "length {n}");
            let mut more = [7; SHORT];
            more[..n].copy_from_slice(&word);
            assert_eq!(Short::in_front(&more, n), short);
            assert!(short.is(&word));
            for at in 0..n {
                let mut other = word.clone();
                other[at] ^= 0x40;
                assert!(!short.is(&other), "length {n}, byte {at}");
            }
            assert!(!short.is(&[&word[..], &[0]].concat()));
        }
    }

    /// The bits that choose partition, tag and slot are all spread evenly over small numbers.
    #[test]
    fn spread() {
        let mut top = [0_u32; 32];
        let mut low = [0_u32; 32];
        for i in 0..32_000_u32 {
            let h = hash(i.to_string().as_bytes());
            top[(h >> 59) as usize] += 1;
            low[(h & 31) as usize] += 1;
        }
        for n in top.iter().chain(&low) {
            assert!((800..1200).contains(n), "{n} of 1000 expected");
        }
    }
}
