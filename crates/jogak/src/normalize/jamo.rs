//! Hangul syllables as their letters (jamo), with an exact way back.
//!
//! A syllable is 2 or 3 letters: an initial, a vowel and perhaps a final. Two alphabets can write them:
//! the conjoining jamo (U+1100 and on: initials and finals are different characters), and the
//! compatibility jamo (U+3131 and on: what a keyboard types; `ㄱ` is initial and final).
//!
//! Rule: [`compose`] of what [`decompose`] wrote is the text again, also where the text has letters of
//! its own (`ㅋㅋㅋ`, `하ㅋ`, old texts). A letter of the text's own that would be taken for part of a
//! syllable gets [`ESCAPE`] before it, and so does that character itself. Others stay as they are: in
//! `ㅋㅋㅋ` and `ㅠㅠ` there is nothing to mark, in `하ㅋㅋ` only the first `ㅋ`.
//!
//! ```text
//! reading back, from the left:
//!     ESCAPE x             x, if x is a letter or ESCAPE
//!     initial vowel        a syllable; with a final, if one follows
//!                          (but an initial that a vowel follows begins the next syllable)
//!     x                    x
//! so a letter of the text's own is escaped
//!     a vowel              behind a plain initial
//!     a possible final     behind a syllable that has none
//! ```

use super::align::Sink;
use super::set::{CharSet, Rewrite};

/// U+0010 DATA LINK ESCAPE: the letter behind it is not part of a syllable.
pub const ESCAPE: char = '\u{10}';

/// Which characters the letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jamo {
    /// U+1100..=U+1112, U+1161..=U+1175, U+11A8..=U+11C2.
    Conjoining,
    /// U+3131..=U+3163.
    Compatibility,
}

const FIRST: u32 = 0xAC00;
const LAST: u32 = 0xD7A3;
const VOWELS: u32 = 21;
/// With the first, which is "no final".
const FINALS: u32 = 28;

const INITIAL_LETTERS: [char; 19] = [
    'ㄱ', 'ㄲ', 'ㄴ', 'ㄷ', 'ㄸ', 'ㄹ', 'ㅁ', 'ㅂ', 'ㅃ', 'ㅅ', 'ㅆ', 'ㅇ', 'ㅈ', 'ㅉ', 'ㅊ', 'ㅋ',
    'ㅌ', 'ㅍ', 'ㅎ',
];
const FINAL_LETTERS: [char; 27] = [
    'ㄱ', 'ㄲ', 'ㄳ', 'ㄴ', 'ㄵ', 'ㄶ', 'ㄷ', 'ㄹ', 'ㄺ', 'ㄻ', 'ㄼ', 'ㄽ', 'ㄾ', 'ㄿ', 'ㅀ', 'ㅁ',
    'ㅂ', 'ㅄ', 'ㅅ', 'ㅆ', 'ㅇ', 'ㅈ', 'ㅊ', 'ㅋ', 'ㅌ', 'ㅍ', 'ㅎ',
];

/// The number of `c` among the `count` characters from `first` on.
fn among(c: char, first: u32, count: u32) -> Option<u32> {
    (c as u32).checked_sub(first).filter(|&number| number < count)
}

fn character(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

impl Jamo {
    fn initial(self, c: char) -> Option<u32> {
        match self {
            Jamo::Conjoining => among(c, 0x1100, 19),
            Jamo::Compatibility => {
                INITIAL_LETTERS.binary_search(&c).ok().map(|number| number as u32)
            }
        }
    }

    fn vowel(self, c: char) -> Option<u32> {
        match self {
            Jamo::Conjoining => among(c, 0x1161, VOWELS),
            Jamo::Compatibility => among(c, 0x314F, VOWELS),
        }
    }

    /// From 1 on.
    fn last(self, c: char) -> Option<u32> {
        match self {
            Jamo::Conjoining => among(c, 0x11A8, FINALS - 1).map(|number| number + 1),
            Jamo::Compatibility => {
                FINAL_LETTERS.binary_search(&c).ok().map(|number| number as u32 + 1)
            }
        }
    }

    fn is_letter(self, c: char) -> bool {
        self.initial(c).is_some() || self.vowel(c).is_some() || self.last(c).is_some()
    }

    /// Initial, vowel and final (None if there is none) of a syllable.
    fn letters(self, syllable: char) -> Option<(char, char, Option<char>)> {
        let number = among(syllable, FIRST, LAST - FIRST + 1)?;
        let (initial, vowel, last) =
            (number / FINALS / VOWELS, number / FINALS % VOWELS, number % FINALS);
        Some(match self {
            Jamo::Conjoining => (
                character(0x1100 + initial),
                character(0x1161 + vowel),
                (last > 0).then(|| character(0x11A7 + last)),
            ),
            Jamo::Compatibility => (
                INITIAL_LETTERS[initial as usize],
                character(0x314F + vowel),
                (last > 0).then(|| FINAL_LETTERS[last as usize - 1]),
            ),
        })
    }

    /// The characters that [`decompose`] may change: syllables, letters, the escape.
    pub(super) fn touches(self) -> impl Iterator<Item = char> {
        (FIRST..=LAST)
            .chain(0x1100..=0x11FF)
            .chain(0x3131..=0x3163)
            .filter_map(char::from_u32)
            .filter(move |&c| among(c, FIRST, LAST - FIRST + 1).is_some() || self.is_letter(c))
            .chain([ESCAPE])
    }
}

/// What was written last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A plain letter that begins a syllable if a vowel follows.
    Initial,
    /// A syllable without a final.
    Open,
    Other,
}

