//! What one thread encodes with, and has learned.
//!
//! Rule: nothing of it is seen in a result. What all words cost is paid once: a worker is used again, and knows what
//! the calls before this one met.

use crate::cache::{KnownWords, LongWords, Queue, WordTable};
use crate::model::Scratch;
use crate::prepare::{self, RawScratch};
use crate::utf8::Room;
use crate::vocab::Vocab;

use super::singles::Singles;
use super::strange::StrangeWords;
use super::{Tokenizer, answer, joined, words};

/// How much memory a worker may use to remember words, in bytes; as much again once spans are asked for. (A large
/// vocabulary that a worker is taught may take more than its share; characters take up to two and a half megabytes beside it.)
pub const CACHE_LIMIT: usize = 64 << 20;

/// Workers that nobody uses. They come and go with each call, and are large: boxes are what is moved.
pub(super) type Idle = Vec<Box<Worker>>;

/// How the memory of a worker is shared out: at most so many bytes for each of its tables. Those for ids have the limit
/// together; the one for spans, which is made when somebody asks for spans, has it by itself.
#[derive(Debug, Default)]
pub(super) struct Shares {
    pub(super) known: usize,
    pub(super) raw: usize,
    pub(super) parts: usize,
    pub(super) raw_parts: usize,
    pub(super) marked: usize,
    pub(super) spans: usize,
}

/// What a worker has learned.
#[derive(Debug, Clone)]
pub(super) struct Learned {
    pub(super) known: KnownWords,
    /// Words as they stand in texts, where they are looked up so.
    pub(super) raw: KnownWords,
    /// Parts of words, for Unigram; made when first asked for.
    pub(super) parts: Option<Box<WordTable>>,
    /// Parts of raw words, for Unigram.
    pub(super) raw_parts: KnownWords,
    /// Raw words whose ids hold for some sums only, for Unigram.
    pub(super) marked: Option<Box<LongWords>>,
    pub(super) habit: words::Habit,
}

/// What one thread needs to encode.
#[derive(Debug)]
pub struct Worker {
    pub(super) learned: Learned,
    pub(super) raw_room: RawScratch,
    /// Characters of raw words, for Unigram.
    pub(super) singles: Singles,
    /// Words of writings that a WordPiece model was not made for.
    pub(super) strange: StrangeWords,
    /// Words with the spans of their pieces, once somebody asks for spans.
    pub(super) spans: Option<Box<WordTable>>,
    pub(super) queue: Queue,
    pub(super) scratch: Scratch,
    pub(super) prepared: prepare::Scratch,
    /// Room for a part with its marks.
    pub(super) marked: String,
    /// Room for the texts of a part of a batch.
    pub(super) room: Room,
    /// Room for the ids of some.
    pub(super) parts: Vec<answer::Part>,
    /// Room for short texts.
    pub(super) joined: joined::Joined,
}

impl Worker {
    pub(super) fn with(learned: Learned) -> Box<Self> {
        Box::new(Self {
            learned,
            raw_room: RawScratch::default(),
            singles: Singles::default(),
            strange: StrangeWords::default(),
            spans: None,
            queue: Queue::default(),
            scratch: Scratch::default(),
            prepared: prepare::Scratch::default(),
            marked: String::new(),
            room: Room::default(),
            parts: Vec::new(),
            joined: joined::Joined::default(),
        })
    }

    /// What is needed to encode with spans.
    pub(crate) fn for_spans(&mut self, tokenizer: &Tokenizer) -> (&mut WordTable, &mut Scratch) {
        let limit = || tokenizer.shares().spans;
        let table = self.spans.get_or_insert_with(|| Box::new(WordTable::new(0, limit())));
        (table, &mut self.scratch)
    }
}

/// A table that knows all pieces as words, each with its id, and takes at most about `limit` bytes, if they fit.
pub fn taught(vocab: &Vocab, limit: usize) -> KnownWords {
    let ids = 0..vocab.len() as u32;
    KnownWords::knowing(|| ids.clone().filter_map(|id| Some((vocab.piece(id)?, id))), limit)
}

