"""Words that are looked up as they stand in the text give the ids of the plain way.

The plain way is that of spans: there the whole text is normalized and cut, and only then are words
looked up. What makes the short way go wrong is what joins words: marks, controls that vanish, spaces
of all kinds, borders of clusters, sums of scores.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

import jogak
from jogak.formats import codes
from jogak.spec import (
    Normalizer,
    Precision,
    Spec,
    UnigramModel,
    WordPieceModel,
    resolve_pretokenizer,
)

MODELS = [
    "bert-base-cased/tokenizer.json",
    "bert-base-uncased/vocab.txt",
    "bert-base-chinese/vocab.txt",
    "koelectra-base/vocab.txt",
    "nai-t5/spiece.model",
    "tta-ko-unigram/tokenizer.model",
    "t5-small/tokenizer.json",
    "xlnet-base-cased/spiece.model",
    "xlnet-base-cased/tokenizer.json",
    "chinese-llama-tokenizer/tokenizer-human.model",
    "spm-test/test_ja_model.model",
]

POOLS = [
    " \t\n\r  ,.!?'\"-abcdefABCXYZ019",
    "가나다라힣ㄱㅏ각 ",
    "中文字一龥鿿鿐䷿﨑　 ",
    "éàÄßİıñ\u0301\u0300\u0327\u0345\u0340\u0344 aA=",
    "\u200b\u200d\ufeff\u00a0\u2003\u3000\u2581\x00\x0b\x0c\x1c\x85\ufffd\u0600\u06dd\u180e ab",
    "\u2028\u2029\u1680\u00b8\u00a8\u00a0\u200b \n ab",
    "\U0001f468\u200d\U0001f469\U0001f1f0\U0001f1f7\u2764\ufe0f ab",
    [
        " the",
        " of",
        "ing ",
        "안녕 ",
        "[MASK]",
        "<extra_id_5>",
        "</s>",
        "<unk>",
        "<eop>",
        "  ",
        "\n\n",
    ],
    [
        "x" * 70,
        "가" * 30,
        " " * 5,
        "▁▁",
        "▁",
        "\ufdfa",
        "ﬁ",
        "①",
        "㌀",
        "´",
        "¨",
        "...",
        "``",
        "\r\n",
    ],
]


def hostile(seed: int, count: int) -> Iterator[str]:
    draw = random.Random(seed)
    for _ in range(count):
        pools = [draw.choice(POOLS) for _ in range(draw.randint(1, 4))]
        parts = draw.choice([1, 2, 3, 5, 8, 20, 60])
        yield "".join(draw.choice(draw.choice(pools)) for _ in range(parts))


def every_character(step: int) -> Iterator[str]:
    for code in range(step % 7, 0x110000, step):
        if not 0xD800 <= code < 0xE000:
            c = chr(code)
            yield f"{c}a {c} b{c}\n{c}{c}c d{c} {c}"


def compare(tok: jogak.Tokenizer, texts: list[str]) -> None:
    """Both ways, the short one with a cold and with a warm memory, of texts together and alone."""
    plain = [
        encoding.ids.tolist() for encoding in tok.encoding_batch(texts, add_special_tokens=False)
    ]
    for _ in range(2):
        batch = tok.encode_batch(texts, num_threads=1).to_lists()
        alone = (tok.encode(text) for text in texts)
        for text, ids, by_itself, expected in zip(texts, batch, alone, plain, strict=True):
            assert ids == expected, repr(text)
            assert by_itself == expected, repr(text)


@pytest.mark.parametrize("name", MODELS)
def test_models_of_files(name: str, data: Callable[[str], Path]) -> None:
    tok = jogak.load(data(f"models/{name}"))
    compare(tok, list(hostile(1, 3000)))
    compare(tok, list(every_character(101)))
    compare(tok, ["".join(hostile(2, 3000))])


GLUED = "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"
GLUED += "，。！？（）「」、：；　ＡＢＣ１２３ｱｲｳ㌀①가나다a1龘𠀀\u200b\u0301éж"


@pytest.mark.parametrize("name", MODELS)
def test_long_words(name: str, data: Callable[[str], Path]) -> None:
    """Words of all lengths around the longest that is remembered, and far longer ones."""
    tok = jogak.load(data(f"models/{name}"))
    draw = random.Random(5)
    pools = [
        GLUED,
        GLUED[:40],
        "abcde-/.=" + GLUED[:3],
        "가나다라마바사하이으로다",
        "龘靐齉",
        "жщюя",
    ]
    texts = []
    for _ in range(1500):
        words = []
        for _ in range(draw.randint(1, 6)):
            length = draw.choice([5, 15, 22, 30, 43, 64, 70, 128, 131, 300, 2500])
            pool = draw.choice(pools)
            words.append("".join(draw.choice(pool) for _ in range(draw.randint(1, length))))
        texts.append(" ".join(words))
    compare(tok, texts)


PIECES = (*"▁abcxyzéß.中가", "ab", "bc", "▁a", "▁ab", "a▁b", "▁▁", "▁▁▁", "각", "xx", "xxxx")
# Where words fall apart at marks, so that they can be looked up.
CUT_AT_MARKS = tuple(piece for piece in PIECES if "▁" not in piece[1:])


def unigram(pieces: tuple[str, ...], precision: Precision) -> UnigramModel:
    """Scores that nearly tie, so that the sum before a word matters."""
    scores = tuple(-3.0 - len(piece) * 1.0000001 - n % 3 for n, piece in enumerate(pieces))
    return UnigramModel(
        pieces=("<unk>", *pieces),
        scores=(0.0, *scores),
        unknown="<unk>",
        precision=precision,
        marker=jogak.Marker("none"),
    )


NORMALIZERS: dict[str, tuple[Normalizer, ...]] = {
    "nothing": (),
    "rule set": (jogak.RuleSet("nmt_nfkc"),),
    "collapsed": (jogak.RuleSet("nmt_nfkc_cf"), jogak.CollapseSpaces()),
    "form": (jogak.UnicodeForm("nfkc"), jogak.Lowercase()),
    "marks": (jogak.UnicodeForm("nfd"), jogak.StripMarks(), jogak.HfNmt()),
    "replaced": (jogak.Replace("xy", " z"), jogak.CollapseSpaces()),
    # As HF tokenizers has SentencePiece's models.
    "squeezed": (
        jogak.RuleSet("nmt_nfkc"),
        jogak.Strip(left=False),
        jogak.Replace(" {2,}", "▁", regex=True),
    ),
    "stripped first": (
        jogak.Strip(),
        jogak.RuleSet("nmt_nfkc"),
        jogak.Replace(" {2,}", " ", regex=True),
    ),
    "only squeezed": (jogak.Lowercase(), jogak.Replace(" {2,}", " ", regex=True)),
    "squeezed, then small": (
        jogak.HfNmt(),
        jogak.UnicodeForm("nfkc"),
        jogak.Replace(" {2,}", " ", regex=True),
        jogak.Lowercase(),
    ),
    "collapsed, then small": (
        jogak.RuleSet("nmt_nfkc"),
        jogak.CollapseSpaces(),
        jogak.Lowercase(),
    ),
    "only stripped": (jogak.Strip(right=False), jogak.RuleSet("nmt_nfkc"), jogak.Strip()),
    "replaced across": (jogak.Replace("x y", "z"), jogak.Replace(r"\s{2,}", " ", regex=True)),
    "clip": (jogak.UnicodeForm("nfc"), jogak.Replace(r"\s+", " ", regex=True), jogak.Lowercase()),
    "clip, collapsed": (jogak.Replace(r"\s+", " ", regex=True), jogak.CollapseSpaces()),
}


@pytest.mark.parametrize("name", NORMALIZERS)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("collected", [PIECES, CUT_AT_MARKS])
def test_metaspace(name: str, precision: Precision, collected: tuple[str, ...]) -> None:
    texts = [*hostile(3, 250), "".join(hostile(4, 400))]
    prepends: list[Literal["first", "given", "start", "always", "never"]]
    prepends = ["first", "given", "start", "always", "never"]
    for prepend, only_missing, split in itertools.product(prepends, (False, True), (False, True)):
        spaces = jogak.Metaspace(prepend=prepend, only_missing=only_missing, split=split)
        model = unigram(collected, precision)
        spec = Spec(model=model, normalizer=NORMALIZERS[name], pretokenizer=(spaces,))
        compare(jogak.Tokenizer(spec), texts)


@pytest.mark.parametrize("name", NORMALIZERS)
@pytest.mark.parametrize("prepend", ["always", "never", "first"])
def test_white_space_that_is_dropped(
    name: str, prepend: Literal["always", "never", "first"]
) -> None:
    for only_missing, split in itertools.product((False, True), (False, True)):
        spaces = jogak.Metaspace(prepend=prepend, only_missing=only_missing, split=split)
        cut = (jogak.Named("whitespace"), spaces)
        model = unigram(PIECES, "double")
        tok = jogak.Tokenizer(Spec(model=model, normalizer=NORMALIZERS[name], pretokenizer=cut))
        compare(tok, [*hostile(5, 400), "".join(hostile(4, 400))])


SQUEEZE, CLEAN = jogak.Replace(" {2,}", "▁", regex=True), jogak.Replace(" {2,}", " ", regex=True)
#: What stands before and behind the charsmap in HF tokenizers' files of SentencePiece's models.
AROUND: dict[str, tuple[list[Normalizer], list[Normalizer]]] = {
    "now": ([], [jogak.Strip(left=False), SQUEEZE]),
    "before": ([], [CLEAN]),
    "deberta": ([jogak.Strip()], [CLEAN]),
    "albert": (
        [
            jogak.Replace("``", '"'),
            jogak.Replace("''", '"'),
            jogak.UnicodeForm("nfkd"),
            jogak.StripMarks(),
            jogak.Lowercase(),
        ],
        [],
    ),
    "all": ([jogak.Strip(), jogak.Lowercase()], [jogak.Strip(left=False), SQUEEZE]),
}


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize("drops", [False, True])
def test_files_of_sentencepiece_for_hugging_face(
    name: str, drops: bool, data: Callable[[str], Path]
) -> None:
    spec = jogak.load(data("models/t5-small/tokenizer.json")).spec
    before, behind = AROUND[name]
    spaces = jogak.Metaspace(prepend="always", only_missing=True)
    cut = (jogak.Named("whitespace"), spaces) if drops else (spaces,)
    normalizer = (*before, *spec.normalizer, *behind)
    tok = jogak.Tokenizer(dataclasses.replace(spec, normalizer=normalizer, pretokenizer=cut))
    compare(tok, list(hostile(1, 3000)))
    compare(tok, list(every_character(101)))
    compare(tok, ["".join(hostile(2, 2000))])


@pytest.mark.parametrize("matches", ["isolated", "merged_with_previous", "removed", "only"])
def test_texts_that_nothing_cuts(
    matches: Literal["isolated", "merged_with_previous", "removed", "only"],
    data: Callable[[str], Path],
) -> None:
    """Gemma's: spaces are marks when it is asked where they are."""
    spec = jogak.load(data("models/mistral-v1/tokenizer.json")).spec
    cut = (jogak.Split(" ", matches=matches, regex=False),)
    for replaced in (jogak.Replace(" ", "▁"), jogak.Replace(" ", "▁ ")):
        changed = dataclasses.replace(spec, normalizer=(replaced,), pretokenizer=cut)
        compare(jogak.Tokenizer(changed), list(hostile(1, 500)))


