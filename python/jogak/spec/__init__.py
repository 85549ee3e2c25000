"""What a tokenizer *is*: plain immutable data, validated when made.

Two kinds of objects live here. *Configs* (`BPE`, `WordPiece`) say how to train. A `Spec` says what
came out: pieces, merges, border marker, pre-tokenizer, special tokens. A `Spec` is all that a file
holds and all that `jogak.Tokenizer` is compiled from.

Rule: no behaviour beyond checking and translating to and from plain dicts; an impossible
combination raises `ConfigError` here, not in training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from jogak.errors import ConfigError
from jogak.spec.bpe import BPE, BPEModel, Strategy, Ties
from jogak.spec.markers import Marker, MarkerKind
from jogak.spec.normalizers import (
    BertNormalizer,
    Casefold,
    Charsmap,
    CollapseSpaces,
    Jamo,
    Lowercase,
    Normalizer,
    NormalizerLike,
    Prepend,
    Replace,
    RuleSet,
    Strip,
    StripMarks,
    UnicodeForm,
    normalizer_from_dict,
    resolve_normalizer,
)
from jogak.spec.pretokenizers import (
    Digits,
    Metaspace,
    Named,
    Pretokenizer,
    PretokenizerLike,
    Split,
    pretokenizer_from_dict,
    resolve_pretokenizer,
)
from jogak.spec.scored_bpe import ScoredBPEModel
from jogak.spec.unigram import Precision, UnigramModel
from jogak.spec.unigram_config import SeedRule, Unigram
from jogak.spec.wordpiece import Criterion, WordPiece, WordPieceModel

__all__ = [
    "BPE",
    "BPEModel",
    "BertNormalizer",
    "Casefold",
    "Charsmap",
    "CollapseSpaces",
    "Config",
    "Criterion",
    "Digits",
    "Jamo",
    "Lowercase",
    "Marker",
    "MarkerKind",
    "Metaspace",
    "Model",
    "Named",
    "Normalizer",
    "NormalizerLike",
    "Precision",
    "Prepend",
    "Pretokenizer",
    "PretokenizerLike",
    "Replace",
    "RuleSet",
    "ScoredBPEModel",
    "SeedRule",
    "Spec",
    "Split",
    "Strategy",
    "Strip",
    "StripMarks",
    "Ties",
    "UnicodeForm",
    "Unigram",
    "UnigramModel",
    "WordPiece",
    "WordPieceModel",
    "normalizer_from_dict",
    "pretokenizer_from_dict",
    "resolve_normalizer",
    "resolve_pretokenizer",
]

#: How to train: one config for each family.
Config: TypeAlias = BPE | Unigram | WordPiece
#: What came out of it: one model for each family.
Model: TypeAlias = BPEModel | UnigramModel | WordPieceModel


@dataclass(frozen=True, kw_only=True)
class Spec:
    """All that a tokenizer is.

    Args:
        model: the vocabulary and how words are cut with it.
        pretokenizer: how text is cut into words, first stage first.
        special_tokens: text -> id of the pieces that stand for no text of their own (``<pad>``).
            The model never makes them; see `Tokenizer.encode` for how text that looks like them is
            treated.
        normalizer: how text is rewritten before it is cut, first stage first.
    """

    model: Model
    pretokenizer: tuple[Pretokenizer, ...]
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    normalizer: tuple[Normalizer, ...] = ()

    def __post_init__(self) -> None:
        for text, id_ in self.special_tokens.items():
            size = len(self.model.pieces)
            if not 0 <= id_ < size or self.model.pieces[id_] != text:
                found = self.model.pieces[id_] if 0 <= id_ < size else None
                raise ConfigError(
                    f"special token {text!r} says id {id_}, where the piece is {found!r}; "
                    "the two must agree"
                )
