"""`jogak.compat.tiktoken` beside tiktoken: the same names, ids, bytes and exceptions."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import pickle
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

import jogak
import jogak.compat.tiktoken as face
from jogak.compat.tiktoken import core, load, model, patterns, ranks, registry
from jogak.formats.tiktoken import PUBLISHED

peer = pytest.importorskip("tiktoken")

Data = Callable[[str], Path]
FILES = {
    "gpt2": "r50k_p50k/r50k_base.tiktoken",
    "r50k_base": "r50k_p50k/r50k_base.tiktoken",
    "p50k_base": "r50k_p50k/p50k_base.tiktoken",
    "p50k_edit": "r50k_p50k/p50k_base.tiktoken",
    "cl100k_base": "cl100k_base/cl100k_base.tiktoken",
    # Not published by name: pieces of cl100k under o200k's expression, and Whisper's files.
    "o200k_words": "cl100k_base/cl100k_base.tiktoken",
    "whisper": "whisper/multilingual.tiktoken",
    "whisper_gpt2": "whisper/gpt2.tiktoken",
}
CORPORA = [
    *("en_docs", "ko_nsmc", "code", "zh_poetry", "react_tf_ko", "tf_zh-cn"),
    *("cppdocs_ja", "cppdocs_ko", "cppdocs_ru", "cppdocs_zh-cn"),
    *("small/utf8_sequence_0x10ffff", "small/wagahaiwa_nekodearu", "small/wikitext2_valid"),
]
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<pad>", "특수")

Pair = tuple[face.Encoding, Any]


def arguments(name: str, data: Data) -> dict[str, Any]:
    """What both libraries make an encoding of."""
    path = data(f"models/{FILES[name]}")
    if name in registry.ENCODING_CONSTRUCTORS:
        return registry.ENCODING_CONSTRUCTORS[name](folder=data("models"))
    pieces = load.load_tiktoken_bpe(str(path))
    top = max(pieces.values()) + 5
    return {
        "name": name,
        "pat_str": patterns.O200K if name == "o200k_words" else patterns.GPT2,
        "mergeable_ranks": pieces,
        "special_tokens": {text: top + at for at, text in enumerate(SPECIALS)},
    }


@pytest.fixture(scope="module", params=FILES)
def pair(request: pytest.FixtureRequest, data: Data) -> Pair:
    made = arguments(request.param, data)
    return face.Encoding(**made), peer.Encoding(**made)


ALL_BYTES = {bytes([byte]): byte for byte in range(256)}


@pytest.fixture(scope="module")
def toys() -> Pair:
    made: dict[str, Any] = {
        "pat_str": r"\S+|\s+",
        "mergeable_ranks": ALL_BYTES | {b"ab": 256, b" ab": 257, "각".encode(): 300, b"\n ": 301},
        "special_tokens": {"<s>": 400, "ab<": 401, "</s>": 97, "가": 402},
    }
    return face.Encoding("toy", **made), peer.Encoding("toy", **made)


def outcome(call: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, ...]:
    """What a call returns, or the exception: its type, and its message where jogak repeats it."""
    try:
        return ("returns", call(*args, **options))
    except (KeyError, UnicodeError) as error:
        return (type(error), error.args)
    except Exception as error:
        text = str(error) if "disallowed special" in str(error) else ""
        return (type(error), text)


# --- the same face


def public(thing: Any) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("_")}


def test_encoding_has_the_same_names() -> None:
    assert public(peer.Encoding) <= public(face.Encoding)
    ours, theirs = (each("x", **tiny()) for each in (face.Encoding, peer.Encoding))
    assert set(vars(theirs)) == set(vars(ours))
    private = {"_encode_single_piece", "_encode_only_native_bpe", "_encode_bytes"}
    assert private <= set(vars(face.Encoding))


def tiny() -> dict[str, Any]:
    return {"pat_str": "a", "mergeable_ranks": ALL_BYTES, "special_tokens": {}}


def parameters(function: Any, *, drop: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
    """Names, kinds and defaults; an empty set is an empty set."""
    found = inspect.signature(function).parameters.values()
    sets = (set, frozenset)
    return [
        (each.name, each.kind, () if isinstance(each.default, sets) else each.default)
        for each in found
        if each.name not in drop
    ]


def test_encoding_has_the_same_signatures() -> None:
    for name in public(peer.Encoding):
        theirs = inspect.getattr_static(peer.Encoding, name)
        if inspect.isfunction(theirs):
            assert parameters(getattr(face.Encoding, name)) == parameters(theirs), name
    assert parameters(face.Encoding) == parameters(peer.Encoding)


@pytest.mark.parametrize("name", ["", "core", "load", "model", "registry"])
def test_modules_have_the_same_functions(name: str) -> None:
    theirs = pytest.importorskip(f"tiktoken.{name}" if name else "tiktoken")
    ours = {"": face, "core": core, "load": load, "model": model, "registry": registry}[name]
    for each, function in vars(theirs).items():
        if inspect.isfunction(function) and function.__module__ == theirs.__name__:
            if each.startswith("_") and each != "_available_plugin_modules":
                continue
            # jogak may take a folder besides.
            mine = parameters(getattr(ours, each), drop=("folder",))
            assert mine == parameters(function), each
    assert face.__version__ == "0.14.0"


def test_models_use_the_same_vocabularies() -> None:
    theirs = pytest.importorskip("tiktoken.model")
    assert theirs.MODEL_TO_ENCODING == model.MODEL_TO_ENCODING
    assert theirs.MODEL_PREFIX_TO_ENCODING == model.MODEL_PREFIX_TO_ENCODING
    endings = ("", "-2024", "x")
    prefixes = (*theirs.MODEL_PREFIX_TO_ENCODING, *theirs.MODEL_TO_ENCODING, "nothing", "ft:")
    for start, end in itertools.product(prefixes, endings):
        found = outcome(face.encoding_name_for_model, start + end)
        expected = outcome(peer.encoding_name_for_model, start + end)
        assert found[0] == expected[0]
        assert found[0] is KeyError or found == expected


def test_published_vocabularies_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns, special tokens and addresses, as tiktoken has them."""
    theirs = pytest.importorskip("tiktoken_ext.openai_public")
    asked: dict[str, list[Any]] = {"ours": [], "theirs": []}

    def reader(side: str) -> Callable[..., dict[bytes, int]]:
        def read(*args: Any, folder: object = None, **options: Any) -> dict[bytes, int]:
            asked[side].append((*args, *options.values()))
            return {}

        return read

    monkeypatch.setattr(theirs, "load_tiktoken_bpe", reader("theirs"))
    monkeypatch.setattr(theirs, "data_gym_to_mergeable_bpe_ranks", lambda **_: {})
    monkeypatch.setattr(registry, "load_tiktoken_bpe", reader("ours"))
    assert list(theirs.ENCODING_CONSTRUCTORS) == face.list_encoding_names()
    for name, constructor in theirs.ENCODING_CONSTRUCTORS.items():
        expected = {"explicit_n_vocab": None, **constructor()}
        assert registry.ENCODING_CONSTRUCTORS[name]() == expected
    assert asked["ours"][1:] == asked["theirs"]  # gpt2 is read from r50k_base
    by_name = {name: hash_ for hash_, name in PUBLISHED.items()}
    assert registry._FILES.items() <= by_name.items()


