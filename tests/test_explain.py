"""Traces: the three renderings show what they should, and say the same.

The traces come from a trainer and an encoder written here in the slowest possible way: every pair
is counted anew before each merge, and words are tuples of symbols.
"""

from __future__ import annotations

import dataclasses
import io
import json
import pickle
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies
from rich.cells import cell_len
from rich.console import Console

import jogak
from jogak.compression import compress
from jogak.explain import (
    Candidate,
    DictionaryEntry,
    EncodingTrace,
    MatchStep,
    MergeTrace,
    PairStep,
    RankedPair,
    Stretch,
    TrainingTrace,
    WordTrace,
)
from jogak.explain.data import Trace
from jogak.explain.symbols import _gpt2_bytes, byte_level, visible, width
from jogak.explain.text import to_text

SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def _replace(symbols: Sequence[str], left: str, right: str) -> tuple[str, ...]:
    out: list[str] = []
    for symbol in symbols:
        if out and not out[-1].endswith("\0") and out[-1] == left and symbol == right:
            out[-1] = left + right + "\0"  # closed, so that it takes part in no second merge
        else:
            out.append(symbol)
    return tuple(symbol.removesuffix("\0") for symbol in out)


def toy_train(
    counts: Mapping[str, int],
    merges: int = 10**9,
    suffix: str = "",
    ties: str = "first-seen",
    min_pair_count: int = 1,
    top: int = 5,
    alphabet: str = "chars",
) -> TrainingTrace:
    words = {tuple(word) + ((suffix,) if suffix else ()): count for word, count in counts.items()}
    vocab = {symbol for word in words for symbol in word}
    live = len(vocab)
    trace: list[MergeTrace] = []
    stop = "num-merges"
    while len(trace) < merges:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                pairs[pair] += count
        if not pairs:
            stop = "no-pair"
            break
        best = max(pairs.values())
        if best < min_pair_count:
            stop = "min_pair_count"
            break
        order = sorted(pairs) if ties == "lexicographic" else list(pairs)
        ranked = sorted(order, key=lambda pair: -pairs[pair])
        left, right = ranked[0]
        tied = sum(count == best for count in pairs.values())
        after = {_replace(word, left, right): count for word, count in words.items()}
        changed = [
            (DictionaryEntry(old, count), DictionaryEntry(new, count))
            for (old, count), new in zip(words.items(), after, strict=True)
            if old != new
        ]
        vocab.add(left + right)
        live_now = len({symbol for word in after for symbol in word})
        trace.append(
            MergeTrace(
                rank=len(trace),
                left=left,
                right=right,
                piece=left + right,
                count=best,
                occurrences=sum(
                    (len(old.symbols) - len(new.symbols)) * old.count for old, new in changed
                ),
                candidates=tuple(Candidate(*pair, pairs[pair]) for pair in ranked[:top]),
                candidates_total=len(pairs),
                tied=tied,
                decided_by="count" if tied == 1 else ties,
                before=tuple(old for old, _ in changed[:3]),
                after=tuple(new for _, new in changed[:3]),
                changed_total=len(changed),
                live_change=live_now - live,
                live=live_now,
                vocab_size=len(vocab),
                length_before=sum(len(word) * count for word, count in words.items()),
                length_after=sum(len(word) * count for word, count in after.items()),
                alphabet=alphabet,  # type: ignore[arg-type]  # it is a name there
            )
        )
        words, live = after, live_now
    config = {"type": "bpe", "num_merges": merges if merges < 10**9 else None, "ties": ties}
    return TrainingTrace(config=config, merges=tuple(trace), stop=stop, total_merges=len(trace))


def toy_encode(text: str, training: TrainingTrace, suffix: str = "", start: int = 0) -> WordTrace:
    ranks = {(merge.left, merge.right): merge.rank for merge in training.merges}
    symbols = first = tuple(text) + ((suffix,) if suffix else ())
    steps = []
    while True:
        pairs = tuple(RankedPair(*pair, ranks.get(pair)) for pair in pairwise(symbols))
        merges = [(pair.rank, i) for i, pair in enumerate(pairs) if pair.rank is not None]
        if not merges:
            break
        _, chosen = min(merges)
        after = _replace(symbols, pairs[chosen].left, pairs[chosen].right)
        steps.append(PairStep(pairs=pairs, chosen=chosen, before=symbols, after=after))
        symbols = after
    spans, at = [], start
    end = start + len(text.encode())
    for symbol in symbols:
        spans.append((at, min(end, at + len(symbol.encode()))))
        at = spans[-1][1]
    return WordTrace(
        text=text,
        span=(start, end),
        special=False,
        symbols=first,
        steps=tuple(steps),
        stop="no-merge" if pairs else "one-symbol",
        tokens=symbols,
        ids=tuple(range(len(symbols))),
        token_spans=tuple(spans),
    )


