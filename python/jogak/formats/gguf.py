"""The tokenizer in a GGUF file, read as llama.cpp reads it. Files are not written.

::

    tokenizer.ggml.model   gpt2          BPE by merges over bytes; tokenizer.ggml.pre names the words
                           llama         BPE by scores, bytes for unknown characters
                           bert          WordPiece, with ▁ before words rather than ## within
                           t5            Unigram
    token_type             NORMAL, UNUSED           pieces
                           CONTROL, UNKNOWN         special tokens
                           USER_DEFINED             found in every text

Text is text: as `llama_tokenize` without ``add_special`` and ``parse_special``. What it adds around a
text is the template. llama.cpp differs from the library that made a vocabulary: it has no normalizers
but T5's and one of its own for BERT, its letters are those of Unicode 15.1, it makes control tokens of
some texts, and it merges pieces whatever their type. Where that cannot be said the file is refused.

Source: https://github.com/ggml-org/llama.cpp, ``src/llama-vocab.cpp``, 2026
"""

from __future__ import annotations

import math
import os
import re
import struct
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from jogak.errors import UnsupportedFeature
from jogak.formats import bytelevel
from jogak.formats.checked import fault, shown
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike
from jogak.formats.gguf_file import MAGIC, read_entries
from jogak.formats.gguf_section import (
    BYTE,
    CONTROL,
    NORMAL,
    PREFIX,
    UNKNOWN,
    UNUSED,
    USER,
    Section,
    added,
    template,
    tokens,
)
from jogak.formats.gguf_words import ADD_BOS, NO_BOS, PRE, WHOLE_WORDS
from jogak.spec import (
    BPEModel,
    Charsmap,
    LlamaBert,
    Marker,
    Metaspace,
    Normalizer,
    Pretokenizer,
    Replace,
    ScoredBPEModel,
    Spec,
    Split,
    Template,
    TemplatePart,
    UnigramModel,
    WordPieceModel,
)

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = ["read"]

#: Texts that a charsmap keeps may have this many characters in all.
_MOST_KEPT = 1 << 20


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
    file = Section(name, entries)
    model = file.get("model", "text")
    if model is None or model in ("no_vocab", "none"):
        raise fault(
            name,
            PREFIX + "model",
            "the file has no tokenizer (tokenizer.ggml.model); expected one of "
            f"{', '.join(_KINDS)}: load the file of the model that has it",
        )
    if model not in _KINDS:
        raise file.refused(f"a tokenizer of kind {model!r}; this version reads {', '.join(_KINDS)}")
    tokens(file)
    return _KINDS[model](file)


# --- gpt2 ---------------------------------------------------------------------------------------

#: No word has this, where words are taken whole: a sign behind a letter, or two before one.
_SEVERAL_WORDS = re.compile(r"[A-Za-z][!-&(-@\[-`{-~]|[!-/:-@\[-`{-~]{2}[A-Za-z]| ")


def _gpt2(file: Section) -> Spec:
    pre = file.get("pre", "text") or "default"
    if pre not in PRE:
        raise file.refused(f"words of the kind {pre!r} ({PREFIX}pre); known are {', '.join(PRE)}")
    special, user = file.specials(), set(file.of_type(USER))
    ids = {text: id_ for id_, text in enumerate(file.tokens)}
    lines = file.get("merges", "text[]")
    if lines is None and pre == "kimi-k2":
        lines = []
    if lines is None:
        raise file.fault(PREFIX + "merges", "is not there; expected texts")
    plain = ids.keys() - special.keys() - user
    merges: dict[tuple[int, int], None] = {}
    for rank, line in enumerate(lines):
        cut = line.find(" ", 1)
        left, right = line[:cut], line[cut + 1 :]
        if cut < 0 or not right or not (left in plain and right in plain and left + right in plain):
            raise _merge_fault(file, rank, line, ids)
        merges[ids[left], ids[right]] = None
    missing = next((c for c in bytelevel.OF_TEXT if c not in ids or c in special), None)
    if missing is not None:
        raise file.refused(f"the byte {missing!r} is no token; llama.cpp would drop it from texts")
    # What no text becomes, such as [PAD151936], need not be bytes.
    foreign = bytelevel.first_foreign(text for text in file.tokens if text in plain)
    if foreign is not None:
        raise file.refused(
            f"the token {foreign!r} (id {ids[foreign]}) is not written in byte characters"
        )
    whole = pre in WHOLE_WORDS
    word = next((text for text in special if whole and not _SEVERAL_WORDS.search(text)), None)
    if word is not None:
        raise file.refused(f"the control token {word!r} may be a word, which llama.cpp makes it")
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
        added_tokens=added(file),
        template=template(
            file, None if pre in NO_BOS else 11, 11, add_bos=pre in ADD_BOS, add_eos=False
        ),
    )


