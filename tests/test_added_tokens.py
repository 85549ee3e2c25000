"""Tokens that are found before a text is cut: rules, policies, trusted parts; texts cut at tokens."""

from __future__ import annotations

import dataclasses
import pickle
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts
from test_laws import KINDS

import jogak
from jogak import AddedToken, Trusted, reference
from jogak.spec import Spec, UnigramModel, resolve_pretokenizer

SPECIAL = ("<s>", "<|user|>", "<|end|>", "<s", ">x", "U Y")


def bytes_only(
    tokens: Sequence[AddedToken], special: Sequence[str], **options: Any
) -> jogak.Tokenizer:
    """Bytes, uncut, and these tokens."""
    base = jogak.train({"a": 1}, jogak.BPE(num_merges=0), pretokenizer="none").spec
    extra = dict.fromkeys((*special, *(token.text for token in tokens)))
    known = set(base.model.pieces)
    pieces = (*base.model.pieces, *(text for text in extra if text not in known))
    ids = {text: id_ for id_, text in enumerate(pieces)}
    return jogak.Tokenizer(
        Spec(
            model=dataclasses.replace(base.model, pieces=pieces),
            pretokenizer=base.pretokenizer,
            special_tokens={text: ids[text] for text in special},
            added_tokens=tuple(tokens),
            **options,
        )
    )


flags = st.booleans()
token_texts = st.text("ab<>sAﬁ \t_é", min_size=1, max_size=3)


@st.composite
def token_lists(draw: st.DrawFn) -> list[tuple[AddedToken, bool]]:
    """Tokens with rules, and whether each is special."""
    found = draw(st.lists(token_texts, min_size=1, max_size=6, unique=True))
    rules = [
        AddedToken(
            text,
            *draw(st.tuples(*[flags] * 4)),
            in_model=text in set("ab<>sA_é"),  # each is a byte of the model
            ascii_spaces=draw(flags),
        )
        for text in found
    ]
    return [(token, draw(flags)) for token in rules]


# --- the search


@given(
    tokens=token_lists(),
    text=st.one_of(st.text("ab<>sAﬁ \t\v_é.\u3000\x85", max_size=15), texts(8)),
    special=st.sampled_from(["parse", "text"]),
    normal=st.sampled_from(
        [(), (jogak.Lowercase(),), (jogak.UnicodeForm("nfkc"),), (jogak.Strip(),)]
    ),
)
def test_the_search_is_the_plain_one(tokens: Any, text: str, special: Any, normal: Any) -> None:
    """The core finds what the twin in plain Python finds, and leaves the same stretches between."""
    special_texts = [token.text for token, is_special in tokens if is_special]
    normalize = (lambda text: jogak.normalize(text, normal).text) if normal else str
    if any(token.normalized and not normalize(token.text) for token, _ in tokens):
        with pytest.raises(jogak.UnsupportedFeature, match="leaves nothing of it"):
            bytes_only([token for token, _ in tokens], special_texts, normalizer=normal)
        return
    tok = bytes_only([token for token, _ in tokens], special_texts, normalizer=normal)
    twins = [
        reference.Added(
            token.text,
            is_special,
            token.single_word,
            token.lstrip,
            token.rstrip,
            token.normalized,
            token.ascii_spaces,
        )
        for token, is_special in tokens
    ]
    expected = reference.find(text, twins, normalize, special == "parse")
    trace = tok.explain(text, special=special)
    found = [
        (word.tokens[0] if word.stop in ("special", "added") else None, word.text)
        for word in trace.words
    ]
    assert [name for name, _ in found] == [token and token.text for token, _ in expected]
    assert [text for name, text in found if name is None] == [
        text for token, text in expected if token is None
    ]
    ids = tok.encode(text, special=special)
    assert [id_ for word in trace.words for id_ in word.ids] == ids
    assert [tok.id(name) for name in tok.tokens(text, special=special)] == ids
    check_places(tok, text, special)


def check_places(tok: jogak.Tokenizer, text: str, special: Any) -> None:
    """What ids stand for is what the trace says, which goes word by word."""
    words = tok.explain(text, special=special).words
    encoding = tok.encoding(text, special=special, add_special_tokens=False)
    assert encoding.ids.tolist() == [id_ for word in words for id_ in word.ids]
    spans = [list(span) for word in words for span in word.token_spans]
    assert encoding.byte_spans.tolist() == spans
    numbers = [number for number, word in enumerate(words) for _ in word.ids]
    assert encoding.word_ids.tolist() == numbers


