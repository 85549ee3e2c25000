"""What all tokenizers of GGUF files have: texts and types of tokens, roles, added tokens, the template.

llama.cpp makes control tokens of some texts whatever their type, and renders others always.

Rule: types are those that llama.cpp has when it has read the file; what depends on the order of its hash
table is refused.

Source: https://github.com/ggml-org/llama.cpp, ``src/llama-vocab.cpp``, 2026
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jogak.errors import FormatError, UnsupportedFeature
from jogak.formats.checked import fault, shown
from jogak.formats.gguf_file import Entry
from jogak.spec import AddedToken, Template, TemplatePart

__all__ = [
    "BYTE",
    "CONTROL",
    "NORMAL",
    "PREFIX",
    "UNKNOWN",
    "UNUSED",
    "USER",
    "Section",
    "added",
    "template",
    "tokens",
]  # fmt: skip

PREFIX = "tokenizer.ggml."
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
#: What C takes for white space.
_SPACE = " \t\n\v\f\r"

#: Texts that llama.cpp takes for control tokens whatever their type: those that end an answer.
_ENDS = frozenset(
    (
        *(
            "<|eot_id|>",
            "<|im_end|>",
            "<|end|>",
            "<|return|>",
            "<|call|>",
            "<|flush|>",
            "<|calls|>",
        ),
        *(
            "<end_of_turn>",
            "<|endoftext|>",
            "</s>",
            "<|eom_id|>",
            "<EOT>",
            "_<EOT>",
            "[EOT]",
            "[EOS]",
        ),
        *("<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>"),
        *("<｜end▁of▁sentence｜>", "[e~["),
    )
)
#: Of each of these the one that is named by a key, or the one that is there.
_ROLES: Mapping[str, tuple[str, ...]] = {
    "fim_pre": ("<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>",
                "<|code_prefix|>", "<|prefix|>"),
    "fim_suf": ("<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>",
                "<|code_suffix|>", "<|suffix|>"),
    "fim_mid": ("<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>",
                "<|code_middle|>", "<|middle|>"),
    "fim_pad": ("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"),
    "fim_rep": ("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"),
    "fim_sep": ("<|file_sep|>",),
}  # fmt: skip
#: Texts that are found in every text, whatever their type.
_SHOWN = ("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>")


#: What to do about a file with something wrong in it.
_REMEDY = "is the file whole? If so, make it anew with llama.cpp's converter"


class Section:
    """The tokenizer section, its values looked at where they are asked for."""

    def __init__(self, name: str, entries: Mapping[str, Entry]) -> None:
        self.name, self.entries = name, entries
        self.tokens: list[str] = []
        self.types: list[int] = []

    def fault(self, key: str, message: str) -> FormatError:
        """The error for a key that is wrong."""
        return fault(self.name, key, f"{key} {message}; {_REMEDY}")

    def refused(self, what: str) -> UnsupportedFeature:
        """The error for what cannot be said."""
        return UnsupportedFeature(
            f"{self.name}: {what}; that cannot be carried over exactly: load the tokenizer.json or the "
            ".model that the file was made of"
        )

    def get(self, key: str, *kinds: str, prefix: str = PREFIX) -> Any:
        """A value, or None; of one of the kinds."""
        entry = self.entries.get(prefix + key)
        if entry is None:
            return None
        if entry.kind not in kinds:
            raise self.fault(prefix + key, f"is {entry.kind}; expected {' or '.join(kinds)}")
        return entry.value

    def flag(self, key: str, default: bool) -> bool:
        """A flag, or what it is without the key."""
        value = self.get(key, "bool")
        return default if value is None else bool(value)

    def id(self, key: str, default: int | None) -> int | None:
        """The id of a token with a role; those that are none are passed over."""
        value = self.get(key, "u32")
        if value is not None and value < len(self.tokens):
            return int(value)
        return default if default is not None and default < len(self.tokens) else None

    def array(self, key: str, *kinds: str) -> list[Any] | None:
        """A value for each of the tokens, or None."""
        value = self.get(key, *kinds)
        if value is not None and len(value) < len(self.tokens):
            raise self.fault(PREFIX + key, f"has {len(value)} values for {len(self.tokens)} tokens")
        return None if value is None else list(value[: len(self.tokens)])

    def of_type(self, *types: int) -> list[str]:
        """The texts of tokens of these types."""
        return [text for text, kind in zip(self.tokens, self.types, strict=True) if kind in types]

    def specials(self) -> dict[str, int]:
        """Special tokens and their ids."""
        pairs = zip(self.tokens, self.types, strict=True)
        return {t: id_ for id_, (t, kind) in enumerate(pairs) if kind in (CONTROL, UNKNOWN)}


def tokens(file: Section) -> None:
    """The texts and types of all tokens, as llama.cpp has them when it is done."""
    texts = file.get("tokens", "text[]")
    if not texts:
        raise file.fault(PREFIX + "tokens", "is not there or empty; expected texts")
    file.tokens = [text or f"[EMPTY_{id_}]" for id_, text in enumerate(texts)]
    ids: dict[str, int] = {}
    for id_, text in enumerate(file.tokens):
        if ids.setdefault(text, id_) != id_:
            raise file.fault(
                f"{PREFIX}tokens[{id_}]",
                f"is {shown(text)}, as is token {ids[text]}; expected each once",
            )
    file.types = file.array("token_type", "i32[]") or [NORMAL] * len(file.tokens)
    control = {ids[text] for text in _ENDS if text in ids}
    for role, names in _ROLES.items():
        if file.id(f"{role}_token_id", None) is not None:
            continue
        found = [ids[text] for text in names if text in ids]
        if len(found) > 1 and any(file.types[id_] != CONTROL for id_ in found):
            shown_ = " and ".join(repr(file.tokens[id_]) for id_ in found)
            raise file.refused(
                f"{shown_} are there, and llama.cpp makes one of them a control token"
            )
        control.update(found)
    for id_ in control:
        file.types[id_] = CONTROL
    for text in _SHOWN:
        if text in ids:
            file.types[ids[text]] = USER
    calls = "<|return|>" in ids and ("<|call|>" in ids or "<|calls|>" in ids)
    flushes = ("<|call|>" in ids or "<|calls|>" in ids) and "<|flush|>" in ids
    if "<|end|>" in ids and (calls or flushes):
        file.types[ids["<|end|>"]] = USER
    if "<|tool_response>" in ids and "</s>" in ids:
        file.types[ids["</s>"]] = NORMAL


def added(file: Section, in_model: Iterable[str] = ()) -> tuple[AddedToken, ...]:
    """Tokens that are found in every text; and special ones that the model makes too.

    llama.cpp looks for the longest first, then for shorter ones in what is left. That is the leftmost
    first unless one can begin within another.
    """
    user = file.of_type(USER)
    within = set(in_model)
    beginnings = {text[:end] for text in user if len(set(text)) > 1 for end in range(1, len(text))}
    for text in user:
        for start in range(1, len(text)):
            ending = text[start:]
            if (ending in beginnings or ending in user) and len(set(text)) > 1:
                raise file.refused(
                    f"user-defined tokens overlap ({text!r} ends in {ending!r}, where another begins); "
                    "llama.cpp takes the longest one, wherever it begins"
                )
    special = file.specials()
    strips = _strips(file, [*user, *special])
    texts = dict.fromkeys([*user, *(text for text in special if text in within or text in strips)])
    return tuple(
        AddedToken(
            text,
            **strips.get(text, {}),
            in_model=text in within,
        )
        for text in texts
    )


def _strips(file: Section, texts: Iterable[str]) -> Mapping[str, Mapping[str, bool]]:
    """The tokens that white space beside them belongs to: llama.cpp knows them by the model's name."""
    found = [text for text in texts if text not in ("<unk>", "<s>", "<|endoftext|>")]
    name = str(file.get("name", "text", prefix="general.") or "").lower()
    pre = str(file.get("pre", "text") or "")
    architecture = str(file.get("architecture", "text", prefix="general.") or "")
    side, stripping = "lstrip", []
    if any(part in pre for part in ("jina-v2-de", "jina-v2-es", "jina-v2-code")) or any(
        part in architecture for part in ("nomic-bert-moe", "jina-bert-v3")
    ):
        stripping = ["<mask>"]
    elif "phi-3" in name or "phi3" in name:
        side, stripping = "rstrip", [*found, "</s>"]
    elif "modern-bert" in name:
        stripping = ["[MASK]"]
    stripping = [text for text in stripping if text in found]
    spaced = next((t for t in texts if t[0] in _SPACE or t[-1] in _SPACE), None)
    if stripping and spaced is not None:
        raise file.refused(
            f"white space beside {stripping[0]!r} belongs to it, and {spaced!r} has some; llama.cpp "
            "takes the longest token first"
        )
    return {text: {side: True, "ascii_spaces": True} for text in stripping}


def template(
    file: Section, bos: int | None, eos: int | None, *, add_bos: bool, add_eos: bool
) -> Template:
    """What stands around a text; a second text follows the first."""
    first, last = file.id("bos_token_id", bos), file.id("eos_token_id", eos)
    before: list[TemplatePart] = []
    behind: list[TemplatePart] = []
    for parts, id_, add, key in (
        (before, first, file.flag("add_bos_token", add_bos), "bos"),
        (behind, last, file.flag("add_eos_token", add_eos), "eos"),
    ):
        if add and id_ is None:
            raise file.fault(f"{PREFIX}add_{key}_token", f"is true, and there is no {key}_token_id")
        if add and id_ is not None:
            parts.append(TemplatePart((id_,)))
    text, pair = TemplatePart("A"), TemplatePart("B", 1)
    return Template(single=(*before, text, *behind), pair=(*before, text, pair, *behind))
