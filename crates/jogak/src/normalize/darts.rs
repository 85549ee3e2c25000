//! Double arrays (Aoe 1989) as the library Darts-clone lays them out, read and written.
//!
//! ```text
//! a unit      bits 0-7 label, bit 8 "has a value", bit 9 "offset is in 256s", bits 10-30 offset;
//!             or bit 31 set: bits 0-30 are a value
//! a node      the place `unit index ^ offset`: its child for a byte is the unit at `place ^ byte`, if
//!             that has the byte as its label; its value is the unit at `place` itself
//! the root    the node of unit 0
//! ```
//!
//! Rule: an index outside the array is "no child". Equal subtrees share one node when written, as in a
//! directed acyclic word graph: SentencePiece's rule sets have 225,000 keys in 57,000 units.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::charsmap::LONGEST;
use crate::error::{Error, Result};

const HAS_VALUE: u32 = 1 << 8;
const IS_VALUE: u32 = 1 << 31;
/// Greatest offset that is written; all that a unit can say in single steps.
const OFFSETS: usize = 1 << 21;
/// Children of one node lie within one block.
const BLOCK: usize = 256;
/// SentencePiece stops looking after this many keys that start alike.
const MOST_PREFIXES: usize = 31;

/// A trie, ready for look-up.
#[derive(Debug, Clone, Default)]
pub(super) struct Trie {
    units: Vec<u32>,
}

/// A node of a trie: the index of its unit, and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Node(u32, u32);

impl Node {
    pub(super) fn unit(self) -> usize {
        self.0 as usize
    }
}

/// What [`Trie::bytes_on`] tells.
pub(super) struct BytesOn {
    /// Where the bytes of each place begin.
    starts: Vec<u32>,
    bytes: Vec<u8>,
}

impl BytesOn {
    /// The bytes from 1 on that a node has a child for, in their order.
    pub(super) fn of(&self, node: Node) -> &[u8] {
        let place = node.1 as usize;
        match (self.starts.get(place), self.starts.get(place + 1)) {
            (Some(&start), Some(&end)) => &self.bytes[start as usize..end as usize],
            _ => &[],
        }
    }
}

impl Trie {
    pub(super) fn new(units: Vec<u32>) -> Self {
        Self { units }
    }

    pub(super) fn units(&self) -> &[u32] {
        &self.units
    }

    /// Units in little endian; a rest of less than four bytes is ignored.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let (units, _) = bytes.as_chunks::<4>();
        Self { units: units.iter().map(|unit| u32::from_le_bytes(*unit)).collect() }
    }

    #[inline]
    fn node(index: u32, unit: u32) -> Node {
        let offset = (unit >> 10 & 0x1F_FFFF) << ((unit & 1 << 9) >> 6);
        Node(index, index ^ offset)
    }

    pub(super) fn root(&self) -> Option<Node> {
        self.units.first().map(|&unit| Self::node(0, unit))
    }

    #[inline]
    pub(super) fn child(&self, node: Node, byte: u8) -> Option<Node> {
        let index = node.1 ^ u32::from(byte);
        let unit = *self.units.get(index as usize)?;
        (unit & (IS_VALUE | 0xFF) == u32::from(byte)).then(|| Self::node(index, unit))
    }

    #[inline]
    pub(super) fn value(&self, node: Node) -> Option<u32> {
        if self.units[node.unit()] & HAS_VALUE == 0 {
            return None;
        }
        self.units.get(node.1 as usize).map(|unit| unit & !IS_VALUE)
    }

    /// The bytes that lead on from each place.
    ///
    /// To try all bytes at a node is 255 looks; each unit says which place it belongs to, so one look at
    /// each unit tells them all.
    pub(super) fn bytes_on(&self) -> BytesOn {
        let places = self.units.len().next_multiple_of(256);
        let children = || {
            (0u32..).zip(&self.units).filter_map(|(index, &unit)| {
                let byte = unit as u8;
                (unit & IS_VALUE == 0 && byte != 0)
                    .then(|| ((index ^ u32::from(byte)) as usize, byte))
            })
        };
        let mut starts = vec![0u32; places + 1];
        children().for_each(|(place, _)| starts[place + 1] += 1);
        for place in 0..places {
            starts[place + 1] += starts[place];
        }
        let mut bytes = vec![0; starts[places] as usize];
        let mut free = starts.clone();
        for (place, byte) in children() {
            bytes[free[place] as usize] = byte;
            free[place] += 1;
        }
        let mut on = BytesOn { starts, bytes };
        for place in 0..places {
            let (start, end) = (on.starts[place] as usize, on.starts[place + 1] as usize);
            on.bytes[start..end].sort_unstable();
        }
        on
    }

    /// Whether no key has this byte but as its first. Units that nothing leads to may make it say no.
    pub(super) fn has_only_first(&self, byte: u8) -> bool {
        let first = self.root().map(|root| (root.1 ^ u32::from(byte)) as usize);
        self.units.iter().enumerate().all(|(index, unit)| {
            unit & (IS_VALUE | 0xFF) != u32::from(byte) || Some(index) == first
        })
    }
}

