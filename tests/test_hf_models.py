"""Models by Hugging Face's rules give its ids, for vocabularies and texts made to find what differs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import oracle
import pytest

import jogak
from jogak import reference
from jogak.spec import (
    AddedToken,
    BPEModel,
    DecodeByteLevel,
    Marker,
    Spec,
    UnigramModel,
    WordLevelModel,
    WordPieceModel,
    resolve_pretokenizer,
)

tokenizers = pytest.importorskip("tokenizers")
models = tokenizers.models

LETTERS = "abcdé가"
WORDS_SEEN = 300


def theirs(model: Any) -> Any:
    """Their tokenizer, words being cut at spaces."""
    peer = tokenizers.Tokenizer(model)
    peer.pre_tokenizer = tokenizers.pre_tokenizers.Split(" ", "removed")
    return peer


def ours(model: Any, **options: Any) -> jogak.Tokenizer:
    stage = jogak.Split(" ", matches="removed")
    return jogak.Tokenizer(Spec(model=model, pretokenizer=(stage,), **options))


def answer(peer: Any, text: str) -> list[int] | None:
    """Their ids; None where they refuse."""
    try:
        return list(peer.encode(text, add_special_tokens=False).ids)
    except Exception as error:
        assert "unk" in str(error).lower(), error
        return None


def compare(tok: jogak.Tokenizer, peer: Any, texts: list[str], **options: Any) -> None:
    for text in texts:
        expected = answer(peer, text)
        if expected is None:
            with pytest.raises(jogak.EncodeError):
                tok.encode(text, **options)
            continue
        for _ in range(2):  # again, with words remembered
            assert tok.encode(text, **options) == expected, text
        pieces = tok.spec.model.pieces
        assert tok.tokens(text, **options) == [pieces[id_] for id_ in expected], text
        assert [i for w in tok.explain(text, **options).words for i in w.ids] == expected, text


def vocabulary(
    source: random.Random, prefix: str, suffix: str, reserved: list[str]
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A vocabulary with holes in its ids, and merges of any of its pieces."""
    symbols = [
        begin + letter + end
        for letter in LETTERS
        for begin in {"", prefix}
        for end in {"", suffix}
        if source.random() < 0.85
    ]
    texts = list(dict.fromkeys([*symbols, *reserved]))
    merges: list[tuple[str, str]] = []
    for _ in range(source.randint(0, 40)):
        left, right = source.choice(texts), source.choice(texts)
        # Mostly what can stand side by side.
        if source.random() < 0.8 and prefix and not right.startswith(prefix):
            continue
        if len(right.encode()) < len(prefix.encode()) or (left, right) in merges:
            continue
        try:
            product = left + right.encode()[len(prefix.encode()) :].decode()
        except UnicodeDecodeError:  # half a character: theirs would abort
            continue
        if source.random() < 0.9 or product in texts:
            merges.append((left, right))
            texts = list(dict.fromkeys([*texts, product]))
    texts += [text for text in ("abc", "de", "é가") if text not in texts and source.random() < 0.3]
    source.shuffle(texts)
    ids, at = {}, 0
    for text in texts:
        at += source.choice([0, 0, 0, 1, 3])
        ids[text] = at
        at += 1
    return ids, merges


def pieces_of(ids: dict[str, int]) -> tuple[str | None, ...]:
    pieces: list[str | None] = [None] * (max(ids.values()) + 1)
    for text, id_ in ids.items():
        pieces[id_] = text
    return tuple(pieces)


def texts_of(source: random.Random, extra: list[str]) -> list[str]:
    parts = [*LETTERS, *LETTERS, *LETTERS, " ", "x", "ÿ", "😀", *extra]
    return [
        "".join(source.choices(parts, k=source.choice([0, 1, 3, 8, 30, 90]))) for _ in range(12)
    ]


BYTES = {
    "none": [],
    "some": [*(f"<0x{byte:02X}>" for byte in "xé".encode()), "<0xF0>"],
    "all": [f"<0x{byte:02X}>" for byte in range(256)],
}


