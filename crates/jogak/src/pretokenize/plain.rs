//! Expressions that a finite automaton can run, which looks at each byte once.
//!
//! In words: where a match ends takes backtracking only where an expression looks around, refers back or forbids it. Most
//! patterns of tokenizers do nothing of that kind but at their end: `\s+(?!\S)|\s+` is white space without its last
//! character, if something follows it and it is not all there is. That is a run of white space, and a step back.
//!
//! Rule: what is taken here means the same to `fancy-regex`, which runs all else. Both read expressions by themselves, so only
//! what they read alike is taken: see [`is_common`].
//!
//! `regex-automata` makes the automaton's states as texts ask for them, within two MiB; should that not do, it goes on
//! without them, in time that is still linear.

use std::sync::Arc;

use regex_automata::meta::{Cache, Regex};
use regex_automata::util::pool::{Pool, PoolGuard};
use regex_automata::{Anchored, Input};
use regex_syntax::ast::{
    AssertionKind, Ast, ClassPerlKind, ClassSet, ClassSetBinaryOpKind, ClassSetItem, ClassUnicode,
    ClassUnicodeKind, ClassUnicodeOpKind, Flag, FlagsItemKind, GroupKind, HexLiteralKind, Literal,
    LiteralKind, SpecialLiteralKind, parse,
};

/// What an expression may end in: white space that leaves its last character to what follows.
const TAILS: [&str; 2] = [r"\s+(?!\S)|\s+", r"\s+(?!\S)|\s"];
/// The number of the run of white space that stands for it.
const TAIL: usize = 1;

type MakeCache =
    Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// Such an expression, compiled.
#[derive(Debug)]
pub(super) struct Plain {
    regex: Regex,
    /// The states that were made so far, for each thread.
    caches: Pool<Cache, MakeCache>,
}

impl Plain {
    /// Compiles `pattern`, if it is of this kind.
    pub(super) fn new(pattern: &str) -> Option<Arc<Self>> {
        let (first, tail) = match TAILS.iter().find_map(|tail| pattern.strip_suffix(tail)) {
            Some("") => return None,
            Some(first) => (first.strip_suffix('|')?, Some(r"\s+")),
            None => (pattern, None),
        };
        let ast = parse::Parser::new().parse(first).ok()?;
        if !is_common(&ast) {
            return None;
        }
        let patterns: Vec<&str> = [first].into_iter().chain(tail).collect();
        let regex = Regex::new_many(&patterns).ok()?;
        let made = regex.clone();
        let caches = Pool::new(Box::new(move || made.create_cache()) as MakeCache);
        Some(Arc::new(Self { regex, caches }))
    }

    /// Readies itself for the searches of one text.
    pub(super) fn search(&self) -> Search<'_> {
        let is_all = self.regex.pattern_len() > TAIL;
        Search { regex: &self.regex, cache: self.caches.get(), is_here: is_all }
    }
}

/// The searches of one text.
pub(super) struct Search<'a> {
    regex: &'a Regex,
    cache: PoolGuard<'a, Cache, MakeCache>,
    /// Matches mostly begin right where they are looked for: the last one did, or all text matches.
    is_here: bool,
}

impl Search<'_> {
    /// The first match at or behind `at`.
    #[inline]
    pub(super) fn find(&mut self, text: &str, at: usize) -> Option<(usize, usize)> {
        let rest = Input::new(text).range(at..);
        // Right here nobody has to look for where it begins.
        let here = self.is_here.then(|| rest.clone().anchored(Anchored::Yes));
        let here = here.and_then(|here| self.regex.search_half_with(&mut self.cache, &here));
        let (start, end, pattern) = match here {
            Some(found) => (at, found.offset(), found.pattern()),
            None => {
                let found = self.regex.search_with(&mut self.cache, &rest)?;
                self.is_here = found.start() == at;
                (found.start(), found.end(), found.pattern())
            }
        };
        Some((start, if pattern.as_usize() == TAIL { step_back(text, start, end) } else { end }))
    }
}

