"""Inputs of models beside HF tokenizers: every field of its `Encoding`, with generated options.

Where jogak means something else on purpose, the test says so (docs/inputs.md lists it). Skipped where
the peer or the data is absent.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from strategies import texts
from test_peers_encode import piece_of

import jogak
from jogak.spec import resolve_normalizer

Data = Callable[[str], Path]
hf: Any = pytest.importorskip("tokenizers")

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "low", "##er", "##est", "new", "wid", "the", "a", "##a",
          "b", "##b", "가", "##나", "밥", "##밥", "é", "e", "don", "t", "'", ",", ".", "1", "##2", "ing",
          "日", "本", "##本", "_", "🇰", "😀"]  # fmt: skip


@cache
def wordpieces(lowercase: bool) -> tuple[Any, jogak.Tokenizer]:
    """A small BERT, there and here."""
    vocab = {piece: id_ for id_, piece in enumerate(PIECES)}
    theirs = hf.Tokenizer(hf.models.WordPiece(vocab, unk_token="[UNK]"))
    theirs.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    theirs.normalizer = hf.normalizers.BertNormalizer(lowercase=lowercase)
    ours = jogak.Spec(
        model=jogak.WordPieceModel(pieces=tuple(PIECES), unknown="[UNK]"),
        pretokenizer=(jogak.Named("bert"),),
        normalizer=(jogak.BertNormalizer(lowercase=lowercase, strip_accents=lowercase),),
        special_tokens={"[PAD]": 0, "[CLS]": 2, "[SEP]": 3},
    )
    return theirs, jogak.Tokenizer(ours)


@cache
def byte_level() -> tuple[Any, jogak.Tokenizer]:
    """A small byte-level BPE, there and here."""
    merges = [("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("l", "o"), ("lo", "w"), ("Ġ", "Ġ"), ("ê", "°"),
              ("ð", "Ł"), ("Ġ", "low"), ("Ġ", "a")]  # fmt: skip
    letters = sorted(hf.pre_tokenizers.ByteLevel.alphabet())
    pieces = [*letters, *(left + right for left, right in merges), "<s>", "</s>", "<pad>"]
    ids = {piece: id_ for id_, piece in enumerate(pieces)}
    theirs = hf.Tokenizer(hf.models.BPE(ids, merges))
    theirs.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model = jogak.BPEModel(
        pieces=tuple(pieces),
        merges=tuple((ids[left], ids[right]) for left, right in merges),
        marker=jogak.Marker("byte-level"),
        alphabet="bytes",
    )
    special = {text: ids[text] for text in ("<s>", "</s>", "<pad>")}
    spec = jogak.Spec(model=model, pretokenizer=(jogak.Named("gpt2"),), special_tokens=special)
    return theirs, jogak.Tokenizer(spec)


def template_of(peer: Any, text: str, vocab: dict[str, int]) -> tuple[Any, Any]:
    """HF's template as a post-processor, and the same parts here: `[CLS]:0 $A:0 [SEP]:0`."""
    parts = []
    for piece in text.split():
        name, _, type_id = piece.partition(":")
        what: Any = name[1:] if name in ("$A", "$B") else (vocab[name],)
        parts.append(jogak.TemplatePart(what, int(type_id)))
    return tuple(parts), text


STRATEGIES = {"longest-first": "longest_first", "only-first": "only_first",
              "only-second": "only_second"}  # fmt: skip


@st.composite
def truncations(draw: st.DrawFn) -> jogak.Truncation:
    return jogak.Truncation(
        max_length=draw(st.integers(3, 14)),
        stride=draw(st.sampled_from([0, 0, 0, 1, 2, 4])),
        side=draw(st.sampled_from(["left", "right"])),
        strategy=draw(st.sampled_from([*STRATEGIES])),
    )


