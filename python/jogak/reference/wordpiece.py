"""WordPiece: training by likelihood (or by count), and encoding by longest match.

Training:

    count every symbol, every pair of neighbours, and all symbols (n)
    the pairs that may be merged: those that occur often enough
    merge the one with the largest (#ab/n) / ((#a/n) (#b/n)) wherever it occurs
    again, until the vocabulary is full or no pair may be merged

Rules:
- Scores are compared as fractions, never rounded. Ties: the smaller (left id, right id).
- Often enough: `min_pair_count` occurrences, or with "auto" as many as the largest power of two that
  any pair reaches, and never fewer than 2. With the criterion "count", where the most frequent pair
  goes first anyway, "auto" is 2.
- The alphabet has every character as it is, and with the marker where it occurs so.
- A pair whose joined text already is a piece, or is too long, is passed over; and so are pairs with an
  unknown symbol.

Encoding: from the left the longest piece that matches, then on behind it; if anywhere nothing matches,
or if the word is too long, the whole word is unknown. The first piece is looked up as it is written: a
word that begins with the characters of a continuation mark may begin with a piece that carries it.

Sources: Schuster & Nakajima 2012 (https://doi.org/10.1109/ICASSP.2012.6289079); Wu et al. 2016
(https://arxiv.org/abs/1609.08144). The fast way to encode is Song et al. 2021
(https://aclanthology.org/2021.emnlp-main.160); here it is the slow one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .bpe import count_pairs, merge_pair
from .model import Model
from .ties import Pair
from .words import Spelling, base_alphabet

CRITERIA = ("likelihood", "count")
"""What the best pair is best at."""

CONTINUATION = Spelling("continuation")
"""BERT's spelling: ## before every symbol but a word's first."""


@dataclass(frozen=True)
class WordPieceMerge:
    """One step of training. Counts are weighted with the word counts.

    Attributes:
        left: text of the left piece.
        right: text of the right piece.
        text: text of the piece they make.
        count: the pair's count (windows) when it was chosen.
        left_count: the left piece's count.
        right_count: the right piece's count.
        score: (#ab/n) / ((#a/n) (#b/n)).
        replaced: how many occurrences became one symbol.
        live: number of live pieces after the merge.
        corpus_length: number of symbols in the corpus after the merge.
    """

    left: str
    right: str
    text: str
    count: int
    left_count: int
    right_count: int
    score: Fraction
    replaced: int
    live: int
    corpus_length: int


@dataclass(frozen=True)
class WordPieceTraining:
    """What training found out.

    Attributes:
        base: the vocabulary before the first merge, in the order of ids.
        merges: the steps, in order.
        stop: "vocab-size", "min-pair-count" or "no-pair".
        start_live: number of live pieces before the first merge.
        start_length: number of symbols in the corpus before the first merge.
    """

    base: tuple[str, ...]
    merges: tuple[WordPieceMerge, ...]
    stop: str
    start_live: int
    start_length: int

    @property
    def pieces(self) -> tuple[str, ...]:
        """The whole vocabulary; the place of a piece is its id."""
        return self.base + tuple(merge.text for merge in self.merges)


def train_wordpiece(
    counts: Mapping[str, int],
    *,
    spelling: Spelling = CONTINUATION,
    criterion: str = "likelihood",
    min_pair_count: int | str = "auto",
    vocab_size: int | None = None,
    max_piece_length: int | None = None,
    special_tokens: Sequence[str] = (),
    alphabet_size: int | None = None,
) -> WordPieceTraining:
    """Learns pieces from an inventory.

    Args:
        counts: word -> count, each at least 1.
        spelling: how words are written as symbols.
        criterion: one of `CRITERIA`.
        min_pair_count: a number, or "auto"; see above.
        vocab_size: stop at so many pieces. If the base has as many already, no merge is made.
        max_piece_length: no piece gets longer; in characters, markers not counted.
        special_tokens: texts that get the first ids and are never built by a merge.
        alphabet_size: keep only so many characters, see `base_alphabet`.

    Raises:
        ValueError: for a criterion that does not exist.

    Takes time proportional to (merges x corpus): everything is counted anew for each merge.

    >>> trained = train_wordpiece({"hug": 10, "pug": 5, "hugs": 5}, min_pair_count=1, vocab_size=10)
    >>> [(merge.text, str(merge.score)) for merge in trained.merges]
    [('hu', '13/4'), ('pu', '10')]
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion {criterion!r} is not one of {', '.join(CRITERIA)}")
    alphabet = base_alphabet(counts, spelling, alphabet_size, every_plain=True)
    base = tuple(dict.fromkeys([*special_tokens, *alphabet]))
    ids = {text: place for place, text in enumerate(base)}
    words = [(spelling.symbols(word), count) for word, count in counts.items()]
    symbols = _count_symbols(words)
    start_live, start_length = _live(symbols, ids), symbols.total()

    merges: list[WordPieceMerge] = []
    while vocab_size is None or len(ids) < vocab_size:
        n = symbols.total()
        candidates = {
            (left, right): count
            for (left, right), count in count_pairs(words).items()
            if left in ids
            and right in ids
            and spelling.merge(left, right) not in ids
            and (
                max_piece_length is None
                or spelling.length(spelling.merge(left, right)) <= max_piece_length
            )
        }
        floor = _floor(criterion, min_pair_count, candidates)
        scores = {
            (left, right): Fraction(count * n, symbols[left] * symbols[right])
            for (left, right), count in candidates.items()
            if count >= floor
        }
        if not scores:
            stop = "min-pair-count" if candidates else "no-pair"
            break
        worth: Mapping[Pair, Fraction | int]
        worth = scores if criterion == "likelihood" else candidates
        left, right = min(scores, key=lambda pair: (-worth[pair], ids[pair[0]], ids[pair[1]]))
        text = spelling.merge(left, right)
        ids[text] = len(ids)
        words = [(merge_pair(word, (left, right), text), count) for word, count in words]
        before, symbols = symbols, _count_symbols(words)
        merges.append(
            WordPieceMerge(
                left=left,
                right=right,
                text=text,
                count=candidates[left, right],
                left_count=before[left],
                right_count=before[right],
                score=scores[left, right],
                replaced=symbols[text],
                live=_live(symbols, ids),
                corpus_length=symbols.total(),
            )
        )
    else:
        stop = "vocab-size"
    return WordPieceTraining(base, tuple(merges), stop, start_live, start_length)


def _floor(criterion: str, min_pair_count: int | str, candidates: Mapping[Pair, int]) -> int:
    """How often a pair must occur to be merged now."""
    if isinstance(min_pair_count, int):
        return min_pair_count
    if criterion == "count" or not candidates:
        return 2
    most = max(candidates.values())
    power = 1
    while 2 * power <= most:
        power *= 2
    return max(power, 2)


def _count_symbols(words: Iterable[tuple[Sequence[str], int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for symbols, count in words:
        for symbol in symbols:
            counts[symbol] += count
    return counts


def _live(symbols: Mapping[str, int], pieces: Mapping[str, int]) -> int:
    """The number of pieces that occur in the corpus."""
    return sum(symbol in pieces for symbol in symbols)


@dataclass(frozen=True)
class WordPieceMatch:
    """One piece that was taken.

    Attributes:
        start: where it starts, in units of the word (a prefix marker is one).
        end: where it ends.
        tried: all pieces that match there, longest first; the first one was taken.
    """

    start: int
    end: int
    tried: tuple[str, ...]


@dataclass(frozen=True)
class WordPieceEncoding:
    """A word, and how it became tokens.

    Attributes:
        word: the word.
        matches: the pieces that were found, left to right.
        stop: "covered"; "stuck" if nothing matches behind the last match; "too-long".
        tokens: the result; the word's own text where it is unknown and nothing stands for that.
    """

    word: str
    matches: tuple[WordPieceMatch, ...]
    stop: str
    tokens: tuple[str, ...]


def encode_wordpiece(model: Model, word: str, max_chars_per_word: int = 100) -> WordPieceEncoding:
    """Encodes one word.

    Args:
        model: pieces, spelling and unknown token; its merges are not looked at.
        word: the word.
        max_chars_per_word: longer words are unknown; in characters, markers not counted.

    >>> model = Model(("[UNK]", "un", "##aff", "##able", "##a"), spelling=CONTINUATION, unk="[UNK]")
    >>> encode_wordpiece(model, "unaffable").tokens
    ('un', '##aff', '##able')
    >>> encode_wordpiece(model, "unaffably").tokens
    ('[UNK]',)
    """
    unknown = (word if model.unk is None else model.unk,)
    if len(word) > max_chars_per_word:
        return WordPieceEncoding(word, (), "too-long", unknown)
    units = model.spelling.units(word)
    matches: list[WordPieceMatch] = []
    start = 0
    while start < len(units):
        ends = {}
        for end in range(len(units), start, -1):
            text = model.spelling.window(units, start, end)
            if text in model.found_in_text:
                ends[text] = end
        if not ends:
            return WordPieceEncoding(word, tuple(matches), "stuck", unknown)
        tried = tuple(ends)
        matches.append(WordPieceMatch(start, ends[tried[0]], tried))
        start = ends[tried[0]]
    return WordPieceEncoding(
        word, tuple(matches), "covered", tuple(match.tried[0] for match in matches)
    )
