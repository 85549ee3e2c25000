//! Bytes as characters, the way GPT-2 (Radford et al. 2019) writes them into its vocabulary: printable
//! bytes of Latin-1 stand for themselves, the others for U+0100 and on, in order. `Ġ` is a space.

use super::align::Sink;

/// The character of a byte.
fn character(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    if printable(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&other| !printable(other)).count() as u32;
    char::from_u32(0x100 + before).unwrap_or('\u{fffd}')
}

/// Whether [`run`] changes `text`.
pub(crate) fn changes(text: &str) -> bool {
    !text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Writes every byte of `text` as its character.
pub(crate) fn run(text: &str, out: &mut impl Sink) {
    let mut utf8 = [0; 4];
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        for &byte in c.encode_utf8(&mut utf8).as_bytes() {
            out.write_char(CHARACTERS[usize::from(byte)], at, end);
        }
    }
}

static CHARACTERS: std::sync::LazyLock<[char; 256]> =
    std::sync::LazyLock::new(|| std::array::from_fn(|byte| character(byte as u8)));
