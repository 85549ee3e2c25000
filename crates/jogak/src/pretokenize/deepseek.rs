//! DeepSeek-V3's words, which are cut by three expressions, one behind the other:
//!
//! ```text
//! \p{N}{1,3}
//! [一-龥぀-ゟ゠-ヿ]+
//! [!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! Rule, in words. A text falls into regions: of numbers, of Chinese and Japanese characters, and of all others. Numbers come
//! in threes from the left. In any other region, looking at the first character of a word:
//! - ASCII's punctuation goes with the letters of ASCII behind it;
//! - letters and marks make a run, and one character that is neither letter, punctuation, symbol nor line end may stand before it;
//! - punctuation and symbols make a run, with a space before them if there is one, and with the line ends right behind them;
//! - white space ends behind its last line end; else, if the region goes on behind it, its last character is left to what follows,
//!   unless it is all there is;
//! - what is nothing of these makes a run, up to one that letters follow.

use super::blocks::{Block, is_eastern};
use super::borders::{Rule, Starts};
use super::carry::{Behind, Runs};
use super::cl100k::{Cut, Kinds};
use super::classes::{LETTER, LINE_END, MARK, NUMBER, PUNCTUATION, SPACE, SYMBOL, Set};
use super::classes::{ascii_letters, class_at, code_point_at, short_run};
use super::plain::mean_the_same;
use super::{Matches, Scheme};

const WORD: Set = LETTER.or(MARK);
const SIGN: Set = PUNCTUATION.or(SYMBOL);
/// What a match of the third expression begins with, whatever follows.
const BEGINS: Set = WORD.or(SIGN).or(SPACE);

/// The expressions, as files have them.
const PATTERNS: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
        r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
];

/// Whether these are the three.
pub(super) fn begins(schemes: &[Scheme]) -> bool {
    let is = |(scheme, expected): (&Scheme, &str)| {
        let Scheme::Regex { pattern, matches: Matches::Isolated, invert: false, literal: false } =
            scheme
        else {
            return false;
        };
        mean_the_same(pattern, expected)
    };
    schemes.len() >= PATTERNS.len() && schemes.iter().zip(PATTERNS).all(is)
}

/// How many schemes they are.
pub(super) const SCHEMES: usize = PATTERNS.len();

/// The rule by masks: as cl100k in the regions of all others, but
///
/// - white space leaves nothing to other regions;
/// - a single symbol that ASCII's letters are behind takes these, so that a word begins where their run ends, if it is other
///   letters that it ends at.
///
/// In regions of Chinese and Japanese characters, a word begins where a run of letters or one of signs does. Hard is what is
/// neither letter nor sign. With `LINES`, every line is a text.
#[derive(Default)]
pub(super) struct DeepSeek<const LINES: bool = false> {
    cut: Cut<3, LINES>,
    words: Behind,
    signs: Behind,
    /// Letters of ASCII behind a single symbol.
    taken: Runs,
}

impl<const LINES: bool> Rule for DeepSeek<LINES> {
    const PAD: u8 = b' ';
    const LINES: bool = LINES;
    const FINELY: bool = true;

    #[inline(always)]
    fn starts(&mut self, text: &[u8], at: usize, now: &Block, next: &Block) -> Starts {
        let eastern = now.eastern;
        let word = now.letter() | now.mark;
        let sign = !(word | now.number | now.blank | now.strange);
        let ascii = |block: &Block| (block.upper | block.lower) & block.ascii();
        let ends = |block: &Block| block.blank | block.number | block.eastern;
        let cut = self.cut.starts(
            text,
            at,
            now,
            Kinds {
                letter: word & !eastern,
                symbol: sign & !eastern,
                before_letter: now.before(ascii(now), ascii(next)) & now.ascii(),
                before_end: now.before(ends(now), ends(next)),
            },
        );
        let taken = self.taken.follow(ascii(now), cut.joined).ends;
        let words = word & eastern;
        let signs = sign & eastern;
        let theirs = words & !self.words.next(words) | signs & !self.signs.next(signs);
        Starts {
            bits: cut.bits | taken & word & !eastern | theirs,
            take_back: cut.doubts.take_back,
            hard: now.strange,
            open: cut.doubts.borders,
            was_open: cut.doubts.was_open,
        }
    }

