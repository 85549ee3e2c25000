"""A vocabulary of whole words (`WordLevelModel`)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from jogak.errors import ConfigError
from jogak.spec.checks import check_ids, flag, unique_pieces
from jogak.spec.held import Listed
from jogak.spec.markers import Marker
from jogak.spec.record import dataclass, field, fields

__all__ = ["WordLevelModel"]


@dataclass(frozen=True, kw_only=True)
class WordLevelModel(Listed):
    """A word that is a piece is that piece; any other word is the unknown piece.

    Args:
        pieces: the text of every id; None where an id stands for nothing. Special tokens are among
            them, as their plain text.
        unknown: text of the piece for all other words, or None: then they are an error.
        byte_fallback: other words become the pieces ``<0x00>`` to ``<0xFF>`` of their bytes.
        fuse_unknown: one unknown piece for a run of unknown words, within a stretch of text between
            special tokens (SentencePiece).
        unused: ids of pieces that text does not become; such words are unknown (SentencePiece).
        marker: the border of words, which the pre-tokenizer wrote: ``"prefix"`` for ``▁``.
        drawn: as in `BPEModel`.

    Raises:
        ConfigError: a text that stands twice, an unknown piece that is none, an impossible value.

    >>> WordLevelModel(pieces=("<unk>", "low", "high"), unknown="<unk>")
    <WordLevelModel: 3 pieces>
    """

    family: ClassVar[str] = "word-level"
    #: What every model can be asked for; whole words leave no choice.
    merges: ClassVar[tuple[tuple[int, int], ...]] = ()
    alphabet: ClassVar[Literal["bytes", "chars"]] = "chars"
    strategy: ClassVar[Literal["whole-word"]] = "whole-word"

    pieces: tuple[str | None, ...]
    unknown: str | None = None
    byte_fallback: bool = False
    fuse_unknown: bool = False
    unused: tuple[int, ...] = ()
    marker: Marker = field(default_factory=Marker)
    drawn: bool = False

    def __post_init__(self) -> None:
        for option in ("byte_fallback", "fuse_unknown", "drawn"):
            flag(option, getattr(self, option))
        if self.marker.kind not in ("none", "prefix", "suffix"):
            raise ConfigError(
                f"marker is {self.marker.kind!r}; whole words know 'prefix' and 'suffix' (▁ that the "
                "pre-tokenizer writes) and 'none'"
            )
        texts = unique_pieces(self.pieces)
        check_ids("unused", self.unused, self.pieces)
        if self.unknown is not None and self.unknown not in texts:
            raise ConfigError(f"the unknown piece {self.unknown!r} is not among the pieces; add it")
        self._hold()

    def __repr__(self) -> str:
        """Short: a vocabulary would fill many screens."""
        return f"<WordLevelModel: {len(self.table):,} pieces>"

    def to_core(self) -> dict[str, Any]:
        """The model as the core takes it: one flat dict."""
        options = {field.name: self.at_hand(field.name) for field in fields(self)}
        marker: Marker = options.pop("marker")
        return {"type": self.family, **options, **marker.to_core()}
