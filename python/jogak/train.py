"""Corpus -> tokenizer: count, learn, name the ids.

Rule: the corpus is counted once; what is learned depends on the counts and the config alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from jogak import _core
from jogak.counts import Counts, count
from jogak.errors import ConfigError, TrainingInterrupted
from jogak.progress import Progress, reporting
from jogak.resize import assign_ids
from jogak.spec import (
    BPE,
    BPEModel,
    Named,
    Pretokenizer,
    PretokenizerLike,
    Spec,
    resolve_pretokenizer,
)
from jogak.tokenizer import Tokenizer
from jogak.training import TrainingLog

if TYPE_CHECKING:
    from jogak.corpus import Corpus
    from jogak.counts import Report

__all__ = ["train"]

#: The pre-tokenizer that goes with a marker unless another is named.
_USUAL = {"byte-level": "o200k", "prefix": "metaspace"}
SpecialTokens: TypeAlias = Mapping[str, int] | Iterable[str]


def train(
    corpus: Corpus | Counts | Mapping[str, int],
    model: BPE | None = None,
    *,
    pretokenizer: PretokenizerLike | None = None,
    special_tokens: SpecialTokens = (),
    num_threads: int | None = None,
    progress: Progress = False,
    trace: bool | int = False,
    **reading: Any,
) -> Tokenizer:
    """Learn a tokenizer from a corpus.

    Args:
        corpus: files, folders, globs, ``"-"`` for standard input, an iterable of texts, an inventory
            ``{word: count}``, or `Counts`; see `jogak.count`.
        model: how to learn; `BPE` with its defaults if left out.
        pretokenizer: how text is cut into words: a name, a `Split`, `Digits`, or a list of these.
            None takes what the counts were made with, else ``"o200k"`` for byte-level,
            ``"metaspace"`` for a prefix marker, ``"whitespace"`` for all others.
        special_tokens: texts, which get the first ids, or a dict text -> chosen id. Ordinary text
            never becomes one.
        num_threads: threads for counting; the result does not depend on it.
        progress: True for a bar, or a callable ``(stage, done, total)``.
        trace: True to keep how each merge came about (`TrainingLog.trace`), or how many of the first
            merges. Every traced merge reads the whole inventory: for small corpora.
        reading: how to read the corpus: ``field``, ``column``, ``documents``, ``separator``,
            ``newline``, ``errors``, ``min_word_length``; see `jogak.count`.

    Raises:
        ConfigError: options that contradict each other or the corpus.
        CorpusError: the corpus cannot be read as asked.
        TrainingInterrupted: Ctrl-C; the exception has the tokenizer learned so far.

    >>> import jogak
    >>> tok = jogak.train({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5},
    ...                   jogak.BPE(vocab_size=10, marker="none"))
    >>> tok.merges
    (('u', 'g'), ('u', 'n'), ('h', 'ug'))
    >>> tok.tokens("pug bug mug")
    ['p', 'ug', 'b', 'ug', '<unk>', 'ug']
    """
    config = BPE() if model is None else model
    if not isinstance(config, BPE):
        raise ConfigError(f"model is {model!r}; expected a jogak.BPE")
    specials = _special_ids(special_tokens, config)
    with reporting(progress) as report:
        counts, stages = _counted(corpus, config, pretokenizer, num_threads, report, reading)
        consume = counts is not corpus  # nobody else has a use for them
        result = _learn(counts, config, stages, specials, report, trace, consume)
    tokenizer = _tokenizer(result, config, stages, specials, counts.report, traced=bool(trace))
    if result["stop"] == "interrupted":
        raise TrainingInterrupted(
            f"training was stopped after {len(result['merges']):,} merges; "
            "the tokenizer of these is in the exception's .tokenizer",
            tokenizer,
        )
    return tokenizer


def _counted(
    corpus: Any,
    config: BPE,
    pretokenizer: PretokenizerLike | None,
    num_threads: int | None,
    report: Callable[[str, int, int | None], None] | None,
    reading: dict[str, Any],
) -> tuple[Counts, tuple[Pretokenizer, ...]]:
    """The words of the corpus, and the pre-tokenizer that made them."""
    assert not isinstance(config.marker, str)
    chosen = None if pretokenizer is None else resolve_pretokenizer(pretokenizer)
    usual = (Named(_USUAL.get(config.marker.kind, "whitespace")),)
    if isinstance(corpus, Counts):
        if reading:
            raise ConfigError(
                f"{', '.join(reading)}: these say how text is read, but counts are read already"
            )
        if chosen and corpus.pretokenizer and chosen != corpus.pretokenizer:
            raise ConfigError(
                f"the counts were made with {corpus.pretokenizer}; pretokenizer {chosen} would cut "
                "text into other words than those that were learned from; leave it out, or count again"
            )
        return corpus, corpus.pretokenizer or chosen or usual
    counts = count(
        corpus,
        pretokenizer=chosen or usual,
        keep_order=config.ties == "first-seen",
        num_threads=num_threads,
        progress=report or False,
        **reading,
    )
    return counts, chosen or usual


def _special_ids(special_tokens: SpecialTokens, config: BPE) -> dict[str, int]:
    """Texts and ids of the special tokens, checked."""
    if isinstance(special_tokens, str):
        raise ConfigError(
            f"special_tokens is the text {special_tokens!r}; expected a list of texts, or a dict"
        )
    if isinstance(special_tokens, Mapping):
        chosen = dict(special_tokens)
    else:
        texts = list(special_tokens)
        chosen = {text: id_ for id_, text in enumerate(texts)}
        if len(chosen) < len(texts):
            double = next(text for text in texts if texts.count(text) > 1)
            raise ConfigError(f"special token {double!r} is listed twice")
    for text, id_ in chosen.items():
        if not isinstance(text, str) or not text:
            raise ConfigError(f"special token {text!r} is no text")
        if isinstance(id_, bool) or not isinstance(id_, int) or id_ < 0:
            raise ConfigError(f"special token {text!r} has the id {id_!r}; expected 0 or more")
        if config.vocab_size is not None and id_ >= config.vocab_size:
            raise ConfigError(
                f"special token {text!r} has the id {id_}, but vocab_size is {config.vocab_size}; "
                "choose a smaller id or a larger vocabulary"
            )
    by_id: dict[int, str] = {}
    for text, id_ in chosen.items():
        if id_ in by_id:
            raise ConfigError(f"special tokens {by_id[id_]!r} and {text!r} share the id {id_}")
        by_id[id_] = text
    return chosen


def _byte_pieces(config: BPE) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in range(256)] if config.byte_fallback else []


def _uncounted_unknown(config: BPE, specials: Mapping[str, int]) -> str | None:
    """The unknown piece that nobody asked for: it gets an id, but is not counted in vocab_size."""
    needed = config.alphabet == "chars" and not config.byte_fallback
    return config.unknown if needed and config.unknown not in specials else None


def _learn(
    counts: Counts,
    config: BPE,
    stages: tuple[Pretokenizer, ...],
    specials: Mapping[str, int],
    report: Callable[[str, int, int | None], None] | None,
    trace: bool | int,
    consume: bool,
) -> dict[str, Any]:
    options = config.to_dict()
    marker = options.pop("marker")
    # With metaspace the words come with their marker.
    writes = stages[0] != Named("metaspace")
    options["marker_kind"] = marker["kind"] if writes else "none"
    options["marker_text"] = marker["text"]
    options["marker_joined"] = marker["symbol"] == "joined"
    options["alphabet"] = config.alphabet
    others = [*specials, *_byte_pieces(config)]
    uncounted = _uncounted_unknown(config, specials)
    if uncounted is not None:
        others.append(uncounted)
        if config.vocab_size is not None:
            options["vocab_size"] = config.vocab_size + 1

    def merged(done: int, total: int | None) -> None:
        if report is not None:
            report("merging", done, total)

    limit = (1 << 62) if trace is True else int(trace)
    if limit < 0:
        raise ConfigError(f"trace is {trace!r}; expected True, False or a number of merges")
    return _core.train_bpe(
        counts.core, options, others, consume=consume, progress=merged, trace=limit
    )


def _tokenizer(
    result: dict[str, Any],
    config: BPE,
    stages: tuple[Pretokenizer, ...],
    specials: Mapping[str, int],
    report: Report,
    *,
    traced: bool,
) -> Tokenizer:
    """Core ids -> final ids, and all that is known into a Spec and a log."""
    assert not isinstance(config.marker, str)
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
            mark_words=stages[0] != Named("metaspace"),
            alphabet=config.alphabet,
            byte_fallback=config.byte_fallback,
            unknown=unknown,
            fuse_unknown=config.fuse_unknown,
            strategy=config.strategy,
        ),
        pretokenizer=stages,
        special_tokens=dict(specials),
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
        report=report,
    )
    if traced:
        from jogak.explain.build import training_trace

        others = len(specials) + len(byte_pieces) + first_product
        log = dataclasses.replace(log, trace=training_trace(log, result["trace"], others))
    return Tokenizer(spec, log)
