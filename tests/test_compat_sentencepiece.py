"""`jogak.compat.sentencepiece` beside SentencePiece 0.2.3: the same names, results and exceptions."""

from __future__ import annotations

import inspect
import io
import math
import pickle
import random
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import texts

import jogak
import jogak.compat.sentencepiece as face
from jogak.formats import protobuf

peer = pytest.importorskip("sentencepiece")
if peer.__version__ != face.__version__:
    pytest.skip(f"SentencePiece {peer.__version__} has another face", allow_module_level=True)

Data = Callable[[str], Path]
Pair = tuple[face.SentencePieceProcessor, Any]

MODELS = [
    *("spm-test/test_model", "spm-test/test_ja_model", "nai-t5/spiece", "xlnet-base-cased/spiece"),
    *("mistral-v1/tokenizer", "kortok-sp-32k/tok", "tta-ko-unigram/tokenizer"),
    *("chinese-llama-tokenizer/tokenizer-human", "chinese-llama-tokenizer/tokenizer-compatible"),
    *("bpemb-en-100k/en.wiki.bpe.vs100000", "cogview-zh/cog-pretrain"),
]
CORPORA = ["en_docs", "ko_nsmc", "code", "zh_poetry", "cppdocs_ja", "small/utf8_sequence_0x10ffff"]
FORMS = (int, str, bytes, "serialized_proto", "offset_mapping")


@pytest.fixture(scope="module", params=MODELS)
def pair(request: pytest.FixtureRequest, data: Data) -> Pair:
    path = str(data(f"models/{request.param}.model"))
    try:
        ours = face.SentencePieceProcessor(path)
    except jogak.UnsupportedFeature as error:
        pytest.skip(str(error))
    return ours, peer.SentencePieceProcessor(path)


@pytest.fixture(scope="module")
def small(data: Data) -> Pair:
    path = str(data("models/spm-test/test_model.model"))
    return face.SentencePieceProcessor(path), peer.SentencePieceProcessor(path)


def outcome(call: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, ...]:
    """What a call returns, or the kind of exception."""
    try:
        found = call(*args, **options)
    except Exception as error:
        kinds = (IndexError, TypeError, RuntimeError, ValueError)
        return ("raises", next((kind for kind in kinds if isinstance(error, kind)), type(error)))
    return ("returns", plain(found))


