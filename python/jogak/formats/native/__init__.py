"""jogak's own file: one JSON object that holds all of a tokenizer.

::

    {"format":"jogak",
    "version":3,
    "spec":{...},           what the tokenizer is: model, normalizer, pretokenizer, special_tokens, ...
    "training":{...},       how it was trained, or null
    "probes":[...]}         texts with their ids, replayed when the file is loaded

The same content always gives the same bytes: UTF-8, no spaces, the five sections in this order,
all other keys sorted, one line for each section and for each field of the model and of the log, a line
feed at the end. Merges are one flat list of ids, ``[left, right, left, right, ...]``, best first.

Rule: reading trusts nothing. Whatever is in the file, the answer is a `Loaded` or a `FormatError` with
the place; a field that this version does not know is refused, because it may change the ids.

Fields are never optional, so the version goes up with every change to them; all versions up to the own
one are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from jogak.errors import ConfigError, FormatError
from jogak.formats.checked import Node, NotPlain, fault, is_unicode
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike, read_bytes, write_atomically
from jogak.formats.native import lists
from jogak.formats.native.models import model_from_node, model_to_dict
from jogak.spec import (
    AddedToken,
    DecoderStage,
    Normalizer,
    Padding,
    Pretokenizer,
    Spec,
    Template,
    Truncation,
    decoder_stage_from_dict,
    normalizer_from_dict,
    pretokenizer_from_dict,
    resolve_normalizer,
    resolve_pretokenizer,
)
from jogak.training import Log, log_from_dict

__all__ = ["VERSION", "dumps", "read", "spec_from_dict", "spec_to_dict", "write"]

#: The newest version of the format: the one that is written.
VERSION = 3
#: What configs of BPE have since version 2.
_LATER_BPE: Mapping[str, Any] = {
    "by_scores": False,
    "characters": None,
    "split_by_unicode_script": False,
    "split_by_number": True,
    "split_digits": False,
    "split_by_whitespace": True,
    "allow_whitespace_only_pieces": False,
    "treat_whitespace_as_suffix": False,
}

_OPTIONS_OF_STAGE = {
    "digits": ("group",),
    "regex": ("pattern", "matches"),
    "metaspace": ("prepend", "only_missing", "suffix", "split", "escape"),
}
_FLAGS_OF_STAGES = ("only_missing", "suffix", "split", "escape", "invert", "regex")
#: What they have since version 3.
_LATER_OPTIONS_OF_STAGE = {
    "digits": ("version",),
    "regex": ("invert", "regex"),
    "metaspace": ("mark",),
    "fixed": ("length",),
}


# --- files --------------------------------------------------------------------------------------


def read(source: PathLike | bytes) -> Loaded:
    """What a native file holds.

    Args:
        source: the path of the file, or its bytes.

    Raises:
        FormatError: anything in the file that is not as it should be, with the place.
        OSError: the file cannot be read.
    """
    data, name = (
        (source, None) if isinstance(source, bytes) else (read_bytes(source), os.fspath(source))
    )
    try:
        root = lists.with_tables(data, name)
        if root is not None:
            return _loaded(root)
    except (FormatError, NotPlain):
        pass  # The error is that of the whole file.
    return _loaded(lists.whole(data, name))


def write(
    path: PathLike, spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()
) -> None:
    """Write a native file, wholly or not at all.

    Raises:
        ConfigError: the log or the probes hold something that could not be read again, such as a text
            with a lone surrogate.
        OSError: the file cannot be written.
    """
    write_atomically(path, dumps(spec, training, probes))


def dumps(spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()) -> bytes:
    """The bytes of a native file.

    Raises:
        ConfigError: as `write`.

    >>> from jogak.spec import BPEModel
    >>> model = BPEModel(pieces=("a", "b", "ab"), merges=((0, 1),))
    >>> data = dumps(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))
    >>> print(data.decode()[:40])
    {"format":"jogak",
    "version":3,
    "spec":{
    >>> read(data).spec.model.merges
    ((0, 1),)
    """
    data = {
        "format": "jogak",
        "version": VERSION,
        "spec": spec_to_dict(spec),
        "training": None if training is None else training.to_dict(),
        "probes": [{"text": probe.text, "ids": list(probe.ids)} for probe in probes],
    }
    # What is written can be read: the reader itself is asked, before a byte goes out.
    try:
        _loaded(Node(data))
    except ValueError as error:
        raise ConfigError(f"this tokenizer cannot be saved: {error}") from None
    lines = [f'"{name}":{_lay_out(value, depth=2)}' for name, value in data.items()]
    return ("{" + ",\n".join(lines) + "}\n").encode("utf-8")


def _lay_out(value: Any, depth: int) -> str:
    """Canonical JSON; objects down to ``depth`` have one field a line."""
    if depth and isinstance(value, dict) and value:
        fields = (f"{_line(key)}:{_lay_out(value[key], depth - 1)}" for key in sorted(value))
        return "{\n" + ",\n".join(fields) + "}"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def _loaded(root: Node) -> Loaded:
    if root.field("format").value != "jogak":
        raise root.child("format", root.value["format"]).expected("'jogak', the native format")
    version = root.field("version").integer(1, 2**31)
    if version > VERSION:
        raise fault(
            root.file,
            "version",
            f"version {version} of the format was written by a newer jogak; this one reads up to "
            f"version {VERSION}: upgrade it (pip install --upgrade jogak)",
        )
    _, _, spec_node, training_node, probes_node = root.fields(
        "format", "version", "spec", "training", "probes"
    )
    spec = _spec(spec_node, version)
    training = None if training_node.value is None else _training(training_node, version)
    probes = tuple(_probe(node, len(spec.model.table)) for node in probes_node.items())
    return Loaded(spec, training, probes, FORMAT.name)


def _training(node: Node, version: int) -> Log:
    data = node.value
    if version == 1 and isinstance(data, Mapping) and isinstance(data.get("config"), Mapping):
        # Options that came later: none of them was on.
        later = {name: _LATER_BPE[name] for name in _LATER_BPE.keys() - data["config"].keys()}
        data = {**data, "config": {**data["config"], **later}}
    with node.blamed():
        training = log_from_dict(data)
    if not is_unicode(training.texts()):
        raise node.fault("has a lone surrogate in one of its texts; expected Unicode")
    return training


def _probe(node: Node, size: int) -> Probe:
    text, ids = node.fields("text", "ids")
    return Probe(text.text(), tuple(ids.integers(0, size - 1)))


# --- Spec -> plain data -------------------------------------------------------------------------


def spec_to_dict(spec: Spec) -> dict[str, Any]:
    """A Spec as plain data: dicts, lists, texts, numbers, as the native file holds it.

    >>> from jogak.spec import BPEModel
    >>> model = BPEModel(pieces=("a", "b", "ab"), merges=((0, 1),))
    >>> spec_to_dict(Spec(model=model, pretokenizer=resolve_pretokenizer("none")))["model"]["merges"]
    [0, 1]
    """
    return {
        "model": model_to_dict(spec.model),
        "normalizer": [stage.to_dict() for stage in spec.normalizer],
        "pretokenizer": [stage.to_dict() for stage in spec.pretokenizer],
        "special_tokens": dict(spec.special_tokens),
        "added_tokens": [token.to_dict() for token in spec.added_tokens],
        "special_policy": spec.special_policy,
        "decoder": None if spec.decoder is None else [stage.to_dict() for stage in spec.decoder],
        "template": spec.template.to_dict(),
        "truncation": None if spec.truncation is None else spec.truncation.to_dict(),
        "padding": None if spec.padding is None else spec.padding.to_dict(),
    }


# --- plain data -> Spec -------------------------------------------------------------------------


def spec_from_dict(
    data: Mapping[str, Any], *, file: str | None = None, place: str = "spec"
) -> Spec:
    """The way back from `spec_to_dict`, checked field by field.

    Args:
        data: plain data from anywhere.
        file: the name that errors give to where it came from.
        place: the path of ``data`` itself in that file.

    Raises:
        FormatError: a field that is missing, unknown, or has an impossible value.

    >>> from jogak.spec import BPEModel
    >>> spec = Spec(model=BPEModel(pieces=("a",), merges=()), pretokenizer=resolve_pretokenizer("none"))
    >>> spec_from_dict(spec_to_dict(spec)) == spec
    True
    """
    return _spec(Node(data, place, file))


#: What specs have since a version.
_LATER = {
    2: ("normalizer",),
    3: ("added_tokens", "special_policy", "decoder", "template", "truncation", "padding"),
}


def _spec(node: Node, version: int = VERSION) -> Spec:
    names = ["model", "pretokenizer", "special_tokens"]
    names += (name for since, later in _LATER.items() if since <= version for name in later)
    nodes = dict(zip(names, node.fields(*names), strict=True))
    model = model_from_node(nodes["model"], _apart(nodes), version)
    # Version 1: metaspace had no options.
    stages = [_stage(stage, version) for stage in nodes["pretokenizer"].items()]
    with nodes["pretokenizer"].blamed():
        pretokenizer = resolve_pretokenizer(stages)
    options: dict[str, Any] = {}
    if version >= 2:
        rules = [_rule(rule) for rule in nodes["normalizer"].items()]
        options["normalizer"] = resolve_normalizer(rules)
    if version >= 3:
        options |= _inputs(nodes)
    special_tokens = _special_tokens(nodes["special_tokens"], len(model.table))
    with node.blamed():
        return Spec(
            model=model, pretokenizer=pretokenizer, special_tokens=special_tokens, **options
        )


def _apart(nodes: Mapping[str, Node]) -> set[str]:
    """The texts of special and added tokens, which may be written otherwise than pieces."""
    special = nodes["special_tokens"].value
    apart = set(special if isinstance(special, dict) else ())
    if "added_tokens" in nodes:
        apart.update(_added_token(token).text for token in nodes["added_tokens"].items())
    return apart


def _inputs(nodes: Mapping[str, Node]) -> dict[str, Any]:
    """What stands around the model: tokens found in texts, the way back, inputs."""
    decoder, template = nodes["decoder"], nodes["template"]
    options: dict[str, Any] = {"special_policy": nodes["special_policy"].text()}
    options["added_tokens"] = tuple(map(_added_token, nodes["added_tokens"].items()))
    if decoder.value is not None:
        options["decoder"] = tuple(map(_decoder_stage, decoder.items()))
    for name, kind in (("template", Template), ("truncation", Truncation), ("padding", Padding)):
        node = nodes[name]
        if node.value is None and node is not template:
            continue
        if not isinstance(node.value, dict):
            raise node.expected("an object")
        with node.blamed():
            options[name] = kind.from_dict(node.value)
        node.fields(*options[name].to_dict())
        # A template has lists of objects, whose own fields may not be left to chance either.
        if options[name].to_dict() != node.value:
            raise node.expected("every part with a what and a type_id")
    return options


def _added_token(node: Node) -> AddedToken:
    if not isinstance(node.value, dict):
        raise node.expected("an object")
    node.field("text").text()
    with node.blamed():
        token = AddedToken.from_dict(node.value)
    node.fields(*token.to_dict())
    return token


def _decoder_stage(node: Node) -> DecoderStage:
    if not isinstance(node.value, dict):
        raise node.expected("an object with a type")
    node.field("type").text()
    with node.blamed():
        stage = decoder_stage_from_dict(node.value)
    node.fields(*stage.to_dict())
    return stage


def _rule(node: Node) -> Normalizer:
    """One stage of the normalizer. Its options, all given, are checked by its own class."""
    if not isinstance(node.value, dict):
        raise node.expected("an object with a type")
    node.field("type").text()
    with node.blamed():
        rule = normalizer_from_dict(node.value)
    node.fields(*rule.to_dict())
    return rule


def _stage(node: Node, version: int) -> Pretokenizer:
    kind = node.field("type").text()
    options: tuple[str, ...] = _OPTIONS_OF_STAGE.get(kind, ())
    if version >= 3:
        options += _LATER_OPTIONS_OF_STAGE.get(kind, ())
        # "punctuation" by itself, and with options.
        if kind == "punctuation" and len(node.value) > 1:
            options = ("matches", "version")
    _, *nodes = node.fields("type", *(() if (kind, version) == ("metaspace", 1) else options))
    for option, option_node in zip(options, nodes, strict=False):
        if option == "group" and version >= 3 and option_node.value is None:
            continue
        if option in ("group", "length"):
            option_node.integer(1, 3 if option == "group" else 2**31 - 1)
        elif option in _FLAGS_OF_STAGES:
            option_node.flag()
        else:
            option_node.text()
    with node.blamed():
        return pretokenizer_from_dict(node.value)


def _special_tokens(node: Node, size: int) -> dict[str, int]:
    if not isinstance(node.value, dict):
        raise node.expected("an object of texts and ids")
    # Whether the piece of that id is that text, Spec itself checks.
    return {text: node.child(text, id_).integer(0, size - 1) for text, id_ in node.value.items()}


# --- the family ---------------------------------------------------------------------------------


def _matches(peek: Peek) -> bool:
    # Files that jogak wrote are known by their first bytes, rearranged ones by a full look.
    if peek.head.startswith(b'{"format":"jogak"'):
        return True
    return isinstance(peek.json, dict) and peek.json.get("format") == "jogak"


FORMAT = Format(
    name="jogak",
    about="the native file, JSON with everything in it",
    matches=_matches,
    read=read,
    write=write,
)
