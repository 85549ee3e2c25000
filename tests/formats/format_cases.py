"""What the tests of file formats share: Specs of all kinds, a worked example, and real models."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import strategies as st

from jogak.formats import Probe
from jogak.formats.bytelevel import ALPHABET
from jogak.formats.vocabulary import product
from jogak.spec import BPE, BPEModel, Digits, Marker, Named, Spec, Split
from jogak.training import TrainingLog


def model_path(*parts: str) -> Path:
    """A file of the real models, or a skip."""
    data = os.environ.get("JOGAK_DATA") or Path(__file__).parents[2].parent / "shared" / "data"
    path = Path(data, "models", *parts)
    if not path.exists():
        pytest.skip(f"no real models here: {path} is absent (set JOGAK_DATA)")
    return path


def toy_spec() -> Spec:
    """Hug 10, pug 5, pun 12, bun 4, hugs 5: three merges."""
    model = BPEModel(
        pieces=("<unk>", "b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug"),
        merges=((7, 2), (7, 4), (3, 8)),
        unknown="<unk>",
    )
    return Spec(model=model, pretokenizer=(Named("whitespace"),), special_tokens={"<unk>": 0})


def toy_log() -> TrainingLog:
    return TrainingLog(
        config=BPE(vocab_size=11, marker="none", character_coverage=0.9995),
        stop="vocab-size",
        counts=(20, 16, 15),
        occurrences=(20, 16, 15),
        live_changes=(1, 0, 1),
        initial_live=7,
        initial_length=113,
        distinct_words=5,
        total_words=36,
        pruned=("n",),
        passed_over=(("p", "u"),),
    )


TOY_PROBES = (Probe("hug bug", (10, 1, 8)), Probe("", ()), Probe("\x00\u2028가", (0, 0, 0)))

# Characters that are easy to get wrong in JSON, in lines, or in UTF-8.
CHARACTERS = list('abcé가\u1100▁😀"\\#=/\x00\x7f\x85\u2028\ufeff\u0301')
SPACES = [" ", "\n", "\r", "\t"]
SPECIALS = ["<pad>", "<unk>", "<|end of text|>", "\n\n"]
STAGES = [
    Named("gpt2"), Named("whitespace"), Digits(3), Split(r"\p{L}+|\s", matches="isolated"),
    Split('"\\\\"', matches="only"),
]  # fmt: skip


@st.composite
def specs(draw: st.DrawFn, *, in_lines: bool = False) -> Spec:
    """Specs of every marker, with holes, special tokens, and merges that make pieces.

    With ``in_lines``, all merges can be said in a line of ``merges.txt``.
    """
    marker = Marker(
        draw(st.sampled_from(("none", "suffix", "prefix", "continuation", "byte-level")))
    )
    byte_level = marker.kind == "byte-level"
    characters = list(ALPHABET) if byte_level else CHARACTERS + ([] if in_lines else SPACES)
    if not byte_level:
        characters = draw(st.lists(st.sampled_from(characters), min_size=1, unique=True))
    special = draw(st.lists(st.sampled_from(SPECIALS), unique=True))
    pieces: list[str | None] = [*special, *characters]
    if marker.kind in ("suffix", "prefix") and marker.text not in pieces:
        pieces.append(marker.text)
    if marker.kind == "continuation":
        pieces += [f"{marker.text}{character}" for character in characters if character != "#"]
    parts = [i for i, piece in enumerate(pieces) if piece not in special]
    merges: dict[tuple[int, int], None] = {}
    for _ in range(draw(st.integers(0, 8))):
        left, right = draw(st.sampled_from(parts)), draw(st.sampled_from(parts))
        text = product(marker, pieces[left] or "", pieces[right] or "")
        if text in pieces[: len(special)]:
            continue
        merges[left, right] = None
        if text not in pieces:
            parts.append(len(pieces))
            pieces.append(text)
            pieces += [None] * draw(st.integers(0, 2))
    while pieces[-1] is None:
        pieces.pop()
    model = BPEModel(
        pieces=tuple(pieces),
        merges=tuple(merges) if in_lines or not byte_level or draw(st.booleans()) else None,
        marker=marker,
        mark_words=draw(st.booleans()),
        alphabet="bytes" if byte_level else "chars",
        byte_fallback=draw(st.booleans()),
        unknown="<unk>" if "<unk>" in special else None,
        fuse_unknown=draw(st.booleans()),
        strategy=draw(st.sampled_from(("merges", "longest-match", "longest-first"))),
        whole_word=draw(st.booleans()),
    )
    return Spec(
        model=model,
        pretokenizer=tuple(draw(st.lists(st.sampled_from(STAGES), min_size=1, max_size=3))),
        special_tokens={text: i for i, text in enumerate(special)},
    )


@st.composite
def logs(draw: st.DrawFn) -> TrainingLog:
    merges = draw(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 9), st.integers(-1, 1))))
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
    return TrainingLog(
        config=draw(
            st.sampled_from(
                [
                    BPE(),
                    BPE(num_merges=3, marker="suffix", ties="greatest", min_pair_count=1),
                    BPE(vocab_size=9, marker="prefix", byte_fallback=True, character_coverage=1),
                    BPE(marker="none", alphabet_size=5, unknown=None, strategy="longest-match"),
                ]
            )
        ),
        stop=draw(
            st.sampled_from(
                ("num-merges", "vocab-size", "min-pair-count", "no-pair", "interrupted")
            )
        ),
        counts=tuple(count for count, _, _ in merges),
        occurrences=tuple(replaced for _, replaced, _ in merges),
        live_changes=tuple(change for _, _, change in merges),
        initial_live=draw(st.integers(len(merges), 2**33)),
        initial_length=draw(st.integers(9 * len(merges), 2**64 - 1)),
        distinct_words=draw(st.integers(0, 2**64 - 1)),
        total_words=draw(st.integers(0, 2**64 - 1)),
        pruned=tuple(draw(st.lists(texts, max_size=3))),
        passed_over=tuple(draw(st.lists(st.tuples(texts, texts), max_size=3))),
    )