def test_near_ties_far_into_a_text() -> None:
    """Sums of 32 bits are coarse there, and start over."""
    model = unigram(CUT_AT_MARKS, "single")
    normalizer = NORMALIZERS["collapsed"]
    spaces = jogak.Metaspace(split=False)
    tok = jogak.Tokenizer(Spec(model=model, normalizer=normalizer, pretokenizer=(spaces,)))
    draw = random.Random(5)
    words = ["".join(draw.choices("abcxyz", k=draw.randint(1, 9))) for _ in range(300)]
    compare(tok, [" ".join(draw.choices(words, k=60_000)), "abc" * 20 + " " + "☃ab " * 9_000])


def test_characters_that_cost_much() -> None:
    """Words of them take sums farther than words of their length are reckoned with."""
    plain = unigram(CUT_AT_MARKS, "single")
    scores = dict(zip(plain.pieces, plain.scores, strict=True))
    # Letters lead these pieces where sums are small; where they are large, rounding makes them equal.
    scores |= {pair: scores[pair[0]] + scores[pair[1]] - 0.003 for pair in ("yz", "zc", "ya")}
    scores |= {"ж": -300.0, "щ": -4000.0}
    model = dataclasses.replace(plain, pieces=tuple(scores), scores=tuple(scores.values()))
    spaces = jogak.Metaspace(split=False)
    spec = Spec(model=model, normalizer=NORMALIZERS["collapsed"], pretokenizer=(spaces,))
    draw = random.Random(8)
    words = ["".join(draw.choices("abcxyz", k=draw.randint(1, 9))) for _ in range(300)]
    costly = ["".join(draw.choices("жщ中가", k=draw.randint(1, 60))) for _ in range(40)]
    texts = [" ".join(draw.choices(words + costly[:n], k=9_000)) for n in (5, 40)]
    # Right behind them, little is known of the sum but what it is reckoned with.
    texts += [" ".join([draw.choice(costly), *draw.choices(words, k=4)]) for _ in range(4_000)]
    compare(jogak.Tokenizer(spec), texts)


