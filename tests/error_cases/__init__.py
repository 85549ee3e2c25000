"""The catalogue of errors, a file for each subject.

case.py       what a case is
running.py    options, corpora, training, texts and ids
files.py      files of every family
"""

from __future__ import annotations

from error_cases import files, running
from error_cases.case import Case

__all__ = ["CASES", "Case"]

CASES: tuple[Case, ...] = (*running.CASES, *files.CASES)