def test_rules() -> None:
    """Each rule by itself, as data."""
    cases: list[tuple[AddedToken, str, list[str]]] = [
        (AddedToken("ab"), "xab ab", ["x", "[ab]", " ", "[ab]"]),
        (AddedToken("ab", single_word=True), "xab ab_ ab- ab", ["xab ab_ ", "[ab]", "- ", "[ab]"]),
        (AddedToken("ab", lstrip=True), "x \u3000ab ab", ["x", "[ \u3000ab]", "[ ab]"]),
        (AddedToken("ab", rstrip=True), "ab \n x", ["[ab \n ]", "x"]),
        (AddedToken("ab", lstrip=True, rstrip=True), "ab  ab", ["[ab  ]", "[ab]"]),
    ]
    for token, text, expected in cases:
        tok = bytes_only([token], [])
        words = tok.explain(text).words
        found = [f"[{word.text}]" if word.stop == "added" else word.text for word in words]
        assert found == expected, token
        check_places(tok, text, "text")


def test_normalized_tokens_have_the_spans_of_the_text() -> None:
    tok = bytes_only(
        [AddedToken("FI", normalized=True)],
        [],
        normalizer=(jogak.UnicodeForm("nfkc"), jogak.Lowercase()),
    )
    words = tok.explain("x ﬁ-Fi").words
    assert [(word.text, word.span) for word in words if word.stop == "added"] == [
        ("ﬁ", (2, 5)),
        ("Fi", (6, 8)),
    ]


def test_an_added_token_is_found_whatever_the_policy_says() -> None:
    tok = bytes_only([AddedToken("word")], ["<s>"])
    assert tok.tokens("<s>word") == ["<", "s", ">", "word"]
    assert tok.tokens("<s>word", special="parse") == ["<s>", "word"]
    assert not tok.explain("word").words[0].special
    assert "added token" in str(tok.explain("word"))


def test_a_piece_of_the_model_too() -> None:
    """`in_model`: where the rules do not find it, the model may make it."""
    model = UnigramModel(pieces=("a", "b", "x", "ab", " "), scores=(-2.0, -2.0, -2.0, -1.0, -1.0))
    for in_model, expected in ((True, ["x", "ab"]), (False, ["x", "a", "b"])):
        tokens = (AddedToken("ab", single_word=True, in_model=in_model),)
        pretokenizer = resolve_pretokenizer("none")
        tok = jogak.Tokenizer(Spec(model=model, pretokenizer=pretokenizer, added_tokens=tokens))
        assert tok.tokens("xab") == expected
        assert tok.decode(tok.encode("xab ab")) == "xab ab"


def test_many_tokens_are_made_quickly() -> None:
    texts = [f"<extra_{number}>" for number in range(100_000)]
    start = time.monotonic()
    tok = bytes_only([AddedToken(text) for text in texts[::2]], texts[1::2], special_policy="parse")
    assert time.monotonic() - start < 5
    assert tok.tokens(f"a{texts[5]}{texts[99_998]}") == ["a", texts[5], texts[99_998]]


def test_white_space_costs_no_square() -> None:
    tok = bytes_only([AddedToken(" ", rstrip=True, lstrip=True)], [])
    start = time.monotonic()
    tok.count(" " * 300_000)
    assert time.monotonic() - start < 5


# --- policies


def test_the_policy_of_the_spec_is_the_default() -> None:
    for policy, expected in (("text", 3), ("parse", 1)):
        tok = bytes_only([], ["<s>"], special_policy=policy)
        assert tok.count("<s>") == expected
        assert tok.count("<s>", special="parse") == 1
        assert pickle.loads(pickle.dumps(tok)).count("<s>") == expected
    with pytest.raises(jogak.SpecialTokenError):
        bytes_only([], ["<s>"], special_policy="error").encode_batch(["a", "<s>"])


def test_the_error_says_where_and_what_to_do() -> None:
    tok = bytes_only(
        [AddedToken("ABC", normalized=True)], ["<s>", "ABC"], normalizer=(jogak.Lowercase(),)
    )
    for text, token, at in (("가나<s>", "<s>", 2), ("<가나 aBc", "ABC", 4)):
        with pytest.raises(jogak.SpecialTokenError, match="special=") as caught:
            tok.encode(text, special="error")
        assert (caught.value.token, caught.value.at) == (token, at)
        for remedy in ('special="text"', 'special="parse"', "take it out"):
            assert remedy in str(caught.value)


