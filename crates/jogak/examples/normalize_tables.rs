//! Writes the Unicode tables of the normalizers: `cargo run -p jogak --example normalize_tables`.
//!
//! Rule: one Unicode version for what a normalizer does, so that a saved tokenizer does the same with
//! every later build. Lower case and case folding are asked out of Rust's own library, which must
//! stand at that version when this runs; what BERT keeps and drops stands at the older versions that
//! its implementations hold, and is asked out of `fancy-regex`, which knows the age of characters.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use fancy_regex::Regex;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    if char::UNICODE_VERSION != (17, 0, 0) {
        let found = char::UNICODE_VERSION;
        return Err(format!("this compiler knows Unicode {found:?}; expected 17.0.0").into());
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/normalize/tables.rs");
    let mut out = String::from(
        "//! Case mappings of Unicode 17.0.0, and the older classes that BERT's normalizer holds.\n//!\n\
         //! Written by `cargo run -p jogak --example normalize_tables`; do not edit.\n\n",
    );
    let all = || '\0'..=char::MAX;
    write_mapping(&mut out, "LOWER", "Lower case", all().filter_map(|c| Some((c, lower(c)?))))?;
    write_mapping(
        &mut out,
        "FOLD",
        "Simple case folding",
        all().filter_map(|c| Some((c, simple_fold(c)?))),
    )?;

    let full: Vec<(char, String)> = all()
        .filter_map(|c| {
            let full = full_fold(c);
            (full != simple_fold(c).unwrap_or(c).to_string()).then_some((c, full))
        })
        .collect();
    writeln!(
        out,
        "/// Case folding where it differs from the simple one: character, folded text."
    )?;
    writeln!(
        out,
        "#[rustfmt::skip]\npub(super) static FULL_FOLD: [(char, &str); {}] = [",
        full.len()
    )?;
    let escaped =
        |text: &str| -> String { text.chars().map(|c| format!("\\u{{{:x}}}", c as u32)).collect() };
    write_rows(
        &mut out,
        full.iter().map(|(c, text)| format!("('\\u{{{:x}}}', \"{}\"),", *c as u32, escaped(text))),
    )?;
    writeln!(out, "];\n")?;

    // Categories that changed after version 8.0: two were Mn and are Mc, four were something else.
    let dropped = matching(r"[\p{Cc}\p{Cf}\p{Co}&&\p{Age=8.0}&&[^\t\n\r]]")?;
    write_ranges(
        &mut out,
        "BERT_DROPPED",
        "Control, format and private characters of 8.0",
        &dropped,
    )?;
    let mut accents = matching(r"[\p{Mn}&&\p{Age=8.0}&&[^\u{1885}\u{1886}\u{a9bd}\u{111c9}]]")?;
    accents.extend(['\u{1734}', '\u{1171e}']);
    accents.sort_unstable();
    write_ranges(&mut out, "BERT_ACCENTS", "Nonspacing marks (Mn) of Unicode 8.0", &accents)?;
    let mut marks = matching(r"[\p{M}&&\p{Age=9.0}&&[^\u{111c9}]]")?;
    marks.extend(['\u{1cf2}', '\u{1cf3}']);
    marks.sort_unstable();
    write_ranges(&mut out, "MARKS", "Combining marks (M) of Unicode 9.0", &marks)?;
    let assigned = matching(r"\p{Age=9.0}")?;
    let young: Vec<char> = all()
        .filter(|c| assigned.binary_search(c).is_err())
        .filter(|&c| {
            let mut parts = Vec::new();
            unicode_normalization::char::decompose_compatible(c, |part| parts.push(part));
            parts != [c] || unicode_normalization::char::canonical_combining_class(c) != 0
        })
        .collect();
    let what = "Characters with a decomposition or a combining class that came after Unicode 9.0";
    write_ranges(&mut out, "AFTER_9", what, &young)?;
    while out.ends_with("\n\n") {
        out.pop();
    }
    std::fs::write(file, out)?;
    Ok(())
}

fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    chars.next().filter(|_| chars.next().is_none())
}

/// Lower case, if it is one other character. (It is always one but for U+0130.)
fn lower(c: char) -> Option<char> {
    only(c.to_lowercase()).filter(|&lower| lower != c)
}

