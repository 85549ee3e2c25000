//! When a part of a text may be cut without knowing what stands before it.
//!
//! A best path depends on the sum before it only by rounding. Let a part have `n` characters, and let
//! all sums in it stay below `2^k`. Adding a score then errs by at most half a unit in the last place,
//! `ulp(2^k) / 2`, and a sum of `n` additions by `n` times that. So where, along the best path, every
//! piece leads the second-best candidate by more than `n * ulp(2^k)`, no rounding can turn the choice.
//!
//! A [`Mark`](Marked) says for which sums this holds; it goes into the cache beside the ids. Where it
//! does not hold, the part is cut anew from the true sum, which the ids before it give back.

use std::hint::select_unpredictable;

use super::viterbi::LARGEST_SINGLE;
use super::{Precision, Unigram};
use crate::error::{Error, Result};

/// Sums of scores from the start of a word to some place, in both precisions; the model's is kept up.
#[derive(Debug, Default, Clone, Copy)]
pub struct Running {
    /// In 32 bits.
    pub single: f32,
    /// In 64 bits.
    pub double: f64,
}

/// What is known of a part of which the ids are known, in 32 bits.
///
/// ```text
/// bits  0..22   how far sums in the part are from the sum before it, in sixteenths, rounded up
/// bit      22   no piece is on any way whose score is not even, or above 0
/// bit      23   it has unknown characters
/// bits 24..32   the ids hold while sums stay below 2^(this - 128); 0 for never
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marked(pub u32);

const EXTENT_BITS: u32 = 22;
const LARGEST_EXTENT: u32 = (1 << EXTENT_BITS) - 1;
const IS_EVEN: u32 = 1 << EXTENT_BITS;
const HAS_UNKNOWN: u32 = 1 << 23;
const BIAS: i32 = 128;

/// So far and no farther, in units; one more, as sums err.
fn in_units(extent: f64) -> f64 {
    (extent / Marked::UNIT).ceil() + 1.0
}

/// For each byte of a part, units that are never too few for what is common. Rare characters may cost more, and are not rare in code.
const A_BYTE: u32 = 200;

/// What each byte is [reckoned with](Unigram::extent_of_known).
#[derive(Debug)]
pub(super) struct Extents {
    /// A character of ASCII may be a part, and goes as far as it goes.
    of_bytes: Box<[u32; 256]>,
    /// Of `▁` where a word begins.
    of_mark: u32,
}

impl Extents {
    /// `alone` tells how far a character takes a sum that is a part by itself.
    pub(super) fn new(alone: impl Fn(char) -> f64) -> Self {
        // One more, as the sums may be of 64 bits.
        let of = |character: char| A_BYTE.max(in_units(alone(character)) as u32).saturating_add(1);
        let mut of_bytes = Box::new([A_BYTE; 256]);
        for byte in 0..0x80 {
            of_bytes[usize::from(byte)] = of(char::from(byte));
        }
        let of_mark = of('▁');
        // It is three bytes elsewhere.
        let first = &mut of_bytes[0xE2];
        *first = of_mark.saturating_sub(2 * A_BYTE).max(*first);
        Self { of_bytes, of_mark }
    }
}

impl Marked {
    fn new(extent: f64, flags: u32, exponent: i32) -> Self {
        let extent = in_units(extent);
        if extent > f64::from(LARGEST_EXTENT) || exponent <= -BIAS {
            return Self(flags);
        }
        let exponent = (exponent.min(BIAS - 1) + BIAS) as u32;
        Self(exponent << 24 | flags | extent as u32)
    }

    /// What extents are told in.
    pub const UNIT: f64 = 1.0 / 16.0;

    /// Of no text at all, which holds anywhere.
    pub const NOTHING: Marked = Marked(0xFF << 24 | IS_EVEN);

    /// Of ids that hold nowhere.
    pub const NOWHERE: Marked = Marked(0);

