//! Decoder chains (HF tokenizers 0.23): rules that rewrite the list of all token texts.
//!
//! The rules become [`Step`]s. The first of them mostly look at one text at a time, and at whether it
//! is the first one; what they make of every piece is written down when the chain is made, so that
//! decoding copies bytes. What is left works on fragments (see [`super::steps`]).

use super::flat::{Copied, Flat};
use super::steps::{Flow, Literal, State, Step, byte_of};
use super::{Kind, Walk};
use crate::error::{Error, Result};
use crate::pretokenize::Finder;
use crate::symbols::Undraw;
use crate::vocab::Vocab;

/// A rule of a chain. What each does stands in the documentation of `jogak.spec.decoders`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// GPT-2's printable characters back to bytes, over all texts.
    ByteLevel,
    /// `<0x..>` back to bytes.
    ByteFallback,
    /// All texts as one.
    Fuse,
    /// Spaces before texts without the prefix.
    WordPiece {
        /// What texts begin with that go on a word.
        prefix: String,
        /// Take away spaces before punctuation and short forms.
        cleanup: bool,
    },
    /// A character as a space.
    Metaspace {
        /// The character.
        mark: char,
        /// It is nothing in the first text.
        first: bool,
    },
    /// A suffix as a space, in the last text as nothing.
    Suffix(String),
    /// Matches replaced.
    Replace {
        /// A text, or a regular expression.
        pattern: String,
        /// What comes in its place.
        with: String,
        /// Whether the pattern is an expression.
        regex: bool,
    },
    /// A character off the ends of every text.
    Strip {
        /// The character.
        content: char,
        /// So many at most at the start.
        start: usize,
        /// So many at most at the end.
        stop: usize,
    },
    /// Equal neighbours once, blanks as nothing.
    Ctc {
        /// The blank.
        pad: String,
        /// What stands for a space.
        delimiter: String,
        /// Take away spaces before punctuation, and make the delimiter a space.
        cleanup: bool,
    },
    /// SentencePiece's whole way back; it has no others beside it.
    SentencePiece(super::SentencePiece),
}

/// What cleaning up replaces, one behind the other.
const CLEANUP: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

/// A chain, compiled for a vocabulary.
#[derive(Debug)]
pub(super) struct Chain {
    steps: Vec<Step>,
    /// So many steps, the first ones, look at one text at a time.
    folded: usize,
    /// What they make of every piece that is not the first.
    later: Vec<u8>,
    /// Where the text of every piece ends in that.
    ends: Vec<usize>,
}

/// A chain at work.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    states: Vec<State>,
    begun: bool,
    raw: bool,
}

impl Chain {
    /// Compiles `rules`; none of them joins texts with spaces.
    pub(super) fn new(rules: &[Rule], vocab: &Vocab) -> Result<Self> {
        let mut steps = Steps::default();
        if rules.is_empty() {
            steps.list.push(Step::Spaces);
        }
        for rule in rules {
            steps.add(rule)?;
        }
        let steps = steps.list;
        let alone = |step: &Step| match step {
            Step::Spaces | Step::Undraw(_) | Step::Words { .. } | Step::Marks(_) => true,
            Step::Replace { .. } | Step::Between { .. } | Step::Regex { .. } => true,
            Step::Strip { .. } => true,
            Step::Utf8 | Step::Bytes | Step::Fuse | Step::Suffix { .. } => false,
            Step::Dedup | Step::DropEmpty => false,
        };
        let folded = steps.iter().take_while(|step| alone(step)).count();
        let mut chain = Self { steps, folded, later: Vec::new(), ends: Vec::new() };
        // A first text, so that all pieces are later ones.
        let mut states = vec![State::default(); folded];
        let mut first = Vec::new();
        chain.fold(&mut states, &mut first).push(b"", true)?;
        let mut later = Vec::new();
        for id in 0..vocab.len() as u32 {
            // A hole may be an id that stands for an empty text.
            let piece = vocab.piece(id).unwrap_or_default();
            chain.fold(&mut states, &mut later).push(piece, true)?;
            chain.ends.push(later.len());
        }
        chain.later = later;
        Ok(chain)
    }

    /// What pieces become that are not the first.
    pub(super) fn flat(&self, vocab: &Vocab, kinds: &[Kind]) -> Flat {
        let there = |id: u32| vocab.piece(id).is_some().then(|| kinds[id as usize].copied());
        let bytes = self.rest().iter().any(|step| matches!(step, Step::Bytes));
        Flat::with_bytes(
            (&self.later, &self.ends),
            |id| there(id).unwrap_or(Copied::Never),
            |_, text| byte_of(text).filter(|_| bytes),
        )
    }

    /// A chain that begins; `raw` hands on bytes that are no UTF-8.
    pub(super) fn walk(&self, raw: bool) -> impl Walk {
        (self, self.start(raw))
    }

    /// Whether the steps that are left hand pieces on as they are, from here on.
    pub(super) fn is_settled(&self, progress: &Progress) -> bool {
        let Progress { states, begun, raw } = progress;
        *begun
            && self.rest().iter().zip(states).all(|(step, state)| match step {
                Step::Fuse => true,
                Step::Utf8 => *raw,
                Step::Bytes => state.has_no_run(),
                Step::Strip { stop: 0, .. } => state.is_stripped(),
                _ => false,
            })
    }

