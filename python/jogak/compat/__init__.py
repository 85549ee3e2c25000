"""The faces of other libraries, so that a script changes its import and nothing else.

`jogak.compat.tiktoken`, `jogak.compat.sentencepiece` and `jogak.compat.subword_nmt` have the names,
signatures, results and exceptions of the libraries that they are called after; beneath is jogak.

Rule: a face translates. What it says stands elsewhere in jogak, and it knows that by public names only.
"""
