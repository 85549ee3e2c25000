"""SentencePiece 0.2.3's Python face: ``import jogak.compat.sentencepiece as spm``.

`SentencePieceProcessor` runs a ``.model`` file, `SentencePieceTrainer` learns one (by
`jogak.train_sentencepiece`), `SentencePieceNormalizer` rewrites texts. Names of releases to 0.2.1 that
scripts still use stand beside them: immutable messages, ``encode_extra_options``, ``calculate_entropy``.

What cannot be the same: which way is drawn by sampling (other random numbers), and messages, which need
no protobuf here and cannot be changed. FlatBuffers and ``pretokenizer`` of the trainer are refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

from jogak.compat.sentencepiece.cutting import draw_from
from jogak.compat.sentencepiece.normalizer import SentencePieceNormalizer
from jogak.compat.sentencepiece.processor import SentencePieceProcessor
from jogak.compat.sentencepiece.threads import ThreadPool
from jogak.compat.sentencepiece.trainer import SentencePieceTrainer
from jogak.errors import UnsupportedFeature

__all__ = [
    "ConvertToFlatbuffer",
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceTrainer",
    "SetDataDir",
    "SetMinLogLevel",
    "SetNBestTimeout",
    "SetRandomGeneratorSeed",
    "ThreadPool",
    "convert_to_flatbuffer",
    "set_data_dir",
    "set_min_log_level",
    "set_nbest_timeout",
    "set_random_generator_seed",
]

#: The release of SentencePiece whose face this is.
__version__ = "0.2.3"


def SetRandomGeneratorSeed(seed: int) -> None:
    """Start the random numbers of sampling anew. (Each seed draws otherwise than in SentencePiece.)"""
    draw_from(_whole(seed))


def SetMinLogLevel(level: int) -> None:
    """Nothing: nothing is logged."""
    _whole(level)


def SetNBestTimeout(timeout: int) -> None:
    """Nothing: the n best ways are found in bounded time."""
    _whole(timeout)


def SetDataDir(data_dir: str) -> None:
    """Nothing: rules of normalization are part of jogak."""
    if not isinstance(data_dir, (str, bytes)):
        raise TypeError(f"data_dir is {data_dir!r}; expected the name of a folder")


def ConvertToFlatbuffer(
    model_file: Any = None,
    model_proto: Any = None,
    serialized_model_proto: Any = None,
    output_file: Any = None,
    skip_char_bigrams: bool = False,
    treat_null_byte_as_unused: bool = False,
    allow_unsupported_model_type: bool = False,
) -> NoReturn:
    """Refused: jogak does not write FlatBuffers.

    Raises:
        UnsupportedFeature: always.
    """
    raise UnsupportedFeature("jogak writes no FlatBuffers (.spm.fb); keep the .model file")


def _whole(number: object) -> int:
    if not hasattr(number, "__index__"):
        raise TypeError(f"{number!r} is no whole number")
    return int(number.__index__())


set_random_generator_seed = SetRandomGeneratorSeed
set_min_log_level = SetMinLogLevel
set_nbest_timeout = SetNBestTimeout
set_data_dir = SetDataDir
convert_to_flatbuffer = ConvertToFlatbuffer
