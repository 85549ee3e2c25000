"""subword-nmt's face: its modules, with their names, arguments and results, over jogak's merges.

    from subword_nmt.apply_bpe import BPE          becomes
    from jogak.compat.subword_nmt.apply_bpe import BPE

Codes, vocabularies and segments are those of subword-nmt 0.3.8.

Source: https://github.com/rsennrich/subword-nmt, release 0.3.8
"""

from __future__ import annotations

from jogak.compat.subword_nmt.apply_bpe import BPE, read_vocabulary

__all__ = ["BPE", "read_vocabulary"]
