"""tiktoken, document by document, by a scheme's words; with `how=batch`, all in one call."""

from typing import Any

import tiktoken

from common import read_ranks, run_texts

# The spellings that tiktoken itself uses, o200k's put together from what comes in it twice.
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
BEFORE, BEHIND = r"[^\r\n\p{L}\p{N}]?", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    rf"{BEFORE}{UPPER}*{LOWER}+{BEHIND}|{BEFORE}{UPPER}+{LOWER}*{BEHIND}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PATTERNS = {"cl100k": CL100K, "o200k": O200K}


def load(path: str, how: str = "single", scheme: str = "cl100k") -> Any:
    encoding = tiktoken.Encoding(
        scheme, pat_str=PATTERNS[scheme], mergeable_ranks=read_ranks(path), special_tokens={}
    )
    return encoding, how == "batch"


def encode(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    encoding, batch = tokenizer
    if batch:
        return encoding.encode_ordinary_batch(texts, num_threads=1)
    return [encoding.encode_ordinary(text) for text in texts]


def decode(tokenizer: Any, lists: list[list[int]]) -> list[str]:
    encoding, batch = tokenizer
    if batch:
        return encoding.decode_batch(lists, num_threads=1)
    return [encoding.decode(ids) for ids in lists]


run_texts(
    load,
    encode,
    decode=decode,
    call=lambda tokenizer, text: tokenizer[0].encode(text),
)
