//! 64 bytes at a time, on x86-64 with AVX-512 as of 2019 (Ice Lake, Zen 4): comparing makes masks at once, and the
//! places of their bits are written down without a loop.
#![allow(
    unsafe_code,
    reason = "Vector instructions are unsafe to call where the machine may lack them. `run` asks the machine; \
              nobody else can come here. The one pointer that is read through is checked before."
)]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm256_and_si256, _mm256_cmpeq_epi64_mask, _mm256_cmpgt_epu32_mask,
    _mm256_cvtepi64_epi32, _mm256_set_m128i, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setr_epi64x, _mm256_srlv_epi64, _mm512_add_epi8, _mm512_add_epi32,
    _mm512_castsi256_si512, _mm512_castsi512_si128, _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask,
    _mm512_cmple_epu8_mask, _mm512_cmplt_epu32_mask, _mm512_cvtepu8_epi32, _mm512_cvtepu32_epi64,
    _mm512_extracti32x4_epi32, _mm512_extracti32x8_epi32, _mm512_inserti64x4,
    _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_mullo_epi32, _mm512_or_si512,
    _mm512_permutex2var_epi8, _mm512_reduce_or_epi64, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_setr_epi64, _mm512_sllv_epi64, _mm512_sub_epi8, _mm512_sub_epi32,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};
use std::mem::transmute;

use super::able::Able;
use super::avx2::{pick, settled};
use super::{Apart, Ascii, BLOCK, Chinese, EIGHT, Eastern, High, Look, PICKED, Plain, Task};

static ABLE: Able = Able::new();

fn ask() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("avx2")
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
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
fn enabled<T: Task>(task: T) {
    task.run::<Avx512>();
}

/// Only [`enabled`] names it, so that it is part of no other code.
struct Avx512;

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(bytes: &[u8; BLOCK]) -> __m512i {
    let (eights, _) = bytes.as_chunks::<8>();
    let word = |at: usize| i64::from_le_bytes(eights[at]);
    _mm512_setr_epi64(word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7))
}

/// The bytes that are in `first..=last`: `byte - first` is at most `last - first`, without a sign.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn within(bytes: __m512i, first: u8, last: u8) -> u64 {
    let moved = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first as i8));
    settled(_mm512_cmple_epu8_mask(moved, _mm512_set1_epi8((last - first) as i8)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn is(bytes: __m512i, byte: u8) -> u64 {
    settled(_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8)))
}

