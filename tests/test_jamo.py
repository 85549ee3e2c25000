"""Hangul as letters, in front of every family: texts come back, spans are true, time is linear."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak

#: Syllables with and without finals, letters of both alphabets alone, old ones, the escape itself.
LETTERS = "가각값하한힣뷁ㄱㄳㄸㅋㅏㅠㅣᄀᆨᅡᄒᇂ\u1113\x10a1é"
CORPUS = ["한국어 조각 값 하 나 하ㅋㅋ ㅠㅠ 국수 한국 조각조각 한국인 값값"] * 3 + [
    # Every character alone and behind a syllable, so that it is in the alphabet however it is written.
    " ".join(f"{letter} 하{letter} 한{letter}" for letter in LETTERS)
]
SPECIALS = ["<s>", "[UNK]"]

Config = jogak.BPE | jogak.WordPiece | jogak.Unigram
#: A family, and whether it gives every text back or only words with single spaces between them.
FAMILIES: dict[str, tuple[Config, bool]] = {
    "bpe byte-level": (jogak.BPE(num_merges=40), True),
    "bpe prefix": (jogak.BPE(num_merges=40, marker="prefix", byte_fallback=True), True),
    "bpe prefix, longest-match": (
        jogak.BPE(num_merges=40, marker="prefix", byte_fallback=True, strategy="longest-match"),
        True,
    ),
    "bpe suffix": (jogak.BPE(num_merges=40, marker="suffix"), False),
    "bpe continuation": (jogak.BPE(num_merges=40, marker="continuation"), False),
    "wordpiece": (jogak.WordPiece(vocab_size=250, max_chars_per_word=10**6), False),
    "wordpiece prefix": (
        jogak.WordPiece(vocab_size=250, marker="prefix", max_chars_per_word=10**6),
        False,
    ),
    "unigram": (jogak.Unigram(vocab_size=45, character_coverage=1.0), False),
    "unigram, bytes": (jogak.Unigram(vocab_size=295, byte_fallback=True), True),
}
FORMS: list[Any] = ["conjoining", "compatibility"]


def trained(family: str, normalizer: Any) -> jogak.Tokenizer:
    config, _ = FAMILIES[family]
    spaces = (
        {"pretokenizer": "whitespace"} if "suffix" in family or "continuation" in family else {}
    )
    return jogak.train(CORPUS, config, normalizer=normalizer, special_tokens=SPECIALS, **spaces)


TOKENIZERS = {
    (family, form): trained(family, None if form is None else jogak.Jamo(form))
    for family in FAMILIES
    for form in (None, *FORMS)
}

words = st.text(st.sampled_from(LETTERS), min_size=1, max_size=8)
spaced = st.lists(words, min_size=1, max_size=4).map(" ".join)
anything = st.text(st.one_of(st.sampled_from(LETTERS + "   \n."), st.characters(codec="utf-8")))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", FAMILIES)
@given(text=spaced)
def test_texts_come_back(family: str, form: Any, text: str) -> None:
    """Words with single spaces between them, with the normalizer as without it."""
    for tok in (TOKENIZERS[family, None], TOKENIZERS[family, form]):
        assert tok.decode(tok.encode(text)) == text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", [family for family, (_, every) in FAMILIES.items() if every])
@given(text=anything, cut=st.integers(0, 12))
def test_every_text_comes_back(family: str, form: Any, text: str, cut: int) -> None:
    """Where bytes stand for what is unknown, so does any text, and texts around special tokens."""
    tok = TOKENIZERS[family, form]
    text = text.replace("▁", "")
    assert tok.decode(tok.encode(text)) == text
    parts = (text[:cut], text[cut:])
    ids = tok.encode("<s>".join(parts), special="parse")
    assert tok.decode(ids) == "<s>".join(parts)
    if not any(special in text for special in SPECIALS):
        assert tok.decode(ids, skip_special_tokens=True) == text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", FAMILIES)
@given(text=spaced)
def test_spans_cover_the_text(family: str, form: Any, text: str) -> None:
    """In order and without a gap in a word; tokens of one syllable share its bytes."""
    data = text.encode()
    borders = {len(text[:at].encode()) for at in range(len(text) + 1)}
    tok = TOKENIZERS[family, form]
    trace = tok.explain(text)
    assert list(trace.ids) == tok.encode(text)
    covered = 0
    for word in trace.words:
        assert word.span[0] - covered in (0, 1)
        assert data[covered : word.span[0]] in (b"", b" ")
        before = (word.span[0], word.span[0])
        for span in word.token_spans:
            assert before[0] <= span[0] <= before[1] <= span[1]
            # Bytes of characters that are unknown may be tokens by themselves.
            assert borders.issuperset(span) or "byte" in family
            before = span
        assert before[1] == word.span[1]
        covered = word.span[1]
    assert covered == len(data)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", FAMILIES)
def test_pieces_are_letters_and_decoding_makes_syllables(family: str, form: Any) -> None:
    tok = TOKENIZERS[family, form]
    letters = jogak.normalize("한국어", jogak.Jamo(form)).text
    assert len(letters) == 8
    ids = tok.encode("한국어")
    assert tok.explain("한국어").normalized == letters
    if tok.spec.model.alphabet == "chars":
        assert not any("가" <= c <= "힣" for piece in tok.vocab for c in piece)
        marker = tok.spec.model.marker.text or ""
        shown = "".join(
            piece.replace(marker, "") if marker else piece for piece in tok.tokens("한국어")
        )
        assert shown.replace("▁", "") == letters
    assert tok.decode(ids) == "한국어"
    assert tok.decode_bytes(ids) == "한국어".encode()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", FAMILIES)
def test_linear_whatever_the_text(family: str, form: Any) -> None:
    tok = TOKENIZERS[family, form]
    for part in ("한", "하ㅋ", "ㅋ", "가 ", "\x10", "\x10ㅏ", "하\u1161\u11a8"):
        text = (part * (150_000 // len(part))).strip()
        start = time.perf_counter()
        assert tok.decode(tok.encode(text)) == text
        assert time.perf_counter() - start < 10
