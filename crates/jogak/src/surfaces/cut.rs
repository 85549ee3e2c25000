//! The pieces of a normalized text, with what each of them stands for.
//!
//! In words: the text is what its pieces are, one behind the other, so each is told its place by those before it. An
//! unknown character has no text of its own, nor have the bytes of one: they take the next character of the text.
//! Unknown characters that follow each other are one piece; of the bytes of a character the last one stands for it.
//!
//! Where unknown characters that follow each other have but one id, that takes all characters from there on that are no pieces
//! by themselves, for only such a one is unknown. Where the piece behind it begins with such a one too, nobody can tell.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::rules::Counted;

/// What a piece of the vocabulary is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// Any character that is no piece.
    Unknown,
    /// A byte of such a character.
    Byte,
    /// A text that stands in no text: a control piece, or one that is not used.
    Never,
}

/// The ids of a normalized text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids<'i> {
    /// Each unknown character has one.
    Single(&'i [u32]),
    /// Unknown characters that follow each other have one.
    Fused(&'i [u32]),
}

/// The pieces of a vocabulary, by their ids.
#[derive(Debug, Default)]
pub struct Pieces {
    texts: String,
    /// Where each text ends, and what the piece is.
    all: Vec<(usize, Kind)>,
    /// Characters that are pieces, and so are never unknown.
    known: FxHashSet<char>,
    /// Characters that are pieces which stand in no text.
    never: FxHashSet<char>,
}

impl<'p> FromIterator<(&'p str, Kind)> for Pieces {
    fn from_iter<I: IntoIterator<Item = (&'p str, Kind)>>(pieces: I) -> Self {
        let mut all = Self::default();
        for (text, kind) in pieces {
            all.texts.push_str(text);
            all.all.push((all.texts.len(), kind));
            let mut characters = text.chars();
            if let (Some(character), None) = (characters.next(), characters.next()) {
                let set = if kind == Kind::Text { &mut all.known } else { &mut all.never };
                set.insert(character);
            }
        }
        all
    }
}

impl Pieces {
    /// The text of a piece and its kind, if there is such an id.
    fn get(&self, id: u32) -> Option<(&str, Kind)> {
        let id = id as usize;
        let &(end, kind) = self.all.get(id)?;
        let start = id.checked_sub(1).map_or(0, |before| self.all[before].0);
        Some((&self.texts[start..end], kind))
    }

    /// What a piece is, if there is such an id.
    pub fn kind(&self, id: u32) -> Option<Kind> {
        Some(self.get(id)?.1)
    }

    /// The parts of a normalized text by its ids. None if these are not the ids of the text, or do not tell where unknown
    /// characters end.
    ///
    /// ```
    /// use jogak::surfaces::{Ids, Kind, Options, Pieces, Rules};
    ///
    /// let options = Options { squeeze: true, escape: true, prefix: true, suffix: false };
    /// let text = Rules::new(b"", &[], options)?.normalize("a조각".as_bytes());
    /// let pieces: Pieces = [("<unk>", Kind::Unknown), ("▁a", Kind::Text)].into_iter().collect();
    /// let parts = pieces.cut(&text, Ids::Single(&[1, 0, 0])).ok_or(jogak::Error::NoText)?;
    /// assert_eq!(pieces.cut(&text, Ids::Fused(&[1, 0])).as_ref(), Some(&parts));
    /// let told = parts.iter().map(|part| (part.id, pieces.text(part, &text.text), part.begin, part.end));
    /// assert_eq!(told.collect::<Vec<_>>(), [(1, "▁a", 0, 1), (0, "조각", 1, 7)]);
    /// # Ok::<(), jogak::Error>(())
    /// ```
    pub fn cut(&self, counted: &Counted, ids: Ids<'_>) -> Option<Vec<Part>> {
        self.cut_by(&counted.text, ids, |at| counted.origins.get(at).copied())
    }

    /// The same of a normalized text alone; places are bytes of it.
    pub fn cut_text(&self, text: &str, ids: Ids<'_>) -> Option<Vec<Part>> {
        self.cut_by(text, ids, |at| (at <= text.len()).then_some(at))
    }

