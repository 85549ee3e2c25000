"""The Unigram language model: what came out of training it (`UnigramModel`)."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from jogak.errors import ConfigError
from jogak.spec.bpe import Alphabet
from jogak.spec.checks import check_ids, flag, one_of, unique_pieces
from jogak.spec.held import Listed
from jogak.spec.markers import Marker
from jogak.spec.record import dataclass, field, fields

__all__ = ["Precision", "UnigramModel"]

Precision: TypeAlias = Literal["double", "single"]


@dataclass(frozen=True, kw_only=True)
class UnigramModel(Listed):
    """Pieces with probabilities (Kudo 2018); a word is cut in the most likely way.

    Args:
        pieces: the text of every id; None where an id stands for nothing. Special tokens, the unknown
            piece and the pieces of byte fallback are among them.
        scores: the natural logarithm of every piece's probability; any number for pieces that text
            does not become.
        user_defined: ids of pieces that are to be found wherever they stand. Their score is not the
            listed one but (length in UTF-8 bytes - 1) / 10, which is above any logarithm of a
            probability, so that only another user-defined piece could win over them.
        unused: ids of pieces that text does not become, though they have a text and a score.
        byte_fallback: unknown characters become the pieces ``<0x00>`` to ``<0xFF>``.
        unknown: text of the piece that stands for what nothing covers, or None. An unknown character
            has the lowest score of all pieces less 10, byte fallback or not.
        fuse_unknown: one unknown piece for a run of unknown characters.
        unknown_score: the score of an unknown character, where it is not that.
        precision: how sums of scores are rounded, which decides near-ties: ``"double"`` in 64 bits
            (HF tokenizers), ``"single"`` in 32 bits, starting over when a sum passes 100,000
            (SentencePiece 0.2.3). Sums begin with each word of the pre-tokenizer.
        drawn: as in `BPEModel`.
        hf_rules: where HF tokenizers do otherwise, do as they do: the unknown piece and the pieces of
            bytes are found in text like any other, with their scores, and the lowest score is that of
            all of them. A run of unknown characters (with ``fuse_unknown``) falls back to bytes only if
            there is a piece for each of its bytes; not all 256 are needed.
        marker: the border of words, which the pre-tokenizer wrote: ``"prefix"`` for ``▁``.

    Raises:
        ConfigError: as many scores as pieces are needed, each a finite number; ids below their
            number; every text once.

    >>> model = UnigramModel(pieces=("<unk>", "a", "ab"), scores=(0.0, -1.0, -2.5), unknown="<unk>")
    >>> model.family
    'unigram'
    """

    family: ClassVar[str] = "unigram"
    #: Pieces are made of characters.
    alphabet: ClassVar[Alphabet] = "chars"

    pieces: tuple[str | None, ...]
    scores: tuple[float, ...]
    user_defined: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
    byte_fallback: bool = False
    unknown: str | None = None
    fuse_unknown: bool = True
    precision: Precision = "double"
    marker: Marker = field(default_factory=Marker)
    drawn: bool = False
    hf_rules: bool = False
    unknown_score: float | None = None

    def __post_init__(self) -> None:
        flag("drawn", self.drawn)
        flag("hf_rules", self.hf_rules)
        if len(self.scores) != len(self.pieces):
            raise ConfigError(
                f"there are {len(self.scores)} scores for {len(self.pieces)} pieces; "
                "expected one for each"
            )
        # One pass in C for the usual case; the slow look is only for the message.
        fine = set(map(type, self.scores)) <= {float} and all(map(math.isfinite, self.scores))
        for id_, score in enumerate(() if fine else self.scores):
            if not isinstance(score, (int, float)) or not math.isfinite(score):
                raise ConfigError(f"the score of id {id_} is {score!r}; expected a finite number")
        given = self.unknown_score
        if given is not None and not (isinstance(given, (int, float)) and abs(given) < 1e38):
            raise ConfigError(
                f"unknown_score is {given!r}; expected a number, the logarithm of a probability"
            )
        check_ids("user_defined", self.user_defined, self.pieces)
        check_ids("unused", self.unused, self.pieces)
        if both := set(self.user_defined) & set(self.unused):
            raise ConfigError(f"id {min(both)} is both user-defined and unused; choose one")
        flag("byte_fallback", self.byte_fallback)
        flag("fuse_unknown", self.fuse_unknown)
        one_of("precision", self.precision, get_args(Precision))
        texts = unique_pieces(self.pieces)
        if self.unknown is not None and self.unknown not in texts:
            raise ConfigError(f"the unknown piece {self.unknown!r} is not among the pieces; add it")
        if self.marker.kind not in ("none", "prefix", "suffix"):
            raise ConfigError(
                f"marker is {self.marker.kind!r}; a Unigram model knows 'prefix' and 'suffix' (▁ that "
                "the pre-tokenizer writes) and 'none'"
            )
        self._hold()

    def to_core(self) -> dict[str, Any]:
        """The model as the core takes it: one flat dict."""
        options = {field.name: self.at_hand(field.name) for field in fields(self)}
        marker: Marker = options.pop("marker")
        options["scores"] = list(map(float, self.scores))
        return {"type": self.family, **options, **marker.to_core()}
