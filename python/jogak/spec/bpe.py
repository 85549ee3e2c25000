"""Byte pair encoding: how to train it (`BPE`), and what came out (`BPEModel`)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from jogak.errors import ConfigError
from jogak.spec.checks import (
    at_least,
    characters_of,
    flag,
    made,
    one_of,
    probability,
    share,
    unique_pieces,
    unknown_text,
)
from jogak.spec.held import Listed, MergeTable
from jogak.spec.markers import Marker, MarkerKind
from jogak.spec.record import asdict, dataclass, field, fields

_FLAGS = (
    *("byte_fallback", "prune_dead", "fuse_unknown", "by_scores"),
    *("split_by_unicode_script", "split_by_number", "split_digits", "split_by_whitespace"),
    *("allow_whitespace_only_pieces", "treat_whitespace_as_suffix"),
)

__all__ = ["BPE", "Alphabet", "BPEModel", "Strategy", "Ties"]

Ties: TypeAlias = Literal["first-seen", "lexicographic", "lowest-id", "greatest", "sentencepiece"]
Strategy: TypeAlias = Literal["merges", "longest-match", "longest-first"]
Alphabet: TypeAlias = Literal["bytes", "chars"]


@dataclass(frozen=True, kw_only=True)
class BPE:
    """How to train byte pair encoding (Gage 1994; Sennrich et al. 2016; Radford et al. 2019).

    Training starts from words cut into symbols and repeats: take the pair of neighbours with the
    largest count, make it a piece, replace it everywhere, left to right without overlap.

    Args:
        vocab_size: stop when the vocabulary (special tokens, base alphabet, merges) has this many
            pieces.
        num_merges: stop after this many merges. Without either, training goes on until
            ``min_pair_count`` or until no pair is left.
        marker: the border of words, a name or a `Marker` (see there). ``"byte-level"`` by default.
        ties: which of several pairs with the largest count is taken:
            ``"first-seen"`` (occurs first, reading the words in inventory order),
            ``"lexicographic"`` (smaller left text, then right text), ``"lowest-id"`` (smaller left
            id, then right id: HF tokenizers), ``"greatest"`` (greater left text, then right text:
            subword-nmt), ``"sentencepiece"`` (fewer characters, then smaller text).
        min_pair_count: stop when the largest count is below this; 2 stops when the best pair occurs
            once.
        alphabet_size: keep only this many of the most frequent characters (ties: smaller code
            point).
        character_coverage: keep only the most frequent characters that together make up this share
            of the text, above 0 and up to 1.
        byte_fallback: add the 256 pieces ``<0x00>`` to ``<0xFF>``, which stand for the bytes of
            characters outside the alphabet.
        max_piece_length: no piece longer than this, in characters (bytes for byte-level), markers
            not counted.
        strategy: how the tokenizer will encode: ``"merges"``, ``"longest-match"`` or
            ``"longest-first"``.
        prune_dead: drop the pieces that died in training and that encoding does not need; what was
            dropped stands in `TrainingLog.pruned`. The ``merges`` strategy needs every piece on the
            way to another one, so it has nothing to drop.
        unknown: the text of the piece that stands for what nothing covers; None makes such texts an
            error. Not used with byte-level and byte fallback, where nothing is unknown. If it is
            not among the ``special_tokens``, it gets the id behind all others and is not counted in
            ``vocab_size``.
        fuse_unknown: one unknown piece for a run of unknown characters rather than one for each.
        by_scores: make a tokenizer that merges by scores, as SentencePiece does (`ScoredBPEModel`),
            rather than by a list of merges: it can be written as a ``.model`` file. Its ids are the
            merges first, then the characters, most frequent first.
        characters: the alphabet is just these characters, whether they occur or not.
        split_by_unicode_script: no piece has characters of two scripts (kana count as Han; digits
            and punctuation are together a script of their own).
        split_by_number: digits are such punctuation. Without, they go with any script.
        split_digits: each digit is a piece of its own.
        split_by_whitespace: a ``▁`` (or space) starts a piece. Without, it may also stand in the
            middle, so that pieces cross words; the pre-tokenizer must then leave words together.
        allow_whitespace_only_pieces: pieces of several ``▁`` and nothing else may be learned; the
            pre-tokenizer must leave them together.
        treat_whitespace_as_suffix: a ``▁`` ends a piece, rather than to start it. This and the two
            before are for words that come with their ``▁`` (``jogak.Metaspace``).

    Raises:
        ConfigError: a value that cannot be, or options that contradict each other.

    >>> BPE(num_merges=10, marker="suffix", ties="first-seen").marker
    Marker(kind='suffix', text='</w>', symbol='own')
    """

    vocab_size: int | None = None
    num_merges: int | None = None
    marker: Marker | MarkerKind = "byte-level"
    ties: Ties = "lowest-id"
    min_pair_count: int = 2
    alphabet_size: int | None = None
    character_coverage: float | None = None
    byte_fallback: bool = False
    max_piece_length: int | None = None
    strategy: Strategy = "merges"
    prune_dead: bool = False
    unknown: str | None = "<unk>"
    fuse_unknown: bool = False
    by_scores: bool = False
    characters: str | None = field(default=None, repr=False)
    split_by_unicode_script: bool = False
    split_by_number: bool = True
    split_digits: bool = False
    split_by_whitespace: bool = True
    allow_whitespace_only_pieces: bool = False
    treat_whitespace_as_suffix: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.marker, Marker):
            object.__setattr__(self, "marker", Marker(self.marker))
        at_least("vocab_size", self.vocab_size, 1)
        at_least("num_merges", self.num_merges, 0)
        if self.min_pair_count is None:
            raise ConfigError("min_pair_count is None; expected a whole number, 1 for no limit")
        at_least("min_pair_count", self.min_pair_count, 1)
        at_least("alphabet_size", self.alphabet_size, 1)
        at_least("max_piece_length", self.max_piece_length, 1)
        one_of("ties", self.ties, get_args(Ties))
        one_of("strategy", self.strategy, get_args(Strategy))
        for option in _FLAGS:
            flag(option, getattr(self, option))
        limits = ("alphabet_size", "character_coverage", "characters")
        given = [option for option in limits if getattr(self, option) is not None]
        if self.characters is not None:
            characters_of(self.characters)
        share("character_coverage", self.character_coverage)
        if len(given) > 1:
            raise ConfigError(
                f"{given[0]} and {given[1]} both limit the alphabet; give one of them"
            )
        unknown_text(self.unknown)
        assert isinstance(self.marker, Marker)
        if self.byte_fallback and self.marker.symbol == "joined":
            raise ConfigError(
                f"byte_fallback does not go with marker {self.marker.kind!r} where it is glued to "
                "characters: once a character is bytes, nobody can tell whether it had the mark; "
                "choose 'prefix', 'none', or a suffix with symbol='own'"
            )
        if self.alphabet == "bytes":
            for option in given:
                raise ConfigError(
                    f"{option} limits an alphabet of characters, but the marker is byte-level, "
                    "whose alphabet is always the 256 bytes; leave it out, or choose another marker"
                )
            if self.by_scores:
                raise ConfigError(
                    "by_scores is for alphabets of characters, but the marker is byte-level; choose "
                    "another marker"
                )
            if self.byte_fallback:
                raise ConfigError(
                    "byte_fallback is for alphabets of characters; byte-level has all bytes already"
                )
        if self.by_scores and (self.strategy != "merges" or self.prune_dead):
            option = "prune_dead=True" if self.prune_dead else f"strategy={self.strategy!r}"
            raise ConfigError(
                f"{option} does not go with by_scores=True, which needs every piece and merges them; "
                "leave one of them out"
            )

    @property
    def alphabet(self) -> Alphabet:
        """``"bytes"`` with the byte-level marker, else ``"chars"``."""
        assert isinstance(self.marker, Marker)
        return "bytes" if self.marker.kind == "byte-level" else "chars"

    def to_dict(self) -> dict[str, Any]:
        """The config as plain data, as files hold it."""
        return {"type": "bpe", **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BPE:
        """The way back from `to_dict`.

        Raises:
            ConfigError: an unknown option or an impossible value.

        >>> BPE.from_dict(BPE(vocab_size=300).to_dict()) == BPE(vocab_size=300)
        True
        """
        options = dict(data)
        options.pop("type", None)
        if isinstance(options.get("marker"), Mapping):
            options["marker"] = made("Marker", Marker, options["marker"])
        return made("BPE", cls, options)


@dataclass(frozen=True, kw_only=True)
class BPEModel(Listed):
    """A BPE vocabulary, and how words are cut with it.

    Args:
        pieces: the text of every id; None where an id stands for nothing. Byte-level pieces are
            written in GPT-2's printable characters (``Ġ`` is a space). Special tokens are among
            them, as their plain text.
        merges: pairs of ids, best first; the product is the piece of the joined text. None means
            that the ids are the ranks: any two neighbours whose joined text is a piece may merge,
            the lowest product id first (tiktoken's files).
        marker: the border of words.
        mark_words: whether encoding writes the marker (False where the pre-tokenizer did:
            metaspace).
        alphabet: ``"bytes"`` or ``"chars"``.
        byte_fallback: unknown characters become ``<0x..>`` pieces.
        unknown: text of the unknown piece, or None.
        fuse_unknown: one unknown piece for a run of unknown characters.
        strategy: ``"merges"``, ``"longest-match"`` or ``"longest-first"``.
        whole_word: a word that is a piece is taken as it is, even where merges do not build it
            (tiktoken's way).
        drop_unknown: what nothing covers is left out silently, where no piece stands for it; without,
            it is an error (HF tokenizers leave it out where ``unk_token`` is null).
        word_suffix: a text glued to the last character of every word as well, where the marker is a
            continuation mark; None for none.
        dropout: the probability with which merges are skipped, unless a call says otherwise.
        drawn: the bytes of words are drawn in GPT-2's printable characters before the model sees them,
            for byte-level pieces with other markers, or without some of the bytes. Not needed with
            ``alphabet="bytes"``.
        hf_rules: where HF tokenizers do otherwise, do as they do. The unknown piece and those of bytes
            are pieces like any other: merges may have them, and ``whole_word`` finds them. What stands
            for unknown characters is put down before anything is merged. A character falls back to bytes
            only if there is a piece for each of its bytes (not all 256 are needed), else it is
            unknown. A continuation mark takes as many bytes as it has off the right part of a merge,
            whichever they are. Merges and byte-level pieces that text can never become are let be.
    """

    family: ClassVar[str] = "bpe"

    pieces: tuple[str | None, ...]
    merges: tuple[tuple[int, int], ...] | None
    marker: Marker = field(default_factory=Marker)
    mark_words: bool = True
    alphabet: Alphabet = "chars"
    byte_fallback: bool = False
    unknown: str | None = None
    fuse_unknown: bool = False
    strategy: Strategy = "merges"
    whole_word: bool = False
    drop_unknown: bool = False
    word_suffix: str | None = None
    dropout: float = 0.0
    drawn: bool = False
    hf_rules: bool = False

    def __post_init__(self) -> None:
        one_of("alphabet", self.alphabet, get_args(Alphabet))
        one_of("strategy", self.strategy, get_args(Strategy))
        if (self.alphabet == "bytes") != (self.marker.kind == "byte-level"):
            raise ConfigError(
                f"alphabet {self.alphabet!r} does not go with marker {self.marker.kind!r}; "
                "bytes go with byte-level, characters with all others"
            )
        self._check_later_options()
        size = len(self.pieces)
        if isinstance(self.merges, MergeTable):
            fine = self.merges.size() <= size
        else:
            parts = [*chain.from_iterable(self.merges or ())]
            # One pass in C for the usual case; the slow look is only for the message.
            fine = not parts or (min(parts) >= 0 and max(parts) < size)
        for rank, (left, right) in enumerate(() if fine else self.merges or ()):
            if not (0 <= left < size and 0 <= right < size):
                raise ConfigError(
                    f"merge {rank} joins ids {left} and {right}; expected ids below {size}"
                )
        texts = unique_pieces(self.pieces)
        if self.unknown is not None and self.unknown not in texts:
            raise ConfigError(f"the unknown piece {self.unknown!r} is not among the pieces; add it")
        self._hold()

    def _check_later_options(self) -> None:
        for option in ("drop_unknown", "drawn", "hf_rules"):
            flag(option, getattr(self, option))
        probability("dropout", self.dropout)
        if self.drop_unknown and self.unknown is not None:
            raise ConfigError(
                f"drop_unknown leaves out what {self.unknown!r} would stand for; choose one of them"
            )
        if self.word_suffix is not None:
            if not isinstance(self.word_suffix, str) or not self.word_suffix:
                raise ConfigError(
                    f"word_suffix is {self.word_suffix!r}; expected a text that is not empty, or None"
                )
            if self.marker.kind != "continuation" or self.strategy != "merges":
                raise ConfigError(
                    "word_suffix is for the strategy 'merges' and a continuation mark; elsewhere the "
                    "marker 'suffix' says the same"
                )
        if self.drawn and self.alphabet == "bytes":
            raise ConfigError(
                "drawn=True does not go with alphabet 'bytes', which sees bytes; choose one"
            )
        if self.dropout and self.strategy != "merges":
            raise ConfigError(
                f"dropout skips merges, and {self.strategy!r} makes none; leave it out"
            )

    def __repr__(self) -> str:
        """Short: a vocabulary would fill many screens."""
        merges = self.at_hand("merges")
        merges = "ids as ranks" if merges is None else f"{len(merges):,} merges"
        return (
            f"<BPEModel: {len(self.table):,} pieces, {merges}, {self.marker.kind}, {self.strategy}>"
        )

    def to_core(self) -> dict[str, Any]:
        """The model as the core takes it: one flat dict."""
        options = {field.name: self.at_hand(field.name) for field in fields(self)}
        marker: Marker = options.pop("marker")
        return {"type": self.family, **options, **marker.to_core()}
