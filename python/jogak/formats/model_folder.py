"""A model's folder, as Hugging Face's transformers keeps it: the tokenizer among other files.

The tokenizer is the first of these that is there:

    tokenizer.json                                 says everything
    vocab.json + merges.txt (encoder.json + vocab.bpe)
    vocab.txt                                      with what tokenizer_config.json says of letter case
    tokenizer.model, spiece.model, sentencepiece.bpe.model

What stands beside it and says nothing about ids is kept as it is, in `Loaded.extras`:

    files                   the names of the files that were read
    tokenizer_config        the object of tokenizer_config.json (model_max_length, chat_template, ...)
    special_tokens_map      the object of special_tokens_map.json
    chat_template           the text of chat_template.jinja

Files that would change ids beside a tokenizer that does not know them are refused by name: tokens of
``added_tokens.json`` that the tokenizer lacks.

Writing makes tokenizer.json, tokenizer_config.json and special_tokens_map.json, of which
``transformers.AutoTokenizer.from_pretrained`` makes a tokenizer with the same ids.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from jogak.errors import ConfigError, UnsupportedFeature
from jogak.formats import hf_json, sentencepiece, vocab_merges, vocab_txt
from jogak.formats.checked import Node, fault, parse
from jogak.formats.family import Format, Loaded, Peek, Probe
from jogak.formats.files import PathLike, read_bytes, write_atomically
from jogak.spec import Spec

if TYPE_CHECKING:
    from jogak.training import Log

__all__ = ["ROLES", "read", "roles", "write"]

#: What special tokens are for, and the texts that usually have that part.
ROLES: Mapping[str, tuple[str, ...]] = {
    "bos_token": ("<s>", "<bos>", "[BOS]", "<|begin_of_text|>", "<|startoftext|>"),
    "eos_token": ("</s>", "<eos>", "[EOS]", "<|end_of_text|>", "<|endoftext|>"),
    "unk_token": (),
    "sep_token": ("[SEP]", "<sep>"),
    "pad_token": ("<pad>", "[PAD]", "<|pad|>", "<|padding|>"),
    "cls_token": ("[CLS]", "<cls>"),
    "mask_token": ("[MASK]", "<mask>"),
}

_SENTENCEPIECE = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model")
_CONFIG, _MAP, _TEMPLATE = "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja"


# --- reading ------------------------------------------------------------------------------------


def read(path: PathLike, **options: Any) -> Loaded:
    """The tokenizer of a folder, and what stands beside it.

    Args:
        path: the folder.
        options: what the tokenizer's own file does not say; those of its format.

    Raises:
        FormatError: a file that is not what its name says, or no tokenizer at all.
        UnsupportedFeature: something in it that cannot be said here.
        ConfigError: an option that the tokenizer's format does not know, or one that it needs.
        OSError: a file cannot be read.
    """
    folder = os.fspath(path)
    config = _object(folder, _CONFIG)
    family, names = _tokenizer_of(folder)
    if family is vocab_txt.FORMAT:
        options = {**_bert_options(config), **options}
    for option in options:
        if option not in family.options:
            takes = ", ".join(family.options) or "none, since the file says everything"
            raise ConfigError(f"{names[0]} in {folder} has no option {option!r}; it takes: {takes}")
    target = folder if family.two_files else os.path.join(folder, names[0])
    loaded = family.read(target, **options)
    _check_added(folder, loaded.spec)
    extras: dict[str, Any] = {
        "tokenizer_config": config,
        "special_tokens_map": _object(folder, _MAP),
    }
    template = os.path.join(folder, _TEMPLATE)
    if os.path.isfile(template):
        extras["chat_template"] = _text(template)
    names = [*names, *(name for name in (_CONFIG, _MAP, _TEMPLATE) if _is_there(folder, name))]
    extras = {"files": names, **{name: value for name, value in extras.items() if value}}
    return dataclasses.replace(loaded, extras=extras)


def _tokenizer_of(folder: str) -> tuple[Format, list[str]]:
    if _is_there(folder, "tokenizer.json"):
        return hf_json.FORMAT, ["tokenizer.json"]
    for both in vocab_merges.NAMES:
        if all(_is_there(folder, name) for name in both):
            return vocab_merges.FORMAT, [*both]
    for family, names in (
        (vocab_txt.FORMAT, ("vocab.txt",)),
        (sentencepiece.FORMAT, _SENTENCEPIECE),
    ):
        for name in names:
            if _is_there(folder, name):
                return family, [name]
    raise fault(
        folder,
        "",
        "the folder has no tokenizer; expected tokenizer.json, vocab.json and merges.txt, vocab.txt, or "
        "a SentencePiece model",
    )


def _bert_options(config: Mapping[str, Any]) -> dict[str, Any]:
    """What tokenizer_config.json says of a vocab.txt."""
    lowercase = config.get("do_lower_case")
    return {"lowercase": lowercase} if isinstance(lowercase, bool) else {}


def _check_added(folder: str, spec: Spec) -> None:
    known = {text: id_ for id_, text in enumerate(spec.model.pieces) if text is not None}
    for text, id_ in _object(folder, "added_tokens.json").items():
        if known.get(text) != id_:
            raise UnsupportedFeature(
                f"{os.path.join(folder, 'added_tokens.json')}: the token {text!r} with the id {id_} is "
                "not known to the tokenizer beside it; give special_tokens=, or make a tokenizer.json "
                "of the folder with the library that it is of"
            )


def _is_there(folder: str, name: str) -> bool:
    return os.path.isfile(os.path.join(folder, name))


def _object(folder: str, name: str) -> dict[str, Any]:
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return {}
    value = parse(read_bytes(path), path)
    if not isinstance(value, dict):
        raise Node(value, "", path).expected("an object")
    return value


def _text(path: str) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Node(None, f"byte {error.start}", path).fault(
            "is not UTF-8; expected a template in UTF-8"
        ) from None


# --- roles --------------------------------------------------------------------------------------


def roles(spec: Spec, extras: Mapping[str, Any]) -> dict[str, str]:
    """Which special token is for what: as the files say, else by the texts that are usual.

    Only special tokens have a part. (To name any other piece would make it special.) A tokenizer that
    reads special tokens as text, as those trained here do, has its unknown piece among them too.

    >>> from jogak.spec import UnigramModel, resolve_pretokenizer
    >>> model = UnigramModel(pieces=("<pad>", "a"), scores=(0.0, -1.0))
    >>> words = resolve_pretokenizer("none")
    >>> roles(Spec(model=model, pretokenizer=words, special_tokens={"<pad>": 0}), {})
    {'pad_token': '<pad>'}
    """
    special = set(spec.special_tokens)
    unknown = spec.model.unknown
    if unknown is not None and spec.special_policy == "text":
        special.add(unknown)
    files = {**extras.get("tokenizer_config", {}), **extras.get("special_tokens_map", {})}
    named = any(role in files for role in ROLES)
    found = {}
    for role, usual in ROLES.items():
        told = files.get(role)
        text = told.get("content") if isinstance(told, dict) else told
        if not named:
            usual = (unknown,) if role == "unk_token" and unknown is not None else usual
            text = next((one for one in usual if one in special), None)
        if isinstance(text, str) and text in special:
            found[role] = text
    if "pad_token" not in found and spec.padding is not None and spec.padding.token in special:
        found["pad_token"] = spec.padding.token
    return found


# --- writing ------------------------------------------------------------------------------------

#: Fields of a tokenizer_config.json that are about how the tokenizer came there, or that could
#: make transformers build another one.
_NOT_CARRIED = frozenset(
    [
        *(*ROLES, "tokenizer_class", "auto_map", "name_or_path", "added_tokens_decoder"),
        *("vocab_file", "tokenizer_file", "merges_file", "additional_special_tokens", "backend"),
        *("extra_special_tokens", "add_bos_token", "add_eos_token", "special_tokens_map_file"),
        *("legacy", "use_default_system_prompt", "sp_model_kwargs", "from_slow", "is_local"),
        "processor_class",
    ]
)


def write(
    path: PathLike,
    spec: Spec,
    training: Log | None = None,
    probes: Iterable[Probe] = (),
    extras: Mapping[str, Any] | None = None,
) -> None:
    """Write the files of a folder, which is made where it is not there.

    Args:
        path: the folder.
        spec: the tokenizer.
        training, probes: have no place there.
        extras: what stood beside the tokenizer, as `read` gives it.

    Raises:
        UnsupportedFeature: a tokenizer.json cannot say what this tokenizer is.
        OSError: a file cannot be written.
    """
    folder = os.fspath(path)
    extras = {} if extras is None else extras
    tokenizer = hf_json.dumps(spec, os.path.join(folder, "tokenizer.json"))
    parts = roles(spec, extras)
    config = {
        name: value
        for name, value in extras.get("tokenizer_config", {}).items()
        if name not in _NOT_CARRIED
    }
    config = {
        "clean_up_tokenization_spaces": False,
        "model_max_length": 1_000_000_000_000_000_019_884_624_838_656,
        **config,
        **parts,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    os.makedirs(folder, exist_ok=True)
    files = {"tokenizer.json": tokenizer, _CONFIG: _json(config), _MAP: _json(parts)}
    if "chat_template" in extras:
        files[_TEMPLATE] = extras["chat_template"].encode("utf-8")
    for name, data in files.items():
        write_atomically(os.path.join(folder, name), data)


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode("utf-8")


# --- the family ---------------------------------------------------------------------------------


def _matches(peek: Peek) -> bool:
    if not peek.is_folder:
        return False
    names = ("tokenizer.json", "vocab.txt", *_SENTENCEPIECE)
    both = any(peek.has(*names) for names in vocab_merges.NAMES)
    return both or any(peek.has(name) for name in names)


FORMAT = Format(
    name="model-folder",
    about="a folder of a model, with its tokenizer among the files",
    matches=_matches,
    read=read,
    write=write,
    two_files=True,
    options=tuple(dict.fromkeys((*vocab_merges.FORMAT.options, *vocab_txt.FORMAT.options))),
)
