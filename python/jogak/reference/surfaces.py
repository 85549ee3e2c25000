"""What SentencePiece says of a text besides its ids, step by step.

::

    text -> what is kept as it is, the rest by the charsmap -> spaces -> cut -> pieces, surfaces

A character of the normalized text counts from where its match began, up to where the next match does. A
match is a text that is kept, a rule of the charsmap, a character that stays, or a byte that is no UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

__all__ = ["MARK", "Matches", "Surface", "cut", "normalize"]

MARK = "▁"

#: What the rules write for a text: each character with the characters of the text that it stands for.
Matches = Callable[[str], Sequence[tuple[str, int, int]]]
#: A piece, its id, what it stands for (None: the first bytes of a character), and where that is.
Surface = tuple[str, int, "bytes | None", int, int]


def normalize(
    data: bytes,
    rules: Matches | None = None,
    kept: Sequence[str] = (),
    *,
    squeeze: bool = True,
    escape: bool = True,
    prefix: bool = True,
    suffix: bool = False,
) -> tuple[str, list[int]]:
    """A text in bytes -> the normalized text; the byte that each character counts from, and the end.

    Nothing at all, not even an end, for a text of nothing but spaces that are taken away.

    Args:
        data: the text, which need not be UTF-8.
        rules: what the charsmap does, but to what is kept; None: nothing.
        kept: texts that are left as they are.
        squeeze: of spaces that follow each other one stays, and none at either end.
        escape: they become ``▁``.
        prefix: one is added before the text, or, with `suffix`, behind it.
        suffix: see `prefix`.

    >>> normalize(b" a  b ")
    ('▁a▁b', [1, 1, 2, 4, 5])
    """
    mark = MARK if escape else " "
    chunks = list(_chunks(data, rules, kept))
    first = 0
    while squeeze and first < len(chunks) and chunks[first][0] == " ":
        first += 1
    if first == len(chunks):
        return "", []
    out: list[str] = []
    origin: list[int] = []

    def add(text: str, at: int) -> None:
        out.append(text)
        origin.extend([at] * len(text))

    if prefix and not suffix:
        add(mark, chunks[first][1])
    behind_space = squeeze
    for text, at in chunks[first:]:
        rest = text.lstrip(" ") if behind_space else text
        if rest:
            add(rest.replace(" ", mark), at)
            behind_space = squeeze and rest.endswith(" ")
    end = len(data)
    whole = "".join(out)
    size = len(whole)
    while squeeze and size and whole[size - 1] == mark:
        size -= 1
        end = origin[size]
    whole = whole[:size]
    del origin[size:]
    if prefix and suffix:
        whole += mark
        origin.append(end)
    return whole, [*origin, end]


def _chunks(data: bytes, rules: Matches | None, kept: Sequence[str]) -> Iterator[tuple[str, int]]:
    """What the matches become, each with the byte where it begins."""
    # A byte that is no UTF-8 becomes one lone surrogate.
    text = data.decode("utf-8", "surrogateescape")
    byte_at = [0]
    for character in text:
        broken = "\udc80" <= character <= "\udcff"
        byte_at.append(byte_at[-1] + (1 if broken else len(character.encode())))
    start = 0
    for match in re.finditer("[\udc80-\udcff]", text):
        yield from _valid(text[start : match.start()], byte_at[start:], rules, kept)
        yield "\ufffd", byte_at[match.start()]
        start = match.end()
    yield from _valid(text[start:], byte_at[start:], rules, kept)


def _valid(
    text: str, byte_at: list[int], rules: Matches | None, kept: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """The same of a text without broken bytes."""
    texts = sorted(filter(None, kept), key=len, reverse=True)
    keeps = re.compile("|".join(map(re.escape, texts))) if texts else None
    same = [(letter, at, at + 1) for at, letter in enumerate(text)]
    written = same if rules is None else rules(text)
    at, number = 0, 0
    while number < len(written):
        _, start, end = written[number]
        if start > at:  # what is dropped
            yield "", byte_at[at]
        match = keeps.match(text, start) if keeps else None
        end = match.end() if match else end
        chunk = ""
        while number < len(written) and written[number][2] <= end:
            chunk += written[number][0]
            number += 1
        yield chunk, byte_at[start]
        at = end
    if at < len(text):
        yield "", byte_at[at]


def cut(
    raw: bytes,
    normalized: str,
    origin: Sequence[int],
    ids: Sequence[int],
    pieces: Sequence[str],
    *,
    unknown: int,
    byte_ids: Sequence[int] = (),
) -> list[Surface]:
    """The pieces of a text, each with its surface.

    The normalized text is what they are, one behind the other. Unknown characters that follow each other
    are one piece; of the bytes of a character the last one stands for it.

    Args:
        raw: the text as it was given.
        normalized: what `normalize` made of it.
        origin: where each character counts from.
        ids: its ids, with one for each unknown character.
        pieces: the text of each id.
        unknown: the id of unknown characters.
        byte_ids: the ids that stand for one byte.

    >>> cut(b"a?!", "▁a?!", [0, 0, 1, 2, 3], [1, 0, 0], ["<unk>", "▁a"], unknown=0)
    [('▁a', 1, b'a', 0, 1), ('?!', 0, b'?!', 1, 3)]
    """
    parts: list[Surface] = []
    at, behind_unknown = 0, False
    rest = iter(ids)
    for id_ in rest:
        odd = id_ == unknown or id_ in byte_ids
        piece = normalized[at] if odd else pieces[id_]
        begin, end = origin[at], origin[at + len(piece)]
        at += len(piece)
        if id_ in byte_ids:
            for _ in piece.encode()[1:]:
                parts.append((pieces[id_], id_, None, begin, begin))
                id_ = next(rest)
            parts.append((pieces[id_], id_, raw[begin:end], begin, end))
        elif id_ == unknown and behind_unknown:
            before, _, surface, first, _ = parts.pop()
            parts.append((before + piece, id_, (surface or b"") + raw[begin:end], first, end))
        else:
            parts.append((piece, id_, raw[begin:end], begin, end))
        behind_unknown = id_ == unknown
    return parts
