//! A stream of ids: text comes out as soon as nothing that follows can change it.
//!
//! Law: all texts that come out, joined, are what [`Decoder::text`] gives for all ids.

use super::chain::Progress;
use super::lossy::Lossy;
use super::native::Draft;
use super::{Decoder, Way, into_text, sentencepiece};
use crate::error::Result;

/// Where a stream of ids stands. Belongs to one [`Decoder`].
#[derive(Debug, Clone)]
pub struct Stream {
    work: Work,
    skip_specials: bool,
    /// How many ids have come.
    ids: usize,
}

#[derive(Debug, Clone)]
enum Work {
    Native(Draft, Lossy),
    Chain(Progress),
    SentencePiece(sentencepiece::Progress),
}

impl Stream {
    /// A new stream.
    pub fn new(decoder: &Decoder, skip_specials: bool) -> Self {
        let work = match &decoder.way {
            Way::Native(_) => Work::Native(Draft::default(), Lossy::default()),
            Way::Chain(chain) => Work::Chain(chain.start(false)),
            Way::SentencePiece(way) => Work::SentencePiece(way.start(false)),
        };
        Self { work, skip_specials, ids: 0 }
    }

    /// Takes the next ids, and gives the text that can no longer change.
    ///
    /// # Errors
    /// [`crate::Error::UnknownId`], and then none of the ids was taken; [`crate::Error::PatternGaveUp`],
    /// and then the stream is of no use any more.
    pub fn push(&mut self, decoder: &Decoder, ids: &[u32]) -> Result<String> {
        for (at, &id) in ids.iter().enumerate() {
            decoder.piece(id, self.ids + at)?;
        }
        self.ids += ids.len();
        let mut out = Vec::new();
        match (&mut self.work, &decoder.way) {
            (Work::Native(draft, lossy), Way::Native(native)) => {
                let mut bytes = Vec::new();
                for &id in ids {
                    let piece = decoder.vocab.piece(id).unwrap_or_default();
                    native.push(decoder.kinds[id as usize], piece, self.skip_specials, draft);
                }
                native.give(draft, &mut bytes);
                lossy.push(&bytes, |text| {
                    out.extend_from_slice(text);
                    Ok(())
                })?;
            }
            (Work::Chain(progress), Way::Chain(chain)) => {
                for &id in ids {
                    if !decoder.is_skipped(id, self.skip_specials) {
                        let piece = decoder.vocab.piece(id).unwrap_or_default();
                        chain.push(id, piece, progress, &mut out)?;
                    }
                }
            }
            (Work::SentencePiece(progress), Way::SentencePiece(way)) => {
                for &id in ids {
                    if !decoder.is_skipped(id, self.skip_specials) {
                        way.push(id, progress, &mut out);
                    }
                }
            }
            // Another decoder's stream.
            _ => {}
        }
        Ok(into_text(out))
    }

    /// The ids have ended: gives the rest of the text, and begins anew.
    ///
    /// # Errors
    /// [`crate::Error::PatternGaveUp`].
    pub fn finish(&mut self, decoder: &Decoder) -> Result<String> {
        let mut out = Vec::new();
        let done = std::mem::replace(self, Self::new(decoder, self.skip_specials));
        match (done.work, &decoder.way) {
            (Work::Native(mut draft, mut lossy), Way::Native(native)) => {
                native.end_stretch(&mut draft, true);
                lossy.push(&draft.bytes, |text| {
                    out.extend_from_slice(text);
                    Ok(())
                })?;
                out.extend_from_slice(lossy.finish());
            }
            (Work::Chain(mut progress), Way::Chain(chain)) => {
                chain.finish(&mut progress, &mut out)?;
            }
            (Work::SentencePiece(mut progress), Way::SentencePiece(way)) => {
                way.finish(&mut progress, &mut out)?;
            }
            _ => {}
        }
        Ok(into_text(out))
    }
}
