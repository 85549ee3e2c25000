//! Text -> text, with a way back: every byte of the new text knows which bytes it stands for.
//!
//! Rule: knows no model. Any text has an answer, in linear time and with linear memory (a regular
//! expression is as fast as its engine, and may give up).
//!
//! ```text
//! forms.rs     NFC, NFD, NFKC, NFKD                        jamo.rs      Hangul syllables as letters
//! case.rs      lower case, case folding                    metaspace.rs spaces as ▁
//! bert.rs      BERT's cleaning and accents                 edit.rs      replace, strip, collapse
//! charsmap.rs  SentencePiece's compiled rules, read        darts.rs     and compiled
//! rules.rs     its named rule sets, made from Unicode      tables.rs    written by an example
//! draw.rs      bytes as GPT-2 draws them                    llama.rs     llama.cpp's way for BERT
//! align.rs     where the new text came from                set.rs       the search for what changes
//! certain.rs   whether words can be normalized one by one
//! ```
//!
//! A stage first says whether it would change anything. If not, the text is passed on as it is and
//! nothing is copied. If so, the stage writes into a `align::Sink`: a plain string, or one that
//! notes the origin of every byte.

mod align;
mod bert;
mod case;
mod certain;
mod charsmap;
mod darts;
pub(crate) mod draw;
mod edit;
mod forms;
mod jamo;
mod llama;
pub(crate) mod metaspace;
mod rules;
mod set;
mod sources;
mod tables;
mod writings;

pub use align::Origins;
pub use charsmap::Charsmap;
pub use darts::compile;
pub use forms::Form;
pub use jamo::{ESCAPE, Jamo, compose};
pub use rules::{RuleSet, parse_rules};

pub(crate) use align::{Aligned, Shifted, Sink};
pub(crate) use certain::{Squeeze, Untouched, WITHIN};
pub(crate) use charsmap::Kept;

use align::Complete;

use std::sync::Arc;

use crate::error::Result;
use crate::pretokenize::Metaspace;

/// One thing that a normalizer does.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// A Unicode normalization form.
    Form(Form),
    /// The same as of Unicode 9.0: characters that came later are left alone, as in Hugging Face's
    /// library.
    Form9(Form),
    /// A rule set of SentencePiece.
    RuleSet(RuleSet),
    /// A compiled charsmap, as SentencePiece's models have it.
    Charsmap {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Texts that stay as they are.
        keep: Vec<String>,
        /// By grapheme clusters, as HF tokenizers applies it; `keep` is then of no use.
        graphemes: bool,
    },
    /// Lower case, character by character.
    Lowercase,
    /// Full case folding, character by character (`ß` becomes `ss`).
    Casefold,
    /// Drops all combining marks (category M of Unicode 9.0). Accents that are one character with their
    /// letter stay, so that a decomposition goes before.
    StripMarks,
    /// A text put before every stretch of text that is not empty.
    Prepend(String),
    /// Replaces every match.
    Replace {
        /// A text, or a regular expression in the syntax of `fancy-regex`.
        pattern: String,
        /// What comes in its place, as it stands.
        with: String,
        /// Whether `pattern` is a regular expression.
        regex: bool,
    },
    /// White space off the ends of every stretch of text.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// BERT's normalizer, in this order.
    Bert {
        /// Controls and U+FFFD are dropped, white space becomes spaces.
        clean_text: bool,
        /// Spaces around every Chinese character.
        chinese_chars: bool,
        /// Decompose (NFD) and drop nonspacing marks. Takes Hangul syllables apart.
        strip_accents: bool,
        /// Lower case.
        lowercase: bool,
    },
    /// What llama.cpp does to texts for BERT, character by character.
    LlamaBert {
        /// The first character of a decomposition stays; combining marks go.
        strip_accents: bool,
        /// Lower case.
        lowercase: bool,
    },
    /// One space for every run of spaces, none at the ends of a document.
    CollapseSpaces,
    /// Hangul syllables as letters, reversibly.
    Jamo(Jamo),
    /// Every byte as the character that GPT-2 draws it with.
    DrawBytes,
    /// The `Nmt` of HF tokenizers: some controls are dropped, white space of many kinds and what cannot
    /// be seen become spaces.
    HfNmt,
}

