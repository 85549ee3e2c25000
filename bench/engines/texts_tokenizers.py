"""Hugging Face tokenizers: a tokenizer.json, cl100k's rank file, or BERT's vocab.txt."""

from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from common import CL100K, byte_level_alphabet, merges_of_ranks, read_ranks, run_texts

SPECIAL = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
)  # found in texts, as BERT's own library does


def cl100k(path: str) -> Tokenizer:
    ranks = read_ranks(path)
    letter = {byte: char for char, byte in byte_level_alphabet().items()}

    def printable(piece: bytes) -> str:
        return "".join(letter[byte] for byte in piece)

    vocab = {printable(piece): rank for piece, rank in ranks.items()}
    merges = [(printable(left), printable(right)) for left, right in merges_of_ranks(ranks)]
    tokenizer = Tokenizer(models.BPE(vocab, merges, ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CL100K), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def bert(path: str, *, lowercase: bool) -> Tokenizer:
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    vocab = {piece: id_ for id_, piece in enumerate(lines) if piece}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([piece for piece in SPECIAL if piece in vocab])
    return tokenizer


def load(path: str, lowercase: str = "no") -> Tokenizer:
    if path.endswith(".tiktoken"):
        return cl100k(path)
    if path.endswith(".txt"):
        return bert(path, lowercase=lowercase == "yes")
    return Tokenizer.from_file(path)


run_texts(
    load,
    lambda tokenizer, texts: [
        row.ids for row in tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    ],
    decode=lambda tokenizer, lists: [
        tokenizer.decode(ids, skip_special_tokens=False) for ids in lists
    ],
    call=lambda tokenizer, text: tokenizer.encode(text, add_special_tokens=False).ids,
)
