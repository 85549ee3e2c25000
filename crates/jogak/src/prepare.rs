//! The one front half: text -> words, for encoding and for counting alike.
//!
//! Rule: the only path for real text. If training and encoding ever cut differently, the fault is here.

mod mapped;
mod quiet;
mod raw;
mod steps;

use crate::count::{Counter, Words};
use crate::error::Result;
use crate::normalize::{Aligned, Buffers, Normalizer, Origins, Place, Rule, metaspace};
pub(crate) use crate::pretokenize::for_each_between_runs;
use crate::pretokenize::{Dummy, Matches, Metaspace, Pretokenizer, Scheme};
use quiet::Quiet;
pub(crate) use raw::{Raw, RawList, RawScratch, Ready};
use steps::Step;

/// Normalizes and pre-tokenizes.
#[derive(Debug, Clone)]
pub struct Prepare {
    normalizer: Normalizer,
    /// The same for words that have no white space at their ends, if that makes a difference.
    words: Option<Normalizer>,
    /// How spaces are written, anywhere in the sequence.
    spaces: Option<Metaspace>,
    front: Front,
    /// What cuts behind the last rewriting.
    pretokenizer: Pretokenizer,
    /// How texts may be cut before they are normalized, if they may.
    raw: Option<Raw>,
    /// Raw words that need not be made ready.
    quiet: Option<Quiet>,
    /// What becomes of a quiet word is what becomes of its characters.
    goes_by_characters: bool,
}

/// What rewrites the text before it is cut for the last time.
#[derive(Debug, Clone)]
enum Front {
    Nothing,
    /// The spaces of the whole text.
    Spaces(Metaspace),
    /// Its words, in turn with cutting. Some step asks where words begin in the original, or none does.
    Steps(Vec<Step>, bool),
}

/// Room for a text on its way to the pre-tokenizer, to be used again.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// Room for [`Prepare::normalized`].
    pub normalized: Buffers,
    /// Room for [`Prepare::written`].
    pub written: Written,
}

/// Room for a text whose words are rewritten, to be used again.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// The text with its spaces as they are asked for.
    marked: Vec<u8>,
    spaced: String,
    /// The other of two texts, where words are rewritten several times.
    spare: String,
    parts: Vec<(usize, usize)>,
}

/// How texts have marks for their spaces, where that is the last that is done to them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks {
    spaces: Metaspace,
    /// Rules of normalization write them, and do nothing else.
    by_rules: bool,
}

impl Marks {
    /// Whether one goes before a whole text, by the character that this begins with.
    pub(crate) fn before(self, first: char) -> bool {
        metaspace::adds_to(self.spaces, first)
    }

    /// Whether none is added to any.
    pub(crate) fn never(self) -> bool {
        self.spaces.dummy == Dummy::Never
    }

    /// Whether rules of normalization write them, and do nothing else.
    pub(crate) fn are_by_rules(self) -> bool {
        self.by_rules
    }

    /// What a normalized text becomes, but with spaces where marks are to be written: the text itself, or what is in `room`. If marks
    /// are written by rules, `is_new` says whether they were not yet.
    pub(crate) fn spaced<'a>(
        self,
        text: &'a str,
        place: Place,
        is_new: bool,
        room: &'a mut Written,
    ) -> &'a str {
        let adds = (is_new || !self.by_rules) && self.adds(text, place);
        if !adds {
            return text;
        }
        room.spaced.clear();
        room.spaced.extend([" ", text]);
        &room.spaced
    }

    /// Whether a mark is added to a text.
    pub(crate) fn adds(self, text: &str, place: Place) -> bool {
        metaspace::adds(self.spaces, text, place)
    }
}

/// A text as the pre-tokenizer is to see it.
#[derive(Debug, Clone, Copy)]
pub struct Prepared<'a> {
    /// The text.
    pub text: &'a str,
    /// Its parts, which are cut each by itself; None for the whole.
    parts: Option<&'a [(usize, usize)]>,
}

impl<'a> Prepared<'a> {
    /// A text that is ready as it is.
    pub(crate) fn whole(text: &'a str) -> Self {
        Self { text, parts: None }
    }
}

/// A [`Prepared`] text that is kept, with the bytes of the original that each of its bytes stands for.
#[derive(Debug, Clone)]
pub struct AlignedText {
    text: String,
    parts: Option<Vec<(usize, usize)>>,
    /// Where the text came from.
    pub origins: Origins,
}

