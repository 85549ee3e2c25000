"""Hugging Face tokenizers 1, a release candidate: a tokenizer.json."""

from tokenizers import Tokenizer

from common import run_texts

run_texts(
    Tokenizer.from_file,
    lambda tokenizer, texts: [
        row.ids_array for row in tokenizer.encode_batch(texts, add_special_tokens=False)
    ],
    decode=lambda tokenizer, lists: [
        tokenizer.decode(ids, skip_special_tokens=False) for ids in lists
    ],
    call=lambda tokenizer, text: tokenizer.encode(text, add_special_tokens=False).ids,
)