    /// Of text with ids that hold wherever no sum starts over, and sums up to `extent` [units](Self::UNIT) from the one before.
    pub fn to_the_largest(extent: u64) -> Self {
        Self::new(extent as f64 * Self::UNIT, HAS_UNKNOWN, 17)
    }

    /// Of two stretches of text, one behind the other.
    pub fn then(self, next: Marked) -> Self {
        let exponent = (self.0 >> 24).min(next.0 >> 24);
        let extent = (self.0 & LARGEST_EXTENT) + (next.0 & LARGEST_EXTENT);
        let flags = (self.0 | next.0) & HAS_UNKNOWN | self.0 & next.0 & IS_EVEN;
        if extent > LARGEST_EXTENT {
            return Self(flags);
        }
        Self(exponent << 24 | flags | extent)
    }

    /// Of text with ids that hold where sums are not rounded, if these do; else nowhere.
    pub fn only_even(self) -> Self {
        Self(self.0 & (IS_EVEN | HAS_UNKNOWN))
    }

    /// Whether the ids hold wherever no sum of 32 bits, up to the end of the part, starts over.
    pub fn holds_to_the_largest(self) -> bool {
        const { assert!(LARGEST_SINGLE < (1 << 17) as f32) };
        self.0 >> 24 >= (BIAS + 17) as u32
    }

    /// Whether the ids hold for a word that is made of several parts, before which the sum is 0.
    pub fn holds_in_parts(self) -> bool {
        self.extent() < self.limit()
    }

    /// Sums must stay below this.
    #[inline]
    fn limit(self) -> f64 {
        // 2^(exponent - 128), by its bits.
        let exponent = self.0 >> 24;
        match exponent {
            0 => 0.0,
            _ => f64::from_bits(u64::from(exponent + 1023 - BIAS as u32) << 52),
        }
    }

    /// Whether the ids hold wherever sums are not rounded ([`Even`](super::Even)).
    #[inline]
    pub fn is_even(self) -> bool {
        self.0 & IS_EVEN != 0
    }

    /// Whether the part has unknown characters.
    #[inline]
    pub fn has_unknown(self) -> bool {
        self.0 & HAS_UNKNOWN != 0
    }

    /// How far sums in the part may be from the sum before it.
    #[inline]
    pub fn extent(self) -> f64 {
        f64::from(self.0 & LARGEST_EXTENT) * Self::UNIT
    }

    /// Whether the ids hold where the sum before the part is at most `bound` away from 0.
    #[inline]
    pub fn holds(self, bound: f64, precision: Precision) -> bool {
        let largest = match precision {
            // Summing from 0 is how the ids were found.
            Precision::Double if bound == 0.0 => return true,
            Precision::Double => f64::INFINITY,
            Precision::Single => f64::from(LARGEST_SINGLE),
        };
        bound + self.extent() < self.limit().min(largest)
    }
}

/// Finds best paths together with their lead.
#[derive(Debug, Default)]
pub struct NearTies {
    places: Vec<Place>,
    letters: Vec<Letter>,
}

/// A character of a part: its number in the tree of pieces, and where it starts.
#[derive(Debug, Clone, Copy)]
struct Letter {
    number: u32,
    start: u32,
}

/// A byte of a part: the sums of the two best ways to come there, and the last piece of the better one:
/// where it starts, and its id plus one, or 0 for unknown characters.
#[derive(Debug, Clone, Copy)]
struct Place {
    best: f64,
    second: f64,
    back: u64,
}

const NOWHERE: Place = Place { best: f64::NEG_INFINITY, second: f64::NEG_INFINITY, back: 0 };

impl Place {
    /// A way to come here. Which one is better cannot be foreseen: no branch.
    #[inline(always)]
    fn offer(&mut self, sum: f64, back: u64) {
        let Self { best, second, back: last } = *self;
        let better = sum > best;
        let lesser = if sum > second { sum } else { second };
        // By their bits: machines choose between numbers of 64 bits, and not all of them between fractions.
        let choose = |yes: f64, no: f64| {
            f64::from_bits(select_unpredictable(better, yes.to_bits(), no.to_bits()))
        };
        *self = Self {
            best: choose(sum, best),
            second: choose(best, lesser),
            back: select_unpredictable(better, back, last),
        };
    }
}

