"""jogak: train subword tokenizers, run them, and see every step.

Train a tokenizer on a corpus, run it at full speed, and see why each piece came out::

    import jogak

    tok = jogak.train("reviews.txt", jogak.BPE(vocab_size=32_000))
    ids = tok.encode("최고의 영화")
    tok.explain("lowest")
    tok.save("reviews.jogak.json")

Nothing heavy is imported until it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jogak._core import __version__
    from jogak.compression import compress
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
    from jogak.learn import train
    from jogak.ragged import Ragged
    from jogak.spec import (
        BPE,
        BPEModel,
        Digits,
        Marker,
        Named,
        Spec,
        Split,
        WordPiece,
        WordPieceModel,
    )
    from jogak.tokenizer import Tokenizer, load
    from jogak.training import TrainingLog, WordPieceLog

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
    "WordPiece",
    "WordPieceLog",
    "WordPieceModel",
    "__version__",
    "compress",
    "count",
    "load",
    "train",
]

#: Module -> the public names that live there; it is imported when one of them is first asked for.
_HOMES = {
    "_core": ("__version__",),
    "compression": ("compress",),
    "counts": (
        "Counts",
        "count",
    ),
    "errors": (
        "ConfigError",
        "CorpusError",
        "DecodeError",
        "EncodeError",
        "FormatError",
        "JogakError",
        "SpecialTokenError",
        "TrainingError",
        "TrainingInterrupted",
        "UnsupportedFeature",
    ),
    "ragged": ("Ragged",),
    "spec": (
        "BPE",
        "BPEModel",
        "Digits",
        "Marker",
        "Named",
        "Spec",
        "Split",
        "WordPiece",
        "WordPieceModel",
    ),
    "tokenizer": (
        "Tokenizer",
        "load",
    ),
    "learn": ("train",),
    "training": (
        "TrainingLog",
        "WordPieceLog",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'jogak' has no attribute {name!r}")
    value = getattr(import_module(f"jogak.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
