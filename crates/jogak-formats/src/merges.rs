//! The merges of files: where they are texts (a `tokenizer.json`, `merges.txt`), first these, which need no
//! vocabulary, then the ids.

use jogak::beside::{WORTH, both};
use jogak::vocab::Vocab;

use crate::cursor::Cursor;

/// Pairs of texts, best first.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    /// The texts of all pairs, left before right, one behind the other.
    bytes: Vec<u8>,
    /// Where the left and the right text of each end; a pair starts where the one before it ends.
    ends: Vec<[u32; 2]>,
}

/// Merges of a vocabulary.
#[derive(Debug, Clone, Default)]
pub struct Merges {
    /// The ids of both parts of every merge, best first.
    pub pairs: Vec<(u32, u32)>,
    /// Beside each: the id of what it makes.
    pub products: Vec<u32>,
}

/// A list of pairs, each `"a b"` or `["a", "b"]`; None for anything else.
///
/// ```
/// use jogak_formats::{json, merges};
///
/// let (vocab, _) = json::ids(r#"{"a": 0, "b": 1, "ab": 2}"#).unwrap();
/// let found = merges::pairs(r#"["a b"]"#).unwrap().merges(&vocab, 0).unwrap();
/// assert_eq!((found.pairs[0], found.products[0]), ((0, 1), 2));
/// ```
pub fn pairs(text: &str) -> Option<Pairs> {
    let mut cursor = Cursor::new(text);
    let (bytes, ends) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() / 16));
    let mut pairs = Pairs { bytes, ends };
    let mut buffer = String::new();
    cursor.eat(b'[')?;
    cursor.space();
    let mut more = !cursor.is(b']');
    let lists = cursor.peek() == Some(b'[');
    while more {
        if lists {
            cursor.eat(b'[')?;
            cursor.space();
            let left = pairs.push(cursor.string(&mut buffer)?.text(&buffer))?;
            if !cursor.more(b']')? {
                return None;
            }
            let right = pairs.push(cursor.string(&mut buffer)?.text(&buffer))?;
            cursor.space();
            cursor.eat(b']')?;
            pairs.ends.push([left, right]);
        } else {
            let both = cursor.string(&mut buffer)?.text(&buffer);
            // Old files have the header of merges.txt here.
            if !both.starts_with("#version") {
                let (left, right) = both.split_once(' ')?;
                if right.contains(' ') {
                    return None;
                }
                let ends = [pairs.push(left)?, pairs.push(right)?];
                pairs.ends.push(ends);
            }
        }
        more = cursor.more(b']')?;
    }
    cursor.is_done().then_some(pairs)
}

/// The lines of `merges.txt`, each `a b`, behind a line that says the version, if it does; empty ones may
/// stand at the end. None for anything else.
///
/// ```
/// let found = jogak_formats::merges::lines("#version: 0.2\na b\nab c\n").unwrap();
/// assert_eq!(found.len(), 2);
/// ```
pub fn lines(text: &str) -> Option<Pairs> {
    let (bytes, ends) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() / 10));
    let mut pairs = Pairs { bytes, ends };
    // Only line feeds end lines: pieces may hold other characters that Unicode calls line ends.
    let mut rest = text;
    while let Some(before) = rest.strip_suffix('\n').or_else(|| rest.strip_suffix("\n\r")) {
        rest = before;
    }
    if text.starts_with("#version") {
        rest = rest.split_once('\n').map_or("", |(_, behind)| behind);
    }
    if matches!(rest, "" | "\r") {
        return Some(pairs);
    }
    for line in rest.split('\n') {
        let (left, right) = line.strip_suffix('\r').unwrap_or(line).split_once(' ')?;
        if left.is_empty() || right.is_empty() || right.contains(' ') {
            return None;
        }
        let ends = [pairs.push(left)?, pairs.push(right)?];
        pairs.ends.push(ends);
    }
    Some(pairs)
}

impl Pairs {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Puts a text behind the others; where it ends.
    fn push(&mut self, text: &str) -> Option<u32> {
        self.bytes.extend_from_slice(text.as_bytes());
        u32::try_from(self.bytes.len()).ok()
    }

