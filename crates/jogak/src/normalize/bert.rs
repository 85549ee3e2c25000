//! BERT's normalizer (Devlin et al. 2019), in its parts: clean text, spaces around Chinese characters,
//! accents off. (Lower case comes last and is the ordinary one.)
//!
//! Rule: equal to Hugging Face's on every text. Its classes stand at Unicode 8.0 and its
//! decompositions at 9.0: a control character or a mark that came later is text like any other.

use std::sync::OnceLock;

use super::align::Sink;
use super::set::{CharSet, Rewrite};
use super::tables::{BERT_ACCENTS, BERT_DROPPED, MARKS};

/// White space, which becomes a plain space. Other controls that Unicode counts as white space vanish.
const SPACES: [char; 20] = [
    '\t', '\n', '\r', '\u{a0}', '\u{1680}', '\u{2000}', '\u{2001}', '\u{2002}', '\u{2003}',
    '\u{2004}', '\u{2005}', '\u{2006}', '\u{2007}', '\u{2008}', '\u{2009}', '\u{200a}', '\u{2028}',
    '\u{2029}', '\u{202f}', '\u{205f}',
];
const IDEOGRAPHIC_SPACE: char = '\u{3000}';

/// The blocks of Chinese characters, as BERT lists them. (The fifth should begin at U+2B820; every model
/// was trained with this list.)
pub(super) const CHINESE: [(u32, u32); 8] = [
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
];

/// What the `Nmt` of Hugging Face's library drops.
const NMT_DROPPED: [(u32, u32); 6] =
    [(1, 8), (0xB, 0xB), (0xE, 0x1F), (0x7F, 0x7F), (0x8F, 0x8F), (0x9F, 0x9F)];

/// What becomes a space there.
const NMT_SPACES: [(u32, u32); 8] = [
    (9, 0xA),
    (0xC, 0xD),
    (0x1680, 0x1680),
    (0x200B, 0x200F),
    (0x2028, 0x2029),
    (0x2581, 0x2581),
    (0xFEFF, 0xFEFF),
    (0xFFFD, 0xFFFD),
];

/// One part of the normalizer: what it does with the members of a set.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Clean,
    Chinese,
    /// Drop nonspacing marks, which a decomposition has laid bare.
    Accents,
    /// Drop all combining marks.
    Marks,
    /// The `Nmt` of Hugging Face's library.
    Nmt,
}

impl Part {
    /// The characters that change.
    pub(super) fn set(self) -> &'static CharSet {
        static SETS: [OnceLock<CharSet>; 5] = [const { OnceLock::new() }; 5];
        SETS[self as usize].get_or_init(|| match self {
            Part::Clean => {
                let dropped = BERT_DROPPED.iter().flat_map(|&(first, last)| first..=last);
                let dropped = dropped.filter_map(char::from_u32).chain(['\u{fffd}']);
                CharSet::new(dropped.chain(SPACES).chain([IDEOGRAPHIC_SPACE]))
            }
            Part::Chinese => CharSet::of_ranges(&CHINESE),
            Part::Accents => CharSet::of_ranges(&BERT_ACCENTS),
            Part::Marks => CharSet::of_ranges(&MARKS),
            Part::Nmt => CharSet::of_ranges(&[&NMT_DROPPED[..], &NMT_SPACES].concat()),
        })
    }

    pub(super) fn changes(self, text: &str) -> bool {
        self.set().find(text, 0).is_some()
    }

    pub(super) fn run(self, text: &str, out: &mut impl Sink) {
        self.set().rewrite(text, out, |c, start, end, out| match self {
            Part::Clean if SPACES.contains(&c) || c == IDEOGRAPHIC_SPACE => {
                out.write(" ", start, end);
            }
            Part::Nmt if NMT_SPACES.iter().any(|&(a, b)| a <= c as u32 && c as u32 <= b) => {
                out.write(" ", start, end);
            }
            Part::Chinese => {
                out.write(" ", start, start);
                out.keep(text, start, end);
                out.write(" ", end, end);
            }
            Part::Clean | Part::Accents | Part::Marks | Part::Nmt => {}
        });
    }
}
