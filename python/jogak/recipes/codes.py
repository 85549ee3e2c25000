"""How subword-nmt learns codes (Sennrich, Haddow & Birch 2016): words between spaces, ``</w>`` glued to
their last character, and of pairs that occur as often the greater one.

Source: https://github.com/rsennrich/subword-nmt, ``learn_bpe.py``, release 0.3.8
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from jogak.counts import Counts, count
from jogak.errors import ConfigError
from jogak.formats.codes import END, WORDS
from jogak.learn import train
from jogak.spec import BPE, Marker
from jogak.training import TrainingLog

__all__ = ["characters_of", "learn_codes", "words_of"]


def words_of(lines: Iterable[str], is_dict: bool, num_threads: int) -> Counts:
    """The words of lines in the order in which they first come, and how often each does.

    Args:
        lines: what is cut at spaces; or a word, a space and how often it occurs in each, if `is_dict`.
        is_dict: see there.
        num_threads: how many threads count.

    Raises:
        ConfigError: a line of a dictionary that is something else, with its number.

    >>> dict(words_of(["low lower low"], False, 1).items())
    {'low': 2, 'lower': 1}
    """
    if not is_dict:
        return count(iter(lines), pretokenizer=WORDS, keep_order=True, num_threads=num_threads)
    words: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        word, _, times = line.strip("\r\n ").partition(" ")
        if not word or not re.fullmatch("[0-9]{1,18}", times, re.ASCII):
            raise ConfigError(
                f"line {number} of the dictionary is {line!r:.200}; expected word, space, count"
            )
        words[word] = words.get(word, 0) + int(times)
    # What occurs nowhere is not there.
    return Counts.from_dict({word: times for word, times in words.items() if times})


def characters_of(words: Counts) -> tuple[int, int]:
    """How many different characters stand within words, and how many end them.

    >>> characters_of(Counts.from_dict({"low": 2, "owl": 1}))
    (3, 2)
    """
    within: set[str] = set()
    within.update(*(word[:-1] for word in words))
    return len(within), len({word[-1] for word in words})


def learn_codes(
    words: Counts, merges: int, min_frequency: int
) -> tuple[list[tuple[str, str]], TrainingLog]:
    """Words -> the merges, best first, and how they were learned.

    Args:
        words: how often each occurs.
        merges: at most so many; 0 or less for none.
        min_frequency: stop where the most frequent pair occurs less often.

    Raises:
        ConfigError: a number that cannot be.
        CorpusError: there are no words.

    >>> learn_codes(Counts.from_dict({"low": 5, "lower": 2}), 2, 2)[0]
    [('l', 'o'), ('lo', 'w</w>')]
    """
    config = BPE(
        num_merges=max(merges, 0),
        marker=Marker("suffix", END, "joined"),
        ties="greatest",
        min_pair_count=max(min_frequency, 1),
        unknown=None,
    )
    tok = train(words, config)
    log = tok.training
    assert isinstance(log, TrainingLog)
    return list(tok.merges), log
