"""What a caller says of one call -> what the core takes.

Rule: an impossible value is told here, by name, with what was expected; nothing is done to a text.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from jogak.errors import ConfigError
from jogak.spec import BPEModel, Strategy

if TYPE_CHECKING:
    from jogak.spec import Model

__all__ = ["draw", "limit", "no_probabilities", "way"]


def way(model: Model, strategy: Strategy | None) -> str:
    """How texts are cut, by name: a strategy of BPE, else the family."""
    return (strategy or model.strategy) if isinstance(model, BPEModel) else model.family


def draw(
    model: Model,
    dropout: float | None = None,
    alpha: float | None = None,
    seed: int | None = None,
    strategy: Strategy | None = None,
) -> tuple[str, float, int] | None:
    """What is drawn at random, as the core takes it."""
    if dropout is None:
        own = isinstance(model, BPEModel) and way(model, strategy) == "merges"
        dropout = model.dropout if own and isinstance(model, BPEModel) else 0.0
    if not 0.0 <= dropout <= 1.0:
        raise ConfigError(f"dropout is {dropout!r}; expected a probability from 0 to 1")
    if strategy is not None and not isinstance(model, BPEModel):
        raise ConfigError(
            f"strategy is {strategy!r}, but a {model.family} model knows only its own; leave it out"
        )
    if alpha is not None:
        if model.family != "unigram":
            raise ConfigError(
                f"alpha draws by probabilities, and a {model.family} model has none; with BPE pass "
                "dropout=0.1 instead"
            )
        if not 0.0 <= alpha <= 1e6:
            raise ConfigError(f"alpha is {alpha!r}; expected a number from 0 to 1,000,000")
    if dropout == 0.0 and alpha is None:
        return None
    if dropout != 0.0 and (name := way(model, strategy)) != "merges":
        raise ConfigError(
            f"dropout skips merges, and {name!r} makes none; pass strategy='merges' with BPE, "
            "alpha=... with Unigram, or leave dropout out"
        )
    if seed is None:
        seed = int.from_bytes(os.urandom(8), "little")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 64:
        raise ConfigError(f"seed is {seed!r}; expected a number from 0 to 2**64 - 1, or None")
    return ("dropout", dropout, seed) if alpha is None else ("alpha", alpha, seed)


def limit(what: str, n: int, least: int) -> int:
    """A number of tokens or bytes, as the core takes it."""
    if isinstance(n, bool) or not isinstance(n, int) or n < least:
        raise ConfigError(f"{what} is {n!r}; expected a whole number, at least {least}")
    return min(n, (1 << 63) - 1)


def no_probabilities(model: Model, what: str) -> ConfigError:
    """The error for a call that asks for probabilities."""
    return ConfigError(
        f"{what} asks for probabilities, and a {model.family} model has none; it takes a "
        "Unigram tokenizer"
    )
