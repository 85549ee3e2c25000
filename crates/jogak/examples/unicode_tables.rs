//! Writes the Unicode tables of the pre-tokenizers: `cargo run -p jogak --example unicode_tables`.
//!
//! Rule: the tables say what the regular-expression engine beside them says. They are asked out of
//! `fancy-regex`, one character at a time, so a named scheme and its pattern can only agree. The
//! Unicode version is therefore that of the locked `regex-syntax`, which is also the one inside
//! `tiktoken`; when either moves, run this again and read the difference.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use fancy_regex::Regex;

/// The Unicode version of the locked `regex-syntax`: for the header only.
const UNICODE_VERSION: &str = "16.0.0";

/// Code points per block of the two-stage table.
const BLOCK: usize = 256;

/// Class letter, constant, pattern, meaning. `\` stays free: it stands for "no ASCII byte".
/// Later lines win, so the two halves of white space among the controls come last.
const CLASSES: [(char, &str, &str, &str); 31] = [
    ('@', "CN", r"\p{Cn}", "not assigned"),
    ('A', "LU", r"\p{Lu}", "upper-case letter"),
    ('B', "LL", r"\p{Ll}", "lower-case letter"),
    ('C', "LT", r"\p{Lt}", "title-case letter"),
    ('D', "LM", r"\p{Lm}", "modifier letter"),
    ('E', "LO", r"\p{Lo}", "other letter"),
    ('F', "MN", r"\p{Mn}", "nonspacing mark"),
    ('G', "MC", r"\p{Mc}", "spacing mark"),
    ('H', "ME", r"\p{Me}", "enclosing mark"),
    ('I', "ND", r"\p{Nd}", "decimal digit"),
    ('J', "NL", r"\p{Nl}", "letter number"),
    ('K', "NO", r"\p{No}", "other number"),
    ('L', "PC", r"\p{Pc}", "connector punctuation"),
    ('M', "PD", r"\p{Pd}", "dash punctuation"),
    ('N', "PS", r"\p{Ps}", "opening punctuation"),
    ('O', "PE", r"\p{Pe}", "closing punctuation"),
    ('P', "PI", r"\p{Pi}", "initial quotation"),
    ('Q', "PF", r"\p{Pf}", "final quotation"),
    ('R', "PO", r"\p{Po}", "other punctuation"),
    ('S', "SM", r"\p{Sm}", "mathematical symbol"),
    ('T', "SC", r"\p{Sc}", "currency symbol"),
    ('U', "SK", r"\p{Sk}", "modifier symbol"),
    ('V', "SO", r"\p{So}", "other symbol"),
    ('W', "ZS", r"\p{Zs}", "space"),
    ('X', "ZL", r"\p{Zl}", "line separator"),
    ('Y', "ZP", r"\p{Zp}", "paragraph separator"),
    ('Z', "CC", r"\p{Cc}", "control that is no white space"),
    ('[', "CF", r"\p{Cf}", "format character"),
    (']', "CO", r"\p{Co}", "private use"),
    ('^', "NEWLINE", r"[\r\n]", "carriage return and line feed"),
    ('_', "BLANK_CONTROL", r"[\p{Cc}&&[\s&&[^\r\n]]]", "other control that is white space"),
];

/// Every script of the Unicode version above. The run fails if one is missing.
const SCRIPTS: &str = "
    Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali
    Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian
    Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret
    Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay
    Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema Han
    Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited
    Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li
    Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A
    Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi
    Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi
    Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu
    Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian
    Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya
    Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan
    Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese
    Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut
    Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi
    Wancho Warang_Citi Yezidi Yi Zanabazar_Square
";

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pretokenize");
    std::fs::write(room.join("tables.rs"), class_tables()?)?;
    std::fs::write(room.join("script_ranges.rs"), script_ranges()?)?;
    Ok(())
}

/// Every code point with, for each pattern in turn, `mark(code point, number of the pattern)`.
fn sweep(patterns: &[String], mut mark: impl FnMut(usize, usize)) -> Result<(), Failure> {
    for (number, pattern) in patterns.iter().enumerate() {
        let regex = Regex::new(pattern)?;
        for c in '\0'..=char::MAX {
            if regex.is_match(c.encode_utf8(&mut [0; 4]) as &str)? {
                mark(c as usize, number);
            }
        }
    }
    Ok(())
}

fn header(what: &str) -> String {
    format!(
        "//! {what} of Unicode {UNICODE_VERSION}.\n//!\n\
         //! Written by `cargo run -p jogak --example unicode_tables`; do not edit.\n\n"
    )
}

