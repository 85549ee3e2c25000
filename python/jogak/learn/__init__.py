"""How each family learns from words: one file for each, found by the type of its config.

Rule: words and a config in, a `Tokenizer` with its log out; the core learns, here ids get their names.
"""
