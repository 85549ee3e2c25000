"""vocab.txt: what is read, what is refused with the line, and what can be written."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import jogak
from jogak import formats
from jogak.formats import vocab_txt

PLAIN = "[PAD]\n[UNK]\nun\n##do\n\n##ne\n"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "vocab.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_lines_are_ids(tmp_path: Path) -> None:
    """The number of a line is the id; an empty line is a hole; special tokens are found."""
    path = written(tmp_path, PLAIN)
    assert formats.detect(path) == "vocab-txt"
    spec = vocab_txt.read(path, normalizer="none")
    assert spec.model.pieces == ("[PAD]", "[UNK]", "un", "##do", None, "##ne")
    assert spec.special_tokens == {"[PAD]": 0, "[UNK]": 1}
    tok = jogak.load(path, normalizer="none")
    assert tok.encode("undo unne undone") == [2, 3, 2, 5, 2, 3, 5]
    assert tok.tokens("[UNK]") == ["[UNK]"]
    told = tok.tokens("[UNK]", special="text")
    assert told == ["[UNK]"] * 3, "its characters, none of which is known"
    blank = vocab_txt.read(written(tmp_path, "a\n##\u2028\n"), normalizer="none", unknown=None)
    assert blank.model.pieces == ("a", "##\u2028")
    crlf = written(tmp_path, PLAIN.replace("\n", "\r\n"))
    assert vocab_txt.read(crlf, normalizer="none") == spec


def test_written_and_read_back(tmp_path: Path) -> None:
    """The file holds all the pieces, holes too."""
    spec = vocab_txt.read(written(tmp_path, PLAIN), normalizer="none")
    again = tmp_path / "again.txt"
    jogak.Tokenizer(spec).save(again, format="vocab-txt")
    assert again.read_text() == PLAIN
    trained = jogak.train({"low": 5, "lower": 2}, jogak.WordPiece(), special_tokens=["[UNK]"])
    trained.save(again, format="vocab-txt")
    options: dict[str, Any] = {"normalizer": "none", "pretokenizer": "bert", "decoder": None}
    loaded = jogak.load(again, **options).spec
    # A loaded file finds special tokens in texts, as BERT's tokenizers do.
    assert (loaded.special_policy, trained.spec.special_policy) == ("parse", "text")
    assert dataclasses.replace(loaded, special_policy="text") == trained.spec


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a\nb\na\n", "line 3"),
        (b"a\n\xff\n", "line 2"),
        ("", None),
        ("\n\n", None),
    ],
)
def test_faults_have_a_place(text: str | bytes, place: str | None, tmp_path: Path) -> None:
    """What is wrong is said with the line."""
    with pytest.raises(jogak.FormatError) as caught:
        vocab_txt.read(written(tmp_path, text), normalizer="none", unknown=None)
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "lowercase=True"),
        ({"lowercase": "yes"}, "True or False"),
        ({"normalizer": "nfc"}, "'bert', 'none', or stages"),
        ({"normalizer": "none", "unknown": "<unk>"}, "unknown="),
        ({"normalizer": "none", "special_tokens": ["[CLS]"]}, "no piece"),
        ({"normalizer": "none", "max_chars_per_word": -1}, "max_chars_per_word"),
    ],
)
def test_options(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    """What has to be said, and what cannot be."""
    with pytest.raises(jogak.ConfigError, match=words):
        vocab_txt.read(written(tmp_path, PLAIN), **options)


def test_what_it_cannot_say(tmp_path: Path) -> None:
    """Other families, and pieces that are no line."""
    bpe = jogak.train({"low": 5}, jogak.BPE(marker="none"))
    lines = jogak.Tokenizer(
        jogak.Spec(
            model=jogak.WordPieceModel(pieces=("a\nb",)), pretokenizer=(jogak.Named("none"),)
        )
    )
    for tok in (bpe, lines):
        with pytest.raises(jogak.UnsupportedFeature):
            tok.save(tmp_path / "vocab.txt", format="vocab-txt")
    assert not (tmp_path / "vocab.txt").exists()


def test_the_normalizer_is_berts(tmp_path: Path) -> None:
    """Lower case or not, as said."""
    path = written(tmp_path, PLAIN)
    assert jogak.load(path, lowercase=True).tokens("UNDO") == ["un", "##do"]
    assert jogak.load(path, lowercase=False).tokens("UNDO") == ["[UNK]"]
