r"""Pre-tokenizers with options, in a sequence, rewriting included: as the Spec's plain data say.

A text is a list of characters, each with the characters of the original that it stands for (start, end).
A stage takes one word and gives words; the next stage takes each of them by itself.

    regex         matches and gaps, put together as ``matches`` says
    metaspace     spaces become the mark, one may be put before the word, words begin at marks
    prefix_space  a space before a word that does not begin with one
    draw_bytes    every byte as the character that GPT-2 draws it with
    fixed         so many characters to a word
    digits        runs of numbers, or groups of them
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from jogak.reference.pretokenize import _compiled, pretokenize

__all__ = ["draw_bytes", "join_matches", "pretokenize_stages"]

#: A character, and the characters of the original that it stands for.
Character: TypeAlias = tuple[str, int, int]


def join_matches(
    parts: Sequence[tuple[str, bool]], matches: str, invert: bool = False
) -> list[str]:
    """Stretches of text, each a match or a gap -> words.

    >>> join_matches([("a", False), ("-", True), ("-", True), ("b", False)], "merged_with_previous")
    ['a-', '-', 'b']
    """
    parts = [(text, is_match != invert) for text, is_match in parts if text or is_match]
    kinds = [is_match for _, is_match in parts]
    if matches in ("removed", "only"):
        return [text for text, is_match in parts if text and is_match == (matches == "only")]
    words: list[str] = []
    for at, (text, is_match) in enumerate(parts):
        before = at > 0 and kinds[at - 1]
        joins = {
            "isolated": False,
            "merged_with_previous": is_match and not before,
            "merged_with_next": not is_match and before,
            "contiguous": is_match == before,
        }[matches]
        if joins and words:
            words[-1] += text
        else:
            words.append(text)
    return [word for word in words if word]


def draw_bytes(text: str) -> str:
    """Bytes as characters: those that can be seen stand for themselves, others come from U+0100 on.

    >>> draw_bytes("é a")
    'Ã©Ġa'
    """
    return "".join(_DRAWN[byte] for byte in text.encode())


def _drawn() -> list[str]:
    seen = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in seen]
    return [chr(byte if byte in seen else 0x100 + hidden.index(byte)) for byte in range(256)]


_DRAWN = _drawn()


def pretokenize_stages(
    text: str, stages: Sequence[Mapping[str, Any]], bare: bool = False
) -> list[tuple[str, tuple[int, int]]]:
    """The words of a text, each with the characters of the original that it stands for.

    Args:
        text: any text.
        stages: plain data, as ``to_dict`` of pre-tokenizers gives them.
        bare: the text is what normalization left of a text that was not empty, nor spaces alone.

    >>> given = {"type": "metaspace", "prepend": "given", "mark": "▁", "escape": True}
    >>> pretokenize_stages("", [given], bare=True)
    [('▁', (0, 0))]
    >>> pretokenize_stages("a b", [{"type": "whitespace"}, {"type": "prefix_space"}])
    [(' a', (0, 1)), (' b', (2, 3))]
    """
    words = [[(c, at, at + 1) for at, c in enumerate(text)]]
    for stage in stages:
        first = [True] + [False] * len(words)
        words = [
            part
            for word, is_first in zip(words, first, strict=False)
            for part in _stage(word, stage, is_first, bare)
        ]
    return [("".join(c for c, _, _ in word), (word[0][1], word[-1][2])) for word in words if word]


def _stage(
    word: list[Character], stage: Mapping[str, Any], is_first: bool, bare: bool
) -> list[list[Character]]:
    if not word:
        if bare and (stage["type"], stage.get("prepend")) == ("metaspace", "given"):
            return [[(stage["mark"] if stage["escape"] else " ", 0, 0)]]
        # Nothing is cut into no words.
        return [word] if stage["type"] in ("prefix_space", "draw_bytes") else []
    text = "".join(c for c, _, _ in word)
    kind = stage["type"]
    if kind == "prefix_space":
        return [word if text[0] == " " else [(" ", word[0][1], word[0][1]), *word]]
    if kind == "draw_bytes":
        return [[(drawn, start, end) for c, start, end in word for drawn in draw_bytes(c)]]
    if kind == "metaspace":
        return _metaspace(word, stage, is_first)
    if kind == "fixed":
        length = stage["length"]
        return [word[at : at + length] for at in range(0, len(word), length)]
    if kind == "regex":
        parts, at = [], 0
        pattern = stage["pattern"] if stage["regex"] else re.escape(stage["pattern"])
        last = None
        for found in _compiled(pattern).finditer(text):
            if found.start() == found.end() == last:
                continue
            last = found.end()
            parts += [(text[at : found.start()], False), (found.group(), True)]
            at = found.end()
        pieces = join_matches([*parts, (text[at:], False)], stage["matches"], stage["invert"])
        if stage["matches"] in ("removed", "only"):
            return _found(word, parts, text[at:], (stage["matches"] == "only") != stage["invert"])
    elif kind == "digits":
        most = {None: "+", 3: "{1,3}", 1: ""}[stage["group"]]
        pieces = _compiled(rf"\p{{N}}{most}|\P{{N}}+").findall(text)
    else:
        pieces = pretokenize(text, kind)
    return _located(word, text, pieces)


def _found(
    word: list[Character], parts: Sequence[tuple[str, bool]], rest: str, wanted: bool
) -> list[list[Character]]:
    """The parts that are matches, or those that are none."""
    words, at = [], 0
    for text, is_match in [*parts, (rest, False)]:
        if text and is_match == wanted:
            words.append(word[at : at + len(text)])
        at += len(text)
    return words


def _located(word: list[Character], text: str, pieces: Sequence[str]) -> list[list[Character]]:
    """Pieces of a word, one behind the other; white space between them may be missing."""
    words, at = [], 0
    for piece in pieces:
        at = text.index(piece, at)
        words.append(word[at : at + len(piece)])
        at += len(piece)
    return words


def _metaspace(
    word: list[Character], stage: Mapping[str, Any], is_first: bool
) -> list[list[Character]]:
    mark = stage["mark"] if stage["escape"] else " "
    begins = {
        "always": True,
        "first": is_first,
        "given": is_first,
        "start": word[0][1] == 0,
        "never": False,
    }[stage["prepend"]]
    present = stage["only_missing"] and word[0][0] in (" ", mark)
    word = [(mark if c == " " else c, start, end) for c, start, end in word]
    if begins and not present:
        word = [(mark, word[0][1], word[0][1]), *word]
    if not stage["split"]:
        return [word]
    starts = [at for at, (c, _, _) in enumerate(word) if c == mark or at == 0]
    return [word[a:b] for a, b in zip(starts, [*starts[1:], len(word)], strict=True)]
