"""Normalizers: equal to their peers on every code point and on mixtures, and true about their spans."""

from __future__ import annotations

import io
import random
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import rich.console
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak import reference
from jogak.spec import normalizer_from_dict, resolve_normalizer

CHARACTERS = [chr(c) for c in range(1, sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
#: Those that Python's tables know; what came later differs with the Unicode version.
KNOWN = [c for c in CHARACTERS if unicodedata.category(c) != "Cn"]
MARKS = [c for c in CHARACTERS if unicodedata.category(c) in ("Mn", "Mc")]
COMPOSED = [c for c in KNOWN if unicodedata.decomposition(c)]
HANGUL = list("가각값힣각ᅵᇂㄱㅏㅋ")
PLAIN = list("aeiouAOsK1 .\t\n▁ﬁ①ΣİıßﾊﾟẞᎠꭰ中\u061c\u200b\x00\x10")

RULE_SETS = ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"]
FORMS = ["NFC", "NFD", "NFKC", "NFKD"]


def rewritten(text: str, normalizer: Any) -> str:
    return jogak.normalize(text, normalizer).text


def mixtures(count: int, pools: Sequence[Sequence[str]], seed: int = 1) -> list[str]:
    draw = random.Random(seed)
    return [
        "".join(draw.choice(draw.choice(pools)) for _ in range(draw.randint(1, 12)))
        for _ in range(count)
    ]


def check(normalizer: Any, peer: Callable[[str], str], pools: Sequence[Sequence[str]]) -> None:
    """Each character alone, between letters, and many mixtures."""
    for characters in pools:
        text = "a".join(characters)
        # No comparison of texts of a million characters in a report.
        same = rewritten(text, normalizer) == peer(text)
        assert same, [ascii(c) for c in characters if rewritten(c, normalizer) != peer(c)][:20]
    for text in mixtures(2000, pools):
        assert rewritten(text, normalizer) == peer(text), ascii(text)


# --- against the peers


@pytest.mark.parametrize("rules", RULE_SETS)
def test_rule_sets_are_those_of_sentencepiece(rules: str) -> None:
    spm = pytest.importorskip("sentencepiece")
    peer = spm.SentencePieceNormalizer(
        rule_name=rules, add_dummy_prefix=False, escape_whitespaces=False,
        remove_extra_whitespaces=False,
    )  # fmt: skip
    mine = jogak.rules_of(jogak.compile_rules(jogak.RuleSet(rules)))  # type: ignore[arg-type]  # names in a list
    assert mine == dict(peer.Decompile())
    every = [c for c in CHARACTERS if c not in "\0"]
    keys = list(mine)[:: len(mine) // 2000]
    check(rules, peer.Normalize, [every, keys, MARKS, HANGUL, [c for c in PLAIN if c != "\0"]])


@pytest.mark.parametrize("rules", ["nmt_nfkc", "nfkc", "identity"])
@pytest.mark.parametrize("suffix", [False, True])
def test_spaces_are_those_of_sentencepiece(rules: str, suffix: bool) -> None:
    """Rules, collapsed spaces and metaspace together are SentencePiece's whole normalizer."""
    spm = pytest.importorskip("sentencepiece")
    peer = trained_by_sentencepiece(spm, rules, suffix=suffix)
    tok = jogak.Tokenizer(
        jogak.Spec(
            model=jogak.BPEModel(pieces=("<unk>",), merges=(), unknown="<unk>"),
            pretokenizer=(jogak.Metaspace(suffix=suffix),),
            normalizer=resolve_normalizer([rules, "collapse_spaces"]),
        )
    )
    # With the suffix, a text of nothing but spaces and literal marks becomes one mark there.
    marks = "" if suffix else "▁"
    for text in [*mixtures(3000, [" ", " a" + marks, "\u3000\t¨ﷺ", "bc"]), " ", "  ", "a ▁ "]:
        words = "".join(word.text for word in tok.explain(text).words)
        assert words == peer.Normalize(text), ascii(text)


def trained_by_sentencepiece(spm: Any, rules: str, **options: Any) -> Any:
    import io

    model = io.BytesIO()
    texts = iter(["hello world " + c for c in "abcdefgh"])
    spm.SentencePieceTrainer.Train(
        sentence_iterator=texts, model_writer=model, vocab_size=30, hard_vocab_limit=False,
        normalization_rule_name=rules, minloglevel=3,
        treat_whitespace_as_suffix=options.get("suffix", False),
    )  # fmt: skip
    return spm.SentencePieceProcessor(model_proto=model.getvalue())


@pytest.mark.parametrize("form", FORMS)
def test_forms_are_those_of_unicode(form: str) -> None:
    name = form.lower()
    normalizer = jogak.UnicodeForm(name)  # type: ignore[arg-type]  # names in a list
    marks = sorted(set(MARKS) & set(KNOWN))
    check(
        normalizer, lambda text: unicodedata.normalize(form, text), [KNOWN, COMPOSED, marks, HANGUL]
    )


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_unicode_9_are_those_of_hf(form: str) -> None:
    hf = pytest.importorskip("tokenizers.normalizers")
    peer = getattr(hf, form)()
    normalizer = jogak.UnicodeForm(form.lower(), "9.0")  # type: ignore[arg-type]  # names in a list
    check(normalizer, peer.normalize_str, [CHARACTERS, COMPOSED, MARKS, HANGUL])


def test_case_and_marks() -> None:
    hf = pytest.importorskip("tokenizers.normalizers")
    pools = [CHARACTERS, COMPOSED, MARKS, PLAIN]
    check("lowercase", hf.Lowercase().normalize_str, pools)
    check(jogak.StripMarks(), hf.StripAccents().normalize_str, pools)
    check("casefold", str.casefold, [KNOWN, COMPOSED, PLAIN])
    assert rewritten("Crème Brûlée, 한글", "strip_accents") == "Creme Brulee, 한글"


@pytest.mark.parametrize("number", range(16))
def test_bert_is_that_of_hf(number: int) -> None:
    hf = pytest.importorskip("tokenizers.normalizers")
    flags = [bool(number >> bit & 1) for bit in range(4)]
    peer = hf.BertNormalizer(*flags)
    check(
        jogak.BertNormalizer(*flags),
        peer.normalize_str,
        [CHARACTERS, COMPOSED, MARKS, HANGUL, PLAIN],
    )


def test_replace_prepend_strip() -> None:
    hf = pytest.importorskip("tokenizers")
    pools = ["ab ", " \u3000\n", "1x"]
    N = hf.normalizers
    check(jogak.Replace("ab", "Ω"), N.Replace("ab", "Ω").normalize_str, pools)
    check(
        jogak.Replace(r" {2,}", "▁", True), N.Replace(hf.Regex(" {2,}"), "▁").normalize_str, pools
    )
    check(jogak.Prepend("▁"), N.Prepend("▁").normalize_str, pools)
    for left in (False, True):
        for right in (False, True):
            check(jogak.Strip(left, right), N.Strip(left, right).normalize_str, pools)


def test_sentencepiece_reads_our_charsmaps() -> None:
    """A compiled blob within a model file, used by the real package."""
    spm = pytest.importorskip("sentencepiece")
    rules = {"가": "A", "가나": "B", "가나다": "", "ab": "x\u0301", "é": "e", "b": "한글"}
    charsmap = jogak.compile_rules(rules)
    whole = jogak.compile_rules(jogak.RuleSet("nmt_nfkc"))
    for data, mine, expected in [
        (charsmap.data, charsmap, rules),
        (whole.data, "nmt_nfkc", jogak.rules_of(whole)),
    ]:
        # A NormalizerSpec whose field 2 is the charsmap, spaces left alone (fields 3, 4, 5).
        size, length = len(data), b""
        while size > 127:
            length += bytes([size & 127 | 128])
            size >>= 7
        spec = b"\x12" + length + bytes([size]) + data + b"\x18\0\x20\0\x28\0"
        peer = spm.SentencePieceNormalizer(normalizer_spec=spec)
        check(mine, peer.Normalize, ["가나다라ab é", HANGUL, COMPOSED, MARKS])
        assert dict(peer.Decompile()) == expected


def test_rules_as_sentencepiece_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text("41 302 300\t1EA6\t# A => Ầ\n200D\nU+61 \tU+62 63\n", encoding="utf-8")
    rules = jogak.read_rules(path)
    assert rules == {"A\u0302\u0300": "Ầ", "\u200d": "", "a": "bc"}
    assert rewritten("aA\u0302\u0300\u200dA", jogak.compile_rules(rules)) == "bcẦA"


# --- against the twins


@given(st.text(st.sampled_from("ab가나é \u0301①ﬁ")), st.dictionaries(
    st.text(st.sampled_from("ab가나é"), min_size=1, max_size=4), st.text(max_size=3).filter(
        lambda text: "\0" not in text), min_size=1, max_size=12))  # fmt: skip
def test_charsmaps_against_the_reference(text: str, rules: dict[str, str]) -> None:
    charsmap = jogak.compile_rules(rules)
    assert jogak.rules_of(charsmap) == rules
    assert rewritten(text, charsmap) == reference.apply_rules(text, rules)


def test_rule_sets_against_the_reference() -> None:
    """The twin makes them from Python's Unicode data, which are older: no rule of its is missing."""
    twin = reference.nfkc_rules()
    rules = jogak.rules_of(jogak.compile_rules(jogak.RuleSet("nfkc")))
    known = set(KNOWN)
    assert {k: v for k, v in rules.items() if known.issuperset(k + v)} == twin


LETTERS = "가각값하한힣ㄱㄳㄸㅋㅏㅠᄀᆨᅡᄒ\u1113\x10 a"


@given(st.text(st.sampled_from(LETTERS)), st.sampled_from(["conjoining", "compatibility"]))
def test_jamo_against_the_reference(text: str, form: Any) -> None:
    letters = rewritten(text, jogak.Jamo(form))
    assert letters == reference.to_jamo(text, form)
    assert reference.from_jamo(letters, form) == text


# --- laws


NORMALIZERS: list[Any] = [
    "nfc", "nfd", "nfkc", "nfkd", "nmt_nfkc", "nmt_nfkc_cf", "lowercase", "casefold",
    "strip_accents", "collapse_spaces", "bert", "jamo", jogak.Jamo("compatibility"),
    jogak.UnicodeForm("nfkc"), jogak.Prepend("▁"), jogak.Strip(), jogak.Replace("a", ""),
    jogak.Replace(r"\s+", "--", regex=True), jogak.Replace("(?=가)", "<", regex=True),
    ["nmt_nfkc", "collapse_spaces", "casefold", jogak.Jamo("compatibility"), jogak.Prepend("^^")],
]  # fmt: skip
TEXTS = st.text(
    st.one_of(
        st.sampled_from([*"aÅéﬁ①가각ㅋㅏ  \u0301\u0327\u3000ﷺ\x10İß"]),
        st.characters(exclude_categories=["Cs"]),
    )
)


@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=str)
@given(text=TEXTS)
def test_spans(normalizer: Any, text: str) -> None:
    new, spans = (result := jogak.normalize(text, normalizer)).text, result.spans
    assert len(spans) == len(new)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start <= next_start and end <= next_end


def test_spans_by_hand() -> None:
    def spans(text: str, normalizer: Any) -> list[tuple[str, str]]:
        result = jogak.normalize(text, normalizer)
        return [(c, text[a:b]) for c, (a, b) in zip(result.text, result.spans, strict=True)]

    assert spans("e\u0301x", "nfc") == [("é", "e\u0301"), ("x", "x")]
    assert spans("éx", "nfd") == [("e", "é"), ("\u0301", "é"), ("x", "x")]
    # The cedilla goes before the accent; neither span may go back.
    assert spans("a\u0301\u0327", "nfd") == [
        ("a", "a"),
        ("\u0327", "\u0301\u0327"),
        ("\u0301", "\u0301\u0327"),
    ]
    assert spans(" a  b ", "collapse_spaces") == [("a", "a"), (" ", " "), ("b", "b")]
    assert spans("中", "bert") == [(" ", ""), ("中", "中"), (" ", "")]
    assert spans("값ㅋ", jogak.Jamo("compatibility")) == [
        ("ㄱ", "값"), ("ㅏ", "값"), ("ㅄ", "값"), ("ㅋ", "ㅋ")]  # fmt: skip


FAMILIES: dict[str, Any] = {
    "bpe": jogak.BPE(num_merges=5),
    "wordpiece": jogak.WordPiece(vocab_size=30),
    "unigram": jogak.Unigram(vocab_size=12),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_explain_shows_what_was_normalized(family: str) -> None:
    """As data and in all three renderings; and nothing where nothing was changed."""
    tok = jogak.train(
        ["1fi lm ab"] * 3, FAMILIES[family], normalizer="nmt_nfkc", special_tokens=["①ﬁ"]
    )
    trace = tok.explain("ﬁ①")
    assert trace.normalized == trace.to_dict()["normalized"] == "fi1"
    console = rich.console.Console(width=80, file=io.StringIO(), record=True)
    console.print(trace)
    html = trace._repr_html_()
    for shown in (str(trace), console.export_text(), re.sub("<[^>]*>", "", html)):
        assert "normalized fi1" in shown
        assert "of the text" in shown
    sources = {"ﬁ①".encode()[a:b].decode() for word in trace.words for a, b in word.token_spans}
    assert sources <= {"", "ﬁ", "①", "ﬁ①"} and sources != {""}
    # Special tokens stand as they are.
    assert tok.explain("①ﬁﬁ", special="parse").normalized == "①ﬁfi"
    assert tok.explain("①ﬁ", special="parse").normalized is None
    plain = tok.explain("fi 1")
    assert plain.normalized is None
    assert "normalized" not in str(plain) and "of the text" not in str(plain)


@pytest.mark.parametrize("form", ["conjoining", "compatibility"])
@pytest.mark.parametrize("marker", ["byte-level", "prefix"])
@given(text=st.text(st.sampled_from(LETTERS.replace(" ", "나")), max_size=20))
def test_jamo_comes_back_through_a_tokenizer(form: Any, marker: Any, text: str) -> None:
    tok = JAMO[form, marker]
    assert tok.decode(tok.encode(text)) == text


def _jamo_tokenizer(form: Any, marker: Any) -> jogak.Tokenizer:
    texts = ["한국어 조각 값", "하나 둘 셋 " + LETTERS]
    config = jogak.BPE(num_merges=20, marker=marker, byte_fallback=marker == "prefix")
    return jogak.train(iter(texts), config, normalizer=jogak.Jamo(form))


JAMO = {
    (form, marker): _jamo_tokenizer(form, marker)
    for form in ("conjoining", "compatibility")
    for marker in ("byte-level", "prefix")
}


@pytest.mark.parametrize("options", [
    {}, {"prepend": "always"}, {"prepend": "never"}, {"suffix": True}, {"split": False},
    {"escape": False}, {"suffix": True, "prepend": "always"}, {"suffix": True, "escape": False},
], ids=str)  # fmt: skip
@given(text=st.lists(st.sampled_from(["a", "b", " ", "<s>"]), max_size=12).map("".join))
def test_metaspace_comes_back(options: dict[str, Any], text: str) -> None:
    pieces = ("<s>", "a", "b", " ", "▁", "▁a", "a▁", " a")
    merges = ((4, 1), (1, 4), (3, 1))
    model = jogak.BPEModel(
        pieces=pieces, merges=merges, marker=jogak.Marker("prefix"), mark_words=False
    )
    spec = jogak.Spec(
        model=model, pretokenizer=(jogak.Metaspace(**options),), special_tokens={"<s>": 0}
    )
    tok = jogak.Tokenizer(spec)
    assert tok.decode(tok.encode(text, special="parse")) == text


def test_linear_whatever_the_text() -> None:
    for text in ("a" + "\u0301\u0327" * 250_000, "가" * 300_000, "ﷺ" * 100_000, " " * 500_000):
        for normalizer in ("nfc", "nfd", "nmt_nfkc", "bert", "jamo", "collapse_spaces"):
            start = time.perf_counter()
            jogak.normalize(text, normalizer)
            assert time.perf_counter() - start < 10


def test_hostile_charsmaps() -> None:
    good = jogak.compile_rules({"a": "b", "가나": "c", "ab": ""}).data
    draw = random.Random(5)
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            jogak.normalize("ab가나a\0", jogak.Charsmap(bytes(data[: draw.randint(1, len(data))])))
        except jogak.FormatError as error:
            assert error.place


@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=str)
def test_normalizers_are_plain_data(normalizer: Any, tmp_path: Path) -> None:
    stages = resolve_normalizer(normalizer)
    assert tuple(normalizer_from_dict(stage.to_dict()) for stage in stages) == stages
    text = "Aé 가 각ㅋ  ﬁ中"
    tok = jogak.train(iter([text]), jogak.BPE(num_merges=5), normalizer=normalizer)
    assert tok.spec.normalizer == stages
    tok.save(tmp_path / "a.jogak.json")
    again = jogak.load(tmp_path / "a.jogak.json")
    assert again.spec == tok.spec and again.encode(text) == tok.encode(text)
    counts = jogak.count([text], normalizer=normalizer)
    counts.save(tmp_path / "a.counts")
    assert jogak.Counts.load(tmp_path / "a.counts") == counts
    assert jogak.Counts.load(tmp_path / "a.counts").normalizer == stages
    assert jogak.train(counts, jogak.BPE(num_merges=5)).spec == tok.spec


def test_counts_of_different_normalizers_do_not_mix() -> None:
    one, two = jogak.count(["a"], normalizer="nfc"), jogak.count(["a"])
    with pytest.raises(jogak.ConfigError, match="different normalizers"):
        one + two
    with pytest.raises(jogak.ConfigError, match="normalizer"):
        jogak.train(one, jogak.BPE(num_merges=1), normalizer="nfd")


def test_jamo_must_be_last() -> None:
    with pytest.raises(jogak.ConfigError, match="put the jamo normalizer last"):
        resolve_normalizer(["jamo", "nfc"])