    fn fold<'a>(&'a self, states: &'a mut [State], out: &'a mut Vec<u8>) -> Flow<'a> {
        Flow { steps: &self.steps[..self.folded], states, raw: true, out }
    }

    /// The steps that are left.
    fn rest(&self) -> &[Step] {
        &self.steps[self.folded..]
    }

    /// Whether all that is left is to make UTF-8 of the bytes of all pieces.
    pub(super) fn is_bytes(&self) -> bool {
        matches!(self.rest(), [Step::Utf8])
    }

    pub(super) fn start(&self, raw: bool) -> Progress {
        Progress { states: vec![State::default(); self.rest().len()], begun: false, raw }
    }

    /// Takes a piece, whose own text is `piece`.
    pub(super) fn push(
        &self,
        id: u32,
        piece: &[u8],
        progress: &mut Progress,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Progress { states, begun, raw } = progress;
        let mut first = Vec::new();
        let text = if *begun {
            let id = id as usize;
            let start = if id == 0 { 0 } else { self.ends[id - 1] };
            &self.later[start..self.ends[id]]
        } else {
            *begun = true;
            let mut states = vec![State::default(); self.folded];
            self.fold(&mut states, &mut first).push(piece, true)?;
            &first[..]
        };
        Flow { steps: self.rest(), states, raw: *raw, out }.push(text, true)
    }

    /// All pieces have come.
    pub(super) fn finish(&self, progress: &mut Progress, out: &mut Vec<u8>) -> Result<()> {
        let Progress { states, raw, .. } = progress;
        Flow { steps: self.rest(), states, raw: *raw, out }.finish()
    }
}

impl Walk for (&Chain, Progress) {
    fn is_settled(&self) -> bool {
        self.0.is_settled(&self.1)
    }

    fn copied(&mut self) {}

    fn push(&mut self, id: u32, piece: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.0.push(id, piece, &mut self.1, out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.0.finish(&mut self.1, out)
    }
}

#[derive(Default)]
struct Steps {
    list: Vec<Step>,
    /// Whether there is but one text.
    single: bool,
}

impl Steps {
    fn add(&mut self, rule: &Rule) -> Result<()> {
        match rule {
            Rule::ByteLevel => {
                self.list.extend([Step::Undraw(Undraw::default()), Step::Utf8]);
                self.single = true;
            }
            Rule::ByteFallback => self.list.push(Step::Bytes),
            // Alone, it is no chain.
            Rule::SentencePiece(_) => {}
            Rule::Fuse if self.single => {}
            Rule::Fuse => {
                self.list.push(Step::Fuse);
                self.single = true;
            }
            Rule::WordPiece { prefix, cleanup } => {
                self.list.push(Step::Words { prefix: prefix.as_bytes().to_vec() });
                if *cleanup {
                    self.cleanup();
                }
            }
            Rule::Metaspace { mark, first } => {
                let mark = mark.to_string();
                self.list.push(match first {
                    true => Step::Marks(Literal::new(&mark)),
                    false => Step::Replace { what: Literal::new(&mark), with: b" ".to_vec() },
                });
            }
            Rule::Suffix(suffix) if self.single => self.replace(suffix, ""),
            Rule::Suffix(suffix) => {
                self.list.push(Step::Suffix { suffix: suffix.as_bytes().to_vec() });
            }
            Rule::Replace { pattern, with, regex } => self.list.push(match regex {
                _ if pattern.is_empty() => {
                    Step::Between { with: with.clone().into(), empty: false }
                }
                true => Step::Regex {
                    finder: Box::new(Finder::new(pattern)?),
                    with: with.clone().into(),
                },
                false => Step::Replace { what: Literal::new(pattern), with: with.clone().into() },
            }),
            &Rule::Strip { content, start, stop } => {
                let content = content.to_string().into();
                self.list.push(Step::Strip { content, start, stop });
            }
            Rule::Ctc { pad, delimiter, cleanup } => {
                if !self.single {
                    self.list.push(Step::Dedup);
                }
                self.replace(pad, "");
                if *cleanup {
                    self.cleanup();
                    self.replace(delimiter, " ");
                }
                if !self.single {
                    self.list.push(Step::DropEmpty);
                }
            }
        }
        let (found, most) = (self.list.len(), MOST_STEPS);
        if found > most {
            return Err(Error::TooLarge {
                what: "the decoder",
                size: found as u64,
                limit: most as u64,
            });
        }
        Ok(())
    }

    /// A text replaced as programming languages do it: an empty one stands everywhere.
    fn replace(&mut self, what: &str, with: &str) {
        let what_with = (!what.is_empty(), !with.is_empty());
        match what_with {
            (true, _) => self
                .list
                .push(Step::Replace { what: Literal::new(what), with: with.as_bytes().to_vec() }),
            (false, true) => {
                self.list.push(Step::Between { with: with.as_bytes().to_vec(), empty: true });
            }
            (false, false) => {}
        }
    }

    fn cleanup(&mut self) {
        CLEANUP.into_iter().for_each(|(what, with)| self.replace(what, with));
    }
}

/// Each step calls the next one, so that a chain without end would exhaust the stack.
const MOST_STEPS: usize = 2_000;
