"""Pre-tokenizers: equal to HF tokenizers and to the reference, alone and in any sequence."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak import reference
from jogak.formats import native
from jogak.formats.gguf_words import PRE
from jogak.spec import BPEModel, Spec, Split, pretokenizer_from_dict, resolve_pretokenizer
from jogak.spec.schemes import SCHEMES

tokenizers = pytest.importorskip("tokenizers")
P = tokenizers.pre_tokenizers

CHARACTERS = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
PATTERNS = [
    *(r"\s+", r"\p{N}", r"a*", r"(?=b)", r"'s|\s?\p{L}+", r"[^\s]", "$", "^", r"\b", "."),
    *(r"\w+", r"[^\w\s]+", r"\d{1,3}+", r"[[:punct:]]", r"(?i:'s|'t)|\p{L}+", r"\h+", r"a{2}|\Z"),
]
#: What cuts, and what its versions and rules are about.
HARD = [
    *("²", "\u200d", "\u166d", "\U000111c9", "\u061d", "\U00011de3", "\u2e52", "ー", "\u0378"),
    *("Ġ", "▁▁", "_", "--", "..", "'", "ΑΣ", "K", "é", "b\n", "\n", "(?", "a-b"),
]


def texts(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    parts = [*strategies.LETTERS, *strategies.ODD, *strategies.WORDS, *HARD]
    whole = ["".join(draw.choices(parts, k=draw.randrange(14))) for _ in range(count)]
    return whole + [
        "".join(draw.choices(CHARACTERS[:0x3000], k=4) + draw.choices(CHARACTERS, k=4))
        for _ in range(count // 4)
    ]


def words(text: str, pretokenizer: Any) -> list[str]:
    return [word for word, _ in jogak.pretokenize(text, pretokenizer)]


def theirs(text: str, peer: Any) -> list[str]:
    return [word for word, _ in peer.pre_tokenize_str(text)]


def stage(draw: random.Random) -> tuple[Any, list[Any]]:
    """A pre-tokenizer of HF, with options, and the same here."""
    prefix, regex, split, invert = (draw.random() < 0.5 for _ in range(4))
    behavior: Any = draw.choice(BEHAVIORS)
    scheme, mark = draw.choice(["always", "never", "first"]), draw.choice("▁▁_é")
    text, pattern = draw.choice(["a", "'", "  ", "b\n", "a-b", "가", "(?"]), draw.choice(PATTERNS)
    prepend: Any = "start" if scheme == "first" else scheme
    length = draw.randrange(1, 5)
    translated = jogak.from_oniguruma(pattern)
    kinds: list[tuple[Any, list[Any]]] = [
        (P.WhitespaceSplit(), ["whitespace"]),
        (P.Whitespace(), ["words"]),
        (P.BertPreTokenizer(), ["bert-8.0"]),
        (P.UnicodeScripts(), ["unicode-scripts"]),
        (P.Digits(individual_digits=True), [jogak.Digits(1, "17.0")]),
        (P.Digits(individual_digits=False), [jogak.Digits(None, "17.0")]),
        (P.Punctuation(behavior), [jogak.Punctuation(behavior, "8.0")]),
        (P.FixedLength(length), [jogak.FixedLength(length)]),
        (P.CharDelimiterSplit(mark), [jogak.Split(mark, "removed", regex=False)]),
        (P.Split(text, behavior, invert), [jogak.Split(text, behavior, invert, regex=False)]),
        (
            P.Split(tokenizers.Regex(pattern), behavior, invert),
            [jogak.Split(translated, behavior, invert)],
        ),
        (
            P.Metaspace(mark, scheme, split),
            [jogak.Metaspace(prepend, only_missing=True, split=split, mark=mark)],
        ),
        (
            P.ByteLevel(add_prefix_space=prefix, use_regex=regex),
            [*[jogak.PrefixSpace()][: prefix * 1], *["gpt2"][: regex * 1], jogak.DrawBytes()],
        ),
    ]
    return draw.choice(kinds)


@pytest.mark.parametrize("seed", range(60))
def test_sequences_of_hugging_face(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(12):
        stages = [stage(draw) for _ in range(draw.choice([1, 1, 2, 3]))]
        peer = P.Sequence([theirs for theirs, _ in stages])
        ours = [part for _, parts in stages for part in parts]
        for text in texts(draw.randrange(10**9), 8):
            assert words(text, ours) == theirs(text, peer), (ours, ascii(text))


@pytest.mark.parametrize(
    ("peer", "ours"),
    [
        (P.WhitespaceSplit(), "whitespace"),
        (P.Whitespace(), "words"),
        (P.BertPreTokenizer(), "bert-8.0"),
        (P.UnicodeScripts(), "unicode-scripts"),
        (P.Digits(individual_digits=True), jogak.Digits(1, "17.0")),
        (P.Punctuation("contiguous"), jogak.Punctuation("contiguous", "8.0")),
        (P.ByteLevel(add_prefix_space=False), ["gpt2", jogak.DrawBytes()]),
    ],
    ids=lambda value: str(value)[:20],
)
def test_every_character_as_hugging_face_sees_it(peer: Any, ours: Any) -> None:
    # No character of the last planes is of any kind.
    for first in range(0, 0x31000, 250):
        text = "a".join(CHARACTERS[first : first + 250])
        # No comparison of long lists in a report.
        same = words(text, ours) == theirs(text, peer)
        assert same, hex(ord(text[0]))


def test_each_pattern_has_a_name_only_if_it_cuts_the_same() -> None:
    from jogak.spec.schemes import _NAMED

    # Few long texts: a pattern is compiled for each.
    long = ["가 ".join(texts(seed, 200)) for seed in range(3)]
    some = [*long, "12345 don't\n\n  x", "a\n  ", "A'LL B'll"]
    for pattern, name in _NAMED.items():
        # As a group it has no shorter way than to be asked.
        plain = jogak.Split(f"(?:{pattern})")
        for text in some:
            assert words(text, name) == words(text, plain), (name, ascii(text))
        if jogak.named_scheme(pattern) is None:
            assert jogak.named_scheme(pattern, "fancy-regex") == name
            continue
        peer = P.Split(tokenizers.Regex(pattern), "isolated")
        for text in some:
            assert words(text, name) == theirs(text, peer), (name, ascii(text))


def test_the_core_knows_the_patterns_of_the_formats() -> None:
    """Rust's tests hold the core's ways to cut by these patterns to what the patterns say."""
    known = Path(__file__).parents[1] / "crates/jogak/tests/patterns.tsv"
    name_of = {stages: name for name, stages in reversed(PRE.items())}
    stages = [(name, stage) for stages, name in name_of.items() for stage in stages]
    lines = [f"{name}\t{stage.pattern}\n" for name, stage in stages if isinstance(stage, Split)]
    lines += [f"{name} (scheme)\t{one}\n" for name, some in SCHEMES.items() for one in some]
    assert sorted(known.read_text("utf-8").splitlines(keepends=True)) == sorted(lines)


@pytest.mark.parametrize("name", ["kimi", "deepseek-v3", "deepseek-coder", "qwen3.5", "starcoder"])
def test_known_models(name: str) -> None:
    def peer(part: Any) -> Any:
        if isinstance(part, jogak.Split):
            return P.Split(tokenizers.Regex(part.pattern), "isolated")
        if isinstance(part, jogak.Digits):
            return P.Digits(individual_digits=True)
        return P.Split(tokenizers.Regex(reference.PATTERNS[part.name]), "isolated")

    whole = P.Sequence([peer(part) for part in resolve_pretokenizer(name)])
    for seed in range(4):
        # Without a number of Unicode 17.0.
        text = "가 ".join(texts(seed, 200)).replace("\U00011de3", "")
        assert words(text, name) == theirs(text, whole)


def test_numbers_one_by_one_and_then_gpt2() -> None:
    """StarCoder's, Command R's and SmolLM's words, with the numbers that HF tokenizers know."""
    gpt2 = tokenizers.Regex(reference.PATTERNS["gpt2"])
    whole = P.Sequence([P.Digits(individual_digits=True), P.Split(gpt2, "isolated")])
    for seed in range(4):
        some = texts(seed, 200)
        for text in ["가 ".join(some), *some]:
            assert words(text, [jogak.Digits(1, "17.0"), "gpt2"]) == theirs(text, whole)


