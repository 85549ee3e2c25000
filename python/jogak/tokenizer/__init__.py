"""The tokenizer: what it is, what it does, how it came to be. Immutable, shared between threads.

What it does stands in `running`, what a call may say in `calls`; files become tokenizers in `loading`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from jogak import _core
from jogak.errors import DecodeError, EncodeError, JogakError
from jogak.spec import BPEModel, Charsmap, RuleSet, Spec
from jogak.spec.record import replace
from jogak.tokenizer.running import Running

if TYPE_CHECKING:
    from os import PathLike

    from jogak.spec.held import Pieces
    from jogak.training import Log

__all__ = ["Tokenizer"]

#: Texts whose ids are written into saved files and checked when they are read.
PROBES = (
    "The quick brown fox doesn't jump over 1234567 lazy dogs.",
    "계란간장볶음밥은 최고의 영화!",
    "日本語と中文、emoji 🐑 and\ttabs\n\n  spaces  ",
)


class Tokenizer(Running):
    """Text to ids and back.

    Made by `jogak.train` or `jogak.load`, or compiled from any `Spec`. It can be pickled, copied,
    used from many threads at once, and used in a forked process.

    >>> import jogak
    >>> words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    >>> tok = jogak.train(words, jogak.BPE(num_merges=10, marker="suffix", ties="first-seen"))
    >>> tok.tokens("lowest")
    ['low', 'est</w>']
    >>> tok.decode(tok.encode("lowest newest"))
    'lowest newest'
    """

    def __init__(
        self,
        spec: Spec,
        training: Log | None = None,
        extras: Mapping[str, Any] | None = None,
    ) -> None:
        """Compile a tokenizer.

        Args:
            spec: all that it is.
            training: how it came to be, if that is known.
            extras: what stood beside it in a model's folder and says nothing about ids.

        Raises:
            ConfigError: the spec does not hold together (a merge without a product, ...).
        """
        super().__init__(spec)
        self._training = training
        self._extras = MappingProxyType({} if extras is None else dict(extras))

    @property
    def training(self) -> Log | None:
        """How it was trained: config, reason for stopping, counts; None if nobody knows."""
        return self._training

    @property
    def extras(self) -> Mapping[str, Any]:
        """What stood beside the tokenizer in a model's folder and says nothing about ids, as plain data.

        ``files`` (which were read), ``tokenizer_config``, ``special_tokens_map``, ``chat_template``;
        only those that were there.
        """
        return self._extras

    @property
    def spec(self) -> Spec:
        """All that the tokenizer is, as plain immutable data."""
        return self._spec

    @cached_property
    def vocab(self) -> Mapping[str, int]:
        """The text of every piece -> its id; read-only, in the order of ids."""
        pieces = enumerate(self._spec.model.pieces)
        return MappingProxyType({text: id_ for id_, text in pieces if text is not None})

    @cached_property
    def merges(self) -> tuple[tuple[str, str], ...]:
        """The texts of both parts of every merge, best first."""
        pieces = self._spec.model.pieces
        return tuple((pieces[left] or "", pieces[right] or "") for left, right in self.merge_ids)

    @cached_property
    def merge_ids(self) -> tuple[tuple[int, int], ...]:
        """The ids of both parts of every merge, best first."""
        model = self._spec.model
        if isinstance(model, BPEModel) and model.merges is not None:
            return model.merges
        size = len(model.table)  # a byte that is no piece may still be part of one
        return tuple(pair for pair in self._core.merges() if max(pair) < size)

    def piece(self, id_: int) -> str:
        """The text of an id, as it stands in the vocabulary.

        Raises:
            DecodeError: the id stands for nothing.
        """
        pieces = self._pieces
        try:
            text = pieces[id_] if id_ >= 0 else None
        except IndexError:
            text = None
        if text is None:
            raise DecodeError(f"id {id_} stands for no piece; ids are below {len(pieces)}")
        return text

    @cached_property
    def _pieces(self) -> Pieces:
        return self._spec.model.table

    def id(self, piece: str) -> int:
        """The id of a piece.

        Raises:
            EncodeError: there is no such piece.
        """
        try:
            return self.vocab[piece]
        except KeyError:
            raise EncodeError(
                f"{piece!r} is no piece of this vocabulary; to cut a text into pieces, "
                "call encode(text)"
            ) from None

    def __len__(self) -> int:
        """One more than the largest id: the number of rows that an embedding needs."""
        return len(self._spec.model.table)

    def resized(self, size: int) -> Tokenizer:
        """The tokenizer that training with ``vocab_size=size`` would have given; no training.

        Args:
            size: pieces of the smaller tokenizer, counted as ``vocab_size`` is.

        Raises:
            ConfigError: fewer than alphabet and special tokens need, more than there are, or a
                tokenizer whose merges are not its own (ids as ranks, pruned pieces) or that has none
                (WordPiece, Unigram: train again, from saved counts).

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> list(tok.resized(5).vocab)
        ['g', 'h', 'p', 'u', 'ug', '<unk>']
        """
        from jogak.resize import resized

        return Tokenizer(*resized(self._spec, self._training, size))

    def save(self, path: str | PathLike[str], format: str | None = None) -> None:
        """Write the tokenizer to a file, all of it or nothing.

        Args:
            path: the file; for ``format="vocab-merges"`` the folder of the two files.
            format: None for jogak's own JSON, ``"vocab-merges"`` for vocab.json and merges.txt,
                ``"tiktoken"`` for a rank file, ``"tekken"`` for Mistral's JSON,
                ``"subword-nmt"`` for a file of codes, ``"sentencepiece"`` for a ``.model``,
                ``"vocab-txt"`` for BERT's vocab.txt, ``"tokenizer-json"`` for Hugging Face's
                tokenizer.json.

        Raises:
            UnsupportedFeature: the format cannot say something that this tokenizer needs.
        """
        from jogak import formats
        from jogak.formats.family import Probe

        probes = []
        for text in PROBES:
            try:
                probes.append(Probe(text, tuple(self.encode(text, dropout=0.0))))
            except JogakError:  # a text that has no ids here proves nothing
                continue
        spec = self._spec
        if format in ("vocab-merges", "tokenizer-json"):
            spec = self._with_merges(path)
        if format == "sentencepiece":
            compiled = tuple(
                Charsmap(_core.named_charsmap(stage.name)) if isinstance(stage, RuleSet) else stage
                for stage in spec.normalizer
            )
            spec = replace(spec, normalizer=compiled)
        formats.write(path, spec, self._training, probes, format=format)

    def save_pretrained(self, folder: str | PathLike[str]) -> None:
        """Write tokenizer.json, tokenizer_config.json and special_tokens_map.json into a folder.

        ``transformers.AutoTokenizer.from_pretrained(folder)`` makes a tokenizer of them that gives the
        same ids; it finds special tokens in every text, as that library does.

        Args:
            folder: made where it is not there.

        Raises:
            UnsupportedFeature: Hugging Face's library has no way to do what this tokenizer does.
            OSError: a file cannot be written.

        >>> import jogak, os
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(vocab_size=260))
        >>> tok.save_pretrained("hug")
        >>> sorted(os.listdir("hug"))
        ['special_tokens_map.json', 'tokenizer.json', 'tokenizer_config.json']
        """
        from jogak.formats import model_folder

        model_folder.write(folder, self._with_merges(folder), extras=self._extras)

    def to_transformers(self) -> Any:
        """A ``transformers.PreTrainedTokenizerFast`` that gives the same ids; no files are left.

        Special tokens get their parts (``bos_token``, ``pad_token``, ...) where a folder said them, or
        where their texts are the usual ones.

        Raises:
            UnsupportedFeature: Hugging Face's library has no way to do what this tokenizer does.
            ImportError: transformers is not installed.
        """
        from jogak.peers import to_transformers

        return to_transformers(self._with_merges("tokenizer.json"), self._extras)

    def _with_merges(self, path: str | PathLike[str]) -> Spec:
        """The spec, with its merges in a list where it has ranks or scores instead."""
        from jogak.formats.listed import with_merges

        model = self._spec.model
        if not isinstance(model, BPEModel) or model.merges is not None:
            return self._spec
        return with_merges(self._spec, self._core.merges(), os.fspath(path))

    def __reduce__(self) -> tuple[Any, ...]:
        # Canonical text: equal tokenizers are equal bytes, which `datasets` takes for their fingerprint.
        from jogak.formats import native

        training = self._training
        return _restore, (
            _plain(native.spec_to_dict(self._spec)),
            None if training is None else _plain(training.to_dict()),
            _json(dict(self._extras)),  # files are written in their order
        )

    def __eq__(self, other: object) -> bool:
        """Tokenizers are equal if they are the same Spec, however they were trained."""
        return isinstance(other, Tokenizer) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash((len(self), self._spec.model.pieces[-1:]))

    def __repr__(self) -> str:
        from jogak.spec import UnigramModel

        model = self._spec.model
        family = {
            "bpe": "BPE",
            "codes": "BPE with a vocabulary or glossaries",
            "scored-bpe": "BPE by scores",
            "unigram": "Unigram",
            "word-level": "whole words",
            "wordpiece": "WordPiece",
        }[model.family]
        way = model.precision if isinstance(model, UnigramModel) else model.strategy
        return f"<Tokenizer: {family}, {len(self):,} pieces, {model.marker.kind}, {way}>"


def _json(data: dict[str, Any], **options: Any) -> bytes:
    import json

    return json.dumps(data, **options).encode()


def _plain(data: dict[str, Any]) -> bytes:
    return _json(data, sort_keys=True, separators=(",", ":"))


def _restore(spec: bytes, training: bytes | None, extras: bytes) -> Tokenizer:
    import json

    from jogak.formats import native
    from jogak.training import log_from_dict

    log = None if training is None else log_from_dict(json.loads(training))
    return Tokenizer(native.spec_from_dict(json.loads(spec)), log, json.loads(extras))
