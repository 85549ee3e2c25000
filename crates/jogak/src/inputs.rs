//! Ids of texts -> inputs of a model: cut to a length, with a template's ids around, filled up.
//!
//! Rule: knows no text and no model, only how many ids there are. First it plans which ids go where,
//! then it writes them down. Cutting is that of Hugging Face's `truncate_encodings`, and the order of
//! parts that are cut off that of its `Encoding::merge`.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::spans::{Span, Spans};

/// What stands in an input: a text (0 or 1) or ids, and the type id of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// The text number 0 or 1.
    Text(usize, u32),
    /// Ids that stand there always.
    Ids(Vec<u32>, u32),
}

/// Which of two texts is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    /// The longer one, then both.
    Longest,
    /// This one.
    Only(usize),
}

/// How inputs are cut to a length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truncation {
    /// The most ids, those of the template counted.
    pub max_length: usize,
    /// How many ids neighbouring parts have in common.
    pub stride: usize,
    /// Whether ids are taken away at the left.
    pub left: bool,
    /// Which text is cut.
    pub victim: Victim,
}

/// How inputs are filled up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Padding {
    /// What fills.
    pub id: u32,
    /// Its type id.
    pub type_id: u32,
    /// Whether it stands at the left.
    pub left: bool,
    /// So many ids; None for as many as the longest input has.
    pub length: Option<usize>,
    /// And then up to a multiple of this.
    pub multiple_of: Option<usize>,
}

/// All that makes inputs of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// What stands around the texts.
    pub slots: Vec<Slot>,
    /// How they are cut.
    pub truncation: Option<Truncation>,
    /// How they are filled up.
    pub padding: Option<Padding>,
    /// Whether parts that are cut off are kept.
    pub overflow: bool,
}

/// The ids of one text, lent; the other lists are empty where nobody asked for spans.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'a> {
    /// The ids.
    pub ids: &'a [u32],
    /// The bytes of each.
    pub bytes: &'a [Span],
    /// The characters of each.
    pub chars: &'a [Span],
    /// The word of each.
    pub words: &'a [u32],
}

impl<'a> Source<'a> {
    /// Some of many ids: those of a text.
    pub fn of(spans: &'a Spans, ids: Range<usize>) -> Self {
        Self {
            ids: &spans.ids[ids.clone()],
            bytes: &spans.bytes[ids.clone()],
            chars: &spans.chars[ids.clone()],
            words: &spans.words[ids],
        }
    }
}

/// Inputs, one behind the other. A place that belongs to no text has -1 where there is nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    /// All ids.
    pub ids: Vec<u32>,
    /// The type id of each.
    pub type_ids: Vec<u32>,
    /// 1 for what the template or padding put in.
    pub special: Vec<u8>,
    /// 0 for padding.
    pub attention: Vec<u8>,
    /// The text of each, 0 or 1.
    pub sequences: Vec<i8>,
    /// The word of each; empty without spans.
    pub words: Vec<i64>,
    /// Starts and ends in bytes; empty without spans.
    pub bytes: Vec<[i64; 2]>,
    /// Starts and ends in characters; empty without spans.
    pub chars: Vec<[i64; 2]>,
    /// Row `i` has the places from `offsets[i]` to `offsets[i + 1]`.
    pub offsets: Vec<i64>,
    /// The input whose row it is. The first row of an input is the input, others are parts cut off.
    pub owners: Vec<i64>,
    /// Whether words and spans are kept.
    spans: bool,
}

/// The most ids that parts of one call may have, unless the texts themselves have more. Parts of two texts
/// are combined, each with each, which nothing else would bound.
const MOST_IDS: usize = 1 << 25;

impl Form {
    /// How many ids the template puts in.
    fn added(&self) -> usize {
        let ids = |slot: &Slot| match slot {
            Slot::Ids(ids, _) => ids.len(),
            Slot::Text(..) => 0,
        };
        self.slots.iter().map(ids).sum()
    }

    /// The windows of each text that stay, the first one for the input itself; None where all stays.
    fn windows(&self, lengths: [usize; 2], pair: bool) -> Result<Option<[Vec<Span>; 2]>> {
        let Some(truncation) = &self.truncation else { return Ok(None) };
        let added = self.added();
        let Some(most) = truncation.max_length.checked_sub(added) else {
            return Err(Error::Config {
                option: "truncation.max_length",
                found: truncation.max_length.to_string(),
                expected: format!("at least {added}, as the template puts in so many ids"),
            });
        };
        let total = lengths[0] + lengths[1];
        if total <= most {
            return Ok(None);
        }
        let mut kept = lengths;
        if most == 0 {
            kept = [0, 0];
        } else {
            match truncation.victim {
                Victim::Longest if !pair => kept[0] = most,
                Victim::Longest => kept = shares(lengths, most),
                Victim::Only(1) if !pair => {
                    return Err(Error::Config {
                        option: "truncation.strategy",
                        found: "'only-second'".to_owned(),
                        expected: "another strategy, as there is no second text".to_owned(),
                    });
                }
                Victim::Only(text) => {
                    let remove = total - most;
                    if lengths[text] <= remove {
                        return Err(Error::TooShortToCut { text, ids: lengths[text], remove });
                    }
                    kept[text] -= remove;
                }
            }
        }
        let cut = |text: usize| cut(lengths[text], kept[text], truncation);
        Ok(Some([cut(0)?, cut(1)?]))
    }

