"""Glossaries: subword-nmt's regular expressions of what stays whole, as expressions of the core.

subword-nmt hands them to Python's ``re``, and cuts words with three expressions made of each. What both
engines say alike is translated here, piece by piece; classes (``\\d``, ``\\w``, ``\\s``) become the very
characters that ``re`` takes. Everything else is refused by name.

Rule: an expression means here what it means there, or it is an error.

Source: https://github.com/rsennrich/subword-nmt, ``apply_bpe.py``, release 0.3.8: ``isolate_glossary``
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from sys import maxunicode

from jogak.errors import ConfigError, UnsupportedFeature

__all__ = ["check_glossary", "glossaries_to_core", "glossary_text"]

_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}
# Compiled when they are used: most programs never do, and `re` keeps what it has compiled.
_BRACES = r"\{([0-9]*)(,?)([0-9]*)\}"
_CODE = r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"


def check_glossary(glossary: object) -> None:
    """A glossary that can be carried over.

    Raises:
        ConfigError: no text, or no regular expression.
        UnsupportedFeature: what both engines do not say alike, with its place.

    >>> check_glossary(r"<[a-z]+>"), check_glossary(r"(?:USA|UK)\\d*")
    (None, None)
    >>> check_glossary("(a|b)c")
    Traceback (most recent call last):
    jogak.errors.UnsupportedFeature: the glossary '(a|b)c' has a group that captures, or a flag ...
    """
    if not isinstance(glossary, str):
        raise ConfigError(f"a glossary is {glossary!r:.80}; expected the text of an expression")
    _translated(glossary)


def glossary_text(glossary: str) -> str | None:
    """The text that a glossary matches, if there is just one.

    >>> glossary_text("USA"), glossary_text(r"U\\.S"), glossary_text("[0-9]+")
    ('USA', 'U.S', None)
    """
    return _translated(glossary)[1]


def glossaries_to_core(glossaries: tuple[str, ...]) -> dict[str, object]:
    """What the core is told: for each what finds it, and what matches all of it; the latter for all."""
    parts = [_translated(glossary)[0] for glossary in glossaries]
    # Put together as subword-nmt does, so that ``a|b`` is here, too, what begins with a or is b.
    return {
        "glossaries": [(part, rf"\A{part}\n?\z") for part in parts],
        "whole": rf"\A(?:{'|'.join(parts)})\n?\z",
    }


@lru_cache(maxsize=1024)
def _translated(glossary: str) -> tuple[str, str | None]:
    """The expression for the core, and the one text that it matches, if there is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(glossary)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise ConfigError(
            f"the glossary {glossary!r:.80} is no regular expression: {error}; re.escape makes one of "
            "any text"
        ) from None
    reader = _Reader(glossary)
    expression = reader.expression()
    if compiled.fullmatch(""):
        raise reader.refused("matches the empty text", "write + for *, and {1,n} for {0,n}")
    return expression, "".join(reader.text) if reader.is_text else None


class _Reader:
    """Reads an expression that ``re`` has taken, and writes it for the core."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.text: list[str] = []
        self.is_text = True

    def refused(self, what: str, remedy: str) -> UnsupportedFeature:
        return UnsupportedFeature(
            f"the glossary {self.source!r:.80} {what} (character {self.at}), which cannot be carried "
            f"over exactly; {remedy}, or use jogak.compat.subword_nmt"
        )

    def expression(self) -> str:
        parts = []
        while self.at < len(self.source):
            parts.append(self._item())
        return "".join(parts)

    def _item(self) -> str:
        character = self.source[self.at]
        if character == "\\":
            return self._escape()
        if character == "[":
            return self._class()
        if character in "^$":
            raise self.refused(f"has the anchor {character!r}", "leave it out")
        if character == "(":
            if not self.source.startswith("(?:", self.at):
                raise self.refused("has a group that captures, or a flag", "write (?:...)")
            return self._other("(?:")
        if character in ")|":
            return self._other(character)
        if character in "*+?":
            return self._repeated(character)
        if character == "{" and (braces := re.compile(_BRACES).match(self.source, self.at)):
            least, comma, most = braces.groups()
            if least or comma:
                written = f"{{{least or 0},{most}}}" if comma else f"{{{least}}}"
                return self._repeated(braces[0], written)
        if character == ".":
            self._other(character)
            return r"[^\n]"
        self.at += 1
        return self._literal(character)

    def _other(self, taken: str) -> str:
        self.is_text = False
        self.at += len(taken)
        return taken

    def _repeated(self, taken: str, written: str | None = None) -> str:
        self._other(taken)
        following = self.source[self.at : self.at + 1]
        if following == "+":
            raise self.refused("has a repetition that gives nothing back", "leave the + out")
        if following == "?":
            self.at += 1
        return (taken if written is None else written) + ("?" if following == "?" else "")

    def _literal(self, character: str) -> str:
        self.text.append(character)
        return self._code(character)

    def _code(self, character: str) -> str:
        if "\ud800" <= character <= "\udfff":
            raise self.refused("has a lone surrogate", "take it out")
        return f"\\x{{{ord(character):X}}}"

    def _escape(self) -> str:
        category = self.source[self.at + 1]
        if category in "dDsSwW":
            self._other(f"\\{category}")
            return f"[{'^' if category.isupper() else ''}{_members(category.lower())}]"
        return self._literal(self._escaped())

    def _escaped(self) -> str:
        """The character that an escape stands for."""
        following = self.source[self.at + 1]
        if code := re.compile(_CODE).match(self.source, self.at + 1):
            self.at = code.end()
            return chr(int(code[code.lastindex or 0], 16))
        if following not in _CONTROLS and following.isascii() and following.isalnum():
            raise self.refused(f"has \\{following}", "write the characters themselves")
        self.at += 2
        return _CONTROLS.get(following, following)

    def _class(self) -> str:
        self._other("[")
        parts = ["["]
        if self.source[self.at] == "^":
            self._other("^")
            parts.append("^")
        first = True
        while first or self.source[self.at] != "]":
            first = False
            parts.append(self._member())
            is_range = self.source[self.at] == "-" and self.source[self.at + 1] != "]"
            if is_range and parts[-1].count("\\x") == 1:
                self.at += 1
                parts.append(f"-{self._member()}")
        self.at += 1
        return "".join([*parts, "]"])

    def _member(self) -> str:
        character = self.source[self.at]
        if character != "\\":
            self.at += 1
            return self._code(character)
        category = self.source[self.at + 1]
        if category in "dsw":
            self.at += 2
            return _members(category)
        if category in "DSW":
            raise self.refused(f"has \\{category} in a class", "list the characters")
        if category == "b":
            self.at += 2
            return self._code("\b")
        return self._code(self._escaped())


@lru_cache(maxsize=3)
def _members(category: str) -> str:
    """What ``re`` takes for a digit, a space, a part of a word: as ranges."""
    everything = "".join(map(chr, range(maxunicode + 1)))
    return "".join(
        f"\\x{{{found.start():X}}}-\\x{{{found.end() - 1:X}}}"
        for found in re.finditer(rf"\{category}+", everything)
    )
