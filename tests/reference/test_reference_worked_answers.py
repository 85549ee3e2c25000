"""The worked answers that can be checked by hand, 1 to 7, and every example in the docstrings."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
from pathlib import Path

import pytest

import jogak.reference
from jogak.reference import (
    Model,
    Spelling,
    Training,
    compress,
    count_pairs,
    encode,
    encode_word,
    inventory,
    join_tokens,
    longest_first,
    longest_match,
    pretokenize,
    prune_dead,
    tokens,
    train,
)

SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
SENTENCES = """\
나는 계란밥 을 먹는다
계란밥 ! 얼마나 맛있던가.
나는 계란밥 이 세상에서 제일좋다.
물론 간장밥 러버도 있겠지.
예를 들어 내 동생은 간장밥 하나만 있으면 1주일을 버틸 수 있다.
어떻게 하면 간장밥 그 단일 메뉴가 아침을 해결할 수 있을까.
말이 안된다. 중학생 때 먹은 간장밥 , 그게 내 마지막 간장밥 이다.
나는 내동생과 서로를 이해하지 못했다.
어느날 부모님이 계란과 간장을 섞어 간장계란밥 을 만들었다.
노란색의 밥에 검정 소스가 있는, 이상한 그 메뉴의 이름을 묻자 부모님은 웃으며 내게 말했다.
간장계란밥
볶음밥 이야? 라고 물어봤지만 부모님은 고개를 저었다.
아니 볶음밥 이라니? 이건 기름에 볶지 않았어.
볶음밥 의 기본은 볶음인걸? 이건 간장과 계란이 합쳐진 비빔밥이야.
"""


def shown(trained: Training) -> str:
    """Merges in the notation of the worked answers: left right count / ..."""
    return " / ".join(f"{m.left} {m.right} {m.count}" for m in trained.merges)


@pytest.mark.parametrize(
    "name",
    ["jogak.reference"]
    + [
        f"jogak.reference.{module.name}"
        for module in pkgutil.iter_modules(jogak.reference.__path__)
    ],
)
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.attempted > 0 and result.failed == 0


def test_1_compression() -> None:
    result = compress("aaabdaaabac", ties="lexicographic")
    assert [step.text for step in result.steps] == ["ZabdZabac", "ZYdZYac", "XdXac"]
    assert [step.stands_for for step in result.steps] == ["aa", "ab", "aaab"]
    assert [(step.length, step.symbols) for step in result.steps] == [(9, 5), (7, 6), (5, 7)]
    assert (result.start_length, result.start_symbols) == (11, 4)
    assert result.table == {"Z": ("a", "a"), "Y": ("a", "b"), "X": ("Z", "Y")}
    assert result.decompress() == "aaabdaaabac"
    assert result.stop == "min-pair-count"


def test_2_sennrich_pairs() -> None:
    spelling = Spelling("suffix")
    pairs = count_pairs((spelling.symbols(word), count) for word, count in SENNRICH.items())
    assert {" ".join(pair): count for pair, count in pairs.items()} == {
        "l o": 7, "o w": 7, "w </w>": 5, "w e": 8, "e r": 2, "r </w>": 2, "n e": 6,
        "e w": 6, "e s": 9, "s t": 9, "t </w>": 9, "w i": 3, "i d": 3, "d e": 3,
    }  # fmt: skip


def test_2_sennrich_merges_until_no_pair_is_left() -> None:
    trained = train(SENNRICH, spelling=Spelling("suffix"), ties="first-seen")
    assert shown(trained) == (
        "e s 9 / es t 9 / est </w> 9 / l o 7 / lo w 7 / n e 6 / ne w 6 / new est</w> 6 / "
        "low </w> 5 / w i 3 / wi d 3 / wid est</w> 3 / low e 2 / lowe r 2 / lower </w> 2"
    )
    assert trained.stop == "no-pair"


def test_2_sennrich_encoding() -> None:
    trained = train(SENNRICH, spelling=Spelling("suffix"), ties="first-seen", num_merges=10)
    assert trained.stop == "num-merges"
    model = trained.model()
    assert encode_word(model, "lowest").tokens == ("low", "est</w>")
    assert encode_word(model, "loki").tokens == ("lo", "k", "i", "</w>")
    assert encode_word(model, "lowing").tokens == ("low", "i", "n", "g", "</w>")
    assert encode_word(model, "highing").tokens == (*"highing", "</w>")
    trace = encode_word(model, "lowest")
    assert [(step.left, step.right) for step in trace.steps] == [
        ("e", "s"), ("es", "t"), ("est", "</w>"), ("l", "o"), ("lo", "w"),
    ]  # fmt: skip
    assert trace.steps[-1].symbols == ("low", "est</w>")
    assert trace.stop == "no-merge"


def test_2_sennrich_live_pieces_and_length() -> None:
    trained = train(SENNRICH, spelling=Spelling("suffix"), ties="first-seen", num_merges=3)
    # 10 letters and the marker; s and then t and es are used up, e and </w> are not.
    assert trained.start_live == 11
    assert trained.start_length == 5 * 4 + 2 * 6 + 6 * 7 + 3 * 7
    assert [merge.live_change for merge in trained.merges] == [0, -1, 0]
    assert [merge.live for merge in trained.merges] == [11, 10, 10]
    assert [merge.corpus_length for merge in trained.merges] == [86, 77, 68]


def test_3_no_marker() -> None:
    trained = train(SENNRICH, ties="first-seen", num_merges=10)
    assert shown(trained) == (
        "e s 9 / es t 9 / l o 7 / lo w 7 / n e 6 / ne w 6 / new est 6 / w i 3 / wi d 3 / wid est 3"
    )


def test_4_hug(tmp_path: Path) -> None:
    counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    pairs = count_pairs((list(word), count) for word, count in counts.items())
    assert {" ".join(pair): count for pair, count in pairs.items()} == {
        "b u": 4, "g s": 5, "h u": 15, "p u": 17, "u g": 20, "u n": 16,
    }  # fmt: skip
    trained = train(counts, vocab_size=10)
    assert shown(trained) == "u g 20 / u n 16 / h ug 15"
    assert trained.pieces == ("b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug")
    assert trained.stop == "vocab-size"

    model = Model((*trained.pieces, "<unk>"), trained.pairs, unk="<unk>")
    expected = ["p", "ug", "b", "ug", "<unk>", "ug"]
    assert tokens("pug bug mug", model, "whitespace") == expected

    (tmp_path / "vocab.json").write_text(json.dumps(model.ids), encoding="utf-8")
    merges = "".join(f"{left} {right}\n" for left, right in model.merges)
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + merges, encoding="utf-8")
    ids = json.loads((tmp_path / "vocab.json").read_text(encoding="utf-8"))
    lines = (tmp_path / "merges.txt").read_text(encoding="utf-8").splitlines()[1:]
    again = Model(
        tuple(sorted(ids, key=ids.__getitem__)),
        tuple((line.split(" ")[0], line.split(" ")[1]) for line in lines),
        unk="<unk>",
    )
    assert again == model
    assert tokens("pug bug mug", again, "whitespace") == expected
    assert encode("pug bug mug", again, "whitespace") == [4, 7, 0, 7, 10, 7]


def test_5_korean_counts() -> None:
    trained = train({"계란밥": 3, "간장밥": 5, "간장계란밥": 2, "볶음밥": 3}, ties="first-seen")
    assert shown(trained) == (
        "간 장 7 / 계 란 5 / 계란 밥 5 / 간장 밥 5 / 볶 음 3 / 볶음 밥 3 / 간장 계란밥 2"
    )


def test_6_korean_sentences() -> None:
    counts = inventory(pretokenize(SENTENCES, "whitespace"), min_word_length=2)
    trained = train(counts, ties="first-seen", num_merges=10)
    assert shown(trained) == (
        "간 장 9 / 다 . 8 / 계 란 7 / 계란 밥 5 / 간장 밥 5 / 볶 음 4 / 나 는 3 / 부 모 3 / "
        "부모 님 3 / 볶음 밥 3"
    )
    assert trained.merges[-1].live == len(trained.live) == 114
    for model in (
        trained.model(),
        Model(prune_dead(trained, "longest-match").pieces),
    ):
        assert longest_match(model, "계란간장볶음밥") == ["계란", "간장", "볶음밥"]
        assert longest_match(model, "간장계란밥") == ["간장", "계란밥"]
        assert longest_match(model, "먹는다") == ["먹", "는", "다"]


def test_7_longest_first() -> None:
    pieces = ("errrr</w>", "tain</w>", "moun", "est</w>", "high", "the</w>", "a</w>")
    model = Model(pieces, spelling=Spelling("suffix"))
    assert longest_first(model, "the") == ["the</w>"]
    assert longest_first(model, "highest") == ["high", "est</w>"]
    assert longest_first(model, "mountain") == ["moun", "tain</w>"]
    sentence = tokens("the highest mountain", model, "whitespace", strategy="longest-first")
    assert join_tokens(sentence, model) == b"the highest mountain"