@pytest.mark.parametrize("seed", range(120))
def test_bpe(seed: int) -> None:
    """Every option of BPE, alone and together."""
    source = random.Random(seed)
    prefix = source.choice(["", "", "##", "a"])
    suffix = source.choice(["", "", "</w>", "b"])
    unknown = source.choice([None, "<unk>", "a", "<gone>"])
    fallback = source.choice(["none", "none", "some", "all"])
    fuse, whole = source.random() < 0.5, source.random() < 0.3
    reserved = [*BYTES[fallback], *(["<unk>"] if source.random() < 0.9 else [])]
    ids, merges = vocabulary(source, prefix, suffix, reserved)
    known = unknown if unknown in ids else None
    texts = {
        "unk_token": unknown,
        "continuing_subword_prefix": prefix or None,
        "end_of_word_suffix": suffix or None,
    }
    peer = theirs(
        models.BPE(
            vocab=ids,
            merges=merges,
            fuse_unk=fuse,
            byte_fallback=fallback != "none",
            ignore_merges=whole,
            **{name: text for name, text in texts.items() if text is not None},
        )
    )
    marker = Marker("none")
    if prefix:
        marker = Marker("continuation", prefix)
    elif suffix:
        marker = Marker("suffix", suffix, "joined")
    model = BPEModel(
        pieces=pieces_of(ids),
        merges=tuple((ids[left], ids[right]) for left, right in merges),
        marker=marker,
        word_suffix=(suffix or None) if prefix else None,
        byte_fallback=fallback != "none",
        unknown=known,
        fuse_unknown=fuse,
        whole_word=whole,
        drop_unknown=unknown is None,
        hf_rules=True,
    )
    tok = ours(model)
    compare(tok, peer, texts_of(source, [*reserved[:3], "<unk>", prefix, suffix]))


@pytest.mark.parametrize("seed", range(40))
def test_drawn_bpe(seed: int) -> None:
    """Byte-level pieces with other markers, and without some of the bytes (CLIP is one)."""
    source = random.Random(seed)
    suffix = source.choice(["", "</w>"])
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    missing = source.choice([[], ["Ã", "a"]])
    ids = {text: id_ for id_, text in enumerate([c for c in alphabet if c not in missing])}
    for text in [*alphabet, "ab", "Ġa", "é가"]:
        ids.setdefault(text + suffix, len(ids))
    merges = [("a", "b" + suffix)] if "a" in ids and "ab" + suffix in ids else []
    options = {"end_of_word_suffix": suffix} if suffix else {}
    peer = tokenizers.Tokenizer(models.BPE(vocab=ids, merges=merges, **options))
    peer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.decoder = tokenizers.decoders.ByteLevel()
    model = BPEModel(
        pieces=pieces_of(ids),
        merges=tuple((ids[left], ids[right]) for left, right in merges),
        marker=Marker("suffix", suffix, "joined") if suffix else Marker("none"),
        drop_unknown=True,
        drawn=True,
        hf_rules=True,
    )
    spec = Spec(
        model=model, pretokenizer=resolve_pretokenizer("gpt2"), decoder=(DecodeByteLevel(),)
    )
    tok = jogak.Tokenizer(spec)
    for text in texts_of(source, ["Ġ", " a", "\n"]):
        expected = peer.encode(text).ids
        assert tok.encode(text) == expected
        assert tok.encode(text) == expected
        assert tok.decode(expected) == peer.decode(expected)
        assert [i for w in tok.explain(text).words for i in w.ids] == expected
    if not missing and not suffix:
        spans = tok.explain("é b").words[0].token_spans
        assert spans == ((0, 1), (1, 2))