@st.composite
def paddings(draw: st.DrawFn, token: str, id_: int) -> jogak.Padding:
    return jogak.Padding(
        token=token,
        id=id_,
        type_id=draw(st.integers(0, 2)),
        side=draw(st.sampled_from(["left", "right"])),
        length=draw(st.sampled_from([None, 0, 5, 13, 20])),
        multiple_of=draw(st.sampled_from([None, 1, 4, 8])),
    )


def set_up(theirs: Any, truncation: jogak.Truncation | None, padding: jogak.Padding | None) -> None:
    theirs.no_truncation()
    theirs.no_padding()
    if truncation is not None:
        theirs.enable_truncation(
            truncation.max_length,
            stride=truncation.stride,
            strategy=STRATEGIES[truncation.strategy],
            direction=truncation.side,
        )
    if padding is not None:
        theirs.enable_padding(
            direction=padding.side,
            pad_id=padding.id,
            pad_type_id=padding.type_id,
            pad_token=padding.token,
            length=padding.length,
            pad_to_multiple_of=padding.multiple_of,
        )


def fields(theirs: Any) -> dict[str, Any]:
    """What HF's `Encoding` says, named as here. Nested parts of parts repeat what the list has."""
    return {
        "ids": theirs.ids,
        "tokens": theirs.tokens,
        "type_ids": theirs.type_ids,
        "special_tokens_mask": theirs.special_tokens_mask,
        "attention_mask": theirs.attention_mask,
        "sequence_ids": theirs.sequence_ids,
        "word_ids": theirs.word_ids,
        "char_spans": [list(span) for span in theirs.offsets],
    }


def same(
    ours: jogak.Encoding, theirs: Any, skip: frozenset[str] = frozenset(), *, part: bool = False
) -> None:
    found, expected = ours.to_dict(), fields(theirs)
    for name in expected.keys() - skip:
        assert found[name] == expected[name], name
    if part:
        assert not ours.overflowing
        return
    assert len(ours.overflowing) == len(theirs.overflowing)
    for mine, other in zip(ours.overflowing, theirs.overflowing, strict=True):
        # HF gives the type ids of the template only to what stays.
        same(mine, other, skip | {"type_ids"}, part=True)


TEMPLATES = {
    # A BERT's and an XLNet's: special tokens before, between and behind.
    "[CLS]:0 $A:0 [SEP]:0": "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
    "$A:0 [SEP]:0 [CLS]:2": "$A:0 [SEP]:0 $B:1 [SEP]:1 [CLS]:2",
    "[CLS]:0 [CLS]:1 $A:3": "$B:1 [SEP]:0 $A:0",
    "$A:0": "$A:0 $B:1",
}