/// Folded texts have the capitals of Cherokee, whose small letters came later.
fn is_cherokee(c: char) -> bool {
    matches!(c, '\u{13a0}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}')
}

/// Statuses C and S of CaseFolding.txt, from the case mappings that it is made of.
fn simple_fold(c: char) -> Option<char> {
    let fold = match c {
        // Turkish letters fold to themselves outside Turkish.
        '\u{130}' | '\u{131}' => c,
        '\u{1fd3}' => '\u{390}',
        '\u{1fe3}' => '\u{3b0}',
        '\u{fb05}' => '\u{fb06}',
        c if is_cherokee(c) => only(c.to_uppercase()).unwrap_or(c),
        c => {
            let upper = only(c.to_uppercase()).unwrap_or(c);
            only(upper.to_lowercase()).unwrap_or(upper)
        }
    };
    Some(fold).filter(|&fold| fold != c)
}

/// Statuses C and F of CaseFolding.txt.
fn full_fold(c: char) -> String {
    match c {
        '\u{131}' => c.to_string(),
        c if is_cherokee(c) => c.to_uppercase().collect(),
        c => c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect(),
    }
}

fn matching(pattern: &str) -> Result<Vec<char>, Failure> {
    let regex = Regex::new(pattern)?;
    let mut found = Vec::new();
    for c in '\0'..=char::MAX {
        if regex.is_match(c.encode_utf8(&mut [0; 4]) as &str)? {
            found.push(c);
        }
    }
    Ok(found)
}

/// Pairs as (first, last, step, distance): from `first` every `step`-th character up to `last` maps
/// to the one `distance` further.
fn write_mapping(
    out: &mut String,
    name: &str,
    what: &str,
    pairs: impl Iterator<Item = (char, char)>,
) -> Result<(), Failure> {
    let mut rows: Vec<(u32, u32, u32, i32)> = Vec::new();
    for (from, to) in pairs {
        let (from, distance) = (from as u32, to as i32 - from as i32);
        match rows.last_mut() {
            Some((first, last, step, d))
                if *d == distance
                    && from - *last <= 2
                    && (first == last || from - *last == *step) =>
            {
                *step = from - *last;
                *last = from;
            }
            _ => rows.push((from, from, 1, distance)),
        }
    }
    writeln!(out, "/// {what}: (first, last, step, distance to what each maps to).")?;
    writeln!(
        out,
        "#[rustfmt::skip]\npub(super) static {name}: [(u32, u32, u32, i32); {}] = [",
        rows.len()
    )?;
    write_rows(
        out,
        rows.iter()
            .map(|(first, last, step, d)| format!("(0x{first:X}, 0x{last:X}, {step}, {d}),")),
    )?;
    writeln!(out, "];\n")?;
    Ok(())
}

fn write_ranges(out: &mut String, name: &str, what: &str, chars: &[char]) -> Result<(), Failure> {
    let mut rows: Vec<(u32, u32)> = Vec::new();
    for c in chars.iter().map(|&c| c as u32) {
        match rows.last_mut() {
            // Surrogates are no characters.
            Some((_, last)) if *last + 1 == c || (*last == 0xD7FF && c == 0xE000) => *last = c,
            _ => rows.push((c, c)),
        }
    }
    writeln!(out, "/// {what}: (first, last), ascending.")?;
    writeln!(out, "#[rustfmt::skip]\npub(super) static {name}: [(u32, u32); {}] = [", rows.len())?;
    write_rows(out, rows.iter().map(|(first, last)| format!("(0x{first:X}, 0x{last:X}),")))?;
    writeln!(out, "];\n")?;
    Ok(())
}

/// Writes `items` separated by blanks, in indented lines of at most 100 characters.
fn write_rows(out: &mut String, items: impl Iterator<Item = String>) -> Result<(), Failure> {
    let mut line = String::new();
    for item in items {
        if line.len() + item.len() + 5 > 100 {
            writeln!(out, "   {line}")?;
            line.clear();
        }
        write!(line, " {item}")?;
    }
    writeln!(out, "   {line}")?;
    Ok(())
}
