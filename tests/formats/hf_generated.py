"""Random ``tokenizer.json`` files from tiny vocabularies, and texts that are hard for them.

Everything comes from a seed. What a file says may make no sense; Hugging Face's library is the judge.
"""

from __future__ import annotations

import json
import random
from typing import Any

from jogak.formats.bytelevel import ALPHABET, OF_TEXT, from_bytes

__all__ = ["file", "text"]

_WORDS = [
    "the",
    "cat",
    "hug",
    "aa",
    "abab",
    "ab.c",
    "é",
    "가나",
    "e\u0301",
    "ＡＢ",
    "12",
    "a1",
    "ﬁ",
]
_SPECIAL = [
    "<s>",
    "</s>",
    "[CLS]",
    "[SEP]",
    "<pad>",
    "[MASK]",
    "aa",
    "the",
    "1",
    "a",
    " ",
    "▁",
    "<S>",
]
_ADDED = [
    "cat",
    "ab",
    "A B",
    "é",
    "  ",
    "hug",
    "가",
    "\n",
    "x",
    "ＡＢ",
    "e\u0301",
    "abab",
    "b.",
    "Ġ",
]
_BITS = [
    *"aabbcuhgt", *"  \n\t.,1'", "é", "e\u0301", "가", "나", "\u1100", "\u1161", "ＡＢ", "ﬁ", "▁", "Ġ",
    "\u00a0", "\u3000", "\u200d", "😀", "\x00", "\u00ad", "ß", "İ", "中", "ア", "<", ">", "</w>", "##",
    "#", "<0x41>", "\u2028", "x", "Z", "'s", " '", "\u0345", "\ufffd",
]  # fmt: skip


def text(rng: random.Random) -> str:
    """A short text of words, spaces, marks and special tokens."""
    parts = rng.choices((_BITS, _WORDS, _SPECIAL + _ADDED), (6, 3, 2), k=rng.randrange(0, 14))
    return "".join(rng.choice(part) for part in parts)


def _flag(rng: random.Random) -> bool:
    return rng.random() < 0.5


def _sometimes(rng: random.Random, share: float, **fields: Any) -> dict[str, Any]:
    """Each of the fields with a probability."""
    return {name: value for name, value in fields.items() if rng.random() < share}


# --- parts


def _pattern(rng: random.Random) -> dict[str, str]:
    if _flag(rng):
        return {"String": rng.choice([" ", "a", ".", "▁", "aa", "e\u0301", "\n", "", "ab"])}
    expressions = (
        r"\s+", r"\d", r"[ab]+", r"\p{L}+", r" ?\w+", r"a|b", r"\s+(?!\S)|\s+", r"(?i:AB)|c", r"\b",
        "", r"[^\s\p{L}\p{N}]+", r"\p{N}{1,3}", r"\s*[\r\n]+", r"^a", r"b$", r"(?=[a-c])", r"\p{P}",
        r"[^a-z]",
    )  # fmt: skip
    return {"Regex": rng.choice(expressions)}


