"""How a word's border is written into its symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from jogak.errors import ConfigError
from jogak.spec.checks import one_of
from jogak.spec.record import dataclass

__all__ = ["MARKER_TEXT", "Marker", "MarkerKind"]

MarkerKind: TypeAlias = Literal["none", "suffix", "prefix", "continuation", "byte-level"]

#: The text of each marker unless another is given.
MARKER_TEXT: Mapping[str, str] = {"suffix": "</w>", "prefix": "▁", "continuation": "##"}


@dataclass(frozen=True)
class Marker:
    """How a word's border is written into its symbols.

    Args:
        kind: ``"none"``, ``"suffix"`` (``</w>`` behind the last character), ``"prefix"`` (``▁``
            before the first), ``"continuation"`` (``##`` before every symbol but the first), or
            ``"byte-level"`` (no mark: the space is part of the word, bytes are drawn as printable
            characters).
        text: the marker itself; None chooses the usual one.
        symbol: for ``suffix``: ``"own"`` starts training with the marker as a symbol of its own
            (Sennrich et al. 2016), ``"joined"`` with the marker glued to the last character
            (subword-nmt 0.2, HF's ``end_of_word_suffix``). A prefix is always an own symbol, a
            continuation mark always glued.

    >>> Marker("suffix")
    Marker(kind='suffix', text='</w>', symbol='own')
    """

    kind: MarkerKind = "none"
    text: str | None = None
    symbol: Literal["own", "joined"] | None = None

    def __post_init__(self) -> None:
        one_of("marker", self.kind, get_args(MarkerKind))
        usual_text = MARKER_TEXT.get(self.kind)
        usual_symbol = {"suffix": "own", "prefix": "own", "continuation": "joined"}.get(self.kind)
        if usual_text is None:
            if self.text is not None or self.symbol is not None:
                raise ConfigError(
                    f"marker {self.kind!r} has no text of its own; found text {self.text!r} "
                    f"and symbol {self.symbol!r}; leave both out"
                )
            return
        text = usual_text if self.text is None else self.text
        symbol = usual_symbol if self.symbol is None else self.symbol
        if not isinstance(text, str) or not text or any(map(str.isspace, text)):
            raise ConfigError(
                f"marker text is {text!r}; expected characters that are not white space"
            )
        one_of("marker symbol", symbol, ("own", "joined"))
        if self.kind != "suffix" and symbol != usual_symbol:
            raise ConfigError(
                f"marker {self.kind!r} is always {usual_symbol!r}; found symbol={symbol!r}; "
                "only a suffix can be both"
            )
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "symbol", symbol)

    def to_core(self) -> dict[str, Any]:
        """The marker as the core takes it, flat."""
        return {
            "marker_kind": self.kind,
            "marker_text": self.text,
            "marker_joined": self.symbol == "joined",
        }
