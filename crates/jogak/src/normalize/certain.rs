//! What a normalizer does at blanks: whether a text may be cut there, and its words be normalized one by
//! one.
//!
//! Rule: says yes only of what it knows. A text is cut before a blank (space, tab, line feed, carriage
//! return), and each word is then normalized with one space before it. The parts are those of the whole
//! text because
//!
//! - forms: blanks are starters that neither compose nor decompose, and nothing is reordered past them;
//! - case, BERT's parts: they see one character;
//! - charsmaps: no key has a blank in it but a blank by itself, which becomes a space; by grapheme
//!   clusters, too, if blanks are clusters by themselves, which each word says of itself;
//! - replaced texts, kept texts: there is no blank in them;
//! - runs of white space that become a space: of no word, where words have no white space;
//! - white space that is stripped off the ends of a text, where runs of spaces become one behind all else: of no word,
//!   which tells of itself whether other white space is at its ends.

use unicode_segmentation::UnicodeSegmentation;

use super::darts::Trie;
use super::set::CharSet;
use super::{Buffers, Charsmap, Form, Normalizer, Place, Rule, Stage, bert, edit};
use crate::error::Result;

/// In the middle of a text.
pub(crate) const WITHIN: Place = Place { first: false, last: false, bare: false };

/// Bit `c % 64` of word `c / 64` stands for the character `c`.
pub(crate) type Untouched = [u64; 1024];

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// What is certain of the blanks of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AtBlanks {
    /// All blanks become spaces; otherwise only spaces are certain.
    pub(crate) all: bool,
    /// All blanks stay white space.
    pub(crate) white: bool,
    /// Runs of spaces become one, and go at the ends of a text.
    pub(crate) collapse: bool,
    /// They do not go so, but as this says.
    pub(crate) squeeze: Option<Squeeze>,
    /// Runs of white space become one space, which makes no difference to words that have none.
    pub(crate) merges_white: bool,
    /// Words are to be asked whether [they begin and end by themselves](Normalizer::is_apart).
    pub(crate) graphemes: bool,
    /// What they are asked for is what other rules leave of them: letters stay letters at the ends of a word, of
    /// anything else that these rules change nothing is certain.
    pub(crate) later: bool,
    /// ASCII punctuation stays as it is, whatever is around it; so may be cut around it too.
    pub(crate) punctuation: bool,
    /// Spaces are put around Chinese characters, which stay as they are otherwise.
    pub(crate) chinese: bool,
}

/// What becomes of blanks where all rules see to are runs of spaces, and white space at the ends of each stretch of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Squeeze {
    /// Runs become a `▁` rather than a space.
    pub(crate) to_mark: bool,
    /// White space goes where a stretch ends.
    pub(crate) right: bool,
}

