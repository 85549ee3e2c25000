"""The tokenizer in a GGUF file, read as llama.cpp reads it. Files are not written.

::

    tokenizer.ggml.model   gpt2          BPE by merges over bytes; tokenizer.ggml.pre names the words
                           llama         BPE by scores, bytes for unknown characters
                           t5            Unigram
    token_type             NORMAL, UNUSED           pieces
                           CONTROL, UNKNOWN         special tokens
                           USER_DEFINED             found in every text

Text is text: as `llama_tokenize` without ``add_special`` and ``parse_special``. What it adds around a
text is the template. llama.cpp differs from the library that made a vocabulary: it has no normalizer but
T5's, its letters are those of Unicode 15.1, it makes control tokens of some texts, and it merges pieces
whatever their type. Where that cannot be said the file is refused; so is ``bert``.

Source: https://github.com/ggml-org/llama.cpp, ``src/llama-vocab.cpp``, 2026
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jogak.errors import FormatError, UnsupportedFeature
from jogak.formats import bytelevel
from jogak.formats.checked import fault, shown
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike
from jogak.formats.gguf_file import MAGIC, Entry, read_entries
from jogak.formats.gguf_words import PRE, WHOLE_WORDS
from jogak.spec import (
    AddedToken,
    BPEModel,
    Charsmap,
    CollapseSpaces,
    Marker,
    Metaspace,
    Normalizer,
    Pretokenizer,
    ScoredBPEModel,
    Spec,
    Template,
    TemplatePart,
    UnigramModel,
)
from jogak.training import Log

__all__ = ["read"]

_PREFIX = "tokenizer.ggml."
_NORMAL, _UNKNOWN, _CONTROL, _USER, _UNUSED, _BYTE = 1, 2, 3, 4, 5, 6

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


@dataclass
class _File:
    """The tokenizer section, its values looked at where they are asked for."""

    name: str
    entries: Mapping[str, Entry]
    tokens: list[str] = field(default_factory=list)
    types: list[int] = field(default_factory=list)

    def fault(self, key: str, message: str) -> FormatError:
        return fault(self.name, key, f"{key} {message}")

    def refused(self, what: str) -> UnsupportedFeature:
        return UnsupportedFeature(f"{self.name}: {what}")

    def get(self, key: str, *kinds: str, prefix: str = _PREFIX) -> Any:
        """A value, or None; of one of the kinds."""
        entry = self.entries.get(prefix + key)
        if entry is None:
            return None
        if entry.kind not in kinds:
            raise self.fault(prefix + key, f"is {entry.kind}; expected {' or '.join(kinds)}")
        return entry.value

    def flag(self, key: str, default: bool) -> bool:
        value = self.get(key, "bool")
        return default if value is None else bool(value)

    def id(self, key: str, default: int | None) -> int | None:
        """The id of a token with a role; those that are none are passed over."""
        value = self.get(key, "u32")
        if value is not None and value < len(self.tokens):
            return int(value)
        return default if default is not None and default < len(self.tokens) else None

    def array(self, key: str, *kinds: str) -> list[Any] | None:
        value = self.get(key, *kinds)
        if value is not None and len(value) < len(self.tokens):
            raise self.fault(
                _PREFIX + key, f"has {len(value)} values for {len(self.tokens)} tokens"
            )
        return None if value is None else list(value[: len(self.tokens)])


def read(path: PathLike) -> Spec:
    """The tokenizer of a GGUF file.

    Raises:
        FormatError: not a GGUF file, or without a tokenizer that llama.cpp would load; with the byte or
            the key.
        UnsupportedFeature: a kind of tokenizer or of words that is not known, or what llama.cpp does
            in a way that cannot be said here; by name.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    wanted = ("general.name", "general.architecture")
    entries = read_entries(path, lambda key: key in wanted or key.startswith("tokenizer."))
    file = _File(name, entries)
    model = file.get("model", "text")
    if model is None or model in ("no_vocab", "none"):
        raise fault(name, _PREFIX + "model", "the file has no tokenizer (tokenizer.ggml.model)")
    if model not in _KINDS:
        raise file.refused(f"a tokenizer of kind {model!r}; this version reads {', '.join(_KINDS)}")
    _tokens(file)
    return _KINDS[model](file)


