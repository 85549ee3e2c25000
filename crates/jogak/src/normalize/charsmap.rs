//! SentencePiece's precompiled charsmaps (Kudo & Richardson 2018): at every place of a text the longest
//! key that matches is replaced, else one character is kept.
//!
//! Rule: the bytes may come from a stranger. They are checked when read, so that using them is linear in
//! the text and cannot fail.
//!
//! ```text
//! bytes 0..4      size of the trie in bytes, little endian
//! then            the trie: a double array (Aoe 1989) of 32-bit units, as the library Darts-clone lays
//!                 it out (see darts.rs)
//! then            the replacements, each ended by a zero byte; a key's value is the offset of its own
//! ```

use aho_corasick::{AhoCorasick, MatchKind};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::error::{Error, Result};

use super::align::Sink;
use super::darts::{BytesOn, Node, Trie, packed};
use super::set::CharSet;
use super::writings::Parts;

/// Keys and replacements of more bytes are refused: with them a short text could become a huge one.
pub const LONGEST: usize = 256;

/// A compiled charsmap.
#[derive(Debug, Clone)]
pub struct Charsmap {
    trie: Trie,
    /// Replacements, each ended by a zero byte.
    replacements: String,
    /// Characters that are a key by themselves, and those that stand second in one. Where there is none
    /// of them, no key matches.
    active: CharSet,
    /// Those that stand second.
    seconds: CharSet,
}

/// Texts that a charsmap leaves as they are.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// Finds them, leftmost first and of those the longest.
    finder: AhoCorasick,
    /// What they begin with.
    firsts: CharSet,
}

impl Kept {
    /// None for no texts. An empty one is no text.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there are more than can be looked for.
    pub(crate) fn new(texts: &[String]) -> Result<Option<Self>> {
        let texts: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
        if texts.is_empty() {
            return Ok(None);
        }
        let firsts = CharSet::new(texts.iter().filter_map(|text| text.chars().next()));
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&texts);
        let finder = finder.map_err(|_| Error::TooLarge {
            what: "the finder of kept texts",
            size: texts.len() as u64,
            limit: i32::MAX as u64,
        })?;
        Ok(Some(Self { finder, firsts }))
    }

    /// Whether one of them begins with this character.
    pub(super) fn begins_with(&self, c: char) -> bool {
        self.firsts.has(c)
    }
}

fn broken(place: String, reason: impl Into<String>) -> Error {
    Error::Charsmap { place, reason: reason.into() }
}

