"""Corpus -> tokenizer: count, learn, name the ids.

Rule: the corpus is counted once; what is learned depends on the counts and the config alone. Here is
what all families share; how each learns is in a file of its own. The core learns, here ids get their
names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from jogak.counts import Counts, count
from jogak.errors import ConfigError
from jogak.learn import bpe, unigram, wordpiece
from jogak.learn.job import Job, SpecialTokens, special_ids
from jogak.progress import Progress, reporting
from jogak.spec import (
    BPE,
    Config,
    Normalizer,
    NormalizerLike,
    Pretokenizer,
    PretokenizerLike,
    Unigram,
    WordPiece,
    resolve_normalizer,
    resolve_pretokenizer,
)
from jogak.threads import resolve_threads
from jogak.tokenizer import Tokenizer

if TYPE_CHECKING:
    from jogak.corpus import Corpus

__all__ = ["train"]


class _Family(Protocol):
    """What a module that learns one family has."""

    def usual_pretokenizer(self, config: Any) -> PretokenizerLike: ...

    def keeps_order(self, config: Any) -> bool: ...

    def learn(self, job: Job[Any]) -> Tokenizer: ...


#: Config -> the module that learns by it.
_FAMILIES: Mapping[type[Config], _Family] = {
    BPE: bpe,
    Unigram: unigram,
    WordPiece: wordpiece,
}


def train(
    corpus: Corpus | Counts | Mapping[str, int],
    model: Config | None = None,
    *,
    normalizer: NormalizerLike | None = None,
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
        model: how to learn: a `BPE`, a `Unigram` or a `WordPiece`; `BPE` with its defaults if left out.
        normalizer: how text is rewritten first: a name such as ``"nmt_nfkc"``, an object such as
            `Replace`, or a list of these; see `resolve_normalizer`. None takes what the counts were
            made with, else none.
        pretokenizer: how text is cut into words: a name, a `Split`, `Digits`, or a list of these.
            None takes what the counts were made with, else ``"o200k"`` for byte-level, ``"bert"`` for
            WordPiece with a continuation marker, ``"metaspace"`` for a prefix marker and for Unigram,
            ``"whitespace"`` for all others.
        special_tokens: texts, which get the first ids, or a dict text -> chosen id. Ordinary text
            never becomes one.
        num_threads: threads for counting and for training, at most 1024; the result does not depend
            on it.
        progress: True for a bar, or a callable ``(stage, done, total)``.
        trace: True to keep how each merge came about (`TrainingLog.trace`), or how many of the first
            merges. Every traced merge reads the whole inventory: for small corpora. For Unigram,
            rounds rather than merges (`UnigramLog.trace`), which cost little.
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
    family = _FAMILIES.get(type(config))
    if family is None:
        known = ", ".join(f"jogak.{kind.__name__}" for kind in _FAMILIES)
        raise ConfigError(f"model is {model!r}; expected one of {known}, made with its options")
    specials = special_ids(special_tokens, config.vocab_size)
    limit = (1 << 62) if trace is True else int(trace)
    if limit < 0:
        raise ConfigError(f"trace is {trace!r}; expected True, False or a number of steps")
    with reporting(progress) as report:
        rules = None if normalizer is None else resolve_normalizer(normalizer)
        counts, stages = _counted(corpus, config, rules, pretokenizer, num_threads, report, reading)
        consume = counts is not corpus  # nobody else has a use for them
        rules = counts.normalizer if rules is None else rules
        threads = resolve_threads(num_threads)
        job = Job(counts, config, stages, specials, report, limit, consume, rules, threads)
        return family.learn(job)


def _counted(
    corpus: Any,
    config: Config,
    normalizer: tuple[Normalizer, ...] | None,
    pretokenizer: PretokenizerLike | None,
    num_threads: int | None,
    report: Callable[[str, int, int | None], None] | None,
    reading: dict[str, Any],
) -> tuple[Counts, tuple[Pretokenizer, ...]]:
    """The words of the corpus, and the pre-tokenizer that made them."""
    family = _FAMILIES[type(config)]
    chosen = None if pretokenizer is None else resolve_pretokenizer(pretokenizer)
    usual = resolve_pretokenizer(family.usual_pretokenizer(config))
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
        if normalizer is not None and corpus.pretokenizer and normalizer != corpus.normalizer:
            raise ConfigError(
                f"the counts were made with the normalizer {corpus.normalizer}; {normalizer} would "
                "make other words than those that were learned from; leave it out, or count again"
            )
        return corpus, corpus.pretokenizer or chosen or usual
    counts = count(
        corpus,
        normalizer=normalizer,
        pretokenizer=chosen or usual,
        keep_order=family.keeps_order(config),
        num_threads=num_threads,
        progress=report or False,
        **reading,
    )
    return counts, chosen or usual