    /// Their ids in a vocabulary whose pieces are all different. `prefix` bytes of the right part are no part of
    /// what a merge makes.
    ///
    /// None for a part or a product that is no piece, and a pair that stands twice.
    #[must_use]
    pub fn merges(&self, vocab: &Vocab, prefix: usize) -> Option<Merges> {
        vocab.make_ready();
        let middle = self.ends.len() / 2;
        let (one, other) = both(
            self.ends.len() >= WORTH,
            || self.part(0..middle, vocab, prefix),
            || self.part(middle..self.ends.len(), vocab, prefix),
        );
        let (mut merges, other) = (one?, other?);
        merges.pairs.extend_from_slice(&other.pairs);
        merges.products.extend_from_slice(&other.products);
        let mut made = vec![false; vocab.len()];
        let mut again = false;
        for &product in &merges.products {
            again |= std::mem::replace(&mut made[product as usize], true);
        }
        // Merges that are equal make the same piece; which of them counts, others may say.
        if again {
            let mut sorted = merges.pairs.clone();
            sorted.sort_unstable();
            if sorted.windows(2).any(|two| two[0] == two[1]) {
                return None;
            }
        }
        Some(merges)
    }

    fn part(&self, range: std::ops::Range<usize>, vocab: &Vocab, prefix: usize) -> Option<Merges> {
        let (pairs, products) = (Vec::with_capacity(range.len()), Vec::with_capacity(range.len()));
        let mut merges = Merges { pairs, products };
        let before = range.start.checked_sub(1).map_or(0, |last| self.ends[last][1]);
        let (mut start, mut joined) = (before as usize, Vec::new());
        let mut next = 0;
        for &[left, right] in &self.ends[range] {
            let (left, right) = (left as usize, right as usize);
            let mut made = &self.bytes[start..right];
            if prefix > 0 {
                joined.clear();
                joined.extend_from_slice(&self.bytes[start..left]);
                // A cut within a character is left to others.
                let right = std::str::from_utf8(&self.bytes[left..right]).ok()?;
                joined.extend_from_slice(right.get(prefix..)?.as_bytes());
                made = &joined;
            }
            let id = product(made, vocab, next)?;
            next = id.saturating_add(1);
            let pair = (vocab.id(&self.bytes[start..left])?, vocab.id(&self.bytes[left..right])?);
            merges.pairs.push(pair);
            merges.products.push(id);
            start = right;
        }
        Some(merges)
    }
}

impl Merges {
    /// Merges from the ids of their parts, left before right, best first. With `make`, what each makes is looked
    /// for: the piece of the joined text.
    ///
    /// None for an id that stands for nothing, a part without another, and a product that is no piece.
    ///
    /// ```
    /// use jogak_formats::merges::Merges;
    ///
    /// let vocab = jogak::vocab::Vocab::new(["a", "b", "ab"]);
    /// assert_eq!(Merges::of(&[0, 1], &vocab, true).unwrap().products, [2]);
    /// assert!(Merges::of(&[0, 2], &vocab, true).is_none());
    /// ```
    #[must_use]
    pub fn of(ids: &[i64], vocab: &Vocab, make: bool) -> Option<Self> {
        let (both_of, alone) = ids.as_chunks::<2>();
        if !alone.is_empty() {
            return None;
        }
        vocab.make_ready();
        let (front, back) = both_of.split_at(both_of.len() / 2);
        let (one, other) = both(
            both_of.len() >= WORTH,
            || Self::part(front, vocab, make),
            || Self::part(back, vocab, make),
        );
        let (mut merges, other) = (one?, other?);
        merges.pairs.extend_from_slice(&other.pairs);
        merges.products.extend_from_slice(&other.products);
        Some(merges)
    }

    fn part(ids: &[[i64; 2]], vocab: &Vocab, make: bool) -> Option<Self> {
        let mut merges = Self::default();
        merges.pairs.reserve(ids.len());
        let mut joined = Vec::new();
        let mut next = 0;
        for &[left, right] in ids {
            let (left, right) = (u32::try_from(left).ok()?, u32::try_from(right).ok()?);
            let parts = (vocab.piece(left)?, vocab.piece(right)?);
            merges.pairs.push((left, right));
            if make {
                joined.clear();
                joined.extend_from_slice(parts.0);
                joined.extend_from_slice(parts.1);
                let id = product(&joined, vocab, next)?;
                next = id.saturating_add(1);
                merges.products.push(id);
            }
        }
        Some(merges)
    }
}