impl Charsmap {
    /// Reads a charsmap as SentencePiece writes it. No bytes at all are the map that changes nothing.
    ///
    /// # Errors
    /// [`Error::Charsmap`] if the bytes are no charsmap, or have a key or a replacement of more than
    /// `LONGEST` bytes.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        if bytes.is_empty() {
            let none = CharSet::new([]);
            let (active, seconds) = (none.clone(), none);
            return Ok(Self {
                trie: Trie::default(),
                replacements: String::new(),
                active,
                seconds,
            });
        }
        let head = || "byte 0".to_owned();
        let (size, rest) = bytes
            .split_first_chunk::<4>()
            .ok_or_else(|| broken(head(), format!("it ends after {} bytes", bytes.len())))?;
        let size = u32::from_le_bytes(*size) as usize;
        let (units, texts) = rest.split_at_checked(size).ok_or_else(|| {
            let found = rest.len();
            broken(head(), format!("its trie should have {size} bytes, but {found} are left"))
        })?;
        if !size.is_multiple_of(4) || size == 0 {
            let reason = format!("its trie has {size} bytes; expected a multiple of 4 above 0");
            return Err(broken(head(), reason));
        }
        let trie = Trie::from_bytes(units);
        let base = 4 + size;
        let replacements = std::str::from_utf8(texts).map_err(|error| {
            let place = format!("byte {}", base + error.valid_up_to());
            broken(place, "a replacement is not UTF-8")
        })?;
        let bytes_on = trie.bytes_on();
        check(&trie, &bytes_on, replacements, base)?;
        let (active, seconds) = active(&trie, &bytes_on)?;
        Ok(Self { trie, replacements: replacements.to_owned(), active, seconds })
    }

    /// A charsmap that was compiled here, which needs no check.
    pub(super) fn of_parts(parts: Parts) -> Self {
        let Parts { units, replacements, singles, seconds } = parts;
        let active = CharSet::new(singles.iter().chain(&seconds).copied());
        Self { trie: Trie::new(units), replacements, active, seconds: CharSet::new(seconds) }
    }

    /// Its keys.
    pub(super) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The charsmap in SentencePiece's format.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        packed(self.trie.units(), &self.replacements)
    }

    /// The characters that [`Charsmap::changes`] looks for.
    pub(super) fn active(&self) -> &CharSet {
        &self.active
    }

    /// Whether what becomes of a character may depend on the one before it.
    pub(super) fn joins(&self, c: char) -> bool {
        self.seconds.has(c)
    }

    /// Whether something may change.
    pub(super) fn changes(&self, text: &str) -> bool {
        self.active.find(text, 0).is_some()
    }

    pub(crate) fn run(&self, text: &str, out: &mut impl Sink) {
        self.run_until(text, 0, text.len(), out);
    }

    /// As [`Charsmap::run`], but the texts that `keep` finds stay as they are. Going from the left, what
    /// begins first counts, be it such a text or a key.
    pub(crate) fn run_around(&self, keep: &Kept, text: &str, out: &mut impl Sink) {
        let mut done = 0;
        while let Some(kept) = keep.finder.find(aho_corasick::Input::new(text).range(done..)) {
            done = self.run_until(text, done, kept.start(), out);
            if done == kept.start() {
                out.keep_whole(text, done, kept.end());
                done = kept.end();
            }
        }
        self.run_until(text, done, text.len(), out);
    }

    /// As HF tokenizers has it: where a key begins a grapheme cluster of less than six bytes, the
    /// shortest such key's replacement stands for the whole cluster; where not, or in longer ones, the
    /// same goes for each character.
    ///
    /// A cluster with none of the characters that [`Charsmap::changes`] looks for stays as it is: the
    /// first one of a key is one of them, or the second one. So only the clusters of these are made.
    pub(super) fn run_graphemes(&self, text: &str, out: &mut impl Sink) {
        let mut done = 0;
        while let Some((_, _, behind)) = self.active.find(text, done) {
            let rest = &text[done..];
            let mut border = GraphemeCursor::new(behind - done, rest.len(), true);
            let start = border.prev_boundary(rest, 0).ok().flatten().map_or(done, |at| done + at);
            let end = start + text[start..].graphemes(true).next().map_or(0, str::len);
            out.keep(text, done, start);
            self.run_cluster(text, start, end, out);
            done = end;
        }
        out.keep(text, done, text.len());
    }

    /// The grapheme cluster from `start` to `end`.
    fn run_cluster(&self, text: &str, start: usize, end: usize, out: &mut impl Sink) {
        let cluster = &text[start..end];
        if cluster.len() < 6
            && let Some(replacement) = self.shortest(cluster)
        {
            out.write(replacement, start, end);
            return;
        }
        for (at, c) in cluster.char_indices() {
            let (from, to) = (start + at, start + at + c.len_utf8());
            match self.shortest(&text[from..to]) {
                Some(replacement) => out.write(replacement, from, to),
                None => out.keep(text, from, to),
            }
        }
    }

    /// The replacement of the shortest key that `part` begins with.
    fn shortest(&self, part: &str) -> Option<&str> {
        let mut node = self.trie.root()?;
        for (at, &byte) in part.as_bytes().iter().enumerate().take_while(|(_, byte)| **byte != 0) {
            node = self.trie.child(node, byte)?;
            if let Some(value) = self.trie.value(node)
                && part.is_char_boundary(at + 1)
            {
                return Some(self.replacement(value as usize));
            }
        }
        None
    }

    /// Rewrites what begins before `limit`; tells where the last key ended, if behind it.
    fn run_until(&self, text: &str, from: usize, limit: usize, out: &mut impl Sink) -> usize {
        let mut done = from;
        while let Some((_, active, _)) = self.active.find(text, done) {
            // A key that has this character second starts with the one before.
            let before = text[done..active].chars().next_back().map_or(0, char::len_utf8);
            if active - before >= limit {
                break;
            }
            out.keep(text, done, active - before);
            done = active - before;
            while done <= active && done < limit {
                done = match self.longest(text, done) {
                    Some((end, replacement)) => {
                        out.write(replacement, done, end);
                        end
                    }
                    None => {
                        let end =
                            text[done..].chars().next().map_or(done + 1, |c| done + c.len_utf8());
                        out.keep(text, done, end);
                        end
                    }
                };
            }
        }
        if done < limit {
            out.keep(text, done, limit);
            done = limit;
        }
        done
    }

    /// The longest key at `from`: where it ends, and its replacement.
    fn longest(&self, text: &str, from: usize) -> Option<(usize, &str)> {
        let mut node = self.trie.root()?;
        let mut longest = None;
        for (at, &byte) in text.as_bytes().iter().enumerate().skip(from) {
            let Some(next) = self.trie.child(node, byte) else { break };
            node = next;
            if let Some(value) = self.trie.value(node)
                && text.is_char_boundary(at + 1)
            {
                longest = Some((at + 1, value));
            }
        }
        longest.map(|(end, value)| (end, self.replacement(value as usize)))
    }

    fn replacement(&self, at: usize) -> &str {
        replacement(&self.replacements, at).unwrap_or_default()
    }

    /// Every key with its replacement, in the order of the keys' bytes; None if there are more than
    /// `limit`. Keys that are no UTF-8 match nothing and are left out.
    pub fn entries(&self, limit: usize) -> Option<Vec<(String, String)>> {
        let bytes_on = self.trie.bytes_on();
        let mut entries = Vec::new();
        let mut stack: Vec<(Node, Vec<u8>)> =
            self.trie.root().map(|root| (root, Vec::new())).into_iter().collect();
        let mut seen = 0_usize;
        while let Some((node, key)) = stack.pop() {
            // A trie may be a graph with far more ways through it than nodes.
            seen += 1;
            if entries.len() > limit || seen > limit.saturating_mul(8) {
                return None;
            }
            if let Some(value) = self.trie.value(node)
                && let Ok(key) = String::from_utf8(key.clone())
            {
                entries.push((key, self.replacement(value as usize).to_owned()));
            }
            for &byte in bytes_on.of(node).iter().rev() {
                if let Some(child) = self.trie.child(node, byte) {
                    let mut key = key.clone();
                    key.push(byte);
                    stack.push((child, key));
                }
            }
        }
        (entries.len() <= limit).then_some(entries)
    }
}

