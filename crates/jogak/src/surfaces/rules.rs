//! A text as it is before it is cut, and where each byte of it counts from.
//!
//! In words: go through the text from the left. At each place stands a match: a text that is kept, the longest key of the
//! charsmap, a character, or a byte that is none, which becomes U+FFFD. What a match becomes is written, and counts from
//! where the match begins. Spaces before the first other thing are left out, of others that follow each other all but
//! one, and those at the end, if that is asked for; all others become marks.

use crate::error::Result;
use crate::normalize::{Charsmap, Kept, Sink};

/// What is done to spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Of spaces that follow each other one stays, and none at either end.
    pub squeeze: bool,
    /// They become `▁`.
    pub escape: bool,
    /// One is added before the text.
    pub prefix: bool,
    /// That one is added behind the text instead.
    pub suffix: bool,
}

/// The rules of a model.
#[derive(Debug)]
pub struct Rules {
    charsmap: Charsmap,
    kept: Option<Kept>,
    options: Options,
}

/// A normalized text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The text.
    pub text: String,
    /// For each byte of it, and for its end, a byte of the original. None at all, not even the end, if nothing is left
    /// of a text, or there was none.
    pub origins: Vec<usize>,
}

impl Rules {
    /// Rules with a charsmap in SentencePiece's format, which may be empty, and texts that are left as they are.
    ///
    /// # Errors
    /// [`Error::Charsmap`], [`Error::TooLarge`] for too many texts.
    ///
    /// [`Error::Charsmap`]: crate::Error::Charsmap
    /// [`Error::TooLarge`]: crate::Error::TooLarge
    pub fn new(charsmap: &[u8], kept: &[String], options: Options) -> Result<Self> {
        Ok(Self { charsmap: Charsmap::read(charsmap)?, kept: Kept::new(kept)?, options })
    }

    /// Normalizes a text, which need not be UTF-8. Cost: linear, but for keys of a charsmap that are tried in vain.
    ///
    /// ```
    /// use jogak::surfaces::{Options, Rules};
    ///
    /// let options = Options { squeeze: true, escape: true, prefix: true, suffix: false };
    /// let counted = Rules::new(b"", &[], options)?.normalize(b" a  b ");
    /// assert_eq!(counted.text, "▁a▁b");
    /// assert_eq!(counted.origins, [1, 1, 1, 1, 2, 2, 2, 4, 5]);
    /// # Ok::<(), jogak::Error>(())
    /// ```
    pub fn normalize(&self, data: &[u8]) -> Counted {
        self.run(data, true)
    }

    /// The same without places.
    ///
    /// ```
    /// use jogak::surfaces::{Options, Rules};
    ///
    /// let options = Options { squeeze: true, escape: false, prefix: false, suffix: false };
    /// assert_eq!(Rules::new(b"", &[], options)?.text(b" a  b "), "a b");
    /// # Ok::<(), jogak::Error>(())
    /// ```
    pub fn text(&self, data: &[u8]) -> String {
        self.run(data, false).text
    }

    fn run(&self, data: &[u8], counts: bool) -> Counted {
        let options = self.options;
        let mark = if options.escape { "▁" } else { " " };
        let origins = Vec::with_capacity(if counts { data.len() + 1 } else { 0 });
        let counted = Counted { text: String::with_capacity(data.len()), origins };
        let behind_space = options.squeeze;
        let mut out =
            Matches { options, mark, counted, counts, begun: false, behind_space, base: 0 };
        for chunk in data.utf8_chunks() {
            match &self.kept {
                Some(kept) => self.charsmap.run_around(kept, chunk.valid(), &mut out),
                None => self.charsmap.run(chunk.valid(), &mut out),
            }
            out.base += chunk.valid().len();
            for _ in chunk.invalid() {
                out.becomes("\u{FFFD}", out.base);
                out.base += 1;
            }
        }
        out.end(data.len())
    }
}

