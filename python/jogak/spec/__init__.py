"""What a tokenizer *is*: plain immutable data, validated when made.

Two kinds of objects live here. *Configs* (`BPE`, `WordPiece`) say how to train. A `Spec` says what
came out: pieces, merges, border marker, pre-tokenizer, special tokens. A `Spec` is all that a file
holds and all that `jogak.Tokenizer` is compiled from.

Rule: no behaviour beyond checking and translating to and from plain dicts; an impossible
combination raises `ConfigError` here, not in training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from jogak.errors import ConfigError
from jogak.spec.added import AddedTable, AddedToken, SpecialPolicy
from jogak.spec.bpe import BPE, BPEModel, Strategy, Ties
from jogak.spec.checks import one_of, unicode_texts
from jogak.spec.held import Held, MergeTable, NumberTable, PieceTable
from jogak.spec.inputs import Padding, Template, TemplatePart, Truncation
from jogak.spec.markers import Marker, MarkerKind
from jogak.spec.normalizers import (
    BertNormalizer,
    Casefold,
    Charsmap,
    CollapseSpaces,
    DrawBytes,
    HfNmt,
    Jamo,
    LlamaBert,
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
    FixedLength,
    Matches,
    Metaspace,
    Named,
    PrefixSpace,
    Pretokenizer,
    PretokenizerLike,
    Punctuation,
    Split,
    pretokenizer_from_dict,
    resolve_pretokenizer,
)
from jogak.spec.record import dataclass, field, fields
from jogak.spec.schemes import named_scheme

if TYPE_CHECKING:
    from jogak.spec.codes import CodesModel
    from jogak.spec.decoders import (
        DecodeByteFallback,
        DecodeByteLevel,
        DecodeCTC,
        DecodeFuse,
        DecodeMetaspace,
        DecodeReplace,
        DecoderStage,
        DecodeSentencePiece,
        DecodeStrip,
        DecodeSuffix,
        DecodeWordPiece,
        decoder_stage_from_dict,
    )
    from jogak.spec.families import Config, Model
    from jogak.spec.oniguruma import from_oniguruma
    from jogak.spec.scored_bpe import ScoredBPEModel
    from jogak.spec.unigram import Precision, UnigramModel
    from jogak.spec.unigram_config import SeedRule, Unigram
    from jogak.spec.word_level import WordLevelModel
    from jogak.spec.wordpiece import Criterion, WordPiece, WordPieceModel

__all__ = [
    "BPE",
    "AddedTable",
    "AddedToken",
    "BPEModel",
    "BertNormalizer",
    "Casefold",
    "Charsmap",
    "CodesModel",
    "CollapseSpaces",
    "Config",
    "Criterion",
    "DecodeByteFallback",
    "DecodeByteLevel",
    "DecodeCTC",
    "DecodeFuse",
    "DecodeMetaspace",
    "DecodeReplace",
    "DecodeSentencePiece",
    "DecodeStrip",
    "DecodeSuffix",
    "DecodeWordPiece",
    "DecoderStage",
    "Digits",
    "DrawBytes",
    "FixedLength",
    "HfNmt",
    "Jamo",
    "LlamaBert",
    "Lowercase",
    "Marker",
    "MarkerKind",
    "Matches",
    "MergeTable",
    "Metaspace",
    "Model",
    "Named",
    "Normalizer",
    "NormalizerLike",
    "NumberTable",
    "Padding",
    "PieceTable",
    "Precision",
    "PrefixSpace",
    "Prepend",
    "Pretokenizer",
    "PretokenizerLike",
    "Punctuation",
    "Replace",
    "RuleSet",
    "ScoredBPEModel",
    "SeedRule",
    "Spec",
    "SpecialPolicy",
    "Split",
    "Strategy",
    "Strip",
    "StripMarks",
    "Template",
    "TemplatePart",
    "Ties",
    "Truncation",
    "UnicodeForm",
    "Unigram",
    "UnigramModel",
    "WordLevelModel",
    "WordPiece",
    "WordPieceModel",
    "decoder_stage_from_dict",
    "from_oniguruma",
    "named_scheme",
    "normalizer_from_dict",
    "pretokenizer_from_dict",
    "resolve_normalizer",
    "resolve_pretokenizer",
]

#: Nobody needs all families at once: these are imported when first asked for. Module -> names. (The
#: package's own face does the same; it imports none of its rooms, so neither has it of the other.)
_HOMES: Mapping[str, tuple[str, ...]] = {
    "codes": ("CodesModel",),
    "decoders": (
        "DecodeByteFallback",
        "DecodeByteLevel",
        "DecodeCTC",
        "DecodeFuse",
        "DecodeMetaspace",
        "DecodeReplace",
        "DecodeSentencePiece",
        "DecodeStrip",
        "DecodeSuffix",
        "DecodeWordPiece",
        "DecoderStage",
        "decoder_stage_from_dict",
    ),
    "families": ("Config", "Model"),
    "oniguruma": ("from_oniguruma",),
    "scored_bpe": ("ScoredBPEModel",),
    "unigram": (
        "Precision",
        "UnigramModel",
    ),
    "unigram_config": (
        "SeedRule",
        "Unigram",
    ),
    "word_level": ("WordLevelModel",),
    "wordpiece": (
        "Criterion",
        "WordPiece",
        "WordPieceModel",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


@dataclass(frozen=True, kw_only=True)
class Spec(Held):
    """All that a tokenizer is.

    Args:
        model: the vocabulary and how words are cut with it.
        pretokenizer: how text is cut into words, first stage first.
        special_tokens: text -> id of the pieces that stand for no text of their own (``<pad>``).
            The model never makes them; see `Tokenizer.encode` for how text that looks like them is
            treated.
        normalizer: how text is rewritten before it is cut, first stage first.
        added_tokens: tokens that are looked for in texts before they are cut: rules for some of the
            ``special_tokens``, and tokens that are found whatever the policy.
        special_policy: what to do with the texts of special tokens, unless a call says otherwise.
        decoder: how ids become text again; None for the way that the markers tell.
        template: what stands around texts in a model's input (`Tokenizer.encoding`).
        truncation: how long inputs are cut to be; None for as they are.
        padding: how inputs are filled up; None for not at all.
    """

    _TABLES: ClassVar[Mapping[str, tuple[type, Callable[[Any], object]]]] = {
        "added_tokens": (
            AddedTable,
            lambda table: tuple(AddedToken.checked(*token) for token in table.tokens()),
        )
    }

    model: Model
    pretokenizer: tuple[Pretokenizer, ...]
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    normalizer: tuple[Normalizer, ...] = ()
    added_tokens: tuple[AddedToken, ...] = ()
    special_policy: SpecialPolicy = "text"
    decoder: tuple[DecoderStage, ...] | None = None
    template: Template = field(default_factory=Template)
    truncation: Truncation | None = None
    padding: Padding | None = None

    def __post_init__(self) -> None:
        one_of("special_policy", self.special_policy, get_args(SpecialPolicy))
        # The model has looked at its pieces.
        unicode_texts("model.marker", self.model.marker)
        for option in ("pretokenizer", "special_tokens", "normalizer", "added_tokens", "decoder"):
            unicode_texts(option, getattr(self, option))
        unicode_texts("padding", self.padding)
        pieces = self.model.table
        size = len(pieces)
        for text, id_ in self.special_tokens.items():
            if not 0 <= id_ < size or pieces[id_] != text:
                found = pieces[id_] if 0 <= id_ < size else None
                raise ConfigError(
                    f"special token {text!r} says id {id_}, where the piece is {found!r}; "
                    "the two must agree"
                )
        if self.added_tokens and not isinstance(self.added_tokens, AddedTable):
            self._check_added_tokens()
        for id_ in self.template.ids:
            if id_ >= size or pieces[id_] is None:
                raise ConfigError(f"the template has the id {id_}, which is no piece")
        self._hold()

    def __repr__(self) -> str:
        """Short: what is as nobody asked for is left out, and what is long is counted."""
        parts = []
        for one in fields(self):
            value = getattr(self, one.name)
            if value in ((), {}, None, "text") or (one.name == "template" and value == Template()):
                continue
            said = repr(value)
            many = isinstance(value, (tuple, Mapping)) and len(said) > 60
            parts.append(f"{one.name}={f'<{len(value)} of them>' if many else said}")
        return f"Spec({', '.join(parts)})"

    def _check_added_tokens(self) -> None:
        texts = {token.text for token in self.added_tokens}
        if len(texts) != len(self.added_tokens):
            seen: set[str] = set()
            for token in self.added_tokens:
                if token.text in seen:
                    raise ConfigError(f"the added token {token.text!r} stands twice; expected once")
                seen.add(token.text)
        pieces = self.model.table
        known = pieces if isinstance(pieces, PieceTable) else set(pieces)
        if missing := [text for text in texts if text not in known]:
            raise ConfigError(f"the added token {min(missing)!r} is not among the pieces; add it")


# The field has a default; without it in the class too, nobody finds that where a table is held.
delattr(Spec, "added_tokens")
