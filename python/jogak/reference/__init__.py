"""Every algorithm in plain Python, written to be read, and the oracle the Rust core is tested against.

Rule of this room: clear before fast. It imports nothing of jogak outside itself and, but for the
patterns of `pretokenize`, only the standard library. A result here is never rounded, cached or
sharded; when the core and this room disagree, one of them is wrong and a test says so.

Read it in this order; every file tells one story and starts with its rules:

    added         tokens that are found before anything is cut
    pretokenize   text -> words
    stages        the same with options, and with rewriting
    words         words -> counts, and a word -> its first symbols (alphabets, border markers)
    ties          which of several equally frequent pairs comes first
    bpe           counts -> merges: training, live pieces, pruning
    piece_rules   training again, with rules about what may be a piece (SentencePiece)
    model         what training leaves behind: pieces, ids, merges, the unknown rule
    encode        a word -> pieces by merging, with and without dropout
    longest       a word -> pieces by longest match, and by longest piece first
    wordpiece     counts -> pieces by likelihood, and a word -> pieces or nothing
    text          a whole text -> tokens -> ids
    following     what the ids at the end of a text may become when it goes on
    decode        the way back
    inputs        ids -> the input of a model: cut, with a template around, filled up
    chains        the way back that a file of another library describes
    compress      byte pair compression, where it all began
    random        the random numbers of dropout

Unigram has a place beside these files, not inside them.

>>> from jogak.reference import Spelling, train
>>> sennrich = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
>>> trained = train(sennrich, spelling=Spelling("suffix"), ties="first-seen", num_merges=10)
>>> tokens("lowest", trained.model(), "whitespace")
['low', 'est</w>']
"""

from .added import Added, find, trusted_places
from .bpe import Merge, Pruned, Training, count_pairs, merge_pair, prune_dead, train
from .chains import clean_up, run_chain
from .compress import Compression, CompressionStep, compress
from .decode import decode, decode_bytes, join_tokens
from .encode import Encoding, MergeStep, encode_word, encode_word_dropout
from .following import following, merged_by_ranks
from .longest import longest_first, longest_match
from .model import Model, byte_pieces
from .normalize import apply_rules, from_jamo, nfkc_rules, to_jamo
from .pretokenize import PATTERNS, metaspace, pretokenize, undo_metaspace
from .random import SplitMix64
from .stages import draw_bytes, join_matches, pretokenize_stages
from .text import encode, tokens
from .ties import TIES, best_pair
from .wordpiece import (
    WordPieceEncoding,
    WordPieceMatch,
    WordPieceMerge,
    WordPieceTraining,
    encode_wordpiece,
    train_wordpiece,
)
from .words import BYTE_TO_CHAR, CHAR_TO_BYTE, MARKERS, Spelling, base_alphabet, inventory

__all__ = [
    "BYTE_TO_CHAR",
    "CHAR_TO_BYTE",
    "MARKERS",
    "PATTERNS",
    "TIES",
    "Added",
    "Compression",
    "CompressionStep",
    "Encoding",
    "Merge",
    "MergeStep",
    "Model",
    "Pruned",
    "Spelling",
    "SplitMix64",
    "Training",
    "WordPieceEncoding",
    "WordPieceMatch",
    "WordPieceMerge",
    "WordPieceTraining",
    "apply_rules",
    "base_alphabet",
    "best_pair",
    "byte_pieces",
    "clean_up",
    "compress",
    "count_pairs",
    "decode",
    "decode_bytes",
    "draw_bytes",
    "encode",
    "encode_word",
    "encode_word_dropout",
    "encode_wordpiece",
    "find",
    "following",
    "from_jamo",
    "inventory",
    "join_matches",
    "join_tokens",
    "longest_first",
    "longest_match",
    "merge_pair",
    "merged_by_ranks",
    "metaspace",
    "nfkc_rules",
    "pretokenize",
    "pretokenize_stages",
    "prune_dead",
    "run_chain",
    "to_jamo",
    "tokens",
    "train",
    "train_wordpiece",
    "trusted_places",
    "undo_metaspace",
]
