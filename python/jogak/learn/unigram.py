"""Learning the Unigram language model, and naming the ids."""

from __future__ import annotations

import dataclasses
import struct
from typing import Any

from jogak import _core
from jogak.errors import ConfigError, TrainingInterrupted
from jogak.learn.job import Job, byte_pieces
from jogak.resize import assign_ids
from jogak.spec import Marker, Metaspace, Pretokenizer, Spec, Unigram, UnigramModel
from jogak.tokenizer import Tokenizer
from jogak.training import UnigramLog, UnigramRound

__all__ = ["keeps_order", "learn", "usual_pretokenizer"]


def usual_pretokenizer(config: Unigram) -> Metaspace:
    """How text is cut unless somebody says otherwise."""
    return Metaspace(split=config.split_by_whitespace, suffix=config.treat_whitespace_as_suffix)


def keeps_order(config: Unigram) -> bool:
    """Whether the order in which words were first seen matters."""
    return False


def learn(job: Job[Unigram]) -> Tokenizer:
    """Words -> tokenizer.

    Raises:
        ConfigError: options that contradict the words.
        TrainingInterrupted: Ctrl-C; the exception has the tokenizer learned so far.
    """
    _check(job)
    result = _core.train_unigram(
        job.counts.core,
        job.config.to_dict(),
        _others(job),
        job.threads,
        consume=job.consume,
        progress=job.progress("pruning"),
        trace=job.trace,
    )
    tokenizer = _tokenizer(job, result)
    if result["stop"] == "interrupted":
        raise TrainingInterrupted(
            f"training was stopped after {len(result['rounds']):,} rounds; the tokenizer of the "
            "pieces that were likeliest then is in the exception's .tokenizer",
            tokenizer,
        )
    return tokenizer


def _check(job: Job[Unigram]) -> None:
    config, first = job.config, job.stages[0]
    if isinstance(first, Metaspace):
        if first.split and not config.split_by_whitespace:
            raise ConfigError(
                "split_by_whitespace=False lets pieces cross words, but the pre-tokenizer metaspace "
                "cuts at every space, so none could; choose pretokenizer=jogak.Metaspace(split=False)"
            )
        if first.suffix != config.treat_whitespace_as_suffix:
            raise ConfigError(
                f"treat_whitespace_as_suffix is {config.treat_whitespace_as_suffix}, but the "
                f"pre-tokenizer metaspace has suffix={first.suffix}; the two must agree"
            )
    for text in config.user_defined:
        if text in job.specials:
            raise ConfigError(
                f"{text!r} is both a special token and user-defined; choose one: ordinary text never "
                "becomes a special token, but always a user-defined piece"
            )


def _byte_pieces(config: Unigram) -> list[str]:
    return byte_pieces() if config.byte_fallback else []


def _others(job: Job[Unigram]) -> list[str]:
    """Pieces that count for the size and are not learned, besides user-defined ones."""
    return [*job.specials, *_byte_pieces(job.config)]


def _marker(job: Job[Unigram]) -> Marker:
    """How the pre-tokenizer marks the border of words."""
    first = job.stages[0]
    if not isinstance(first, Metaspace) or not first.escape:
        return Marker()
    return Marker("suffix", "▁", "joined") if first.suffix else Marker("prefix")


def _in_one_piece(job: Job[Unigram]) -> tuple[Pretokenizer, ...]:
    """The words of the corpus, put together again where no piece lies across them."""
    (first, *rest) = job.stages
    if isinstance(first, Metaspace) and not rest and job.config.split_by_whitespace:
        return (dataclasses.replace(first, split=False),)
    return job.stages


def _tokenizer(job: Job[Unigram], result: dict[str, Any]) -> Tokenizer:
    """Pieces get ids: byte pieces, user-defined ones, then the learned, likeliest first."""
    config, specials = job.config, job.specials
    learned: list[str] = result["pieces"]
    for text in specials:
        if text in learned:
            raise ConfigError(
                f"special token {text!r} is a character of the corpus's alphabet, so text would "
                "become it; choose a text of more than one character"
            )
    needs_unknown = not config.byte_fallback and config.unknown not in specials
    uncounted = config.unknown if needs_unknown else None
    fixed = [*_byte_pieces(config), *config.user_defined]
    ids, pieces = assign_ids([*fixed, *learned], specials, uncounted)
    scores = [0.0] * len(pieces)
    for id_, score in zip(ids[len(fixed) :], result["scores"], strict=True):
        scores[id_] = score
    single = config.precision == "single"
    if single:
        scores = [struct.unpack("<f", struct.pack("<f", score))[0] for score in scores]
    first_user = len(fixed) - len(config.user_defined)
    spec = Spec(
        model=UnigramModel(
            pieces=pieces,
            scores=tuple(scores),
            user_defined=tuple(ids[first_user : len(fixed)]),
            byte_fallback=config.byte_fallback,
            unknown=config.unknown if config.unknown in specials else uncounted,
            fuse_unknown=config.fuse_unknown,
            precision=config.precision,
            marker=_marker(job),
        ),
        normalizer=job.normalizer,
        pretokenizer=_in_one_piece(job) if single else job.stages,
        special_tokens=dict(specials),
    )
    names = (
        *("stop", "seeds", "alphabet", "left_out", "distinct_words", "total_words"),
        *("distinct_chunks", "total_characters"),
    )
    log = UnigramLog(
        config=config,
        rounds=tuple(UnigramRound(*counts) for counts in result["rounds"]),
        report=job.counts.report,
        **{name: result[name] for name in names},
    )
    if job.trace:
        from jogak.explain.unigram import unigram_trace

        log = dataclasses.replace(log, trace=unigram_trace(log, result["trace"]))
    return Tokenizer(spec, log)
