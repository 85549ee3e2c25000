"""The native file: what goes out comes back, the same content is the same bytes, nothing is ignored."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from format_cases import TOY_PROBES, logs, model_path, specs, toy_log, toy_spec
from hypothesis import given, settings

from jogak import formats
from jogak.errors import ConfigError, FormatError
from jogak.formats import Loaded, native
from jogak.spec import BPEModel, Marker, Named, Spec
from jogak.training import TrainingLog

TOY = native.dumps(toy_spec(), toy_log(), TOY_PROBES)


#: A file that ends where a value should stand.
CUT = TOY[: TOY.index(b"[7,2")]


def end_of(data: bytes) -> str:
    """The place behind the last character, as errors name it."""
    lines = data.split(b"\n")
    return f"line {len(lines)}, column {len(lines[-1]) + 1}"


def read_changed(edit: Any) -> Loaded:
    data = json.loads(TOY)
    edit(data)
    return native.read(json.dumps(data).encode())


@pytest.mark.parametrize("version", [1, 2])
def test_files_of_older_versions_are_read(version: int) -> None:
    """Version 1 knew no normalizers, version 2 no added tokens, decoders and inputs."""
    old = (Path(__file__).parent / f"toy-{version}.jogak.json").read_bytes()
    assert json.loads(old)["version"] == version
    assert native.read(old) == native.read(TOY)


def test_the_bytes_of_the_worked_example() -> None:
    assert TOY.decode() == (Path(__file__).parent / "toy.jogak.json").read_text("utf-8")


def test_toy_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "toy.jogak.json"
    native.write(path, toy_spec(), toy_log(), TOY_PROBES)
    assert path.read_bytes() == TOY
    assert native.read(path) == Loaded(toy_spec(), toy_log(), TOY_PROBES, "jogak")


@settings(deadline=None)
@given(specs(), logs())
def test_every_spec_and_log_comes_back(spec: Spec, log: TrainingLog) -> None:
    data = native.dumps(spec, log)
    loaded = native.read(data)
    assert (loaded.spec, loaded.training) == (spec, log)
    assert native.dumps(loaded.spec, loaded.training) == data
    assert native.spec_from_dict(native.spec_to_dict(spec)) == spec


def test_the_bytes_do_not_depend_on_the_order_in_memory() -> None:
    spec = toy_spec()
    model = dataclasses.replace(spec.model, pieces=(*spec.model.pieces, "<a>"))
    one = dataclasses.replace(spec, model=model, special_tokens={"<unk>": 0, "<a>": 11})
    other = dataclasses.replace(spec, model=model, special_tokens={"<a>": 11, "<unk>": 0})
    assert native.dumps(one) == native.dumps(other)


def test_other_layouts_of_the_same_json_are_read() -> None:
    data = json.loads(TOY)
    shuffled = json.dumps(dict(reversed(data.items())), indent=3).encode()
    assert shuffled != TOY
    assert native.read(shuffled) == native.read(TOY)


def test_a_real_vocabulary_comes_back(tmp_path: Path) -> None:
    spec = formats.read(model_path("gpt2", "encoder.json")).spec
    data = native.dumps(spec)
    assert native.read(data).spec == spec
    assert native.dumps(native.read(data).spec) == data


# --- what is refused ----------------------------------------------------------------------------


def put(*path: str | int, value: Any) -> Any:
    def edit(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "place", "message"),
    [
        (put("format", value="other"), "format", "is 'other'; expected 'jogak'"),
        (
            put("version", value=4),
            "version",
            r"version 4 of the format was written by a newer jogak; .* version 3: upgrade it",
        ),
        (put("version", value=True), "version", "is true; expected a whole number"),
        (put("more", value=1), None, "has a field 'more', which is not known; expected format,"),
        (put("spec", "model", "speed", value=1), "spec.model", "has a field 'speed'"),
        (lambda data: data["spec"].pop("model"), "spec", "spec lacks the field 'model'"),
        (put("spec", value=[]), "spec", "spec is a list of 0; expected an object"),
        (put("spec", "model", "type", value="lstm"), "spec.model.type", "'lstm'; expected 'bpe'"),
        (
            put("spec", "model", "pieces", 3, value=7),
            "spec.model.pieces[3]",
            "is 7; expected a text",
        ),
        (put("spec", "model", "pieces", 3, value=""), "spec.model.pieces[3]", "not empty, or null"),
        (put("spec", "model", "pieces", 3, value="\ud800"), "spec.model.pieces[3]", "surrogates"),
        (
            put("spec", "model", "pieces", 3, value="b"),
            "spec.model.pieces[3]",
            r"is 'b', as is spec.model.pieces\[1\]; expected every text once",
        ),
        (
            put("spec", "model", "pieces", 8, value="gu"),
            "spec.model.merges[0]",
            "joins 'u' and 'g', but 'ug' is no piece",
        ),
        (
            put("spec", "model", "pieces", 4, value=None),
            "spec.model.merges[1]",
            "joins ids 7 and 4, but 4 stands for nothing",
        ),
        (
            put("spec", "model", "merges", 3, value=11),
            "spec.model.merges[3]",
            "is 11; expected a whole number from 0 to 10",
        ),
        (put("spec", "model", "merges", 3, value=1.0), "spec.model.merges[3]", "is 1.0; expected"),
        (put("spec", "model", "merges", value=[7]), "spec.model.merges", "has 1 ids; expected two"),
        (put("spec", "model", "unknown", value="?"), "spec.model", "unknown piece '\\?' is not"),
        (
            put("spec", "model", "mark_words", value=1),
            "spec.model.mark_words",
            "is 1; expected true",
        ),
        (
            put("spec", "model", "strategy", value="x"),
            "spec.model",
            "strategy is 'x'; expected one",
        ),
        (put("spec", "model", "alphabet", value="bytes"), "spec.model", "does not go with marker"),
        (
            put("spec", "model", "marker", "kind", value="dot"),
            "spec.model.marker",
            "marker is 'dot'; expected one of",
        ),
        (put("spec", "pretokenizer", value=[]), "spec.pretokenizer", "an empty list"),
        (
            put("spec", "pretokenizer", 0, value={"type": "gpt9"}),
            "spec.pretokenizer[0]",
            "'gpt9'; expected one of",
        ),
        (
            put(
                "spec",
                "pretokenizer",
                0,
                value={"type": "digits", "group": True, "version": "16.0"},
            ),
            "spec.pretokenizer[0].group",
            "is true; expected a whole number",
        ),
        (put("spec", "special_tokens", "<x>", value=1), "spec", "'<x>' says id 1, where"),
        (
            put("spec", "special_tokens", "<unk>", value=-1),
            "spec.special_tokens.<unk>",
            "is -1; expected",
        ),
        (put("training", value=3), "training", "the log is 3; expected an object"),
        (put("training", "counts", value=[1]), "training", "occurrences has 3 entries and counts"),
        (put("training", "config", "ties", value="x"), "training", "ties is 'x'; expected one of"),
        (put("training", "config", "unknown", value="\ud800"), "training", "a lone surrogate"),
        (put("training", "pruned", value=["\ud800"]), "training", "a lone surrogate"),
        (put("probes", 0, "ids", 1, value=99), "probes[0].ids[1]", "is 99; expected"),
        (put("probes", 0, "text", value=None), "probes[0].text", "is null; expected a text"),
    ],
)
def test_errors_name_the_place(edit: Any, place: str | None, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read_changed(edit)
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        (b"", "line 1, column 1", "Expecting value; expected JSON"),
        (b"[]", None, "the file is a list of 0; expected an object"),
        (b"{}", None, "lacks the field 'format'"),
        (CUT, end_of(CUT), "expected JSON"),
        (TOY + b"{}", end_of(TOY), "Extra data"),
        (b"\xef\xbb\xbf" + TOY, "line 1, column 1", "BOM"),
        (TOY[:300] + b"\xff", "byte 300", "byte 300 is not UTF-8"),
        (TOY.replace(b'"version":3', b'"version":3,"version":3'), "key 'version'", "stands twice"),
        (TOY.replace(b'"version":3', b'"version":NaN'), "NaN", "found NaN, which is no number"),
        (TOY.replace(b'"version":3', b'"version":-Infinity'), "-Infinity", "no number that JSON"),
        (TOY.replace(b'"version":3', b'"version":' + b"9" * 10**6), "number", "1,000,000 digits"),
        (b'{"format":' + b"[" * 10**6, None, "nested too deeply"),
        (b'{"a":' * 10**6, None, "nested too deeply"),
    ],
)
def test_errors_of_the_text_itself(data: bytes, place: str | None, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        native.read(data)
    assert caught.value.place == place


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "broken.jogak.json"
    path.write_bytes(TOY.replace(b'"hug"', b'"gug"'))
    with pytest.raises(FormatError) as caught:
        native.read(path)
    assert caught.value.file == str(path)
    assert caught.value.place == "spec.model.merges[2]"
    assert str(caught.value) == (
        f"{path}: spec.model.merges[2] joins 'h' and 'ug', but 'hug' is no piece; "
        "expected it among the pieces"
    )


def test_long_digits_inside_a_text_are_fine() -> None:
    probe = formats.Probe("7" * 5000, (0,))
    assert native.read(native.dumps(toy_spec(), None, [probe])).probes == (probe,)


def test_byte_level_pieces_are_written_in_byte_characters() -> None:
    model = BPEModel(pieces=("a", "가"), merges=(), marker=Marker("byte-level"), alphabet="bytes")
    spec = Spec(model=model, pretokenizer=(Named("gpt2"),))
    with pytest.raises(ConfigError, match=r"cannot be saved: spec.model.pieces\[1\] is '가'"):
        native.dumps(spec)
    native.dumps(dataclasses.replace(spec, special_tokens={"가": 1}))


def test_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "toy.jogak.json"
    spec = Spec(model=BPEModel(pieces=("a",), merges=()), pretokenizer=(Named("none"),))
    probe = formats.Probe("\ud800", (0,))
    with pytest.raises(ConfigError, match=r"cannot be saved: .*surrogate"):
        native.write(path, spec, probes=[probe])
    assert not path.exists()
