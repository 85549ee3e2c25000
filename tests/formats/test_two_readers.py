"""The core's reader of long files, and the readers in Python: one answer, one error.

Law: what the core reads, the readers in Python read as well, and with the same result; and whatever is
wrong with a file, the error is theirs.
"""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jogak
from jogak import _core
from jogak.formats import bytelevel, hf_json, serde_numbers, tiktoken
from jogak.formats.hf_json import sections
from jogak.spec import BPEModel, Named, Spec, UnigramModel

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True}


def answer(read: Callable[[], Spec]) -> Any:
    """The Spec, or what is wrong."""
    try:
        return read()
    except jogak.JogakError as error:
        return type(error), str(error), getattr(error, "place", None)


def both(file: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """What both readers make of a tokenizer.json."""
    fast = answer(lambda: hf_json.loads(file, "file"))
    with monkeypatch.context() as patch:
        patch.setattr(_core, "read_sections", lambda data: None)
        slow = answer(lambda: hf_json.loads(file, "file"))
    return fast, slow


def token(id_: int, text: str, **flags: bool) -> dict[str, Any]:
    return {"id": id_, "content": text, **FLAGS, "special": False, **flags}


def bpe() -> dict[str, Any]:
    vocab = {
        text: id_ for id_, text in enumerate(["<unk>", *bytelevel.ALPHABET, "lo", "low", "é밥"])
    }
    return {
        "version": "1.0",
        "added_tokens": [token(0, "<unk>", special=True), token(260, "<s>", special=True)],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "vocab": vocab,
            "merges": [["l", "o"], ["lo", "w"]],
        },
    }


def unigram() -> dict[str, Any]:
    pieces = [["<unk>", 0.0], ["a", -1.5], ["밥", -2.0122928619384766], ["ab", -3]]
    return {
        "added_tokens": [token(4, "extra")],
        "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces},
    }


