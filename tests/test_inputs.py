"""Inputs of models: laws, the reference, options and errors."""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import inventories, texts

import jogak
from jogak.reference import inputs as reference
from jogak.spec import resolve_normalizer

SPECIAL = ["<pad>", "<s>", "</s>"]


@cache
def tokenizers() -> dict[str, jogak.Tokenizer]:
    """One of every family, with and without rules that change the text."""
    words = {
        "low": 9,
        "lower": 5,
        "newest": 6,
        "widest": 4,
        "계란밥": 7,
        "간장": 3,
        "don't": 2,
        "a": 9,
    }
    configs: dict[str, Any] = {
        "byte-level": jogak.BPE(marker="byte-level", num_merges=30),
        "characters": jogak.BPE(marker="suffix", num_merges=20, fuse_unknown=True),
        "fallback": jogak.BPE(marker="prefix", num_merges=20, byte_fallback=True),
        "wordpiece": jogak.WordPiece(vocab_size=60),
        "unigram": jogak.Unigram(vocab_size=26),
    }
    made = {}
    for name, config in configs.items():
        tok = jogak.train(dict(words), config, special_tokens=SPECIAL)
        part = jogak.TemplatePart
        start, end = (part((tok.id(text),), 5) for text in ("<s>", "</s>"))
        template = jogak.Template(
            (start, part("A"), end), (start, part("A"), end, part("B", 1), end)
        )
        made[name] = jogak.Tokenizer(dataclasses.replace(tok.spec, template=template))
    lower = dataclasses.replace(
        made["byte-level"].spec,
        normalizer=resolve_normalizer(["nfkc", "lowercase"]),
    )
    made["nfkc"] = jogak.Tokenizer(lower)
    return made


FAMILIES = ["byte-level", "characters", "fallback", "wordpiece", "unigram", "nfkc"]
#: Those that give every byte of a text an id of its own.
LOSSLESS = ["byte-level"]


@given(family=st.sampled_from(FAMILIES), text=texts(), special=st.sampled_from(["text", "parse"]))
def test_ids_are_those_of_encode(family: str, text: str, special: Any) -> None:
    tok = tokenizers()[family]
    for spans in (True, False):
        enc = tok.encoding(text, add_special_tokens=False, special=special, spans=spans)
        assert enc.ids.tolist() == tok.encode(text, special=special)
    assert enc.tokens == [tok.piece(id_) for id_ in enc.ids.tolist()]
    # Remembered words give the same as those that were never seen.
    fresh = jogak.Tokenizer(tok.spec).encoding(text, special=special)
    assert tok.encoding(text, special=special) == fresh
    assert fresh.ids.tolist() == tok.encode(text, special=special, add_special_tokens=True)


@given(family=st.sampled_from(FAMILIES), text=texts())
def test_spans_are_those_of_the_trace(family: str, text: str) -> None:
    """The trace goes another way: it knows no memory of words."""
    tok = tokenizers()[family]
    words = tok.explain(text).words
    enc = tok.encoding(text, add_special_tokens=False)
    assert enc.byte_spans.tolist() == [list(span) for word in words for span in word.token_spans]
    if family in LOSSLESS:  # of others, words may share an id, or be told part by part
        numbers = [number for number, word in enumerate(words) for _ in word.ids]
        assert enc.word_ids.tolist() == numbers


@given(family=st.sampled_from(LOSSLESS), text=texts())
def test_spans_tile_the_text_where_nothing_is_lost(family: str, text: str) -> None:
    enc = tokenizers()[family].encoding(text, add_special_tokens=False)
    ends = [0, *enc.byte_spans[:, 1].tolist()]
    assert enc.byte_spans[:, 0].tolist() == ends[:-1]
    assert ends[-1] == len(text.encode())


@given(family=st.sampled_from(FAMILIES), text=texts())
def test_characters_are_those_that_the_bytes_lie_in(family: str, text: str) -> None:
    enc = tokenizers()[family].encoding(text, add_special_tokens=False)
    of_byte = [at for at, char in enumerate(text) for _ in char.encode()] + [len(text)]
    for (start, end), (first, last) in zip(
        enc.byte_spans.tolist(), enc.char_spans.tolist(), strict=True
    ):
        assert first == of_byte[start]
        assert last == (first if start == end else of_byte[end - 1] + 1)


