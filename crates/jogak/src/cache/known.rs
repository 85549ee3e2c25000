//! Word -> ids for models whose ids of a word depend on nothing else: the vocabulary's own words, and what
//! has been learned from texts since.
//!
//! Words of a few bytes and ids lie [close together](super::short), characters in a list of their own,
//! and whatever is longer [elsewhere](LongWords).

use super::INLINE;
use super::found::Sought;
use super::long::{LONGEST_KNOWN, LongWords, Trail};
use super::packed::{MOST, Packed};
use super::places::BlockRoom;
use super::short::ShortWords;
use crate::scan::{Look, Plain, write_pages};

/// Words that are taught at once.
const BLOCK: usize = 64;

/// Bytes of a large table.
const LARGE: usize = 4 << 20;

/// The part of a limit that is for short words. Their table doubles, so that it mostly takes less.
fn for_short(limit: usize) -> usize {
    limit / 8 * 5
}

/// Words, looked up many at a time.
#[derive(Debug, Clone)]
pub struct KnownWords {
    short: ShortWords,
    /// Characters below U+10000, found without a hash. Empty before the first one.
    characters: Vec<u64>,
    /// Of which kind there are some.
    kinds: [bool; KINDS],
    long: LongWords,
    limit: usize,
    /// Room for words that are looked for, while nobody has it.
    room: Option<Box<BlockRoom>>,
    /// Words were to be known from the start, and all are, but for those that are too long.
    is_taught: bool,
    /// The longest word of that, in bytes.
    longest: usize,
    /// Words that there was no room for.
    refused: usize,
    /// How often it has forgotten everything.
    cleared: usize,
}

