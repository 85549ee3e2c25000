"""Text -> pieces, by `jogak.Tokenizer`, with what each of them stands for.

Rule: ids come from the tokenizer alone. Where pieces are to know their places, or what is unknown of a
text, it is given the normalized text and tells every unknown character by itself; from both all follows.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jogak.compat.sentencepiece.messages import Cut, Part, SentencePieceText
from jogak.compat.sentencepiece.normalizing import Normalizing, raw_of
from jogak.compat.sentencepiece.vocabulary import Vocabulary
from jogak.errors import UnsupportedFeature
from jogak.formats.sentencepiece_model import PieceType
from jogak.spec import ScoredBPEModel, Spec, UnigramModel, resolve_pretokenizer
from jogak.surfaces import Counted
from jogak.surfaces import Cut as Pieces
from jogak.tokenizer import Tokenizer

if TYPE_CHECKING:
    from jogak.ragged import Ragged

__all__ = ["MOST_WAYS", "Cutter", "Way", "draw_from"]

#: So many ways at most are asked for.
MOST_WAYS = 512

#: Where the random numbers of all processors come from.
_random = random.Random()


def draw_from(seed: int) -> None:
    """Start the random numbers anew."""
    _random.seed(seed)


@dataclass(slots=True)
class Way:
    """A way to cut a text.

    Args:
        raw: the text.
        cut: its pieces.
        score: its score, if it is one of the n best.
        names: the pieces of all ids, as texts and as bytes.
    """

    raw: bytes
    cut: Pieces
    score: float | None
    names: Names

    def ids(self) -> list[int]:
        """Its ids, with one for unknown characters that follow each other."""
        return self.cut.ids()

    def pieces(self, *, in_bytes: bool) -> list[Any]:
        """Its pieces; unknown characters as they are normalized."""
        return self.cut.pieces(self.names.of(in_bytes=in_bytes), in_bytes)

    def offset_mapping(self, *, in_bytes: bool) -> dict[str, object]:
        """Ids, pieces and places, as lists."""
        ids, pieces, offsets = self.cut.mapping(in_bytes)
        return {"ids": ids, "pieces": pieces, "offsets": offsets}

    def serialized(self) -> bytes:
        """As the bytes of a ``SentencePieceText``."""
        return self.cut.serialized(self.score)

    def message(self, *, characters: bool = False) -> SentencePieceText:
        """As a message; places are bytes, or characters."""
        parts = [Part(*row) for row in self.cut.rows()]
        return Cut(self.raw, parts, self.score).message(characters=characters)


class Names:
    """The pieces of all ids."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._texts = texts

    def of(self, *, in_bytes: bool) -> tuple[Any, ...]:
        """As texts, or as bytes."""
        return self._bytes if in_bytes else self._texts

    @cached_property
    def _bytes(self) -> tuple[bytes, ...]:
        return tuple(text.encode() for text in self._texts)


