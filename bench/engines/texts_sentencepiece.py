"""SentencePiece."""

import sentencepiece

from common import run_texts

run_texts(
    lambda path: sentencepiece.SentencePieceProcessor(model_file=path),
    lambda tokenizer, texts: tokenizer.encode(texts, num_threads=1),
    decode=lambda tokenizer, lists: [tokenizer.decode(ids) for ids in lists],
    call=lambda tokenizer, text: tokenizer.encode(text),
)
