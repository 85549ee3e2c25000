//! The base alphabet of a corpus: which symbols words are made of before the first merge.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::symbols::{Form, Marker, Sign, Symbols, byte_order};

/// Which characters of a corpus are kept.
#[derive(Debug, Clone, PartialEq)]
pub enum AlphabetLimit {
    /// All of them.
    All,
    /// The most frequent ones, this many (ties: smaller code point).
    Size(usize),
    /// The most frequent ones that together make up this share (0 to 1) of all characters.
    Coverage(f64),
    /// Just these, whether they occur or not; without a marker of their own.
    Given(Vec<char>),
}

/// The symbols before the first merge, in the order of their ids.
#[derive(Debug, Clone)]
pub struct Alphabet {
    /// The bytes of every symbol, marker included.
    pub texts: Vec<Vec<u8>>,
    /// Cuts words into these symbols.
    pub symbols: Symbols,
    /// How many distinct characters the corpus has that the limit left out.
    pub left_out: usize,
}

impl Alphabet {
    /// The 256 bytes, in the order of GPT-2's printable characters.
    pub fn bytes() -> Self {
        let order = byte_order();
        let mut ids = [0; 256];
        for (id, &byte) in (0u32..).zip(&order) {
            ids[usize::from(byte)] = id;
        }
        Self {
            texts: order.iter().map(|&byte| vec![byte]).collect(),
            symbols: Symbols::bytes(ids),
            left_out: 0,
        }
    }

    /// The characters that words are made of, with their counts: first all plain texts, then all that carry the marker, each part
    /// sorted by text. With `every_plain` a character is also there as it is where it only occurs with
    /// the marker.
    pub fn chars(
        signs: impl Iterator<Item = (Sign, u64)>,
        marker: &Marker,
        limit: &AlphabetLimit,
        every_plain: bool,
    ) -> Self {
        let bit = |form| if form == Form::Plain { 1 } else { 2 };
        let mut found: BTreeMap<char, (u128, u8)> = BTreeMap::new();
        for (sign, count) in signs {
            let Sign::Character(character, form) = sign else { continue };
            let (total, forms) = found.entry(character).or_default();
            *total += u128::from(count);
            *forms |= bit(form);
        }
        let forms = |character| found.get(&character).map_or(0, |&(_, forms)| forms);
        let any = !found.is_empty();
        let occurring: Vec<(char, u128)> =
            found.iter().map(|(&character, &(total, _))| (character, total)).collect();
        let distinct = occurring.len();
        let kept = limit.apply(occurring);
        let kept_and_found = kept.iter().filter(|&&character| forms(character) != 0).count();
        // Characters that were given are there as they are, wherever they occur.
        let every_plain = every_plain || matches!(limit, AlphabetLimit::Given(_));
        let mut text = String::new();
        let mut entries: Vec<(Form, Vec<u8>)> = Vec::new();
        for &character in &kept {
            for form in [Form::Plain, Form::Marked] {
                let wanted = every_plain && form == Form::Plain;
                if (wanted || forms(character) & bit(form) != 0)
                    && marker.write(character, form, &mut text)
                {
                    entries.push((form, text.clone().into_bytes()));
                }
            }
        }
        if let Some(own) = marker.own().filter(|_| any) {
            entries.push((Form::Marked, own.as_bytes().to_vec()));
        }
        entries.sort();
        // A character may look like the marker; the two are then one symbol, among the plain ones.
        let mut seen: FxHashSet<Vec<u8>> = FxHashSet::default();
        entries.retain(|(_, text)| seen.insert(text.clone()));
        let index: FxHashMap<&[u8], u32> =
            entries.iter().zip(0u32..).map(|((_, text), id)| (text.as_slice(), id)).collect();
        // A character that looks like the marker is the marker, even if the limit cut it off.
        let own = marker.own().into_iter().flat_map(str::chars);
        let symbols = Symbols::chars(marker.clone(), kept.iter().copied().chain(own), |text| {
            index.get(text.as_bytes()).copied()
        });
        Self {
            left_out: distinct - kept_and_found,
            symbols,
            texts: entries.into_iter().map(|entry| entry.1).collect(),
        }
    }

    /// How many symbols there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

impl AlphabetLimit {
    /// The characters that are kept, most frequent first.
    pub(super) fn apply(&self, mut counts: Vec<(char, u128)>) -> Vec<char> {
        counts.sort_unstable_by_key(|&(character, count)| (std::cmp::Reverse(count), character));
        let keep = match self {
            AlphabetLimit::Given(characters) => return characters.clone(),
            AlphabetLimit::All => counts.len(),
            &AlphabetLimit::Size(size) => size.min(counts.len()),
            &AlphabetLimit::Coverage(share) => {
                let total: u128 = counts.iter().map(|&(_, count)| count).sum();
                let mut covered = 0u128;
                counts
                    .iter()
                    .position(|&(_, count)| {
                        let enough = covered as f64 / total as f64 >= share;
                        covered += count;
                        enough
                    })
                    .unwrap_or(counts.len())
            }
        };
        counts[..keep].iter().map(|&(character, _)| character).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(marker: &Marker, limit: AlphabetLimit) -> Vec<String> {
        let words = [("low", 5), ("lower", 2)];
        let mut signs = Vec::new();
        for (word, count) in words {
            marker.for_each(word, |sign, _, _| signs.push((sign, count)));
        }
        let alphabet = Alphabet::chars(signs.into_iter(), marker, &limit, false);
        alphabet.texts.into_iter().map(|text| String::from_utf8(text).unwrap_or_default()).collect()
    }

    #[test]
    fn plain_texts_come_before_marked_ones() {
        let suffix = Marker::Suffix { text: "</w>".into(), joined: false };
        assert_eq!(texts(&suffix, AlphabetLimit::All), ["e", "l", "o", "r", "w", "</w>"]);
        let joined = Marker::Suffix { text: "</w>".into(), joined: true };
        assert_eq!(texts(&joined, AlphabetLimit::All), ["e", "l", "o", "w", "r</w>", "w</w>"]);
    }

    #[test]
    fn limits_keep_the_most_frequent() {
        assert_eq!(texts(&Marker::None, AlphabetLimit::Size(2)), ["l", "o"]);
        assert_eq!(texts(&Marker::None, AlphabetLimit::Coverage(1.0)).len(), 5);
        // l, o, w stand for 21 of 25 characters.
        assert_eq!(texts(&Marker::None, AlphabetLimit::Coverage(0.84)), ["l", "o", "w"]);
    }
}
