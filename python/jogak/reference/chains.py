"""Decoder chains: rules that rewrite the list of all token texts, as HF tokenizers' files have them.

Rules:
- Each rule takes the list that the one before it left. At the end all texts are joined.
- Without any rule, texts are joined with spaces.
- A rule is a dict with its type and its options, as `DecoderStage.to_dict` gives it.
- `sentencepiece` is SentencePiece's way, one rule for itself.
- Where HF's code has no answer (it breaks off), the rule has the one that its words say: `strip` takes
  a character off the end only as long as there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from .words import CHAR_TO_BYTE

#: What cleaning up replaces, one behind the other.
CLEANUP = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
    (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip

Texts = list[str]
Options = Mapping[str, Any]


def run_chain(rules: Sequence[Options], texts: Sequence[str]) -> str:
    """The text that token texts stand for.

    >>> run_chain([{"type": "wordpiece", "prefix": "##", "cleanup": True}], ["un", "##do", "."])
    'undo.'
    >>> run_chain([], ["un", "##do"])
    'un ##do'
    """
    if not rules:
        return " ".join(texts)
    now = list(texts)
    for rule in rules:
        now = _RULES[rule["type"]](rule, now)
    return "".join(now)


def clean_up(text: str) -> str:
    """Takes spaces away before punctuation and short forms.

    >>> clean_up("it 's done .")
    "it's done."
    """
    for old, new in CLEANUP:
        text = text.replace(old, new)
    return text


def _byte_level(_rule: Options, texts: Texts) -> Texts:
    data = bytearray()
    for text in texts:
        if all(character in CHAR_TO_BYTE for character in text):
            data += bytes(CHAR_TO_BYTE[character] for character in text)
        else:
            data += text.encode()
    return [data.decode("utf-8", "replace")]


def _byte_fallback(_rule: Options, texts: Texts) -> Texts:
    result: Texts = []
    for is_byte, run in groupby(texts, lambda text: _byte_of(text) is not None):
        if not is_byte:
            result += run
            continue
        data = bytes(byte for text in run if (byte := _byte_of(text)) is not None)
        try:
            result.append(data.decode())
        except UnicodeDecodeError:
            result += "\ufffd" * len(data)
    return result


def _byte_of(text: str) -> int | None:
    digits = text[3:-1]
    if len(text) != 6 or not text.startswith("<0x") or not text.endswith(">"):
        return None
    # "+" and one digit is a number too.
    return int(digits, 16) if re.fullmatch("[+0-9a-fA-F][0-9a-fA-F]", digits) else None


def _fuse(_rule: Options, texts: Texts) -> Texts:
    return ["".join(texts)]


def _wordpiece(rule: Options, texts: Texts) -> Texts:
    result = []
    for place, text in enumerate(texts):
        if place > 0:
            is_part = text.startswith(rule["prefix"])
            text = text.removeprefix(rule["prefix"]) if is_part else " " + text
        result.append(clean_up(text) if rule["cleanup"] else text)
    return result


def _metaspace(rule: Options, texts: Texts) -> Texts:
    mark, keep = rule["replacement"], rule["prepend"] == "never"
    return [
        text.replace(mark, " " if place > 0 or keep else "") for place, text in enumerate(texts)
    ]


def _suffix(rule: Options, texts: Texts) -> Texts:
    last = len(texts) - 1
    return [
        text.replace(rule["suffix"], "" if place == last else " ")
        for place, text in enumerate(texts)
    ]


def _replace(rule: Options, texts: Texts) -> Texts:
    pattern = rule["pattern"] if rule["regex"] else re.escape(rule["pattern"])
    compiled = re.compile(pattern.replace(r"\z", r"\Z"))
    return [_substitute(compiled, rule["replacement"], text) for text in texts]


def _substitute(pattern: re.Pattern[str], replacement: str, text: str) -> str:
    """All matches replaced; an empty one right behind another, or in an empty text, does not count."""
    if not text:
        return ""
    result, done, behind = "", 0, -1
    for match in pattern.finditer(text):
        if match.start() == match.end() == behind:
            continue
        result += text[done : match.start()] + replacement
        done = behind = match.end()
    return result + text[done:]


def _strip(rule: Options, texts: Texts) -> Texts:
    result = []
    for text in texts:
        for _ in range(min(rule["start"], len(text))):
            text = text.removeprefix(rule["content"])
        for _ in range(min(rule["stop"], len(text))):
            text = text.removesuffix(rule["content"])
        result.append(text)
    return result


def _ctc(rule: Options, texts: Texts) -> Texts:
    result = []
    for text, _ in groupby(texts):
        # Without text to look for, nothing is replaced by nothing.
        text = text.replace(rule["pad_token"], "")
        if rule["cleanup"]:
            text = clean_up(text).replace(rule["word_delimiter_token"], " ")
        if text:
            result.append(text)
    return result


def _sentencepiece(rule: Options, texts: Texts) -> Texts:
    if rule["charsmap"]:
        raise ValueError("charsmaps are not told here; run the normalizer over the text")
    out = ""
    marks_are_spaces, mark_taken = rule["strip"] == "none", False
    byte_of = {f"<0x{byte:02X}>": byte for byte in range(256)} if rule["byte_fallback"] else {}
    # A text is a byte unless it has another meaning.
    for text in (rule["unknown"], *rule["control"]):
        byte_of.pop(text, None)
    for is_byte, run in groupby(texts, byte_of.__contains__):
        if is_byte:
            data = bytes(byte_of[text] for text in run)
            # Each byte of none of a character is one replacement.
            text = data.decode("utf-8", "surrogateescape")
            out += re.sub("[\udc80-\udcff]", "\ufffd", text)
            continue
        for text in run:
            marks_are_spaces |= mark_taken or out != ""
            mark_taken = False
            if text == rule["unknown"]:
                out += rule["unknown_surface"]
            elif text not in rule["control"]:
                if not marks_are_spaces and text.startswith("▁"):
                    text = text[1:]
                    mark_taken = rule["strip"] == "first"
                out += text.replace("▁", " ")
    return [out]


_RULES: dict[str, Callable[[Options, Texts], Texts]] = {
    "byte-level": _byte_level,
    "byte-fallback": _byte_fallback,
    "fuse": _fuse,
    "wordpiece": _wordpiece,
    "metaspace": _metaspace,
    "suffix": _suffix,
    "replace": _replace,
    "strip": _strip,
    "ctc": _ctc,
    "sentencepiece": _sentencepiece,
}
