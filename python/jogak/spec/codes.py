"""Byte pair encoding with a vocabulary and glossaries, subword-nmt's way (`CodesModel`)."""

from __future__ import annotations

from typing import Any, ClassVar

from jogak.errors import ConfigError
from jogak.spec.bpe import BPEModel
from jogak.spec.glossaries import check_glossary, glossaries_to_core
from jogak.spec.record import dataclass

__all__ = ["CodesModel"]


@dataclass(frozen=True, kw_only=True)
class CodesModel(BPEModel):
    """A list of merges, of which those are undone whose piece is not kept; and what stays whole.

    A word is cut around what glossaries name, one glossary after the other; each part is merged as a
    word of its own. What a glossary names is one token: the piece of its text, or the unknown piece.
    Where a part is followed by another one of its word, its last piece is the one without the marker.

    Args:
        kept: the ids that may come out of merges; None for all. A piece that is not among them becomes
            the two that its first merge joins, and so on, down to characters.
        glossaries: regular expressions as subword-nmt takes them: ``re``'s, without anchors, groups
            that capture, look-around and the empty text.
        pieces, merges, marker, unknown, dropout: as in `BPEModel`. The marker is a suffix; with
            glossaries every piece that has it is there without it, too.

    Raises:
        ConfigError: an option that does not go with these, a glossary that is no expression.
        UnsupportedFeature: a glossary that cannot be carried over exactly.

    >>> from jogak.spec.markers import Marker
    >>> pieces = ("l", "o", "o</w>", "lo</w>", "lo", "USA", "USA</w>")
    >>> CodesModel(pieces=pieces, merges=((0, 2),), marker=Marker("suffix", symbol="joined"),
    ...            glossaries=("USA",)).family
    'codes'
    """

    family: ClassVar[str] = "codes"

    kept: tuple[int, ...] | None = None
    glossaries: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        BPEModel.__post_init__(self)
        for wrong, option, expected in (
            (self.merges is None, "merges", "a list of merges"),
            (self.alphabet != "chars", "alphabet", "'chars'"),
            (self.marker.kind != "suffix", "marker", "a suffix"),
            (not self.mark_words, "mark_words", "True"),
            (self.byte_fallback, "byte_fallback", "False"),
            (self.strategy != "merges", "strategy", "'merges'"),
            (self.whole_word, "whole_word", "False"),
            (self.drawn, "drawn", "False"),
            (self.hf_rules, "hf_rules", "False"),
        ):
            if wrong:
                raise ConfigError(f"{option} is {getattr(self, option)!r}; expected {expected}")
        if not isinstance(self.glossaries, tuple):
            raise ConfigError(f"glossaries is {self.glossaries!r:.80}; expected a tuple of texts")
        for glossary in self.glossaries:
            check_glossary(glossary)
        if self.kept is not None:
            self._check_kept(self.kept)
        if self.kept is not None or self.glossaries:
            self._check_marker()
        if self.glossaries:
            self._check_inner_pieces()

    def _check_kept(self, kept: object) -> None:
        if self.marker.symbol == "own":
            raise ConfigError(
                "kept does not go with a marker that is a symbol of its own (codes of version 0.1): "
                "subword-nmt undoes merges there that did not make the piece; choose symbol='joined'"
            )
        if not isinstance(kept, tuple):
            raise ConfigError(f"kept is {kept!r:.80}; expected a tuple of ids, or None for all")
        size = len(self.pieces)
        last = -1
        for id_ in kept:
            if type(id_) is not int or not last < id_ < size or self.pieces[id_] is None:
                raise ConfigError(
                    f"kept has the id {id_!r:.80}; expected ids of pieces, each once, in their order"
                )
            last = id_

    def _check_marker(self) -> None:
        """The marker ends words and nothing else, so that a piece says whether it ends one."""
        mark = self.marker.text or ""
        for rank, (left_id, right_id) in enumerate(self.merges or ()):
            left, right = self.pieces[left_id] or "", self.pieces[right_id] or ""
            bare = right.removesuffix(mark)
            if mark in left + bare or (self.marker.symbol == "joined" and not bare):
                raise ConfigError(
                    f"merge {rank} of {left!r:.80} and {right!r:.80} has the marker {mark!r} where no "
                    "word ends; with kept or glossaries it may only be glued to the last character"
                )

    def _check_inner_pieces(self) -> None:
        mark, texts = self.marker.text or "", set(self.pieces)
        for piece in self.pieces:
            if piece is not None and piece.endswith(mark):
                bare = piece.removesuffix(mark)
                if bare not in texts and (bare or self.marker.symbol == "joined"):
                    raise ConfigError(
                        f"the pieces have {piece!r:.80} and not {bare!r:.80}, which stands for it "
                        "before a glossary; add it"
                    )

    def to_core(self) -> dict[str, Any]:
        """The model as the core takes it: one flat dict."""
        return {**BPEModel.to_core(self), **glossaries_to_core(self.glossaries)}