fn class_tables() -> Result<String, Failure> {
    // Surrogates cannot stand in a text; they count as not assigned so that blocks coincide.
    let mut classes = vec!['@'; 0x11_0000];
    let patterns: Vec<String> = CLASSES.iter().map(|class| class.2.to_owned()).collect();
    sweep(&patterns, |c, number| classes[c] = CLASSES[number].0)?;

    let mut blocks: Vec<&[char]> = Vec::new();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for block in classes.chunks(BLOCK) {
        let which = blocks.iter().position(|b| *b == block).unwrap_or(blocks.len());
        if which == blocks.len() {
            blocks.push(block);
        }
        match runs.last_mut() {
            Some((count, last)) if *last == which => *count += 1,
            _ => runs.push((1, which)),
        }
    }

    let mut out = header("The character classes");
    for (letter, name, _, meaning) in CLASSES {
        writeln!(out, "/// {meaning}\npub(super) const {name}: u8 = b'{letter}';")?;
    }
    writeln!(
        out,
        "\n/// The numbers of the blocks of {BLOCK} code points, as (how many times, which block)."
    )?;
    writeln!(
        out,
        "#[rustfmt::skip]\npub(super) static BLOCK_RUNS: [(u16, u8); {}] = [",
        runs.len()
    )?;
    write_rows(&mut out, runs.iter().map(|(count, which)| format!("({count}, {which}),")))?;
    writeln!(out, "];\n\n/// The class of every code point of a block, one letter each.")?;
    writeln!(
        out,
        "#[rustfmt::skip]\npub(super) static BLOCKS: [[u8; {BLOCK}]; {}] = [",
        blocks.len()
    )?;
    for block in &blocks {
        let text: String = block.iter().collect();
        writeln!(out, "    *b\"{text}\",")?;
    }
    writeln!(out, "];")?;
    Ok(out)
}

fn script_ranges() -> Result<String, Failure> {
    let names: Vec<&str> = SCRIPTS.split_whitespace().collect();
    let patterns: Vec<String> = names.iter().map(|name| format!(r"\p{{sc={name}}}")).collect();
    let nameless = Regex::new(r"[\p{Cn}\p{Co}]")?;
    let mut scripts = vec![None; 0x11_0000];
    sweep(&patterns, |c, number| scripts[c] = Some(names[number]))?;
    for c in '\0'..=char::MAX {
        if scripts[c as usize].is_none() && !nameless.is_match(c.encode_utf8(&mut [0; 4]) as &str)?
        {
            return Err(format!("U+{:04X} has a script that is not listed", c as u32).into());
        }
    }
    let script = |c: usize| match scripts[c] {
        _ if c == 0x30FC => "Han",
        Some("Hiragana" | "Katakana") => "Han",
        None | Some("Common" | "Inherited") => "",
        Some(name) => name,
    };

    let mut rows = Vec::new();
    let mut start = 0;
    for c in 1..=scripts.len() {
        if c == scripts.len() || script(c) != script(start) {
            if let Some(number) = names.iter().position(|name| *name == script(start)) {
                rows.push(format!("(0x{start:04X}, 0x{:04X}, {number}),", c - 1));
            }
            start = c;
        }
    }
    let mut out = header("The scripts");
    writeln!(out, "/// (first code point, last code point, number of the script), ascending.")?;
    writeln!(
        out,
        "/// Japanese kana are Han; Common, Inherited and unknown characters are left out."
    )?;
    writeln!(
        out,
        "#[rustfmt::skip]\npub(super) static SCRIPT_RANGES: [(u32, u32, u8); {}] = [",
        rows.len()
    )?;
    write_rows(&mut out, rows.into_iter())?;
    writeln!(out, "];")?;
    let mut inherited: Vec<(usize, usize)> = Vec::new();
    for c in (0..scripts.len()).filter(|&c| scripts[c] == Some("Inherited")) {
        match inherited.last_mut() {
            Some((_, last)) if *last + 1 == c => *last = c,
            _ => inherited.push((c, c)),
        }
    }
    writeln!(
        out,
        "\n/// (first, last) code points that take the script of what they stand behind."
    )?;
    writeln!(
        out,
        "#[rustfmt::skip]\npub(super) static INHERITED: [(u32, u32); {}] = [",
        inherited.len()
    )?;
    write_rows(&mut out, inherited.iter().map(|(a, b)| format!("(0x{a:04X}, 0x{b:04X}),")))?;
    writeln!(out, "];")?;
    Ok(out)
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