@given(family=st.sampled_from(FAMILIES), text=texts(), pair=texts(), parse=st.booleans())
def test_look_ups_are_inverse_to_each_other(family: str, text: str, pair: str, parse: bool) -> None:
    enc = tokenizers()[family].encoding(text, pair, special="parse" if parse else "text")
    for sequence, given_text in enumerate((text, pair)):
        for char in range(len(given_text)):
            token = enc.char_to_token(char, sequence)
            if token is None:
                continue
            span = enc.token_to_chars(token)
            assert span is not None and span[0] <= char < span[1]
            assert enc.token_to_sequence(token) == sequence
            word = enc.char_to_word(char, sequence)
            assert word is not None and word == enc.token_to_word(token)
            tokens = enc.word_to_tokens(word, sequence)
            assert tokens is not None and tokens[0] <= token < tokens[1]
            assert {enc.token_to_word(at) for at in range(*tokens)} == {word}
            whole = enc.word_to_chars(word, sequence)
            assert whole is not None and whole[0] <= span[0] and span[1] <= whole[1]
        for byte in range(len(given_text.encode())):
            token = enc.byte_to_token(byte, sequence)
            if token is not None:
                span = enc.token_to_bytes(token)
                assert span is not None and span[0] <= byte < span[1]
    for token, special in enumerate(enc.special_tokens_mask.tolist()):
        assert (enc.token_to_chars(token) is None) == bool(special)
        assert (enc.token_to_word(token) is None) == bool(special)


def test_look_ups_say_what_is_not_there() -> None:
    enc = tokenizers()["byte-level"].encoding("low low")
    assert enc.char_to_token(7) is None
    assert enc.char_to_token(0, 1) is None
    assert enc.word_to_tokens(2) is None
    assert enc.word_to_chars(9) is None
    assert enc.token_to_chars(0) is None
    with pytest.raises(IndexError, match="token 99 of an encoding with"):
        enc.token_to_chars(99)
    with pytest.raises(jogak.ConfigError, match="sequence is 2"):
        enc.char_to_token(0, 2)


# --- beside the reference


@given(
    family=st.sampled_from(FAMILIES),
    pairs=st.lists(st.tuples(texts(8), texts(8)), min_size=1, max_size=4),
    two=st.booleans(),
    add=st.booleans(),
    cut=st.none()
    | st.builds(
        jogak.Truncation,
        max_length=st.integers(0, 12),
        stride=st.sampled_from([0, 0, 1, 3]),
        side=st.sampled_from(["left", "right"]),
        strategy=st.sampled_from(["longest-first", "only-first", "only-second"]),
    ),
    fill=st.none()
    | st.builds(
        jogak.Padding,
        token=st.just("<pad>"),
        id=st.just(0),
        type_id=st.integers(0, 3),
        side=st.sampled_from(["left", "right"]),
        length=st.sampled_from([None, 0, 6, 15]),
        multiple_of=st.sampled_from([None, 1, 4]),
    ),
    spans=st.booleans(),
)
def test_batches_equal_the_reference(
    family: str,
    pairs: list[tuple[str, str]],
    two: bool,
    add: bool,
    cut: jogak.Truncation | None,
    fill: jogak.Padding | None,
    spans: bool,
) -> None:
    tok = tokenizers()[family]
    parts = tok.spec.template.pair if two else tok.spec.template.single
    template: Any = [(p.what, p.type_id) for p in parts if add or isinstance(p.what, str)]
    options: dict[str, Any] = {
        "add_special_tokens": add,
        "truncation": False if cut is None else cut,
        "padding": False if fill is None else fill,
    }
    given_texts: Any = pairs if two else [text for text, _ in pairs]
    limits = {} if cut is None else cut.to_dict()
    try:
        expected = [
            reference.model_inputs(
                tok.encode(first), tok.encode(second) if two else None, template=template, **limits
            )
            for first, second in pairs
        ]
    except ValueError:
        with pytest.raises((jogak.ConfigError, jogak.EncodeError)):
            tok.encoding_batch(given_texts, spans=spans, **options)
        return
    if fill is not None:
        longest = max(len(rows[0].ids) for rows in expected)
        width = reference.padded_length(longest, fill.length, fill.multiple_of)
        expected = [
            reference.padded(rows, fill.id, fill.type_id, fill.side, width) for rows in expected
        ]
    batch = tok.encoding_batch(given_texts, spans=spans, **options)
    assert len(batch) == len(pairs)
    for enc, rows in zip(batch, expected, strict=True):
        for found, row in zip([enc, *enc.overflowing], rows, strict=True):
            data = found.to_dict()
            assert data["ids"] == row.ids
            assert data["type_ids"] == row.type_ids
            assert data["special_tokens_mask"] == row.special
            assert data["attention_mask"] == row.attention
            assert data["sequence_ids"] == row.sequences
    # The parts together have every id of the texts.
    for (first, second), enc in zip(pairs, batch, strict=True):
        for sequence, text in enumerate((first, second)[: 1 + two]):
            whole = tok.encoding(text, add_special_tokens=False, truncation=False, padding=False)
            if not spans:
                continue
            seen = set()
            for part in [enc, *enc.overflowing]:
                of = part.sequence_ids == sequence
                seen |= {
                    (id_, *span)
                    for id_, span in zip(
                        part.ids[of].tolist(), part.byte_spans[of].tolist(), strict=True
                    )
                }
            spans_of = whole.byte_spans.tolist()
            assert seen == {(i, *s) for i, s in zip(whole.ids.tolist(), spans_of, strict=True)}
    flat = batch.parts()
    assert len(flat) == sum(map(len, expected))
    assert flat.sources.tolist() == [at for at, rows in enumerate(expected) for _ in rows]
    assert [enc.ids.tolist() for enc in flat] == [row.ids for rows in expected for row in rows]
    assert batch.ids.to_lists() == [rows[0].ids for rows in expected]
    if len({len(rows[0].ids) for rows in expected}) == 1:
        assert batch.input_ids.tolist() == [rows[0].ids for rows in expected]
        assert batch.attention_mask.tolist() == [rows[0].attention for rows in expected]
        assert batch.type_ids.tolist() == [rows[0].type_ids for rows in expected]
        assert batch.special_tokens_mask.tolist() == [rows[0].special for rows in expected]
    else:
        with pytest.raises(jogak.ConfigError, match="padding=True"):
            _ = batch.input_ids
    one_by_one = [
        tok.encoding(*(text if two else (text,)), **{**options, "padding": False})
        for text in given_texts
    ]
    if fill is None and spans:
        assert batch.to_list() == one_by_one


