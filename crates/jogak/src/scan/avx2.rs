//! 32 bytes at a time, on x86-64 with AVX2.
#![allow(
    unsafe_code,
    reason = "Vector instructions are unsafe to call where the machine may lack them. `run` asks the machine; \
              nobody else can come here. No memory is touched through a pointer. The one line of assembly is empty."
)]

use std::arch::asm;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_extract_epi64, _mm_set_epi64x, _mm_shuffle_epi8, _mm256_castsi256_pd,
    _mm256_cmpeq_epi8, _mm256_cmpeq_epi64, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_movemask_pd, _mm256_or_si256, _mm256_set1_epi8, _mm256_setr_epi64x, _mm256_sub_epi8,
};

use super::able::Able;
use super::{Apart, Ascii, BLOCK, Chinese, Eastern, High, Look, PICKED, Task};

static ABLE: Able = Able::new();

fn ask() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Does the work if the machine can; else gives it back.
#[inline]
pub(super) fn run<T: Task>(task: T) -> Option<T> {
    if !ABLE.or_ask(ask) {
        return Some(task);
    }
    // SAFETY: the machine has all that `enabled` is compiled for.
    unsafe { enabled(task) };
    None
}

/// The whole work, compiled for such a machine.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn enabled<T: Task>(task: T) {
    task.run::<Avx2>();
}

/// Only [`enabled`] names it, so that it is part of no other code.
struct Avx2;

/// The 64 bytes as two vectors.
#[derive(Clone, Copy)]
struct Halves(__m256i, __m256i);

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; BLOCK]) -> Halves {
    let (eights, _) = bytes.as_chunks::<8>();
    let word = |at: usize| i64::from_le_bytes(eights[at]);
    Halves(
        _mm256_setr_epi64x(word(0), word(1), word(2), word(3)),
        _mm256_setr_epi64x(word(4), word(5), word(6), word(7)),
    )
}

/// All bits of every byte that is in `first..=last`: it is if nothing is cut off `byte - first` by
/// `last - first`, without a sign.
#[inline]
#[target_feature(enable = "avx2")]
fn within(Halves(low, high): Halves, first: u8, last: u8) -> Halves {
    let from = _mm256_set1_epi8(first as i8);
    let width = _mm256_set1_epi8((last - first) as i8);
    let half = |bytes| {
        let moved = _mm256_sub_epi8(bytes, from);
        _mm256_cmpeq_epi8(_mm256_min_epu8(moved, width), moved)
    };
    Halves(half(low), half(high))
}

#[inline]
#[target_feature(enable = "avx2")]
fn is(Halves(low, high): Halves, byte: u8) -> Halves {
    let byte = _mm256_set1_epi8(byte as i8);
    Halves(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
}

#[inline]
#[target_feature(enable = "avx2")]
fn or(one: Halves, other: Halves) -> Halves {
    Halves(_mm256_or_si256(one.0, other.0), _mm256_or_si256(one.1, other.1))
}

/// The high bits of the bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(Halves(low, high): Halves) -> u64 {
    let bits = |half| u64::from(_mm256_movemask_epi8(half) as u32);
    settled(bits(low) | bits(high) << 32)
}

/// The same number, of which the compiler knows nothing but its value when run. Else it takes arithmetic
/// on masks for arithmetic on vectors of bits, and puts those together bit by bit.
#[inline]
pub(super) fn settled(mut mask: u64) -> u64 {
    // SAFETY: no instruction at all.
    unsafe { asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags)) };
    mask
}

