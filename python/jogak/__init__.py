"""jogak: subword tokenization, all of it.

Train a tokenizer on a corpus, run it at full speed, and see why each piece came out::

    import jogak

    tok = jogak.train("reviews.txt", jogak.BPE(vocab_size=32_000))
    ids = tok.encode("최고의 영화")
    tok.explain("lowest")
    tok.save("reviews.jogak.json")

Nothing heavy is imported until it is used.
"""

from jogak._core import __version__
from jogak.compress import compress
from jogak.counts import Counts, count
from jogak.errors import (
    ConfigError,
    CorpusError,
    DecodeError,
    EncodeError,
    FormatError,
    JogakError,
    SpecialTokenError,
    TrainingError,
    TrainingInterrupted,
    UnsupportedFeature,
)
from jogak.ragged import Ragged
from jogak.spec import BPE, BPEModel, Digits, Marker, Named, Spec, Split
from jogak.tokenizer import Tokenizer, load
from jogak.train import train
from jogak.training import TrainingLog

__all__ = [
    "BPE",
    "BPEModel",
    "ConfigError",
    "CorpusError",
    "Counts",
    "DecodeError",
    "Digits",
    "EncodeError",
    "FormatError",
    "JogakError",
    "Marker",
    "Named",
    "Ragged",
    "Spec",
    "SpecialTokenError",
    "Split",
    "Tokenizer",
    "TrainingError",
    "TrainingInterrupted",
    "TrainingLog",
    "UnsupportedFeature",
    "__version__",
    "compress",
    "count",
    "load",
    "train",
]