# --- expressions


@pytest.mark.parametrize(
    ("theirs", "what"),
    [
        (r"\X", r"\\X"),
        (r"(a)\1", r"\\1"),
        (r"(?<name>a)", r"the group"),
        (r"(?i:ß)", "case"),
        (r"(?i:ss)", "'ss'"),
        (r"\p{Emoji}", "Emoji"),
        (r"(?x) a", "extended"),
        (r"(?:a?)*", "without end"),
        (r"(a", "without end"),
        (r"a)", "closing"),
        (r"[a", "without end"),
        ("(" * 60 + ")" * 60, "50 groups"),
        (r"(?~a)", "group"),
        (r"\K", r"\\K"),
    ],
)
def test_what_has_no_equal_is_refused_by_name(theirs: str, what: str) -> None:
    with pytest.raises(jogak.UnsupportedFeature, match=what):
        jogak.from_oniguruma(theirs)


ATOMS = [
    *(r"\p{L}", r"\P{N}", r"\p{^P}", r"\s", r"\S", r"\w", r"\W", r"\d", r"\h", r"[\w]", r"[^\w]"),
    *(r"[\W]", r"[^\s\p{L}\p{N}]", "[[:alpha:]]", "[[:^punct:]]", "[[:space:]a]", "[^[:word:]]"),
    *(".", "a", "b", " ", "-", r"\n", r"[\r\n]", r"\x{300}", r"\u0301", "가", "(?i:k)", "#", "&"),
    *("(?i:'s|'t)", "(?i:[a-e])", r"\b", r"\B", "^", "$", r"\A", r"\z", r"\Z", "(?=a)", r"(?!\S)"),
    *(r"(?<=\s)", "(?<!a)", "[a-c&&[^b]]", r"[\p{L}&&[^\p{Han}]]", "[]a]", "[-a]", "[a-]"),
    *(r"[\]\-~&#]", "(?>a+)", "(?m:.)", r"\R", r"[\h_]", "{", "[[:blank:]]", "[一-龥]", r"\/"),
]
SIGNS = [
    "",
    "",
    "",
    "*",
    "+",
    "?",
    "*+",
    "++",
    "?+",
    "*?",
    "{1,2}",
    "{2}",
    "{,2}",
    "{1,3}+",
    "{1,}",
]