/// A charsmap of rules (key, replacement), in the format of SentencePiece. The same rules in any order
/// give the same bytes. Of a key that comes twice the later replacement counts.
///
/// # Errors
/// [`Error::Config`] for an empty key, a zero character, a text of more than `LONGEST` bytes, or more
/// keys that start alike than SentencePiece can tell apart; [`Error::TooLarge`] if an array would
/// outgrow its numbers.
pub fn compile(rules: &[(String, String)]) -> Result<Vec<u8>> {
    let rules: std::collections::BTreeMap<&str, &str> =
        rules.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    for (key, text) in &rules {
        check_rule(key, text)?;
    }
    let mut texts: Vec<&str> = rules.values().copied().collect();
    texts.sort_unstable();
    texts.dedup();
    let mut places = HashMap::with_capacity_and_hasher(texts.len(), FxBuildHasher);
    let mut replacements = String::new();
    for text in texts {
        places.insert(text, replacements.len() as u32);
        replacements.push_str(text);
        replacements.push('\0');
    }
    let mut graph = Graph::default();
    for (key, text) in &rules {
        graph.add(key.as_bytes(), places[text])?;
    }
    Ok(packed(&lay_out(&graph.finish())?, &replacements))
}

/// A charsmap in the format of SentencePiece.
pub(super) fn packed(units: &[u32], replacements: &str) -> Vec<u8> {
    let mut bytes = ((units.len() * 4) as u32).to_le_bytes().to_vec();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes.extend_from_slice(replacements.as_bytes());
    bytes
}

fn check_rule(key: &str, text: &str) -> Result<()> {
    let wrong = |found: String, expected: &str| {
        Err(Error::Config { option: "a normalization rule", found, expected: expected.to_owned() })
    };
    if key.is_empty() {
        return wrong(format!("nothing -> {text:?}"), "at least one character to replace");
    }
    if key.contains('\0') || text.contains('\0') {
        return wrong(
            format!("{key:?} -> {text:?}"),
            "no character U+0000, which ends texts in the format",
        );
    }
    if key.len() > LONGEST || text.len() > LONGEST {
        let found = format!("{} bytes -> {} bytes", key.len(), text.len());
        return wrong(found, &format!("at most {LONGEST} bytes on either side"));
    }
    Ok(())
}

/// A state of the word graph: its value, and the state that each byte leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub value: Option<u32>,
    /// In the order of the bytes.
    pub children: Vec<(u8, u32)>,
}

/// Builds the smallest graph of keys that come in order (Daciuk et al. 2000): what lies behind the last
/// key's common part with the next one will not change, and is looked up among the finished states.
#[derive(Debug, Default)]
pub(super) struct Graph {
    states: Vec<State>,
    known: HashMap<State, u32, FxBuildHasher>,
    /// The unfinished states along the last key.
    path: Vec<State>,
    last: Vec<u8>,
}

impl Graph {
    fn add(&mut self, key: &[u8], value: u32) -> Result<()> {
        if self.path.is_empty() {
            self.path.push(State::default());
        }
        let common = key.iter().zip(&self.last).take_while(|(a, b)| a == b).count();
        self.close(common);
        self.path.resize(key.len() + 1, State::default());
        self.path[key.len()].value = Some(value);
        self.last = key.to_vec();
        let prefixes = self.path.iter().filter(|state| state.value.is_some()).count();
        if prefixes > MOST_PREFIXES {
            return Err(Error::Config {
                option: "normalization rules",
                found: format!("{prefixes} keys that start alike"),
                expected: format!("at most {MOST_PREFIXES}"),
            });
        }
        Ok(())
    }

