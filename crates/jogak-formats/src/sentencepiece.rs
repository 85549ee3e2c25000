//! The pieces of a SentencePiece `.model`: the fields that it begins with, and nearly all of it.
//!
//! ```text
//! piece = 0A length { 0A length text   15 score as a 32-bit float   18 kind }     a score of 0, and the
//!                                                                kind NORMAL, may be left out
//! ```

use jogak::vocab::Vocab;

/// The kind of pieces that says nothing.
const NORMAL: u8 = 1;
/// The greatest kind.
const BYTE: u8 = 6;

/// Pieces in the order of their ids.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    /// Their texts, no two of them the same.
    pub vocab: Vocab,
    /// Their scores, finite ones.
    pub scores: Vec<f64>,
    /// The ids of those that are not NORMAL, with their kinds: UNKNOWN (2), CONTROL, USER_DEFINED, UNUSED, BYTE (6).
    pub kinds: Vec<(u32, u8)>,
    /// The byte behind the last of them, where other fields begin.
    pub end: usize,
}

/// The pieces that a model begins with.
///
/// None if there are none, or if one of them is not written as SentencePiece writes it, has no text or that of
/// another, a zero character, a score that is no number, or a kind that there is not.
///
/// ```
/// let found = jogak_formats::sentencepiece::pieces(b"\x0A\x08\x0A\x01a\x15\x00\x00\x80\xBF").unwrap();
/// assert_eq!((found.vocab.id(b"a"), &found.scores[..]), (Some(0), &[-1.0][..]));
/// ```
#[must_use]
pub fn pieces(data: &[u8]) -> Option<Pieces> {
    let vocab = Vocab::with_capacity(data.len() / 16, data.len() / 2);
    let mut found = Pieces { vocab, ..Pieces::default() };
    let mut rest = data;
    while let Some(field) = rest.strip_prefix(b"\x0A") {
        let (piece, behind) = sized(field)?;
        rest = behind;
        let (text, behind) = sized(piece.strip_prefix(b"\x0A")?)?;
        let (score, behind) = match behind.strip_prefix(b"\x15") {
            Some(number) => number.split_first_chunk()?,
            None => (&[0; 4], behind),
        };
        let score = f32::from_le_bytes(*score);
        let kind = match behind {
            [] => NORMAL,
            &[0x18, kind @ NORMAL..=BYTE] => kind,
            _ => return None,
        };
        if text.is_empty() || text.contains(&0) || !score.is_finite() {
            return None;
        }
        crate::text(text)?;
        if kind != NORMAL {
            found.kinds.push((u32::try_from(found.vocab.len()).ok()?, kind));
        }
        found.vocab.push(text);
        found.scores.push(f64::from(score));
    }
    found.end = data.len() - rest.len();
    (found.end > 0 && found.vocab.distinct() == found.vocab.len()).then_some(found)
}

/// Bytes behind their length, which is less than 16,384 as in all pieces that somebody has trained; and what
/// stands behind them.
fn sized(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match *data {
        [length @ 0..0x80, ref rest @ ..] => (usize::from(length), rest),
        [low, high @ 1..0x80, ref rest @ ..] => {
            (usize::from(high) << 7 | usize::from(low & 0x7F), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(tag: u8, inside: &[u8]) -> Vec<u8> {
        let length = inside.len();
        let mut field = vec![tag];
        if length < 0x80 {
            field.push(length as u8);
        } else {
            field.extend([length as u8 | 0x80, (length >> 7) as u8]);
        }
        field.extend(inside);
        field
    }

    fn piece(text: &[u8], score: f32, kind: &[u8]) -> Vec<u8> {
        let mut inside = field(0x0A, text);
        inside.push(0x15);
        inside.extend(score.to_le_bytes());
        inside.extend(kind);
        field(0x0A, &inside)
    }

    #[test]
    fn pieces_and_where_they_end() {
        let long = "가".repeat(100);
        let mut data = piece(b"<unk>", 0.0, &[0x18, 2]);
        data.extend(piece(long.as_bytes(), -1.5, &[]));
        data.extend(piece("▁a".as_bytes(), -2.0, &[0x18, 6]));
        data.extend(field(0x0A, b"\x0A\x01b\x18\x03"));
        let end = data.len();
        data.extend(field(0x12, b"trainer"));
        let found = pieces(&data).unwrap();
        assert_eq!(found.vocab.id(long.as_bytes()), Some(1));
        assert_eq!(found.scores, [0.0, -1.5, -2.0, 0.0]);
        assert_eq!((found.kinds, found.end), (vec![(0, 2), (2, 6), (3, 3)], end));
    }

    #[test]
    fn what_is_not_plain_is_left_to_others() {
        let good = piece(b"a", -1.0, &[0x18, 3]);
        for cut in 1..good.len() {
            assert!(pieces(&good[..cut]).is_none(), "{cut}");
        }
        for wrong in [
            [&good[..], &good[..]].concat(),
            piece(b"", -1.0, &[]),
            piece(b"\0", -1.0, &[]),
            piece(b"\xFF", -1.0, &[]),
            piece(b"a", f32::NAN, &[]),
            piece(b"a", f32::INFINITY, &[]),
            piece(b"a", -1.0, &[0x18]),
            piece(b"a", -1.0, &[0x18, 0]),
            piece(b"a", -1.0, &[0x18, 7]),
            piece(b"a", -1.0, &[0x18, 1, 0]),
            field(0x0A, b"\x0A\x01a\x18\x01\x15\0\0\0\0"),
            field(0x12, b"trainer"),
            Vec::new(),
        ] {
            assert!(pieces(&wrong).is_none(), "{wrong:?}");
        }
    }
}