def _tokens(file: _File) -> None:
    """The texts and types of all tokens, as llama.cpp has them when it is done."""
    tokens = file.get("tokens", "text[]")
    if not tokens:
        raise file.fault(_PREFIX + "tokens", "is not there or empty; expected texts")
    file.tokens = [text or f"[EMPTY_{id_}]" for id_, text in enumerate(tokens)]
    ids: dict[str, int] = {}
    for id_, text in enumerate(file.tokens):
        if ids.setdefault(text, id_) != id_:
            raise file.fault(
                f"{_PREFIX}tokens[{id_}]",
                f"is {shown(text)}, as is token {ids[text]}; expected each once",
            )
    file.types = file.array("token_type", "i32[]") or [_NORMAL] * len(file.tokens)
    control = {ids[text] for text in _ENDS if text in ids}
    for role, texts in _ROLES.items():
        if file.id(f"{role}_token_id", None) is not None:
            continue
        found = [ids[text] for text in texts if text in ids]
        if len(found) > 1 and any(file.types[id_] != _CONTROL for id_ in found):
            names = " and ".join(repr(file.tokens[id_]) for id_ in found)
            raise file.refused(
                f"{names} are there, and llama.cpp makes one of them a control token"
            )
        control.update(found)
    for id_ in control:
        file.types[id_] = _CONTROL
    for text in _SHOWN:
        if text in ids:
            file.types[ids[text]] = _USER
    calls = "<|return|>" in ids and ("<|call|>" in ids or "<|calls|>" in ids)
    flushes = ("<|call|>" in ids or "<|calls|>" in ids) and "<|flush|>" in ids
    if "<|end|>" in ids and (calls or flushes):
        file.types[ids["<|end|>"]] = _USER
    if "<|tool_response>" in ids and "</s>" in ids:
        file.types[ids["</s>"]] = _NORMAL


# --- what all kinds have ------------------------------------------------------------------------


def _of_type(file: _File, *types: int) -> list[str]:
    return [text for text, kind in zip(file.tokens, file.types, strict=True) if kind in types]


def _specials(file: _File) -> dict[str, int]:
    return {
        text: id_
        for id_, (text, kind) in enumerate(zip(file.tokens, file.types, strict=True))
        if kind in (_CONTROL, _UNKNOWN)
    }


def _added(file: _File, in_model: Iterable[str] = ()) -> tuple[AddedToken, ...]:
    """Tokens that are found in every text; and special ones that the model makes too.

    llama.cpp looks for the longest first, then for shorter ones in what is left. That is the leftmost
    first unless one can begin within another.
    """
    user = _of_type(file, _USER)
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
    special = _specials(file)
    model_name = str(file.get("name", "text", prefix="general.") or "").lower()
    rstrip: set[str] = set()
    if "phi-3" in model_name or "phi3" in model_name:
        rstrip = {*user, *special, "</s>"} - {"<unk>", "<s>", "<|endoftext|>"}
    texts = dict.fromkeys([*user, *(text for text in special if text in within or text in rstrip)])
    return tuple(AddedToken(text, rstrip=text in rstrip, in_model=text in within) for text in texts)


