//! One field out of a JSON object, without building the rest.
//!
//! Rule: of a field that stands twice the last one counts, as in Python's `json`.

use crate::error::Problem;
use serde_core::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The text of `field` in the object that `line` is: UTF-8, but for halves of surrogate pairs, which
/// stand in it as three bytes each (WTF-8).
pub(crate) fn field<'a>(line: &'a str, field: &str) -> Result<Cow<'a, [u8]>, Problem> {
    let mut parser = serde_json::Deserializer::from_str(line);
    let found =
        parser.deserialize_map(Object { field }).and_then(|found| parser.end().map(|()| found));
    match found {
        Ok(Some(Text(text))) => Ok(text),
        Ok(None) => Err(Problem::NoField { field: field.into(), found: fields(line) }),
        Err(error) => Err(Problem::Json { reason: error.to_string() }),
    }
}

/// The names of all fields, for an error.
fn fields(line: &str) -> Vec<String> {
    let object: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_str(line);
    object.map(|object| object.into_iter().map(|(name, _)| name).collect()).unwrap_or_default()
}

/// WTF-8 -> UTF-8 with U+FFFD for every half of a pair; their number.
pub(crate) fn replace_surrogates(bytes: &[u8]) -> (String, u64) {
    let mut text = String::with_capacity(bytes.len());
    let mut replaced = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // Of the three bytes ed a0..bf 80..bf each is a broken part of its own: the first speaks.
        if chunk.invalid() == [0xed] {
            text.push(char::REPLACEMENT_CHARACTER);
            replaced += 1;
        }
    }
    (text, replaced)
}

struct Object<'f> {
    field: &'f str,
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Option<Text<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Text(name)) = map.next_key()? {
            if *name == *self.field.as_bytes() {
                found = Some(map.next_value().map_err(|error| {
                    A::Error::custom(format_args!("field {:?}: {error}", self.field))
                })?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// A JSON text as bytes: unlike `str` it can hold half of a surrogate pair.
struct Text<'a>(Cow<'a, [u8]>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(bytes)))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(bytes.to_vec())))
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text.as_bytes())))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.as_bytes().to_vec())))
            }
        }
        deserializer.deserialize_bytes(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> Result<String, Problem> {
        field(line, "text").map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn fields_are_found() {
        assert_eq!(text(r#"{"id": 7, "text": "밥"}"#), Ok("밥".into()));
        assert_eq!(
            text(r#" {"text": "a\n\u00e9\ud83d\ude00", "more": [{"text": 1}]} "#),
            Ok("a\né😀".into())
        );
        assert_eq!(text(r#"{"text": "a", "text": "b"}"#), Ok("b".into()));
        assert_eq!(text(r#"{"te\u0078t": "x"}"#), Ok("x".into()));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let missing =
            Problem::NoField { field: "text".into(), found: vec!["body".into(), "id".into()] };
        assert_eq!(text(r#"{"id": 1, "body": "x"}"#), Err(missing));
        for line in [
            r#"{"text": 5}"#,
            r#"{"text": null}"#,
            r#"{"text": ["a"]}"#,
            r#"{"text": {"a": 1}}"#,
            r#"["a"]"#,
            r#""a""#,
            "5",
            "{",
            r#"{"text": "a"} x"#,
            r#"{"text": "a}"#,
            r#"{"text": "\x"}"#,
        ] {
            assert!(matches!(text(line), Err(Problem::Json { .. })), "{line}: {:?}", text(line));
        }
    }

    #[test]
    fn halves_of_pairs() {
        let bytes = field(r#"{"text": "a\ud800b\udc00"}"#, "text").unwrap_or_default();
        assert!(std::str::from_utf8(&bytes).is_err());
        assert_eq!(replace_surrogates(&bytes), ("a\u{fffd}b\u{fffd}".into(), 2));
    }
}
