"""What all verbs share: how they end, and how they read and write.

Rule: no verb prints a traceback for anything that a user can cause.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, ParamSpec, cast

import typer

from jogak.errors import ConfigError, CorpusError, JogakError

if TYPE_CHECKING:
    from io import BufferedReader

    from jogak.counts import Report
    from jogak.explain.data import Trace

__all__ = [
    "blocks",
    "guarded",
    "print_json",
    "print_trace",
    "root",
    "say",
    "say_left_out",
    "text_of",
    "watched",
    "write",
    "write_lines",
]

_P = ParamSpec("_P")

FAILED, MISUSED, STOPPED = 1, 2, 130

_BLOCK_BYTES = 1 << 20
_BLOCK_LINES = 1 << 14


def root(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Train subword tokenizers, encode and decode with them, and see every step."""
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"jogak {version_of('jogak')}")


def guarded(verb: Callable[_P, None]) -> Callable[_P, None]:
    """A verb -> the same verb, with its exceptions turned into messages and exit codes.

    An option that cannot be is wrong usage. A reader that closes the pipe (``| head``) has had
    enough, which is no error.
    """

    @functools.wraps(verb)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            verb(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_stdout()
        except KeyboardInterrupt:
            say("stopped")
            raise typer.Exit(STOPPED) from None
        except ConfigError as error:
            say(f"error: {error}")
            raise typer.Exit(MISUSED) from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            say(f"error: {place}{error.strerror or error}")
            raise typer.Exit(FAILED) from None
        except JogakError as error:
            say(f"error: {error}")
            raise typer.Exit(FAILED) from None

    return run


def _forget_stdout() -> None:
    """Point stdout to nowhere, or Python would complain once more when it flushes at the end."""
    with suppress(OSError):  # a stdout without a file behind it, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(message: str) -> None:
    """A line for the person at the terminal, on stderr."""
    typer.echo(f"jogak: {message}", err=True)


def say_left_out(report: Report | None) -> None:
    """What counting did not use, if there was anything: nothing is left out in silence."""
    if report is None:
        return
    left_out = {
        f"documents that could not be read ({report.skipped_bytes:,} bytes)": report.skipped_documents,
        "broken places, which became U+FFFD": report.replaced,
        "words that are too short": report.short_words,
        "files in folders, for their names": report.ignored_files,
    }
    for what, number in left_out.items():
        if number:
            say(f"left out: {number:,} {what}")


def watched(quiet: bool) -> bool:
    """Whether to draw progress: where somebody is there to see it."""
    return not quiet and sys.stderr.isatty()


def print_json(value: Any) -> None:
    """A value as one JSON document on stdout."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_trace(trace: Trace) -> None:
    """A trace on stdout: in colour in a terminal, as plain text anywhere else."""
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(trace)
    else:
        typer.echo(str(trace))


class Block(NamedTuple):
    """Some lines of a file."""

    #: The file's name.
    name: str
    #: The number of the first line, from 1.
    number: int
    #: Their bytes, without newlines.
    lines: list[bytes]

    def texts(self) -> list[str]:
        """The same as texts.

        Raises:
            CorpusError: the bytes of a line are not UTF-8.
        """
        try:
            return b"\n".join(self.lines).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            numbered = enumerate(self.lines, start=self.number)
            return [text_of(self.name, number, line) for number, line in numbered]


def blocks(paths: Iterable[str]) -> Iterator[Block]:
    """The lines of the files, in order. ``"-"``, or no path at all, is stdin.

    So many at a time that the cores are busy, and so few that they need no memory; of a pipe or a
    terminal what has come, so that who waits for an answer gets it.
    """
    for path in list(paths) or ["-"]:
        if path == "-":
            yield from _blocks("<stdin>", cast("BufferedReader", sys.stdin.buffer))
        else:
            with open(path, "rb") as file:
                yield from _blocks(path, file)


def _blocks(name: str, file: BufferedReader) -> Iterator[Block]:
    number = 1
    begun: list[bytes] = []  # parts of a line that has no end yet
    while read := file.read1(_BLOCK_BYTES):
        end = read.rfind(b"\n")
        if end < 0:
            begun.append(read)
            continue
        lines = b"".join([*begun, read[:end]]).split(b"\n")
        begun = [read[end + 1 :]]
        for at in range(0, len(lines), _BLOCK_LINES):
            some = lines[at : at + _BLOCK_LINES]
            yield Block(name, number, some)
            number += len(some)
    if last := b"".join(begun):
        yield Block(name, number, [last])


def text_of(name: str, number: int, line: bytes) -> str:
    """The text of a line.

    Raises:
        CorpusError: the bytes are not UTF-8.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{name}, line {number}: byte {error.start} of the line is 0x{line[error.start]:02x}, "
            "which is not UTF-8; repair the file, or convert it (iconv -f ... -t utf-8)",
            file=name,
            line=number,
            byte=error.start,
        ) from None


def write_lines(lines: Iterable[bytes]) -> None:
    """Lines on stdout, as bytes; the newline is added."""
    write(b"\n".join([*lines, b""]))


def write(data: bytes) -> None:
    """Bytes on stdout."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()  # somebody may wait for it