def _template(
    file: _File, bos: int | None, eos: int | None, *, add_bos: bool, add_eos: bool
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
            raise file.fault(
                f"{_PREFIX}add_{key}_token", f"is true, and there is no {key}_token_id"
            )
        if add and id_ is not None:
            parts.append(TemplatePart((id_,)))
    text, pair = TemplatePart("A"), TemplatePart("B", 1)
    return Template(single=(*before, text, *behind), pair=(*before, text, pair, *behind))


# --- gpt2 ---------------------------------------------------------------------------------------


def _gpt2(file: _File) -> Spec:
    pre = file.get("pre", "text") or "default"
    if pre not in PRE:
        raise file.refused(f"words of the kind {pre!r} ({_PREFIX}pre); known are {', '.join(PRE)}")
    special, user = _specials(file), set(_of_type(file, _USER))
    ids = {text: id_ for id_, text in enumerate(file.tokens)}
    lines = file.get("merges", "text[]")
    if lines is None:
        raise file.fault(_PREFIX + "merges", "is not there; expected texts")
    merges: dict[tuple[int, int], None] = {}
    for rank, line in enumerate(lines):
        cut = line.find(" ", 1)
        left, right = line[:cut], line[cut + 1 :]
        place = f"{_PREFIX}merges[{rank}]"
        if cut < 0 or not right:
            raise file.fault(place, f"is {shown(line)}; expected two texts and a space")
        for text in (left, right, left + right):
            if text not in ids:
                raise file.refused(f"{place} is {shown(line)}, and {shown(text)} is no token")
            if text in special or text in user:
                raise file.refused(f"{place} is {shown(line)}, and {shown(text)} is no plain token")
        merges[ids[left], ids[right]] = None
    missing = next((c for c in bytelevel.ALPHABET if c not in ids or c in special), None)
    if missing is not None:
        raise file.refused(f"the byte {missing!r} is no token; llama.cpp would drop it from texts")
    # What no text becomes, such as [PAD151936], need not be bytes.
    plain = [text for text in file.tokens if text not in special and text not in user]
    foreign = bytelevel.first_foreign(plain)
    if foreign is not None:
        raise file.refused(
            f"the token {foreign!r} (id {ids[foreign]}) is not written in byte characters"
        )
    whole = pre in WHOLE_WORDS
    word = next((text for text in special if whole and text.isalpha()), None)
    if word is not None:
        raise file.refused(f"the control token {word!r} is a word, which llama.cpp makes it")
    model = BPEModel(
        pieces=tuple(file.tokens),
        merges=tuple(merges),
        marker=Marker("byte-level"),
        alphabet="bytes",
        whole_word=whole,
    )
    return Spec(
        model=model,
        pretokenizer=PRE[pre],
        special_tokens=special,
        added_tokens=_added(file),
        template=_template(file, 11, 11, add_bos=whole, add_eos=False),
    )


# --- llama --------------------------------------------------------------------------------------


def _llama(file: _File) -> Spec:
    scores = _scores(file)
    texts = set(file.tokens)
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    missing = next((text for text in bytes_ if text not in texts), None)
    if missing is not None:
        raise file.refused(
            f"the token {missing} is not there; llama.cpp ends at a character without one"
        )
    special = _specials(file)
    merged = _merged(file, texts)
    if byte := next((text for text in bytes_ if text in merged or text in special), None):
        raise file.refused(f"llama.cpp makes the token {byte} of the text {byte!r} too")
    model = ScoredBPEModel(
        pieces=tuple(file.tokens),
        merges=None,
        scores=tuple(scores),
        marker=Marker("prefix"),
        mark_words=False,
        byte_fallback=True,
    )
    # llama.cpp merges pieces of any type.
    in_model = [text for text in (*special, *_of_type(file, _USER)) if text in merged]
    prefix = file.flag("add_space_prefix", True)
    return Spec(
        model=model,
        pretokenizer=(Metaspace(prepend="always" if prefix else "never", split=False),),
        special_tokens=special,
        added_tokens=_added(file, in_model),
        template=_template(file, 1, 2, add_bos=True, add_eos=False),
    )


def _scores(file: _File) -> list[float]:
    scores = file.array("scores", "f32[]", "i32[]") or [0.0] * len(file.tokens)
    for id_, score in enumerate(scores):
        if not math.isfinite(score):
            raise file.fault(f"{_PREFIX}scores[{id_}]", f"is {score}; expected a finite number")
    return [float(score) for score in scores]


def _merged(file: _File, texts: set[str]) -> set[str]:
    """The tokens that merging can make of text: of two parts that are characters or such tokens."""
    made: set[str] = set()
    # These are found before anything is merged; but spaces become ▁ behind that.
    found = {text for text in _of_type(file, _USER) if "▁" not in text}
    for text in sorted(texts - found, key=len):
        if len(text) == 1:
            made.add(text)
            continue
        parts = ((text[:cut], text[cut:]) for cut in range(1, len(text)))
        if any(all(len(part) == 1 or part in made for part in pair) for pair in parts):
            made.add(text)
            lacks = next((character for character in text if character not in texts), None)
            if lacks is not None:
                raise file.refused(
                    f"the token {text!r} has the character {lacks!r}, which is none; llama.cpp merges "
                    "it all the same"
                )
    return made


# --- bert ---------------------------------------------------------------------------------------


def _bert(file: _File) -> Spec:
    raise file.refused(
        "a BERT tokenizer: llama.cpp takes accents and case off with tables of its own, which give "
        "other ids than BERT's (가 loses its vowel); load the vocab.txt or tokenizer.json instead"
    )


# --- t5 -----------------------------------------------------------------------------------------


def _t5(file: _File) -> Spec:
    scores = _scores(file)
    user = _of_type(file, _USER)
    if user:
        raise file.refused(
            f"a T5 tokenizer with the user-defined token {user[0]!r}: llama.cpp does not normalize what "
            "begins as it does, and takes spaces off around it"
        )
    unknown = file.id("unknown_token_id", 2)
    if unknown is None:
        raise file.fault(_PREFIX + "unknown_token_id", "is not there; expected the id of a token")
    prefix = file.flag("add_space_prefix", True)
    merges = file.flag("remove_extra_whitespaces", False)
    if merges and not prefix:
        raise file.refused("remove_extra_whitespaces without add_space_prefix")
    if prefix and not merges:
        raise file.refused("add_space_prefix without remove_extra_whitespaces")
    normalizer: list[Normalizer] = []
    charsmap = file.get("precompiled_charsmap", "u8[]", "i8[]")
    if charsmap:
        normalizer.append(Charsmap(bytes(value & 0xFF for value in charsmap)))
    if merges:
        normalizer.append(CollapseSpaces())
    special = _specials(file)
    special[file.tokens[unknown]] = unknown
    out = {_CONTROL, _UNKNOWN, _BYTE}
    unused = tuple(
        id_
        for id_, kind in enumerate(file.types)
        if kind in out and file.tokens[id_] not in special
    )
    _check_unknown_score(file, scores)
    model = UnigramModel(
        pieces=tuple(file.tokens),
        scores=tuple(scores),
        unused=unused,
        unknown=file.tokens[unknown],
        fuse_unknown=True,
        precision="double",
        marker=Marker("prefix"),
    )
    stages: tuple[Pretokenizer, ...] = (
        Metaspace(prepend="first" if prefix else "never", split=False),
    )
    return Spec(
        model=model,
        normalizer=tuple(normalizer),
        pretokenizer=stages,
        special_tokens=special,
        added_tokens=_added(file),
        template=_template(file, None, 1, add_bos=False, add_eos=True),
    )


def _check_unknown_score(file: _File, scores: list[float]) -> None:
    """llama.cpp takes 10 from the lowest score in 32 bits; here it is 64 bits."""
    normal = [s for s, kind in zip(scores, file.types, strict=True) if kind == _NORMAL]
    others = [s for s, kind in zip(scores, file.types, strict=True) if kind == _UNUSED]
    if not normal or min(others, default=0.0) < min(normal):
        raise file.refused("a T5 tokenizer where no plain token has the lowest score")
    (rounded,) = struct.unpack("<f", struct.pack("<f", min(normal) - 10.0))
    if rounded != min(normal) - 10.0:
        raise file.refused(
            f"a T5 tokenizer whose lowest score ({min(normal)}) less 10 is rounded in 32 bits; this "
            "version adds scores in 64 bits, and near-ties beside unknown characters come out otherwise"
        )


_KINDS = {"gpt2": _gpt2, "llama": _llama, "bert": _bert, "t5": _t5}


def _read(path: PathLike) -> Loaded:
    return Loaded(read(path), None, (), FORMAT.name)


def _write(
    path: PathLike, spec: Spec, training: Log | None = None, probes: Iterable[Probe] = ()
) -> None:
    raise UnsupportedFeature(
        f"{os.fspath(path)}: GGUF files are read, not written: they hold a model, and llama.cpp's "
        "converter makes them; save the tokenizer in a format that it reads"
    )


def _matches(peek: Peek) -> bool:
    return peek.head.startswith(MAGIC)


FORMAT = Format(
    name="gguf",
    about="a GGUF file of llama.cpp, its tokenizer only",
    matches=_matches,
    read=_read,
    write=_write,
)
