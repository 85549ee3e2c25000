"""Mistral's tekken files: the real ones beside mistral-common, small ones, and what is wrong in them."""

from __future__ import annotations

import base64
import copy
import dataclasses
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from format_cases import model_path, toy_spec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jogak
from jogak import formats
from jogak.errors import ConfigError, FormatError, UnsupportedFeature
from jogak.formats import tekken
from jogak.spec import Lowercase, Named, Split, Template, TemplatePart

REAL = ("tekken_240718.json", "tekken_240911.json")
PATTERN = r"\p{L}+|[^\p{L}]"


def toy(**config: Any) -> dict[str, Any]:
    """All bytes, ``th`` and ``the``, and three special tokens of which two have names."""
    pieces = [*(bytes([byte]) for byte in range(256)), b"th", b"the", b"\xea\xb0\x80"]
    vocab = [
        {"rank": i, "token_bytes": base64.b64encode(piece).decode(), "token_str": None}
        for i, piece in enumerate(pieces)
    ]
    special = [
        {"rank": i, "token_str": t, "is_control": True} for i, t in enumerate(("<unk>", "<s>"))
    ]
    usual = {
        "pattern": PATTERN,
        "num_vocab_tokens": 259,
        "default_vocab_size": 262,
        "default_num_special_tokens": 3,
        "version": "v11",
    }
    return {"config": {**usual, **config}, "vocab": vocab, "special_tokens": special}


def written(folder: Path, data: Any) -> Path:
    path = folder / "tekken.json"
    path.write_text(json.dumps(data), "utf-8")
    return path


def peer(path: Path) -> Any:
    module = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    return module.Tekkenizer.from_file(path)


def real(name: str) -> Path:
    """A file that mistral-common brings along; the package itself is not imported."""
    found = importlib.util.find_spec("mistral_common")
    path = Path((found and found.origin) or "").parent / "data" / name
    if not path.is_file():
        pytest.skip(f"no {name}: mistral-common 1.13 is not installed")
    return path


def test_the_real_files_on_corpora(tmp_path: Path) -> None:
    path = real(REAL[1])
    theirs, ours = peer(path), jogak.load(path)
    assert len(ours) == theirs.n_words == 131072
    assert ours.spec.special_tokens["<SPECIAL_999>"] == 999
    corpora = model_path("gpt2").parents[1] / "corpora"
    for file in sorted(corpora.rglob("*.txt")):
        with file.open(encoding="utf-8") as lines:
            text = lines.read(300_000)
        ids = theirs.encode(text, bos=False, eos=False)
        assert ours.encode(text) == ids, file
        assert ours.decode(ids) == text
    text = "".join(ours.spec.special_tokens)
    assert ours.encode(text, special="text") == theirs.encode(text, bos=False, eos=False)
    assert ours.spec.special_policy == "text"
    for id_ in (0, 19, 20, 999, 1000, 1255, 131071):
        assert ours.decode([id_]) == theirs.id_to_piece(id_)


@pytest.mark.parametrize("name", REAL)
def test_written_and_read_again(name: str, tmp_path: Path) -> None:
    spec = formats.read(real(name)).spec
    path = tmp_path / "my-tekken.json"
    formats.write(path, spec, format="tekken")
    again = formats.read(path)
    assert (again.format, again.spec) == ("tekken", spec)
    theirs, mine = peer(real(name)), peer(path)
    text = "Bonjour 가나다 12345 <s>\n\n  x"
    assert mine.encode(text, bos=True, eos=True) == theirs.encode(text, bos=True, eos=True)
    assert mine.vocab() == theirs.vocab()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text())
def test_small_files(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, toy(default_vocab_size=261))
    ours, theirs = jogak.load(path), peer(path)
    for each in (text, text + "the<unk><SPECIAL_2>가"):
        assert ours.encode(each) == theirs.encode(each, bos=False, eos=False)


def test_a_vocabulary_is_cut_to_its_size(tmp_path: Path) -> None:
    spec = tekken.read(written(tmp_path, toy(default_vocab_size=260)))
    assert spec.model.pieces[-2:] == ("ÿ", "th")
    assert spec.special_tokens == {"<unk>": 0, "<s>": 1, "<SPECIAL_2>": 2}
    assert spec.pretokenizer == (Split(PATTERN, matches="only"),)


def test_old_files_have_the_librarys_special_tokens(tmp_path: Path) -> None:
    data = toy(version="v3", default_num_special_tokens=21, default_vocab_size=280)
    del data["special_tokens"]
    spec = tekken.read(written(tmp_path, data))
    module = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    usual = [str(t["token_str"].value) for t in module.Tekkenizer.DEPRECATED_SPECIAL_TOKENS]
    assert [*spec.special_tokens] == [*usual, "<SPECIAL_20>"]
    data["config"]["version"] = "v11"
    with pytest.raises(
        FormatError, match=r"config.version is 'v11', and the file lists no special"
    ):
        tekken.read(written(tmp_path, data))


