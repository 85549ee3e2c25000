"""Ties: which of several equally frequent pairs is merged first.

Rule: the order is part of the specification, so that training has one answer. Each rule below
reproduces a published implementation; given the same counts it always names the same pair.

    first-seen      the pair whose first occurrence comes first, reading the words in inventory
                    order with today's symbols: what `max()` over a dict of counts gives
    lexicographic   the smaller (left text, right text)
    lowest-id       the smaller (left id, right id): HF tokenizers
    greatest        the greater (left text, right text): subword-nmt
    sentencepiece   the merged text with fewer characters, then the smaller merged text; should two
                    pairs still be equal, the smaller left text

Texts are compared by code point. The text of a byte-level piece is the drawn one, so its order is
that of the drawn characters, not of the bytes.

The rule of SentencePiece is the comparison in its `bpe_model_trainer`: higher frequency, then fewer
code points (the ▁ counts), then the smaller UTF-8 string. Up to 0.2.0 it looked only at "active"
pairs (the most frequent 5 %, at least 1000, chosen anew every 100 merges by an unstable sort), so
low in the list equal counts could come out otherwise; 0.2.3 keeps all pairs in one queue and follows
the rule throughout. It knows no order of two pairs with equal merged text, and needs none: the
merges so far cut a given text in one way only. One habit is not copied: when every remaining count
is 0 SentencePiece goes on and adds pieces that occur nowhere; here training stops.
"""

from __future__ import annotations

from collections.abc import Mapping

from .words import NO_MARKER, Spelling

TIES = ("first-seen", "lexicographic", "lowest-id", "greatest", "sentencepiece")
"""The names of the rules."""

Pair = tuple[str, str]


def best_pair(
    counts: Mapping[Pair, int],
    rule: str,
    ids: Mapping[str, int] | None = None,
    spelling: Spelling = NO_MARKER,
) -> Pair:
    """The pair with the largest count; the rule decides between equals.

    Args:
        counts: pair -> count, at least one, in the order in which the pairs were first seen.
        rule: one of `TIES`.
        ids: piece text -> id, for `lowest-id`.
        spelling: how two texts become one, for `sentencepiece`.

    >>> counts = {("b", "a"): 2, ("a", "bb"): 2, ("a", "c"): 2, ("x", "y"): 1}
    >>> best_pair(counts, "first-seen"), best_pair(counts, "lexicographic")
    (('b', 'a'), ('a', 'bb'))
    >>> best_pair(counts, "greatest"), best_pair(counts, "sentencepiece")
    (('b', 'a'), ('a', 'c'))
    >>> best_pair(counts, "lowest-id", ids={"c": 0, "b": 1, "a": 2, "bb": 3})
    ('b', 'a')
    """
    most = max(counts.values())
    equals = [pair for pair, count in counts.items() if count == most]
    if rule == "first-seen":
        return equals[0]
    if rule == "lexicographic":
        return min(equals)
    if rule == "greatest":
        return max(equals)
    if rule == "lowest-id":
        if ids is None:
            raise ValueError("the rule 'lowest-id' needs the ids of the pieces")
        return min(equals, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
    if rule == "sentencepiece":
        merge = spelling.merge
        return min(equals, key=lambda pair: (len(merge(*pair)), merge(*pair), pair[0]))
    raise ValueError(f"ties {rule!r} is not one of {', '.join(TIES)}")
