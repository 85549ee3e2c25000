"""Traces in a terminal, with rich: panels, tables, and colour for what each step takes.

Rule: colours are the sixteen of the terminal's own theme, so that light and dark both read well;
and nothing is said by colour alone that matters in a log (`jogak.explain.text` is for those).
"""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from jogak.explain.blocks import Block, Cell, Line, Section, Style, Table, apart
from jogak.explain.data import Trace
from jogak.explain.layout import layout

__all__ = ["renderables"]

_COLOURS: dict[Style, str] = {
    "plain": "",
    "strong": "bold",
    "dim": "dim",
    "number": "cyan",
    "symbol": "",
    "new": "bold green",
    "chosen": "bold reverse magenta",
    "taken": "bold magenta",
    "covered": "green",
    "merge": "yellow",
    "no-merge": "dim",
    "dropped": "strike red",
    "rank": "dim cyan",
    "open": "dim underline",
    "token-0": "reverse cyan",
    "token-1": "reverse yellow",
    "token-2": "reverse magenta",
    "special": "bold reverse red",
}


def renderables(trace: Trace) -> Iterator[RenderableType]:
    """A trace -> what a rich console prints for it, from top to bottom."""
    section = layout(trace)
    yield _text(section.title)
    yield from _blocks(section, outermost=True)


def _blocks(section: Section, outermost: bool = False) -> Iterator[RenderableType]:
    above: Block | None = None
    for block in section.blocks:
        if apart(above, block, outermost):
            yield ""
        above = block
        yield _block(block)


def _block(block: Block) -> RenderableType:
    if isinstance(block, Line):
        return _text(block.cell)
    if isinstance(block, Table):
        return _table(block)
    return Panel(
        Group(*_blocks(block)),
        title=_text(block.title),
        title_align="left",
        border_style="bright_black",
        box=box.ROUNDED,
    )


def _text(cell: Cell) -> Text:
    text = Text(overflow="fold")
    for run in cell:
        text.append(run.text, _COLOURS[run.style])
    return text


def _table(table: Table) -> RichTable:
    drawn = RichTable(
        box=box.SIMPLE_HEAD,
        show_header=bool(table.headers),
        show_edge=False,
        pad_edge=False,
        header_style="dim",
        border_style="bright_black",
    )
    for index in range(len(table.headers) or len(table.rows[0])):
        drawn.add_column(
            table.headers[index] if table.headers else "",
            justify="right" if index in table.right else "left",
            no_wrap=index in table.right,
            overflow="fold",
        )
    for index, row in enumerate(table.rows):
        drawn.add_row(*map(_text, row), style="bold" if index in table.marked else None)
    return drawn
