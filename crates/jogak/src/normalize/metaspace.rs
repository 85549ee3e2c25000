//! SentencePiece's way with spaces (Kudo & Richardson 2018): every space becomes `▁` (U+2581), and one
//! `▁` goes before the text, so that a word looks the same at the start of a text and behind a space.
//!
//! Going back is exact for every text without a `▁` of its own: take one `▁` off the front, turn the
//! others into spaces.

/// The visible space.
pub const MARK: &str = "▁";

/// Writes `text` to `out` with `▁` for spaces, and one before it if it is the `first` of a document and
/// not empty.
///
/// ```
/// let mut out = String::new();
/// jogak::normalize::metaspace::write("a  b", true, &mut out);
/// assert_eq!(out, "▁a▁▁b");
/// ```
pub fn write(text: &str, first: bool, out: &mut String) {
    out.clear();
    if first && !text.is_empty() {
        out.push_str(MARK);
    }
    let mut from = 0;
    for at in memchr::memchr_iter(b' ', text.as_bytes()) {
        out.push_str(&text[from..at]);
        out.push_str(MARK);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

/// For every byte border of the written text, the byte of `text` that it lies at. Borders within a `▁`
/// that stands for a space lie at that space.
///
/// ```
/// let origin = jogak::normalize::metaspace::origins("a b", true);
/// assert_eq!(origin, [0, 0, 0, 0, 1, 1, 1, 2, 3]);
/// ```
pub fn origins(text: &str, first: bool) -> Vec<usize> {
    let mut origins = Vec::with_capacity(text.len() + 4);
    if first && !text.is_empty() {
        origins.extend([0; MARK.len()]);
    }
    for (at, byte) in text.bytes().enumerate() {
        let width = if byte == b' ' { MARK.len() } else { 1 };
        origins.extend(std::iter::repeat_n(at, width));
    }
    origins.push(text.len());
    origins
}
