"""Short texts of a batch, which are encoded many at a time: each has the ids that it has by itself."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak.reference.scored import merge_by_scores
from jogak.spec import AddedToken, ScoredBPEModel, Spec, UnigramModel, WordPieceModel

CORPUS = [
    "the lowest newest, widest lower; low! and the rest isn't in the list...\n",
    "계란간장볶음밥 간장계란밥!! 계란밥... 가각간\r\n",
    "def name(self, x):  # as above\n    return [0] * 1234\n\n\t\t\n",
    " \u3000 \u00a0\u2003 日本日本 ア。。。 /path/to//a/ 'tis 'LL e\u0301\u0301 \x00\x1f \u2028",
]
SCHEMES = ["gpt2", "cl100k", "o200k", "llama-3", "qwen2", "tekken"]
SPECIAL = ["<pad>", "\n<s>", "<s>"]
#: What stands at the ends of texts, and what could join it at the beginning of the next.
PIECES = [
    *("\n", "\n", "\r", "\r\n", " ", "  ", "\t", "\x0b", "\x85", "\u2028", "\u3000"),
    *("!", "...", "/", "'", "'s", "'LL", "a", "e\u0301", "\u0301"),
    *("low", "Low", "lowest", "LOWest", "the"),
    *("계란", "간장밥", "가", "日本", "ア。", "1", "1234", "\x00", "\x01", "😀"),
    # What the longest match cuts otherwise.
    *("pathe", "가간장밥", "    "),
    *("<pad>", "<pa", "d>", "<s", "_x_", "_x", "__", "{}", "x" * 600),
]
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), max_size=40)
FOUND = (
    AddedToken("_x_", single_word=True),
    AddedToken("{}", lstrip=True, rstrip=True),
    AddedToken("a b"),
)
#: It is found in "Lowest" too.
NORMALIZED = AddedToken("lowest", normalized=True, in_model=True)


@pytest.fixture(scope="module", params=SCHEMES)
def tok(request: pytest.FixtureRequest) -> jogak.Tokenizer:
    """Byte-level, with tokens to be found: one of them lies across the ends of texts."""
    config = jogak.BPE(min_pair_count=1, num_merges=300)
    scheme = request.param
    spec = jogak.train(iter(CORPUS * 2), config, pretokenizer=scheme, special_tokens=SPECIAL).spec
    extra = tuple(token.text for token in FOUND)
    model = dataclasses.replace(spec.model, pieces=(*spec.model.pieces, *extra))
    return jogak.Tokenizer(dataclasses.replace(spec, model=model, added_tokens=FOUND))


def check(tok: jogak.Tokenizer, texts: list[str], threads: int) -> None:
    for special in ("text", "parse"):
        expected = [tok.encode(text, special=special) for text in texts]
        found = tok.encode_batch(texts, special=special, num_threads=threads)
        assert found.to_lists() == expected


#: Models that look words up as they stand in the text.
RAW = [
    *("wordpiece", "wordpiece, with a normalized token"),
    *("unigram", "unigram of SentencePiece", "unigram behind marks"),
]
LATIN = ("lowest", "low", "est", "the", "1", "234")
WORDS = (*LATIN, "계란", "간장", "계", "란", "간", "장", "日", "ア")


@pytest.fixture(scope="module", params=RAW)
def raw(request: pytest.FixtureRequest) -> jogak.Tokenizer:
    """With tokens to be found, two of which may lie across the ends of texts."""
    kind = request.param
    special = ("<unk>", *SPECIAL)
    found = tuple(token.text for token in FOUND)
    letters = tuple("lowesthrican.!/'_x{}23456")
    if kind.startswith("wordpiece"):
        followers = (f"##{text}" for text in (*letters, *WORDS))
        model = WordPieceModel(
            pieces=(*special, *found, *letters, *WORDS, *followers), unknown="<unk>"
        )
        normalizer = jogak.BertNormalizer(
            clean_text=True, chinese_chars=True, strip_accents=True, lowercase=True
        )
        return jogak.Tokenizer(
            Spec(
                model=model,
                normalizer=(normalizer,),
                pretokenizer=jogak.spec.resolve_pretokenizer("bert"),
                special_tokens={text: id_ for id_, text in enumerate(special)},
                added_tokens=FOUND if kind == "wordpiece" else (*FOUND, NORMALIZED),
            )
        )
    pieces = (*letters, *WORDS, "▁", "▁lo", "▁the", "we", "er", "▁계", "ll", "oo", "ow")
    # They nearly tie, so that the sum before a word matters.
    scores = [-3.0 - len(piece) * 1.0000001 - n % 3 for n, piece in enumerate(pieces)]
    unigram = UnigramModel(
        pieces=(*special, *found, *pieces),
        scores=(*([0.0] * (len(special) + len(found))), *scores),
        unknown="<unk>",
        precision="double" if kind == "unigram" else "single",
        marker=jogak.Marker("none"),
    )
    prepend: Any = "given" if kind == "unigram behind marks" else "first"
    return jogak.Tokenizer(
        Spec(
            model=unigram,
            normalizer=(jogak.RuleSet("nmt_nfkc"), jogak.CollapseSpaces()),
            pretokenizer=(jogak.Metaspace(prepend=prepend, split=kind == "unigram"),),
            special_tokens={text: id_ for id_, text in enumerate(special)},
            added_tokens=FOUND,
        )
    )


@pytest.fixture(scope="module", params=["never", "always", "first", "given"])
def whole(request: pytest.FixtureRequest) -> jogak.Tokenizer:
    """A text is one word of SentencePiece's BPE; with tokens to be found, some of line ends."""
    prepend = request.param
    spaces = jogak.Metaspace(prepend=prepend, split=False, only_missing=prepend == "first")
    config = jogak.BPE(min_pair_count=1, num_merges=300, marker="none", unknown="<unk>")
    spec = jogak.train(iter(CORPUS * 2), config, pretokenizer=spaces, special_tokens=SPECIAL).spec
    pieces = spec.model.pieces
    ends = [text for text in ("\n", "\t\t", "\r\n") if text in pieces and prepend != "given"]
    assert prepend == "given" or ends
    found = () if prepend == "never" else FOUND
    model = dataclasses.replace(spec.model, pieces=(*pieces, *(token.text for token in found)))
    added = (*found, *(AddedToken(text, in_model=True) for text in ends))
    return jogak.Tokenizer(dataclasses.replace(spec, model=model, added_tokens=added))


