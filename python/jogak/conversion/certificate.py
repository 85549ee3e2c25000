"""What was compared, as data: a parity certificate."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from jogak.formats.files import write_atomically

__all__ = ["Certificate", "Comparison", "Difference", "Side", "digest"]


@dataclass(frozen=True)
class Side:
    """One of the two files.

    Args:
        path: its name.
        format: its format.
        sha256: of its bytes; of a folder, of all its files.
        special_policy: what it does with the texts of special tokens unless told otherwise; None if it
            has none.
    """

    path: str
    format: str
    sha256: str
    special_policy: str | None


@dataclass(frozen=True)
class Comparison:
    """Two answers to all texts.

    Args:
        what: ``"ids"`` or ``"decoded"``.
        special: how special tokens in the texts were taken: ``"text"`` or ``"parse"``.
        left: who gave the one answer.
        right: who gave the other.
        texts: how many texts were compared; of those that the right cannot be asked, none.
        ids: how many ids they have.
        sha256: of all of the left's answers.
    """

    what: str
    special: str
    left: str
    right: str
    texts: int
    ids: int
    sha256: str


@dataclass(frozen=True)
class Difference:
    """The first text that has two answers, cut down to what is needed to see it.

    Args:
        text: the text.
        special: how special tokens were taken.
        left: who gave the one answer.
        right: who gave the other.
        left_answer: ids, a text, or the message of an error.
        right_answer: the same.
        stage: where they part: ``"special tokens"``, ``"normalizer"``, ``"pretokenizer"``, ``"model"``
            or ``"decoder"``; ``"ids"`` where only ids are known.
        left_stage: what the left has at that stage.
        right_stage: what the right has.
    """

    text: str
    special: str
    left: str
    right: str
    left_answer: Any
    right_answer: Any
    stage: str
    left_stage: Any = None
    right_stage: Any = None

    def __str__(self) -> str:
        lines = [
            f"{self.text!r} differs at the stage {self.stage!r} (special tokens: {self.special})",
            f"  {self.left}: {self.left_answer!r}",
            f"  {self.right}: {self.right_answer!r}",
        ]
        if self.left_stage is not None or self.right_stage is not None:
            lines += [
                f"  {self.stage}, {self.left}: {self.left_stage!r}",
                f"  {self.stage}, {self.right}: {self.right_stage!r}",
            ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Certificate:
    """What was compared, and with what result.

    Args:
        source: the file that was converted.
        target: the file that was made.
        texts: how many texts both were asked about.
        bytes: how long they are, in UTF-8.
        sha256: of the texts, each with a zero byte behind it.
        comparisons: who was compared with whom; where there is a difference, the last ones differ.
        difference: the first difference, or None.
    """

    source: Side
    target: Side
    texts: int
    bytes: int
    sha256: str
    comparisons: tuple[Comparison, ...]
    difference: Difference | None

    @property
    def equal(self) -> bool:
        """Whether no difference was found."""
        return self.difference is None

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain data, as it is saved."""
        return {
            "format": "jogak-parity",
            "version": 1,
            "jogak": version("jogak"),
            "equal": self.equal,
            **dataclasses.asdict(self),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, wholly or not at all."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=2)
        # Texts of probes may hold what UTF-8 cannot; escapes can.
        write_atomically(path, (text + "\n").encode("utf-8", "backslashreplace"))

    def __str__(self) -> str:
        lines = [
            f"{self.source.path} ({self.source.format}) -> {self.target.path} ({self.target.format})",
            f"probe: {self.texts:,} texts, {self.bytes:,} bytes, sha256 {self.sha256[:16]}",
        ]
        for one in self.comparisons:
            same = self.difference is None or one is not self.comparisons[-1]
            sign = "=" if same else "≠"
            lines.append(
                f"{one.what:7} {one.left} {sign} {one.right}  (special tokens: {one.special}; "
                f"{one.texts:,} texts, {one.ids:,} ids)"
            )
        before, behind = self.source.special_policy, self.target.special_policy
        if before != behind and before is not None and behind is not None:
            lines.append(
                "note: unless a call says otherwise, special tokens in texts are "
                f"{_POLICY[before]} by the source and {_POLICY[behind]} by the target"
            )
        if self.difference is not None:
            lines.append(str(self.difference))
        return "\n".join(lines)


_POLICY = {"text": "read as text", "parse": "parsed", "error": "refused"}


def digest(what: str | Iterable[str]) -> str:
    """The sha256 of a file, of all files of a folder (names and bytes), or of texts."""
    state = hashlib.sha256()
    if isinstance(what, str):
        paths = [what]
        if os.path.isdir(what):
            paths = [os.path.join(what, name) for name in sorted(os.listdir(what))]
        for path in filter(os.path.isfile, paths):
            if path != what:
                state.update(os.path.basename(path).encode("utf-8", "surrogateescape") + b"\0")
            with open(path, "rb") as file:
                while part := file.read(1 << 20):
                    state.update(part)
    else:
        for text in what:
            state.update(text.encode("utf-8") + b"\0")
    return state.hexdigest()
