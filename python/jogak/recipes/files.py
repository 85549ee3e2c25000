"""``model_prefix``: the ``.model`` and ``.vocab`` that SentencePiece's trainer leaves behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from jogak.formats.family import Probe
from jogak.formats.files import write_atomically
from jogak.formats.sentencepiece import to_model, write_vocab
from jogak.formats.sentencepiece_model import TRAINER_FIELDS
from jogak.recipes.flags import Flags
from jogak.tokenizer import Tokenizer

__all__ = ["model_bytes", "write_files"]


def write_files(tokenizer: Tokenizer, flags: Flags, samples: Iterable[bytes]) -> None:
    """Writes ``model_prefix.model``, with the flags and the self-test samples in it, and ``.vocab``.

    Raises:
        OSError: a file cannot be written.
    """
    path = f"{flags.model_prefix}.model"
    write_atomically(path, model_bytes(tokenizer, flags, samples, path))
    write_vocab(
        f"{flags.model_prefix}.vocab",
        tokenizer.spec,
        scores=flags.vocabulary_output_piece_score,
    )


def model_bytes(
    tokenizer: Tokenizer, flags: Flags, samples: Iterable[bytes], name: str = "the model"
) -> bytes:
    """The ``.model`` file, with the flags and the self-test samples in it."""
    probes = []
    for sample in samples:
        text = sample.decode("utf-8", "replace")
        probes.append(Probe(text, tuple(tokenizer.encode(text))))
    model = to_model(tokenizer.spec, probes, name)
    asked = dataclasses.asdict(flags)
    names = {name for name, _ in TRAINER_FIELDS.values()}
    trainer = {name: value for name, value in asked.items() if name in names}
    # What a model says of itself goes before what was asked.
    trainer |= {name: model.trainer[name] for name in ("model_type", "vocab_size")}
    rules = flags.normalization_rule_name
    normalizer = dataclasses.replace(
        model.normalizer, name="user_defined" if flags.normalization_rule_tsv else rules
    )
    return dataclasses.replace(model, trainer=trainer, normalizer=normalizer).to_bytes()