def test_expressions_of_oniguruma() -> None:
    draw = random.Random(3)
    done = 0
    while done < 400:
        pattern = "|".join(
            "".join(draw.choice(ATOMS) + draw.choice(SIGNS) for _ in range(draw.randrange(1, 4)))
            for _ in range(draw.randrange(1, 3))
        )
        try:
            peer = P.Split(tokenizers.Regex(pattern), "isolated")
            ours = jogak.Split(jogak.from_oniguruma(pattern))
            words("a", ours)
        except Exception:  # one of the three has no such expression
            continue
        done += 1
        for text in texts(done, 6):
            assert words(text, ours) == theirs(text, peer), (pattern, ours.pattern, ascii(text))


# --- against the reference


def plain_stages() -> st.SearchStrategy[list[Any]]:
    matches = st.sampled_from([*BEHAVIORS, "only"])
    metaspace = st.builds(
        jogak.Metaspace,
        prepend=st.sampled_from(["first", "given", "start", "always", "never"]),
        only_missing=st.booleans(),
        split=st.booleans(),
        escape=st.booleans(),
        mark=st.sampled_from("▁_é"),
    )
    split = st.builds(
        jogak.Split,
        st.sampled_from([r"\s+", "a*", "(?=b)", r"\p{L}+|-", "b|"]),
        matches,
        st.booleans(),
    )
    one = st.one_of(
        metaspace,
        split,
        st.builds(jogak.Split, st.sampled_from([" ", "a", "--"]), matches, regex=st.just(False)),
        st.builds(jogak.Digits, st.sampled_from([1, 3, None])),
        st.builds(jogak.FixedLength, st.integers(1, 4)),
        st.sampled_from([jogak.PrefixSpace(), jogak.DrawBytes(), jogak.Named("whitespace")]),
        st.sampled_from([jogak.Named("gpt2"), jogak.Named("bert"), jogak.Named("o200k")]),
    )
    return st.lists(one, min_size=1, max_size=4)


