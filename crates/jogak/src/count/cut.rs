//! Words cut once more: at texts that no piece may cross. And the characters of all words.

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Counter, Counts};
use crate::error::{Error, Result};

impl Counts {
    /// The words without every occurrence of `texts`, and cut there; of several that start at one
    /// place, the longest counts. Also how many occurrences there were. An order that was kept is lost.
    ///
    /// ```
    /// use jogak::count::{Counter, Counts};
    ///
    /// let mut counter = Counter::new(false);
    /// counter.add_many("a<sep>b".as_bytes(), 2, 0)?;
    /// let (cut, found) = Counts::from_counters(vec![counter], 1)?.without(&["<sep>"])?;
    /// assert_eq!((cut.get(b"a"), cut.get(b"b"), cut.len(), found), (Some(2), Some(2), 2, 2));
    /// # Ok::<(), jogak::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`] for texts that are too many to be searched at once;
    /// [`Error::CountOverflow`] if there are more words than can be counted.
    pub fn without<T: AsRef<[u8]>>(&self, texts: &[T]) -> Result<(Self, u64)> {
        let texts = || texts.iter().map(AsRef::as_ref).filter(|text| !text.is_empty());
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts());
        let matcher = built.map_err(|_| Error::TooLarge {
            what: "the automaton of texts to cut at",
            size: texts().map(|text| text.len() as u64).sum(),
            limit: u64::from(u32::MAX),
        })?;
        let mut counter = Counter::new(false);
        let mut occurrences = 0u64;
        for (word, count) in self.iter() {
            let mut from = 0;
            for found in matcher.find_iter(word) {
                if from < found.start() {
                    counter.add_many(&word[from..found.start()], count, 0)?;
                }
                from = found.end();
                occurrences = occurrences.saturating_add(count);
            }
            if from < word.len() {
                counter.add_many(&word[from..], count, 0)?;
            }
        }
        Ok((Self::from_counters(vec![counter], 1)?, occurrences))
    }

    /// How often every character occurs, words times their counts: most frequent first, among equals
    /// the smaller code point.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] if a character occurs more than `u64::MAX` times.
    pub fn characters(&self) -> Result<Vec<(char, u64)>> {
        let mut table = vec![0u64; 0x11_0000];
        for (word, count) in self.iter() {
            for character in std::str::from_utf8(word).unwrap_or_default().chars() {
                let place = &mut table[character as usize];
                *place = place.checked_add(count).ok_or_else(|| Error::CountOverflow {
                    what: format!("the count of the character {character:?}"),
                })?;
            }
        }
        let mut characters: Vec<(char, u64)> = ('\0'..=char::MAX)
            .map(|character| (character, table[character as usize]))
            .filter(|(_, count)| *count > 0)
            .collect();
        characters
            .sort_unstable_by_key(|&(character, count)| (std::cmp::Reverse(count), character));
        Ok(characters)
    }
}
