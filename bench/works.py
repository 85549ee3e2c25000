"""What the benchmark measures: the works, the engines that do each, and what counts as right.

This is the one list; `bench/run.py` measures what stands here. An engine is a tiny program of
`bench/engines/` in a fresh process:

    train_*.py   CORPUS SIZE [ARGUMENT...]
    count_*.py   CORPUS [ARGUMENT...]
    texts_*.py   encode|pieces|lines|calls|files|decode|load MODEL CORPUS CHARS PASSES [OPTION=VALUE...]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path
from typing import Literal

import models
from texts import WORST

#: Packages that may not stand beside others: another version of one that is there.
BESIDE = Path(sys.prefix, "beside")


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
        model: a file to open instead of the work's.
        passes: how often it sees the same text; the first is told by itself.
        threads: how many it is to use for texts.
        runs: measured no more often than this, for engines that take minutes.
        beside: its package is one of those in `BESIDE`.
    """

    name: str
    distribution: str
    program: str
    arguments: tuple[str, ...] = ()
    note: str = ""
    model: str = ""
    passes: int = 4
    threads: int = 1
    runs: int = 1_000
    beside: bool = False

    @property
    def exact(self) -> bool:
        """Whether its answer must be the reference's."""
        return not self.note

    @property
    def version(self) -> str:
        """The version of its package; empty if there is none."""
        if self.beside:
            found = distributions(name=self.distribution, path=[str(BESIDE)])
            return next((each.version for each in found), "")
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
        kind: trains on whole corpora or counts their words; encodes or decodes the first `chars`
            characters of them, or gives their pieces as texts, or encodes their lines, in one call, in
            a call for each, or those of a file; loads a file.
        label: as it is told in the table.
        engines: who does it, the reference first.
        corpora: names of texts, as `bench/texts.py` has them.
        size: how many pieces to learn.
        model: the file to open, as `bench/models.py` has them.
        chars: how much text goes through it.
    """

    name: str
    kind: Literal["train", "count", "encode", "pieces", "lines", "calls", "files", "decode", "load"]
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

FACE = "jogak.compat.subword_nmt"
CODES_TRAINERS = (
    Engine("subword-nmt", "subword-nmt", "train_codes_subword_nmt.py", runs=1),
    Engine("jogak", "jogak", "train_codes_subword_nmt.py", (FACE,)),
)

COUNTERS = (
    Engine("jogak (1 thread)", "jogak", "count_jogak.py", ("1", "cl100k"), note="its own words"),
    Engine("jogak (2 threads)", "jogak", "count_jogak.py", ("2", "cl100k"), note="its own words"),
)
CURVE = tuple(engine for engine in BPE_TRAINERS if engine.name in {"tokenizers", "jogak"})

# --- who encodes and decodes

JOGAK = Engine("jogak", "jogak", "texts_jogak.py")
TIKTOKEN = Engine("tiktoken", "tiktoken", "texts_tiktoken.py")
GIGATOKEN = Engine("gigatoken", "gigatoken", "texts_gigatoken.py")
SENTENCEPIECE = Engine("sentencepiece", "sentencepiece", "texts_sentencepiece.py", passes=2)


def jogak(*options: str, threads: int = 1, ids: str = "") -> Engine:
    """jogak, with options of `jogak.load`; ids that it decodes are in lists, or as said."""
    if ids:
        return Engine(f"jogak ({ids})", "jogak", "texts_jogak.py", (*options, f"ids={ids}"))
    if threads == 1:
        return Engine("jogak", "jogak", "texts_jogak.py", options)
    name, options = f"jogak ({threads} threads)", (*options, f"threads={threads}")
    return Engine(name, "jogak", "texts_jogak.py", options, threads=threads)


#: Pieces as texts, by one face.
SENTENCEPIECE_PIECES = Engine("sentencepiece", "sentencepiece", "pieces_sentencepiece.py")
JOGAK_PIECES = Engine(
    "jogak", "jogak", "pieces_sentencepiece.py", ("face=jogak.compat.sentencepiece",)
)


#: Inputs of models: ids with the characters that each stands for, words and masks.
INPUTS = (
    Engine("tokenizers", "tokenizers", "inputs_tokenizers.py", passes=2),
    Engine("jogak", "jogak", "inputs_jogak.py"),
)
T5_INPUTS = (INPUTS[0], replace(INPUTS[1], note="a space put in has no characters"))

#: Pieces as they are drawn, by another.
CODES = "codes_subword_nmt.py"
CODES_ENCODERS = (
    Engine("subword-nmt", "subword-nmt", CODES, passes=2),
    Engine("jogak", "jogak", CODES, (f"face={FACE}",)),
)


def jogak_by(model: str) -> Engine:
    """jogak, with another file than that of the work."""
    return Engine(f"jogak ({model.split('/')[-1]})", "jogak", "texts_jogak.py", (), "", model)


def tokenizers(*options: str, model: str = "") -> Engine:
    """Hugging Face's library, by the file of the work or another."""
    return Engine("tokenizers", "tokenizers", "texts_tokenizers.py", options, "", model, passes=2)