@given(strategies.texts(), plain_stages())
def test_any_sequence_equals_the_reference(text: str, stages: list[Any]) -> None:
    expected = reference.pretokenize_stages(text, [stage.to_dict() for stage in stages])
    assert jogak.pretokenize(text, stages) == expected


@given(st.text("\x01 ", max_size=4), plain_stages(), st.booleans())
def test_texts_of_which_nothing_is_left(text: str, stages: list[Any], collapses: bool) -> None:
    """A mark stands for them where it is asked for, with all of the text if it goes before."""
    normalizer: list[Any] = [jogak.Replace("\x01" if collapses else "\x01| ", "", regex=True)]
    normalizer += [jogak.CollapseSpaces()] * collapses
    text = text if collapses or "\x01" in text else ""
    bare = text.strip(" ") != "" if collapses else text != ""
    data = [stage.to_dict() for stage in stages]
    expected = [word for word, _ in reference.pretokenize_stages("", data, bare)]
    found = jogak.pretokenize(text, stages, normalizer)
    assert [word for word, _ in found] == expected
    if stages == [jogak.Metaspace("given")] and bare:
        assert found == [("▁", (0, len(text)))]
    counts = jogak.count([text], pretokenizer=stages, normalizer=normalizer)
    assert dict(counts.items()) == dict(reference.inventory(expected))


@given(strategies.texts(), plain_stages())
def test_encoding_cuts_as_explaining_does(text: str, stages: list[Any]) -> None:
    """Ids come by a way that forgets where the text came from, traces by one that does not."""
    counts = jogak.count([text], pretokenizer=stages)
    expected = reference.inventory([word for word, _ in jogak.pretokenize(text, stages)])
    assert dict(counts.items()) == dict(expected)


def test_start_is_where_the_original_text_begins() -> None:
    spaces = [jogak.Metaspace("start", only_missing=True)]
    assert words("a b", ["whitespace", *spaces]) == ["▁a", "b"]
    assert words(" a b", ["whitespace", *spaces]) == ["a", "b"]
    stripped = jogak.pretokenize(" a b", spaces, "collapse_spaces")
    assert stripped == [("a", (1, 2)), ("▁b", (2, 4))]


# --- normalizers of Hugging Face


def test_charsmaps_by_grapheme_cluster() -> None:
    rules = {"e\u0301": "é", "각": "x", "\u0301": "", "①": "1", "가\u11a8": "y", "ﬁ": "fi"}
    ours = jogak.compile_rules(rules)
    peer = tokenizers.normalizers.Precompiled(ours.data)
    ours = jogak.Charsmap(ours.data, graphemes=True)
    parts = [*rules, "e", "가", "\u0323", "a", "👩\u200d", "🇰", "\u1100", "\u1161", "\r\n", "क्ष"]
    draw = random.Random(1)
    for _ in range(500):
        text = "".join(draw.choices(parts, k=8))
        assert jogak.normalize(text, ours).text == peer.normalize_str(text), ascii(text)


def test_other_normalizers_of_hugging_face() -> None:
    peers = tokenizers.normalizers
    for text in texts(2, 200):
        assert jogak.normalize(text, jogak.HfNmt()).text == peers.Nmt().normalize_str(text)
        assert jogak.normalize(text, jogak.DrawBytes()).text == reference.draw_bytes(text)
        assert jogak.normalize(text, "lowercase").text == peers.Lowercase().normalize_str(text)


# --- plain data


@given(plain_stages())
def test_stages_stand_in_files(stages: list[Any]) -> None:
    assert [pretokenizer_from_dict(stage.to_dict()) for stage in stages] == stages
    spec = Spec(model=BPEModel(pieces=("a",), merges=()), pretokenizer=tuple(stages))
    assert native.read(native.dumps(spec)).spec == spec


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: jogak.FixedLength(0), "1 or more"),
        (lambda: jogak.Punctuation("odd"), "Punctuation.matches"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: jogak.Metaspace(mark="ab"), "one character"),
        (lambda: jogak.Digits(1, "15.0"), "Digits.version"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: resolve_pretokenizer(["digits"] * 101), "101 stages"),
        (lambda: jogak.Charsmap(b"", keep=("a",), graphemes=True), "graphemes"),
    ],
)
def test_impossible_options(make: Any, what: str) -> None:
    with pytest.raises(jogak.ConfigError, match=what):
        make()
