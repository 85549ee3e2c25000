//! Symbols of words as HF tokenizers puts them down: what stands for unknown characters is there before anything is
//! merged.

use std::borrow::Cow;

use super::Bpe;
use crate::error::{Error, Result};
use crate::symbols::{Marker, Symbol, UNKNOWN};

impl Bpe {
    /// The symbols of a word with what stands for unknown ones, as HF tokenizers puts them down: an
    /// unknown piece waits for the next known character, and bytes do not wait.
    pub(super) fn hf_symbols(
        &self,
        word: &str,
        keep_uncovered: bool,
        symbols: &mut Vec<Symbol>,
    ) -> Result<()> {
        let mut waiting: Option<Symbol> = None;
        let mut result = Ok(());
        self.symbols.for_each(word, |symbol| {
            if symbol.id != UNKNOWN {
                symbols.extend(waiting.take());
                symbols.push(symbol);
                return;
            }
            if let Some(ids) = &self.byte_fallback {
                let text = self.marked_symbol(word, symbol);
                let bytes = || text.bytes().map(|byte| ids[usize::from(byte)]);
                if bytes().all(|id| id != UNKNOWN) {
                    // The bytes of a marker stand for nothing in the word.
                    let within = symbol.start..symbol.end;
                    let before = text.len() - within.len() - self.end_of(word, symbol).len();
                    symbols.extend(bytes().zip(0..).map(|(id, at): (u32, usize)| {
                        let start = (within.start + at.saturating_sub(before)).min(within.end);
                        let end = if at < before { start } else { (start + 1).min(within.end) };
                        Symbol { id, start, end }
                    }));
                    return;
                }
            }
            let id = match self.unknown {
                Some(id) => id,
                None if self.drop_unknown => return,
                None if keep_uncovered => {
                    symbols.push(symbol);
                    return;
                }
                None => {
                    let text = word.get(symbol.start..symbol.end);
                    let text = text.unwrap_or("part of a character").to_owned();
                    result = Err(Error::NotCovered { text });
                    return;
                }
            };
            match &mut waiting {
                Some(run) if self.fuse_unknown => run.end = symbol.end,
                _ => symbols.extend(waiting.replace(Symbol { id, ..symbol })),
            }
        });
        symbols.extend(waiting);
        result
    }

    /// What is glued to the end of a symbol.
    fn end_of(&self, word: &str, symbol: Symbol) -> &str {
        if symbol.end < word.len() {
            return "";
        }
        match &self.word_marker {
            Marker::Suffix { text, joined: true } => text,
            _ => &self.word_suffix,
        }
    }

    /// The text of a symbol with its markers.
    fn marked_symbol<'a>(&self, word: &'a str, symbol: Symbol) -> Cow<'a, str> {
        let before = if symbol.start > 0 { self.word_marker.stripped() } else { "" };
        let text = word.get(symbol.start..symbol.end).unwrap_or_default();
        let end = self.end_of(word, symbol);
        if before.is_empty() && end.is_empty() {
            return text.into();
        }
        [before, text, end].concat().into()
    }
}
