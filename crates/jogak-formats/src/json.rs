//! A `tokenizer.json`: where its long sections are, and what they hold; merges stand in [`crate::merges`].

use std::ops::Range;

use jogak::vocab::Vocab;

use crate::cursor::{Cursor, Read};
use crate::numbers::number;

/// Where the values of fields are in a file; each field is given as the names on the way to it. None for
/// what is no object, or a field that stands twice.
///
/// Of all else only strings and brackets are looked at: if the file without these values is JSON, and
/// each of them is, then all of it is.
///
/// ```
/// let json = r#"{"model": {"vocab": {"a": 0}}}"#;
/// let found = jogak_formats::json::fields(json, &[&["model", "vocab"], &["model", "merges"]]);
/// assert_eq!(found, Some(vec![Some(20..28), None]));
/// ```
pub fn fields(text: &str, wanted: &[&[&str]]) -> Option<Vec<Option<Range<usize>>>> {
    let mut found = vec![None; wanted.len()];
    let mut cursor = Cursor::new(text);
    cursor.space();
    let wanted: Vec<(usize, &[&str])> = wanted.iter().copied().enumerate().collect();
    object(&mut cursor, &wanted, &mut found)?;
    cursor.is_done().then_some(found)
}

fn object(
    cursor: &mut Cursor<'_>,
    wanted: &[(usize, &[&str])],
    found: &mut [Option<Range<usize>>],
) -> Option<()> {
    cursor.eat(b'{')?;
    cursor.space();
    if cursor.is(b'}') {
        return Some(());
    }
    let mut buffer = String::new();
    loop {
        let key = match cursor.string(&mut buffer)? {
            Read::Plain(key) => key,
            // Whoever escapes the letters of a name is no friend.
            Read::Undone => "",
        };
        cursor.space();
        cursor.eat(b':')?;
        cursor.space();
        let below: Vec<_> = wanted
            .iter()
            .filter_map(|&(index, path)| {
                path.split_first().filter(|&(name, _)| *name == key).map(|(_, rest)| (index, rest))
            })
            .collect();
        let start = cursor.at();
        if let Some(&(index, _)) = below.iter().find(|(_, rest)| rest.is_empty()) {
            cursor.skip()?;
            if found[index].replace(start..cursor.at()).is_some() {
                return None;
            }
        } else if !below.is_empty() && cursor.peek() == Some(b'{') {
            object(cursor, &below, found)?;
        } else {
            cursor.skip()?;
        }
        if !cursor.more(b'}')? {
            return Some(());
        }
    }
}

/// An object of texts and ids, and the id of the empty text, which is a hole in the vocabulary. None also for a text
/// or an id that stands twice, and ids far apart.
///
/// ```
/// let (vocab, empty) = jogak_formats::json::ids(r#"{"b": 2, "a": 0, "": 1}"#).unwrap();
/// assert_eq!((vocab.len(), vocab.id(b"b"), empty), (3, Some(2), Some(1)));
/// ```
pub fn ids(text: &str) -> Option<(Vocab, Option<u32>)> {
    let mut cursor = Cursor::new(text);
    let mut bytes = Vec::with_capacity(text.len());
    let mut texts = Vec::with_capacity(text.len() / 16);
    let mut buffer = String::new();
    cursor.eat(b'{')?;
    cursor.space();
    let mut more = !cursor.is(b'}');
    while more {
        let key = cursor.string(&mut buffer)?.text(&buffer);
        bytes.extend_from_slice(key.as_bytes());
        cursor.space();
        cursor.eat(b':')?;
        cursor.space();
        texts.push((cursor.whole()?, bytes.len()));
        more = cursor.more(b'}')?;
    }
    cursor.is_done().then(|| crate::by_id(bytes, &texts))?
}

/// A list of pairs, each a text and its score. None also for a text that stands twice or is empty.
///
/// ```
/// let (vocab, scores) = jogak_formats::json::scored(r#"[["a", -1.5], ["b", 0]]"#).unwrap();
/// assert_eq!((vocab.id(b"b"), &scores[..]), (Some(1), &[-1.5, 0.0][..]));
/// ```
pub fn scored(text: &str) -> Option<(Vocab, Vec<f64>)> {
    let mut cursor = Cursor::new(text);
    let mut vocab = Vocab::with_capacity(text.len() / 24, text.len() / 2);
    let mut scores = Vec::with_capacity(text.len() / 24);
    let mut buffer = String::new();
    cursor.eat(b'[')?;
    cursor.space();
    let mut more = !cursor.is(b']');
    while more {
        cursor.eat(b'[')?;
        cursor.space();
        let piece = cursor.string(&mut buffer)?.text(&buffer);
        if piece.is_empty() {
            return None;
        }
        vocab.push(piece.as_bytes());
        if !cursor.more(b']')? {
            return None;
        }
        scores.push(number(cursor.word())?);
        cursor.space();
        cursor.eat(b']')?;
        more = cursor.more(b']')?;
    }
    (cursor.is_done() && vocab.distinct() == vocab.len()).then_some((vocab, scores))
}

