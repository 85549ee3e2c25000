//! Lower case and case folding, one character at a time (no rule for the last sigma of a word, as in
//! Hugging Face's library). Unicode 17.0, by tables of this crate: no compiler's version shows.

use std::sync::OnceLock;

use super::align::Sink;
use super::set::{CharSet, Rewrite};
use super::tables::{FOLD, FULL_FOLD, LOWER};

type Mapping = [(u32, u32, u32, i32)];

fn look_up(mapping: &Mapping, c: char) -> char {
    let code = c as u32;
    let next = mapping.partition_point(|row| row.0 <= code);
    let Some(&(first, last, step, distance)) = next.checked_sub(1).map(|at| &mapping[at]) else {
        return c;
    };
    if code > last || !(code - first).is_multiple_of(step) {
        return c;
    }
    code.checked_add_signed(distance).and_then(char::from_u32).unwrap_or(c)
}

fn members(mapping: &Mapping) -> impl Iterator<Item = char> {
    let codes =
        mapping.iter().flat_map(|&(first, last, step, _)| (first..=last).step_by(step as usize));
    codes.filter_map(char::from_u32)
}

/// The small letter of a capital. (U+0130, whose lower case is two characters, stays here.)
pub(super) fn lower(c: char) -> char {
    look_up(&LOWER, c)
}

/// Simple case folding (statuses C and S of CaseFolding.txt).
pub(super) fn simple_fold(c: char) -> char {
    look_up(&FOLD, c)
}

/// The characters that simple case folding changes.
pub(super) fn folded() -> impl Iterator<Item = char> {
    members(&FOLD)
}

fn full_fold(c: char) -> Option<&'static str> {
    FULL_FOLD.binary_search_by_key(&c, |row| row.0).ok().map(|at| FULL_FOLD[at].1)
}

/// Capital I with a dot, and the two characters of its lower case.
const DOTTED: (char, &str) = ('\u{130}', "i\u{307}");

/// Lower case, or case folding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caser {
    fold: bool,
    capitals: &'static CharSet,
}

static CAPITALS: [OnceLock<CharSet>; 2] = [const { OnceLock::new() }; 2];

impl Caser {
    /// Whether it is case folding.
    pub(super) fn folds(&self) -> bool {
        self.fold
    }

    pub(super) fn new(fold: bool) -> Self {
        let capitals = CAPITALS[usize::from(fold)].get_or_init(|| {
            if fold {
                CharSet::new(members(&FOLD).chain(FULL_FOLD.iter().map(|row| row.0)))
            } else {
                CharSet::new(members(&LOWER).chain([DOTTED.0]))
            }
        });
        Self { fold, capitals }
    }

    /// The characters that change.
    pub(super) fn capitals(&self) -> &CharSet {
        self.capitals
    }

    pub(super) fn changes(&self, text: &str) -> bool {
        self.capitals.find(text, 0).is_some()
    }

    pub(super) fn run(&self, text: &str, out: &mut impl Sink) {
        self.capitals.rewrite(text, out, |c, start, end, out| {
            let several =
                if self.fold { full_fold(c) } else { (c == DOTTED.0).then_some(DOTTED.1) };
            match several {
                Some(text) => out.write(text, start, end),
                None if self.fold => out.write_char(simple_fold(c), start, end),
                None => out.write_char(lower(c), start, end),
            }
        });
    }
}