    #[inline(always)]
    fn word_end(text: &[u8], at: usize) -> usize {
        word_end(text, at)
    }
}

/// The class of the character at `at`, if it belongs to the region, and where the next one starts.
#[inline(always)]
fn next_in(text: &[u8], at: usize, eastern: bool) -> Option<(u8, usize)> {
    let (class, next) = class_at(text, at)?;
    let is_ascii = next == at + 1;
    if is_ascii {
        return (!eastern && !NUMBER.has(class)).then_some((class, next));
    }
    let (code, _) = code_point_at(text, at)?;
    (!NUMBER.has(class) && is_eastern(code) == eastern).then_some((class, next))
}

/// Where the run of characters of `set` that starts at `at` ends, in the region.
#[inline(always)]
fn run_in(text: &[u8], mut at: usize, eastern: bool, set: Set) -> usize {
    while let Some((class, next)) = next_in(text, at, eastern)
        && set.has(class)
    {
        at = next;
    }
    at
}

/// The same of letters and marks.
#[inline(always)]
fn word_in(text: &[u8], at: usize, eastern: bool) -> usize {
    if eastern {
        return run_in(text, at, true, WORD);
    }
    let (end, ascii) = ascii_letters::<0x20>(text, at);
    if ascii { end } else { run_in(text, end, false, WORD) }
}

/// Where the word that starts at `at` ends.
#[inline]
fn word_end(text: &[u8], at: usize) -> usize {
    let Some((first, next)) = class_at(text, at) else { return at };
    if NUMBER.has(first) {
        return short_run(text, next, NUMBER, 2);
    }
    let eastern =
        next > at + 1 && code_point_at(text, at).is_some_and(|(code, _)| is_eastern(code));
    if WORD.has(first) {
        return word_in(text, next, eastern);
    }
    let second = next_in(text, next, eastern);
    if SIGN.has(first) {
        if next == at + 1 && text.get(next).is_some_and(u8::is_ascii_alphabetic) {
            let (end, ascii) = ascii_letters::<0x20>(text, next);
            let more = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_alphabetic());
            return if ascii { end } else { end + more(end).count() };
        }
        return signs_end(text, next, eastern);
    }
    match second {
        Some((class, end)) if WORD.has(class) && !LINE_END.has(first) => {
            return word_in(text, end, eastern);
        }
        Some((class, end)) if SIGN.has(class) && text[at] == b' ' => {
            return signs_end(text, end, eastern);
        }
        _ => {}
    }
    if SPACE.has(first) {
        return blank_end(text, at, eastern);
    }
    // Nothing matches here, up to where something does.
    let mut end = next;
    while let Some((class, behind)) = next_in(text, end, eastern) {
        let followed = next_in(text, behind, eastern).is_some_and(|(class, _)| WORD.has(class));
        if BEGINS.has(class) || followed {
            break;
        }
        end = behind;
    }
    end
}

