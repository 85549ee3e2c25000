"""WordPiece beside HF tokenizers: the same ids from real vocabularies, the same pieces by count.

Each test is skipped where the peer is not installed, or where the data is absent.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from strategies import texts
from test_peers_encode import CORPORA, piece_of

import jogak

Data = Callable[[str], Path]
#: Folder -> whether text is lower-cased.
VOCABULARIES = {
    "bert-base-uncased": True,
    "bert-base-cased": False,
    "bert-base-chinese": False,
    "koelectra-base": False,
}


def hf() -> Any:
    return pytest.importorskip("tokenizers")


def wordpiece(peer: Any, path: Path, **options: Any) -> Any:
    """The vocabulary in HF, without a normalizer."""
    lines = path.read_text(encoding="utf-8").split("\n")
    vocab = {piece: id_ for id_, piece in enumerate(lines) if piece}
    tok = peer.Tokenizer(peer.models.WordPiece(vocab, unk_token="[UNK]", **options))
    tok.pre_tokenizer = peer.pre_tokenizers.BertPreTokenizer()
    return tok


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", VOCABULARIES)
def test_ids_equal_hf(name: str, corpus: str, data: Data) -> None:
    """Half a megabyte of every corpus: the file alone says all that is needed.

    Special tokens in the text are parsed, as BERT's tokenizers of both libraries do.
    """
    peer = hf()
    path = data(f"models/{name}/vocab.txt")
    theirs = wordpiece(peer, path)
    theirs.add_special_tokens(["[UNK]", "[SEP]", "[CLS]", "[PAD]", "[MASK]"])
    ours = jogak.load(path)
    theirs.normalizer = peer.normalizers.BertNormalizer(lowercase=VOCABULARIES[name])
    text = piece_of(data(f"corpora/{corpus}.txt"), 500_000)
    lines = text.split("\n")
    expected = [enc.ids for enc in theirs.encode_batch(lines, add_special_tokens=False)]
    assert ours.encode_batch(lines).to_lists() == expected


@given(text=texts())
def test_odd_texts_equal_hf(text: str) -> None:
    """Nasty texts, without any normalizer, in words of white space: also ## in front of a word."""
    peer = hf()
    pieces = ["[UNK]", "#", "##", "###", "####", "low", "lo", "##w", "##er", "##e", "e", "가", "##나",
              "##low", "##<", "<", "##u", "aa", "##a", "a", "##aaa", "##b", "b"]  # fmt: skip
    theirs = peer.Tokenizer(
        peer.models.WordPiece(
            {piece: id_ for id_, piece in enumerate(pieces)},
            unk_token="[UNK]",
            max_input_chars_per_word=7,
        )
    )
    theirs.pre_tokenizer = peer.pre_tokenizers.WhitespaceSplit()
    ours = jogak.Tokenizer(
        jogak.Spec(
            model=jogak.WordPieceModel(pieces=tuple(pieces), unknown="[UNK]", max_chars_per_word=7),
            pretokenizer=(jogak.Named("whitespace"),),
        )
    )
    assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids


def hf_pieces(peer: Any, lines: list[str], size: int) -> set[str]:
    """What HF's trainer finds."""
    tok = peer.Tokenizer(peer.models.WordPiece(unk_token="[UNK]"))
    tok.pre_tokenizer = peer.pre_tokenizers.BertPreTokenizer()
    trainer = peer.trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[UNK]"], show_progress=False, limit_alphabet=100_000
    )
    tok.train_from_iterator(lines, trainer)
    return set(tok.get_vocab())


def untied(tok: jogak.Tokenizer) -> int:
    """How many merges there were before the first that a tie had to decide."""
    trace: Any = tok.training.trace  # type: ignore[union-attr]  # which model it is, the test knows
    ties = (rank for rank, merge in enumerate(trace.merges) if merge.tied > 1)
    return next(ties, len(trace.merges))


def compare_training(lines: list[str], most: int) -> int:
    """The same pieces as HF up to the first tie; returns how many merges that are.

    HF breaks ties by ids, and numbers ## symbols in the order of a hash table: with a tie it may give
    other pieces from run to run.
    """
    config = jogak.WordPiece(criterion="count", min_pair_count=1)
    options: Any = {"special_tokens": ["[UNK]"], "trace": most}
    base = len(hf_pieces(hf(), lines, 1))
    sized = dataclasses.replace(config, vocab_size=base + most)
    merges = untied(jogak.train(iter(lines), sized, **options))
    sized = dataclasses.replace(config, vocab_size=base + merges)
    ours = jogak.train(iter(lines), sized, **options)
    assert set(ours.vocab) == hf_pieces(hf(), lines, base + merges)
    return merges


@pytest.mark.parametrize("corpus", ["en_docs", "ko_nsmc", "code"])
def test_count_training_equals_hf(corpus: str, data: Data) -> None:
    """The same pieces as HF's WordPieceTrainer, up to the first tie."""
    lines = piece_of(data(f"corpora/{corpus}.txt"), 300_000).split("\n")
    assert compare_training(lines, 100) > 10


def test_count_training_on_random_words() -> None:
    """Random words whose counts are far apart, so that there are few ties."""
    source = random.Random(7)
    compared = 0
    for _ in range(20):
        words = {"".join(source.choices("abcde", k=source.randint(2, 7))) for _ in range(12)}
        lines = [" ".join([word] * source.randint(1, 400)) for word in sorted(words)]
        compared += compare_training(lines, 8)
    assert compared > 50
