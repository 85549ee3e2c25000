"""From one tokenizer file to another, with proof: `convert` writes, compares, and says what it compared.

    probes.py        the texts that both sides are asked about
    libraries.py     the file's own library, where it is installed
    certificate.py   what was compared, as data; the first difference, if there is one
    compare.py       two answers to the same texts

Rule: a file that gives other ids than its source never takes the name that was asked for.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from jogak.conversion.certificate import Certificate, Difference, Side, digest
from jogak.conversion.compare import Answerer, compared
from jogak.conversion.libraries import own_library
from jogak.conversion.probes import built_in, from_files
from jogak.errors import ConfigError, ParityError
from jogak.formats import FORMATS, detect
from jogak.loading import load
from jogak.tokenizer import Tokenizer

__all__ = ["Certificate", "Difference", "Side", "convert"]

PathLike = str | os.PathLike[str]


def convert(
    source: PathLike,
    target: PathLike,
    format: str | None = None,
    *,
    probe: Iterable[PathLike] | None = None,
    certificate: PathLike | None = None,
    source_format: str | None = None,
    **options: Any,
) -> Certificate:
    """Write a tokenizer file in another format, and prove that it gives the same ids.

    Both files are read and asked for the ids of a probe corpus, special tokens as text and parsed, and
    for the texts of these ids. Where the library that a file belongs to is installed (tokenizers,
    tiktoken, sentencepiece, mistral-common), it is asked too.

    Args:
        source: any tokenizer file or folder that `jogak.load` opens.
        target: where to write. It is written only if everything is equal.
        format: what to write, by name; None tells it by the name of ``target``: ``tokenizer.json``,
            ``.model``, ``.tiktoken``, ``vocab.txt``, ``.jogak.json``.
        probe: text files whose lines are the probe corpus, instead of the one that is built in (texts
            of many writings, texts that are hard, the texts of all pieces, random mixtures of them).
        certificate: where to write the certificate, as JSON; None for not at all.
        source_format, options: as `jogak.load` takes them.

    Returns:
        The certificate.

    Raises:
        ParityError: the first difference: the text, both answers, and the stage where they part. The
            certificate is written and hangs on the error; the target is not written.
        UnsupportedFeature: the format cannot say what the tokenizer is.
        ConfigError: the format is not told by the target's name, or is none.
        FormatError, OSError: as `jogak.load` and `Tokenizer.save`.

    >>> import jogak, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> jogak.train({"hug": 10, "pug": 5}, jogak.BPE(vocab_size=260)).save(folder / "a.jogak.json")
    >>> made = jogak.convert(folder / "a.jogak.json", folder / "vocab", format="vocab-merges",
    ...                      pretokenizer="o200k")
    Traceback (most recent call last):
    jogak.errors.ConfigError: format 'jogak' has no option 'pretokenizer'; it takes: none...
    """
    format = format or _format_of(target)
    if format not in FORMATS:
        raise ConfigError(f"format is {format!r}; expected one of {', '.join(FORMATS)}")
    source_format = source_format or detect(source)
    tokenizer = load(source, format=source_format, **options)
    texts = list(built_in(tokenizer) if probe is None else from_files(probe))
    parent = os.path.dirname(os.path.abspath(target))
    # Beside the target, so that taking its name is one step.
    workshop = tempfile.mkdtemp(prefix=".jogak-convert-", dir=parent)
    try:
        draft = os.path.join(workshop, os.path.basename(os.path.abspath(target)))
        if FORMATS[format].two_files:
            os.mkdir(draft)
        tokenizer.save(draft, format=format)
        written = load(draft, format=format, **_options_to_read(format, tokenizer))
        made = _certificate(
            (os.fspath(source), os.fspath(source), source_format, tokenizer),
            (os.fspath(target), draft, format, written),
            texts,
        )
        if certificate is not None:
            made.save(certificate)
        if made.difference is not None:
            raise ParityError(
                f"{os.fspath(target)} was not written: {made.difference}\nThe exception's .certificate "
                "says what was compared; format='jogak' keeps every tokenizer as it is",
                made,
            )
        # Some formats write files beside, by the same name with more behind it.
        for name in os.listdir(workshop):
            _take_name(os.path.join(workshop, name), os.path.join(parent, name))
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return made


def _certificate(
    source: tuple[str, str, str, Tokenizer],
    target: tuple[str, str, str, Tokenizer],
    texts: list[str],
) -> Certificate:
    """What comparing gives. Each side: its name, where it stands now, its format, the tokenizer."""
    sides = []
    answerers: list[Answerer] = []
    for role, (name, path, format, tokenizer) in (("source", source), ("target", target)):
        spec = tokenizer.spec
        policy = spec.special_policy if spec.special_tokens else None
        sides.append(Side(name, format, digest(path), policy))
        answerers.append(Answerer.of_jogak(f"{role} in jogak", tokenizer))
        if library := own_library(path, format, tokenizer):
            answerers.append(Answerer(f"{role} in {library.name}", library.encode, library.decode))
    first, *others = answerers
    comparisons, difference = compared(first, others, texts)
    return Certificate(
        source=sides[0],
        target=sides[1],
        texts=len(texts),
        bytes=sum(len(text.encode("utf-8")) for text in texts),
        sha256=digest(texts),
        comparisons=tuple(comparisons),
        difference=difference,
    )


def _format_of(target: PathLike) -> str:
    name = os.path.basename(os.fspath(target))
    for ending, format in _ENDINGS.items():
        if name.endswith(ending) and format in FORMATS:
            return format
    raise ConfigError(
        f"the name {name!r} does not tell the format to write; name it with format=..., one of "
        f"{', '.join(FORMATS)}"
    )


_ENDINGS: Mapping[str, str] = {
    "tokenizer.json": "tokenizer-json",
    "tekken.json": "tekken",
    ".jogak.json": "jogak",
    ".model": "sentencepiece",
    ".tiktoken": "tiktoken",
    "vocab.txt": "vocab-txt",
}


def _options_to_read(format: str, tokenizer: Tokenizer) -> dict[str, Any]:
    """What a file of this format does not say, and its reader has to be told."""
    spec, model = tokenizer.spec, tokenizer.spec.model
    known = {
        "pretokenizer": spec.pretokenizer,
        "normalizer": spec.normalizer,
        "special_tokens": dict(spec.special_tokens),
        "decoder": spec.decoder,
        "template": spec.template,
        **{field.name: getattr(model, field.name) for field in dataclasses.fields(model)},
    }
    options = FORMATS[format].options
    # What a file has and its reader only limits is not said again.
    known = {name: value for name, value in known.items() if name not in ("merges", "glossaries")}
    return {name: value for name, value in known.items() if name in options}


def _take_name(draft: str, target: str) -> None:
    if not os.path.isdir(draft):
        os.replace(draft, target)
        return
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(draft):
        os.replace(os.path.join(draft, name), os.path.join(target, name))