@given(
    inventory=inventories(),
    many=st.lists(texts(), max_size=5),
    parts=st.lists(st.sampled_from(["A", (0,), (1, 0)]), max_size=4),
)
def test_encode_puts_the_template_around(
    inventory: dict[str, int], many: list[str], parts: list[Any]
) -> None:
    """Also templates that have the text twice, or not at all."""
    tok = jogak.train(inventory, jogak.BPE(num_merges=3), special_tokens=["<s>", "</s>"])
    template = jogak.Template(tuple(jogak.TemplatePart(part) for part in parts))
    tok = jogak.Tokenizer(dataclasses.replace(tok.spec, template=template))
    expected = []
    for text in many:
        ids = tok.encode(text)
        expected.append([i for part in parts for i in (ids if part == "A" else part)])
        assert tok.encode(text, add_special_tokens=True) == expected[-1]
        assert tok.encode_array(text, add_special_tokens=True).tolist() == expected[-1]
        assert tok.encoding(text).ids.tolist() == expected[-1]
    assert tok.encode_batch(many, add_special_tokens=True).to_lists() == expected
    assert tok.encode_batch(many).to_lists() == [tok.encode(text) for text in many]


# --- options


def with_spec(**options: Any) -> jogak.Tokenizer:
    return jogak.Tokenizer(dataclasses.replace(tokenizers()["byte-level"].spec, **options))


def test_the_spec_has_the_defaults_and_calls_override_them() -> None:
    tok = with_spec(
        truncation=jogak.Truncation(6, stride=1, side="left"),
        padding=jogak.Padding("<pad>", 0, type_id=7, side="left", multiple_of=8),
    )
    text = "low lower lowest low widest"
    assert len(tok.encoding(text)) == 8
    assert tok.encoding(text).type_ids[0] == 7
    assert len(tok.encoding(text, padding=False)) == 6
    assert len(tok.encoding(text, truncation=5, padding=False)) == 5
    assert tok.encoding(text, truncation=5).tokens[:3] == ["<pad>"] * 3
    assert len(tok.encoding(text, truncation=False, padding=False)) == len(tok.encode(text)) + 2
    assert len(tok.encoding(text, padding=16)) == 16
    assert len(tok.encoding("low", padding=True)) == 8
    assert len(tok.encoding("low", truncation=True, padding="longest")) == 8
    assert not tok.encoding(text, overflow=False).overflowing
    assert tok.encoding(text).overflowing


