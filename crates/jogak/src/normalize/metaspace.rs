//! SentencePiece's way with spaces (Kudo & Richardson 2018): every space becomes `▁` (U+2581), and one
//! `▁` goes before the text, so that a word looks the same at the start of a text and behind a space.
//!
//! Going back is exact for every text without a `▁` of its own: take one `▁` off the front, turn the
//! others into spaces.

use super::align::Sink;
use super::{Place, Rule};
use crate::pretokenize::{Dummy, Metaspace};
use crate::scan::{BLOCK, Look, Task, count, fastest};

/// Whether a space is added to `text`.
pub(crate) fn adds(spaces: Metaspace, text: &str, place: Place) -> bool {
    let here = match spaces.dummy {
        Dummy::Always => true,
        Dummy::First | Dummy::Given | Dummy::Start if spaces.suffix => place.last,
        Dummy::First | Dummy::Given | Dummy::Start => place.first,
        Dummy::Never => false,
    };
    let present = |text: &str| {
        if spaces.suffix {
            text.ends_with(' ') || text.ends_with(spaces.mark())
        } else {
            text.starts_with(' ') || text.starts_with(spaces.mark())
        }
    };
    if text.is_empty() {
        return here && place.bare && spaces.dummy == Dummy::Given;
    }
    here && !(spaces.only_missing && present(text))
}

/// Whether a space is added to a whole text, by the character that it begins with.
pub(crate) fn adds_to(spaces: Metaspace, first: char) -> bool {
    adds(spaces, first.encode_utf8(&mut [0; 4]), Place::WHOLE)
}

/// Whether [`run`] would change `text`.
pub(crate) fn changes(spaces: Metaspace, text: &str, place: Place) -> bool {
    adds(spaces, text, place) || (spaces.escape && memchr::memchr(b' ', text.as_bytes()).is_some())
}

/// Writes `text` with its spaces as asked.
pub(crate) fn run(spaces: Metaspace, text: &str, place: Place, out: &mut impl Sink) {
    let adds = adds(spaces, text, place);
    let mut utf8 = [0; 4];
    let mark: &str = spaces.mark().encode_utf8(&mut utf8);
    if adds && !spaces.suffix {
        out.write(mark, 0, 0);
    }
    let mut done = 0;
    if spaces.escape {
        for at in memchr::memchr_iter(b' ', text.as_bytes()) {
            out.keep(text, done, at);
            out.write(mark, at, at + 1);
            done = at + 1;
        }
    }
    out.keep(text, done, text.len());
    if adds && spaces.suffix {
        out.write(mark, text.len(), text.len());
    }
}

/// How spaces are written by rules that do nothing else, as those of Llama's files: a mark before each stretch, or none, and
/// one for each space.
pub(super) fn only_marks(rules: &[Rule]) -> Option<Metaspace> {
    let (prefix, replace) = match rules {
        [Rule::Prepend(prefix), replace] => (Some(prefix), replace),
        [replace] => (None, replace),
        _ => return None,
    };
    let Rule::Replace { pattern, with, regex: false } = replace else { return None };
    let mut characters = with.chars();
    let (mark, None) = (characters.next()?, characters.next()) else { return None };
    let suits = pattern == " " && mark != ' ' && prefix.is_none_or(|prefix| prefix == with);
    let dummy = if prefix.is_some() { Dummy::Always } else { Dummy::Never };
    suits.then_some(Metaspace { dummy, mark, ..Metaspace::DEFAULT })
}

/// What [`run`] writes, in `room`, which is used again and again. Words are short, so they are copied some bytes at a time,
/// of which those behind the word are written over.
pub(crate) fn written<'r>(
    spaces: Metaspace,
    text: &str,
    place: Place,
    room: &'r mut Vec<u8>,
) -> &'r str {
    let adds = adds(spaces, text, place);
    let mut mark = [0; 4];
    let length = spaces.mark().encode_utf8(&mut mark).len();
    let most = || match text.len() {
        0..=FEW => text.len(),
        _ => count(text.as_bytes(), |byte| byte == b' '),
    };
    let marks = usize::from(adds) + if spaces.escape { most() } else { 0 };
    let needed = text.len() + marks * length + CHUNK;
    if room.len() < needed {
        room.resize(needed, 0);
    }
    let mut writer = Writer { room, end: 0, mark, length };
    if adds && !spaces.suffix {
        writer.mark();
    }
    if spaces.escape {
        fastest(Escape { text: text.as_bytes(), writer: &mut writer });
    } else {
        writer.copy(text.as_bytes(), text.len());
    }
    if adds && spaces.suffix {
        writer.mark();
    }
    let end = writer.end;
    // Characters, with characters between them.
    simdutf8::basic::from_utf8(&room[..end]).unwrap_or_default()
}

/// Texts of no more bytes have room for as many marks.
const FEW: usize = 1 << 15;

