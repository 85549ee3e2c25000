"""The worked answers, which anyone can check by hand, through the API and through the reference.

Each file in `cases/` is one of them, as data. A token written ``?k`` is the letter k where it is
unknown: the reference without an unknown piece keeps its text, the API says ``<unk>``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import oracle
import pytest

import jogak
from jogak import reference

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with pytest there

CASES = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "cases").glob("*.toml"))
}


def of_kind(kind: str) -> Any:
    """The cases of a kind, as parameters."""
    found = [pytest.param(case, id=name) for name, case in CASES.items() if case["kind"] == kind]
    assert found
    return pytest.mark.parametrize("case", found)


def steps(text: str) -> list[tuple[str, str, int]]:
    """The merges in the notation of the cases: ``left right count / ...``."""
    rows = [row.split() for row in text.split(" /")]
    return [(left, right, int(count)) for left, right, count in rows]


def inventory(case: dict[str, Any]) -> dict[str, int]:
    """The words that a case learns from."""
    if "counts" in case:
        counts: dict[str, int] = case["counts"]
        return counts
    words = reference.pretokenize(case["sentences"], "whitespace")
    return reference.inventory(words, case["min_word_length"])


def train(case: dict[str, Any]) -> jogak.Tokenizer:
    """The tokenizer of a case, from words or from sentences."""
    config = jogak.BPE(**case["model"])
    if "counts" in case:
        return jogak.train(case["counts"], config, trace=True)
    lines = case["sentences"].strip().split("\n")
    return jogak.train(iter(lines), config, min_word_length=case["min_word_length"], trace=True)


@of_kind("compression")
def test_compression(case: dict[str, Any]) -> None:
    """Each state of the text, the table, the lengths, and the way back."""
    ours = jogak.compress(case["text"], case["ties"])
    theirs = reference.compress(case["text"], ties=case["ties"])
    assert [step.text_after for step in ours.steps] == case["states"]
    assert [step.text for step in theirs.steps] == case["states"]
    assert [step.expanded for step in ours.steps] == case["expanded"]
    assert [step.stands_for for step in theirs.steps] == case["expanded"]
    for result in (ours, theirs):
        assert {letter: list(pair) for letter, pair in result.table.items()} == case["table"]
        assert result.decompress() == case["text"]
    assert [len(ours.text), ours.steps[-1].length] == case["length"]
    assert [len(set(ours.text)), ours.steps[-1].symbols] == case["symbols"]
    assert [theirs.start_length, theirs.steps[-1].length] == case["length"]
    assert [theirs.start_symbols, theirs.steps[-1].symbols] == case["symbols"]


@of_kind("training")
def test_training(case: dict[str, Any]) -> None:
    """Merges with their counts, why training stopped, pieces, live pieces."""
    tok = train(case)
    expected = steps(case["merges"])
    log = tok.training
    assert log is not None
    assert [
        (*pair, step.count) for pair, step in zip(tok.merges, log.steps, strict=True)
    ] == expected
    assert log.stop == case["stop"]
    assert log.live[-1] == case.get("live", log.live[-1])
    assert list(tok.vocab)[: len(case.get("pieces", []))] == case.get("pieces", [])

    known = oracle.train(inventory(case), jogak.BPE(**case["model"]))
    assert [(merge.left, merge.right, merge.count) for merge in known.merges] == expected
    assert known.stop == case["stop"]
    assert known.merges[-1].live == case.get("live", known.merges[-1].live)
    assert [text for text in known.pieces if text != "<unk>"][
        : len(case.get("pieces", []))
    ] == case.get("pieces", [])


@of_kind("training")
def test_trace(case: dict[str, Any]) -> None:
    """The trace tells the same merges, and the pairs that there were before the first one."""
    log = train(case).training
    assert log is not None
    trace: Any = log.trace
    assert [(merge.left, merge.right, merge.count) for merge in trace.merges] == steps(
        case["merges"]
    )
    if "first_pairs" in case:
        pairs = sorted(steps(case["first_pairs"]))
        first = trace.merges[0]
        assert sorted((pair.left, pair.right, pair.count) for pair in first.candidates) == pairs
        assert first.candidates_total == len(pairs)
        spelling = oracle.spelling(jogak.BPE(**case["model"]).marker)  # type: ignore[arg-type]  # resolved by then
        counted = reference.count_pairs(
            (spelling.symbols(word), count) for word, count in inventory(case).items()
        )
        assert sorted((*pair, count) for pair, count in counted.items()) == pairs


def shown(tokens: list[str]) -> list[str]:
    """Tokens of a case as the API writes them."""
    return ["<unk>" if token.startswith("?") else token for token in tokens]


@of_kind("training")
def test_encoding(case: dict[str, Any]) -> None:
    """The tokens of the texts, and for some the steps to them."""
    tok = train(case)
    for row in case.get("encoding", []):
        assert tok.tokens(row["text"]) == shown(row["tokens"])
        ours = reference.tokens(
            row["text"], oracle.model(tok), "whitespace", strategy=tok.spec.model.strategy
        )
        assert ours == shown(row["tokens"])
        plain: Any = reference.Model(
            tok.spec.model.pieces, tok.merges, oracle.spelling(tok.spec.model.marker)
        )
        bare = reference.tokens(row["text"], plain, "whitespace", strategy=tok.spec.model.strategy)
        assert bare == [t.removeprefix("?") if t != "<unk>" else "m" for t in row["tokens"]]
        if "steps" in row:
            word = tok.explain(row["text"]).words[0]
            chosen = [step.pairs[step.chosen] for step in word.steps]  # type: ignore[union-attr, index]
            assert [[pair.left, pair.right] for pair in chosen] == row["steps"]
            assert word.stop == row["stop"]
            told = reference.encode_word(oracle.model(tok), row["text"])
            assert [[step.left, step.right] for step in told.steps] == row["steps"]
            assert told.stop == row["stop"]


@of_kind("training")
def test_written_and_read_back(case: dict[str, Any], tmp_path: Path) -> None:
    """A tokenizer read from its file gives the same answers; also from vocab.json and merges.txt."""
    tok = train(case)
    tok.save(tmp_path / "own.json")
    read = [jogak.load(tmp_path / "own.json")]
    if case.get("written") == "vocab-merges":
        tok.save(tmp_path / "both", format="vocab-merges")
        assert {path.name for path in (tmp_path / "both").iterdir()} == {"vocab.json", "merges.txt"}
        read.append(
            jogak.load(tmp_path / "both", pretokenizer="whitespace", marker="none", unknown="<unk>")
        )
    for again in read:
        assert again.merges == tok.merges
        for row in case.get("encoding", []):
            assert again.tokens(row["text"]) == shown(row["tokens"])


@of_kind("pieces")
def test_pieces(case: dict[str, Any]) -> None:
    """A vocabulary without merges covers words, and its ids read as the text."""
    pieces = tuple(case["pieces"])
    spec = jogak.Spec(
        model=jogak.BPEModel(
            pieces=pieces, merges=(), marker=jogak.Marker(case["marker"]), strategy=case["strategy"]
        ),
        pretokenizer=(jogak.Named("whitespace"),),
    )
    tok = jogak.Tokenizer(spec)
    model = oracle.model(tok)
    for row in case["encoding"]:
        assert tok.tokens(row["text"]) == row["tokens"]
        told = reference.tokens(row["text"], model, "whitespace", strategy=case["strategy"])
        assert told == row["tokens"]
    decoded = case["decoded"]
    assert tok.decode(decoded["ids"]) == decoded["text"]
    assert reference.decode(decoded["ids"], model) == decoded["text"]


@of_kind("wordpiece")
def test_wordpiece(case: dict[str, Any]) -> None:
    """Longest match, whole words or nothing, and the way back."""
    marker = jogak.Marker(**case["marker"])
    spec = jogak.Spec(
        model=jogak.WordPieceModel(
            pieces=tuple(case["pieces"]), marker=marker, unknown=case["unknown"]
        ),
        pretokenizer=(jogak.Named("whitespace"),),
    )
    tok = jogak.Tokenizer(spec)
    model = reference.Model(
        tuple(case["pieces"]), spelling=oracle.spelling(marker), unk=case["unknown"]
    )
    for row in case["encoding"]:
        assert tok.tokens(row["text"]) == row["tokens"]
        words = row["text"].split()
        told = [token for word in words for token in reference.encode_wordpiece(model, word).tokens]
        assert told == row["tokens"]
        ids = tok.encode(row["text"])
        assert tok.decode(ids) == reference.decode(ids, model)
        assert tok.decode(ids) == row.get("decoded", tok.decode(ids))


@of_kind("wordpiece-training")
def test_wordpiece_training(case: dict[str, Any]) -> None:
    """The pairs that there were, the merges with their counts, the pieces."""
    for training in case["training"]:
        config = jogak.WordPiece(**training["model"])
        tok = jogak.train(case["counts"], config, pretokenizer="whitespace", trace=True)
        expected = steps(training["merges"])
        log: Any = tok.training
        merges = log.trace.merges
        assert [(merge.left, merge.right, merge.count) for merge in merges] == expected
        assert list(tok.vocab)[: len(case["pieces"])] == case["pieces"]
        if config.min_pair_count == 1:
            first = [(pair.left, pair.right, pair.count) for pair in merges[0].candidates]
            assert first == steps(case["first_pairs"])
        known = reference.train_wordpiece(
            case["counts"],
            criterion=config.criterion,
            min_pair_count=config.min_pair_count,
            vocab_size=config.vocab_size,
        )
        assert [(merge.left, merge.right, merge.count) for merge in known.merges] == expected