    /// Finishes the states of the last key behind its first `keep` bytes.
    fn close(&mut self, keep: usize) {
        while self.path.len() > keep + 1 {
            let Some(state) = self.path.pop() else { break };
            let id = self.intern(state);
            let byte = self.last[self.path.len() - 1];
            if let Some(parent) = self.path.last_mut() {
                parent.children.push((byte, id));
            }
        }
    }

    /// The number of the one state that is equal.
    pub fn intern(&mut self, state: State) -> u32 {
        let states = &mut self.states;
        *self.known.entry(state).or_insert_with_key(|state| {
            states.push(state.clone());
            states.len() as u32 - 1
        })
    }

    /// All states that were interned, and as the last one the root.
    pub fn into_states(mut self, root: State) -> Vec<State> {
        self.states.push(root);
        self.states
    }

    /// All states; the last is the root.
    fn finish(mut self) -> Vec<State> {
        self.close(0);
        self.states.extend(self.path.pop());
        self.states
    }
}

/// Places states in an array, from the root on, which is the last of them.
pub(super) fn lay_out(states: &[State]) -> Result<Vec<u32>> {
    let mut array = Array::default();
    array.grow();
    array.taken[0] = true;
    let mut places: Vec<Option<usize>> = vec![None; states.len()];
    let root = states.len() - 1;
    // Units to be filled in once their state has its place.
    let mut queue = std::collections::VecDeque::from([(0_usize, 0_u8, root)]);
    while let Some((unit, label, state)) = queue.pop_front() {
        let State { value, children } = &states[state];
        let place = match places[state] {
            Some(place) => place,
            None => {
                let place = array.place(value.is_some(), children, unit);
                places[state] = Some(place);
                if let Some(value) = value {
                    array.units[place] = IS_VALUE | value;
                    array.taken[place] = true;
                }
                for &(byte, child) in children {
                    let index = place ^ usize::from(byte);
                    array.taken[index] = true;
                    queue.push_back((index, byte, child as usize));
                }
                place
            }
        };
        let offset = unit ^ place;
        if offset >= OFFSETS {
            return Err(Error::TooLarge {
                what: "the trie of a charsmap",
                size: array.units.len() as u64,
                limit: OFFSETS as u64,
            });
        }
        let flag = if value.is_some() { HAS_VALUE } else { 0 };
        array.units[unit] = u32::from(label) | flag | (offset as u32) << 10;
    }
    Ok(array.units)
}

/// The array while it is being filled. Units that stay free look like values, which are nobody's child.
#[derive(Debug, Default)]
struct Array {
    units: Vec<u32>,
    taken: Vec<bool>,
    /// Places that are some node's.
    places: Vec<bool>,
    /// No free unit lies before.
    free: usize,
}

impl Array {
    fn grow(&mut self) {
        self.units.extend([IS_VALUE; BLOCK]);
        self.taken.extend([false; BLOCK]);
        self.places.extend([false; BLOCK]);
    }

    /// A place where a node of these children fits. Old blocks are nearly full and not looked at.
    fn place(&mut self, value: bool, children: &[(u8, u32)], unit: usize) -> usize {
        let first =
            if value { 0 } else { children.first().map_or(0, |child| usize::from(child.0)) };
        self.free = self.free.max(self.units.len().saturating_sub(16 * BLOCK));
        while self.taken.get(self.free) == Some(&true) {
            self.free += 1;
        }
        for index in self.free.. {
            if index >= self.units.len() {
                self.grow();
            }
            let place = index ^ first;
            // A node at its own unit would have offset 0, which readers take for "no node".
            let fits = !self.taken[index]
                && !self.places[place]
                && place != unit
                && children.iter().all(|&(byte, _)| !self.taken[place ^ usize::from(byte)]);
            if fits {
                self.places[place] = true;
                return place;
            }
        }
        unreachable!("the array grows until there is room")
    }
}