/// So many bytes are copied at once.
const CHUNK: usize = 32;

struct Writer<'a> {
    room: &'a mut [u8],
    end: usize,
    mark: [u8; 4],
    length: usize,
}

impl Writer<'_> {
    #[inline(always)]
    fn mark(&mut self) {
        if let Some(room) = self.room[self.end..].first_chunk_mut() {
            *room = self.mark;
        }
        self.end += self.length;
    }

    /// The first `length` bytes.
    #[inline(always)]
    fn copy(&mut self, bytes: &[u8], length: usize) {
        let room = &mut self.room[self.end..];
        match (room.first_chunk_mut::<CHUNK>(), bytes.first_chunk()) {
            (Some(room), Some(chunk)) if length <= CHUNK => *room = *chunk,
            _ => room[..length].copy_from_slice(&bytes[..length]),
        }
        self.end += length;
    }
}

/// Writes a text with marks for its spaces.
struct Escape<'a, 'w> {
    text: &'a [u8],
    writer: &'a mut Writer<'w>,
}

impl Task for Escape<'_, '_> {
    #[inline(always)]
    fn run<L: Look>(self) {
        let Self { text, writer } = self;
        let mut last = [0; BLOCK];
        for from in (0..text.len()).step_by(BLOCK) {
            let left = &text[from..];
            let block = left.first_chunk().unwrap_or_else(|| {
                last[..left.len()].copy_from_slice(left);
                &last
            });
            let (mut spaces, mut at) = (L::apart(block).spaces, 0);
            while spaces != 0 {
                let space = spaces.trailing_zeros() as usize;
                spaces &= spaces - 1;
                writer.copy(&left[at..], space - at);
                writer.mark();
                at = space + 1;
            }
            writer.copy(&left[at..], left.len().min(BLOCK) - at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::{Buffers, Normalizer};
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    #[test]
    fn many_at_a_time_is_one_by_one() {
        let mut random = SplitMix64::new(3);
        let mut below = |n: usize| (random.next() % n as u64) as usize;
        let mut room = vec![0xFF; 3];
        for _ in 0..3_000 {
            let kinds = [" ", "a", "조", "🧩", "▁", "long", "\n", " "];
            let few = [1, 2, kinds.len()][below(3)];
            let from = below(kinds.len());
            let length = [below(4), below(40), below(300)][below(3)];
            let text: String =
                (0..length).map(|_| kinds[(from + below(few)) % kinds.len()]).collect();
            let dummies = [Dummy::Always, Dummy::First, Dummy::Given, Dummy::Start, Dummy::Never];
            let spaces = Metaspace {
                dummy: dummies[below(5)],
                only_missing: below(2) == 0,
                suffix: below(2) == 0,
                escape: below(4) > 0,
                mark: ['▁', '_', '🧩', 'é'][below(4)],
                ..Metaspace::DEFAULT
            };
            let mut expected = String::new();
            run(spaces, &text, Place::WHOLE, &mut expected);
            every_way(|way| {
                assert_eq!(written(spaces, &text, Place::WHOLE, &mut room), expected, "{way:?}");
            });
        }
    }

    #[test]
    fn spaces_alone_are_written_as_by_the_rules() {
        let mut random = SplitMix64::new(3);
        let (mut short, mut long) = (0, 0);
        for prefix in [None, Some("▁"), Some("_"), Some(""), Some("▁▁"), Some(" ")] {
            for (pattern, with) in
                [(" ", "▁"), (" ", "_"), (" ", "▁▁"), (" ", ""), ("a", "▁"), (" ", " ")]
            {
                let replace = |regex| Rule::Replace {
                    pattern: pattern.to_owned(),
                    with: with.to_owned(),
                    regex,
                };
                for regex in [false, true] {
                    let mut rules: Vec<Rule> =
                        prefix.map(|text| Rule::Prepend(text.to_owned())).into_iter().collect();
                    rules.push(replace(regex));
                    let Ok(normalizer) = Normalizer::new(&rules) else { panic!("{rules:?}") };
                    if normalizer.spaces.is_some() {
                        short += 1
                    } else {
                        long += 1
                    }
                    let mut buffers = Buffers::default();
                    for length in [0, 1, 2, 5, 70] {
                        let kinds = [" ", "a", "조", "▁"];
                        let text: String =
                            (0..length).map(|_| kinds[random.next() as usize % 4]).collect();
                        let Ok((expected, _)) = normalizer.aligned(&text, Place::WHOLE) else {
                            panic!("{rules:?}")
                        };
                        let found = normalizer.text(&text, Place::WHOLE, &mut buffers);
                        assert_eq!(found, Ok(&*expected), "{rules:?} {text:?}");
                    }
                }
            }
        }
        assert_eq!((short, long), (4, 68));
    }
}
