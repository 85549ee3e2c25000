"""The training log: what is derived, what is said in words, what is refused."""

from __future__ import annotations

import dataclasses
import pickle
from itertools import accumulate
from typing import Any

import pytest
from format_cases import logs, toy_log
from hypothesis import given, settings

from jogak.errors import ConfigError
from jogak.spec import BPE
from jogak.training import MergeStep, TrainingLog


def change(**fields: Any) -> TrainingLog:
    return dataclasses.replace(toy_log(), **fields)


def test_steps_tell_each_merge() -> None:
    assert list(toy_log().steps) == [
        MergeStep(rank=0, count=20, occurrences=20, live_change=1, live=8, corpus_length=93),
        MergeStep(rank=1, count=16, occurrences=16, live_change=0, live=8, corpus_length=77),
        MergeStep(rank=2, count=15, occurrences=15, live_change=1, live=9, corpus_length=62),
    ]
    assert toy_log().live == (8, 8, 9)


def test_steps_are_a_sequence() -> None:
    steps = toy_log().steps
    assert (len(steps), steps[-1], steps[:2]) == (3, steps[2], (steps[0], steps[1]))
    with pytest.raises(IndexError):
        steps[3]


@settings(deadline=None)
@given(logs())
def test_steps_agree_with_the_sums(log: TrainingLog) -> None:
    assert [step.live for step in log.steps] == [
        log.initial_live + change for change in accumulate(log.live_changes)
    ]
    left = log.initial_length
    for step in log.steps:
        left -= step.occurrences
        assert step.corpus_length == left


@pytest.mark.parametrize(
    ("log", "stopped"),
    [
        (toy_log(), "stopped: the vocabulary has 11 pieces"),
        (change(config=BPE(vocab_size=32_000)), "stopped: the vocabulary has 32,000 pieces"),
        (change(stop="num-merges"), "stopped: the 3 merges asked for are made"),
        (
            change(stop="min-pair-count"),
            "stopped: every pair that is left occurs fewer than 2 times",
        ),
        (change(stop="no-pair"), "stopped: no pair is left to merge"),
        (
            change(stop="interrupted"),
            "stopped: interrupted after 3 merges; those made so far are complete",
        ),
    ],
)
def test_summary_says_why_it_stopped(log: TrainingLog, stopped: str) -> None:
    assert log.summary().splitlines()[1] == stopped


def test_summary() -> None:
    assert toy_log().summary() == (
        "BPE: 3 merges over 36 words, 5 of them distinct\n"
        "stopped: the vocabulary has 11 pieces\n"
        "live pieces: 7 before the first merge, 9 after the last\n"
        "corpus: 113 symbols before the first merge, 62 after the last\n"
        "dropped as dead: 1 piece\n"
        "passed over: 1 pair (too long, or a piece already)"
    )


@settings(deadline=None)
@given(logs())
def test_dict_and_pickle_bring_the_log_back(log: TrainingLog) -> None:
    assert TrainingLog.from_dict(log.to_dict()) == log
    assert pickle.loads(pickle.dumps(log)) == log


def test_the_trace_has_no_weight_and_is_not_saved() -> None:
    traced = change(trace=object())
    assert traced == toy_log()
    assert "trace" not in traced.to_dict()
    assert "trace" not in repr(traced)


def test_truncated() -> None:
    cut = toy_log().truncated(2, pruned=["b"])
    assert cut.counts == (20, 16)
    assert cut.steps[-1].corpus_length == 77
    assert (cut.stop, cut.config.num_merges, cut.config.vocab_size) == ("num-merges", 2, None)
    assert cut.pruned == ("b",)
    assert toy_log().truncated(3) == toy_log()
    assert len(toy_log().truncated(0)) == 0
    assert "corpus" not in toy_log().truncated(0).summary()


@pytest.mark.parametrize("merges", [-1, 4, True, 1.0])
def test_truncated_refuses(merges: Any) -> None:
    with pytest.raises(ConfigError, match=r"num_merges is .*; expected a whole number from 0 to 3"):
        toy_log().truncated(merges)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"config": None}, "config is None; expected a BPE"),
        ({"stop": "done"}, "stop is 'done'; expected one of 'num-merges', 'vocab-size'"),
        ({"counts": (20, 16, -1)}, r"counts\[2\] is -1; expected a whole number from 0 to"),
        ({"counts": (20, True, 1)}, r"counts\[1\] is True; expected a whole number"),
        ({"counts": 5}, "counts is a int; expected a list"),
        ({"counts": (20, 16)}, "occurrences has 3 entries and counts has 2; expected one of each"),
        ({"occurrences": (1, 2**64, 1)}, r"occurrences\[1\] is 18446744073709551616"),
        ({"live_changes": (1, 2, 1)}, r"live_changes\[1\] is 2; expected .* from -1 to 1"),
        ({"live_changes": (-1, 0, 0), "initial_live": 0}, "below zero live pieces"),
        ({"initial_length": 50}, "occurrences sum up to 51 but the corpus had only 50 symbols"),
        ({"initial_live": None}, "initial_live is None; expected a whole number"),
        ({"total_words": 10**100}, "total_words is a number of more than 256 bits"),
        ({"pruned": ("a", 3)}, r"pruned\[1\] is 3; expected a text"),
        ({"passed_over": (("a",),)}, r"passed_over\[0\] is not a pair of texts"),
        ({"passed_over": ("ab",)}, r"passed_over\[0\] is not a pair of texts"),
        ({"passed_over": (("a", None),)}, r"passed_over\[0\]\[1\] is None; expected a text"),
    ],
)
def test_impossible_logs_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        change(**fields)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda data: data.pop("counts"), "counts is missing"),
        (lambda data: data.update(more=1), "'more' is no field of the log; expected config,"),
        (
            lambda data: data.update(config={"type": "unigram"}),
            "config.type is 'unigram'; expected 'bpe'",
        ),
        (lambda data: data["config"].update(speed=9), "'speed' is no field of config; expected"),
        (lambda data: data["config"].pop("ties"), "config.ties is missing"),
        (lambda data: data["config"]["marker"].pop("text"), "config.marker.text is missing"),
        (lambda data: data["config"].update(marker="none"), "config.marker is 'none'; expected an"),
        (lambda data: data.update(config=[]), "config is a list of 0; expected an object"),
    ],
)
def test_impossible_dicts_are_refused(edit: Any, message: str) -> None:
    data = toy_log().to_dict()
    edit(data)
    with pytest.raises(ConfigError, match=message):
        TrainingLog.from_dict(data)
