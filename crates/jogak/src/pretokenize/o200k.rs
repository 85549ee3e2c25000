//! o200k_base of tiktoken. With `A` for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, `a` for
//! `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`, `?` before a word for `[^\r\n\p{L}\p{N}]?` and `'` for the optional
//! contraction `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`:
//!
//! ```text
//! ? A* a+ ' | ? A+ a* ' | \p{N}{1,3} |  ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```
//!
//! Rule, in words. Three kinds of characters make a word: upper (`Lu Lt`), lower (`Ll`) and
//! caseless ones, which go with both. Looking at the first character of a word:
//! - one character that is neither letter, number nor line end may stand before a word;
//! - a word is a run of upper and caseless characters, then a run of lower and caseless ones. If
//!   the second run would be empty, the engine gives back until a caseless character can be it:
//!   `ABあCD,` is `ABあ` and `CD`. With no caseless one, the first run alone is the word;
//! - a mark is both a caseless character and one that may stand before a word. It is tried as the
//!   latter first, and stands alone if that leads to nothing but upper ones: `Ḿ`, not `́M`;
//! - a contraction right after a word belongs to it;
//! - numbers come in threes from the left;
//! - other characters make a run, with a space before them if there is one, and with the line ends
//!   and slashes right after them;
//! - white space ends after its last line end; else its last character is left to what follows,
//!   unless it is all there is or the text ends with it.

use super::blocks::Block;
use super::borders::{Rule, Starts};
use super::carry::{Behind, Doubtful, Runs};
use super::cl100k::{Cut, Kinds, contraction};
use super::classes::{CASELESS, LETTER, LINE_END, LOWER, MARK, NUMBER, OTHER, SPACE, UPPER};
use super::classes::{blanks, class_at, run, short_run, small_letters};

const LINE_ENDS_AND_SLASHES: [u8; 3] = *b"\r\n/";

/// The rule by masks: as cl100k, and then
///
/// - a capital behind a small letter begins a word;
/// - a capital behind a caseless letter begins one if a small letter stands before the run of those,
///   or if its run of capitals ends with neither a small nor a caseless letter (this may be seen
///   late);
/// - a contraction right behind a letter begins none, but what follows it does.
///
/// Hard are marks; slashes behind line ends that belong to symbols; and contractions with other than
/// ASCII in them or behind them. With `LINES`, every line is a text.
#[derive(Default)]
pub(super) struct Masks<const DIGITS: usize, const CONTRACTIONS: bool, const LINES: bool> {
    cut: Cut<DIGITS, LINES>,
    lower: Behind,
    caseless: Behind,
    letters: Behind,
    swallowed: Behind,
    /// Caseless letters behind small ones.
    lowered: Runs,
    /// Capitals behind caseless letters.
    capitals: Doubtful,
    /// What contractions change in the next block: borders, and bytes that are none.
    behind_contraction: u64,
    in_contraction: u64,
}

/// o200k_base.
pub(super) type O200k<const LINES: bool = false> = Masks<3, true, LINES>;
/// Tekken: no contractions, `\p{N}` for `\p{N}{1,3}`.
pub(super) type Tekken<const LINES: bool = false> = Masks<1, false, LINES>;