def test_padding_knows_its_token() -> None:
    tok = tokenizers()["byte-level"]
    assert tok.encoding("low", padding=9).tokens[-1] == "<pad>"
    bare = jogak.train({"low": 2}, jogak.BPE(num_merges=1))
    with pytest.raises(jogak.ConfigError, match="say which"):
        bare.encoding("low", padding=True)
    # A token that is none of the vocabulary fills all the same, as in HF.
    enc = bare.encoding("low", padding=jogak.Padding("[PAD]", 999, length=9))
    assert enc.tokens[-1] == "[PAD]"
    assert pickle.loads(pickle.dumps(enc)) == enc


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"truncation": 1}, jogak.ConfigError, "the template puts in so many"),
        ({"truncation": jogak.Truncation(4, stride=2)}, jogak.ConfigError, "truncation.stride is 2"),
        ({"truncation": jogak.Truncation(4, strategy="only-second")}, jogak.ConfigError,
         "no second text"),
        ({"truncation": True}, jogak.ConfigError, "which has none"),
        ({"truncation": "512"}, jogak.ConfigError, "expected a number"),
        ({"truncation": -1}, jogak.ConfigError, "max_length"),
        ({"padding": "max"}, jogak.ConfigError, "padding is 'max'"),
        ({"padding": -2}, jogak.ConfigError, "length"),
        ({"special": "maybe"}, jogak.ConfigError, "special is"),
        ({"dropout": 2.0}, jogak.ConfigError, "dropout"),
    ],
)  # fmt: skip
def test_impossible_options_are_told(options: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        tokenizers()["byte-level"].encoding("low lower lowest widest", **options)


def test_errors_of_texts_are_told() -> None:
    tok = tokenizers()["byte-level"]
    only = jogak.Truncation(6, strategy="only-first")
    with pytest.raises(jogak.EncodeError, match="first text, which has 1"):
        tok.encoding("low", "lower widest newest", truncation=only)
    with pytest.raises(jogak.EncodeError, match="text 1 has a surrogate"):
        tok.encoding_batch(["low", "\ud800"])
    with pytest.raises(jogak.SpecialTokenError):
        tok.encoding("<s>", special="error")
    for wrong in (["low", ("a", "b")], [("a", "b"), "low"], [("a", "b", "c")], [1], [("a", 1)]):
        with pytest.raises(jogak.ConfigError, match="input"):
            tok.encoding_batch(wrong)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(jogak.ConfigError, match="a list of texts"):
        tok.encoding_batch("low")
    enc = tok.encoding("low", spans=False)
    with pytest.raises(jogak.ConfigError, match="spans=False"):
        _ = enc.char_spans
    with pytest.raises(jogak.ConfigError, match="spans=False"):
        enc.char_to_token(0)
    with pytest.raises(AttributeError):
        _ = enc.nothing  # type: ignore[attr-defined]  # wrong on purpose


def test_combined_parts_have_a_limit() -> None:
    """Two long texts cut to nearly nothing: their parts, each with each, would be billions."""
    tok = tokenizers()["byte-level"]
    long = "x" * 200_000
    with pytest.raises(jogak.EncodeError, match="overflow=False"):
        tok.encoding(long, long, truncation=6)
    assert len(tok.encoding(long, long, truncation=6, overflow=False)) == 6
    with pytest.raises(jogak.EncodeError, match="less padding"):
        tok.encoding_batch(["low", "new"], padding=2**32 - 1)


def test_white_space_is_trimmed_off_spans() -> None:
    spec = tokenizers()["byte-level"].spec
    template = dataclasses.replace(spec.template, trim_spans=True)
    tok = jogak.Tokenizer(dataclasses.replace(spec, template=template))
    text = " low  low\nlow 밥 "
    for enc in (tok.encoding(text), tok.encoding_batch([text])[0]):
        starts = [text[start:end] for start, end in enc.char_spans.tolist()]
        assert all(part == part.strip(" ") for part in starts)
        data = text.encode()
        for (start, end), chars in zip(enc.byte_spans.tolist(), starts, strict=True):
            assert data[start:end] in chars.encode()


# --- objects


def test_encodings_are_data() -> None:
    tok = tokenizers()["byte-level"]
    enc = tok.encoding("low 밥", "new", truncation=8, padding=10)
    assert len(enc) == enc.n == 10
    assert enc.n_sequences == 2
    assert repr(enc).startswith("<Encoding: 10 ids, 3 of them padding")
    again = pickle.loads(pickle.dumps(enc))
    assert again == enc and again.overflowing == enc.overflowing and again.tokens == enc.tokens
    assert copy.deepcopy(enc) == enc
    assert copy.copy(enc) == enc
    assert enc != tok.encoding("low")
    with pytest.raises(TypeError):
        hash(enc)
    assert enc.ids.dtype == np.uint32
    assert enc.char_spans.dtype == enc.byte_spans.dtype == np.int64
    assert enc.char_spans.shape == (10, 2)


def test_batches_are_data() -> None:
    tok = tokenizers()["byte-level"]
    batch = tok.encoding_batch(["low", "new newest widest", ""], truncation=5, padding=True)
    again = pickle.loads(pickle.dumps(batch))
    assert again == batch
    assert pickle.loads(pickle.dumps(batch.parts())) == batch.parts()
    assert pickle.loads(pickle.dumps(again)) == batch
    assert batch[-1] == batch[2]
    with pytest.raises(IndexError):
        batch[3]
    assert repr(batch).startswith("<EncodingBatch: 3 inputs")
    assert len(tok.encoding_batch([])) == 0
    assert tok.encoding_batch([]).input_ids.shape == (0, 0)
    arrow = pytest.importorskip("pyarrow")
    assert arrow.array(batch).to_pylist() == batch.input_ids.tolist()


@pytest.mark.parametrize("spans", [True, False])
def test_arrays_are_made_once_and_when_they_are_asked_for(spans: bool) -> None:
    """Whatever was asked for before, and by whom."""
    tok = tokenizers()["byte-level"]
    fields = ["ids", "type_ids", "special_tokens_mask", "attention_mask", "sequence_ids"]
    fields += ["word_ids", "byte_spans", "char_spans"] * spans
    make = functools.partial(tok.encoding, "low 밥", "new", truncation=8, spans=spans)
    for order in (fields, fields[::-1]):
        enc, again = make(), pickle.loads(pickle.dumps(make()))
        with ThreadPoolExecutor(4) as pool:
            found = [list(pool.map(getattr, [enc] * 8, [field] * 8)) for field in order]
        for field, arrays in zip(order, found, strict=True):
            assert getattr(enc, field) is getattr(enc, field)
            assert all(np.array_equal(array, getattr(again, field)) for array in arrays)
        assert enc == again == make()
    if not spans:
        for field in ("word_ids", "byte_spans", "char_spans"):
            with pytest.raises(jogak.ConfigError, match=f"no {field}"):
                getattr(enc, field)
        assert make().to_dict()["word_ids"] is None


def test_every_form_of_a_call_is_its_own() -> None:
    """Forms are kept, but not mixed up, and not all of them."""
    tok = tokenizers()["byte-level"]
    for length in [*range(4, 40), *range(4, 40)]:
        enc = tok.encoding("low lower newest widest " * 9, truncation=length, padding=length + 1)
        assert enc.attention_mask.sum() == length == len(enc) - 1
        alone = tok.encoding("low", add_special_tokens=False, truncation=length)
        assert alone.tokens == tok.tokens("low")


def test_batches_do_not_depend_on_threads() -> None:
    tok = tokenizers()["nfkc"]
    many = [f"low {n} 밥 lower " * (n % 50) for n in range(3000)]
    batches = [
        tok.encoding_batch(many, num_threads=threads, truncation=40, padding=True)
        for threads in (1, 2, 7)
    ]
    for batch in batches[1:]:
        assert np.array_equal(batch.input_ids, batches[0].input_ids)
        assert batch[2999] == batches[0][2999]
    drawn = [
        tok.encoding_batch(
            list(zip(many[:99], many[:99], strict=True)), num_threads=threads, dropout=0.3, seed=3,
            spans=spans,
        ).ids
        for threads, spans in ((1, True), (3, True), (2, False))
    ]  # fmt: skip
    assert drawn[0] == drawn[1] == drawn[2]
