//! Word -> ids for models whose ids of a word depend on nothing else: the vocabulary's own words, and what
//! has been learned from texts since.
//!
//! Words of a few bytes and ids lie [close together](super::short), characters in a list of their own,
//! and whatever is longer [elsewhere](LongWords).

use super::INLINE;
use super::long::{LONGEST_KNOWN, LongWords, Trail};
use super::short::{Packed, ShortWords, Sought};

/// Words, looked up many at a time.
#[derive(Debug)]
pub struct KnownWords {
    short: ShortWords,
    /// Characters below U+10000, found without a hash. Empty before the first one.
    characters: Vec<Packed>,
    long: LongWords,
    limit: usize,
}

impl KnownWords {
    /// Knows no word; has room for words of these lengths in bytes, and takes at most about `limit` bytes if
    /// those fit.
    pub fn new(lengths: impl Iterator<Item = usize>, limit: usize) -> Self {
        Self {
            short: ShortWords::new(lengths, limit / 2),
            characters: Vec::new(),
            long: LongWords::new(limit / 2),
            limit,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self, lengths: impl Iterator<Item = usize>) {
        *self = Self::new(lengths, self.limit);
    }

    /// Whether there is no room left.
    pub fn is_full(&self) -> bool {
        self.short.is_full() || self.long.is_full()
    }

    /// Appends the ids of `text[start..end]` to `out`; false if the word is not known.
    pub fn get(&self, text: &[u8], start: usize, end: usize, out: &mut Vec<u32>) -> bool {
        if end - start > INLINE {
            return self.long.get(text, start, end, out);
        }
        let ids = self.short.get(self.short.seek(text, start, end));
        if let Some(count) = ids.count() {
            out.extend_from_slice(&ids.ids()[..count]);
            return true;
        }
        ids != Packed::NONE && self.long.get(text, start, end, out)
    }

    /// The same; `character` is its code point if it is known to be one character, else 0.
    #[inline]
    pub fn get_part(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        character: u32,
        out: &mut Vec<u32>,
    ) -> bool {
        let ids = self.character(character);
        match ids.count() {
            None => return self.get(text, start, end, out),
            Some(1) => out.push(ids.ids()[0]),
            Some(count) => out.extend_from_slice(&ids.ids()[..count]),
        }
        true
    }

    /// What to look for, to find `text[start..end]`; has memory fetched.
    #[inline(always)]
    pub(super) fn seek(&self, text: &[u8], start: usize, end: usize) -> Sought {
        if end - start <= INLINE {
            let sought = self.short.seek(text, start, end);
            self.short.prefetch(sought);
            return sought;
        }
        let trail = self.long.seek(&text[start..end]);
        self.long.prefetch(trail);
        Sought::long(trail.0)
    }

    /// The second half of having a long word fetched.
    #[inline(always)]
    pub(super) fn prefetch_long(&self, sought: Sought) {
        self.long.prefetch_record(Trail(sought.as_long()));
    }

    /// As [`KnownWords::get`] for a long word.
    #[inline]
    pub(super) fn get_long(&self, sought: Sought, word: &[u8], out: &mut Vec<u32>) -> bool {
        self.long.get_on(Trail(sought.as_long()), word, out)
    }

    /// Whether a word is known.
    pub fn knows(&self, word: &[u8]) -> bool {
        match word.len() {
            0 => false,
            1..=INLINE => self.short.get(self.short.seek(word, 0, word.len())) != Packed::NONE,
            _ => self.long.get(word, 0, word.len(), &mut Vec::new()),
        }
    }

    /// Remembers the ids of a word that is not known. Very long words, and all when there is no room, are let
    /// go.
    pub fn insert(&mut self, word: &[u8], ids: &[u32]) {
        if word.is_empty() || word.len() > LONGEST_KNOWN || self.is_full() {
            return;
        }
        let packed = Packed::new(ids);
        if word.len() <= INLINE {
            self.short.insert(word, packed.unwrap_or(Packed::ELSEWHERE));
        }
        if word.len() > INLINE || packed.is_none() {
            self.long.insert(word, ids);
        }
        if let (1..=3, Some(packed)) = (word.len(), packed) {
            self.keep_character(word, packed);
        }
    }

    /// Words of up to 15 bytes.
    #[inline(always)]
    pub(super) fn short(&self) -> &ShortWords {
        &self.short
    }

    /// The ids of a character, if it is kept beside; 0 is none.
    #[inline(always)]
    pub(super) fn character(&self, character: u32) -> Packed {
        self.characters.get(character as usize).copied().unwrap_or(Packed::NONE)
    }

    /// Keeps the ids of a word beside if it is one character.
    fn keep_character(&mut self, word: &[u8], ids: Packed) {
        let mut characters = std::str::from_utf8(word).unwrap_or_default().chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            if self.characters.is_empty() {
                self.characters.resize(1 << 16, Packed::NONE);
            }
            // Up to three bytes: below U+10000. No word is sought as the character 0.
            self.characters[character as usize % (1 << 16)] = ids;
            self.characters[0] = Packed::NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_words_of_all_lengths_and_ids_of_all_sizes() {
        let word = |n: usize| format!("{n}{}", "x\0".repeat(n % 80)).into_bytes();
        let ids = |n: usize| (0..n as u32 % 7).map(|id| id << (n % 30)).collect::<Vec<u32>>();
        let mut table = KnownWords::new((0..500).map(|n| word(n).len()), 1 << 24);
        for n in 0..5000 {
            assert!(!table.get(&word(n), 0, word(n).len(), &mut Vec::new()));
            table.insert(&word(n), &ids(n));
        }
        for n in 0..5000 {
            let mut out = Vec::new();
            let mut text = b"before".to_vec();
            text.extend(word(n));
            let known = table.get(&text, 6, text.len(), &mut out);
            assert_eq!(known, word(n).len() <= LONGEST_KNOWN);
            assert_eq!(out, if known { ids(n) } else { Vec::new() });
        }
    }

    #[test]
    fn keeps_characters_beside() {
        let mut table = KnownWords::new([].into_iter(), 1 << 20);
        let cases: [(&str, &[u32], bool); 7] = [
            ("가", &[1], true),
            ("나", &[1 << 19, 0], true),
            ("다", &[3, 2, (1 << 20) - 1], true),
            ("라", &[1 << 20], false),
            ("\0", &[7], false),
            ("ab", &[7], false),
            ("é", &[7], true),
        ];
        for (word, ids, fits) in cases {
            table.insert(word.as_bytes(), ids);
            let found = table.character(word.chars().next().map_or(0, u32::from));
            assert_eq!(found.count(), fits.then_some(ids.len()), "{word}");
            assert_eq!(&found.ids()[..found.count().unwrap_or(0)], if fits { ids } else { &[] });
            let mut out = Vec::new();
            assert!(table.get(word.as_bytes(), 0, word.len(), &mut out));
            assert_eq!(out, ids);
        }
    }

    #[test]
    fn stays_within_its_limit() {
        let mut table = KnownWords::new([].into_iter(), 1 << 18);
        for n in 0..200_000u32 {
            table.insert(format!("{n}").as_bytes(), &[n]);
            table.insert(format!("{n} and more").as_bytes(), &[n; 5]);
        }
        assert!(table.is_full());
        let known = (0..200_000u32).filter(|n| {
            let word = format!("{n}").into_bytes();
            table.get(&word, 0, word.len(), &mut Vec::new())
        });
        // 16 bytes each, and no more than the limit.
        assert!((500..1 << 14).contains(&known.count()));
    }
}
