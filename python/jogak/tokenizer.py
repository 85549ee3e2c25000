"""The tokenizer that runs: compiled from a `Spec`, immutable, shared between threads.

Rule: composes the core, the formats and the traces; decides nothing about text.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from jogak import _core
from jogak.errors import ConfigError, DecodeError, FormatError, JogakError
from jogak.ragged import Ragged
from jogak.spec import BPEModel, Spec, Strategy
from jogak.threads import resolve_threads

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from jogak.explain.data import EncodingTrace
    from jogak.training import Log

__all__ = ["Tokenizer", "load"]

Special: TypeAlias = Literal["text", "parse", "error"]

#: Texts whose ids are written into saved files and checked when they are read.
PROBES = (
    "The quick brown fox doesn't jump over 1234567 lazy dogs.",
    "계란간장볶음밥은 최고의 영화!",
    "日本語と中文、emoji 🐑 and\ttabs\n\n  spaces  ",
)


class Tokenizer:
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

    def __init__(self, spec: Spec, training: Log | None = None) -> None:
        """Compile a tokenizer.

        Args:
            spec: all that it is.
            training: how it came to be, if that is known.

        Raises:
            ConfigError: the spec does not hold together (a merge without a product, ...).
        """
        self._spec = spec
        self._training = training
        self._core = _core.Tokenizer(
            spec.model.to_core(),
            [stage.to_dict() for stage in spec.pretokenizer],
            list(spec.special_tokens.items()),
        )

    # --- run

    def encode(
        self,
        text: str,
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> list[int]:
        """A text -> its ids.

        Args:
            text: any text.
            dropout: BPE-dropout (Provilkov et al. 2020): the probability, 0 to 1, with which each
                merge is skipped.
            seed: where dropout's random numbers start; None takes a new one every time.
            strategy: another strategy than the tokenizer's own.
            special: what to do with the texts of special tokens: ``"text"`` reads them as any other
                text, ``"parse"`` makes them special tokens, ``"error"`` refuses them.

        Raises:
            EncodeError: a character that nothing covers, where there is no unknown piece; a lone
                surrogate; a regular expression that gave up.
            SpecialTokenError: ``special="error"`` and the text has one.
            ConfigError: an option has an impossible value.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> tok.encode("hug pug")
        [5, 2, 4]
        """
        drop = self._dropout(dropout, seed, strategy)
        return self._core.encode(text, special, strategy, drop)

    def encode_array(
        self,
        text: str,
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> NDArray[np.uint32]:
        """A text -> its ids as a numpy array, without a Python object per id. See `encode`."""
        return self._core.encode_array(
            text, special, strategy, self._dropout(dropout, seed, strategy)
        )

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        num_threads: int | None = None,
        dropout: float = 0.0,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> Ragged:
        """Many texts -> their ids, on all cores. The ids do not depend on the number of threads.

        Args:
            texts: the texts.
            num_threads: at most this many threads; None asks ``JOGAK_NUM_THREADS``, then takes all
                cores.
            dropout, seed, strategy, special: as in `encode`; with dropout each text has its own
                stream of random numbers, made from the seed and the text's number.

        Raises:
            EncodeError, SpecialTokenError, ConfigError: as in `encode`.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> tok.encode_batch(["hug", "pug hug"]).to_lists()
        [[5], [2, 4, 5]]
        """
        if isinstance(texts, str):
            raise ConfigError("encode_batch takes a list of texts; for one text call encode(text)")
        threads = resolve_threads(num_threads)
        drop = self._dropout(dropout, seed, strategy)
        return Ragged(*self._core.encode_batch(list(texts), special, threads, strategy, drop))

    def tokens(
        self,
        text: str,
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> list[str]:
        """A text -> the texts of its pieces, as they stand in the vocabulary. See `encode`.

        Where nothing covers a character and there is no unknown piece, the character stands for
        itself; `encode` has no id for it and raises.
        """
        return self._core.tokens(text, special, strategy, self._dropout(dropout, seed, strategy))

    def count(
        self,
        text: str,
        *,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> int:
        """How many ids a text has, without making them Python objects. See `encode`."""
        self._check_strategy(strategy)
        return self._core.count(text, special, strategy, None)

    def decode(
        self,
        ids: Sequence[int] | NDArray[np.uint32],
        *,
        skip_special_tokens: bool = False,
        errors: Literal["replace", "strict"] = "replace",
    ) -> str:
        """Ids -> text. Markers become the spaces that they stand for.

        Args:
            ids: a list or an array.
            skip_special_tokens: leave special tokens out rather than writing their texts.
            errors: what to do where the bytes are no UTF-8, as the start of a longer answer may be:
                ``"replace"`` writes U+FFFD, ``"strict"`` raises.

        Raises:
            DecodeError: an id that stands for nothing; bytes that are no UTF-8 under ``"strict"``.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10}, jogak.BPE(num_merges=2))
        >>> tok.decode(tok.encode("안녕 hug"))
        '안녕 hug'
        """
        data = self.decode_bytes(ids, skip_special_tokens=skip_special_tokens)
        if errors not in ("replace", "strict"):
            raise ConfigError(f"errors is {errors!r}; expected 'replace' or 'strict'")
        try:
            return data.decode("utf-8", errors)
        except UnicodeDecodeError as error:
            raise DecodeError(
                f"the ids stand for bytes that are no UTF-8 at byte {error.start}; pass "
                "errors='replace', or take the bytes with decode_bytes"
            ) from None

    def decode_bytes(
        self, ids: Sequence[int] | NDArray[np.uint32], *, skip_special_tokens: bool = False
    ) -> bytes:
        """Ids -> the bytes that they stand for, whole characters or not. See `decode`."""
        return self._core.decode(ids, skip_special_tokens)

    # --- see

    def explain(
        self,
        text: str,
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> EncodingTrace:
        """How a text becomes its ids: every word, every step, and why it ended. See `encode`.

        The trace is data; it prints in a terminal, draws in a notebook, and has ``to_dict()``. Its
        cost is quadratic in the length of a word.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> [step.after for step in tok.explain("hug").words[0].steps]
        [('h', 'ug'), ('hug',)]
        """
        from jogak.explain.build import encoding_trace

        words = self._core.explain(text, special, strategy, self._dropout(dropout, seed, strategy))
        return encoding_trace(text, strategy or self._spec.model.strategy, words, self._spec)

    @property
    def training(self) -> Log | None:
        """How it was trained: config, reason for stopping, counts; None if nobody knows."""
        return self._training

    # --- keep

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
        if self._spec.model.merges is not None:
            return self._spec.model.merges
        return tuple(self._core.merges())

    def piece(self, id_: int) -> str:
        """The text of an id, as it stands in the vocabulary.

        Raises:
            DecodeError: the id stands for nothing.
        """
        pieces = self._spec.model.pieces
        text = pieces[id_] if 0 <= id_ < len(pieces) else None
        if text is None:
            raise DecodeError(f"id {id_} stands for no piece; ids are below {len(pieces)}")
        return text

    def id(self, piece: str) -> int:
        """The id of a piece.

        Raises:
            EncodeError: there is no such piece.
        """
        try:
            return self.vocab[piece]
        except KeyError:
            from jogak.errors import EncodeError

            raise EncodeError(
                f"{piece!r} is no piece of this vocabulary; to cut a text into pieces, "
                "call encode(text)"
            ) from None

    def __len__(self) -> int:
        """One more than the largest id: the number of rows that an embedding needs."""
        return len(self._spec.model.pieces)

    def resized(self, size: int) -> Tokenizer:
        """The tokenizer that training with ``vocab_size=size`` would have given; no training.

        Args:
            size: pieces of the smaller tokenizer, counted as ``vocab_size`` is.

        Raises:
            ConfigError: fewer than alphabet and special tokens need, more than there are, or a
                tokenizer whose merges are not its own (ids as ranks, pruned pieces).

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
                ``"tiktoken"`` for a rank file, ``"vocab-txt"`` for BERT's vocab.txt.

        Raises:
            UnsupportedFeature: the format cannot say something that this tokenizer needs.
        """
        from jogak import formats
        from jogak.formats.family import Probe

        probes = []
        for text in PROBES:
            try:
                probes.append(Probe(text, tuple(self.encode(text))))
            except JogakError:  # a text that has no ids here proves nothing
                continue
        spec = self._spec
        if (
            format == "vocab-merges"
            and isinstance(spec.model, BPEModel)
            and spec.model.merges is None
        ):
            model = dataclasses.replace(spec.model, merges=self.merge_ids)
            spec = dataclasses.replace(spec, model=model)
        formats.write(path, spec, self._training, probes, format=format)

    def _dropout(
        self, dropout: float, seed: int | None, strategy: Strategy | None
    ) -> tuple[float, int] | None:
        """Dropout as the core takes it; also refuses a strategy that the model does not have."""
        self._check_strategy(strategy)
        if not 0.0 <= dropout <= 1.0:
            raise ConfigError(f"dropout is {dropout!r}; expected a probability from 0 to 1")
        if dropout == 0.0:
            return None
        if (way := strategy or self._spec.model.strategy) != "merges":
            raise ConfigError(
                f"dropout skips merges, and the strategy {way!r} makes none; pass "
                "strategy='merges', or leave dropout out"
            )
        if seed is None:
            return dropout, int.from_bytes(os.urandom(8), "little")
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 64:
            raise ConfigError(f"seed is {seed!r}; expected a number from 0 to 2**64 - 1, or None")
        return dropout, seed

    def _check_strategy(self, strategy: Strategy | None) -> None:
        family = self._spec.model.family
        if strategy is not None and family != "bpe":
            raise ConfigError(
                f"strategy is {strategy!r}, but only BPE has a choice and this is {family}; "
                "leave it out"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._spec, self._training)

    def __eq__(self, other: object) -> bool:
        """Tokenizers are equal if they are the same Spec, however they were trained."""
        return isinstance(other, Tokenizer) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash((len(self), self._spec.model.pieces[-1:]))

    def __repr__(self) -> str:
        model = self._spec.model
        family = {"bpe": "BPE", "wordpiece": "WordPiece"}[model.family]
        return f"<Tokenizer: {family}, {len(self):,} pieces, {model.marker.kind}, {model.strategy}>"


def load(path: str | PathLike[str], format: str | None = None, **options: Any) -> Tokenizer:
    """Open a tokenizer file, recognised by its content.

    Args:
        path: jogak's own file; a ``.tiktoken`` file; vocab.json with merges.txt beside it, or the
            folder of both; BERT's vocab.txt.
        format: ``"jogak"``, ``"vocab-merges"``, ``"tiktoken"`` or ``"vocab-txt"`` to say what it is.
        options: what the file does not say itself, such as ``pretokenizer="cl100k"`` for rank files,
            ``marker="suffix"`` for vocab.json and merges.txt, or ``lowercase=True`` for vocab.txt.

    Raises:
        FormatError: the file is not what it should be, or does not give the ids it was saved with.
        ConfigError: an option is missing or makes no sense for the format.
        OSError: the file cannot be read.
    """
    from jogak import formats

    loaded = formats.read(path, format, **options)
    try:
        tokenizer = Tokenizer(loaded.spec, loaded.training)
    except ConfigError as error:
        raise FormatError(f"{os.fspath(path)}: {error}", os.fspath(path)) from error
    for number, probe in enumerate(loaded.probes):
        found = tokenizer.encode(probe.text)
        if found != list(probe.ids):
            raise FormatError(
                f"{os.fspath(path)} says that {probe.text!r} has the ids {list(probe.ids)}, but it "
                f"gives {found}; the file was changed, or was written by another version",
                os.fspath(path),
                f"probes[{number}]",
            )
    return tokenizer


def _restore(spec: Spec, training: Log | None) -> Tokenizer:
    return Tokenizer(spec, training)
