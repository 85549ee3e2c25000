"""A compiled spec, and what a call says of its texts, as the core takes it.

Rule: does nothing to a text itself; who encodes and who decodes stand on it.
"""

from __future__ import annotations

from jogak import _core
from jogak.spec import Spec, SpecialPolicy, Strategy
from jogak.special import Allowed, Disallowed, Text, chosen, parts, plain_tokens, policy
from jogak.tokenizer.calls import draw

__all__ = ["Compiled"]


class Compiled:
    """A spec, and the core that runs it."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        #: The policy of calls that say nothing, where nothing is drawn at random.
        self._plain = spec.special_policy if draw(spec.model) is None else None
        self._chosen: dict[tuple[frozenset[str], frozenset[str]], _core.Chosen] = {}
        #: What goes around the ids of texts, as calls asked for it.
        self._forms: dict[object, _core.Form] = {}
        self._core = _core.Tokenizer(
            spec.model.to_core(),
            [stage.to_dict() for stage in spec.pretokenizer],
            *plain_tokens(spec),
            [stage.to_core() for stage in spec.normalizer],
            None if spec.decoder is None else [stage.to_core() for stage in spec.decoder],
        )

    # --- what a call says

    def _read(
        self,
        text: Text,
        special: SpecialPolicy | None,
        allowed: Allowed | None,
        disallowed: Disallowed | None,
    ) -> tuple[str | list[tuple[str, bool]], SpecialPolicy | _core.Chosen]:
        """A text, and what its special tokens are to be, as the core takes them."""
        plain = parts(text)
        mixed = not isinstance(plain, str)
        return plain, self._policy(special, allowed, disallowed, mixed)

    def _policy(
        self,
        special: SpecialPolicy | None,
        allowed: Allowed | None = None,
        disallowed: Disallowed | None = None,
        mixed: bool = False,
    ) -> SpecialPolicy | _core.Chosen:
        """What special tokens are to be, as the core takes it."""
        own = self._spec.special_policy
        if (said := policy(own, special, allowed, disallowed, mixed)) is not None:
            return said
        sets = chosen(self._spec.special_tokens, allowed, disallowed)
        if (known := self._chosen.get(sets)) is not None:
            return known
        if len(self._chosen) >= 16:  # Callers come back with the same few sets.
            self._chosen.clear()
        return self._chosen.setdefault(sets, self._core.choose(*map(sorted, sets)))

    def _draw(
        self,
        dropout: float | None,
        alpha: float | None,
        seed: int | None,
        strategy: Strategy | None,
    ) -> tuple[str, float, int] | None:
        """What is drawn at random, as the core takes it."""
        return draw(self._spec.model, dropout, alpha, seed, strategy)
