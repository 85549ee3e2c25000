r"""Regular expressions for Oniguruma (HF tokenizers), written anew for fancy-regex (jogak, tiktoken).

Rule: the new expression has the same matches on every text, or there is none: what has no equal here,
or was not looked into, is refused by name. Both engines stand at Unicode 16.0, so ``\p{...}`` are the
same.
What differs, for Oniguruma 6.9 in its Ruby syntax, as tests see it:

    ^  $  \Z       ends of lines, always; ^ is no place behind the last line end
    \w  \W  \b     ² ³ ¹ ¼ ½ ¾ are of a word outside brackets; joiners (U+200C, U+200D) never are
    \h             a hexadecimal digit
    [[:alpha:]]    Unicode classes
    {n,m}+  {n}?   once more repeated, not possessive or reluctant
    (?m:...)       a dot is every character
    a(?i)b|c       a(?i:b|c)
    --  ~~         characters, within brackets
"""

from __future__ import annotations

import re

from jogak.errors import UnsupportedFeature

__all__ = ["from_oniguruma"]

_IN_BRACKETS = r"\w--[\x{200C}\x{200D}]"
_WORD = rf"[[{_IN_BRACKETS}]\x{{B2}}\x{{B3}}\x{{B9}}\x{{BC}}-\x{{BE}}]"
_NO_WORD = "[^" + _WORD[1:]
#: Outside brackets.
_ESCAPES = {
    "A": r"\A",
    "z": r"\z",
    "Z": r"(?=\n?\z)",
    "b": f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    "B": f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
    "w": _WORD,
    "W": _NO_WORD,
    "R": r"(?>\r\n|[\n-\r\x{85}\x{2028}\x{2029}])",
    "N": r"[^\n]",
    "O": r"(?s:.)",
}
#: Everywhere.
_CLASSES = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "s": r"\s",
    "S": r"\S",
    "h": "[0-9A-Fa-f]",
    "H": "[^0-9A-Fa-f]",
}
_CLASSES_IN_BRACKETS = {**_CLASSES, "w": f"[{_IN_BRACKETS}]", "W": r"[\W\x{200C}\x{200D}]"}
_POSIX = {
    "alnum": r"\p{Alphabetic}\p{Nd}",
    "alpha": r"\p{Alphabetic}",
    "ascii": r"\x00-\x7F",
    "blank": r"\t\p{Zs}",
    "cntrl": r"\p{Cc}",
    "digit": r"\p{Nd}",
    "lower": r"\p{Lowercase}",
    "punct": r"\p{P}\p{S}",
    "space": r"\s",
    "upper": r"\p{Uppercase}",
    "word": _IN_BRACKETS,
    "xdigit": "0-9A-Fa-f",
}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7, "e": 27}
#: Properties that are known to be the same in both.
_NAMES = """
    L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Cn Co
    Letter Mark Number Punctuation Symbol Separator Alphabetic White_Space
    Han Hiragana Katakana Hangul Latin Greek Cyrillic Arabic Hebrew Thai Devanagari Common Inherited
    Bengali Armenian Georgian Tamil Khmer Lao Tibetan Myanmar Ethiopic Mongolian
"""
_PROPERTIES = frozenset(_NAMES.split())
#: Letters that together are one other letter, where case does not count: ß, ﬁ, ﬆ.
_FOLDED = ("ss", "st", "ff", "fi", "fl")
# Compiled when they are used: most programs never do, and `re` keeps what it has compiled.
_INTERVAL = r"\{(\d*)(,?)(\d*)\}"
_FLAGS = r"\?([imx]*)(?:-([imx]+))?([:)])"
_META = set(r"\.+*?()|[]{}^$#&-~")


def from_oniguruma(pattern: str) -> str:
    r"""The expression for jogak's engine that has the same matches as ``pattern`` has in Oniguruma.

    Args:
        pattern: an expression as the files of HF tokenizers have it.

    Raises:
        UnsupportedFeature: a construct that has no equal here, with its name; or no expression.

    >>> from_oniguruma(r"\p{N}{1,3}| ?\p{L}+")
    '\\p{N}{1,3}| ?\\p{L}+'
    >>> from_oniguruma(r"[[:space:]]+$")
    '[[\\s]]+(?=\\n|\\z)'
    >>> from_oniguruma(r"\d{1,3}+")
    '(?:\\p{Nd}{1,3})+'
    """
    reader = _Reader(pattern)
    done = reader.alternatives(any_case=False)
    if reader.at < len(pattern):
        raise reader.refuse("a closing bracket without its opening one")
    return done


def _literal(c: str) -> str:
    return "\\" + c if c in _META else c if c.isprintable() else f"\\x{{{ord(c):X}}}"