/// For each byte of a text, and for its end, the number of its character; each byte that is no UTF-8 is one.
///
/// ```
/// assert_eq!(jogak::surfaces::characters(b"a\xC3\xA9\xFF"), [0, 1, 1, 2, 3]);
/// ```
pub fn characters(data: &[u8]) -> Vec<usize> {
    let mut all = Vec::with_capacity(data.len() + 1);
    let mut number = 0;
    for chunk in data.utf8_chunks() {
        let valid = chunk.valid().chars().map(char::len_utf8);
        for len in valid.chain(chunk.invalid().iter().map(|_| 1)) {
            all.resize(all.len() + len, number);
            number += 1;
        }
    }
    all.push(number);
    all
}

/// What has become of the matches so far.
struct Matches {
    options: Options,
    mark: &'static str,
    counted: Counted,
    /// Places are told.
    counts: bool,
    /// A match was something else than a space that is left out.
    begun: bool,
    /// Spaces are left out that come next.
    behind_space: bool,
    /// Where the text that is gone through begins in the original.
    base: usize,
}

impl Matches {
    fn add(&mut self, text: &str, at: usize) {
        self.counted.text.push_str(text);
        if self.counts {
            self.counted.origins.resize(self.counted.text.len(), at);
        }
    }

    /// Characters that stay, none of which is a space, behind one that was no space either.
    fn stay(&mut self, text: &str, at: usize) {
        self.counted.text.push_str(text);
        self.behind_space = false;
        if self.counts {
            let mut start = at;
            self.counted.origins.extend(text.bytes().zip(at..).map(|(byte, place)| {
                // All bytes of a character count from its first one.
                if (byte as i8) >= -0x40 {
                    start = place;
                }
                start
            }));
        }
    }

    /// What a match becomes that begins at a byte.
    #[inline]
    fn becomes(&mut self, text: &str, at: usize) {
        let Options { squeeze, prefix, suffix, .. } = self.options;
        if !self.begun {
            if squeeze && text == " " {
                return;
            }
            self.begun = true;
            if prefix && !suffix {
                self.add(self.mark, at);
            }
        }
        let rest = if self.behind_space { text.trim_start_matches(' ') } else { text };
        if rest.is_empty() {
            return;
        }
        self.behind_space = squeeze && rest.ends_with(' ');
        let mut parts = rest.split(' ');
        self.add(parts.next().unwrap_or_default(), at);
        for part in parts {
            self.add(self.mark, at);
            self.add(part, at);
        }
    }

    fn end(mut self, len: usize) -> Counted {
        if !self.begun {
            return Counted::default();
        }
        let Counted { text, origins } = &mut self.counted;
        let mut end = len;
        while self.options.squeeze && text.ends_with(self.mark) {
            text.truncate(text.len() - self.mark.len());
            end = origins.get(text.len()).copied().unwrap_or_default();
            origins.truncate(text.len());
        }
        if self.options.prefix && self.options.suffix {
            self.add(self.mark, end);
        }
        if self.counts {
            self.counted.origins.push(end);
        }
        self.counted
    }
}

impl Sink for Matches {
    fn len(&self) -> usize {
        self.counted.text.len()
    }

    fn copy(&mut self, text: &str, start: usize) {
        let mut at = 0;
        for part in text.split_inclusive(' ') {
            let place = self.base + start + at;
            let word = part.strip_suffix(' ').unwrap_or(part);
            let first = word.chars().next().map_or(0, char::len_utf8);
            if first > 0 {
                self.becomes(&word[..first], place);
                self.stay(&word[first..], place + first);
            }
            if word.len() < part.len() {
                self.becomes(" ", place + word.len());
            }
            at += part.len();
        }
    }

    fn keep_whole(&mut self, source: &str, start: usize, end: usize) {
        self.becomes(&source[start..end], self.base + start);
    }

