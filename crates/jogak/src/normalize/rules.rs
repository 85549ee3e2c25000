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

use std::collections::BTreeSet;
use std::sync::OnceLock;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::case::simple_fold;
use super::charsmap::Charsmap;
use super::darts;
use super::forms::{Form, decomposes, formed};
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

/// Rules: (key, replacement).
type Rules = HashMap<Vec<char>, String, FxBuildHasher>;

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
    /// (a few tenths of a second).
    ///
    /// # Errors
    /// None in practice; the type is that of all compiling.
    pub fn bytes(self) -> Result<&'static [u8]> {
        static BYTES: [OnceLock<Vec<u8>>; 4] = [const { OnceLock::new() }; 4];
        let slot = &BYTES[self as usize];
        if let Some(bytes) = slot.get() {
            return Ok(bytes);
        }
        let bytes = darts::compile(&self.rules())?;
        Ok(slot.get_or_init(|| bytes))
    }

    /// The set, ready to run.
    pub(super) fn charsmap(self) -> Result<&'static Charsmap> {
        static MAPS: [OnceLock<Charsmap>; 4] = [const { OnceLock::new() }; 4];
        let slot = &MAPS[self as usize];
        if let Some(map) = slot.get() {
            return Ok(map);
        }
        let map = Charsmap::read(self.bytes()?)?;
        Ok(slot.get_or_init(|| map))
    }

    /// The rules: key and replacement, by key.
    fn rules(self) -> Vec<(String, String)> {
        let mut rules = without_redundant(nfkc());
        if matches!(self, RuleSet::NmtNfkc | RuleSet::NmtNfkcCf) {
            rules.extend(BLANKS.iter().map(|&c| (vec![c], " ".to_owned())));
            rules.extend(dropped().map(|c| (vec![c], String::new())));
            // Japanese tells the full-width tilde from the half-width one.
            rules.remove(['\u{ff5e}'].as_slice());
            rules = without_redundant(rules);
        }
        if matches!(self, RuleSet::NmtNfkcCf | RuleSet::NfkcCf) {
            for (_, text) in sorted(&mut rules) {
                *text = text.chars().map(simple_fold).collect();
            }
            for c in characters() {
                let folded = simple_fold(c);
                if folded != c {
                    rules.entry(vec![c]).or_insert_with(|| folded.to_string());
                }
            }
            rules = without_redundant(rules);
        }
        let mut rules: Vec<(String, String)> =
            sorted(&mut rules).map(|(key, text)| (key.iter().collect(), text.clone())).collect();
        rules.sort_unstable();
        rules
    }
}

/// The entries by key: nothing may come from the order of a hash table.
fn sorted(rules: &mut Rules) -> impl Iterator<Item = (&Vec<char>, &mut String)> {
    let mut entries: Vec<_> = rules.iter_mut().collect();
    entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
    entries.into_iter()
}

/// All characters that Unicode may ever give a meaning (no U+0000, no noncharacters).
fn characters() -> impl Iterator<Item = char> {
    ('\u{1}'..=char::MAX)
        .filter(|&c| !matches!(c, '\u{fdd0}'..='\u{fdef}') && c as u32 & 0xFFFE != 0xFFFE)
}

fn nfkc() -> Rules {
    let mut rules = Rules::default();
    // What decomposes to one character: that character -> all that do.
    let mut writings: HashMap<char, Vec<char>, FxBuildHasher> = HashMap::default();
    let mut decomposed: BTreeSet<Vec<char>> = BTreeSet::new();
    for c in characters().filter(|&c| decomposes(c)) {
        let text = c.to_string();
        let nfkc = formed(Form::Nfkc, &text);
        let nfkd = formed(Form::Nfkd, &text);
        let mut parts = nfkd.chars();
        match (parts.next(), parts.next()) {
            (Some(only), None) if only == c => {}
            (Some(only), None) => writings.entry(only).or_default().push(c),
            _ => {
                decomposed.insert(nfkd.chars().collect());
            }
        }
        if nfkc != text {
            rules.insert(vec![c], nfkc);
        }
    }
    for nfkd in decomposed {
        let text: String = nfkd.iter().collect();
        let nfkc = formed(Form::Nfkc, &text);
        if nfkc == text {
            continue;
        }
        let mut ways: Vec<Vec<char>> = vec![Vec::new()];
        for &c in &nfkd {
            let others = writings.get(&c).map_or(&[][..], Vec::as_slice);
            let longer = |way: &Vec<char>| {
                let way = way.clone();
                std::iter::once(&c)
                    .chain(others)
                    .map(move |&c| [way.as_slice(), &[c]].concat())
                    .collect::<Vec<_>>()
            };
            ways = ways.iter().flat_map(longer).collect();
        }
        for way in ways {
            if !nfkc.chars().eq(way.iter().copied()) {
                rules.insert(way, nfkc.clone());
            }
        }
    }
    rules
}

/// Leaves out sequences whose replacement the shorter rules give as well.
fn without_redundant(mut rules: Rules) -> Rules {
    let mut kept = Rules::default();
    let mut longer: Vec<Vec<(Vec<char>, String)>> = Vec::new();
    let all: Vec<(Vec<char>, String)> =
        sorted(&mut rules).map(|(key, text)| (key.clone(), std::mem::take(text))).collect();
    for (key, text) in all {
        if key.len() == 1 {
            kept.insert(key, text);
            continue;
        }
        if longer.len() < key.len() - 1 {
            longer.resize_with(key.len() - 1, Vec::new);
        }
        longer[key.len() - 2].push((key, text));
    }
    for (level, keys) in longer.into_iter().enumerate() {
        // Rules of the same length do not judge each other.
        let needed: Vec<_> = keys
            .into_iter()
            .filter(|(key, text)| *text != applied(&kept, key, level + 1))
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