/// The text at an offset, up to the zero byte.
fn replacement(texts: &str, at: usize) -> Option<&str> {
    let text = texts.get(at..)?;
    Some(&text[..memchr::memchr(0, text.as_bytes()).unwrap_or(text.len())])
}

/// Follows every way from the root: no circle, no long key, every value a replacement.
fn check(trie: &Trie, bytes_on: &BytesOn, replacements: &str, base: usize) -> Result<()> {
    let Some(root) = trie.root() else {
        return Err(broken("byte 4".to_owned(), "its trie has no root"));
    };
    /// Nobody has been there.
    const NEW: u16 = u16::MAX;
    /// Below which the longest way is not known yet.
    const OPEN: u16 = u16::MAX - 1;
    // Of every unit, which is to say of the node that it leads to, the longest way below it.
    let mut height = vec![NEW; trie.units().len()];
    // A node, how many of its children have been looked at, the longest way below it so far.
    let mut path: Vec<(Node, usize, u16)> = vec![(root, 0, 0)];
    height[root.unit()] = OPEN;
    while let Some(&mut (node, ref mut next, ref mut longest)) = path.last_mut() {
        let place = || format!("unit {}", node.unit());
        if *next == 0
            && let Some(value) = trie.value(node)
        {
            let found = replacement(replacements, value as usize).ok_or_else(|| {
                let texts = replacements.len();
                broken(place(), format!("replacement at {value} of {texts} bytes (from {base} on)"))
            })?;
            if found.len() > LONGEST {
                let len = found.len();
                let reason =
                    format!("a replacement has {len} bytes; at most {LONGEST} are possible");
                return Err(broken(place(), reason));
            }
        }
        let child = bytes_on.of(node).get(*next).and_then(|&byte| trie.child(node, byte));
        *next += 1;
        let Some(child) = child else {
            let longest = *longest;
            if usize::from(longest) > LONGEST {
                let reason =
                    format!("a key has {longest} bytes or more; at most {LONGEST} are possible");
                return Err(broken(place(), reason));
            }
            height[node.unit()] = longest;
            path.pop();
            if let Some((_, _, above)) = path.last_mut() {
                *above = (*above).max(longest + 1);
            }
            continue;
        };
        match height[child.unit()] {
            OPEN => return Err(broken(place(), "its trie runs in a circle")),
            NEW => {
                height[child.unit()] = OPEN;
                path.push((child, 0, 0));
            }
            known => *longest = (*longest).max(known + 1),
        }
        if path.len() > LONGEST + 1 {
            let reason = format!("a key has more than {LONGEST} bytes");
            return Err(broken(place(), reason));
        }
    }
    Ok(())
}

