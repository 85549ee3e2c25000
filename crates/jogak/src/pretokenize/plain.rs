//! Expressions that a finite automaton can run, which looks at each byte once.
//!
//! In words: where a match ends takes backtracking only where an expression looks around, refers back or forbids it. Most
//! patterns of tokenizers do nothing of that kind but at their end: `\s+(?!\S)|\s+` is white space without its last
//! character, if something follows it and it is not all there is. That is a run of white space, and a step back.
//!
//! Rule: what is taken here means the same to `fancy-regex`, which runs all else. Both read expressions by themselves, so only
//! what they read alike is taken: see [`is_common`].
//!
//! `regex-automata` makes the states as texts ask for them, within two MiB a thread each way. Where a match may begin is told by its
//! first byte; only if none begins there after all, it is looked for from there on.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use regex_automata::hybrid::CacheError;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::hybrid::regex::{Cache, Regex};
use regex_automata::nfa::thompson;
use regex_automata::util::pool::{Pool, PoolGuard};
use regex_automata::{Anchored, Input};
use regex_syntax::ast::{
    AssertionKind, Ast, ClassPerlKind, ClassSet, ClassSetBinaryOpKind, ClassSetItem, ClassUnicode,
    ClassUnicodeKind, ClassUnicodeOpKind, Flag, FlagsItemKind, GroupKind, HexLiteralKind, Literal,
    LiteralKind, SpecialLiteralKind, parse,
};
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Class, Hir, HirKind};

/// What an expression may end in: white space that leaves its last character to what follows.
const TAILS: [&str; 2] = [r"\s+(?!\S)|\s+", r"\s+(?!\S)|\s"];
/// Bytes that what an expression is compiled to may take; `fancy-regex` says so of larger ones.
const LARGEST: usize = 10 << 20;
/// The number of the run of white space that stands for it.
const TAIL: usize = 1;

/// Such an expression, compiled.
#[derive(Debug)]
pub(super) struct Plain {
    /// An automaton that goes forward, and one that goes back to where a match begins.
    regex: Arc<Regex>,
    /// Whether a match may begin with each byte.
    begins: Box<[bool; 256]>,
    has_tail: bool,
    /// For each thread.
    states: Pool<Cache, MakeStates>,
}

/// Makes room for states.
type MakeStates = Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>;

impl Plain {
    /// Compiles `pattern`, if it is of this kind.
    pub(super) fn new(pattern: &str) -> Option<Arc<Self>> {
        let (first, has_tail) = without_tail(pattern)?;
        common(first)?;
        let patterns = [first, r"\s+"];
        let patterns = if has_tail { &patterns[..] } else { &patterns[..1] };
        let limit = thompson::Config::new().nfa_size_limit(Some(LARGEST));
        let regex = Regex::builder().thompson(limit).build_many(patterns).ok()?;
        let begins = begins(regex.forward()).ok()?;
        let regex = Arc::new(regex);
        let made = Arc::clone(&regex);
        let states = Pool::new(Box::new(move || made.create_cache()) as MakeStates);
        Some(Arc::new(Self { regex, begins, has_tail, states }))
    }

    /// The first place at or behind `at` where a match may begin.
    #[inline]
    pub(super) fn begin(&self, text: &str, at: usize) -> Option<usize> {
        let rest = &text.as_bytes()[at..];
        if rest.is_empty() {
            // Nothing may be a match, too.
            return Some(at);
        }
        Some(at + rest.iter().position(|&byte| self.begins[usize::from(byte)])?)
    }

    /// Readies itself for the searches of one text.
    pub(super) fn search(&self) -> Search<'_> {
        Search { plain: self, states: self.states.get() }
    }
}

/// An expression without its tail, and whether it has one.
fn without_tail(pattern: &str) -> Option<(&str, bool)> {
    match TAILS.iter().find_map(|tail| pattern.strip_suffix(tail)) {
        Some(first) => Some((first.strip_suffix('|')?, true)),
        None => Some((pattern, false)),
    }
}

/// An expression as both read it.
fn common(pattern: &str) -> Option<Ast> {
    parse::Parser::new().parse(pattern).ok().filter(is_common)
}

/// Whether two expressions of this kind find the same, however they are spelled.
pub(super) fn mean_the_same(one: &str, other: &str) -> bool {
    let meaning = |pattern| {
        let (first, has_tail) = without_tail(pattern)?;
        let meaning = Translator::new().translate(first, &common(first)?).ok()?;
        Some((meaning, has_tail))
    };
    one == other || meaning(one).is_some_and(|one| Some(one) == meaning(other))
}

/// Whether `pattern` is of this kind, has none of these characters in a match, and looks at nothing around one: a text may be
/// searched in the parts that they leave of it.
pub(super) fn sees_no(characters: &[char], pattern: &str) -> bool {
    let Some(ast) = common(pattern) else { return false };
    let Ok(meaning) = Translator::new().translate(pattern, &ast) else { return false };
    meaning.properties().look_set().is_empty() && has_none(&meaning, characters)
}

