//! Decimal numbers as Hugging Face's library reads them from JSON, to the last bit.
//!
//! serde_json does not round correctly unless asked to: it takes the digits as one whole number, turns
//! that into 64-bit floating point, and divides or multiplies once by a power of ten. The same stands in
//! `jogak.formats.serde_numbers`, which also says what is wrong with a number.

use std::sync::LazyLock;

static TENS: LazyLock<Vec<f64>> =
    LazyLock::new(|| (0..309).map(|power| format!("1e{power}").parse().unwrap_or(0.0)).collect());

/// The number that a JSON number stands for. Without a fraction and an exponent it is rounded correctly.
pub(crate) fn number(text: &str) -> Option<f64> {
    let (negative, bare) = match text.strip_prefix('-') {
        Some(bare) => (true, bare),
        None => (false, text),
    };
    let (digits, power) = match bare.split_once(['e', 'E']) {
        Some((digits, power)) => (digits, Some(power)),
        None => (bare, None),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    if !fraction.is_none_or(is_number) {
        return None;
    }
    if fraction.is_none() && power.is_none() {
        let number: f64 = whole.parse().ok()?;
        return number.is_finite().then_some(if negative { 0.0 - number } else { number });
    }
    let mut exponent: i64 = 0;
    if let Some(power) = power {
        let bare = power.strip_prefix(['-', '+']).unwrap_or(power);
        if !is_number(bare) || bare.len() > 6 {
            return None;
        }
        exponent = bare.parse().ok()?;
        if power.starts_with('-') {
            exponent = -exponent;
        }
    }
    let (mut digits, mut full) = (0u64, false);
    let places = whole.bytes().map(|digit| (digit, false));
    for (digit, in_fraction) in
        places.chain(fraction.unwrap_or("").bytes().map(|digit| (digit, true)))
    {
        // What no longer fits in 64 bits is dropped, not rounded.
        let next = digits.checked_mul(10).and_then(|all| all.checked_add(u64::from(digit - b'0')));
        match next.filter(|_| !full) {
            Some(next) => digits = next,
            None => full = true,
        }
        exponent += i64::from(!in_fraction && full) - i64::from(in_fraction && !full);
    }
    // Greater powers take several steps, and are nobody's scores.
    let ten = *TENS.get(usize::try_from(exponent.unsigned_abs()).ok()?)?;
    let number = if exponent < 0 { digits as f64 / ten } else { digits as f64 * ten };
    number.is_finite().then_some(if negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_as_serde_json_reads_them() {
        for (text, value) in [
            ("-5.1416", -5.1416),
            ("1e3", 1000.0),
            ("-2.0122928619384766", -2.012_292_861_938_477),
            ("0", 0.0),
            ("12", 12.0),
            ("0.5E-2", 0.005),
            ("18446744073709551616.5", 18_446_744_073_709_551_610.0),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!(number("-0").map(f64::is_sign_negative), Some(false));
        for wrong in
            ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "NaN", "1e999", "1e9999999", "0x1"]
        {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }
}
