"""How llama.cpp cuts text into words, by the name that a GGUF file gives it.

Expressions are run one after the other, each over what the one before left in one piece; matches and
what lies between them are words. llama.cpp has its own tables of letters and digits, those of Unicode
15.1: what came later is neither, and so is every letter alike, capital or small. Its ``'S`` is
ASCII, and ``\\d`` and ``\\b`` know ASCII only.

Rule: a name stands here only if words equal llama.cpp's, on every character.

Source: https://github.com/ggml-org/llama.cpp, ``src/llama-vocab.cpp`` and ``src/unicode.cpp``, 2026
"""

from __future__ import annotations

from collections.abc import Mapping

from jogak.spec import Pretokenizer, Split

__all__ = ["ADD_BOS", "NO_BOS", "PRE", "WHOLE_WORDS"]

_AGE = r"\p{age=15.1}"
_L, _N, _M, _P, _S = (rf"[\p{{{name}}}&&{_AGE}]" for name in "LNMPS")
_LN, _LM, _PS = f"{_L}{_N}", f"[{_L}{_M}]", f"{_P}{_S}"
#: Letters that are no ASCII small letter, and those that are no ASCII capital; with marks.
_CASED, _SMALL = (rf"[\p{{L}}&&{_AGE}&&[^{ascii}]]" for ascii in ("a-z", "A-Z"))
_CASED_M, _SMALL_M = (rf"[[\p{{L}}\p{{M}}]&&{_AGE}&&[^{ascii}]]" for ascii in ("a-z", "A-Z"))

_SUFFIX = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_LEAD = rf"[^\r\n{_LN}]?"
_OTHERS = rf" ?[^\s{_LN}]+"
_SPACES = r"\s+(?!\S)|\s+"
_END = rf"\s*[\r\n]+|{_SPACES}"
_DIGITS = rf"{_N}{{1,3}}"
_ASCII_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""
_KANA_AND_HAN = Split(r"[\u4e00-\u9fa5\u3040-\u30ff]+")
# White space was set apart before it is looked for.
_WIDE_SCRIPTS = Split(r"[[\u0800-\u9fa5\uac00-\ud7ff]&&\S]+")

_GPT2 = Split(rf"'s|'t|'re|'ve|'m|'ll|'d| ?{_L}+| ?{_N}+| ?[^\s{_LN}]+|{_SPACES}")
_BLOOM = Split(r" ?[^(\s|.,!?…。，、।۔،)]+")
#: What counts as Chinese for Kimi, characters that do not exist included.
_HAN = (
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002ebef"
    r"\U0002f800-\U0002fa1f"
)
_NO_HAN = rf"[\p{{L}}&&{_AGE}&&[^{_HAN}]]"
#: What AFMoE sets apart: scripts of East and South East Asia; and all from U+8C48 to U+FAFF, since
#: U+F900 became U+8C48 in llama.cpp's source.
_EAST_ASIAN = (
    r"\u0e40-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2f00-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\ufaff"
    r"\uff65-\uff9f"
)
#: DeepSeek's letters: those that have a case, but for some scripts and blocks.
_DEEPSEEK_LETTERS = (
    rf"[\p{{Lu}}\p{{Ll}}\p{{Lt}}]&&{_AGE}&&[^\u0560-\u0588\u10c7\u10cd\u10d0-\u10ff\u1c80-\u1c88\u2d00-\u2d2d"
    r"\ua790-\ua7ff\uab30-\uab68\U00010570-\U000105bc\U00016e40-\U00016e7f\U0001d400-\U0001d7cb"
    r"\U0001df00-\U0001df2a]"
)


def _cl100k(digits: str, suffix: str = _SUFFIX + "|", end: str = _END) -> Split:
    return Split(rf"{suffix}{_LEAD}{_L}+|{digits}|{_OTHERS}[\r\n]*|{end}")


def _by_case(cased: str, small: str, ending: str, digits: str) -> Split:
    """Words of capitals, then small letters."""
    words = rf"{_LEAD}{cased}*{small}+{ending}|{_LEAD}{cased}+{small}*{ending}"
    return Split(rf"{words}|{digits}|{_OTHERS}[\r\n/]*|{_END}")


def _same_case(digits: str) -> Split:
    """As `_by_case` where small letters and capitals are the same."""
    return Split(rf"{_LEAD}{_LM}+{_SUFFIX}?|{digits}|{_OTHERS}[\r\n/]*|{_END}")


