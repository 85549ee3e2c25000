//! SentencePiece's named rule sets, made from Unicode's data as SentencePiece makes them, and rules as
//! text.
//!
//! ```text
//! nfkc         for every character: its NFKC, if that is another text
//!              for every text that some character decomposes to (NFKD) and that NFKC composes:
//!                  all ways to write it with characters of one-character decompositions -> its NFKC
//! nmt_nfkc     nfkc, and: white space and some invisible characters -> space; most control
//!              characters -> nothing; the full-width tilde stays
//! ..._cf       the same with simple case folding of every replacement and every other character
//! always       without the sequences that shorter rules turn into the same
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::case::{folded, simple_fold};
use super::charsmap::Charsmap;
use super::forms::{Form, decomposing, formed};
use super::writings::{Short, Writings};
use crate::error::{Error, Result};

/// A rule set of SentencePiece. Equal to its release 0.2.3, whose Unicode version is 17.0 too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSet {
    /// What SentencePiece uses unless told otherwise.
    NmtNfkc,
    /// NFKC alone.
    Nfkc,
    /// `NmtNfkc` with case folding.
    NmtNfkcCf,
    /// `Nfkc` with case folding.
    NfkcCf,
}

/// Key -> replacement. A key of several characters stands for all ways to write them.
type Rules = BTreeMap<Vec<char>, String>;

/// Characters that `nmt_...` sets take for white space, beside those of NFKC.
const BLANKS: [char; 15] = [
    '\u{61c}', '\t', '\n', '\u{c}', '\r', '\u{1680}', '\u{200b}', '\u{200c}', '\u{200e}',
    '\u{200f}', '\u{2028}', '\u{2029}', '\u{2581}', '\u{feff}', '\u{fffd}',
];

/// Characters that `nmt_...` sets drop.
fn dropped() -> impl Iterator<Item = char> {
    ('\u{1}'..='\u{8}')
        .chain(['\u{b}'])
        .chain('\u{e}'..='\u{1f}')
        .chain(['\u{7f}', '\u{8f}', '\u{9f}'])
}

impl RuleSet {
    /// Every rule set, by its name.
    pub const NAMED: [(&'static str, RuleSet); 4] = [
        ("nmt_nfkc", RuleSet::NmtNfkc),
        ("nfkc", RuleSet::Nfkc),
        ("nmt_nfkc_cf", RuleSet::NmtNfkcCf),
        ("nfkc_cf", RuleSet::NfkcCf),
    ];

    /// The set as a charsmap in SentencePiece's format, for a `.model` file. Made once in a process
    /// (less than a tenth of a second).
    ///
    /// # Errors
    /// None in practice; the type is that of all compiling.
    pub fn bytes(self) -> Result<&'static [u8]> {
        static BYTES: [OnceLock<Vec<u8>>; 4] = [const { OnceLock::new() }; 4];
        let map = self.charsmap()?;
        Ok(BYTES[self as usize].get_or_init(|| map.to_bytes()))
    }

    /// The set, ready to run.
    pub(super) fn charsmap(self) -> Result<&'static Charsmap> {
        static MAPS: [OnceLock<Charsmap>; 4] = [const { OnceLock::new() }; 4];
        let slot = &MAPS[self as usize];
        if let Some(map) = slot.get() {
            return Ok(map);
        }
        let map = Charsmap::of_parts(self.rules().compile()?);
        Ok(slot.get_or_init(|| map))
    }

    /// The rules, in short. What holds for a sequence holds for all ways to write it, since all of them
    /// have the same replacement, character by character and as a whole.
    fn rules(self) -> Short {
        let (rules, writings) = nfkc();
        let mut rules = without_redundant(rules);
        if matches!(self, RuleSet::NmtNfkc | RuleSet::NmtNfkcCf) {
            rules.extend(BLANKS.iter().map(|&c| (vec![c], " ".to_owned())));
            rules.extend(dropped().map(|c| (vec![c], String::new())));
            // Japanese tells the full-width tilde from the half-width one.
            rules.remove(['\u{ff5e}'].as_slice());
            rules = without_redundant(rules);
        }
        if matches!(self, RuleSet::NmtNfkcCf | RuleSet::NfkcCf) {
            for text in rules.values_mut() {
                *text = text.chars().map(simple_fold).collect();
            }
            for c in folded() {
                rules.entry(vec![c]).or_insert_with(|| simple_fold(c).to_string());
            }
            rules = without_redundant(rules);
        }
        let mut short = Short { writings, ..Short::default() };
        for (key, text) in rules {
            if let [c] = key[..] {
                short.singles.insert(c, text);
            } else {
                short.sequences.insert(key, text);
            }
        }
        short
    }
}