impl AlignedText {
    /// The text, to be cut.
    pub fn prepared(&self) -> Prepared<'_> {
        Prepared { text: &self.text, parts: self.parts.as_deref() }
    }
}

impl Prepare {
    /// Compiles rules of normalization and a sequence of schemes, some of which rewrite the words that
    /// they are given ([`Scheme::rewrites`]).
    ///
    /// # Errors
    /// As [`Normalizer::new`] and [`Pretokenizer::new`].
    pub fn new(rules: &[Rule], schemes: &[Scheme]) -> Result<Self> {
        let normalizer = Normalizer::new(rules)?;
        let idle = schemes.iter().take_while(|scheme| is_idle(scheme, &normalizer)).count();
        let schemes = &schemes[idle..];
        let spaces = schemes.iter().find_map(|scheme| match scheme {
            &Scheme::Metaspace(spaces) => Some(spaces),
            _ => None,
        });
        let rewriting = schemes.iter().filter(|scheme| scheme.rewrites()).count();
        let (front, pretokenizer) = match schemes.first() {
            _ if rewriting == 0 => (Front::Nothing, Pretokenizer::new(schemes)?),
            // Nothing moves the beginning of the text, if there are no rules.
            Some(&Scheme::Metaspace(spaces))
                if rewriting == 1 && (spaces.dummy != Dummy::Start || normalizer.is_empty()) =>
            {
                (Front::Spaces(spaces), Pretokenizer::new(schemes)?)
            }
            _ => {
                let (steps, pretokenizer) = steps::compile(schemes)?;
                let asks = steps.iter().enumerate().any(|(number, step)| {
                    let moved = number > 1 || !normalizer.is_empty();
                    moved && matches!(step, Step::Rewrite(rewriter) if rewriter.asks_for_origin())
                });
                (Front::Steps(steps, asks), pretokenizer)
            }
        };
        let raw = Raw::new(&normalizer, schemes);
        let quiet = raw.and_then(|_| Quiet::new(&normalizer, schemes));
        let strips = |rule: &Rule| matches!(rule, Rule::Strip { .. });
        let words = raw.filter(|_| rules.iter().any(strips)).map(|_| normalizer.of_words());
        let made = words.as_ref().unwrap_or(&normalizer);
        let goes_by_characters = !normalizer.is_empty() && made.goes_by_characters();
        Ok(Self { normalizer, words, spaces, front, pretokenizer, raw, quiet, goes_by_characters })
    }

    /// What normalizes raw words that have no white space at their ends.
    fn of_words(&self) -> &Normalizer {
        self.words.as_ref().unwrap_or(&self.normalizer)
    }

    /// How texts may be cut before they are normalized, if they may.
    pub(crate) fn raw(&self) -> Option<Raw> {
        self.raw
    }

