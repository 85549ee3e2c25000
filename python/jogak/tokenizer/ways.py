"""All ways to cut a text, and how likely they are. Unigram models know that.

Rule: composes the core, and hands on what it found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jogak.errors import ConfigError
from jogak.spec import SpecialPolicy
from jogak.tokenizer.calls import no_probabilities
from jogak.tokenizer.compiled import Compiled

if TYPE_CHECKING:
    from jogak.tokenizer.likelihoods import Score, Segmentation

__all__ = ["Ways"]


class Ways(Compiled):
    """What a text could have become."""

    def nbest(
        self, text: str, n: int, *, special: SpecialPolicy | None = None
    ) -> list[Segmentation]:
        """The ``n`` most likely ways to cut a text, the best one first; fewer if there are no more.

        A loaded SentencePiece model gives SentencePiece's lists, scores and order, even where it finds
        fewer ways than there are. Others add in 64 bits, so ways that are as good as equal may come
        in another order than `encode` decides between them. Memory: 16 bytes for each of the ways at
        each character.

        Args:
            text: any text.
            n: how many, at least 1.
            special: as in `encode`.

        Raises:
            ConfigError: not a Unigram tokenizer, or an impossible ``n``.
            EncodeError, SpecialTokenError: as in `encode`.

        >>> import jogak
        >>> from jogak.spec import Spec, UnigramModel, resolve_pretokenizer
        >>> model = UnigramModel(pieces=("a", "b", "ab"), scores=(-2.0, -3.0, -4.0))
        >>> tok = jogak.Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))
        >>> tok.nbest("ab", 2)
        [Segmentation(score=-4.0, ids=[2]), Segmentation(score=-5.0, ids=[0, 1])]
        """
        from jogak.tokenizer.likelihoods import Segmentation

        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n < 1 << 31:
            raise ConfigError(f"n is {n!r}; expected a whole number, at least 1")
        ways = self._core.n_best(text, n, self._policy(special))
        if ways is None:
            raise no_probabilities(self._spec.model, "nbest")
        return [Segmentation(score, ids) for score, ids in ways]

    def score(
        self,
        text: str,
        ids: Sequence[int] | None = None,
        *,
        alpha: float = 1.0,
        special: SpecialPolicy | None = None,
    ) -> Score:
        """How likely a text is, and one way to cut it.

        Args:
            text: any text.
            ids: the way to cut it, as `encode` or `nbest` gave it; None for the best one.
            alpha: for the entropy: ways are drawn as ``encode(text, alpha=...)`` draws them.
            special: as in `encode`; special tokens count as certain.

        Returns:
            Natural logarithms: of the probability of the way, of the text (all ways together), and the
            entropy of the ways in nats. Unknown characters count with the lowest score less 10.

        Raises:
            EncodeError: ``ids`` are none of the ways to cut the text.
            ConfigError: not a Unigram tokenizer, or an impossible ``alpha``.

        >>> import jogak
        >>> from jogak.spec import Spec, UnigramModel, resolve_pretokenizer
        >>> model = UnigramModel(pieces=("a", "b", "ab"), scores=(-2.0, -3.0, -4.0))
        >>> tok = jogak.Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))
        >>> tok.score("ab", [0, 1]).way
        -5.0
        """
        from jogak.tokenizer.likelihoods import Score

        if isinstance(alpha, bool) or not 0.0 <= alpha <= 1e6:
            raise ConfigError(f"alpha is {alpha!r}; expected a number from 0 to 1,000,000")
        if self._spec.model.family != "unigram":
            raise no_probabilities(self._spec.model, "score")
        how = self._policy(special)
        way = self._core.encode(text, how) if ids is None else [int(id_) for id_ in ids]
        found = self._core.likelihood(text, way, alpha, how)
        assert found is not None
        return Score(*found)
