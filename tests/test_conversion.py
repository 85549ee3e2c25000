"""`jogak.convert`: what it writes is equal, what differs is shown and not written."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import jogak
from jogak.conversion import compare
from jogak.conversion.compare import Answerer, compared
from jogak.conversion.probes import HARD, SENTENCES, built_in

WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.jogak.json"
    jogak.train(WORDS, jogak.BPE(vocab_size=265), special_tokens={"<pad>": 0}).save(path)
    return path


def test_a_copy_is_equal_and_the_certificate_says_what_was_compared(
    source: Path, tmp_path: Path
) -> None:
    target, certificate = tmp_path / "b.jogak.json", tmp_path / "c.json"
    made = jogak.convert(source, target, certificate=certificate)
    assert made.equal
    assert target.read_bytes() == source.read_bytes()
    assert made.source.sha256 == made.target.sha256
    written = json.loads(certificate.read_text(encoding="utf-8"))
    assert written == made.to_dict() | {"comparisons": list(written["comparisons"])}
    assert {(one["what"], one["special"]) for one in written["comparisons"]} == {
        ("ids", "text"),
        ("ids", "parse"),
        ("decoded", "text"),
        ("decoded", "parse"),
    }
    assert all(one["texts"] == made.texts > 3000 for one in written["comparisons"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.jogak.json",
        "b.jogak.json",
        "c.json",
    ]


def test_the_probes_of_a_tokenizer_are_always_the_same_and_know_all_pieces(source: Path) -> None:
    tok = jogak.load(source)
    texts = list(built_in(tok))
    assert texts == list(built_in(tok))
    assert {"newest", "<pad>", *SENTENCES, *HARD} <= set(texts)


def test_texts_of_files_take_the_place_of_those_built_in(source: Path, tmp_path: Path) -> None:
    probe = tmp_path / "probe.txt"
    probe.write_text("low\nlower newest", encoding="utf-8")
    made = jogak.convert(source, tmp_path / "b.jogak.json", probe=[probe])
    assert made.texts == 3
    (tmp_path / "broken.txt").write_bytes(b"\xff")
    with pytest.raises(jogak.ConfigError, match="not UTF-8 at byte 0"):
        jogak.convert(source, tmp_path / "c.jogak.json", probe=[tmp_path / "broken.txt"])
    assert not (tmp_path / "c.jogak.json").exists()


def test_a_difference_is_shown_and_nothing_is_written(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def differing(path: object, **options: object) -> jogak.Tokenizer:
        tok = jogak.load(source)
        if "jogak-convert" not in str(path):
            return tok
        model = tok.spec.model
        assert isinstance(model, jogak.BPEModel) and model.merges
        return jogak.Tokenizer(
            dataclasses.replace(
                tok.spec, model=dataclasses.replace(model, merges=model.merges[:-1])
            )
        )

    monkeypatch.setattr("jogak.conversion.load", differing)
    target, certificate = tmp_path / "b.jogak.json", tmp_path / "c.json"
    with pytest.raises(jogak.ParityError, match="differs at the stage 'model'") as caught:
        jogak.convert(source, target, certificate=certificate)
    difference = caught.value.certificate.difference
    assert difference is not None
    # The text is no longer than the last merge.
    assert difference.text == jogak.load(source).piece(264)
    assert json.loads(certificate.read_text(encoding="utf-8"))["equal"] is False
    assert not target.exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


STAGES = {
    "normalizer": {"normalizer": (jogak.Lowercase(),)},
    "pretokenizer": {"pretokenizer": (jogak.Named("whitespace"), jogak.Digits())},
    "special tokens": {"special_tokens": {}},
}


@pytest.mark.parametrize("stage", STAGES)
def test_the_stage_is_named(stage: str) -> None:
    tok = jogak.train({"1234": 3, "<s>": 1}, jogak.BPE(vocab_size=259), special_tokens=["<s>"])
    other = jogak.Tokenizer(dataclasses.replace(tok.spec, **STAGES[stage]))
    left, right = Answerer.of_jogak("left", tok), Answerer.of_jogak("right", other)
    _, difference = compared(left, [right], ["b", "ABC", "x1234", "<s>"])
    assert difference is not None and difference.stage == stage


def test_a_decoder_that_differs_is_found(source: Path) -> None:
    left = Answerer.of_jogak("left", jogak.load(source))

    def shouted(all_ids: Sequence[Sequence[int]]) -> list[str] | None:
        texts = left.decode(all_ids)
        return texts and [text.upper() for text in texts]

    right = dataclasses.replace(left, name="right", decode=shouted)
    _, difference = compared(left, [right], ["LOW", "low"])
    assert difference is not None
    assert (difference.stage, difference.left_answer, difference.right_answer) == (
        "decoder",
        "low",
        "LOW",
    )


def test_refusals_are_answers_too() -> None:
    toy = jogak.train(WORDS, jogak.BPE(num_merges=3, marker="none", unknown=None))
    left = Answerer.of_jogak("left", toy)
    comparisons, difference = compared(left, [left], ["low", "quiz", "new"])
    assert difference is None
    assert left.encode(["quiz"], "text") == ["refused"]
    assert [one.texts for one in comparisons if one.what == "ids"] == [3, 3]


def test_the_format_is_told_by_the_name_or_asked_for(source: Path, tmp_path: Path) -> None:
    with pytest.raises(jogak.ConfigError, match="does not tell the format"):
        jogak.convert(source, tmp_path / "b.bin")
    made = jogak.convert(source, tmp_path / "b.bin", "jogak")
    assert made.target.format == "jogak"


def test_a_folder_of_two_files(tmp_path: Path) -> None:
    source = tmp_path / "a.jogak.json"
    jogak.train(WORDS, jogak.BPE(vocab_size=265)).save(source)
    made = jogak.convert(source, tmp_path / "folder", "vocab-merges")
    assert made.equal
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == [
        "merges.txt",
        "vocab.json",
    ]


def test_shrinking_keeps_the_difference() -> None:
    assert compare._smallest("abcdefgh", lambda text: {"b", "g"} <= set(text)) == "bg"