impl KnownWords {
    /// Knows no word, and takes at most about `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { is_taught: false, ..Self::knowing(std::iter::empty, limit) }
    }

    /// Knows no word, and has room for about as many as these, but not so much that it is [large](Self::is_large).
    /// Room takes no memory before it is used. Takes at most about `limit` bytes.
    pub fn for_words_like<'a>(words: impl Iterator<Item = &'a [u8]>, limit: usize) -> Self {
        // None takes more than 128 bytes, twice as many narrow ones, and wide ones, and rounded up.
        let words = words.take((LARGE / 128).min(limit / 256));
        Self { short: ShortWords::new(words, 2, for_short(limit)), ..Self::new(limit) }
    }

    /// Knows `words`, each with its one id; the first of the same words counts. Takes at most about `limit` bytes
    /// if they fit.
    pub fn knowing<'a, W: Iterator<Item = (&'a [u8], u32)>>(
        words: impl Fn() -> W,
        limit: usize,
    ) -> Self {
        // At most half full.
        Self::with_room(words, 2, limit)
    }

    /// The same, with room for `times` as many.
    pub fn with_room<'a, W: Iterator<Item = (&'a [u8], u32)>>(
        words: impl Fn() -> W,
        times: usize,
        limit: usize,
    ) -> Self {
        let mut known = Self {
            short: ShortWords::new(words().map(|(word, _)| word), times, for_short(limit)),
            characters: Vec::new(),
            kinds: [false; KINDS],
            long: LongWords::new(limit - for_short(limit)),
            limit,
            room: None,
            is_taught: true,
            longest: 0,
            refused: 0,
            cleared: 0,
        };
        // As when words are looked up: some at once, so that memory is waited for once.
        let mut words = words();
        let mut block: Vec<(Sought, &[u8], u32)> = Vec::with_capacity(BLOCK);
        loop {
            for (word, id) in words.by_ref().take(BLOCK) {
                block.push((known.seek(word, 0, word.len()), word, id));
            }
            if block.is_empty() {
                // Whoever is full at the start would be taught all of it for every new word.
                known.long.leave_room();
                return known;
            }
            for (sought, word, id) in block.drain(..) {
                known.longest = known.longest.max(word.len());
                known.is_taught &= known.teach(sought, word, id);
            }
        }
    }

    /// Says whether it is known then.
    fn teach(&mut self, sought: Sought, word: &[u8], id: u32) -> bool {
        if word.is_empty() || word.len() > LONGEST_KNOWN {
            return true;
        }
        match Packed::new(&[id]) {
            Some(ids) if word.len() <= INLINE => {
                if self.short.get::<Plain>(sought) != Packed::NONE {
                    return true;
                }
                let entered = self.short.enter(sought, ids);
                if entered && word.len() <= CHARACTER {
                    self.keep_character(word, ids);
                }
                entered
            }
            _ if self.knows(word) => true,
            _ => {
                self.insert(word, &[id]);
                self.knows(word)
            }
        }
    }

    /// Whether it knows all words of so many bytes that it [was to know](KnownWords::knowing); false if none were.
    pub fn knows_all(&self, len: usize) -> bool {
        let is_whole = !self.short.has_lost() && !self.long.has_lost();
        self.is_taught && is_whole && (len <= LONGEST_KNOWN || len > self.longest)
    }

    /// Bytes that it may take, about.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self { cleared: self.cleared + 1, ..Self::new(self.limit) };
    }

    /// What it looks like; words are to be sought anew if that changes.
    #[inline(always)]
    pub(super) fn shape(&self) -> (usize, usize, usize) {
        let (narrow, wide) = self.short.shape();
        (narrow, wide, self.cleared)
    }

    /// Whether it had better forget everything: it has refused as many words as it knows, so that these may well be
    /// those of another text. To forget as soon as there is no room would be to know little of a text that comes again
    /// and again, and has a few words too many.
    pub fn is_stale(&self) -> bool {
        self.refused > self.short.len() + self.long.len()
    }

    /// Whether words that can be done without should not be remembered any more.
    pub fn is_crowded(&self) -> bool {
        self.short.is_crowded() || self.long.is_full()
    }

    /// Whether it has grown so large that words which may never come again had better not make it larger: new
    /// memory is dear, and so is a table that is far from the processor.
    pub fn is_large(&self) -> bool {
        self.short.bytes() + self.long.bytes() >= LARGE
    }

    /// Whether [`KnownWords::append_character`] knows the character `word` once it is remembered with these ids.
    pub fn keeps_beside(word: &[u8], ids: &[u32]) -> bool {
        word.len() <= 3 && Packed::new(ids).is_some_and(|ids| ids.as_half().is_some())
    }

    /// Appends the ids of `text[start..end]` to `out`; false if the word is not known.
    pub fn get(&self, text: &[u8], start: usize, end: usize, out: &mut Vec<u32>) -> bool {
        if end - start > INLINE {
            return self.long.get(text, start, end, out);
        }
        self.append(self.short.get::<Plain>(self.short.seek(text, start, end)), out)
    }

    /// The same for a word of up to 15 bytes, by what to look for. The next time it is [nearer](ShortWords::get_often).
    #[inline(always)]
    pub(super) fn get_sought<L: Look>(&mut self, sought: Sought, out: &mut Vec<u32>) -> bool {
        let ids = self.short.get_often::<L>(sought);
        self.append(ids, out)
    }

    /// Appends ids as they are kept; false if there are none.
    #[inline(always)]
    fn append(&self, ids: Packed, out: &mut Vec<u32>) -> bool {
        if let Some(count) = ids.count() {
            append(ids, count, out);
            return true;
        }
        ids.place().is_some_and(|place| self.long.get_kept(place, out))
    }

    /// Appends the ids of a character to `out`, if it is kept beside; 0 is none. Gives back how many they are.
    #[inline(always)]
    pub fn append_character(&self, character: u32, out: &mut Vec<u32>) -> Option<usize> {
        let ids = self.character(character);
        let count = ids.count()?;
        append(ids, count, out);
        Some(count)
    }

    /// As [`KnownWords::get`]; `character` is its code point if it is known to be one character, else 0.
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
        let Some(count) = ids.count() else { return self.get(text, start, end, out) };
        append(ids, count, out);
        true
    }

    /// What to look for, to find `text[start..end]`; has memory fetched.
    #[inline(always)]
    pub(super) fn seek(&self, text: &[u8], start: usize, end: usize) -> Sought {
        if end - start > INLINE {
            return self.seek_long(&text[start..end]);
        }
        let short = self.short.found();
        let sought = short.seek(text, start, end);
        short.prefetch(sought.line);
        sought
    }

    /// The same for a word of more than 15 bytes.
    #[inline(always)]
    pub(super) fn seek_long(&self, word: &[u8]) -> Sought {
        let trail = self.long.seek(word);
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
            1..=INLINE => {
                self.short.get::<Plain>(self.short.seek(word, 0, word.len())) != Packed::NONE
            }
            _ => self.long.get(word, 0, word.len(), &mut Vec::new()),
        }
    }

    /// Remembers the ids of a word that is not known. Very long words, and those that there is no room for, are let
    /// go.
    pub fn insert(&mut self, word: &[u8], ids: &[u32]) {
        if word.is_empty() || word.len() > LONGEST_KNOWN {
            return;
        }
        self.enter(self.seek(word, 0, word.len()), word, ids);
    }

    /// The same, by what to look for, found in the table as it is; but a [stale](Self::is_stale) table forgets all
    /// else.
    pub(super) fn insert_sought(&mut self, sought: Sought, word: &[u8], ids: &[u32]) {
        if self.is_stale() {
            self.clear();
            return self.insert(word, ids);
        }
        if word.len() <= LONGEST_KNOWN {
            self.enter(sought, word, ids);
        }
    }

    fn enter(&mut self, sought: Sought, word: &[u8], ids: &[u32]) {
        let entered = match sought.is_long() {
            true => self.long.insert(word, ids),
            false => self.enter_short(sought, word, ids),
        };
        self.refused += usize::from(!entered);
    }

    /// Says whether there was room.
    fn enter_short(&mut self, sought: Sought, word: &[u8], ids: &[u32]) -> bool {
        // Ids that are kept for nothing would take room, too.
        if !self.short.has_room(sought) {
            return false;
        }
        let packed = Packed::new(ids).or_else(|| self.long.keep(ids).map(Packed::elsewhere));
        let Some(packed) = packed else {
            return false;
        };
        let entered = self.short.insert(sought, word, packed);
        if entered && word.len() <= CHARACTER && packed.place().is_none() {
            self.keep_character(word, packed);
        }
        entered
    }

    /// Room for words that are looked for.
    pub(super) fn take_room(&mut self) -> Box<BlockRoom> {
        self.room.take().unwrap_or_default()
    }

    /// Keeps it for the next text.
    pub(super) fn give_room(&mut self, room: Box<BlockRoom>) {
        self.room = Some(room);
    }

    /// Words of up to 15 bytes.
    #[inline(always)]
    pub(super) fn short(&self) -> &ShortWords {
        &self.short
    }

    /// What is kept beside: of each character the first half of its ids, 0 if there is none.
    #[inline(always)]
    pub(super) fn characters(&self) -> &[u64] {
        &self.characters
    }

    /// The ids of a character, if it is kept beside; 0 is none.
    #[inline(always)]
    pub(super) fn character(&self, character: u32) -> Packed {
        Packed::half(self.characters.get(character as usize).copied().unwrap_or(0))
    }

    /// Keeps the ids of a word beside if it is one character, with or without a space or `▁` before it.
    fn keep_character(&mut self, word: &[u8], ids: Packed) {
        let mut characters = std::str::from_utf8(word).unwrap_or_default().chars();
        let code = match (characters.next(), characters.next(), characters.next()) {
            (Some(character), None, None) if word.len() <= 3 => u32::from(character),
            (Some(' '), Some(character), None) if word.len() == 4 => SPACED | u32::from(character),
            (Some(MARK), Some(character), None) if word.len() == 6 => MARKED | u32::from(character),
            _ => return,
        };
        if self.characters.is_empty() {
            self.characters = vec![0; KINDS << 16];
        }
        // Where there is one of a kind there are more of it, and all are looked up before they are kept; of other kinds there may be none.
        let kind = code as usize >> 16;
        if let (Some(kinds @ false), Some(of_kind)) =
            (self.kinds.get_mut(kind), self.characters.chunks_mut(1 << 16).nth(kind))
        {
            *kinds = true;
            write_pages(of_kind);
        }
        // Up to three bytes: below U+10000. No word is sought as the character 0.
        if let Some(half) = ids.as_half()
            && let Some(kept) = self.characters.get_mut(code as usize)
        {
            *kept = half;
        }
        self.characters[0] = 0;
    }
}

