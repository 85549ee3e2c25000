//! How a word becomes its first symbols: the base alphabet and the border marker.
//!
//! Rule: training and encoding cut words with the same [`Symbols`], so that they can never differ.
//!
//! ```text
//! word "low"   none          l o w
//!              suffix own    l o w </w>          (Sennrich et al. 2016)
//!              suffix joined l o w</w>           (subword-nmt 0.2, HF's end_of_word_suffix)
//!              prefix        ▁ l o w             (SentencePiece)
//!              continuation  l ##o ##w           (BERT)
//!              bytes         6C 6F 77            (GPT-2)
//! ```

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// Stands where a character is outside the alphabet; it is never part of a pair.
pub const UNKNOWN: u32 = u32::MAX - 2;

/// Whether a text can have this byte: UTF-8 has neither 0xC0 and 0xC1 nor 0xF5 and above.
pub(crate) fn is_of_text(byte: u8) -> bool {
    !matches!(byte, 0xC0 | 0xC1 | 0xF5..)
}

/// How a word's border is written into its symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    /// Not at all.
    None,
    /// A text behind the last character, as a symbol of its own or glued to that character.
    Suffix {
        /// The text, such as `</w>`.
        text: String,
        /// Glued to the last character rather than a symbol of its own.
        joined: bool,
    },
    /// A text before the first character, as a symbol of its own.
    Prefix {
        /// The text, such as `▁`.
        text: String,
    },
    /// A text glued to every character but the first.
    Continuation {
        /// The text, such as `##`.
        text: String,
    },
}

impl Marker {
    /// The text that a merge strips from its right part (`a` + `##b` = `ab`), or nothing.
    pub fn stripped(&self) -> &str {
        match self {
            Marker::Continuation { text } => text,
            _ => "",
        }
    }
}

/// The form in which a character stands in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// As it is.
    Plain,
    /// With the marker glued to it.
    Marked,
}

/// Cuts words into symbol ids.
#[derive(Debug, Clone)]
pub enum Symbols {
    /// Every byte is a symbol.
    Bytes {
        /// Byte -> id.
        ids: Box<[u32; 256]>,
    },
    /// Every character is a symbol.
    Chars(CharSymbols),
}

/// The alphabet of characters, with the marker written in.
#[derive(Debug, Clone)]
pub struct CharSymbols {
    /// How the border is written; [`Marker::None`] where the words already carry it.
    marker: Marker,
    /// ASCII characters as they are -> id, or [`UNKNOWN`].
    ascii: Box<[u32; 128]>,
    /// All other characters as they are -> id.
    plain: FxHashMap<char, u32>,
    /// Characters with the marker glued to them -> id.
    marked: FxHashMap<char, u32>,
    /// The id of the marker as a symbol of its own, or [`UNKNOWN`].
    own: u32,
    /// A text glued to the last character too (HF's `end_of_word_suffix` beside a prefix), and the last
    /// characters with it: as they are, and with the marker.
    end: String,
    ended: [FxHashMap<char, u32>; 2],
}

/// One symbol of a word: its id, and the bytes of the word that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// The id, or [`UNKNOWN`].
    pub id: u32,
    /// Where the symbol's text starts in the word, in bytes.
    pub start: usize,
    /// Where it ends; equal to `start` for a marker that is a symbol of its own.
    pub end: usize,
}

impl Symbols {
    /// Symbols that are bytes; `ids[b]` is the id of byte `b`.
    pub fn bytes(ids: [u32; 256]) -> Self {
        Symbols::Bytes { ids: Box::new(ids) }
    }

    /// Symbols that are characters. `id_of` tells the id of a text, or None where it is no symbol;
    /// it is asked for every given character in each form and for the marker.
    pub fn chars(
        marker: Marker,
        characters: impl Iterator<Item = char>,
        id_of: impl FnMut(&str) -> Option<u32>,
    ) -> Self {
        Self::chars_with_end(marker, String::new(), characters, id_of)
    }

