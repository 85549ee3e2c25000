"""The core's readers of SentencePiece models, ``vocab.json`` with ``merges.txt``, and ``vocab.txt``,
and the readers in Python: one answer, one error.

Law: as in `test_two_readers`.
"""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from test_two_readers import answer

import jogak
from jogak import _core
from jogak.formats import bytelevel, protobuf, vocab_merges, vocab_txt
from jogak.formats.sentencepiece import loaded_from
from jogak.formats.sentencepiece_model import ModelFile, Piece, PieceType, parse
from jogak.spec import Spec

# --- SentencePiece --------------------------------------------------------------------------------


def both(data: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """What both readers make of a model: its messages, and its Spec."""

    def read() -> tuple[Any, Any]:
        return answer(lambda: parse(data, "file")), answer(lambda: loaded_from(data, "file"))

    fast = read()
    with monkeypatch.context() as patch:
        patch.setattr(_core, "read_model_pieces", lambda data: None)
        slow = read()
    return fast, slow


PIECES = (
    Piece("<unk>", 0.0, PieceType.UNKNOWN),
    Piece("<s>", 0.0, PieceType.CONTROL),
    Piece("▁a", -1.5),
    Piece("밥", -2.0122928619384766),
    Piece("ab", -0.0),
    Piece("<mask>", 0.0, PieceType.USER_DEFINED),
    Piece("가" * 60, -4.0),
    Piece("gone", -3.0, PieceType.UNUSED),
    Piece("▁", -5.0),
)
BYTES = tuple(Piece(f"<0x{byte:02X}>", -9.0, PieceType.BYTE) for byte in range(256))
FILES = {
    "unigram": ModelFile(PIECES, {"model_type": 1}, self_test=(("a", "▁a"),)),
    "bpe": ModelFile(PIECES, {"model_type": 2}),
    "word": ModelFile(PIECES, {"model_type": 3}),
    "char": ModelFile((*PIECES[:4], PIECES[-1]), {"model_type": 4}),
    "bytes": ModelFile((*PIECES, *BYTES), {"model_type": 2, "byte_fallback": True}),
}


@pytest.mark.parametrize("kind", FILES)
def test_models_are_read_alike(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = FILES[kind].to_bytes()
    assert _core.read_model_pieces(data) is not None
    fast, slow = both(data, monkeypatch)
    assert fast == slow
    file, loaded = fast
    if kind != "char":  # "▁a" has two characters, which is an error
        assert isinstance(loaded.spec, Spec)
        assert jogak.Tokenizer(loaded.spec) == jogak.Tokenizer(slow[1].spec)
    assert (
        file == FILES[kind] or kind == "unigram"
    )  # what the trainer says by default is written out
    assert file.to_bytes() == data
    assert file.pieces == FILES[kind].pieces
    assert type(file.pieces) is tuple
    assert pickle.loads(pickle.dumps(parse(data, None))) == file


def piece(*fields: bytes) -> bytes:
    """A piece of these fields."""
    return protobuf.bytes_field(1, b"".join(fields))


TEXT, SCORE, KIND = (
    protobuf.bytes_field(1, "x밥"),
    protobuf.float_field(2, -7.5),
    protobuf.int_field(3, 1),
)

#: Pieces that are not as SentencePiece writes them: each is read by Python in the end, or by both alike.
ODD = {
    "no score": piece(TEXT),
    "no score, a kind": piece(TEXT, KIND),
    "a kind of 0": piece(TEXT, SCORE, protobuf.int_field(3, 0)),
    "a kind of 7": piece(TEXT, SCORE, protobuf.int_field(3, 7)),
    "a kind below zero": piece(TEXT, SCORE, protobuf.int_field(3, -1)),
    "a kind written long": piece(TEXT, SCORE, b"\x18\x81\x00"),
    "a kind of another wire": piece(TEXT, SCORE, b"\x1d\x01\x00\x00\x00"),
    "two kinds": piece(TEXT, SCORE, KIND, protobuf.int_field(3, 5)),
    "another order": piece(KIND, SCORE, TEXT),
    "two texts": piece(protobuf.bytes_field(1, "y"), TEXT, SCORE),
    "two scores": piece(TEXT, protobuf.float_field(2, 1.0), SCORE),
    "no text": piece(SCORE),
    "an empty text": piece(protobuf.bytes_field(1, ""), SCORE),
    "nothing": piece(),
    "a zero": piece(protobuf.bytes_field(1, "a\0"), SCORE),
    "no UTF-8": piece(protobuf.bytes_field(1, b"\xff"), SCORE),
    "a surrogate": piece(protobuf.bytes_field(1, b"\xed\xa0\x80"), SCORE),
    "a text that is there": piece(protobuf.bytes_field(1, "밥"), SCORE),
    "NaN": piece(TEXT, protobuf.float_field(2, float("nan"))),
    "infinity": piece(TEXT, protobuf.float_field(2, float("-inf"))),
    "a field that is not known": piece(TEXT, SCORE, protobuf.int_field(9, 1)),
    "a length written long": b"\x0a\x8c\x00" + piece(TEXT, SCORE, KIND)[2:],
    "a text of 200 bytes": piece(protobuf.bytes_field(1, "a" * 200), SCORE),
    "a text of 20,000 bytes": piece(protobuf.bytes_field(1, "a" * 20_000), SCORE),
    "a piece that is a number": protobuf.int_field(1, 5),
    "a field of the file that is not known": protobuf.int_field(77, 5),
    "a length behind the end": b"\x0a\x7f\x0a\x01",
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", ["first", "within", "last", "behind"])
def test_odd_pieces_have_one_answer(odd: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = FILES["bpe"].to_bytes()
    ends = [0, *(each.end for each in protobuf.fields(whole, "", None) if each.number == 1)]
    at = {"first": 0, "within": ends[4], "last": ends[-1], "behind": len(whole)}[place]
    fast, slow = both(whole[:at] + ODD[odd] + whole[at:], monkeypatch)
    assert fast == slow


@pytest.mark.parametrize("kind", FILES)
def test_broken_models_have_one_answer(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = FILES[kind].to_bytes()
    whole = whole[:600] + whole[-60:] if kind == "bytes" else whole
    draw = random.Random(11)
    read = 0
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(draw.choice([1, 1, 2])):
            at = draw.randrange(len(data))
            data[at : at + draw.choice([0, 1, 1, 1, 3])] = bytes(
                draw.choice(
                    [0, 1, 2, 6, 0x0A, 0x12, 0x15, 0x18, 0x7F, 0x80, 0xFF, draw.randrange(256)]
                )
                for _ in range(draw.choice([0, 1, 1, 1, 2]))
            )
        file = bytes(data[: draw.randrange(len(data))] if draw.random() < 0.1 else data)
        fast, slow = both(file, monkeypatch)
        assert fast == slow, file
        read += _core.read_model_pieces(file) is not None
    assert 0 < read < 400


# --- vocab.json and merges.txt --------------------------------------------------------------------

VOCABULARY = {
    text: id_ for id_, text in enumerate([*bytelevel.ALPHABET, "lo", "low", "é밥", "<s>"])
}
MERGES = "#version: 0.2\nl o\nlo w\n"


def both_files(
    vocabulary: bytes, merges: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[Any, Any]:
    """What both readers make of the two files."""
    paths = folder / "vocab.json", folder / "merges.txt"
    for path, data in zip(paths, (vocabulary, merges), strict=True):
        path.write_bytes(data)
    fast = answer(lambda: vocab_merges.read(*paths, **options))
    with monkeypatch.context() as patch:
        patch.setattr(_core, "read_vocab", lambda data: None)
        slow = answer(lambda: vocab_merges.read(*paths, **options))
        assert answer(lambda: jogak.load(paths, **options).spec) == slow
    return fast, slow


def vocabulary_of(**more: Any) -> bytes:
    return json.dumps({**VOCABULARY, **more}).encode()


PLAIN = {text: id_ for text, id_ in VOCABULARY.items() if text != "é밥"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"special_tokens": ["<s>"]},
        {"special_tokens": {"<s>": 259}},
        {"special_tokens": {"<t>": 400}},
        {"special_tokens": {"<t>": 259}},
        {"special_tokens": {"<s>": 5}},
        {"special_tokens": ["nowhere"]},
        {"special_tokens": ["é밥"]},
        {"unknown": "<s>"},
        {"unknown": "nowhere"},
        {"marker": "suffix", "pretokenizer": "whitespace"},
        {"marker": "continuation", "pretokenizer": "whitespace", "unknown": "<s>"},
        {"strategy": "longest-match"},
    ],
)
@pytest.mark.parametrize("foreign", [True, False])
def test_files_of_vocabulary_and_merges_are_read_alike(
    options: dict[str, Any], foreign: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.dumps(VOCABULARY if foreign else PLAIN).encode()
    assert _core.read_vocab(data) is not None
    fast, slow = both_files(data, MERGES.encode(), tmp_path, monkeypatch, **options)
    assert fast == slow


@pytest.mark.parametrize(
    "merges",
    [
        *("", "\n", "\r", "#version: 0.2", "#version: 0.2\n\n", "l o", "l o\n\r\n\n", "l o\r"),
        *("l o\r\nlo w\r\n", "l o\r\r", "l o\r\r\n", "l o\n\nlo w", "l  o", " l o", "l o w", "lo"),
        *("l o\nl o", "o l", "l x밥", "l o\n#version: 0.2", "#version\nl o", "l\to", "\ufeffl o"),
        *("l o\x85lo w", "l o\u2028", "l o\n\r", "\r\nl o"),
    ],
)
def test_merges_have_one_answer(
    merges: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.dumps(PLAIN).encode()
    fast, slow = both_files(data, merges.encode(), tmp_path, monkeypatch)
    assert fast == slow


@pytest.mark.parametrize(
    "vocabulary",
    [
        *(b"", b"{}", b" ", b"[]", b"null", b"{", b'{"a": 0}', b'{"a": 0, "a": 1}', b'{"a": 0} x'),
        *(vocabulary_of(x=259), vocabulary_of(x=True), vocabulary_of(x=-1), vocabulary_of(x=1.0)),
        *(vocabulary_of(x=None), vocabulary_of(x=2**32), vocabulary_of(x=3_000_000)),
        *(vocabulary_of(**{"": 300}), vocabulary_of(**{"\ud800": 300}), vocabulary_of(x=300)),
        b"\n" + vocabulary_of() + b"\r\n\t ",
        b"\x0c" + vocabulary_of(),
        b"\xef\xbb\xbf" + vocabulary_of(),
        vocabulary_of().replace(b"257", b"0257"),
        vocabulary_of() + b"\xff",
    ],
)
def test_vocabularies_have_one_answer(
    vocabulary: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for options in ({"special_tokens": ["é밥"]}, {}):
        fast, slow = both_files(vocabulary, MERGES.encode(), tmp_path, monkeypatch, **options)
        assert fast == slow


# --- vocab.txt ------------------------------------------------------------------------------------

LINES = "[PAD]\n[UNK]\n밥\n##먹\n\n##\u2028\n"


def both_of_lines(
    data: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[Any, Any]:
    """What both readers make of a list of lines."""
    path = folder / "vocab.txt"
    path.write_bytes(data)
    options = {"lowercase": False, **options}
    fast = answer(lambda: vocab_txt.read(path, **options))
    with monkeypatch.context() as patch:
        patch.setattr(_core, "read_lines", lambda data: None)
        slow = answer(lambda: vocab_txt.read(path, **options))
    return fast, slow


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lowercase": None},
        {"special_tokens": ["밥"]},
        {"special_tokens": [""]},
        {"special_tokens": ["nowhere"]},
        {"unknown": None},
        {"unknown": "nowhere"},
        {"unknown": ""},
        {"marker": "prefix"},
        {"template": jogak.Template()},
    ],
)
def test_lines_are_read_alike(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _core.read_lines(LINES.encode()) is not None
    fast, slow = both_of_lines(LINES.encode(), tmp_path, monkeypatch, **options)
    if isinstance(fast, Spec):
        assert "pieces" not in vars(fast.model) and "pieces" in vars(slow.model)
    assert fast == slow
    if isinstance(fast, Spec):
        assert fast.model.pieces == slow.model.pieces
        ours, theirs = jogak.Tokenizer(fast), jogak.Tokenizer(slow)
        assert ours == theirs and ours.encode("밥먹 [PAD]") == theirs.encode("밥먹 [PAD]")
        assert ours.decode(ours.encode("밥먹"))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "\n",
            "\r\n",
            "\n\n[UNK]",
            "[UNK]",
            "[UNK]\n",
            "[UNK]\n\n",
            "[UNK]\r\n\r\n",
            "[UNK]\r",
        ),
        *(
            "[UNK]\n[UNK]",
            "[UNK]\n[UNK]\r",
            "[UNK]\r\r\n[UNK]\r",
            "a\n[UNK]\na\nb\nb",
            "\ufeff[UNK]",
        ),
        *("[UNK]\n a\na \n\ta", "[UNK]\x0ba\x85b\u2028\n\x1c", "[UNK]\n\0\na\0", "[UNK]\n" * 3),
        "[UNK]" + "\n" * 20,
    ],
)
def test_odd_lines_have_one_answer(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast, slow = both_of_lines(text.encode(), tmp_path, monkeypatch)
    assert fast == slow
    for unknown in (None, "[UNK]"):
        fast, slow = both_of_lines(text.encode(), tmp_path, monkeypatch, unknown=unknown)
        assert fast == slow


def test_any_lines_have_one_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    parts = [
        b"a",
        b"b",
        "밥".encode(),
        b"##",
        b"\n",
        b"\n",
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\xea",
        b"[UNK]",
    ]
    taken = 0
    for _ in range(600):
        data = b"".join(chance.choices(parts, k=chance.randrange(14)))
        fast, slow = both_of_lines(data, tmp_path, monkeypatch, unknown=None)
        assert fast == slow
        taken += isinstance(fast, Spec)
    assert taken > 100
