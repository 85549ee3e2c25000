//! Words that wait to be looked up, so that they come from memory all at once.
//!
//! In words: for every word, make its key, find its place, compare, write its ids. One word after the
//! other would wait for each place, and a wrong guess of the processor would throw away what it has begun
//! for the next. So a first loop makes keys and fetches ids, for 64 words, without waiting; and a second
//! one writes. What is not found at once is left to the plain look-up.

use super::known::KnownWords;
use super::short::{Packed, is_narrow};

/// Words to a block.
const WORDS: usize = 64;

/// Words of one text that wait.
#[derive(Debug)]
pub struct Queue(Box<Room>);

#[derive(Debug, Clone, Copy)]
struct Waiting {
    start: usize,
    end: usize,
    /// The code point of a word that is known to be one character; else 0.
    character: u32,
}

#[derive(Debug)]
struct Room {
    len: usize,
    words: [Waiting; WORDS],
    /// Which of the words are characters, which are narrow, and the others.
    places: [[u8; WORDS]; 3],
    found: [Packed; WORDS],
    /// Ids that have been found. A word's places are written all, so that there must be room for them.
    ids: [u32; WORDS * Packed::MOST],
}

impl Default for Queue {
    fn default() -> Self {
        Self(Box::new(Room {
            len: 0,
            words: [Waiting { start: 0, end: 0, character: 0 }; WORDS],
            places: [[0; WORDS]; 3],
            found: [Packed::NONE; WORDS],
            ids: [0; WORDS * Packed::MOST],
        }))
    }
}

impl Queue {
    /// Adds `text[start..end]`, which is not empty; `character` is its code point if it is known to be one
    /// character, else 0. True if there is no more room: the words must be looked up.
    #[inline(always)]
    pub fn push(&mut self, start: usize, end: usize, character: u32) -> bool {
        let room = &mut *self.0;
        room.words[room.len % WORDS] = Waiting { start, end, character };
        room.len += 1;
        room.len >= WORDS
    }

    /// Appends the ids of the words to `out`, and forgets them. `learn` appends the ids of a word that the
    /// table does not know, and may teach it; false if it cannot.
    #[inline(always)]
    pub fn look_up(
        &mut self,
        text: &[u8],
        table: &mut KnownWords,
        out: &mut Vec<u32>,
        mut learn: impl FnMut(&mut KnownWords, usize, usize, &mut Vec<u32>) -> bool,
    ) {
        let Room { len, words, places, found, ids } = &mut *self.0;
        let words = &words[..std::mem::take(len).min(WORDS)];
        fetch(text, table, words, places, found);
        let mut written = 0;
        for (&Waiting { start, end, character }, &found) in words.iter().zip(found.iter()) {
            if let Some(count) = found.count() {
                ids[written..written + Packed::MOST].copy_from_slice(&found.ids());
                written += count;
                continue;
            }
            out.extend_from_slice(&ids[..written]);
            written = 0;
            let before = out.len();
            let known = table.get(text, start, end, out) || learn(table, start, end, out);
            if known && character != 0 {
                table.keep_character(character, &out[before..]);
            }
        }
        out.extend_from_slice(&ids[..written]);
    }
}

/// The ids of words as far as they are close at hand. Sorts the words by where they are looked for, so that
/// there is no branch that depends on a word.
#[inline(always)]
fn fetch(
    text: &[u8],
    table: &KnownWords,
    words: &[Waiting],
    places: &mut [[u8; WORDS]; 3],
    found: &mut [Packed; WORDS],
) {
    let mut counts = [0; 3];
    for (word, place) in words.iter().zip(0..) {
        let character = word.character != 0;
        let narrow = !character & is_narrow(word.start, word.end);
        for (kind, is) in [character, narrow, !character & !narrow].into_iter().enumerate() {
            places[kind][counts[kind] % WORDS] = place;
            counts[kind] += usize::from(is);
        }
    }
    let short = table.short();
    let [characters, narrow, others] = places;
    for place in characters[..counts[0]].iter().map(|&place| usize::from(place) % WORDS) {
        found[place] = table.character(words[place].character);
    }
    for place in narrow[..counts[1]].iter().map(|&place| usize::from(place) % WORDS) {
        found[place] = short.narrow(text, words[place].start, words[place].end);
    }
    for place in others[..counts[2]].iter().map(|&place| usize::from(place) % WORDS) {
        found[place] = short.wide(text, words[place].start, words[place].end);
    }
}

#[cfg(test)]
mod tests {
    use super::super::LONGEST;
    use super::*;

    #[test]
    fn gives_what_the_table_gives() {
        let mut table = KnownWords::new([3, 9, 20].into_iter(), 1 << 22);
        let mut text = String::new();
        let mut words = Vec::new();
        for n in 0..3000usize {
            let start = text.len();
            text.push_str(&format!("{}{}", n % 700, "x".repeat(n % 83)));
            words.push((start, text.len(), 0));
            for c in "가\u{20000}b".chars() {
                words.push((text.len(), text.len() + c.len_utf8(), u32::from(c)));
                text.push(c);
            }
        }
        let text = text.as_bytes();
        let ids = |start: usize, end: usize| {
            let word = &text[start..end];
            word.iter().take(word.len() % 6).map(|&byte| u32::from(byte)).collect::<Vec<u32>>()
        };
        let (mut queue, mut out, mut expected, mut learned) =
            (Queue::default(), Vec::new(), Vec::new(), 0);
        for round in 0..3 {
            for (number, &(start, end, character)) in words.iter().enumerate() {
                if queue.push(start, end, character) || number + 1 == words.len() {
                    queue.look_up(text, &mut table, &mut out, |table, start, end, out| {
                        learned += usize::from(end - start <= LONGEST);
                        let ids = ids(start, end);
                        table.insert(&text[start..end], &ids);
                        out.extend(ids);
                        true
                    });
                }
                expected.extend(ids(start, end));
            }
            assert_eq!(out, expected);
            assert!(round > 0 || learned > 1000);
        }
        let mut distinct: Vec<&[u8]> =
            words.iter().map(|&(start, end, _)| &text[start..end]).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(learned, distinct.iter().filter(|word| word.len() <= LONGEST).count());
    }
}
