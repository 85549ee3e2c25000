//! The long lists of jogak's own file: texts and holes, whole numbers, numbers.
//!
//! Numbers are read as Python reads them: to the nearest of 64 bits.

use jogak::vocab::Vocab;

use crate::cursor::{Cursor, Read};

/// A list of texts, and null where an id has none. None also for a text that is empty or stands twice.
///
/// ```
/// let vocab = jogak_formats::lists::texts(r#"["a", null, "b"]"#).unwrap();
/// assert_eq!((vocab.len(), vocab.piece(1), vocab.id(b"b")), (3, None, Some(2)));
/// ```
#[must_use]
pub fn texts(text: &str) -> Option<Vocab> {
    let mut vocab = Vocab::with_capacity(text.len() / 10, text.len());
    let (mut buffer, mut holes) = (String::new(), 0);
    items(text, |cursor| {
        if cursor.peek() != Some(b'"') {
            holes += 1;
            vocab.push(b"");
            return (cursor.word() == "null").then_some(());
        }
        let piece = match cursor.string(&mut buffer)? {
            Read::Plain(piece) => piece,
            Read::Undone => &buffer,
        };
        vocab.push(piece.as_bytes());
        (!piece.is_empty()).then_some(())
    })?;
    (vocab.distinct() + holes == vocab.len()).then_some(vocab)
}

/// A list of whole numbers whose sum, their signs aside, has no more than 63 bits.
///
/// ```
/// assert_eq!(jogak_formats::lists::integers("[3, -1, 0]"), Some(vec![3, -1, 0]));
/// ```
#[must_use]
pub fn integers(text: &str) -> Option<Vec<i64>> {
    let mut values = Vec::with_capacity(text.len() / 6);
    let mut sum = 0i64;
    items(text, |cursor| {
        let value = cursor.integer()?;
        sum = sum.checked_add(value.checked_abs()?)?;
        values.push(value);
        Some(())
    })?;
    Some(values)
}

/// A list of numbers, all of them finite.
///
/// ```
/// assert_eq!(jogak_formats::lists::numbers("[-1.5, 0, 1e-3]"), Some(vec![-1.5, 0.0, 0.001]));
/// ```
#[must_use]
pub fn numbers(text: &str) -> Option<Vec<f64>> {
    let mut values = Vec::with_capacity(text.len() / 18);
    items(text, |cursor| {
        values.push(number(cursor.word())?);
        Some(())
    })?;
    Some(values)
}

/// A number as JSON spells it.
fn number(word: &str) -> Option<f64> {
    let bare = word.strip_prefix('-').unwrap_or(word);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let leading = digits > 1 && bare.starts_with('0');
    // Rust also takes `.5`, `1.`, `inf` and what begins with a plus.
    let fraction = bare[digits..].strip_prefix('.');
    let fine = fraction.is_none_or(|behind| behind.starts_with(|one: char| one.is_ascii_digit()));
    if digits == 0 || leading || !fine {
        return None;
    }
    let value: f64 = word.parse().ok()?;
    // Whole numbers have no zero below zero.
    let whole = digits == bare.len();
    value.is_finite().then_some(if whole && value == 0.0 { 0.0 } else { value })
}

/// Goes through a list that is all of the text; `read` takes an item.
fn items<'a>(text: &'a str, mut read: impl FnMut(&mut Cursor<'a>) -> Option<()>) -> Option<()> {
    let mut cursor = Cursor::new(text);
    cursor.eat(b'[')?;
    cursor.space();
    let mut more = !cursor.is(b']');
    while more {
        read(&mut cursor)?;
        more = cursor.more(b']')?;
    }
    cursor.is_done().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_is_left_to_others() {
        for wrong in
            [r#"["a", "a"]"#, r#"["", "a"]"#, r#"["a", nul]"#, r#"["a",]"#, "[1]", "{}", "[null] x"]
        {
            assert!(texts(wrong).is_none(), "{wrong}");
        }
        for wrong in ["[-0]", "[01]", "[1.0]", "[1e3]", "[9223372036854775808]", "[null]", "[1 2]"]
        {
            assert_eq!(integers(wrong), None, "{wrong}");
        }
        let half = i64::MAX / 2 + 1;
        assert_eq!(integers(&format!("[{half}, -{half}]")), None);
        assert_eq!(integers(&format!("[-{}]", i64::MAX)), Some(vec![-i64::MAX]));
        for wrong in
            ["[1.]", "[.5]", "[+1]", "[01]", "[1e999]", "[NaN]", "[inf]", "[-]", "[1.e2]", "[1e]"]
        {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn empty_lists_and_spaces() {
        assert_eq!(texts("[ ]").unwrap().len(), 0);
        assert_eq!(texts("[ null ,\n\"a\" ]").unwrap().id(b"a"), Some(1));
        assert_eq!((integers("[]"), integers("[ 1 ,\t2 ]")), (Some(vec![]), Some(vec![1, 2])));
        let found = numbers("[ -0 , -0.0, -0e1, 2E+2]").unwrap();
        let bits = [0.0, -0.0, -0.0, 200.0].map(f64::to_bits);
        assert_eq!(found.into_iter().map(f64::to_bits).collect::<Vec<_>>(), bits);
    }
}
