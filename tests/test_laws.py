"""Laws that hold for every text and every tokenizer, whatever it was trained on."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import MARKERS, STRATEGIES, configs, inventories, texts, without

import jogak

#: Schemes that lose nothing of a text.
LOSSLESS: list[Any] = [
    *("none", "gpt2", "cl100k", "o200k", "punctuation", "script", "digits", "digits3"),
    ["gpt2", "digits"],
    ["punctuation", "script", "digits3"],
    jogak.Split(r"\s+|\p{L}+"),
]
#: Something of everything, so that merges reach across the boundaries of characters.
CORPUS = [
    "the lowest newest widest lower low, and the rest in the list ",
    "계란간장볶음밥 간장계란밥 계란밥 가각간 \u1100\u1161\u11a8",
    "aaaa aaaaaaa abababab e\u0301e\u0301e\u0301 \u0301\u0301 😀😀👩‍👩‍👧 日本日本 ア。。。",
    "\r\n\r\n\t\t  \xa0\xa0 12345 1234 ٣٤٥ don't I'll </w></w> ▁▁ ## <unk><unk> <pad>",
]


def byte_level(scheme: Any = "o200k", **options: Any) -> jogak.Tokenizer:
    """A byte-level tokenizer of nearly all that CORPUS has."""
    config = jogak.BPE(min_pair_count=1, num_merges=300, **options)
    return jogak.train(
        iter(CORPUS * 2), config, pretokenizer=scheme, special_tokens=["<pad>", "<|end|>"]
    )


def metaspace(**options: Any) -> jogak.Tokenizer:
    """The SentencePiece way: ▁ for spaces, bytes for unknown characters."""
    config = jogak.BPE(
        marker="prefix",
        byte_fallback=True,
        min_pair_count=1,
        alphabet_size=60,
        num_merges=200,
        **options,
    )
    return jogak.train(iter(CORPUS * 2), config, special_tokens=["<s>", "</s>"])


@pytest.fixture(scope="module", params=LOSSLESS, ids=str)
def lossless(request: pytest.FixtureRequest) -> jogak.Tokenizer:
    return byte_level(request.param)


def kinds() -> Iterator[tuple[str, jogak.Tokenizer]]:
    """One tokenizer of every kind."""
    yield "bytes", byte_level()
    yield "bytes, gpt2, longest-match", byte_level("gpt2", strategy="longest-match")
    yield "bytes, whole text", byte_level("none")
    yield "bytes, longest-first", byte_level("cl100k", strategy="longest-first")
    yield "metaspace", metaspace()
    yield "metaspace, longest-match", metaspace(strategy="longest-match")
    for marker in MARKERS[:-1]:
        config = jogak.BPE(marker=marker, alphabet_size=40, min_pair_count=1, fuse_unknown=True)
        yield f"{marker.kind} {marker.text}", jogak.train(iter(CORPUS), config, pretokenizer="bert")
    for marker in ("continuation", "prefix"):
        for options in ({}, {"max_chars_per_word": 4, "alphabet_size": 30}):
            wordpiece = jogak.WordPiece(marker=marker, min_pair_count=1, **options)
            tok = jogak.train(iter(CORPUS * 2), wordpiece, special_tokens=["[PAD]", "[UNK]"])
            yield f"wordpiece {marker} {options}", tok
    specials = ["<s>", "</s>"]
    unigram = jogak.Unigram(vocab_size=300, byte_fallback=True, alphabet_size=20)
    yield "unigram, bytes", jogak.train(iter(CORPUS * 2), unigram, special_tokens=specials)
    for normalizer in (None, "nmt_nfkc", "jamo", ["nfd", "collapse_spaces"]):
        unigram = jogak.Unigram(vocab_size=80, fuse_unknown=normalizer is None)
        tok = jogak.train(iter(CORPUS * 2), unigram, normalizer=normalizer, special_tokens=specials)
        yield f"unigram, {normalizer}", tok
    unigram = jogak.Unigram(vocab_size=60, treat_whitespace_as_suffix=True, alphabet_size=40)
    yield "unigram suffix", jogak.train(iter(CORPUS * 2), unigram)
    unigram = jogak.Unigram(vocab_size=80, split_by_whitespace=False, unknown="<s>")
    yield "unigram across words", jogak.train(iter(CORPUS * 2), unigram, special_tokens=specials)


KINDS = dict(kinds())
#: One config of each family.
FAMILIES: list[Any] = [
    jogak.BPE(vocab_size=300),
    jogak.WordPiece(vocab_size=150),
    jogak.Unigram(vocab_size=80),
]


@pytest.fixture(scope="module", params=KINDS)
def tok(request: pytest.FixtureRequest) -> jogak.Tokenizer:
    return KINDS[request.param]


# --- there and back


@given(text=texts())
def test_byte_level_round_trip(lossless: jogak.Tokenizer, text: str) -> None:
    """Decoding gives the text back, byte for byte, with every scheme that drops nothing."""
    ids = lossless.encode(text)
    assert lossless.decode_bytes(ids) == text.encode()
    assert lossless.decode(ids, errors="strict") == text


@given(
    parts=st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=30),
    broken=st.lists(st.binary(max_size=4), max_size=3),
    mark=st.sampled_from(["", "\ufeff", "\ufffe"]),
    script=st.sampled_from(["", "조각 ", "кусок ", "碎片", "🧩", "pieces ", "\0"]),
)
def test_long_strings_are_made_as_python_makes_them(
    parts: list[str], broken: list[bytes], mark: str, script: str
) -> None:
    """Long text goes to Python by its code points where little of it is ASCII."""
    tok = KINDS["bytes"]
    id_of = {tok.decode_bytes([id]): id for id in range(len(tok))}
    text = mark + (script * 60).join(parts)
    for data in (text.encode(), (script * 60).encode().join([text.encode(), *broken, b""])):
        ids = [id_of[bytes([byte])] for byte in data]
        expected = data.decode(errors="replace")
        assert tok.decode(ids) == expected
        assert tok.decode_batch([ids, ids[1:]]) == [expected, data[1:].decode(errors="replace")]


@given(text=texts(), strategy=st.sampled_from(STRATEGIES), p=st.sampled_from([0.0, 0.3, 1.0]))
def test_byte_level_round_trip_of_every_way(text: str, strategy: Any, p: float) -> None:
    """So it does with every strategy and with dropout."""
    tok = KINDS["bytes"]
    p = p if strategy == "merges" else 0.0
    assert tok.decode(tok.encode(text, strategy=strategy, dropout=p, seed=1)) == text


@given(text=without("▁"), strategy=st.sampled_from(STRATEGIES))
def test_metaspace_round_trip(text: str, strategy: Any) -> None:
    """▁ for the space and bytes for what is unknown lose nothing but a ▁ of the text itself."""
    tok = KINDS["metaspace"]
    assert tok.decode(tok.encode(text, strategy=strategy)) == text


@given(parts=st.lists(st.one_of(texts(8), st.sampled_from(["<pad>", "<|end|>"])), max_size=6))
def test_special_tokens_round_trip(parts: list[str]) -> None:
    """Special tokens are written as their texts, whether they were read as such or as text."""
    text = "".join(parts)
    for tok in (KINDS["bytes"], KINDS["bytes, whole text"]):
        assert tok.decode(tok.encode(text)) == text
        parsed = tok.encode(text, special="parse")
        assert tok.decode(parsed) == text
        assert parsed.count(tok.id("<pad>")) == text.count("<pad>")


@given(parts=st.lists(texts(8), min_size=1, max_size=4))
def test_skipped_special_tokens(parts: list[str]) -> None:
    """`skip_special_tokens` leaves out the special tokens and nothing else."""
    tok = KINDS["bytes"]
    assume(not any(special in "".join(parts) for special in tok.spec.special_tokens))
    ids = tok.encode("<pad>".join(parts), special="parse")
    assert tok.decode(ids, skip_special_tokens=True) == "".join(parts)


@given(data=st.data())
def test_skipping_is_leaving_out(tok: jogak.Tokenizer, data: st.DataObject) -> None:
    """Any ids decoded without special tokens are the other ids decoded."""
    model = tok.spec.model
    # Letters do not become a syllable across a special token, nor does a text end behind it.
    suffix = any(stage == jogak.Metaspace(suffix=True) for stage in tok.spec.pretokenizer)
    if suffix or jogak.Jamo() in tok.spec.normalizer:
        return
    scores: dict[str, Any] = {}
    if isinstance(model, jogak.UnigramModel):
        scores["scores"] = (*model.scores, 0.0)
    marked = jogak.Tokenizer(
        jogak.Spec(
            model=dataclasses.replace(model, pieces=(*model.pieces, "<new>"), **scores),
            pretokenizer=tok.spec.pretokenizer,
            normalizer=tok.spec.normalizer,
            special_tokens={**tok.spec.special_tokens, "<new>": len(tok)},
        )
    )
    ids = data.draw(
        st.lists(st.one_of(st.just(len(tok)), st.integers(0, len(tok) - 1)), max_size=12)
    )
    others = [id_ for id_ in ids if id_ not in marked.spec.special_tokens.values()]
    assert marked.decode_bytes(ids, skip_special_tokens=True) == tok.decode_bytes(others)


@given(text=texts())
def test_ordinary_text_never_becomes_a_special_token(tok: jogak.Tokenizer, text: str) -> None:
    """Unless it is asked for, no text has the id of a special token."""
    ids = set(tok.spec.special_tokens.values())
    assert ids.isdisjoint(tok.encode(text)) or tok.spec.model.unknown in tok.spec.special_tokens


# --- one answer


@given(text=texts())
def test_every_face_tells_the_same(tok: jogak.Tokenizer, text: str) -> None:
    """encode, encode_array, tokens, count and explain agree."""
    ids = tok.encode(text)
    assert tok.encode_array(text).tolist() == ids
    assert tok.count(text) == len(ids)
    assert tok.tokens(text) == [tok.piece(id_) for id_ in ids]
    trace = tok.explain(text)
    assert list(trace.ids) == ids
    assert list(trace.tokens) == tok.tokens(text)


@given(batch=st.lists(texts(), max_size=8), threads=st.integers(1, 5))
def test_batch_is_one_by_one(tok: jogak.Tokenizer, batch: list[str], threads: int) -> None:
    """A batch is its texts, on any number of threads."""
    assert tok.encode_batch(batch, num_threads=threads).to_lists() == [tok.encode(t) for t in batch]


def test_large_batch_on_any_number_of_threads(tok: jogak.Tokenizer) -> None:
    """A batch large enough to be cut into parts for several threads has the ids of its texts."""
    batch = [f"{text} {number} {text[number % 7 :]}" for number in range(3000) for text in CORPUS]
    one = tok.encode_batch(batch, num_threads=1)
    assert one.to_lists()[::997] == [tok.encode(text) for text in batch[::997]]
    for threads in (2, 3, 8):
        assert tok.encode_batch(batch, num_threads=threads) == one


@given(before=st.lists(texts(), max_size=5), text=texts())
def test_memory_of_words_changes_nothing(before: list[str], text: str) -> None:
    """A tokenizer that has seen other texts gives the ids that a new one gives."""
    for old in (KINDS["bytes"], KINDS["metaspace"], KINDS["continuation ##"]):
        for other in before:
            old.encode(other)
        assert old.encode(text) == jogak.Tokenizer(old.spec).encode(text)


@given(text=texts(), strategy=st.sampled_from(STRATEGIES))
def test_asking_for_another_strategy_leaves_nothing_behind(text: str, strategy: Any) -> None:
    """The words of one strategy are not remembered for another."""
    tok = KINDS["bytes"]
    other = jogak.Tokenizer(byte_level(strategy=strategy).spec)
    first = tok.encode(text)
    assert tok.encode(text, strategy=strategy) == other.encode(text)
    assert tok.encode(text) == first


@given(text=texts(), special=st.sampled_from(["text", "parse"]))
def test_words_do_not_see_each_other(text: str, special: Any) -> None:
    """The ids of a text are the ids of its words, one behind the other."""
    tok = KINDS["bytes"]
    trace = tok.explain(text, special=special)
    assert [id_ for word in trace.words for id_ in word.ids] == tok.encode(text, special=special)
    alone = jogak.Tokenizer(byte_level("none").spec)
    words = jogak.Tokenizer(jogak.Spec(model=tok.spec.model, pretokenizer=alone.spec.pretokenizer))
    for word in trace.words:
        if not word.special:
            assert list(word.ids) == words.encode(word.text)


# --- spans


@given(text=without("▁"))
@pytest.mark.parametrize("alpha", [None, 0.0, 0.5])
def test_unigram_round_trip(text: str, alpha: float | None) -> None:
    """So do ▁ and bytes of a Unigram model, whichever way is drawn."""
    tok = KINDS["unigram, bytes"]
    assert tok.decode(tok.encode(text, alpha=alpha, seed=1)) == text


@given(text=texts(), special=st.sampled_from(["text", "parse"]))
def test_spans_tile_the_text(text: str, special: Any) -> None:
    """The tokens of byte-level and metaspace models cover the text in order, no gap, no overlap."""
    data = text.encode()
    lossless = ("bytes", "bytes, whole text", "bytes, longest-first")
    for name in (*lossless, "metaspace", "unigram, bytes", "unigram, None", "unigram suffix"):
        tok = KINDS[name]
        trace = tok.explain(text, special=special)
        at = 0
        for word in trace.words:
            assert word.span[0] == at
            for id_, (start, end) in zip(word.ids, word.token_spans, strict=True):
                assert start == at
                if name in lossless and not word.special:
                    assert data[start:end] == tok.decode_bytes([id_])
                at = end
            assert word.span[1] == at
        assert at == len(data)


@given(text=texts())
def test_spans_are_in_order(tok: jogak.Tokenizer, text: str) -> None:
    """Also where white space is dropped: spans lie in the text, in order, and in their word's span."""
    at, data = 0, text.encode()
    # Tokens that a normalizer made of one character share its bytes.
    rewritten = bool(tok.spec.normalizer)
    for word in tok.explain(text).words:
        start, end = word.span
        assert at <= start <= end <= len(data)
        if getattr(tok.spec.model, "mark_words", False):
            assert data[start:end].decode() == word.text
        inner = outer = start
        for left, right in word.token_spans:
            assert inner <= left <= right <= end
            assert outer <= right
            inner, outer = left if rewritten else right, right
        at = start if rewritten else end


