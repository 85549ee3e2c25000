"""vocab.json and merges.txt: real ones, round trips, and what they cannot say."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from format_cases import model_path, specs, toy_spec
from hypothesis import given, settings

from jogak import formats
from jogak.errors import ConfigError, FormatError, UnsupportedFeature
from jogak.formats import vocab_merges
from jogak.formats.bytelevel import ALPHABET, OF_TEXT
from jogak.spec import BPEModel, Marker, Named, Spec

BYTES = json.dumps({text: i for i, text in enumerate([*ALPHABET, "Ġt", "<end> "])})


def given_again(spec: Spec) -> dict[str, Any]:
    """The options that the two files do not say."""
    model = spec.model
    return {
        "marker": model.marker,
        "pretokenizer": spec.pretokenizer,
        "special_tokens": list(spec.special_tokens),
        "unknown": model.unknown,
        "fuse_unknown": model.fuse_unknown,
        "byte_fallback": model.byte_fallback,
        "strategy": model.strategy,
        "mark_words": model.mark_words,
        "whole_word": model.whole_word,
    }


def write_pair(folder: Path, vocab: str, merges: str) -> Path:
    (folder / "vocab.json").write_text(vocab, "utf-8")
    (folder / "merges.txt").write_text(merges, "utf-8")
    return folder


# --- round trips --------------------------------------------------------------------------------


@settings(deadline=None)
@given(specs(in_lines=True))
def test_every_spec_comes_back(spec: Spec) -> None:
    with tempfile.TemporaryDirectory() as folder:
        vocab_merges.write(folder, spec)
        assert formats.read(folder, **given_again(spec)).spec == spec


def test_the_files_of_the_worked_example(tmp_path: Path) -> None:
    formats.write(tmp_path / "new", toy_spec(), format="vocab-merges")
    assert (tmp_path / "new" / "merges.txt").read_text() == "#version: 0.2\nu g\nu n\nh ug\n"
    vocab = (tmp_path / "new" / "vocab.json").read_text()
    assert vocab.startswith('{"<unk>": 0,\n"b": 1,\n')
    assert list(json.loads(vocab)) == list(toy_spec().model.pieces)


def test_the_files_can_have_any_name(tmp_path: Path) -> None:
    both = tmp_path / "a.json", tmp_path / "a.merges"
    formats.write(both, toy_spec(), format="vocab-merges")
    assert formats.read(both, **given_again(toy_spec())).spec == toy_spec()
    formats.write(tmp_path / "vocab.bpe", toy_spec(), format="vocab-merges")
    assert formats.read(tmp_path / "encoder.json", **given_again(toy_spec())).spec == toy_spec()


# --- real files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".", "encoder.json", "vocab.bpe"])
def test_gpt2(name: str) -> None:
    loaded = formats.read(model_path("gpt2", name), format="vocab-merges")
    model = loaded.spec.model
    assert (loaded.format, loaded.training, loaded.probes) == ("vocab-merges", None, ())
    assert (len(model.pieces), len(model.merges or ())) == (50257, 50000)
    assert (model.pieces[262], model.alphabet, model.marker.kind) == ("Ġthe", "bytes", "byte-level")
    assert loaded.spec.pretokenizer == (Named("gpt2"),)
    assert loaded.spec.special_tokens == {"<|endoftext|>": 50256}


def test_roberta() -> None:
    folder = model_path("roberta-base")
    known = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 50264}
    spec = vocab_merges.read(*vocab_merges.find(folder))
    assert spec.special_tokens == known
    pair = vocab_merges.find(folder)
    assert vocab_merges.read(*pair, special_tokens=list(known)) == spec
    assert vocab_merges.read(*pair, special_tokens=["<s>"]).special_tokens == {"<s>": 0}
    assert len(spec.model.merges or ()) == 50000


@pytest.mark.parametrize("model", ["gpt2", "roberta-base"])
def test_real_files_written_again_hold_the_same(model: str, tmp_path: Path) -> None:
    source = model_path(model)
    formats.write(tmp_path, formats.read(source).spec, format="vocab-merges")
    vocab_path, merges_path = vocab_merges.find(source)
    assert json.loads((tmp_path / "vocab.json").read_bytes()) == json.loads(
        Path(vocab_path).read_bytes()
    )
    assert (tmp_path / "merges.txt").read_bytes() == Path(merges_path).read_bytes()


def test_tokenizers_reads_what_is_written(tmp_path: Path) -> None:
    peer = pytest.importorskip("tokenizers")
    spec = formats.read(model_path("roberta-base")).spec
    formats.write(tmp_path, spec, format="vocab-merges")
    files = str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    ours = peer.Tokenizer(peer.models.BPE.from_file(*files))
    ours.pre_tokenizer = peer.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs = peer.Tokenizer.from_file(str(model_path("roberta-base", "tokenizer.json")))
    text = "The newest tokenizers, 최고의 영화 — 3.14!\n\n\tok"
    assert ours.get_vocab_size() == len(spec.model.pieces)
    assert ours.encode(text).ids == theirs.encode(text, add_special_tokens=False).ids


# --- what the caller must say -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("piece", "end"),
    [
        ("a</w>", "'</w>', which is a suffix"),
        ("▁a", "a prefix"),
        ("##a", "a continuation mark"),
        ("b", "or a jogak.Marker)"),
    ],
)
def test_the_marker_must_be_given(tmp_path: Path, piece: str, end: str) -> None:
    write_pair(tmp_path, json.dumps({"a": 0, piece: 1}), "")
    with pytest.raises(ConfigError, match=r"say it: marker=\.\.\. \(one of 'none', ") as caught:
        formats.read(tmp_path)
    assert str(caught.value).endswith(end)
    with pytest.raises(ConfigError, match=r"say it: pretokenizer=\.\.\., such as"):
        formats.read(tmp_path, marker="none")
    formats.read(tmp_path, marker="none", pretokenizer="whitespace")


@pytest.mark.parametrize("letters", [ALPHABET, OF_TEXT], ids=["all bytes", "those of text"])
def test_bytes_with_a_suffix_are_not_taken_for_plain_bytes(
    letters: tuple[str, ...], tmp_path: Path
) -> None:
    pieces = [*letters, *(character + "</w>" for character in letters)]
    write_pair(tmp_path, json.dumps({text: i for i, text in enumerate(pieces)}), "")
    with pytest.raises(UnsupportedFeature, match=r"the pieces are bytes and also end in '</w>'"):
        formats.read(tmp_path)


def test_special_tokens(tmp_path: Path) -> None:
    write_pair(tmp_path, BYTES, "Ġ t\n")
    with pytest.raises(FormatError, match=r"piece '<end> ' \(id 257\) .* name it in special_tok"):
        formats.read(tmp_path)
    spec = formats.read(tmp_path, special_tokens={"<end> ": 257, "<new>": 300}).spec
    assert spec.special_tokens == {"<end> ": 257, "<new>": 300}
    assert spec.model.pieces[258:] == (*[None] * 42, "<new>")
    for wrong, message in (
        (["<new>"], r"'<new>' is no piece of the vocabulary; to add it, give its id too"),
        ({"<new>": 3}, r"'<new>' wants the id 3, but the file has '<new>' at None and"),
        ({"<end> ": 3}, r"'<end> ' wants the id 3, but the file has '<end> ' at 257"),
        ({"<new>": True}, r"'<new>' has the id True; expected 0 or more"),
        ("<end> ", r"special_tokens is the text '<end> '; expected a list"),
    ):
        with pytest.raises(ConfigError, match=message):
            formats.read(tmp_path, special_tokens=wrong)


def test_unknown_must_be_a_piece(tmp_path: Path) -> None:
    write_pair(tmp_path, '{"a":0}', "")
    with pytest.raises(ConfigError, match="unknown='<unk>' is no piece; expected one of them"):
        formats.read(tmp_path, marker="none", pretokenizer="none", unknown="<unk>")


# --- what is wrong in files ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vocab", "message"),
    [
        ("[]", "the file is a list of 0; expected an object of texts and ids"),
        ('{"a":0,"b":0}', "pieces 'a' and 'b' both have the id 0; expected one piece"),
        ('{"a":-1}', "piece 'a' has the id -1; expected 0 or more"),
        ('{"a":true}', "piece 'a' is true; expected a whole number"),
        ('{"a":"0"}', "piece 'a' is '0'; expected a whole number"),
        ('{"a":0,"a":1}', "the key 'a' stands twice"),
        ('{"":0}', "piece '' has no text that a piece can have"),
        ('{"\\ud800":0}', r"piece '\\ud800' has no text that a piece can have"),
        ('{"a":9000000}', "the highest id is 9000000 for 1 pieces; expected at most 1,000,000 ids"),
    ],
)
def test_errors_in_vocab_json(tmp_path: Path, vocab: str, message: str) -> None:
    write_pair(tmp_path, vocab, "")
    with pytest.raises(FormatError, match=message) as caught:
        formats.read(tmp_path, format="vocab-merges", marker="none", pretokenizer="none")
    assert caught.value.file == str(tmp_path / "vocab.json")


@pytest.mark.parametrize(
    ("merges", "place", "message"),
    [
        ("#version: 0.2\na b\nab\n", "line 3", "line 3 is 'ab'; expected two pieces and one space"),
        ("a b\na  b\n", "line 2", "line 2 is 'a  b'; expected two pieces"),
        ("a b\n\nb a\n", "line 2", "line 2 is ''; expected two pieces"),
        ("a b c\n", "line 1", "line 1 is 'a b c'"),
        ("a b\nab x\n", "line 2", "merges 'x', which is not in the vocabulary; do the two files"),
        ("a b\nb b\n", "line 2", "makes 'bb', which is not in the vocabulary; .* marker 'none'"),
        ("a b\nab a\na b\n", "line 3", "line 3 repeats line 1; expected every merge once"),
    ],
)
def test_errors_in_merges_txt(tmp_path: Path, merges: str, place: str, message: str) -> None:
    write_pair(tmp_path, '{"a":0,"b":1,"ab":2,"aba":3}', merges)
    with pytest.raises(FormatError, match=message) as caught:
        formats.read(tmp_path, marker="none", pretokenizer="none")
    assert caught.value.file == str(tmp_path / "merges.txt")
    assert caught.value.place == place


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    write_pair(tmp_path, '{"a":0,"\\u2028":1,"a\\u2028":2}', "#version: 0.2\r\na \u2028\r\n\r\n")
    spec = formats.read(tmp_path, marker="none", pretokenizer="none").spec
    assert spec.model.merges == ((0, 1),)


def test_merges_txt_in_another_encoding(tmp_path: Path) -> None:
    write_pair(tmp_path, '{"a":0}', "")
    (tmp_path / "merges.txt").write_bytes(b"#version: 0.2\n\xff a\n")
    with pytest.raises(FormatError, match="byte 14 is not UTF-8"):
        formats.read(tmp_path, marker="none", pretokenizer="none")


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
def test_one_file_alone(tmp_path: Path, name: str) -> None:
    write_pair(tmp_path, '{"a":0}', "#version: 0.2\n")
    (tmp_path / name).rename(tmp_path / "elsewhere")
    other = "merges.txt" if name == "vocab.json" else "vocab.json"
    with pytest.raises(FormatError, match=r"found no vocab.json and merges.txt .* side by side"):
        formats.read(tmp_path / other)


# --- what cannot be written ---------------------------------------------------------------------


def spec_of(pieces: tuple[str, ...], merges: Any) -> Spec:
    return Spec(model=BPEModel(pieces=pieces, merges=merges), pretokenizer=(Named("none"),))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (spec_of(("a", " ", "a "), ((0, 1),)), r"merge 0 joins 'a' and ' '; a line of merges.txt"),
        (spec_of(("a", "\n", "a\n"), ((0, 1),)), r"merge 0 joins 'a' and '\\n'"),
        (spec_of(("a", "b", "ab"), ((0, 1), (0, 1))), "the same merge stands twice"),
        (spec_of(("a",), None), r"merges by the rank of the ids and has no list of merges"),
    ],
)
def test_unsupported(tmp_path: Path, spec: Spec, message: str) -> None:
    with pytest.raises(UnsupportedFeature, match=message):
        formats.write(tmp_path, spec, format="vocab-merges")
    assert list(tmp_path.iterdir()) == []


def test_spaces_outside_of_merges_can_be_said(tmp_path: Path) -> None:
    spec = dataclasses.replace(spec_of((" ", "a"), ()))
    formats.write(tmp_path, spec, format="vocab-merges")
    assert formats.read(tmp_path, marker=Marker(), pretokenizer="none").spec == spec


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "taken.txt").write_text("")
    with pytest.raises(
        ConfigError, match=r"is a file; vocab\.json and merges\.txt are two: give a fol"
    ):
        formats.write(tmp_path / "taken.txt", toy_spec(), format="vocab-merges")