@pytest.mark.parametrize("seed", range(40))
def test_several_merges_for_a_piece(seed: int, tmp_path: Path) -> None:
    """Files of ranks, as they are converted, list any two pieces that make a third one (Llama 3's)."""
    source = random.Random(seed)
    letters = "aab cé가中"
    inventory = {
        "".join(source.choices(letters, k=source.randint(1, 9))): source.randint(1, 9)
        for _ in range(150)
    }
    size = 256 + source.randint(60, 300)
    trained = jogak.train(inventory, jogak.BPE(vocab_size=size, min_pair_count=1))
    pieces = [text for text in trained.spec.model.pieces if text is not None]
    # Some that nothing makes; a letter stands for each byte.
    drawn = {"a": "a", "b": "b", " ": "Ġ"} | {c: trained.tokens(c)[0] for c in "é가"}
    unmade = source.choice([0, 0, 3])
    pieces += ["".join(source.choices([*drawn.values()], k=3)) for _ in range(unmade)]
    ids = {text: id_ for id_, text in enumerate(dict.fromkeys(pieces))}
    merges = [
        (text[:at], text[at:])
        for text in ids
        for at in range(1, len(text))
        if text[:at] in ids and text[at:] in ids
        if seed % 4 > 0 or source.random() < 0.9
    ]
    assert len(merges) > len({left + right for left, right in merges})
    peer = tokenizers.Tokenizer(models.BPE(vocab=ids, merges=merges, ignore_merges=seed % 2 > 0))
    peer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.decoder = tokenizers.decoders.ByteLevel()
    path = tmp_path / "tokenizer.json"
    peer.save(str(path))
    tok = jogak.load(path)
    assert list(tok.merges) == merges
    for text in texts_of(source, [*letters, *letters, "\n"]):
        expected = peer.encode(text).ids
        for _ in range(2):  # again, with words remembered
            assert tok.encode(text) == expected, text
        assert [i for w in tok.explain(text).words for i in w.ids] == expected, text
        # Merges that never happen may do where others are skipped.
        drawing = {"dropout": source.choice([0.1, 0.5, 0.9]), "seed": seed}
        twin = reference.encode(text, oracle.model(tok), oracle.scheme(tok), **drawing)
        assert tok.encode(text, **drawing) == twin, text


@pytest.mark.parametrize("seed", range(60))
def test_wordpiece(seed: int) -> None:
    source = random.Random(seed)
    prefix = source.choice(["##", "##", "a"])
    unknown = source.choice(["[UNK]", "a", "[GONE]"])
    ids, _ = vocabulary(source, prefix, "", ["[UNK]", "##[UNK]", "abc", "##de"])
    limit = source.choice([0, 1, 4, 100])
    peer = theirs(
        models.WordPiece(
            vocab=ids,
            unk_token=unknown,
            continuing_subword_prefix=prefix,
            max_input_chars_per_word=limit,
        )
    )
    model = WordPieceModel(
        pieces=pieces_of(ids),
        marker=Marker("continuation", prefix),
        unknown=unknown if unknown in ids else None,
        max_chars_per_word=limit,
        hf_rules=True,
    )
    compare(ours(model), peer, texts_of(source, ["[UNK]", "##", prefix]))


@pytest.mark.parametrize("seed", range(30))
def test_word_level(seed: int) -> None:
    source = random.Random(seed)
    unknown = source.choice(["<unk>", "a", "<gone>"])
    ids, _ = vocabulary(source, "", "", ["<unk>", "abc", "ab", "é가"])
    peer = theirs(models.WordLevel(vocab=ids, unk_token=unknown))
    model = WordLevelModel(pieces=pieces_of(ids), unknown=unknown if unknown in ids else None)
    tok = ours(model)
    compare(tok, peer, texts_of(source, [" ", " ", " ab ", " <unk> "]))
    if model.unknown == "<unk>":
        stops = [word.stop for word in tok.explain("abc nowhere").words]
        assert stops == ["whole-word", "unknown"]
        assert "not in the vocabulary" in str(tok.explain("nowhere"))


