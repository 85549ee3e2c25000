"""The models that the benchmark opens: files of the folder of models, and some that are made here.

Few models that may be copied have more than 100,000 pieces, so one of 128,000 is trained on text of many
languages; so are merges of characters with the mark `</w>`, as codes, and as the first GPT had them.
Others, which are used much, may not be copied, but how they make text ready and cut it is known: there a
model of the folder gets theirs. All are the same for everybody, and are kept in the folder of results.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from engines.common import byte_level_alphabet, read_ranks
from texts import corpus

#: The names of what is trained, and the formats.
LARGE = {"128k/tokenizer.json": "tokenizer-json", "128k/128k.jogak.json": "jogak"}
CODES = "codes/codes"
GPT = "ways/openai-gpt.json"


def _split(pattern: str, kind: str = "Regex", behavior: str = "Isolated") -> dict[str, Any]:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": False}


def _replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def _normalizers(*stages: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(stages)}


def _pretokenizers(*stages: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(stages)}


_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
_MARKS = {
    "type": "Metaspace",
    "replacement": "▁",
    "prepend_scheme": "always",
    "split": True,
}
_DEEPSEEK = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _gemma(file: dict[str, Any]) -> None:
    file["normalizer"] = _replace(" ", "▁")
    file["pre_tokenizer"] = _split(" ", "String", "MergedWithPrevious")


def _gemma_tokens(file: dict[str, Any]) -> None:
    """With its tokens of line ends, tabs and marks, and of tags; all of them are pieces, too."""
    _gemma(file)
    runs = [sign * times for sign in "\n\t▁" for times in range(1, 32)]
    runs = [run for run in runs if run not in ("\n", "▁")]
    tags = ("table", "tr", "th", "td", "h1", "h2", "h3", "blockquote", "strong", "em", "b", "i")
    names = (
        *runs,
        *(f"<{slash}{tag}>" for slash in ("", "/") for tag in tags),
        *(f"<unused{number}>" for number in range(99)),
        "<start_of_turn>",
        "<end_of_turn>",
    )
    pieces = file["model"]["vocab"]
    for name in names:
        pieces.setdefault(name, len(pieces))
        rules = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
        file["added_tokens"].append({"id": pieces[name], "content": name, **rules})


def _sentencepiece(file: dict[str, Any]) -> None:
    """As transformers converts SentencePiece's Unigram models."""
    strip = {"type": "Strip", "strip_left": False, "strip_right": True}
    squeeze = _replace(" {2,}", "▁", "Regex")
    file["normalizer"] = _normalizers(file["normalizer"], strip, squeeze)
    file["pre_tokenizer"] = _MARKS


def _albert(file: dict[str, Any]) -> None:
    quotes = (_replace("``", '"'), _replace("''", '"'))
    forms = ({"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"})
    file["normalizer"] = _normalizers(*quotes, *forms, file["normalizer"])


def _deepseek(file: dict[str, Any]) -> None:
    numbers, han = _split(r"\p{N}{1,3}"), _split("[一-龥\u3040-ゟ゠-ヿ]+")
    file["pre_tokenizer"] = _pretokenizers(numbers, han, _split(_DEEPSEEK), _BYTES)


def _deepseek_tokens(file: dict[str, Any]) -> None:
    """With tokens that begin with what stands in Korean and Chinese, too."""
    _deepseek(file)
    texts = (
        "<｜begin▁of▁sentence｜>",
        "<｜User｜>",
        "<｜place▁holder▁no▁0｜>",
        "<|EOT|>",
        "｜DSML｜",
    )
    _add(file, *texts)


def _add(file: dict[str, Any], *texts: str, normalized: bool = False) -> None:
    """Special tokens, which are looked for in normalized text or in text as it comes."""
    ids = [*file["model"]["vocab"].values(), *(token["id"] for token in file["added_tokens"])]
    rules = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    for id_, text in enumerate(texts, max(ids) + 1):
        token = {"id": id_, "content": text, **rules, "normalized": normalized, "special": True}
        file["added_tokens"].append(token)


