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
    from jogak.conversion import Certificate, convert
    from jogak.counts import Counts, count
    from jogak.encoding import Encoding, EncodingBatch
    from jogak.errors import (
        ConfigError,
        CorpusError,
        DecodeError,
        EncodeError,
        FormatError,
        JogakError,
        ParityError,
        SpecialTokenError,
        TrainingError,
        TrainingInterrupted,
        UnsupportedFeature,
    )
    from jogak.learn import train
    from jogak.loading import load
    from jogak.normalization import (
        Normalized,
        compile_rules,
        normalize,
        pretokenize,
        read_rules,
        rules_of,
    )
    from jogak.ragged import Ragged
    from jogak.recipes import train_sentencepiece
    from jogak.spec import (
        BPE,
        AddedToken,
        BertNormalizer,
        BPEModel,
        Casefold,
        Charsmap,
        CodesModel,
        CollapseSpaces,
        Digits,
        DrawBytes,
        FixedLength,
        HfNmt,
        Jamo,
        LlamaBert,
        Lowercase,
        Marker,
        Metaspace,
        Named,
        Padding,
        PrefixSpace,
        Prepend,
        Punctuation,
        Replace,
        RuleSet,
        ScoredBPEModel,
        Spec,
        Split,
        Strip,
        StripMarks,
        Template,
        TemplatePart,
        Truncation,
        UnicodeForm,
        Unigram,
        UnigramModel,
        WordPiece,
        WordPieceModel,
        from_oniguruma,
        named_scheme,
    )
    from jogak.special import Trusted
    from jogak.tokenizer import Tokenizer
    from jogak.tokenizer.likelihoods import Score, Segmentation
    from jogak.training import TrainingLog, UnigramLog, WordPieceLog

__all__ = [
    "BPE",
    "AddedToken",
    "BPEModel",
    "BertNormalizer",
    "Casefold",
    "Certificate",
    "Charsmap",
    "CodesModel",
    "CollapseSpaces",
    "ConfigError",
    "CorpusError",
    "Counts",
    "DecodeError",
    "Digits",
    "DrawBytes",
    "EncodeError",
    "Encoding",
    "EncodingBatch",
    "FixedLength",
    "FormatError",
    "HfNmt",
    "Jamo",
    "JogakError",
    "LlamaBert",
    "Lowercase",
    "Marker",
    "Metaspace",
    "Named",
    "Normalized",
    "Padding",
    "ParityError",
    "PrefixSpace",
    "Prepend",
    "Punctuation",
    "Ragged",
    "Replace",
    "RuleSet",
    "Score",
    "ScoredBPEModel",
    "Segmentation",
    "Spec",
    "SpecialTokenError",
    "Split",
    "Strip",
    "StripMarks",
    "Template",
    "TemplatePart",
    "Tokenizer",
    "TrainingError",
    "TrainingInterrupted",
    "TrainingLog",
    "Truncation",
    "Trusted",
    "UnicodeForm",
    "Unigram",
    "UnigramLog",
    "UnigramModel",
    "UnsupportedFeature",
    "WordPiece",
    "WordPieceLog",
    "WordPieceModel",
    "__version__",
    "compile_rules",
    "compress",
    "convert",
    "count",
    "from_oniguruma",
    "load",
    "named_scheme",
    "normalize",
    "pretokenize",
    "read_rules",
    "rules_of",
    "train",
    "train_sentencepiece",
]

#: Module -> the public names that live there; it is imported when one of them is first asked for.
_HOMES = {
    "_core": ("__version__",),
    "compression": ("compress",),
    "conversion": (
        "Certificate",
        "convert",
    ),
    "counts": (
        "Counts",
        "count",
    ),
    "encoding": ("Encoding", "EncodingBatch"),
    "errors": (
        "ConfigError",
        "CorpusError",
        "DecodeError",
        "EncodeError",
        "FormatError",
        "JogakError",
        "ParityError",
        "SpecialTokenError",
        "TrainingError",
        "TrainingInterrupted",
        "UnsupportedFeature",
    ),
    "normalization": (
        "Normalized",
        "compile_rules",
        "normalize",
        "pretokenize",
        "read_rules",
        "rules_of",
    ),
    "ragged": ("Ragged",),
    "special": ("Trusted",),
    "spec": (
        "BPE",
        "AddedToken",
        "BPEModel",
        "BertNormalizer",
        "Casefold",
        "Charsmap",
        "CodesModel",
        "CollapseSpaces",
        "Digits",
        "DrawBytes",
        "FixedLength",
        "HfNmt",
        "Jamo",
        "LlamaBert",
        "Lowercase",
        "Marker",
        "Metaspace",
        "Named",
        "Padding",
        "PrefixSpace",
        "Prepend",
        "Punctuation",
        "Replace",
        "RuleSet",
        "ScoredBPEModel",
        "Spec",
        "Split",
        "Strip",
        "StripMarks",
        "Template",
        "TemplatePart",
        "Truncation",
        "UnicodeForm",
        "Unigram",
        "WordPiece",
        "WordPieceModel",
        "UnigramModel",
        "from_oniguruma",
        "named_scheme",
    ),
    "tokenizer": ("Tokenizer",),
    "tokenizer.likelihoods": (
        "Score",
        "Segmentation",
    ),
    "learn": ("train",),
    "loading": ("load",),
    "recipes": ("train_sentencepiece",),
    "training": (
        "TrainingLog",
        "UnigramLog",
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