# --- dropout


@given(text=texts(), seed=st.integers(0, 2**64 - 1))
def test_no_dropout_is_plain(tok: jogak.Tokenizer, text: str, seed: int) -> None:
    """Dropout 0 is no dropout, whatever the seed."""
    assert tok.encode(text, dropout=0.0, seed=seed) == tok.encode(text)


@given(batch=st.lists(texts(), min_size=1, max_size=5), seed=st.integers(0, 2**64 - 1))
def test_dropout_is_reproducible(batch: list[str], seed: int) -> None:
    """The same seed gives the same ids: in a list, an array, a trace, and on any number of threads."""
    tok = KINDS["bytes"]
    options: dict[str, Any] = {"dropout": 0.4, "seed": seed}
    ids = tok.encode(batch[0], **options)
    assert tok.encode(batch[0], **options) == ids
    assert tok.encode_array(batch[0], **options).tolist() == ids
    assert list(tok.explain(batch[0], **options).ids) == ids
    one = tok.encode_batch(batch, num_threads=1, **options)
    assert tok.encode_batch(batch, num_threads=4, **options) == one
    assert [tok.decode(row) for row in one] == batch


@given(text=texts())
def test_full_dropout_merges_nothing(text: str) -> None:
    """Dropout 1 leaves the single bytes."""
    tok = KINDS["bytes"]
    assert tok.count(text) <= len(tok.encode(text, dropout=1.0)) == len(text.encode())


