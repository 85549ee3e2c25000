//! All ways to cut a text with a Unigram model (Kudo 2018): the n best, how likely one is, how likely the
//! text is.
//!
//! Rule: looks at what [`Lattice`] says of every word and adds it up, in 64 bits. Words are cut apart
//! from each other; special tokens count as certain.

use crate::error::{Error, Result};
use crate::model::unigram::{Lattice, Path, Unigram};
use crate::pipeline::{Request, Tokenizer};
use crate::symbols::UNKNOWN;
use crate::trace::WordPart;

/// One way to cut a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// The natural logarithm of its probability.
    pub score: f64,
    /// Its ids.
    pub ids: Vec<u32>,
}

/// How likely a text and one way to cut it are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihood {
    /// The natural logarithm of the probability of the given way.
    pub way: f64,
    /// That of the text: of all ways together.
    pub text: f64,
    /// The entropy of the ways, in nats, where each is drawn with a probability in proportion to its
    /// own to the power of `alpha`.
    pub entropy: f64,
}

/// A word of a text, or a special token.
enum Piece {
    Word(String),
    Special(u32),
}

impl Tokenizer {
    /// The `n` most likely ways to cut a text, the best first; fewer if there are no more. None for a
    /// model that gives no probabilities. Of equal sums, the way whose last word is cut better comes
    /// first; within a word see [`Lattice::best`]. Cost: n times the pieces that may stand in the text.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; [`Error::Config`] if a word takes more than 2 GiB.
    pub fn n_best(&self, text: &str, n: usize, request: &Request) -> Result<Option<Vec<Way>>> {
        let Some(model) = self.model().unigram() else { return Ok(None) };
        // Beginnings of ways, best first: the score, and which one of each word's paths.
        let mut begun = vec![(0.0, u32::MAX)];
        // For every beginning of each length: what it goes on from, and its path of the last word.
        let mut links: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut words: Vec<Vec<Vec<u32>>> = Vec::new();
        for piece in self.words(text, request)? {
            let (paths, ids) = match piece {
                Piece::Special(id) => (vec![0.0], vec![vec![id]]),
                Piece::Word(word) => {
                    let paths = model.best(&word, n)?;
                    let scores = paths.iter().map(|path| path.score).collect();
                    let ids = paths.into_iter().map(|path| ids_of(model, &word, path));
                    (scores, ids.collect::<Result<_>>()?)
                }
            };
            let mut next: Vec<(f64, (u32, u32))> = Vec::new();
            for (path, score) in paths.iter().enumerate() {
                // What has n better ones before it in both lists at once is not among the n best.
                for (before, (sum, _)) in begun.iter().enumerate().take(n / (path + 1)) {
                    next.push((sum + score, (before as u32, path as u32)));
                }
            }
            // A word alone keeps the order that its model gives.
            if begun.len() > 1 {
                next.sort_by(|one, other| other.0.total_cmp(&one.0));
            }
            next.truncate(n);
            begun = next.iter().map(|&(score, _)| (score, 0)).collect();
            links.push(next.into_iter().map(|(_, link)| link).collect());
            words.push(ids);
        }
        let way = |(rank, &(score, _)): (usize, &(f64, u32))| {
            let mut rank = rank as u32;
            let mut paths = Vec::with_capacity(words.len());
            for (links, ids) in links.iter().zip(&words).rev() {
                let (before, path) = links[rank as usize];
                paths.push(&ids[path as usize]);
                rank = before;
            }
            Way { score, ids: paths.into_iter().rev().flatten().copied().collect() }
        };
        Ok(Some(begun.iter().take(n).enumerate().map(way).collect()))
    }

    /// How likely a text is, and the way to cut it that `ids` are. None for a model that gives no
    /// probabilities.
    ///
    /// # Errors
    /// [`Error::NoSegmentation`] if the ids are none of the ways; as [`Tokenizer::encode`].
    pub fn likelihood(
        &self,
        text: &str,
        ids: &[u32],
        alpha: f64,
        request: &Request,
    ) -> Result<Option<Likelihood>> {
        let Some(model) = self.model().unigram() else { return Ok(None) };
        let pieces = self.words(text, request)?;
        let mut likelihood = Likelihood { way: 0.0, text: 0.0, entropy: 0.0 };
        for piece in &pieces {
            if let Piece::Word(word) = piece {
                let lattice: Lattice = model.lattice(word)?;
                likelihood.text += lattice.marginal();
                likelihood.entropy += lattice.entropy(alpha);
            }
        }
        likelihood.way = follow(model, &pieces, ids)?;
        Ok(Some(likelihood))
    }

