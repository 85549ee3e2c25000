"""Learning byte pair encoding, and naming the ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from jogak import _core
from jogak.errors import ConfigError, TrainingInterrupted
from jogak.learn.job import Job, byte_pieces
from jogak.resize import assign_ids
from jogak.spec import BPE, BPEModel, Marker, Spec
from jogak.tokenizer import Tokenizer
from jogak.training import TrainingLog

__all__ = ["keeps_order", "learn", "usual_pretokenizer"]

#: The pre-tokenizer that goes with a marker unless another is named.
_USUAL = {"byte-level": "o200k", "prefix": "metaspace"}


def usual_pretokenizer(config: BPE) -> str:
    """How text is cut unless somebody says otherwise."""
    assert isinstance(config.marker, Marker)
    return _USUAL.get(config.marker.kind, "whitespace")


def keeps_order(config: BPE) -> bool:
    """Whether the order in which words were first seen matters."""
    return config.ties == "first-seen"


def learn(job: Job[BPE]) -> Tokenizer:
    """Words -> tokenizer.

    Raises:
        ConfigError: options that contradict the words.
        TrainingInterrupted: Ctrl-C; the exception has the tokenizer learned so far.
    """
    result = _learn(job)
    tokenizer = _tokenizer(job, result)
    if result["stop"] == "interrupted":
        raise TrainingInterrupted(
            f"training was stopped after {len(result['merges']):,} merges; "
            "the tokenizer of these is in the exception's .tokenizer",
            tokenizer,
        )
    return tokenizer


def _byte_pieces(config: BPE) -> list[str]:
    return byte_pieces() if config.byte_fallback else []


def _uncounted_unknown(config: BPE, specials: Mapping[str, int]) -> str | None:
    """The unknown piece that nobody asked for: it gets an id, but is not counted in vocab_size."""
    needed = config.alphabet == "chars" and not config.byte_fallback
    return config.unknown if needed and config.unknown not in specials else None


def _learn(job: Job[BPE]) -> dict[str, Any]:
    config, specials = job.config, job.specials
    options = config.to_dict()
    assert isinstance(config.marker, Marker)
    options.update(config.marker.to_core())
    if job.marked:
        options["marker_kind"] = "none"
    options["alphabet"] = config.alphabet
    others = [*specials, *_byte_pieces(config)]
    uncounted = _uncounted_unknown(config, specials)
    if uncounted is not None:
        others.append(uncounted)
        if config.vocab_size is not None:
            options["vocab_size"] = config.vocab_size + 1
    return _core.train_bpe(
        job.counts.core,
        options,
        others,
        consume=job.consume,
        progress=job.progress("merging"),
        trace=job.trace,
    )


def _tokenizer(job: Job[BPE], result: dict[str, Any]) -> Tokenizer:
    """Core ids -> final ids, and all that is known into a Spec and a log."""
    config, specials = job.config, job.specials
    assert isinstance(config.marker, Marker)
    texts: list[str] = result["pieces"]
    kept = list(range(len(texts)))
    if config.prune_dead and config.strategy != "merges":
        alphabet = result["alphabet"]
        kept = [i for i in kept if i < alphabet or not result["dead"][i]]
    byte_pieces = _byte_pieces(config)
    for text in specials:
        if text in texts[: result["alphabet"]]:
            raise ConfigError(
                f"special token {text!r} is a symbol of the corpus's alphabet, so text would become "
                "it; choose a text of more than one character"
            )
    ordinary = byte_pieces + [texts[i] for i in kept]
    uncounted = _uncounted_unknown(config, specials)
    ids, pieces = assign_ids(ordinary, specials, uncounted)
    final = dict(zip(kept, ids[len(byte_pieces) :], strict=True))
    first_product: int = result["alphabet"]
    merges = tuple(
        (final[left], final[right])
        for product, (left, right) in enumerate(result["merges"], first_product)
        if left in final and right in final and product in final
    )
    unknown = config.unknown if config.unknown in specials else uncounted
    spec = Spec(
        model=BPEModel(
            pieces=pieces,
            merges=merges,
            marker=config.marker,
            mark_words=not job.marked,
            alphabet=config.alphabet,
            byte_fallback=config.byte_fallback,
            unknown=unknown,
            fuse_unknown=config.fuse_unknown,
            strategy=config.strategy,
        ),
        pretokenizer=job.stages,
        special_tokens=dict(specials),
        normalizer=job.normalizer,
    )
    log = TrainingLog(
        config=config,
        stop=result["stop"],
        counts=tuple(result["counts"]),
        occurrences=tuple(result["occurrences"]),
        live_changes=tuple(result["live_changes"]),
        initial_live=result["initial_live"],
        initial_length=result["initial_length"],
        distinct_words=result["distinct_words"],
        total_words=result["total_words"],
        pruned=tuple(text for i, text in enumerate(texts) if i not in final),
        passed_over=tuple((texts[left], texts[right]) for left, right in result["passed_over"]),
        report=job.counts.report,
    )
    if job.trace:
        from jogak.explain.build import training_trace

        others = len(specials) + len(byte_pieces) + first_product
        log = dataclasses.replace(log, trace=training_trace(log, result["trace"], others))
    return Tokenizer(spec, log)
