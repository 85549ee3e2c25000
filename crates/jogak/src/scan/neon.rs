//! 16 bytes at a time, on Arm of 64 bits with NEON.
#![allow(
    unsafe_code,
    reason = "Vector instructions are unsafe to call where the machine may lack them. This file is compiled for \
              targets only that have them (`scan/mod.rs`), so there is nothing to ask the machine. No memory is touched \
              through a pointer."
)]

use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vceqq_u8, vcleq_u8, vcombine_u8, vcreate_u8, vdupq_n_u8, vgetq_lane_u64,
    vorrq_u8, vpaddq_u8, vqtbl1q_u8, vreinterpretq_u64_u8, vsubq_u8,
};

use super::plain::Plain;
use super::{Apart, Ascii, BLOCK, Chinese, Eastern, High, Look, PICKED, Task};

/// Does the work; it never comes back.
#[inline]
pub(super) fn run<T: Task>(task: T) -> Option<T> {
    task.run::<Neon>();
    None
}

struct Neon;

/// The 64 bytes as four vectors.
#[derive(Clone, Copy)]
struct Quarters([uint8x16_t; 4]);

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; BLOCK]) -> Quarters {
    let (eights, _) = bytes.as_chunks::<8>();
    let half = |at: usize| vcreate_u8(u64::from_le_bytes(eights[at]));
    let quarter = |at: usize| vcombine_u8(half(at), half(at + 1));
    Quarters([quarter(0), quarter(2), quarter(4), quarter(6)])
}

/// All bits of every byte that is in `first..=last`: it is if `byte - first` is at most `last - first`,
/// without a sign.
#[inline]
#[target_feature(enable = "neon")]
fn within(Quarters(bytes): Quarters, first: u8, last: u8) -> Quarters {
    let from = vdupq_n_u8(first);
    let width = vdupq_n_u8(last - first);
    Quarters(bytes.map(|quarter| vcleq_u8(vsubq_u8(quarter, from), width)))
}

#[inline]
#[target_feature(enable = "neon")]
fn is(Quarters(bytes): Quarters, byte: u8) -> Quarters {
    let byte = vdupq_n_u8(byte);
    Quarters(bytes.map(|quarter| vceqq_u8(quarter, byte)))
}

#[inline]
#[target_feature(enable = "neon")]
fn or(Quarters([a, b, c, d]): Quarters, Quarters([e, f, g, h]): Quarters) -> Quarters {
    Quarters([vorrq_u8(a, e), vorrq_u8(b, f), vorrq_u8(c, g), vorrq_u8(d, h)])
}

/// One bit for every byte, all of whose bits are set or none. There is no instruction for that: each byte keeps
/// the bit of its place among eight, and three additions of neighbours bring eight bytes into one.
#[inline]
#[target_feature(enable = "neon")]
fn mask(Quarters(bytes): Quarters) -> u64 {
    let places = vcreate_u8(0x8040_2010_0804_0201);
    let places = vcombine_u8(places, places);
    let [a, b, c, d] = bytes.map(|quarter| vandq_u8(quarter, places));
    let all = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(all, all)))
}

#[inline]
#[target_feature(enable = "neon")]
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
        high: mask(within(bytes, 0x80, 0xFF)),
    }
}

#[inline]
#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
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
        high: mask(within(bytes, 0x80, 0xFF)),
    }
}

#[inline]
#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
fn starts(bytes: &[u8; BLOCK]) -> u64 {
    !mask(within(load(bytes), 0x80, 0xBF))
}

#[inline]
#[target_feature(enable = "neon")]
fn pick(bytes: &[u8; PICKED], places: &[u8; PICKED]) -> [u8; PICKED] {
    let load = |bytes: &[u8; PICKED]| {
        let bytes = u128::from_le_bytes(*bytes);
        vcombine_u8(vcreate_u8(bytes as u64), vcreate_u8((bytes >> 64) as u64))
    };
    // Places from 16 on are none.
    let picked = vreinterpretq_u64_u8(vqtbl1q_u8(load(bytes), load(places)));
    let (low, high) = (vgetq_lane_u64::<0>(picked), vgetq_lane_u64::<1>(picked));
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}

// SAFETY, for all of them: this is only compiled for targets that have NEON.
impl Look for Neon {
    by_functions! {
        fn ascii(bytes: &[u8; BLOCK]) -> Ascii;
        fn high(bytes: &[u8; BLOCK]) -> High;
        fn apart(bytes: &[u8; BLOCK]) -> Apart;
        fn chinese(bytes: &[u8; BLOCK]) -> Chinese;
        fn eastern(bytes: &[u8; BLOCK]) -> Eastern;
        fn starts(bytes: &[u8; BLOCK]) -> u64;
        fn pick(bytes: &[u8; PICKED], places: &[u8; PICKED]) -> [u8; PICKED];
    }

    #[inline(always)]
    fn same(bytes: &[u8; BLOCK], low: u64, high: u64) -> u32 {
        // Two numbers to a vector: no quicker than ordinary registers.
        Plain::same(bytes, low, high)
    }
}
