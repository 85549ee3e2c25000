"""What a trace shows, said once: traces -> the blocks that text, terminal and notebook draw.

Rule: all wording and all choices of what to show are here; all colours and borders are in the
renderings (`jogak.explain.text`, ``terminal``, ``html``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from jogak.explain.blocks import Block, Cell, Line, Run, Section, Style, Table
from jogak.explain.data import (
    Candidate,
    Compression,
    CompressionStep,
    DictionaryEntry,
    EncodingTrace,
    MatchStep,
    MergeTrace,
    PairStep,
    Trace,
    TrainingTrace,
    WordTrace,
)
from jogak.explain.lattice import LatticeTrace
from jogak.explain.lattice_layout import lattice_blocks
from jogak.explain.symbols import Draw, drawing, visible
from jogak.explain.unigram import UnigramTrainingTrace
from jogak.explain.unigram_layout import training_section
from jogak.explain.wordpiece import ScoredCandidate, ScoredMerge

__all__ = ["layout"]

_TOKEN_STYLES: tuple[Style, ...] = ("token-0", "token-1", "token-2")


def layout(trace: Trace) -> Section:
    """A trace of any kind -> the section that shows it."""
    for kind, show in _LAYOUTS.items():
        if isinstance(trace, kind):
            return show(trace)
    raise TypeError(f"{type(trace).__name__} has no layout; expected a trace")


# --- small parts --------------------------------------------------------------------------------


def _cell(*parts: str | Run) -> Cell:
    return tuple(Run(part) if isinstance(part, str) else part for part in parts)


def _number(value: int) -> Cell:
    return (Run(f"{value:,}", "number"),)


def _many(count: int, singular: str, plural: str | None = None) -> str:
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def _joined(runs: Iterable[Run], separator: str = " ") -> Cell:
    cell: list[Run] = []
    for run in runs:
        if cell:
            cell.append(Run(separator))
        cell.append(run)
    return tuple(cell)


def _first_open(sections: Iterable[Section], opened: int = 8) -> Iterator[Section]:
    """The sections, all but the first few folded."""
    for index, section in enumerate(sections):
        yield replace(section, folded=index >= opened)


def _word(symbols: Sequence[str], draw: Draw, marked: Iterable[int], style: Style) -> Cell:
    marks = set(marked)
    return _joined(
        Run(draw(symbol), style if index in marks else "symbol")
        for index, symbol in enumerate(symbols)
    )


def _moved(before: Sequence[str], after: Sequence[str]) -> tuple[list[int], list[int]]:
    """Which symbols of ``before`` were merged away, and which of ``after`` are new.

    >>> _moved(["l", "o", "w"], ["lo", "w"])
    ([0, 1], [0])
    """
    gone: list[int] = []
    new: list[int] = []
    at = 0
    for index, symbol in enumerate(after):
        if at < len(before) and before[at] == symbol:
            at += 1
        else:
            gone += [at, at + 1]
            new.append(index)
            at += 2
    return gone, new


def _tokens(tokens: Sequence[str], draw: Draw, special: bool = False, turn: int = 0) -> Cell:
    return _joined(
        Run(draw(token), "special" if special else _TOKEN_STYLES[(turn + index) % 3])
        for index, token in enumerate(tokens)
    )


# --- training -----------------------------------------------------------------------------------

_TRAINING_STOPS = {
    "num-merges": "the number of merges asked for was made",
    "vocab-size": "the vocabulary reached the size asked for",
    "min-pair-count": "the best pair was rarer than min_pair_count",
    "no-pair": "no pair was left",
    "interrupted": "training was interrupted",
}


#: Candidates that a picture shows; the data may have more. The classic example has fourteen.
_CANDIDATES = 14


def _training(trace: TrainingTrace) -> Section:
    shown, total = len(trace.merges), trace.total_merges
    made = _many(total, "merge")
    blocks: list[Block] = [Line((Run(_options(trace.config), "dim"),))] if trace.config else []
    if trace.merges:
        blocks.append(_overview(trace.merges))
    if shown < total:
        blocks.append(Line(_cell(Run(f"… and {total - shown:,} more", "dim"))))
    stop = _TRAINING_STOPS.get(trace.stop, trace.stop)
    blocks.append(Line(_cell(Run("stop", "strong"), f" after {made}: {stop}")))
    blocks += _first_open(map(_merge, trace.merges))
    title = f"Training: {made}" if shown == total else f"Training: {shown:,} of {made}"
    return Section((Run(title, "strong"),), tuple(blocks))


#: What goes without saying: rules of pieces that hold unless they are False, and a whole alphabet.
_UNTOLD = ("type", "characters", "split_by_number", "split_by_whitespace")


def _options(config: Any) -> str:
    """The options that say something: ``marker=suffix  ties=first-seen``."""
    parts = []
    for key, value in config.items():
        # Of the marker, its kind says most.
        said = value.get("kind", value) if isinstance(value, dict) else value
        if said is not None and said is not False and key not in _UNTOLD:
            parts.append(f"{key}={said}")
    return "  ".join(parts)


def _overview(merges: Sequence[MergeTrace]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for merge in merges:
        draw = drawing(merge.alphabet)
        rows.append(
            (
                _number(merge.rank),
                (Run(draw(merge.left), "symbol"),),
                (Run(draw(merge.right), "symbol"),),
                (Run(draw(merge.piece), "new"),),
                _number(merge.count),
                (Run(merge.decided_by, "dim"),),
                (Run(_signed(merge.live_change), "number"),),
                _number(merge.live),
                _number(merge.length_after),
            )
        )
    headers = ("rank", "left", "right", "piece", "count", "decided by", "±", "live", "length")
    return Table(tuple(rows), headers, right=frozenset({0, 4, 6, 7, 8}))


def _signed(change: int) -> str:
    return f"{change:+d}" if change else "0"


def _merge(merge: MergeTrace) -> Section:
    draw = drawing(merge.alphabet)
    title = _cell(
        Run(f"merge {merge.rank:,}", "strong"),
        "  ",
        Run(draw(merge.left), "symbol"),
        " + ",
        Run(draw(merge.right), "symbol"),
        " → ",
        Run(draw(merge.piece), "new"),
    )
    overlapped = (
        "" if merge.occurrences == merge.count else f", {merge.occurrences:,} without overlap"
    )
    what = "count"
    reached = f"count {merge.count:,}{overlapped}"
    if isinstance(merge, ScoredMerge) and merge.by_score:
        what = f"score of pairs that occur {_many(merge.floor, 'time')} or more"
        reached += f", score {merge.score:,.3f}"
    how = (
        f"the largest {what}"
        if merge.tied <= 1
        else f"{_many(merge.tied, 'pair')} share the largest {what}, {merge.decided_by} decides"
    )
    blocks: list[Block] = [Line(_cell(f"{reached}: {how}"))]
    if merge.candidates:
        scored = isinstance(merge, ScoredMerge)
        blocks.append((_scored_candidates if scored else _candidates)(merge, draw))
    if merge.before:
        blocks.append(_dictionary(merge, draw))
    blocks.append(
        Line(
            _cell(
                "vocabulary ",
                Run(_signed(merge.live_change), "strong"),
                f": {merge.live:,} pieces in use, {merge.vocab_size:,} in all; "
                f"corpus length {merge.length_before:,} → {merge.length_after:,}",
            )
        )
    )
    return Section(title, tuple(blocks))


def _candidates(merge: MergeTrace, draw: Draw) -> Table:
    best = merge.candidates[0].count
    rows: list[tuple[Cell, ...]] = []
    shown = merge.candidates[:_CANDIDATES]
    for index, candidate in enumerate(shown):
        tied = "tied" if candidate.count == best else ""
        rows.append(
            (
                _cell("→" if index == 0 else ""),
                (Run(_pair(candidate.left, candidate.right, draw), "plain" if index else "taken"),),
                _number(candidate.count),
                (Run(tied, "dim") if index else Run(merge.decided_by),),
            )
        )
    hidden = merge.candidates_total - len(shown)
    if hidden > 0:
        rows.append(((), (Run(f"… {hidden:,} more", "dim"),), (), ()))
    return Table(tuple(rows), ("", "candidate", "count", ""), frozenset({2}), marked=frozenset({0}))


def _scored_candidates(merge: MergeTrace, draw: Draw) -> Table:
    rows: list[tuple[Cell, ...]] = []
    shown = merge.candidates[:_CANDIDATES]
    for index, candidate in enumerate(shown):
        assert isinstance(candidate, ScoredCandidate)
        tied = "tied" if index < merge.tied else ""
        rows.append(
            (
                _cell("→" if index == 0 else ""),
                (Run(_pair(candidate.left, candidate.right, draw), "plain" if index else "taken"),),
                _number(candidate.count),
                _number(candidate.left_count),
                _number(candidate.right_count),
                (Run(f"{candidate.score:,.3f}", "number"),),
                (Run(tied, "dim") if index else Run(merge.decided_by),),
            )
        )
    hidden = merge.candidates_total - len(shown)
    if hidden > 0:
        rows.append(((), (Run(f"… {hidden:,} more", "dim"),), (), (), (), (), ()))
    headers = ("", "candidate", "count", "left", "right", "score", "")
    return Table(tuple(rows), headers, frozenset({2, 3, 4, 5}), marked=frozenset({0}))


def _dictionary(merge: MergeTrace, draw: Draw) -> Table:
    rows = [_entry(*entries, draw) for entries in zip(merge.before, merge.after, strict=True)]
    hidden = merge.changed_total - len(merge.before)
    if hidden > 0:
        more = (Run(f"… {_many(hidden, 'more word', 'more words')}", "dim"),)
        rows.append(((), more, ()))
    return Table(tuple(rows), ("times", "before", "after"), right=frozenset({0}))


def _entry(before: DictionaryEntry, after: DictionaryEntry, draw: Draw) -> tuple[Cell, ...]:
    gone, new = _moved(before.symbols, after.symbols)
    return (
        _number(before.count),
        _word(before.symbols, draw, gone, "taken"),
        _word(after.symbols, draw, new, "new"),
    )


def _pair(left: str, right: str, draw: Draw) -> str:
    return f"{draw(left)}·{draw(right)}"


# --- encoding -----------------------------------------------------------------------------------


def _encoding(trace: EncodingTrace) -> Section:
    draw = drawing(trace.words[0].alphabet) if trace.words else visible
    title = _cell(Run("Encoding", "strong"), " ", Run(visible(_clipped(trace.text)), "symbol"))
    counts = f"{_many(len(trace.words), 'word')}, {_many(len(trace.ids), 'token')}"
    way = "the most likely way" if trace.strategy == "unigram" else f"strategy {trace.strategy}"
    blocks: list[Block] = [Line((Run(f"{counts}, {way}", "dim"),))]
    if trace.normalized is not None:
        new = Run(visible(_clipped(trace.normalized)), "symbol")
        blocks.append(Line(_cell(Run("normalized", "strong"), " ", new)))
    blocks += _first_open(map(_encoded_word, trace.words))
    if trace.ids:
        blocks.append(_result(trace, draw))
    return Section(title, tuple(blocks))


def _clipped(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _result(trace: EncodingTrace, draw: Draw) -> Section:
    rows: list[tuple[Cell, ...]] = []
    data = trace.text.encode()
    for word in trace.words:
        for token, id_, (start, end) in zip(word.tokens, word.ids, word.token_spans, strict=True):
            row = (
                _tokens([token], draw, word.special, turn=len(rows)),
                _number(id_),
                (Run(f"{start}–{end}", "dim"),),
            )
            # Where a token no longer reads as the text does, say what it stands for.
            source = visible(_clipped(data[start:end].decode("utf-8", "replace")))
            rows.append(row if trace.normalized is None else (*row, (Run(source, "symbol"),)))
    headers = ("token", "id", "bytes", "of the text")[: 3 if trace.normalized is None else 4]
    table = Table(tuple(rows), headers, right=frozenset({1}))
    return Section((Run("Result", "strong"),), (table,))


def _encoded_word(word: WordTrace) -> Section:
    draw = drawing(word.alphabet)
    start, end = word.span
    title = _cell(
        Run({"special": "special token", "added": "added token"}.get(word.stop, "word"), "strong"),
        " ",
        Run(visible(_clipped(word.text)), "symbol"),
        " ",
        Run(f" bytes {start}–{end}", "dim"),
    )
    blocks: list[Block] = []
    pair_steps = [step for step in word.steps if isinstance(step, PairStep)]
    match_steps = [step for step in word.steps if isinstance(step, MatchStep)]
    if pair_steps:
        blocks.append(
            Line(_cell(Run("start", "dim"), " ", *_word(word.symbols, draw, (), "symbol")))
        )
        blocks.append(_pair_steps(pair_steps, draw))
    if match_steps:
        blocks.append(_match_steps(match_steps, draw))
    if isinstance(word, LatticeTrace) and word.stop not in ("special", "added"):
        blocks += lattice_blocks(word)
    else:
        blocks.append(Line(_stop(word, draw)))
    blocks.append(
        Line(_cell(Run("tokens", "strong"), " ", *_tokens(word.tokens, draw, word.special)))
    )
    return Section(title, tuple(blocks))


def _pair_steps(steps: Sequence[PairStep], draw: Draw) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for number, step in enumerate(steps, start=1):
        _, new = _moved(step.before, step.after)
        chosen = None if step.chosen is None else step.pairs[step.chosen]
        rows.append(
            (
                _number(number),
                _ranked_pairs(step, draw),
                (Run("–", "dim"),)
                if chosen is None
                else (Run(_pair(chosen.left, chosen.right, draw), "taken"),),
                _word(step.after, draw, new, "new"),
            )
        )
    headers = ("", "pairs, each merge with its rank", "taken", "word after")
    return Table(tuple(rows), headers, right=frozenset({0}))


def _ranked_pairs(step: PairStep, draw: Draw) -> Cell:
    chosen = None if step.chosen is None else step.pairs[step.chosen]
    cell: list[Run] = []
    for index, pair in enumerate(step.pairs):
        if cell:
            cell.append(Run("  "))
        text = _pair(pair.left, pair.right, draw)
        if index in step.dropped:
            style: Style = "dropped"
        elif pair.rank is None:
            style = "no-merge"
        else:
            style = "chosen" if pair == chosen else "merge"
        cell.append(Run(text, style))
        if pair.rank is not None:
            cell.append(Run(f":{pair.rank}", "rank"))
    return tuple(cell)


def _match_steps(steps: Sequence[MatchStep], draw: Draw) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for number, step in enumerate(steps, start=1):
        tried: Cell = _joined(
            Run(draw(piece), "chosen" if piece == step.piece else "merge")
            for piece in step.candidates
        )
        rows.append(
            (
                _number(number),
                _number(step.position),
                tried or (Run("none", "dim"),),
                (Run(draw(step.piece), "taken"),),
                _covering(step, draw),
            )
        )
    headers = ("", "at", "matches, longest first", "taken", "word after")
    return Table(tuple(rows), headers, right=frozenset({0, 1}))


def _covering(step: MatchStep, draw: Draw) -> Cell:
    """The word after the step; what the step covered stands out from what was covered before."""
    same = 0
    for old, new in zip(step.before, step.after, strict=False):
        if old != new:
            break
        same += 1
    fresh = next((i for i, part in enumerate(step.after) if i >= same and part.covered), None)
    return _joined(
        Run(draw(part.text), "chosen" if i == fresh else "covered" if part.covered else "open")
        for i, part in enumerate(step.after)
    )


def _stop(word: WordTrace, draw: Draw) -> Cell:
    last = word.steps[-1] if word.steps else None
    symbols = last.after if isinstance(last, PairStep) else word.symbols
    left = [Run(_pair(*pair, draw), "no-merge") for pair in pairwise(symbols)]
    if word.stop == "no-merge" and len(left) == 1:
        reason: Cell = (*left, Run(" is no merge"))
    elif word.stop == "no-merge" and 1 < len(left) <= 8:
        reason = (Run("none of "), *_joined(left, "  "), Run(" is a merge"))
    else:
        reason = _cell(_ENCODING_STOPS.get(word.stop, word.stop))
    return _cell(Run("stop", "strong"), " ", *reason)


_ENCODING_STOPS = {
    "no-merge": "no two neighbours are a merge",
    "one-symbol": "one symbol is left",
    "whole-word": "the whole word is in the vocabulary",
    "unknown": "the word is not in the vocabulary",
    "stuck": "no piece matches at this place, so the whole word is unknown",
    "too-long": "the word has more characters than max_chars_per_word, so it is unknown",
    "covered": "pieces cover the whole word",
    "dropout": "dropout set aside every merge that was left",
    "special": "a special token is taken as it is",
    "added": "an added token is found before the text is cut",
}


# --- compression --------------------------------------------------------------------------------


def _compression(trace: Compression) -> Section:
    title = _cell(Run("Compression", "strong"), " ", Run(visible(_clipped(trace.text)), "symbol"))
    if not trace.steps:
        return Section(title, (Line(_cell("no pair occurs often enough: nothing to replace")),))
    letters = len(set(trace.text))
    start = (Run(visible(trace.text), "symbol"),)
    rows: list[tuple[Cell, ...]] = [((),) * 4 + (start, _number(len(trace.text)), _number(letters))]
    rows += map(_replacement, trace.steps)
    headers = ("letter", "pair", "stands for", "count", "text", "length", "letters")
    last = trace.steps[-1]
    summary = (
        f"length {len(trace.text):,} → {last.length:,}, "
        f"letters in use {letters:,} → {last.symbols:,}"
    )
    rivals = Table(
        tuple(
            ((Run(visible(step.symbol), "new"),), _rivals(step.candidates)) for step in trace.steps
        ),
        ("letter", "pairs at that moment, with their counts"),
    )
    table = Table(tuple(rows), headers, right=frozenset({3, 5, 6}))
    return Section(title, (table, Line(_cell(summary)), rivals))


def _replacement(step: CompressionStep) -> tuple[Cell, ...]:
    return (
        (Run(visible(step.symbol), "new"),),
        (Run(_pair(step.left, step.right, visible), "taken"),),
        (Run(visible(step.expanded), "symbol"),),
        _number(step.count),
        _highlighted(step.text_after, step.symbol),
        _number(step.length),
        _number(step.symbols),
    )


def _rivals(candidates: Sequence[Candidate]) -> Cell:
    cell: list[Run] = []
    for index, candidate in enumerate(candidates):
        style: Style = "merge" if index else "taken"
        cell += [Run("  ")] if cell else []
        cell.append(Run(_pair(candidate.left, candidate.right, visible), style))
        cell.append(Run(f":{candidate.count}", "rank"))
    return tuple(cell)


def _highlighted(text: str, letter: str) -> Cell:
    cell: list[Run] = []
    for index, part in enumerate(text.split(letter)):
        cell += [Run(visible(letter), "new")] if index else []
        cell += [Run(visible(part), "symbol")] if part else []
    return tuple(cell)


_LAYOUTS: dict[type[Trace], Callable[[Any], Section]] = {
    TrainingTrace: _training,
    UnigramTrainingTrace: training_section,
    MergeTrace: _merge,
    EncodingTrace: _encoding,
    WordTrace: _encoded_word,
    Compression: _compression,
}