def test_texts_of_a_batch_have_their_own_dropout() -> None:
    """Equal texts of one batch are not all cut alike, and other seeds cut otherwise."""
    tok = KINDS["bytes"]
    batch = ["the lowest newest widest lower low"] * 20
    rows = tok.encode_batch(batch, dropout=0.5, seed=3).to_lists()
    assert len({tuple(row) for row in rows}) > 10
    assert tok.encode_batch(batch, dropout=0.5, seed=4).to_lists() != rows
    assert tok.encode_batch(batch, dropout=0.5) != tok.encode_batch(batch, dropout=0.5)


# --- training


@given(corpus=st.lists(texts(), max_size=8), cut=st.integers(0, 8), config=configs())
def test_training_does_not_depend_on_shards(corpus: list[str], cut: int, config: jogak.BPE) -> None:
    """Counting in two parts and adding gives what counting at once gives, byte for byte."""
    assume(config.ties != "first-seen")
    whole = jogak.count(iter(corpus), pretokenizer="bert")
    parts: Sequence[jogak.Counts] = [
        jogak.count(iter(part), pretokenizer="bert", num_threads=2)
        for part in (corpus[cut:], corpus[:cut])
    ]
    assert parts[0] + parts[1] == whole
    tok = jogak.train(whole, config)
    other = jogak.train(parts[0] + parts[1], config, num_threads=3)
    assert other.spec == tok.spec
    assert other.training == tok.training


