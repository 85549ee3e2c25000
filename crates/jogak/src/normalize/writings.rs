//! Rules in short: where a character of a key may be written in several ways (`A`, `Ａ`, `𝐀`), the key
//! stands once. SentencePiece's sets have 13,000 such keys that are 225,000 when each is written out.
//!
//! Rule: compiling gives, to the byte, what [`darts::compile`] gives of the keys written out.
//!
//! ```text
//! state(key so far)   leads, by every writing of a character d that goes on, to state(key so far, d)
//! the first one       leads to a copy for each writing, which has that character's own replacement
//! ```
//!
//! [`darts::compile`]: super::darts::compile

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::darts::{Graph, State, lay_out};
use crate::error::Result;

/// A character -> the other ways to write it. No character is a writing of two.
pub(super) type Writings = HashMap<char, Vec<char>, FxBuildHasher>;

/// A rule set in short.
#[derive(Debug, Default)]
pub(super) struct Short {
    /// Rules of one character each, which stand for themselves alone.
    pub singles: BTreeMap<char, String>,
    /// Rules of two and more characters, each of which stands for all of its writings.
    pub sequences: BTreeMap<Vec<char>, String>,
    pub writings: Writings,
}

/// What a charsmap consists of.
pub(super) struct Parts {
    pub units: Vec<u32>,
    /// Replacements, each ended by a zero byte.
    pub replacements: String,
    /// Characters that are a key by themselves.
    pub singles: Vec<char>,
    /// Characters that stand second in a key.
    pub seconds: Vec<char>,
}

/// What follows a beginning of keys.
#[derive(Debug, Default)]
struct Prefix<'a> {
    value: Option<&'a str>,
    next: BTreeMap<char, Prefix<'a>>,
}

impl Short {
    /// # Errors
    /// [`crate::Error::TooLarge`] if the array would outgrow its numbers.
    pub fn compile(&self) -> Result<Parts> {
        let texts = self.singles.values().chain(self.sequences.values()).map(String::as_str);
        let mut places = HashMap::default();
        let mut replacements = String::new();
        for text in texts.collect::<BTreeSet<_>>() {
            places.insert(text, replacements.len() as u32);
            replacements.push_str(text);
            replacements.push('\0');
        }
        let mut root = Prefix::default();
        for (key, text) in &self.sequences {
            let mut at = &mut root;
            for &c in key {
                at = at.next.entry(c).or_default();
            }
            at.value = Some(text);
        }
        let seconds = root.next.values().flat_map(|first| first.next.keys());
        let seconds: BTreeSet<char> = seconds.flat_map(|&second| self.ways(second)).collect();
        let mut builder = Builder { rules: self, places, graph: Graph::default() };
        let mut ways: BTreeMap<char, u32> = BTreeMap::new();
        for (&c, prefix) in &root.next {
            let behind = builder.state(prefix);
            for way in self.ways(c) {
                let value = self.singles.get(&way).map(|text| builder.places[text.as_str()]);
                let state = State { value, children: behind.children.clone() };
                ways.insert(way, builder.graph.intern(state));
            }
        }
        for (&c, text) in &self.singles {
            let value = Some(builder.places[text.as_str()]);
            ways.entry(c)
                .or_insert_with(|| builder.graph.intern(State { value, children: vec![] }));
        }
        let ways: Vec<(char, u32)> = ways.into_iter().collect();
        let root = builder.fan(None, &ways, 0);
        let units = lay_out(&builder.graph.into_states(root))?;
        let singles = self.singles.keys().copied().collect();
        Ok(Parts { units, replacements, singles, seconds: seconds.into_iter().collect() })
    }

    /// The character and all other ways to write it.
    fn ways(&self, c: char) -> impl Iterator<Item = char> {
        std::iter::once(c).chain(self.writings.get(&c).into_iter().flatten().copied())
    }
}

struct Builder<'a> {
    rules: &'a Short,
    /// Where each replacement stands.
    places: HashMap<&'a str, u32, FxBuildHasher>,
    graph: Graph,
}

impl Builder<'_> {
    fn state(&mut self, prefix: &Prefix<'_>) -> State {
        let mut ways = Vec::new();
        for (&c, next) in &prefix.next {
            let state = self.state(next);
            let id = self.graph.intern(state);
            ways.extend(self.rules.ways(c).map(|way| (way, id)));
        }
        ways.sort_unstable();
        let value = prefix.value.map(|text| self.places[text]);
        self.fan(value, &ways, 0)
    }

    /// The state from which the bytes of each character, from byte `depth` on, lead to its state. All
    /// characters are alike before that byte, and in order.
    fn fan(&mut self, value: Option<u32>, ways: &[(char, u32)], depth: usize) -> State {
        let byte = |c: char| c.encode_utf8(&mut [0; 4]).as_bytes()[depth];
        let mut children = Vec::new();
        for group in ways.chunk_by(|a, b| byte(a.0) == byte(b.0)) {
            let (c, state) = group[0];
            let child = if c.len_utf8() == depth + 1 {
                state
            } else {
                let state = self.fan(None, group, depth + 1);
                self.graph.intern(state)
            };
            children.push((byte(c), child));
        }
        State { value, children }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::super::darts::{compile, packed};
    use super::*;

    #[test]
    fn the_same_bytes_as_of_keys_written_out() {
        let mut rules = Short::default();
        for (c, others) in [('a', "ａ𝐚á"), ('b', "ｂ"), ('\u{301}', "\u{341}"), ('ᄀ', "ㄱﾡ")]
        {
            rules.writings.insert(c, others.chars().collect());
        }
        for (key, text) in
            [("a\u{301}", "á"), ("ab", ""), ("ab\u{301}", "x"), ("ᄀa", "ᄀ"), ("xy", "z")]
        {
            rules.sequences.insert(key.chars().collect(), text.to_owned());
        }
        for (c, text) in [('ａ', "a"), ('b', "B"), ('ｂ', "B"), ('x', ""), ('中', "国")] {
            rules.singles.insert(c, text.to_owned());
        }
        let mut keys: Vec<(String, String)> =
            rules.singles.iter().map(|(c, text)| (c.to_string(), text.clone())).collect();
        for (key, text) in &rules.sequences {
            let mut written = vec![String::new()];
            for &c in key {
                let longer = |way: &String| rules.ways(c).map(|c| format!("{way}{c}")).collect();
                written = written.iter().flat_map(|way| -> Vec<String> { longer(way) }).collect();
            }
            keys.extend(written.into_iter().map(|way| (way, text.clone())));
        }
        assert_eq!(keys.len(), 5 + 4 * 2 + 4 * 2 + 4 * 2 * 2 + 3 * 4 + 1);
        let parts = rules.compile().unwrap();
        let bytes = compile(&keys).unwrap();
        assert_eq!(packed(&parts.units, &parts.replacements), bytes);
        let sorted = |characters: &str| {
            let mut characters: Vec<char> = characters.chars().collect();
            characters.sort_unstable();
            characters
        };
        assert_eq!(parts.singles, sorted("ａbｂx中"));
        // As they are written in keys, and in other ways.
        assert_eq!(parts.seconds, sorted("bｂ\u{301}\u{341}aａ𝐚áy"));
    }
}