/// Where in a document a stretch of text stands. Special tokens cut documents into stretches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The document begins here.
    pub first: bool,
    /// The document ends here.
    pub last: bool,
    /// The rules of normalization left nothing of the stretch, and it was more than the spaces that they
    /// collapse. Known only where it is asked for, and then to those who write spaces.
    pub bare: bool,
}

impl Place {
    /// A whole document.
    pub const WHOLE: Place = Place { first: true, last: true, bare: false };
}

/// A rule, ready to run.
#[derive(Debug, Clone)]
enum Stage {
    Form(forms::Former),
    RuleSet(&'static Charsmap),
    Charsmap(Arc<Charsmap>, Option<Kept>),
    Graphemes(Arc<Charsmap>),
    Case(case::Caser),
    Bert(bert::Part),
    Llama(llama::Llama),
    Prepend(String),
    Replace(Arc<edit::Replacer>),
    Strip { left: bool, right: bool },
    Collapse,
    Jamo(Jamo, Arc<set::CharSet>),
    Draw,
}

/// A sequence of rules, compiled: the output of each is the input of the next.
///
/// ```
/// use jogak::normalize::{Buffers, Form, Normalizer, Place, Rule};
///
/// let normalizer = Normalizer::new(&[Rule::Form(Form::Nfc), Rule::Lowercase])?;
/// let mut buffers = Buffers::default();
/// assert_eq!(normalizer.text("CAFE\u{301}", Place::WHOLE, &mut buffers)?, "café");
/// # Ok::<(), jogak::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Normalizer {
    stages: Vec<Stage>,
    /// Whether texts may be cut at blanks; see `certain.rs`.
    at_blanks: Option<certain::AtBlanks>,
    /// All that it does to a text, if that is to write its spaces so.
    spaces: Option<Metaspace>,
}

/// Room for texts on their way, to be used again.
#[derive(Debug, Clone, Default)]
pub struct Buffers {
    one: String,
    two: String,
    marked: Vec<u8>,
}

impl Normalizer {
    /// Compiles `rules`. No rule at all changes nothing.
    ///
    /// # Errors
    /// [`crate::Error::Charsmap`] for a charsmap that is none; [`crate::Error::Pattern`] and
    /// [`crate::Error::Config`] for a pattern that cannot be.
    pub fn new(rules: &[Rule]) -> Result<Self> {
        let mut stages = Vec::new();
        for rule in rules {
            match rule {
                Rule::Form(form) => stages.push(Stage::Form(forms::Former::new(*form, false))),
                Rule::Form9(form) => stages.push(Stage::Form(forms::Former::new(*form, true))),
                Rule::RuleSet(set) => stages.push(Stage::RuleSet(set.charsmap()?)),
                Rule::Charsmap { bytes, graphemes: true, .. } => {
                    stages.push(Stage::Graphemes(Arc::new(Charsmap::read(bytes)?)));
                }
                Rule::Charsmap { bytes, keep, .. } => {
                    let map = Arc::new(Charsmap::read(bytes)?);
                    stages.push(Stage::Charsmap(map, Kept::new(keep)?));
                }
                Rule::Lowercase => stages.push(Stage::Case(case::Caser::new(false))),
                Rule::Casefold => stages.push(Stage::Case(case::Caser::new(true))),
                Rule::StripMarks => stages.push(Stage::Bert(bert::Part::Marks)),
                Rule::Prepend(text) => stages.push(Stage::Prepend(text.clone())),
                Rule::Replace { pattern, with, regex } => {
                    let replacer = edit::Replacer::new(pattern, with, *regex)?;
                    stages.push(Stage::Replace(Arc::new(replacer)));
                }
                &Rule::Strip { left, right } => stages.push(Stage::Strip { left, right }),
                &Rule::Bert { clean_text, chinese_chars, strip_accents, lowercase } => {
                    if clean_text {
                        stages.push(Stage::Bert(bert::Part::Clean));
                    }
                    if chinese_chars {
                        stages.push(Stage::Bert(bert::Part::Chinese));
                    }
                    if strip_accents {
                        stages.push(Stage::Form(forms::Former::new(Form::Nfd, true)));
                        stages.push(Stage::Bert(bert::Part::Accents));
                    }
                    if lowercase {
                        stages.push(Stage::Case(case::Caser::new(false)));
                    }
                }
                &Rule::LlamaBert { strip_accents, lowercase } => {
                    stages.push(Stage::Llama(llama::Llama::new(strip_accents, lowercase)?));
                }
                Rule::CollapseSpaces => stages.push(Stage::Collapse),
                Rule::DrawBytes => stages.push(Stage::Draw),
                Rule::HfNmt => stages.push(Stage::Bert(bert::Part::Nmt)),
                &Rule::Jamo(form) => {
                    stages.push(Stage::Jamo(form, Arc::new(set::CharSet::new(form.touches()))));
                }
            }
        }
        let at_blanks = Self::certain(rules, &stages)?;
        Ok(Self { stages, at_blanks, spaces: metaspace::only_marks(rules) })
    }

