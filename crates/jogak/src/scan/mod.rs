//! What the bytes of a text are, 64 at a time.
//!
//! Rule: knows bytes, and nothing of words or of Unicode. The only room of the core with `unsafe`: vector code is one
//! call behind a check of the machine, and each set of it has a safe twin that the tests hold it to.
//!
//! In words: look at every byte and write down, for every kind of byte that somebody asks about, which
//! of the 64 it holds for: bit i of a mask is byte i. What then follows (where a run begins, what
//! stands before a letter) is arithmetic on masks, 64 places at once, without a branch.
//!
//! ```text
//! prefetch.rs hints                                           a safe face of them
//! plain.rs    eight bytes at a time in an ordinary register   any machine
//! avx2.rs     32 at a time                                    x86-64 of 2013 and later, found when run
//! avx512.rs   64 at a time                                    x86-64 of 2019 and later, found when run
//! neon.rs     16 at a time                                    Arm of 64 bits: all have it, nothing is asked
//! able.rs     what the machine said when it was asked
//! ```

/// The methods of [`Look`] of these names, each of which calls the function of that name: vector code is written as
/// functions that are compiled for a machine that has it. Who uses it says why such a machine is at hand.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! by_functions {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $answer:ty)?;)*) => {
        $(
            #[inline(always)]
            fn $name($($argument: $kind),*) $(-> $answer)? {
                // SAFETY: where the macro is used.
                unsafe { $name($($argument),*) }
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
mod able;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
mod plain;
mod prefetch;

pub(crate) use plain::Plain;
pub(crate) use prefetch::{
    LARGE_PAGE, PAGE, give_back_memory, prefetch, prefetch_list, wish_large_pages, write_pages,
    written_zeros,
};

/// Bytes to a block.
pub(crate) const BLOCK: usize = 64;
/// Bytes that are picked at once.
pub(crate) const PICKED: usize = 16;
/// Places that are looked at together.
pub(crate) const EIGHT: usize = 8;
/// No place of [`Look::pick`].
pub(crate) const NOWHERE: u8 = 0x80;

/// Kinds of ASCII bytes; bit i is byte i of the block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ascii {
    /// `[A-Z]`
    pub(crate) upper: u64,
    /// `[a-z]`
    pub(crate) lower: u64,
    /// `[0-9]`
    pub(crate) digits: u64,
    /// White space: `[\t\n\v\f\r ]`
    pub(crate) blanks: u64,
    /// `[\r\n]`
    pub(crate) line_ends: u64,
    /// The space.
    pub(crate) spaces: u64,
    /// `'`
    pub(crate) apostrophes: u64,
    /// `/`
    pub(crate) slashes: u64,
    /// No ASCII: from 0x80 on.
    pub(crate) high: u64,
}

/// Kinds of bytes from 0x80 on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct High {
    /// First bytes of characters of two bytes (C0 to DF), of three (E0 to EF) and of four (F0 on).
    pub(crate) two: u64,
    pub(crate) three: u64,
    pub(crate) four: u64,
    /// The first bytes E5 to E9, EB and EC.
    pub(crate) e5_to_ec: u64,
    /// Single first bytes.
    pub(crate) d0: u64,
    pub(crate) d1: u64,
    pub(crate) e4: u64,
    pub(crate) ea: u64,
    pub(crate) ed: u64,
    /// Bytes within characters, from 80 on.
    pub(crate) to_9d: u64,
    pub(crate) to_9f: u64,
    pub(crate) to_af: u64,
    /// The same, up to BF.
    pub(crate) from_b0: u64,
    pub(crate) from_b8: u64,
}

/// Bytes that stand apart from their neighbours, or help to say so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Apart {
    /// `[\t\n\r ]`
    pub(crate) blanks: u64,
    /// The space.
    pub(crate) spaces: u64,
    /// ASCII punctuation and symbols.
    pub(crate) punctuation: u64,
    /// No ASCII: from 0x80 on.
    pub(crate) high: u64,
}

/// What tells Chinese characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Chinese {
    /// First bytes of nothing else: E5 to E8.
    pub(crate) always: u64,
    /// E4, the first byte of Chinese characters if the next byte is one of `upper`.
    pub(crate) e4: u64,
    /// E9, the first byte of Chinese characters; of newer ones if the next byte is `last`.
    pub(crate) e9: u64,
    /// B8 to BF.
    pub(crate) upper: u64,
    /// BF.
    pub(crate) last: u64,
}