    fn cut_by(
        &self,
        text: &str,
        ids: Ids<'_>,
        origin: impl Fn(usize) -> Option<usize>,
    ) -> Option<Vec<Part>> {
        let (Ids::Single(all) | Ids::Fused(all)) = ids;
        let is_fused = ids == Ids::Fused(all);
        let mut parts: Vec<Part> = Vec::with_capacity(all.len());
        let (mut at, mut behind_unknown) = (0, false);
        let mut rest = all.iter().copied();
        while let Some(id) = rest.next() {
            let (piece, kind) = self.get(id)?;
            let len = match kind {
                Kind::Text | Kind::Never => piece.len(),
                Kind::Unknown if is_fused => self.unknown(text.get(at..)?, rest.clone().next())?,
                _ => text.get(at..)?.chars().next()?.len_utf8(),
            };
            let (begin, end) = (origin(at)?, origin(at + len)?);
            let normalized = at..at + len;
            at += len;
            let part = Part { id, normalized, begin, end, is_last: true };
            if kind == Kind::Byte {
                let before = Part { end: begin, is_last: false, ..part.clone() };
                let mut last = part;
                for _ in 1..len {
                    parts.push(Part { id: last.id, ..before.clone() });
                    last.id = rest.next().filter(|&id| self.kind(id) == Some(Kind::Byte))?;
                }
                parts.push(last);
            } else if kind == Kind::Unknown
                && behind_unknown
                && let Some(before) = parts.last_mut()
            {
                (before.normalized.end, before.end) = (at, end);
            } else {
                parts.push(part);
            }
            behind_unknown = kind == Kind::Unknown;
        }
        (at == text.len()).then_some(parts)
    }

    /// How many bytes the unknown characters have that a text begins with, if that is certain; `next` is the id behind them.
    fn unknown(&self, text: &str, next: Option<u32>) -> Option<usize> {
        let known = text.char_indices().find(|(_, character)| self.known.contains(character));
        let end = known.map_or(text.len(), |(at, _)| at);
        let is_clear = next.is_none_or(|next| {
            self.get(next).is_some_and(|(piece, kind)| {
                kind == Kind::Text
                    && piece.chars().next().is_some_and(|first| self.known.contains(&first))
            })
        });
        let is_odd = || text[..end].chars().any(|character| self.never.contains(&character));
        (end > 0 && is_clear && !is_odd()).then_some(end)
    }

    /// The text of a part of a normalized text: that of the vocabulary, or the unknown characters.
    pub fn text<'t>(&'t self, part: &Part, normalized: &'t str) -> &'t str {
        match self.get(part.id) {
            Some((piece, kind)) if kind != Kind::Unknown => piece,
            _ => &normalized[part.normalized.clone()],
        }
    }

    /// A text, its pieces, and its score if it has one, as the bytes of a `SentencePieceText`, a protocol buffer.
    ///
    /// ```
    /// use jogak::surfaces::{Ids, Kind, Options, Pieces, Rules};
    ///
    /// let options = Options { squeeze: true, escape: true, prefix: false, suffix: false };
    /// let text = Rules::new(b"", &[], options)?.normalize(b"a");
    /// let pieces: Pieces = [("<unk>", Kind::Unknown), ("a", Kind::Text)].into_iter().collect();
    /// let parts = pieces.cut(&text, Ids::Single(&[1])).ok_or(jogak::Error::NoText)?;
    /// let message = pieces.serialized(b"a", &text.text, &parts, None);
    /// assert_eq!(message, b"\x0A\x01a\x12\x0C\x0A\x01a\x10\x01\x1A\x01a\x20\x00\x28\x01");
    /// # Ok::<(), jogak::Error>(())
    /// ```
    pub fn serialized(
        &self,
        raw: &[u8],
        normalized: &str,
        parts: &[Part],
        score: Option<f32>,
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(raw.len() * 2 + parts.len() * 24);
        let mut fields = Vec::new();
        bytes_field(&mut out, 1, raw);
        for part in parts {
            fields.clear();
            bytes_field(&mut fields, 1, self.text(part, normalized).as_bytes());
            number_field(&mut fields, 2, u64::from(part.id));
            if part.is_last {
                bytes_field(&mut fields, 3, raw.get(part.begin..part.end).unwrap_or_default());
            }
            number_field(&mut fields, 4, part.begin as u64);
            number_field(&mut fields, 5, part.end as u64);
            bytes_field(&mut out, 2, &fields);
        }
        if let Some(score) = score {
            varint(&mut out, 3 << 3 | 5);
            out.extend_from_slice(&score.to_le_bytes());
        }
        out
    }
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its id.
    pub id: u32,
    /// Where it is in the normalized text; of bytes, where their character is.
    normalized: Range<usize>,
    /// The bytes of the original that it stands for, from here ..
    pub begin: usize,
    /// .. to here.
    pub end: usize,
    /// It is none of the first bytes of a character, which stand for nothing.
    pub is_last: bool,
}