def test_words_that_are_cut_at_punctuation() -> None:
    pieces = ("[UNK]", *string.ascii_lowercase, *".,!中文", "ab", "##a", "##b", "##é", "##bc")
    model = WordPieceModel(pieces=pieces, unknown="[UNK]")
    for lowercase in (False, True):
        for clean in (False, True):
            normalizer = jogak.BertNormalizer(
                clean_text=clean, chinese_chars=True, strip_accents=lowercase, lowercase=lowercase
            )
            for scheme in ("bert", "whitespace"):
                spec = Spec(
                    model=model,
                    normalizer=(normalizer,),
                    pretokenizer=resolve_pretokenizer(scheme),
                )
                tok = jogak.Tokenizer(spec)
                compare(tok, [*hostile(6, 1000), "".join(hostile(7, 1000))])


#: Texts to learn merges of: words of all pools.
LEARNED = [
    "".join(hostile(8, 3000)),
    "the of low lower abcabc the them <unk> 안녕 하세요 中文字 " * 20,
]


def merging(marker: str, **options: Any) -> jogak.Spec:
    symbol: Any = "joined" if marker == "joined" else "own"
    kind: Any = "suffix" if marker in {"joined", "own"} else marker
    mark = jogak.Marker(kind, symbol=symbol) if kind == "suffix" else kind
    config = jogak.BPE(marker=mark, num_merges=400, ties="lowest-id", **options)
    return jogak.train(iter(LEARNED), config, pretokenizer="whitespace").spec


