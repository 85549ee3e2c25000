"""A model as the ``model`` section of a ``tokenizer.json``.

**Which pieces are in its vocabulary.** The library gives tokens that are not in it the ids behind it,
in their order. So special and added tokens that the model never makes are left out where they have
these very ids, and stand in the vocabulary where they have any other.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from jogak.errors import UnsupportedFeature
from jogak.spec import BPEModel, CodesModel, Spec, UnigramModel, WordLevelModel, WordPieceModel

__all__ = ["left_out", "write_model"]


def left_out(spec: Spec) -> frozenset[str]:
    """The tokens that need not stand in the model's vocabulary, since they get their ids anyway."""
    pieces = spec.model.pieces
    ids = {text: id_ for id_, text in enumerate(pieces) if text is not None}
    in_model = {token.text for token in spec.added_tokens if token.in_model}
    if spec.model.unknown is not None:
        in_model.add(spec.model.unknown)
    tokens = {*spec.special_tokens, *(token.text for token in spec.added_tokens)} - in_model
    found = sorted(ids[text] for text in tokens)
    last = len(ids)
    if not found or found[-1] != last - 1:
        return frozenset()
    run = []
    for expected, id_ in zip(range(last - 1, -1, -1), reversed(found), strict=False):
        if id_ != expected:
            break
        run.append(pieces[id_])
    return frozenset(text for text in run if text is not None)


def write_model(spec: Spec, outside: Collection[str], name: str) -> dict[str, Any]:
    """The section.

    Args:
        spec: the tokenizer.
        outside: the pieces that are left out of the vocabulary.
        name: what errors call the file.

    Raises:
        UnsupportedFeature: a model that the library does not have.
    """
    model = spec.model
    if isinstance(model, UnigramModel):
        return _unigram(model, outside, name)
    vocab = {
        text: id_
        for id_, text in enumerate(model.pieces)
        if text is not None and text not in outside
    }
    if isinstance(model, WordPieceModel):
        return _wordpiece(model, vocab, name)
    if isinstance(model, WordLevelModel):
        return _wordlevel(model, vocab, name)
    return _bpe(model, vocab, name)


def cannot(name: str, what: str) -> UnsupportedFeature:
    """The error for what the format cannot say."""
    return UnsupportedFeature(
        f"{name}: a tokenizer.json cannot say {what}; save it as the native format"
    )


def _bpe(model: BPEModel, vocab: dict[str, int], name: str) -> dict[str, Any]:
    if isinstance(model, CodesModel) and (model.kept is not None or model.glossaries):
        raise cannot(name, "merges that a vocabulary undoes, or glossaries (CodesModel)")
    if model.strategy != "merges":
        raise cannot(name, f"the strategy {model.strategy!r}")
    marker, pieces = model.marker, model.pieces
    if model.merges is None:
        raise cannot(name, "merges by the ranks of pieces, without a list of merges")
    if model.mark_words and marker.kind == "prefix":
        raise cannot(name, "a prefix that the model puts before words")
    if marker.kind == "suffix" and marker.symbol == "own" and model.mark_words:
        raise cannot(name, "a suffix that is a symbol of its own")
    unknown = model.unknown
    if unknown is None and not model.drop_unknown and model.alphabet != "bytes":
        # Without an unknown piece the library drops characters; with one that is not there it raises.
        unknown = _absent(vocab)
    prefix, suffix = _marks(model)
    merges = [[pieces[left], pieces[right]] for left, right in model.merges]
    return {
        "type": "BPE",
        "dropout": model.dropout or None,
        "unk_token": unknown,
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "fuse_unk": model.fuse_unknown,
        "byte_fallback": model.byte_fallback,
        "ignore_merges": model.whole_word,
        "vocab": vocab,
        "merges": merges,
    }


def _marks(model: BPEModel) -> tuple[str | None, str | None]:
    kind = model.marker.kind if model.mark_words else "none"
    return (
        model.marker.text if kind == "continuation" else None,
        model.marker.text if kind == "suffix" else model.word_suffix,
    )


def _absent(vocab: Collection[str]) -> str:
    """A text for an unknown piece that is not there."""
    text = "<unk>"
    while text in vocab:
        text += "_"
    return text


def _wordpiece(model: WordPieceModel, vocab: dict[str, int], name: str) -> dict[str, Any]:
    if model.marker.kind == "prefix" and model.mark_words:
        raise cannot(name, "a prefix that the model puts before words")
    prefix = model.marker.text if model.marker.kind == "continuation" else ""
    return {
        "type": "WordPiece",
        "unk_token": _absent(vocab) if model.unknown is None else model.unknown,
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": model.max_chars_per_word,
        "vocab": vocab,
    }


def _wordlevel(model: WordLevelModel, vocab: dict[str, int], name: str) -> dict[str, Any]:
    if model.byte_fallback or model.fuse_unknown:
        raise cannot(name, "whole words with byte fallback, or with one unknown piece for several")
    if model.unused:
        raise cannot(name, "unused pieces of whole words")
    unknown = _absent(vocab) if model.unknown is None else model.unknown
    return {"type": "WordLevel", "vocab": vocab, "unk_token": unknown}


def _unigram(model: UnigramModel, outside: Collection[str], name: str) -> dict[str, Any]:
    if model.precision != "double":
        raise cannot(
            name,
            'precision="single": it adds scores in 64 bits, and near-ties come out otherwise '
            '(dataclasses.replace(model, precision="double") accepts that)',
        )
    if model.user_defined or model.unused:
        raise cannot(name, "user-defined or unused pieces of a Unigram model")
    if model.unknown_score is not None:
        raise cannot(name, f"unknown_score={model.unknown_score}")
    if not model.fuse_unknown:
        raise cannot(name, "a Unigram model with fuse_unknown=False")
    vocab = []
    for id_, (text, score) in enumerate(zip(model.pieces, model.scores, strict=True)):
        if text is None:
            raise cannot(name, f"a Unigram model without a piece for the id {id_}")
        if text not in outside:
            vocab.append([text, score])
    unknown = None if model.unknown is None else model.pieces.index(model.unknown)
    return {
        "type": "Unigram",
        "unk_id": unknown,
        "vocab": vocab,
        "byte_fallback": model.byte_fallback,
    }