impl Normalizer {
    /// What is certain of blanks; None for nothing.
    pub(super) fn certain(rules: &[Rule], stages: &[Stage]) -> Result<Option<AtBlanks>> {
        let kept = |rule: &Rule| match rule {
            Rule::Charsmap { keep, .. } => keep.iter().any(|text| text.contains(BLANKS)),
            Rule::Replace { pattern, with, regex: true } => {
                let merges_white = pattern == edit::WHITE && with == " ";
                !merges_white && (pattern != edit::SPACES || !matches!(&**with, " " | "▁"))
            }
            Rule::Replace { pattern, .. } => pattern.contains(BLANKS),
            _ => false,
        };
        if rules.iter().any(kept) {
            return Ok(None);
        }
        let (mut tabs, mut graphemes, mut collapse) = (true, false, false);
        let (mut punctuation, mut chinese) = (true, false);
        let (mut squeeze, mut strips, mut strips_right) = (None, false, false);
        let mut merges_white = false;
        for (number, stage) in stages.iter().enumerate() {
            let keeps_letters = || stages[..number].iter().all(Stage::keeps_letters);
            if collapse || squeeze.is_some() {
                // The case of letters has nothing to do with blanks.
                if matches!(stage, Stage::Case(_)) {
                    continue;
                }
                return Ok(None);
            }
            let map = match stage {
                Stage::Form(former) => {
                    punctuation &= matches!(former.form(), Form::Nfd | Form::Nfkd);
                    continue;
                }
                Stage::Case(_) => continue,
                Stage::Bert(part) => {
                    chinese |= matches!(part, bert::Part::Chinese);
                    continue;
                }
                Stage::Replace(replacer) if replacer.merges_white() => {
                    merges_white = true;
                    continue;
                }
                Stage::Replace(replacer) if replacer.is_plain() => {
                    punctuation = false;
                    continue;
                }
                Stage::Replace(replacer) if replacer.squeezes() => {
                    squeeze = Some(replacer.with() != " ");
                    continue;
                }
                Stage::Strip { right, .. } => {
                    (strips, strips_right) = (true, strips_right | right);
                    continue;
                }
                Stage::Collapse => {
                    collapse = true;
                    continue;
                }
                Stage::RuleSet(map) => map,
                Stage::Charsmap(map, _) => &**map,
                // Words tell of themselves as they come.
                Stage::Graphemes(map) if keeps_letters() => {
                    graphemes = true;
                    &**map
                }
                _ => return Ok(None),
            };
            punctuation = false;
            match map.blanks(graphemes) {
                Some(all) => tabs &= all,
                None => return Ok(None),
            }
        }
        if squeeze.is_none() && strips {
            return Ok(None);
        }
        let squeeze = squeeze.map(|to_mark| Squeeze { to_mark, right: strips_right });
        let normalizer = Normalizer { stages: stages.to_vec(), at_blanks: None, spaces: None };
        let normalizer = normalizer.of_words();
        let mut buffers = Buffers::default();
        let mut white = tabs;
        for blank in ["\t", "\n", "\r"] {
            let made = normalizer.text(blank, WITHIN, &mut buffers)?;
            tabs &= made == " ";
            white &= made == " " || made == blank;
        }
        if normalizer.text(" ", WITHIN, &mut buffers)? != " " {
            return Ok(None);
        }
        let later = graphemes && !matches!(normalizer.stages.first(), Some(Stage::Graphemes(_)));
        Ok(Some(AtBlanks {
            all: tabs,
            white,
            collapse,
            squeeze,
            merges_white,
            graphemes,
            later,
            punctuation,
            chinese,
        }))
    }

    /// What is certain of the blanks of a text; None for nothing.
    pub(crate) fn at_blanks(&self) -> Option<AtBlanks> {
        self.at_blanks
    }

    /// The same rules but those that strip, for words that have no white space at their ends.
    pub(crate) fn of_words(&self) -> Normalizer {
        let words = self.stages.iter().filter(|stage| !matches!(stage, Stage::Strip { .. }));
        Normalizer { stages: words.cloned().collect(), at_blanks: None, spaces: None }
    }

    /// Whether no text that is left has a `c`.
    pub(crate) fn leaves_no(&self, c: char) -> bool {
        let Some(Stage::Replace(replacer)) = self.stages.last() else { return false };
        matches!(replacer.pattern(), edit::Pattern::Text(text) if *text == c.to_string())
            && !replacer.with().contains(c)
    }

    /// Characters below U+10000 such that a text of nothing else is never changed; None if nothing is
    /// certain.
    pub(crate) fn untouched(&self) -> Option<Box<Untouched>> {
        let mut bits = Box::new([u64::MAX; 1024]);
        for stage in &self.stages {
            let first;
            let touched = match stage {
                Stage::Form(former) => former.restless(),
                Stage::RuleSet(map) => map.active(),
                Stage::Charsmap(map, _) | Stage::Graphemes(map) => map.active(),
                Stage::Case(caser) => caser.capitals(),
                Stage::Bert(part) => part.set(),
                Stage::Replace(replacer) => {
                    first = match replacer.pattern() {
                        edit::Pattern::Text(pattern) => CharSet::new(pattern.chars().next()),
                        edit::Pattern::Spaces => CharSet::new([' ']),
                        edit::Pattern::Regex(_) => return None,
                    };
                    &first
                }
                Stage::Strip { .. } => {
                    first = CharSet::new(('\0'..='\u{FFFF}').filter(|c| c.is_whitespace()));
                    &first
                }
                Stage::Collapse => {
                    first = CharSet::new([' ']);
                    &first
                }
                _ => return None,
            };
            touched.take_from(&mut *bits);
        }
        Some(bits)
    }

