"""The Unigram language model: encoding, the n best ways, drawing one, how likely a text is.

    best[0] = 0
    for start in the borders between characters, left to right:
        for each piece that starts there, shortest first:
            if best[start] + score > best[end]: best[end] = that, reached by this piece
        if no piece is the one character there: the same for that character, unknown

Rules:
- A piece's score is the natural logarithm of its probability. A segmentation's score is the sum of its
  pieces' scores, added from the left; a word's probability is the sum over all its segmentations.
- An unknown character has the lowest score of all pieces less 10, or the given one. It may be used only
  where that one character is no piece.
- A user-defined piece has the score (its length in UTF-8 bytes - 1) / 10, rounded to 32 bits, which no
  logarithm of a probability reaches. With `"single"`, among all ways (n best, sums over all, drawing) it
  is the length in characters that counts.
- Of candidates with equal sums the one that starts earlier wins. Of paths with equal scores the one
  whose last piece starts earlier comes first, then the one whose last but one does, and so on.
- Sums are rounded, and rounding settles near-ties, so it is part of the model. `"double"` adds in
  64 bits (HF tokenizers). `"single"` rounds every score and every sum to 32 bits, and where the best
  sum at a border is beyond 100,000 in size, that sum is taken off itself and off all later ones that are
  known by then (SentencePiece 0.2.3).
- Unknown characters are written by the rule of `model`: byte pieces, or the unknown token, one for a
  run with `fuse_unknown`, or their own text.

Sources: Kudo 2018, "Subword regularization", https://aclanthology.org/P18-1007; the search of
SentencePiece 0.2.3, https://github.com/google/sentencepiece.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from .agenda import n_best
from .random import SplitMix64

#: An unknown character in a path.
UNKNOWN = None

#: One piece of a path: its text, or None for an unknown character; and the characters it stands for.
Step = tuple[str | None, int, int]


@dataclass(frozen=True)
class Unigram:
    """Pieces with scores, and what to do with the unknown.

    Args:
        scores: text of a piece -> its score, for the pieces that text can become.
        user_defined: those pieces that have a score by their length.
        byte_fallback: unknown characters become the pieces ``<0x00>`` to ``<0xFF>``.
        unk: text of the unknown token, or None.
        fuse_unknown: a run of unknown characters becomes one token.
        precision: how sums are rounded.
        given_unknown_score: the score of an unknown character, if it is not the lowest of all less 10.

    >>> model = Unigram({"a": -2.0, "b": -2.0, "ab": -3.0}, unk="<unk>")
    >>> model.tokens("abba")
    ['ab', 'b', 'a']
    """

    scores: dict[str, float]
    user_defined: frozenset[str] = frozenset()
    byte_fallback: bool = False
    unk: str | None = None
    fuse_unknown: bool = False
    precision: Literal["double", "single"] = "double"
    given_unknown_score: float | None = None

    @cached_property
    def _used(self) -> dict[str, float]:
        """Every piece with the score that counts."""
        return {
            text: _single((len(text.encode()) - 1) * 0.1) if text in self.user_defined else score
            for text, score in self.scores.items()
        }

    @cached_property
    def _among_ways(self) -> dict[str, float]:
        """The same among all ways: SentencePiece counts characters there."""
        if self.precision == "double":
            return self._used
        return {
            text: _single((len(text) - 1) * 0.1) if text in self.user_defined else score
            for text, score in self._used.items()
        }

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.scores), default=0)

    @property
    def unknown_score(self) -> float:
        """The score of an unknown character."""
        if self.given_unknown_score is not None:
            return self.given_unknown_score
        normal = [score for text, score in self.scores.items() if text not in self.user_defined]
        return min(normal, default=0.0) - 10.0

    def steps(self, word: str, start: int) -> list[tuple[Step, float]]:
        """All pieces that may start at a character, shortest first, each with its score.

        >>> Unigram({"a": -2.0, "ab": -3.0}).steps("abc", 1)
        [((None, 1, 2), -13.0)]
        """
        found: list[tuple[Step, float]] = []
        for end in range(start + 1, min(len(word), start + self._longest) + 1):
            text = word[start:end]
            if text in self._used:
                found.append(((text, start, end), self._used[text]))
        if word[start : start + 1] not in self._used:
            found.append(((UNKNOWN, start, start + 1), self.unknown_score))
        return found

    # --- the best way

    def best(self, word: str) -> list[Step]:
        """The best path, summed up in the model's precision.

        >>> Unigram({"a": -2.0, "ab": -3.0}).best("aba")
        [('ab', 0, 2), ('a', 2, 3)]
        """
        rounded = _single if self.precision == "single" else float
        sums: dict[int, float] = {0: 0.0}
        back: dict[int, Step] = {}
        for start in range(len(word)):
            here = sums[start]
            if self.precision == "single" and abs(here) > 100_000.0:
                sums = {at: _single(s - here) if at >= start else s for at, s in sums.items()}
                here = 0.0
            for step, score in self.steps(word, start):
                end = step[2]
                total = rounded(here + rounded(score))
                if end not in sums or total > sums[end]:
                    sums[end], back[end] = total, step
        path: list[Step] = []
        end = len(word)
        while end > 0:
            path.append(back[end])
            end = back[end][1]
        return path[::-1]

    # --- all ways

    def all_paths(self, word: str) -> list[list[Step]]:
        """Every segmentation. Takes time exponential in the word's length.

        >>> len(Unigram({"a": -2.0, "aa": -3.0}).all_paths("aaaa"))
        5
        """
        endings: list[list[list[Step]]] = [[[]]]
        for end in range(1, len(word) + 1):
            ways: list[list[Step]] = []
            for start in range(end):
                for step, _ in self.steps(word, start):
                    if step[2] == end:
                        ways.extend([*before, step] for before in endings[start])
            endings.append(ways)
        return endings[len(word)]

    def score(self, path: list[Step]) -> float:
        """The logarithm of a path's probability.

        >>> model = Unigram({"a": -2.0, "ab": -3.0})
        >>> model.score(model.best("aba"))
        -5.0
        """
        total = 0.0
        for text, _, _ in path:
            total += self.unknown_score if text is None else self._among_ways[text]
        return total

    def n_best(self, word: str, n: int) -> list[tuple[float, list[Step]]]:
        """The n best paths with their scores, best first: in 32 bits by `agenda`.

        In 64 bits it takes time exponential in the word's length.

        >>> model = Unigram({"a": -2.0, "aa": -3.0})
        >>> [(score, len(path)) for score, path in model.n_best("aaa", 2)]
        [(-5.0, 2), (-5.0, 2)]
        """

        def key(path: list[Step]) -> tuple[float, list[int]]:
            return -self.score(path), [start for _, start, _ in reversed(path)]

        if self.precision == "single":
            ends = self._ends(word)
            starts = [[(step[1], score) for step, score in steps] for steps in ends]
            step_of = {step[1:]: step for steps in ends for step, _ in steps}
            return [
                (score, [step_of[border] for border in pairwise((*path, len(word)))])
                for score, path in n_best(starts, n)
            ]
        paths = sorted(self.all_paths(word), key=key)[:n]
        return [(self.score(path), path) for path in paths]

    def probabilities(self, word: str, alpha: float = 1.0) -> list[tuple[list[Step], float]]:
        """Every path with the probability that `sample` draws it.

        >>> [round(p, 3) for _, p in Unigram({"a": -2.0, "aa": -3.0}).probabilities("aa")]
        [0.731, 0.269]
        """
        paths = self.all_paths(word)
        scores = [alpha * self.score(path) for path in paths]
        most = max(scores)
        total = math.fsum(math.exp(score - most) for score in scores)
        return [(p, math.exp(s - most) / total) for p, s in zip(paths, scores, strict=True)]

    def entropy(self, word: str, alpha: float = 1.0) -> float:
        """The entropy of the segmentations, in nats. Takes time exponential in the word's length.

        >>> round(Unigram({"a": -2.0, "aa": -3.0}).entropy("aa"), 3)
        0.582
        """
        return math.fsum(-p * math.log(p) for _, p in self.probabilities(word, alpha) if p > 0.0)

    def forward(self, word: str, alpha: float = 1.0) -> list[float]:
        """For every border, the logarithm of the summed probabilities of all ways to come there.

        >>> [round(f, 3) for f in Unigram({"a": -2.0, "aa": -3.0}).forward("aa")]
        [0.0, -2.0, -2.687]
        """
        ends = self._ends(word)
        sums = [0.0]
        for end in range(1, len(word) + 1):
            terms = [sums[start] + alpha * score for (_, start, _), score in ends[end]]
            most = max(terms)
            sums.append(most + math.log(sum(math.exp(term - most) for term in terms)))
        return sums

    def marginal(self, word: str) -> float:
        """The logarithm of the word's probability: that of all its segmentations together."""
        return self.forward(word)[-1]

    def sample(self, word: str, alpha: float, stream: SplitMix64) -> list[Step]:
        """A path drawn with a probability in proportion to its own to the power of ``alpha``.

        Forward filtering, backward sampling: from the end of the word, one number for each piece; the
        pieces that may end there are looked at from the earliest start on.

        >>> model = Unigram({"a": -2.0, "aa": -3.0})
        >>> [len(model.sample("aaa", 1.0, SplitMix64(seed))) for seed in range(6)]
        [2, 3, 3, 2, 3, 2]
        """
        sums, ends = self.forward(word, alpha), self._ends(word)
        path: list[Step] = []
        end = len(word)
        while end > 0:
            drawn = stream.next_float()
            below = 0.0
            for step, score in ends[end]:
                below += math.exp(sums[step[1]] + alpha * score - sums[end])
                if drawn < below:
                    break
            path.append(step)
            end = step[1]
        return path[::-1]

    def _ends(self, word: str) -> list[list[tuple[Step, float]]]:
        """The steps that end at every border, the earliest start first."""
        ends: list[list[tuple[Step, float]]] = [[] for _ in range(len(word) + 1)]
        for start in range(len(word)):
            for step, score in self.steps(word, start):
                score = score if step[0] is None else self._among_ways[step[0]]
                ends[step[2]].append((step, score))
        return ends

    # --- as tokens

    def tokens(self, word: str) -> list[str]:
        """The tokens of the best path."""
        return self.written(word, self.best(word))

    def written(self, word: str, path: list[Step]) -> list[str]:
        """A path as tokens, unknown characters written by the rule.

        >>> Unigram({"a": -1.0}, unk="?", fuse_unknown=True).tokens("axyaz")
        ['a', '?', 'a', '?']
        """
        tokens: list[str] = []
        in_run = False
        for text, start, end in path:
            character = word[start:end]
            if text is not None:
                tokens.append(text)
            elif self.byte_fallback:
                tokens.extend(f"<0x{byte:02X}>" for byte in character.encode())
            elif not (in_run and self.fuse_unknown):
                tokens.append(character if self.unk is None else self.unk)
            elif self.unk is None:
                tokens[-1] += character
            in_run = text is None
        return tokens


def _single(number: float) -> float:
    """The nearest number of 32 bits."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])
