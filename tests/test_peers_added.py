"""Added tokens beside HF tokenizers, sets of special tokens beside tiktoken: random tokens with random
rules in random texts, found at the same places.

Each test is skipped where the peer is not installed.
"""

from __future__ import annotations

import dataclasses
import random
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import jogak
from jogak.spec import AddedToken, Metaspace, Spec, UnigramModel

CORPUS = [
    "a b ab abc, the <s> low lower. Ab AB \u00e9\u00e8 e\u0301 \ufb01 \uff21\uff22 12 ___ 가나 中文"
] * 3
LETTERS = [
    "a",
    "b",
    "A",
    "B",
    "<",
    ">",
    "s",
    "_",
    "-",
    " ",
    "\t",
    "\u3000",
    "\u00e9",
    "\u0301",
    "1",
]
LETTERS += ["\ufb01", "\uff21", "가", "中", "\u0301", "\u00b2", "\u200d", "\n", "ab", "  "]


def hf() -> Any:
    return pytest.importorskip("tokenizers")


@cache
def trained_bytes() -> jogak.Tokenizer:
    return jogak.train(iter(CORPUS), jogak.BPE(num_merges=20), pretokenizer="gpt2")


@cache
def trained_wordpiece() -> jogak.Tokenizer:
    config = jogak.WordPiece(vocab_size=60, unknown="[UNK]", min_pair_count=1)
    return jogak.train(iter(CORPUS), config, pretokenizer="bert")


def bytes_pair(peer: Any, normal: Any, stages: Any) -> tuple[Any, Spec]:
    """A byte-level BPE: in HF, and in jogak."""
    tok = trained_bytes()
    model = peer.models.BPE(vocab=dict(tok.vocab), merges=list(tok.merges))
    theirs = peer.Tokenizer(model)
    theirs.pre_tokenizer = peer.pre_tokenizers.ByteLevel(add_prefix_space=False)
    ours = Spec(model=tok.spec.model, pretokenizer=tok.spec.pretokenizer, normalizer=stages)
    return theirs, ours


def wordpiece_pair(peer: Any, normal: Any, stages: Any) -> tuple[Any, Spec]:
    tok = trained_wordpiece()
    theirs = peer.Tokenizer(peer.models.WordPiece(vocab=dict(tok.vocab), unk_token="[UNK]"))
    theirs.pre_tokenizer = peer.pre_tokenizers.BertPreTokenizer()
    ours = Spec(model=tok.spec.model, pretokenizer=tok.spec.pretokenizer, normalizer=stages)
    return theirs, ours


def unigram_pair(peer: Any, normal: Any, stages: Any, prepend: Any = "always") -> tuple[Any, Spec]:
    pieces = ("<unk>", *sorted({*"▁abcABs<>_-1lowert,.", "▁a", "ab", "▁the", "가"}))
    scores = tuple(-1.0 - 0.37 * number for number in range(len(pieces)))
    model = UnigramModel(pieces=pieces, scores=scores, unknown="<unk>")
    vocab = list(zip(pieces, scores, strict=True))
    theirs = peer.Tokenizer(peer.models.Unigram(vocab, unk_id=0))
    theirs.pre_tokenizer = peer.pre_tokenizers.Metaspace(prepend_scheme=prepend)
    spaces = Metaspace(prepend="start" if prepend == "first" else prepend, only_missing=True)
    return theirs, Spec(model=model, pretokenizer=(spaces,), normalizer=stages)


def first_pair(peer: Any, normal: Any, stages: Any) -> tuple[Any, Spec]:
    return unigram_pair(peer, normal, stages, "first")


