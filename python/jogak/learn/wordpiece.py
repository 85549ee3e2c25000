"""Learning WordPiece, and naming the ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from jogak import _core
from jogak.errors import ConfigError, TrainingInterrupted
from jogak.learn.job import Job
from jogak.resize import assign_ids
from jogak.spec import Marker, Spec, WordPiece, WordPieceModel
from jogak.spec.markers import MARKER_TEXT
from jogak.tokenizer import Tokenizer
from jogak.training import WordPieceLog

__all__ = ["keeps_order", "learn", "usual_pretokenizer"]


def usual_pretokenizer(config: WordPiece) -> str:
    """How text is cut unless somebody says otherwise: BERT's way, or at spaces that become ▁."""
    assert isinstance(config.marker, Marker)
    if config.marker.kind == "continuation":
        return "bert"
    return "metaspace" if config.marker.text == MARKER_TEXT["prefix"] else "whitespace"


def keeps_order(config: WordPiece) -> bool:
    """Whether the order in which words were first seen matters: never."""
    return False


def learn(job: Job[WordPiece]) -> Tokenizer:
    """Words -> tokenizer.

    Raises:
        ConfigError: options that contradict the words.
        TrainingInterrupted: Ctrl-C; the exception has the tokenizer learned so far.
    """
    _check_marker(job)
    result = _learn(job)
    tokenizer = _tokenizer(job, result)
    if result["stop"] == "interrupted":
        raise TrainingInterrupted(
            f"training was stopped after {len(result['counts']):,} merges; "
            "the tokenizer of these is in the exception's .tokenizer",
            tokenizer,
        )
    return tokenizer


def _check_marker(job: Job[WordPiece]) -> None:
    """Words that come with a marker come with ▁, and that must be the marker."""
    marker = job.config.marker
    if job.marked and marker != Marker("prefix"):
        raise ConfigError(
            f"the metaspace pre-tokenizer writes ▁ before words, but the marker is {marker}; choose "
            'marker="prefix", or another pre-tokenizer'
        )


def _uncounted_unknown(config: WordPiece, specials: Mapping[str, int]) -> str | None:
    """The unknown piece that nobody asked for: it gets an id, but is not counted in vocab_size."""
    return None if config.unknown in specials else config.unknown


def _learn(job: Job[WordPiece]) -> dict[str, Any]:
    config = job.config
    options = config.to_dict()
    assert isinstance(config.marker, Marker)
    options.update(config.marker.to_core())
    if job.marked:
        options["marker_kind"] = "none"
    if config.min_pair_count == "auto":
        options["min_pair_count"] = None
    others = list(job.specials)
    uncounted = _uncounted_unknown(config, job.specials)
    options["uncounted_pieces"] = [] if uncounted is None else [uncounted]
    return _core.train_wordpiece(
        job.counts.core,
        options,
        others,
        job.threads,
        consume=job.consume,
        progress=job.progress("merging"),
        trace=job.trace,
        around=_around(job),
    )


def _around(job: Job[WordPiece]) -> tuple[list[str], list[str]] | None:
    """The texts before and behind all that is learned. None where it gets ids of another order."""
    specials = job.specials
    if [*specials.values()] != [*range(len(specials))]:
        return None
    uncounted = _uncounted_unknown(job.config, specials)
    return [*specials], [] if uncounted is None else [uncounted]


def _tokenizer(job: Job[WordPiece], result: dict[str, Any]) -> Tokenizer:
    """Core ids -> final ids, and all that is known into a Spec and a log."""
    config, specials = job.config, job.specials
    assert isinstance(config.marker, Marker)
    # What comes as a table has its ids already.
    texts, around = result["pieces"], _around(job)
    first = 0 if around is None else len(around[0])
    alphabet: int = result["alphabet"]
    symbols = [texts[first + i] for i in range(alphabet)]
    for text in specials:
        if text in symbols:
            raise ConfigError(
                f"special token {text!r} is a symbol of the corpus's alphabet, so text would become "
                "it; choose a text of more than one character"
            )
    pieces = texts
    if around is None:
        _, pieces = assign_ids(texts, specials, _uncounted_unknown(config, specials))
    spec = Spec(
        model=WordPieceModel(
            pieces=pieces,
            marker=config.marker,
            mark_words=not job.marked,
            unknown=config.unknown,
            max_chars_per_word=config.max_chars_per_word,
        ),
        normalizer=job.normalizer,
        pretokenizer=job.stages,
        special_tokens=dict(specials),
    )
    log = WordPieceLog(
        config=config,
        stop=result["stop"],
        counts=result["counts"],
        left_counts=result["left_counts"],
        right_counts=result["right_counts"],
        occurrences=result["occurrences"],
        live_changes=result["live_changes"],
        initial_live=result["initial_live"],
        initial_length=result["initial_length"],
        distinct_words=result["distinct_words"],
        total_words=result["total_words"],
        passed_over=tuple(
            (texts[first + left], texts[first + right]) for left, right in result["passed_over"]
        ),
        report=job.counts.report,
    )
    if job.trace:
        from jogak.explain.wordpiece import training_trace

        others = len(specials) + alphabet
        log = dataclasses.replace(log, trace=training_trace(log, result["trace"], others))
    return Tokenizer(spec, log)