/// What tells Japanese syllables, and the punctuation of East Asia. Second and third bytes are those of characters
/// of three bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Eastern {
    /// The first bytes E3 and EF.
    pub(crate) e3: u64,
    pub(crate) ef: u64,
    /// Second bytes: of E3 80 and so on, and of EF BC.
    pub(crate) at_80: u64,
    pub(crate) at_81: u64,
    pub(crate) at_82: u64,
    pub(crate) at_83: u64,
    pub(crate) at_bc: u64,
    /// Third bytes of letters behind E3 81, E3 82 and E3 83: 81 to BF; 80 to 96, 9D to 9F, A1 to BF; 80 to BA, BC to BF.
    pub(crate) of_81: u64,
    pub(crate) of_82: u64,
    pub(crate) of_83: u64,
    /// Third bytes of punctuation and symbols behind E3 80 and EF BC: 81 to 84, 88 to A0; 81 to 8F, 9A to A0.
    pub(crate) of_80: u64,
    pub(crate) of_bc: u64,
}

/// A way to look at 64 bytes.
pub(crate) trait Look {
    /// The kinds of ASCII bytes.
    fn ascii(bytes: &[u8; BLOCK]) -> Ascii;
    /// The kinds of the others.
    fn high(bytes: &[u8; BLOCK]) -> High;
    /// What stands apart.
    fn apart(bytes: &[u8; BLOCK]) -> Apart;
    /// What tells Chinese characters.
    fn chinese(bytes: &[u8; BLOCK]) -> Chinese;
    /// What tells Japanese syllables, and punctuation.
    fn eastern(bytes: &[u8; BLOCK]) -> Eastern;
    /// Which of the first four numbers are these: bits 0 and 1 for `low`, 2 and 3 for `high`. A number is eight
    /// bytes, the lowest one first.
    fn same(bytes: &[u8; BLOCK], low: u64, high: u64) -> u32;
    /// What can begin a character: all but the bytes from 80 to BF.
    fn starts(bytes: &[u8; BLOCK]) -> u64;
    /// The bytes at these places; 0 for the place [`NOWHERE`].
    fn pick(bytes: &[u8; PICKED], places: &[u8; PICKED]) -> [u8; PICKED];
    /// Writes `from` and the place of each bit to the front of `room`, the lowest first; what follows them there means
    /// nothing.
    #[inline(always)]
    fn list(mut bits: u64, from: u32, room: &mut [u32; BLOCK]) {
        // Eight at once, whether there are so many or not.
        for eight in room.as_chunks_mut::<8>().0 {
            for place in eight {
                *place = from.wrapping_add(bits.trailing_zeros());
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
    }
    /// The way back: the bits at these places, as far as these lie less than 64 behind `from`, and how many do. Places ascend from
    /// there on.
    #[inline(always)]
    fn bits(places: &[u32], from: u32) -> (u64, usize) {
        let within = places.iter().map(|place| place - from).take_while(|&bit| bit < BLOCK as u32);
        within.fold((0, 0), |(bits, count), bit| (bits | 1 << bit, count + 1))
    }
    /// Writes the four bytes from the place of each bit on, as numbers with the lowest byte first, to the front of `room`; what
    /// follows them there means nothing.
    #[inline(always)]
    fn fours(bytes: &[u8; BLOCK + PICKED], mut bits: u64, room: &mut [u32; BLOCK]) {
        // Eight at once, whether there are so many or not.
        for eight in room.as_chunks_mut::<EIGHT>().0 {
            for number in eight {
                let four = bytes[bits.trailing_zeros() as usize % BLOCK..].first_chunk();
                *number = four.map_or(0, |four| u32::from_le_bytes(*four));
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
    }
    /// The first and the second eight bytes from each of these places on, the lowest byte first; None if there are not 16
    /// behind each.
    #[inline(always)]
    fn sixteens(bytes: &[u8], places: &[u32; EIGHT]) -> Option<([u64; EIGHT], [u64; EIGHT])> {
        let (mut first, mut second) = ([0; EIGHT], [0; EIGHT]);
        for at in 0..EIGHT {
            let both = bytes.get(places[at] as usize..)?.first_chunk()?;
            let both = u128::from_le_bytes(*both);
            (first[at], second[at]) = (both as u64, (both >> 64) as u64);
        }
        Some((first, second))
    }
    /// The three numbers of 20 bits that stand above the lowest four bits; what is written fourth means nothing.
    #[inline(always)]
    fn twenties(number: u64, room: &mut [u32; 4]) {
        for (at, place) in room.iter_mut().take(3).enumerate() {
            *place = (number >> (4 + 20 * at)) as u32 & 0xF_FFFF;
        }
    }
}

/// Of how many bytes it holds.
#[inline]
pub(crate) fn count(bytes: &[u8], holds: impl Fn(u8) -> bool) -> usize {
    // Sums of a byte each are added many at a time; none is more than it can be.
    let sum = |part: &[u8]| part.iter().map(|&byte| u8::from(holds(byte))).sum::<u8>();
    bytes.chunks(192).map(|part| usize::from(sum(part))).sum()
}

/// Work that looks at many blocks. All of it is compiled for each way to look, so that the look is part
/// of its loop.
pub(crate) trait Task {
    /// Does the work. Always inlined: what is not is compiled for any machine, and calls a function for each look.
    fn run<L: Look>(self);
}

/// Does the work in the fastest way that the machine knows.
#[inline]
pub(crate) fn fastest<T: Task>(task: T) {
    #[cfg(target_arch = "x86_64")]
    let Some(task) = by(Way::Avx512, task, avx512::run) else { return };
    #[cfg(target_arch = "x86_64")]
    let Some(task) = by(Way::Avx2, task, avx2::run) else { return };
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    let Some(task) = by(Way::Neon, task, neon::run) else { return };
    task.run::<Plain>();
}

/// Ways to look, faster ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(dead_code, reason = "no machine has all of them, and tests alone name the last")]
pub(crate) enum Way {
    Avx512,
    Avx2,
    Neon,
    Plain,
}

/// Does the work in this way, or gives it back: if the machine cannot, or a test is about a slower way.
#[inline(always)]
fn by<T: Task>(way: Way, task: T, run: impl Fn(T) -> Option<T>) -> Option<T> {
    #[cfg(test)]
    if way < tests::FIRST.get() {
        return Some(task);
    }
    let _ = way;
    run(task)
}

/// Does `check` in every way that the machine knows, one after the other.
#[cfg(test)]
pub(crate) fn every_way(mut check: impl FnMut(Way)) {
    let ways: &[Way] = match () {
        () if cfg!(target_arch = "x86_64") => &[Way::Avx512, Way::Avx2, Way::Plain],
        () if cfg!(target_arch = "aarch64") => &[Way::Neon, Way::Plain],
        () => &[Way::Plain],
    };
    for &way in ways {
        tests::FIRST.set(way);
        check(way);
    }
    tests::FIRST.set(Way::Avx512);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// Ways before this one are closed.
        pub(super) static FIRST: Cell<Way> = const { Cell::new(Way::Avx512) };
    }

    /// What the documentation says, byte by byte.
    fn naive(bytes: &[u8; BLOCK]) -> (Ascii, High, Apart, Chinese, Eastern) {
        let mask = |is: &dyn Fn(u8) -> bool| {
            bytes.iter().rev().fold(0, |mask, &byte| mask << 1 | u64::from(is(byte)))
        };
        let ascii = Ascii {
            upper: mask(&|byte| byte.is_ascii_uppercase()),
            lower: mask(&|byte| byte.is_ascii_lowercase()),
            digits: mask(&|byte| byte.is_ascii_digit()),
            blanks: mask(&|byte| matches!(byte, b'\t' | b'\n' | 0x0B | 0x0C | b'\r' | b' ')),
            line_ends: mask(&|byte| matches!(byte, b'\n' | b'\r')),
            spaces: mask(&|byte| byte == b' '),
            apostrophes: mask(&|byte| byte == b'\''),
            slashes: mask(&|byte| byte == b'/'),
            high: mask(&|byte| byte >= 0x80),
        };
        let high = High {
            two: mask(&|byte| matches!(byte, 0xC0..=0xDF)),
            three: mask(&|byte| matches!(byte, 0xE0..=0xEF)),
            four: mask(&|byte| byte >= 0xF0),
            e5_to_ec: mask(&|byte| matches!(byte, 0xE5..=0xE9 | 0xEB | 0xEC)),
            d0: mask(&|byte| byte == 0xD0),
            d1: mask(&|byte| byte == 0xD1),
            e4: mask(&|byte| byte == 0xE4),
            ea: mask(&|byte| byte == 0xEA),
            ed: mask(&|byte| byte == 0xED),
            to_9d: mask(&|byte| matches!(byte, 0x80..=0x9D)),
            to_9f: mask(&|byte| matches!(byte, 0x80..=0x9F)),
            to_af: mask(&|byte| matches!(byte, 0x80..=0xAF)),
            from_b0: mask(&|byte| matches!(byte, 0xB0..=0xBF)),
            from_b8: mask(&|byte| matches!(byte, 0xB8..=0xBF)),
        };
        let apart = Apart {
            blanks: mask(&|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' ')),
            spaces: ascii.spaces,
            punctuation: mask(&|byte| byte.is_ascii_punctuation()),
            high: ascii.high,
        };
        let chinese = Chinese {
            always: mask(&|byte| matches!(byte, 0xE5..=0xE8)),
            e4: mask(&|byte| byte == 0xE4),
            e9: mask(&|byte| byte == 0xE9),
            upper: mask(&|byte| matches!(byte, 0xB8..=0xBF)),
            last: mask(&|byte| byte == 0xBF),
        };
        let eastern = Eastern {
            e3: mask(&|byte| byte == 0xE3),
            ef: mask(&|byte| byte == 0xEF),
            at_80: mask(&|byte| byte == 0x80),
            at_81: mask(&|byte| byte == 0x81),
            at_82: mask(&|byte| byte == 0x82),
            at_83: mask(&|byte| byte == 0x83),
            at_bc: mask(&|byte| byte == 0xBC),
            of_81: mask(&|byte| matches!(byte, 0x81..=0xBF)),
            of_82: mask(&|byte| matches!(byte, 0x80..=0x96 | 0x9D..=0x9F | 0xA1..=0xBF)),
            of_83: mask(&|byte| matches!(byte, 0x80..=0xBA | 0xBC..=0xBF)),
            of_80: mask(&|byte| matches!(byte, 0x81..=0x84 | 0x88..=0xA0)),
            of_bc: mask(&|byte| matches!(byte, 0x81..=0x8F | 0x9A..=0xA0)),
        };
        (ascii, high, apart, chinese, eastern)
    }

    struct Compare<'a>(&'a [u8; BLOCK]);

    impl Task for Compare<'_> {
        fn run<L: Look>(self) {
            let bytes = self.0;
            let (ascii, high) = (L::ascii(bytes), L::high(bytes));
            let (apart, chinese, eastern) = (L::apart(bytes), L::chinese(bytes), L::eastern(bytes));
            let found = (ascii, high, apart, chinese, eastern);
            assert_eq!(found, naive(bytes), "{bytes:02X?}");
            let starts = bytes.iter().rev();
            let starts =
                starts.fold(0, |mask, byte| mask << 1 | u64::from(!matches!(byte, 0x80..=0xBF)));
            assert_eq!(L::starts(bytes), starts, "{bytes:02X?}");
            // Numbers out of the bytes themselves.
            let (numbers, _) = bytes.as_chunks::<8>();
            for &number in numbers {
                let bits = u64::from_le_bytes(number);
                let (mut room, mut places) = ([9; BLOCK], [9; BLOCK]);
                L::list(bits, 1000, &mut room);
                let count = bits.count_ones() as usize;
                let set = (0..64).filter(|&place| bits >> place & 1 == 1);
                places.iter_mut().zip(set).for_each(|(place, bit)| *place = 1000 + bit);
                assert_eq!(room[..count], places[..count], "{bits:X}");
                let mut room = [9; 4];
                L::twenties(bits, &mut room);
                let number = |first: u32| (bits >> first) as u32 & 0xF_FFFF;
                assert_eq!(room[..3], [4, 24, 44].map(number), "{bits:X}");
            }
            // Places from some place on, that go on behind it or do not.
            for &number in numbers {
                let bits = u64::from_le_bytes(number);
                let set = |&place: &u32| place >= 64 || bits >> place & 1 == 1;
                for from in [0, 5, u32::MAX - 99] {
                    for last in [1, 63, 64, 99] {
                        let places: Vec<u32> =
                            (0..=last).filter(set).map(|place| from + place).collect();
                        let most = u64::MAX >> (63 - last.min(63));
                        let count = (bits & most).count_ones() as usize;
                        assert_eq!(L::bits(&places, from), (bits & most, count), "{places:?}");
                    }
                }
            }
            // The bytes behind a block are some of it again.
            let mut window = [0; BLOCK + PICKED];
            window[..BLOCK].copy_from_slice(bytes);
            window[BLOCK..].copy_from_slice(&bytes[7..7 + PICKED]);
            for &number in numbers {
                let bits = u64::from_le_bytes(number);
                let mut room = [9; BLOCK];
                L::fours(&window, bits, &mut room);
                let set = (0..64).filter(|&place| bits >> place & 1 == 1);
                let four = |place: usize| std::array::from_fn(|at| window[place + at]);
                let fours = set.map(|place| u32::from_le_bytes(four(place)));
                assert!(fours.eq(room[..bits.count_ones() as usize].iter().copied()), "{bits:X}");
            }
            // Bytes that are places, also such as are not there.
            let (eights, _) = bytes.as_chunks::<EIGHT>();
            for places in eights.iter().map(|eight| eight.map(u32::from)) {
                for (most, there) in [(255, &bytes[..]), (48, &bytes[..]), (48, &bytes[..63])] {
                    let places = places.map(|place| place % (most + 1));
                    let half = |place: u32, from: usize| {
                        let eight = there.get(place as usize..)?.get(from..from + 8)?;
                        eight.first_chunk().map(|eight| u64::from_le_bytes(*eight))
                    };
                    let halves = places.map(|place| half(place, 0).zip(half(place, 8)));
                    let all = halves.iter().copied().collect::<Option<Vec<_>>>();
                    let found = L::sixteens(there, &places);
                    let found = found.map(|(low, high)| low.into_iter().zip(high).collect());
                    assert_eq!(found, all, "{places:?}");
                    assert_eq!(L::sixteens(&there[..15], &[0; EIGHT]), None);
                }
            }
            // Places out of them, too.
            let (parts, _) = bytes.as_chunks::<PICKED>();
            for (part, next) in parts.iter().zip(&parts[1..]) {
                let place = |&byte: &u8| if byte < 0x80 { byte % 16 } else { NOWHERE };
                let places = std::array::from_fn(|at| place(&next[at]));
                let picked =
                    places.map(|place| part.get(usize::from(place)).map_or(0, |&byte| byte));
                assert_eq!(L::pick(part, &places), picked, "{part:02X?} {places:?}");
            }
        }
    }

