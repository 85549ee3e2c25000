"""Training: from word counts to merges (Sennrich, Haddow, Birch 2016, algorithm 1).

    words = every word as its first symbols
    repeat:
        count all pairs of neighbours, each occurrence weighted with its word's count
        best  = the pair with the largest count (ties: see ties.py)
        add the text of best to the vocabulary
        replace best in every word, left to right without overlap

Rules:
- Pairs are counted as windows: "aaa" holds (a, a) twice, though it can be replaced only once.
- A symbol that is not in the vocabulary (cut off by a limit on the alphabet) is part of no pair.
- A pair is passed over for good when its merged text is longer than `max_piece_length`, or when it
  already is the text of a piece, a special token or a byte piece. The second happens only where the
  text itself contains a marker or such a token's characters: the merges so far cut a given text in
  one way only, so no piece is ever reached by two different pairs.
- Ids: special tokens, then the 256 byte pieces of `byte_fallback`, then the base alphabet, then one
  id per merge.
- Training stops at the first of these, looked at in this order before every merge:

      num-merges       as many merges as asked for
      vocab-size       the vocabulary has the size asked for (all of the above counted)
      no-pair          no pair is left that may be merged
      min-pair-count   the best pair occurs less often than asked for

- A piece is live while at least one symbol of the corpus is that piece. A merge adds one live piece,
  and kills its left part, its right part, or both, if it used them up: the number of live pieces
  moves by +1, 0 or -1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .model import Model, byte_pieces, check_byte_fallback
from .ties import TIES, Pair, best_pair
from .words import NO_MARKER, Spelling, base_alphabet


@dataclass(frozen=True)
class Merge:
    """One step of training. Counts are weighted with the word counts.

    Attributes:
        left: text of the left piece.
        right: text of the right piece.
        text: text of the piece they make.
        count: the pair's count (windows) when it was chosen.
        replaced: how many occurrences became one symbol: smaller than `count` if some overlapped.
        live_change: +1, 0 or -1.
        live: number of live pieces after the merge.
        corpus_length: number of symbols in the corpus after the merge.
    """

    left: str
    right: str
    text: str
    count: int
    replaced: int
    live_change: int
    live: int
    corpus_length: int


@dataclass(frozen=True)
class Training:
    """What training found out.

    Attributes:
        spelling: how words were written.
        special_tokens: their texts, in the order of their ids.
        byte_fallback: whether the 256 byte pieces are part of the base.
        base: the vocabulary before the first merge, in the order of ids.
        merges: the steps, in the order of ranks.
        stop: "num-merges", "vocab-size", "min-pair-count" or "no-pair".
        start_live: number of live pieces before the first merge.
        start_length: number of symbols in the corpus before the first merge.
        words: each word of the inventory with its symbols after the last merge.
    """

    spelling: Spelling
    special_tokens: tuple[str, ...]
    byte_fallback: bool
    base: tuple[str, ...]
    merges: tuple[Merge, ...]
    stop: str
    start_live: int
    start_length: int
    words: Mapping[str, tuple[str, ...]]

    @property
    def pieces(self) -> tuple[str, ...]:
        """The whole vocabulary; the place of a piece is its id."""
        return self.base + tuple(merge.text for merge in self.merges)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The merges as (left, right), in the order of ranks."""
        return tuple((merge.left, merge.right) for merge in self.merges)

    @property
    def live(self) -> frozenset[str]:
        """The pieces that occur in the corpus after the last merge."""
        used = {symbol for symbols in self.words.values() for symbol in symbols}
        return frozenset(used.intersection(self.pieces))

    def model(
        self, unk: str | None = None, fuse_unknown: bool = False, whole_word: bool = False
    ) -> Model:
        """The model that encodes with these pieces; for the options see `Model`.

        >>> train({"ab": 1}).model().pieces
        ('a', 'b', 'ab')
        """
        return Model(
            pieces=self.pieces,
            merges=self.pairs,
            spelling=self.spelling,
            special_tokens=self.special_tokens,
            byte_fallback=self.byte_fallback,
            unk=unk,
            fuse_unknown=fuse_unknown,
            whole_word=whole_word,
        )