    /// The same, with a text `end` that is glued to the last character of a word, whatever the marker
    /// does to it; empty for none.
    pub fn chars_with_end(
        marker: Marker,
        end: String,
        characters: impl Iterator<Item = char>,
        mut id_of: impl FnMut(&str) -> Option<u32>,
    ) -> Self {
        let mut symbols = CharSymbols {
            ascii: Box::new([UNKNOWN; 128]),
            plain: FxHashMap::default(),
            marked: FxHashMap::default(),
            own: UNKNOWN,
            end,
            ended: Default::default(),
            marker,
        };
        let mut text = String::new();
        for character in characters {
            text.clear();
            text.push(character);
            if let Some(id) = id_of(&text) {
                if character.is_ascii() {
                    symbols.ascii[character as usize] = id;
                } else {
                    symbols.plain.insert(character, id);
                }
            }
            if symbols.marker.write(character, Form::Marked, &mut text)
                && let Some(id) = id_of(&text)
            {
                symbols.marked.insert(character, id);
            }
            if symbols.end.is_empty() {
                continue;
            }
            for (form, ids) in [Form::Plain, Form::Marked].into_iter().zip(&mut symbols.ended) {
                if symbols.marker.write(character, form, &mut text) {
                    text.push_str(&symbols.end);
                    if let Some(id) = id_of(&text) {
                        ids.insert(character, id);
                    }
                }
            }
        }
        if let Some(own) = symbols.marker.own() {
            symbols.own = id_of(own).unwrap_or(UNKNOWN);
        }
        Symbols::Chars(symbols)
    }

    /// The id of a sign, or [`UNKNOWN`]; where symbols are bytes, none is one.
    pub fn id(&self, sign: Sign) -> u32 {
        match (self, sign) {
            (Symbols::Bytes { .. }, _) => UNKNOWN,
            (Symbols::Chars(chars), Sign::Character(character, form)) => chars.id(character, form),
            (Symbols::Chars(chars), Sign::Own) => chars.own,
        }
    }

    /// Calls `emit` for every symbol of `word`, left to right. Cost: linear in the word.
    #[inline]
    pub fn for_each(&self, word: &str, mut emit: impl FnMut(Symbol)) {
        match self {
            Symbols::Bytes { ids } => {
                for (start, &byte) in word.as_bytes().iter().enumerate() {
                    emit(Symbol { id: ids[usize::from(byte)], start, end: start + 1 });
                }
            }
            Symbols::Chars(chars) => chars.for_each(word, emit),
        }
    }
}

impl CharSymbols {
    #[inline]
    fn id(&self, character: char, form: Form) -> u32 {
        match form {
            Form::Plain if character.is_ascii() => self.ascii[character as usize],
            Form::Plain => self.plain.get(&character).copied().unwrap_or(UNKNOWN),
            Form::Marked => self.marked.get(&character).copied().unwrap_or(UNKNOWN),
        }
    }

    #[inline]
    fn for_each(&self, word: &str, mut emit: impl FnMut(Symbol)) {
        self.marker.for_each(word, |sign, start, end| {
            let id = match sign {
                Sign::Character(character, form) if end == word.len() && !self.end.is_empty() => {
                    let ids = &self.ended[usize::from(form == Form::Marked)];
                    ids.get(&character).copied().unwrap_or(UNKNOWN)
                }
                Sign::Character(character, form) => self.id(character, form),
                Sign::Own => self.own,
            };
            emit(Symbol { id, start, end });
        });
    }
}

/// What a word is made of, before it is known which of it are symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sign {
    /// A character.
    Character(char, Form),
    /// The marker where it is a symbol of its own.
    Own,
}

impl Marker {
    /// Calls `emit(sign, start, end)` for every sign of `word`, left to right, with the bytes that it
    /// stands for.
    #[inline]
    pub fn for_each(&self, word: &str, emit: impl FnMut(Sign, usize, usize)) {
        let mut rest = word.chars();
        let next = || Some((rest.next()?, word.len() - rest.as_str().len()));
        self.for_each_of(next, word.len(), emit);
    }

    /// The same for a word of so many bytes, whose characters come one by one, with where each ends.
    #[inline]
    pub(crate) fn for_each_of(
        &self,
        mut next: impl FnMut() -> Option<(char, usize)>,
        length: usize,
        mut emit: impl FnMut(Sign, usize, usize),
    ) {
        if matches!(self, Marker::Prefix { .. }) && length > 0 {
            emit(Sign::Own, 0, 0);
        }
        let mut start = 0;
        while let Some((character, end)) = next() {
            let form = self.form(start == 0, end == length);
            emit(Sign::Character(character, form), start, end);
            start = end;
        }
        if matches!(self, Marker::Suffix { joined: false, .. }) && length > 0 {
            emit(Sign::Own, start, start);
        }
    }

    /// The form of a character that is the first or the last of its word, or neither.
    #[inline]
    pub fn form(&self, first: bool, last: bool) -> Form {
        match self {
            Marker::Suffix { joined: true, .. } if last => Form::Marked,
            Marker::Continuation { .. } if !first => Form::Marked,
            _ => Form::Plain,
        }
    }

