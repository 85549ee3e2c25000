"""The tokenizer that runs: compiled from a `Spec`, immutable, shared between threads.

Rule: composes the core, the formats and the traces; decides nothing about text.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from jogak import _core
from jogak.errors import ConfigError, DecodeError, FormatError, JogakError
from jogak.ragged import Ragged
from jogak.spec import BPEModel, Charsmap, RuleSet, Spec, Strategy, UnigramModel
from jogak.threads import resolve_threads

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from jogak.explain.data import EncodingTrace
    from jogak.training import Log

__all__ = ["Score", "Segmentation", "Tokenizer", "load"]

Special: TypeAlias = Literal["text", "parse", "error"]

#: Texts whose ids are written into saved files and checked when they are read.
PROBES = (
    "The quick brown fox doesn't jump over 1234567 lazy dogs.",
    "계란간장볶음밥은 최고의 영화!",
    "日本語と中文、emoji 🐑 and\ttabs\n\n  spaces  ",
)


class Segmentation(NamedTuple):
    """One way to cut a text: the natural logarithm of its probability, and its ids."""

    score: float
    ids: list[int]


class Score(NamedTuple):
    """How likely a text is, in natural logarithms: one way to cut it, all ways together, the entropy."""

    way: float
    text: float
    entropy: float


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
            [stage.to_core() for stage in spec.normalizer],
        )

    # --- run

    def encode(
        self,
        text: str,
        *,
        dropout: float = 0.0,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> list[int]:
        """A text -> its ids.

        Args:
            text: any text.
            dropout: BPE-dropout (Provilkov et al. 2020): the probability, 0 to 1, with which each
                merge is skipped.
            alpha: draw a way to cut the text rather than taking the best one (Unigram; Kudo 2018): one
                of probability p is drawn in proportion to p to the power of ``alpha``. 1 draws from
                the model, 0 from all ways alike, large numbers near the best one. None takes the best.
            seed: where the random numbers start; None takes a new one every time.
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
        draw = self._draw(dropout, alpha, seed, strategy)
        return self._core.encode(text, special, strategy, draw)

    def encode_array(
        self,
        text: str,
        *,
        dropout: float = 0.0,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> NDArray[np.uint32]:
        """A text -> its ids as a numpy array, without a Python object per id. See `encode`."""
        return self._core.encode_array(
            text, special, strategy, self._draw(dropout, alpha, seed, strategy)
        )

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        num_threads: int | None = None,
        dropout: float = 0.0,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> Ragged:
        """Many texts -> their ids, on all cores. The ids do not depend on the number of threads.

        Args:
            texts: the texts.
            num_threads: at most this many threads; None asks ``JOGAK_NUM_THREADS``, then takes all
                cores.
            dropout, alpha, seed, strategy, special: as in `encode`; where something is drawn, each
                text has its own stream of random numbers, made from the seed and the text's number.

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
        draw = self._draw(dropout, alpha, seed, strategy)
        return Ragged(*self._core.encode_batch(list(texts), special, threads, strategy, draw))

    def tokens(
        self,
        text: str,
        *,
        dropout: float = 0.0,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> list[str]:
        """A text -> the texts of its pieces, as they stand in the vocabulary. See `encode`.

        Where nothing covers a character and there is no unknown piece, the character stands for
        itself; `encode` has no id for it and raises.
        """
        draw = self._draw(dropout, alpha, seed, strategy)
        return self._core.tokens(text, special, strategy, draw)

    def count(
        self,
        text: str,
        *,
        strategy: Strategy | None = None,
        special: Special = "text",
    ) -> int:
        """How many ids a text has, without making them Python objects. See `encode`."""
        return self._core.count(text, special, strategy, self._draw(0.0, None, None, strategy))

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

    # --- all ways to cut a text (Unigram)

    def nbest(self, text: str, n: int, *, special: Special = "text") -> list[Segmentation]:
        """The ``n`` most likely ways to cut a text, the best one first; fewer if there are no more.

        Scores are added in 64 bits, so ways that are as good as equal may come in another order than
        `encode` decides between them. Memory: 16 bytes for each of the ways at each character.

        Args:
            text: any text.
            n: how many, at least 1.
            special: as in `encode`.

        Raises:
            ConfigError: not a Unigram tokenizer, or an impossible ``n``.
            EncodeError, SpecialTokenError: as in `encode`.

        >>> from jogak.spec import Spec, UnigramModel, resolve_pretokenizer
        >>> model = UnigramModel(pieces=("a", "b", "ab"), scores=(-2.0, -3.0, -4.0))
        >>> tok = Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))
        >>> tok.nbest("ab", 2)
        [Segmentation(score=-4.0, ids=[2]), Segmentation(score=-5.0, ids=[0, 1])]
        """
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n < 1 << 31:
            raise ConfigError(f"n is {n!r}; expected a whole number, at least 1")
        ways = self._core.n_best(text, n, special)
        if ways is None:
            raise self._no_probabilities("nbest")
        return [Segmentation(score, ids) for score, ids in ways]

    def score(
        self,
        text: str,
        ids: Sequence[int] | None = None,
        *,
        alpha: float = 1.0,
        special: Special = "text",
    ) -> Score:
        """How likely a text is, and one way to cut it.

        Args:
            text: any text.
            ids: the way to cut it, as `encode` or `nbest` gave it; None for the best one.
            alpha: for the entropy: ways are drawn as ``encode(text, alpha=...)`` draws them.
            special: as in `encode`; special tokens count as certain.

        Returns:
            Natural logarithms: of the probability of the way, of the text (all ways together), and the
            entropy of the ways in nats. Unknown characters count with the lowest score less 10.

        Raises:
            EncodeError: ``ids`` are none of the ways to cut the text.
            ConfigError: not a Unigram tokenizer, or an impossible ``alpha``.

        >>> from jogak.spec import Spec, UnigramModel, resolve_pretokenizer
        >>> model = UnigramModel(pieces=("a", "b", "ab"), scores=(-2.0, -3.0, -4.0))
        >>> tok = Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))
        >>> tok.score("ab", [0, 1]).way
        -5.0
        """
        if isinstance(alpha, bool) or not 0.0 <= alpha <= 1e6:
            raise ConfigError(f"alpha is {alpha!r}; expected a number from 0 to 1,000,000")
        if not isinstance(self._spec.model, UnigramModel):
            raise self._no_probabilities("score")
        way = self.encode(text, special=special) if ids is None else [int(id_) for id_ in ids]
        found = self._core.likelihood(text, way, alpha, special)
        assert found is not None
        return Score(*found)

    def _no_probabilities(self, what: str) -> ConfigError:
        return ConfigError(
            f"{what} asks for probabilities, and a {self._spec.model.family} model has none; it takes a "
            "Unigram tokenizer"
        )

    # --- see

    def explain(
        self,
        text: str,
        *,
        dropout: float = 0.0,
        alpha: float | None = None,
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

        draw = self._draw(dropout, alpha, seed, strategy)
        words = self._core.explain(text, special, strategy, draw)
        normalized = self._core.normalized(text, special) if self._spec.normalizer else None
        return encoding_trace(text, self._way(strategy), words, self._spec, normalized)

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
        model = self._spec.model
        if isinstance(model, BPEModel) and model.merges is not None:
            return model.merges
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
                ``"vocab-txt"`` for BERT's vocab.txt.

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
            and type(spec.model) is BPEModel  # merges of equal rank cannot be listed
            and spec.model.merges is None
        ):
            model = dataclasses.replace(spec.model, merges=self.merge_ids)
            spec = dataclasses.replace(spec, model=model)
        if format == "sentencepiece":
            compiled = tuple(
                Charsmap(_core.named_charsmap(stage.name)) if isinstance(stage, RuleSet) else stage
                for stage in spec.normalizer
            )
            spec = dataclasses.replace(spec, normalizer=compiled)
        formats.write(path, spec, self._training, probes, format=format)

    def _way(self, strategy: Strategy | None) -> str:
        """How texts are cut, by name: a strategy of BPE, else the family."""
        model = self._spec.model
        return (strategy or model.strategy) if isinstance(model, BPEModel) else model.family

    def _draw(
        self, dropout: float, alpha: float | None, seed: int | None, strategy: Strategy | None
    ) -> tuple[str, float, int] | None:
        """What is drawn at random, as the core takes it."""
        model = self._spec.model
        if not 0.0 <= dropout <= 1.0:
            raise ConfigError(f"dropout is {dropout!r}; expected a probability from 0 to 1")
        if strategy is not None and not isinstance(model, BPEModel):
            raise ConfigError(
                f"strategy is {strategy!r}, but a {model.family} model knows only its own; leave it out"
            )
        if alpha is not None:
            if not isinstance(model, UnigramModel):
                raise ConfigError(
                    f"alpha draws by probabilities, and a {model.family} model has none; with BPE pass "
                    "dropout=0.1 instead"
                )
            if not 0.0 <= alpha <= 1e6:
                raise ConfigError(f"alpha is {alpha!r}; expected a number from 0 to 1,000,000")
        if dropout == 0.0 and alpha is None:
            return None
        if dropout != 0.0 and (way := self._way(strategy)) != "merges":
            raise ConfigError(
                f"dropout skips merges, and {way!r} makes none; pass strategy='merges' with BPE, "
                "alpha=... with Unigram, or leave dropout out"
            )
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "little")
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 64:
            raise ConfigError(f"seed is {seed!r}; expected a number from 0 to 2**64 - 1, or None")
        return ("dropout", dropout, seed) if alpha is None else ("alpha", alpha, seed)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._spec, self._training)

    def __eq__(self, other: object) -> bool:
        """Tokenizers are equal if they are the same Spec, however they were trained."""
        return isinstance(other, Tokenizer) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash((len(self), self._spec.model.pieces[-1:]))

    def __repr__(self) -> str:
        model = self._spec.model
        family = {
            "bpe": "BPE",
            "scored-bpe": "BPE by scores",
            "unigram": "Unigram",
            "wordpiece": "WordPiece",
        }[model.family]
        way = model.precision if isinstance(model, UnigramModel) else model.strategy
        return f"<Tokenizer: {family}, {len(self):,} pieces, {model.marker.kind}, {way}>"


def load(path: str | PathLike[str], format: str | None = None, **options: Any) -> Tokenizer:
    """Open a tokenizer file, recognised by its content.

    Args:
        path: jogak's own file; a ``.tiktoken`` file; vocab.json with merges.txt beside it, or the
            folder of both; a SentencePiece ``.model``; BERT's vocab.txt.
        format: ``"jogak"``, ``"vocab-merges"``, ``"tiktoken"``, ``"sentencepiece"`` or ``"vocab-txt"``
            to say what it is.
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