    /// Whether it changes no text at all.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// How spaces are written, if that is all it does.
    pub(crate) fn only_spaces_are_written(&self) -> Option<Metaspace> {
        self.spaces
    }

    /// Whether there are rules of Unicode's forms alone: what they leave as it is, they leave so in any part of it.
    pub(crate) fn only_forms(&self) -> bool {
        self.stages.iter().all(|stage| matches!(stage, Stage::Form(_)))
    }

    /// Whether a text surely stays as it is, wherever it stands.
    pub(crate) fn leaves(&self, text: &str) -> bool {
        self.stages.iter().all(|stage| !stage.changes(text, Place::WHOLE))
    }

    /// The normalized text: `text` itself where nothing changes, else in one of the buffers.
    ///
    /// # Errors
    /// [`crate::Error::PatternGaveUp`] if a regular expression backtracks without end on this text.
    pub fn text<'a>(
        &self,
        text: &'a str,
        place: Place,
        buffers: &'a mut Buffers,
    ) -> Result<&'a str> {
        let Buffers { one, two, marked } = buffers;
        if let Some(spaces) = self.spaces {
            let changes = metaspace::changes(spaces, text, place);
            return Ok(if changes {
                metaspace::written(spaces, text, place, marked)
            } else {
                text
            });
        }
        /// Where the text is now.
        enum Held {
            Given,
            One,
            Two,
        }
        let mut held = Held::Given;
        for stage in &self.stages {
            let (now, out): (&str, &mut String) = match held {
                Held::Given => (text, &mut *one),
                Held::One => (&*one, &mut *two),
                Held::Two => (&*two, &mut *one),
            };
            if !stage.changes(now, place) {
                continue;
            }
            out.clear();
            stage.run(now, place, out)?;
            held = if matches!(held, Held::One) { Held::Two } else { Held::One };
        }
        Ok(match held {
            Held::Given => text,
            Held::One => one,
            Held::Two => two,
        })
    }

    /// The normalized text, and where it came from.
    ///
    /// # Errors
    /// As [`Normalizer::text`].
    pub fn aligned(&self, text: &str, place: Place) -> Result<(String, Origins)> {
        let mut now = (text.to_owned(), Origins::same(text.len()));
        for stage in &self.stages {
            if stage.changes(&now.0, place) {
                let mut out = Aligned::default();
                stage.run(&now.0, place, &mut out)?;
                now = now.1.then(out);
            }
        }
        Ok(now)
    }

    /// Whether `text` is nothing but spaces that are collapsed: no rule before that drops anything of it,
    /// and what they make of it is spaces. Never where nothing is collapsed.
    pub(crate) fn only_spaces(&self, text: &str, place: Place) -> Result<bool> {
        let collapse = self.stages.iter().position(|stage| matches!(stage, Stage::Collapse));
        let Some(collapse) = collapse else { return Ok(false) };
        let mut now = text.to_owned();
        for stage in &self.stages[..collapse] {
            let mut out = Complete::default();
            stage.run(&now, place, &mut out)?;
            if out.dropped || out.at < now.len() {
                return Ok(false);
            }
            now = out.text;
        }
        Ok(now.bytes().all(|byte| byte == b' '))
    }

    /// Whether [`Normalizer::undone`] has anything to do.
    pub fn has_way_back(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage, Stage::Prepend(_) | Stage::Jamo(..)))
    }

    /// The way back for a stretch of normalized text: what was put before it is taken off, letters
    /// become syllables. Other rules have no way back. Bytes that are no UTF-8 stay.
    ///
    /// `first` tells that the stretch comes with its beginning.
    pub fn undone(&self, stretch: &[u8], first: bool) -> Vec<u8> {
        let mut now = stretch.to_vec();
        for stage in self.stages.iter().rev() {
            match stage {
                Stage::Prepend(text) if first && now.starts_with(text.as_bytes()) => {
                    now.drain(..text.len());
                }
                Stage::Jamo(form, _) => {
                    let mut out = Vec::with_capacity(now.len());
                    for chunk in now.utf8_chunks() {
                        out.extend_from_slice(compose(*form, chunk.valid()).as_bytes());
                        out.extend_from_slice(chunk.invalid());
                    }
                    now = out;
                }
                _ => {}
            }
        }
        now
    }

    /// How many bytes of a stretch that may go on can be taken back by themselves: [`Normalizer::undone`]
    /// of them and of all that follows, `first` being false for that, is that of the whole.
    pub fn settled(&self, stretch: &[u8], first: bool) -> usize {
        let mut cut = stretch.len();
        let mut letters = false;
        let mut prefix = 0;
        for stage in &self.stages {
            match stage {
                Stage::Prepend(text) => prefix += text.len(),
                // One way of writing letters may not see what another one made.
                Stage::Jamo(..) if letters => return 0,
                Stage::Jamo(form, _) => {
                    letters = true;
                    cut = jamo::settled(*form, stretch);
                }
                _ => {}
            }
        }
        // Syllables are shorter than their letters, by a factor of three at most.
        if first && cut < 3 * prefix + 12 { 0 } else { cut }
    }
}