def test_a_goal_out_of_reach() -> None:
    """The largest number of merges, pieces or steps is as good as any that is not reached."""
    most, words = 2**64 - 1, {"lower": 5, "lowest": 3}
    near = jogak.train(words, jogak.BPE(num_merges=1000)).spec
    assert jogak.train(words, jogak.BPE(num_merges=most)).spec == near
    assert jogak.train(words, jogak.BPE(vocab_size=most)).spec == near
    near = jogak.train(words, jogak.WordPiece(vocab_size=1000)).spec
    assert jogak.train(words, jogak.WordPiece(vocab_size=most)).spec == near
    text = "aaabdaaabac"
    assert jogak.compress(text, max_steps=most) == jogak.compress(text, max_steps=1000)


def test_training_does_not_depend_on_threads(tmp_path: Any) -> None:
    """One thread, many threads, one file, many files: one tokenizer."""
    lines = [
        f"{text} {number % 97} {text[number % 5 :]}" for number in range(4000) for text in CORPUS
    ]
    lines = [line.replace("\r", "").replace("\n", " ") for line in lines]
    whole = tmp_path / "whole.txt"
    whole.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    for number in range(4):
        part = "\n".join(lines[number * 4000 : (number + 1) * 4000]) + "\n"
        (tmp_path / f"part{number}.txt").write_text(part, encoding="utf-8", newline="")
    config = jogak.BPE(vocab_size=600)
    one = jogak.train(whole, config, num_threads=1)
    for threads in (2, 5):
        many = jogak.train(whole, config, num_threads=threads)
        assert (many.spec, many.training) == (one.spec, one.training)
    parts = [tmp_path / f"part{number}.txt" for number in (2, 0, 3, 1)]
    assert jogak.train(parts, config).spec == one.spec


