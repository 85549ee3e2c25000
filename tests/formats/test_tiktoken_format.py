"""Rank files: the published ones by content, holes, special tokens, and what is wrong in lines."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import pytest
from format_cases import model_path, toy_spec

from jogak import formats
from jogak.errors import ConfigError, FormatError, UnsupportedFeature
from jogak.formats import patterns, tiktoken
from jogak.formats.bytelevel import to_bytes
from jogak.formats.encodings import ENCODINGS
from jogak.spec import Named, Split


def line(piece: bytes, rank: int) -> bytes:
    return base64.b64encode(piece) + b" %d\n" % rank


BYTES = b"".join(line(bytes([byte]), byte) for byte in range(256))


def write_file(folder: Path, data: bytes) -> Path:
    path = folder / "toy.tiktoken"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("file", "pretokenizer", "size", "special"),
    [
        ("gpt2/gpt2.tiktoken", "gpt2", 50257, {"<|endoftext|>": 50256}),
        ("r50k_p50k/r50k_base.tiktoken", "gpt2", 50257, {"<|endoftext|>": 50256}),
        ("r50k_p50k/p50k_base.tiktoken", "gpt2", 50281, {"<|endoftext|>": 50256}),
        (
            "cl100k_base/cl100k_base.tiktoken",
            "cl100k",
            100277,
            {
                "<|endoftext|>": 100257,
                "<|fim_prefix|>": 100258,
                "<|fim_middle|>": 100259,
                "<|fim_suffix|>": 100260,
                "<|endofprompt|>": 100276,
            },
        ),
    ],
)
def test_published_files_are_known_by_content(
    tmp_path: Path, file: str, pretokenizer: str, size: int, special: dict[str, int]
) -> None:
    path = tmp_path / "renamed"
    path.write_bytes(model_path(file).read_bytes())
    loaded = formats.read(path)
    assert loaded.format == "tiktoken"
    assert loaded.spec.pretokenizer == (Named(pretokenizer),)
    assert loaded.spec.special_tokens == special
    assert loaded.spec.special_policy == "error"
    model = loaded.spec.model
    assert (len(model.pieces), model.merges, model.whole_word) == (size, None, True)


def test_gpt2_has_the_same_ids_in_both_formats() -> None:
    ranks = formats.read(model_path("gpt2", "gpt2.tiktoken")).spec
    merges = formats.read(model_path("gpt2", "encoder.json")).spec
    assert ranks.model.pieces == merges.model.pieces
    assert ranks.special_tokens == merges.special_tokens
    assert ranks.pretokenizer == merges.pretokenizer


def test_the_published_table_is_tiktokens(monkeypatch: pytest.MonkeyPatch) -> None:
    peer = pytest.importorskip("tiktoken_ext.openai_public")
    monkeypatch.setattr(peer, "load_tiktoken_bpe", lambda url, expected_hash: expected_hash)
    theirs = peer.ENCODING_CONSTRUCTORS
    known = {name: content for content, name in tiktoken.PUBLISHED.items()}
    assert {"r50k_base", "p50k_base", "cl100k_base", "o200k_base"} <= known.keys() & theirs.keys()
    for name in known.keys() & theirs.keys():
        assert theirs[name]()["mergeable_ranks"] == known[name]


def test_all_that_is_known_by_content_has_a_name() -> None:
    shared = [name for names in tiktoken.SHARED.values() for name in names]
    assert {*tiktoken.PUBLISHED.values(), *shared} <= ENCODINGS.keys()
    assert not tiktoken.PUBLISHED.keys() & tiktoken.SHARED.keys()


def test_a_file_of_several_encodings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(tmp_path, BYTES)
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(tiktoken, "SHARED", {content: ("llama-3", "llama-3.1")})
    with pytest.raises(ConfigError, match=r'llama-3 and of llama-3\.1, .* scheme="llama-3" or'):
        formats.read(path)
    # Whoever says how text is cut asks for no special tokens of others.
    assert formats.read(path, pretokenizer="cl100k").spec.special_tokens == {}


def test_a_file_that_is_known_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(tmp_path, BYTES)
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(tiktoken, "PUBLISHED", {content: "qwen"})
    spec = formats.read(path).spec
    assert spec == formats.read(path, scheme="qwen").spec
    assert spec.special_tokens["<|im_start|>"] == 151644


def test_tiktoken_reads_the_same_ranks(tmp_path: Path) -> None:
    peer = pytest.importorskip("tiktoken.load")
    path = model_path("cl100k_base", "cl100k_base.tiktoken")
    spec = tiktoken.read(path)
    ours = {
        to_bytes(text): id_
        for id_, text in enumerate(spec.model.pieces)
        if text is not None and text not in spec.special_tokens
    }
    assert ours == peer.load_tiktoken_bpe(str(path))


def test_whispers_empty_piece_is_a_hole() -> None:
    path = model_path("whisper", "multilingual.tiktoken")
    spec = tiktoken.read(path, pretokenizer="gpt2", special_tokens={"<|endoftext|>": 50257})
    assert spec.model.pieces[50255:] == ("åľº", None, "<|endoftext|>")


def test_unknown_files_need_a_pretokenizer(tmp_path: Path) -> None:
    path = write_file(tmp_path, BYTES)
    with pytest.raises(
        ConfigError,
        match=r'none of those known by content .* scheme="llama-3", .* pattern=',
    ):
        formats.read(path)
    spec = formats.read(path, pretokenizer="cl100k").spec
    assert (spec.special_tokens, spec.pretokenizer) == ({}, (Named("cl100k"),))


def test_the_caller_overrules_what_is_known() -> None:
    path = model_path("gpt2", "gpt2.tiktoken")
    spec = tiktoken.read(path, pretokenizer="whitespace", special_tokens={})
    assert (spec.pretokenizer, spec.special_tokens) == ((Named("whitespace"),), {})
    assert len(spec.model.pieces) == 50256


def test_a_scheme_is_pattern_and_special_tokens(tmp_path: Path) -> None:
    path = write_file(tmp_path, BYTES)
    spec = formats.read(path, scheme="qwen").spec
    assert spec.pretokenizer == patterns.stages_of(patterns.QWEN)
    assert spec.special_tokens["<|im_end|>"] == 151645
    assert spec.special_policy == "error"
    spec = formats.read(path, scheme="qwen", pattern="[a-z]+", special_tokens={}).spec
    assert (spec.pretokenizer, spec.special_tokens) == ((Split("[a-z]+", "only"),), {})
    with pytest.raises(ConfigError, match=r"scheme 'qwem' is not known; expected one of 'gpt2', "):
        formats.read(path, scheme="qwem")
    with pytest.raises(ConfigError, match="pattern and pretokenizer both say"):
        formats.read(path, pattern="a", pretokenizer="gpt2")


def test_holes(tmp_path: Path) -> None:
    path = write_file(tmp_path, BYTES + line(b"th", 300))
    spec = tiktoken.read(path, pretokenizer="gpt2", special_tokens={"<end>": 258})
    assert spec.model.pieces[256:259] == (None, None, "<end>")
    assert spec.model.pieces[299:] == (None, "th")


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (b"IQ==", "line 257 is b'IQ=='; expected base64, one space, and a rank"),
        (b"dGg= -1", "line 257 is b'dGg= -1'"),
        (b"dGg= 1.0", "line 257 is b'dGg= 1.0'"),
        (b"dGg=  256", "expected base64, one space"),
        (b"dGg= \xd9\xa1", "expected base64, one space"),
        (b"dGg= 12345678901234567890", "expected base64, one space"),
        (b"", "line 257 is b''"),
        (b"dGg= 7", "line 257: rank 7 stands on line 8 already"),
        (b"YQ== 256", "line 257: the bytes b'a' stand on line 98 already"),
        (b"dG= 256", "line 257: b'dG=' is not the base64 of one or more bytes"),
        (b"== 256", "line 257: b'==' is not the base64"),
        (b" 256", "line 257: b'' is not the base64"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, last: bytes, message: str) -> None:
    path = write_file(tmp_path, BYTES + last + b"\n")
    with pytest.raises(FormatError) as caught:
        tiktoken.read(path, pretokenizer="gpt2")
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.place) == (str(path), "line 257")


def test_all_bytes_must_be_there(tmp_path: Path) -> None:
    path = write_file(tmp_path, BYTES.replace(line(b"\x80", 128), b""))
    with pytest.raises(FormatError, match="the byte 0x80 has no rank; expected all 256 bytes"):
        tiktoken.read(path, pretokenizer="gpt2")


@pytest.mark.parametrize(
    ("special", "message"),
    [
        ({"<end>": 7}, "'<end>' has the id 7; expected one that is free"),
        ({"<a>": 256, "<b>": 256}, "'<b>' has the id 256; expected one that is free"),
        ({"<end>": True}, "'<end>' has the id True"),
        ({"a": 256}, "'a' has the text of a piece; expected another text"),
    ],
)
def test_special_tokens_take_free_ids(tmp_path: Path, special: Any, message: str) -> None:
    path = write_file(tmp_path, BYTES)
    with pytest.raises(ConfigError, match=message):
        tiktoken.read(path, pretokenizer="gpt2", special_tokens=special)


def test_written_again_it_is_the_same_file(tmp_path: Path) -> None:
    path = model_path("cl100k_base", "cl100k_base.tiktoken")
    formats.write(tmp_path / "again", formats.read(path).spec, format="tiktoken")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_other_tokenizers_cannot_be_said(tmp_path: Path) -> None:
    path = write_file(tmp_path, BYTES)
    ranks = tiktoken.read(path, pretokenizer="gpt2")

    def variant(**fields: Any) -> Any:
        return dataclasses.replace(ranks, model=dataclasses.replace(ranks.model, **fields))

    for spec, message in (
        (toy_spec(), r"an alphabet of characters \(marker 'none'\)"),
        (variant(merges=()), "a list of merges: its ranks are the ids"),
        (variant(strategy="longest-match"), "the strategy 'longest-match'"),
        (variant(whole_word=False), "whole_word=False"),
    ):
        with pytest.raises(UnsupportedFeature, match=f"a .tiktoken file cannot say {message}"):
            formats.write(tmp_path / "new", spec, format="tiktoken")
    foreign = variant(pieces=(*ranks.model.pieces, "가"))
    with pytest.raises(ConfigError, match="piece '가' stands for no bytes"):
        formats.write(tmp_path / "new", foreign, format="tiktoken")
    assert not (tmp_path / "new").exists()
