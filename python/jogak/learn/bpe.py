"""Learning byte pair encoding, and naming the ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jogak import _core
from jogak.errors import ConfigError, TrainingInterrupted
from jogak.learn.job import Job, byte_pieces
from jogak.resize import assign_ids
from jogak.spec import BPE, BPEModel, Marker, Metaspace, ScoredBPEModel, Spec
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
    # Asked before the words are taken out of the counts.
    characters = job.counts.core.characters() if job.config.by_scores else []
    result = _learn(job)
    tokenizer = _tokenizer(job, result, characters)
    if result["stop"] == "interrupted":
        raise TrainingInterrupted(
            f"training was stopped after {len(result['merges']):,} merges; "
            "the tokenizer of these is in the exception's .tokenizer",
            tokenizer,
        )
    return tokenizer


def _cut_at_spaces(job: Job[BPE]) -> bool:
    """Whether the pre-tokenizer does all that the options say about spaces."""
    config, spaces = job.config, job.stages[0]
    assert isinstance(spaces, Metaspace)
    loose = config.allow_whitespace_only_pieces or not config.split_by_whitespace
    if spaces.split and loose:
        option = "split_by_whitespace=False"
        if config.split_by_whitespace:
            option = "allow_whitespace_only_pieces=True"
        raise ConfigError(
            f"{option} wants words that are left together, but the pre-tokenizer metaspace cuts at "
            "every space; choose jogak.Metaspace(split=False)"
        )
    if spaces.suffix != config.treat_whitespace_as_suffix:
        raise ConfigError(
            f"treat_whitespace_as_suffix is {config.treat_whitespace_as_suffix}, but the pre-tokenizer "
            f"is {spaces}; let both say the same"
        )
    return spaces.split


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
    # Where words have one ▁ in front, as metaspace cuts them, there is nothing to look at.
    options["space_rules"] = job.marked and not _cut_at_spaces(job)
    others = [*specials, *_byte_pieces(config)]
    uncounted = _uncounted_unknown(config, specials)
    options["uncounted_pieces"] = [] if uncounted is None else [uncounted]
    return _core.train_bpe(
        job.counts.core,
        options,
        others,
        job.threads,
        consume=job.consume,
        progress=job.progress("merging"),
        trace=job.trace,
        around=_around(job),
    )


def _around(job: Job[BPE]) -> tuple[list[str], list[str]] | None:
    """The texts before and behind all that is learned. None where it gets ids of another order."""
    config, specials = job.config, job.specials
    pruned = config.prune_dead and config.strategy != "merges"
    if config.by_scores or pruned or [*specials.values()] != [*range(len(specials))]:
        return None
    uncounted = _uncounted_unknown(config, specials)
    return [*specials, *_byte_pieces(config)], [] if uncounted is None else [uncounted]


def _most_frequent_last(result: dict[str, Any], characters: Sequence[tuple[str, int]]) -> list[int]:
    """Core ids: the merges, best first, then the alphabet, most frequent first."""
    texts, alphabet = result["pieces"], result["alphabet"]
    counts = dict(characters)
    order = sorted(range(alphabet), key=lambda i: (-counts.get(texts[i], 0), texts[i]))
    return [*range(alphabet, len(texts)), *order]


@dataclass(frozen=True)
class _Named:
    """What was learned, in final ids."""

    pieces: Any
    merges: Any
    alphabet: Sequence[str]
    passed_over: tuple[tuple[str, str], ...]
    scores: tuple[float, ...] = ()
    pruned: tuple[str, ...] = ()


def _named(job: Job[BPE], result: dict[str, Any], characters: Sequence[tuple[str, int]]) -> _Named:
    """Core ids -> final ids."""
    config, specials = job.config, job.specials
    texts, size = result["pieces"], result["alphabet"]
    around = _around(job)
    if around is not None:
        first = len(around[0])
        alphabet = [texts[first + i] for i in range(size)]
        passed = tuple((texts[first + a], texts[first + b]) for a, b in result["passed_over"])
        return _Named(texts, result["merges"], alphabet, passed)
    kept = list(range(len(texts)))
    if config.prune_dead and config.strategy != "merges":
        kept = [i for i in kept if i < size or not result["dead"][i]]
    if config.by_scores:
        kept = _most_frequent_last(result, characters)
    byte_pieces = _byte_pieces(config)
    ordinary = byte_pieces + [texts[i] for i in kept]
    ids, pieces = assign_ids(ordinary, specials, _uncounted_unknown(config, specials))
    final = dict(zip(kept, ids[len(byte_pieces) :], strict=True))
    scores = [0.0] * len(pieces)
    for score, i in enumerate(kept):
        scores[final[i]] = -float(score)
    return _Named(
        pieces,
        merges=tuple(
            (final[left], final[right])
            for product, (left, right) in enumerate(result["merges"], size)
            if left in final and right in final and product in final
        ),
        alphabet=texts[:size],
        passed_over=tuple((texts[a], texts[b]) for a, b in result["passed_over"]),
        scores=tuple(scores),
        pruned=tuple(text for i, text in enumerate(texts) if i not in final),
    )


def _tokenizer(
    job: Job[BPE], result: dict[str, Any], characters: Sequence[tuple[str, int]]
) -> Tokenizer:
    """All that is known, into a Spec and a log."""
    config, specials = job.config, job.specials
    assert isinstance(config.marker, Marker)
    named = _named(job, result, characters)
    for text in specials:
        if text in named.alphabet:
            raise ConfigError(
                f"special token {text!r} is a symbol of the corpus's alphabet, so text would become "
                "it; choose a text of more than one character"
            )
    uncounted = _uncounted_unknown(config, specials)
    unknown = config.unknown if config.unknown in specials else uncounted
    shared: dict[str, Any] = {
        "pieces": named.pieces,
        "marker": config.marker,
        "mark_words": not job.marked,
        "byte_fallback": config.byte_fallback,
        "unknown": unknown,
        "fuse_unknown": config.fuse_unknown,
    }
    model: BPEModel
    if config.by_scores:
        model = ScoredBPEModel(**shared, merges=None, scores=named.scores)
    else:
        model = BPEModel(
            **shared, merges=named.merges, alphabet=config.alphabet, strategy=config.strategy
        )
    spec = Spec(
        model=model,
        pretokenizer=job.stages,
        special_tokens=dict(specials),
        normalizer=job.normalizer,
    )
    log = TrainingLog(
        config=config,
        stop=result["stop"],
        counts=result["counts"],
        occurrences=result["occurrences"],
        live_changes=result["live_changes"],
        initial_live=result["initial_live"],
        initial_length=result["initial_length"],
        distinct_words=result["distinct_words"],
        total_words=result["total_words"],
        pruned=named.pruned,
        passed_over=named.passed_over,
        report=job.counts.report,
    )
    if job.trace:
        from jogak.explain.build import training_trace

        others = len(specials) + len(_byte_pieces(config)) + result["alphabet"]
        log = dataclasses.replace(log, trace=training_trace(log, result["trace"], others))
    return Tokenizer(spec, log)
