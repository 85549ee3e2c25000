"""Models of SentencePiece's own trainer, with all options that a model can have: ids, pieces, the text
of any ids, and the n best ways are those of SentencePiece.
"""

from __future__ import annotations

import dataclasses
import io
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import jogak
from jogak import reference
from jogak.errors import FormatError, UnsupportedFeature
from jogak.formats import protobuf
from jogak.formats import sentencepiece as format
from jogak.formats.sentencepiece import ModelFile, Piece, PieceType, parse
from jogak.formats.sentencepiece_model import NormalizerFields
from jogak.spec import DecodeFuse, DecodeSentencePiece, Spec

peer = pytest.importorskip("sentencepiece")


@pytest.fixture(autouse=True)
def _time_for_the_n_best() -> None:
    """On a busy machine the peer's search would stop early, with what it has."""
    peer.set_nbest_timeout(10**6)  # milliseconds, for the whole process


LINES = [
    *("the low lower lowest of the new newer newest", "a b a b abc ABC Abc", "1 12 123 2024 3.14"),
    *(
        "한국어 문장을 자르는 조각",
        "조각조각 한국 문장",
        "日本語の文章 日本",
        "naïve café ﬁne １２３",
    ),
    *("<sep> low <sep> new", "x  y   z", "ΑΒΓ αβγ ß"),
] * 6

#: Options of models, one or more at a time.
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "bytes": {"byte_fallback": True},
    "user-defined": {"user_defined_symbols": ["<sep>", "low", "▁▁", "각조", "a b", "ne"]},
    "control": {"control_symbols": ["[C]", "<0x41>", "new"]},
    "no dummy prefix": {"add_dummy_prefix": False},
    "spaces stay": {"remove_extra_whitespaces": False},
    "spaces stay, no prefix": {"remove_extra_whitespaces": False, "add_dummy_prefix": False},
    "suffix": {"treat_whitespace_as_suffix": True},
    "suffix, spaces stay": {
        "treat_whitespace_as_suffix": True, "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True,
    },
    "identity": {"normalization_rule_name": "identity"},
    "case": {"normalization_rule_name": "nmt_nfkc_cf"},
    "surface": {"unk_surface": "▁⁇", "unk_piece": "[UNK]"},
    "no surface": {"unk_surface": "", "pad_id": 3, "pad_piece": "[PAD]"},
    "digits": {"split_digits": True, "split_by_number": False},
    "across spaces": {"split_by_whitespace": False, "split_by_unicode_script": False},
    "not escaped": {"split_by_whitespace": False},
    "denormalizer": {"denormalization_rule_tsv": [("low", "HI"), ("a", "AA"), ("조", "")]},
    "much": {
        "byte_fallback": True, "user_defined_symbols": ["<sep>", "▁low"], "control_symbols": ["[C]"],
        "remove_extra_whitespaces": False, "treat_whitespace_as_suffix": True,
    },
    "more": {
        "user_defined_symbols": ["\t", " .", "가나", "é"], "add_dummy_prefix": False,
        "normalization_rule_name": "nfkc", "unk_surface": "?", "split_digits": True,
    },
}  # fmt: skip

PARTS = [
    *("low", "the", "new", "est", "a", "b", "ABC", "12", "3", " ", "  ", " ", "\t", "\n"),
    *("\u3000", "\u00a0"),
    *("▁", "▁▁", "<sep>", "<s>", "</s>", "<unk>", "[UNK]", "[C]", "<0x41>", "<0x0A>"),
    *("한국", "조각", "각조"),
    *("日本", "é", "e\u0301", "ﬁ", "ß", "１", "🐑", "👩\u200d👧", "\u0301", "\ufffd"),
    *("\u2047", "가", "가나", "\u200b"),
    *("\u00ad", "\x01", "q", ".", "\ufeff", "\U0010ffff"),
]  # fmt: skip


def hostile(draw: random.Random, count: int) -> list[str]:
    texts = [
        "",
        " ",
        "▁",
        " ▁ ",
        "   low  the ",
        "\x01",
        "\u00ad\x01",
        " \x01 ",
        "\x01▁",
        "\x01 \u200b",
    ]
    texts += ("".join(draw.choices(PARTS, k=draw.randrange(12))) for _ in range(count))
    return texts