NORMALIZERS = {
    "none": (lambda n: None, ()),
    "lowercase": (lambda n: n.Lowercase(), (jogak.Lowercase(),)),
    "nfkc": (lambda n: n.NFKC(), (jogak.UnicodeForm("nfkc"),)),
    "nfc, prepend": (
        lambda n: n.Sequence([n.NFC(), n.Prepend("_")]),
        (jogak.UnicodeForm("nfc"), jogak.Prepend("_")),
    ),
    "strip": (lambda n: n.Strip(), (jogak.Strip(),)),
    "replace": (lambda n: n.Replace("a", "bb"), (jogak.Replace("a", "bb"),)),
    "bert": (lambda n: n.BertNormalizer(), (jogak.BertNormalizer(),)),
}
#: HF counts a mark that was composed, and a space that was put in, to other characters.
SAME_SPANS = ("none", "lowercase", "strip", "replace")
PAIRS = [
    *((bytes_pair, name) for name in NORMALIZERS),
    *((wordpiece_pair, name) for name in ("none", "bert", "strip")),
    *((unigram_pair, name) for name in ("none", "nfkc", "lowercase", "replace", "strip")),
    *((first_pair, name) for name in ("none", "nfkc", "lowercase", "replace", "strip")),
]


def random_tokens(draw: random.Random, vocab: Any, rules: float) -> list[tuple[AddedToken, bool]]:
    """Some tokens, each once, and whether each is special."""
    texts = {
        "".join(draw.choices(LETTERS, k=draw.randint(1, 4))) for _ in range(draw.randint(1, 7))
    }
    flag = lambda: draw.random() < rules  # noqa: E731  # a draw, named
    tokens = []
    for text in sorted(texts):
        token = AddedToken(
            text, flag(), flag(), flag(), normalized=draw.random() < 0.5, in_model=text in vocab
        )
        tokens.append((token, draw.random() < 0.5))
    return tokens


def build(theirs: Any, ours: Spec, normal: Any, tokens: list[tuple[AddedToken, bool]]) -> Any:
    """Adds the tokens to both; None where HF finds one of two by chance, or hangs (on nothing)."""
    peer = hf()
    if normal is not None:
        theirs.normalizer = normal
        forms = [normal.normalize_str(token.text) for token, _ in tokens if token.normalized]
        if len(set(forms)) < len(forms) or "" in forms:
            return None
    for token, special in tokens:
        added = peer.AddedToken(
            token.text,
            single_word=token.single_word,
            lstrip=token.lstrip,
            rstrip=token.rstrip,
            normalized=token.normalized,
            special=special,
        )
        theirs.add_tokens([added])
    pieces = list(ours.model.pieces)
    extra = [token.text for token, _ in tokens if token.text not in set(pieces)]
    model = ours.model
    fields = {"pieces": (*pieces, *extra)}
    if isinstance(model, UnigramModel):
        fields["scores"] = (*model.scores, *(0.0 for _ in extra))
    model = dataclasses.replace(model, **fields)
    texts = {text: id_ for id_, text in enumerate(model.pieces)}
    return jogak.Tokenizer(
        dataclasses.replace(
            ours,
            model=model,
            special_tokens={token.text: texts[token.text] for token, special in tokens if special},
            added_tokens=tuple(token for token, _ in tokens),
            special_policy="parse",
        )
    )


@pytest.mark.parametrize(
    ("pair", "name"), PAIRS, ids=lambda value: getattr(value, "__name__", value)
)
@pytest.mark.parametrize("rules", [0.0, 0.3], ids=["plain", "rules"])
def test_added_tokens_equal_hf(pair: Any, name: str, rules: float) -> None:
    """Ids are equal, special tokens as tokens and as text; so are the places of tokens."""
    peer = hf()
    make, stages = NORMALIZERS[name]
    draw = random.Random(f"{pair.__name__} {name} {rules}")
    compared = found = 0
    for _ in range(60):
        normal = make(peer.normalizers)
        theirs, ours = pair(peer, normal, stages)
        tokens = random_tokens(draw, set(ours.model.pieces), rules)
        tok = build(theirs, ours, normal, tokens)
        if tok is None:
            continue
        ids = {tok.id(token.text) for token, _ in tokens if not token.in_model}
        parts = LETTERS + [token.text for token, _ in tokens] * 3
        for _ in range(12):
            text = "".join(draw.choices(parts, k=draw.randint(0, 12)))
            for policy in ("parse", "text"):
                theirs.encode_special_tokens = policy == "text"
                try:
                    expected = theirs.encode(text, add_special_tokens=False)
                except (
                    BaseException
                ) as error:  # a panic, where less than nothing is left of a token
                    if type(error).__name__ != "PanicException":
                        raise
                    tok.encode(text, special=policy)
                    continue
                case = (text, policy, tokens)
                assert tok.encode(text, special=policy) == expected.ids, case
                spans = token_spans(tok, text, policy, ids)
                offsets = [
                    (start, end)
                    for id_, (start, end) in zip(expected.ids, expected.offsets, strict=True)
                    if id_ in ids
                ]
                if name in SAME_SPANS:
                    assert spans == offsets, case
                compared += 1
                found += bool(offsets)
    assert compared > 500
    assert found > compared / 4