def _merge_fault(file: Section, rank: int, line: str, ids: Mapping[str, int]) -> Exception:
    """What is wrong with a merge."""
    cut = line.find(" ", 1)
    left, right = line[:cut], line[cut + 1 :]
    place = f"{PREFIX}merges[{rank}]"
    if cut < 0 or not right:
        return file.fault(place, f"is {shown(line)}; expected two texts and a space")
    wrong = next((text for text in (left, right, left + right) if text not in ids), None)
    if wrong is not None:
        return file.refused(f"{place} is {shown(line)}, and {shown(wrong)} is no token")
    tokens = {*file.specials(), *file.of_type(USER)}
    wrong = next(text for text in (left, right, left + right) if text in tokens)
    return file.refused(f"{place} is {shown(line)}, and {shown(wrong)} is no plain token")


# --- llama --------------------------------------------------------------------------------------


def _llama(file: Section) -> Spec:
    scores = _scores(file)
    texts = set(file.tokens)
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    missing = next((text for text in bytes_ if text not in texts), None)
    if missing is not None:
        raise file.refused(
            f"the token {missing} is not there; llama.cpp ends at a character without one"
        )
    special = file.specials()
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
    in_model = [text for text in (*special, *file.of_type(USER)) if text in merged]
    prefix = file.flag("add_space_prefix", True)
    return Spec(
        model=model,
        pretokenizer=(Metaspace(prepend="always" if prefix else "never", split=False),),
        special_tokens=special,
        added_tokens=added(file, in_model),
        template=template(file, 1, 2, add_bos=True, add_eos=False),
    )


def _scores(file: Section) -> list[float]:
    scores = file.array("scores", "f32[]", "i32[]") or [0.0] * len(file.tokens)
    for id_, score in enumerate(scores):
        if not math.isfinite(score):
            raise file.fault(f"{PREFIX}scores[{id_}]", f"is {score}; expected a finite number")
    return [float(score) for score in scores]


def _merged(file: Section, texts: set[str]) -> set[str]:
    """The tokens that merging can make of text: of two parts that are characters or such tokens."""
    made: set[str] = set()
    # These are found before anything is merged; but spaces become ▁ behind that.
    found = {text for text in file.of_type(USER) if "▁" not in text}
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


def _bert(file: Section) -> Spec:
    roles = {
        key: file.id(f"{key}_token_id", default)
        for key, default in (("unknown", 100), ("bos", 101), ("seperator", 102))
    }
    for key, id_ in roles.items():
        if id_ is None:
            raise file.fault(f"{PREFIX}{key}_token_id", "is not there; expected the id of a token")
    unknown, first, last = (int(id_ or 0) for id_ in roles.values())
    special = file.specials()
    lowercase = file.flag("normalizer.lowercase", True)
    normalizer = LlamaBert(
        lowercase=lowercase, strip_accents=file.flag("normalizer.strip_accents", lowercase)
    )
    # Pieces of any type are found in text.
    model = WordPieceModel(
        pieces=tuple(file.tokens),
        marker=Marker("prefix"),
        unknown=file.tokens[unknown],
        max_chars_per_word=2**32 - 1,
        hf_rules=True,
    )
    begin, text, end = TemplatePart((first,)), TemplatePart("A"), TemplatePart((last,))
    pair = (TemplatePart("B", 1), TemplatePart((last,), 1))
    return Spec(
        model=model,
        normalizer=(normalizer,),
        pretokenizer=(Split(" ", matches="removed", regex=False),),
        special_tokens=special,
        added_tokens=added(file, [*special, *file.of_type(USER)]),
        template=Template(single=(begin, text, end), pair=(begin, text, end, *pair)),
    )


