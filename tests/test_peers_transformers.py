"""Folders of models, and tokenizers of other libraries as objects: the same ids on both sides."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jogak
from jogak.errors import ConfigError, FormatError, JogakError, UnsupportedFeature
from jogak.formats import model_folder

sys.path.insert(0, str(Path(__file__).parent / "formats"))
import hf_generated
from format_cases import model_path

os.environ["HF_HUB_OFFLINE"] = "1"

TEXT = " ".join(
    ["low low lower newest widest it's the cat 가나다 최고의 영화 don't 12 345 abab hug hugs"] * 20
)


def texts() -> list[str]:
    rng = random.Random(3)
    return [hf_generated.text(rng) for _ in range(400)] + ["", " ", "  a", "▁a", "a ▁ ", "␣ low␣ ␠"]


def _scored() -> jogak.Tokenizer:
    return jogak.train([TEXT], jogak.BPE(vocab_size=90, marker="prefix", by_scores=True))


TRAINED: dict[str, Callable[[], jogak.Tokenizer]] = {
    "byte-level": lambda: jogak.train([TEXT], jogak.BPE(vocab_size=300)),
    "gpt2": lambda: jogak.train(
        [TEXT],
        jogak.BPE(vocab_size=300),
        pretokenizer="gpt2",
        special_tokens={"<s>": 0, "<pad>": 9},
    ),
    "cl100k": lambda: jogak.train(
        [TEXT], jogak.BPE(vocab_size=300), pretokenizer="cl100k", special_tokens={"<|end|>": 299}
    ),
    "suffix": lambda: jogak.train([TEXT], jogak.BPE(num_merges=40, marker="suffix")),
    "glued suffix": lambda: jogak.train(
        [TEXT], jogak.BPE(num_merges=40, marker=jogak.Marker("suffix", symbol="joined"))
    ),
    "fallback": lambda: jogak.train(
        [TEXT],
        jogak.BPE(num_merges=40, marker="none", byte_fallback=True),
        pretokenizer="whitespace",
    ),
    "prefix": lambda: jogak.train([TEXT], jogak.BPE(num_merges=40, marker="prefix")),
    "scores": _scored,
    "wordpiece": lambda: jogak.train(
        [TEXT],
        jogak.WordPiece(vocab_size=120),
        normalizer="bert",
        pretokenizer="bert-8.0",
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
    ),
    "unigram": lambda: jogak.train(
        [TEXT], jogak.Unigram(vocab_size=45), special_tokens=["<pad>", "<unk>", "<s>", "</s>"]
    ),
    "normalized": lambda: jogak.train(
        [TEXT], jogak.Unigram(vocab_size=45), normalizer=["lowercase", "collapse_spaces"]
    ),
}


def answer(encode: Callable[[], Any]) -> list[int] | None:
    """Ids, or None where the tokenizer has none for the text."""
    try:
        return list(encode())
    except JogakError:
        return None
    except Exception as error:
        assert "unk" in str(error).lower() or "Unk" in type(error).__name__
        return None


@pytest.mark.parametrize("name", TRAINED)
def test_trained_tokenizers_give_the_same_ids_there(name: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    tok = TRAINED[name]()
    tok.save_pretrained(tmp_path / "model")
    assert sorted(os.listdir(tmp_path / "model")) == [
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "model" / "tokenizer.json"))
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
    fast = tok.to_transformers()
    again = jogak.load(tmp_path / "model")
    special = [*tok.spec.special_tokens, tok.spec.model.unknown or "<s>"]
    compared = 0
    for text in texts():
        if any(one in text for one in special):
            continue
        expected = answer(lambda text=text: tok.encode(text))
        answers = [
            answer(lambda text=text: theirs.encode(text, add_special_tokens=False).ids),
            answer(lambda text=text: auto.encode(text, add_special_tokens=False)),
            answer(lambda text=text: fast.encode(text, add_special_tokens=False)),
            answer(lambda text=text: again.encode(text, special="parse")),
        ]
        assert answers == [expected] * 4, text
        if expected is not None:
            compared += 1
            assert theirs.decode(expected, skip_special_tokens=False) == tok.decode(expected)
    assert compared > 100
    # What was read is written as it was.
    again.save_pretrained(tmp_path / "again")
    assert jogak.load(tmp_path / "again").spec == again.spec


def test_special_tokens_get_their_parts() -> None:
    pytest.importorskip("transformers")
    fast = TRAINED["unigram"]().to_transformers()
    assert (fast.pad_token, fast.bos_token, fast.eos_token) == ("<pad>", "<s>", "</s>")
    assert (fast.unk_token, fast.unk_token_id, fast.mask_token) == ("<unk>", 1, None)


def test_what_the_library_cannot_do_is_refused_by_name(tmp_path: Path) -> None:
    words = {"low": 5, "lower": 2}
    cases = {
        "longest-match": jogak.train(words, jogak.BPE(num_merges=3, strategy="longest-match")),
        'version="9.0"': jogak.train(words, jogak.BPE(vocab_size=260), normalizer="nfc"),
        "graphemes=True": jogak.train(words, jogak.BPE(vocab_size=260), normalizer="nmt_nfkc"),
        "'script'": jogak.train(words, jogak.BPE(vocab_size=260), pretokenizer="script"),
    }  # fmt: skip
    for what, tok in cases.items():
        with pytest.raises(UnsupportedFeature, match=what):
            tok.save(tmp_path / "tokenizer.json", format="tokenizer-json")
        with pytest.raises(UnsupportedFeature, match=what):
            tok.save_pretrained(tmp_path / "model")
    assert not os.listdir(tmp_path)


def test_pieces_with_equal_scores_are_refused_by_name(tmp_path: Path) -> None:
    from jogak.spec import ScoredBPEModel, Spec, resolve_pretokenizer

    model = ScoredBPEModel(
        pieces=("a", "b", "ab", "ba"), scores=(0.0, 0.0, -1.0, -1.0), merges=None
    )
    tok = jogak.Tokenizer(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))
    with pytest.raises(UnsupportedFeature, match="'ab' and 'ba' have the same score"):
        tok.save(tmp_path / "tokenizer.json", format="tokenizer-json")


# --- folders


def folder_of(tmp_path: Path, *names: tuple[str, str]) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    for model, name in names:
        shutil.copy(model_path(model, name), folder / name)
    return folder


def test_a_folder_prefers_tokenizer_json_and_says_what_it_read(tmp_path: Path) -> None:
    names = ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt")
    folder = folder_of(tmp_path, *(("roberta-base", name) for name in names))
    (folder / "special_tokens_map.json").write_text('{"cls_token": "<s>", "sep_token": "</s>"}')
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    tok = jogak.load(folder)
    files = ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]
    assert tok.extras["files"] == [*files, "chat_template.jinja"]
    assert tok.extras["chat_template"] == "{{ messages }}"
    assert tok.extras["tokenizer_config"]["model_max_length"] == 512
    assert tok.spec == jogak.load(folder / "tokenizer.json").spec
    for other in (copy.copy(tok), pickle.loads(pickle.dumps(tok))):
        assert other.extras == tok.extras
    tok.save_pretrained(tmp_path / "again")
    again = jogak.load(tmp_path / "again")
    assert again.spec == tok.spec
    assert again.extras["chat_template"] == "{{ messages }}"
    assert again.extras["tokenizer_config"]["model_max_length"] == 512
    assert again.extras["special_tokens_map"] == {"cls_token": "<s>", "sep_token": "</s>"}


def test_other_tokenizers_of_folders(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, ("bert-base-cased", "vocab.txt"))
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    assert jogak.load(folder).spec.normalizer[0].lowercase  # type: ignore[union-attr]  # which model it is, the test knows
    assert not jogak.load(folder, lowercase=False).spec.normalizer[0].lowercase  # type: ignore[union-attr]  # which model it is, the test knows
    with pytest.raises(ConfigError, match="no option 'strategy'"):
        jogak.load(folder, strategy="merges")
    (folder / "added_tokens.json").write_text('{"[NEW]": 28996}')
    with pytest.raises(UnsupportedFeature, match=r"'\[NEW\]' with the id 28996"):
        jogak.load(folder)
    (folder / "added_tokens.json").write_text('{"[CLS]": 101}')
    jogak.load(folder)
    (folder / "tokenizer_config.json").write_text("[]")
    with pytest.raises(FormatError, match="a list of 0; expected an object"):
        jogak.load(folder)


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="of no format that is known"):
        jogak.load(tmp_path)
    with pytest.raises(FormatError, match="has no tokenizer"):
        jogak.load(tmp_path, format="model-folder")


def test_roles_are_those_of_the_files() -> None:
    spec = TRAINED["unigram"]().spec
    config = {"tokenizer_config": {"eos_token": {"content": "<s>"}, "pad_token": "<no piece>"}}
    assert model_folder.roles(spec, config) == {"eos_token": "<s>"}


# --- objects


def test_tokenizers_of_other_libraries_are_taken_over() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    tok = TRAINED["gpt2"]()
    from jogak.formats import hf_json

    theirs = tokenizers.Tokenizer.from_str(hf_json.dumps(tok.spec).decode())
    ours = jogak.load(theirs)
    assert ours.encode("low <s> hug", special="parse") == theirs.encode("low <s> hug").ids
    theirs.encode_special_tokens = True
    ours = jogak.load(theirs)
    assert ours.encode("low hug") == theirs.encode("low hug").ids
    assert ours.spec.special_policy == "text"
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=theirs, pad_token="<pad>", model_max_length=77
    )
    ours = jogak.load(fast)
    assert ours.encode("low hug") == fast.encode("low hug")
    assert ours.extras["tokenizer_config"]["model_max_length"] == 77
    assert model_folder.roles(ours.spec, ours.extras) == {"pad_token": "<pad>"}
    with pytest.raises(ConfigError, match="takes no options"):
        jogak.load(theirs, marker="suffix")


def test_an_encoding_of_tiktoken() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"lo": 256, b"low": 257}
    theirs = tiktoken.Encoding(
        "toy", pat_str=r"\p{L}+|\s+|[^\s\p{L}]+", mergeable_ranks=ranks, special_tokens={"<e>": 300}
    )
    ours = jogak.load(theirs)
    for text in texts():
        expected = theirs.encode(text, allowed_special={"<e>"})
        assert ours.encode(text, special="parse") == expected
    assert ours.encode("low<e>", special="parse") == [257, 300]


def test_a_processor_of_sentencepiece() -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    path = model_path("spm-test", "test_model.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ours = jogak.load(theirs)
    assert ours.spec == jogak.load(path).spec
    assert ours.encode("hello world") == theirs.encode("hello world")


def test_what_is_no_tokenizer() -> None:
    with pytest.raises(ConfigError, match=r"found a builtins\.int; expected the path"):
        jogak.load(7)
    assert json.dumps(dict(jogak.load(TRAINED["gpt2"]().to_transformers()).extras))
