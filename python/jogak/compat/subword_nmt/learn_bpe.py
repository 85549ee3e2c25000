"""`learn_bpe` with subword-nmt's arguments: text in, codes out.

The merges are those of subword-nmt 0.3.8, in their order, but where one of its merges would make a piece
that another has made before: jogak passes such a pair over, as one text cannot have two ids, and warns.

Source: https://github.com/rsennrich/subword-nmt, ``learn_bpe.py``, release 0.3.8
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import TextIO

from jogak.recipes.codes import characters_of, learn_codes, words_of

__all__ = ["learn_bpe"]


def learn_bpe(
    infile: Iterable[str],
    outfile: TextIO,
    num_symbols: int,
    min_frequency: int = 2,
    verbose: bool = False,
    is_dict: bool = False,
    total_symbols: bool = False,
    num_workers: int = 1,
) -> None:
    """Learns merges from lines of words between spaces, and writes them as codes of version 0.2.

    Args:
        infile: the lines, a file that is open as text for example.
        outfile: where the codes are written.
        num_symbols: how many merges.
        min_frequency: stop where the most frequent pair occurs less often.
        verbose: write each merge to standard error, with its number and its count.
        is_dict: lines are a word, a space, and how often it occurs.
        total_symbols: of ``num_symbols``, characters take their part: those within words, and those that
            end them.
        num_workers: how many threads count.

    Raises:
        ConfigError: a line of a dictionary that is something else, with its number; a number that cannot
            be.
        CorpusError: there are no words.

    >>> import io
    >>> codes = io.StringIO()
    >>> learn_bpe(["low lower low", "lowest low"], codes, 2)
    >>> codes.getvalue().splitlines()
    ['#version: 0.2', 'l o', 'lo w</w>']
    """
    words = words_of(infile, is_dict, num_workers)
    if total_symbols:
        within, last = characters_of(words)
        sys.stderr.write(f"Number of word-internal characters: {within}\n")
        sys.stderr.write(f"Number of word-final characters: {last}\n")
        sys.stderr.write(f"Reducing number of merge operations by {within + last}\n")
        num_symbols -= within + last
    merges, log = learn_codes(words, num_symbols, min_frequency)
    outfile.write("#version: 0.2\n")
    for number, ((left, right), count) in enumerate(zip(merges, log.counts, strict=True)):
        if verbose:
            sys.stderr.write(
                f"pair {number}: {left} {right} -> {left}{right} (frequency {count})\n"
            )
        outfile.write(f"{left} {right}\n")
    if len(merges) < num_symbols:
        sys.stderr.write(f"no pair has frequency >= {min_frequency}. Stopping\n")
    if log.passed_over:
        pairs = ", ".join(f"{left} {right}" for left, right in log.passed_over[:3])
        warnings.warn(
            f"{len(log.passed_over)} pairs were passed over, as what they make is a piece already "
            f"({pairs}); subword-nmt merges them",
            stacklevel=2,
        )