impl NearTies {
    /// Appends the ids of a part to `out`, unknown characters one by one, and tells for which sums
    /// before it they hold.
    ///
    /// # Errors
    /// [`Error::NotCovered`] for an unknown character that nothing stands for.
    pub fn part(&mut self, model: &Unigram, part: &str, out: &mut Vec<u32>) -> Result<Marked> {
        match model.precision {
            Precision::Single => {
                let unknown = f64::from(model.unknown_single);
                self.cut(model, part, out, unknown, |value| f64::from(model.offered[value]))
            }
            Precision::Double => self.cut(model, part, out, model.unknown_score, |value| {
                value.checked_sub(1).map_or(f64::NEG_INFINITY, |id| model.scores[id])
            }),
        }
    }

    /// The same; `score` tells that of an id plus one, and nothing can be had for 0.
    #[inline(always)]
    fn cut(
        &mut self,
        model: &Unigram,
        part: &str,
        out: &mut Vec<u32>,
        unknown: f64,
        score: impl Fn(usize) -> f64,
    ) -> Result<Marked> {
        let Self { places, letters } = self;
        letters.clear();
        letters.extend(part.char_indices().map(|(start, letter)| Letter {
            number: model.tree.number(letter),
            start: start as u32,
        }));
        let count = letters.len();
        if places.len() <= count {
            places.resize(count + 1, NOWHERE);
        }
        let places = &mut places[..=count];
        places.fill(NOWHERE);
        places[0].best = 0.0;
        let odd = model.even.as_ref().filter(|even| even.has_others());
        let mut is_even = model.even.is_some();
        let mut extent = 0.0_f64;
        let mut start = 0;
        while start < count {
            let here = places[start].best;
            extent = extent.max(here.abs());
            let from = (start as u64) << 32;
            if letters[start].number == 0 {
                // No piece has those of a run: there is one way, and none past it.
                let mut best = here;
                while letters.get(start).is_some_and(|letter| letter.number == 0) {
                    best += unknown;
                    start += 1;
                }
                places[start] = Place { best, back: from, ..NOWHERE };
                continue;
            }
            let mut node = model.tree.root();
            let mut covered = false;
            let ahead = letters[start..].iter().zip(&mut places[start + 1..]);
            for (length, (letter, place)) in ahead.enumerate() {
                let Some(child) = model.tree.child(node, letter.number) else { break };
                node = child;
                let value = node.value();
                covered |= (length == 0) & (value != 0);
                if let Some(even) = odd {
                    is_even &= value == 0 || !even.is_other(value - 1);
                }
                place.offer(here + score(value as usize), from | u64::from(value));
            }
            start += 1;
            if !covered {
                places[start].offer(here + unknown, from);
            }
        }
        extent = extent.max(places[count].best.abs());
        let (mut lead, mut has_unknown) = (f64::INFINITY, false);
        let from = out.len();
        let mut end = count;
        while end > 0 {
            let Place { best, second, back } = places[end];
            lead = lead.min(best - second);
            let (start, behind, value) = ((back >> 32) as usize, end, back as u32);
            end = start;
            if value != 0 {
                out.push(value - 1);
                continue;
            }
            has_unknown = true;
            if let (None, Some(id)) = (&model.byte_fallback, model.unknown) {
                out.extend(std::iter::repeat_n(id, behind - start));
            } else {
                let to = letters.get(behind).map_or(part.len(), |letter| letter.start as usize);
                let characters = &part[letters[start].start as usize..to];
                let known = model.stands_for(characters, |id| out.push(id));
                let last = || characters.chars().next_back().map_or_else(String::new, String::from);
                known.ok_or_else(|| Error::NotCovered { text: last() })?;
                // An id a byte.
                let first = out.len() - characters.len();
                out[first..].reverse();
            }
        }
        out[from..].reverse();
        let characters = count as u32;
        let exponent = exponent(lead, characters, model.precision);
        let flag = |is: bool, flag| if is { flag } else { 0 };
        let flags = flag(has_unknown, HAS_UNKNOWN) | flag(is_even, IS_EVEN);
        Ok(Marked::new(extent, flags, exponent))
    }
}