/// The rules of NFKC, and how else the characters of their longer keys can be written.
fn nfkc() -> (Rules, Writings) {
    let mut rules = Rules::new();
    let mut writings = Writings::default();
    let mut decomposed: BTreeSet<String> = BTreeSet::new();
    for c in decomposing() {
        let text = c.to_string();
        let nfkc = formed(Form::Nfkc, &text);
        let nfkd = formed(Form::Nfkd, &text);
        let mut parts = nfkd.chars();
        match (parts.next(), parts.next()) {
            (Some(only), None) if only == c => {}
            (Some(only), None) => writings.entry(only).or_default().push(c),
            _ => {
                decomposed.insert(nfkd);
            }
        }
        if nfkc != text {
            rules.insert(vec![c], nfkc);
        }
    }
    for nfkd in decomposed {
        let nfkc = formed(Form::Nfkc, &nfkd);
        if nfkc != nfkd {
            rules.insert(nfkd.chars().collect(), nfkc);
        }
    }
    (rules, writings)
}

/// Leaves out sequences whose replacement the shorter rules give as well.
fn without_redundant(rules: Rules) -> Rules {
    let mut kept = Rules::new();
    let mut longer: BTreeMap<usize, Vec<(Vec<char>, String)>> = BTreeMap::new();
    for (key, text) in rules {
        if key.len() == 1 {
            kept.insert(key, text);
        } else {
            longer.entry(key.len()).or_default().push((key, text));
        }
    }
    for (length, keys) in longer {
        // Rules of the same length do not judge each other.
        let needed: Vec<_> = keys
            .into_iter()
            .filter(|(key, text)| *text != applied(&kept, key, length - 1))
            .collect();
        kept.extend(needed);
    }
    kept
}

/// `text` under rules of up to `longest` characters.
fn applied(rules: &Rules, text: &[char], longest: usize) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < text.len() {
        let most = longest.min(text.len() - at);
        let found = (1..=most).rev().find_map(|len| Some((len, rules.get(&text[at..at + len])?)));
        match found {
            Some((len, replacement)) => {
                out.push_str(replacement);
                at += len;
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

/// Rules as SentencePiece's `normalization_rule_tsv` has them: a line for each, the characters' numbers
/// in hexadecimal with spaces between them, a tab, those of the replacement (none to drop the key); what
/// stands behind a second tab is a comment.
///
/// # Errors
/// [`Error::Charsmap`] with the line of what is no such rule.
///
/// ```
/// let rules = jogak::normalize::parse_rules("41 302 300\t1EA6\n200D\n")?;
/// assert_eq!(rules[0], ("A\u{302}\u{300}".to_owned(), "Ầ".to_owned()));
/// assert_eq!(rules[1].1, "");
/// # Ok::<(), jogak::Error>(())
/// ```
pub fn parse_rules(tsv: &str) -> Result<Vec<(String, String)>> {
    let mut rules = Vec::new();
    for (number, line) in tsv.lines().enumerate() {
        let mut columns = line.split('\t');
        let mut side = || -> Result<String> {
            let column = columns.next().unwrap_or_default();
            column
                .split(' ')
                .filter(|word| !word.is_empty())
                .map(|word| {
                    let digits = word.strip_prefix("U+").unwrap_or(word);
                    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).ok_or_else(|| {
                        Error::Charsmap {
                            place: format!("line {}", number + 1),
                            reason: format!("{word:?} is no character's number in hexadecimal"),
                        }
                    })
                })
                .collect()
        };
        let rule = (side()?, side()?);
        if rule.0.is_empty() {
            return Err(Error::Charsmap {
                place: format!("line {}", number + 1),
                reason: "nothing to replace; expected numbers of characters before the first tab"
                    .to_owned(),
            });
        }
        rules.push(rule);
    }
    Ok(rules)
}
