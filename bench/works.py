"""What the benchmark measures: the works, the engines that do each, and what counts as right.

This is the one list; `bench/run.py` measures what stands here. An engine is a tiny program of
`bench/engines/` in a fresh process:

    train_*.py   CORPUS SIZE [ARGUMENT...]
    encode_*.py  MODEL CORPUS CHARS PASSES [OPTION=VALUE...]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal


@dataclass(frozen=True)
class Engine:
    """A program of `bench/engines/`.

    Its answer must be the reference's, unless `note` tells why it may differ.

    Args:
        name: as it is told in the table.
        distribution: the package that must be installed.
        program: its file.
        arguments: what is added to the command line.
        note: why its answer may differ.
        model: a file to open instead of the work's, in the folder of models.
        passes: how often an encoder sees the same text; the first is told by itself.
        runs: measured no more often than this, for engines that take minutes.
    """

    name: str
    distribution: str
    program: str
    arguments: tuple[str, ...] = ()
    note: str = ""
    model: str = ""
    passes: int = 4
    runs: int = 1_000

    @property
    def exact(self) -> bool:
        """Whether its answer must be the reference's."""
        return not self.note

    @property
    def version(self) -> str:
        """The version of its package beside this interpreter; empty if there is none."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return ""


@dataclass(frozen=True)
class Work:
    """Something to do with a few corpora; works of one name are chosen together.

    The first engine that opens a file is its reference: its answer is the right one. If even that is
    not `exact`, there is no right answer: every engine's note says what it learns.

    Args:
        name: what `--only` takes.
        kind: trains on whole corpora, or encodes the first `chars` characters of them.
        label: as it is told in the table.
        engines: who does it, the reference first.
        corpora: names of corpora.
        size: how many pieces to learn.
        model: the file to encode with, in the folder of models.
        chars: how much text is encoded.
    """

    name: str
    kind: Literal["train", "encode"]
    label: str
    engines: Sequence[Engine]
    corpora: tuple[str, ...]
    size: int = 32_000
    model: str = ""
    chars: int = 10_000_000

    def reference(self, engine: Engine) -> Engine:
        """The engine whose answer is the right one for the file that an engine opens."""
        return next(other for other in self.engines if other.model == engine.model)


# --- who trains

BPE_TRAINERS = (
    Engine("tokenizers", "tokenizers", "train_tokenizers.py"),
    Engine("jogak", "jogak", "train_jogak.py"),
    Engine("ffbpe", "ffbpe", "train_ffbpe.py"),
    Engine("gigatoken", "gigatoken", "train_gigatoken.py", note="drops line ends"),
    Engine("rustbpe", "rustbpe", "train_rustbpe.py", note="tells no merges"),
)
SENTENCEPIECE_BPE_TRAINERS = (
    Engine("sentencepiece", "sentencepiece", "train_sentencepiece.py", ("comparable",)),
    Engine("jogak", "jogak", "train_sentencepiece_jogak.py"),
    Engine(
        "sentencepiece (its defaults)",
        "sentencepiece",
        "train_sentencepiece.py",
        note="other words and alphabet",
    ),
)
OWN = "pieces of its own"  # what they are worth: bench/unigram_quality.py, bench/wordpiece.py
UNIGRAM_TRAINERS = (
    Engine("sentencepiece", "sentencepiece", "train_unigram_sentencepiece.py", note=OWN, runs=1),
    Engine("jogak", "jogak", "train_unigram_jogak.py", note=OWN),
    Engine("tokenizers", "tokenizers", "train_unigram_tokenizers.py", note=OWN, runs=1),
)
WORDPIECE = "train_wordpiece_jogak.py"
WORDPIECE_TRAINERS = (
    Engine("tokenizers", "tokenizers", "train_wordpiece_tokenizers.py", note="by count"),
    Engine("jogak (count)", "jogak", WORDPIECE, ("count",), note="by count"),
    Engine("jogak (likelihood)", "jogak", WORDPIECE, ("likelihood",), note="by likelihood"),
)

# --- who encodes

CL100K_ENCODERS = (
    Engine("tiktoken", "tiktoken", "encode_tiktoken.py"),
    Engine("tiktoken (batch)", "tiktoken", "encode_tiktoken.py", ("how=batch",)),
    Engine("jogak", "jogak", "encode_jogak.py", ("pretokenizer=cl100k",)),
    Engine("gigatoken", "gigatoken", "encode_gigatoken.py"),
    Engine("tokenizers", "tokenizers", "encode_tokenizers.py", passes=2),
)
SENTENCEPIECE_ENCODERS = (
    Engine("sentencepiece", "sentencepiece", "encode_sentencepiece.py", passes=2),
    Engine("jogak", "jogak", "encode_jogak.py"),
)
T5 = "t5-small/tokenizer.json"
T5_ENCODERS = (
    *SENTENCEPIECE_ENCODERS,
    Engine("tokenizers", "tokenizers", "encode_tokenizers.py", model=T5, passes=2),
    Engine("tokie", "tokie", "encode_tokie.py", model=T5),
)
MISTRAL = "mistral-v1/tokenizer.json"
MISTRAL_ENCODERS = (
    *SENTENCEPIECE_ENCODERS,
    Engine("gigatoken", "gigatoken", "encode_gigatoken.py"),
    Engine("tokenizers", "tokenizers", "encode_tokenizers.py", model=MISTRAL, passes=2),
    Engine("tokie", "tokie", "encode_tokie.py", model=MISTRAL),
)
CASED_ENCODERS = (
    Engine("tokenizers", "tokenizers", "encode_tokenizers.py", ("lowercase=no",), passes=2),
    Engine("jogak", "jogak", "encode_jogak.py"),
)
UNCASED_ENCODERS = (
    Engine("tokenizers", "tokenizers", "encode_tokenizers.py", ("lowercase=yes",), passes=2),
    Engine("jogak", "jogak", "encode_jogak.py"),
)

# --- what is done

TWO = ("ko_nsmc", "en_docs")
THREE = (*TWO, "zh_poetry")
WORKS = (
    Work("train-bpe", "train", "BPE", BPE_TRAINERS, TWO),
    Work("train-spbpe", "train", "SentencePiece BPE", SENTENCEPIECE_BPE_TRAINERS, TWO),
    Work("train-unigram", "train", "Unigram", UNIGRAM_TRAINERS, THREE),
    Work("train-wordpiece", "train", "WordPiece", WORDPIECE_TRAINERS, TWO, size=30_000),
    Work(
        "encode-bpe",
        "encode",
        "cl100k",
        CL100K_ENCODERS,
        ("en_docs", "code", "ko_nsmc", "zh_poetry"),
        model="cl100k_base/cl100k_base.tiktoken",
    ),
    Work(
        "encode-spbpe",
        "encode",
        "Mistral BPE",
        MISTRAL_ENCODERS,
        ("en_docs", "ko_nsmc", "zh_poetry"),
        model="mistral-v1/tokenizer.model",
    ),
    Work(
        "encode-unigram",
        "encode",
        "T5 Unigram",
        T5_ENCODERS,
        ("en_docs", "code"),
        model="nai-t5/spiece.model",
    ),
    Work(
        "encode-unigram",
        "encode",
        "TTA Unigram",
        SENTENCEPIECE_ENCODERS,
        ("ko_nsmc",),
        model="tta-ko-unigram/tokenizer.model",
    ),
    Work(
        "encode-wordpiece",
        "encode",
        "BERT uncased",
        UNCASED_ENCODERS,
        ("en_docs",),
        model="bert-base-uncased/vocab.txt",
    ),
    Work(
        "encode-wordpiece",
        "encode",
        "KoELECTRA",
        CASED_ENCODERS,
        ("ko_nsmc",),
        model="koelectra-base/vocab.txt",
    ),
    Work(
        "encode-wordpiece",
        "encode",
        "BERT Chinese",
        CASED_ENCODERS,
        ("zh_poetry", "cppdocs_zh-cn"),
        model="bert-base-chinese/vocab.txt",
    ),
)
