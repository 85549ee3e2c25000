"""A whole text: cut it into words, turn each word into tokens, write the tokens as ids.

Rule: this file composes and decides nothing. Words never see each other, save that dropout draws
its numbers from one stream per text, word after word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .encode import encode_word, encode_word_dropout
from .longest import longest_first, longest_match
from .model import Model
from .pretokenize import pretokenize
from .random import SplitMix64


def tokens(
    text: str,
    model: Model,
    pretokenizer: str | Sequence[str] | Callable[[str], Iterable[str]] = "none",
    *,
    strategy: str = "merges",
    dropout: float = 0.0,
    seed: int = 0,
) -> list[str]:
    """The pieces of a text, unknown characters by the model's rule.

    Args:
        text: any text.
        model: pieces and merges.
        pretokenizer: what `pretokenize` takes, or a function from a text to its words.
        strategy: "merges", "longest-match" or "longest-first".
        dropout: probability that a merge is dropped; `merges` only.
        seed: where the numbers of dropout start.

    >>> model = Model(("a", "b", "ab"), (("a", "b"),))
    >>> tokens("ab ba", model, "whitespace")
    ['ab', 'b', 'a']
    """
    words = pretokenizer(text) if callable(pretokenizer) else pretokenize(text, pretokenizer)
    if dropout > 0.0 and strategy != "merges":
        raise ValueError(f"dropout needs the strategy 'merges', not {strategy!r}")
    stream = SplitMix64(seed)
    result: list[str] = []
    for word in words:
        if strategy == "longest-match":
            result += longest_match(model, word)
        elif strategy == "longest-first":
            result += longest_first(model, word)
        elif strategy != "merges":
            raise ValueError(
                f"strategy {strategy!r} is not one of merges, longest-match, longest-first"
            )
        elif dropout > 0.0:
            result += encode_word_dropout(model, word, dropout, stream)
        else:
            result += encode_word(model, word).tokens
    return result


def encode(
    text: str,
    model: Model,
    pretokenizer: str | Sequence[str] | Callable[[str], Iterable[str]] = "none",
    *,
    strategy: str = "merges",
    dropout: float = 0.0,
    seed: int = 0,
) -> list[int]:
    """The ids of a text; the arguments are those of `tokens`.

    Raises:
        ValueError: for an unknown character, if the model has neither byte fallback nor an unknown
            token.

    >>> encode("ab ba", Model(("a", "b", "ab"), (("a", "b"),)), "whitespace")
    [2, 1, 0]
    """
    ids = []
    for token in tokens(text, model, pretokenizer, strategy=strategy, dropout=dropout, seed=seed):
        if token not in model.ids:
            raise ValueError(f"{token!r} is no piece, and the model has no unknown token")
        ids.append(model.ids[token])
    return ids