    /// Whether what becomes of a text is what becomes of its characters one by one, but for the order of characters
    /// that a text of nothing but [untouched](Normalizer::untouched) ones has not, if none of them [joins](Normalizer::joins)
    /// others: no rule sees a character's neighbours, unless to sort marks.
    pub(crate) fn goes_by_characters(&self) -> bool {
        match self.stages.as_slice() {
            [Stage::RuleSet(_) | Stage::Charsmap(..) | Stage::Graphemes(_), rest @ ..] => {
                rest.iter().all(|stage| match stage {
                    Stage::Bert(_) | Stage::Case(_) | Stage::Collapse => true,
                    Stage::Replace(replacer) => replacer.squeezes(),
                    _ => false,
                })
            }
            stages => stages.iter().all(|stage| match stage {
                Stage::Bert(_) => true,
                // Folding makes a letter of a mark.
                Stage::Case(caser) => !caser.folds(),
                Stage::Form(former) => matches!(former.form(), Form::Nfd | Form::Nfkd),
                _ => false,
            }),
        }
    }

    /// Whether a charsmap that comes first may see such a character and its neighbours as one: it stands second in a key,
    /// or first in a text that is kept, or may be in a grapheme cluster with others, where these are looked at.
    pub(crate) fn joins(&self, c: char) -> bool {
        match self.stages.first() {
            Some(Stage::RuleSet(map)) => map.joins(c),
            Some(Stage::Charsmap(map, kept)) => {
                map.joins(c) || kept.as_ref().is_some_and(|kept| kept.begins_with(c))
            }
            Some(Stage::Graphemes(_)) => !is_letter(c),
            _ => false,
        }
    }

    /// Whether `text` begins and ends as it does between spaces, if it comes to grapheme clusters: the
    /// space that it may begin with, and one that may follow, are clusters by themselves.
    pub(crate) fn is_apart(text: &str, room: &mut String) -> bool {
        if Self::is_surely_apart(text.trim_start_matches(' ')) {
            return true;
        }
        room.clear();
        room.push_str(text);
        room.push(' ');
        let mut clusters = room.graphemes(true);
        (!text.starts_with(' ') || clusters.next() == Some(" "))
            && room.graphemes(true).next_back() == Some(" ")
    }

    /// A quick look at whether a word between spaces begins and ends by itself; false means nothing.
    #[inline]
    pub(crate) fn is_surely_apart(word: &str) -> bool {
        word.is_ascii()
            || (word.chars().next().is_some_and(is_letter)
                && word.chars().next_back().is_some_and(is_letter))
    }
}

impl Stage {
    /// Whether a word that [is surely apart](Normalizer::is_surely_apart) is so behind this stage too: letters come
    /// apart into letters with marks behind them, and marks go; what is put in the place of something else is there,
    /// and in ASCII.
    fn keeps_letters(&self) -> bool {
        match self {
            Self::Form(former) => matches!(former.form(), Form::Nfd | Form::Nfkd),
            Self::Bert(part) => matches!(part, bert::Part::Marks),
            // A small letter may have a mark behind it.
            Self::Case(caser) => !caser.folds(),
            Self::Strip { .. } => true,
            Self::Replace(replacer) => {
                let with = replacer.with().as_bytes();
                replacer.is_plain() && !with.is_empty() && with.iter().all(u8::is_ascii_graphic)
            }
            _ => false,
        }
    }
}

