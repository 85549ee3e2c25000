"""Pieces that are not learned, and which ids they get, as SentencePiece gives them.

The unknown piece and bos, eos and pad have chosen ids. Control symbols, user-defined symbols and the
pieces of byte fallback take, in this order, the lowest ids that are free. What is learned takes the
rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from jogak.errors import ConfigError
from jogak.recipes.flags import Flags

__all__ = ["Meta", "meta_pieces"]


@dataclass(frozen=True)
class Meta:
    """The pieces that are not learned.

    Args:
        ids: text -> id.
        control: those that text never becomes (bos, eos and pad among them).
        user_defined: those that are found wherever they stand.
    """

    ids: dict[str, int]
    control: tuple[str, ...]
    user_defined: tuple[str, ...]


def meta_pieces(flags: Flags) -> Meta:
    """The pieces that the flags ask for.

    Raises:
        ConfigError: ids that collide or do not fit, texts that stand twice, no unknown piece.

    >>> meta_pieces(Flags(pad_id=0, unk_id=1, bos_id=2, eos_id=3, user_defined_symbols=("<sep>",))).ids
    {'<unk>': 1, '<s>': 2, '</s>': 3, '<pad>': 0, '<sep>': 4}
    """
    if flags.unk_id < 0:
        raise ConfigError(
            f"unk_id is {flags.unk_id}, but there has to be an unknown piece; give it an id of 0 or more"
        )
    ids: dict[str, int] = {}
    owners: dict[int, str] = {}
    kinds: dict[str, str] = {}
    for role in ("unk", "bos", "eos", "pad"):
        id_, text = getattr(flags, f"{role}_id"), getattr(flags, f"{role}_piece")
        if id_ < 0:
            continue
        if id_ >= flags.vocab_size:
            raise ConfigError(
                f"{role}_id is {id_}, but vocab_size is {flags.vocab_size}; expected a smaller id, or "
                "-1 for none"
            )
        if id_ in owners:
            raise ConfigError(
                f"{role}_id and {owners[id_]}_id are both {id_}; every piece needs an id of its own "
                "(-1 for none; unk 0, bos 1 and eos 2 unless said otherwise)"
            )
        if text in ids:
            raise ConfigError(f"{role}_piece is {text!r}, which is another piece's text already")
        owners[id_], ids[text] = role, id_
        kinds[text] = "unknown" if role == "unk" else "control"
    free = 0
    seen: set[str] = set()
    bytes_ = tuple(f"<0x{byte:02X}>" for byte in range(256)) if flags.byte_fallback else ()
    for option, kind, texts in (
        ("control_symbols", "control", flags.control_symbols),
        ("user_defined_symbols", "user-defined", flags.user_defined_symbols),
        ("byte_fallback", "byte", bytes_),
    ):
        for text in texts:
            if text in seen:
                raise ConfigError(
                    f"{option} has {text!r}, which is a symbol already; expected each text once"
                )
            if text == flags.unk_piece:
                raise ConfigError(
                    f"{option} has {text!r}, which is the unknown piece already; leave it out"
                )
            seen.add(text)
            kinds[text] = kind
            if text in ids:  # bos, eos or pad: it keeps its id and changes its kind
                continue
            while free in owners:
                free += 1
            owners[free], ids[text] = text, free
    return Meta(
        ids,
        tuple(text for text, kind in kinds.items() if kind == "control"),
        tuple(text for text, kind in kinds.items() if kind == "user-defined"),
    )
