"""Recipes of other trainers, carried over line by line: SentencePiece's flags in, a tokenizer out.

Rule: what a flag means stands here; how a model is learned does not. The pieces of BPE are those that
SentencePiece 0.2.3 learns by the same flags; docs/sentencepiece.md tells where the two part ways.
"""

from __future__ import annotations

import dataclasses
import itertools
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Literal, cast

from jogak.counts import Counts, count
from jogak.errors import ConfigError, CorpusError
from jogak.formats.sentencepiece_back import strip_of
from jogak.formats.sentencepiece_front import prepend_of
from jogak.learn import train
from jogak.normalization import compile_rules, read_rules
from jogak.progress import Progress
from jogak.recipes.files import model_bytes, write_files
from jogak.recipes.flags import Flags, flags_of, parse_command
from jogak.recipes.lines import Selection
from jogak.recipes.meta import Meta, meta_pieces
from jogak.spec import (
    BPE,
    Charsmap,
    CollapseSpaces,
    DecodeSentencePiece,
    Marker,
    Metaspace,
    Normalizer,
    RuleSet,
    ScoredBPEModel,
    Unigram,
    UnigramModel,
)
from jogak.tokenizer import Tokenizer
from jogak.training import WordPieceLog

__all__ = ["train_sentencepiece"]


def train_sentencepiece(
    command: str | None = None,
    *,
    sentence_iterator: Iterable[str | bytes] | None = None,
    model_writer: BinaryIO | None = None,
    extra_ids: int = 0,
    errors: Literal["strict", "replace", "skip"] = "strict",
    progress: Progress = False,
    **flags: Any,
) -> Tokenizer:
    """Learn a tokenizer by the flags of SentencePiece's trainer (Kudo & Richardson 2018).

    Args:
        command: flags as one text, ``"--input=a.txt --vocab_size=8000"``; keywords go before them.
        sentence_iterator: texts to learn from, instead of ``input``.
        model_writer: where the bytes of the ``.model`` file are written, anything with ``write``.
        extra_ids: so many special tokens ``<extra_id_0>``, ``<extra_id_1>``, … for T5, which come on
            top of ``vocab_size``, behind all other pieces; the last id is ``<extra_id_0>``.
        errors: what to do about broken UTF-8: see `jogak.count`.
        progress: True for a bar, or a callable ``(stage, done, total)``.
        flags: SentencePiece's names and values: ``input`` (files, with commas or as a list),
            ``model_prefix`` (writes ``.model`` and ``.vocab`` there), ``model_type`` (``"unigram"`` or
            ``"bpe"``), ``vocab_size``, ``character_coverage``, ``pad_id``, ``user_defined_symbols`` and
            all others; see docs/sentencepiece.md. The result does not depend on ``num_threads``.

    Returns:
        The tokenizer. What was left out of training is warned of, and stands in
        ``tokenizer.training.report``.

    Raises:
        ConfigError: a flag that is unknown or not possible here, by name; ids that collide; a
            vocabulary that is too large or too small for the corpus, with the size that would do.
        CorpusError: a file that cannot be read as asked, or no text to learn from.
        TrainingInterrupted: Ctrl-C; the exception has the tokenizer learned so far.

    >>> tok = train_sentencepiece(
    ...     sentence_iterator=["low lower lowest", "new newer newest"] * 3, model_type="bpe",
    ...     vocab_size=20, pad_id=0, unk_id=1, bos_id=2, eos_id=3, user_defined_symbols="<sep>")
    >>> tok.tokens("lowest<sep>newest")
    ['▁lo', 'we', 'st', '<sep>', 'ne', 'we', 'st']
    """
    options = {**(parse_command(command) if command is not None else {}), **flags}
    known = flags_of(options)
    meta = meta_pieces(known)
    _check_input(known, sentence_iterator, extra_ids)
    selection = Selection(known, sentence_iterator)
    normalizer = _normalizer(known, meta)
    threads = min(known.num_threads, 64) if "num_threads" in options else None
    whole = _count(selection, known, meta, normalizer, threads, errors, progress)
    selection.warn()
    report = dataclasses.replace(
        whole.report,
        too_long_documents=selection.too_long,
        unsampled_documents=selection.usable - selection.taken,
    )
    characters, counts = _alphabet(whole, known, meta)
    trained = train(
        counts,
        _config(known, characters, seeds="seed_sentencepiece_size" in options),
        special_tokens=meta.ids,
        num_threads=threads,
        progress=progress,
    )
    tokenizer = _finish(trained, known, meta, normalizer, report)
    if known.model_prefix:
        write_files(tokenizer, known, selection.samples)
    if model_writer is not None:
        model_writer.write(model_bytes(tokenizer, known, selection.samples))
    return _with_extra_ids(tokenizer, extra_ids)


# --- before training ----------------------------------------------------------------------------


