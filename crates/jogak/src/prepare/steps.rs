//! What comes before the last rewriting of a sequence: cutting and rewriting in turn.
//!
//! Rule: a rewriting stage sees one word of the stage before it, and nothing beyond. So the text is cut,
//! its words are rewritten one by one into a new text, those are cut further, and so on; where a word of
//! the new text came from is known all the way.

use crate::error::Result;
use crate::normalize::{Place, Shifted, Sink, draw, metaspace};
use crate::pretokenize::{Dummy, Metaspace, Pretokenizer, Scheme};

/// One step.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Cut(Pretokenizer),
    Rewrite(Rewriter),
}

/// What a stage does with the text of a word.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rewriter {
    Metaspace(Metaspace),
    PrefixSpace,
    Draw,
}

/// `schemes` up to the last one that rewrites, as steps; and what cuts behind it.
pub(super) fn compile(schemes: &[Scheme]) -> Result<(Vec<Step>, Pretokenizer)> {
    let mut steps = Vec::new();
    let mut cuts: Vec<Scheme> = Vec::new();
    for scheme in schemes {
        let rewriter = match scheme {
            &Scheme::Metaspace(spaces) => Some(Rewriter::Metaspace(spaces)),
            Scheme::PrefixSpace => Some(Rewriter::PrefixSpace),
            Scheme::DrawBytes => Some(Rewriter::Draw),
            _ => None,
        };
        if let Some(rewriter) = rewriter {
            if !cuts.is_empty() {
                steps.push(Step::Cut(Pretokenizer::new(&std::mem::take(&mut cuts))?));
            }
            steps.push(Step::Rewrite(rewriter));
        }
        // Metaspace cuts, too, what it has written.
        if matches!(scheme, Scheme::Metaspace(_)) || rewriter.is_none() {
            cuts.push(scheme.clone());
        }
    }
    Ok((steps, Pretokenizer::new(&cuts)?))
}

/// Cuts every part of `text` further.
pub(super) fn cut(
    cutter: &Pretokenizer,
    text: &str,
    parts: &mut Vec<(usize, usize)>,
) -> Result<()> {
    let mut finer = Vec::with_capacity(parts.len());
    cutter.for_each_part(text, parts, &mut |start, end| finer.push((start, end)))?;
    *parts = finer;
    Ok(())
}

impl Rewriter {
    /// Whether it asks where in the original text a word begins.
    pub(super) fn asks_for_origin(self) -> bool {
        matches!(self, Rewriter::Metaspace(Metaspace { dummy: Dummy::Start, .. }))
    }

    /// Writes every part of `text` anew to `out`. `origin` says which byte of the original a byte of
    /// `text` comes from.
    pub(super) fn run(
        self,
        text: &str,
        parts: &mut [(usize, usize)],
        place: Place,
        origin: impl Fn(usize) -> usize,
        out: &mut impl Sink,
    ) {
        let last = parts.len().saturating_sub(1);
        for (number, part) in parts.iter_mut().enumerate() {
            let (start, end) = *part;
            let from = out.len();
            let word = &text[start..end];
            let out = &mut Shifted { out, base: start };
            match self {
                Rewriter::Metaspace(spaces) => {
                    let first = match spaces.dummy {
                        Dummy::Start => origin(start) == 0,
                        _ => number == 0,
                    };
                    let place = Place {
                        first: place.first && first,
                        last: place.last && number == last,
                        ..place
                    };
                    metaspace::run(spaces, word, place, out);
                }
                Rewriter::PrefixSpace => {
                    if !word.is_empty() && !word.starts_with(' ') {
                        out.write(" ", 0, 0);
                    }
                    out.keep(word, 0, word.len());
                }
                Rewriter::Draw => draw::run(word, out),
            }
            *part = (from, out.len());
        }
    }
}
