"""What the law tests draw from: odd texts, small inventories, and every way to configure BPE.

Texts are built from lines and words that are known to be hard: Hangul in syllables and in jamo, marks
without a letter, characters of four bytes, every kind of white space, digits of other scripts, and
the very texts that markers and special tokens are written with.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import jogak

#: Markers, special tokens and byte pieces as text that a user may type.
MARKED = ["</w>", "▁", "##", "Ġ", "Ċ", "<unk>", "<pad>", "<|end|>", "<0x41>", "<0xEA>"]

#: Letters that come often, so that random texts have pairs that repeat.
LETTERS = "aabbcdeE'st019 \n"
ODD = [
    *("가", "각", "나", "밥", "ㄱ", "ㅏ", "\u1100", "\u1161", "\u11a8"),
    *("e\u0301", "\u0301", "\u0300\u0323", "ﬁ", "ſ", "İ", "ß", "ǅ"),
    *("日", "本", "ア", "か\u3099", "ｱ", "。", "、"),
    *("😀", "👩‍👩‍👧", "🇰🇷", "\U0010fffd", "\ufeff", "\u200b", "\ufffd"),
    *("\r\n", "\r", "\t", "\xa0", "\u3000", "\u2028", "\x85", "\x1c", "\x00", "  "),
    *("٣٤٥", "Ⅷ", "½", "१२", "12345", "'S", "'ll", "'ſ", "don't", "_", "/", "$", "+"),
]
WORDS = [
    "low",
    "lower",
    "newest",
    "widest",
    "aaaa",
    "abab",
    "계란밥",
    "간장계란밥",
    "the",
    " the",
    "ing",
]


def texts(max_parts: int = 30) -> st.SearchStrategy[str]:
    """Any text, mostly a nasty one."""
    part = st.one_of(
        st.sampled_from(LETTERS),
        st.sampled_from(ODD),
        st.sampled_from(WORDS),
        st.sampled_from(MARKED),
    )
    mixed = st.lists(part, max_size=max_parts).map("".join)
    # Unassigned code points are left out: the peers know other versions of Unicode.
    anything = st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=20)
    return st.one_of(mixed, mixed, mixed, anything)


def without(*unwanted: str) -> st.SearchStrategy[str]:
    """Texts in which none of these occurs."""

    def clean(text: str) -> str:
        for part in unwanted:
            while part in text:
                text = text.replace(part, "")
        return text

    return texts().map(clean)


def words(alphabet: str = "aaabbc가나é😀", max_size: int = 9) -> st.SearchStrategy[str]:
    """A word without white space; now and then with a marker's text inside."""
    letters = st.text(alphabet, min_size=1, max_size=max_size)
    joined = st.tuples(letters, st.sampled_from(["</w>", "▁", "##", "<unk>", "Ġ"]), letters)
    return st.one_of(letters, letters, letters, letters, joined.map("".join))


def inventories(max_size: int = 12) -> st.SearchStrategy[dict[str, int]]:
    """Words with counts; counts are small, so that ties are the rule rather than the exception."""
    return st.dictionaries(words(), st.integers(1, 4), min_size=1, max_size=max_size)


MARKERS = [
    jogak.Marker("none"),
    jogak.Marker("suffix"),
    jogak.Marker("suffix", symbol="joined"),
    jogak.Marker("suffix", text="_"),
    jogak.Marker("prefix"),
    jogak.Marker("prefix", text="_"),
    jogak.Marker("continuation"),
    jogak.Marker("continuation", text="@@"),
    jogak.Marker("byte-level"),
]
TIES = ["first-seen", "lexicographic", "lowest-id", "greatest", "sentencepiece"]
STRATEGIES = ["merges", "longest-match", "longest-first"]


def falls_back(marker: jogak.Marker) -> bool:
    """Whether byte fallback goes with a marker: not where it is glued to characters."""
    return marker.kind in ("none", "prefix") or (marker.kind == "suffix" and marker.symbol == "own")


@st.composite
def configs(draw: st.DrawFn, markers: list[jogak.Marker] = MARKERS) -> jogak.BPE:
    """Any BPE that makes sense, with limits small enough to be reached."""
    marker = draw(st.sampled_from(markers))
    options: dict[str, Any] = {
        "marker": marker,
        "ties": draw(st.sampled_from(TIES)),
        "min_pair_count": draw(st.sampled_from([1, 1, 2, 4])),
        "max_piece_length": draw(st.sampled_from([None, None, None, 1, 2, 3])),
        "num_merges": draw(st.sampled_from([None, None, 0, 1, 5, 12])),
        "strategy": draw(st.sampled_from(STRATEGIES)),
        "prune_dead": draw(st.booleans()),
        "fuse_unknown": draw(st.booleans()),
    }
    if marker.kind != "byte-level":
        limit = draw(st.sampled_from(["none", "none", "size", "coverage"]))
        if limit == "size":
            options["alphabet_size"] = draw(st.integers(1, 5))
        elif limit == "coverage":
            options["character_coverage"] = draw(st.sampled_from([0.3, 0.5, 0.9, 0.99, 1.0]))
        options["byte_fallback"] = falls_back(marker) and draw(st.booleans())
    return jogak.BPE(**options)


def special_lists() -> st.SearchStrategy[list[str]]:
    """Special tokens, also ones that merges would make if they were let."""
    return st.lists(
        st.sampled_from(["<pad>", "<s>", "ab", "가나", "aab</w>", "▁ab", "##ab"]),
        unique=True,
        max_size=3,
    )