def compare_batches(theirs: Any, tok: jogak.Tokenizer, texts: list[str], case: Any) -> None:
    """The same ids, text by text and all together."""
    expected = [found.ids for found in theirs.encode_batch(texts, add_special_tokens=False)]
    for threads in (1, 2):
        found = tok.encode_batch(texts, num_threads=threads).to_lists()
        for text, ids, wanted in zip(texts, found, expected, strict=True):
            assert ids == wanted, (text, case)
    assert [tok.encode(text) for text in texts[:50]] == expected[:50], case


@pytest.mark.parametrize("form", [None, "nfc"])
@pytest.mark.parametrize("normalized", [True, False, None])
def test_runs_of_blanks_equal_hf(form: str | None, normalized: bool | None) -> None:
    """GPT-NeoX's, Phi-2's: tokens that stand in nearly every line of code."""
    peer = hf()
    draw = random.Random(f"{form} {normalized}")
    blanks = ["  ", "   ", "    ", "        ", "\t\t", "\n\n", "<|end|>", "|||A|||", " \n"]
    words = [
        "if",
        "x",
        "(",
        "):",
        "'s",
        "'",
        "low",
        "é",
        "e\u0301",
        "가나",
        "12",
        "_",
        "\u3000",
        ".",
    ]
    for round_ in range(16):
        normal = peer.normalizers.NFC() if form else None
        stages = (jogak.UnicodeForm("nfc"),) if form else ()
        theirs, ours = bytes_pair(peer, normal, stages)
        chosen = draw.sample(blanks, draw.randint(2, len(blanks)))
        if round_ % 2:
            # Of each length, as in files.
            chosen = [" " * length for length in range(2, draw.randint(3, 12))]
            chosen += ["\t" * length for length in range(2, draw.randint(2, 5))]
            chosen += draw.sample(["<|end|>", "|||A|||", "x("], draw.randint(0, 3))
        tokens = [
            (
                AddedToken(
                    text,
                    rstrip=round_ % 4 != 1 and draw.random() < 0.1,
                    normalized=draw.random() < 0.5 if normalized is None else normalized,
                    in_model=text in ours.model.pieces,
                ),
                text.startswith("<"),
            )
            for text in chosen
        ]
        tok = build(theirs, ours, normal, tokens)
        assert tok is not None
        parts = words * 2 + [" ", "\n", "\t", "\r"] * 4 + blanks * 2
        texts = ["".join(draw.choices(parts, k=draw.randint(0, 60))) for _ in range(150)]
        texts += ["".join(draw.choices(parts, k=60_000)), "    x\n" * 20_000, "x" * 100_000 + "  y"]
        compare_batches(theirs, tok, texts, tokens)