/// A field of a protocol buffer that has bytes.
fn bytes_field(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    varint(out, number << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A field of a protocol buffer that has a number.
fn number_field(out: &mut Vec<u8>, number: u64, value: u64) {
    varint(out, number << 3);
    varint(out, value);
}

/// A number in groups of seven bits, the lowest first.
fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::super::rules::{Options, Rules};
    use super::*;

    fn pieces() -> Pieces {
        let bytes = ["<0xEA>", "<0xB0>", "<0x80>"].map(|text| (text, Kind::Byte));
        let texts =
            [("<unk>", Kind::Unknown), ("▁a", Kind::Text), ("b", Kind::Text), ("▁", Kind::Text)];
        texts.into_iter().chain(bytes).collect()
    }

    fn counted(text: &str) -> Counted {
        let options = Options { squeeze: true, escape: true, prefix: true, suffix: false };
        Rules::new(b"", &[], options).unwrap().normalize(text.as_bytes())
    }

    type Told<'t> = (u32, &'t str, usize, usize, bool);

    /// By ids of single unknown characters, and by fused ones.
    fn told(text: &str, ids: &[u32], expected: &[Told<'_>]) {
        let (pieces, counted) = (pieces(), counted(text));
        let mut fused = ids.to_vec();
        fused.dedup_by(|next, id| (*next, *id) == (0, 0));
        for ids in [Ids::Single(ids), Ids::Fused(&fused)] {
            let parts = pieces.cut(&counted, ids).unwrap();
            let told = |part: &Part| {
                let text = pieces.text(part, &counted.text);
                (part.id, text.to_owned(), part.begin, part.end, part.is_last)
            };
            let found: Vec<_> = parts.iter().map(told).collect();
            let expected = expected.iter();
            let expected: Vec<_> = expected
                .map(|&(id, text, begin, end, is_last)| (id, text.to_owned(), begin, end, is_last))
                .collect();
            assert_eq!(found, expected);
            let by_text = pieces.cut_text(&counted.text, ids).unwrap();
            let texts = by_text.iter().map(|part| pieces.text(part, &counted.text));
            assert!(texts.eq(expected.iter().map(|(_, text, ..)| text)));
        }
    }

    #[test]
    fn unknown_characters_are_one_piece() {
        told(
            "a ?!b?",
            &[1, 3, 0, 0, 2, 0],
            &[
                (1, "▁a", 0, 1, true),
                (3, "▁", 1, 2, true),
                (0, "?!", 2, 4, true),
                (2, "b", 4, 5, true),
                (0, "?", 5, 6, true),
            ],
        );
    }

    #[test]
    fn the_last_byte_stands_for_its_character() {
        told(
            "a가b",
            &[1, 4, 5, 6, 2],
            &[
                (1, "▁a", 0, 1, true),
                (4, "<0xEA>", 1, 1, false),
                (5, "<0xB0>", 1, 1, false),
                (6, "<0x80>", 1, 4, true),
                (2, "b", 4, 5, true),
            ],
        );
    }

    #[test]
    fn ids_of_another_text_are_refused() {
        let (pieces, counted) = (pieces(), counted("a가b"));
        for ids in [
            &[][..],
            &[1],
            &[1, 0],
            &[1, 0, 2, 2],
            &[1, 0, 2, 0],
            &[1, 4, 5, 2],
            &[1, 4, 5],
            &[1, 0, 9],
            &[1, 0, u32::MAX],
        ] {
            assert!(pieces.cut(&counted, Ids::Single(ids)).is_none(), "{ids:?}");
            assert!(pieces.cut(&counted, Ids::Fused(ids)).is_none(), "{ids:?}");
        }
        assert!(pieces.cut(&counted, Ids::Single(&[1, 0, 2])).is_some());
        let nothing = pieces.cut(&Counted::default(), Ids::Single(&[]));
        assert!(nothing.is_some_and(|parts| parts.is_empty()));
    }

    /// `cb` is a piece, and neither `c` nor `d` is; `e` is one that no text has.
    #[test]
    fn where_unknown_characters_end_may_not_be_told() {
        let texts =
            [("<unk>", Kind::Unknown), ("▁", Kind::Text), ("b", Kind::Text), ("cb", Kind::Text)];
        let pieces: Pieces = texts.into_iter().chain([("e", Kind::Never)]).collect();
        for (text, single, fused, is_told) in [
            ("dcb", &[1, 0, 0, 2][..], &[1, 0, 2][..], true),
            ("dcb", &[1, 0, 3], &[1, 0, 3], false),
            ("dcdb", &[1, 0, 0, 0, 2], &[1, 0, 2], true),
            ("dcbddb", &[1, 0, 3, 0, 0, 2], &[1, 0, 3, 0, 2], false),
            ("dd", &[1, 0, 0], &[1, 0], true),
            ("dcbd", &[1, 0, 0, 2, 0], &[1, 0, 2, 0], true),
            ("deb", &[1, 0, 0, 2], &[1, 0, 2], false),
        ] {
            let counted = counted(text);
            let expected = pieces.cut(&counted, Ids::Single(single));
            assert!(expected.is_some());
            let expected = expected.filter(|_| is_told);
            assert_eq!(pieces.cut(&counted, Ids::Fused(fused)), expected, "{text}");
        }
    }

    #[test]
    fn numbers_have_as_many_bytes_as_they_need() {
        let mut out = Vec::new();
        [0, 127, 128, 300, u64::MAX].into_iter().for_each(|number| varint(&mut out, number));
        let most = [vec![0xFF; 9], vec![1]].concat();
        assert_eq!(out, [vec![0, 127, 0x80, 1, 0xAC, 2], most].concat());
    }
}
