//! Words that are ready as they stand: no rule changes them, and nothing cuts them.
//!
//! Rule: says yes only of what is certain. Most words are of letters that no rule of the normalizer looks for
//! and that nothing cuts at; one look at each of their characters then takes the place of a search for
//! each rule, a copy for each that changes something, and a cut.

use std::sync::OnceLock;

use crate::normalize::{Normalizer, Untouched};
use crate::pretokenize::{Dummy, Pretokenizer, Scheme};

/// Characters below U+10000 such that a word of nothing else is ready as it stands, behind a mark or not.
#[derive(Debug, Clone)]
pub(super) struct Quiet {
    characters: Box<Untouched>,
    mark: Option<char>,
}

/// Characters that BERT's schemes cut at, and that of words.
static BORDERS: [OnceLock<Box<Untouched>>; 3] = [const { OnceLock::new() }; 3];

impl Quiet {
    /// For schemes that drop white space or write it as marks; None if nothing is certain.
    pub(super) fn new(normalizer: &Normalizer, schemes: &[Scheme]) -> Option<Self> {
        let mut characters = normalizer.untouched()?;
        let mut without = |code: u32| characters[code as usize / 64] &= !(1 << (code % 64));
        let mark = match schemes {
            [Scheme::Metaspace(_)] => {
                // Tabs and ends of lines that become spaces are changed.
                " ▁".chars().map(u32::from).for_each(without);
                Some('▁')
            }
            [Scheme::Whitespace] => {
                let blanks = ('\0'..='\u{FFFF}').filter(|c| c.is_whitespace());
                blanks.map(u32::from).for_each(without);
                None
            }
            [Scheme::Whitespace, Scheme::Metaspace(spaces)] if !spaces.suffix => {
                let blank = |c: &char| c.is_whitespace() || *c == spaces.mark();
                ('\0'..='\u{FFFF}').filter(blank).map(u32::from).for_each(without);
                match spaces.dummy {
                    Dummy::Always => Some(spaces.mark()),
                    Dummy::Never => None,
                    _ => return None,
                }
            }
            [scheme @ (Scheme::Bert | Scheme::Bert8 | Scheme::Words)] => {
                let number = match scheme {
                    Scheme::Bert => 0,
                    Scheme::Bert8 => 1,
                    _ => 2,
                };
                let borders = BORDERS[number].get_or_init(|| borders(scheme));
                let all = (0..1 << 16)
                    .filter(|&code| borders[code as usize / 64] >> (code % 64) & 1 != 0);
                all.for_each(&mut without);
                None
            }
            _ => return None,
        };
        Some(Self { characters, mark })
    }

    /// What is written before a word.
    #[inline]
    pub(super) fn mark(&self) -> Option<char> {
        self.mark
    }

    /// Whether a word, which is not empty, is of such characters.
    #[inline]
    pub(super) fn holds(&self, word: &str) -> bool {
        let has = |code: u32| self.characters[code as usize / 64 % 1024] >> (code % 64) & 1 != 0;
        let low = |byte: u8| u32::from(byte & 0x3F);
        let mut bytes = word.as_bytes();
        loop {
            match *bytes {
                [] => return true,
                [a @ 0..0x80, ref rest @ ..] if has(u32::from(a)) => bytes = rest,
                [a @ 0xC0..0xE0, b, ref rest @ ..] if has(u32::from(a & 0x1F) << 6 | low(b)) => {
                    bytes = rest;
                }
                [a @ 0xE0..0xF0, b, c, ref rest @ ..]
                    if has(u32::from(a & 0x0F) << 12 | low(b) << 6 | low(c)) =>
                {
                    bytes = rest;
                }
                _ => return false,
            }
        }
    }
}