def tokie(model: str = "", note: str = "") -> Engine:
    """tokie, which opens tokenizer.json alone."""
    return Engine("tokie", "tokie", "texts_tokie.py", (), note, model)


def tokenizers_1(model: str = "") -> Engine:
    """What Hugging Face's library is to become, which encodes and decodes alone."""
    program = "texts_tokenizers_1.py"
    return Engine("tokenizers 1", "tokenizers", program, model=model, beside=True)


def fastokens(model: str = "") -> Engine:
    """fastokens, which opens tokenizer.json alone, and BPE's."""
    return Engine("fastokens", "fastokens", "texts_fastokens.py", model=model)


def splintr(model: str = "", around: str = "", note: str = "") -> Engine:
    """splintr, which opens tokenizer.json.

    Args:
        around: how many ids of a template to leave out before a text, and behind it.
    """
    arguments = (f"around={around}",) if around else ()
    return Engine("splintr", "splintr-rs", "texts_splintr.py", arguments, note, model)


def blingfire(model: str) -> Engine:
    """blingfire, with a model of its own."""
    program = "texts_blingfire.py"
    return Engine("blingfire", "blingfire", program, (f"model={model}",), note="rules of its own")


CL100K = jogak("pretokenizer=cl100k")
TIKTOKEN_BATCH = Engine("tiktoken (batch)", "tiktoken", "texts_tiktoken.py", ("how=batch",))
CL100K_ENCODERS = (
    TIKTOKEN,
    TIKTOKEN_BATCH,
    CL100K,
    GIGATOKEN,
    tokenizers(),
)
O200K_ENCODERS = (
    replace(TIKTOKEN, arguments=("scheme=o200k",)),
    jogak("pretokenizer=o200k"),
    replace(GIGATOKEN, arguments=("scheme=o200k",)),
)
SENTENCEPIECE_ENCODERS = (SENTENCEPIECE, JOGAK)
T5 = "t5-small/tokenizer.json"
T5_BY_JSON = (tokenizers(model=T5), jogak_by(T5), tokenizers_1(T5), splintr(T5, "0,1"))
T5_ENCODERS = (*SENTENCEPIECE_ENCODERS, *T5_BY_JSON, tokie(T5))
T5_LINES = (*SENTENCEPIECE_ENCODERS, *T5_BY_JSON, tokie(T5, note="blank lines have a piece"))
MISTRAL = "mistral-v1/tokenizer.json"
MISTRAL_ENCODERS = (
    *SENTENCEPIECE_ENCODERS,
    GIGATOKEN,
    tokenizers(model=MISTRAL),
    jogak_by(MISTRAL),
    tokie(MISTRAL),
    tokenizers_1(MISTRAL),
    splintr(MISTRAL, "1,0"),
)
JSON_ENCODERS = (tokenizers(), JOGAK, tokie())
BPE_JSON_ENCODERS = (*JSON_ENCODERS, tokenizers_1(), fastokens(), splintr())
LLAMA_3 = "ways/llama-3.json"
LLAMA_3_ENCODERS = (replace(tokenizers(), runs=1), JOGAK, tokenizers_1(), fastokens(), splintr())
WAY_ENCODERS = (replace(tokenizers(), runs=1), JOGAK, tokie(note="rules of its own"))
#: Of the others, those that open the file, and give its ids.
WAY_OTHERS = {
    "gemma": (tokenizers_1(), fastokens(), splintr(around="1,0")),
    "deepseek-v3": (fastokens(), splintr()),
    "starcoder": (tokenizers_1(), fastokens(), splintr()),
    "sentencepiece": (tokenizers_1(), splintr(around="0,1")),
    "albert": (tokenizers_1(), splintr(around="0,1")),
}
#: Tokens that come often, or are looked for in normalized text; files converted years ago.
MORE_WAYS = {
    "Gemma's with its tokens, BPE": ("ways/gemma-tokens.json", (tokenizers_1(), fastokens())),
    "GPT-NeoX's, BPE": ("gpt-neox/tokenizer.json", (tokenizers_1(), fastokens(), splintr())),
    "DeepSeek's with its tokens, BPE": ("ways/deepseek-tokens.json", (fastokens(), splintr())),
    "mT5's, Unigram": ("ways/mt5.json", (splintr(around="0,1"),)),
    "MPNet's, WordPiece": ("ways/mpnet.json", (tokenizers_1(), splintr(around="1,1"))),
}
XLNET = "xlnet-base-cased/tokenizer.json"
XLNET_ENCODERS = (
    *SENTENCEPIECE_ENCODERS,
    tokenizers(model=XLNET),
    jogak_by(XLNET),
    tokie(XLNET, note="rules of its own"),
    tokenizers_1(XLNET),
    splintr(XLNET, "0,2"),
)
CASED = "bert-base-cased/tokenizer.json"
CASED_ENCODERS = (tokenizers("lowercase=no"), JOGAK)
CASED_OTHERS = (tokenizers_1(), splintr(around="1,1"))
CASED_LINES = (*JSON_ENCODERS, *CASED_OTHERS)
CASED_JSON_ENCODERS = (*CASED_LINES, blingfire("bert_base_cased_tok.bin"))
UNCASED_ENCODERS = (
    tokenizers("lowercase=yes"),
    JOGAK,
    blingfire("bert_base_tok.bin"),
)

