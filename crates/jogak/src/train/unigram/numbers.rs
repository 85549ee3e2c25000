//! The few functions of real numbers that training needs, in plain arithmetic.
//!
//! Rule: only `+ - * /` on `f64` and exact powers of two, in a fixed order. So every machine, and the
//! twin in Python, computes the same bits; the system's own `log` and `exp` differ between systems,
//! and one bit may decide which of two pieces stays.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// 2 to the power `k`; 0 below the range of normal numbers, infinite above it.
#[inline(always)]
pub(super) fn pow2(k: i32) -> f64 {
    match k {
        -1022..=1023 => f64::from_bits(((k + 1023) as u64) << 52),
        1024.. => f64::INFINITY,
        _ => 0.0,
    }
}

/// `x` as (m, e) with x = m * 2^e and 0.5 <= m < 1. `x` must be a positive normal number.
#[inline(always)]
pub(super) fn split(x: f64) -> (f64, i32) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1022;
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent)
}

/// The natural logarithm; minus infinity for 0.
pub(super) fn ln(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    let (mantissa, exponent) = split(x);
    ln_parts(mantissa, exponent)
}

/// ln(mantissa * 2^exponent), for 0.5 <= mantissa < 1: the series of ln((1+s)/(1-s)).
pub(super) fn ln_parts(mut mantissa: f64, mut exponent: i32) -> f64 {
    if mantissa < SQRT_2 / 2.0 {
        mantissa *= 2.0;
        exponent -= 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut sum = 0.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * square + 1.0 / odd;
    }
    f64::from(exponent) * LN_2 + 2.0 * s * sum
}

/// The exponential function, for arguments between -700 and 700: Taylor's series around the nearest
/// multiple of ln 2.
pub(super) fn exp(x: f64) -> f64 {
    let turns = (x * LOG2_E + 0.5).floor();
    let rest = x - turns * LN_2;
    let mut sum = 1.0;
    for n in (1..=14).rev() {
        sum = sum * rest / f64::from(n) + 1.0;
    }
    sum * pow2(turns as i32)
}

/// exp(digamma(x)) for x > 0: the weight that the mean-field estimate gives to an expected count.
/// It is about x - 1/2 for large x and much less for small x, which starves rare pieces.
///
/// digamma(x) = digamma(x+1) - 1/x lifts x to 8; from there the asymptotic series holds to 1e-9.
pub(super) fn exp_digamma(mut x: f64) -> f64 {
    let mut lifted = 0.0;
    while x < 8.0 {
        lifted += 1.0 / x;
        x += 1.0;
    }
    let y = x - 0.5;
    let r = 1.0 / y;
    let square = r * r;
    let series = (10313.0 / 2_903_040.0 * square - 37.0 / 5760.0) * square + 1.0 / 24.0;
    let value = y + series * r;
    if lifted == 0.0 { value } else { value * exp(-lifted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs().max(1e-300)
    }

    #[test]
    fn logarithm_and_exponential_are_right() {
        let mut x = 1e-15;
        while x < 1e20 {
            assert!(close(ln(x), x.ln(), 1e-14) || (ln(x) - x.ln()).abs() < 1e-15, "ln {x}");
            x *= 1.37;
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        for x in [-30.0, -10.0, -3.3, -0.5, 0.0, 0.1, 1.0, 20.0] {
            assert!(close(exp(x), f64::exp(x), 1e-14), "exp {x}");
        }
    }

    #[test]
    fn exp_digamma_has_its_known_values() {
        // digamma(1) = -gamma, digamma(1/2) = -gamma - 2 ln 2, digamma(n+1) = digamma(n) + 1/n.
        let gamma = 0.577_215_664_901_532_9;
        assert!(close(exp_digamma(1.0), f64::exp(-gamma), 1e-9));
        assert!(close(exp_digamma(0.5), f64::exp(-gamma - 2.0 * LN_2), 1e-9));
        assert!(close(exp_digamma(2.0), f64::exp(1.0 - gamma), 1e-9));
        assert!(close(exp_digamma(1e9), 1e9 - 0.5, 1e-15));
    }

    #[test]
    fn powers_and_splitting_are_exact() {
        assert_eq!((pow2(0), pow2(-3), pow2(10)), (1.0, 0.125, 1024.0));
        assert_eq!((pow2(-2000), pow2(2000)), (0.0, f64::INFINITY));
        assert_eq!(split(1.0), (0.5, 1));
        assert_eq!(split(0.3), (0.6, -1));
    }
}
