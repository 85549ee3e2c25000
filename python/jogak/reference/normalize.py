"""Normalizers: SentencePiece's rules, and Hangul syllables as their letters.

Rules are a dict: what is replaced -> its replacement. They are applied as Kudo & Richardson (2018) do:
from the left, at every place the longest key that matches, else one character stays.

The rule set `nfkc` is made from Unicode's data. NFKC composes sequences (e + accent), so single
characters are not enough: for every text that a character decomposes to, all ways to write it with
characters that decompose to one character each are keys, too.

Letters (jamo) and back::

    syllable = 0xAC00 + (initial * 21 + vowel) * 28 + final          final 0: none

A text can have letters of its own. One that would be read as part of a syllable is escaped (U+0010).
"""

from __future__ import annotations

import itertools
import sys
import unicodedata
from collections.abc import Mapping

__all__ = ["apply_rules", "from_jamo", "nfkc_rules", "to_jamo"]

ESCAPE = "\x10"

_INITIALS = {
    "conjoining": [chr(0x1100 + i) for i in range(19)],
    "compatibility": list("ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"),
}
_VOWELS = {
    "conjoining": [chr(0x1161 + i) for i in range(21)],
    "compatibility": [chr(0x314F + i) for i in range(21)],
}
_FINALS = {
    "conjoining": ["", *(chr(0x11A8 + i) for i in range(27))],
    "compatibility": ["", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"],
}


def apply_rules(text: str, rules: Mapping[str, str], longest: int | None = None) -> str:
    """The text with every longest key replaced, from the left; no key is longer than ``longest``.

    >>> apply_rules("abcab", {"ab": "1", "abc": "2"})
    '21'
    """
    if longest is None:
        longest = max(map(len, rules), default=0)
    out = []
    at = 0
    while at < len(text):
        for length in range(min(longest, len(text) - at), 0, -1):
            if text[at : at + length] in rules:
                out.append(rules[text[at : at + length]])
                at += length
                break
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def nfkc_rules() -> dict[str, str]:
    """SentencePiece's rule set `nfkc`, from the Unicode data of this Python. Takes some seconds.

    So "ﬁ" becomes "fi", and "e" with U+0301 behind it becomes "é".
    """
    rules: dict[str, str] = {}
    writings: dict[str, list[str]] = {}
    decomposed: set[str] = set()
    for code in range(1, sys.maxunicode + 1):
        if 0xD800 <= code < 0xE000:
            continue
        character = chr(code)
        nfkc = unicodedata.normalize("NFKC", character)
        nfkd = unicodedata.normalize("NFKD", character)
        if nfkc != character:
            rules[character] = nfkc
        if len(nfkd) == 1:
            writings.setdefault(nfkd, []).append(character)
        else:
            decomposed.add(nfkd)
    for nfkd in decomposed:
        nfkc = unicodedata.normalize("NFKC", nfkd)
        if nfkc == nfkd:
            continue
        for way in map("".join, itertools.product(*(writings[c] for c in nfkd))):
            if way != nfkc:
                rules[way] = nfkc
    # A sequence that shorter rules turn into the same needs no rule.
    needed = {key: text for key, text in rules.items() if len(key) == 1}
    for length in range(2, max(map(len, rules)) + 1):
        longer = {key: text for key, text in rules.items() if len(key) == length}
        needed |= {
            key: text for key, text in longer.items() if apply_rules(key, needed, length) != text
        }
    return needed


def to_jamo(text: str, form: str) -> str:
    """Syllables as letters, "conjoining" or "compatibility".

    The text's own letters and escapes are escaped exactly where reading back would go wrong: put one
    more character behind what is written, and see whether it still reads as what it was.

    >>> to_jamo("한글ㅋ", "compatibility")
    'ㅎㅏㄴㄱㅡㄹㅋ'
    >>> to_jamo("하ㅋ", "compatibility")
    'ㅎㅏ\\x10ㅋ'
    """
    initials, vowels, finals = _INITIALS[form], _VOWELS[form], _FINALS[form]
    out = ""
    before = ""  # what was read so far
    for c in text:
        number = ord(c) - 0xAC00
        if 0 <= number < 11172:
            out += initials[number // 588] + vowels[number // 28 % 21] + finals[number % 28]
        elif c == ESCAPE or from_jamo(out + c, form) != before + c:
            out += ESCAPE + c
        else:
            out += c
        before += c
    return out


def from_jamo(text: str, form: str) -> str:
    """Letters as syllables: the way back.

    >>> from_jamo("ㅎㅏㄴㄱㅡㄹ", "compatibility")
    '한글'
    """
    initials, vowels, finals = _INITIALS[form], _VOWELS[form], _FINALS[form]
    letters = {*initials, *vowels, *finals[1:], ESCAPE}
    out = []
    at = 0
    while at < len(text):
        one, two, three, four = (text[at + i : at + i + 1] for i in range(4))
        if one == ESCAPE and two in letters:
            out.append(two)
            at += 2
        elif one in initials and two in vowels:
            # A consonant before a vowel begins the next syllable.
            ends = three in finals[1:] and not (three in initials and four in vowels)
            final = finals.index(three) if ends else 0
            number = (initials.index(one) * 21 + vowels.index(two)) * 28 + final
            out.append(chr(0xAC00 + number))
            at += 3 if ends else 2
        else:
            out.append(one)
            at += 1
    return "".join(out)
