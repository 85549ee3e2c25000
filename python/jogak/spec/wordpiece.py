"""WordPiece: how to train it (`WordPiece`), and what came out (`WordPieceModel`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from jogak.errors import ConfigError
from jogak.spec.checks import at_least, flag, made, one_of, unique_pieces, unknown_text
from jogak.spec.held import Listed
from jogak.spec.markers import Marker, MarkerKind
from jogak.spec.record import asdict, dataclass, field, fields

__all__ = ["Criterion", "WordPiece", "WordPieceModel"]

Criterion: TypeAlias = Literal["likelihood", "count"]

#: Markers that say which pieces begin a word.
_MARKERS = ("continuation", "prefix")


def _continuation() -> Marker:
    return Marker("continuation")


@dataclass(frozen=True, kw_only=True)
class WordPiece:
    """How to train WordPiece (Schuster & Nakajima 2012; Wu et al. 2016).

    Training starts from words cut into symbols and repeats: take the pair of neighbours whose merge
    raises the likelihood of the corpus most, make it a piece, replace it everywhere. With # for
    occurrences in the corpus as it is cut now, and n symbols in all, that is the pair with the largest
    (#ab/n) / ((#a/n) (#b/n)). Of pairs with the same score the smaller (left id, right id) goes first.
    Scores are compared exactly.

    The base alphabet has every character as it is, and with the marker where it occurs so: a word is
    not unknown because its first character was only seen inside of words.

    The score alone loves what is rare, so a pair must also occur often enough: ``min_pair_count``.

    Args:
        vocab_size: stop when the vocabulary (special tokens, base alphabet, merged pieces) has this
            many pieces; None goes on until no pair is left that may be merged.
        criterion: ``"likelihood"``, or ``"count"``: the pair with the largest count, which is what HF
            tokenizers do under the name of WordPiece.
        min_pair_count: pairs that occur less often are never merged. ``"auto"``: a floor that is the
            largest power of two that any pair reaches, and so is halved whenever no pair is left
            above it, down to 2. A fixed number gives the textbook criterion; take the largest one that
            still fills the vocabulary, for a small one gives pieces that text has no use for.
        marker: the border of words, a name or a `Marker`: ``"continuation"`` (``##`` before every
            piece but a word's first) or ``"prefix"`` (``▁`` before the first).
        alphabet_size: keep only this many of the most frequent characters (ties: smaller code
            point); words with any other character become the unknown piece.
        max_piece_length: no piece longer than this, in characters, markers not counted.
        max_chars_per_word: how the tokenizer will encode: words of more characters become the
            unknown piece.
        unknown: the text of the piece that stands for words that pieces cannot cover; None makes such
            texts an error. If it is not among the ``special_tokens``, it gets the id behind all others
            and is not counted in ``vocab_size``.

    Raises:
        ConfigError: a value that cannot be.

    >>> WordPiece(vocab_size=30_000).marker
    Marker(kind='continuation', text='##', symbol='joined')
    """

    vocab_size: int | None = None
    criterion: Criterion = "likelihood"
    min_pair_count: int | Literal["auto"] = "auto"
    marker: Marker | MarkerKind = field(default_factory=_continuation)
    alphabet_size: int | None = None
    max_piece_length: int | None = None
    max_chars_per_word: int = 100
    unknown: str | None = "[UNK]"

    def __post_init__(self) -> None:
        if not isinstance(self.marker, Marker):
            object.__setattr__(self, "marker", Marker(self.marker))
        assert isinstance(self.marker, Marker)
        one_of("marker of WordPiece", self.marker.kind, _MARKERS)
        one_of("criterion", self.criterion, get_args(Criterion))
        at_least("vocab_size", self.vocab_size, 1)
        if self.min_pair_count is None:
            raise ConfigError('min_pair_count is None; expected a whole number, or "auto"')
        if isinstance(self.min_pair_count, str):
            if self.min_pair_count != "auto":
                raise ConfigError(
                    f'min_pair_count is {self.min_pair_count!r}; expected a whole number, or "auto"'
                )
        else:
            at_least("min_pair_count", self.min_pair_count, 1)
        at_least("alphabet_size", self.alphabet_size, 1)
        at_least("max_piece_length", self.max_piece_length, 1)
        _check_max_chars(self.max_chars_per_word)
        unknown_text(self.unknown)

    def to_dict(self) -> dict[str, Any]:
        """The config as plain data, as files hold it."""
        return {"type": "wordpiece", **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> WordPiece:
        """The way back from `to_dict`.

        Raises:
            ConfigError: an unknown option or an impossible value.

        >>> WordPiece.from_dict(WordPiece(vocab_size=300).to_dict()) == WordPiece(vocab_size=300)
        True
        """
        options = dict(data)
        options.pop("type", None)
        if isinstance(options.get("marker"), Mapping):
            options["marker"] = made("Marker", Marker, options["marker"])
        return made("WordPiece", cls, options)


@dataclass(frozen=True, kw_only=True)
class WordPieceModel(Listed):
    """A WordPiece vocabulary, and how words are cut with it.

    From the left the longest piece that matches, then on behind it. If anywhere nothing matches, or if
    the word is too long, the whole word is the unknown piece. Pieces behind the first must carry a
    continuation mark; the first one is looked up as it is written, as in BERT's own code.

    Args:
        pieces: the text of every id; None where an id stands for nothing. Special tokens are among
            them, as their plain text.
        marker: the border of words.
        mark_words: whether encoding writes the marker (False where the pre-tokenizer did:
            metaspace).
        unknown: text of the unknown piece, or None.
        max_chars_per_word: words of more characters are unknown. A prefix that encoding writes is not
            counted.
        drawn: as in `BPEModel`.
        hf_rules: the unknown piece is a piece like any other, as for HF tokenizers.

    Raises:
        ConfigError: a text that stands twice, an unknown piece that is none, an impossible value.

    >>> WordPieceModel(pieces=("[UNK]", "un", "##do"), unknown="[UNK]").max_chars_per_word
    100
    """

    family: ClassVar[str] = "wordpiece"
    #: What every model can be asked for; WordPiece leaves no choice.
    merges: ClassVar[tuple[tuple[int, int], ...]] = ()
    alphabet: ClassVar[Literal["bytes", "chars"]] = "chars"
    strategy: ClassVar[Literal["longest-match"]] = "longest-match"
    byte_fallback: ClassVar[bool] = False

    pieces: tuple[str | None, ...]
    marker: Marker = field(default_factory=_continuation)
    mark_words: bool = True
    unknown: str | None = None
    max_chars_per_word: int = 100
    drawn: bool = False
    hf_rules: bool = False

    def __post_init__(self) -> None:
        one_of("marker of WordPiece", self.marker.kind, (*_MARKERS, "none"))
        flag("drawn", self.drawn)
        flag("hf_rules", self.hf_rules)
        _check_max_chars(self.max_chars_per_word, least=0)
        texts = unique_pieces(self.pieces)
        if self.unknown is not None and self.unknown not in texts:
            raise ConfigError(f"the unknown piece {self.unknown!r} is not among the pieces; add it")
        self._hold()

    def __repr__(self) -> str:
        """Short: a vocabulary would fill many screens."""
        return f"<WordPieceModel: {len(self.table):,} pieces, {self.marker.kind}>"

    def to_core(self) -> dict[str, Any]:
        """The model as the core takes it: one flat dict."""
        options = {field.name: self.at_hand(field.name) for field in fields(self)}
        marker: Marker = options.pop("marker")
        return {"type": self.family, **options, **marker.to_core()}


def _check_max_chars(value: object, least: int = 1) -> None:
    # The core counts in machine words; no text is as long as this.
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 32:
        raise ConfigError(f"max_chars_per_word is {value!r}; expected {least} to 4,294,967,295")
