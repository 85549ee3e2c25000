"""All families in one name: what can be asked for, and what can come of it."""

from __future__ import annotations

from typing import TypeAlias

from jogak.spec.bpe import BPE, BPEModel
from jogak.spec.unigram import UnigramModel
from jogak.spec.unigram_config import Unigram
from jogak.spec.word_level import WordLevelModel
from jogak.spec.wordpiece import WordPiece, WordPieceModel

__all__ = ["Config", "Model"]

#: How to train: one config for each family.
Config: TypeAlias = BPE | Unigram | WordPiece
#: What came out of it: one model for each family.
Model: TypeAlias = BPEModel | UnigramModel | WordLevelModel | WordPieceModel
