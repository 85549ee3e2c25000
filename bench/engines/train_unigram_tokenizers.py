"""Trains a Unigram model with Hugging Face tokenizers: `python train_unigram_tokenizers.py CORPUS
VOCAB_SIZE`.

Its trainer gives other scores from run to run, so it tells no answer.
"""

import sys

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from common import Stopwatch, report_training

corpus, vocab_size = sys.argv[1], int(sys.argv[2])
tokenizer = Tokenizer(models.Unigram())
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
trainer = trainers.UnigramTrainer(
    vocab_size=vocab_size,
    special_tokens=["<unk>", "<s>", "</s>"],
    unk_token="<unk>",
    show_progress=False,
)
with Stopwatch() as watch, open(corpus, encoding="utf-8", newline="\n") as file:
    tokenizer.train_from_iterator((line.rstrip("\n") for line in file), trainer)
report_training(watch, None, tokenizer.get_vocab_size())
