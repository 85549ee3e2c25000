"""Every model file of the data folder, opened in its own library: what `bench/parity.py` compares with.

Rule: a peer answers with what its library says, and decides nothing. A text that it refuses has the
answer None.
"""

from __future__ import annotations

import base64
import importlib.util
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jogak.formats.encodings import encoding

Ids = list[int]
Answers = list[Ids | None]


@dataclass(frozen=True)
class Peer:
    """A file in its own library.

    Args:
        name: the library and its version.
        encode: texts, whether special tokens in them are parsed -> ids; None where the library
            cannot do so.
        decode: ids -> texts, with the texts of special tokens; None where it has other rules.
        framed: texts -> ids with what stands around a text; None where there is nothing.
    """

    name: str
    encode: Callable[[Sequence[str], bool], Answers | None]
    decode: Callable[[Sequence[Ids]], list[str]] | None = None
    framed: Callable[[Sequence[str]], Answers] | None = None


@dataclass(frozen=True)
class ModelFile:
    """One file, or two that belong together.

    Args:
        path: below the folder of models.
        open: the file, or the folder that jogak wrote -> the peer.
        options: what `jogak.load` has to be told.
        format: the format that it is written in again; None for none.
    """

    path: str
    open: Callable[[Path], Peer]
    options: dict[str, Any] = field(default_factory=dict)
    format: str | None = None


def hf(path: Path, tokenizer: Any = None) -> Peer:
    """``tokenizers``."""
    import tokenizers

    theirs = tokenizer or tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()

    def one(text: str, framed: bool) -> Ids | None:
        try:
            ids: Ids = theirs.encode(text, add_special_tokens=framed).ids
        except Exception:  # the library raises nothing more special
            return None
        return ids

    def encode(texts: Sequence[str], parse: bool, framed: bool = False) -> Answers:
        theirs.encode_special_tokens = not parse
        try:
            found = theirs.encode_batch_fast(list(texts), add_special_tokens=framed)
        except Exception:  # as above
            return [one(text, framed) for text in texts]
        return [each.ids for each in found]

    def decode(all_ids: Sequence[Ids]) -> list[str]:
        return list(theirs.decode_batch([list(ids) for ids in all_ids], skip_special_tokens=False))

    return Peer(_named("tokenizers"), encode, decode, lambda texts: encode(texts, True, True))


def bert(lowercase: bool) -> Callable[[Path], Peer]:
    """``tokenizers``' BERT over a ``vocab.txt``."""

    def opened(path: Path) -> Peer:
        import tokenizers

        path = path / "vocab.txt" if path.is_dir() else path
        theirs = tokenizers.BertWordPieceTokenizer(str(path), lowercase=lowercase)
        return hf(path, theirs._tokenizer)

    return opened


def byte_level(path: Path) -> Peer:
    """``tokenizers``' byte-level BPE over two files, by the name of one or of their folder."""
    import tokenizers

    names = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))
    folder = path if path.is_dir() else path.parent
    wanted = [pair for pair in names if path.name in pair or path.is_dir()]
    vocab, merges = next(pair for pair in wanted if (folder / pair[0]).is_file())
    theirs = tokenizers.ByteLevelBPETokenizer(str(folder / vocab), str(folder / merges))
    peer = hf(path, theirs._tokenizer)  # it knows no special tokens

    def encode(texts: Sequence[str], parse: bool) -> Answers | None:
        return None if parse else peer.encode(texts, False)

    return Peer(peer.name, encode, peer.decode)


def sentencepiece(path: Path) -> Peer:
    """``sentencepiece``."""
    import sentencepiece as library

    theirs = library.SentencePieceProcessor(model_file=str(path))

    def encode(texts: Sequence[str], parse: bool) -> Answers | None:
        return None if parse else list(theirs.encode(list(texts), num_threads=2))

    def decode(all_ids: Sequence[Ids]) -> list[str]:
        return [theirs.decode(list(ids)) for ids in all_ids]

    return Peer(_named("sentencepiece"), encode, decode)


