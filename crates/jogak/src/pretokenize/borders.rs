//! Words by masks: where the words of a text begin, 64 bytes at a time.
//!
//! In words: a [`Rule`] says of every byte of a block whether a word begins there, as arithmetic on what
//! the characters are. What it needs of the bytes before, it keeps; of those behind, it sees the next
//! block. The set bits become a list of places, and words lie between neighbours.
//!
//! * A rule may take back the last word border that it gave, and no other: a line end that follows a
//!   long run of blanks, for instance, makes one word of it. So the last two borders of the list are
//!   not handed out before more is known.
//! * What a rule cannot say by masks it calls hard. There the scanner takes over that goes character
//!   by character, from the last certain border up to a blank behind other than blanks: there every rule
//!   begins a word, whatever was before.

use super::blocks::{Block, Manner, Rest};
use super::classes::{LINE_END, SPACE, class_at};
use crate::scan::{BLOCK, Look, Task, fastest};

/// Where words begin, for one scheme. It starts at the beginning of a text or at a blank behind other than
/// blanks.
pub(super) trait Rule: Default {
    /// What stands behind the end of a text, as far as the rule is concerned.
    const PAD: u8;
    /// Every line is a text.
    const LINES: bool;
    /// All masks of a block are looked at.
    const FINELY: bool = false;

    /// Where words begin in `now`, which starts at byte `at` of the text; `next` is what follows.
    fn starts(&mut self, text: &[u8], at: usize, now: &Block, next: &Block) -> Starts;

    /// Where the word ends that starts at `at`: the same rule, character by character. With `LINES`, the text ends
    /// where the line does.
    fn word_end(text: &[u8], at: usize) -> usize;
}

/// Where words begin in a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Starts {
    /// Bit i: at byte i.
    pub(super) bits: u64,
    /// None begins where the last one did that was given for the blocks before.
    pub(super) take_back: bool,
    /// From its lowest bit on `bits` mean nothing.
    pub(super) hard: u64,
    /// Those of `bits` that are not certain where something hard is what follows.
    pub(super) open: u64,
    /// So is the last one that was given for the blocks before, if none of `bits` is before that.
    pub(super) was_open: bool,
}

/// The end of the line that `at` is in.
fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1)
}

/// Borders to a list.
const LIST: usize = 320;
/// So many of them are left free for a block.
const ROOM: usize = BLOCK;
/// Bytes that the scanner goes on for, at least.
const PATIENCE: usize = BLOCK;

/// Calls `words` with lists of borders: words lie between each two neighbours, and the next list begins with the
/// border that the last one ended with. The text has less than 4 GiB.
#[inline(always)]
pub(super) fn for_each_list<R: Rule>(text: &[u8], mut words: impl FnMut(&[u32])) {
    let mut scan = Scan::<R>::new(text);
    while scan.at <= text.len() {
        fastest(&mut scan);
        scan.hand_out(&mut words);
    }
}

struct Scan<'a, R> {
    text: &'a [u8],
    /// Where the next block starts; past the end when all is done. (A text that fills its blocks has one more,
    /// in which its last border may be taken back.)
    at: usize,
    /// The rule, that block, and what hangs over from it.
    state: Option<(R, Block, Rest)>,
    /// The scanner has to go on from the last border of the list.
    scanned: bool,
    /// How long.
    patience: usize,
    /// The end of the line that the scanner was in last, or of the text. Looked for once a line: lines may be long.
    line_end: usize,
    list: [u32; LIST],
    len: usize,
}

impl<R: Rule> Task for &mut Scan<'_, R> {
    /// Fills the list.
    #[inline(always)]
    fn run<L: Look>(self) {
        while self.at <= self.text.len() && self.len + ROOM <= LIST {
            if self.scanned { self.scan() } else { self.blocks::<L>() }
        }
    }
}

impl<'a, R: Rule> Scan<'a, R> {
    fn new(text: &'a [u8]) -> Self {
        let (list, len) = ([0; LIST], 1);
        let line_end = if R::LINES { 0 } else { text.len() };
        Self { text, at: 0, state: None, scanned: false, patience: PATIENCE, line_end, list, len }
    }

