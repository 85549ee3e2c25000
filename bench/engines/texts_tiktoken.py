"""tiktoken, document by document; with `how=batch`, all in one call."""

from typing import Any

import tiktoken

from common import read_ranks, run_texts

# The spelling that tiktoken itself uses for cl100k.
PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


def load(path: str, how: str = "single") -> Any:
    encoding = tiktoken.Encoding(
        "cl100k", pat_str=PATTERN, mergeable_ranks=read_ranks(path), special_tokens={}
    )
    return encoding, how == "batch"


def encode(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    encoding, batch = tokenizer
    if batch:
        return encoding.encode_ordinary_batch(texts, num_threads=1)
    return [encoding.encode_ordinary(text) for text in texts]


run_texts(
    load,
    encode,
    decode=lambda tokenizer, lists: [tokenizer[0].decode(ids) for ids in lists],
    call=lambda tokenizer, text: tokenizer[0].encode(text),
)