def _check_input(flags: Flags, sentences: object, extra_ids: int) -> None:
    if sentences is None and not flags.input:
        raise ConfigError("there is nothing to learn from; give input (files) or sentence_iterator")
    if sentences is not None and flags.input:
        raise ConfigError("input and sentence_iterator are both given; leave one of them out")
    if isinstance(sentences, (str, bytes)):
        raise ConfigError("sentence_iterator is one text; expected an iterable of texts")
    if isinstance(extra_ids, bool) or not isinstance(extra_ids, int) or extra_ids < 0:
        raise ConfigError(f"extra_ids is {extra_ids!r}; expected a whole number of 0 or more")


def _normalizer(flags: Flags, meta: Meta) -> tuple[Normalizer, ...]:
    """Rules that leave user-defined symbols as they are, and spaces too many."""
    stages: list[Normalizer] = []
    charsmap: Charsmap | None = None
    if flags.normalization_rule_tsv:
        charsmap = compile_rules(read_rules(flags.normalization_rule_tsv))
    elif flags.normalization_rule_name != "identity":
        # Whether there is such a rule set, it says itself.
        charsmap = compile_rules(RuleSet(cast(Any, flags.normalization_rule_name)))
    if charsmap is not None:
        stages.append(dataclasses.replace(charsmap, keep=meta.user_defined))
    if flags.remove_extra_whitespaces:
        stages.append(CollapseSpaces())
    return tuple(stages)


def _spaces(flags: Flags, normalizer: tuple[Normalizer, ...], *, split: bool) -> Metaspace:
    first = normalizer[0] if normalizer else None
    charsmap = first.data if isinstance(first, Charsmap) else b""
    return Metaspace(
        prepend=prepend_of(
            flags.add_dummy_prefix,
            suffix=flags.treat_whitespace_as_suffix,
            collapses=flags.remove_extra_whitespaces,
            charsmap=charsmap,
        ),
        suffix=flags.treat_whitespace_as_suffix,
        split=split,
    )


def _count(
    selection: Selection,
    flags: Flags,
    meta: Meta,
    normalizer: tuple[Normalizer, ...],
    threads: int | None,
    errors: Literal["strict", "replace", "skip"],
    progress: Progress,
) -> Counts:
    """The words of the lines, or whole lines where pieces may cross words."""
    suffix = flags.treat_whitespace_as_suffix
    inner = (text[:-1] if suffix else text[1:] for text in meta.ids)
    split = flags.split_by_whitespace and not flags.allow_whitespace_only_pieces
    split = split and not any("▁" in text for text in inner)

    def counted(lines: Iterable[bytes]) -> Counts:
        return count(
            lines,
            normalizer=normalizer,
            pretokenizer=_spaces(flags, normalizer, split=split),
            errors=errors,
            num_threads=threads,
            progress=progress,
        )

    if flags.input_format != "tsv":
        counts = counted(line for line, _ in selection.lines())
    else:
        total: dict[str, int] = {}
        weighed = sorted(selection.lines(), key=lambda line: line[1])
        for weight, lines in itertools.groupby(weighed, lambda line: line[1]):
            for word, number in counted(line for line, _ in lines).items():
                total[word] = total.get(word, 0) + number * weight
        counts = Counts.from_dict(total, _spaces(flags, normalizer, split=split), normalizer)
    if not len(counts):
        raise CorpusError("the corpus has no line to learn from; expected lines with text")
    return counts


def _alphabet(counts: Counts, flags: Flags, meta: Meta) -> tuple[str, Counts]:
    """The characters of the alphabet, and the words cut where no piece may cross.

    Required characters come first, then the most frequent; they are taken until the share of the text
    that they make up, in 32 bits, reaches the coverage.
    """
    # A word, its symbols and the delimiter taken out.
    delimiter = flags.pretokenization_delimiter
    core, found = counts.core.without(list(meta.ids))
    if delimiter:
        core, more = core.without([delimiter])
        found += more
    numbers = dict(core.characters())
    # What a symbol stood for counts as one character, a tab, which is in no alphabet.
    numbers["\t"] = numbers.get("\t", 0) + found
    for never in ("\0", " "):
        numbers.pop(never, None)
    total = sum(numbers.values())
    required = set(flags.required_chars) - {"\0"}
    order = sorted(
        {*numbers, *required},
        key=lambda one: (one not in required, -numbers.get(one, 0), one),
    )
    wanted = _single(flags.character_coverage)
    kept, covered = [], 0
    for one in order:
        if total and _single(covered / total) >= wanted:
            break
        covered += numbers.get(one, 0)
        if one != "\t":
            kept.append(one)
    if len(kept) + len(meta.ids) > flags.vocab_size:
        raise ConfigError(_too_small(flags, meta, kept, numbers, total))
    return "".join(kept), counts.with_words(core)