def count_pairs(words: Iterable[tuple[Sequence[str], int]]) -> dict[Pair, int]:
    """Counts every pair of neighbours, in the order in which they are first seen.

    Args:
        words: (symbols, count) of every word.

    >>> count_pairs([(["l", "o", "w"], 5), (["l", "o", "o", "o"], 1)])
    {('l', 'o'): 6, ('o', 'w'): 5, ('o', 'o'): 2}
    """
    counts: dict[Pair, int] = {}
    for symbols, count in words:
        for pair in pairwise(symbols):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def merge_pair(symbols: Sequence[str], pair: Pair, text: str) -> list[str]:
    """Replaces a pair by one symbol, left to right; what was just made is not looked at again.

    >>> merge_pair(["a", "a", "a", "b"], ("a", "a"), "aa")
    ['aa', 'a', 'b']
    """
    merged: list[str] = []
    place = 0
    while place < len(symbols):
        if tuple(symbols[place : place + 2]) == pair:
            merged.append(text)
            place += 2
        else:
            merged.append(symbols[place])
            place += 1
    return merged


def train(
    counts: Mapping[str, int],
    *,
    spelling: Spelling = NO_MARKER,
    ties: str = "lowest-id",
    num_merges: int | None = None,
    vocab_size: int | None = None,
    min_pair_count: int = 1,
    max_piece_length: int | None = None,
    special_tokens: Sequence[str] = (),
    byte_fallback: bool = False,
    alphabet_size: int | None = None,
    character_coverage: float = 1.0,
) -> Training:
    """Learns merges from an inventory.

    Args:
        counts: word -> count, each at least 1; the order matters to `first-seen` only.
        spelling: how words are written as symbols.
        ties: which of equally frequent pairs comes first, one of `TIES`.
        num_merges: stop after so many merges.
        vocab_size: stop at so many pieces. If the base has as many already, no merge is made.
        min_pair_count: stop when the best pair occurs less often.
        max_piece_length: no piece gets longer; in characters (`byte-level`: bytes), markers not
            counted.
        special_tokens: texts that get the first ids and are never built by a merge.
        byte_fallback: add the pieces <0x00> to <0xFF>, which stand for unknown characters.
        alphabet_size: keep only so many characters, see `base_alphabet`.
        character_coverage: keep characters up to this share, see `base_alphabet`.

    Raises:
        ValueError: for a count below 1 or for options that contradict each other.

    Takes time proportional to (merges x corpus): everything is counted anew for each merge.

    >>> trained = train({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, vocab_size=10)
    >>> [(merge.left, merge.right, merge.count) for merge in trained.merges]
    [('u', 'g', 20), ('u', 'n', 16), ('h', 'ug', 15)]
    >>> trained.stop, trained.pieces
    ('vocab-size', ('b', 'g', 'h', 'n', 'p', 's', 'u', 'ug', 'un', 'hug'))
    """
    if ties not in TIES:
        raise ValueError(f"ties {ties!r} is not one of {', '.join(TIES)}")
    for word, count in counts.items():
        if count < 1:
            raise ValueError(f"the word {word!r} has count {count}, expected at least 1")
    alphabet = base_alphabet(counts, spelling, alphabet_size, character_coverage)
    base = _base_vocabulary(alphabet, spelling, special_tokens, byte_fallback)
    ids = {text: place for place, text in enumerate(base)}

    words = [(spelling.symbols(word), count) for word, count in counts.items()]
    start_live, start_length = _live(words, ids), _corpus_length(words)
    live, length = start_live, start_length

    merges: list[Merge] = []
    while True:
        if num_merges is not None and len(merges) >= num_merges:
            stop = "num-merges"
            break
        if vocab_size is not None and len(ids) >= vocab_size:
            stop = "vocab-size"
            break
        candidates = {
            pair: count
            for pair, count in count_pairs(words).items()
            if _may_merge(pair, ids, spelling, max_piece_length)
        }
        if not candidates:
            stop = "no-pair"
            break
        pair = best_pair(candidates, ties, ids, spelling)
        if candidates[pair] < min_pair_count:
            stop = "min-pair-count"
            break

        text = spelling.merge(*pair)
        ids[text] = len(ids)
        words = [
            (merge_pair(symbols, pair, text) if pair[0] in symbols else symbols, count)
            for symbols, count in words
        ]
        live_before, live = live, _live(words, ids)
        length_before, length = length, _corpus_length(words)
        merges.append(
            Merge(
                left=pair[0],
                right=pair[1],
                text=text,
                count=candidates[pair],
                # Every replacement makes the corpus one symbol shorter.
                replaced=length_before - length,
                live_change=live - live_before,
                live=live,
                corpus_length=length,
            )
        )

    cut = {word: tuple(symbols) for word, (symbols, _) in zip(counts, words, strict=True)}
    return Training(
        spelling=spelling,
        special_tokens=tuple(special_tokens),
        byte_fallback=byte_fallback,
        base=tuple(base),
        merges=tuple(merges),
        stop=stop,
        start_live=start_live,
        start_length=start_length,
        words=cut,
    )