# --- t5 -----------------------------------------------------------------------------------------


def _t5(file: Section) -> Spec:
    unknown = file.id("unknown_token_id", 2)
    if unknown is None:
        raise file.fault(PREFIX + "unknown_token_id", "is not there; expected the id of a token")
    if file.types[unknown] in (NORMAL, UNUSED, USER):
        raise file.refused(f"the unknown token {file.tokens[unknown]!r} is found in text, too")
    user = file.of_type(USER)
    scores = _scores(file)
    unknown_score = _unknown_score(file, scores)
    for id_, kind in enumerate(file.types):
        if kind == USER:
            scores[id_] = 0.0
    merges = file.flag("remove_extra_whitespaces", False)
    # Where spaces are merged one is put before every word.
    prefix = file.flag("add_space_prefix", False) or merges
    if prefix and not merges:
        raise file.refused("add_space_prefix without remove_extra_whitespaces")
    normalizer: list[Normalizer] = []
    charsmap = file.get("precompiled_charsmap", "u8[]", "i8[]")
    kept = _kept(file, user)
    if charsmap:
        normalizer.append(Charsmap(bytes(value & 0xFF for value in charsmap), keep=kept))
    if merges:
        normalizer.append(Replace(r"\A +| +\z", "", regex=True))
        normalizer.append(Replace("  +", " ", regex=True))
    special = file.specials()
    special[file.tokens[unknown]] = unknown
    out = {CONTROL, UNKNOWN, BYTE}
    unused = tuple(
        id_
        for id_, kind in enumerate(file.types)
        if kind in out and file.tokens[id_] not in special
    )
    model = UnigramModel(
        pieces=tuple(file.tokens),
        scores=tuple(scores),
        unused=unused,
        unknown=file.tokens[unknown],
        fuse_unknown=True,
        unknown_score=unknown_score,
        precision="double",
        marker=Marker("prefix"),
    )
    stages: tuple[Pretokenizer, ...] = (
        Metaspace(prepend="always" if prefix else "never", split=False),
    )
    return Spec(
        model=model,
        normalizer=tuple(normalizer),
        pretokenizer=stages,
        special_tokens=special,
        added_tokens=added(file, user),
        template=template(file, None, 1, add_bos=False, add_eos=True),
    )


def _unknown_score(file: Section, scores: list[float]) -> float:
    """10 less than the lowest score of a plain token, in 32 bits."""
    normal = [s for s, kind in zip(scores, file.types, strict=True) if kind == NORMAL]
    if not normal or min(normal) < -1e30:
        raise file.refused("a T5 tokenizer without a plain token, or with scores below all measure")
    (rounded,) = struct.unpack("<f", struct.pack("<f", min(normal) - 10.0))
    return float(rounded)


def _kept(file: Section, user: list[str]) -> tuple[str, ...]:
    """What the charsmap leaves alone: all that a user-defined token begins with, be it followed by the
    rest of the token or not.
    """
    foreign = next((text for text in user if not text.isascii()), None)
    if foreign is not None:
        raise file.refused(
            f"a T5 tokenizer with the user-defined token {foreign!r}: llama.cpp cuts characters in two "
            "that share a byte with it"
        )
    if sum(len(text) ** 2 for text in user) > _MOST_KEPT:
        raise file.refused("a T5 tokenizer whose user-defined tokens are too long")
    return tuple(dict.fromkeys(text[:end] for text in user for end in range(1, len(text) + 1)))


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