_DEEPSEEK_START = rf"{_ASCII_PUNCTUATION}[A-Za-z]+|[^\r\n{_L}{_PS}]?{_LM}+| ?[{_PS}]+"
_DEEPSEEK = Split(rf"{_DEEPSEEK_START}[\r\n]*|{_END}")
_CL100K, _QWEN2 = _cl100k(_DIGITS), _cl100k(_N)
_GPT_4O = _by_case(_CASED, _SMALL, _SUFFIX + "?", _DIGITS)
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
    ((_CL100K,), (*_LLAMA_3, "dbrx", "smaug-bpe", "glm4", "chatglm-bpe")),
    (
        (_QWEN2,),
        (
            *("qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "stablelm2", "megrez", "hunyuan"),
            *("solar-open", "grok-2"),
        ),
    ),
    ((_cl100k(_N, ""),), ("ufakzeka",)),
    ((Split(r"[^\n]+|\n+"), _QWEN2), ("laguna",)),
    ((Split(_DIGITS), _cl100k(f"{_N}+")), ("minicpm5",)),
    (
        (
            _cl100k(
                _DIGITS,
                end=r"\s*[\r\n]+|"
                + "|".join(rf"\s{{{2**n}}}(?!\S)" for n in range(9, 1, -1))
                + r"|\s{1,2}(?!\S)|\s",
            ),
        ),
        ("jais-2",),
    ),
    (
        (
            Split(
                rf"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|{_LEAD}{_L}+|{_N}|{_OTHERS}[\r\n]*"
                rf"|\s*[\r\n]|{_SPACES}"
            ),
        ),
        ("bailingmoe", "bailingmoe2", "llada-moe"),
    ),
    (
        (Split(rf"{_SUFFIX}|{_LEAD}{_L}+|{_N}| ?[^\s{_LN}\r\n]+|{_END}"),),
        ("seed-coder",),
    ),
    (
        (
            Split(
                rf"{_SUFFIX}|{_LEAD}(?:{_L}{_M}*(?: {_L}{_M}*)*)+|{_N}|{_OTHERS}[\r\n/]?"
                rf"|\s*[\r\n]|{_SPACES}"
            ),
        ),
        ("exaone-moe",),
    ),
    (
        (Split(rf"{_SUFFIX}|{_LEAD}{_LM}+|{_N}| ?[^\s{_LN}{_M}]+[\r\n]*|{_END}"),),
        ("qwen35",),
    ),
    ((_by_case(_CASED, _SMALL, "", _N),), ("tekken",)),
    ((_GPT_4O,), ("gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2")),
    ((_by_case(_CASED_M, _SMALL_M, _SUFFIX + "?", _DIGITS),), ("granite-embed-multi-97m",)),
    (
        (Split(r"[0-9]{1,3}(?=(?:[0-9]{3})*(?![0-9A-Za-z_]))"), _same_case(_DIGITS)),
        ("tiny_aya", "cohere2moe"),
    ),
    (
        (
            Split("[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-\u303f︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+"),
            _same_case(_N),
        ),
        ("youtu",),
    ),
    (
        (Split(rf"[{_HAN}]+|[^\r\n{_LN}]?{_NO_HAN}+{_SUFFIX}?|{_DIGITS}|{_OTHERS}[\r\n]*|{_END}"),),
        ("kimi-k2",),
    ),
    (
        (Split(_N), _GPT2),
        (
            *("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b"),
            "mellum2",
        ),
    ),
    (
        (
            Split("<sentinel:[0-9]+>"),
            Split("IMGIMG[A-I]{1,4}Z"),
            Split(r"[\t\n]|    |  "),
            Split(_N),
            Split(rf"[{_P}!-/:-@\[-`{{-~]"),
            _GPT2,
        ),
        ("chameleon",),
    ),
    (
        (
            Split(r"[\r\n]"),
            Split(rf"\s?[{_DEEPSEEK_LETTERS}]+"),
            # U+3000, which the range begins with there, is white space before it is looked for.
            Split(r"\s?[!-/:-~！-／：-～‘-‟\u3001-。]+"),
            Split(r"\s+$"),
            _WIDE_SCRIPTS,
            Split(f"{_N}+"),
        ),
        ("deepseek-llm",),
    ),
    (
        (*(Split(r"[\r\n]"), Split(rf"\s?{_L}+"), Split(rf"\s?{_P}+"), _WIDE_SCRIPTS, Split(_N)),),
        ("deepseek-coder",),
    ),
    (
        (Split(_DIGITS), _KANA_AND_HAN, _DEEPSEEK),
        ("deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"),
    ),
    (
        (
            Split(_DIGITS),
            _KANA_AND_HAN,
            Split(rf"{_DEEPSEEK_START}|[\r\n]|{_SPACES}"),
            Split(_N),
        ),
        ("spark2_5",),
    ),
    (
        (
            # By threes from the right; what stands before the first of them stays with it.
            Split(rf"[^{_N}]*(?:{_N}{{1,2}}(?=(?:{_N}{{3}})*(?!{_N}))|{_N}{{3}})"),
            Split(f"[{_EAST_ASIAN}]+"),
            _DEEPSEEK,
        ),
        ("afmoe",),
    ),
    ((Split(f"{_N}+"), Split(r"(?=(?:[0-9]{3})+(?![0-9]))")), ("superbpe",)),
    ((_BLOOM,), ("bloom", "poro-chat", "gpt3-finnish")),
    ((_BLOOM, Split(_N)), ("viking",)),
    ((Split(rf"[{_P}$+<=>^~|`]+"), _GPT2, Split("[0-9][0-9][0-9]")), ("falcon",)),
    ((Split(rf"[{_P}$+<=>^~|]+"), _GPT2, Split(rf"{_N}+"), Split("[0-9][0-9][0-9]")), ("default",)),
)

#: Name in the file -> how text is cut.
PRE: Mapping[str, tuple[Pretokenizer, ...]] = {
    name: stages for stages, names in _NAMES for name in names
}

#: Those where a word that is a token is taken whole (``ignore_merges``).
WHOLE_WORDS = frozenset((*_LLAMA_3, "tekken", "youtu", "granite-embed-multi-97m", "minicpm5"))

#: Those where BOS is added unless the file says otherwise, and those that have none by default.
ADD_BOS = frozenset((*_LLAMA_3, "tekken", "chameleon"))
NO_BOS = frozenset(("glm4", "chatglm-bpe"))