def test_expressions_are_the_schemes_that_they_are_taken_for() -> None:
    source = random.Random(4)
    parts = "aB3٣ '\n\r\t\u3000ſs'S'llé가日ǅʰ\u0301.,/_\u2028\x85"
    for pattern, scheme in patterns.KNOWN.items():
        for _ in range(300):
            text = "".join(source.choices(parts, k=source.randrange(12)))
            split = jogak.Split(pattern, matches="only")
            found = jogak.count(iter([text]), pretokenizer=split)
            expected = jogak.count(iter([text]), pretokenizer=scheme)
            assert {*found} == {*expected}, (pattern, text)
            assert all(found[word] == expected[word] for word in found)


# --- the same ids


@pytest.mark.parametrize("corpus", CORPORA)
def test_ids_and_bytes_of_corpora(corpus: str, pair: Pair, data: Data) -> None:
    ours, theirs = pair
    with data(f"corpora/{corpus}.txt").open("rb") as file:
        text = file.read(150_000).decode("utf-8", "ignore")
    ids = theirs.encode_ordinary(text)
    assert ours.encode_ordinary(text) == ids
    assert ours.encode(text, disallowed_special=()) == ids
    assert ours.encode_to_numpy(text, disallowed_special=()).tolist() == ids
    assert ours.decode(ids) == theirs.decode(ids)
    assert ours.decode_tokens_bytes(ids[:500]) == theirs.decode_tokens_bytes(ids[:500])
    lines = text.splitlines(keepends=True)[:300]
    batch = theirs.encode_ordinary_batch(lines)
    assert ours.encode_ordinary_batch(lines) == batch
    assert ours.encode_batch(lines, disallowed_special=()) == batch
    assert ours.decode_batch(batch) == lines
    assert ours.decode_bytes_batch(batch) == [line.encode() for line in lines]
    for line_ids in batch[:50]:
        assert ours.decode_with_offsets(line_ids) == theirs.decode_with_offsets(line_ids)