CLIP = r"<\|startoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
#: What cuts words, and drops blanks. The last ones see blanks, or more than a word.
DROPPING: list[Any] = [
    "whitespace",
    "bert",
    "bert-8.0",
    codes.WORDS,
    "words",
    ["words", "digits"],
    [jogak.Split(CLIP, matches="removed", invert=True), "gpt2"],
    jogak.Split(r"\w+|\S", matches="only"),
    ["whitespace", jogak.Metaspace(prepend="always")],
    [
        "whitespace",
        jogak.Metaspace(prepend="never"),
        jogak.Split("a", regex=False, matches="removed"),
    ],
    jogak.Split(r"[^a]+", matches="only"),
    jogak.Split(r"\w+$|^\w", matches="only"),
    jogak.Split(r"\w+", matches="removed"),
    jogak.Split(r"(?<= )\w+|\w(?= )", matches="only"),
]
MADE: dict[str, Callable[[], jogak.Spec]] = {
    "joined": lambda: merging("joined"),
    "own": lambda: merging("own"),
    "fused": lambda: merging("joined", fuse_unknown=True),
    "nothing unknown": lambda: merging("none", unknown=None, alphabet_size=300),
    "continuation": lambda: merging("continuation"),
    "byte-level": lambda: merging("byte-level"),
    "fallback": lambda: merging("own", byte_fallback=True, alphabet_size=60),
    "longest first": lambda: merging("joined", strategy="longest-first"),
}


@pytest.mark.parametrize("name", MADE)
def test_merges_of_words(name: str) -> None:
    """Words that depend on nothing around them, whatever a normalizer makes of them first."""
    spec = MADE[name]()
    texts = [*hostile(9, 400), "".join(hostile(10, 300)), *every_character(4001)]
    texts += [
        "\n a b \r\n",
        "a\nb c\n",
        "\r\n",
        " \n ",
        "a \n",
        "\na\n b\r",
        "the\u2003low the\tof\n",
    ]
    for cut, rules in itertools.product(DROPPING, NORMALIZERS.values()):
        changed = dataclasses.replace(
            spec, normalizer=rules, pretokenizer=resolve_pretokenizer(cut)
        )
        compare_or_fail(jogak.Tokenizer(changed), texts)