def _base_vocabulary(
    alphabet: Sequence[str], spelling: Spelling, special_tokens: Sequence[str], byte_fallback: bool
) -> list[str]:
    """The texts that have ids before the first merge, in the order of their ids."""
    both = set(special_tokens).intersection(alphabet)
    if both:
        raise ValueError(f"special token {min(both)!r} is also a symbol of the base alphabet")
    if byte_fallback:
        check_byte_fallback(spelling)
    fallback = byte_pieces() if byte_fallback else []
    return list(dict.fromkeys([*special_tokens, *fallback, *alphabet]))


def _may_merge(
    pair: Pair, ids: Mapping[str, int], spelling: Spelling, max_piece_length: int | None
) -> bool:
    """Whether a pair may become a piece: both parts are pieces, its text is new and not too long."""
    left, right = pair
    text = spelling.merge(left, right)
    if left not in ids or right not in ids or text in ids:
        return False
    return max_piece_length is None or spelling.length(text) <= max_piece_length


def _live(words: Iterable[tuple[Sequence[str], int]], pieces: Collection[str]) -> int:
    """The number of pieces that occur in the corpus."""
    used = {symbol for symbols, _ in words for symbol in symbols}
    return sum(symbol in pieces for symbol in used)


def _corpus_length(words: Iterable[tuple[Sequence[str], int]]) -> int:
    """The number of symbols in the corpus, unknown ones counted."""
    return sum(len(symbols) * count for symbols, count in words)


@dataclass(frozen=True)
class Pruned:
    """A vocabulary without its dead pieces.

    Attributes:
        pieces: what is left, in the old order; the place of a piece is its new id.
        merges: the merges whose piece is left, in the old order.
        dropped: the texts that went, in the order of their old ids.
    """

    pieces: tuple[str, ...]
    merges: tuple[Pair, ...]
    dropped: tuple[str, ...]


def prune_dead(trained: Training, strategy: str) -> Pruned:
    """Drops the dead pieces that encoding does not need. The base always stays.

    `longest-match` and `longest-first` look at whole pieces only: every dead merged piece goes.
    `merges` reaches a piece only through its parts, so the parts of a live piece stay, and theirs.
    After training on the same words that is all of them: a piece dies only by becoming part of
    another one. With this strategy nothing is ever dropped, and that is the answer, not a mistake.

    Args:
        trained: the result of `train`.
        strategy: how the vocabulary will be used: "merges", "longest-match" or "longest-first".

    >>> trained = train({"low": 5, "lower": 2}, ties="first-seen")
    >>> trained.pieces
    ('e', 'l', 'o', 'r', 'w', 'lo', 'low', 'lowe', 'lower')
    >>> prune_dead(trained, "longest-match").dropped
    ('lo', 'lowe')
    >>> prune_dead(trained, "merges").dropped
    ()
    """
    if strategy not in ("merges", "longest-match", "longest-first"):
        raise ValueError(
            f"strategy {strategy!r} is not one of merges, longest-match, longest-first"
        )
    keep = {*trained.base, *trained.live}
    if strategy == "merges":
        # A part is always older than what it is part of, so one walk backwards finds them all.
        for merge in reversed(trained.merges):
            if merge.text in keep:
                keep.update((merge.left, merge.right))
    return Pruned(
        pieces=tuple(text for text in trained.pieces if text in keep),
        merges=tuple((m.left, m.right) for m in trained.merges if m.text in keep),
        dropped=tuple(text for text in trained.pieces if text not in keep),
    )