/// Bytes of a character that is kept beside, with a mark before it, at most.
const CHARACTER: usize = 6;
/// A character of three bytes with a space before it.
pub(super) const SPACED: u32 = 1 << 16;
/// The same with SentencePiece's mark before it.
pub(super) const MARKED: u32 = 2 << 16;
pub(super) const MARK: char = '▁';
/// Alone, spaced, marked.
const KINDS: usize = 3;

#[inline(always)]
fn append(ids: Packed, count: usize, out: &mut Vec<u32>) {
    let mut room = [0; MOST];
    ids.write(count, &mut room);
    // Of a known length it is not worth a call.
    let len = out.len() + count;
    out.extend_from_slice(&room);
    out.truncate(len);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(n: usize) -> Vec<u8> {
        format!("{n}{}", "x\0".repeat(n % 80)).into_bytes()
    }

    #[test]
    fn remembers_words_of_all_lengths_and_ids_of_all_sizes() {
        let ids = |n: usize| (0..n as u32 % 7).map(|id| id << (n % 30)).collect::<Vec<u32>>();
        let mut table = KnownWords::new(1 << 24);
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
    fn knows_what_it_is_told_first() {
        let words: Vec<(Vec<u8>, u32)> = (0..4000)
            .map(|n| (word(n % 1500), n as u32 | if n % 7 == 0 { 1 << 25 } else { 0 }))
            .chain([("가".into(), 5), ("가".into(), 6), (Vec::new(), 7)])
            .collect();
        let known = || words.iter().map(|(word, id)| (word.as_slice(), *id));
        let table = KnownWords::knowing(known, 1 << 24);
        for (word, _) in known().filter(|(word, _)| !word.is_empty()) {
            let mut out = Vec::new();
            assert_eq!(table.get(word, 0, word.len(), &mut out), word.len() <= LONGEST_KNOWN);
            let first = known().find(|&(other, _)| other == word).map(|(_, id)| id);
            assert_eq!(out.first().copied(), first.filter(|_| word.len() <= LONGEST_KNOWN));
        }
        let mut out = Vec::new();
        assert_eq!(table.append_character(u32::from('가'), &mut out), Some(1));
        assert_eq!(out, [5]);
        let longest = known().map(|(word, _)| word.len()).max().unwrap_or(0);
        assert!(longest > LONGEST_KNOWN);
        let lengths = [1, LONGEST_KNOWN, LONGEST_KNOWN + 1, longest, longest + 1];
        assert_eq!(lengths.map(|len| table.knows_all(len)), [true, true, false, false, true]);
        assert!(!KnownWords::new(1 << 20).knows_all(1));
    }

    #[test]
    fn keeps_characters_beside() {
        let mut table = KnownWords::new(1 << 20);
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
            let (mut room, count) = ([0; MOST], found.count().unwrap_or(0));
            found.write(count, &mut room);
            assert_eq!(&room[..count], if fits { ids } else { &[] });
            let mut out = Vec::new();
            assert!(table.get(word.as_bytes(), 0, word.len(), &mut out));
            assert_eq!(out, ids);
        }
    }

    #[test]
    fn room_for_words_is_no_more_than_may_be() {
        let pieces: Vec<Vec<u8>> = (0..300_000).map(word).collect();
        for count in [0, 1, 16_500, 17_000, 32_000, 300_000] {
            for limit in [1 << 12, 1 << 18, 1 << 26] {
                let pieces = pieces[..count].iter().map(Vec::as_slice);
                let mut table = KnownWords::for_words_like(pieces, limit);
                assert!(table.short.bytes() <= for_short(limit).max(1 << 11) && !table.is_large());
                assert!(!table.knows(b"word") && !table.knows_all(4));
                table.insert(b"word", &[7, 8]);
                assert!(table.knows(b"word"));
            }
        }
    }

    #[test]
    fn stays_within_its_limit() {
        let mut table = KnownWords::new(1 << 18);
        for n in 0..200_000u32 {
            table.insert(format!("{n}").as_bytes(), &[n]);
            table.insert(format!("{n} and more").as_bytes(), &[n; 5]);
        }
        assert!(table.is_stale());
        assert!(table.short.bytes() + table.long.bytes() <= 1 << 18);
        let known = (0..200_000u32).filter(|n| {
            let word = format!("{n}").into_bytes();
            table.get(&word, 0, word.len(), &mut Vec::new())
        });
        // 16 bytes each, and no more than the limit.
        assert!((500..1 << 14).contains(&known.count()));
    }

    #[test]
    fn a_text_with_a_few_words_too_many_does_not_make_it_forget() {
        // Wide words alone, narrow ones, and long ones: each kind has a room of its own.
        for name in
            [|n| format!("밥{n}"), |n: u32| format!("{n}"), |n| format!("{n} and so much more")]
        {
            let mut table = KnownWords::new(1 << 18);
            let mut learn = |text: std::ops::Range<u32>| {
                let (mut found, mut forgot) = (0, false);
                for n in text {
                    let word = name(n).into_bytes();
                    if table.get(&word, 0, word.len(), &mut Vec::new()) {
                        found += 1;
                        continue;
                    }
                    if table.is_stale() {
                        forgot = true;
                        table.clear();
                    }
                    table.insert(&word, &[n]);
                }
                (found, forgot)
            };
            let known = (1..)
                .map(|n| n * 100)
                .find(|&n| learn(n - 100..n) == (0, false) && learn(0..n).0 < n);
            let known = known.unwrap_or(0);
            assert!(known > 1000);
            for _ in 0..3 {
                let (found, forgot) = learn(0..known);
                assert!(found >= known - 100 && !forgot);
            }
            // Another text, of as many words.
            learn(1_000_000..1_000_000 + 2 * known);
            assert!(learn(1_000_000 + known..1_000_000 + 2 * known).0 >= known / 2);
        }
    }
}