def trained(kind: str, options: dict[str, Any], folder: Path) -> bytes:
    """A model of SentencePiece's trainer, as large as the corpus gives."""
    flags = {"vocab_size": 400 if options.get("byte_fallback") else 120, **options}
    if rules := flags.get("denormalization_rule_tsv"):
        path = folder / "rules.tsv"
        hexed = [
            "\t".join(" ".join(f"{ord(one):X}" for one in text) for text in rule) for rule in rules
        ]
        path.write_text("\n".join(hexed) + "\n", encoding="utf-8")
        flags["denormalization_rule_tsv"] = str(path)
    out = io.BytesIO()
    peer.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=out, model_type=kind, minloglevel=2,
        hard_vocab_limit=False, num_threads=1, **flags,
    )  # fmt: skip
    return out.getvalue()


def unescaped(data: bytes) -> bytes:
    """The same with spaces as they are, which the trainer refuses."""
    file = parse(data, None)
    fields = dataclasses.replace(file.normalizer, escape_whitespaces=False)
    return dataclasses.replace(file, normalizer=fields).to_bytes()


def cases() -> list[Any]:
    return [
        pytest.param(kind, name, id=f"{kind}-{name}")
        for kind in ("unigram", "bpe", "char", "word")
        for name in OPTIONS
        if not (kind == "word" and name == "not escaped")
    ]


def opened(data: bytes, folder: Path, name: str = "a.model") -> tuple[jogak.Tokenizer, Any]:
    path = folder / name
    path.write_bytes(data)
    return jogak.load(path), peer.SentencePieceProcessor(model_file=str(path))


def random_ids(draw: random.Random, theirs: Any) -> list[int]:
    """Ids that no text gives: mostly those that decoding treats on their own."""
    size = theirs.get_piece_size()
    odd = [
        id_
        for id_ in range(size)
        if theirs.is_control(id_) or theirs.is_unknown(id_) or theirs.is_byte(id_)
        or "▁" in theirs.id_to_piece(id_)
    ]  # fmt: skip
    few = draw.sample(odd, min(len(odd), 3))
    return [
        draw.choice([*few, draw.choice(odd), draw.randrange(size)])
        for _ in range(draw.randrange(10))
    ]


def same_way_back(
    tok: jogak.Tokenizer, theirs: Any, ids: Sequence[int], draw: random.Random
) -> None:
    text = theirs.decode(list(ids))
    assert tok.decode(ids) == text, ids
    stream, streamed, at = tok.decoder(), "", 0
    while at < len(ids):
        size = draw.randrange(1, 4)
        streamed += stream.push(ids[at : at + size])
        at += size
    assert streamed + stream.finish() == text, ids
    (stage,) = tok.spec.decoder or ()
    if isinstance(stage, DecodeSentencePiece) and not stage.charsmap:
        pieces = [tok.spec.model.pieces[id_] or "" for id_ in ids]
        assert reference.run_chain([stage.to_dict()], pieces) == text, ids


@pytest.mark.parametrize(("kind", "name"), cases())
def test_as_sentencepiece(kind: str, name: str, tmp_path: Path) -> None:
    data = trained(kind, OPTIONS[name], tmp_path)
    tok, theirs = opened(unescaped(data) if name == "not escaped" else data, tmp_path)
    draw = random.Random(f"{kind} {name}")
    texts = [*LINES[:10], *hostile(draw, 150)]
    for text in texts:
        ids = theirs.encode(text)
        assert tok.encode(text) == ids, text
        if kind != "word" or theirs.unk_id() not in ids:
            assert [theirs.id_to_piece(id_) for id_ in ids] == tok.tokens(text)
        same_way_back(tok, theirs, ids, draw)
    assert tok.encode_batch(texts).to_lists() == theirs.encode(texts)
    lists = [random_ids(draw, theirs) for _ in range(150)]
    for ids in lists:
        same_way_back(tok, theirs, ids, draw)
    assert tok.decode_batch(lists) == [theirs.decode(ids) for ids in lists]
    native = tmp_path / "a.jogak.json"
    tok.save(native)
    assert jogak.load(native) == tok
    tok.save(tmp_path / "b.model", format="sentencepiece")
    again, back = opened((tmp_path / "b.model").read_bytes(), tmp_path)
    assert again.spec == tok.spec
    assert [back.encode(text) for text in texts] == [theirs.encode(text) for text in texts]
    assert [back.decode(ids) for ids in lists] == [theirs.decode(ids) for ids in lists]
    if kind == "unigram":
        for text in texts:
            for n in (2, 3, 50):
                assert [(way.ids, way.score) for way in tok.nbest(text, n)] == ways(theirs, text, n)