    /// The marker's text where it is a symbol of its own.
    pub fn own(&self) -> Option<&str> {
        match self {
            Marker::Suffix { text, joined: false } | Marker::Prefix { text } => Some(text),
            _ => None,
        }
    }

    /// The length of a piece in characters (bytes for an alphabet of bytes), its marker left out.
    pub fn length(&self, piece: &[u8], bytes: bool) -> u32 {
        if bytes {
            return piece.len() as u32;
        }
        let bare = match self {
            Marker::None => None,
            Marker::Suffix { text, .. } => piece.strip_suffix(text.as_bytes()),
            Marker::Prefix { text } | Marker::Continuation { text } => {
                piece.strip_prefix(text.as_bytes())
            }
        };
        // Bytes that do not continue a character.
        bare.unwrap_or(piece).iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u32
    }

    /// Writes `character` in `form` to `text`; false if the marker knows no such form.
    pub fn write(&self, character: char, form: Form, text: &mut String) -> bool {
        text.clear();
        match (form, self) {
            (Form::Plain, _) => text.push(character),
            (Form::Marked, Marker::Suffix { text: mark, joined: true }) => {
                text.push(character);
                text.push_str(mark);
            }
            (Form::Marked, Marker::Continuation { text: mark }) => {
                text.push_str(mark);
                text.push(character);
            }
            _ => return false,
        }
        true
    }
}

/// The 256 bytes in the order of GPT-2's printable characters: first those that are printable
/// themselves (33-126, 161-172, 174-255), then the others. HF tokenizers number them so.
///
/// ```
/// let order = jogak::symbols::byte_order();
/// assert_eq!(order[0], b'!');
/// assert_eq!(order[220], b' ');
/// ```
pub fn byte_order() -> [u8; 256] {
    let printable = |byte: &u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut order = [0; 256];
    let first = (0..=255u8).filter(printable);
    let rest = (0..=255u8).filter(|byte| !printable(byte));
    for (slot, byte) in order.iter_mut().zip(first.chain(rest)) {
        *slot = byte;
    }
    order
}

/// The printable character of every byte, GPT-2's way: printable bytes are themselves, the others are
/// numbered from U+0100 on.
fn printable() -> [char; 256] {
    let mut characters = ['\0'; 256];
    let mut other = '\u{100}'..;
    for (place, byte) in byte_order().into_iter().enumerate() {
        let own = char::from(byte);
        characters[usize::from(byte)] = if place < 188 { own } else { other.next().unwrap_or(own) };
    }
    characters
}

/// Bytes as GPT-2 draws them.
///
/// ```
/// assert_eq!(jogak::symbols::draw(" 밥".as_bytes()), "Ġë°¥");
/// ```
pub fn draw(bytes: &[u8]) -> String {
    let mut drawn = String::with_capacity(2 * bytes.len());
    draw_into(bytes, &mut drawn);
    drawn
}

/// The same, behind what `drawn` has.
pub fn draw_into(bytes: &[u8], drawn: &mut String) {
    static CHARACTERS: OnceLock<[char; 256]> = OnceLock::new();
    let characters = CHARACTERS.get_or_init(printable);
    drawn.extend(bytes.iter().map(|&byte| characters[usize::from(byte)]));
}

/// The same as UTF-8: for many short texts it takes half the time.
pub fn draw_as_utf8(bytes: &[u8], drawn: &mut Vec<u8>) {
    /// One byte or two, and how many.
    static CHARACTERS: OnceLock<[([u8; 2], usize); 256]> = OnceLock::new();
    let characters = CHARACTERS.get_or_init(|| {
        printable().map(|character| {
            let mut bytes = [0; 2];
            let len = character.encode_utf8(&mut bytes).len();
            (bytes, len)
        })
    });
    for &byte in bytes {
        let (both, len) = characters[usize::from(byte)];
        drawn.extend_from_slice(&both);
        drawn.truncate(drawn.len() - (2 - len));
    }
}

/// The bytes of texts that were drawn by [`draw`].
#[derive(Debug)]
pub struct Undraw(Box<[u16; DRAWN]>);

/// Characters from here on stand for no byte.
const DRAWN: usize = 0x144;
/// Stands where a character stands for no byte.
const NO_BYTE: u16 = 0x100;

impl Default for Undraw {
    fn default() -> Self {
        let mut bytes = Box::new([NO_BYTE; DRAWN]);
        for (character, byte) in printable().into_iter().zip(0u16..) {
            if let Some(slot) = bytes.get_mut(character as usize) {
                *slot = byte;
            }
        }
        Self(bytes)
    }
}

impl Undraw {
    /// The byte that a character stands for.
    pub fn byte(&self, character: char) -> Option<u8> {
        self.0.get(character as usize).and_then(|&byte| u8::try_from(byte).ok())
    }

