//! What a tokenizer file seems to be, by how it begins.

/// Larger files are no tokenizers, and nobody reads them whole; in bytes, as `jogak.formats.files` has it.
pub const LARGEST: usize = 256 << 20;

/// So many bytes tell what a file may be.
pub const HEAD: usize = 1 << 12;

/// A kind of file whose long parts are read here by one look at its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines of a piece, a space and a rank ([`crate::ranks`]).
    Ranks,
    /// BERT's `vocab.txt` ([`crate::lines`]).
    Lines,
    /// A SentencePiece model ([`crate::sentencepiece`]).
    SentencePiece,
    /// `tokenizer.json`, as Hugging Face writes it ([`crate::json`]).
    TokenizerJson,
}

impl Kind {
    /// What a file seems to be whose first [`HEAD`] bytes, or all it has, are `head`; None for others, jogak's own among
    /// them. It may be something else: who reads it finds out.
    ///
    /// ```
    /// use jogak_formats::Kind;
    ///
    /// assert_eq!(Kind::by_head(b"IQ== 0\nIg== 1\n"), Some(Kind::Ranks));
    /// assert_eq!(Kind::by_head(b"GGUF"), None);
    /// ```
    #[must_use]
    pub fn by_head(head: &[u8]) -> Option<Self> {
        match head.first()? {
            b'{' => (!head.starts_with(br#"{"format""#)).then_some(Self::TokenizerJson),
            b'\n' => Some(Self::SentencePiece),
            _ if is_rank(head.split(|&byte| byte == b'\n').next()?) => Some(Self::Ranks),
            // BERT's unknown piece stands among the first few hundred.
            _ => head
                .split(u8::is_ascii_whitespace)
                .any(|text| text == b"[UNK]")
                .then_some(Self::Lines),
        }
    }
}

/// Whether a line may be one of a rank file: a piece, a space and a number.
fn is_rank(line: &[u8]) -> bool {
    let mut parts = line.split(|&byte| byte == b' ');
    let (_, rank) = (parts.next(), parts.next());
    rank.is_some_and(|rank| rank.first().is_some_and(u8::is_ascii_digit)) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_how_they_begin() {
        for (head, kind) in [
            (&b"IQ== 0"[..], Some(Kind::Ranks)),
            (b"IQ== 12\n\xFF", Some(Kind::Ranks)),
            (b"\n\x0E\n\x05<unk>", Some(Kind::SentencePiece)),
            (b"{\n  \"version\": \"1.0\"", Some(Kind::TokenizerJson)),
            (br#"{"format":"jogak""#, None),
            (b"", None),
            (b"IQ==", None),
            (b"[PAD]\n[unused1]\r\n[UNK]\r\n", Some(Kind::Lines)),
            (b"[PAD]\n[UNK]s", None),
            (b"IQ== x", None),
            (b"IQ== 0 1", None),
            (b" ", None),
            (b"GGUF", None),
        ] {
            assert_eq!(Kind::by_head(head), kind, "{:?}", String::from_utf8_lossy(head));
        }
    }
}