/// Where `\s+(?!\S)|\s+` ends, of a run of white space.
fn step_back(text: &str, start: usize, end: usize) -> usize {
    if end == text.len() {
        return end;
    }
    let last = text[start..end].char_indices().next_back().map_or(0, |(last, _)| last);
    if last == 0 { end } else { start + last }
}

/// Whether `fancy-regex` reads an expression as `regex-syntax` does.
///
/// Both do where it is made of characters and their classes, groups, alternatives and repeats. They differ on what is
/// behind a repeat (`a++` is possessive to one, a repeat of a repeat to the other), on some escapes, on flags, and on the
/// names that POSIX has for classes.
fn is_common(ast: &Ast) -> bool {
    match ast {
        Ast::Literal(literal) => is_common_literal(literal),
        Ast::Dot(_) => true,
        Ast::Assertion(assertion) => {
            matches!(assertion.kind, AssertionKind::StartLine | AssertionKind::EndLine)
        }
        Ast::ClassUnicode(class) => is_common_class(class),
        Ast::ClassPerl(_) => true,
        Ast::ClassBracketed(class) => is_common_set(&class.kind),
        Ast::Repetition(repeat) => {
            !matches!(*repeat.ast, Ast::Repetition(_) | Ast::Assertion(_)) && is_common(&repeat.ast)
        }
        Ast::Group(group) => {
            let any_case = FlagsItemKind::Flag(Flag::CaseInsensitive);
            let common = match &group.kind {
                GroupKind::CaptureIndex(_) => true,
                GroupKind::CaptureName { .. } => false,
                GroupKind::NonCapturing(flags) => {
                    flags.items.iter().all(|item| item.kind == any_case)
                }
            };
            common && is_common(&group.ast)
        }
        Ast::Alternation(alternatives) => alternatives.asts.iter().all(is_common),
        Ast::Concat(parts) => parts.asts.iter().all(is_common),
        Ast::Empty(_) | Ast::Flags(_) => false,
    }
}

fn is_common_literal(literal: &Literal) -> bool {
    use SpecialLiteralKind::{CarriageReturn, LineFeed, Tab};
    match &literal.kind {
        LiteralKind::Verbatim | LiteralKind::Meta | LiteralKind::Superfluous => true,
        LiteralKind::Special(special) => matches!(special, CarriageReturn | LineFeed | Tab),
        // Two digits may be a byte.
        LiteralKind::HexFixed(HexLiteralKind::X) => literal.c.is_ascii(),
        LiteralKind::HexFixed(_) | LiteralKind::HexBrace(_) => true,
        LiteralKind::Octal => false,
    }
}

/// Names of classes that `fancy-regex` takes from Oniguruma.
const OF_POSIX: [&str; 15] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit", "cs",
];

fn is_common_class(class: &ClassUnicode) -> bool {
    match &class.kind {
        ClassUnicodeKind::OneLetter(_) => true,
        ClassUnicodeKind::Named(name) => {
            !name.starts_with('^') && !OF_POSIX.contains(&&*name.to_lowercase())
        }
        ClassUnicodeKind::NamedValue { op, .. } => *op == ClassUnicodeOpKind::Equal,
    }
}

fn is_common_set(set: &ClassSet) -> bool {
    use ClassSetBinaryOpKind::{Difference, Intersection};
    match set {
        ClassSet::Item(item) => is_common_item(item),
        ClassSet::BinaryOp(operation) => {
            matches!(operation.kind, Intersection | Difference)
                && is_common_set(&operation.lhs)
                && is_common_set(&operation.rhs)
        }
    }
}

fn is_common_item(item: &ClassSetItem) -> bool {
    match item {
        ClassSetItem::Literal(literal) => is_common_literal(literal),
        ClassSetItem::Range(range) => {
            is_common_literal(&range.start) && is_common_literal(&range.end)
        }
        // Some with a negation are joined otherwise.
        ClassSetItem::Unicode(class) => !class.negated && is_common_class(class),
        ClassSetItem::Perl(class) => !class.negated || class.kind == ClassPerlKind::Space,
        ClassSetItem::Bracketed(class) => is_common_set(&class.kind),
        ClassSetItem::Union(union) => union.items.iter().all(is_common_item),
        ClassSetItem::Ascii(_) | ClassSetItem::Empty(_) => false,
    }
}