    /// Calls `words` with what is certain of the list, and keeps the rest.
    #[inline(always)]
    fn hand_out(&mut self, mut words: impl FnMut(&[u32])) {
        if self.at > self.text.len() {
            self.push(self.text.len());
            return words(&self.list[..self.len]);
        }
        let done = self.len - 1;
        words(&self.list[..done]);
        self.list.copy_within(done - 1..=done, 0);
        self.len = 2;
    }

    #[inline(always)]
    fn push(&mut self, border: usize) {
        self.list[self.len] = border as u32;
        self.len += 1;
    }

    /// Goes block by block.
    #[inline(always)]
    fn blocks<L: Look>(&mut self) {
        let text = self.text;
        let manner = Manner { pad: R::PAD, finely: R::FINELY };
        // The first border, or the one that the scanner left off at, is in the list already.
        let mut known = u64::from(self.state.is_none());
        let (mut rule, mut now, mut rest) = self.state.take().unwrap_or_else(|| {
            let mut rest = Rest::default();
            let now = Block::at::<L>(text, self.at, manner, &mut rest);
            (R::default(), now, rest)
        });
        while self.at <= text.len() && self.len + ROOM <= LIST {
            let next = Block::at::<L>(text, self.at + BLOCK, manner, &mut rest);
            let mut starts = rule.starts(text, self.at, &now, &next);
            let left = text.len() - self.at;
            if left < BLOCK {
                let within = (1 << left) - 1;
                starts.bits &= within;
                starts.hard &= within;
            }
            self.len -= usize::from(starts.take_back);
            if starts.hard != 0 {
                let hard = starts.hard.trailing_zeros();
                let certain = starts.bits & !known & ((1 << hard) - 1);
                // What is open and has a border behind it has been decided.
                let last = certain.checked_ilog2().map_or(0, |last| 1 << last);
                self.len -= usize::from(certain == 0 && starts.was_open && !starts.take_back);
                self.add::<L>(certain & !(last & starts.open));
                self.at += hard as usize;
                self.scanned = true;
                return;
            }
            self.add::<L>(starts.bits & !known);
            known = 0;
            now = next;
            self.at += BLOCK;
            self.patience = PATIENCE.max(self.patience / 2);
        }
        self.state = Some((rule, now, rest));
    }

    /// Writes down the places of bits of the block.
    #[inline(always)]
    fn add<L: Look>(&mut self, bits: u64) {
        if let Some(room) = self.list[self.len..self.len + ROOM].first_chunk_mut() {
            L::list(bits, self.at as u32, room);
            self.len += bits.count_ones() as usize;
        }
    }

    /// Goes character by character from the last border.
    #[inline(never)]
    fn scan(&mut self) {
        let text = self.text;
        let mut at = self.list[self.len - 1] as usize;
        let until = self.at + self.patience;
        while self.len < LIST {
            if at >= self.line_end {
                self.line_end = line_end(text, at);
            }
            let end = R::word_end(&text[..self.line_end], at);
            if end >= text.len() {
                self.at = text.len() + 1;
                return;
            }
            self.push(end);
            if end > until && begins_anew(text, end) {
                (self.at, self.scanned) = (end, false);
                self.patience = (2 * self.patience).min(4096);
                return;
            }
            at = end;
        }
        // The distance is kept by going on as far again.
        self.at = self.at.max(at);
    }
}

/// Whether there is a blank, and no line end, behind other than blanks.
fn begins_anew(text: &[u8], at: usize) -> bool {
    let blank = |at: usize| class_at(text, at).is_some_and(|(class, _)| SPACE.has(class));
    let line_end = class_at(text, at).is_some_and(|(class, _)| LINE_END.has(class));
    if line_end || !blank(at) {
        return false;
    }
    let before = (1..=4.min(at)).map(|back| at - back).find(|&at| text[at] & 0xC0 != 0x80);
    before.is_some_and(|before| !blank(before))
}