impl Stage {
    /// Whether the stage would change `text`; it may say yes too often, but never no.
    fn changes(&self, text: &str, place: Place) -> bool {
        match self {
            Stage::Form(former) => former.changes(text),
            Stage::RuleSet(map) => map.changes(text),
            Stage::Charsmap(map, _) | Stage::Graphemes(map) => map.changes(text),
            Stage::Case(caser) => caser.changes(text),
            Stage::Bert(part) => part.changes(text),
            Stage::Llama(llama) => llama.changes(text),
            Stage::Prepend(prefix) => !text.is_empty() && !prefix.is_empty(),
            Stage::Replace(replacer) => replacer.changes(text),
            &Stage::Strip { left, right } => edit::stripped(text, left, right) != (0, text.len()),
            Stage::Collapse => edit::has_extra_space(text, place),
            Stage::Jamo(_, touched) => touched.find(text, 0).is_some(),
            Stage::Draw => draw::changes(text),
        }
    }

    fn run(&self, text: &str, place: Place, out: &mut impl Sink) -> Result<()> {
        match self {
            Stage::Form(former) => former.run(text, out),
            Stage::RuleSet(map) => map.run(text, out),
            Stage::Graphemes(map) => map.run_graphemes(text, out),
            Stage::Charsmap(map, None) => map.run(text, out),
            Stage::Charsmap(map, Some(keep)) => map.run_around(keep, text, out),
            Stage::Case(caser) => caser.run(text, out),
            Stage::Bert(part) => part.run(text, out),
            Stage::Llama(llama) => llama.run(text, out),
            Stage::Prepend(prefix) => {
                out.write(prefix, 0, 0);
                out.keep(text, 0, text.len());
            }
            Stage::Replace(replacer) => return replacer.run(text, out),
            &Stage::Strip { left, right } => {
                let (start, end) = edit::stripped(text, left, right);
                out.keep(text, start, end);
            }
            Stage::Collapse => edit::collapse(text, place, out),
            Stage::Draw => draw::run(text, out),
            Stage::Jamo(form, touched) => jamo::decompose(*form, text, touched, out),
        }
        Ok(())
    }
}
