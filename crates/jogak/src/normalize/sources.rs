//! Of which characters punctuation in a normalized text was made.
//!
//! Rule: says so only of rules that it knows, and of those all characters that it may have been: NFKC makes `<` of `＜`, and NFD of
//! `≮`, whose stroke is a mark of its own.

use unicode_normalization::char::decompose_compatible;

use super::{Normalizer, Stage};

/// No character beyond these is taken apart into any of ASCII.
const LAST: char = '\u{1FFFF}';

impl Normalizer {
    /// The characters of which punctuation of ASCII may have been made; None if it may have been anything. If it is certain,
    /// graphic characters of ASCII become nothing else but small (or together with marks behind them another character).
    ///
    /// Cost: looks at all characters that have compatible forms.
    pub(crate) fn sources(&self, punctuation: char) -> Option<Vec<char>> {
        let known = |stage: &Stage| match stage {
            Stage::Form(_) | Stage::Case(_) | Stage::Bert(_) => true,
            Stage::Strip { .. } | Stage::Collapse => true,
            Stage::Replace(replacer) => replacer.merges_white(),
            _ => false,
        };
        if !punctuation.is_ascii_punctuation() || !self.stages.iter().all(known) {
            return None;
        }
        let mut sources = vec![punctuation];
        if self.stages.iter().any(|stage| matches!(stage, Stage::Form(_))) {
            sources.extend(('\u{80}'..=LAST).filter(|&c| {
                let mut has_it = false;
                decompose_compatible(c, |part| has_it |= part == punctuation);
                has_it
            }));
        }
        Some(sources)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::{Buffers, Form, Place, Rule};

    const BERT: Rule =
        Rule::Bert { clean_text: true, chinese_chars: true, strip_accents: true, lowercase: true };

    /// Each character there is, alone and between others.
    #[test]
    fn nothing_else_becomes_punctuation() {
        let white = Rule::Replace { pattern: r"\s+".into(), with: " ".into(), regex: true };
        let forms =
            [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd].map(|form| vec![Rule::Form(form)]);
        let others = [
            vec![BERT],
            vec![Rule::Form(Form::Nfc), white, Rule::Lowercase],
            vec![Rule::HfNmt, Rule::Form9(Form::Nfkc), Rule::Casefold, Rule::CollapseSpaces],
            vec![Rule::Form(Form::Nfkd), Rule::StripMarks, Rule::Strip { left: true, right: true }],
        ];
        let mut buffers = Buffers::default();
        for rules in forms.into_iter().chain(others) {
            let normalizer = Normalizer::new(&rules).unwrap();
            for punctuation in ['<', '[', '(', '!', '~', '`', ';'] {
                let sources = normalizer.sources(punctuation).expect("known rules");
                for c in (0..0x11_0000).filter_map(char::from_u32) {
                    let text = String::from(c);
                    let made = normalizer.text(&text, Place::WHOLE, &mut buffers);
                    let is_source = sources.contains(&c);
                    assert!(is_source || !made.unwrap().contains(punctuation), "{c:?} {rules:?}");
                }
            }
            for c in '!'..='~' {
                for text in [format!("{c}"), format!("a{c}b"), format!("é{c}"), format!("中{c}中")]
                {
                    let made = normalizer.text(&text, Place::WHOLE, &mut buffers).unwrap();
                    let stays = made.contains(c) || made.contains(c.to_ascii_lowercase());
                    assert!(stays, "{text:?} {rules:?}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_certain_of_other_rules() {
        let replaced = Rule::Replace { pattern: "a".into(), with: "<".into(), regex: false };
        for rules in [vec![replaced], vec![Rule::Prepend("<".into())], vec![BERT, Rule::DrawBytes]]
        {
            assert_eq!(Normalizer::new(&rules).unwrap().sources('<'), None);
        }
        assert_eq!(Normalizer::new(&[BERT]).unwrap().sources('a'), None);
        assert_eq!(Normalizer::default().sources('<'), Some(vec!['<']));
    }
}
