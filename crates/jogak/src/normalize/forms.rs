//! The four normalization forms of Unicode (UAX #15): take characters apart, put marks into canonical
//! order, and for NFC and NFKC put characters together again.
//!
//! Rule: linear in the text whatever is in it; a text that is normal already is not touched. Unicode
//! 17.0 (or the 9.0 that Hugging Face's library holds; nothing but new characters differs).
//!
//! ```text
//! for each character c, taken apart into d1 d2 ...
//!     if d has combining class 0 and joins nothing before it:  finish what is in the buffer
//!     put d into the buffer
//! finish: sort marks by class (equal ones keep their order); compose, unless a mark of the same
//!         or a higher class stands between
//! ```

use std::sync::OnceLock;

use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{
    IsNormalized, UNICODE_VERSION, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::align::Sink;
use super::set::CharSet;
use super::tables::AFTER_9;

const _: () = assert!(UNICODE_VERSION.0 == 17, "saved tokenizers are bound to one Unicode version");

/// A normalization form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Canonical decomposition, then canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility decomposition, then canonical composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

/// A form at a Unicode version, with the characters that need work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Former {
    form: Form,
    /// Characters that came after this version's are left alone.
    young: Option<&'static CharSet>,
    /// Characters that may change, or join or pass what stands before them. All others are normal, have
    /// class 0 and begin something new.
    restless: &'static CharSet,
}

/// A character on its way: its class, and the bytes of the source it came from.
#[derive(Debug, Clone, Copy)]
struct Item {
    c: char,
    class: u8,
    start: usize,
    end: usize,
}

static YOUNG: OnceLock<CharSet> = OnceLock::new();

/// By form, then for 17.0 and 9.0.
static RESTLESS: [[OnceLock<CharSet>; 2]; 4] = [const { [const { OnceLock::new() }; 2] }; 4];

impl Former {
    pub(super) fn new(form: Form, unicode_9: bool) -> Self {
        let young = unicode_9.then(|| YOUNG.get_or_init(|| CharSet::of_ranges(&AFTER_9)));
        let restless = RESTLESS[form as usize][usize::from(unicode_9)].get_or_init(|| {
            CharSet::new(candidates().filter(|&c| {
                !young.is_some_and(|young| young.has(c))
                    && (quick(form, c) != IsNormalized::Yes || canonical_combining_class(c) != 0)
            }))
        });
        Self { form, young, restless }
    }

    /// Which form it is.
    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// The characters that [`Former::changes`] looks for.
    pub(super) fn restless(&self) -> &CharSet {
        self.restless
    }

    /// Whether there is a restless character.
    pub(super) fn changes(&self, text: &str) -> bool {
        self.restless.find(text, 0).is_some()
    }

    pub(super) fn run(&self, text: &str, out: &mut impl Sink) {
        let mut buffer: Vec<Item> = Vec::new();
        let mut done = 0;
        while let Some((_, at, _)) = self.restless.find(text, done) {
            // The character before may be joined by this one.
            let before = text[done..at].chars().next_back().map_or(0, char::len_utf8);
            out.keep(text, done, at - before);
            done = at - before;
            for (offset, c) in text[at - before..].char_indices() {
                let start = at - before + offset;
                if start >= at && !self.restless.has(c) {
                    break;
                }
                done = start + c.len_utf8();
                self.take_apart(c, |c| {
                    let class = self.class(c);
                    if class == 0 && self.begins(c) {
                        self.finish(&mut buffer, out);
                    }
                    buffer.push(Item { c, class, start, end: done });
                });
            }
            self.finish(&mut buffer, out);
        }
        out.keep(text, done, text.len());
    }

    fn is_young(&self, c: char) -> bool {
        self.young.is_some_and(|young| young.has(c))
    }

    fn class(&self, c: char) -> u8 {
        if self.is_young(c) { 0 } else { canonical_combining_class(c) }
    }

