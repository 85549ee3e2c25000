"""From jogak to its reference: the same training, the same model, written the reference's way."""

from __future__ import annotations

from collections.abc import Sequence

import jogak
from jogak import reference


def spelling(marker: jogak.Marker) -> reference.Spelling:
    """A border marker as the reference has it."""
    return reference.Spelling(
        marker.kind, marker.text, marker.symbol if marker.kind == "suffix" else "own"
    )


def unknown_is_added(config: jogak.BPE, special_tokens: Sequence[str]) -> bool:
    """Whether training adds an unknown piece of its own, uncounted and behind all others."""
    needed = config.alphabet == "chars" and not config.byte_fallback and config.unknown is not None
    return needed and config.unknown not in special_tokens


def train(
    counts: dict[str, int],
    config: jogak.BPE,
    special_tokens: Sequence[str] = (),
    *,
    marker: jogak.Marker | None = None,
) -> reference.Training:
    """The reference's training for a config; ``marker`` where the words come with their marker."""
    assert isinstance(config.marker, jogak.Marker)
    specials = list(special_tokens)
    size = config.vocab_size
    if unknown_is_added(config, specials):
        # In front of all, so that the order of ids is the same and no merge makes its text.
        assert config.unknown is not None
        specials.insert(0, config.unknown)
        size = None if size is None else size + 1
    return reference.train(
        counts,
        spelling=spelling(marker or config.marker),
        ties=config.ties,
        num_merges=config.num_merges,
        vocab_size=size,
        min_pair_count=config.min_pair_count,
        max_piece_length=config.max_piece_length,
        special_tokens=specials,
        byte_fallback=config.byte_fallback,
        alphabet_size=config.alphabet_size,
        character_coverage=1.0 if config.character_coverage is None else config.character_coverage,
    )


def model(tokenizer: jogak.Tokenizer) -> reference.Model:
    """The reference's model of a tokenizer: the same ids, the same ranks."""
    spec = tokenizer.spec
    pieces = tuple(
        f"\ue000hole {id_}" if text is None else text for id_, text in enumerate(spec.model.pieces)
    )
    holes = tuple(text for text in pieces if text.startswith("\ue000hole"))
    written = spec.model.marker if spec.model.mark_words else jogak.Marker("none")
    return reference.Model(
        pieces=pieces,
        merges=tokenizer.merges,
        spelling=spelling(written),
        special_tokens=(*spec.special_tokens, *holes),
        byte_fallback=spec.model.byte_fallback,
        unk=spec.model.unknown,
        fuse_unknown=spec.model.fuse_unknown,
        whole_word=spec.model.whole_word,
    )


def scheme(tokenizer: jogak.Tokenizer) -> list[str]:
    """The names of a tokenizer's pre-tokenizers as the reference spells them."""
    names = []
    for stage in tokenizer.spec.pretokenizer:
        if isinstance(stage, jogak.Digits):
            names.append("digits" if stage.group == 1 else "digits-3")
        else:
            assert isinstance(stage, jogak.Named)
            names.append(stage.name)
    return names
