"""A tokenizer at work: texts to ids, with all that may be asked about them.

Rule: composes the core, and hands on what it found; decides nothing about text, knows no files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from jogak import _core, inputs
from jogak.errors import ConfigError
from jogak.ragged import Ragged
from jogak.spec import SpecialPolicy, Strategy
from jogak.special import POLICIES, Allowed, Disallowed, Text, Trusted, all_parts
from jogak.threads import resolve_threads
from jogak.tokenizer.calls import limit, way
from jogak.tokenizer.decoding import Decoding
from jogak.tokenizer.ways import Ways

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from jogak.corpus import Corpus, FormatName
    from jogak.encoding import Encoding, EncodingBatch
    from jogak.explain.data import EncodingTrace
    from jogak.inputs import PaddingLike, TruncationLike
    from jogak.tokenizer.files import Portions

__all__ = ["Running"]


class Running(Decoding, Ways):
    """A compiled spec. `jogak.Tokenizer` is one that also knows how it came to be, and can be kept."""

    def encode(
        self,
        text: Text,
        *,
        add_special_tokens: bool = False,
        dropout: float | None = None,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
        allowed_special: Allowed | None = None,
        disallowed_special: Disallowed | None = None,
    ) -> list[int]:
        """A text -> its ids.

        Args:
            text: any text, or a list of its parts, of which those in `jogak.Trusted` may hold special
                tokens.
            add_special_tokens: put the ids of the template around (``[CLS]`` and the like).
            dropout: BPE-dropout (Provilkov et al. 2020): the probability, 0 to 1, with which each
                merge is skipped. None takes the model's own, which mostly is 0: none is.
            alpha: draw a way to cut the text rather than taking the best one (Unigram; Kudo 2018): one
                of probability p is drawn in proportion to p to the power of ``alpha``. 1 draws from
                the model, 0 from all ways alike, large numbers near the best one. None takes the best.
            seed: where the random numbers start; None takes a new one every time.
            strategy: another strategy than the tokenizer's own.
            special: what to do with the texts of special tokens: ``"text"`` reads them as any other
                text, ``"parse"`` makes them special tokens, ``"error"`` refuses them. None is the
                tokenizer's own policy, ``spec.special_policy``. In a list, ``Trusted`` parts are
                parsed whatever it says, and of the others ``"parse"`` makes text.
            allowed_special, disallowed_special: the same for each special token, as tiktoken has it,
                instead of ``special``. A text with a disallowed one is refused, allowed ones are parsed,
                others are text. ``"all"`` allows all, or disallows all that are not allowed; if one
                is not given, it is ``set()`` for the first and ``"all"`` for the second.

        Raises:
            EncodeError: a character that nothing covers, where there is no unknown piece; a lone
                surrogate; a regular expression that gave up.
            SpecialTokenError: the text has a special token that is refused.
            ConfigError: an option has an impossible value, or options contradict each other.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> tok.encode("hug pug")
        [5, 2, 4]
        """
        # Looking at every option takes longer than a short text.
        if (
            type(text) is str
            and self._plain is not None
            and dropout is None
            and alpha is None
            and seed is None
            and strategy is None
            and (special is None or special in POLICIES)
            and allowed_special is None
            and disallowed_special is None
        ):
            ids = self._core.encode(text, special or self._plain)
        else:
            draw = self._draw(dropout, alpha, seed, strategy)
            read = self._read(text, special, allowed_special, disallowed_special)
            ids = self._core.encode(*read, strategy, draw)
        return inputs.around(self._spec.template, ids) if add_special_tokens else ids

    def encode_array(
        self,
        text: Text,
        *,
        add_special_tokens: bool = False,
        dropout: float | None = None,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
        allowed_special: Allowed | None = None,
        disallowed_special: Disallowed | None = None,
    ) -> NDArray[np.uint32]:
        """A text -> its ids as a numpy array, without a Python object per id. See `encode`."""
        if (
            type(text) is str
            and self._plain is not None
            and dropout is None
            and alpha is None
            and seed is None
            and strategy is None
            and (special is None or special in POLICIES)
            and allowed_special is None
            and disallowed_special is None
        ):
            ids = self._core.encode_array(text, special or self._plain)
        else:
            draw = self._draw(dropout, alpha, seed, strategy)
            read = self._read(text, special, allowed_special, disallowed_special)
            ids = self._core.encode_array(*read, strategy, draw)
        return inputs.around_array(self._spec.template, ids) if add_special_tokens else ids

    def encode_batch(
        self,
        texts: Iterable[Text],
        *,
        num_threads: int | None = None,
        add_special_tokens: bool = False,
        dropout: float | None = None,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
        allowed_special: Allowed | None = None,
        disallowed_special: Disallowed | None = None,
    ) -> Ragged:
        """Many texts -> their ids, on all cores. The ids do not depend on the number of threads.

        Each thread remembers words it has met, in at most 64 MiB (as much again once spans are asked
        for), and forgets them when they are too many; ids never depend on it.

        Args:
            texts: the texts, each as `encode` takes it.
            num_threads: at most this many threads; None asks ``JOGAK_NUM_THREADS``, then takes all
                cores. More than 1024 are 1024.
            add_special_tokens, dropout, alpha, seed, strategy, special, allowed_special,
                disallowed_special: as in `encode`; where something is drawn, each text has its own
                stream of random numbers, made from the seed and the text's number.

        Raises:
            EncodeError, SpecialTokenError, ConfigError: as in `encode`.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> tok.encode_batch(["hug", "pug hug"]).to_lists()
        [[5], [2, 4, 5]]
        """
        if isinstance(texts, (str, Trusted)):
            raise ConfigError("encode_batch takes a list of texts; for one text call encode(text)")
        given: tuple[Any, ...] = tuple(texts)
        mixed = False
        # Texts are many and short: nothing is called for each, unless there is another type among them.
        if not _core.are_texts(given):
            given, mixed = all_parts(given)
        how = self._policy(special, allowed_special, disallowed_special, mixed)
        threads = resolve_threads(num_threads)
        draw = self._draw(dropout, alpha, seed, strategy)
        ids, offsets = self._core.encode_batch(given, how, threads, strategy, draw)
        if add_special_tokens:
            ids, offsets = inputs.around_batch(self._spec.template, ids, offsets)
        return Ragged(ids, offsets)

    def encode_files(
        self,
        files: Corpus,
        *,
        format: FormatName | None = None,
        field: str | None = None,
        column: str | None = None,
        documents: Literal["line", "file"] = "line",
        separator: str | None = None,
        newline: Literal["keep", "drop"] | None = None,
        errors: Literal["strict", "replace", "skip"] = "strict",
        portion: int = 1 << 24,
        num_threads: int | None = None,
        dropout: float | None = None,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
    ) -> Portions:
        """The documents of files -> their ids, some documents at a time, in bounded memory.

        The ids are those of `encode_batch` on all documents at once.

        Args:
            files: a path (a file, a folder, a pattern, ``"-"`` for standard input), a file object, or a
                list of those; gzip and zstd are seen in the bytes. See `jogak.corpus`.
            format, field, column, documents, separator, errors: as in `jogak.count`.
            newline: lines of plain text: ``"keep"`` the line end or, as None does, ``"drop"`` it.
            portion: how many bytes of documents make a portion. A document is never cut; memory is some
                three times the portion, or the largest document if that is larger.
            num_threads: as in `encode_batch`.
            dropout, alpha, seed, strategy, special: as in `encode_batch`.

        Returns:
            An iterator over `Ragged` batches, with `report` and `progress`.

        Raises:
            ConfigError: an impossible option.
            CorpusError: no such file; while iterating: a document that cannot be read, when all before
                it have been handed out.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> with open("hugs.txt", "w") as file:
        ...     _ = file.write("hug\\npug hug\\n")
        >>> [ids for batch in tok.encode_files("hugs.txt") for ids in batch.to_lists()]
        [[5], [2, 4, 5]]
        """
        from jogak.tokenizer.files import Portions, documents_of

        read, ignored = documents_of(
            files,
            errors,
            format=format,
            field=field,
            column=column,
            documents=documents,
            separator=separator,
            newline=newline,
        )
        how = (self._policy(special), resolve_threads(num_threads), limit("portion", portion, 1))
        draw = self._draw(dropout, alpha, seed, strategy)
        return Portions(read, ignored, lambda read: read.encode(self._core, *how, strategy, draw))

    def encoding(
        self,
        text: str,
        pair: str | None = None,
        *,
        add_special_tokens: bool = True,
        truncation: TruncationLike = None,
        padding: PaddingLike = None,
        overflow: bool = True,
        spans: bool = True,
        dropout: float | None = None,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
    ) -> Encoding:
        """A text, or two, as the input of a model: ids with spans, words and masks.

        Args:
            text: any text.
            pair: a second one.
            add_special_tokens: put the template of the spec around (``[CLS]`` and the like).
            truncation: the most ids there may be, or a `Truncation` with all options; None for that of
                the spec, False for none.
            padding: fill up to so many ids, or a `Padding` with all options; True or ``"longest"`` in
                batches for as many as the longest input has; None for that of the spec, False for none.
            overflow: keep the parts that truncation cuts off.
            spans: note what each id stands for. Without, it is faster.
            dropout, alpha, seed, strategy: as in `encode`.
            special: as in `encode`; None for the policy of the spec.

        Raises:
            EncodeError: as in `encode`; truncation would leave nothing of a text; the parts of two
                texts, combined each with each, are too many.
            ConfigError: an option has an impossible value, such as a length that the template alone
                passes.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> enc = tok.encoding("hug pug", truncation=2)
        >>> enc.tokens, [part.tokens for part in enc.overflowing]
        (['hug', 'p'], [['ug']])
        """
        texts: Any = [text] if pair is None else [(text, pair)]
        options = (add_special_tokens, truncation, padding, overflow, spans, special)
        draw = self._draw(dropout, alpha, seed, strategy)
        encoding: Encoding = self._inputs(texts, 1, options, draw, strategy, one=True)
        return encoding

    def encoding_batch(
        self,
        texts: Iterable[str] | Iterable[tuple[str, str]],
        *,
        num_threads: int | None = None,
        add_special_tokens: bool = True,
        truncation: TruncationLike = None,
        padding: PaddingLike = None,
        overflow: bool = True,
        spans: bool = True,
        dropout: float | None = None,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
    ) -> EncodingBatch:
        """Many texts, or pairs of texts, as inputs of a model, on all cores. See `encoding`.

        Args:
            texts: texts, or pairs of texts.
            num_threads: as in `encode_batch`.
            add_special_tokens, truncation, padding, overflow, spans: as in `encoding`.
            dropout, alpha, seed, strategy, special: as in `encode_batch`.

        >>> import jogak
        >>> config = jogak.BPE(num_merges=2, marker="none")
        >>> tok = jogak.train({"hug": 10, "pug": 5}, config, special_tokens=["<pad>"])
        >>> tok.encoding_batch(["hug", "hug pug"], padding=4).attention_mask.tolist()
        [[1, 0, 0, 0], [1, 1, 1, 0]]
        """
        threads = resolve_threads(num_threads)
        options = (add_special_tokens, truncation, padding, overflow, spans, special)
        draw = self._draw(dropout, alpha, seed, strategy)
        batch: EncodingBatch = self._inputs(texts, threads, options, draw, strategy)
        return batch

    def _inputs(
        self,
        texts: Iterable[str] | Iterable[tuple[str, str]],
        threads: int,
        options: tuple[bool, TruncationLike, PaddingLike, bool, bool, SpecialPolicy | None],
        draw: tuple[str, float, int] | None,
        strategy: Strategy | None,
        one: bool = False,
    ) -> Any:
        special = options[-1] or self._spec.special_policy
        return inputs.make_inputs(
            self._core,
            self._spec,
            self._forms,
            texts,
            options[:5],
            special,
            threads,
            strategy,
            draw,
            one=one,
        )

    def tokens(
        self,
        text: Text,
        *,
        dropout: float | None = None,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
        allowed_special: Allowed | None = None,
        disallowed_special: Disallowed | None = None,
    ) -> list[str]:
        """A text -> the texts of its pieces, as they stand in the vocabulary. See `encode`.

        Where nothing covers a character and there is no unknown piece, the character stands for
        itself; `encode` has no id for it and raises.
        """
        draw = self._draw(dropout, alpha, seed, strategy)
        read = self._read(text, special, allowed_special, disallowed_special)
        return self._core.tokens(*read, strategy, draw)

    def count(
        self,
        text: Text,
        *,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
        allowed_special: Allowed | None = None,
        disallowed_special: Disallowed | None = None,
    ) -> int:
        """How many ids a text has, without making them Python objects. See `encode`."""
        if (
            type(text) is str
            and self._plain is not None
            and strategy is None
            and (special is None or special in POLICIES)
            and allowed_special is None
            and disallowed_special is None
        ):
            return self._core.count(text, special or self._plain)
        read = self._read(text, special, allowed_special, disallowed_special)
        return self._core.count(*read, strategy, self._draw(None, None, None, strategy))

    def truncate(
        self,
        text: str,
        n: int,
        *,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
    ) -> str:
        """The longest beginning of a text for which at most ``n`` of the text's own tokens stand.

        It ends where a token ends and no character is cut. Its tokens, as part of the whole text, are
        the first of ``encode(text)``: ``n``, or fewer where no border is there (a character that is
        several tokens). Encoded by itself it may give other ids, even more of them, where what follows
        decides how words are cut.

        Args:
            text: any text.
            n: how many tokens, 0 or more.
            strategy, special: as in `encode`.

        Raises:
            ConfigError: an impossible ``n``.
            EncodeError, SpecialTokenError: as in `encode`.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> tok.tokens("hug pug hug"), tok.truncate("hug pug hug", 2)
        (['hug', 'p', 'ug', 'hug'], 'hug p')
        """
        return self._core.truncate(text, limit("n", n, 0), self._policy(special), strategy)

    def split(
        self,
        text: str,
        n: int,
        *,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
    ) -> list[str]:
        """A text in parts, for each of which at most ``n`` of the text's own tokens stand.

        Joined, the parts are the text. Each is as long as can be, with borders as `truncate` has them;
        text that no token stands for belongs to the part before it.

        Args:
            text: any text.
            n: how many tokens, 1 or more.
            strategy, special: as in `encode`.

        Raises:
            EncodeError: a character is more than ``n`` tokens; as in `encode`.
            ConfigError, SpecialTokenError: as in `truncate`.

        >>> import jogak
        >>> tok = jogak.train({"hug": 10, "pug": 5}, jogak.BPE(num_merges=2, marker="none"))
        >>> tok.split("hug pug hug", 2)
        ['hug p', 'ug hug']
        """
        return self._core.split(text, limit("n", n, 1), self._policy(special), strategy)

    # --- see

    def explain(
        self,
        text: str,
        *,
        dropout: float | None = None,
        alpha: float | None = None,
        seed: int | None = None,
        strategy: Strategy | None = None,
        special: SpecialPolicy | None = None,
        allowed_special: Allowed | None = None,
        disallowed_special: Disallowed | None = None,
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
        how = self._policy(special, allowed_special, disallowed_special)
        words = self._core.explain(text, how, strategy, draw)
        normalized = self._core.normalized(text, how) if self._spec.normalizer else None
        return encoding_trace(text, way(self._spec.model, strategy), words, self._spec, normalized)