@given(texts=TEXTS, threads=st.integers(1, 3))
def test_texts_that_are_one_word(whole: jogak.Tokenizer, texts: list[str], threads: int) -> None:
    check(whole, texts, threads)
    for strategy in ("longest-match", "merges"):
        expected = [whole.encode(text, strategy=strategy) for text in texts]
        assert whole.encode_batch(texts, strategy=strategy).to_lists() == expected
    parts: list[Any] = [[text, jogak.Trusted("<pad>")] for text in texts]
    mixed = [text for both in zip(texts, parts, texts, strict=True) for text in both]
    assert whole.encode_batch(mixed).to_lists() == [whole.encode(text) for text in mixed]


#: Some characters have no piece, and parts end between them: a run is one unknown piece all the same.
FEW = {text: -float(number) for number, text in enumerate(["▁a", "ab", "가나", "▁▁"])}
LETTERS = st.text("ab가나다中ж.<▁ \n", max_size=30)


@given(texts=st.lists(LETTERS, max_size=30), prepend=st.sampled_from(["always", "never"]))
def test_runs_of_unknown_characters(texts: list[str], prepend: Any) -> None:
    model = ScoredBPEModel(
        pieces=(*FEW, *"▁ab가나.", "<unk>"),
        scores=(*FEW.values(), *[0.0] * 7),
        merges=None,
        marker=jogak.Marker("none"),
        mark_words=False,
        unknown="<unk>",
        fuse_unknown=True,
    )
    spaces = jogak.Metaspace(prepend=prepend, split=False)
    tok = jogak.Tokenizer(Spec(model=model, pretokenizer=(spaces,)))
    ids = {text: id_ for id_, text in enumerate(model.pieces)}
    twin = jogak.reference.Model(model.pieces, unk="<unk>", fuse_unknown=True)
    expected = []
    for text in texts:
        word = ("▁" if text and prepend == "always" else "") + text.replace(" ", "▁")
        scores = FEW | dict.fromkeys("▁ab가나.", 0.0)
        pieces = twin.with_unknowns(merge_by_scores(word, scores)) if word else []
        expected.append([ids[piece] for piece in pieces])
    assert tok.encode_batch(texts).to_lists() == expected
    assert [tok.encode(text) for text in texts] == expected


@given(texts=TEXTS, threads=st.integers(1, 3))
def test_raw_words(raw: jogak.Tokenizer, texts: list[str], threads: int) -> None:
    check(raw, texts, threads)
    parts: list[Any] = [[text, jogak.Trusted("<pad>")] for text in texts]
    mixed = [text for both in zip(texts, parts, texts, strict=True) for text in both]
    assert raw.encode_batch(mixed).to_lists() == [raw.encode(text) for text in mixed]


def test_raw_words_of_many_texts(raw: jogak.Tokenizer) -> None:
    """More words than are looked up at once; some are not certain, and some texts have none."""
    draw = random.Random(1)
    plain = [piece for piece in PIECES if piece.isalnum()]
    texts = []
    for number in range(4000):
        pool = plain if number % 1000 < 700 else PIECES
        count = draw.choice([0, 1, 1, 2, 5, 9, 30])
        texts.append(draw.choice(["", " "]).join(draw.choice(pool) for _ in range(count)))
    expected = [raw.encode(text) for text in texts]
    for _ in range(2):
        assert raw.encode_batch(texts).to_lists() == expected