def put(place: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def edit(data: Any) -> None:
        *path, last = (int(step) if step.isdigit() else step for step in place.split("."))
        for step in path:
            data = data[step]
        data[last] = value

    return edit


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("config.pattern", "", r"config.pattern is ''; expected a regular expression"),
        ("config.default_num_special_tokens", 2**40, "expected a whole number from 0 to 1000000"),
        (
            "special_tokens",
            [{"rank": i, "token_str": f"<{i}>"} for i in range(4)],
            "is 3; expected room for the 4 special tokens",
        ),
        ("config.default_vocab_size", 263, "from 3 to 262"),
        ("config.default_vocab_size", 258, "vocab gives 255 pieces; expected all 256 bytes"),
        ("special_tokens.1.rank", 0, r"special_tokens\[1\].rank is 0; expected 1, its place"),
        ("special_tokens.1.token_str", "<unk>", "the special token '<unk>' twice, at 0 and 1"),
        ("special_tokens.1.token_str", "", "expected a text that is not empty"),
        ("special_tokens.1.token_str", "<SPECIAL_2>", "the special token '<SPECIAL_2>' twice"),
        ("vocab.7.rank", 8, r"vocab\[7\].rank is 8; expected 7, its place in the list"),
        ("vocab.7.token_bytes", "AA==", r"vocab\[7\] is the bytes b'\\x00'; expected the byte 7"),
        ("vocab.7.token_bytes", "A", r"vocab\[7\].token_bytes is 'A'; expected the base64"),
        ("vocab.7.token_bytes", "가", "expected the base64"),
        ("vocab.258.token_bytes", "dGg=", r"vocab\[258\] is the bytes b'th', as is vocab\[256\]"),
        ("vocab.258.surprise", 0, "has a field 'surprise'"),
        ("vocab.258", [], r"vocab\[258\] is a list of 0; expected an object"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, place: str, value: Any, message: str) -> None:
    data = toy()
    put(place, value)(data)
    with pytest.raises(FormatError, match=message):
        tekken.read(written(tmp_path, data))


def test_hostile_values_are_refused_or_read(tmp_path: Path) -> None:
    intruders: list[Any] = [None, True, 0, -1, 10**80, 0.5, "", "x", "\ud800", [], {}, [[]]]
    places = [
        *(
            "config",
            "vocab",
            "special_tokens",
            "vocab.0",
            "vocab.257.rank",
            "vocab.257.token_bytes",
        ),
        *("vocab.257.token_str", "special_tokens.0", "special_tokens.0.rank"),
        *("special_tokens.0.token_str", "special_tokens.0.is_control"),
        *(f"config.{name}" for name in toy()["config"]),
    ]
    refused = 0
    for place in places:
        for intruder in intruders:
            data = toy()
            put(place, copy.deepcopy(intruder))(data)
            try:
                tekken.read(written(tmp_path, data))
            except (FormatError, UnsupportedFeature) as error:
                refused += 1
                assert str(tmp_path) in str(error)
    assert refused > len(places) * len(intruders) // 2
    whole = json.dumps(toy())
    for end in range(0, len(whole), 211):
        (tmp_path / "tekken.json").write_text(whole[:end])
        with pytest.raises(FormatError):
            tekken.read(tmp_path / "tekken.json")


def test_a_special_token_that_is_a_piece(tmp_path: Path) -> None:
    data = toy()
    data["special_tokens"][1]["token_str"] = "the"
    with pytest.raises(UnsupportedFeature, match=r"'the' \(id 1\) has the text of the piece 260"):
        tekken.read(written(tmp_path, data))


def test_what_cannot_be_written(tmp_path: Path) -> None:
    spec = tekken.read(written(tmp_path, toy()))
    model = spec.model
    holes = dataclasses.replace(model, pieces=(*model.pieces, None, "ab"))
    moved = (*model.pieces[3:], *model.pieces[:3])
    template = Template(single=(TemplatePart((1,)), TemplatePart("A")))
    for other, message in (
        (toy_spec(), "a tekken file cannot say an alphabet of characters"),
        (dataclasses.replace(spec, pretokenizer=(Named("bert"),)), "cannot say the pre-tokenizer"),
        (
            dataclasses.replace(spec, normalizer=(Lowercase(),)),
            "cannot say a normalizer; .* normaliz",
        ),
        (dataclasses.replace(spec, template=template), "cannot say a template"),
        (
            dataclasses.replace(
                spec,
                model=dataclasses.replace(model, pieces=moved),
                special_tokens={text: moved.index(text) for text in spec.special_tokens},
            ),
            "special tokens that are not the first ids",
        ),
        (
            dataclasses.replace(spec, model=holes),
            "ids that stand for nothing",
        ),
        (
            dataclasses.replace(
                spec,
                model=dataclasses.replace(
                    model, pieces=(*model.pieces[:3], *model.pieces[4:], model.pieces[3])
                ),
            ),
            "pieces that do not begin with the 256 bytes",
        ),
    ):
        with pytest.raises(UnsupportedFeature, match=message):
            formats.write(tmp_path / "new", other, format="tekken")
    foreign = dataclasses.replace(model, pieces=(*model.pieces, "가"))
    with pytest.raises(ConfigError, match="piece '가' stands for no bytes"):
        formats.write(tmp_path / "new", dataclasses.replace(spec, model=foreign), format="tekken")
    assert not (tmp_path / "new").exists()