    fn rows(&self, lengths: [usize; 2], pair: bool, room: usize) -> Result<Rows> {
        let Some(windows) = self.windows(lengths, pair)? else { return Ok(Rows::Whole) };
        let texts = self.slots.iter().filter_map(|slot| match slot {
            Slot::Text(text, _) => Some(&windows[*text]),
            Slot::Ids(..) => None,
        });
        let (mut main, mut others) = (Vec::new(), Vec::<Vec<Span>>::new());
        let with = |row: &[Span], window: Span| [row, &[window]].concat();
        for windows in texts {
            if self.overflow {
                let rows = (others.len() + 1).saturating_mul(windows.len());
                let ids = windows.iter().map(|(start, end)| end - start).max().unwrap_or(0);
                let ids = rows.saturating_mul(ids + self.added() + 1);
                if ids > room {
                    return Err(Error::TooManyParts { ids: ids as u64, limit: room as u64 });
                }
                let mut combined = Vec::with_capacity(rows);
                for row in &others {
                    combined.extend(windows.iter().map(|&window| with(row, window)));
                }
                combined.extend(windows[1..].iter().map(|&window| with(&main, window)));
                others = combined;
            }
            main.push(windows[0]);
        }
        others.insert(0, main);
        Ok(Rows::Cut(others))
    }

    /// The windows of the texts in the order of the template, each with the number of the text and its type id.
    fn slots<'a>(
        &'a self,
        windows: Option<&'a [Span]>,
        lengths: [usize; 2],
    ) -> impl Iterator<Item = Filling<'a>> {
        let mut windows = windows.map(|windows| windows.iter().copied());
        self.slots.iter().map(move |slot| match slot {
            Slot::Ids(ids, type_id) => Filling::Ids(ids, *type_id),
            Slot::Text(text, type_id) => {
                let window = match &mut windows {
                    Some(windows) => windows.next().unwrap_or_default(),
                    None => (0, lengths[*text]),
                };
                Filling::Text(*text, window, *type_id)
            }
        })
    }

    /// Makes the inputs of texts, or of pairs of texts.
    ///
    /// # Errors
    /// [`Error::Config`] for a length that the template alone passes, a stride as long as what is kept, or a
    /// second text that is to be cut and is not there; [`Error::TooShortToCut`] where the text to be cut
    /// has not enough ids; [`Error::TooManyParts`]. With the number of the input.
    pub fn inputs(
        &self,
        first: &[Source<'_>],
        second: Option<&[Source<'_>]>,
        spans: bool,
    ) -> std::result::Result<Inputs, (usize, Error)> {
        let total: usize =
            first.iter().chain(second.unwrap_or(&[])).map(|text| text.ids.len()).sum();
        let mut room = MOST_IDS.max(total.saturating_mul(4).saturating_add(first.len()));
        let mut plan = Vec::with_capacity(first.len());
        let (mut longest, mut places) = (0, 0);
        for (index, source) in first.iter().enumerate() {
            let other = second.and_then(|second| second.get(index));
            let lengths = [source.ids.len(), other.map_or(0, |other| other.ids.len())];
            let rows = self.rows(lengths, other.is_some(), room).map_err(|error| (index, error))?;
            for number in 0..rows.len() {
                let length = self.slots(rows.windows(number), lengths).map(|part| part.len()).sum();
                if number == 0 {
                    longest = longest.max(length);
                } else {
                    room = room.saturating_sub(length + 1);
                }
                places += length;
            }
            plan.push(rows);
        }
        let width = self.padding.as_ref().map_or(0, |padding| padding.width(longest));
        let rows: usize = plan.iter().map(Rows::len).sum();
        if width > 0 {
            places = rows.saturating_mul(width).max(places);
            let limit = MOST_PLACES.max(total.saturating_mul(64));
            if places > limit {
                let error = Error::TooManyParts { ids: places as u64, limit: limit as u64 };
                return Err((0, error));
            }
        }
        let mut out = Inputs::with_room(places, rows, spans);
        for (index, rows) in plan.iter().enumerate() {
            let other = second.and_then(|second| second.get(index)).copied();
            let texts = [first[index], other.unwrap_or_default()];
            for number in 0..rows.len() {
                self.write(rows.windows(number), texts, width, &mut out);
                out.offsets.push(out.ids.len() as i64);
                out.owners.push(index as i64);
            }
        }
        Ok(out)
    }

    fn write(
        &self,
        windows: Option<&[Span]>,
        texts: [Source<'_>; 2],
        width: usize,
        out: &mut Inputs,
    ) {
        let slots = || self.slots(windows, texts.map(|text| text.ids.len()));
        let padding = self.padding.as_ref();
        let fill = padding
            .map(|padding| (padding, width.saturating_sub(slots().map(|part| part.len()).sum())));
        if let Some((padding, many)) = fill.filter(|(padding, _)| padding.left) {
            out.put_in(std::iter::repeat_n(padding.id, many), padding.type_id, 0);
        }
        for part in slots() {
            match part {
                Filling::Ids(ids, type_id) => out.put_in(ids.iter().copied(), type_id, 1),
                Filling::Text(text, window, type_id) => {
                    out.take(texts[text], window, type_id, text as i8);
                }
            }
        }
        if let Some((padding, many)) = fill.filter(|(padding, _)| !padding.left) {
            out.put_in(std::iter::repeat_n(padding.id, many), padding.type_id, 0);
        }
    }
}

/// The rows of an input.
enum Rows {
    /// One, in which all of the texts stays.
    Whole,
    /// For each, the windows of the texts in the order of the template. The first one is the input.
    Cut(Vec<Vec<Span>>),
}

impl Rows {
    fn len(&self) -> usize {
        match self {
            Self::Whole => 1,
            Self::Cut(rows) => rows.len(),
        }
    }

    /// The windows of a row; None where all stays.
    fn windows(&self, row: usize) -> Option<&[Span]> {
        match self {
            Self::Whole => None,
            Self::Cut(rows) => Some(&rows[row]),
        }
    }
}

/// What fills a slot of the template, with its type id.
enum Filling<'a> {
    Ids(&'a [u32], u32),
    /// A window of a text.
    Text(usize, Span, u32),
}

impl Filling<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Ids(ids, _) => ids.len(),
            Self::Text(_, (start, end), _) => end - start,
        }
    }
}

