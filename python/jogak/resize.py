"""A smaller BPE from a larger one: the first merges, and ids as training would have given them.

`assign_ids` is the one place that says which piece gets which id; training uses it too.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping

from jogak.errors import ConfigError
from jogak.spec import BPEModel, CodesModel, ScoredBPEModel, Spec
from jogak.training import Log, TrainingLog

__all__ = ["assign_ids", "resized"]


def assign_ids(
    pieces: Iterable[str], special_tokens: Mapping[str, int], last: str | None = None
) -> tuple[list[int], tuple[str | None, ...]]:
    """Every piece takes the lowest id that is free; special tokens have chosen theirs.

    Args:
        pieces: ordinary pieces: byte pieces, alphabet, merges.
        special_tokens: text -> chosen id.
        last: a piece behind all others, if there is one.

    Returns:
        The id of each piece, and the text of every id (None where a chosen id leaves a hole).

    >>> assign_ids(["a", "b"], {"<pad>": 1}, last="<unk>")
    ([0, 2], ('a', '<pad>', 'b', '<unk>'))
    """
    texts: dict[int, str] = {id_: text for text, id_ in special_tokens.items()}
    ordinary = list(pieces)
    free = itertools.filterfalse(texts.__contains__, itertools.count())
    ids = list(itertools.islice(free, len(ordinary)))
    texts.update(zip(ids, ordinary, strict=True))
    size = max(texts, default=-1) + 1
    if last is not None:
        texts[size] = last
        size += 1
    return ids, tuple(map(texts.get, range(size)))


def resized(spec: Spec, training: Log | None, size: int) -> tuple[Spec, TrainingLog | None]:
    """The spec of the first merges, so many that the vocabulary has ``size`` pieces.

    Raises:
        ConfigError: see `Tokenizer.resized`.
    """
    model = spec.model
    if not isinstance(model, BPEModel) or not isinstance(training, TrainingLog | None):
        why = {
            "unigram": "each piece that training removes changes the probabilities of those that stay",
            "wordpiece": "its vocabulary has no merges that say in which order its pieces were learned",
        }[model.family]
        raise ConfigError(
            f"only BPE with a list of merges can be resized, and this is {model.family}: {why}; train "
            f"again with vocab_size={size} (jogak.count keeps the counts, so that this is quick)"
        )
    if isinstance(model, CodesModel) and (model.kept is not None or model.glossaries):
        raise ConfigError(
            "the vocabulary and the glossaries of this tokenizer are made for all of its merges; load "
            "the codes with merges=..., which makes them anew"
        )
    if isinstance(model, ScoredBPEModel):
        raise ConfigError(
            "this tokenizer merges by scores (by_scores=True, or a .model file); only one with a list "
            f"of merges can be resized; train again with vocab_size={size}"
        )
    if model.merges is None:
        raise ConfigError(
            "ids are ranks in this vocabulary (a .tiktoken file), so other ids would be other "
            "merges; only a tokenizer with a list of merges can be resized"
        )
    if training is not None and training.pruned:
        raise ConfigError(
            f"{len(training.pruned)} dead pieces were pruned, which a smaller vocabulary may need; "
            "train with prune_dead=False to resize"
        )
    strip = model.marker.text if model.marker.kind == "continuation" else ""
    texts = model.pieces
    vocab = {text: id_ for id_, text in enumerate(texts) if text is not None}
    products = []
    for left, right in model.merges:
        joined = f"{texts[left]}{(texts[right] or '').removeprefix(strip or '')}"
        products.append(vocab[joined])
    # An unknown piece that nobody asked for stands behind all others and is not counted.
    last = None if model.unknown in spec.special_tokens else model.unknown
    made = set(products)
    rest = [id_ for id_ in vocab.values() if id_ not in made and texts[id_] != last]
    keep = size - len(rest)
    if not 0 <= keep <= len(products):
        raise ConfigError(
            f"size is {size}; expected {len(rest)} (alphabet and special tokens) to "
            f"{len(rest) + len(products)} (all merges)"
        )
    too_large = {text: id_ for text, id_ in spec.special_tokens.items() if id_ >= size}
    if too_large:
        raise ConfigError(f"special tokens have ids that do not fit into {size}: {too_large}")
    ordinary = [id_ for id_ in rest if texts[id_] not in spec.special_tokens] + products[:keep]
    new_ids, pieces = assign_ids((texts[id_] or "" for id_ in ordinary), spec.special_tokens, last)
    renumbered = dict(zip(ordinary, new_ids, strict=True))
    merges = tuple((renumbered[left], renumbered[right]) for left, right in model.merges[:keep])
    smaller = dataclasses.replace(
        spec, model=dataclasses.replace(model, pieces=pieces, merges=merges)
    )
    if training is None:
        return smaller, None
    log = training.truncated(keep)
    config = dataclasses.replace(training.config, vocab_size=size, num_merges=None)
    return smaller, dataclasses.replace(log, config=config, stop="vocab-size")
