"""What SentencePiece says of a text besides its ids: the normalized text, its places, its pieces.

Rule: the core does it, `jogak.reference.surfaces` says how.
"""

from __future__ import annotations

from jogak._core import Counted, Cut, Surfaces

__all__ = ["Counted", "Cut", "Surfaces"]