# --- what is done

TWO = ("ko_nsmc", "en_docs")
THREE = (*TWO, "zh_poetry")
EVERY = ("en_docs", "code", "ko_nsmc", "zh_poetry", "cppdocs_ja", "cppdocs_ru", "mixed")
LATIN = ("en_docs", "code", "cppdocs_ru", "mixed")
HARD = tuple(f"worst-{kind}" for kind in WORST)
RANKS = "cl100k_base/cl100k_base.tiktoken"
LARGE, LARGE_NATIVE = models.LARGE
WHISPER = "whisper/whisper-large-v3.tokenizer.json"


def encoding(
    name: str, label: str, engines: Sequence[Engine], corpora: tuple[str, ...], model: str
) -> Work:
    """A work that encodes."""
    return Work(name, "encode", label, engines, corpora, model=model)


def loading(label: str, engines: Sequence[Engine], model: str) -> Work:
    """Opens a file and encodes a little, in a fresh process."""
    return Work("load", "load", label, engines, ("en_docs",), model=model, chars=10_000)


def pieces(label: str, corpora: tuple[str, ...], model: str) -> Work:
    """Cuts texts into pieces, as SentencePiece's face gives them."""
    engines = (SENTENCEPIECE_PIECES, JOGAK_PIECES)
    return Work("encode-pieces", "pieces", label, engines, corpora, model=model)


def codes(kind: Literal["lines", "files"]) -> Work:
    """Cuts lines into pieces by codes, each in a call, or those of a file."""
    label, model = f"codes, {kind}", models.CODES
    return Work("encode-codes", kind, label, CODES_ENCODERS, TWO, model=model, chars=2_000_000)


def inputs(label: str, engines: Sequence[Engine], model: str) -> Iterator[Work]:
    """Makes inputs of models: of documents, and of short texts, all in one call."""
    work = Work("encode-inputs", "encode", label, engines, TWO, model=model, chars=2_000_000)
    yield replace(work, label=f"{label}, documents")
    yield replace(work, label=f"{label}, lines", kind="lines")


def lines(
    label: str, engines: Sequence[Engine], model: str, corpora: tuple[str, ...] = TWO
) -> Work:
    """A work that encodes short texts, all in one call."""
    return Work("encode-lines", "lines", label, engines, corpora, model=model, chars=2_000_000)


def calls(label: str, engines: Sequence[Engine], model: str) -> Work:
    """A work that encodes short texts, each by a call of its own."""
    return Work(
        "encode-calls",
        "calls",
        label,
        engines,
        ("hello", *TWO),
        model=model,
        chars=240_000,
    )


def worst(label: str, engines: Sequence[Engine], model: str) -> Work:
    """A work that encodes what is hard, once."""
    once = tuple(replace(engine, passes=1) for engine in engines)
    return Work("encode-worst", "encode", label, once, HARD, model=model)