/// The characters that are a key or stand second in one, and those that stand second.
fn active(trie: &Trie, bytes_on: &BytesOn) -> Result<(CharSet, CharSet)> {
    let (mut active, mut seconds) = (Vec::new(), Vec::new());
    let mut firsts = Vec::new();
    let root: Vec<Node> = trie.root().into_iter().collect();
    each_character(trie, bytes_on, &root, &mut |c, node| {
        if trie.value(node).is_some() {
            active.push(c);
        }
        firsts.push(node);
    })?;
    // Keys share what is equal behind their first characters.
    firsts.sort_unstable();
    firsts.dedup();
    each_character(trie, bytes_on, &firsts, &mut |c, _| seconds.push(c))?;
    active.extend_from_slice(&seconds);
    Ok((CharSet::new(active), CharSet::new(seconds)))
}

/// Calls `each` with every character that leads on from one of the nodes, and the node it leads to.
///
/// An honest trie has some ten thousand ways; one that was made to have thousands of millions is an error.
fn each_character(
    trie: &Trie,
    bytes_on: &BytesOn,
    from: &[Node],
    each: &mut impl FnMut(char, Node),
) -> Result<()> {
    const MOST: usize = 4_000_000;
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack: Vec<(Node, [u8; 4], usize)> =
        from.iter().map(|&node| (node, [0; 4], 0)).collect();
    while let Some((node, bytes, len)) = stack.pop() {
        for &byte in bytes_on.of(node) {
            let Some(child) = trie.child(node, byte) else { continue };
            let mut bytes = bytes;
            bytes[len] = byte;
            let len = len + 1;
            // The same node may be met with the same bytes by many ways.
            if !seen.insert((child, bytes, len)) {
                continue;
            }
            if seen.len() > MOST {
                let reason = format!("more than {MOST} ways to begin a key");
                return Err(broken("unit 0".to_owned(), reason));
            }
            match std::str::from_utf8(&bytes[..len]) {
                Ok(text) => text.chars().for_each(|c| each(c, child)),
                Err(_) if len < 4 => stack.push((child, bytes, len)),
                Err(_) => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::super::darts;
    use super::*;

    fn compiled(rules: &[(&str, &str)]) -> Charsmap {
        let rules: Vec<_> = rules.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        Charsmap::read(&darts::compile(&rules).unwrap()).unwrap()
    }

    fn run(map: &Charsmap, text: &str) -> String {
        let mut out = String::new();
        map.run(text, &mut out);
        out
    }

    #[test]
    fn longest_key_from_the_left() {
        let map = compiled(&[
            ("ab", "1"),
            ("abc", "2"),
            ("c", ""),
            ("bcd", "3"),
            ("é", "e"),
            ("\u{1}", "x"),
        ]);
        assert_eq!(run(&map, "abcd ab\0 bcd c bc éa\u{1}"), "2d 1\0 3  b ea".to_owned() + "x");
        assert!(!map.changes("xyz a a"));
        assert_eq!(run(&compiled(&[("a", "b")]), "가나다"), "가나다");
    }

    #[test]
    fn clusters_are_those_of_the_whole_text() {
        let rules =
            [("e\u{301}", "é"), ("\u{301}", ""), ("가\u{11a8}", "y"), ("각", "x"), ("①", "1")];
        let map = compiled(&[&rules[..], &[("ﬁ", "fi"), ("\u{1f1f0}", "k"), ("👩", "w")]].concat());
        let parts = [
            "e",
            "\u{301}",
            "가",
            "\u{11a8}",
            "각",
            "①",
            "ﬁ",
            "🇰",
            "🇷",
            "👩",
            "\u{200d}",
            "👧",
            "क",
            "\u{94d}",
            "ष",
            "\u{93f}",
            "\r",
            "\n",
            "\u{1100}",
            "\u{1161}",
            "\u{600}",
            "\u{323}",
            "한",
            "漢",
            " ",
            "\u{1f3fd}",
            "\u{fe0f}",
            "กำ",
        ];
        let mut random = crate::random::SplitMix64::new(5);
        for _ in 0..20_000 {
            // Few different parts, so that the same ones meet in long runs.
            let some: Vec<_> = (0..2 + random.next() % 4)
                .map(|_| parts[random.next() as usize % parts.len()])
                .collect();
            let text: String = (0..random.next() % 24)
                .map(|_| some[random.next() as usize % some.len()])
                .collect();
            let (mut plain, mut out) = (String::new(), String::new());
            for (start, cluster) in text.grapheme_indices(true) {
                map.run_cluster(&text, start, start + cluster.len(), &mut plain);
            }
            map.run_graphemes(&text, &mut out);
            assert_eq!(out, plain, "{text:?}");
        }
    }

    #[test]
    fn hostile_bytes_are_errors() {
        let good =
            darts::compile(&[("a".into(), "b".into()), ("가나".into(), "c".into())]).unwrap();
        for end in 1..good.len() {
            let _ = Charsmap::read(&good[..end]);
        }
        let mut random = crate::random::SplitMix64::new(7);
        for _ in 0..20_000 {
            let mut bytes = good.clone();
            for _ in 0..1 + random.next() % 4 {
                let at = random.next() as usize % bytes.len();
                bytes[at] = random.next() as u8;
            }
            if let Ok(map) = Charsmap::read(&bytes) {
                run(&map, "abc 가나다 aaaa\0\u{1}é");
                map.entries(1000);
            }
        }
        assert!(matches!(Charsmap::read(&[1, 0]), Err(Error::Charsmap { .. })));
        assert!(matches!(Charsmap::read(&[255; 64]), Err(Error::Charsmap { .. })));
        // One node that is its own child: label 'a', offset back to itself.
        let mut circle = 1024_u32.to_le_bytes().to_vec();
        circle.extend((0..256_u32).flat_map(|_| u32::from(b'a').to_le_bytes()));
        assert!(matches!(Charsmap::read(&circle), Err(Error::Charsmap { .. })));
    }

    /// Also of arrays that were tampered with, where nodes lead anywhere.
    #[test]
    fn the_bytes_that_lead_on_are_those_with_a_child() {
        let rules: Vec<(String, String)> = ["a", "ab", "가나", "각", "é", "\u{1}\u{2}", "zz"]
            .map(|key| (key.to_owned(), String::new()))
            .to_vec();
        let good = darts::compile(&rules).unwrap();
        let size = u32::from_le_bytes(*good.first_chunk().unwrap()) as usize;
        let mut random = crate::random::SplitMix64::new(3);
        for round in 0..200 {
            let mut units = good[4..4 + size].to_vec();
            for _ in 0..round / 20 {
                let at = random.next() as usize % units.len();
                units[at] = random.next() as u8;
            }
            let trie = Trie::from_bytes(&units);
            let bytes_on = trie.bytes_on();
            let (mut nodes, mut seen) = (vec![trie.root().unwrap()], 0);
            while let Some(node) = nodes.pop()
                && seen < 500
            {
                let children = |byte: &u8| trie.child(node, *byte).is_some();
                let found: Vec<u8> = (1..=255).filter(children).collect();
                assert_eq!(bytes_on.of(node), found, "unit {}", node.unit());
                nodes.extend(found.iter().filter_map(|&byte| trie.child(node, byte)));
                seen += 1;
            }
        }
    }

    #[test]
    fn too_long() {
        let long = "a".repeat(LONGEST + 1);
        for rule in [(long.clone(), "b".to_owned()), ("b".to_owned(), long)] {
            assert!(matches!(darts::compile(&[rule]), Err(Error::Config { .. })));
        }
    }
}
