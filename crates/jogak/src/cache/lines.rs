//! Memory for tables that are asked in no order: lines of 64 bytes, zero at first.
//!
//! Tables of words have megabytes, and every question goes to another page of them. Where the system has large
//! pages, such a table has few; then the processor finds them faster, and they are made ready sooner when first
//! touched. It is a wish: without them all is the same, but slower.

use std::fmt;

use memmap2::MmapMut;

use crate::scan::{LARGE_PAGE, PAGE, write_pages};

/// Eight numbers of eight bytes, the lowest byte first.
pub(super) type Line = [u8; 64];

/// Number `at` of a line, 0 to 7.
#[inline(always)]
pub(super) fn number(line: &Line, at: usize) -> u64 {
    u64::from_le_bytes(line.as_chunks().0[at])
}

/// Writes number `at` of a line.
pub(super) fn set(line: &mut Line, at: usize, number: u64) {
    line.as_chunks_mut().0[at] = number.to_le_bytes();
}

/// From so many bytes on large pages are wished for: below, they would be half empty.
const WORTH: usize = LARGE_PAGE / 2;

/// Lines of memory.
pub(super) enum Lines {
    Mapped { map: MmapMut, from: usize, bytes: usize },
    Plain(Vec<Line>),
}

impl Lines {
    /// So many lines of zeros, which take no memory before they are touched.
    pub(super) fn new(count: usize) -> Self {
        let bytes = count * size_of::<Line>();
        // What goes before the first large page, or behind the last, is never touched, and so takes no memory.
        let large = cfg!(target_os = "linux") && bytes >= WORTH;
        let room = if large { bytes.next_multiple_of(LARGE_PAGE) + LARGE_PAGE } else { bytes };
        // From a page on, lines have pages of their own, and so begin where lines of the processor's cache do.
        if bytes < PAGE {
            return Self::Plain(vec![[0; 64]; count]);
        }
        let Ok(map) = MmapMut::map_anon(room) else { return Self::Plain(vec![[0; 64]; count]) };
        let mut from = 0;
        // What becomes of a wish is nobody's business.
        #[cfg(target_os = "linux")]
        if large {
            let start = map.as_ptr().addr();
            from = start.next_multiple_of(LARGE_PAGE) - start;
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Self::Mapped { map, from, bytes }
    }

    /// The same in memory that is there, for what is used at once, and read before it is written.
    pub(super) fn written(count: usize) -> Self {
        let mut lines = Self::new(count);
        write_pages(lines.all_mut().as_flattened_mut());
        lines
    }

    /// All of them.
    #[inline(always)]
    pub(super) fn all(&self) -> &[Line] {
        match self {
            Self::Mapped { map, from, bytes } => map[*from..][..*bytes].as_chunks().0,
            Self::Plain(lines) => lines,
        }
    }

    /// All of them, to be written.
    pub(super) fn all_mut(&mut self) -> &mut [Line] {
        match self {
            Self::Mapped { map, from, bytes } => map[*from..][..*bytes].as_chunks_mut().0,
            Self::Plain(lines) => lines,
        }
    }
}

impl Clone for Lines {
    fn clone(&self) -> Self {
        let mut lines = Self::new(self.all().len());
        lines.all_mut().copy_from_slice(self.all());
        lines
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} lines", self.all().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_where_they_were_written() {
        for count in [
            1,
            100,
            PAGE / 64,
            WORTH / 64,
            LARGE_PAGE / 64 - 1,
            LARGE_PAGE / 64,
            LARGE_PAGE / 64 + 1,
        ] {
            let mut lines = Lines::new(count);
            assert_eq!(lines.all().len(), count);
            assert!(lines.all().iter().all(|line| *line == [0; 64]));
            for (at, line) in lines.all_mut().iter_mut().enumerate() {
                set(line, at % 8, at as u64 | 1 << 63);
            }
            for (at, line) in lines.all().iter().enumerate() {
                for place in 0..8 {
                    let expected = if place == at % 8 { at as u64 | 1 << 63 } else { 0 };
                    assert_eq!(number(line, place), expected);
                }
            }
            let copy = lines.clone();
            set(&mut lines.all_mut()[count / 2], 3, 77);
            assert_eq!(number(&lines.all()[count / 2], 3), 77);
            assert_ne!(copy.all(), lines.all());
            let mut others = copy.all().iter().zip(lines.all()).enumerate();
            assert!(others.all(|(at, (line, other))| at == count / 2 || line == other));
        }
    }
}