def test_options_that_contradict_each_other() -> None:
    tok = bytes_only([], ["<s>"])
    cases: list[tuple[Any, dict[str, Any]]] = [
        ("a", {"special": "text", "allowed_special": "all"}),
        ("a", {"special": "nothing"}),
        ("a", {"allowed_special": "<s>"}),
        ("a", {"disallowed_special": 1}),
        ([Trusted("a")], {"allowed_special": "all"}),
        (["a", "b"], {}),
        ([Trusted("a"), 1], {}),
        (b"a", {}),
        (1, {}),
    ]
    for text, options in cases:
        with pytest.raises(jogak.ConfigError):
            tok.encode(text, **options)
    with pytest.raises(jogak.ConfigError):
        Trusted(1)  # type: ignore[arg-type]  # wrong on purpose


# --- trusted parts

fragments = st.sampled_from(
    [
        "<",
        "s",
        ">",
        "s>",
        "<s",
        "x",
        "<s>",
        "<|",
        "user|>",
        "<|user|>",
        "<|end|>",
        " ",
        "a",
        "U",
        " Y",
    ]
)
part_texts = st.lists(fragments, max_size=4).map("".join)
part_lists = st.lists(st.tuples(part_texts, st.booleans()), max_size=6)


def as_parts(parts: Sequence[tuple[str, bool]]) -> list[Any]:
    """The parts, and an empty trusted one, since one is asked for."""
    return [*(Trusted(text) if trusted else text for text, trusted in parts), Trusted("")]


def tokenizers() -> list[jogak.Tokenizer]:
    word = AddedToken("<s", single_word=True)
    strip = AddedToken("<|end|>", lstrip=True, rstrip=True)
    crossing = [AddedToken("x<"), AddedToken("><"), AddedToken("s>a", rstrip=True)]
    return [
        bytes_only([], SPECIAL),
        bytes_only([word, strip], SPECIAL, special_policy="parse"),
        bytes_only([word, strip, *crossing], SPECIAL),
    ]


HOSTS = tokenizers()


@given(parts=part_lists)
def test_untrusted_text_changes_no_special_token(parts: list[tuple[str, bool]]) -> None:
    """Special tokens are those that the trusted parts have by themselves: untrusted text never
    becomes, completes or breaks up one.
    """
    for tok in HOSTS:
        special = set(tok.spec.special_tokens.values())
        expected = [
            id_
            for text, trusted in parts
            if trusted
            for id_ in tok.encode(text, special="parse")
            if id_ in special
        ]
        for policy in (None, "text", "parse"):
            ids = tok.encode(as_parts(parts), special=policy)
            assert [id_ for id_ in ids if id_ in special] == expected
            data = tok.decode_bytes(ids)
            if tok is HOSTS[0]:
                assert data.decode() == "".join(text for text, _ in parts)


@given(parts=part_lists)
def test_parts_are_read_as_one_text(parts: list[tuple[str, bool]]) -> None:
    """But for its special tokens the ids are those of the text as one; every way to call agrees."""
    text = "".join(text for text, _ in parts)
    for tok in HOSTS:
        if not any(trusted for _, trusted in parts):
            assert tok.encode(as_parts(parts)) == tok.encode(text, special="text")
        assert tok.encode(Trusted(text)) == tok.encode(text, special="parse")
        assert tok.encode([Trusted(text)]) == tok.encode(text, special="parse")
        given_parts = as_parts(parts)
        ids = tok.encode(given_parts)
        assert tok.encode_array(given_parts).tolist() == ids
        assert tok.count(given_parts) == len(ids)
        assert [tok.id(name) for name in tok.tokens(given_parts)] == ids
        plain = tok.encode(text)
        assert tok.encode_batch([text, given_parts, text]).to_lists() == [plain, ids, plain]
    plain_rules = [reference.Added(text, special=True) for text in SPECIAL]
    at, expected = 0, []
    for token, start, end in reference.trusted_places(parts, plain_rules):
        expected += HOSTS[0].encode(text[at:start], special="text")
        expected.append(HOSTS[0].id(token.text))
        at = end
    expected += HOSTS[0].encode(text[at:], special="text")
    assert HOSTS[0].encode(as_parts(parts)) == expected


