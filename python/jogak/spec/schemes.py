"""Pre-tokenizers of known models as patterns, and names for patterns that files spell out.

Rule: a pattern has a name only where the named scheme cuts every text in the same way. Tests hold each
of the two against the other on every character, in many surroundings.
"""

from __future__ import annotations

from typing import Literal

__all__ = ["SCHEMES", "named_scheme"]

_CASED = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}%s]"
_SMALL = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}%s]"
_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_CAPITALS = r"[^\r\n\p{L}\p{N}]?"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"


def _by_case(ending: str, but: str = "") -> str:
    """Words of capitals, then small letters."""
    cased, small = _CASED % but, _SMALL % but
    return f"{_CAPITALS}{cased}*{small}+{ending}|{_CAPITALS}{cased}+{small}*{ending}"


_NO_HAN = r"&&[^\p{Han}]"
_O200K_END = rf"\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
_ASCII_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""

#: Name -> patterns, applied one behind the other. Those of deepseek and kimi are their models' own.
SCHEMES: dict[str, tuple[str, ...]] = {
    "kimi": (
        r"[\p{Han}]+|"
        + _by_case(_ENDINGS + "?", _NO_HAN)
        + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
        + _SPACES,
    ),
    "deepseek-v3": (
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ゠-ヿ]+",
        _ASCII_PUNCTUATION
        + r"[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
        + _SPACES,
    ),
    "deepseek-coder": (
        r"[\r\n]",
        r"\s?\p{L}+",
        r"\s?\p{P}+",
        "[一-龥\u0800-一가-\ud7ff]+",
        r"\p{N}",
    ),
    "qwen3.5": (
        _ENDINGS
        + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|"
        + _SPACES,
    ),
}

_GPT2_END = r"| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA_END = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|" + _SPACES
_LETTERS = r"|[^\r\n\p{L}\p{N}]?\p{L}+"
_ENDINGS_BY_CASE = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"

#: Pattern -> the scheme that cuts in the same way.
_NAMED: dict[str, str] = {
    # GPT-2's encoder.py and HF; tiktoken's r50k_base and p50k_base.
    "'s|'t|'re|'ve|'m|'ll|'d" + _GPT2_END: "gpt2",
    "'(?:[sdmt]|ll|ve|re)" + _GPT2_END: "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    # tiktoken's cl100k_base.
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s": "cl100k",
    # Llama 3 and the older cl100k_base.
    _ENDINGS + _LETTERS + r"|\p{N}{1,3}" + _LLAMA_END: "llama-3",
    # Qwen 2, 2.5 and 3.
    _ENDINGS + _LETTERS + r"|\p{N}" + _LLAMA_END: "qwen2",
    _by_case(_ENDINGS + "?") + "|" + _O200K_END: "o200k",
    _by_case("") + "|" + _O200K_END.replace("{1,3}", "", 1): "tekken",
}


#: Those that mean something else to Oniguruma: ``{1,3}+`` repeats, ``$`` is before a line end, too.
_NOT_IN_ONIGURUMA = {pattern for pattern in _NAMED if "$" in pattern}


def named_scheme(
    pattern: str, engine: Literal["fancy-regex", "oniguruma"] = "oniguruma"
) -> str | None:
    r"""The named pre-tokenizer that cuts every text as this pattern does, or None if none is known.

    Args:
        pattern: an expression whose matches and gaps are words, as files hold it.
        engine: which engine it is written for: HF tokenizers has ``"oniguruma"``, tiktoken
            ``"fancy-regex"``.

    >>> named_scheme(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
    'gpt2'
    >>> named_scheme(r"\s+") is None
    True
    """
    if engine == "oniguruma" and pattern in _NOT_IN_ONIGURUMA:
        return None
    return _NAMED.get(pattern)