    /// The normalizer.
    pub fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }

    /// Whether blanks are dropped, and words are what they leave.
    pub(crate) fn only_drops_blanks(&self) -> bool {
        matches!(self.front, Front::Nothing) && self.pretokenizer.only_drops_blanks()
    }

    /// Whether normalized text is cut by GPT-2's scheme, and nothing else is done to it.
    pub(crate) fn only_cuts_as_gpt2(&self) -> bool {
        matches!(self.front, Front::Nothing) && self.pretokenizer.schemes() == [Scheme::Gpt2]
    }

    /// Whether a text that is made ready is one word for certain.
    pub(crate) fn leaves_whole(&self) -> bool {
        !matches!(self.front, Front::Steps(..)) && self.pretokenizer.leaves_whole()
    }

    /// How spaces become this mark, if that is the last that is done to texts before they are cut.
    pub(crate) fn marks(&self, mark: char) -> Option<Marks> {
        let (spaces, by_rules) = match self.front {
            Front::Spaces(spaces) => (spaces, false),
            Front::Nothing => (self.normalizer.only_spaces_are_written()?, true),
            Front::Steps(..) => return None,
        };
        let suits = spaces.escape && spaces.mark == mark && !spaces.suffix;
        suits.then_some(Marks { spaces, by_rules })
    }

    /// The same, if nothing else is done to them.
    pub(crate) fn only_marks(&self, mark: char) -> Option<Marks> {
        self.marks(mark).filter(|marks| marks.by_rules || self.normalizer.is_empty())
    }

    /// How spaces are written into the words, if they are.
    pub fn metaspace(&self) -> Option<Metaspace> {
        self.spaces
    }

    /// The text as the pre-tokenizer is to see it: `text` itself, or rewritten in `scratch`.
    ///
    /// # Errors
    /// As [`Normalizer::text`] and [`Pretokenizer::for_each`].
    #[inline]
    pub fn text<'a>(
        &self,
        text: &'a str,
        place: Place,
        scratch: &'a mut Scratch,
    ) -> Result<Prepared<'a>> {
        let Scratch { normalized, written } = scratch;
        let ready = self.normalized(text, place, normalized)?;
        let place = self.place(text, ready, place)?;
        self.written(ready, place, written, || Ok(self.normalizer.aligned(text, place)?.1))
    }

    /// The first half of [`Prepare::text`]: what the rules of normalization make of a text.
    ///
    /// # Errors
    /// As [`Normalizer::text`].
    #[inline]
    pub fn normalized<'a>(
        &self,
        text: &'a str,
        place: Place,
        buffers: &'a mut Buffers,
    ) -> Result<&'a str> {
        if self.normalizer.is_empty() {
            return Ok(text);
        }
        self.normalizer.text(text, place, buffers)
    }

    /// The place of a stretch, with [`Place::bare`] if that matters here. `normalized` is what is left of
    /// `text`.
    ///
    /// # Errors
    /// As [`Normalizer::text`].
    #[inline]
    pub fn place(&self, text: &str, normalized: &str, place: Place) -> Result<Place> {
        if !normalized.is_empty() || text.is_empty() || !self.asks_for_bare() {
            return Ok(place);
        }
        let bare = !self.normalizer.only_spaces(text, place)?;
        Ok(Place { bare, ..place })
    }

    fn asks_for_bare(&self) -> bool {
        self.spaces.is_some_and(|spaces| spaces.dummy == Dummy::Given)
    }

    /// The second half: a normalized text with its words written as they are asked for. `origins` are
    /// its own, if that matters.
    ///
    /// # Errors
    /// As [`Prepare::text`]; what `origins` returns.
    #[inline]
    pub fn written<'a>(
        &self,
        text: &'a str,
        place: Place,
        room: &'a mut Written,
        origins: impl FnOnce() -> Result<Origins>,
    ) -> Result<Prepared<'a>> {
        let Written { marked, spaced, spare, parts } = room;
        match &self.front {
            &Front::Spaces(spaces) if metaspace::changes(spaces, text, place) => {
                Ok(Prepared { text: metaspace::written(spaces, text, place, marked), parts: None })
            }
            Front::Steps(steps, asks) => {
                if *asks {
                    let aligned = self.written_aligned(text.to_owned(), origins()?, place)?;
                    *spaced = aligned.text;
                    *parts = aligned.parts.unwrap_or_default();
                } else {
                    run_steps(steps, text, place, parts, spaced, spare)?;
                }
                Ok(Prepared { text: spaced, parts: Some(parts) })
            }
            _ => Ok(Prepared { text, parts: None }),
        }
    }

    /// Calls `word` with the byte range of every word of a text that was made ready here.
    ///
    /// # Errors
    /// As [`Pretokenizer::for_each`].
    #[inline]
    pub fn for_each(
        &self,
        prepared: Prepared<'_>,
        mut word: impl FnMut(usize, usize),
    ) -> Result<()> {
        match prepared.parts {
            None => self.pretokenizer.for_each(prepared.text, word),
            Some(parts) => self.pretokenizer.for_each_part(prepared.text, parts, &mut word),
        }
    }

    /// As [`Pretokenizer::for_each_list`], of a text that was made ready here.
    #[inline]
    pub(crate) fn for_each_list(&self, prepared: Prepared<'_>, words: impl FnMut(&[u32])) -> bool {
        prepared.parts.is_none() && self.pretokenizer.for_each_list(prepared.text, words)
    }

    /// Whether [`Prepare::for_each_list_of_lines`] does what it says, of lines that [stay as they are](Normalizer::leaves).
    pub(crate) fn has_lines(&self) -> bool {
        let stays = self.normalizer.only_forms() && matches!(self.front, Front::Nothing);
        stays && self.pretokenizer.has_rule()
    }

    /// Whether nothing is done to texts but that they are cut.
    pub(crate) fn only_cuts(&self) -> bool {
        self.normalizer.is_empty() && matches!(self.front, Front::Nothing)
    }

    /// Whether no rule of normalization changes a text.
    pub(crate) fn leaves(&self, text: &str) -> bool {
        self.normalizer.leaves(text)
    }

    /// As [`Pretokenizer::for_each_list_of_lines`], of texts that nothing is to be done to but to cut them.
    pub(crate) fn for_each_list_of_lines(&self, lines: &str, words: impl FnMut(&[u32])) -> bool {
        self.has_lines()
            && self.leaves(lines)
            && self.pretokenizer.for_each_list_of_lines(lines, words)
    }

    /// The same text as [`Prepare::text`] gives, with the bytes that each of its bytes stands for.
    ///
    /// # Errors
    /// As [`Prepare::text`].
    pub fn aligned(&self, text: &str, place: Place) -> Result<AlignedText> {
        let (ready, origins) = self.normalizer.aligned(text, place)?;
        let place = self.place(text, &ready, place)?;
        self.written_aligned(ready, origins, place)
    }

    /// As [`Prepare::written`], of a text that knows where it came from.
    ///
    /// # Errors
    /// As [`Prepare::text`].
    pub fn written_aligned(
        &self,
        mut text: String,
        mut origins: Origins,
        place: Place,
    ) -> Result<AlignedText> {
        match &self.front {
            &Front::Spaces(spaces) if metaspace::changes(spaces, &text, place) => {
                let mut out = Aligned::default();
                metaspace::run(spaces, &text, place, &mut out);
                let lone = text.is_empty() && !spaces.suffix;
                let (text, mut origins) = origins.then(out);
                if lone {
                    // The mark is what became of the text; one behind it stands for nothing.
                    origins = origins.all(text.len());
                }
                Ok(AlignedText { text, parts: None, origins })
            }
            Front::Steps(steps, _) => {
                let mut parts = vec![(0, text.len())];
                for step in steps {
                    match step {
                        Step::Cut(cutter) => steps::cut(cutter, &text, &mut parts)?,
                        Step::Rewrite(rewriter) => {
                            let mut out = Aligned::default();
                            let origin = |at| origins.begin(at);
                            rewriter.run(&text, &mut parts, place, origin, &mut out);
                            (text, origins) = origins.then(out);
                        }
                    }
                }
                Ok(AlignedText { text, parts: Some(parts), origins })
            }
            _ => Ok(AlignedText { text, parts: None, origins }),
        }
    }
}