/// The bytes from 0x80 on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn beyond_ascii(bytes: __m512i) -> u64 {
    settled(_mm512_movepi8_mask(bytes))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn ascii(bytes: &[u8; BLOCK]) -> Ascii {
    let bytes = load(bytes);
    let spaces = is(bytes, b' ');
    Ascii {
        upper: within(bytes, b'A', b'Z'),
        lower: within(bytes, b'a', b'z'),
        digits: within(bytes, b'0', b'9'),
        blanks: within(bytes, b'\t', b'\r') | spaces,
        line_ends: is(bytes, b'\n') | is(bytes, b'\r'),
        spaces,
        apostrophes: is(bytes, b'\''),
        slashes: is(bytes, b'/'),
        high: beyond_ascii(bytes),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn high(bytes: &[u8; BLOCK]) -> High {
    let bytes = load(bytes);
    High {
        two: within(bytes, 0xC0, 0xDF),
        three: within(bytes, 0xE0, 0xEF),
        four: within(bytes, 0xF0, 0xFF),
        e5_to_ec: within(bytes, 0xE5, 0xE9) | within(bytes, 0xEB, 0xEC),
        d0: is(bytes, 0xD0),
        d1: is(bytes, 0xD1),
        e4: is(bytes, 0xE4),
        ea: is(bytes, 0xEA),
        ed: is(bytes, 0xED),
        to_9d: within(bytes, 0x80, 0x9D),
        to_9f: within(bytes, 0x80, 0x9F),
        to_af: within(bytes, 0x80, 0xAF),
        from_b0: within(bytes, 0xB0, 0xBF),
        from_b8: within(bytes, 0xB8, 0xBF),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn apart(bytes: &[u8; BLOCK]) -> Apart {
    let bytes = load(bytes);
    let spaces = is(bytes, b' ');
    let lines = within(bytes, b'\t', b'\n') | is(bytes, b'\r');
    let low = within(bytes, b'!', b'/') | within(bytes, b':', b'@');
    let high = within(bytes, b'[', b'`') | within(bytes, b'{', b'~');
    Apart { blanks: lines | spaces, spaces, punctuation: low | high, high: beyond_ascii(bytes) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn chinese(bytes: &[u8; BLOCK]) -> Chinese {
    let bytes = load(bytes);
    Chinese {
        always: within(bytes, 0xE5, 0xE8),
        e4: is(bytes, 0xE4),
        e9: is(bytes, 0xE9),
        upper: within(bytes, 0xB8, 0xBF),
        last: is(bytes, 0xBF),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn eastern(bytes: &[u8; BLOCK]) -> Eastern {
    let bytes = load(bytes);
    let letters = within(bytes, 0x80, 0x96) | within(bytes, 0x9D, 0x9F);
    Eastern {
        e3: is(bytes, 0xE3),
        ef: is(bytes, 0xEF),
        at_80: is(bytes, 0x80),
        at_81: is(bytes, 0x81),
        at_82: is(bytes, 0x82),
        at_83: is(bytes, 0x83),
        at_bc: is(bytes, 0xBC),
        of_81: within(bytes, 0x81, 0xBF),
        of_82: letters | within(bytes, 0xA1, 0xBF),
        of_83: within(bytes, 0x80, 0xBA) | within(bytes, 0xBC, 0xBF),
        of_80: within(bytes, 0x81, 0x84) | within(bytes, 0x88, 0xA0),
        of_bc: within(bytes, 0x81, 0x8F) | within(bytes, 0x9A, 0xA0),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn same(bytes: &[u8; BLOCK], low: u64, high: u64) -> u32 {
    let (eights, _) = bytes.as_chunks::<8>();
    let word = |at: usize| i64::from_le_bytes(eights[at]);
    let numbers = _mm256_setr_epi64x(word(0), word(1), word(2), word(3));
    let (low, high) = (low as i64, high as i64);
    u32::from(_mm256_cmpeq_epi64_mask(numbers, _mm256_setr_epi64x(low, low, high, high)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn twenties(number: u64, room: &mut [u32; 4]) {
    let shifted =
        _mm256_srlv_epi64(_mm256_set1_epi64x(number as i64), _mm256_setr_epi64x(4, 24, 44, 64));
    let numbers = _mm256_cvtepi64_epi32(_mm256_and_si256(shifted, _mm256_set1_epi64x(0xF_FFFF)));
    // SAFETY: four numbers of 32 bits are as large as such a vector, and all of its bits may stand in them.
    *room = unsafe { transmute::<__m128i, [u32; 4]>(numbers) };
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx2")]
fn sixteens(bytes: &[u8], places: &[u32; EIGHT]) -> Option<([u64; EIGHT], [u64; EIGHT])> {
    let last = u32::try_from(bytes.len().checked_sub(16)?).unwrap_or(u32::MAX);
    // SAFETY: eight numbers of 32 bits are as large as such a vector, and all of their bits may stand in it.
    let all = unsafe { transmute::<[u32; EIGHT], __m256i>(*places) };
    if _mm256_cmpgt_epu32_mask(all, _mm256_set1_epi32(last as i32)) != 0 {
        return None;
    }
    let load = |at: usize| -> __m128i {
        // SAFETY: no place is behind the last one that has 16 bytes behind it.
        unsafe { bytes.as_ptr().add(places[at] as usize).cast::<__m128i>().read_unaligned() }
    };
    // Every other place side by side, so that halves of both make the numbers in their order.
    let every_other = |at: usize| {
        let two = |at: usize| _mm256_set_m128i(load(at + 2), load(at));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(two(at)), two(at + 4))
    };
    let (even, odd) = (every_other(0), every_other(1));
    let (first, second) = (_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd));
    // SAFETY: eight numbers of 64 bits are as large as such a vector, and all of its bits may stand in them.
    Some(unsafe {
        (transmute::<__m512i, [u64; EIGHT]>(first), transmute::<__m512i, [u64; EIGHT]>(second))
    })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn starts(bytes: &[u8; BLOCK]) -> u64 {
    !within(load(bytes), 0x80, 0xBF)
}

/// What number a byte has.
const NUMBERS: [u8; BLOCK] = {
    let mut numbers = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        numbers[at] = at as u8;
        at += 1;
    }
    numbers
};

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn list(bits: u64, from: u32, room: &mut [u32; BLOCK]) {
    let places = _mm512_maskz_compress_epi8(bits, load(&NUMBERS));
    let from = _mm512_set1_epi32(from as i32);
    let mut write = |quarter: usize, bytes: __m128i| {
        let places = _mm512_add_epi32(from, _mm512_cvtepu8_epi32(bytes));
        // SAFETY: 16 numbers of 32 bits are as large as such a vector, and all of its bits may stand in them.
        room.as_chunks_mut::<16>().0[quarter] = unsafe { transmute::<__m512i, [u32; 16]>(places) };
    };
    // Half of them mostly is all; nobody has to guess how many there are.
    write(0, _mm512_castsi512_si128(places));
    write(1, _mm512_extracti32x4_epi32::<1>(places));
    if bits.count_ones() > 32 {
        write(2, _mm512_extracti32x4_epi32::<2>(places));
        write(3, _mm512_extracti32x4_epi32::<3>(places));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,popcnt")]
fn bits(mut places: &[u32], from: u32) -> (u64, usize) {
    let (mut bits, mut count) = (0, 0);
    while let Some((some, behind_them)) = places.split_first_chunk::<16>() {
        // SAFETY: 16 numbers of 32 bits are as large as such a vector, and all of their bits may stand in it.
        let all = unsafe { transmute::<[u32; 16], __m512i>(*some) };
        let behind = _mm512_sub_epi32(all, _mm512_set1_epi32(from as i32));
        // One that is shifted by 64 or more is gone.
        let one = |eight| _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_cvtepu32_epi64(eight));
        let (low, high) = (_mm512_castsi512_si256(behind), _mm512_extracti32x8_epi32::<1>(behind));
        bits |= _mm512_reduce_or_epi64(_mm512_or_si512(one(low), one(high))) as u64;
        let within = _mm512_cmplt_epu32_mask(behind, _mm512_set1_epi32(BLOCK as i32)).count_ones();
        count += within as usize;
        if within < 16 {
            return (bits, count);
        }
        places = behind_them;
    }
    let (rest, many) = Plain::bits(places, from);
    (bits | rest, count + many)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
fn fours(bytes: &[u8; BLOCK + PICKED], bits: u64, room: &mut [u32; BLOCK]) {
    let (Some(first), Some(behind)) = (bytes.first_chunk(), bytes.last_chunk()) else { return };
    let (first, behind) = (load(first), load_sixteen(behind));
    let places = _mm512_maskz_compress_epi8(bits, load(&NUMBERS));
    let next = _mm512_set1_epi32(0x0302_0100);
    let mut write = |quarter: usize, places: __m128i| {
        // Of each place its four bytes' places: the number that it is, times 1 + 2^8 + 2^16 + 2^24, and 0, 1, 2, 3 added.
        let four = _mm512_mullo_epi32(_mm512_cvtepu8_epi32(places), _mm512_set1_epi32(0x0101_0101));
        let numbers = _mm512_permutex2var_epi8(first, _mm512_add_epi8(four, next), behind);
        // SAFETY: 16 numbers of 32 bits are as large as such a vector, and all of its bits may stand in them.
        room.as_chunks_mut::<16>().0[quarter] = unsafe { transmute::<__m512i, [u32; 16]>(numbers) };
    };
    // Half of them mostly is all; nobody has to guess how many there are.
    write(0, _mm512_castsi512_si128(places));
    write(1, _mm512_extracti32x4_epi32::<1>(places));
    if bits.count_ones() > 32 {
        write(2, _mm512_extracti32x4_epi32::<2>(places));
        write(3, _mm512_extracti32x4_epi32::<3>(places));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_sixteen(bytes: &[u8; PICKED]) -> __m512i {
    let (eights, _) = bytes.as_chunks::<8>();
    let word = |at: usize| i64::from_le_bytes(eights[at]);
    _mm512_setr_epi64(word(0), word(1), 0, 0, 0, 0, 0, 0)
}

// SAFETY, for all of them: `Avx512` is named in `enabled` only, where the machine was asked.
impl Look for Avx512 {
    by_functions! {
        fn ascii(bytes: &[u8; BLOCK]) -> Ascii;
        fn high(bytes: &[u8; BLOCK]) -> High;
        fn apart(bytes: &[u8; BLOCK]) -> Apart;
        fn chinese(bytes: &[u8; BLOCK]) -> Chinese;
        fn eastern(bytes: &[u8; BLOCK]) -> Eastern;
        fn same(bytes: &[u8; BLOCK], low: u64, high: u64) -> u32;
        fn sixteens(bytes: &[u8], places: &[u32; EIGHT]) -> Option<([u64; EIGHT], [u64; EIGHT])>;
        fn starts(bytes: &[u8; BLOCK]) -> u64;
        fn pick(bytes: &[u8; PICKED], places: &[u8; PICKED]) -> [u8; PICKED];
        fn list(bits: u64, from: u32, room: &mut [u32; BLOCK]);
        fn bits(places: &[u32], from: u32) -> (u64, usize);
        fn fours(bytes: &[u8; BLOCK + PICKED], bits: u64, room: &mut [u32; BLOCK]);
        fn twenties(number: u64, room: &mut [u32; 4]);
    }
}