def _single(number: float) -> float:
    """Rounded to 32 bits, as SentencePiece compares."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def _too_small(
    flags: Flags, meta: Meta, kept: Sequence[str], numbers: Mapping[str, int], total: int
) -> str:
    """What to do about more characters than pieces."""
    room = flags.vocab_size - len(meta.ids)
    message = (
        f"vocab_size is {flags.vocab_size}, but there are {len(kept)} characters in the alphabet and "
        f"{len(meta.ids)} special pieces; give at least {len(kept) + len(meta.ids)}"
    )
    share = sum(numbers.get(one, 0) for one in kept[: max(room, 0)]) / max(total, 1)
    if room > len(set(flags.required_chars)) and share >= 0.98:
        message += f", or a character_coverage of {int(share * 1e6) / 1e6} or less"
    elif not flags.byte_fallback:
        message += ", or a smaller alphabet (character_coverage, required_chars)"
    return message


def _config(flags: Flags, characters: str, *, seeds: bool) -> BPE | Unigram:
    shared: dict[str, Any] = {
        "vocab_size": flags.vocab_size,
        "characters": characters,
        "max_piece_length": flags.max_sentencepiece_length,
        "unknown": flags.unk_piece,
        "fuse_unknown": True,
    }
    for name in (
        *("split_by_unicode_script", "split_by_number", "split_by_whitespace", "split_digits"),
        *("treat_whitespace_as_suffix", "allow_whitespace_only_pieces"),
    ):
        shared[name] = getattr(flags, name)
    if flags.model_type == "bpe":
        return BPE(
            **shared, marker="prefix", ties="sentencepiece", min_pair_count=1, by_scores=True
        )
    return Unigram(
        **shared,
        seed_size=flags.seed_sentencepiece_size if seeds else None,
        seeds="sentencepiece",
        precision="single",
        hard_vocab_limit=flags.hard_vocab_limit,
        shrinking_factor=flags.shrinking_factor,
        num_sub_iterations=flags.num_sub_iterations,
    )


# --- after training -----------------------------------------------------------------------------


def _finish(
    trained: Tokenizer, flags: Flags, meta: Meta, normalizer: tuple[Normalizer, ...], report: Any
) -> Tokenizer:
    """What was learned, with the kinds of its pieces and SentencePiece's way with spaces."""
    model, log = trained.spec.model, trained.training
    assert isinstance(model, (ScoredBPEModel, UnigramModel)) and log is not None
    size = len(model.pieces)
    if size < flags.vocab_size and flags.hard_vocab_limit:
        raise ConfigError(
            f"vocab_size is {flags.vocab_size}, but no more than {size} pieces can be learned from "
            f"this corpus by these flags; give vocab_size={size} or less, or hard_vocab_limit=False to "
            "take what there is"
        )
    if None in model.pieces:
        text = model.pieces[-1]
        raise ConfigError(
            f"the piece {text!r} has the id {size - 1}, but only {size - model.pieces.count(None)} "
            "pieces could be learned; give it a smaller id"
        )
    suffix = flags.treat_whitespace_as_suffix
    changes: dict[str, Any] = {
        "user_defined": tuple(meta.ids[text] for text in meta.user_defined),
        "byte_fallback": flags.byte_fallback,
        "marker": Marker("suffix", "▁", "joined") if suffix else Marker("prefix"),
    }
    back = DecodeSentencePiece(
        unknown=model.unknown,
        unknown_surface=flags.unk_surface,
        control=tuple(sorted(meta.control, key=meta.ids.__getitem__)),
        byte_fallback=flags.byte_fallback,
        strip=strip_of(flags.add_dummy_prefix, flags.remove_extra_whitespaces),
    )
    spec = dataclasses.replace(
        trained.spec,
        model=dataclasses.replace(model, **changes),
        normalizer=normalizer,
        pretokenizer=(_spaces(flags, normalizer, split=False),),
        special_tokens={text: meta.ids[text] for text in meta.control},
        decoder=(back,),
    )
    # The trainer took these for special tokens.
    assert not isinstance(log, WordPieceLog)
    asked: dict[str, Any] = {"byte_fallback": flags.byte_fallback}
    if isinstance(log.config, Unigram):
        asked["user_defined"] = meta.user_defined
    changed: dict[str, Any] = {"config": dataclasses.replace(log.config, **asked)}
    return Tokenizer(spec, dataclasses.replace(log, **changed, report=report))


def _with_extra_ids(tokenizer: Tokenizer, extra_ids: int) -> Tokenizer:
    """T5's special tokens behind all others, the last of them first."""
    if not extra_ids:
        return tokenizer
    spec = tokenizer.spec
    model = spec.model
    assert isinstance(model, (ScoredBPEModel, UnigramModel))
    texts = tuple(f"<extra_id_{number}>" for number in reversed(range(extra_ids)))
    if double := next((text for text in texts if text in model.pieces), None):
        raise ConfigError(f"extra_ids adds {double!r}, which is a piece already; leave one out")
    ids: Iterator[tuple[str, int]] = zip(texts, itertools.count(len(model.pieces)), strict=False)
    larger = dataclasses.replace(
        model,
        pieces=model.pieces + texts,
        scores=model.scores + (0.0,) * extra_ids,
    )
    specials = {**spec.special_tokens, **dict(ids)}
    return Tokenizer(
        dataclasses.replace(spec, model=larger, special_tokens=specials), tokenizer.training
    )