def toy_encoding(text: str, training: TrainingTrace, suffix: str = "") -> EncodingTrace:
    words, at = [], 0
    for word in text.split(" "):
        words.append(toy_encode(word, training, suffix, start=at))
        at += len(word.encode()) + 1
    return EncodingTrace(text=text, strategy="merges", words=tuple(words))


def toy_longest_match(text: str, pieces: set[str]) -> EncodingTrace:
    steps, at, covered = [], 0, []
    while at < len(text):
        found = [text[at:end] for end in range(len(text), at, -1) if text[at:end] in pieces]
        piece = found[0] if found else "<unk>"
        size = len(found[0]) if found else 1
        before = (*[Stretch(part, True) for part in covered], Stretch(text[at:], False))
        covered.append(piece)
        rest = (Stretch(text[at + size :], False),) if text[at + size :] else ()
        after = tuple(Stretch(part, True) for part in covered) + rest
        steps.append(MatchStep(at, piece, tuple(found), before, after))
        at += size
    spans, byte = [], 0
    for step in steps:
        size = len((step.piece if step.candidates else text[step.position]).encode())
        spans.append((byte, byte + size))
        byte += size
    word = WordTrace(
        text=text,
        span=(0, byte),
        special=False,
        symbols=tuple(text),
        steps=tuple(steps),
        stop="covered",
        tokens=tuple(covered),
        ids=tuple(range(len(covered))),
        token_spans=tuple(spans),
    )
    return EncodingTrace(text=text, strategy="longest-match", words=(word,))


SENNRICH_TRACE = toy_train(SENNRICH, suffix="</w>")
TEN = toy_train(SENNRICH, merges=10, suffix="</w>")
RECIPES = toy_train({"계란밥": 3, "간장밥": 5, "간장계란밥": 2, "볶음밥": 3})
KOREAN_PIECES = {"계란", "간장", "계", "란", "볶음", "볶음밥", "먹", "는", "다"}
TRACES: dict[str, Trace] = {
    "training": SENNRICH_TRACE,
    "merge": RECIPES.merges[0],
    "encoding": toy_encoding("lowest loki low", TEN, "</w>"),
    "korean": toy_encoding("계란간장볶음밥", RECIPES),
    "greedy": toy_longest_match("계란간장볶음밥<먹는다", KOREAN_PIECES),
    "word": toy_encode("lowest", TEN, "</w>"),
}


def plain_lines(trace: Trace, width: int = 80) -> list[str]:
    return to_text(trace, width).splitlines()


def terminal_lines(trace: Trace, width: int = 80) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(trace)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # a file in memory


def html_text(trace: Trace) -> str:
    """The words that a reader of the HTML sees; fails if a tag is not closed where it should be."""
    words: list[str] = []
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            opened.append(tag)
            for name, _ in attrs:
                assert name in ("style", "open"), "inline styles and nothing else"

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

        def handle_data(self, data: str) -> None:
            words.append(data)

    reader = Reader()
    reader.feed(trace._repr_html_())
    reader.close()
    assert not opened
    return "".join(words)


# --- the worked answers as a reader sees them ---------------------------------------------------


def test_lowest_shows_its_five_merges_and_why_it_stops() -> None:
    text = str(toy_encode("lowest", TEN, "</w>"))
    taken = re.findall(r"\[(\S+)\]", text)
    assert taken == ["e·s", "es·t", "est·</w>", "l·o", "lo·w"]
    assert "stop low·est</w> is no merge" in text
    assert "tokens low est</w>" in text


def test_a_step_shows_every_pair_with_its_rank_and_the_word_after() -> None:
    lines = plain_lines(toy_encode("lowest", TEN, "</w>"))
    assert any(
        "l·o:3  o·w  w·e  [e·s]:0  s·t  t·</w>" in line and line.endswith("l o w es t </w>")
        for line in lines
    )


def test_a_merge_shows_candidates_tie_dictionary_vocabulary_and_length() -> None:
    text = str(SENNRICH_TRACE.merges[0])
    assert "count 9: 3 pairs share the largest count, first-seen decides" in text
    assert re.search(r"→  e·s +9  first-seen\n +s·t +9  tied\n +t·</w> +9  tied\n +w·e +8\n", text)
    assert "… 9 more" in text
    assert re.search(r"6  n e w e s t </w>  n e w es t </w>", text)
    assert "vocabulary 0: 11 pieces in use, 12 in all; corpus length 95 → 86" in text


