"""``tokenizer.json``: each part means what Hugging Face's library makes of it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import hf_generated
import pytest
from format_cases import model_path

import jogak
from jogak.errors import FormatError, UnsupportedFeature
from jogak.formats import detect, hf_json
from jogak.formats.checked import Node
from jogak.formats.hf_json import added, decoders, inputs, models, processors
from jogak.spec import (
    AddedToken,
    BPEModel,
    DecodeFuse,
    DecodeStrip,
    Marker,
    Padding,
    Template,
    TemplatePart,
    Truncation,
    UnigramModel,
    WordPieceModel,
)

VOCAB = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4, "x y": 5}


def library() -> Any:
    return pytest.importorskip("tokenizers")


def whole(**sections: Any) -> bytes:
    model = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": VOCAB,
    }
    return json.dumps({"version": "1.0", "model": model, **sections}).encode()


# --- added tokens


def token(content: str, id_: int = 0, **flags: bool) -> dict[str, Any]:
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": id_, "content": content, **{name: flags.get(name, False) for name in names}}


ADDED = [
    [token("<s>", 99), token("a", 77, special=True), token("</s>", 0)],
    [token(""), token("z"), token("z", special=True), token("z", normalized=True)],
    [token("a", special=True), token("a")],
    [token("x", rstrip=True), token("y", special=True), token("x", lstrip=True)],
]


@pytest.mark.parametrize("entries", ADDED, ids=str)
def test_added_tokens_get_the_ids_that_the_library_gives(entries: list[dict[str, Any]]) -> None:
    data = whole(added_tokens=entries)
    theirs = library().Tokenizer.from_str(data.decode())
    spec = hf_json.loads(data)
    pieces = {text: id_ for id_, text in enumerate(spec.model.pieces) if text is not None}
    assert pieces == theirs.get_vocab()
    flags = {each.content: each for each in theirs.get_added_tokens_decoder().values()}
    rules = {each.text: each for each in spec.added_tokens}
    for text, each in flags.items():
        ours = rules.get(text, AddedToken(text))
        for name in ("single_word", "lstrip", "rstrip", "normalized"):
            assert getattr(ours, name) == getattr(each, name), (text, name)
    # A token that was special once stays so, whatever the last entry says.
    for text in flags:
        assert (theirs.decode([pieces[text]]) == "") == (text in spec.special_tokens), text


def test_an_id_that_two_pieces_would_have_is_refused_by_name() -> None:
    vocabulary = {"a": 0, "b": 3}
    node = Node([token("x"), token("y")], "added_tokens", "t.json")
    with pytest.raises(UnsupportedFeature, match=r"t\.json: added_tokens\[1\] is 'y': .* id 3"):
        added.read(node, vocabulary, 2, lambda text: False)
    assert added.read(Node([token("x")]), vocabulary, 2, lambda text: False).ids == {"x": 2}


@pytest.mark.parametrize(
    "entry", [{}, 3, token("a") | {"id": -1}, token("a") | {"lstrip": 0}, {"content": "a", "id": 1}]
)
def test_entries_that_the_library_refuses_are_faults(entry: Any) -> None:
    data = whole(added_tokens=[token("z"), entry])
    with pytest.raises(Exception, match=r"."):
        library().Tokenizer.from_str(data.decode())
    with pytest.raises(FormatError, match=r"added_tokens\[1\]"):
        hf_json.loads(data)


# --- post-processors


def applied(template: Template, texts: Sequence[Sequence[int]], special: bool) -> list[Any]:
    """Ids and type ids of an input, as a template says them."""
    found = []
    for part in template.single if len(texts) == 1 else template.pair:
        if isinstance(part.what, str):
            found += [(id_, part.type_id) for id_ in texts["AB".index(part.what)]]
        elif special:
            found += [(id_, part.type_id) for id_ in part.what]
    return found


def test_post_processors_are_the_templates_that_the_library_makes_of_them() -> None:
    tokenizers = library()
    outcomes = {"same": 0, "refused": 0}
    texts = ("a b", "b [SEP] b b")
    for seed in range(400):
        rng = random.Random(seed)
        section = hf_generated.post_processor(rng, VOCAB)
        data = whole(post_processor=section, pre_tokenizer={"type": "WhitespaceSplit"})
        theirs = tokenizers.Tokenizer.from_str(data.decode())
        try:
            template = processors.read(Node(section))
        except UnsupportedFeature:
            outcomes["refused"] += 1
            continue
        outcomes["same"] += 1
        ids = [[VOCAB[word] for word in text.split()] for text in texts]
        for special in (True, False):
            for count in (1, 2):
                encoding = theirs.encode(*texts[:count], add_special_tokens=special)
                expected = list(zip(encoding.ids, encoding.type_ids, strict=True))
                assert applied(template, ids[:count], special) == expected, section
        assert len(applied(template, [[]], True)) == theirs.num_special_tokens_to_add(False)
        assert len(applied(template, [[], []], True)) == theirs.num_special_tokens_to_add(True)
        written = processors.write(template, [*VOCAB], "t.json")
        assert processors.read(None if written is None else Node(written)) == template
    assert outcomes["same"] > 200
    assert outcomes["refused"] > 10


def test_a_template_behind_three_inputs_is_refused_by_name() -> None:
    parts = [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    one = {
        "type": "TemplateProcessing",
        "single": [*parts, parts[0]],
        "pair": [*parts, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}},
    }
    data = whole(post_processor={"type": "Sequence", "processors": [one, one]})
    with pytest.raises(UnsupportedFeature, match=r"post_processor\.processors\[1\] .* 3 inputs"):
        hf_json.loads(data)


# --- the other sections


def test_decoders_of_all_kinds_are_read_and_written() -> None:
    tokenizers = library()
    for seed in range(300):
        section = hf_generated.decoder(random.Random(seed))
        try:
            tokenizers.Tokenizer.from_str(whole(decoder=section).decode())
        except Exception:
            with pytest.raises(FormatError):
                decoders.read(Node(section))
            continue
        try:
            stages = decoders.read(Node(section))
        except UnsupportedFeature as error:
            assert "pattern" in str(error)
            continue
        written = decoders.write(stages, "t.json")
        assert written is not None
        tokenizers.Tokenizer.from_str(whole(decoder=written).decode())
        assert decoders.read(Node(written)) == stages


def test_no_decoder_is_not_a_chain_of_none() -> None:
    assert decoders.read(None) == ()
    assert decoders.read(Node({"type": "Sequence", "decoders": []})) == (DecodeFuse(),)
    old = Node({"content": " ", "start": 1, "stop": 0})
    assert decoders.read(old) == (DecodeStrip(" ", 1, 0),)


def test_truncation_and_padding() -> None:
    tokenizers = library()
    tok = tokenizers.Tokenizer.from_str(whole().decode())
    tok.enable_truncation(7, stride=2, strategy="only_second", direction="left")
    tok.enable_padding(direction="left", pad_id=1, pad_type_id=2, pad_token="[CLS]", length=8)
    sections = json.loads(tok.to_str())
    spec = hf_json.loads(tok.to_str().encode())
    assert spec.truncation == Truncation(7, 2, "left", "only-second")
    assert spec.padding == Padding("[CLS]", 1, 2, "left", 8)
    assert inputs.write_truncation(spec.truncation) == sections["truncation"]
    assert inputs.write_padding(spec.padding) == sections["padding"]
    tok.enable_padding(pad_to_multiple_of=8)
    padding = hf_json.loads(tok.to_str().encode()).padding
    assert padding == Padding("[PAD]", 0, multiple_of=8)
    assert inputs.write_padding(padding) == json.loads(tok.to_str())["padding"]


# --- models


def read_model(**fields: Any) -> Any:
    draft = models.read(Node(fields, "model"))
    return draft.build(tuple(sorted(draft.ids, key=lambda text: draft.ids[text])))


def test_models_of_old_files_are_told_by_their_fields() -> None:
    assert isinstance(read_model(vocab={"a": 0}, merges=[]), BPEModel)
    wordpiece = {"unk_token": "a", "continuing_subword_prefix": "", "max_input_chars_per_word": 3}
    assert isinstance(read_model(vocab={"a": 0}, **wordpiece), WordPieceModel)
    assert isinstance(read_model(vocab=[["a", 0]], unk_id=0), UnigramModel)
    with pytest.raises(FormatError, match="type"):
        read_model(type="Other", vocab={"a": 0}, merges=[])


def test_both_layouts_of_merges_and_the_last_of_equal_ones() -> None:
    vocab = {"a": 0, "b": 1, "ab": 2, "ba": 3}
    pairs = read_model(type="BPE", vocab=vocab, merges=[["a", "b"], ["b", "a"], ["a", "b"]])
    lines = read_model(type="BPE", vocab=vocab, merges=["#version: 0.2", "a b", "b a", "a b"])
    assert pairs.merges == lines.merges == ((1, 0), (0, 1))


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (["a b c"], r"model\.merges\[0\] is 'a b c'; expected two pieces"),
        ([["a", "b"], ["a"]], r"model\.merges\[1\]"),
        ([["a", "z"]], r"model\.merges\[0\] has 'z', which is not in the vocabulary"),
        ([["a", "a"]], r"model\.merges\[0\] makes 'aa'"),
        ([["a", "b"], "a b"], r"model\.merges\[1\]"),
        ([3], r"model\.merges\[0\]"),
        ({}, r"model\.merges is an object of 0; expected a list of merges"),
    ],
)
def test_broken_merges_are_named(merges: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_model(type="BPE", vocab={"a": 0, "b": 1, "ab": 2}, merges=merges)


def test_a_prefix_is_so_many_bytes_of_a_right_part() -> None:
    vocab = {"a": 0, "b": 1, "ab": 2, "##b": 3, "xyb": 4}
    options = {"type": "BPE", "vocab": vocab, "continuing_subword_prefix": "##"}
    model = read_model(**options, merges=[["a", "##b"], ["a", "xyb"]])
    assert (model.marker, model.merges) == (Marker("continuation"), ((0, 3), (0, 4)))
    with pytest.raises(FormatError, match=r"model\.merges\[0\] .* 2 bytes"):
        read_model(**options, merges=[["a", "b"]])


def test_scores_are_read_as_the_library_reads_them() -> None:
    data = b'{"version":"1.0","model":{"vocab":[["a",-2.0122928619384766],["b",-1]],"unk_id":0}}'
    model = hf_json.loads(data).model
    assert isinstance(model, UnigramModel)
    assert model.scores == (-2.012292861938477, -1.0)
    assert json.loads(library().Tokenizer.from_str(data.decode()).to_str())["model"]["vocab"] == [
        ["a", -2.012292861938477],
        ["b", -1.0],
    ]


def test_two_texts_with_one_id_are_refused_by_name() -> None:
    model = {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}
    with pytest.raises(UnsupportedFeature, match="'a' and 'b' both have the id 0"):
        hf_json.loads(json.dumps({"model": model}).encode())


# --- whole files


def test_a_file_is_known_by_its_first_bytes(tmp_path: Any) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(whole())
    assert detect(path) == "tokenizer-json"
    path.write_text('{"model": 0, "version": 1, "truncation": 2}')
    assert detect(path) == "vocab-merges"
    path.write_text('{"version": "2.0", "model": {"vocab": {}, "merges": []}}')
    with pytest.raises(FormatError, match=r"version is '2\.0'; expected \"1\.0\""):
        jogak.load(path, format="tokenizer-json")


def test_what_the_library_ignores_is_ignored() -> None:
    plain = hf_json.loads(whole())
    data = whole(surprise=[1], normalizer={"type": "Sequence", "normalizers": [], "more": 2})
    assert hf_json.loads(data) == plain


def test_parts_of_one_template_may_have_several_ids() -> None:
    template = Template((TemplatePart((1, 2)), TemplatePart("A", 3)))
    written = processors.write(template, [*VOCAB], "t.json")
    assert written is not None
    assert written["special_tokens"]["1 2"]["tokens"] == ["[CLS]", "[SEP]"]
    assert processors.read(Node(written)) == template
    with pytest.raises(UnsupportedFeature, match="leaves one out"):
        processors.write(Template(pair=(TemplatePart("A"),)), [*VOCAB], "t.json")


NAMES = [
    *("bert-base-cased", "gpt2", "mistral-v1", "phi-3-mini", "roberta-base", "whisper"),
]


@pytest.mark.parametrize("name", NAMES)
def test_real_files_are_read_and_written_as_they_were(name: str) -> None:
    file = "whisper-tiny.tokenizer.json" if name == "whisper" else "tokenizer.json"
    data = model_path(name, file).read_bytes()
    spec = hf_json.loads(data)
    written = hf_json.dumps(spec)
    assert hf_json.loads(written) == spec
    tokenizers = library()
    theirs = tokenizers.Tokenizer.from_str(data.decode())
    again = tokenizers.Tokenizer.from_str(written.decode())
    assert again.get_vocab() == theirs.get_vocab()
    ours = jogak.Tokenizer(spec)
    rng = random.Random(7)
    for text in [hf_generated.text(rng) for _ in range(300)]:
        expected = theirs.encode(text, add_special_tokens=False).ids
        assert again.encode(text, add_special_tokens=False).ids == expected
        assert again.encode(text, text).ids == theirs.encode(text, text).ids
        if not spec.added_tokens:
            assert ours.encode(text, special="parse") == expected