    fn take_apart(&self, c: char, each: impl FnMut(char)) {
        let mut each = each;
        if self.is_young(c) {
            return each(c);
        }
        match self.form {
            Form::Nfc | Form::Nfd => decompose_canonical(c, each),
            Form::Nfkc | Form::Nfkd => decompose_compatible(c, each),
        }
    }

    fn composes(&self) -> bool {
        matches!(self.form, Form::Nfc | Form::Nfkc)
    }

    /// Whether `c`, taken apart and of class 0, can join nothing before it.
    fn begins(&self, c: char) -> bool {
        !self.composes() || self.is_young(c) || quick(Form::Nfc, c) == IsNormalized::Yes
    }

    /// Orders, composes and writes what is in the buffer.
    fn finish(&self, buffer: &mut Vec<Item>, out: &mut impl Sink) {
        for run in buffer.chunk_by_mut(|a, b| a.class != 0 && b.class != 0) {
            // Few classes, so that sorting is linear.
            run.sort_by_key(|item| item.class);
        }
        if self.composes() {
            self.put_together(buffer);
        }
        // Marks that changed places, or were passed by one that was joined: spans must not go back.
        let mut least = usize::MAX;
        for item in buffer.iter_mut().rev() {
            least = least.min(item.start);
            item.start = least;
        }
        let mut greatest = 0;
        for item in buffer.drain(..) {
            greatest = greatest.max(item.end);
            out.write_char(item.c, item.start, greatest);
        }
    }

    fn put_together(&self, items: &mut Vec<Item>) {
        let mut kept = 0; // items[..kept] is the answer so far
        let mut starter: Option<usize> = None;
        for at in 0..items.len() {
            let item = items[at];
            // What stands between this character and the starter: marks of rising class.
            let blocked = starter
                .is_some_and(|starter| starter + 1 < kept && (items[kept - 1].class >= item.class));
            let joined = starter
                .filter(|_| !blocked)
                .and_then(|starter| Some((starter, compose(items[starter].c, item.c)?)))
                .filter(|&(_, joined)| !self.is_young(joined));
            if let Some((starter, joined)) = joined {
                let first = &mut items[starter];
                first.c = joined;
                first.start = first.start.min(item.start);
                first.end = first.end.max(item.end);
                continue;
            }
            if item.class == 0 {
                starter = Some(kept);
            }
            items[kept] = item;
            kept += 1;
        }
        items.truncate(kept);
    }
}

fn quick(form: Form, c: char) -> IsNormalized {
    let c = std::iter::once(c);
    match form {
        Form::Nfc => is_nfc_quick(c),
        Form::Nfd => is_nfd_quick(c),
        Form::Nfkc => is_nfkc_quick(c),
        Form::Nfkd => is_nfkd_quick(c),
    }
}

/// `text` in a form, for those who build tables.
pub(super) fn formed(form: Form, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    Former::new(form, false).run(text, &mut out);
    out
}

/// The characters that NFKD changes, in order.
pub(super) fn decomposing() -> impl Iterator<Item = char> {
    candidates().filter(|&c| quick(Form::Nfkd, c) != IsNormalized::Yes)
}

/// All characters but those of large blocks that no form changes: unified ideographs, private use, and
/// the planes where Unicode 17.0 has none.
fn candidates() -> impl Iterator<Item = char> {
    ('\0'..='\u{33ff}')
        .chain('\u{a000}'..='\u{d7ff}')
        .chain('\u{f900}'..='\u{1ffff}')
        .chain('\u{2f800}'..='\u{2fa1f}')
        .chain('\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_character_needs_work() {
        let looked_at = CharSet::new(candidates());
        for c in ('\0'..=char::MAX).filter(|&c| !looked_at.has(c)) {
            assert_eq!(canonical_combining_class(c), 0);
            for form in [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd] {
                assert!(quick(form, c) == IsNormalized::Yes, "{form:?} U+{:X}", c as u32);
            }
        }
    }
}