#[cfg(test)]
mod tests {
    use super::super::cl100k::{Cl100k, Llama3, Qwen2};
    use super::super::deepseek::DeepSeek;
    use super::super::gpt2::{Gpt2, StarCoder};
    use super::super::o200k::{O200k, Tekken};
    use super::*;
    use crate::random::SplitMix64;
    use crate::scan::every_way;

    /// The borders by the scanner alone.
    fn scanned<R: Rule>(text: &[u8]) -> Vec<u32> {
        let mut borders = vec![0];
        while let Some(&at) = borders.last()
            && (at as usize) < text.len()
        {
            let end = if R::LINES { line_end(text, at as usize) } else { text.len() };
            borders.push(R::word_end(&text[..end], at as usize) as u32);
        }
        borders
    }

    fn listed<R: Rule>(text: &[u8]) -> Vec<u32> {
        let mut borders = vec![0];
        for_each_list::<R>(text, |list| {
            assert_eq!(borders.last(), list.first());
            borders.extend_from_slice(&list[1..]);
        });
        borders
    }

    fn check<R: Rule>(text: &str) {
        let text = text.as_bytes();
        if text.is_empty() {
            return;
        }
        let expected = scanned::<R>(text);
        every_way(|way| {
            let found = listed::<R>(text);
            if found != expected {
                let differ = found.iter().zip(&expected).position(|(one, other)| one != other);
                let at = differ.unwrap_or(found.len().min(expected.len())).saturating_sub(2);
                let from = expected[at] as usize;
                let to = text.len().min(from + 60);
                panic!(
                    "{} {way:?}: {:?} expected {:?} in {:?}",
                    std::any::type_name::<R>(),
                    &found[at..found.len().min(at + 6)],
                    &expected[at..expected.len().min(at + 6)],
                    String::from_utf8_lossy(&text[from..to]),
                );
            }
        });
    }

    fn check_all(text: &str) {
        check::<Gpt2>(text);
        check::<Gpt2<false, false, 1>>(text);
        check::<Gpt2<false, false, 2>>(text);
        check::<StarCoder>(text);
        check::<Cl100k>(text);
        check::<Llama3>(text);
        check::<Qwen2>(text);
        check::<O200k>(text);
        check::<DeepSeek>(text);
        check_lines::<DeepSeek, DeepSeek<true>>(text);
        check::<Tekken>(text);
        check_lines::<Gpt2, Gpt2<true>>(text);
        check_lines::<Gpt2<false, false, 1>, Gpt2<true, false, 1>>(text);
        check_lines::<Gpt2<false, false, 2>, Gpt2<true, false, 2>>(text);
        check_lines::<StarCoder, StarCoder<true>>(text);
        check_lines::<Cl100k, Cl100k<true>>(text);
        check_lines::<Llama3, Llama3<true>>(text);
        check_lines::<Qwen2, Qwen2<true>>(text);
        check_lines::<O200k, O200k<true>>(text);
        check_lines::<Tekken, Tekken<true>>(text);
    }

    /// Lines at once are cut as line by line.
    fn check_lines<R: Rule, L: Rule>(text: &str) {
        check::<L>(text);
        let mut expected = vec![0];
        for line in text.split_inclusive('\n') {
            let start = expected.last().copied().unwrap_or(0);
            expected.extend(scanned::<R>(line.as_bytes())[1..].iter().map(|end| start + end));
        }
        assert_eq!(scanned::<L>(text.as_bytes()), expected, "{text:?}");
    }

