"""Hugging Face tokenizers: ids with the characters that each stands for, words and masks."""

from collections.abc import Iterable, Iterator

from tokenizers import Encoding, Tokenizer

from common import run_texts


def rows(encodings: Iterable[Encoding]) -> Iterator[list[int]]:
    for encoding in encodings:
        yield encoding.ids
        yield [place for span in encoding.offsets for place in span]


run_texts(
    Tokenizer.from_file,
    lambda tokenizer, texts: tokenizer.encode_batch(texts, add_special_tokens=False),
    rows,
)