def gemma_like(peer: Any, draw: random.Random, runs: list[str]) -> Any:
    """Marks for spaces, bytes for what has no piece, and pieces of line ends, some of which merge."""
    letters = [*"▁abc<>é가나다\n\t", "[", "]"]
    pieces = [*letters, *(f"<0x{byte:02X}>" for byte in range(256)), "<unk>"]
    merges: list[tuple[str, str]] = []
    made: list[str] = []
    while len(merges) < 60:
        left, right = draw.choice(letters + made), draw.choice(letters)
        if left + right not in made and len(left + right) < 7:
            merges.append((left, right))
            made.append(left + right)
    pieces += made
    pieces += [run for run in runs if run not in pieces]
    model = peer.models.BPE(
        vocab={piece: id_ for id_, piece in enumerate(pieces)},
        merges=merges,
        unk_token="<unk>",
        fuse_unk=True,
        byte_fallback=True,
    )
    theirs = peer.Tokenizer(model)
    theirs.normalizer = peer.normalizers.Replace(" ", "▁")
    if draw.random() < 0.5:
        theirs.pre_tokenizer = peer.pre_tokenizers.Split(" ", "merged_with_previous")
    else:
        theirs.pre_tokenizer = peer.pre_tokenizers.Sequence(
            [
                peer.pre_tokenizers.Metaspace(prepend_scheme="never", split=False),
                peer.pre_tokenizers.Split(" ", "merged_with_previous"),
            ]
        )
    return theirs


@pytest.mark.parametrize("kind", ["plain", "any"])
def test_runs_of_line_ends_equal_hf(kind: str, tmp_path: Any) -> None:
    """Gemma's: tokens that stand in every text, which is one word; and what forbids to leave them."""
    peer = hf()
    draw = random.Random(kind)
    runs = ["\n\n", "\n\n\n", "\t", "\t\t", "▁▁", "▁▁▁", "<h1>", "[a]", "\r\n", "\x0b"]
    others = ["\n \n", "a\n", "<a>\n", " ", "  ", "\u2028", "가\t"]
    letters = [*"abc ▁▁<>é가나다\n\n\n\t\r[]", "  ", "😀", "\x0b", "x", "\u2028", "h1"]
    for round_ in range(40):
        theirs = gemma_like(peer, draw, runs)
        chosen = draw.sample(runs, draw.randint(1, len(runs)))
        if kind == "any" and draw.random() < 0.7:
            chosen += draw.sample(others, draw.randint(1, 2))
        # HF panics where of a token less than nothing is left.
        strips = kind == "any" and draw.random() < 0.2
        for text in chosen:
            flag = lambda: kind == "any" and draw.random() < 0.05  # noqa: E731  # a draw, named
            token = peer.AddedToken(
                text,
                single_word=flag(),
                lstrip=strips and draw.random() < 0.3,
                rstrip=flag(),
                normalized=flag(),
                special=flag() or text.startswith("<"),
            )
            theirs.add_tokens([token])
        path = tmp_path / f"{round_}.json"
        theirs.save(str(path))
        loaded = jogak.load(path)
        tok = jogak.Tokenizer(dataclasses.replace(loaded.spec, special_policy="parse"))
        some = letters if round_ % 3 else [one for one in letters if one != "▁"]
        parts = some + [text for text in chosen if round_ % 3 or "▁" not in text]
        texts = ["".join(draw.choices(parts, k=draw.randint(0, 40))) for _ in range(300)]
        # Of East Asia, which comes as code points, and long.
        texts += ["".join(draw.choices([*"가나다\n ", "\n\n", "\t"], k=200)) for _ in range(50)]
        texts += ["".join(draw.choices(parts, k=30_000))]
        if not strips:
            compare_batches(theirs, tok, texts * 2, chosen)
        for text in texts[:60]:
            traced = [id_ for word in tok.explain(text).words for id_ in word.ids]
            assert tok.encode(text) == traced, (text, chosen)