def tiktoken(scheme: str) -> Callable[[Path], Peer]:
    """``tiktoken``, with the pattern and the special tokens of a published encoding."""

    def opened(path: Path) -> Peer:
        import tiktoken as library

        about = encoding(scheme)
        rows = (line.split() for line in path.read_bytes().splitlines() if line)
        ranks = {base64.b64decode(piece): int(rank) for piece, rank in rows if piece != b"="}
        theirs = library.Encoding(
            scheme,
            pat_str=about.pattern,
            mergeable_ranks=ranks,
            special_tokens=dict(about.special_tokens),
        )

        def encode(texts: Sequence[str], parse: bool) -> Answers:
            if parse:
                return list(theirs.encode_batch(list(texts), num_threads=2, allowed_special="all"))
            return list(theirs.encode_ordinary_batch(list(texts), num_threads=2))

        return Peer(_named("tiktoken"), encode, lambda batch: list(theirs.decode_batch(batch)))

    return opened


def tekken(path: Path) -> Peer:
    """``mistral-common``."""
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    theirs = Tekkenizer.from_file(path)

    def encode(texts: Sequence[str], parse: bool) -> Answers | None:
        return None if parse else [theirs.encode(text, False, False) for text in texts]

    def decode(all_ids: Sequence[Ids]) -> list[str]:
        return [theirs.decode(list(ids), SpecialTokenPolicy.KEEP) for ids in all_ids]

    return Peer(_named("mistral-common"), encode, decode)


def expected(path: Path) -> Peer:
    """The ids that llama.cpp gives for the texts beside a file."""
    texts = Path(f"{path}.inp").read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")
    lines = Path(f"{path}.out").read_text(encoding="utf-8").split("\n")
    known = {
        text: [int(id_) for id_ in line.split()] for text, line in zip(texts, lines, strict=False)
    }

    def encode(asked: Sequence[str], parse: bool) -> Answers | None:
        return None if parse else [known[text] for text in asked]

    return Peer("llama.cpp's expected ids", encode)


def expected_texts(path: Path) -> list[str]:
    """The texts whose ids are known."""
    return Path(f"{path}.inp").read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")


def model_files(folder: Path) -> Iterable[ModelFile]:
    """All files of the folder, by what they are; and those that mistral-common carries."""
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name.endswith("tokenizer.json"):
            yield ModelFile(name, hf, {}, "tokenizer-json")
        elif path.suffix == ".model":
            yield ModelFile(name, sentencepiece, {}, "sentencepiece")
        elif path.suffix == ".tiktoken":
            scheme = SCHEMES[path.name]
            yield ModelFile(name, tiktoken(scheme), {"scheme": scheme}, "tiktoken")
        elif path.name == "vocab.txt":
            yield ModelFile(name, bert("uncased" in name), {}, "vocab-txt")
        elif path.name in ("vocab.bpe", "merges.txt"):
            options = {"format": "vocab-merges", "pretokenizer": "gpt2"}
            yield ModelFile(name, byte_level, options, "vocab-merges")
        elif path.suffix == ".gguf":
            yield ModelFile(name, expected)
    found = importlib.util.find_spec("mistral_common")
    if found is not None and found.submodule_search_locations:
        data = Path(found.submodule_search_locations[0]) / "data"
        for path in sorted(data.iterdir()):
            if path.name.startswith("tekken"):
                yield ModelFile(str(path), tekken, {}, "tekken")
            elif ".model" in path.name:
                yield ModelFile(str(path), sentencepiece, {}, "sentencepiece")


#: Rank files -> the encodings that they are.
SCHEMES = {
    "gpt2.tiktoken": "gpt2",
    "r50k_base.tiktoken": "r50k_base",
    "p50k_base.tiktoken": "p50k_base",
    "cl100k_base.tiktoken": "cl100k_base",
    "multilingual.tiktoken": "whisper",
}


def special_texts(path: Path) -> list[str]:
    """The texts of a file's special tokens as the file says them, for texts made to confuse."""
    if path.suffix == ".json" and path.name != "encoder.json":
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            return []
        return [token["content"] for token in data.get("added_tokens", ())][:500]
    return []


def _named(package: str) -> str:
    return f"{package.replace('_', '-')} {version(package)}"