    /// The bytes of a drawn text; the first character that stands for no byte, if there is one.
    pub fn bytes(&self, text: &str) -> Result<Vec<u8>, char> {
        let mut bytes = Vec::with_capacity(text.len());
        self.bytes_into(text, &mut bytes)?;
        Ok(bytes)
    }

    /// The bytes of a drawn text, behind what `bytes` has; false if a character stands for none, or if it is no
    /// UTF-8, and then that is what it has.
    pub fn plain_into(&self, text: &[u8], bytes: &mut Vec<u8>) -> bool {
        let before = bytes.len();
        let mut text = text.iter();
        while let Some(&first) = text.next() {
            let character = match (first, text.as_slice()) {
                (..0x80, _) => usize::from(first),
                (0xC2..0xC6, [second @ 0x80..0xC0, ..]) => {
                    text.next();
                    usize::from(first & 0x1F) << 6 | usize::from(second & 0x3F)
                }
                _ => DRAWN,
            };
            match self.0.get(character).map(|&byte| u8::try_from(byte)) {
                Some(Ok(byte)) => bytes.push(byte),
                _ => {
                    bytes.truncate(before);
                    return false;
                }
            }
        }
        true
    }

    /// The same, behind what `bytes` has; that is what it has if there is such a character.
    pub fn bytes_into(&self, text: &str, bytes: &mut Vec<u8>) -> Result<(), char> {
        let before = bytes.len();
        for character in text.chars() {
            match self.byte(character) {
                Some(byte) => bytes.push(byte),
                None => {
                    bytes.truncate(before);
                    return Err(character);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(marker: Marker, word: &str) -> Vec<String> {
        let mut texts = Vec::new();
        let symbols = Symbols::chars(marker, word.chars(), |text| {
            texts.push(text.to_owned());
            u32::try_from(texts.len() - 1).ok()
        });
        let mut out = Vec::new();
        symbols.for_each(word, |symbol| out.push(texts[symbol.id as usize].clone()));
        out
    }

    #[test]
    fn every_marker_is_written_as_its_users_write_it() {
        let text = |t: &str| t.to_owned();
        assert_eq!(cut(Marker::None, "low"), ["l", "o", "w"]);
        let own = Marker::Suffix { text: text("</w>"), joined: false };
        assert_eq!(cut(own, "low"), ["l", "o", "w", "</w>"]);
        let joined = Marker::Suffix { text: text("</w>"), joined: true };
        assert_eq!(cut(joined.clone(), "low"), ["l", "o", "w</w>"]);
        assert_eq!(cut(joined, "a"), ["a</w>"]);
        assert_eq!(cut(Marker::Prefix { text: text("▁") }, "low"), ["▁", "l", "o", "w"]);
        let continuation = Marker::Continuation { text: text("##") };
        assert_eq!(cut(continuation, "계란밥"), ["계", "##란", "##밥"]);
    }

    #[test]
    fn bytes_of_text_are_those_of_all_characters() {
        let mut found = [false; 256];
        for character in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            let text = character.encode_utf8(&mut bytes);
            text.bytes().for_each(|byte| found[usize::from(byte)] = true);
        }
        assert!((0..=u8::MAX).all(|byte| found[usize::from(byte)] == is_of_text(byte)));
    }

    #[test]
    fn drawn_texts_are_bytes_either_way() {
        let undraw = Undraw::default();
        let mut drawn = String::new();
        let (all, mut as_utf8) = ((0..=255).collect::<Vec<u8>>(), b"before".to_vec());
        draw_into(&all, &mut drawn);
        draw_as_utf8(&all, &mut as_utf8);
        assert_eq!(as_utf8, [b"before", drawn.as_bytes()].concat());
        let every = (0..=char::MAX as u32).filter_map(char::from_u32).map(String::from);
        let glued = every.clone().take(0x300).map(|one| format!("lo{one}w"));
        for text in every.chain(glued).chain([drawn, String::new()]) {
            let mut plain = b"before".to_vec();
            let fits = undraw.plain_into(text.as_bytes(), &mut plain);
            assert_eq!(fits.then(|| plain.split_off(6)), undraw.bytes(&text).ok(), "{text:?}");
            assert_eq!(plain, b"before");
        }
        for wrong in [&b"\xC3("[..], b"a\xC3", b"\xC3\xC3\xA9", b"\xA9", b"\xFF", b"\xC0\x80"] {
            assert!(!undraw.plain_into(wrong, &mut Vec::new()), "{wrong:?}");
        }
    }
}
