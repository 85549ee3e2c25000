"""Beside SentencePiece and HF tokenizers, with real models on real and made-up text: the same ids."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jogak
from jogak.formats.sentencepiece import PieceType, read_model
from jogak.formats.serde_numbers import serde_float
from jogak.spec import Spec, UnigramModel, resolve_pretokenizer

Data = Callable[[str], Path]
CORPORA = [
    *("en_docs", "ko_nsmc", "code", "zh_poetry", "react_tf_ko", "tf_zh-cn"),
    *("cppdocs_ja", "cppdocs_ko", "cppdocs_ru", "cppdocs_zh-cn"),
    *("small/utf8_sequence_0x10ffff", "small/wagahaiwa_nekodearu", "small/wikitext2_valid"),
    *("small/botchan", "small/tinyshakespeare"),
]
MODELS = [
    "nai-t5/spiece.model",
    "xlnet-base-cased/spiece.model",
    "spm-test/test_model.model",
    "spm-test/test_ja_model.model",
    "tta-ko-unigram/tokenizer.model",
    "chinese-llama-tokenizer/tokenizer-human.model",
    "chinese-llama-tokenizer/tokenizer-compatible.model",
    "kortok-sp-32k/tok.model",
    "mistral-v1/tokenizer.model",
    "bpemb-en-100k/en.wiki.bpe.vs100000.model",
    "cogview-zh/cog-pretrain.model",
]
#: Bytes of each corpus: enough for sums of scores to pass 100,000, where SentencePiece starts over.
SIZE = 250_000

#: Characters that normalizers, spaces and scores fight over.
HARD = [
    "\u0338",
    "\u0301",
    "\u3099",
    "▁",
    "\u3000",
    "\u200b",
    "\t",
    "\n",
    "\r",
    "①",
    "ﷺ",
    "ｶﾞ",
    "---",
]


@pytest.fixture(scope="module", params=MODELS)
def pair(request: pytest.FixtureRequest, data: Data) -> tuple[jogak.Tokenizer, Any, Path]:
    """The same model here and there."""
    peer = pytest.importorskip("sentencepiece")
    path = data(f"models/{request.param}")
    return jogak.load(path), peer.SentencePieceProcessor(model_file=str(path)), path


def corpus(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(SIZE).decode(errors="ignore")


def mixtures(tok: jogak.Tokenizer, seed: int, count: int) -> list[str]:
    """Pieces, spaces, any characters, and hard ones, in any order."""
    source = random.Random(seed)
    pieces = [text for text in tok.spec.model.pieces if text]
    user = [pieces[id_] for id_ in tok.spec.model.user_defined] or pieces  # type: ignore[union-attr]  # which model it is, the test knows
    blocks = [(1, 0x7F), (0x80, 0x2FFF), (0x3000, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)]
    parts: list[Callable[[], str]] = [
        lambda: source.choice(pieces),
        lambda: source.choice(user),
        lambda: " " * source.randint(1, 4),
        lambda: chr(source.randint(*source.choice(blocks))),
        lambda: source.choice(HARD) * source.randint(1, 3),
    ]
    return [
        "".join(source.choice(parts)() for _ in range(source.randint(1, 14))) for _ in range(count)
    ]


@pytest.mark.parametrize("name", CORPORA)
def test_ids_on_corpora(pair: tuple[jogak.Tokenizer, Any, Path], data: Data, name: str) -> None:
    """Line by line, and as one text."""
    tok, peer, _ = pair
    text = corpus(data(f"corpora/{name}.txt"))
    texts = [*text.split("\n"), text]
    assert tok.encode_batch(texts).to_lists() == peer.encode(texts)


def test_ids_on_mixtures(pair: tuple[jogak.Tokenizer, Any, Path]) -> None:
    tok, peer, _ = pair
    texts = mixtures(tok, seed=20, count=8000)
    assert tok.encode_batch(texts).to_lists() == peer.encode(texts)


def test_written_models_open_there(pair: tuple[jogak.Tokenizer, Any, Path], tmp_path: Path) -> None:
    """What is written gives the same ids, and is read as what it was."""
    tok, peer, _ = pair
    tok.save(tmp_path / "again.model", format="sentencepiece")
    again = type(peer)(model_file=str(tmp_path / "again.model"))
    texts = mixtures(tok, seed=21, count=500)
    assert again.encode(texts) == peer.encode(texts)
    assert jogak.load(tmp_path / "again.model") == tok


def test_the_file_is_kept_whole(pair: tuple[jogak.Tokenizer, Any, Path], tmp_path: Path) -> None:
    """All messages come back, those of training too."""
    _, peer, path = pair
    file = read_model(path)
    (tmp_path / "again.model").write_bytes(file.to_bytes())
    assert read_model(tmp_path / "again.model") == file
    again = type(peer)(model_file=str(tmp_path / "again.model"))
    assert [again.bos_id(), again.eos_id(), again.pad_id()] == [
        peer.bos_id(), peer.eos_id(), peer.pad_id(),
    ]  # fmt: skip
    for id_, piece in enumerate(file.pieces):
        assert (piece.text, piece.score) == (peer.id_to_piece(id_), peer.get_score(id_))
        assert (piece.type is PieceType.CONTROL) == peer.is_control(id_)


def test_n_best_and_their_scores(pair: tuple[jogak.Tokenizer, Any, Path]) -> None:
    """SentencePiece adds in 32 bits, so near-ties may change places; the scores do not."""
    tok, peer, _ = pair
    if not isinstance(tok.spec.model, UnigramModel):
        with pytest.raises(jogak.ConfigError, match="Unigram"):
            tok.nbest("Hello world.", 2)
        return
    for text in ("Hello world.", "I saw a girl", "東京都に住む", "최고의 영화"):
        theirs = peer.nbest_encode(text, nbest_size=8)
        ours = tok.nbest(text, 8)
        scores = [way.score for way in ours]
        assert [tok.score(text, ids).way for ids in theirs] == pytest.approx(scores, abs=1e-3)
        assert [tok.score(text, way.ids).way for way in ours] == pytest.approx(scores)
        assert scores[0] == pytest.approx(tok.score(text).way)


@pytest.mark.parametrize("name", ["t5-small", "xlnet-base-cased"])
def test_ids_of_hf(name: str, data: Data) -> None:
    """Its own words in, its ids out; scores must be read from JSON as it reads them."""
    tokenizers = pytest.importorskip("tokenizers")
    path = data(f"models/{name}/tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    model = json.loads(path.read_text(encoding="utf-8"), parse_float=serde_float)["model"]
    texts, scores = zip(*model["vocab"], strict=True)
    unknown = texts[model["unk_id"]]
    ours = UnigramModel(pieces=texts, scores=scores, unknown=unknown, precision="double")
    tok = jogak.Tokenizer(Spec(model=ours, pretokenizer=resolve_pretokenizer("none")))
    added = [token.content for token in theirs.get_added_tokens_decoder().values()]
    for corpus_name in CORPORA:
        lines = corpus(data(f"corpora/{corpus_name}.txt"))[:40_000].split("\n")
        lines = [line for line in lines if not any(token in line for token in added)]
        for line in lines:
            normalized = theirs.normalizer.normalize_str(line)
            words = [word for word, _ in theirs.pre_tokenizer.pre_tokenize_str(normalized)]
            ids = tok.encode_batch(words, num_threads=1).to_lists()
            expected = theirs.encode(line, add_special_tokens=False).ids
            assert list(itertools.chain.from_iterable(ids)) == expected