def plain(value: Any) -> Any:
    """Arrays as lists, with their type."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.flags.writeable, value.tolist())
    return value


def both(pair: Pair, name: str, *args: Any, **options: Any) -> None:
    found, expected = (outcome(getattr(each, name), *args, **options) for each in pair)
    assert found == expected


# --- the same face


def public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


CLASSES = ("SentencePieceProcessor", "SentencePieceTrainer", "SentencePieceNormalizer")


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_the_same_names_and_signatures(name: str) -> None:
    ours, theirs = getattr(face, name), getattr(peer, name)
    assert public(theirs) <= public(ours)
    for method in {*public(theirs), "__init__"}:
        expected = inspect.signature(getattr(theirs, method)).parameters.values()
        found = inspect.signature(getattr(ours, method)).parameters.values()
        assert [(each.name, each.kind, each.default) for each in found] == [
            (each.name, each.kind, each.default) for each in expected
        ], method


def test_the_module_has_the_same_names() -> None:
    modules = {"csv", "io", "os", "sys", "importlib", "re"}
    files = {"sentencepiece_model_pb2", "sentencepiece_pb2"}
    assert public(peer) - modules - files <= public(face)
    expected = inspect.signature(peer.ConvertToFlatbuffer).parameters
    assert [*inspect.signature(face.ConvertToFlatbuffer).parameters] == [*expected]


# --- the same results


@pytest.mark.parametrize("corpus", CORPORA)
def test_corpora(corpus: str, pair: Pair, data: Data) -> None:
    ours, theirs = pair
    with data(f"corpora/{corpus}.txt").open("rb") as file:
        file.seek(10_000)
        raw = file.read(100_000)
    text = raw.decode("utf-8", "ignore")
    ids = theirs.encode(text)
    assert ours.encode(text) == ids
    assert ours.decode(ids) == theirs.decode(ids)
    lines = text.splitlines()[:40]
    assert ours.encode(lines) == theirs.encode(lines)
    assert ours.encode(lines, out_type=str) == theirs.encode(lines, out_type=str)
    assert ours.decode(theirs.encode(lines)) == theirs.decode(theirs.encode(lines))
    for form in ("serialized_proto", "offset_mapping"):
        found = ours.encode(text[:3000], out_type=form)
        assert found == theirs.encode(text[:3000], out_type=form)
    # A cut within a character.
    part = raw[1:2000]
    assert ours.encode(part, out_type="serialized_proto") == theirs.encode(
        part, out_type="serialized_proto"
    )


MARKS = ["<s>", "</s>", "<unk>", "<pad>", "<sep>", "<cls>", "<0x41>", "▁", "▁▁", "  ", "\u3000"]
hostile = st.lists(texts(5) | st.sampled_from(MARKS), max_size=4).map("".join)
broken = st.tuples(hostile, st.binary(max_size=3), hostile).map(
    lambda parts: parts[0].encode() + parts[1] + parts[2].encode()
)


@given(text=hostile | broken)
@settings(max_examples=25)
def test_hostile_texts(pair: Pair, text: str | bytes) -> None:
    for form in FORMS:
        if isinstance(text, str) or form != "offset_mapping":
            both(pair, "encode", text, out_type=form)
    both(pair, "encode", text, out_type="offset_mapping", return_bytes=True)
    both(pair, "encode", [text, b"x"], out_type="numpy")
    both(pair, "normalize", text)
    both(pair, "normalize", text, with_offsets=True)
    both(pair, "parallel_encode", text, chunk_len=10_000)


@given(
    text=hostile,
    frame=st.fixed_dictionaries(
        dict.fromkeys(("add_bos", "add_eos", "reverse", "emit_unk_piece"), st.booleans())
    ),
    form=st.sampled_from(FORMS),
)
@settings(max_examples=25)
def test_what_stands_around(pair: Pair, text: str, frame: dict[str, bool], form: Any) -> None:
    both(pair, "encode", text, out_type=form, **frame)
    both(pair, "encode", [text, "x"], out_type=form, **frame)


@given(
    text=hostile,
    more=st.lists(st.integers(0, 99) | st.integers(0, 2**20), max_size=9),
    at=st.integers(0, 9),
)
@settings(max_examples=25)
def test_decoding(pair: Pair, text: str, more: list[int], at: int) -> None:
    ours, theirs = pair
    ids = theirs.encode(text)
    ids[at:at] = [id_ % len(theirs) for id_ in more]
    pieces = [*theirs.encode(text, out_type=str), "x", "▁", "漢", theirs.id_to_piece(5)]
    for form in (str, bytes, "serialized_proto", "offset_mapping"):
        both(pair, "decode", ids, out_type=form)
        both(pair, "decode", [ids, [], [3]], out_type=form)
        both(pair, "decode", pieces, out_type=form)
        both(pair, "decode", [piece.encode() for piece in pieces], out_type=form)
    both(pair, "decode", np.array(ids, np.int64)[::-1])
    assert ours.detokenize(ids) == theirs.decode(ids)


def ways(data: bytes) -> list[tuple[float, list[int]]]:
    """An NBestSentencePieceText as scores and ids."""
    found = []
    for way in protobuf.fields(data, "", None):
        score, ids = 0.0, []
        for field in way.message("way"):
            if field.number == 2:
                ids += [part.unsigned() for part in field.message("piece") if part.number == 2]
            elif field.number == 3:
                score = field.number32()
        found.append((score, ids))
    return found


@given(text=hostile.map(lambda text: text[:40]))
@settings(max_examples=15)
def test_the_n_best(pair: Pair, text: str) -> None:
    ours, theirs = pair
    options = {"nbest_size": 6, "out_type": "serialized_proto"}
    expected = outcome(theirs.nbest_encode, text, **options)
    found = outcome(ours.nbest_encode, text, **options)
    assert found[0] == expected[0]
    if found[0] == "raises":
        assert found == expected
        return
    mine, others = ways(found[1]), ways(expected[1])
    assert len(mine) == len(others)
    scores = [score for score, _ in others]
    for (score, ids), (other, other_ids) in zip(mine, others, strict=True):
        assert score == pytest.approx(other, rel=1e-5, abs=1e-4)
        # Of ways that are as good as equal, either may come first.
        if sum(math.isclose(other, each, rel_tol=1e-5, abs_tol=1e-4) for each in scores) == 1:
            last = math.isclose(other, scores[-1], rel_tol=1e-5, abs_tol=1e-4)
            assert ids == other_ids or last


def test_vocabularies(pair: Pair) -> None:
    ours, theirs = pair
    ids = list(range(len(theirs)))
    for name in ("id_to_piece", "get_score", "is_unknown", "is_control", "is_unused", "is_byte"):
        both(pair, name, ids)
    for name in ("unk_id", "bos_id", "eos_id", "pad_id", "vocab_size", "piece_size", "__len__"):
        both(pair, name)
    assert ours.piece_to_id(theirs.id_to_piece(ids)) == theirs.piece_to_id(theirs.id_to_piece(ids))
    assert ours["no such piece"] == theirs["no such piece"]


def test_many_texts_with_what_is_unknown(pair: Pair) -> None:
    """Texts with unknown characters, without, and in broken bytes, in one call and on two threads."""
    mixed = [
        "plain text",
        "a\U0001f40c\U0001f40cb",
        "",
        "조각 \u2603\u2604 값",
        "~{`}^ x",
        "\u16a0\u16a1 \u16a2",
    ]
    for batch in (mixed * 3, [text.encode() for text in mixed] + [b"a\xff\xe4b", b"\xff"]):
        for form in FORMS:
            both(pair, "encode", batch, out_type=form, num_threads=2)


@pytest.mark.parametrize("kind", ["word", "char"])
def test_word_and_character_models(kind: str) -> None:
    """Of a word model the ids of unknown words are told, and pieces where there are none."""
    made = io.BytesIO()
    peer.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat", "a cat and a dog"] * 9),
        model_writer=made,
        model_type=kind,
        vocab_size=14,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    model = made.getvalue()
    ours, theirs = (library.SentencePieceProcessor(model_proto=model) for library in (face, peer))
    for text in ("the cat sat", ["the cat", "a dog"], "the zebra ?? sat", ["zz", "a cat"]):
        both((ours, theirs), "encode", text)
        for form in (str, bytes, "serialized_proto", "offset_mapping"):
            if kind == "char" or "z" not in str(text):
                both((ours, theirs), "encode", text, out_type=form)
            else:
                with pytest.raises(jogak.UnsupportedFeature, match="word model"):
                    ours.encode(text, out_type=form)


def test_the_bytes_of_a_model_come_back(pair: Pair) -> None:
    ours, theirs = pair
    both(pair, "serialized_model_proto")
    copy = pickle.loads(pickle.dumps(ours))
    assert copy.encode("hello 안녕") == theirs.encode("hello 안녕")


ODD: list[Any] = [
    *(None, 5, -1, 10_000, 1.5, True, "", b"", "▁he", b"l", [], [[]], [5, "a"], ["a", 5], [1.5]),
    *((5, 6), [True], ["no such", "漢"], [[], ["l"]], [[], [5]], [b"l", "o"], [1, 10_000], [-1]),
    *(2**40, [2**40], "\ud83d", ["\ud83d"], ["a", None], ("a", "b"), b"a\xffb", [b"\xff"], {}),
    *(np.array([5, 6]), np.array([[5], [6]]), np.array([1.5]), np.array([], np.int32)),
]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_odd_values(small: Pair, value: Any) -> None:
    for form in (int, str, bytes, "serialized_proto", "numpy", "bad"):
        both(small, "encode", value, out_type=form)
    for form in (None, str, bytes, int, "numpy", "serialized_proto", "offset_mapping", "bad"):
        both(small, "decode", value, out_type=form)
    for name in ("id_to_piece", "get_score", "is_unknown", "is_byte", "piece_to_id", "normalize"):
        both(small, name, value)


OPTIONS: list[dict[str, Any]] = [
    {"return_bytes": True},
    {"out_type": int, "return_type": str},
    {"num_threads": "a"},
    {"enable_sampling": True, "nbest_size": 1},
    {"enable_sampling": True, "nbest_size": 0},
    {"enable_sampling": True, "nbest_size": 600},
    {"out_type": "offset_mapping", "add_bos": True},
    {"out_type": "serialized_proto", "reverse": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_odd_options(small: Pair, options: dict[str, Any]) -> None:
    both(small, "encode", "hello", **options)
    both(small, "encode", ["hello"], **options)


def test_odd_calls(data: Data) -> None:
    path = str(data("models/spm-test/test_model.model"))
    small = face.SentencePieceProcessor(path), peer.SentencePieceProcessor(path)
    for options in ({"nbest_size": 5000}, {"nbest_size": -3}, {"out_type": "offset_mapping"}):
        both(small, "nbest_encode", "hello", **options)
    both(small, "nbest_encode", ["hello", ""], nbest_size=2, out_type=str)
    both(small, "parallel_encode", "hello")
    both(small, "parallel_encode", "hello", chunk_len=5, out_type="offset_mapping")
    both(small, "Load")
    both(small, "Load", model_file="a", model_proto=b"b")
    both(small, "Load", "no such file")
    both(small, "LoadFromSerializedProto", b"xx")
    both(small, "LoadFromSerializedProto", "xx")
    both(small, "LoadFromFile", 5)
    for name in ("SetRandomGeneratorSeed", "SetMinLogLevel", "SetNBestTimeout"):
        for value in (1, "a", None):
            both((face, peer), name, value)
    peer.set_nbest_timeout(10**6)  # one millisecond would stop the searches of all tests after this
    both((face, peer), "SetDataDir", 1)
    with pytest.raises(OSError, match="NOT_FOUND"):  # as releases before
        face.SentencePieceProcessor("no such file")


def test_a_processor_without_a_model() -> None:
    empty = face.SentencePieceProcessor(), peer.SentencePieceProcessor()
    for name, *args in (
        *(("encode", "a"), ("decode", [1]), ("decode", []), ("id_to_piece", 0)),
        *(("piece_to_id", "a"), ("vocab_size",), ("unk_id",), ("bos_id",), ("__len__",)),
        *(("serialized_model_proto",), ("normalize", " a  b ")),
    ):
        both(empty, name, *args)


def test_defaults_come_from_the_constructor(data: Data) -> None:
    path = str(data("models/spm-test/test_model.model"))
    options: dict[str, Any] = {"out_type": str, "add_bos": True, "reverse": True}
    pair = tuple(each.SentencePieceProcessor(path, **options) for each in (face, peer))
    both(pair, "encode", "hello 漢")
    both(pair, "nbest_encode", "hello", nbest_size=2)
    copies = tuple(pickle.loads(pickle.dumps(each)) for each in pair)
    both(copies, "encode", "hello 漢")
    made = face.SentencePieceProcessor.from_file(path, add_eos=True)
    assert made.encode("a") == peer.SentencePieceProcessor.from_file(path, add_eos=True).encode("a")
    proto = Path(path).read_bytes()
    assert face.SentencePieceProcessor.from_proto(proto).encode("a") == [11]
    with pytest.raises(ValueError, match="from_proto"):
        face.SentencePieceProcessor.from_proto(proto, model_file=path)


# --- sampling


def test_sampling_draws_all_ways(data: Data) -> None:
    """By probabilities as SentencePiece: three sigma of 2,000 draws."""
    path = str(data("models/spm-test/test_model.model"))
    ours, theirs = face.SentencePieceProcessor(path), peer.SentencePieceProcessor(path)
    face.set_random_generator_seed(7)
    peer.set_random_generator_seed(7)
    for size, alpha in ((-1, 0.5), (4, 0.3)):
        counts: list[dict[tuple[int, ...], int]] = []
        for each in (ours, theirs):
            seen: dict[tuple[int, ...], int] = {}
            for _ in range(2000):
                way = tuple(each.sample_encode_as_ids("hello", size, alpha))
                seen[way] = seen.get(way, 0) + 1
            counts.append(seen)
        for way in {way for seen in counts for way in seen}:
            one, other = (seen.get(way, 0) for seen in counts)
            assert abs(one - other) < 4.5 * math.sqrt(one + other + 1)


def test_sampling_starts_from_a_seed(small: Pair) -> None:
    def drawn() -> list[list[int]]:
        face.set_random_generator_seed(3)
        texts = ["hello world"] * 5
        return small[0].encode(texts, enable_sampling=True, nbest_size=-1, alpha=0.1)  # type: ignore[no-any-return]  # an overload says too much

    assert drawn() == drawn()
    assert len({*map(tuple, drawn())}) > 1


def test_dropout_of_bpe(data: Data) -> None:
    ours = face.SentencePieceProcessor(str(data("models/mistral-v1/tokenizer.model")))
    ids = ours.encode("hello world", enable_sampling=True, nbest_size=-1, alpha=1.0)
    assert ours.decode(ids) == "hello world"
    assert len(ids) > len(ours.encode("hello world"))
    plain = ours.encode("hello world", enable_sampling=True, nbest_size=-1, alpha=0.0)
    assert plain == ours.encode("hello world")


# --- messages


def test_messages_say_what_their_bytes_say(small: Pair) -> None:
    ours, theirs = small
    text = "héllo 漢字"
    found = ours.encode_as_proto(text)
    assert found.SerializeToString() == theirs.encode(text, out_type="serialized_proto")
    assert found.text == text
    raw = text.encode()
    for piece in found.pieces:
        assert raw[piece.begin : piece.end].decode() == piece.surface
    assert [piece.id for piece in found.pieces] == theirs.encode(text)
    assert [piece.piece for piece in found.pieces] == theirs.encode(text, out_type=str)
    assert found == ours.encode_as_proto(text)
    assert hash(found) == hash(ours.encode_as_proto(text))
    assert ours.decode_ids_as_proto([5, 6]).text == ",."
    best = ours.nbest_encode_as_proto("hello", nbest_size=3)
    assert best.nbests[0].pieces[0].piece == "▁he"
    assert best.nbests[0].score > best.nbests[1].score
    (score,) = struct.unpack("f", struct.pack("f", best.nbests[0].score))
    assert score == best.nbests[0].score


def test_what_older_scripts_use(small: Pair) -> None:
    ours, theirs = small
    text = "héllo 漢字 wörld"
    found = ours.encode(text, out_type="immutable_proto")
    assert [text[piece.begin : piece.end] for piece in found.pieces] == [
        piece.surface for piece in found.pieces
    ]
    assert found == ours.EncodeAsImmutableProto(text)
    assert ours.encode_as_serialized_proto(text) == theirs.encode(text, out_type="serialized_proto")
    assert ours.decode_ids_as_immutable_proto(ours.encode(text)).pieces[0].piece == "▁"
    assert ours.nbest_encode_as_immutable_proto("hello", 2).nbests[0].text == "hello"
    assert ours.calculate_entropy("hello", 0.5) == ours.CalculateEntropy("hello", 0.5) > 0
    ours.set_encode_extra_options("bos:eos:reverse")
    assert ours.encode("hello") == theirs.encode("hello", add_bos=True, add_eos=True)[::-1]
    ours.set_encode_extra_options("")
    ids, pieces = [*ours.encode(text), 0], [*ours.encode(text, out_type=str), "x?"]
    ours.set_decode_extra_options("bos:reverse:eos")
    assert ours.decode(ids) == theirs.decode(ids[::-1])
    assert ours.decode([pieces]) == [theirs.decode(pieces[::-1])]
    ours.set_decode_extra_options("unk")
    assert ours.decode(ids) == theirs.decode(ids)
    known = [piece if theirs.piece_to_id(piece) else "<unk>" for piece in pieces]
    assert ours.decode(pieces) == theirs.decode(known) != theirs.decode(pieces)
    ours.set_decode_extra_options("")
    assert ours.decode(pieces) == theirs.decode(pieces)
    with pytest.raises(RuntimeError, match="not available"):
        ours.set_encode_extra_options("no such")
    changed = pickle.loads(pickle.dumps(ours))
    changed.override_normalizer_spec(add_dummy_prefix=False)
    assert changed.normalize("a  b") == "a▁b"


# --- normalizers


NORMALIZERS: list[dict[str, Any]] = [
    {"rule_name": "nfkc"},
    {"rule_name": "nmt_nfkc_cf", "add_dummy_prefix": False},
    {"rule_name": "identity"},
    {"rule_name": "nfkc", "escape_whitespaces": False},
    {"rule_name": "nmt_nfkc", "remove_extra_whitespaces": False},
    {"norm_map": [("a", "bc"), ("ab", ""), ("日", " ")]},
    {},
    {"rule_name": "nosuch"},
    {"rule_tsv": "no such"},
    {"norm_map": []},
    {"norm_map": [("", "b")]},
    {"norm_map": {"a": "b"}},
    {"model_file": "no such"},
]


@pytest.mark.parametrize("options", NORMALIZERS, ids=repr)
def test_normalizers(options: dict[str, Any]) -> None:
    found, expected = (
        outcome(lambda each=each: each.SentencePieceNormalizer(**options) and 1)
        for each in (face, peer)
    )
    assert found == expected
    if found[0] == "raises":
        return
    pair = tuple(each.SentencePieceNormalizer(**options) for each in (face, peer))
    source = random.Random(5)
    for _ in range(40):
        text = "".join(
            source.choices("abAB  ｈﬁ日\u3000\xa0é\u0301½\x01㍿ß", k=source.randrange(9))
        )
        both(pair, "normalize", text, with_offsets=True)
        both(pair, "normalize", [text.encode() + b"\xff"], with_offsets=True)
    assert outcome(pair[0].Decompile) == outcome(pair[1].Decompile)
    # Each opens what the other writes.
    crossed = [
        face.SentencePieceNormalizer(normalizer_spec=pair[1].serialized_normalizer_spec()),
        face.SentencePieceNormalizer(model_proto=pair[1].serialized_model_proto()),
        peer.SentencePieceNormalizer(normalizer_spec=pair[0].serialized_normalizer_spec()),
        peer.SentencePieceNormalizer(model_proto=pair[0].serialized_model_proto()),
        pickle.loads(pickle.dumps(pair[0])),
    ]
    assert {each.normalize(" ａb  ﬁ ") for each in crossed} == {pair[1].normalize(" ａb  ﬁ ")}


# --- training

LINES = ["low lower lowest", "new newer newest"] * 5
BASE: dict[str, Any] = {"model_type": "bpe", "vocab_size": 18, "minloglevel": 2}


def trained(module: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    module.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=file, **BASE, **options
    )
    return file.getvalue()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"user_defined_symbols": ["<a,b>", "lo"], "vocab_size": 20},
        {"byte_fallback": True, "vocab_size": 280, "hard_vocab_limit": False},
        {"pad_id": 3, "unk_piece": "[UNK]", "normalization_rule_name": "identity"},
    ],
    ids=repr,
)
def test_bpe_is_learned_as_by_sentencepiece(options: dict[str, Any]) -> None:
    base = {**BASE, **options}
    found = []
    for module in (face, peer):
        file = io.BytesIO()
        module.SentencePieceTrainer.Train(
            sentence_iterator=(line.encode() + b"\r\n" for line in LINES), model_writer=file, **base
        )
        found.append(peer.SentencePieceProcessor(model_proto=file.getvalue()))
    ours, theirs = ([each.id_to_piece(i) for i in range(len(each))] for each in found)
    assert ours == theirs


def test_files_and_one_line_of_flags(tmp_path: Path) -> None:
    corpus, prefix = tmp_path / "corpus.txt", tmp_path / "m"
    corpus.write_text("\n".join(LINES))
    flags = f"--input={corpus} --model_prefix={prefix} --model_type=bpe --vocab_size=18"
    assert face.SentencePieceTrainer.train(flags) is True
    assert peer.SentencePieceProcessor(f"{prefix}.model").vocab_size() == 18
    assert (tmp_path / "m.vocab").exists()
    with (tmp_path / "log").open("w") as log:
        options = {**BASE, "input": [str(corpus)], "model_prefix": str(prefix)}
        assert face.SentencePieceTrainer.Train(logstream=log, **options) is None


@pytest.mark.parametrize("rules", [{"norm_map": [("l", "x")]}, {"rule_name": "identity"}], ids=repr)
def test_a_normalizer_is_taken(rules: dict[str, Any]) -> None:
    models = []
    for module in (face, peer):
        normalizer = module.SentencePieceNormalizer(**rules, add_dummy_prefix=False)
        data = trained(module, normalizer=normalizer, hard_vocab_limit=False)
        models.append(peer.SentencePieceProcessor(model_proto=data))
    ours, theirs = models
    assert ours.encode("LOW low", out_type=str) == theirs.encode("LOW low", out_type=str)


def boom() -> Iterator[str]:
    yield "a b"
    raise KeyError("boom")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sentence_iterator": LINES},
        {"sentence_iterator": iter([1, 2])},
        {"sentence_iterator": iter([])},
        {"input": "no such file"},
        {"sentence_iterator": iter(LINES), "no_such_flag": 1},
        {"sentence_iterator": iter(LINES), "vocab_size": "x"},
        {"sentence_iterator": iter(LINES), "vocab_size": 8000},
        {"sentence_iterator": iter(LINES), "vocab_size": 4},
        {"sentence_iterator": iter(LINES), "model_type": "no such"},
        {"sentence_iterator": iter(LINES), "input": "both"},
        {"sentence_iterator": iter(LINES), "model_prefix": "both"},
    ],
    # Processes that share the tests have to call them by one name: no address in it.
    ids=lambda options: re.sub(r" at 0x\w+", "", repr(options)),
)
def test_training_that_cannot_be(options: dict[str, Any]) -> None:
    options = {**BASE, "model_writer": io.BytesIO(), **options}
    found = outcome(face.SentencePieceTrainer.train, **options)
    again = {**options, "sentence_iterator": None} if "sentence_iterator" in options else options
    assert found[0] == "raises"
    if again is options:
        assert found == outcome(peer.SentencePieceTrainer.train, **options)


def test_an_iterator_that_fails() -> None:
    for module in (face, peer):
        with pytest.raises(RuntimeError, match="boom"):
            module.SentencePieceTrainer.train(
                sentence_iterator=boom(), model_writer=io.BytesIO(), **BASE
            )


def test_what_is_refused_by_name() -> None:
    with pytest.raises(jogak.UnsupportedFeature, match="pretokenization_delimiter"):
        trained(face, pretokenizer=str.split)
    with pytest.raises(jogak.UnsupportedFeature, match="FlatBuffers"):
        face.ConvertToFlatbuffer("a.model")