impl<const DIGITS: usize, const CONTRACTIONS: bool, const LINES: bool> Rule
    for Masks<DIGITS, CONTRACTIONS, LINES>
{
    const PAD: u8 = b' ';
    const LINES: bool = LINES;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], at: usize, now: &Block, next: &Block) -> Starts {
        let cut = self.cut.starts(text, at, now, Kinds::of(now, next));
        let (upper, lower, caseless) = (now.upper, now.lower, now.caseless);
        let behind_lower = self.lower.next(lower);
        let behind_caseless = self.caseless.next(caseless);
        let lowered = self.lowered.follow(caseless, caseless & behind_lower).ends;
        let late = upper & behind_caseless & !lowered;
        let capitals = self.capitals.judge(upper, late, lower | caseless);
        let mut bits = cut.bits | upper & (behind_lower | lowered) | capitals.borders;
        let slashes = now.slash & self.swallowed.next(cut.swallowed & !cut.newlines);
        let mut hard = now.mark | slashes;
        if CONTRACTIONS {
            bits &= !std::mem::take(&mut self.in_contraction);
            let mut end = std::mem::take(&mut self.behind_contraction);
            bits |= end;
            let mut apostrophes = now.apostrophe & self.letters.next(now.letter());
            while apostrophes != 0 {
                let place = apostrophes & apostrophes.wrapping_neg();
                apostrophes ^= place;
                // One that ends a contraction begins the next word.
                if place & end == 0 {
                    let start = at + place.trailing_zeros() as usize;
                    let Some(to) = contraction(text, start) else { continue };
                    if !text[start..text.len().min(to + 1)].is_ascii() {
                        hard |= place;
                        break;
                    }
                    let (within, behind) = (to - start, u128::from(place) << (to - start));
                    let letters = ((1u128 << within) - 1) << place.trailing_zeros();
                    bits = bits & !(letters as u64) | behind as u64;
                    self.in_contraction = (letters >> 64) as u64;
                    self.behind_contraction = (behind >> 64) as u64;
                    end = behind as u64;
                }
            }
        }
        Starts {
            bits,
            take_back: cut.doubts.take_back || capitals.take_back,
            hard,
            open: cut.doubts.borders | capitals.borders,
            was_open: cut.doubts.was_open || capitals.was_open,
        }
    }

    #[inline(always)]
    fn word_end(text: &[u8], at: usize) -> usize {
        if CONTRACTIONS {
            end::<DIGITS>(text, at, with_contraction)
        } else {
            end::<DIGITS>(text, at, |_, end| end)
        }
    }
}

#[inline(always)]
fn end<const DIGITS: usize>(
    text: &[u8],
    at: usize,
    with_contraction: impl Fn(&[u8], usize) -> usize,
) -> usize {
    let Some((first, next)) = class_at(text, at) else { return at };
    if LETTER.has(first) {
        return match body(text, at) {
            Body::Cased(end) | Body::Upper(end) => with_contraction(text, end),
            Body::Empty => next,
        };
    }
    if NUMBER.has(first) {
        return short_run(text, next, NUMBER, DIGITS - 1);
    }
    if !LINE_END.has(first) {
        match body(text, next) {
            Body::Cased(end) => return with_contraction(text, end),
            _ if MARK.has(first) => return with_contraction(text, next),
            Body::Upper(end) => return with_contraction(text, end),
            Body::Empty => {}
        }
    }
    match class_at(text, next) {
        Some((class, end)) if text[at] == b' ' && OTHER.has(class) => symbol_end(text, end),
        _ if SPACE.has(first) => blank_end(text, at),
        _ => symbol_end(text, next),
    }
}

/// What `A*a+` or else `A+a*` matches at some place.
enum Body {
    /// Nothing.
    Empty,
    /// Upper characters alone, up to here.
    Upper(usize),
    /// Upper and caseless ones, then at least one lower or caseless one, up to here.
    Cased(usize),
}

/// The letters and marks of the word whose first such character stands at `at`.
#[inline(always)]
fn body(text: &[u8], at: usize) -> Body {
    let mut end = at;
    let mut caseless_end = None;
    while let Some((class, next)) = class_at(text, end) {
        if LOWER.has(class) {
            return Body::Cased(small_letters(text, next));
        } else if CASELESS.has(class) {
            caseless_end = Some(next);
        } else if !UPPER.has(class) {
            break;
        }
        end = next;
    }
    match caseless_end {
        Some(end) => Body::Cased(end),
        None if end == at => Body::Empty,
        None => Body::Upper(end),
    }
}

/// The end of a word that ends at `end`, or of the contraction that follows it.
#[inline(always)]
fn with_contraction(text: &[u8], end: usize) -> usize {
    if text.get(end) == Some(&b'\'') { contraction(text, end).unwrap_or(end) } else { end }
}

/// `[^\s\p{L}\p{N}]*[\r\n/]*`: where the symbols that go on at `at` end, with what they take.
#[inline(always)]
fn symbol_end(text: &[u8], at: usize) -> usize {
    let mut end = run(text, at, OTHER);
    while text.get(end).is_some_and(|byte| LINE_ENDS_AND_SLASHES.contains(byte)) {
        end += 1;
    }
    end
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`: where the word of white space that starts at `at` ends.
pub(super) fn blank_end(text: &[u8], at: usize) -> usize {
    let blanks = blanks(text, at);
    match blanks.line_end {
        Some(line_end) => line_end,
        None if blanks.end == text.len() || blanks.last == at => blanks.end,
        None => blanks.last,
    }
}
