"""What a tokenizer *is*: plain immutable data, validated when made.

Two kinds of objects live here. *Configs* (`BPE`) say how to train. A `Spec` says what came out:
pieces, merges, border marker, pre-tokenizer, special tokens. A `Spec` is all that a file holds and
all that `jogak.Tokenizer` is compiled from.

Rule: no behaviour beyond checking and translating to and from plain dicts; an impossible
combination raises `ConfigError` here, not in training.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from jogak.errors import ConfigError

__all__ = [
    "BPE",
    "BPEModel",
    "Digits",
    "Marker",
    "Named",
    "Pretokenizer",
    "Spec",
    "Split",
    "resolve_pretokenizer",
]

MarkerKind: TypeAlias = Literal["none", "suffix", "prefix", "continuation", "byte-level"]
Ties: TypeAlias = Literal["first-seen", "lexicographic", "lowest-id", "greatest", "sentencepiece"]
Strategy: TypeAlias = Literal["merges", "longest-match", "longest-first"]
Alphabet: TypeAlias = Literal["bytes", "chars"]

#: The text of each marker unless another is given.
MARKER_TEXT: Mapping[str, str] = {"suffix": "</w>", "prefix": "▁", "continuation": "##"}

#: Pre-tokenizers that have a name and no options.
NAMED_SCHEMES = (
    "none",
    "whitespace",
    "gpt2",
    "cl100k",
    "o200k",
    "bert",
    "metaspace",
    "punctuation",
    "script",
)


def _one_of(option: str, value: object, allowed: Iterable[object]) -> None:
    choices = list(allowed)
    if value not in choices:
        names = ", ".join(repr(choice) for choice in choices)
        raise ConfigError(f"{option} is {value!r}; expected one of {names}")


def _at_least(option: str, value: int | None, least: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{option} is {value!r}; expected a whole number or None")
    if value < least:
        raise ConfigError(f"{option} is {value}; expected at least {least}")


def _flag(option: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ConfigError(f"{option} is {value!r}; expected True or False")


# --- pre-tokenizers -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Named:
    """A pre-tokenizer that is known by its name alone (see `NAMED_SCHEMES`).

    >>> Named("gpt2").to_dict()
    {'type': 'gpt2'}
    """

    name: str

    def __post_init__(self) -> None:
        _one_of("pretokenizer", self.name, NAMED_SCHEMES)

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": self.name}


@dataclass(frozen=True)
class Digits:
    """Numbers (Unicode N) as words of their own: one by one, or by three from the left.

    >>> Digits(3).to_dict()
    {'type': 'digits', 'group': 3}
    """

    group: Literal[1, 3] = 1

    def __post_init__(self) -> None:
        if isinstance(self.group, bool):
            raise ConfigError(f"Digits.group is {self.group}; expected 1 or 3")
        _one_of("Digits.group", self.group, (1, 3))

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "digits", "group": self.group}


@dataclass(frozen=True)
class Split:
    """Any regular expression.

    Args:
        pattern: the expression, in the syntax of Rust's fancy-regex (look-around and back
            references are known; ``\\p{L}`` and friends are Unicode).
        matches: ``"isolated"``: the matches and the gaps between them are words, nothing is lost;
            ``"removed"``: the matches are separators and are dropped; ``"only"``: only the matches
            are words.

    >>> Split(r"\\d+", matches="isolated").to_dict()
    {'type': 'regex', 'pattern': '\\\\d+', 'matches': 'isolated'}
    """

    pattern: str
    matches: Literal["isolated", "removed", "only"] = "isolated"

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not self.pattern:
            raise ConfigError(
                f"Split.pattern is {self.pattern!r}; expected a regular expression that is not empty"
            )
        _one_of("Split.matches", self.matches, ("isolated", "removed", "only"))

    def to_dict(self) -> dict[str, Any]:
        """The scheme as plain data, as files hold it."""
        return {"type": "regex", "pattern": self.pattern, "matches": self.matches}


Pretokenizer: TypeAlias = Named | Digits | Split
PretokenizerLike: TypeAlias = str | Pretokenizer | Sequence[str | Pretokenizer]


def resolve_pretokenizer(value: PretokenizerLike) -> tuple[Pretokenizer, ...]:
    """Names, objects, or a list of both -> the sequence of pre-tokenizers that they mean.

    Raises:
        ConfigError: an unknown name, an empty list, or ``metaspace`` behind another scheme.

    >>> resolve_pretokenizer(["gpt2", "digits"])
    (Named(name='gpt2'), Digits(group=1))
    """
    if isinstance(value, (str, Named, Digits, Split)):
        value = [value]
    if not isinstance(value, Iterable):
        raise ConfigError(
            f"pretokenizer is {value!r}; expected a name, a Split or Digits object, or a list of them"
        )
    stages = tuple(_resolve_stage(stage) for stage in value)
    if not stages:
        raise ConfigError(
            'pretokenizer is an empty list; for the whole text as one word say pretokenizer="none"'
        )
    if Named("metaspace") in stages[1:]:
        raise ConfigError(
            "metaspace must come first in a sequence of pre-tokenizers: it rewrites spaces to ▁ "
            "before anything is cut"
        )
    return stages


def _resolve_stage(stage: object) -> Pretokenizer:
    if isinstance(stage, (Named, Digits, Split)):
        return stage
    if stage == "digits":
        return Digits(1)
    if stage == "digits3":
        return Digits(3)
    if isinstance(stage, str) and stage in NAMED_SCHEMES:
        return Named(stage)
    known = ", ".join(repr(name) for name in (*NAMED_SCHEMES, "digits", "digits3"))
    raise ConfigError(
        f"pretokenizer {stage!r} is not known; expected one of {known}, "
        "or jogak.Split(pattern) for any regular expression"
    )


def pretokenizer_from_dict(data: Mapping[str, Any]) -> Pretokenizer:
    """The way back from `to_dict`.

    Raises:
        ConfigError: an unknown type or a missing or superfluous option.

    >>> pretokenizer_from_dict({"type": "digits", "group": 3})
    Digits(group=3)
    """
    options = dict(data)
    kind = options.pop("type", None)
    try:
        if kind == "digits":
            return Digits(**options)
        if kind == "regex":
            return Split(**options)
        return Named(kind, **options)
    except TypeError as error:
        raise ConfigError(f"pretokenizer {dict(data)!r}: {error}") from None


# --- markers ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Marker:
    """How a word's border is written into its symbols.

    Args:
        kind: ``"none"``, ``"suffix"`` (``</w>`` behind the last character), ``"prefix"`` (``▁``
            before the first), ``"continuation"`` (``##`` before every symbol but the first), or
            ``"byte-level"`` (no mark: the space is part of the word, bytes are drawn as printable
            characters).
        text: the marker itself; None chooses the usual one.
        symbol: for ``suffix``: ``"own"`` starts training with the marker as a symbol of its own
            (Sennrich et al. 2016), ``"joined"`` with the marker glued to the last character
            (subword-nmt 0.2, HF's ``end_of_word_suffix``). A prefix is always an own symbol, a
            continuation mark always glued.

    >>> Marker("suffix")
    Marker(kind='suffix', text='</w>', symbol='own')
    """

    kind: MarkerKind = "none"
    text: str | None = None
    symbol: Literal["own", "joined"] | None = None

    def __post_init__(self) -> None:
        _one_of("marker", self.kind, get_args(MarkerKind))
        usual_text = MARKER_TEXT.get(self.kind)
        usual_symbol = {"suffix": "own", "prefix": "own", "continuation": "joined"}.get(self.kind)
        if usual_text is None:
            if self.text is not None or self.symbol is not None:
                raise ConfigError(
                    f"marker {self.kind!r} has no text of its own; found text {self.text!r} "
                    f"and symbol {self.symbol!r}; leave both out"
                )
            return
        text = usual_text if self.text is None else self.text
        symbol = usual_symbol if self.symbol is None else self.symbol
        if not isinstance(text, str) or not text or any(map(str.isspace, text)):
            raise ConfigError(
                f"marker text is {text!r}; expected characters that are not white space"
            )
        _one_of("marker symbol", symbol, ("own", "joined"))
        if self.kind != "suffix" and symbol != usual_symbol:
            raise ConfigError(
                f"marker {self.kind!r} is always {usual_symbol!r}; found symbol={symbol!r}; "
                "only a suffix can be both"
            )
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "symbol", symbol)


# --- configs: how to train ----------------------------------------------------------------------


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

    def __post_init__(self) -> None:
        if not isinstance(self.marker, Marker):
            object.__setattr__(self, "marker", Marker(self.marker))
        _at_least("vocab_size", self.vocab_size, 1)
        _at_least("num_merges", self.num_merges, 0)
        if self.min_pair_count is None:
            raise ConfigError("min_pair_count is None; expected a whole number, 1 for no limit")
        _at_least("min_pair_count", self.min_pair_count, 1)
        _at_least("alphabet_size", self.alphabet_size, 1)
        _at_least("max_piece_length", self.max_piece_length, 1)
        _one_of("ties", self.ties, get_args(Ties))
        _one_of("strategy", self.strategy, get_args(Strategy))
        for option in ("byte_fallback", "prune_dead", "fuse_unknown"):
            _flag(option, getattr(self, option))
        coverage = self.character_coverage
        if coverage is not None and (
            isinstance(coverage, bool)
            or not isinstance(coverage, (int, float))
            or not 0.0 < coverage <= 1.0
        ):
            raise ConfigError(
                f"character_coverage is {coverage!r}; expected a number above 0 and up to 1"
            )
        if self.alphabet_size is not None and coverage is not None:
            raise ConfigError(
                "alphabet_size and character_coverage both limit the alphabet; give one of them"
            )
        if self.unknown is not None and not (isinstance(self.unknown, str) and self.unknown):
            raise ConfigError(
                f"unknown is {self.unknown!r}; expected a text that is not empty, or None for none"
            )
        assert isinstance(self.marker, Marker)
        if self.byte_fallback and self.marker.symbol == "joined":
            raise ConfigError(
                f"byte_fallback does not go with marker {self.marker.kind!r} where it is glued to "
                "characters: once a character is bytes, nobody can tell whether it had the mark; "
                "choose 'prefix', 'none', or a suffix with symbol='own'"
            )
        if self.alphabet == "bytes":
            for option in ("alphabet_size", "character_coverage"):
                if getattr(self, option) is not None:
                    raise ConfigError(
                        f"{option} limits an alphabet of characters, but the marker is byte-level, "
                        "whose alphabet is always the 256 bytes; leave it out, or choose another marker"
                    )
            if self.byte_fallback:
                raise ConfigError(
                    "byte_fallback is for alphabets of characters; byte-level has all bytes already"
                )
        marker = self.marker
        assert isinstance(marker, Marker)
        if self.byte_fallback and marker.symbol == "joined":
            raise ConfigError(
                f"byte_fallback writes characters as bytes, which cannot carry a {marker.kind} marker "
                "that is glued to them; choose marker 'prefix', 'none', or a suffix that is its own "
                "symbol"
            )

    @property
    def alphabet(self) -> Alphabet:
        """``"bytes"`` with the byte-level marker, else ``"chars"``."""
        assert isinstance(self.marker, Marker)
        return "bytes" if self.marker.kind == "byte-level" else "chars"

    def to_dict(self) -> dict[str, Any]:
        """The config as plain data, as files hold it."""
        return {"type": "bpe", **dataclasses.asdict(self)}

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
        try:
            if isinstance(options.get("marker"), Mapping):
                options["marker"] = Marker(**options["marker"])
            return cls(**options)
        except TypeError as error:
            raise ConfigError(f"BPE: {error}") from None


# --- what came out ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class BPEModel:
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
    """

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

    def __post_init__(self) -> None:
        _one_of("alphabet", self.alphabet, get_args(Alphabet))
        _one_of("strategy", self.strategy, get_args(Strategy))
        if (self.alphabet == "bytes") != (self.marker.kind == "byte-level"):
            raise ConfigError(
                f"alphabet {self.alphabet!r} does not go with marker {self.marker.kind!r}; "
                "bytes go with byte-level, characters with all others"
            )
        size = len(self.pieces)
        for rank, (left, right) in enumerate(self.merges or ()):
            if not (0 <= left < size and 0 <= right < size):
                raise ConfigError(
                    f"merge {rank} joins ids {left} and {right}; expected ids below {size}"
                )
        texts = [piece for piece in self.pieces if piece is not None]
        if len(set(texts)) != len(texts):
            seen: set[str] = set()
            double = next(text for text in texts if text in seen or seen.add(text))  # type: ignore[func-returns-value]
            ids = [i for i, piece in enumerate(self.pieces) if piece == double]
            raise ConfigError(
                f"piece {double!r} stands at ids {ids}; every text can have one id only"
            )
        if self.unknown is not None and self.unknown not in texts:
            raise ConfigError(f"the unknown piece {self.unknown!r} is not among the pieces; add it")

    def __repr__(self) -> str:
        """Short: a vocabulary would fill many screens."""
        merges = "ids as ranks" if self.merges is None else f"{len(self.merges):,} merges"
        return f"<BPEModel: {len(self.pieces):,} pieces, {merges}, {self.marker.kind}, {self.strategy}>"


@dataclass(frozen=True, kw_only=True)
class Spec:
    """All that a tokenizer is.

    Args:
        model: the vocabulary and how words are cut with it.
        pretokenizer: how text is cut into words, first stage first.
        special_tokens: text -> id of the pieces that stand for no text of their own (``<pad>``).
            The model never makes them; see `Tokenizer.encode` for how text that looks like them is
            treated.
    """

    model: BPEModel
    pretokenizer: tuple[Pretokenizer, ...]
    special_tokens: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for text, id_ in self.special_tokens.items():
            size = len(self.model.pieces)
            if not 0 <= id_ < size or self.model.pieces[id_] != text:
                found = self.model.pieces[id_] if 0 <= id_ < size else None
                raise ConfigError(
                    f"special token {text!r} says id {id_}, where the piece is {found!r}; "
                    "the two must agree"
                )
