"""Why each piece came out: traces of training and encoding, as data and as pictures.

``train(..., trace=True)``, ``tok.explain(text)`` and ``jogak.compress(text)`` give the records of
`jogak.explain.data`. The pictures stand beside them: plain text, terminal, notebook.
"""

from __future__ import annotations

from jogak.explain.data import (
    Candidate,
    Compression,
    CompressionStep,
    DictionaryEntry,
    EncodingTrace,
    MatchStep,
    MergeTrace,
    PairStep,
    RankedPair,
    Stretch,
    TrainingTrace,
    WordTrace,
)
from jogak.explain.unigram import (
    EstimatedPiece,
    Estimation,
    PrunedPiece,
    Pruning,
    UnigramTrainingTrace,
)

__all__ = [
    "Candidate",
    "Compression",
    "CompressionStep",
    "DictionaryEntry",
    "EncodingTrace",
    "EstimatedPiece",
    "Estimation",
    "MatchStep",
    "MergeTrace",
    "PairStep",
    "PrunedPiece",
    "Pruning",
    "RankedPair",
    "Stretch",
    "TrainingTrace",
    "UnigramTrainingTrace",
    "WordTrace",
]