/// Every character below U+10000 that a scheme cuts at, or drops.
fn borders(scheme: &Scheme) -> Box<Untouched> {
    let mut found = Box::new([u64::MAX; 1024]);
    let Ok(cutter) = Pretokenizer::new(std::slice::from_ref(scheme)) else { return found };
    // Each between two letters: the word that it is in is three characters long, or it is a border.
    let mut text = String::new();
    let mut words = Vec::new();
    for code in (0..1 << 16).filter_map(char::from_u32) {
        words.push((text.len(), code));
        text.push('a');
        text.push(code);
        text.push_str("a ");
    }
    let mut words = words.into_iter().peekable();
    let whole = cutter.for_each(&text, |start, end| {
        while words.next_if(|&(at, _)| at < start).is_some() {}
        if let Some((at, c)) = words.next_if(|&(at, _)| at == start)
            && end == at + 2 + c.len_utf8()
        {
            found[c as usize / 64] &= !(1 << (c as usize % 64));
        }
    });
    if whole.is_err() {
        found.fill(u64::MAX);
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;
    use crate::normalize::{Buffers, Place, Rule, RuleSet};
    use crate::pretokenize::Metaspace;

    /// Every character in a word, alone, doubled and before and behind letters: what is held to be ready is.
    #[test]
    fn quiet_words_are_ready() {
        let bert = |lowercase| Rule::Bert {
            clean_text: true,
            chinese_chars: true,
            strip_accents: lowercase,
            lowercase,
        };
        let replace = Rule::Replace { pattern: "가z".into(), with: "x".into(), regex: false };
        let marked = |mark| {
            Scheme::Metaspace(Metaspace { dummy: Dummy::Never, mark, ..Metaspace::default() })
        };
        let cases: [(Vec<Rule>, Vec<Scheme>, usize); 10] = [
            (vec![bert(true)], vec![Scheme::Bert], 14_000),
            (vec![bert(false)], vec![Scheme::Bert8], 25_000),
            (vec![], vec![Scheme::Bert], 50_000),
            (vec![replace, Rule::Lowercase], vec![Scheme::Bert], 50_000),
            (
                vec![Rule::RuleSet(RuleSet::NmtNfkcCf), Rule::CollapseSpaces],
                vec![Scheme::Metaspace(Metaspace::default())],
                40_000,
            ),
            (vec![], vec![Scheme::Metaspace(Metaspace::default())], 63_000),
            (vec![], vec![Scheme::Whitespace], 60_000),
            (vec![Rule::Lowercase], vec![Scheme::Words], 45_000),
            (vec![], vec![Scheme::Whitespace, marked('_')], 60_000),
            // The last character that is looked at.
            (vec![], vec![Scheme::Whitespace, marked('\u{FFFF}')], 60_000),
        ];
        for (rules, schemes, least) in cases {
            let normalizer = Normalizer::new(&rules).unwrap();
            let quiet = Quiet::new(&normalizer, &schemes).unwrap();
            let cutter = Pretokenizer::new(&schemes).unwrap();
            let mut count = 0;
            for c in (0..0x11_0000).filter_map(char::from_u32) {
                let held = quiet.holds(&c.to_string());
                count += usize::from(held);
                for word in [format!("{c}"), format!("{c}{c}"), format!("a{c}"), format!("{c}가")]
                {
                    if !quiet.holds(&word) {
                        continue;
                    }
                    let mut buffers = Buffers::default();
                    let within = Place { first: false, last: false, bare: false };
                    assert_eq!(normalizer.text(&word, within, &mut buffers).unwrap(), word);
                    let mut words = Vec::new();
                    cutter.for_each(&word, |start, end| words.push((start, end))).unwrap();
                    assert_eq!(words, [(0, word.len())], "{word:?}");
                }
            }
            assert!(count > least, "{count}");
        }
    }

    #[test]
    fn says_no_where_nothing_is_certain() {
        for rules in [
            vec![Rule::Replace { pattern: "a".into(), with: "b".into(), regex: true }],
            vec![Rule::DrawBytes],
        ] {
            let normalizer = Normalizer::new(&rules).unwrap();
            assert!(Quiet::new(&normalizer, &[Scheme::Bert]).is_none());
        }
        let nothing = Normalizer::new(&[]).unwrap();
        assert!(Quiet::new(&nothing, &[Scheme::Script]).is_none());
        // What may be stripped is not quiet.
        let strip = Normalizer::new(&[Rule::Strip { left: false, right: true }]).unwrap();
        let quiet = Quiet::new(&strip, &[Scheme::Metaspace(Metaspace::DEFAULT)]).unwrap();
        assert!(quiet.holds("a한") && !quiet.holds("a\u{2028}") && !quiet.holds("\u{3000}"));
    }
}