def compare_or_fail(tok: jogak.Tokenizer, texts: list[str]) -> None:
    """As `compare`, where what no piece covers is an error each way."""
    kept = []
    for text in texts:
        try:
            tok.encoding(text, add_special_tokens=False)
        except jogak.EncodeError as error:
            for _ in range(2):
                with pytest.raises(jogak.EncodeError, match=re.escape(str(error))):
                    tok.encode(text)
        else:
            kept.append(text)
    compare(tok, kept)


@pytest.mark.parametrize("whole_word", [False, True])
def test_merges_of_words_that_may_be_pieces(whole_word: bool) -> None:
    spec = merging("none")
    model = dataclasses.replace(spec.model, whole_word=whole_word)
    texts = [*hostile(11, 1000), "".join(hostile(12, 1000))]
    for cut in DROPPING:
        changed = dataclasses.replace(
            spec,
            model=model,
            normalizer=(jogak.Lowercase(),),
            pretokenizer=resolve_pretokenizer(cut),
        )
        compare(jogak.Tokenizer(changed), texts)


@pytest.mark.parametrize("fuse", [False, True])
def test_words_that_are_pieces(fuse: bool) -> None:
    pieces = ("<unk>", "the", "of", "low", "안녕", "a", "b", ".", "中", "文", "中文字")
    model = jogak.spec.WordLevelModel(pieces=pieces, unknown="<unk>", fuse_unknown=fuse)
    texts = [
        *hostile(13, 1000),
        "".join(hostile(14, 1000)),
        "the of x y the\n",
        "x\ny",
        "\nthe \r\n",
    ]
    for cut, rules in itertools.product(DROPPING, [(), (jogak.Lowercase(),)]):
        spec = Spec(model=model, normalizer=rules, pretokenizer=resolve_pretokenizer(cut))
        compare(jogak.Tokenizer(spec), texts)


def test_words_between_spaces_with_glossaries_and_tokens(tmp_path: Path) -> None:
    """Of a line what stands around its words goes; not where a token stands there."""
    lines = re.split("[\r\n]", "".join(LEARNED))
    tok = jogak.train(iter(lines), merging_codes(), pretokenizer=codes.WORDS)
    tok.save(tmp_path / "codes", format="subword-nmt")
    kept = [piece.removesuffix("</w>") + "@@" * (not piece.endswith("</w>")) for piece in tok.vocab]
    texts = [
        *hostile(15, 1500),
        "".join(hostile(16, 1000)),
        "the\n",
        "\nthe of\r\n",
        "of [MASK] \n the",
    ]
    for options in (
        {},
        {"glossaries": ["the", "[ab]+"]},
        {"vocabulary": kept[::2]},
    ):
        spec = jogak.load(tmp_path / "codes", unknown="<none>", **options).spec
        compare(jogak.Tokenizer(spec), texts)
        for token in ("\n", "of \r", "☃t"):
            model = dataclasses.replace(spec.model, pieces=(*spec.model.pieces, token))
            added = (jogak.AddedToken(token),)
            with_token = dataclasses.replace(spec, model=model, added_tokens=added)
            compare(jogak.Tokenizer(with_token), [*texts, f"the{token}low {token}", f"{token} a "])


def merging_codes() -> jogak.BPE:
    marker = jogak.Marker("suffix", symbol="joined")
    return jogak.BPE(marker=marker, num_merges=300, ties="greatest")


@pytest.mark.parametrize("mark", ["_", "\ud7ff", "\ufffe", "\uffff", "\U00010000"])
def test_marks_in_text(mark: str) -> None:
    """Words are cut there, so that no piece lies across, whatever character the mark is."""
    scores = {"<unk>": 0.0, mark: -1.0, "a": -1.0, "b": -1.0, f"a{mark}b": -0.1}
    model = jogak.UnigramModel(pieces=tuple(scores), scores=tuple(scores.values()), unknown="<unk>")
    cut = (jogak.Named("whitespace"), jogak.Metaspace(mark=mark, prepend="never"))
    tok = jogak.Tokenizer(jogak.Spec(model=model, pretokenizer=cut))
    assert tok.tokens(f"a{mark}b b") == ["a", mark, "b", "b"]
    draw = random.Random(6)
    texts = ["".join(draw.choices(f"ab{mark} ", k=draw.randint(1, 12))) for _ in range(500)]
    compare(tok, [f"a{mark}b b", *texts])