def _mt5(file: dict[str, Any]) -> None:
    """As transformers converted SentencePiece's Unigram models for years."""
    file["normalizer"] = _normalizers(file["normalizer"], _replace(" {2,}", " ", "Regex"))
    file["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}


def _mpnet(file: dict[str, Any]) -> None:
    file["normalizer"]["lowercase"] = True
    _add(file, "<unk>", normalized=True)


def _starcoder(file: dict[str, Any]) -> None:
    digits = {"type": "Digits", "individual_digits": True}
    file["pre_tokenizer"] = _pretokenizers(digits, {**_BYTES, "use_regex": True})


def _llama_3(file: dict[str, Any]) -> None:
    file["pre_tokenizer"] = _pretokenizers(_split(_LLAMA_3), _BYTES)


def _of_ranks(path: Path) -> dict[str, Any]:
    """A tokenizer.json of a file of ranks.

    As transformers converts them: any two pieces that make a third one are a merge.
    """
    ranks = read_ranks(str(path))
    letter = {byte: char for char, byte in byte_level_alphabet().items()}
    drawn = {piece: "".join(letter[byte] for byte in piece) for piece in ranks}
    merges = []
    for piece in ranks:
        two = ((piece[:at], piece[at:]) for at in range(1, len(piece)))
        merges += sorted(
            (pair for pair in two if pair[0] in ranks and pair[1] in ranks),
            key=lambda pair: (ranks[pair[0]], ranks[pair[1]]),
        )
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": True,
        "vocab": {drawn[piece]: rank for piece, rank in ranks.items()},
        "merges": [[drawn[left], drawn[right]] for left, right in merges],
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {**_BYTES, "add_prefix_space": True, "use_regex": True},
        "model": model,
    }


#: Files that get another's way: whose pieces, and what is changed.
OTHERS = {
    "ways/gemma.json": ("mistral-v1/tokenizer.json", _gemma),
    "ways/gemma-tokens.json": ("mistral-v1/tokenizer.json", _gemma_tokens),
    "ways/sentencepiece.json": ("t5-small/tokenizer.json", _sentencepiece),
    "ways/albert.json": ("t5-small/tokenizer.json", _albert),
    "ways/deepseek-v3.json": ("gpt2/tokenizer.json", _deepseek),
    "ways/deepseek-tokens.json": ("gpt2/tokenizer.json", _deepseek_tokens),
    "ways/mt5.json": ("t5-small/tokenizer.json", _mt5),
    "ways/mpnet.json": ("bert-base-cased/tokenizer.json", _mpnet),
    "ways/starcoder.json": ("gpt2/tokenizer.json", _starcoder),
    "ways/llama-3.json": ("cl100k_base/cl100k_base.tiktoken", _llama_3),
}


def _train_large(text: Path, files: dict[Path, str]) -> None:
    import jogak

    trained = jogak.train(text, jogak.BPE(vocab_size=128_000))
    if len(trained) < 128_000:
        raise RuntimeError(f"{text} gives {len(trained):,} pieces; expected 128,000")
    for file, form in files.items():
        trained.save(file, format=form)


def _train_marked(text: Path, files: dict[Path, str], normalizer: Any, cut: Any) -> None:
    """Merges of characters, the last of which has a mark."""
    import jogak

    config = jogak.BPE(
        num_merges=32_000, marker=jogak.Marker("suffix", symbol="joined"), ties="greatest"
    )
    trained = jogak.train(text, config, normalizer=normalizer, pretokenizer=cut)
    for file, form in files.items():
        trained.save(file, format=form)


def _train_codes(text: Path, files: dict[Path, str]) -> None:
    from jogak.formats.codes import WORDS

    _train_marked(text, files, None, WORDS)


def _train_gpt(text: Path, files: dict[Path, str]) -> None:
    import jogak

    _train_marked(text, files, jogak.BertNormalizer(), "bert-8.0")


class _Trained(NamedTuple):
    """What is trained: its files with their formats, and how it is."""

    files: dict[str, str]
    train: Callable[[Path, dict[Path, str]], None]


_TRAINED = (
    _Trained(LARGE, _train_large),
    _Trained({CODES: "subword-nmt"}, _train_codes),
    _Trained({GPT: "tokenizer-json"}, _train_gpt),
)


def model(name: str, models: Path, corpora: Path, made: Path) -> Path:
    """The file of a model; it may not be there.

    Args:
        name: a path in the folder of models, or one of `LARGE`, `CODES`, `GPT` or `OTHERS`.
        models: that folder.
        corpora: the folder of corpora.
        made: where what is made here is kept.
    """
    target = made / "models" / name
    if name in OTHERS:
        source, change = OTHERS[name]
        path = models / source
        if path.is_file():
            file = (
                json.loads(path.read_text("utf-8")) if path.suffix == ".json" else _of_ranks(path)
            )
            change(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(file), "utf-8")
        return target
    trained = next((trained for trained in _TRAINED if name in trained.files), None)
    if trained is None:
        return models / name
    text = corpus("mixed", corpora, made / "texts")
    if not target.is_file() and text.is_file():
        for file in trained.files:
            (made / "models" / file).parent.mkdir(parents=True, exist_ok=True)
        trained.train(text, {made / "models" / file: form for file, form in trained.files.items()})
    return target