@pytest.mark.parametrize("seed", range(80))
def test_unigram(seed: int) -> None:
    """The unknown piece and byte pieces have scores, and may be found in text."""
    source = random.Random(seed)
    fallback = source.choice(["none", "none", "some", "all"])
    letters = [*LETTERS[:4], "ab", "abc", "ca", "é가", "<unk>", *BYTES[fallback]]
    source.shuffle(letters)
    scored = [(text, round(source.uniform(-9, 0), 3)) for text in letters]
    unknown = letters.index(source.choice(["<unk>", "a"]))
    peer = theirs(models.Unigram(scored, unk_id=unknown, byte_fallback=fallback != "none"))
    model = UnigramModel(
        pieces=tuple(letters),
        scores=tuple(score for _, score in scored),
        unknown=letters[unknown],
        byte_fallback=fallback != "none",
        hf_rules=True,
    )
    tok = ours(model)
    for text in texts_of(source, ["<unk>", "<0x41>", "<0xC3>", "x", "x"]):
        expected = answer(peer, text)
        assert tok.encode(text) == expected, text
        assert tok.encode(text) == expected, text
        assert [id_ for word in tok.explain(text).words for id_ in word.ids] == expected, text


def test_added_tokens_and_the_model() -> None:
    """Pieces of added tokens are no pieces for the model, unless they are said to be."""
    pieces = ("a", "b", "ab", "<s>")
    model = BPEModel(pieces=pieces, merges=((0, 1),), whole_word=True)

    def ids(token: AddedToken) -> list[int]:
        return ours(model, added_tokens=(token,), special_policy="text").encode(
            "ab", special="text"
        )

    assert ours(BPEModel(pieces=pieces, merges=((0, 1),))).encode("ab") == [2]
    with pytest.raises(jogak.ConfigError, match="merge 0"):
        ours(model, added_tokens=(AddedToken("ab"),))
    assert ids(AddedToken("ab", in_model=True)) == [2]
    special = ours(
        model, special_tokens={"<s>": 3}, added_tokens=(AddedToken("<s>", in_model=True),)
    )
    assert special.encode("<s>", special="text") == [3]
    byte_level = BPEModel(
        pieces=("a", "Ġ", "é 가", "<s>"),
        merges=(),
        marker=Marker("byte-level"),
        alphabet="bytes",
        drop_unknown=True,
        hf_rules=True,
    )
    tok = ours(byte_level)
    assert tok.encode("ab\u2603a") == [0, 0]
    assert tok.decode([2, 0, 1]) == "é 가a "


def test_the_models_own_dropout() -> None:
    model = BPEModel(pieces=("a", "b", "ab"), merges=((0, 1),), dropout=1.0)
    tok = ours(model)
    assert tok.encode("ab") == [0, 1]
    assert tok.encode("ab", dropout=0.0) == [2]
    assert tok.encode_batch(["ab"]).to_lists() == [[0, 1]]
    assert tok.count("ab") == 2
    assert tok.encode("ab", strategy="longest-match") == [2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dropout": 2.0}, "dropout is 2.0"),
        ({"dropout": 0.1, "strategy": "longest-match"}, "skips merges"),
        ({"drop_unknown": True, "unknown": "a"}, "choose one"),
        ({"word_suffix": "</w>"}, "continuation"),
        ({"word_suffix": ""}, "not empty"),
        ({"drawn": 1}, "drawn is 1"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(jogak.ConfigError, match=message):
        BPEModel(pieces=("a",), merges=(), **options)


def test_many_added_tokens_compile_quickly() -> None:
    """400,000 tokens that are no pieces of the model."""
    import time

    many = [f"<token {number}>" for number in range(400_000)]
    model = BPEModel(pieces=("a", *many), merges=())
    spec = Spec(
        model=model,
        pretokenizer=resolve_pretokenizer("none"),
        added_tokens=tuple(map(AddedToken, many)),
    )
    begin = time.perf_counter()
    tok = jogak.Tokenizer(spec)
    assert time.perf_counter() - begin < 20
    assert tok.encode("aa") == [0, 0]