/// Writes `text` with letters for syllables. `touched` are the characters of [`Jamo::touches`].
pub(super) fn decompose(form: Jamo, text: &str, touched: &CharSet, out: &mut impl Sink) {
    let mut before = Before::Other;
    let mut last = 0; // where the last touched character ended
    touched.rewrite(text, out, |c, start, end, out| {
        if last < start {
            before = Before::Other;
        }
        last = end;
        if let Some((initial, vowel, final_)) = form.letters(c) {
            out.write_char(initial, start, end);
            out.write_char(vowel, start, end);
            if let Some(letter) = final_ {
                out.write_char(letter, start, end);
            }
            before = match final_ {
                None => Before::Open,
                Some(letter) if form.initial(letter).is_some() => Before::Initial,
                Some(_) => Before::Other,
            };
            return;
        }
        let escaped = c == ESCAPE
            || (before == Before::Initial && form.vowel(c).is_some())
            || (before == Before::Open && form.last(c).is_some());
        if escaped {
            out.write_char(ESCAPE, start, start);
        }
        out.keep(text, start, end);
        before = match form.initial(c) {
            Some(_) if !escaped => Before::Initial,
            _ => Before::Other,
        };
    });
}

/// The way back from `decompose`; letters from elsewhere become the syllables that they spell.
///
/// ```
/// use jogak::normalize::{Jamo, compose};
///
/// assert_eq!(compose(Jamo::Compatibility, "ㅎㅏㄴㄱㅡㄹㅋㅋ"), "한글ㅋㅋ");
/// assert_eq!(compose(Jamo::Compatibility, "ㅎㅏ\u{10}ㅋ"), "하ㅋ");
/// ```
pub fn compose(form: Jamo, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    let peek = |rest: &std::str::Chars<'_>, ahead: usize| rest.clone().nth(ahead);
    while let Some(c) = rest.next() {
        let next = peek(&rest, 0);
        if c == ESCAPE && next.is_some_and(|next| next == ESCAPE || form.is_letter(next)) {
            out.extend(rest.next());
            continue;
        }
        let (Some(initial), Some(vowel)) = (form.initial(c), next.and_then(|c| form.vowel(c)))
        else {
            out.push(c);
            continue;
        };
        rest.next();
        let last = peek(&rest, 0).and_then(|c| {
            let begins = form.initial(c).is_some()
                && peek(&rest, 1).is_some_and(|next| form.vowel(next).is_some());
            form.last(c).filter(|_| !begins)
        });
        if last.is_some() {
            rest.next();
        }
        out.push(character(FIRST + (initial * VOWELS + vowel) * FINALS + last.unwrap_or(0)));
    }
    out
}

/// The bytes of a text, whole characters or not, before which nothing depends on what comes behind:
/// [`compose`] of both parts is that of the whole. The text may go on.
pub(super) fn settled(form: Jamo, text: &[u8]) -> usize {
    let continues = |&at: &usize| text[at] & 0xC0 == 0x80;
    if text.len() >= 4 && (text.len() - 4..text.len()).all(|at| continues(&at)) {
        return text.len(); // behind bytes that are no character
    }
    let mut starts = (0..text.len()).rev().filter(|at| !continues(at));
    let Some(mut at) = starts.next() else { return 0 };
    let mut end = text.len();
    for before in starts {
        let left = std::str::from_utf8(&text[before..at]).ok();
        let right = text[at..end].utf8_chunks().next();
        let right = right.and_then(|chunk| chunk.valid().chars().next());
        let joined = match (left.and_then(|left| left.chars().next()), right) {
            (Some(left), Some(right)) => {
                left == ESCAPE
                    || (form.initial(left).is_some() && form.vowel(right).is_some())
                    || (form.vowel(left).is_some() && form.last(right).is_some())
            }
            // Bytes that are no character separate; the last ones may yet become one.
            (Some(_), None) => end == text.len(),
            (None, _) => false,
        };
        if !joined {
            return at;
        }
        (at, end) = (before, at);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::super::{Normalizer, Place, Rule};
    use super::*;

    #[test]
    fn the_way_back_is_exact() -> crate::Result<()> {
        let pools = [
            (Jamo::Compatibility, ['가', '각', '값', 'ㄱ', 'ㄸ', 'ㄳ', 'ㅏ', ESCAPE, 'x']),
            (Jamo::Conjoining, ['가', '각', '값', 'ᄀ', 'ᆨ', 'ᅡ', '\u{1113}', ESCAPE, 'x']),
        ];
        for (form, pool) in pools {
            let normalizer = Normalizer::new(&[Rule::Jamo(form)])?;
            for mut number in 0..9_usize.pow(6) {
                let mut text = String::new();
                while number > 0 {
                    text.push(pool[number % 9]);
                    number /= 9;
                }
                let mut buffers = super::super::Buffers::default();
                let letters = normalizer.text(&text, Place::WHOLE, &mut buffers)?;
                assert_eq!(compose(form, letters), text, "{letters:?}");
            }
        }
        Ok(())
    }
}
