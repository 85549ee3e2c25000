"""Every exception of jogak, as one tree.

::

    JogakError
    ├── ConfigError          (ValueError)   an option, or a combination of options, that cannot be
    ├── CorpusError          (ValueError)   a corpus that cannot be read as asked: file, line, byte
    ├── TrainingError                       training could not go on
    │   └── TrainingInterrupted (KeyboardInterrupt)   stopped by Ctrl-C; holds what was learned so far
    ├── EncodeError          (ValueError)   a text that has no ids here
    │   └── SpecialTokenError               a special token where none may be
    ├── DecodeError          (ValueError)   ids that stand for no piece
    ├── FormatError          (ValueError)   a file that is not what it should be: file, place
    ├── ParityError                         a converted file that gives other ids: the difference
    └── UnsupportedFeature                  something that a format, or this version, cannot say

Rule: a message says what was found, what was expected, and what to do. Errors that tell of a place
carry it as attributes too, so that programs need not parse the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jogak.conversion import Certificate
    from jogak.tokenizer import Tokenizer

__all__ = [
    "ConfigError",
    "CorpusError",
    "DecodeError",
    "EncodeError",
    "FormatError",
    "JogakError",
    "ParityError",
    "SpecialTokenError",
    "TrainingError",
    "TrainingInterrupted",
    "UnsupportedFeature",
]


class JogakError(Exception):
    """The root: ``except jogak.JogakError`` catches all that jogak raises on purpose."""


class ConfigError(JogakError, ValueError):
    """An option has an impossible value, or options contradict each other.

    Raised when the configuration is made, not when it is used.
    """


class CorpusError(JogakError, ValueError):
    """A corpus cannot be read as asked.

    Attributes:
        file: the file's name, or None for text that came from memory.
        line: the line, counted from 1, or None where there are no lines.
        byte: the byte offset in the (decompressed) file, or None.
    """

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        byte: int | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.byte = byte


class TrainingError(JogakError):
    """Training could not go on."""


class TrainingInterrupted(TrainingError, KeyboardInterrupt):
    """Training was stopped by Ctrl-C.

    Attributes:
        tokenizer: the tokenizer of the merges made so far; complete and ready to use.
    """

    def __init__(self, message: str, tokenizer: Tokenizer) -> None:
        super().__init__(message)
        self.tokenizer = tokenizer

    def __reduce__(self) -> tuple[type[TrainingInterrupted], tuple[str, Tokenizer]]:
        """Pickled with its tokenizer, so that it can come out of a process of a pool."""
        return type(self), (str(self), self.tokenizer)


class EncodeError(JogakError, ValueError):
    """A text has no ids in this tokenizer."""


class SpecialTokenError(EncodeError):
    """A text has a special token although the caller said that it must not.

    Attributes:
        token: the text of the special token, or None.
        at: how many characters stand before it in the text, or None.
    """

    def __init__(self, message: str, token: str | None = None, at: int | None = None) -> None:
        super().__init__(message)
        self.token = token
        self.at = at


class DecodeError(JogakError, ValueError):
    """Some ids stand for no piece."""


class FormatError(JogakError, ValueError):
    """A file is not what it should be.

    Attributes:
        file: the file's name, or None.
        place: where in the file: a line, a byte offset, or a path such as ``spec.model.merges[3]``.
    """

    def __init__(self, message: str, file: str | None = None, place: str | None = None) -> None:
        super().__init__(message)
        self.file = file
        self.place = place


class ParityError(JogakError):
    """A converted file gives other ids than its source.

    Attributes:
        certificate: what was compared, with the first difference.
    """

    def __init__(self, message: str, certificate: Certificate) -> None:
        super().__init__(message)
        self.certificate = certificate

    def __reduce__(self) -> tuple[type[ParityError], tuple[str, Certificate]]:
        """Pickled with its certificate."""
        return type(self), (str(self), self.certificate)


class UnsupportedFeature(JogakError):
    """A format, or this version of jogak, has no way to say something. It is named, never dropped."""