def even(
    scores: dict[str, float],
    defined: tuple[str, ...],
    fuse: bool = False,
    split: bool = False,
    normalizer: tuple[Normalizer, ...] = (),
) -> jogak.Tokenizer:
    """Scores that are added up without rounding, but those of the pieces that are defined."""
    model = UnigramModel(
        pieces=("<unk>", *scores, *defined),
        scores=(0.0, *scores.values(), *([0.0] * len(defined))),
        unknown="<unk>",
        fuse_unknown=fuse,
        user_defined=tuple(range(len(scores) + 1, len(scores) + 1 + len(defined))),
        precision="single",
        marker=jogak.Marker("none"),
    )
    spaces = jogak.Metaspace(split=split)
    return jogak.Tokenizer(Spec(model=model, normalizer=normalizer, pretokenizer=(spaces,)))


TIED = (*"▁abcd中", "ab", "bc", "cd", "abc", "bcd", "▁a", "▁ab", "▁中", "中a", "a中", "dd")


@pytest.mark.parametrize(("fuse", "split"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("defined", [(), ("▁▁▁",), ("▁▁", "▁▁▁", "▁▁▁▁"), ("▁▁▁▁", "bca", "xyzx")])
def test_scores_that_are_added_up_without_rounding(
    defined: tuple[str, ...], fuse: bool, split: bool
) -> None:
    # Ways tie everywhere.
    scores = {piece: -1.0 if len(piece) == 1 else -2.0 * (len(piece) - 1) for piece in TIED}
    tok = even(scores, defined, fuse, split)
    draw = random.Random(8)
    words = ["".join(draw.choices("abcdabcd中x\n☃", k=draw.randint(1, 9))) for _ in range(400)]
    words += ["".join(draw.choices("abcd中", k=size)) for size in (127, 128, 129, 500, 3000)]

    def text(blanks: list[str], count: int) -> str:
        return "".join(draw.choice(blanks) + draw.choice(words) for _ in range(count))

    seldom = [*([" "] * 60), "  ", "   ", "    ", "          "]
    often = [" ", "  ", "   ", "    ", "       "]
    texts = [text(blanks, 40) for blanks in (seldom, often) for _ in range(150)]
    # Sums start over, and no word is odd for long; then some.
    texts += [text([" "], 6000), text([" "], 6000) + text(seldom, 3000), text(seldom, 9000)]
    compare(tok, [*texts, *hostile(6, 500)])


@pytest.mark.parametrize("normalizer", [(), (jogak.CollapseSpaces(),)])
def test_what_an_odd_score_leaves_behind(normalizer: tuple[Normalizer, ...]) -> None:
    """What one way rounds twice, another rounds once, if sums pass several powers of two."""
    firsts, lasts = {"a": -1.0, "b": -2.0, "c": -3.0}, {"x": -11.0, "y": -9.0, "z": -6.0}
    scores = {"▁": -1.0, "q": -3.0, **firsts, **lasts}
    both = {a + b: firsts[a] + lasts[b] for a, b in itertools.product(firsts, lasts)}
    defined = tuple("q" * size for size in (3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 20, 23, 28, 37))
    tok = even({**scores, **both}, defined, normalizer=normalizer)
    texts = [" ".join(words) for words in itertools.product(defined, defined, defined, both)]
    # Behind sums that are not rounded, all of these are one piece.
    assert all(len(tok.encode(word)) == 2 for word in both)
    others = [text for text in texts if tok.encode(text)[-1] != tok.encode(text[-2:])[-1]]
    assert len(others) > 50
    compare(tok, [*others, *random.Random(9).sample(texts, 1000)])


def test_an_odd_score_that_nearly_ties() -> None:
    """A piece whose score is 0.2 loses by 0.003, which far into a text is less than can be told."""
    scores = {"▁": -1.0, "a": -1.0, "b": -1.0, "c": -1.0, "x": -2.0, "xbc": -51 / 64, "d": -100.0}
    tok = even(scores, ("bca",))
    assert tok.tokens("xbca") == ["▁", "xbc", "a"]
    far = "d " * 700
    assert tok.tokens(far + "xbca")[-3:] == ["▁", "x", "bca"]
    # New words of known parts, too: no piece lies across `d`.
    words = [f"{'d' * left}xbca{'d' * right}" for left in range(4) for right in range(4)]
    compare(tok, [far + " ".join(words[:count]) for count in range(1, 17)])