/// The id of what a merge makes. Merges mostly make pieces in the order of their ids, so `next` is tried first.
fn product(text: &[u8], vocab: &Vocab, next: u32) -> Option<u32> {
    match vocab.piece(next) {
        Some(piece) if piece == text => Some(next),
        _ => vocab.id(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::ids;

    #[test]
    fn what_is_not_plain_is_left_to_others() {
        let (vocab, _) = ids(r#"{"a": 0, "b": 1, "ab": 2, "aba": 3, "": 4}"#).unwrap();
        let found = |text: &str| pairs(text)?.merges(&vocab, 0).map(|merges| merges.pairs);
        assert_eq!(found(r##"["#version: 0.2", "a b", "ab a"]"##), Some(vec![(0, 1), (2, 0)]));
        assert_eq!(found(r#"[ [ "a" , "\u0062" ] ]"#), Some(vec![(0, 1)]));
        assert_eq!(found("[]"), Some(vec![]));
        for wrong in [
            r#"["a b", ["ab", "a"]]"#,
            r#"[["a", "b"], "ab a"]"#,
            r#"["a b", "a b"]"#,
            r#"[" a"]"#,
            r#"["b a"]"#,
            r#"["a  b"]"#,
            r#"["ab"]"#,
            r#"[["a"]]"#,
            r#"[["a", "b", "a"]]"#,
            r#"["a b"#,
        ] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lines_of_a_file() {
        let (vocab, _) = ids(r#"{"a": 0, "b": 1, "ab": 2, "aba": 3}"#).unwrap();
        let found = |text: &str| lines(text)?.merges(&vocab, 0).map(|merges| merges.pairs);
        for right in
            ["a b\nab a", "#version: 0.2\na b\nab a\n", "#version\r\na b\r\nab a\r\n\r\n\n"]
        {
            assert_eq!(found(right), Some(vec![(0, 1), (2, 0)]), "{right:?}");
        }
        for empty in ["", "\r", "\n\r\n", "\r\n\r", "#version: 0.2", "#version: 0.2\n\n"] {
            assert_eq!(found(empty), Some(vec![]), "{empty:?}");
        }
        for wrong in [
            "a b\n\nab a",
            "a  b",
            " b",
            "a ",
            "ab",
            "a b a",
            "a b\na b",
            "b a",
            "a\tb",
            "a b\r\r\nab a",
            "a b\r\r",
        ] {
            assert_eq!(found(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_prefix_of_the_right_part_is_left_out() {
        let (vocab, _) = ids(r###"{"밥": 0, "##b": 1, "밥b": 2, "#é": 3}"###).unwrap();
        let found = |text: &str| pairs(text)?.merges(&vocab, 2).map(|merges| merges.products);
        assert_eq!(found(r###"["밥 ##b"]"###), Some(vec![2]));
        // Shorter than the prefix, or cut within a character.
        assert_eq!(found(r##"[["밥", "#"]]"##), None);
        assert_eq!(found(r##"["밥 #é"]"##), None);
    }

    #[test]
    fn merges_of_ids() {
        let vocab = crate::lists::texts(r#"["a", null, "b", "ab", "aba"]"#).unwrap();
        let found = Merges::of(&[0, 2, 3, 0, 0, 2], &vocab, true).unwrap();
        assert_eq!((&found.pairs[1], &found.products[..]), (&(3, 0), &[3, 4, 3][..]));
        // Whatever they make.
        assert_eq!(Merges::of(&[2, 2], &vocab, false).unwrap().products, []);
        for wrong in [&[2, 2][..], &[0], &[0, 1], &[1, 0], &[0, 5], &[-1, 2]] {
            assert!(Merges::of(wrong, &vocab, true).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn many_are_found_on_two_threads() {
        // Products in the order of ids, against it, and in none.
        for step in [1, 9_999, 7_919] {
            let texts: Vec<String> =
                (0..10_000usize).map(|id| format!("{:04}", id * step % 10_000)).collect();
            let mut pieces: Vec<String> = (0..100).map(|two| format!("{two:02}")).collect();
            pieces.extend_from_slice(&texts);
            let vocab = Vocab::new(&pieces);
            let list: Vec<String> =
                (0..10_000).map(|id| format!(r#""{:02} {:02}""#, id / 100, id % 100)).collect();
            let list = format!("[{}]", list.join(","));
            let found = pairs(&list).unwrap().merges(&vocab, 0).unwrap();
            for (rank, (&pair, &product)) in found.pairs.iter().zip(&found.products).enumerate() {
                let parts = (rank as u32 / 100, rank as u32 % 100);
                assert_eq!(
                    (pair, vocab.id(format!("{rank:04}").as_bytes())),
                    (parts, Some(product))
                );
            }
            assert_eq!(found.pairs.len(), 10_000);
            let ids: Vec<i64> = found
                .pairs
                .iter()
                .flat_map(|&(left, right)| [left, right])
                .map(i64::from)
                .collect();
            let again = Merges::of(&ids, &vocab, true).unwrap();
            assert_eq!((again.pairs, again.products), (found.pairs, found.products));
        }
    }
}