def _metaspace(rng: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {"type": "Metaspace", "replacement": rng.choice("▁▁▁▁_")}
    if _flag(rng):
        options["prepend_scheme"] = rng.choice(["first", "always", "never"])
    if rng.random() < 0.3:
        options["add_prefix_space"] = rng.choice([True, None, False])
    return {**options, **_sometimes(rng, 0.4, split=_flag(rng), str_rep="▁")}


def normalizer(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    """Any normalizer; sequences in sequences too."""
    kinds = [
        *("BertNormalizer", "Strip", "StripAccents", "NFC", "NFD", "NFKC", "NFKD", "Lowercase"),
        *("Nmt", "Replace", "Prepend", "ByteLevel"),
    ]
    kind = rng.choice(kinds + ["Sequence"] * (6 if depth < 2 else 0))
    if kind == "Sequence":
        inner = [normalizer(rng, depth + 1) for _ in range(rng.randrange(0, 4))]
        return {"type": kind, "normalizers": inner}
    if kind == "BertNormalizer":
        return {
            "type": kind,
            "clean_text": _flag(rng),
            "handle_chinese_chars": _flag(rng),
            "lowercase": _flag(rng),
            **_sometimes(rng, 0.7, strip_accents=rng.choice([None, True, False])),
        }
    if kind == "Strip":
        return {"type": kind, "strip_left": _flag(rng), "strip_right": _flag(rng)}
    if kind == "Replace":
        content = rng.choice(["▁", " ", "", "b", "ab", "$1"])
        return {"type": kind, "pattern": _pattern(rng), "content": content}
    if kind == "Prepend":
        return {"type": kind, "prepend": rng.choice(["▁", "", "a ", "Ġ"])}
    return {"type": kind}


def pre_tokenizer(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    """Any pre-tokenizer; sequences in sequences too."""
    kinds = [
        *("BertPreTokenizer", "ByteLevel", "ByteLevel", "CharDelimiterSplit", "Metaspace"),
        *("Whitespace", "Split", "Split", "Punctuation", "WhitespaceSplit", "Digits"),
        *("UnicodeScripts", "FixedLength", "Metaspace"),
    ]
    kind = rng.choice(kinds + ["Sequence"] * (6 if depth < 2 else 0))
    behaviors = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
    if kind == "Sequence":
        inner = [pre_tokenizer(rng, depth + 1) for _ in range(rng.randrange(0, 4))]
        return {"type": kind, "pretokenizers": inner}
    if kind == "ByteLevel":
        return {
            "type": kind,
            "add_prefix_space": _flag(rng),
            "trim_offsets": _flag(rng),
            **_sometimes(rng, 0.6, use_regex=_flag(rng)),
        }
    if kind == "CharDelimiterSplit":
        return {"type": kind, "delimiter": rng.choice(" a.▁")}
    if kind == "Metaspace":
        return _metaspace(rng)
    if kind == "Split":
        return {
            "type": kind,
            "pattern": _pattern(rng),
            "behavior": rng.choice(behaviors),
            "invert": _flag(rng),
        }
    if kind == "Punctuation":
        return {"type": kind, **_sometimes(rng, 0.6, behavior=rng.choice(behaviors))}
    if kind == "Digits":
        return {"type": kind, "individual_digits": _flag(rng)}
    if kind == "FixedLength":
        return {"type": kind, **_sometimes(rng, 0.8, length=rng.choice([1, 2, 3, 100]))}
    return {"type": kind}


def decoder(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    """Any decoder; sequences in sequences too."""
    kinds = [
        *("BPEDecoder", "ByteLevel", "WordPiece", "Metaspace", "CTC", "Replace", "Fuse", "Strip"),
        "ByteFallback",
    ]
    kind = rng.choice(kinds + ["Sequence"] * (6 if depth < 2 else 0))
    if kind == "Sequence":
        inner = [decoder(rng, depth + 1) for _ in range(rng.randrange(0, 4))]
        return {"type": kind, "decoders": inner}
    if kind == "BPEDecoder":
        return {"type": kind, "suffix": rng.choice(["</w>", "a", " "])}
    if kind == "ByteLevel":
        return {"type": kind, "add_prefix_space": _flag(rng), "trim_offsets": _flag(rng)}
    if kind == "WordPiece":
        return {"type": kind, "prefix": rng.choice(["##", "", "a"]), "cleanup": _flag(rng)}
    if kind == "Metaspace":
        return _metaspace(rng)
    if kind == "CTC":
        tokens = {"pad_token": rng.choice(["<pad>", "a"]), "word_delimiter_token": "|"}
        return {"type": kind, **tokens, "cleanup": _flag(rng)}
    if kind == "Replace":
        return {"type": kind, "pattern": _pattern(rng), "content": rng.choice([" ", "", "b"])}
    if kind == "Strip":
        # A stop beyond a text's length is a panic in the library.
        return {"type": kind, "content": rng.choice(" a▁"), "start": rng.randrange(3), "stop": 0}
    return {"type": kind}


def post_processor(rng: random.Random, ids: dict[str, int], depth: int = 0) -> dict[str, Any]:
    """Any post-processor, of tokens that there are."""
    kinds = ["BertProcessing", "RobertaProcessing", "ByteLevel", "TemplateProcessing"]
    kind = rng.choice(kinds + ["Sequence"] * (3 if depth < 2 else 0))
    names = list(ids)
    if kind == "Sequence":
        inner = [post_processor(rng, ids, depth + 1) for _ in range(rng.randrange(0, 4))]
        return {"type": kind, "processors": inner}
    if kind in ("BertProcessing", "RobertaProcessing"):
        cls, sep = rng.choice(names), rng.choice(names)
        flags = {"trim_offsets": _flag(rng), "add_prefix_space": _flag(rng)}
        options = {"sep": [sep, ids[sep]], "cls": [cls, ids[cls]]}
        return {"type": kind, **options, **(flags if kind == "RobertaProcessing" else {})}
    if kind == "ByteLevel":
        return {"type": kind, "add_prefix_space": _flag(rng), "trim_offsets": _flag(rng)}
    tokens = {}
    for name in rng.sample(names, min(3, len(names))):
        several = [name, *rng.choices(names, k=rng.choice([0, 0, 0, 2]))]
        tokens[name] = {"id": name, "ids": [ids[one] for one in several], "tokens": several}

    def parts(texts: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [
            {"Sequence": {"id": t, "type_id": rng.randrange(3)}} for t in texts
        ]
        for _ in range(rng.randrange(0, 4)):
            part = {"SpecialToken": {"id": rng.choice([*tokens]), "type_id": rng.randrange(3)}}
            found.insert(rng.randrange(len(found) + 1), part)
        return found

    pair = parts(rng.choice(["AB", "AB", "BA", "ABA"]))
    return {"type": kind, "single": parts("A"), "pair": pair, "special_tokens": tokens}


# --- models


def _characters(rng: random.Random, byte_level: bool) -> list[str]:
    if byte_level:
        letters = rng.choice([ALPHABET, ALPHABET, OF_TEXT])
        return rng.sample(letters, len(letters) if rng.random() < 0.7 else 200)
    pool = [*"abcdeéhgtu12.' ▁Ġ가나中\n#<>xZ", "\u0301", "Ａ", "é"]
    pool = sorted({*pool})
    return rng.sample(pool, rng.randrange(3, len(pool)))


def _grown(
    rng: random.Random, symbols: list[str], prefix: str
) -> tuple[list[str], list[list[str]]]:
    """Pieces made of merges, and the merges."""
    pieces, merges = list(symbols), []
    for _ in range(rng.randrange(0, 25)):
        left, right = rng.choice(pieces), rng.choice(pieces)
        if prefix and not right.startswith(prefix):
            right = prefix + right
            if right not in pieces:
                pieces.append(right)
        merged = left + right[len(prefix) :]
        if len(merged) > 8:
            continue
        if merged not in pieces:
            pieces.append(merged)
        merges.append([left, right])
    return pieces, merges


def _vocab(rng: random.Random, pieces: list[str]) -> dict[str, int]:
    """Ids in some order; now and then with a hole."""
    pieces = list(dict.fromkeys(pieces))
    if _flag(rng):
        rng.shuffle(pieces)
    skip = rng.randrange(len(pieces)) if rng.random() < 0.1 else len(pieces)
    return {text: id_ + (id_ > skip) for id_, text in enumerate(pieces)}


def _bpe(rng: random.Random, byte_level: bool) -> dict[str, Any]:
    symbols = _characters(rng, byte_level)
    prefix = rng.choice(["", "", "", "##"]) if not byte_level else ""
    suffix = rng.choice(["", "", "</w>"]) if not prefix else ""
    symbols += [one + suffix for one in symbols if suffix and rng.random() < 0.8]
    symbols += [prefix + one for one in symbols if prefix and rng.random() < 0.8]
    pieces, merges = _grown(rng, symbols, prefix)
    if byte_level and rng.random() < 0.8:
        for word in ("the", " cat", "가"):
            drawn = from_bytes(word.encode())
            for end in range(2, len(drawn) + 1):
                if {drawn[: end - 1], drawn[end - 1]} <= {*pieces}:
                    merges.append([drawn[: end - 1], drawn[end - 1]])
                    pieces.append(drawn[:end])
    options: dict[str, Any] = {"type": "BPE", "unk_token": None}
    if _flag(rng):
        options["unk_token"] = rng.choice(["<unk>", "<unk>", "a"])
        pieces += ["<unk>"]
    fallback = rng.random() < 0.25
    if fallback:
        pieces += [f"<0x{byte:02X}>" for byte in range(256)]
    options.update(
        _sometimes(
            rng, 0.8,
            dropout=None, continuing_subword_prefix=prefix or rng.choice([None, ""]),
            end_of_word_suffix=suffix or rng.choice([None, ""]), fuse_unk=_flag(rng),
            ignore_merges=rng.random() < 0.3,
        ),
        byte_fallback=fallback,
    )  # fmt: skip
    if prefix:
        options["continuing_subword_prefix"] = prefix
    pieces += [piece for piece in rng.sample(_SPECIAL, 3) if _flag(rng)]
    plain = not any(" " in part for merge in merges for part in merge)
    lines: list[Any] = [" ".join(merge) for merge in merges] if plain and _flag(rng) else merges
    if rng.random() < 0.15:
        del options["type"]
    return {**options, "vocab": _vocab(rng, pieces), "merges": lines}


def _wordpiece(rng: random.Random) -> dict[str, Any]:
    prefix = rng.choice(["##", "##", "##", ""])
    characters = _characters(rng, byte_level=False)
    pieces = [*characters, *(prefix + one for one in characters if rng.random() < 0.8)]
    for _ in range(rng.randrange(0, 25)):
        joined = "".join(rng.choices(characters, k=rng.randrange(2, 5)))
        pieces.append(rng.choice(["", prefix]) + joined)
    unknown = rng.choice(["[UNK]", "[UNK]", "[UNK]", "a"])
    if rng.random() < 0.9:
        pieces.append(unknown)
    pieces += [piece for piece in rng.sample(_SPECIAL, 3) if _flag(rng)]
    return {
        **({"type": "WordPiece"} if rng.random() < 0.85 else {}),
        "unk_token": unknown,
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": rng.choice([100, 100, 100, 4, 1]),
        "vocab": _vocab(rng, pieces),
    }


def _unigram(rng: random.Random) -> dict[str, Any]:
    characters = _characters(rng, byte_level=False)
    pieces = ["<unk>", *characters]
    pieces += [
        "".join(rng.choices([*characters, "▁"], k=rng.randrange(2, 5)))
        for _ in range(rng.randrange(0, 30))
    ]
    fallback = rng.random() < 0.25
    if fallback:
        pieces += [f"<0x{byte:02X}>" for byte in range(256)]
    pieces += [piece for piece in rng.sample(_SPECIAL, 3) if _flag(rng)]
    pieces = list(dict.fromkeys(pieces))
    # Few different scores, so that ties are frequent.
    scores = [
        rng.choice([-1, -2.0, -2.5, -3.3333333333333335, rng.uniform(-9, -1)]) for _ in pieces
    ]
    unknown = rng.choice([0, 0, 0, 0, None, len(pieces) - 1])
    return {
        **({"type": "Unigram"} if rng.random() < 0.85 else {}),
        "unk_id": unknown,
        **({"byte_fallback": fallback} if fallback or _flag(rng) else {}),
        "vocab": [list(pair) for pair in zip(pieces, scores, strict=True)],
    }


def _wordlevel(rng: random.Random) -> dict[str, Any]:
    pieces = [*_characters(rng, byte_level=False), *rng.sample(_WORDS, 6), "<unk>"]
    return {
        **({"type": "WordLevel"} if rng.random() < 0.85 else {}),
        "vocab": _vocab(rng, pieces),
        "unk_token": rng.choice(["<unk>", "<unk>", "a", "none"]),
    }


def _added(rng: random.Random, vocab: dict[str, int]) -> list[dict[str, Any]]:
    tokens = []
    size = len(vocab)
    for content in rng.sample(sorted({*_SPECIAL, *_ADDED}), rng.randrange(0, 7)):
        special = _flag(rng)
        tokens.append(
            {
                "id": vocab.get(content, size),
                "content": content,
                **{name: rng.random() < 0.2 for name in ("single_word", "lstrip", "rstrip")},
                "normalized": not special if rng.random() < 0.7 else special,
                "special": special,
            }
        )
        size += content not in vocab
    return tokens


def file(seed: int) -> str:
    """The file of a seed."""
    rng = random.Random(seed)
    byte_level = rng.random() < 0.4
    words: dict[str, Any] | None = pre_tokenizer(rng) if rng.random() < 0.8 else None
    if byte_level:
        last = {
            "type": "ByteLevel",
            "add_prefix_space": rng.random() < 0.2,
            "trim_offsets": True,
            "use_regex": _flag(rng),
        }
        words = (
            {"type": "Sequence", "pretokenizers": [words, last]} if words and _flag(rng) else last
        )
    make = rng.choice([_bpe, _bpe, _wordpiece, _unigram, _wordlevel])
    model = _bpe(rng, byte_level) if make is _bpe else make(rng)  # type: ignore[operator]  # makers differ in what they take
    vocab = model["vocab"]
    if isinstance(vocab, list):
        vocab = {piece: id_ for id_, (piece, _) in enumerate(vocab)}
    sections = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added(rng, vocab),
        "normalizer": normalizer(rng) if rng.random() < 0.6 else None,
        "pre_tokenizer": words,
        "post_processor": post_processor(rng, vocab) if rng.random() < 0.6 else None,
        "decoder": decoder(rng) if rng.random() < 0.8 else None,
        "model": model,
    }
    for name in ("version", "truncation", "padding", "normalizer", "added_tokens"):
        if rng.random() < 0.1:
            del sections[name]
    return json.dumps(sections, ensure_ascii=_flag(rng))


_CHARACTERS = ["a", "b", "c", "▁", "가", "나", "é", "中", "🐑"]


def whole_text_bpe(seed: int) -> str:
    """A file whose model makes merges of characters over whole texts, or words, as Llama's does.

    Unknown characters fall back to all bytes, to some, or to none; what stands for them may be a part of
    merges, or a letter.
    """
    rng = random.Random(seed)
    pool = rng.sample(_CHARACTERS, rng.randint(4, 9))
    some = rng.choice([256, 256, 256, 230, 0])
    stand_ins = rng.sample([f"<0x{byte:02X}>" for byte in range(256)], some)
    unknown = rng.choice([None, "<unk>", "<unk>", "a"])
    stand_ins += ["<unk>"] if unknown == "<unk>" else []
    merges: list[list[str]] = []
    takes_stand_ins = rng.random() < 0.25
    for _ in range(rng.randint(2, 25)):
        parts = pool + (rng.sample(stand_ins, min(len(stand_ins), 3)) if takes_stand_ins else [])
        pair = [rng.choice(parts), rng.choice(parts)]
        made = "".join(pair)
        if len(made) < 15 and pair not in merges:
            merges.append(pair)
            pool += [made] if made not in pool else []
    spaces = [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]
    words = {"type": "Metaspace", "replacement": "▁", "split": rng.random() < 0.3}
    words["prepend_scheme"] = rng.choice(["first", "always", "never"])
    model = {
        "type": "BPE",
        "unk_token": unknown,
        "fuse_unk": rng.random() < 0.6,
        "byte_fallback": some > 0,
        "ignore_merges": rng.random() < 0.15,
        "vocab": _vocab(rng, list(dict.fromkeys(stand_ins + pool))),
        "merges": merges,
    }
    return json.dumps(
        {
            "version": "1.0",
            "normalizer": rng.choice([None, {"type": "Sequence", "normalizers": spaces}]),
            "pre_tokenizer": rng.choice([None, None, words, {"type": "Whitespace"}]),
            "model": model,
        }
    )


def whole_text(rng: random.Random) -> str:
    """A text of few characters, known ones and others; a long one now and then."""
    letters = [*_CHARACTERS, *" zqü日\n"]
    drawn = "".join(rng.choices(letters, k=rng.randint(1, 60)))
    return drawn * (30 if rng.random() < 0.1 else 1)
