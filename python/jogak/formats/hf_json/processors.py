"""The ``post_processor`` section of a ``tokenizer.json``: what stands around texts.

A processor takes a list of inputs (one text, or two) and gives a list: BERT's and RoBERTa's put ids
around each, a template makes a new list, one input for each of its parts. So a sequence of them is
worked out here on inputs of which only the form is known. The end of it is one `Template`, if

- it is a template at all: a template that gets more than two inputs has no answer,
- leaving out the special tokens leaves out just these,
- and the library, which adds up the tokens of all processors when it cuts inputs to a length, finds as
  many as there are.

Otherwise it is refused by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jogak.errors import UnsupportedFeature
from jogak.formats.checked import Node
from jogak.formats.hf_json.serde import flag_or, sequence, unsupported
from jogak.spec import Template, TemplatePart
from jogak.spec.record import dataclass, replace

__all__ = ["read", "write"]

_MOST = 2**32 - 1
#: The parts of one input.
_Input = tuple[TemplatePart, ...]


# --- reading ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Around:
    """BERT's and RoBERTa's: ``cls`` and ``sep`` around the first input, ``sep`` behind the others."""

    cls: int
    sep: int
    #: RoBERTa's: all type ids are 0, and a second separator stands before the others.
    roberta: bool = False

    def added(self, texts: int) -> int:
        return 2 if texts == 1 else 4 if self.roberta else 3

    def apply(self, inputs: list[_Input], special: bool) -> list[_Input]:
        if self.roberta:
            inputs = [_typed(parts, 0) for parts in inputs]
        if not special:
            return inputs
        sep = TemplatePart((self.sep,))
        result: list[_Input] = [(TemplatePart((self.cls,)), *parts, sep) for parts in inputs[:1]]
        for parts in inputs[1:]:
            behind = (sep, *parts, sep) if self.roberta else (*parts, TemplatePart((self.sep,), 1))
            result.append(behind)
        return result


@dataclass(frozen=True)
class _Template:
    """``TemplateProcessing``: a list of parts for one input and for two."""

    place: Node
    single: _Input
    pair: _Input

    def added(self, texts: int) -> int:
        parts = self.single if texts == 1 else self.pair
        return sum(len(part.what) for part in parts if not isinstance(part.what, str))

    def apply(self, inputs: list[_Input], special: bool) -> list[_Input]:
        if len(inputs) not in (1, 2):
            raise unsupported(
                self.place,
                f"this template gets {len(inputs)} inputs from the processors before it, where the "
                "library itself knows no answer; expected one or two",
            )
        result: list[_Input] = []
        for part in self.single if len(inputs) == 1 else self.pair:
            if isinstance(part.what, str):
                index = "AB".index(part.what)
                if index >= len(inputs):
                    raise self.place.fault("uses the second text where there is only one")
                result.append(_typed(inputs[index], part.type_id))
            elif special:
                result.append((part,))
        return result


_Processor = _Around | _Template


def read(node: Node | None) -> Template:
    """The template of a post-processor; texts as they are for null.

    Raises:
        FormatError: a processor that the library does not know, or a field that it refuses.
        UnsupportedFeature: a sequence of processors that is no template.
    """
    if node is None:
        return Template()
    trims: list[bool] = []
    processors = _processors(node, trims, 0)
    single, pair = (_composed(processors, texts, node) for texts in (1, 2))
    with node.blamed():
        return Template(single, pair, trim_spans=any(trims))


def _composed(processors: Sequence[_Processor], texts: int, node: Node) -> _Input:
    def run(special: bool) -> _Input:
        both: list[_Input] = [(TemplatePart("A"),), (TemplatePart("B", 1),)]
        inputs = both[:texts]
        for processor in processors:
            inputs = processor.apply(inputs, special)
        return tuple(part for parts in inputs for part in parts)

    parts = run(special=True)
    if run(special=False) != tuple(part for part in parts if isinstance(part.what, str)):
        raise unsupported(
            node,
            "without special tokens, these processors do something else than to leave them out, "
            "which no template can say",
        )
    added = sum(processor.added(texts) for processor in processors)
    there = sum(len(part.what) for part in parts if not isinstance(part.what, str))
    if added != there:
        raise unsupported(
            node,
            f"these processors add {there} tokens to {texts} texts, but the library counts {added} "
            "when it cuts inputs to a length, which no template can say",
        )
    return parts


def _processors(node: Node, trims: list[bool], depth: int) -> list[_Processor]:
    """The processors of a section, those of sequences one after the other."""
    value = node.value
    if not isinstance(value, dict):
        raise node.expected("an object")
    # The library goes by the fields; only two kinds have their type looked at.
    if {"sep", "cls", "trim_offsets", "add_prefix_space"} <= value.keys():
        if node.field("trim_offsets").flag():
            _trim(node, trims)
        return [_Around(_token(node.field("cls")), _token(node.field("sep")), roberta=True)]
    if {"sep", "cls"} <= value.keys():
        return [_Around(_token(node.field("cls")), _token(node.field("sep")))]
    if value.get("type") == "ByteLevel":
        flag_or(node, "use_regex", True)
        if node.field("trim_offsets").flag():
            _trim(node, trims)
        return []
    if {"single", "pair", "special_tokens"} <= value.keys():
        return [_template(node)]
    if value.get("type") == "Sequence":
        inner = sequence(node, "processors", depth)
        return [one for item in inner for one in _processors(item, trims, depth + 1)]
    kinds = "BertProcessing, RobertaProcessing, ByteLevel, TemplateProcessing, Sequence"
    raise node.expected(f"a processor with all of its fields: one of {kinds}")


def _trim(node: Node, trims: list[bool]) -> None:
    node.field("add_prefix_space").flag()
    trims.append(True)


def _token(node: Node) -> int:
    items = node.items()
    if len(items) != 2:
        raise node.expected("a list of the text and the id of a token")
    items[0].text()
    return items[1].integer(0, _MOST)


def _template(node: Node) -> _Template:
    tokens = node.field("special_tokens")
    if not isinstance(tokens.value, dict):
        raise tokens.expected("an object of special tokens")
    ids = {name: _ids(tokens.field(name)) for name in tokens.value}
    return _Template(
        node,
        *(
            tuple(_part(item, ids) for item in node.field(name).items())
            for name in ("single", "pair")
        ),
    )


def _ids(node: Node) -> tuple[int, ...]:
    node.field("id").text()
    ids = node.field("ids").integers(0, _MOST)
    texts = node.field("tokens").items()
    for text in texts:
        text.text()
    if len(texts) != len(ids):
        raise node.fault(f"has {len(ids)} ids and {len(texts)} tokens; expected as many")
    return tuple(ids)


def _part(node: Node, ids: dict[str, tuple[int, ...]]) -> TemplatePart:
    if not isinstance(node.value, dict) or len(node.value) != 1:
        raise node.expected("an object with SpecialToken or with Sequence")
    (kind,) = node.value
    if kind not in ("SpecialToken", "Sequence"):
        raise node.expected("an object with SpecialToken or with Sequence")
    part = node.field(kind)
    name, type_id = part.field("id"), part.field("type_id").integer(0, _MOST)
    if kind == "Sequence":
        if name.text() not in ("A", "B"):
            raise name.expected("'A' or 'B'")
        return TemplatePart(name.value, type_id)
    if name.text() not in ids:
        raise name.expected("one of the special_tokens of this template")
    return TemplatePart(ids[name.value], type_id)


def _typed(parts: _Input, type_id: int) -> _Input:
    return tuple(replace(part, type_id=type_id) for part in parts)


# --- writing ------------------------------------------------------------------------------------


def write(template: Template, pieces: Sequence[str | None], name: str) -> dict[str, Any] | None:
    """The section of a template; `read` gives the same template.

    Raises:
        UnsupportedFeature: a template for two texts that leaves one of them out.
    """
    if template == Template():
        return None
    trim = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    if template == Template(trim_spans=True):
        return trim
    if {"A", "B"} - {part.what for part in template.pair}:
        raise UnsupportedFeature(
            f"{name}: the template for two texts leaves one out, which a tokenizer.json cannot say; "
            "save it as the native format"
        )
    tokens: dict[str, Any] = {}
    processor = {
        "type": "TemplateProcessing",
        "single": [_written(part, tokens, pieces) for part in template.single],
        "pair": [_written(part, tokens, pieces) for part in template.pair],
        "special_tokens": tokens,
    }
    return (
        {"type": "Sequence", "processors": [trim, processor]} if template.trim_spans else processor
    )


def _written(
    part: TemplatePart, tokens: dict[str, Any], pieces: Sequence[str | None]
) -> dict[str, Any]:
    if isinstance(part.what, str):
        return {"Sequence": {"id": part.what, "type_id": part.type_id}}
    texts = [pieces[id_] or "" for id_ in part.what]
    name = texts[0] if len(texts) == 1 else " ".join(map(str, part.what))
    while tokens.get(name, {"ids": [*part.what]})["ids"] != [*part.what]:
        name += "_"
    tokens[name] = {"id": name, "ids": list(part.what), "tokens": texts}
    return {"SpecialToken": {"id": name, "type_id": part.type_id}}
