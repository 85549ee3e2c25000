"""Small valid files of every format, to be broken: name of the format -> files of it."""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import jogak
from gguf_seeds import gguf_files
from jogak.errors import JogakError
from jogak.formats import FORMATS

__all__ = ["OPTIONS", "Files", "seeds"]

#: Name -> bytes: one file, or those of a folder.
Files = dict[str, bytes]

_WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3, "계란밥": 3, "간장밥": 5, "it's": 2}
_SPECIAL = {"<pad>": 0, "<unk>": 1}


def _tokenizers() -> Iterator[jogak.Tokenizer]:
    """One of each kind."""
    yield jogak.train(_WORDS, jogak.BPE(vocab_size=270))
    yield jogak.train(_WORDS, jogak.BPE(vocab_size=275), special_tokens={"<|end|>": 0})
    yield jogak.train(_WORDS, jogak.BPE(num_merges=8, marker="suffix", unknown="<unk>"))
    yield jogak.train(
        _WORDS, jogak.BPE(num_merges=8, marker="suffix", ties="greatest", unknown=None)
    )
    yield jogak.train(_WORDS, jogak.WordPiece(vocab_size=60), normalizer="bert", pretokenizer="bert",
                      special_tokens=["[UNK]", "[CLS]", "[SEP]"])  # fmt: skip
    yield jogak.train(_WORDS, jogak.Unigram(vocab_size=25), special_tokens=_SPECIAL)
    lines = [" ".join([word] * count) for word, count in _WORDS.items()]
    for model in ("bpe", "unigram"):
        yield jogak.train_sentencepiece(
            sentence_iterator=lines, vocab_size=40 if model == "bpe" else 25, model_type=model,
            hard_vocab_limit=False, normalization_rule_name="identity",
        )  # fmt: skip


def _rank_file() -> bytes:
    texts = [bytes([byte]) for byte in range(256)] + [b"th", b"the", b" the", "안".encode()]
    lines = [b"%s %d\n" % (base64.b64encode(text), rank) for rank, text in enumerate(texts)]
    return b"".join(lines)


def seeds() -> dict[str, list[Files]]:
    """Files of every format that one of the tokenizers can be written as, and of those that are only read."""
    charsmap = jogak.compile_rules({"é": "e", "<a": "a", "Ａ": "a"}).data
    found: dict[str, list[Files]] = {
        "tiktoken": [{"file.tiktoken": _rank_file()}],
        "gguf": [{"file.gguf": data} for data in gguf_files(charsmap)],
    }
    for tok in _tokenizers():
        for name, family in FORMATS.items():
            with tempfile.TemporaryDirectory(prefix="jogak-fuzz-") as folder:
                path = folder if family.two_files else os.path.join(folder, NAMES.get(name, "file"))
                try:
                    tok.save(path, format=name)
                    jogak.load(path, format=name, **OPTIONS.get(name, {}))
                except JogakError:  # not this kind in this format, or not with these options
                    continue
                files = {}
                for file in sorted(os.listdir(folder)):
                    with open(os.path.join(folder, file), "rb") as opened:
                        files[file] = opened.read()
                found.setdefault(name, []).append(files)
    return found


#: Formats of which the reader looks at the name.
NAMES = {"tokenizer-json": "tokenizer.json", "tekken": "tekken.json", "vocab-txt": "vocab.txt"}
#: What files do not say themselves.
OPTIONS: dict[str, dict[str, Any]] = {
    "tiktoken": {"pretokenizer": "cl100k"},
    "vocab-txt": {"lowercase": False},
}
