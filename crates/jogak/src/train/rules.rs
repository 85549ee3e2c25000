//! Which texts may be pieces at all (Kudo & Richardson 2018): rules about scripts, digits and spaces.
//!
//! A pair whose joined text may not be a piece is never counted. Whether it may is told by what its two
//! parts look like from outside, so that no text is read again.

use crate::pretokenize::Script;

/// `▁`, the visible space, and the space itself.
const MARKS: [char; 2] = ['\u{2581}', ' '];

/// What pieces may hold. The default forbids nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct PieceRules {
    /// No characters of two scripts (kana count as Han; digits and punctuation are a script too).
    pub split_by_unicode_script: bool,
    /// Digits are punctuation; without, they go with any script.
    pub split_by_number: bool,
    /// A digit is in no piece with others.
    pub split_digits: bool,
    /// A `▁` only stands first (last, as a suffix); without, it may stand anywhere but last (first).
    pub split_by_whitespace: bool,
    /// Pieces of several `▁` and nothing else are allowed.
    pub allow_whitespace_only_pieces: bool,
    /// `▁` belongs to what stands before it.
    pub treat_whitespace_as_suffix: bool,
    /// Whether the rules about `▁` apply; without, it may stand anywhere. It has no script in any case.
    pub spaces: bool,
}

impl Default for PieceRules {
    fn default() -> Self {
        Self {
            split_by_unicode_script: false,
            split_by_number: true,
            split_digits: false,
            split_by_whitespace: true,
            allow_whitespace_only_pieces: false,
            treat_whitespace_as_suffix: false,
            spaces: false,
        }
    }
}

/// A script that a character asks of its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// Nothing: it takes whatever script is before it.
    Nothing,
    /// Nothing, and what follows is free too.
    Free,
    /// This one.
    Only(Script),
}

/// A piece, seen from outside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// What the first character that is neither space nor mark asks of the piece before.
    head: Asks,
    /// What a following character has to agree with; [`Asks::Nothing`] if no character says.
    tail: Asks,
    digit: bool,
    first_is_mark: bool,
    last_is_mark: bool,
    only_marks: bool,
    /// A `▁` behind the first character.
    mark_behind_first: bool,
    /// A `▁` before the last character.
    mark_before_last: bool,
}

impl PieceRules {
    /// Whether anything is forbidden.
    pub fn any(&self) -> bool {
        self.split_by_unicode_script || self.split_digits || self.spaces
    }

    /// A symbol of the alphabet: one character, or a character with its marker.
    pub(super) fn symbol(&self, text: &[u8]) -> Shape {
        let mut characters =
            std::str::from_utf8(text).unwrap_or_default().chars().map(|one| self.character(one));
        let first = characters.next().unwrap_or_else(|| self.character('\u{FFFD}'));
        characters.fold(first, Shape::join)
    }

    fn character(&self, character: char) -> Shape {
        let mark = MARKS.contains(&character);
        let digit = matches!(character, '0'..='9' | '０'..='９');
        let asks = match Script::of(character) {
            _ if mark => Asks::Nothing,
            _ if digit && !self.split_by_number => Asks::Free,
            Script::Inherited => Asks::Nothing,
            script => Asks::Only(script),
        };
        Shape {
            head: asks,
            tail: asks,
            digit,
            first_is_mark: mark,
            last_is_mark: mark,
            only_marks: mark,
            mark_behind_first: false,
            mark_before_last: false,
        }
    }

    /// Whether `left` and `right` may be one piece, each being one.
    pub(super) fn may_join(&self, left: &Shape, right: &Shape) -> bool {
        if self.split_digits && (left.digit || right.digit) {
            return false;
        }
        if self.split_by_unicode_script
            && matches!((left.tail, right.head), (Asks::Only(a), Asks::Only(b)) if a != b)
        {
            return false;
        }
        let joined = left.join(*right);
        if !self.spaces || self.allow_whitespace_only_pieces && joined.only_marks {
            return true;
        }
        !match (self.treat_whitespace_as_suffix, self.split_by_whitespace) {
            (false, true) => joined.mark_behind_first,
            (false, false) => joined.last_is_mark,
            (true, true) => joined.mark_before_last,
            (true, false) => joined.first_is_mark,
        }
    }
}

impl Shape {
    /// The shape of both, one behind the other.
    pub(super) fn join(self, right: Self) -> Self {
        Self {
            head: if self.head == Asks::Nothing { right.head } else { self.head },
            tail: if right.tail == Asks::Nothing { self.tail } else { right.tail },
            digit: self.digit || right.digit,
            first_is_mark: self.first_is_mark,
            last_is_mark: right.last_is_mark,
            only_marks: self.only_marks && right.only_marks,
            mark_behind_first: self.mark_behind_first
                || right.first_is_mark
                || right.mark_behind_first,
            mark_before_last: self.mark_before_last || self.last_is_mark || right.mark_before_last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(rules: &PieceRules, left: &str, right: &str) -> bool {
        rules.may_join(&rules.symbol(left.as_bytes()), &rules.symbol(right.as_bytes()))
    }

    #[test]
    fn scripts_do_not_mix_and_marks_take_the_one_before() {
        let rules = PieceRules { split_by_unicode_script: true, ..PieceRules::default() };
        assert!(may(&rules, "a", "b") && may(&rules, "あ", "漢") && may(&rules, "▁", "a"));
        assert!(!may(&rules, "a", "가") && !may(&rules, "a", ".") && !may(&rules, "a", "1"));
        // A combining mark at the start of a piece has no script, and behind a letter has its own.
        assert!(may(&rules, "\u{301}", "가") && !may(&rules, "a\u{301}", "가"));
        let free = PieceRules { split_by_number: false, ..rules };
        assert!(may(&free, "a", "1") && may(&free, "a1", "가"));
    }

    #[test]
    fn spaces_stand_where_they_may() {
        let rules = PieceRules { spaces: true, ..PieceRules::default() };
        assert!(may(&rules, "▁", "a") && !may(&rules, "a", "▁") && !may(&rules, "▁", "▁"));
        let only = PieceRules { allow_whitespace_only_pieces: true, ..rules };
        assert!(may(&only, "▁", "▁") && !may(&only, "▁▁", "a"));
        let across = PieceRules { split_by_whitespace: false, ..rules };
        assert!(may(&across, "a", "▁b") && !may(&across, "a", "▁"));
        let suffix = PieceRules { treat_whitespace_as_suffix: true, ..rules };
        assert!(may(&suffix, "a", "▁") && !may(&suffix, "▁", "a"));
        let digits = PieceRules { split_digits: true, ..rules };
        assert!(!may(&digits, "▁", "1") && may(&digits, "▁", "a"));
    }
}
