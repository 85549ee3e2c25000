"""Text -> pieces, by `jogak.Tokenizer`, with what each of them stands for.

Rule: ids come from the tokenizer alone. Where pieces are to know their places, it is given the
normalized text and tells every unknown character by itself; from both all places follow.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Sequence
from functools import cached_property

from jogak.compat.sentencepiece.messages import Cut, Part
from jogak.compat.sentencepiece.normalizing import Normalizing
from jogak.compat.sentencepiece.vocabulary import Vocabulary
from jogak.formats.sentencepiece_model import PieceType
from jogak.spec import ScoredBPEModel, Spec, UnigramModel, resolve_pretokenizer
from jogak.tokenizer import Tokenizer

__all__ = ["MOST_WAYS", "Cutter", "draw_from"]

#: So many ways at most are asked for.
MOST_WAYS = 512

#: Where the random numbers of all processors come from.
_random = random.Random()


def draw_from(seed: int) -> None:
    """Start the random numbers anew."""
    _random.seed(seed)


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
        odd = (PieceType.UNKNOWN, PieceType.BYTE)
        self._odd = {id_ for id_, kind in enumerate(vocabulary.types) if kind in odd}

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
        assert isinstance(spec.model, (ScoredBPEModel, UnigramModel))
        model = dataclasses.replace(spec.model, fuse_unknown=False)
        whole = resolve_pretokenizer("none")
        return Tokenizer(Spec(model=model, pretokenizer=whole, special_tokens=spec.special_tokens))

    @property
    def has_probabilities(self) -> bool:
        """Whether there are n best ways."""
        return isinstance(self.vocabulary.spec.model, UnigramModel)

    def ids(self, texts: Sequence[str | bytes], num_threads: int) -> list[list[int]]:
        """The ids of texts, the short way."""
        if len(texts) == 1 and isinstance(texts[0], str):
            return [self.tokenizer.encode(texts[0], special="text")]
        valid = [text if isinstance(text, str) else _valid(text) for text in texts]
        known = [text for text in valid if text is not None]
        batch = self.tokenizer.encode_batch(known, num_threads=num_threads, special="text")
        rest = iter(batch.to_lists())
        return [
            [part.id for part in self.cut(raw).parts] if text is None else next(rest)
            for text, raw in zip(valid, map(_bytes, texts), strict=True)
        ]

    def pieces(self, texts: Sequence[str | bytes], num_threads: int) -> list[list[bytes]]:
        """The pieces of texts, the short way; unknown characters as they are normalized."""
        names = self._names
        return [
            [part.piece for part in self.cut(_bytes(text)).parts]
            if not self._odd.isdisjoint(ids)
            else [names[id_] for id_ in ids]
            for text, ids in zip(texts, self.ids(texts, num_threads), strict=True)
        ]

    @cached_property
    def _names(self) -> list[bytes]:
        return [piece.encode() for piece in self.vocabulary.pieces]

    def cut(self, raw: bytes) -> Cut:
        """A text, cut the best way."""
        normalized, origin = self.normalizing(raw)
        return self._cut(raw, normalized, origin, self._best(normalized))

    def _best(self, normalized: str) -> list[int]:
        return self._exact.encode(normalized, special="text") if normalized else []

    def ways(self, raw: bytes, count: int) -> list[Cut]:
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
        normalized, origin = self.normalizing(raw)
        return [
            self._cut(raw, normalized, origin, ids, score)
            for ids, score in self._scored(normalized, count)
        ]

    def _scored(self, normalized: str, count: int) -> list[tuple[list[int], float]]:
        if not normalized:
            return [([], 0.0)]
        if count <= 1:
            return [(self._best(normalized), 0.0)]
        ways = self._exact.nbest(normalized, count, special="text")
        return [(way.ids, way.score) for way in ways]

    def drawn(self, raw: bytes, nbest_size: int, alpha: float) -> Cut:
        """A text, cut a way that is drawn: of all ways, or of the likeliest.

        Raises:
            RuntimeError: too many ways.
        """
        _check_ways(nbest_size)
        normalized, origin = self.normalizing(raw)
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
        return self._cut(raw, normalized, origin, ids)

    def _cut(
        self,
        raw: bytes,
        normalized: str,
        origin: list[int],
        ids: list[int],
        score: float | None = None,
    ) -> Cut:
        """What each id stands for: the normalized text is what they are, one behind the other."""
        vocabulary = self.vocabulary
        parts: list[Part] = []
        at, behind_unknown = 0, False
        rest = iter(ids)
        for id_ in rest:
            kind = vocabulary.types[id_]
            piece = vocabulary.pieces[id_]
            if kind in (PieceType.UNKNOWN, PieceType.BYTE):
                piece = normalized[at]
            begin, end = origin[at], origin[at + len(piece)]
            surface = raw[begin:end]
            at += len(piece)
            if kind is PieceType.BYTE:
                # All bytes of a character; the last one stands for it.
                names = [f"<0x{byte:02X}>" for byte in piece.encode()]
                for name in names[:-1]:
                    parts.append(Part(name.encode(), vocabulary.id(name), None, begin, begin))
                    next(rest)
                last = names[-1]
                parts.append(Part(last.encode(), vocabulary.id(last), surface, begin, end))
            elif kind is PieceType.UNKNOWN and behind_unknown:
                before = parts.pop()
                parts.append(
                    Part(
                        before.piece + piece.encode(),
                        id_,
                        (before.surface or b"") + surface,
                        before.begin,
                        end,
                    )
                )
            else:
                parts.append(Part(piece.encode(), id_, surface, begin, end))
            behind_unknown = kind is PieceType.UNKNOWN
        return Cut(raw, parts, score)

    def entropy(self, raw: bytes, alpha: float) -> float:
        """The entropy of all ways to cut a text, in nats."""
        normalized, _ = self.normalizing(raw)
        return self._exact.score(normalized, alpha=alpha, special="text").entropy


def _check_ways(count: int) -> None:
    if count > MOST_WAYS:
        raise RuntimeError(
            f"INTERNAL: [(nbest_size) <= (kMaxNBestSize)] nbest_size must be nbest_size <= {MOST_WAYS}"
        )


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _valid(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