    fn words(&self, text: &str, request: &Request) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        self.for_each_word(text.into(), request, |part| {
            pieces.push(match part {
                WordPart::Token(id, ..) => Piece::Special(id),
                WordPart::Word(word, _) => Piece::Word(word.to_owned()),
            });
            Ok(())
        })?;
        Ok(pieces)
    }
}

fn ids_of(model: &Unigram, word: &str, path: Path) -> Result<Vec<u32>> {
    let mut ids = Vec::new();
    model.write(word, path.pieces, false, &mut ids)?;
    Ok(ids)
}

/// A place in a text that some ids have come to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    /// The word or special token, and the byte of it.
    piece: usize,
    at: usize,
    /// Whether the last id was the unknown one, which may stand for more characters.
    in_run: bool,
    score: f64,
}

/// The score of the way that `ids` are. Where unknown characters leave several, that of the best.
fn follow(model: &Unigram, pieces: &[Piece], ids: &[u32]) -> Result<f64> {
    let mut places = vec![Place { piece: 0, at: 0, in_run: false, score: 0.0 }];
    for (fit, &id) in ids.iter().enumerate() {
        let mut next: Vec<Place> = Vec::new();
        for place in &places {
            step(model, pieces, id, *place, &mut next);
        }
        if next.is_empty() {
            return Err(Error::NoSegmentation { fit, ids: ids.len() });
        }
        places = next;
    }
    let ends = places.iter().filter(|place| place.piece == pieces.len());
    let best = ends.map(|place| place.score).fold(f64::NEG_INFINITY, f64::max);
    if best == f64::NEG_INFINITY {
        return Err(Error::NoSegmentation { fit: ids.len(), ids: ids.len() });
    }
    Ok(best)
}

fn step(model: &Unigram, pieces: &[Piece], id: u32, place: Place, next: &mut Vec<Place>) {
    let mut arrive = |at: usize, length: usize, in_run: bool, score: f64| {
        let (piece, at) = if at == length { (place.piece + 1, 0) } else { (place.piece, at) };
        let arrived = Place { piece, at, in_run: in_run && at > 0, score: place.score + score };
        // Of two ways to the same place the better one counts.
        let key = |place: &Place| (place.piece, place.at, place.in_run);
        match next.iter_mut().find(|other| key(other) == key(&arrived)) {
            Some(other) => other.score = other.score.max(arrived.score),
            None => next.push(arrived),
        }
    };
    let word = match pieces.get(place.piece) {
        None => return,
        Some(Piece::Special(special)) => {
            if *special == id {
                arrive(1, 1, false, 0.0);
            }
            return;
        }
        Some(Piece::Word(word)) => word,
    };
    let bytes = word.as_bytes();
    if let Some(piece) = model.vocab().piece(id) {
        if bytes[place.at..].starts_with(piece) && word.is_char_boundary(place.at) {
            let score = model.score_among_ways(id);
            arrive(place.at + piece.len(), bytes.len(), false, score);
        }
        return;
    }
    let unknown_at = |at: usize| {
        let character = word.get(at..).and_then(|rest| rest.chars().next())?;
        let end = at + character.len_utf8();
        model.vocab().id(&bytes[at..end]).is_none().then_some(end)
    };
    if !model.falls_back() {
        if Some(id) != model.unknown() || (model.fuses() && place.in_run) {
            return;
        }
        let (mut at, mut score) = (place.at, 0.0);
        while let Some(end) = unknown_at(at) {
            score += model.score(UNKNOWN);
            arrive(end, bytes.len(), true, score);
            if !model.fuses() {
                break;
            }
            at = end;
        }
        return;
    }
    // One byte of an unknown character; the score comes with the first.
    let mut start = place.at;
    while !word.is_char_boundary(start) {
        start -= 1;
    }
    if model.byte_id(bytes[place.at]) == Some(id) && unknown_at(start).is_some() {
        let score = if start == place.at { model.score(UNKNOWN) } else { 0.0 };
        arrive(place.at + 1, bytes.len(), false, score);
    }
}
