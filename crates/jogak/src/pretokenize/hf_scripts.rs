//! Words of one script, as the `UnicodeScripts` of HF tokenizers cuts them.
//!
//! Rule: equal to theirs on every text, at the Unicode version that their table has.

use super::hf_script_ranges::HF_SCRIPT_RANGES;

/// Calls `word` with every word of `text`.
pub(super) fn scan(text: &str, mut word: impl FnMut(usize, usize)) {
    let mut last: Option<u8> = None;
    let mut start = None;
    for (at, c) in text.char_indices() {
        let Some(script) = script(c) else { continue };
        if last != Some(script) {
            if let Some(start) = start.replace(at) {
                word(start, at);
            }
            last = Some(script);
        }
    }
    if let Some(start) = start {
        word(start, text.len());
    }
}

/// The script of a character, None for one that goes with any: a space, or one that is not known.
fn script(c: char) -> Option<u8> {
    let code = u32::from(c);
    let after = HF_SCRIPT_RANGES.partition_point(|range| range.1 < code);
    HF_SCRIPT_RANGES.get(after).filter(|range| range.0 <= code).map(|range| range.2)
}