def wordpiece() -> dict[str, Any]:
    return {
        "added_tokens": [],
        "model": {
            **{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"},
            **{"max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "un": 1, "##do": 5}},
        },
    }


def held(file: dict[str, Any]) -> bool:
    """Whether the core reads a file."""
    return sections.with_tables(json.dumps(file).encode(), None) is not None


@pytest.mark.parametrize("make", [bpe, unigram, wordpiece])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_plain_files_are_read_alike(
    make: Callable[[], dict[str, Any]],
    indent: int | None,
    ascii_only: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = json.dumps(make(), indent=indent, ensure_ascii=ascii_only).encode()
    assert held(make())
    fast, slow = both(file, monkeypatch)
    assert isinstance(fast, Spec)
    assert fast == slow
    assert jogak.Tokenizer(fast) == jogak.Tokenizer(slow)


def changed(
    change: Callable[[dict[str, Any]], object], make: Callable[[], dict[str, Any]]
) -> bytes:
    file = make()
    change(file)
    return json.dumps(file).encode()


#: What may be odd about a file: every one is read by Python in the end, or by both alike.
ODD: dict[str, Callable[[dict[str, Any]], object]] = {
    "vocab is a list": lambda file: file["model"].update(vocab=[]),
    "vocab is null": lambda file: file["model"].update(vocab=None),
    "vocab is gone": lambda file: file["model"].pop("vocab"),
    "id is text": lambda file: file["model"]["vocab"].update(x="1"),
    "id is true": lambda file: file["model"]["vocab"].update(x=True),
    "id below zero": lambda file: file["model"]["vocab"].update(x=-1),
    "id beyond 32 bits": lambda file: file["model"]["vocab"].update(x=2**32),
    "id far away": lambda file: file["model"]["vocab"].update(x=2_000_000),
    "id twice": lambda file: file["model"]["vocab"].update(x=1),
    "empty text": lambda file: file["model"]["vocab"].update({"": 400}),
    "empty text with the id of another": lambda file: file["model"]["vocab"].update({"": 1}),
    "empty text of no id": lambda file: file["model"]["vocab"].update({"": -1}),
    "empty text in the way of an added one": lambda file: file["model"]["vocab"].update(
        {"": len(file["model"]["vocab"]) + 1}
    ),
    "merge of the empty text": lambda file: (
        file["model"]["vocab"].update({"": 400}),
        file["model"].update(merges=[["", "lo"]]),
    ),
    "empty text is unknown": lambda file: (
        file["model"]["vocab"].update({"": 400}),
        file["model"].update(unk_token=""),
    ),
    "lone surrogate": lambda file: file["model"]["vocab"].update({"\ud800": 400}),
    "merges gone": lambda file: file["model"].pop("merges", None),
    "merges are null": lambda file: file["model"].update(merges=None),
    "merges are an object": lambda file: file["model"].update(merges={}),
    "merge twice": lambda file: file["model"].update(merges=["l o", "lo w", "l o"]),
    "merge of three": lambda file: file["model"].update(merges=[["l", "o", "w"]]),
    "merge of one": lambda file: file["model"].update(merges=["lo"]),
    "merge with two spaces": lambda file: file["model"].update(merges=["l  o"]),
    "merges mixed": lambda file: file["model"].update(merges=["l o", ["lo", "w"]]),
    "merge of strangers": lambda file: file["model"].update(merges=["l x밥"]),
    "merge of numbers": lambda file: file["model"].update(merges=[[1, 2]]),
    "merge without product": lambda file: file["model"].update(merges=["o l"]),
    "merges with a header": lambda file: file["model"].update(merges=["#version: 0.2", "l o"]),
    "prefix": lambda file: file["model"].update(continuing_subword_prefix="##"),
    "kind": lambda file: file["model"].update(type="WordLevel", unk_token="<unk>"),
    "no such kind": lambda file: file["model"].update(type="Other"),
    "added is null": lambda file: file.update(added_tokens=None),
    "added is an object": lambda file: file.update(added_tokens={}),
    "added is gone": lambda file: file.pop("added_tokens"),
    "added text is no text": lambda file: file["added_tokens"].append(
        {**token(9, ""), "content": 1}
    ),
    "added text is empty": lambda file: file["added_tokens"].append(token(9, "")),
    "added flag is a number": lambda file: file["added_tokens"].append(
        {**token(9, "x"), "lstrip": 0}
    ),
    "added without flag": lambda file: file["added_tokens"].append({"id": 9, "content": "x"}),
    "added with more": lambda file: file["added_tokens"].append({**token(9, "y y"), "more": [1]}),
    "added twice": lambda file: file["added_tokens"].extend(
        [token(9, "x x"), token(9, "x x", special=True), token(9, "x x", lstrip=True)]
    ),
    "added of the model": lambda file: file["added_tokens"].append(token(9, "lo", lstrip=True)),
    "added surrogate": lambda file: file["added_tokens"].append(token(9, "\udc00")),
    "version": lambda file: file.update(version="2.0"),
    "pattern": lambda file: file.update(pre_tokenizer={"type": "Split", "pattern": {"Regex": "("}}),
}


@pytest.mark.parametrize("make", [bpe, unigram, wordpiece])
@pytest.mark.parametrize("odd", ODD)
def test_odd_files_have_one_answer(
    odd: str, make: Callable[[], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        file = changed(ODD[odd], make)
    except (AttributeError, KeyError):
        pytest.skip("not such a file")
    fast, slow = both(file, monkeypatch)
    assert fast == slow


@pytest.mark.parametrize("make", [bpe, unigram, wordpiece])
def test_broken_files_have_one_answer(
    make: Callable[[], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = json.dumps(make(), ensure_ascii=False)
    draw = random.Random(5)
    parts = [
        '"',
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "0",
        "-",
        "e",
        ".",
        " ",
        "\n",
        "null",
        "\\ud800",
    ]
    parts += [
        '"vocab": {}',
        '"model"',
        '"merges": [],',
        "NaN",
        "\x00",
        "\ufeff",
        "/",
        "밥",
        "1e400",
    ]
    read = 0
    for _ in range(400):
        at = draw.randrange(len(whole))
        end = at + draw.choice([0, 0, 1, 2, 9])
        text = whole[:at] + draw.choice(parts) + whole[end:]
        file = text.encode()
        if draw.random() < 0.05:
            file = file[:at] + b"\xff" + file[at:]
        fast, slow = both(file, monkeypatch)
        assert fast == slow, text
        read += isinstance(fast, Spec)
    assert 0 < read < 400


def test_numbers_are_those_of_serde_json(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(7)
    numbers = [
        "1e23",
        "5E-23",
        "-1.5e-210",
        "0.0e400",
        "123456789012345678901234.5",
        "-0.0",
        "1e308",
    ]
    for _ in range(2000):
        digits = "".join(draw.choices("0123456789", k=draw.randint(1, 22)))
        number = f"-{draw.randint(0, 99)}.{digits}"
        numbers.append(number + draw.choice(["", "", f"e{draw.randint(-280, 20)}"]))
    vocab = ", ".join(f'["{place}", {number}]' for place, number in enumerate(numbers))
    file = f'{{"model": {{"type": "Unigram", "vocab": [{vocab}]}}}}'.encode()
    root = sections.with_tables(file, None)
    # Zero with an exponent that nobody writes is left to Python.
    assert root is None
    numbers.remove("0.0e400")
    vocab = ", ".join(f'["{place}", {number}]' for place, number in enumerate(numbers))
    file = f'{{"model": {{"type": "Unigram", "vocab": [{vocab}]}}}}'.encode()
    assert sections.with_tables(file, None) is not None
    fast, slow = both(file, monkeypatch)
    assert fast.model.scores == slow.model.scores
    # 10.0**23 is another number.
    assert serde_numbers.serde_float("1e23") == float("1e23")
    assert serde_numbers.serde_float("0.0e-400") == 0.0


# --- rank files -----------------------------------------------------------------------------------


def ranks_of(*more: tuple[bytes, int], end: str = "\n") -> bytes:
    pieces = [*((bytes([byte]), byte) for byte in range(256)), *more]
    lines = (f"{base64.b64encode(piece).decode()} {rank}" for piece, rank in pieces)
    return end.join(lines).encode()


def both_ranks(file: bytes, path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    path.write_bytes(file)
    fast = answer(lambda: tiktoken.read(path, pretokenizer="cl100k", **options))
    with monkeypatch.context() as patch:
        patch.setattr(_core, "read_ranks", lambda data: None)
        slow = answer(lambda: tiktoken.read(path, pretokenizer="cl100k", **options))
    assert fast == slow


def test_rank_files_have_one_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ranks.tiktoken"
    plain = ranks_of((b"lo", 256), (b"low", 300), ("밥".encode(), 257))
    assert _core.read_ranks(plain) is not None
    for special in (None, {}, {"<s>": 299}, {"<s>": 256}, {"lo": 400}, {"<s>": -1}, {"": 500}):
        both_ranks(plain, path, monkeypatch, special_tokens=special)
    for file in (
        plain + b"\n",
        plain.replace(b"\n", b"\r\n"),
        plain + b"\n\n",
        plain + b"\n= 500",
        plain + b"\nbG8= 301",
        plain + b"\nbG9v 300",
        plain + b"\nbG9v 5000000",
        plain + b"\nbG9v 00301",
        plain + b"\nbG9v  301",
        plain + b"\nbG9 301",
        plain + b"\nIR== 301",
        plain + b"\n\xff 301",
        plain[8:],
        b"",
    ):
        both_ranks(file, path, monkeypatch)


def test_nobody_can_tell_that_ranks_hold_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The core holds the bytes of ranks, and draws them when somebody asks for texts."""
    path = tmp_path / "ranks.tiktoken"
    pieces = [
        (b"lo", 256),
        (b"low", 260),
        ("밥".encode(), 257),
        (b"\xeb\xb0", 258),
        (b"\x00 ", 263),
    ]
    path.write_bytes(ranks_of(*pieces))
    special = {"<s>": 264, "<|밥|>": 266, "Ġ 밥": 270}

    def read() -> BPEModel:
        model = tiktoken.read(path, pretokenizer="cl100k", special_tokens=special).model
        assert isinstance(model, BPEModel)
        return model

    with monkeypatch.context() as patch:
        patch.setattr(_core, "read_ranks", lambda data: None)
        slow = read()
    asked = ["lo", "low", "Ġ", " ", "ĀĠ", "\x00 ", "ë°¥", "밥", "ë°", "", "lo ", "Ġ 밥", *special]
    for text in [*filter(None, slow.pieces), *asked]:
        model = read()
        assert model.find(text) == slow.find(text), text
        assert (text in model.table) == (text in slow.pieces)
        assert "pieces" not in vars(model)
        id_ = model.find(text)
        assert id_ is None or model.table[id_] == text
    model = read()
    assert [model.table[id_] for id_ in range(len(model.table))] == [*slow.pieces]
    assert read().pieces == slow.pieces
    assert pickle.loads(pickle.dumps(read())) == slow
    ids = [*range(264), 264, 266, 270]
    texts = [
        (
            tok.decode_bytes([id_ for id_ in ids if slow.pieces[id_]]),
            tok.encode("low 밥 <s>"),
            tok.vocab,
        )
        for tok in (
            jogak.Tokenizer(Spec(model=one, pretokenizer=(Named("gpt2"),), special_tokens=special))
            for one in (read(), slow)
        )
    ]
    assert texts[0] == texts[1]


# --- what models hold -----------------------------------------------------------------------------


def loaded(make: Callable[[], dict[str, Any]]) -> Spec:
    return hf_json.loads(json.dumps(make()).encode())


def test_nobody_can_tell_what_a_model_holds() -> None:
    models = [(loaded(make).model, loaded(make).model) for make in (bpe, unigram, wordpiece)]
    for model, untouched in models:
        assert isinstance(model, (BPEModel, UnigramModel, jogak.WordPieceModel))
        assert "pieces" not in vars(untouched)
        made = dataclasses.replace(model)
        assert type(made.pieces) is type(model.pieces) is tuple
        assert (repr(made), hash(made)) == (repr(untouched), hash(model))
        assert made == model == untouched
        for one in (loaded(bpe).model, loaded(unigram).model, loaded(wordpiece).model):
            twin = pickle.loads(pickle.dumps(one))
            assert twin == one == copy.deepcopy(one) == copy.copy(one)
            assert vars(twin).keys() == vars(made).keys() if type(twin) is type(made) else True
        assert dataclasses.asdict(made) == dataclasses.asdict(model)
        assert made.to_core().keys() == model.to_core().keys()
        for one in (made, model, untouched):
            assert all(one.find(text) == id_ for id_, text in enumerate(made.pieces) if text)
            assert one.find("nothing") is None
        with pytest.raises(AttributeError, match="nothing"):
            _ = model.nothing  # type: ignore[union-attr]  # which model it is, the test knows
    merges = loaded(bpe).model
    assert isinstance(merges, BPEModel)
    first = merges.pieces.index("l"), merges.pieces.index("o")
    assert merges.merges is not None
    assert merges.merges[0] == first
    assert type(merges.merges) is tuple


def test_the_empty_text_may_be_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    file = bpe()
    file["model"]["vocab"][""] = 260
    file["added_tokens"][1]["id"] = 261
    assert held(file)
    fast, slow = both(json.dumps(file).encode(), monkeypatch)
    assert fast == slow
    assert (fast.model.pieces[260], fast.model.find(""), len(fast.model.table)) == ("", 260, 262)
    assert fast.special_tokens == {"<unk>": 0, "<s>": 261}
    text = "low é밥<s> lo"
    assert jogak.Tokenizer(fast).encode(text) == jogak.Tokenizer(slow).encode(text)
    ids = [id_ for id_ in range(262) if id_ != 260]
    assert jogak.Tokenizer(fast).decode(ids) == jogak.Tokenizer(slow).decode(ids)
    twin = pickle.loads(pickle.dumps(fast))
    assert twin == slow


def test_nobody_can_tell_what_a_spec_holds() -> None:
    file = bpe()
    file["added_tokens"] += [token(9, "two words"), token(9, "lo", lstrip=True, special=True)]
    file["added_tokens"] += [token(9, "<t>", special=True, normalized=False, single_word=True)]
    spec, untouched = (hf_json.loads(json.dumps(file).encode()) for _ in range(2))
    assert "added_tokens" not in vars(spec)
    assert type(spec.added_tokens) is tuple
    assert [one.text for one in spec.added_tokens] == ["<unk>", "lo", "<s>", "two words", "<t>"]
    assert spec.added_tokens[1] == jogak.AddedToken(
        "lo", lstrip=True, normalized=True, in_model=True
    )
    made = dataclasses.replace(spec, special_policy="text")
    assert (made == spec, repr(spec), hash(spec.added_tokens)) == (
        *(False, repr(untouched), hash(untouched.added_tokens)),
    )
    for one in (untouched, hf_json.loads(json.dumps(file).encode())):
        assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one) == spec
    text = "<unk> lo<s>two words <t>low x<t> <t>"
    told = jogak.Tokenizer(dataclasses.replace(spec))
    assert jogak.Tokenizer(untouched).encode(text) == told.encode(text)
    plain = Spec(model=spec.model, pretokenizer=())
    assert plain.added_tokens == ()


def test_specs_are_checked_with_tables_too() -> None:
    spec = loaded(bpe)
    with pytest.raises(jogak.ConfigError, match="the two must agree"):
        dataclasses.replace(spec, special_tokens={"<unk>": 1})
    table = _core.Ids.pieces
    ids = sections.with_tables(json.dumps(bpe()).encode(), None)
    assert ids is not None
    vocabulary = ids.value["model"]["vocab"]
    assert table(vocabulary, [("<s>", 5)]) is None
    assert table(vocabulary, [("lo", 5)]) is None
    assert table(vocabulary, [("", 500)]) is None
    assert table(vocabulary, [("<s>", 5_000_000)]) is None
    assert table(vocabulary, [("<s>", 400), ("<t>", 400)]) is None
    pieces = table(vocabulary, [("<s>", 400), ("lo", 257)])
    assert pieces is not None
    assert (len(pieces), pieces[400], pieces[399]) == (401, "<s>", None)
    assert [*pieces.texts()] == [pieces[id_] for id_ in range(401)]
    for wrong in (401, -1):
        with pytest.raises(IndexError):
            _ = pieces[wrong]
    model = BPEModel(pieces=pieces, merges=(), unknown="lo")  # type: ignore[arg-type]  # wrong on purpose
    assert model.unknown == "lo"
    with pytest.raises(jogak.ConfigError, match="not among the pieces"):
        BPEModel(pieces=pieces, merges=(), unknown="none")  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    "name",
    [
        *("gpt2/tokenizer.json", "gpt-neox/tokenizer.json", "mistral-v1/tokenizer.json"),
        *("t5-small/tokenizer.json", "bert-base-cased/tokenizer.json"),
        *("cl100k_base/cl100k_base.tiktoken", "xlnet-base-cased/tokenizer.json"),
        *("bert-base-cased/vocab.txt", "koelectra-base/vocab.txt", "bert-base-chinese/vocab.txt"),
        "whisper/whisper-large-v3.tokenizer.json",  # one of its pieces is the empty text
        *("mistral-v1/tokenizer.model", "nai-t5/spiece.model", "tta-ko-unigram/tokenizer.model"),
        *(
            "kortok-sp-32k/tok.model",
            "xlnet-base-cased/spiece.model",
            "cogview-zh/cog-pretrain.model",
        ),
        *("bpemb-en-100k/en.wiki.bpe.vs100000.model", "gpt2/vocab.bpe", "roberta-base/vocab.json"),
    ],
)
def test_real_files_are_read_by_the_core(
    name: str, data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = data(f"models/{name}")
    fast = jogak.load(path).spec
    assert "pieces" not in vars(fast.model)
    with monkeypatch.context() as patch:
        readers = ("read_sections", "read_ranks", "read_model_pieces", "read_vocab", "read_lines")
        for reader in readers:
            patch.setattr(_core, reader, lambda data: None)
        slow = jogak.load(path).spec
    assert type(vars(slow.model)["pieces"]) is tuple
    assert fast == slow