/// Whether no match has any of these characters, which are of ASCII.
fn has_none(meaning: &Hir, characters: &[char]) -> bool {
    match meaning.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => !characters.iter().any(|&c| literal.0.contains(&(c as u8))),
        HirKind::Class(Class::Unicode(class)) => {
            let has =
                |&c: &char| class.iter().any(|range| (range.start()..=range.end()).contains(&c));
            !characters.iter().any(has)
        }
        HirKind::Class(Class::Bytes(_)) => false,
        HirKind::Repetition(repeated) => has_none(&repeated.sub, characters),
        HirKind::Capture(group) => has_none(&group.sub, characters),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().all(|part| has_none(part, characters))
        }
    }
}

/// Whether a match may begin with each byte.
fn begins(dfa: &DFA) -> Result<Box<[bool; 256]>, CacheError> {
    let mut begins = Box::new([true; 256]);
    let mut cache = dfa.create_cache();
    for text in ["", "a", "\n"] {
        // Behind nothing, or something.
        let here = Input::new(text).range(text.len()..).anchored(Anchored::Yes);
        let Ok(start) = dfa.start_state_forward(&mut cache, &here) else { return Ok(begins) };
        if dfa.next_eoi_state(&mut cache, start)?.is_match() {
            return Ok(begins);
        }
    }
    let here = Input::new("").anchored(Anchored::Yes);
    for (byte, may) in (0..=u8::MAX).zip(begins.iter_mut()) {
        let Ok(start) = dfa.start_state_forward(&mut cache, &here) else { return Ok(begins) };
        *may = !dfa.next_state(&mut cache, start, byte)?.is_dead();
    }
    Ok(begins)
}

/// The searches of one text.
pub(super) struct Search<'a> {
    plain: &'a Plain,
    states: PoolGuard<'a, Cache, MakeStates>,
}

impl Search<'_> {
    /// The first match at or behind `at`.
    #[inline]
    pub(super) fn find(&mut self, text: &str, at: usize) -> Option<(usize, usize)> {
        let start = self.plain.begin(text, at)?;
        match self.end(text, start) {
            Ok(Some(end)) => Some((start, end)),
            _ => self.find_from(text, start),
        }
    }

    /// How often states were forgotten.
    #[cfg(test)]
    pub(super) fn forgot(&mut self) -> usize {
        self.states.as_parts_mut().0.clear_count()
    }

    /// Where the match ends that begins at `start`, if there is one.
    #[inline(always)]
    fn end(&mut self, text: &str, start: usize) -> Result<Option<usize>, GaveUp> {
        let (dfa, cache) = (self.plain.regex.forward(), self.states.as_parts_mut().0);
        let made = cache.clear_count();
        let bytes = text.as_bytes();
        let here = Input::new(text).range(start..).anchored(Anchored::Yes);
        let mut state = dfa.start_state_forward(cache, &here).map_err(|_| GaveUp)?;
        // A state tells that there was a match before the byte that led to it.
        let (mut last, mut at) = (None, start);
        loop {
            let next = bytes.get(at);
            let moved = match next {
                Some(&byte) => dfa.next_state(cache, state, byte),
                None => dfa.next_eoi_state(cache, state),
            };
            state = moved.map_err(|_| GaveUp)?;
            if state.is_tagged() {
                if state.is_match() {
                    last = Some((at, state));
                } else if state.is_dead() {
                    break;
                } else if !state.is_start() {
                    return Err(GaveUp);
                }
            }
            if next.is_none() {
                break;
            }
            at += 1;
        }
        let Some((end, state)) = last else { return Ok(None) };
        if !self.plain.has_tail || end == text.len() || end == start {
            return Ok(Some(end));
        }
        let is_blank = !bytes[end - 1].is_ascii_graphic();
        if is_blank && cache.clear_count() != made {
            // The state is gone.
            return Err(GaveUp);
        }
        let is_tail = is_blank && dfa.match_pattern(cache, state, 0).as_usize() == TAIL;
        Ok(Some(if is_tail { step_back(text, start, end) } else { end }))
    }

    /// The first match at or behind `at`, wherever it begins.
    #[cold]
    #[inline(never)]
    fn find_from(&mut self, text: &str, at: usize) -> Option<(usize, usize)> {
        let found = self.plain.regex.try_search(&mut self.states, &Input::new(text).range(at..));
        let Ok(found) = found else { unreachable!("no limit was set behind which it gives up") };
        let (start, end) = found.map(|found| (found.start(), found.end()))?;
        let is_tail = found.is_some_and(|found| found.pattern().as_usize() == TAIL);
        Some((start, if is_tail { step_back(text, start, end) } else { end }))
    }
}

/// The automaton forgot the state that is asked for, as it had no room.
struct GaveUp;

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
