"""`get_vocab` with subword-nmt's arguments: text in, words and their counts out.

Source: https://github.com/rsennrich/subword-nmt, ``get_vocab.py``, release 0.3.8
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from jogak.recipes.codes import words_of

__all__ = ["get_vocab"]


def get_vocab(train_file: Iterable[str], vocab_file: TextIO) -> None:
    """Writes a line for each word of a text: the word, a space, and how often it occurs; most frequent
    first, and of those that occur as often the one that came first.

    Args:
        train_file: lines of words between spaces, a file that is open as text for example.
        vocab_file: where they are written.

    >>> import io
    >>> vocab = io.StringIO()
    >>> get_vocab(["lo@@ w lo@@ w@@ er"], vocab)
    >>> vocab.getvalue().splitlines()
    ['lo@@ 2', 'w 1', 'w@@ 1', 'er 1']
    """
    words = words_of(train_file, False, 1).items()
    # Sorting keeps the order of equals.
    for word, count in sorted(words, key=lambda item: item[1], reverse=True):
        vocab_file.write(f"{word} {count}\n")
