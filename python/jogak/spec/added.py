"""Tokens that are found in texts before anything is cut, and what to do with special ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from jogak.errors import ConfigError
from jogak.spec.checks import flag, made
from jogak.spec.record import dataclass, fields

__all__ = ["AddedTable", "AddedToken", "SpecialPolicy"]

_FLAGS = (bool,) * 6


class AddedTable(ABC):
    """Added tokens by their ids, each text once: what `jogak._core.AddedTokens` is.

    Whoever gives one to a `Spec` has seen to it that all texts are pieces.
    """

    @abstractmethod
    def __len__(self) -> int:
        """How many tokens there are."""

    @abstractmethod
    def tokens(self) -> list[tuple[str, list[bool], bool]]:
        """Text, flags, and whether the model knows the text, as `AddedToken.checked` takes them."""


#: What to do with the texts of special tokens: read them as text, make them tokens, refuse them.
SpecialPolicy: TypeAlias = Literal["text", "parse", "error"]


@dataclass(frozen=True)
class AddedToken:
    """A token that is looked for in texts before they are cut, and the rules of looking.

    It is for one of ``special_tokens`` that wants other rules than "wherever it stands", or for a token
    that is found in every text, whatever the policy: a user-defined symbol, an added word. Of tokens
    that overlap, the one that begins first is taken, and of those the longest; only then its rules are
    asked, and what they forbid is passed over as a whole. All of this is as HF tokenizers does it.

    Args:
        text: the text of the token, as it stands among the model's pieces.
        single_word: only where no letter, digit, mark or underscore stands right before or behind it.
        lstrip: white space before it belongs to it.
        rstrip: white space behind it belongs to it.
        normalized: look for it (normalized itself) in the normalized text, rather than in the text as it
            comes. Those that are looked for in the text as it comes are found first. Of tokens whose
            normalized texts are equal the first is found. A chain of decoders writes it normalized.
        in_model: the model knows the piece too, and may make it of text that is not found by the rules.
        ascii_spaces: only ASCII characters are white space for ``lstrip`` and ``rstrip``: U+0020, and
            U+0009 to U+000D. llama.cpp's rule.

    >>> AddedToken("<mask>", lstrip=True).to_dict()["lstrip"]
    True
    """

    text: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    in_model: bool = False
    ascii_spaces: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text:
            raise ConfigError(
                f"AddedToken.text is {self.text!r}; expected a text that is not empty"
            )
        # Written out, since there may be 400,000 of them.
        kinds = (type(self.single_word), type(self.lstrip), type(self.rstrip))
        others = (type(self.normalized), type(self.in_model), type(self.ascii_spaces))
        if kinds + others != _FLAGS:
            for field in fields(self)[1:]:
                flag(f"AddedToken.{field.name}", getattr(self, field.name))

    @classmethod
    def checked(cls, text: str, flags: Sequence[bool], in_model: bool) -> AddedToken:
        """A token whose options were looked at before, made in a third of the time.

        Args:
            text: a text that is not empty.
            flags: ``single_word``, ``lstrip``, ``rstrip``, ``normalized``.
            in_model: as in the class.
        """
        token = cls.__new__(cls)
        single_word, lstrip, rstrip, normalized = flags
        # Nothing is set one by one, since nothing may be.
        token.__dict__.update(
            text=text,
            single_word=single_word,
            lstrip=lstrip,
            rstrip=rstrip,
            normalized=normalized,
            in_model=in_model,
            ascii_spaces=False,
        )
        return token

    def to_dict(self) -> dict[str, Any]:
        """The token as plain data, as files hold it."""
        return dict(self.__dict__)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AddedToken:
        """The way back from `to_dict`.

        Raises:
            ConfigError: an unknown or missing option, or an impossible value.
        """
        return made("AddedToken", cls, data)