def test_a_merge_tells_of_overlaps() -> None:
    merge = dataclasses.replace(SENNRICH_TRACE.merges[0], count=11)
    assert "count 11, 9 without overlap: 3 pairs" in str(merge)


def test_a_merge_without_a_tie_says_that_the_count_decided() -> None:
    text = str(SENNRICH_TRACE.merges[2])
    assert "count 9: the largest count" in text
    assert re.search(r"→  est·</w> +9  count", text)


def test_training_tells_its_stop_and_what_is_left_out() -> None:
    assert "stop after 15 merges: no pair was left" in str(SENNRICH_TRACE)
    part = dataclasses.replace(SENNRICH_TRACE, merges=SENNRICH_TRACE.merges[:2])
    assert str(part).startswith("Training: 2 of 15 merges")
    assert "… and 13 more" in str(part)


def test_greedy_encoding_shows_what_matched_and_what_is_covered() -> None:
    text = str(TRACES["greedy"])
    assert re.search(r"3 +4  \[볶음밥\] 볶음 +볶음밥  \(계란\) \(간장\) \[볶음밥\] <먹는다", text)
    assert re.search(r"4 +7  none +<unk>", text)


def test_dropout_shows_what_it_set_aside() -> None:
    pairs = (RankedPair("l", "o", 0), RankedPair("o", "w", 1))
    word = WordTrace(
        text="low",
        span=(0, 3),
        special=False,
        symbols=("l", "o", "w"),
        steps=(PairStep(pairs, None, ("l", "o", "w"), ("l", "o", "w"), dropped=(0, 1)),),
        stop="dropout",
        tokens=("l", "o", "w"),
        ids=(0, 1, 2),
        token_spans=((0, 1), (1, 2), (2, 3)),
    )
    assert "~l·o~:0  ~o·w~:1" in str(word)
    assert "stop dropout set aside every merge that was left" in str(word)


# --- every rendering, every trace ---------------------------------------------------------------


@pytest.mark.parametrize("name", TRACES)
def test_terminal_notebook_and_text_say_the_same(name: str) -> None:
    def essence(text: str) -> str:
        return re.sub(r"[^\w·<>/+→␣…]|─", "", text)

    plain = essence(re.sub(r"[\[\]()~]", "", to_text(TRACES[name], 1000)))
    assert essence("".join(terminal_lines(TRACES[name], 1000))) == plain
    assert essence(html_text(TRACES[name])) == plain


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", TRACES)
def test_no_line_is_wider_than_the_page(name: str, width: int) -> None:
    for line in (*plain_lines(TRACES[name], width), *terminal_lines(TRACES[name], width)):
        assert cell_len(line) <= width, line


def test_columns_stand_under_each_other_in_korean() -> None:
    lines = plain_lines(toy_encoding("계란간장볶음밥", RECIPES))
    result = lines[lines.index("  token   id  bytes") :]
    assert [cell_len(line[: line.index("–")]) for line in result[2:]] == [15, 15, 16]


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_is_json_and_survives_pickling(name: str) -> None:
    trace = TRACES[name]
    data = trace.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert pickle.loads(pickle.dumps(trace)) == trace
    assert len(repr(trace)) < 120


def test_to_dict_tells_the_two_kinds_of_steps_apart() -> None:
    assert TRACES["word"].to_dict()["steps"][0]["kind"] == "pair"
    greedy = TRACES["greedy"].to_dict()["words"][0]["steps"][0]
    assert greedy["kind"] == "match"
    assert greedy["candidates"] == ["계란", "계"]


def test_an_empty_text_has_a_trace_too() -> None:
    trace = EncodingTrace("", "merges", ())
    assert "0 words, 0 tokens" in str(trace)
    assert "0 words, 0 tokens" in html_text(trace)
    assert "0 words, 0 tokens" in "\n".join(terminal_lines(trace))


def test_html_is_escaped() -> None:
    html = toy_encoding("<script>alert(1)</script>", TEN)._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_terminal_does_not_read_markup_in_the_text() -> None:
    assert "[red]" in terminal_lines(toy_encoding("[red]", TEN))[0]


# --- symbols ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        (" ", "␣"),
        ("\n", "↵"),
        ("\t", "⇥"),
        ("\u00a0", "\\u{a0}"),
        ("\u200d", "\\u{200d}"),
        ("\u0301", "◌\u0301"),
        ("é", "é"),
        ("밥", "밥"),
    ],
)
def test_nothing_is_invisible(text: str, drawn: str) -> None:
    assert visible(text) == drawn