@given(counts=inventories(), config=configs())
def test_training_is_a_function(counts: dict[str, int], config: jogak.BPE) -> None:
    """The same counts and config give the same tokenizer, as words or as Counts, watched or not."""
    tok = jogak.train(counts, config)
    again = jogak.train(
        jogak.Counts.from_dict(counts), config, trace=True, progress=lambda *_: None
    )
    assert (again.spec, again.training) == (tok.spec, tok.training)


@pytest.mark.parametrize("config", FAMILIES, ids=lambda config: type(config).__name__)
def test_every_family_is_trained_alike(config: Any, tmp_path: Path) -> None:
    """On any number of threads, from a file, texts or their counts, watched or not."""
    lines = [f"{text} {number % 7}" for number in range(300) for text in CORPUS[:3]]
    path = tmp_path / "corpus.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    one = jogak.train(path, config, num_threads=1, newline="drop")
    counts = jogak.count(path, num_threads=3, newline="drop", pretokenizer=one.spec.pretokenizer)
    for again in (
        jogak.train(path, config, num_threads=3, newline="drop"),
        jogak.train(iter(lines), config, trace=3, progress=lambda *_: None),
        jogak.train(counts, config, num_threads=2),
    ):
        assert (again.spec, again.training) == (one.spec, one.training)


# --- keeping


def test_every_kind_is_kept(tok: jogak.Tokenizer, tmp_path: Path) -> None:
    """Saved and loaded, or pickled: the same tokenizer with the same log, and the same bytes again."""
    path, second = tmp_path / "one.json", tmp_path / "two.json"
    tok.save(path)
    for again in (jogak.load(path), pickle.loads(pickle.dumps(tok))):
        assert (again, again.spec, again.training) == (tok, tok.spec, tok.training)
        assert again.encode_batch(CORPUS) == tok.encode_batch(CORPUS)
        again.save(second)
        assert second.read_bytes() == path.read_bytes()


@given(counts=inventories(), config=configs(), text=texts())
def test_saved_and_loaded(
    counts: dict[str, int], config: jogak.BPE, text: str, tmp_path_factory: Any
) -> None:
    """A tokenizer that was saved and loaded, or pickled, is the same tokenizer."""
    tok = jogak.train(counts, config, special_tokens=["<pad>"])
    path = tmp_path_factory.mktemp("saved") / "tok.json"
    tok.save(path)
    for again in (jogak.load(path), pickle.loads(pickle.dumps(tok))):
        assert again == tok
        assert again.spec == tok.spec
        assert again.training == tok.training
        assert again.encode(text) == tok.encode(text)
    first = path.read_bytes()
    jogak.load(path).save(path)
    assert path.read_bytes() == first