impl Tokenizer {
    /// Makes the first worker, so that the first text does not wait for it. `known` is what [`taught`] gives for the
    /// vocabulary of a model that takes whole words, if it was made before.
    pub fn make_ready(&self, known: Option<KnownWords>) {
        self.give_back(self.worker_that_knows(known));
    }

    /// A worker, new or used before.
    pub fn worker(&self) -> Box<Worker> {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| self.new_worker())
    }

    /// Up to `most` of those that nobody uses.
    pub(super) fn idle_workers(&self, most: usize) -> Idle {
        self.idle.try_lock().map_or_else(
            |_| Vec::new(),
            |mut idle| {
                let kept = idle.len().saturating_sub(most);
                idle.split_off(kept)
            },
        )
    }

    pub(super) fn new_worker(&self) -> Box<Worker> {
        self.worker_that_knows(None)
    }

    fn worker_that_knows(&self, known: Option<KnownWords>) -> Box<Worker> {
        let shares = self.shares();
        Worker::with(Learned {
            known: known.unwrap_or_else(|| self.taught(shares.known)),
            raw: self.raw_taught(shares.raw),
            parts: None,
            raw_parts: self.untaught(shares.raw_parts),
            marked: None,
            habit: words::Habit::default(),
        })
    }

    /// Who may remember how much.
    pub(super) fn shares(&self) -> Shares {
        let (all, eighth) = (self.cache_limit, self.cache_limit / 8);
        let none = Shares { spans: all, ..Shares::default() };
        match (self.looks_up_raw, self.model.unigram()) {
            (true, Some(_)) => {
                Shares { raw: 5 * eighth, raw_parts: eighth, marked: eighth, parts: eighth, ..none }
            }
            (false, Some(_)) => Shares { parts: all, ..none },
            (true, None) if self.model.may_cut() => {
                Shares { raw: 4 * eighth, known: 4 * eighth, ..none }
            }
            // The other table is seldom asked.
            (true, None) => Shares { raw: 6 * eighth, known: 2 * eighth, ..none },
            (false, None) => Shares { known: all, ..none },
        }
    }

    /// Gives a worker back for others to use.
    pub fn give_back(&self, worker: Box<Worker>) {
        self.give_all_back([worker]);
    }

    pub(super) fn give_all_back(&self, workers: impl IntoIterator<Item = Box<Worker>>) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.extend(workers);
        }
    }

    /// A table that takes at most about `limit` bytes. Where words that are pieces are taken whole, it knows them from
    /// the start.
    pub(super) fn taught(&self, limit: usize) -> KnownWords {
        if self.model.takes_whole_words() && !self.looks_up_raw {
            taught(self.model.vocab(), limit)
        } else {
            self.untaught(limit)
        }
    }

    /// A table that knows nothing, with room for words of a text: they are about as long as pieces are, and as many. One
    /// that grows is made anew each time.
    fn untaught(&self, limit: usize) -> KnownWords {
        let vocab = self.model.vocab();
        let pieces = (0..vocab.len() as u32).filter_map(|id| vocab.piece(id));
        if self.spaced.is_some() {
            // A space is two bytes shorter than a mark.
            let is_marked = |piece: &[u8]| piece.starts_with("▁".as_bytes());
            let keys = pieces.map(|piece| if is_marked(piece) { &piece[2..] } else { piece });
            return KnownWords::for_words_like(keys, limit);
        }
        KnownWords::for_words_like(pieces, limit)
    }

    /// The same for words as they stand in the text.
    fn raw_taught(&self, limit: usize) -> KnownWords {
        if self.raw_pieces.is_empty() {
            return self.untaught(limit);
        }
        let vocab = self.model.vocab();
        let pieces = || self.raw_pieces.iter().filter_map(|&id| Some((vocab.piece(id)?, id)));
        // Most of what a text has beside them is new.
        KnownWords::with_room(pieces, 3, limit)
    }
}