@given(strategies.text())
def test_drawn_text_has_no_space_that_could_break_a_column(text: str) -> None:
    assert not any(character.isspace() for character in visible(text))
    gpt2 = {byte: character for character, byte in _gpt2_bytes().items()}
    drawn = byte_level("".join(gpt2[byte] for byte in text.encode("utf-8", "surrogatepass")))
    assert not any(character.isspace() for character in drawn)


@given(strategies.text(alphabet=strategies.characters(categories=["L", "N", "P", "S", "Z"])))
def test_width_is_what_rich_counts(text: str) -> None:
    drawn = visible(text)
    assume(all(width(character) == cell_len(character) for character in drawn))
    assert width(drawn) == sum(map(cell_len, drawn))


def test_byte_level_symbols_show_whole_characters_and_broken_bytes() -> None:
    gpt2 = {byte: character for character, byte in _gpt2_bytes().items()}
    assert len(gpt2) == 256

    def symbol(raw: bytes) -> str:
        return "".join(gpt2[byte] for byte in raw)

    assert byte_level(symbol(b" low")) == "Ġlow"
    assert byte_level(symbol("최고".encode())) == "최고"
    assert byte_level(symbol("최고".encode()[:5])) == "최‹EAB3›"
    assert byte_level(symbol("최고".encode()[1:])) == "‹B59C›고"
    assert byte_level("<|끝|>") == "<|끝|>"


def test_what_the_rules_forbid_is_no_candidate() -> None:
    config = jogak.BPE(marker="none", split_digits=True, min_pair_count=1)
    tok = jogak.train({"12": 10, "ab": 5}, config, pretokenizer="none", trace=1)
    (merge,) = tok.training.trace.merges
    assert merge.candidates == (Candidate("a", "b", 5),)
    assert (merge.candidates_total, merge.tied) == (1, 1)


# --- compression --------------------------------------------------------------------------------


@pytest.fixture
def toy_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    def merges(
        text: str, ties: str, min_pair_count: int, max_steps: int | None
    ) -> Sequence[MergeTrace]:
        most = 10**9 if max_steps is None else max_steps
        return toy_train({text: 1}, most, ties=ties, min_pair_count=min_pair_count).merges

    monkeypatch.setattr(sys.modules["jogak.compression"], "_merges", merges)


@pytest.mark.usefixtures("toy_merges")
class TestCompress:
    def test_worked_answer(self) -> None:
        packed = compress("aaabdaaabac")
        assert [step.text_after for step in packed.steps] == ["ZabdZabac", "ZYdZYac", "XdXac"]
        assert packed.table == {"Z": ("a", "a"), "Y": ("a", "b"), "X": ("Z", "Y")}
        assert [step.expanded for step in packed.steps] == ["aa", "ab", "aaab"]
        assert (packed.result, packed.steps[-1].length, packed.steps[-1].symbols) == ("XdXac", 5, 7)
        assert packed.decompress() == "aaabdaaabac"
        assert "length 11 → 5, letters in use 4 → 7" in str(packed)
        assert "XdXac" in html_text(packed)
        assert "XdXac" in "\n".join(terminal_lines(packed))

    def test_letters_of_the_text_are_not_taken(self) -> None:
        packed = compress("ZZZZ Ya Ya", ties="first-seen")
        assert list(packed.table) == ["X", "W", "V"]
        assert packed.decompress() == "ZZZZ Ya Ya"

    def test_letters_go_on_behind_the_alphabet(self) -> None:
        text = "".join(f"{chr(97 + i)}{chr(97 + j)}" * 2 for i in range(26) for j in range(26))
        packed = compress(text)
        assert list(packed.table)[:27] == [*map(chr, range(90, 64, -1)), "Ω"]
        assert packed.decompress() == text

    def test_max_steps_and_min_pair_count(self) -> None:
        assert compress("aaabdaaabac", max_steps=1).result == "ZabdZabac"
        assert compress("aaabdaaabac", min_pair_count=3).result == "ZabdZabac"
        assert compress("abc").steps == ()
        assert "nothing to replace" in str(compress(""))

    @given(
        strategies.text(alphabet="abZ 가", max_size=60),
        strategies.sampled_from(["lexicographic", "first-seen"]),
        strategies.integers(1, 3),
    )
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_decompress_is_the_way_back(self, text: str, ties: Any, least: int) -> None:
        packed = compress(text, ties=ties, min_pair_count=least)
        assert packed.decompress() == text
        assert not set(packed.table) & set(text)
        for step in packed.steps:
            assert step.length == len(step.text_after)