/// Letters, and more, of some writings: no cluster that begins with one has a space before it, and none that
/// ends with one has a space behind it.
#[inline]
fn is_letter(c: char) -> bool {
    matches!(c, '!'..='~' | '\u{C0}'..='\u{24F}' | '\u{400}'..='\u{482}' | '\u{48A}'..='\u{52F}')
        || matches!(c, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{4E00}'..='\u{9FFF}' | '가'..='힣')
        // Letters of Hangul by themselves; quotes, dashes, signs and pictures; punctuation of East Asia, and ASCII wide.
        || matches!(c, 'ㄱ'..='ㅣ' | '\u{2013}' | '\u{2014}' | '\u{2018}'..='\u{2026}' | '\u{2190}'..='\u{2767}')
        || matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{FF01}'..='\u{FF5E}')
        || matches!(c, '\u{1F300}'..='\u{1F3FA}' | '\u{1F400}'..='\u{1FAFF}')
}

impl Charsmap {
    /// None if a text may not be cut before spaces; else whether this is so of all blanks.
    fn blanks(&self, graphemes: bool) -> Option<bool> {
        let Some(root) = self.trie().root() else { return Some(true) };
        let trie: &Trie = self.trie();
        let certain = |blank: char| {
            let byte = blank as u8;
            let alone = match trie.child(root, byte) {
                None => true,
                Some(node) => {
                    // Nothing may follow; and a cluster must not become what its space becomes.
                    (1..=255).all(|next| trie.child(node, next).is_none())
                        && !(graphemes && blank == ' ')
                }
            };
            alone && trie.has_only_first(byte)
        };
        certain(' ').then(|| BLANKS.into_iter().all(certain))
    }
}

impl edit::Replacer {
    /// Whether it looks for a text as it stands.
    fn is_plain(&self) -> bool {
        matches!(self.pattern(), edit::Pattern::Text(_))
    }

    /// Whether runs of spaces become a space, or a mark.
    fn squeezes(&self) -> bool {
        matches!(self.pattern(), edit::Pattern::Spaces) && matches!(self.with(), " " | "▁")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says so by failing")]
mod tests {
    use super::*;
    use crate::normalize::RuleSet;
    use crate::pretokenize::APART_CHINESE;

    fn certain(rules: &[Rule]) -> Option<AtBlanks> {
        Normalizer::new(rules).unwrap().at_blanks()
    }

    #[test]
    fn says_no_to_what_it_does_not_know() {
        let replace = |pattern: &str, regex| Rule::Replace {
            pattern: pattern.to_owned(),
            with: "x".to_owned(),
            regex,
        };
        assert!(certain(&[replace("ab", false)]).is_some());
        for rules in [
            vec![replace("a b", false)],
            vec![replace("a", true)],
            vec![Rule::Strip { left: true, right: false }],
            vec![Rule::CollapseSpaces, Rule::Form(Form::Nfkc)],
            vec![Rule::Prepend("x".to_owned())],
            vec![Rule::Charsmap {
                bytes: super::super::compile(&[("a b".to_owned(), "c".to_owned())]).unwrap(),
                keep: vec![],
                graphemes: false,
            }],
            vec![Rule::Charsmap {
                bytes: super::super::compile(&[(" b".to_owned(), "c".to_owned())]).unwrap(),
                keep: vec![],
                graphemes: false,
            }],
            vec![Rule::Charsmap { bytes: vec![], keep: vec!["a b".to_owned()], graphemes: false }],
        ] {
            assert_eq!(certain(&rules), None, "{rules:?}");
        }
    }

    #[test]
    fn rule_sets_are_certain() {
        for set in [RuleSet::NmtNfkc, RuleSet::NmtNfkcCf] {
            let found = certain(&[Rule::RuleSet(set), Rule::CollapseSpaces]).unwrap();
            assert!(found.all && found.collapse && !found.punctuation, "{found:?}");
        }
        assert!(!certain(&[]).unwrap().all);
    }

    #[test]
    fn punctuation_and_chinese_stay_as_they_are() {
        let bert = |lowercase| Rule::Bert {
            clean_text: true,
            chinese_chars: true,
            strip_accents: lowercase,
            lowercase,
        };
        for rule in [bert(true), bert(false)] {
            let normalizer = Normalizer::new(&[rule]).unwrap();
            let found = normalizer.at_blanks().unwrap();
            assert!(found.all && found.punctuation && found.chinese && !found.collapse);
            let mut buffers = Buffers::default();
            for c in (0..0x80).chain(APART_CHINESE).filter_map(char::from_u32) {
                let c = c.to_string();
                if c.is_ascii() && !c.as_bytes()[0].is_ascii_punctuation() {
                    continue;
                }
                let expected = if c.is_ascii() { c.clone() } else { format!(" {c} ") };
                assert_eq!(normalizer.text(&c, WITHIN, &mut buffers).unwrap(), expected);
            }
        }
        assert!(!certain(&[Rule::Form(Form::Nfc)]).unwrap().punctuation);
    }

    #[test]
    fn marks_belong_to_the_space_before_them() {
        let apart = |text: &str| Normalizer::is_apart(text, &mut String::new());
        assert!(apart(" a") && apart(" é") && apart("\u{301}") && apart(" a\u{301}") && apart(" "));
        assert!(!apart(" \u{301}a") && !apart(" a\u{600}") && !apart(" \u{600}"));
        assert!(!apart("\u{600}"));
    }

    #[test]
    fn letters_stay_apart_without_their_marks() {
        let mut buffers = Buffers::default();
        for form in [Form::Nfd, Form::Nfkd] {
            let (form, marks, lower) = (Rule::Form(form), Rule::StripMarks, Rule::Lowercase);
            for rules in [
                vec![form.clone()],
                vec![form.clone(), marks.clone()],
                vec![lower.clone()],
                vec![lower.clone(), form.clone(), marks.clone()],
                vec![Rule::Strip { left: true, right: true }, form, marks, lower],
            ] {
                let normalizer = Normalizer::new(&rules).unwrap();
                assert!(normalizer.stages.iter().all(Stage::keeps_letters));
                for c in ('\0'..=char::MAX).filter(|&c| is_letter(c)) {
                    let letter = c.to_string();
                    let word = normalizer.text(&letter, WITHIN, &mut buffers).unwrap();
                    let text = format!(" {word} ");
                    let ends = (text.graphemes(true).next(), text.graphemes(true).next_back());
                    assert_eq!(ends, (Some(" "), Some(" ")), "{c:?}");
                    assert!(!word.is_empty());
                }
            }
        }
    }

    #[test]
    fn clusters_may_come_behind_what_keeps_letters() {
        let clusters = || Rule::Charsmap { bytes: vec![], keep: vec![], graphemes: true };
        let replace = |with: &str| Rule::Replace {
            pattern: "``".to_owned(),
            with: with.to_owned(),
            regex: false,
        };
        let xlnet = [replace("\""), Rule::Form(Form::Nfkd), Rule::StripMarks, clusters()];
        let found = certain(&xlnet).map(|found| (found.graphemes, found.later));
        assert_eq!(found, Some((true, true)));
        assert!(!certain(&[clusters()]).unwrap().later);
        for first in [replace(""), replace("\u{301}"), Rule::Form(Form::Nfc), Rule::Casefold] {
            assert_eq!(certain(&[first, clusters()]), None);
        }
    }

    #[test]
    fn runs_of_spaces_may_become_one_behind_all_else() {
        let squeeze = |with: &str| Rule::Replace {
            pattern: edit::SPACES.to_owned(),
            with: with.to_owned(),
            regex: true,
        };
        let strip = |left, right| Rule::Strip { left, right };
        let found = |rules: &[Rule]| certain(rules).unwrap().squeeze;
        let (to_mark, right) = (true, true);
        assert_eq!(found(&[Rule::Lowercase]), None);
        assert_eq!(found(&[squeeze("▁")]), Some(Squeeze { to_mark, right: false }));
        assert_eq!(found(&[strip(true, false), squeeze("▁")]), found(&[squeeze("▁")]));
        assert_eq!(found(&[strip(false, true), squeeze("▁")]), Some(Squeeze { to_mark, right }));
        // The case of letters is none of its business.
        assert_eq!(found(&[squeeze("▁"), Rule::Lowercase]), found(&[squeeze("▁")]));
        let clusters = Rule::Charsmap { bytes: vec![], keep: vec![], graphemes: true };
        let rules = [strip(true, true), clusters, squeeze(" ")];
        assert_eq!(found(&rules), Some(Squeeze { to_mark: false, right }));
        assert!(!certain(&rules).unwrap().later);
        for rules in [
            vec![squeeze("x")],
            vec![squeeze("")],
            vec![squeeze(" "), Rule::Form(Form::Nfkc)],
            vec![squeeze(" "), strip(true, true)],
            vec![strip(true, true), Rule::Lowercase],
            vec![Rule::Replace { pattern: " {3,}".into(), with: " ".into(), regex: true }],
        ] {
            assert_eq!(certain(&rules), None, "{rules:?}");
        }
    }

    #[test]
    fn letters_are_apart() {
        for c in ('\0'..=char::MAX).filter(|&c| is_letter(c)) {
            let text = format!(" {c} ");
            assert!(text.graphemes(true).eq([" ", &c.to_string(), " "]), "{c:?}");
        }
    }
}