/// The largest k for which a lead is safe while sums stay below 2^k.
fn exponent(lead: f64, characters: u32, precision: Precision) -> i32 {
    // Sums here are of 64 bits, which err as well: nothing beside 32 bits, as much beside 64. The
    // factor covers both and the rounding of this very line.
    let (bits, factor) = match precision {
        Precision::Single => (24, 1.001),
        Precision::Double => (53, 2.002),
    };
    let ratio = lead / (f64::from(characters) * factor);
    if ratio <= f64::MIN_POSITIVE {
        return -BIAS;
    }
    if ratio == f64::INFINITY {
        return BIAS;
    }
    // ulp of numbers in [2^(k-1), 2^k) is 2^(k - bits).
    (ratio.to_bits() >> 52) as i32 - 1023 + bits
}

impl Unigram {
    /// Hands out the ids that stand for one unknown character; None if there are none.
    pub fn stands_for(&self, character: &str, mut each: impl FnMut(u32)) -> Option<()> {
        match &self.byte_fallback {
            Some(ids) => character.bytes().for_each(|byte| each(ids[usize::from(byte)])),
            None => each(self.unknown?),
        }
        Some(())
    }

    /// Adds the scores of ids to a sum, in the model's precision and one by one, as finding them did.
    /// The ids must be those of whole parts of which every [`Marked`] held.
    pub fn advance(&self, running: &mut Running, ids: &[u32]) {
        match self.precision {
            Precision::Single => {
                for &id in ids {
                    running.single += self.single[id as usize];
                }
            }
            Precision::Double => {
                for &id in ids {
                    running.double += self.scores[id as usize];
                }
            }
        }
    }

    /// How far sums in a part of these bytes may be from the one before it if it is to be remembered, in [units](Marked::UNIT)
    /// of a [mark](Marked): so much less than in a word that the parts of one fit. Of a text it is no less than that of its parts
    /// together, whichever they are.
    #[inline]
    pub fn extent_of_known(&self, bytes: &[u8]) -> u64 {
        // Words begin with a mark, which costs little.
        let (mark, bytes) = match bytes {
            [0xE2, 0x96, 0x81, rest @ ..] => (self.extents.of_mark, rest),
            _ => (0, bytes),
        };
        let of_bytes: u64 =
            bytes.iter().map(|&byte| u64::from(self.extents.of_bytes[usize::from(byte)])).sum();
        u64::from(mark) + of_bytes
    }