class Cutter:
    """Cuts texts with one model. Immutable.

    Args:
        vocabulary: the model.
        normalizing: what is done to texts before.
    """

    def __init__(self, vocabulary: Vocabulary, normalizing: Normalizing) -> None:
        self.vocabulary = vocabulary
        self.normalizing = normalizing
        self.tokenizer = Tokenizer(vocabulary.spec)
        if vocabulary.loaded is not None:
            self._prove(vocabulary)
        types = enumerate(vocabulary.types)
        self._unknown = {id_ for id_, kind in types if kind is PieceType.UNKNOWN}
        self._names = Names(vocabulary.pieces)

    def _prove(self, vocabulary: Vocabulary) -> None:
        """The samples that a model brings along."""
        assert vocabulary.loaded is not None
        for probe in vocabulary.loaded.probes:
            if self.tokenizer.encode(probe.text, special="text") != list(probe.ids):
                raise RuntimeError(f"INTERNAL: Self-test failures: {probe.text!r}")

    @cached_property
    def _exact(self) -> Tokenizer:
        """The model over texts that are normalized, without a run of unknown characters."""
        spec = self.vocabulary.spec
        if not isinstance(spec.model, (ScoredBPEModel, UnigramModel)):
            raise UnsupportedFeature(
                "a word model tells unknown words by their ids alone; expected return_type=int"
            )
        model = dataclasses.replace(spec.model, fuse_unknown=False)
        whole = resolve_pretokenizer("none")
        return Tokenizer(Spec(model=model, pretokenizer=whole, special_tokens=spec.special_tokens))

    @property
    def _has_characters(self) -> bool:
        """Whether what is unknown are characters; of a word model they are words."""
        return isinstance(self.vocabulary.spec.model, (ScoredBPEModel, UnigramModel))

    @property
    def has_probabilities(self) -> bool:
        """Whether there are n best ways."""
        return isinstance(self.vocabulary.spec.model, UnigramModel)

    def ids(self, texts: Sequence[str | bytes], num_threads: int) -> list[list[int]]:
        """The ids of texts, the short way."""
        if len(texts) == 1 and isinstance(texts[0], str):
            return [self.tokenizer.encode(texts[0], special="text")]
        valid = [text if isinstance(text, str) else _valid(text) for text in texts]
        rest = iter(self._batch(valid, num_threads).to_lists())
        return [
            self.cut(raw_of(raw)).ids() if text is None else next(rest)
            for text, raw in zip(valid, texts, strict=True)
        ]

    def _batch(self, texts: Sequence[str | None], num_threads: int) -> Ragged:
        known = [text for text in texts if text is not None]
        return self.tokenizer.encode_batch(known, num_threads=num_threads, special="text")

    def pieces(
        self, texts: Sequence[str | bytes], num_threads: int, *, in_bytes: bool
    ) -> list[list[Any]]:
        """The pieces of texts; unknown characters as they are normalized."""
        names = self._names.of(in_bytes=in_bytes)
        if len(texts) == 1 and isinstance(texts[0], str):
            ids = self.tokenizer.encode(texts[0], special="text")
            if self._unknown.isdisjoint(ids):
                return [[names[id_] for id_ in ids]]
            return [self.cut(raw_of(texts[0]), ids).pieces(in_bytes=in_bytes)]
        if not self._has_characters:
            return [way.pieces(in_bytes=in_bytes) for way in self.cuts(texts, num_threads)]
        valid = [text if isinstance(text, str) else _valid(text) for text in texts]
        known = [text for text in valid if text is not None]
        batch = self._batch(known, num_threads)
        found = iter(
            self.normalizing.surfaces.pieces(known, batch.ids, batch.offsets, names, in_bytes)
        )
        rows = [None if text is None else next(found) for text in valid]
        return [
            self.cut(raw_of(raw)).pieces(in_bytes=in_bytes) if row is None else row
            for raw, row in zip(texts, rows, strict=True)
        ]

    def cut(self, raw: bytes, ids: list[int] | None = None) -> Way:
        """A text, cut the best way. `ids` are those of the text, if they are known.

        Raises:
            UnsupportedFeature: a word model, and a word that it does not know.
        """
        counted = self.normalizing(raw)
        tells = self._has_characters or (ids is not None and self._unknown.isdisjoint(ids))
        cut = counted.cut(ids, True) if tells and ids is not None else None
        if cut is not None:
            return Way(raw, cut, None, self._names)
        return self._way(raw, counted, self._best(counted.text))

    def cuts(self, texts: Sequence[str | bytes], num_threads: int) -> list[Way]:
        """Texts, cut the best way."""
        valid = [text if isinstance(text, str) else _valid(text) for text in texts]
        rest = iter(self._batch(valid, num_threads).to_lists())
        return [
            self.cut(raw_of(raw), None if text is None else next(rest))
            for text, raw in zip(valid, texts, strict=True)
        ]

    def _way(self, raw: bytes, counted: Counted, ids: list[int], score: float | None = None) -> Way:
        """The way of ids that tell each unknown character by itself."""
        cut = counted.cut(ids, False)
        assert cut is not None  # these tell where everything ends
        return Way(raw, cut, score, self._names)

    def _best(self, normalized: str) -> list[int]:
        return self._exact.encode(normalized, special="text") if normalized else []

    def ways(self, raw: bytes, count: int) -> list[Way]:
        """The likeliest ways to cut a text.

        Raises:
            RuntimeError: a model without probabilities, or too many ways.
        """
        _check_ways(count)
        if not self.has_probabilities:
            raise RuntimeError(
                "INTERNAL: [model_->IsNBestEncodeAvailable()] NBestEncode is not available for the "
                "current model."
            )
        counted = self.normalizing(raw)
        ways = self._scored(counted.text, count)
        return [self._way(raw, counted, ids, score) for ids, score in ways]

    def _scored(self, normalized: str, count: int) -> list[tuple[list[int], float]]:
        if not normalized:
            return [([], 0.0)]
        if count <= 1:
            return [(self._best(normalized), 0.0)]
        ways = self._exact.nbest(normalized, count, special="text")
        return [(way.ids, way.score) for way in ways]

    def drawn(self, raw: bytes, nbest_size: int, alpha: float) -> Way:
        """A text, cut a way that is drawn: of all ways, or of the likeliest.

        Raises:
            RuntimeError: too many ways.
        """
        _check_ways(nbest_size)
        counted = self.normalizing(raw)
        normalized = counted.text
        seed = _random.getrandbits(64)
        if not normalized:
            ids: list[int] = []
        elif not self.has_probabilities:
            dropout = min(max(alpha, 0.0), 1.0)
            ids = self._exact.encode(normalized, dropout=dropout, seed=seed, special="text")
        elif nbest_size < 0:
            temperature = max(alpha, 0.0)
            ids = self._exact.encode(normalized, alpha=temperature, seed=seed, special="text")
        elif nbest_size <= 1:
            ids = self._best(normalized)
        else:
            ways = self._scored(normalized, nbest_size)
            top = max(score for _, score in ways)
            weights = [math.exp(alpha * (score - top)) for _, score in ways]
            ((ids, _),) = random.Random(seed).choices(ways, weights)
        return self._way(raw, counted, ids)

    def entropy(self, raw: bytes, alpha: float) -> float:
        """The entropy of all ways to cut a text, in nats."""
        normalized = self.normalizing(raw).text
        return self._exact.score(normalized, alpha=alpha, special="text").entropy


def _check_ways(count: int) -> None:
    if count > MOST_WAYS:
        raise RuntimeError(
            f"INTERNAL: [(nbest_size) <= (kMaxNBestSize)] nbest_size must be nbest_size <= {MOST_WAYS}"
        )


def _valid(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
