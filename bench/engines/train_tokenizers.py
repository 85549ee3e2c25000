"""Trains with Hugging Face tokenizers: `python train_tokenizers.py CORPUS VOCAB_SIZE`."""

import json
import sys

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from common import Stopwatch, from_byte_level, report_training

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
trainer = trainers.BpeTrainer(
    vocab_size=vocab_size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
)
with Stopwatch() as watch:
    tokenizer.train([corpus], trainer)
pairs = json.loads(tokenizer.to_str())["model"]["merges"]
merges = [from_byte_level(pair) for pair in pairs]
report_training(watch, merges, tokenizer.get_vocab_size())
