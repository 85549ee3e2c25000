//! Words that are asked for some time before they are looked up.

use super::found::Sought;
use super::known::KnownWords;
use crate::scan::Plain;

/// What to look for, to find a word; it comes from memory meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    sought: Sought,
    /// That of the table. If it has another one, the word is elsewhere.
    shape: (usize, usize),
}

impl KnownWords {
    /// Asks for `text[start..end]`.
    #[inline]
    pub fn ask(&self, text: &[u8], start: usize, end: usize) -> Asked {
        Asked { sought: self.seek(text, start, end), shape: self.short().shape() }
    }

    /// As [`KnownWords::get`] for a word that was asked for.
    #[inline]
    pub fn get_asked(
        &self,
        asked: Asked,
        text: &[u8],
        start: usize,
        end: usize,
        out: &mut Vec<u32>,
    ) -> bool {
        let Asked { sought, shape } = asked;
        if shape != self.short().shape() {
            return self.get(text, start, end, out);
        }
        match sought.is_long() {
            true => self.get_long(sought, &text[start..end], out),
            false => self.get_sought::<Plain>(sought, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_what_the_table_gives_though_it_grows_meanwhile() {
        let text: Vec<u8> =
            (0..4000u32).flat_map(|n| format!("{n:04}xyzxyzxyzxyzx").into_bytes()).collect();
        let word = |n: usize| (17 * n, 17 * n + [3, 4, 9, 17][n % 4]);
        let mut table = KnownWords::new(1 << 22);
        let mut asked = Vec::new();
        let mut expected = Vec::new();
        for n in 0..4000 {
            let (start, end) = word(n);
            asked.push(table.ask(&text, start, end));
            let mut ids = Vec::new();
            if !table.get(&text, start, end, &mut ids) && n % 3 > 0 {
                table.insert(&text[start..end], &[n as u32; 5][..1 + n % 5]);
            }
            if n >= 200 {
                let (start, end) = word(n - 200);
                let (mut one, mut other) = (Vec::new(), Vec::new());
                let known = table.get_asked(asked[n - 200], &text, start, end, &mut one);
                assert_eq!(known, table.get(&text, start, end, &mut other));
                assert_eq!(one, other);
                expected.push(known);
            }
        }
        assert!(expected.contains(&true) && expected.contains(&false));
    }
}