def with_specials() -> st.SearchStrategy[str]:
    some = st.sampled_from([*SPECIALS, "<|fim_prefix|>", "<|endofprompt|>", "<|", "|>"])
    return st.lists(st.one_of(texts(6), some), max_size=6).map("".join)


def sets() -> st.SearchStrategy[Any]:
    names = [*SPECIALS, "<|fim_prefix|>", "<|endofprompt|>", "no such", "a"]
    chosen = st.lists(st.sampled_from(names), max_size=4, unique=True)
    return st.one_of(st.just("all"), chosen.map(set), chosen.map(frozenset))


@given(text=with_specials(), allowed=sets(), disallowed=st.one_of(sets(), st.just(())))
def test_special_tokens_in_hostile_texts(
    pair: Pair, text: str, allowed: Any, disallowed: Any
) -> None:
    ours, theirs = pair
    options = {"allowed_special": allowed, "disallowed_special": disallowed}
    found = outcome(ours.encode, text, **options)
    assert found == outcome(theirs.encode, text, **options)
    batch = outcome(ours.encode_batch, ["a", text], **options)
    assert batch == outcome(theirs.encode_batch, ["a", text], **options)
    array = outcome(ours.encode_to_numpy, text, **options)
    if found[0] == "returns":
        ids = found[1]
        assert array[1].tolist() == ids
        assert str(array[1].dtype) == "uint32"
        assert not array[1].flags.writeable
        assert ours.decode(ids) == theirs.decode(ids) == text
        assert ours.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)
        assert [*map(ours.is_special_token, ids)] == [*map(theirs.is_special_token, ids)]
    else:
        assert array == found


def test_all_subsets_of_special_tokens(toys: Pair) -> None:
    """A token whose id is a piece's, one whose text begins another's, one of four bytes."""
    ours, theirs = toys
    subsets = [
        set(each)
        for size in range(5)
        for each in itertools.combinations(ours.special_tokens_set, size)
    ]
    for text in ("ab<s>ab", "x</s> 가가<s>", "ab<ab<s", "", "각<s></s>"):
        for allowed, disallowed in itertools.product(subsets, [*subsets, "all", ()]):
            options = {"allowed_special": allowed, "disallowed_special": disallowed}
            found = outcome(ours.encode, text, **options)
            expected = outcome(theirs.encode, text, **options)
            if expected[0] is ValueError:  # of several, tiktoken names any
                assert found[0] is ValueError
            else:
                assert found == expected
                assert ours.decode_bytes(found[1]) == theirs.decode_bytes(found[1])


@given(text=st.text(max_size=12) | st.text("\ud83d\udc4da<s>", max_size=8))
def test_surrogates(toys: Pair, text: str) -> None:
    ours, theirs = toys
    everything = {"allowed_special": "all"}
    assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)
    assert ours.encode(text, **everything) == theirs.encode(text, **everything)
    assert ours.encode_batch([text, "a"], **everything) == [ours.encode(text, **everything), [97]]
    for name in ("encode_to_numpy", "encode_with_unstable", "encode_single_token"):
        options = everything if name.startswith("encode_to") else {}
        found, expected = (outcome(getattr(each, name), text, **options) for each in toys)
        assert found[0] == expected[0]


