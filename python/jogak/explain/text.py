"""Traces as plain text: what ``print(trace)`` shows, readable in a log file, no colour needed.

Rule: no line is wider than asked for, counted in terminal columns, so that Korean stands in its
columns. What colour says elsewhere is said with brackets: ``[e·s]`` was taken, ``~e·s~`` was set
aside by dropout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from jogak.explain.blocks import Block, Cell, Line, Run, Section, Table, apart
from jogak.explain.data import Trace
from jogak.explain.layout import layout
from jogak.explain.symbols import width as columns_of

__all__ = ["to_text"]

_BRACKETS = {"chosen": "[{}]", "covered": "({})", "dropped": "~{}~"}
_GAP = "  "
_NARROWEST = 4


def to_text(trace: Trace, width: int = 80) -> str:
    """A trace -> lines of plain text.

    Args:
        trace: any trace.
        width: columns of the widest line, at least 60.

    >>> from jogak.explain.data import Compression
    >>> print(to_text(Compression("abc", (), "abc")))
    Compression abc
    ═══════════════
    no pair occurs often enough: nothing to replace
    """
    section = layout(trace)
    width = max(width, 60)
    title = _wrapped(_text(section.title), width)
    lines = [*title, "═" * columns_of(title[-1])]
    lines += _blocks(section, width, outermost=True)
    return "\n".join(lines)


def _blocks(section: Section, width: int, outermost: bool = False) -> Iterator[str]:
    above: Block | None = None
    for block in section.blocks:
        if isinstance(block, Section) or apart(above, block, outermost):
            yield ""
        above = block
        if isinstance(block, Line):
            yield from _wrapped(_text(block.cell), width)
        elif isinstance(block, Table):
            yield from _table(block, width)
        else:
            *start, title = _wrapped(f"── {_text(block.title)}", width - 1)
            yield from start
            yield f"{title} ".ljust(width - columns_of(title) + len(title), "─")
            yield from (_GAP + line if line else line for line in _blocks(block, width - 2))


def _text(cell: Cell) -> str:
    return "".join(map(_bracketed, cell))


def _bracketed(run: Run) -> str:
    return _BRACKETS.get(run.style, "{}").format(run.text)


def _wrapped(text: str, width: int) -> list[str]:
    """Text -> lines of at most ``width`` columns, broken at spaces where there are any."""
    lines: list[str] = []
    line = ""
    for gap, atom in re.findall(r"( *)([^ ]*)", text):
        for part in _cut(atom, width):
            if line and columns_of(line + gap + part) > width:
                lines.append(line)
                line = part
            else:
                line += gap + part
    return [*lines, line.rstrip()]


def _cut(atom: str, width: int) -> Iterator[str]:
    """A text without spaces -> parts that fit; nearly always just itself."""
    part, taken = "", 0
    for character in atom if columns_of(atom) > width else ():
        if taken + columns_of(character) > width:
            yield part
            part, taken = "", 0
        part += character
        taken += columns_of(character)
    yield part or atom


def _table(table: Table, width: int) -> Iterator[str]:
    body = [[_text(cell) for cell in row] for row in table.rows]
    rows = [list(table.headers), *body] if table.headers else body
    if not rows:
        return
    widths = _column_widths(rows, width - len(_GAP) * (len(rows[0]) - 1))
    for index, row in enumerate(rows):
        yield from _row(row, widths, table.right)
        if table.headers and index == 0:
            yield _GAP.join("─" * columns for columns in widths)


def _column_widths(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Natural widths, with the widest columns narrowed until the table fits."""
    natural = (max(map(columns_of, column)) for column in zip(*rows, strict=True))
    widths = [min(columns, max(room, _NARROWEST)) for columns in natural]
    while sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(row: Sequence[str], widths: Sequence[int], right: Iterable[int]) -> Iterator[str]:
    cells = [_wrapped(text, columns) for text, columns in zip(row, widths, strict=True)]
    for height in range(max(map(len, cells))):
        parts = []
        for index, (lines, columns) in enumerate(zip(cells, widths, strict=True)):
            text = lines[height] if height < len(lines) else ""
            padding = " " * (columns - columns_of(text))
            parts.append(padding + text if index in right else text + padding)
        yield _GAP.join(parts).rstrip()
