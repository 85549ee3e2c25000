"""Traces in a notebook: self-contained HTML, inline styles only, no script.

Rule: every text is escaped; colours are translucent over whatever background there is, and text
takes the page's own colour, so that light and dark notebooks both read well.
"""

from __future__ import annotations

from html import escape

from jogak.explain.blocks import Block, Cell, Line, Run, Style, Table
from jogak.explain.data import Trace
from jogak.explain.layout import layout

__all__ = ["to_html"]

_LINE = "rgba(128,128,128,.35)"
_CHIP = "padding:0 .3em;border-radius:.25em;white-space:nowrap;"


def _chip(red_green_blue: str, strength: float, more: str = "") -> str:
    return f"{_CHIP}background:rgba({red_green_blue},{strength});{more}"


_STYLES: dict[Style, str] = {
    "plain": "",
    "strong": "font-weight:600",
    "dim": "opacity:.65",
    "number": "font-variant-numeric:tabular-nums",
    "symbol": _chip("128,128,128", 0.16),
    "new": _chip("40,170,90", 0.35, "font-weight:600"),
    "chosen": _chip("200,80,200", 0.4, "font-weight:600"),
    "taken": _chip("200,80,200", 0.28, "font-weight:600"),
    "covered": _chip("40,170,90", 0.2),
    "merge": _chip("220,160,0", 0.25),
    "no-merge": "padding:0 .3em;opacity:.55;white-space:nowrap",
    "dropped": _chip("220,60,60", 0.2, "text-decoration:line-through"),
    "rank": "opacity:.65;font-size:80%",
    "open": _chip("128,128,128", 0.08, f"border-bottom:1px dashed {_LINE};"),
    "token-0": _chip("40,140,220", 0.3),
    "token-1": _chip("220,160,0", 0.3),
    "token-2": _chip("170,90,210", 0.3),
    "special": _chip("220,60,60", 0.35, "font-weight:600"),
}


def to_html(trace: Trace) -> str:
    """A trace -> one ``<div>`` that can stand in any page.

    >>> from jogak.explain.data import Compression
    >>> "<script>" in to_html(Compression("<script>", (), "<script>"))
    False
    """
    section = layout(trace)
    blocks = "".join(map(_block, section.blocks))
    return (
        '<div style="font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;'
        'font-size:13px;line-height:1.7;text-align:left;word-break:keep-all">'
        f'<div style="font-size:115%">{_cell(section.title)}</div>{blocks}</div>'
    )


def _block(block: Block) -> str:
    if isinstance(block, Line):
        return f"<div>{_cell(block.cell)}</div>"
    if isinstance(block, Table):
        return _table(block)
    blocks = "".join(map(_block, block.blocks))
    look = f"margin:.7em 0;padding:.2em .9em .5em;border:1px solid {_LINE};border-radius:.5em"
    return (
        f'<details{"" if block.folded else " open"} style="{look}">'
        f'<summary style="cursor:pointer;padding:.2em 0">{_cell(block.title)}</summary>'
        f"{blocks}</details>"
    )


def _cell(cell: Cell) -> str:
    return "".join(map(_run, cell))


def _run(run: Run) -> str:
    text = escape(run.text)
    style = _STYLES[run.style]
    return f'<span style="{style}">{text}</span>' if style else text


def _table(table: Table) -> str:
    def row(cells: list[str], tag: str, look: str) -> str:
        drawn = []
        for index, cell in enumerate(cells):
            align = "right" if index in table.right else "left"
            drawn.append(f'<{tag} style="text-align:{align};{look}">{cell}</{tag}>')
        return f'<tr style="background:none">{"".join(drawn)}</tr>'

    edge = "border:0;color:inherit;padding:.15em 1em .15em 0;vertical-align:top;"
    rows = []
    if table.headers:
        look = f"{edge}border-bottom:1px solid {_LINE};font-weight:400;opacity:.65"
        rows.append(row(list(map(escape, table.headers)), "th", look))
    for index, cells in enumerate(table.rows):
        look = f"{edge}font-weight:600" if index in table.marked else edge
        rows.append(row(list(map(_cell, cells)), "td", look))
    return (
        '<div style="overflow-x:auto;margin:.3em 0">'
        '<table style="border-collapse:collapse;border:0;margin:0;color:inherit;'
        'font:inherit;line-height:inherit">'
        f"{''.join(rows)}</table></div>"
    )
