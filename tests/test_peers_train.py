"""Training beside other libraries on real corpora: the same merges in the same order.

Each test is skipped where its peer is not installed, or where the corpora are absent.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jogak

Data = Callable[[str], Path]
CORPORA = ["en_docs.txt", "ko_nsmc.txt", "code.txt", "zh_poetry.txt", "cppdocs_ru.txt"]


def head(path: Path, size: int) -> str:
    """The first whole lines of a file, at most so many bytes."""
    with path.open("rb") as file:
        data = file.read(size)
    return data[: data.rfind(b"\n") + 1].decode()


@pytest.mark.parametrize("name", CORPORA)
def test_byte_level_merges_equal_hf(name: str, data: Data, tmp_path: Path) -> None:
    """Byte-level, lowest-id, GPT-2's words, lines with their newline: HF's merges and ids."""
    hf = pytest.importorskip("tokenizers")
    path = tmp_path / "corpus.txt"
    path.write_text(head(data(f"corpora/{name}"), 1_500_000), encoding="utf-8", newline="")

    peer = hf.Tokenizer(hf.models.BPE())
    peer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = hf.trainers.BpeTrainer(
        vocab_size=6000,
        min_frequency=2,
        show_progress=False,
        initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<pad>", "<|endoftext|>"],
    )
    peer.train([str(path)], trainer)

    tok = jogak.train(
        path,
        jogak.BPE(vocab_size=6000),
        pretokenizer="gpt2",
        special_tokens=["<pad>", "<|endoftext|>"],
        newline="keep",
    )
    theirs = [tuple(pair) for pair in json.loads(peer.to_str())["model"]["merges"]]
    assert len(theirs) == 6000 - 256 - 2
    assert list(tok.merges) == theirs
    assert dict(tok.vocab) == peer.get_vocab()

    unseen = head(data("corpora/small/wikitext2_test.txt"), 200_000)
    assert tok.encode(unseen) == peer.encode(unseen).ids


def test_smaller_vocabularies_equal_hf(data: Data) -> None:
    """A resized tokenizer is what HF trains at that size."""
    hf = pytest.importorskip("tokenizers")
    lines = head(data("corpora/ko_nsmc.txt"), 300_000).splitlines(keepends=True)
    large = jogak.train(iter(lines), jogak.BPE(vocab_size=2000), pretokenizer="gpt2")
    for size in (300, 1000, 2000):
        peer = hf.Tokenizer(hf.models.BPE())
        peer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = hf.trainers.BpeTrainer(
            vocab_size=size,
            min_frequency=2,
            show_progress=False,
            initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
        )
        peer.train_from_iterator(lines, trainer)
        theirs = [tuple(pair) for pair in json.loads(peer.to_str())["model"]["merges"]]
        assert list(large.resized(size).merges) == theirs


@pytest.mark.parametrize("name", ["en_docs.txt", "ko_nsmc.txt", "cppdocs_ru.txt"])
def test_greatest_merges_equal_subword_nmt(name: str, data: Data) -> None:
    """Joined suffix and `greatest`: the codes of subword-nmt, and its segmentation."""
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    text = head(data(f"corpora/{name}"), 150_000)
    counts = jogak.count(iter(text.splitlines()), pretokenizer="whitespace")
    inventory = "".join(f"{word} {number}\n" for word, number in counts.items())
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO(inventory), codes, 1000, min_frequency=2, is_dict=True)
    theirs = [tuple(line.split(" ")) for line in codes.getvalue().splitlines()[1:]]

    config = jogak.BPE(
        marker=jogak.Marker("suffix", symbol="joined"), ties="greatest", num_merges=1000
    )
    tok = jogak.train(counts, config)
    assert len(theirs) == 1000
    assert list(tok.merges) == theirs

    peer = apply_bpe.BPE(io.StringIO(codes.getvalue()), separator="")
    for word in list(counts)[:3000]:
        assert [t.removesuffix("</w>") for t in tok.tokens(word)] == peer.segment_tokens([word])


@pytest.mark.parametrize(("name", "longest"), [(name, 16) for name in CORPORA] + [("code.txt", 5)])
def test_sentencepiece_ties_equal_sentencepiece(name: str, longest: int, data: Data) -> None:
    """Metaspace words and SentencePiece's ties: its pieces in its order, and its segmentation."""
    sp = pytest.importorskip("sentencepiece")
    text = head(data(f"corpora/{name}"), 500_000).replace("▁", "_")
    # Single spaces, for SentencePiece by default removes the others.
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = [line for line in lines if line]
    config = jogak.BPE(
        marker="prefix",
        ties="sentencepiece",
        num_merges=1500,
        min_pair_count=1,
        max_piece_length=longest,
        unknown="<unk>",
    )
    tok = jogak.train(iter(lines), config, pretokenizer="metaspace")
    alphabet = [text for text in tok.vocab if len(text) == 1]

    model = io.BytesIO()
    sp.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="bpe",
        vocab_size=3 + len(alphabet) + 1500,
        normalization_rule_name="identity",
        character_coverage=1.0,
        split_by_unicode_script=False,
        split_by_number=False,
        max_sentencepiece_length=longest,
        max_sentence_length=1_000_000,
        minloglevel=2,
    )
    processor = sp.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [processor.id_to_piece(number) for number in range(processor.get_piece_size())]
    assert [left + right for left, right in tok.merges] == pieces[3:1503]
    assert sorted(pieces[1503:]) == sorted(alphabet)

    for line in lines[::17]:
        assert tok.tokens(line) == processor.encode_as_pieces(line)
        ids: Any = tok.encode(line)
        assert tok.decode(ids) == processor.decode(processor.encode(line)) == line


@pytest.mark.parametrize("name", ["en_docs.txt", "zh_poetry.txt"])
def test_plain_characters_equal_hf(name: str, data: Data) -> None:
    """Characters without a marker, white-space words: HF's vocabulary and ids."""
    hf = pytest.importorskip("tokenizers")
    lines = head(data(f"corpora/{name}"), 500_000).splitlines()
    tok = jogak.train(iter(lines), jogak.BPE(num_merges=1500, marker="none", unknown=None))
    peer = hf.Tokenizer(hf.models.BPE())
    peer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
    trainer = hf.trainers.BpeTrainer(vocab_size=len(tok), min_frequency=2, show_progress=False)
    peer.train_from_iterator(lines, trainer)
    assert dict(tok.vocab) == peer.get_vocab()
    assert tok.encode("\n".join(lines[:2000])) == peer.encode("\n".join(lines[:2000])).ids
