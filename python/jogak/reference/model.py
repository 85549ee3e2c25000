"""The model: what is left of training, and all that encoding looks at.

Rules:
- A piece's id is its place in `pieces`; a merge's rank is its place in `merges`, 0 is applied first.
- Special tokens and byte pieces are never found in text: a word that reads "<unk>" or "<0x41>" is
  made of ordinary characters.
- A symbol that is no piece is unknown. It becomes, by the first line that applies:

      byte_fallback   one byte piece, <0x00> to <0xFF>, for each byte of its UTF-8 form
      unk             the unknown token; one per symbol, or one per run with `fuse_unknown`
      neither         its own text, which has no id; one per symbol, or one text per run

  A run never crosses the border of a word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .ties import Pair
from .words import NO_MARKER, Spelling


def byte_pieces() -> list[str]:
    """The 256 pieces of byte fallback, in the order of their bytes.

    >>> byte_pieces()[0x0A]
    '<0x0A>'
    """
    return [f"<0x{byte:02X}>" for byte in range(256)]


def check_byte_fallback(spelling: Spelling) -> None:
    """Refuses spellings that byte fallback has no answer for: bytes are never unknown, and a marker
    glued to an unknown character could not be told from text once both are bytes.

    Raises:
        ValueError: for `byte-level`, `continuation` and a joined suffix.

    >>> check_byte_fallback(Spelling("prefix"))
    """
    glued = spelling.marker == "continuation" or spelling.marker_symbol == "joined"
    if glued or spelling.alphabet == "bytes":
        raise ValueError(
            "byte_fallback goes with marker 'none', 'prefix', or 'suffix' as its own symbol"
        )


@dataclass(frozen=True)
class Model:
    """Pieces, merges, and what to do with the unknown.

    Args:
        pieces: the whole vocabulary in the order of ids.
        merges: (left, right) in the order of ranks; of a pair listed twice the first place counts.
        spelling: how words are written as symbols.
        special_tokens: texts among `pieces` that text never becomes.
        byte_fallback: unknown symbols become byte pieces, all 256 of which are among `pieces`.
        unk: text of the unknown token, one of `pieces`.
        fuse_unknown: a run of unknown symbols within a word becomes one token.
        whole_word: a word that is itself a piece is taken as it is, whatever the merges would do.

    Raises:
        ValueError: for a piece listed twice, or a merge or token that is not among the pieces.

    >>> model = Model(("<unk>", "a", "b", "ab"), (("a", "b"),), unk="<unk>")
    >>> model.ids["ab"], model.ranks["a", "b"]
    (3, 0)
    """

    pieces: tuple[str, ...]
    merges: tuple[Pair, ...] = ()
    spelling: Spelling = NO_MARKER
    special_tokens: tuple[str, ...] = ()
    byte_fallback: bool = False
    unk: str | None = None
    fuse_unknown: bool = False
    whole_word: bool = False

    def __post_init__(self) -> None:
        if len(self.ids) < len(self.pieces):
            twice = next(text for text in self.pieces if self.pieces.count(text) > 1)
            raise ValueError(f"the piece {twice!r} is listed twice")
        needed = list(self.special_tokens)
        if self.unk is not None:
            needed.append(self.unk)
        if self.byte_fallback:
            check_byte_fallback(self.spelling)
            needed.extend(byte_pieces())
        for left, right in self.merges:
            needed.extend((left, right, self.spelling.merge(left, right)))
        for text in needed:
            if text not in self.ids:
                raise ValueError(f"{text!r} is not among the {len(self.pieces)} pieces")

    @cached_property
    def ids(self) -> dict[str, int]:
        """Piece text -> id."""
        return {text: place for place, text in enumerate(self.pieces)}

    @cached_property
    def ranks(self) -> dict[Pair, int]:
        """(left, right) -> rank."""
        ranks: dict[Pair, int] = {}
        for rank, pair in enumerate(self.merges):
            ranks.setdefault(pair, rank)
        return ranks

    @cached_property
    def found_in_text(self) -> frozenset[str]:
        """The pieces that text can be cut into: all but special tokens and byte pieces."""
        hidden = {*self.special_tokens, self.unk}
        if self.byte_fallback:
            hidden.update(byte_pieces())
        return frozenset(self.pieces) - hidden

    def with_unknowns(self, symbols: Iterable[str]) -> list[str]:
        """Writes the unknown symbols of one word as tokens, by the rule above.

        >>> Model(("a", "<unk>"), unk="<unk>", fuse_unknown=True).with_unknowns("xya")
        ['<unk>', 'a']
        """
        tokens: list[str] = []
        in_run = False
        for symbol in symbols:
            known = symbol in self.found_in_text
            if known:
                tokens.append(symbol)
            elif self.byte_fallback:
                tokens.extend(f"<0x{byte:02X}>" for byte in symbol.encode("utf-8"))
            elif not (in_run and self.fuse_unknown):
                tokens.append(symbol if self.unk is None else self.unk)
            elif self.unk is None:
                tokens[-1] = self.spelling.merge(tokens[-1], symbol)
            in_run = not known
        return tokens