    /// What the rules look at, and its neighbours.
    #[rustfmt::skip]
    const PIECES: &[&str] = &[
        "'s", "'S", "'\u{17F}", "'t", "'ll", "'lL", "'Ve", "'re", "'l", "'", "''", "\u{2019}s", "'rE",
        "a", "b", "A", "Z", "xyz", "ABC", "Word", "camelCase", "ABCdef", "extraordinarily", "\u{DF}",
        "\u{E9}", "\u{C9}", "\u{1C5}", "\u{2B0}", "\u{AA}", "\u{416}", "\u{436}", "\u{E01}",
        "\u{AC00}", "\u{AC00}\u{B098}", "\u{4E2D}", "\u{3042}\u{30FC}", "\u{10400}", "\u{10428}", "\u{20000}",
        "\u{915}\u{94D}", "\u{300}", "\u{301}\u{302}", "\u{FE0F}", "\u{1D167}",
        "0", "9", "12", "123", "1234567", "\u{663}", "\u{2167}", "\u{B2}", "\u{1D7D8}",
        " ", "  ", "   ", "\t", "\n", "\r", "\r\n", "\n\n", " \n", "\n ", "\u{B}", "\u{85}", "\u{A0}",
        "\u{2003}", "\u{3000}", "\u{1C}", "\u{1}", "\u{200B}",
        "!", "?!", "/", "//", "\n/", "$", "_", "...", "\u{3002}", "\u{1F600}",
    ];

    #[test]
    fn mixtures_as_the_scanner_cuts_them() {
        let mut random = SplitMix64::new(3);
        let mut below = |limit: usize| (random.next() % limit as u64) as usize;
        for round in 0..12_000 {
            // Some texts of a few pieces only, so that they meet often; marks are hard, so often without.
            let kinds: Vec<&str> =
                (0..2 + below(12)).map(|_| PIECES[below(PIECES.len())]).collect();
            let without = round % 3 > 0;
            let kinds: Vec<&str> = kinds
                .into_iter()
                .filter(|kind| {
                    !without
                        || !kind
                            .chars()
                            .any(|c| matches!(c, '\u{300}'..='\u{302}' | '\u{FE0F}' | '\u{94D}'))
                })
                .collect();
            if kinds.is_empty() {
                continue;
            }
            let len = if round % 40 == 0 { 600 } else { 40 };
            let text: String = (0..len)
                .map(|_| {
                    let kind = kinds[below(kinds.len())];
                    let times = if below(40) == 0 { 1 + below(90) } else { 1 };
                    kind.repeat(times)
                })
                .collect();
            check_all(&text);
        }
    }

    /// Every code point at places that wander through a block, in what tells the rules apart.
    #[test]
    fn every_code_point_between_others() {
        let templates = ["1{}a", " {}{}\n", "A{} {}'s", "!{}/b", "'{}s ", "{}\n {}A.", "\n{} x"];
        let mut text = String::new();
        for (number, c) in ('\0'..=char::MAX).enumerate() {
            if c > '\u{3FFFF}' && number % 7 > 0 {
                continue;
            }
            let mut utf8 = [0; 4];
            let c: &str = c.encode_utf8(&mut utf8);
            for template in templates {
                text.push_str(&template.replace("{}", c));
            }
            text.push_str(["", "x", " yz"][number % 3]);
            if number % 16 == 0 {
                check_all(&text);
                text.clear();
            }
        }
        check_all(&text);
    }

    /// Where the scanner has to go through all of a line, the line's end is looked for once. (If it were for every
    /// word, this would take half an hour.)
    #[test]
    fn a_long_line_takes_as_long_as_many() {
        let line = "a\u{301}b \u{94D}\u{FE0F}".repeat(1 << 20);
        assert_eq!(listed::<O200k<true>>(line.as_bytes()), listed::<O200k>(line.as_bytes()));
    }

    #[test]
    fn long_runs() {
        for unit in [
            " ", "\n", "a", "A", "1", "!", "'", "'s", "\u{300}", "가", "가A", "\n ", " \n",
            "\u{3000}", "é", "À", "\u{663}", "\n/",
        ] {
            for (before, behind) in
                [("", ""), ("x", "\n"), ("!", "x"), ("\n", "\n"), ("가A", "가"), ("1", "!")]
            {
                for count in [1, 5, 63, 64, 65, 200, 700] {
                    check_all(&format!("{before}{}{behind}", unit.repeat(count)));
                }
            }
        }
    }
}
