"""The catalogue of errors, a file for each subject.

``case`` says what a case is. ``running``: options, corpora, training, texts and ids. ``inputs``: inputs
of models, and what a spec says of them. ``files``: jogak's own files and those of the families that it
trains. ``vocabularies``: files of llama.cpp, Mistral, subword-nmt, folders of models. ``codes``:
subword-nmt's vocabularies and glossaries.
``tokenizer_json``: Hugging Face's file. ``faces``: other libraries' objects and names,
conversion between their files.
"""

from __future__ import annotations

from error_cases import codes, faces, files, inputs, running, tokenizer_json, vocabularies
from error_cases.case import Case

__all__ = ["CASES", "Case"]

CASES: tuple[Case, ...] = (
    *running.CASES,
    *inputs.CASES,
    *files.CASES,
    *vocabularies.CASES,
    *codes.CASES,
    *tokenizer_json.CASES,
    *faces.CASES,
)
