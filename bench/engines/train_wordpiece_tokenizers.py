"""Trains WordPiece with Hugging Face tokenizers: `python train_wordpiece_tokenizers.py CORPUS
VOCAB_SIZE`.

It breaks ties in the order of a hash table, so its pieces are others from run to run: it tells none.
"""

import sys

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from common import Stopwatch, report_training

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
trainer = trainers.WordPieceTrainer(
    vocab_size=vocab_size,
    special_tokens=["[UNK]"],
    limit_alphabet=1_000_000,  # no character is left out, as in jogak
    show_progress=False,
)
with Stopwatch() as watch:
    tokenizer.train([corpus], trainer)
report_training(watch, None, tokenizer.get_vocab_size())