WORKS = (
    Work("train-bpe", "train", "BPE", BPE_TRAINERS, (*THREE, "code")),
    Work("train-spbpe", "train", "SentencePiece BPE", SENTENCEPIECE_BPE_TRAINERS, TWO),
    Work("train-unigram", "train", "Unigram", UNIGRAM_TRAINERS, THREE),
    # Of this corpus SentencePiece cannot make 32,000.
    Work("train-unigram", "train", "Unigram", UNIGRAM_TRAINERS, ("cppdocs_ja",), size=30_000),
    Work("train-wordpiece", "train", "WordPiece", WORDPIECE_TRAINERS, TWO, size=30_000),
    *(
        # subword-nmt takes minutes for these.
        Work("train-codes", "train", "codes", CODES_TRAINERS, (text,), size=8_000)
        for text in ("en_docs:16", "ko_nsmc:64")
    ),
    Work("count", "count", "words", COUNTERS, ("en_docs", "ko_nsmc")),
    Work(
        "curve",
        "train",
        "BPE, parts of a corpus",
        CURVE,
        tuple(f"{name}{part}" for name in TWO for part in (":16", ":4", "")),
    ),
    encoding("encode-bpe", "cl100k", CL100K_ENCODERS, EVERY, RANKS),
    # The ranks are those of cl100k, of which there is a file; the words are o200k's.
    encoding("encode-bpe", "o200k's words", O200K_ENCODERS, EVERY, RANKS),
    encoding("encode-bpe", "Llama 3's way", LLAMA_3_ENCODERS, EVERY, LLAMA_3),
    encoding(
        "encode-bpe", "GPT-2", BPE_JSON_ENCODERS, ("en_docs", "ko_nsmc"), "gpt2/tokenizer.json"
    ),
    encoding("encode-spbpe", "Mistral BPE", MISTRAL_ENCODERS, EVERY, "mistral-v1/tokenizer.model"),
    encoding("encode-spbpe", "Phi-3 BPE", BPE_JSON_ENCODERS, THREE, "phi-3-mini/tokenizer.json"),
    encoding("encode-spbpe", "Kortok BPE", SENTENCEPIECE_ENCODERS, TWO, "kortok-sp-32k/tok.model"),
    encoding("encode-unigram", "T5 Unigram", T5_ENCODERS, LATIN, "nai-t5/spiece.model"),
    encoding(
        "encode-unigram",
        "XLNet Unigram",
        XLNET_ENCODERS,
        ("en_docs",),
        "xlnet-base-cased/spiece.model",
    ),
    encoding(
        "encode-unigram",
        "TTA Unigram",
        SENTENCEPIECE_ENCODERS,
        ("ko_nsmc",),
        "tta-ko-unigram/tokenizer.model",
    ),
    encoding(
        "encode-unigram",
        "Chinese LLaMA Unigram",
        SENTENCEPIECE_ENCODERS,
        ("zh_poetry", "en_docs"),
        "chinese-llama-tokenizer/tokenizer-human.model",
    ),
    encoding(
        "encode-wordpiece", "BERT uncased", UNCASED_ENCODERS, LATIN, "bert-base-uncased/vocab.txt"
    ),
    encoding("encode-wordpiece", "BERT cased", CASED_JSON_ENCODERS, ("en_docs", "ko_nsmc"), CASED),
    encoding(
        "encode-wordpiece", "KoELECTRA", CASED_ENCODERS, ("ko_nsmc",), "koelectra-base/vocab.txt"
    ),
    encoding(
        "encode-wordpiece",
        "BERT Chinese",
        CASED_ENCODERS,
        ("zh_poetry", "cppdocs_zh-cn", "cppdocs_ja"),
        "bert-base-chinese/vocab.txt",
    ),
    encoding(
        "encode-threads",
        "cl100k",
        (TIKTOKEN, CL100K, jogak("pretokenizer=cl100k", threads=2)),
        TWO,
        RANKS,
    ),
    Work(
        "encode-files",
        "files",
        "cl100k",
        (TIKTOKEN, CL100K, jogak("pretokenizer=cl100k", threads=2)),
        TWO,
        model=RANKS,
    ),
    *(
        encoding(
            "encode-ways",
            label,
            (*WAY_ENCODERS, *WAY_OTHERS[file]),
            (*TWO, "code"),
            f"ways/{file}.json",
        )
        for label, file in (
            ("Gemma's way, BPE", "gemma"),
            ("DeepSeek's, BPE", "deepseek-v3"),
            ("StarCoder's, BPE", "starcoder"),
            ("SentencePiece's for HF, Unigram", "sentencepiece"),
            ("ALBERT's, Unigram", "albert"),
        )
    ),
    *(
        encoding("encode-more-ways", label, (*WAY_ENCODERS, *others), (*TWO, "code"), file)
        for label, (file, others) in MORE_WAYS.items()
    ),
    # What tokie makes of it has no tokens.
    encoding("encode-ways", "the first GPT's, BPE", WAY_ENCODERS[:2], (*TWO, "code"), models.GPT),
    lines("cl100k", (TIKTOKEN, CL100K, GIGATOKEN), RANKS),
    lines("Mistral BPE", (*SENTENCEPIECE_ENCODERS, GIGATOKEN), "mistral-v1/tokenizer.model"),
    lines("Phi-3 BPE", BPE_JSON_ENCODERS, "phi-3-mini/tokenizer.json"),
    lines("T5 Unigram", T5_LINES, "nai-t5/spiece.model", ("en_docs",)),
    lines("TTA Unigram", SENTENCEPIECE_ENCODERS, "tta-ko-unigram/tokenizer.model", ("ko_nsmc",)),
    lines("BERT cased", CASED_LINES, CASED),
    lines("Llama 3's way", LLAMA_3_ENCODERS, LLAMA_3),
    *inputs("GPT-2", INPUTS, "gpt2/tokenizer.json"),
    *inputs("T5 Unigram", T5_INPUTS, T5),
    *inputs("BERT cased", INPUTS, CASED),
    pieces("Mistral BPE", TWO, "mistral-v1/tokenizer.model"),
    pieces("T5 Unigram", ("en_docs",), "nai-t5/spiece.model"),
    pieces("TTA Unigram", ("ko_nsmc",), "tta-ko-unigram/tokenizer.model"),
    codes("lines"),
    codes("files"),
    calls("cl100k", (TIKTOKEN, CL100K), RANKS),
    calls("Mistral BPE", SENTENCEPIECE_ENCODERS, "mistral-v1/tokenizer.model"),
    calls("T5 Unigram", SENTENCEPIECE_ENCODERS, "nai-t5/spiece.model"),
    calls("BERT cased", (tokenizers(), JOGAK, *CASED_OTHERS), CASED),
    calls("Llama 3's way", LLAMA_3_ENCODERS, LLAMA_3),
    worst("cl100k", (TIKTOKEN, CL100K), RANKS),
    worst("Mistral BPE", SENTENCEPIECE_ENCODERS, "mistral-v1/tokenizer.model"),
    worst("T5 Unigram", SENTENCEPIECE_ENCODERS, "nai-t5/spiece.model"),
    worst("BERT cased", (tokenizers(), JOGAK), CASED),
    Work(
        "decode",
        "decode",
        "cl100k",
        (
            TIKTOKEN,
            TIKTOKEN_BATCH,
            CL100K,
            jogak("pretokenizer=cl100k", ids="arrays"),
            jogak("pretokenizer=cl100k", ids="batch"),
            tokenizers(),
        ),
        THREE,
        model=RANKS,
    ),
    Work(
        "decode",
        "decode",
        "Mistral BPE",
        (*SENTENCEPIECE_ENCODERS, jogak(ids="arrays"), jogak(ids="batch")),
        TWO,
        model="mistral-v1/tokenizer.model",
    ),
    Work("decode", "decode", "Llama 3's way", LLAMA_3_ENCODERS, THREE, model=LLAMA_3),
    Work(
        "decode-threads",
        "decode",
        "cl100k",
        (
            TIKTOKEN,
            jogak("pretokenizer=cl100k", "ids=batch"),
            jogak("pretokenizer=cl100k", "ids=batch", threads=2),
        ),
        TWO,
        model=RANKS,
    ),
    loading("cl100k", (TIKTOKEN, CL100K, GIGATOKEN), RANKS),
    loading("128k BPE", (*JSON_ENCODERS, jogak_by(LARGE_NATIVE)), LARGE),
    loading("Llama 3's way", LLAMA_3_ENCODERS, LLAMA_3),
    loading("Whisper", JSON_ENCODERS, WHISPER),
    loading("Mistral BPE", MISTRAL_ENCODERS, "mistral-v1/tokenizer.model"),
    loading("T5 Unigram", T5_ENCODERS, "nai-t5/spiece.model"),
    loading("BERT cased", CASED_JSON_ENCODERS, CASED),
)
