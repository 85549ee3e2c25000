"""Pieces as texts: SentencePiece, or what has its face."""

from importlib import import_module
from typing import Any

from common import run_texts


def load(path: str, face: str = "sentencepiece") -> Any:
    return import_module(face).SentencePieceProcessor(model_file=path)


run_texts(
    load,
    lambda tokenizer, texts: tokenizer.encode(texts, out_type=str, num_threads=1),
    lambda found: ("\n".join(pieces).encode() for pieces in found),
)