def ways(theirs: Any, text: str, n: int) -> list[tuple[list[int], float]]:
    """The n best ways with their scores, as SentencePiece has them."""
    found = []
    message = theirs.nbest_encode(text, nbest_size=n, return_type="serialized_proto")
    for way in protobuf.fields(message, "", None):
        ids, score = [], 0.0
        for part in way.message(""):
            if part.number == 2:
                ids += [entry.signed() for entry in part.message("") if entry.number == 2]
            elif part.number == 3:
                score = part.number32()
        found.append((ids, score))
    return found


def test_the_n_best_of_small_alphabets(tmp_path: Path) -> None:
    """Many equal sums, sums that rounding makes equal, and more beginnings than are kept."""
    draw = random.Random(5)
    for _ in range(25):
        letters = "ab가"[: draw.randrange(1, 4)]
        texts = {"".join(draw.choices(letters, k=draw.randrange(1, 4))) for _ in range(7)}
        kinds = [PieceType.NORMAL] * 4 + [PieceType.USER_DEFINED]
        pieces = [Piece("<unk>", 0.0, PieceType.UNKNOWN)]
        for text in sorted(texts):
            (score,) = struct.unpack("<f", struct.pack("<f", -draw.choice([1, 2, draw.random()])))
            pieces.append(Piece(text, score, draw.choice(kinds)))
        file = ModelFile(
            tuple(pieces), {"model_type": 1}, NormalizerFields("identity", add_dummy_prefix=False)
        )
        tok, theirs = opened(file.to_bytes(), tmp_path)
        for length, n in ((5, 3), (20, 20), (40, 200), (200, 512)):
            text = "".join(draw.choices(letters + "c", k=length))
            assert [(way.ids, way.score) for way in tok.nbest(text, n)] == ways(theirs, text, n)


TOY = (
    Piece("<unk>", 0.0, PieceType.UNKNOWN), Piece("<s>", 0.0, PieceType.CONTROL), Piece("▁", -2.0),
    Piece("a", -3.0), Piece("b", -3.5), Piece("▁ab", -4.0),
)  # fmt: skip


def test_samples_are_replayed(tmp_path: Path) -> None:
    """Those that are right, and one that is wrong."""
    for kind in ("unigram", "bpe", "char", "word"):
        file = parse(trained(kind, {}, tmp_path), None)
        theirs = peer.SentencePieceProcessor(model_proto=file.to_bytes())
        samples = tuple(
            (text, " ".join(theirs.encode(text, return_type=str))) for text in LINES[:4]
        )
        opened(dataclasses.replace(file, self_test=samples).to_bytes(), tmp_path)
        path = tmp_path / "a.model"
        assert [probe.text for probe in jogak.formats.read(path).probes] == LINES[:4]
        wrong = dataclasses.replace(file, self_test=(*samples, ("low", "▁ l o")))
        path.write_bytes(wrong.to_bytes())
        with pytest.raises(FormatError, match="gives"):
            jogak.load(path)


def test_what_a_denormalizer_may_be(tmp_path: Path) -> None:
    rules = jogak.compile_rules([("a", "X"), ("bb", "")]).data
    fields = NormalizerFields("d", rules, False, False, False)
    file = ModelFile(TOY, {"model_type": 1}, denormalizer=fields)
    tok, theirs = opened(file.to_bytes(), tmp_path)
    assert tok.decode([5, 4, 3]) == theirs.decode([5, 4, 3]) == "XX"
    assert tok.decode_bytes([5, 4, 3]) == b"XX"
    odd = ModelFile(TOY, {"model_type": 1}, denormalizer=NormalizerFields("d", rules))
    path = tmp_path / "odd.model"
    path.write_bytes(odd.to_bytes())
    with pytest.raises(UnsupportedFeature, match=r"denormalizer of the model .* add_dummy_prefix"):
        jogak.load(path)
    with pytest.raises(UnsupportedFeature, match="denormalizer"):
        tok.save(tmp_path / "tokenizer.json", format="tokenizer-json")