    /// How far a sum is from 0.
    pub fn magnitude(&self, running: Running) -> f64 {
        match self.precision {
            Precision::Single => f64::from(running.single.abs()),
            Precision::Double => running.double.abs(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::*;
    use crate::model::unigram::{UnigramParts, Viterbi};
    use crate::observe::Silent;
    use crate::random::SplitMix64;
    use crate::vocab::Vocab;

    const PIECES: [&str; 6] = ["▁", "a", "ab", "가나", "나", "?"];

    /// With an id for each byte, or one for all that is unknown, or none.
    fn model(bytes: bool, unknown: bool, precision: Precision) -> Unigram {
        let of_bytes: Vec<String> = (0..=255).map(|byte| format!("<0x{byte:02X}>")).collect();
        let pieces = PIECES.into_iter().chain(of_bytes.iter().map(String::as_str));
        let scores = [-2.5, -3.0, -4.25, -9.5, -7.0, -0.125].into_iter().chain([-6.0; 256]);
        let first = PIECES.len() as u32;
        let parts = UnigramParts {
            byte_fallback: bytes.then(|| Box::new(std::array::from_fn(|byte| first + byte as u32))),
            unknown: unknown.then_some(first - 1),
            ..UnigramParts::new(Vocab::new(pieces), scores.collect(), precision)
        };
        Unigram::new(parts).unwrap()
    }

    /// However a word falls into parts, they are not reckoned with more than it; and a character by itself with no less than
    /// it costs.
    #[test]
    fn what_parts_cost_is_what_their_word_may_cost() {
        let mut random = SplitMix64::new(5);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let letters = ['▁', 'a', 'b', '?', '`', 'é', '가', '─', '🐑'];
        let (mut near, mut dear) = (NearTies::default(), 0);
        for round in 0..3000 {
            let precision = [Precision::Single, Precision::Double][round % 2];
            let cost = |piece: &str| match piece {
                "▁" => [-2.0, -90.3, -1e9][round % 3],
                _ => -10.0 * (1 + below(4)) as f64 / 3.0,
            };
            let pieces = ["▁", "a", "b", "?", "<unk>"];
            let (vocab, scores) = (Vocab::new(pieces), pieces.map(cost).to_vec());
            let parts =
                UnigramParts { unknown: Some(4), ..UnigramParts::new(vocab, scores, precision) };
            let model = Unigram::new(parts).unwrap();
            let word: String = (0..1 + below(12)).map(|_| letters[below(letters.len())]).collect();
            let (mut sum, mut from) = (0, 0);
            for (at, _) in word.char_indices().skip(1).chain([(word.len(), ' ')]) {
                if at == word.len() || below(3) == 0 {
                    sum += model.extent_of_known(&word.as_bytes()[from..at]);
                    from = at;
                }
            }
            assert!(sum <= model.extent_of_known(word.as_bytes()), "{word}");
            for character in letters.into_iter().filter(|c| c.is_ascii() || *c == '▁') {
                let part = String::from(character);
                let mark = near.part(&model, &part, &mut Vec::new()).unwrap();
                let most = model.extent_of_known(part.as_bytes()) as f64 * Marked::UNIT;
                assert!(mark.extent() <= most, "{part}: {} of {most}", mark.extent());
                dear += usize::from(mark.extent() > 30.0);
            }
        }
        assert!(dear > 1000, "{dear}");
    }

    /// Letters of no piece come side by side, as do those of pieces that are none by themselves.
    #[test]
    fn parts_with_unknown_characters_are_words() {
        let letters = ["▁", "a", "b", "ab", "가", "나", "가나", "각", "中", "é", "🐑", "\0"];
        let mut random = SplitMix64::new(3);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        let (mut near, mut viterbi) = (NearTies::default(), Viterbi::default());
        let (mut covered, mut not) = (0, 0);
        for round in 0..4000 {
            let precision = [Precision::Single, Precision::Double][round % 2];
            let model = model(round % 3 == 0, round % 3 == 1 || round % 6 == 0, precision);
            let few = 1 + below(letters.len());
            let from = below(letters.len());
            let letter = |_| letters[(from + below(few)) % letters.len()];
            let word: String = (0..1 + round % 12).map(letter).collect();
            let (mut ids, mut expected) = (vec![7], vec![7]);
            let silent = &mut Silent;
            if model.word(&word, false, &mut viterbi, &mut expected, silent).is_err() {
                assert!(near.part(&model, &word, &mut ids).is_err(), "{word}");
                not += 1;
                continue;
            }
            let mark = near.part(&model, &word, &mut ids).unwrap();
            if !mark.holds(0.0, precision) {
                continue;
            }
            covered += 1;
            assert_eq!(ids, expected, "{word}");
            let mut running = Running::default();
            model.advance(&mut running, &ids[1..]);
            let far = mark.extent() == 0.0 || mark.extent() >= model.magnitude(running);
            assert!(far, "{word}: {} {running:?}", mark.extent());
        }
        assert!(covered > 2500 && not > 500, "{covered} {not}");
    }
}