    fn compare(bytes: &[u8; BLOCK]) {
        every_way(|_| fastest(Compare(bytes)));
    }

    #[test]
    fn every_byte_at_every_place_between_all_others() {
        for byte in 0..=255 {
            for place in 0..BLOCK {
                for other in [0, b'z', 0xFF] {
                    let mut bytes = [other; BLOCK];
                    bytes[place] = byte;
                    compare(&bytes);
                }
            }
        }
    }

    #[test]
    fn bytes_are_counted() {
        for len in [0, 1, 191, 192, 193, 255, 256, 257, 1000] {
            let bytes: Vec<u8> = (0..len).map(|at| (at % 7) as u8).collect();
            for most in 0..8 {
                let expected = bytes.iter().filter(|&&byte| byte < most).count();
                assert_eq!(count(&bytes, |byte| byte < most), expected, "{len} {most}");
            }
        }
    }

    struct Same<'a>(&'a [u8; BLOCK], u64, u64, u32);

    impl Task for Same<'_> {
        fn run<L: Look>(self) {
            let Self(bytes, low, high, expected) = self;
            assert_eq!(L::same(bytes, low, high), expected, "{bytes:02X?} {low:X} {high:X}");
        }
    }

    #[test]
    fn numbers_that_are_the_same() {
        let differ_in_one_bit = (0..64).map(|bit| (1 << 63 | 1) ^ 1u64 << bit);
        for other in differ_in_one_bit.chain([0, u64::MAX]) {
            for expected in 0..16 {
                let (low, high) = (1 << 63 | 1, 7);
                let number = |at: u32| match (expected >> at & 1, at) {
                    (0, _) => other,
                    (_, 0 | 1) => low,
                    _ => high,
                };
                let mut bytes = [1; BLOCK];
                for (at, place) in (0..4).zip(bytes.as_chunks_mut::<8>().0) {
                    *place = number(at).to_le_bytes();
                }
                every_way(|_| fastest(Same(&bytes, low, high, expected)));
            }
        }
    }

    #[test]
    fn random_bytes() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            let bytes = std::array::from_fn(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                (state >> 56) as u8
            });
            compare(&bytes);
        }
    }
}