def test_spaces_that_stay_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    pieces = (*TOY, Piece("a  b", 0.0, PieceType.USER_DEFINED))
    path.write_bytes(ModelFile(pieces, {"model_type": 1}).to_bytes())
    with pytest.raises(UnsupportedFeature, match="'a  b' has two spaces side by side"):
        jogak.load(path)
    rules = jogak.compile_rules([("a", "b  b")]).data
    file = ModelFile(TOY, {"model_type": 1}, NormalizerFields("x", rules))
    path.write_bytes(file.to_bytes())
    with pytest.raises(UnsupportedFeature, match="a rule of normalization has two spaces"):
        jogak.load(path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """Text has U+FFFD for each byte of none; bytes come as they are."""
    tok, theirs = opened(trained("bpe", OPTIONS["bytes"], tmp_path), tmp_path)
    byte = [tok.id(f"<0x{number:02X}>") for number in range(256)]
    draw = random.Random(2)
    for _ in range(300):
        data = draw.choices(
            [0x41, 0xC3, 0xA9, 0xEA, 0xB0, 0x80, 0xF0, 0x9F, 0x90, 0x91, 0xED, 0xA0], k=6
        )
        ids = [byte[one] or 0 for one in data]
        same_way_back(tok, theirs, ids, draw)
        assert tok.decode_bytes(ids) == bytes(data)


def test_a_decoder_that_the_file_cannot_say(tmp_path: Path) -> None:
    tok, _ = opened(ModelFile(TOY, {"model_type": 1}).to_bytes(), tmp_path)
    (stage,) = tok.spec.decoder or ()
    assert isinstance(stage, DecodeSentencePiece)
    for decoder, message in (
        ((DecodeFuse(),), "the decoder"),
        ((DecodeSentencePiece(control=("<s>",), strip="none"),), "strip='none'"),
        ((DecodeSentencePiece(),), "control"),
        ((DecodeSentencePiece(control=("<s>",), byte_fallback=True),), "byte_fallback=True"),
    ):
        changed = jogak.Tokenizer(with_decoder(tok.spec, decoder))
        with pytest.raises(UnsupportedFeature, match=message):
            format.write(tmp_path / "x.model", changed.spec)
    with pytest.raises(jogak.ConfigError, match="that stage alone"):
        jogak.Tokenizer(with_decoder(tok.spec, (stage, DecodeFuse())))


def with_decoder(spec: Spec, decoder: Any) -> Spec:
    return Spec(
        model=spec.model, normalizer=spec.normalizer, pretokenizer=spec.pretokenizer,
        special_tokens=spec.special_tokens, decoder=decoder,
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"byte_fallback": True, "user_defined": ("low",)}])
def test_a_unigram_that_is_trained_here(options: dict[str, Any], tmp_path: Path) -> None:
    """Saved as a .model it gives the same ids: trained so, or changed later."""
    path = tmp_path / "a.model"
    texts = [*LINES[:10], *hostile(random.Random(11), 300), "a" * 3000, "-- --- " * 500]
    config = jogak.Unigram(vocab_size=400, hard_vocab_limit=False, **options)
    plain = jogak.train(LINES, config)
    with pytest.raises(UnsupportedFeature, match=r'jogak\.Unigram\(precision="single"\)'):
        plain.save(path, format="sentencepiece")
    single = dataclasses.replace(plain.spec.model, precision="single")  # type: ignore[type-var]  # it is a Unigram model
    cut = dataclasses.replace(plain.spec, model=single)
    with pytest.raises(UnsupportedFeature, match=r"Metaspace\(split=False\)"):
        jogak.Tokenizer(cut).save(path, format="sentencepiece")
    changed = dataclasses.replace(cut, pretokenizer=(jogak.Metaspace(split=False),))
    trained = jogak.train(LINES, dataclasses.replace(config, precision="single"))
    for tok in (jogak.Tokenizer(changed), trained):
        tok.save(path, format="sentencepiece")
        again, theirs = opened(path.read_bytes(), tmp_path)
        expected = theirs.encode(texts)
        assert (
            tok.encode_batch(texts).to_lists() == again.encode_batch(texts).to_lists() == expected
        )
    assert dataclasses.replace(again.spec, decoder=None) == trained.spec
    assert [plain.encode(text) for text in LINES] == [trained.encode(text) for text in LINES]


def test_rules_that_leave_nothing_need_a_mark(tmp_path: Path) -> None:
    """Refused by name, with what to do."""
    config = jogak.Unigram(vocab_size=200, hard_vocab_limit=False, precision="single")
    tok = jogak.train(LINES, config, normalizer="nmt_nfkc")
    path = tmp_path / "a.model"
    with pytest.raises(UnsupportedFeature, match=r'Metaspace\("given"\)'):
        tok.save(path, format="sentencepiece")
    spaces = jogak.Metaspace("given")
    tok = jogak.train(LINES, config, normalizer="nmt_nfkc", pretokenizer=spaces)
    tok.save(path, format="sentencepiece")
    _, theirs = opened(path.read_bytes(), tmp_path)
    texts = hostile(random.Random(12), 300)
    assert tok.encode_batch(texts).to_lists() == theirs.encode(texts)
    with pytest.raises(UnsupportedFeature, match='prepend="first"'):
        tok.save(tmp_path / "tokenizer.json", format="tokenizer-json")