@pytest.mark.parametrize("name", ["bert", "clip"])
def test_tokens_of_normalized_text_equal_hf(name: str) -> None:
    """MPNet's and CLIP's: texts that surely have none are looked up as they stand."""
    peer = hf()
    n, draw = peer.normalizers, random.Random(name)
    clip = [n.NFC(), n.Replace(peer.Regex(r"\s+"), " "), n.Lowercase()]
    white = jogak.Replace(r"\s+", " ", regex=True)
    normal, stages = {
        "bert": (n.BertNormalizer(), (jogak.BertNormalizer(),)),
        "clip": (n.Sequence(clip), (jogak.UnicodeForm("nfc"), white, jogak.Lowercase())),
    }[name]
    letters = [
        "<",
        ">",
        "s",
        "S",
        "ab",
        "AB",
        "[",
        "]",
        " ",
        " ",
        "<s>",
        "<AB>",
        "<aB>",
        "[a]",
        "a",
    ]
    letters += ["\u226e", "\u0338", "\u0301", "\uff1c", "\0", "\u00ad", "é", "\n", "가", "12", "<a"]
    for _ in range(20):
        theirs, ours = wordpiece_pair(peer, normal, stages)
        tokens = [
            (AddedToken(text, normalized=draw.random() < 0.8, in_model=False), draw.random() < 0.5)
            for text in draw.sample(["<s>", "<ab>", "[a]", "<|s|>", "<é>"], draw.randint(1, 3))
        ]
        tok = build(theirs, ours, normal, tokens)
        assert tok is not None
        texts = ["".join(draw.choices(letters, k=draw.randint(0, 30))) for _ in range(400)]
        compare_batches(theirs, tok, texts, tokens)


def token_spans(tok: jogak.Tokenizer, text: str, policy: Any, ids: set[int]) -> list[Any]:
    """Where these tokens are, in characters."""
    data = text.encode()
    trace = tok.explain(text, special=policy)
    return [
        tuple(len(data[:at].decode(errors="replace")) for at in span)
        for word in trace.words
        for id_, span in zip(word.ids, word.token_spans, strict=True)
        if id_ in ids
    ]


# --- tiktoken

SPECIAL = {"<|a|>": 0, "<|b|>": 1, "<|c|>": 2}


@pytest.fixture(scope="module")
def both() -> tuple[Any, jogak.Tokenizer]:
    """The 256 bytes and three special tokens, in tiktoken and in jogak."""
    peer = pytest.importorskip("tiktoken")
    tok = jogak.train(
        {"a": 1}, jogak.BPE(num_merges=0), special_tokens=list(SPECIAL), pretokenizer="gpt2"
    )
    base = len(SPECIAL)
    ranks = {tok.decode_bytes([id_]): id_ for id_ in range(base, len(tok))}
    pattern = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
    theirs = peer.Encoding("toy", pat_str=pattern, mergeable_ranks=ranks, special_tokens=SPECIAL)
    return theirs, tok


sets = st.sets(st.sampled_from([*SPECIAL, "a", "nowhere"]))
allowed_sets = st.one_of(st.none(), st.just("all"), sets)
disallowed_sets = st.one_of(st.none(), st.just("all"), sets, sets.map(tuple))


@given(
    text=st.lists(st.sampled_from([*SPECIAL, "<|", "a", "|>", " ", "é", "<|d|>"]), max_size=8).map(
        "".join
    ),
    allowed=allowed_sets,
    disallowed=disallowed_sets,
)
def test_sets_of_special_tokens_equal_tiktoken(
    both: tuple[Any, jogak.Tokenizer], text: str, allowed: Any, disallowed: Any
) -> None:
    """The same ids, or an error where tiktoken has one."""
    theirs, tok = both
    given_sets = {"allowed_special": allowed, "disallowed_special": disallowed}
    options: Any = {name: value for name, value in given_sets.items() if value is not None}
    assume(options)
    try:
        expected = theirs.encode(text, **options)
    except ValueError:
        with pytest.raises(jogak.SpecialTokenError) as caught:
            tok.encode(text, **options)
        error = caught.value
        assert error.token is not None
        assert text[error.at :].startswith(error.token)
        return
    assert tok.encode(text, **options) == expected
    assert tok.encode_array(text, **options).tolist() == expected
    assert tok.encode_batch([text], **options).to_lists() == [expected]
    assert tok.count(text, **options) == len(expected)
    assert [tok.id(token) for token in tok.tokens(text, **options)] == expected
    assert [id_ for word in tok.explain(text, **options).words for id_ in word.ids] == expected
