//! What counting saw, and what it left out.

/// Numbers about one run over a corpus. They add up: a run on many threads reports what one thread
/// would.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Files and streams that were read.
    pub files: u64,
    /// Documents whose words were counted, empty ones included.
    pub documents: u64,
    /// Bytes that were read (decompressed, with whatever surrounds the documents).
    pub bytes: u64,
    /// Documents without a byte.
    pub empty_documents: u64,
    /// U+FFFD that were put in the place of broken UTF-8.
    pub replaced: u64,
    /// Documents that were left out because they could not be read.
    pub skipped_documents: u64,
    /// Bytes of the documents that were left out.
    pub skipped_bytes: u64,
    /// Occurrences of words that were left out because they have too few characters.
    pub short_words: u64,
}

impl Report {
    /// Adds what another thread saw.
    pub(crate) fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.documents += other.documents;
        self.bytes += other.bytes;
        self.empty_documents += other.empty_documents;
        self.replaced += other.replaced;
        self.skipped_documents += other.skipped_documents;
        self.skipped_bytes += other.skipped_bytes;
        self.short_words += other.short_words;
    }
}