    fn write(&mut self, text: &str, start: usize, _end: usize) {
        self.becomes(text, self.base + start);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
mod tests {
    use super::*;
    use crate::normalize::compile;

    const ALL: Options = Options { squeeze: true, escape: true, prefix: true, suffix: false };

    fn rules(kept: &[&str], options: Options) -> Rules {
        let pairs = [("ab", "x"), ("b", ""), ("\t", " "), ("c", " y "), ("é", "e\u{301}")];
        let pairs = pairs.map(|(key, with)| (key.to_owned(), with.to_owned()));
        let kept: Vec<String> = kept.iter().map(|&text| text.to_owned()).collect();
        Rules::new(&compile(&pairs).unwrap(), &kept, options).unwrap()
    }

    /// The text with where each of its characters counts from, and the end.
    fn told(rules: &Rules, data: &[u8]) -> (String, Vec<usize>) {
        let Counted { text, origins } = rules.normalize(data);
        assert_eq!(rules.text(data), text);
        let starts = text.char_indices().map(|(at, _)| origins[at]);
        let told = starts.chain(origins.last().copied()).collect();
        (text, told)
    }

    #[test]
    fn matches_count_from_where_they_begin() {
        let rules = rules(&[], ALL);
        for (data, text, origins) in [
            (&b""[..], "", &[][..]),
            (b"  \t ", "", &[]),
            (b"a", "▁a", &[0, 0, 1]),
            (b" aab", "▁ax", &[1, 1, 2, 4]),
            (b" b a", "▁a", &[1, 3, 4]),
            (b"acc a", "▁a▁y▁y▁a", &[0, 0, 1, 1, 1, 2, 2, 4, 5]),
            (b"a\xFF\xE4\xB8a ", "▁a\u{FFFD}\u{FFFD}\u{FFFD}a", &[0, 0, 1, 2, 3, 4, 5]),
            ("é\u{2581} \u{2581}".as_bytes(), "▁e\u{301}", &[0, 0, 0, 2]),
        ] {
            assert_eq!(told(&rules, data), (text.to_owned(), origins.to_vec()), "{data:?}");
        }
    }

    #[test]
    fn what_is_kept_is_one_match() {
        let rules = rules(&["a b", "bb", " c"], ALL);
        for (data, text, origins) in [
            (&b"a bb"[..], "▁a▁b", &[0, 0, 0, 0, 4][..]),
            (b"abba b", "▁xa▁b", &[0, 0, 3, 3, 3, 6]),
            (b"abb", "▁x", &[0, 0, 3]),
            (b"bb c", "▁bb▁c", &[0, 0, 0, 2, 2, 4]),
        ] {
            assert_eq!(told(&rules, data), (text.to_owned(), origins.to_vec()), "{data:?}");
        }
    }

    #[test]
    fn spaces_are_as_they_are_asked_for() {
        let none = Options { squeeze: false, escape: false, prefix: false, suffix: false };
        for (options, text, origins) in [
            (none, " a  b ", &[0, 1, 2, 3, 4, 5, 6][..]),
            (Options { escape: true, ..none }, "▁a▁▁b▁", &[0, 1, 2, 3, 4, 5, 6]),
            (Options { prefix: true, ..none }, "  a  b ", &[0, 0, 1, 2, 3, 4, 5, 6]),
            (Options { suffix: true, ..none }, " a  b ", &[0, 1, 2, 3, 4, 5, 6]),
            (Options { squeeze: true, ..none }, "a b", &[1, 2, 4, 5]),
            (Options { suffix: true, ..ALL }, "a▁b▁", &[1, 2, 4, 5, 5]),
            (Options { suffix: true, squeeze: false, ..ALL }, "▁a▁▁b▁▁", &[0, 1, 2, 3, 4, 5, 6, 6]),
        ] {
            let rules = Rules::new(b"", &[], options).unwrap();
            assert_eq!(told(&rules, b" a  b "), (text.to_owned(), origins.to_vec()), "{options:?}");
        }
    }
}