@given(data=st.binary(max_size=30), cut=st.integers(0, 30), text=texts(5))
def test_any_bytes(pair: Pair, data: bytes, cut: int, text: str) -> None:
    ours, theirs = pair
    for each in (data, text.encode()[:cut], text.encode()[:cut] + data):
        assert ours._encode_bytes(each) == theirs._encode_bytes(each)
        if each:
            assert ours._encode_single_piece(each) == theirs._encode_single_piece(each)
        assert outcome(ours.encode_single_token, each) == outcome(theirs.encode_single_token, each)


def test_only_native_bpe(pair: Pair) -> None:
    ours, theirs = pair
    text = "It's 12345 tokens,\n  안녕하세요 ὀδυσσεύς!  "
    pytest.importorskip("regex")
    assert ours._encode_only_native_bpe(text) == theirs._encode_only_native_bpe(text)


@pytest.mark.parametrize(
    "text",
    ["hello fanta", "  !", "a\n\n", "today\n ", "안녕하", "x <pad>", "x<pad> ", "\n\x1c", "1", ""],
)
def test_unstable(pair: Pair, text: str) -> None:
    ours, theirs = pair
    options: dict[str, Any] = {"allowed_special": "all"}
    stable, ways = ours.encode_with_unstable(text, **options)
    expected, others = theirs.encode_with_unstable(text, **options)
    assert stable == expected
    assert ways == sorted(others)


@given(text=st.text("ab \n각가<s>\x1c\u3000", max_size=10))
def test_unstable_of_hostile_texts(toys: Pair, text: str) -> None:
    ours, theirs = toys
    options: dict[str, Any] = {"allowed_special": {"<s>"}, "disallowed_special": ()}
    stable, ways = theirs.encode_with_unstable(text, **options)
    assert ours.encode_with_unstable(text, **options) == (stable, sorted(ways))


def test_ranks_in_any_order() -> None:
    """Ranks that no training gives: parts above the whole, pieces that small merges do not make."""
    source = random.Random(7)
    for number in range(200):
        letters = b"abc" if number % 2 else b"ab "
        pieces = {bytes(source.choices(letters, k=source.randint(2, 5))) for _ in range(9)}
        table = dict(zip([*ALL_BYTES, *sorted(pieces)], range(256 + len(pieces)), strict=True))
        if number % 3:
            table = dict(zip(table, source.sample(range(400), len(table)), strict=True))
        pattern = source.choice([r"(?s:.+)", r"\S+|\s+", r" ?\w+| +"])
        made: dict[str, Any] = {
            "pat_str": pattern,
            "mergeable_ranks": table,
            "special_tokens": {"<s>": 999},
        }
        ours, theirs = face.Encoding("x", **made), peer.Encoding("x", **made)
        for _ in range(8):
            text = bytes(source.choices(letters, k=source.choice([1, 3, 8, 20, 150]))).decode()
            assert ours.encode(text) == theirs.encode(text)
            assert ours._encode_single_piece(text) == theirs._encode_single_piece(text)
            with_token = f"{text}<s>{text}"
            assert ours.encode_batch(
                [with_token, text], allowed_special="all"
            ) == theirs.encode_batch([with_token, text], allowed_special="all")


# --- looking up, and what is refused