/// The most places that padding may fill, unless the texts are long themselves.
const MOST_PLACES: usize = 1 << 30;

impl Padding {
    fn width(&self, longest: usize) -> usize {
        let length = self.length.unwrap_or(longest);
        self.multiple_of.map_or(length, |multiple| length.next_multiple_of(multiple.max(1)))
    }
}

impl Inputs {
    fn with_room(places: usize, rows: usize, spans: bool) -> Self {
        let more = if spans { places } else { 0 };
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self {
            ids: Vec::with_capacity(places),
            type_ids: Vec::with_capacity(places),
            special: Vec::with_capacity(places),
            attention: Vec::with_capacity(places),
            sequences: Vec::with_capacity(places),
            words: Vec::with_capacity(more),
            bytes: Vec::with_capacity(more),
            chars: Vec::with_capacity(more),
            offsets,
            owners: Vec::with_capacity(rows),
            spans,
        }
    }

    /// Ids that belong to no text.
    fn put_in(&mut self, ids: impl Iterator<Item = u32>, type_id: u32, attention: u8) {
        self.ids.extend(ids);
        let now = self.ids.len();
        self.type_ids.resize(now, type_id);
        self.special.resize(now, 1);
        self.attention.resize(now, attention);
        self.sequences.resize(now, -1);
        if self.spans {
            self.words.resize(now, -1);
            self.bytes.resize(now, [0, 0]);
            self.chars.resize(now, [0, 0]);
        }
    }

    /// Ids of a text.
    fn take(&mut self, text: Source<'_>, (start, end): Span, type_id: u32, sequence: i8) {
        self.ids.extend_from_slice(&text.ids[start..end]);
        let now = self.ids.len();
        self.type_ids.resize(now, type_id);
        self.special.resize(now, 0);
        self.attention.resize(now, 1);
        self.sequences.resize(now, sequence);
        if self.spans {
            let pair = |&(start, end): &Span| [start as i64, end as i64];
            self.words.extend(text.words[start..end].iter().map(|&word| i64::from(word)));
            self.bytes.extend(text.bytes[start..end].iter().map(pair));
            self.chars.extend(text.chars[start..end].iter().map(pair));
        }
    }
}

/// How many ids of each of two texts stay where `most` stay together: the longer one is cut down to the
/// shorter, then both to a half, the longer of the halves being the longer text's (the second's, if both
/// are as long).
fn shares(lengths: [usize; 2], most: usize) -> [usize; 2] {
    let [first, second] = lengths;
    let swapped = first > second;
    let mut short = first.min(second);
    let mut long = if short > most { short } else { short.max(most - short) };
    if short + long > most {
        short = most / 2;
        long = short + most % 2;
    }
    if swapped { [long, short] } else { [short, long] }
}

/// The windows of at most `most` ids over `length` of them, the one that stays first.
fn cut(length: usize, most: usize, truncation: &Truncation) -> Result<Vec<Span>> {
    if most >= length {
        return Ok(vec![(0, length)]);
    }
    if most == 0 {
        return Ok(vec![(0, 0), (0, length)]);
    }
    if truncation.stride >= most {
        return Err(Error::Config {
            option: "truncation.stride",
            found: truncation.stride.to_string(),
            expected: format!("less than {most}, the ids that stay of the text"),
        });
    }
    let step = most - truncation.stride;
    let mut windows = Vec::with_capacity((length - most).div_ceil(step) + 1);
    let mut at = 0;
    loop {
        let far = (at + most).min(length);
        windows.push(if truncation.left { (length - far, length - at) } else { (at, far) });
        if far == length {
            return Ok(windows);
        }
        at += step;
    }
}