class _Reader:
    """Goes through an expression from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0
        #: Whether what was read last can match nothing.
        self.empty = False
        #: Letters one behind the other, where case does not count.
        self.run = ""

    def refuse(self, what: str) -> UnsupportedFeature:
        return UnsupportedFeature(
            f"the regular expression {self.pattern!r} has {what} at {self.at}, for which jogak's engine "
            "has no equal; write it as a jogak.Split that means the same"
        )

    def next(self, what: str = "an end within a construct") -> str:
        if self.at >= len(self.pattern):
            raise self.refuse(what)
        self.at += 1
        return self.pattern[self.at - 1]

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def alternatives(self, any_case: bool) -> str:
        """Up to the end or a closing bracket."""
        self.depth += 1
        if self.depth > 50:
            raise self.refuse("more than 50 groups within each other")
        out = []
        self.run = ""
        any_empty, this_empty = False, True
        while self.at < len(self.pattern) and not self.peek(")"):
            if self.peek("|"):
                self.at += 1
                self.run = ""
                out.append("|")
                any_empty, this_empty = any_empty or this_empty, True
                continue
            start = self.at
            flags = re.compile(_FLAGS).match(self.pattern, start + 1) if self.peek("(") else None
            if flags and flags[3] == ")":
                # For all that follows in this group, bars included.
                self.at = flags.end()
                out.append(
                    f"(?{self.flags(flags)}:{self.alternatives(self.case(flags, any_case))})"
                )
            else:
                self.empty = False
                out.append(self.repeated(self.atom(any_case)))
            this_empty = this_empty and self.empty
        self.empty = any_empty or this_empty
        self.depth -= 1
        return "".join(out)

    def case(self, flags: re.Match[str], any_case: bool) -> bool:
        return (any_case or "i" in flags[1]) and "i" not in (flags[2] or "")

    def flags(self, flags: re.Match[str]) -> str:
        on, off = flags[1], flags[2] or ""
        if "x" in on:
            raise self.refuse("extended syntax, (?x)")
        off = off.replace("x", "")
        return (on + ("-" + off if off else "")).replace("m", "s")

    def repeated(self, atom: str) -> str:
        """An atom with what stands behind it: how often it comes."""
        times = 0
        while self.at < len(self.pattern):
            interval = re.compile(_INTERVAL).match(self.pattern, self.at)
            if self.pattern[self.at] in "*+?":
                sign = self.next()
                # Behind these, and behind no interval, + is possessive and ? reluctant.
                if self.at < len(self.pattern) and self.pattern[self.at] in "+?":
                    sign += self.next()
            elif interval and (interval[1] or (interval[2] and interval[3])):
                low, comma, high = interval.groups()
                if (high and int(low or 0) > int(high)) or int(high or low or 0) > 1000:
                    raise self.refuse("such an interval")
                sign = f"{{{low or 0}{comma}{high}}}"
                self.at = interval.end()
                if self.peek("?"):
                    if not comma:
                        raise self.refuse("{n}?")
                    sign += self.next()
            else:
                break
            times += 1
            if self.empty and (sign[0] in "*+" or sign.rstrip("?").endswith(",}")):
                raise self.refuse("a repetition without end of what may be nothing")
            self.empty = self.empty or sign[0] in "*?" or sign.startswith("{0")
            if times > 1:
                if times > 2:
                    raise self.refuse("three repetitions of one thing")
                atom = f"(?:{atom})"
            atom += sign
            self.run = ""
        return atom

    def letter(self, c: str, any_case: bool) -> str:
        if any_case:
            if ord(c) > 0x7F:
                raise self.refuse(f"{c!r} where case does not count, (?i)")
            self.run += c.lower()
            if self.run.endswith(_FOLDED):
                raise self.refuse(f"{self.run[-2:]!r} where case does not count, (?i)")
        return _literal(c)

    def atom(self, any_case: bool) -> str:
        c = self.next()
        if c == "(":
            return self.group(any_case)
        if c == "[":
            self.run = ""
            return self.brackets(any_case)
        if c == "\\":
            return self.escape(any_case)
        if c in "*+?":
            raise self.refuse("a repetition of nothing")
        if c in ".^$":
            self.run = ""
            self.empty = c != "."
            return {".": ".", "^": r"(?:\A|(?<=\n)(?!\z))", "$": r"(?=\n|\z)"}[c]
        return self.letter(c, any_case)

    def group(self, any_case: bool) -> str:
        opening = "("
        if self.peek("?"):
            flags = re.compile(_FLAGS).match(self.pattern, self.at)
            if flags:
                self.at = flags.end()
                opening = f"(?{self.flags(flags)}:"
                any_case = self.case(flags, any_case)
            elif self.peek("?#"):
                while self.next() != ")":
                    pass
                if self.at < len(self.pattern) and self.pattern[self.at] in "*+?{":
                    raise self.refuse("a repetition of a comment")
                self.empty = True
                return ""
            else:
                for sign in ("?=", "?!", "?<=", "?<!", "?>"):
                    if self.peek(sign):
                        opening = "(" + sign
                        self.at += len(sign)
                        break
                else:
                    raise self.refuse(f"the group ({self.pattern[self.at : self.at + 3]}...)")
        elif self.peek("*"):
            raise self.refuse("a call-out, (*...)")
        # Nothing refers to groups.
        inner = self.alternatives(any_case)
        if self.next("a group without end") != ")":
            raise self.refuse("a group without end")
        self.run = ""
        self.empty = self.empty or opening[2:3] in ("=", "!", "<")
        return ("(?:" if opening == "(" else opening) + inner + ")"

    def number(self, c: str) -> str | None:
        """What a numbered or named character is, behind ``\\c``."""
        if c in _CONTROLS:
            return chr(_CONTROLS[c])
        form = {"x": r"\{([0-9A-Fa-f]{1,8})\}|([0-7][0-9A-Fa-f])", "u": r"([0-9A-Fa-f]{4})()"}.get(
            c
        )
        if form is None:
            return None
        found = re.compile(form).match(self.pattern, self.at)
        code = int(found[1] or found[2], 16) if found else 0x110000
        if not found or code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise self.refuse(f"\\{c} and no character's number")
        self.at = found.end()
        return chr(code)

    def escape(self, any_case: bool) -> str:
        c = self.next()
        if c in "pP":
            self.run = ""
            return self.property(c, any_case)
        known = _ESCAPES.get(c) or _CLASSES.get(c)
        if known:
            self.run = ""
            self.empty = c in "AzZbB"
            if any_case and c in "wWbBhH":
                raise self.refuse(f"\\{c} where case does not count, (?i)")
            return known
        numbered = self.number(c)
        if numbered is None and (c.isalnum() or ord(c) > 0x7F):
            raise self.refuse(f"\\{c}")
        return self.letter(numbered or c, any_case)

    def property(self, c: str, any_case: bool) -> str:
        found = re.compile(r"\{(\^?)([A-Za-z_]+)\}").match(self.pattern, self.at)
        if not found or found[2] not in _PROPERTIES:
            raise self.refuse(f"\\{c}{self.pattern[self.at : self.at + 20]}")
        if any_case:
            raise self.refuse(f"\\{c} where case does not count, (?i)")
        self.at = found.end()
        negated = (c == "P") != bool(found[1])
        return rf"\{'P' if negated else 'p'}{{{found[2]}}}"

    def brackets(self, any_case: bool) -> str:
        """A class, behind its opening bracket."""
        self.depth += 1
        if self.depth > 50:
            raise self.refuse("more than 50 brackets within each other")
        out = ["["]
        if self.peek("^"):
            self.at += 1
            out.append("^")
        first = True
        while True:
            if self.peek("]") and not first:
                self.at += 1
                break
            if self.peek("&&"):
                if first:
                    raise self.refuse("&& behind nothing")
                self.at += 2
                out.append("&&")
                if self.peek("]") or self.peek("&&"):
                    raise self.refuse("&& before nothing")
            elif self.peek("[:"):
                out.append(self.posix(any_case))
            elif self.peek("["):
                self.at += 1
                out.append(self.brackets(any_case))
            else:
                self.range(out, any_case)
            first = False
        self.depth -= 1
        return "".join(out) + "]"

    def posix(self, any_case: bool) -> str:
        found = re.compile(r"\[:(\^?)(\w+):\]").match(self.pattern, self.at)
        if not found or found[2] not in _POSIX or any_case:
            raise self.refuse(f"{self.pattern[self.at : self.at + 12]!r}")
        self.at = found.end()
        return f"[{found[1]}{_POSIX[found[2]]}]"

    def member(self, any_case: bool) -> tuple[str, bool]:
        """A character, or the text of a class and True."""
        c = self.next("brackets without end")
        if c == "\\":
            c = self.next("brackets without end")
            if c in "pP":
                return self.property(c, any_case), True
            if c in _CLASSES_IN_BRACKETS:
                if any_case and c not in "dDsS":
                    raise self.refuse(f"\\{c} where case does not count, (?i)")
                return _CLASSES_IN_BRACKETS[c], True
            numbered = "\b" if c == "b" else self.number(c)
            if numbered is None and (c.isalnum() or ord(c) > 0x7F):
                raise self.refuse(f"\\{c} within brackets")
            c = numbered or c
        if any_case and ord(c) > 0x7F:
            raise self.refuse(f"{c!r} where case does not count, (?i)")
        return c, False

    def range(self, out: list[str], any_case: bool) -> None:
        start, is_class = self.member(any_case)
        if is_class:
            out.append(start)
            if self.peek("-") and not self.peek("-]"):
                raise self.refuse("a range from a class")
            return
        if not self.peek("-") or self.peek("-]"):
            out.append(_member(start))
            return
        self.at += 1
        if self.peek("[") or self.peek("&&"):
            raise self.refuse("a range to brackets")
        end, is_class = self.member(any_case)
        if is_class or start > end:
            raise self.refuse("a range that is none")
        out.append(f"{_member(start)}-{_member(end)}")


def _member(c: str) -> str:
    return f"\\x{{{ord(c):X}}}" if c in _META or not c.isprintable() else c