def test_sums_start_over_in_each_text() -> None:
    """How a row of the same letters is cut depends on how sums of 32 bits are rounded."""
    # Two letters are a little likelier together: less than sums of thousands can tell, for some.
    letters = "abcdefghijklmno"
    pieces = tuple(letter * length for letter in letters for length in (1, 2))
    ones = {letter: -1.1 - number * 1.7e-5 for number, letter in enumerate(letters)}
    scores = tuple(len(text) * ones[text[0]] + (len(text) - 1) * 3e-5 for text in pieces)
    model = UnigramModel(
        pieces=("<unk>", "▁", "p", *pieces),
        scores=(0.0, -0.7, -8.0, *scores),
        unknown="<unk>",
        precision="single",
        marker=jogak.Marker("none"),
    )
    spaces = jogak.Metaspace(split=False)
    spec = Spec(model=model, normalizer=(jogak.CollapseSpaces(),), pretokenizer=(spaces,))
    tok = jogak.Tokenizer(spec)
    draw = random.Random(3)
    far = ["p" * length for length in range(60, 127)]
    rows = [letter * length for letter in letters for length in (2, 4)]
    # Some are cut in another way where the sum before them is large.
    after = len(tok.encode(" ".join(far[:3]))) + 1
    cut = {row: tok.encode(" ".join([*far[:3], row]))[after:] for row in rows}
    assert sum(cut[row] != tok.encode(row)[1:] for row in rows) > 3
    lines = [" ".join(draw.choices(far + rows, k=draw.randint(1, 5))) for _ in range(4000)]
    # Each such row before texts of one word, which say nothing of how large its sum is.
    lines += [line for row in rows for line in (" ".join([*far[:3], row]), *(["p"] * 60))]
    expected = [tok.encode(line) for line in lines]
    for _ in range(2):
        assert tok.encode_batch(lines).to_lists() == expected


@given(texts=TEXTS, threads=st.integers(1, 3))
def test_ids_are_those_of_each_text(tok: jogak.Tokenizer, texts: list[str], threads: int) -> None:
    check(tok, texts, threads)


@given(lines=st.lists(st.lists(st.sampled_from(PIECES), max_size=6), max_size=20))
def test_what_is_asked_for_is_done(tok: jogak.Tokenizer, lines: list[list[str]]) -> None:
    """Another strategy, words drawn from a seed, and texts of which parts are trusted."""
    texts = ["".join(pieces) for pieces in lines]
    for strategy in ("longest-match", "longest-first", "merges"):
        expected = [tok.encode(text, strategy=strategy) for text in texts]
        assert tok.encode_batch(texts, strategy=strategy).to_lists() == expected
    one_by_one = [tok.encode_batch([text], dropout=1.0).to_lists()[0] for text in texts]
    assert tok.encode_batch(texts, dropout=1.0).to_lists() == one_by_one
    parts: list[Any] = [[*pieces, jogak.Trusted("<pad>")] for pieces in lines]
    mixed = [text for both in zip(texts, parts, texts, strict=True) for text in both]
    assert tok.encode_batch(mixed).to_lists() == [tok.encode(text) for text in mixed]


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_lines_of_files(tok: jogak.Tokenizer, tmp_path: Path, ending: str) -> None:
    lines = [line.rstrip() + ending for text in CORPUS for line in text.splitlines()] * 300
    expected = [tok.encode(line) for line in lines]
    assert tok.encode_batch(lines).to_lists() == expected
    path = tmp_path / "lines.txt"
    path.write_text("".join(line.rstrip("\r\n") + (ending or "\n") for line in lines), newline="")
    newline = "keep" if ending else "drop"
    batches = tok.encode_files(path, newline=newline)
    assert [ids for batch in batches for ids in batch.to_lists()] == expected


@pytest.mark.parametrize("before", [0, 1, 5, 500])
def test_the_text_that_fails_is_told(before: int) -> None:
    """Texts before and behind it are encoded together with it."""
    words = {"low": 3, "lower": 2}
    config = jogak.BPE(num_merges=4, marker="none", unknown=None)
    tok = jogak.train(words, config, pretokenizer="gpt2", special_tokens=["<s>"])
    texts = ["low", "lower"] * before
    assert tok.encode_batch(texts).to_lists() == [tok.encode(text) for text in texts]
    told = f"text {2 * before} of the batch"
    with pytest.raises(jogak.EncodeError, match=told):
        tok.encode_batch([*texts, "lo밥", "low", "밥"])
    with pytest.raises(jogak.SpecialTokenError, match=told):
        tok.encode_batch([*texts, "lo<s>", "low", "<s>"], special="error")
