//! Words of one script (Latin, Han, Hangul, ...). The rule is written at [`super::Scheme::Script`].

use super::classes::code_point_at;
use super::script_ranges::{INHERITED, SCRIPT_RANGES};

/// What script a character is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// A script, by its number in the table of this crate; Japanese kana count as Han.
    Of(u8),
    /// Used with many scripts (digits, punctuation), or not assigned.
    Common,
    /// Takes the script of the character it stands behind (combining marks).
    Inherited,
}

impl Script {
    /// The script of `character`.
    ///
    /// ```
    /// use jogak::pretokenize::Script;
    /// assert_eq!(Script::of('あ'), Script::of('漢'));
    /// assert_eq!((Script::of('7'), Script::of('\u{301}')), (Script::Common, Script::Inherited));
    /// ```
    #[must_use]
    pub fn of(character: char) -> Self {
        let code_point = u32::from(character);
        let after = INHERITED.partition_point(|range| range.1 < code_point);
        match Stretch::of(code_point).script {
            NO_SCRIPT if INHERITED.get(after).is_some_and(|range| range.0 <= code_point) => {
                Script::Inherited
            }
            NO_SCRIPT => Script::Common,
            script => Script::Of(script),
        }
    }
}

/// What has no script of its own.
const NO_SCRIPT: u8 = u8::MAX;

/// The script of one stretch of code points; a text mostly stays in the stretch it is in.
struct Stretch {
    first: u32,
    last: u32,
    script: u8,
}

impl Stretch {
    /// The stretch that `code_point` is in, or that of the gap between two stretches.
    fn of(code_point: u32) -> Self {
        let after = SCRIPT_RANGES.partition_point(|range| range.1 < code_point);
        match SCRIPT_RANGES.get(after) {
            Some(&(first, last, script)) if first <= code_point => Self { first, last, script },
            range => Self {
                first: after.checked_sub(1).map_or(0, |before| SCRIPT_RANGES[before].1 + 1),
                last: range.map_or(u32::MAX, |range| range.0 - 1),
                script: NO_SCRIPT,
            },
        }
    }
}

/// Calls `word` with every word of `text`.
#[inline(always)]
pub(super) fn scan(text: &str, mut word: impl FnMut(usize, usize)) {
    let text = text.as_bytes();
    let latin = Stretch::of(u32::from('a')).script;
    let mut stretch = Stretch::of(0);
    let mut script = NO_SCRIPT;
    let mut start = 0;
    let mut at = 0;
    // Where the spaces right before `at` start.
    let mut spaces = 0;
    while let Some((code_point, next)) = code_point_at(text, at) {
        let found = if code_point < 0x80 {
            if text[at].is_ascii_alphabetic() { latin } else { NO_SCRIPT }
        } else {
            if code_point < stretch.first || stretch.last < code_point {
                stretch = Stretch::of(code_point);
            }
            stretch.script
        };
        if found != NO_SCRIPT {
            if script != NO_SCRIPT && found != script {
                word(start, spaces);
                start = spaces;
            }
            script = found;
        }
        at = next;
        if code_point != u32::from(' ') && code_point != u32::from('▁') {
            spaces = at;
        }
    }
    if start < at {
        word(start, at);
    }
}