#[inline]
#[target_feature(enable = "avx2")]
fn ascii(bytes: &[u8; BLOCK]) -> Ascii {
    let bytes = load(bytes);
    let spaces = is(bytes, b' ');
    Ascii {
        upper: mask(within(bytes, b'A', b'Z')),
        lower: mask(within(bytes, b'a', b'z')),
        digits: mask(within(bytes, b'0', b'9')),
        blanks: mask(or(within(bytes, b'\t', b'\r'), spaces)),
        line_ends: mask(or(is(bytes, b'\n'), is(bytes, b'\r'))),
        spaces: mask(spaces),
        apostrophes: mask(is(bytes, b'\'')),
        slashes: mask(is(bytes, b'/')),
        high: mask(bytes),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn high(bytes: &[u8; BLOCK]) -> High {
    let bytes = load(bytes);
    High {
        two: mask(within(bytes, 0xC0, 0xDF)),
        three: mask(within(bytes, 0xE0, 0xEF)),
        four: mask(within(bytes, 0xF0, 0xFF)),
        e5_to_ec: mask(or(within(bytes, 0xE5, 0xE9), within(bytes, 0xEB, 0xEC))),
        d0: mask(is(bytes, 0xD0)),
        d1: mask(is(bytes, 0xD1)),
        e4: mask(is(bytes, 0xE4)),
        ea: mask(is(bytes, 0xEA)),
        ed: mask(is(bytes, 0xED)),
        to_9d: mask(within(bytes, 0x80, 0x9D)),
        to_9f: mask(within(bytes, 0x80, 0x9F)),
        to_af: mask(within(bytes, 0x80, 0xAF)),
        from_b0: mask(within(bytes, 0xB0, 0xBF)),
        from_b8: mask(within(bytes, 0xB8, 0xBF)),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn apart(bytes: &[u8; BLOCK]) -> Apart {
    let bytes = load(bytes);
    let spaces = is(bytes, b' ');
    let lines = or(within(bytes, b'\t', b'\n'), is(bytes, b'\r'));
    let low = or(within(bytes, b'!', b'/'), within(bytes, b':', b'@'));
    let high = or(within(bytes, b'[', b'`'), within(bytes, b'{', b'~'));
    Apart {
        blanks: mask(or(lines, spaces)),
        spaces: mask(spaces),
        punctuation: mask(or(low, high)),
        high: mask(bytes),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn chinese(bytes: &[u8; BLOCK]) -> Chinese {
    let bytes = load(bytes);
    Chinese {
        always: mask(within(bytes, 0xE5, 0xE8)),
        e4: mask(is(bytes, 0xE4)),
        e9: mask(is(bytes, 0xE9)),
        upper: mask(within(bytes, 0xB8, 0xBF)),
        last: mask(is(bytes, 0xBF)),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn eastern(bytes: &[u8; BLOCK]) -> Eastern {
    let bytes = load(bytes);
    let letters = or(within(bytes, 0x80, 0x96), within(bytes, 0x9D, 0x9F));
    Eastern {
        e3: mask(is(bytes, 0xE3)),
        ef: mask(is(bytes, 0xEF)),
        at_80: mask(is(bytes, 0x80)),
        at_81: mask(is(bytes, 0x81)),
        at_82: mask(is(bytes, 0x82)),
        at_83: mask(is(bytes, 0x83)),
        at_bc: mask(is(bytes, 0xBC)),
        of_81: mask(within(bytes, 0x81, 0xBF)),
        of_82: mask(or(letters, within(bytes, 0xA1, 0xBF))),
        of_83: mask(or(within(bytes, 0x80, 0xBA), within(bytes, 0xBC, 0xBF))),
        of_80: mask(or(within(bytes, 0x81, 0x84), within(bytes, 0x88, 0xA0))),
        of_bc: mask(or(within(bytes, 0x81, 0x8F), within(bytes, 0x9A, 0xA0))),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn same(bytes: &[u8; BLOCK], low: u64, high: u64) -> u32 {
    let Halves(numbers, _) = load(bytes);
    let (low, high) = (low as i64, high as i64);
    let same = _mm256_cmpeq_epi64(numbers, _mm256_setr_epi64x(low, low, high, high));
    _mm256_movemask_pd(_mm256_castsi256_pd(same)) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
fn starts(bytes: &[u8; BLOCK]) -> u64 {
    !mask(within(load(bytes), 0x80, 0xBF))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn pick(bytes: &[u8; PICKED], places: &[u8; PICKED]) -> [u8; PICKED] {
    let load = |bytes: &[u8; PICKED]| -> __m128i {
        let bytes = u128::from_le_bytes(*bytes);
        _mm_set_epi64x((bytes >> 64) as i64, bytes as i64)
    };
    let picked = _mm_shuffle_epi8(load(bytes), load(places));
    let half = |half: i64| u128::from(half as u64);
    let (low, high) = (_mm_extract_epi64::<0>(picked), _mm_extract_epi64::<1>(picked));
    (half(low) | half(high) << 64).to_le_bytes()
}

// SAFETY, for all of them: `Avx2` is named in `enabled` only, where the machine was asked.
impl Look for Avx2 {
    by_functions! {
        fn ascii(bytes: &[u8; BLOCK]) -> Ascii;
        fn high(bytes: &[u8; BLOCK]) -> High;
        fn apart(bytes: &[u8; BLOCK]) -> Apart;
        fn chinese(bytes: &[u8; BLOCK]) -> Chinese;
        fn eastern(bytes: &[u8; BLOCK]) -> Eastern;
        fn same(bytes: &[u8; BLOCK], low: u64, high: u64) -> u32;
        fn starts(bytes: &[u8; BLOCK]) -> u64;
        fn pick(bytes: &[u8; PICKED], places: &[u8; PICKED]) -> [u8; PICKED];
    }
}
