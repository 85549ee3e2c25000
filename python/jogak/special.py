"""What special tokens in a text are to be, as callers say it: a policy, sets of tokens, trusted parts.

Rule: turns what callers say into what the core takes; finds nothing itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, TypeAlias, get_args

from jogak.errors import ConfigError
from jogak.spec import AddedTable, PieceTable, Spec, SpecialPolicy
from jogak.spec.record import dataclass

__all__ = [
    "POLICIES",
    "Allowed",
    "Disallowed",
    "Text",
    "Trusted",
    "all_parts",
    "chosen",
    "parts",
    "plain_tokens",
    "policy",
]

#: All that a policy can be.
POLICIES: tuple[str, ...] = get_args(SpecialPolicy)

#: tiktoken's sets: all special tokens, or these.
Allowed: TypeAlias = Literal["all"] | AbstractSet[str]
Disallowed: TypeAlias = Literal["all"] | Collection[str]


@dataclass(frozen=True)
class Trusted:
    """A part of a text that may hold special tokens, because you wrote it.

    In a list of parts, plain strings are untrusted: no special token is found in them, none begins or
    ends in them, and none next to them is broken up. The ids are those of the joined text otherwise,
    so that words go on across borders.

    Args:
        text: the part.

    >>> import jogak
    >>> tok = jogak.train({"hi": 5}, jogak.BPE(num_merges=1), special_tokens=["<user>"])
    >>> question = "hi <user>"
    >>> tok.tokens([jogak.Trusted("<user>"), question])[:4]
    ['<user>', 'hi', 'Ġ', '<']
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise ConfigError(f"Trusted takes a text; found {self.text!r}")


#: A text, or its parts.
Text: TypeAlias = str | Trusted | Sequence[str | Trusted]


def parts(text: Text) -> str | list[tuple[str, bool]]:
    """The text, or its parts and whether each is trusted, as the core takes them.

    Raises:
        ConfigError: neither a text nor a list of parts with a trusted one among them.

    >>> parts([Trusted("<s>"), "hi"])
    [('<s>', True), ('hi', False)]
    """
    if isinstance(text, str):
        return text
    if isinstance(text, Trusted):
        return [(text.text, True)]
    expected = "expected a text, or a list of its parts: texts and jogak.Trusted texts"
    if isinstance(text, bytes) or not isinstance(text, Sequence):
        raise ConfigError(f"the text is {text!r:.200}; {expected}")
    found = []
    for part in text:
        if isinstance(part, Trusted):
            found.append((part.text, True))
        elif isinstance(part, str):
            found.append((part, False))
        else:
            raise ConfigError(f"a part of the text is {part!r:.200}; {expected}")
    if not any(trusted for _, trusted in found):
        raise ConfigError(
            "a list is one text in parts, and none of these is trusted; for several texts call "
            'encode_batch, for one pass "".join(parts), or mark a part with jogak.Trusted'
        )
    return found


def all_parts(
    texts: Iterable[Text],
) -> tuple[tuple[str | list[tuple[str, bool]], ...], bool]:
    """`parts` of many texts, and whether one of them has parts.

    Raises:
        ConfigError: as `parts`.

    >>> all_parts(iter(["hi", [Trusted("<s>"), "hi"]]))
    (('hi', [('<s>', True), ('hi', False)]), True)
    """
    listed = tuple(parts(text) for text in texts)
    return listed, any(not isinstance(text, str) for text in listed)


def policy(
    default: SpecialPolicy,
    special: SpecialPolicy | None,
    allowed: Allowed | None,
    disallowed: Disallowed | None,
    mixed: bool,
) -> SpecialPolicy | None:
    """The policy of a call; None where the sets decide.

    Args:
        default: the tokenizer's own.
        special: what the call says.
        allowed, disallowed: tiktoken's sets; if either is given they say it all.
        mixed: the text comes in parts.

    Raises:
        ConfigError: the sets with ``special`` or with parts.

    >>> policy("parse", None, None, None, mixed=False)
    'parse'
    """
    if allowed is None and disallowed is None:
        if special is None:
            return default
        if special not in POLICIES:
            raise ConfigError(f"special is {special!r}; expected 'text', 'parse' or 'error'")
        return special
    if special is not None:
        raise ConfigError(
            f"special={special!r} says what to do with all special tokens, and allowed_special and "
            "disallowed_special say it for each; pass one or the other"
        )
    if mixed:
        raise ConfigError(
            "allowed_special and disallowed_special are for a text that is trusted or not as a whole; "
            "with jogak.Trusted parts leave them out"
        )
    return None


def chosen(
    special_tokens: Mapping[str, int], allowed: Allowed | None, disallowed: Disallowed | None
) -> tuple[frozenset[str], frozenset[str]]:
    """The texts that are parsed, and those that are refused, as tiktoken reads its two sets: what is not
    given is ``set()`` and ``"all"``; ``disallowed_special="all"`` means all that are not allowed.

    Raises:
        ConfigError: a set that is none.

    >>> tokens = {"<a>": 0, "<b>": 1}
    >>> chosen(tokens, {"<a>"}, None) == ({"<a>"}, {"<b>"})
    True
    """
    for name, given in (("allowed_special", allowed), ("disallowed_special", disallowed)):
        texts = given is None or (isinstance(given, Collection) and not isinstance(given, str))
        if given != "all" and not (texts and all(isinstance(text, str) for text in given or ())):
            raise ConfigError(f"{name} is {given!r:.200}; expected 'all' or a set of texts")
    everything = frozenset(special_tokens)
    taken = everything if allowed == "all" else frozenset(allowed or ())
    if disallowed is None or disallowed == "all":
        return taken & everything, everything - taken
    return taken & everything, frozenset(disallowed)


def plain_tokens(spec: Spec) -> tuple[Any, dict[str, int]]:
    """The tokens that are found in texts by rules, and the special ones, as the core takes them."""
    special = dict(spec.special_tokens)
    added = spec.at_hand("added_tokens")
    if isinstance(added, AddedTable):
        return added, special
    table = spec.model.table
    ids: Mapping[str, int] = {}
    if isinstance(table, PieceTable):
        # Each text has an id: specs are checked when they are made.
        ids = {token.text: table.find(token.text) or 0 for token in added}
    elif added:
        ids = {text: id_ for id_, text in enumerate(table) if text is not None}
    plain = [
        (
            token.text,
            ids[token.text],
            (token.single_word, token.lstrip, token.rstrip, token.normalized, token.ascii_spaces),
            token.in_model,
        )
        for token in added
    ]
    return plain, special