def test_looking_up(pair: Pair) -> None:
    ours, theirs = pair
    for name in ("name", "n_vocab", "max_token_value", "eot_token", "special_tokens_set"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.token_byte_values() == theirs.token_byte_values()
    assert repr(ours) == repr(theirs)
    for id_ in [*range(300), *range(ours.n_vocab - 300, ours.n_vocab + 3)]:
        found = outcome(ours.decode_single_token_bytes, id_)
        assert found == outcome(theirs.decode_single_token_bytes, id_)
        if found[0] == "returns":
            assert ours.encode_single_token(found[1]) == theirs.encode_single_token(found[1])


WRONG: list[Any] = [
    *([5000], [-1], [2**40], ["a"], [1.0], "ab", 5, None, {1: 2}, iter([1]), [None]),
    *([True], b"ab", (1, 2), range(3), [97, 5000], [256, 400], [97, 5000, -1], [[1]]),
]


# No address in a name: processes that share the tests have to call them by one.
@pytest.mark.parametrize("ids", WRONG, ids=lambda ids: repr(ids).partition(" at 0x")[0])
def test_ids_that_are_none(toys: Pair, ids: Any) -> None:
    ours, theirs = toys
    assert outcome(ours.decode_bytes, ids) == outcome(theirs.decode_bytes, ids)
    assert outcome(ours.decode, ids) == outcome(theirs.decode, ids)
    found = outcome(ours.decode_single_token_bytes, ids)
    assert found == outcome(theirs.decode_single_token_bytes, ids)


@pytest.mark.parametrize(
    "options",
    [
        {"allowed_special": ["<s>"]},
        {"allowed_special": ["<s>"], "disallowed_special": ()},
        {"allowed_special": {1}, "disallowed_special": ()},
        {"allowed_special": {"<s>": 1}, "disallowed_special": ()},
        {"allowed_special": None},
        {"allowed_special": []},
        {"allowed_special": ""},
        {"allowed_special": {}.keys()},
        {"disallowed_special": None},
        {"disallowed_special": "xyz"},
        {"disallowed_special": {""}},
        {"disallowed_special": [1]},
        {"disallowed_special": ["<s>"]},
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", ["encode", "encode_to_numpy", "encode_with_unstable"])
def test_sets_that_are_none(toys: Pair, options: dict[str, Any], name: str) -> None:
    for text in ("ab<s>x", "가"):
        found, expected = (outcome(getattr(each, name), text, **options) for each in toys)
        assert found[0] == expected[0]
        assert found[0] == "returns" or found == expected


@pytest.mark.parametrize("text", [b"a", None, 5, ["a"]], ids=repr)
@pytest.mark.parametrize(
    "name", ["encode", "encode_ordinary", "encode_to_numpy", "encode_with_unstable"]
)
def test_texts_that_are_none(toys: Pair, name: str, text: Any) -> None:
    found, expected = (outcome(getattr(each, name), text) for each in toys)
    assert found == expected


@pytest.mark.parametrize(
    "changed",
    [
        {"mergeable_ranks": {}},
        {"mergeable_ranks": {b"a": 2**32}},
        {"mergeable_ranks": {b"a": -1}},
        {"mergeable_ranks": {"a": 1}},
        {"special_tokens": {"x": -1}},
        {"special_tokens": {b"x": 300}},
        {"pat_str": "("},
        {"explicit_n_vocab": 3},
        {"explicit_n_vocab": 256},
    ],
    ids=repr,
)
def test_vocabularies_that_are_none(changed: dict[str, Any]) -> None:
    made = {**tiny(), **changed}
    found, expected = (outcome(each, "x", **made) for each in (face.Encoding, peer.Encoding))
    if expected[0] == "returns":
        assert found[0] == "returns"
    elif found[0] != expected[0]:
        assert issubclass(found[0], expected[0])


def test_what_tiktoken_panics_at_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected one for each"):
        face.Encoding("x", **{**tiny(), "mergeable_ranks": {b"a": 0, b"b": 0}})
    few = face.Encoding("x", **{**tiny(), "mergeable_ranks": {b"a": 0, b"b": 1}, "pat_str": r"\w+"})
    assert few.encode("ab, ba") == [0, 1, 1, 0]
    for refused in (few.encode, few._encode_single_piece):
        with pytest.raises(jogak.EncodeError):
            refused("abc")
    with pytest.raises(jogak.EncodeError):
        few.encode_batch(["ab", "c"])
    with pytest.raises(jogak.UnsupportedFeature, match="large gaps"):
        face.Encoding("x", **{**tiny(), "mergeable_ranks": {b"a": ranks.LARGEST_RANK + 1}})
    with pytest.raises(ValueError, match="num_threads"):
        few.encode_batch(["a"], num_threads=0)


# --- files and names


def test_a_folder_is_looked_into(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    folder = data("models/r50k_p50k").parent
    enc = face.get_encoding("r50k_base", folder=folder)
    assert face.get_encoding("r50k_base") is enc
    assert face.encoding_for_model("davinci") is enc
    monkeypatch.setenv("JOGAK_TIKTOKEN_DIR", f"{folder / 'nothing'}:{folder / 'r50k_p50k'}")
    assert face.get_encoding("p50k_edit").n_vocab == 50284
    assert face.get_encoding("gpt2").encode("hello world") == [31373, 995]
    copy = pickle.loads(pickle.dumps(enc))
    assert copy.__dict__ is enc.__dict__
    assert len(pickle.dumps(enc)) < 200


def test_tiktokens_cache_is_looked_into(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    address = "https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken"
    key = hashlib.sha1(address.encode()).hexdigest()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="downloads nothing"):
        face.get_encoding("r50k_base")
    (tmp_path / key).write_bytes(b"IQ== 0\n")  # another file of this name is passed over
    with pytest.raises(FileNotFoundError, match="r50k_base"):
        face.get_encoding("r50k_base")
    assert load.load_tiktoken_bpe(address) == {b"!": 0}
    shutil.copy(data("models/r50k_p50k/r50k_base.tiktoken"), tmp_path / key)
    assert face.get_encoding("r50k_base").encode("hello world") == [31373, 995]
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(FileNotFoundError):
        load.load_tiktoken_bpe(address)


def test_gpt2_comes_from_its_own_files_too(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    enc = face.get_encoding("gpt2", folder=data("models/gpt2"))
    assert enc.encode("hello world") == [31373, 995]
    vocab, encoder = (str(data(f"models/gpt2/{name}")) for name in ("vocab.bpe", "encoder.json"))
    assert load.data_gym_to_mergeable_bpe_ranks(vocab, encoder) == enc._mergeable_ranks
    theirs = pytest.importorskip("tiktoken.load")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert enc._mergeable_ranks == theirs.data_gym_to_mergeable_bpe_ranks(vocab, encoder)


def test_names_that_are_none() -> None:
    for name in ("no such", 5, None):
        with pytest.raises(ValueError, match=r"no such|Expected a string"):
            face.get_encoding(name)  # type: ignore[arg-type]  # wrong on purpose


def test_files_are_written_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # it keeps what it has read
    path = str(tmp_path / "some.tiktoken")
    table = {b"b": 1, b"\xff\n": 7, b"a": 0}
    load.dump_tiktoken_bpe(table, path)
    assert load.load_tiktoken_bpe(path) == table
    assert Path(path).read_bytes().startswith(b"YQ== 0\nYg== 1\n")
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert load.load_tiktoken_bpe(path, digest) == table
    with pytest.raises(ValueError, match="Hash mismatch"):
        load.load_tiktoken_bpe(path, "0" * 64)
    theirs = pytest.importorskip("tiktoken.load").load_tiktoken_bpe
    odd = (b"YQ== 0\nYQ== 1", b"YQ==  7\n", b"YQ== 0\r\nYg== 1", b"\nYQ== 0\n\n", b"YR== 3\n", b"")
    for data in (b"YQ== 4\nYWI= 5\n", *odd):
        Path(path).write_bytes(data)
        assert [*load.load_tiktoken_bpe(path).items()] == [*theirs(path).items()], data
    Path(path).write_bytes(b"YQ== 0\nnot a line\n")
    with pytest.raises(ValueError, match="Error parsing line"):
        load.load_tiktoken_bpe(path)
    with pytest.raises(FileNotFoundError):
        load.load_tiktoken_bpe(path + "x")


def test_an_encoding_without_a_name_is_pickled_whole(toys: Pair) -> None:
    copy = pickle.loads(pickle.dumps(toys[0]))
    assert copy.encode("ab <s>", allowed_special="all") == [256, 32, 400]
    assert copy._mergeable_ranks == toys[0]._mergeable_ranks


def test_plugins_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = ModuleType("tiktoken_ext.mine")
    monkeypatch.setitem(sys.modules, "tiktoken_ext.mine", plugin)
    monkeypatch.setattr(registry, "_available_plugin_modules", lambda: ("tiktoken_ext.mine",))
    monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", dict(registry.ENCODING_CONSTRUCTORS))
    monkeypatch.setattr(registry, "ENCODINGS", {})
    with pytest.raises(ValueError, match="does not define"):
        face.list_encoding_names()
    plugin.ENCODING_CONSTRUCTORS = {"mine": lambda: {"name": "mine", **tiny()}}
    assert face.get_encoding("mine").encode("a") == [97]
    plugin.ENCODING_CONSTRUCTORS = {"gpt2": dict}
    with pytest.raises(ValueError, match="Duplicate"):
        face.list_encoding_names()
