"""The word patterns of published vocabularies: an expression as files write it -> how it is cut here.

tiktoken's encodings and Mistral's files say with a regular expression what a word is: its matches are
the words. Several spellings of one pattern are in use; those that are known become the scheme that
equals them, which is faster. Any other is run as it stands.

Rule: two spellings are one scheme only if they find the same words in every text.

Sources: https://github.com/openai/tiktoken, ``tiktoken_ext/openai_public.py``;
https://github.com/openai/gpt-2, ``src/encoder.py``; https://github.com/meta-llama/llama-models,
``models/llama3/tokenizer.py``; https://huggingface.co/Qwen/Qwen-7B, ``tokenization_qwen.py``;
https://huggingface.co/moonshotai/Kimi-K2-Instruct, ``tokenization_kimi.py``
"""

from __future__ import annotations

from collections.abc import Mapping

from jogak.spec import Pretokenizer, Split, resolve_pretokenizer
from jogak.spec.pretokenizers import NAMED_SCHEMES

__all__ = [
    "CL100K",
    "GPT2",
    "KIMI",
    "LLAMA_3",
    "O200K",
    "QWEN",
    "TEKKEN",
    "pattern_of",
    "stages_of",
]

GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
CL100K = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
_UPPER, _LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_SUFFIX}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_SUFFIX}"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)
#: As `O200K`, without ``'s`` and the like, and digits one by one.
TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*"
    rf"|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)
_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
_MARKS = rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
LLAMA_3 = rf"{_WORDS}|\p{{N}}{{1,3}}|{_MARKS}"
QWEN = rf"{_WORDS}|\p{{N}}|{_MARKS}"
_NO_HAN = r"&&[^\p{Han}]"
#: As `O200K`, with Chinese characters apart, and without the slash behind marks.
KIMI = (
    rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}{_NO_HAN}]*[{_LOWER}{_NO_HAN}]+{_SUFFIX}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}{_NO_HAN}]+[{_LOWER}{_NO_HAN}]*{_SUFFIX}"
    rf"|\p{{N}}{{1,3}}|{_MARKS}"
)
_GPT2_FIRST = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

#: Spelling -> names of the schemes that find the same words. The first spelling of a scheme is written.
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    GPT2: ("gpt2",),
    _GPT2_FIRST: ("gpt2",),
    _GPT2_FIRST.replace(r"\p{L}+", r"[\p{L}]+").replace(r"\p{N}+", r"[\p{N}]+"): ("gpt2",),
    # Not LLAMA_3 and QWEN: they leave a line end apart from the spaces behind it at the end of a text.
    CL100K: ("cl100k",),
    O200K: ("o200k",),
    LLAMA_3: ("llama-3",),
    QWEN: ("qwen2",),
    TEKKEN: ("tekken",),
}
#: Those whose schemes there are.
_SCHEMES = {
    spelling: names for spelling, names in _SPELLINGS.items() if set(names) <= set(NAMED_SCHEMES)
}


def stages_of(pattern: str) -> tuple[Pretokenizer, ...]:
    """How text is cut into the words that a pattern finds.

    >>> stages_of(CL100K), stages_of("[a-z]+")[0].to_dict()["matches"]
    ((Named(name='cl100k'),), 'only')
    """
    if pattern in _SCHEMES:
        return resolve_pretokenizer(_SCHEMES[pattern])
    return (Split(pattern, matches="only"),)


def pattern_of(stages: tuple[Pretokenizer, ...]) -> str | None:
    """The pattern that finds the words of these pre-tokenizers, or None if there is none.

    >>> pattern_of(stages_of("[a-z]+")), pattern_of(resolve_pretokenizer("bert"))
    ('[a-z]+', None)
    """
    for pattern, names in _SCHEMES.items():
        if resolve_pretokenizer(names) == stages:
            return pattern
    only = stages[0] if len(stages) == 1 else None
    return only.pattern if isinstance(only, Split) and only.matches == "only" else None