/// `[\p{P}\p{S}]*[\r\n]*`: where the signs that go on at `at` end, with their line ends.
#[inline(always)]
fn signs_end(text: &[u8], at: usize, eastern: bool) -> usize {
    let end = run_in(text, at, eastern, SIGN);
    run_in(text, end, eastern, LINE_END)
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`: where the word of white space that starts at `at` ends.
fn blank_end(text: &[u8], at: usize, eastern: bool) -> usize {
    let (mut last, mut end, mut line_end) = (at, at, None);
    while let Some((class, next)) = next_in(text, end, eastern)
        && SPACE.has(class)
    {
        (last, end) = (end, next);
        if LINE_END.has(class) {
            line_end = Some(next);
        }
    }
    match line_end {
        Some(line_end) => line_end,
        None if last == at || next_in(text, end, eastern).is_none() => end,
        None => last,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::{Pretokenizer, Stage};
    use super::*;
    use crate::random::SplitMix64;

    fn regex(pattern: String) -> Scheme {
        Scheme::Regex { pattern, matches: Matches::Isolated, invert: false, literal: false }
    }

    fn words(cutter: &Pretokenizer, text: &str) -> Vec<(usize, usize)> {
        let mut words = Vec::new();
        cutter.for_each(text, |start, end| words.push((start, end))).unwrap();
        words
    }

    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "'s", "'S", "a", "b", "A", "xyz", "Word", "é", "É", "ß", "ʰ", "Ж", "ж", "ก", "가", "中", "文字", "龥", "龦", "あ", "ー", "・",
        "ア", "ｱ", "\u{3040}", "\u{3097}", "\u{3099}", "\u{309b}", "゠", "ヿ", "ㄅ", "\u{10400}", "\u{20000}", "क\u{94d}", "\u{300}",
        "\u{fe0f}", "0", "9", "12", "1234567", "\u{663}", "Ⅷ", "²", " ", "  ", "   ", "\t", "\n", "\r", "\r\n", "\n\n", " \n", "\n ",
        "\u{85}", "\u{a0}", "\u{3000}", "!", "?!", "/", "\n/", "$", "_", "...", "。", "😀", "|", "(", "\u{1}", "\u{200b}", "\u{e000}",
        "\u{378}", "\u{ad}", "\u{7f}", "\u{1}\u{2}",
    ];

    #[test]
    fn words_are_those_of_the_expressions() {
        let fast = Pretokenizer::new(&PATTERNS.map(|pattern| regex(pattern.to_owned()))).unwrap();
        assert!(matches!(fast.stages[..], [Stage::DeepSeek]) && fast.tiles);
        // As groups they are not known.
        let slow = PATTERNS.map(|pattern| regex(format!("(?:{pattern})")));
        let slow = Pretokenizer::new(&slow).unwrap();
        assert_eq!(slow.stages.len(), 3);
        let mut random = SplitMix64::new(29);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        for round in 0..20_000 {
            let kinds: Vec<&str> =
                (0..2 + below(10)).map(|_| PIECES[below(PIECES.len())]).collect();
            let len = if round % 40 == 0 { 400 } else { 30 };
            let text: String = (0..len).map(|_| kinds[below(kinds.len())]).collect();
            assert_eq!(words(&fast, &text), words(&slow, &text), "{text:?}");
        }
        let mut text = String::new();
        for (number, c) in ('\0'..=char::MAX).enumerate() {
            if c > '\u{3FFFF}' && number % 50 > 0 {
                continue;
            }
            for template in
                ["a{}1b ", " {}{}\n", "A{} 中{}", "!{}B", "・{}あ", "\u{1}{}\u{2}{}\u{2}a"]
            {
                text.push_str(&template.replace("{}", c.encode_utf8(&mut [0; 4])));
            }
            if number % 16 == 0 {
                assert_eq!(words(&fast, &text), words(&slow, &text), "{text:?}");
                text.clear();
            }
        }
    }

    #[test]
    fn other_sequences_are_none() {
        let schemes = PATTERNS.map(|pattern| regex(pattern.to_owned()));
        assert!(begins(&schemes) && !begins(&schemes[..2]));
        let mut others = schemes.clone();
        others.swap(0, 1);
        assert!(!begins(&others));
        // Spelled in another way, as what is translated from Oniguruma's syntax.
        let hex = PATTERNS[2].replace(r"\r\n", r"\x{D}\x{A}").replace("$%&", r"\x{24}%\x{26}");
        let written =
            |written: String| begins(&[schemes[0].clone(), schemes[1].clone(), regex(written)]);
        assert!(written(PATTERNS[2].replace(r"\r\n", "\r\n")));
        assert!(written(hex));
        assert!(!written(PATTERNS[2].replace(r"\p{S}]?", "]?")));
    }
}