@given(
    text=texts(),
    pair=st.none() | texts(),
    single=st.sampled_from([*TEMPLATES]),
    add=st.booleans(),
    lowercase=st.booleans(),
    truncation=st.none() | truncations(),
    padding=st.none() | paddings("[PAD]", 0),
)
def test_wordpiece_inputs_equal_hf(
    text: str,
    pair: str | None,
    single: str,
    add: bool,
    lowercase: bool,
    truncation: jogak.Truncation | None,
    padding: jogak.Padding | None,
) -> None:
    theirs, ours = wordpieces(lowercase)
    both = TEMPLATES[single]
    theirs.post_processor = hf.processors.TemplateProcessing(
        single=single, pair=both, special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    parts = [template_of(hf, one, ours.vocab)[0] for one in (single, both)]  # type: ignore[arg-type]  # it has a template
    spec = dataclasses.replace(ours.spec, template=jogak.Template(*parts))
    compare(theirs, jogak.Tokenizer(spec), text, pair, add, truncation, padding)


def compare(
    theirs: Any,
    ours: jogak.Tokenizer,
    text: str,
    pair: str | None,
    add: bool,
    truncation: jogak.Truncation | None,
    padding: jogak.Padding | None,
    skip: frozenset[str] = frozenset(),
) -> None:
    """Both give the same, or both refuse."""
    try:
        set_up(theirs, truncation, padding)
    except ValueError:  # HF looks at the stride beforehand; here it is looked at where it counts
        reject()
    options: Any = {
        "add_special_tokens": add,
        "truncation": False if truncation is None else truncation,
        "padding": False if padding is None else padding,
    }
    parts = ours.spec.template.single if pair is None else ours.spec.template.pair
    added = sum(len(part.what) for part in parts if not isinstance(part.what, str)) * add
    if truncation is not None and truncation.max_length < added:
        # HF's subtraction wraps around.
        with pytest.raises(jogak.ConfigError, match="template"):
            ours.encoding(text, pair, **options)
        return
    try:
        expected = theirs.encode(text, pair, add_special_tokens=add)
    except BaseException as error:  # a stride too long is a panic
        assert not isinstance(error, KeyboardInterrupt)
        with pytest.raises((jogak.ConfigError, jogak.EncodeError)):
            ours.encoding(text, pair, **options)
        return
    found = ours.encoding(text, pair, **options)
    if truncation is not None and truncation.max_length == added and not expected.sequence_ids:
        skip |= {"sequence_ids"}
    same(found, expected, skip)


@given(
    text=texts(),
    pair=st.none() | texts(),
    add=st.booleans(),
    trim=st.booleans(),
    truncation=st.none() | truncations(),
    padding=st.none() | paddings("<pad>", 5),
)
def test_byte_level_inputs_equal_hf(
    text: str,
    pair: str | None,
    add: bool,
    trim: bool,
    truncation: jogak.Truncation | None,
    padding: jogak.Padding | None,
) -> None:
    """RoBERTa's way: every type id 0, four special tokens for two texts, spans without spaces."""
    theirs, ours = byte_level()
    start, end = ours.id("<s>"), ours.id("</s>")
    theirs.post_processor = hf.processors.RobertaProcessing(
        ("</s>", end), ("<s>", start), trim_offsets=trim, add_prefix_space=False
    )
    part = jogak.TemplatePart
    single = (part((start,)), part("A"), part((end,)))
    template = jogak.Template(single, (*single, part((end,)), part("B"), part((end,))), trim)
    spec = dataclasses.replace(ours.spec, template=template)
    compare(theirs, jogak.Tokenizer(spec), text, pair, add, truncation, padding)


# --- real vocabularies and real text

CORPORA = ["en_docs", "ko_nsmc", "tf_zh-cn", "code"]


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize(
    ("name", "lowercase"), [("bert-base-uncased", True), ("koelectra-base", False)]
)
def test_bert_equals_hf(name: str, lowercase: bool, corpus: str, data: Data) -> None:
    ours = jogak.load(data(f"models/{name}/vocab.txt"))
    theirs = hf.Tokenizer(hf.models.WordPiece(dict(ours.vocab), unk_token="[UNK]"))
    theirs.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    theirs.normalizer = hf.normalizers.BertNormalizer(lowercase=lowercase)
    start, end = ours.id("[CLS]"), ours.id("[SEP]")
    theirs.post_processor = hf.processors.BertProcessing(("[SEP]", end), ("[CLS]", start))
    part = jogak.TemplatePart
    single = (part((start,)), part("A"), part((end,)))
    template = jogak.Template(single, (*single, part("B", 1), part((end,), 1)))
    ours = jogak.Tokenizer(dataclasses.replace(ours.spec, template=template))
    lines = piece_of(data(f"corpora/{corpus}.txt"), 60_000).split("\n")
    padding = jogak.Padding("[PAD]", ours.id("[PAD]"), multiple_of=8)
    compare_batches(theirs, ours, lines, padding)


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("trim", [True, False])
def test_gpt2_equals_hf(corpus: str, trim: bool, data: Data) -> None:
    folder = data("models/gpt2")
    ours = jogak.load(folder)
    theirs = hf.Tokenizer(hf.models.BPE(dict(ours.vocab), [*ours.merges]))
    theirs.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.post_processor = hf.processors.ByteLevel(add_prefix_space=False, trim_offsets=trim)
    spec = dataclasses.replace(ours.spec, template=jogak.Template(trim_spans=trim))
    lines = piece_of(data(f"corpora/{corpus}.txt"), 60_000).split("\n")
    end = ours.id("<|endoftext|>")
    padding = jogak.Padding("<|endoftext|>", end, side="left")
    compare_batches(theirs, jogak.Tokenizer(spec), lines, padding)


#: Files of every kind, and what is known to differ on purpose.
FILES = {
    "gpt2": frozenset(),
    "roberta-base": frozenset(),
    "phi-3-mini": {"char_spans", "word_ids"},
    "t5-small": {"char_spans", "tokens"},
    "xlnet-base-cased": {"char_spans", "tokens"},
}


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", FILES)
def test_tokenizer_json_equals_hf(name: str, corpus: str, data: Data) -> None:
    path = data(f"models/{name}/tokenizer.json")
    theirs, ours = hf.Tokenizer.from_file(str(path)), jogak.load(path)
    lines = piece_of(data(f"corpora/{corpus}.txt"), 60_000).split("\n")[:300]
    pairs = list(zip(lines[::2], lines[1::2], strict=False))
    for given_texts in (lines, pairs):
        expected = theirs.encode_batch(given_texts)
        for mine, other in zip(ours.encoding_batch(given_texts), expected, strict=True):
            same(mine, other, frozenset(FILES[name]))


def compare_batches(
    theirs: Any, ours: jogak.Tokenizer, lines: list[str], padding: jogak.Padding
) -> None:
    """Alone, in pairs, and cut and filled up; all fields of all lines."""
    pairs = list(zip(lines[::2], lines[1::2], strict=False))
    cut = jogak.Truncation(20, stride=3)
    source = random.Random(1)
    for given_texts, truncation, fill in (
        (lines, None, None),
        (pairs, None, None),
        (pairs, cut, padding),
        ([*lines[:60], "\n".join(lines[:100])], cut, padding),
    ):
        set_up(theirs, truncation, fill)
        options: Any = {"truncation": truncation or False, "padding": fill or False}
        found = ours.encoding_batch(given_texts, **options)
        expected = theirs.encode_batch(given_texts)
        chosen = range(len(found))
        for at in source.sample(chosen, min(len(chosen), 300)):
            same(found[at], expected[at])


def test_spans_that_differ_on_purpose() -> None:
    """What docs/inputs.md says about spans of HF's that are not kept."""
    theirs, ours = wordpieces(False)
    nfc = hf.normalizers.NFC()
    theirs = hf.Tokenizer(theirs.model)
    theirs.normalizer = nfc
    theirs.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    spec = dataclasses.replace(ours.spec, normalizer=resolve_normalizer("nfc"))
    text = "e\u0301"
    assert theirs.encode(text).tokens == ["é"]
    assert theirs.encode(text).offsets == [(0, 1)]  # without the accent
    assert jogak.Tokenizer(spec).encoding(text).char_spans.tolist() == [[0, 2]]

    # A space that was put in has the first character for its own in HF.
    pieces = ("▁", "a", "b")
    theirs = hf.Tokenizer(hf.models.BPE({text: at for at, text in enumerate(pieces)}, []))
    theirs.pre_tokenizer = hf.pre_tokenizers.Metaspace()
    model = jogak.BPEModel(pieces=pieces, merges=())
    made = jogak.Tokenizer(jogak.Spec(model=model, pretokenizer=(jogak.Metaspace(),)))
    assert theirs.encode("ab").offsets == [(0, 1), (0, 1), (1, 2)]
    assert made.encoding("ab").char_spans.tolist() == [[0, 0], [0, 1], [1, 2]]
