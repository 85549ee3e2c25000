"""How llama.cpp cuts text into words, by the name that a GGUF file gives it.

Expressions are run one after the other, each over what the one before left in one piece; matches and
what lies between them are words. llama.cpp has its own tables of letters and digits, those of Unicode
15.1: what came later is neither. Its ``'S`` is ASCII.

Rule: a name stands here only if words equal llama.cpp's, on every character.

Source: https://github.com/ggml-org/llama.cpp, ``src/llama-vocab.cpp``, 2026
"""

from __future__ import annotations

from collections.abc import Mapping

from jogak.spec import Pretokenizer, Split

__all__ = ["PRE", "WHOLE_WORDS"]

_AGE = r"\p{age=15.1}"
_L, _N, _LN, _P = (
    rf"[{classes}&&{_AGE}]" for classes in (r"\p{L}", r"\p{N}", r"\p{L}\p{N}", r"\p{P}")
)
_GPT2 = Split(rf"'s|'t|'re|'ve|'m|'ll|'d| ?{_L}+| ?{_N}+| ?[^\s{_LN}]+|\s+(?!\S)|\s+")
_SUFFIX = r"'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"


def _cl100k(digits: str) -> Split:
    return Split(
        rf"{_SUFFIX}|[^\r\n{_LN}]?{_L}+|{digits}| ?[^\s{_LN}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )


_LLAMA_3 = (
    *("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"),
    "jina-v5-nano",
)
_NAMES: tuple[tuple[tuple[Pretokenizer, ...], tuple[str, ...]], ...] = (
    (
        (_GPT2,),
        (
            *("gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de"),
            *("a.x-4.0", "mellum", "modern-bert", "jina-v1-en", "jina-v2-code", "roberta-bpe"),
            *("exaone4", "mpt", "olmo", "jais", "trillion", "granite-docling"),
        ),
    ),
    (
        (_cl100k(rf"{_N}{{1,3}}"),),
        (*_LLAMA_3, "dbrx", "smaug-bpe", "glm4", "chatglm-bpe"),
    ),
    (
        (_cl100k(_N),),
        (
            *("qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "stablelm2", "megrez", "hunyuan"),
            "solar-open",
        ),
    ),
    (
        (Split(_N), _GPT2),
        (
            *("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b"),
            "mellum2",
        ),
    ),
    ((Split(rf"[{_P}$+<=>^~|]+"), _GPT2, Split(rf"{_N}+"), Split("[0-9][0-9][0-9]")), ("default",)),
)

#: Name in the file -> how text is cut.
PRE: Mapping[str, tuple[Pretokenizer, ...]] = {
    name: stages for stages, names in _NAMES for name in names
}

#: Those where a word that is a token is taken whole (``ignore_merges``), and BOS is added.
WHOLE_WORDS = frozenset(_LLAMA_3)