/// Whether a scheme cuts at a text that the normalizer leaves nowhere, or writes marks for spaces where there are none, and so
/// leaves all as it is: Gemma's is to cut behind spaces, all of which are marks by then.
fn is_idle(scheme: &Scheme, normalizer: &Normalizer) -> bool {
    let (pattern, matches) = match scheme {
        Scheme::Regex { pattern, matches, invert: false, literal: true } => (pattern, matches),
        Scheme::Metaspace(spaces) => {
            let leaves = spaces.dummy == Dummy::Never && !spaces.split;
            return leaves && (!spaces.escape || normalizer.leaves_no(' '));
        }
        _ => return false,
    };
    let mut characters = pattern.chars();
    let only = characters.next().filter(|_| characters.next().is_none());
    *matches != Matches::Only && only.is_some_and(|c| normalizer.leaves_no(c))
}

/// Takes the steps; the text is then in `out`, and `parts` are its parts. No step may ask for origins
/// that are not those of `text`.
fn run_steps(
    steps: &[Step],
    text: &str,
    place: Place,
    parts: &mut Vec<(usize, usize)>,
    out: &mut String,
    spare: &mut String,
) -> Result<()> {
    parts.clear();
    parts.push((0, text.len()));
    let mut rewritten = false;
    for step in steps {
        match step {
            Step::Cut(cutter) => {
                steps::cut(cutter, if rewritten { out.as_str() } else { text }, parts)?;
            }
            Step::Rewrite(rewriter) => {
                std::mem::swap(out, spare);
                out.clear();
                let from = if rewritten { spare.as_str() } else { text };
                rewriter.run(from, parts, place, |at| at, out);
                rewritten = true;
            }
        }
    }
    Ok(())
}

impl Words for Prepare {
    type Scratch = Scratch;

    #[inline]
    fn count(&self, document: &str, scratch: &mut Scratch, counter: &mut Counter) -> Result<()> {
        let prepared = self.text(document, Place::WHOLE, scratch)?;
        let text = prepared.text.as_bytes();
        match prepared.parts {
            None => self.pretokenizer.for_each_cut(prepared.text, |cut| counter.add_cut(text, cut)),
            Some(_) => self.for_each(prepared, |start, end| counter.add(&text[start..end])),
        }
    }

    #[inline]
    fn count_lines(&self, lines: &str, counter: &mut Counter) -> bool {
        let plain = self.normalizer.is_empty() && matches!(self.front, Front::Nothing);
        plain && self.pretokenizer.count_lines(lines, counter)
    }
}