/// Flags of an added token, in this order, after whether it is special.
pub const FLAGS: [&str; 4] = ["single_word", "lstrip", "rstrip", "normalized"];

/// An entry of the added tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its text.
    pub text: String,
    /// Whether it is special.
    pub special: bool,
    /// The [`FLAGS`].
    pub flags: [bool; 4],
}

/// A list of added tokens: objects of just the fields `id`, `content`, `special` and the [`FLAGS`].
///
/// ```
/// let token = r#"{"id": 5, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
///                 "normalized": false, "special": true}"#;
/// assert_eq!(jogak_formats::json::added(&format!("[{token}]")).unwrap()[0].text, "<s>");
/// ```
pub fn added(text: &str) -> Option<Vec<Entry>> {
    let mut cursor = Cursor::new(text);
    let mut entries = Vec::new();
    let (mut name, mut buffer) = (String::new(), String::new());
    cursor.eat(b'[')?;
    cursor.space();
    let mut more = !cursor.is(b']');
    while more {
        let mut entry = Entry { text: String::new(), special: false, flags: [false; 4] };
        // A bit for each field that has come.
        let mut seen = 0u8;
        cursor.eat(b'{')?;
        cursor.space();
        loop {
            let Read::Plain(key) = cursor.string(&mut name)? else { return None };
            cursor.space();
            cursor.eat(b':')?;
            cursor.space();
            let field = match key {
                "id" => {
                    cursor.whole()?;
                    4
                }
                "content" => {
                    entry.text.push_str(cursor.string(&mut buffer)?.text(&buffer));
                    5
                }
                "special" => {
                    entry.special = flag(&mut cursor)?;
                    6
                }
                _ => {
                    let place = FLAGS.iter().position(|&flag| flag == key)?;
                    entry.flags[place] = flag(&mut cursor)?;
                    place
                }
            };
            if seen >> field & 1 == 1 {
                return None;
            }
            seen |= 1 << field;
            if !cursor.more(b'}')? {
                break;
            }
        }
        if seen != 0x7F {
            return None;
        }
        entries.push(entry);
        more = cursor.more(b']')?;
    }
    cursor.is_done().then_some(entries)
}

fn flag(cursor: &mut Cursor<'_>) -> Option<bool> {
    match cursor.word() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_is_left_to_others() {
        for wrong in [
            r#"{"a": 0, "a": 1}"#,
            r#"{"a": 0, "b": 0}"#,
            r#"{"a": -1}"#,
            r#"{"a": 1.0}"#,
            r#"{"": 0, "": 1}"#,
            r#"{"": 0, "a": 0}"#,
            r#"{"a": 0, "": 0}"#,
            r#"{"a": 0,}"#,
            r#"{"a": 0} x"#,
            r#"{"\ud800": 0}"#,
            r#"{"a": 4000000000}"#,
            r#"[]"#,
        ] {
            assert!(ids(wrong).is_none(), "{wrong}");
        }
        for wrong in
            [r#"[["a", 1], ["a", 1]]"#, r#"[["a"]]"#, r#"[["a", 1, 2]]"#, r#"[["a", "1"]]"#]
        {
            assert!(scored(wrong).is_none(), "{wrong}");
        }
        let (empty, id) = ids(r#"{"": 0}"#).unwrap();
        assert_eq!((empty.len(), empty.piece(0), id), (1, None, Some(0)));
    }

    #[test]
    fn added_tokens() {
        let flags = r#""single_word": false, "lstrip": true, "rstrip": false, "normalized": false"#;
        let one = format!(r#"{{"id": 7, "content": "\u00e9", {flags}, "special": true}}"#);
        let entry = Entry { text: "é".into(), special: true, flags: [false, true, false, false] };
        assert_eq!(added(&format!("[{one}, {one}]")), Some(vec![entry.clone(), entry]));
        assert_eq!(added("[]"), Some(vec![]));
        for (what, with) in [
            (r#""special": true"#, r#""special": 1"#),
            (r#""special": true"#, r#""special": true, "more": 1"#),
            (r#""special": true"#, r#""special": true, "id": 1"#),
            (r#""id": 7"#, r#""id": -7"#),
            (r#""id": 7, "#, ""),
        ] {
            assert_eq!(added(&format!("[{}]", one.replace(what, with))), None, "{with}");
        }
    }

    #[test]
    fn fields_that_are_not_plain() {
        let wanted: [&[&str]; 1] = [&["model", "vocab"]];
        assert_eq!(fields(r#"{"model": {"vocab": 1, "vocab": 2}}"#, &wanted), None);
        assert_eq!(fields(r#"{"vocab": 1, "model": [{"vocab": 2}]}"#, &wanted), Some(vec![None]));
        assert_eq!(fields(r#"{"model": {"voc\u0061b": 1}}"#, &wanted), Some(vec![None]));
        for wrong in ["", "[]", "{", r#"{"model": {"vocab": [}"#, r#"{"a": 1} x"#, r#"{"a" 1}"#] {
            assert_eq!(fields(wrong, &wanted), None, "{wrong}");
        }
    }
}