@given(parts=part_lists)
def test_refused_special_tokens_of_parts(parts: list[tuple[str, bool]]) -> None:
    """`error` refuses special tokens outside of trusted parts, and gives the same ids otherwise."""
    tok = HOSTS[0]
    given_parts = as_parts(parts)
    try:
        ids = tok.encode(given_parts, special="error")
    except jogak.SpecialTokenError as error:
        assert error.at is not None
        assert "".join(text for text, _ in parts)[error.at :].startswith(str(error.token))
        assert any(not trusted for _, trusted in parts)
    else:
        assert ids == tok.encode(given_parts)
        for text, trusted in parts:
            assert trusted or tok.encode(text, special="error") is not None


@given(parts=part_lists)
def test_normalized_special_tokens_of_parts(parts: list[tuple[str, bool]]) -> None:
    """Nor does untrusted text become or complete a token that is found in normalized text."""
    stages = (jogak.UnicodeForm("nfc"), jogak.Lowercase())
    tokens = [AddedToken(text, normalized=True) for text in ("<S>", "U Y", "<|USER|>", "s")]
    tok = bytes_only(
        [dataclasses.replace(token, in_model=token.text == "s") for token in tokens],
        [token.text for token in tokens],
        normalizer=stages,
    )
    special = {id_ for text, id_ in tok.spec.special_tokens.items() if text != "s"}
    ids = tok.encode(as_parts(parts))
    expected = [
        id_
        for text, trusted in parts
        if trusted
        for id_ in tok.encode(text, special="parse")
        if id_ in special
    ]
    assert [id_ for id_ in ids if id_ in special] == expected
    text = "".join(text for text, _ in parts)
    assert tok.encode([Trusted(text)]) == tok.encode(text, special="parse")


# --- texts cut at tokens


def borders(tok: jogak.Tokenizer, text: str) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """Where the text can be cut, in bytes, with how few tokens before it; and all tokens' spans."""
    spans = [span for word in tok.explain(text).words for span in word.token_spans]
    found = {}
    at = 0
    for character in [*text, ""]:
        fits = [
            number
            for number in range(len(spans) + 1)
            if all(end <= at for _, end in spans[:number])
            and all(start >= at for start, _ in spans[number:])
        ]
        if fits:
            found[at] = fits[0]
        at += len(character.encode())
    return found, spans


@pytest.mark.parametrize("name", KINDS)
@given(text=texts(10), n=st.integers(0, 6))
def test_truncate_and_split(name: str, text: str, n: int) -> None:
    """The longest beginning that borders of tokens allow; parts that join, and cut no token."""
    tok = KINDS[name]
    try:
        tok.encode(text)
    except jogak.EncodeError:
        return
    data = text.encode()
    found, spans = borders(tok, text)
    cut = tok.truncate(text, n)
    if len(spans) <= n:
        assert cut == text
    else:
        longest = max((at for at, number in found.items() if number <= n), default=0)
        assert cut.encode() == data[:longest]
    if n == 0:
        return
    try:
        parts = tok.split(text, n)
    except jogak.EncodeError as error:
        assert "tokens" in str(error)
        numbers = sorted(number for number in found.values())
        steps = [
            after - before
            for before, after in zip(numbers, [*numbers[1:], len(spans)], strict=True)
        ]
        assert max(steps) > n
        return
    assert "".join(parts) == text
    assert all(parts)
    assert not cut or parts[0] == cut
    at = 0
    for part in parts:
        end = at + len(part.encode())
        inside = [span for span in spans if at <= span[0] < span[1] <= end]
        assert len(inside) <= n
        at = end
        assert at in found


def test_cutting_long_texts() -> None:
    """A long text in parts; every part has as many tokens as may be."""
    tok = KINDS["bytes"]
    text = "the lowest newest 계란밥 😀 " * 2_000
    parts = tok.split(text, 100)
    assert "".join(parts) == text
    assert len(parts) <= tok.count(text) / 90
    # Of a few tokens and of many, which go other ways.
    assert tok.truncate(text, 100) == parts[0]
    assert tok.truncate(text, tok.count(text) - 1) == text[:-1]
    assert tok.truncate(text, 10**9) == text
    assert tok.truncate(text, 1 << 70) == text


def test_impossible_numbers_of_tokens() -> None:
    tok = HOSTS[0]
    for n in (-1, True, 1.5, None):
        with pytest.raises(jogak.ConfigError, match="n is"):
            tok.truncate("a", n)  # type: ignore[arg-type]  # wrong on purpose
        with pytest.raises(jogak.ConfigError, match="n is"):
            tok.split("a", n)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(jogak.EncodeError, match=r"character 1.*more than 2 tokens"):
        tok.split("a😀", 2)
    assert tok.truncate("a😀", 2) == "a"
    assert tok.split("", 2) == []
