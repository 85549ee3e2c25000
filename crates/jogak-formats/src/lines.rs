//! The lines of BERT's `vocab.txt`: a piece each, whose id is the number of the line.

use jogak::vocab::Vocab;

/// The pieces of a list of lines; the id is the number of the line, from 0, and an empty line is an id that stands for
/// nothing. Lines end with `\n` or `\r\n`.
///
/// None for what is no UTF-8, has a piece twice or none at all, or too many empty lines.
///
/// ```
/// let vocab = jogak_formats::lines::read(b"[UNK]\n\n##do\r\n").unwrap();
/// assert_eq!((vocab.len(), vocab.piece(1), vocab.id(b"##do")), (3, None, Some(2)));
/// assert!(jogak_formats::lines::read(b"a\na\n").is_none());
/// ```
pub fn read(data: &[u8]) -> Option<Vocab> {
    let data = crate::text(data)?.as_bytes();
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let mut vocab = Vocab::with_capacity(data.len() / 8, data.len());
    let (mut start, mut empty) = (0, 0);
    for end in memchr::memchr_iter(b'\n', data).chain([data.len()]) {
        let line = &data[start..end];
        let piece = line.strip_suffix(b"\r").unwrap_or(line);
        empty += usize::from(piece.is_empty());
        if empty > crate::MOST_HOLES {
            return None;
        }
        vocab.push(piece);
        start = end + 1;
    }
    let pieces = vocab.len() - empty;
    (pieces > 0 && vocab.distinct() == pieces).then_some(vocab)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(data: &str) -> Option<Vec<Option<String>>> {
        let vocab = read(data.as_bytes())?;
        let text = |piece: &[u8]| String::from_utf8_lossy(piece).into_owned();
        Some((0..vocab.len() as u32).map(|id| vocab.piece(id).map(text)).collect())
    }

    #[test]
    fn only_line_feeds_end_lines() {
        let piece = |text: &str| Some(text.to_owned());
        assert_eq!(lines("a"), Some(vec![piece("a")]));
        assert_eq!(lines("a\n"), Some(vec![piece("a")]));
        assert_eq!(lines("a\n\n"), Some(vec![piece("a"), None]));
        assert_eq!(lines("\na\r\r\n"), Some(vec![None, piece("a\r")]));
        assert_eq!(lines("a\rb\u{2028}\u{85}"), Some(vec![piece("a\rb\u{2028}\u{85}")]));
        assert_eq!(lines("\r\na \n a\0"), Some(vec![None, piece("a "), piece(" a\0")]));
    }

    #[test]
    fn what_is_no_vocabulary_is_left_to_others() {
        for data in [&b""[..], b"\n", b"\r\n\n", b"a\nb\na", b"a\na\r\n", b"a\n\xFF"] {
            assert!(read(data).is_none(), "{data:?}");
        }
    }
}
