"""Normalizers and pre-tokenizers by themselves: see what one does, and compile rules.

Rule: what runs in a tokenizer runs here; nothing is decided.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from jogak import _core
from jogak.errors import ConfigError, FormatError
from jogak.spec import (
    Charsmap,
    Normalizer,
    NormalizerLike,
    PretokenizerLike,
    RuleSet,
    resolve_normalizer,
    resolve_pretokenizer,
)

__all__ = ["Normalized", "compile_rules", "normalize", "pretokenize", "read_rules", "rules_of"]


@dataclass(frozen=True)
class Normalized:
    """A normalized text, and where each of its characters came from.

    Attributes:
        text: the new text.
        spans: for each character of it, the characters of the original that it stands for, as (start,
            end). Starts and ends never fall. A character that was put in has an empty span.
    """

    text: str
    spans: tuple[tuple[int, int], ...]


def normalize(text: str, normalizer: NormalizerLike | None) -> Normalized:
    """A text as a normalizer rewrites it. Cost: linear in the text.

    Args:
        text: any text, taken as a whole document.
        normalizer: a name, an object or a list of them; see `resolve_normalizer`.

    Raises:
        ConfigError: no such normalizer, or a pattern that is none.
        FormatError: a charsmap that is none.
        EncodeError: a regular expression that gave up.

    >>> normalize("①ﬁ", "nfkc")
    Normalized(text='1fi', spans=((0, 1), (1, 2), (1, 2)))
    """
    new, spans = _compiled(resolve_normalizer(normalizer)).run(text)
    return Normalized(new, tuple(spans))


@lru_cache(maxsize=8)
def _compiled(stages: tuple[Normalizer, ...]) -> _core.Normalizer:
    """Compiling a large charsmap takes longer than many texts."""
    return _core.Normalizer([stage.to_core() for stage in stages])


def pretokenize(
    text: str, pretokenizer: PretokenizerLike, normalizer: NormalizerLike | None = None
) -> list[tuple[str, tuple[int, int]]]:
    """The words of a text, as a model sees them. Cost: linear in the text.

    Args:
        text: any text, taken as a whole document.
        pretokenizer: a name, an object or a list of them; see `resolve_pretokenizer`.
        normalizer: what rewrites the text before.

    Returns:
        For each word its text, and (start, end): the characters of the original that it stands for.

    Raises:
        ConfigError: no such pre-tokenizer, or a pattern that is none.
        FormatError: a charsmap that is none.
        EncodeError: a regular expression that gave up.

    >>> pretokenize("Room 42", ["whitespace", "metaspace", "digits"])
    [('▁Room', (0, 4)), ('4', (5, 6)), ('2', (6, 7))]
    """
    schemes = [stage.to_dict() for stage in resolve_pretokenizer(pretokenizer)]
    rules = [stage.to_core() for stage in resolve_normalizer(normalizer)]
    return _core.pretokenize(text, schemes, rules)


def compile_rules(rules: Mapping[str, str] | Iterable[tuple[str, str]] | RuleSet) -> Charsmap:
    """Rules -> a charsmap in SentencePiece's format.

    Args:
        rules: what is replaced -> its replacement (empty to drop it); or a `RuleSet`, to have its
            rules in a ``.model`` file.

    Raises:
        ConfigError: an empty key, U+0000, or a text of more than 256 bytes.

    >>> normalize("colour", compile_rules({"ou": "o"})).text
    'color'
    """
    if isinstance(rules, RuleSet):
        return Charsmap(_core.named_charsmap(rules.name))
    pairs = list(rules.items() if isinstance(rules, Mapping) else rules)
    return Charsmap(_core.compile_charsmap(pairs))


def read_rules(path: str | os.PathLike[str]) -> dict[str, str]:
    """The rules of a file as SentencePiece's ``normalization_rule_tsv`` has them.

    Each line has numbers of characters in hexadecimal, with spaces between them, a tab, and those of
    the replacement: ``41 302 300<tab>1EA6``.

    Raises:
        FormatError: a line that is no rule, with its number.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            return dict(_core.parse_rule_tsv(file.read()))
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: {error}", file=str(name)) from None
    except FormatError as error:
        raise FormatError(f"{name}: {error}", file=str(name), place=error.place) from None


def rules_of(charsmap: Charsmap, *, limit: int = 1_000_000) -> dict[str, str]:
    """The way back from `compile_rules`.

    Args:
        charsmap: the compiled rules.
        limit: so many rules at most. SentencePiece's sets have 230,000; a small file that was made to
            do harm can have any number.

    Raises:
        FormatError: the bytes are no charsmap.
        ConfigError: it has more rules than that.

    >>> rules_of(compile_rules({"b": "", "a": "A"}))
    {'a': 'A', 'b': ''}
    """
    rules = _core.charsmap_rules(charsmap.data, limit)
    if rules is None:
        raise ConfigError(
            f"the charsmap has more than {limit:,} rules; if it is to be trusted, say limit=..."
        )
    return dict(rules)
