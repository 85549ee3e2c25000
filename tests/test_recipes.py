"""SentencePiece's flags: the same pieces, ids and files, and clearer words where it fails."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jogak
from jogak.formats.sentencepiece import PieceType, read_model, read_vocab
from jogak.recipes.flags import Flags
from jogak.reference import piece_rules

Data = Callable[[str], Path]

#: The worked recipe, but for its size.
KOREAN: dict[str, Any] = {
    "model_type": "bpe",
    "pad_id": 0,
    "pad_piece": "<pad>",
    "unk_id": 1,
    "unk_piece": "<unk>",
    "bos_id": 2,
    "bos_piece": "<s>",
    "eos_id": 3,
    "eos_piece": "</s>",
    "user_defined_symbols": "<sep>,<cls>,<mask>",
    "byte_fallback": True,
}
TOY = ["low lower lowest 12a", "new<sep>newer newest", "wide wider 가나다 가나"] * 3
SMALL: dict[str, Any] = {"model_type": "bpe", "vocab_size": 40, "user_defined_symbols": "<sep>"}


def toy(**flags: Any) -> jogak.Tokenizer:
    return jogak.train_sentencepiece(sentence_iterator=TOY, **{**SMALL, **flags})


def lines_of(path: Path, size: int) -> list[str]:
    with path.open("rb") as file:
        text = file.read(size).decode(errors="ignore")
    return text[: text.rindex("\n")].split("\n")


def both(lines: list[str], folder: Path, **flags: Any) -> tuple[jogak.Tokenizer, Any]:
    """The same flags here and there."""
    peer = pytest.importorskip("sentencepiece")
    corpus = folder / "corpus.txt"
    corpus.write_bytes("".join(line + "\n" for line in lines).encode())
    tok = jogak.train_sentencepiece(input=str(corpus), model_prefix=str(folder / "ours"), **flags)
    peer.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(folder / "theirs"), minloglevel=2, **flags
    )
    return tok, peer


def hold_together(lines: list[str], folder: Path, **flags: Any) -> jogak.Tokenizer:
    """Pieces, scores, ``.vocab`` and ids are those of SentencePiece, in both directions."""
    tok, peer = both(lines, folder, **flags)
    theirs = peer.SentencePieceProcessor(model_file=str(folder / "theirs.model"))
    ours = peer.SentencePieceProcessor(model_file=str(folder / "ours.model"))
    pieces = [theirs.id_to_piece(id_) for id_ in range(len(theirs))]
    assert list(tok.spec.model.pieces) == pieces
    assert (folder / "ours.vocab").read_bytes() == (folder / "theirs.vocab").read_bytes()
    expected = theirs.encode(lines)
    assert ours.encode(lines) == expected
    assert tok.encode_batch(lines).to_lists() == expected
    loaded = jogak.load(folder / "theirs.model")
    assert loaded.encode_batch(lines).to_lists() == expected
    # What was learned here is what is read from there; charsmaps have the same keys, laid out otherwise.
    one, other = (dataclasses.replace(spec, normalizer=()) for spec in (loaded.spec, tok.spec))
    assert one == other
    return tok


# --- beside SentencePiece


@pytest.mark.parametrize(("corpus", "size"), [("ko_nsmc", 6000), ("en_docs", 3000)])
def test_the_worked_recipe(corpus: str, size: int, data: Data, tmp_path: Path) -> None:
    lines = lines_of(data(f"corpora/{corpus}.txt"), 1_500_000)
    tok = hold_together(lines, tmp_path, **KOREAN, vocab_size=size)
    texts = ["<pad>", "<unk>", "<s>", "</s>", "<sep>", "<cls>", "<mask>", "<0x00>"]
    assert [tok.id(text) for text in texts] == list(range(8))


#: Flags that change what is learned, each with its reason to differ from the others.
FLAGS: list[dict[str, Any]] = [
    {"split_by_unicode_script": False},
    {"split_by_number": False},
    {"split_digits": True},
    {"split_by_whitespace": False, "vocab_size": 2000},
    {"treat_whitespace_as_suffix": True},
    {"treat_whitespace_as_suffix": True, "split_by_whitespace": False, "vocab_size": 2000},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    {"max_sentencepiece_length": 4},
    {"max_sentence_length": 100},
    {"input_sentence_size": 3000, "shuffle_input_sentence": False},
    {"character_coverage": 0.98},
    {"required_chars": "漢字é"},
    {"normalization_rule_name": "identity"},
    {"normalization_rule_name": "nmt_nfkc_cf"},
    {"add_dummy_prefix": False},
    {"pretokenization_delimiter": "e"},
    {"control_symbols": "<a>,<s>", "user_defined_symbols": "</s>,the,영화"},
    {"user_defined_symbols": ["▁the", "of the"]},
    {"bos_id": -1, "eos_id": -1, "pad_id": 2499},
    {"vocabulary_output_piece_score": False},
]


@pytest.mark.parametrize("flags", FLAGS, ids=json.dumps)
def test_flags(flags: dict[str, Any], data: Data, tmp_path: Path) -> None:
    half = [lines_of(data(f"corpora/{name}.txt"), 400_000) for name in ("ko_nsmc", "en_docs")]
    lines = [line for pair in zip(*half, strict=False) for line in pair]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        hold_together(lines, tmp_path, **{"model_type": "bpe", "vocab_size": 2500, **flags})


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_files_open_there(kind: str, data: Data, tmp_path: Path) -> None:
    lines = lines_of(data("corpora/ko_nsmc.txt"), 600_000)
    flags = {**KOREAN, "model_type": kind, "vocab_size": 3000, "self_test_sample_size": 50}
    tok, peer = both(lines, tmp_path, **flags)
    ours = peer.SentencePieceProcessor(model_file=str(tmp_path / "ours.model"))
    assert tok.encode_batch(lines).to_lists() == ours.encode(lines)
    roles = [ours.pad_id(), ours.unk_id(), ours.bos_id(), ours.eos_id()]
    assert roles == [0, 1, 2, 3]
    mine, other = (read_model(tmp_path / f"{name}.model") for name in ("ours", "theirs"))
    assert len(mine.self_test) == 50
    assert [p.type for p in mine.pieces[:270]] == [p.type for p in other.pieces[:270]]
    same = mine.trainer.keys() & other.trainer.keys() - {"input", "model_prefix", "num_threads"}
    assert {name: mine.trainer[name] for name in same} == {
        name: other.trainer[name] for name in same
    }
    assert read_vocab(tmp_path / "ours.vocab")[4][0] == "<sep>"


# --- by hand


def test_ids_of_the_recipe_and_of_t5() -> None:
    """32,000 in small: 100 extra ids on top, the last of them first."""
    flags = {**KOREAN, "vocab_size": 300, "hard_vocab_limit": False}
    tok = jogak.train_sentencepiece(sentence_iterator=TOY, extra_ids=100, **flags)
    size = len(tok) - 100
    assert [tok.id(t) for t in ("<pad>", "<unk>", "<s>", "</s>", "<sep>", "<mask>")] == [
        0,
        1,
        2,
        3,
        4,
        6,
    ]
    assert (tok.id("<extra_id_0>"), tok.id("<extra_id_99>")) == (size + 99, size)
    assert "<extra_id_0>" not in tok.tokens("<extra_id_0>")


def test_user_defined_symbols_are_found_first_and_control_symbols_never() -> None:
    tok = toy(control_symbols=["<c>"], user_defined_symbols=["<sep>", "ｗ"], character_coverage=1.0)
    assert [t for t in tok.tokens("low<sep>er <c>") if t in ("<sep>", "<c>")] == ["<sep>"]
    # A full-width letter is normalized, but not where it is a symbol.
    assert "ｗ" in tok.tokens("loｗ") and "ｅ" not in tok.tokens("ｅ")
    assert not any("<sep>" in piece and piece != "<sep>" for piece in tok.spec.model.pieces)


def test_no_piece_crosses_a_symbol() -> None:
    lines = ["ab<sep>cd"] * 9
    tok = jogak.train_sentencepiece(sentence_iterator=lines, **{**SMALL, "vocab_size": 11})
    assert {"ab", "cd"} <= set(tok.vocab) or {"▁ab", "cd"} <= set(tok.vocab)
    assert "bc" not in tok.vocab


def test_a_command_is_the_same_as_keywords(tmp_path: Path) -> None:
    corpus = tmp_path / "a.txt"
    corpus.write_text("\n".join(TOY), encoding="utf-8")
    command = f"--input={corpus} --model_type=bpe --vocab_size=40 --user_defined_symbols=<sep>"
    assert jogak.train_sentencepiece(command).spec == toy().spec


def test_lists_and_texts_are_the_same() -> None:
    assert toy(user_defined_symbols=["<sep>"]).spec == toy().spec
    quoted = toy(user_defined_symbols='"<a,b>",<sep>', vocab_size=41)
    assert quoted.id("<a,b>") == 3


def test_weights_are_repetitions(tmp_path: Path) -> None:
    corpus = tmp_path / "a.tsv"
    corpus.write_text("low lower\t3\nnew\t2\nnew wide\t1\n", encoding="utf-8")
    weighed = jogak.train_sentencepiece(
        input=corpus, input_format="tsv", model_type="bpe", vocab_size=16
    )
    lines = ["low lower"] * 3 + ["new"] * 2 + ["new wide"]
    plain = jogak.train_sentencepiece(sentence_iterator=lines, model_type="bpe", vocab_size=16)
    assert weighed.spec == plain.spec


def test_long_lines_are_counted_and_named(tmp_path: Path) -> None:
    corpus = tmp_path / "a.txt"
    corpus.write_text("\n".join([*TOY, "long " * 99, "", "▅", "low"]), encoding="utf-8")
    with pytest.warns(UserWarning, match="longer than|▅") as caught:
        tok = jogak.train_sentencepiece(input=corpus, max_sentence_length=100, **SMALL)
    said = [str(one.message) for one in caught]
    assert "1 lines are longer than max_sentence_length=100 bytes" in said[0]
    assert f"line {len(TOY) + 1}: 495 bytes" in said[0]
    assert "▅" in said[1]
    assert tok.training is not None and tok.training.report is not None
    assert tok.training.report.too_long_documents == 1


def test_a_sample_is_the_same_each_time() -> None:
    lines = [f"line number {i} of many" for i in range(500)]
    flags = {"model_type": "bpe", "vocab_size": 60, "input_sentence_size": 101}
    one, two = (jogak.train_sentencepiece(sentence_iterator=iter(lines), **flags) for _ in range(2))
    assert one.spec == two.spec
    assert one.training is not None and one.training.report is not None
    assert one.training.report.unsampled_documents == 399
    assert one.training.report.documents == 101


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_soft_limit_takes_what_there_is(kind: str) -> None:
    tok = toy(model_type=kind, vocab_size=5000, hard_vocab_limit=False)
    assert 25 < len(tok) < 5000
    with pytest.raises(jogak.ConfigError, match="vocab_size is 5000"):
        toy(model_type=kind, vocab_size=5000)


def test_the_size_that_an_error_names_can_be_had() -> None:
    with pytest.raises(jogak.ConfigError) as caught:
        toy(vocab_size=999)
    size = int(str(caught.value).split("give vocab_size=")[1].split(" ")[0])
    assert len(toy(vocab_size=size)) == size
    with pytest.raises(jogak.ConfigError, match=f"no more than {size}"):
        toy(vocab_size=size + 1)


def test_the_coverage_that_an_error_names_can_be_had() -> None:
    lines = ["a b c d e" * 40, "가나다라마"] * 5
    flags = {"model_type": "bpe", "vocab_size": 12, "character_coverage": 1.0}
    with pytest.raises(jogak.ConfigError, match="11 characters") as caught:
        jogak.train_sentencepiece(sentence_iterator=lines, **flags)
    share = float(str(caught.value).split("character_coverage of ")[1].split(" ")[0])
    flags["character_coverage"] = share
    assert len(jogak.train_sentencepiece(sentence_iterator=lines, **flags)) == 12


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"model_type": "word"}, "model_type is 'word'; expected one of 'unigram', 'bpe'"),
        ({"vocab_size": "many"}, "vocab_size is 'many'; expected a whole number"),
        ({"byte_fallback": "maybe"}, "byte_fallback is 'maybe'; expected True or False"),
        ({"character_coverage": 0.5}, "character_coverage is 0.5; expected 0.98 to 1.0"),
        ({"escape_whitespaces": False}, "escape_whitespaces=False cannot be trained"),
        ({"input_sentence_size": 50}, "input_sentence_size is 50"),
        ({"unk_id": -1}, "there has to be an unknown piece"),
        ({"pad_id": 40}, "pad_id is 40, but vocab_size is 40"),
        ({"bos_piece": "<unk>"}, "bos_piece is '<unk>', which is another piece's text"),
        (
            {"control_symbols": "<sep>"},
            "user_defined_symbols has '<sep>', which is a symbol already",
        ),
        ({"control_symbols": "<unk>"}, "control_symbols has '<unk>', which is the unknown piece"),
        ({"control_symbols": "<a>,,"}, "control_symbols has an empty text"),
        ({"use_all_vocab": True}, "use_all_vocab is a flag that jogak does not have"),
        ({"input": "a.txt"}, "input and sentence_iterator are both given"),
        ({"extra_ids": -1}, "extra_ids is -1"),
        ({"hard_vocab_limit": False, "vocab_size": 900, "pad_id": 899}, "'<pad>' has the id 899"),
    ],
)
def test_what_cannot_be_is_refused_by_name(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(jogak.ConfigError) as caught:
        toy(**flags)
    assert words in str(caught.value)


def test_defaults_are_those_of_sentencepiece(tmp_path: Path) -> None:
    """As a model of its own trainer says them."""
    peer = pytest.importorskip("sentencepiece")
    peer.SentencePieceTrainer.train(
        sentence_iterator=iter(TOY), model_prefix=str(tmp_path / "a"), vocab_size=26, minloglevel=2
    )
    written = read_model(tmp_path / "a.model").trainer
    mine = vars(Flags())
    asked = {"vocab_size", "input", "model_prefix", "model_type", "num_threads", "input_format"}
    for name in (written.keys() & mine.keys()) - asked:
        assert written[name] == pytest.approx(mine[name]), name
    kinds = [piece.type for piece in read_model(tmp_path / "a.model").pieces[:3]]
    assert kinds == [PieceType.UNKNOWN, PieceType.CONTROL, PieceType.CONTROL]


# --- beside the plain twin

#: Characters with something to fight over: three scripts, a mark that has none, digits, signs, spaces.
SCRIPTS = {
    "a": "Latin",
    "b": "Latin",
    "가": "Hangul",
    "あ": "Han",
    "漢": "Han",
    "\u0323": "Inherited",
}


@settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(st.text(alphabet="ab가あ漢\u032312. ", min_size=1, max_size=14), max_size=8),
    rules=st.fixed_dictionaries(
        {
            "split_by_unicode_script": st.booleans(),
            "split_by_number": st.booleans(),
            "split_digits": st.booleans(),
            "split_by_whitespace": st.booleans(),
            "treat_whitespace_as_suffix": st.booleans(),
            "allow_whitespace_only_pieces": st.booleans(),
        }
    ),
    longest=st.integers(1, 6),
    symbols=st.sampled_from([[], ["ab"], ["a가", "1"]]),
)
def test_pieces_are_those_of_the_twin(
    lines: list[str], rules: dict[str, bool], longest: int, symbols: list[str]
) -> None:
    lines = [*lines, "a"]
    tok = jogak.train_sentencepiece(
        sentence_iterator=lines,
        model_type="bpe",
        vocab_size=500,
        hard_vocab_limit=False,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        character_coverage=1.0,
        max_sentencepiece_length=longest,
        user_defined_symbols=symbols,
        **rules,
    )
    texts: dict[str, int] = {}
    for line in lines:
        marked = line.replace(" ", "▁")
        marked = f"{marked}▁" if rules["treat_whitespace_as_suffix"] else f"▁{marked}"
        texts[marked] = texts.get(marked, 0) + 1

    def allowed(text: str) -> bool:
        scripts = lambda character: SCRIPTS.get(character, "Common")  # noqa: E731  # a draw, named
        return piece_rules.may_be_piece(text, scripts, longest=longest, **rules)

    expected = piece_rules.learn(texts, 500, allowed, symbols)
    first = 3 + len(symbols)
    assert list(tok.spec.model.pieces[first : first + len(expected)]) == expected
    assert all(len(text or "") == 1 for text in tok.spec.model.pieces[first + len(expected) :])
