"""Every model file against its own library: the same ids and texts, or a difference is shown.

    python bench/parity.py                      all files, all corpora, 5 MB of each
    python bench/parity.py --mb 0.5 whisper     files whose path has "whisper" in it
    python bench/parity.py --hostile 20000      texts made to confuse, instead of corpora

For every file: each corpus line by line in a batch, one line after the other, and as one text; some of
it with the template, and decoded. Then the file is written again: it must be read as the same Spec, and
its own library must give the same ids with it. Exit status 1 if anything differs.

The data: ``JOGAK_DATA``, or ``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jogak
import parity_peers as peers

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("JOGAK_DATA") or ROOT.parent / "shared" / "data")
#: How much of a corpus goes through what takes long: templates, decoding, the written file.
SOME = 60_000


@dataclass
class Row:
    """What one file came to."""

    path: str
    library: str = ""
    texts: int = 0
    bytes: int = 0
    ids: int = 0
    decoded: int = 0
    framed: int = 0
    written: str = "-"
    differences: list[str] = field(default_factory=list)


def corpora(limit: int) -> Iterator[tuple[str, str]]:
    """Name and text, cut at a line's end."""
    for path in sorted((DATA / "corpora").rglob("*.txt")):
        with path.open("rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            data = data[: data.rfind(b"\n") + 1]
        yield path.stem, data.decode()


def hostile(count: int, specials: Sequence[str], seed: int) -> list[str]:
    """Texts that front halves stumble over: the same for the same arguments."""
    source = random.Random(seed)
    ranges = [(0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF),
              (0x590, 0x5FF),
              (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1FFF),
              (0x2000, 0x206F), (0x2100, 0x218F), (0x2500, 0x25FF), (0x3000, 0x30FF), (0x4E00, 0x9FFF),
              (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFB00, 0xFB06), (0xFE00, 0xFE0F), (0xFF00, 0xFFEF),
              (0x1D400, 0x1D7FF), (0x1F300, 0x1F6FF), (0x20000, 0x2A6DF), (0xE000, 0xE0FF), (0x0, 0x1F),
              (0x7F, 0x9F), (0x10FF00, 0x10FFFF)]  # fmt: skip
    spaces = " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u180e\u2000\u2003\u2009\u200b\u200c\u200d\u2028"
    spaces += "\u2029\u202f\u205f\u2060\u3000\ufeff"
    usual = [
        "'s",
        "'LL",
        "'ſ",
        "don't",
        "İ",
        "ﬁ",
        "각",
        "e\u0301",
        "▁",
        "▁▁",
        "Ġ",
        "##",
        "##a",
        "</w>",
        "<0x0A>",
    ]
    usual += [
        "<unk>",
        "<s>",
        "</s>",
        "<pad>",
        "[CLS]",
        "[MASK]",
        "[UNK]",
        "<|endoftext|>",
        "<|",
        "|>",
        "123456",
    ]
    usual += [
        "the",
        " The",
        "hello",
        "한국어",
        "日本",
        "👩‍👩‍👧",
        "🇰🇷",
        "...",
        "==",
        "\r\n",
        "\n\n",
        "0x1F",
    ]
    tokens = [*usual, *specials] if specials else usual

    def part() -> str:
        kind = source.random()
        if kind < 0.35:
            low, high = source.choice(ranges)
            return "".join(chr(source.randint(low, high)) for _ in range(source.randint(1, 6)))
        if kind < 0.55:
            return "".join(source.choices(spaces, k=source.choice((1, 1, 2, 4))))
        if kind < 0.75:
            return source.choice(tokens)
        if kind < 0.87:
            token = source.choice(tokens)
            start = source.randrange(len(token))
            return token[start : source.randint(start + 1, len(token))]
        if kind < 0.98:
            return "".join(source.choices("abcdeXYZ019.,-_/", k=source.randint(1, 12)))
        low, high = source.choice(ranges)
        return source.choice((chr(source.randint(low, high)), " ", "a", "가")) * source.choice(
            (40, 300, 1500)
        )

    return ["".join(part() for _ in range(source.randint(1, 14))) for _ in range(count)]


def first_difference(
    what: str, texts: Sequence[str], found: Sequence[object], right: Sequence[object]
) -> str | None:
    """What differs first, shown short."""
    for text, one, other in zip(texts, found, right, strict=True):
        if one != other:
            at = 0
            if isinstance(one, (list, str)) and isinstance(other, (list, str)):
                pairs = enumerate(zip(one, other, strict=False))
                at = next(
                    (at for at, (left, its) in pairs if left != its), min(len(one), len(other))
                )
                one, other = one[max(0, at - 3) : at + 8], other[max(0, at - 3) : at + 8]
            return f"{what}: {text[:300]!r}, at {at}: jogak {one!r}, library {other!r}"
    return None


class Check:
    """One file in jogak and in its library."""

    def __init__(self, file: peers.ModelFile, row: Row) -> None:
        self.file = file
        self.row = row
        self.path = DATA / "models" / file.path
        self.tok = jogak.load(self.path, **file.options)
        self.peer = file.open(self.path)
        row.library = self.peer.name

    def same(
        self, what: str, texts: Sequence[str], found: Sequence[object], right: Sequence[object]
    ) -> None:
        """Note the first difference, if there is one."""
        if list(found) != list(right) and (shown := first_difference(what, texts, found, right)):
            self.row.differences.append(shown)
            print(f"  ≠ {self.row.path}: {shown}", flush=True)

    def batch(self, texts: Sequence[str], special: jogak.SpecialPolicy) -> list[object]:
        """All texts at once; None for one that is refused."""
        try:
            return list(self.tok.encode_batch(texts, special=special).to_lists())
        except jogak.EncodeError:
            return self.one_by_one(texts, special)

    def one_by_one(self, texts: Sequence[str], special: jogak.SpecialPolicy) -> list[object]:
        """One text after the other."""
        out: list[object] = []
        for text in texts:
            try:
                out.append(self.tok.encode(text, special=special))
            except jogak.EncodeError:
                out.append(None)
        return out

    def corpus(self, name: str, text: str) -> None:
        """All ways to encode one corpus."""
        lines = text.split("\n")
        for parse in (True, False):
            right = self.peer.encode(lines, parse)
            if right is not None:
                break
        if right is None:
            raise AssertionError("a library that encodes nothing")
        policy: jogak.SpecialPolicy = "parse" if parse else "text"
        self.same(f"{name}, batch", lines, self.batch(lines, policy), right)
        self.same(f"{name}, one by one", lines, self.one_by_one(lines, policy), right)
        whole = self.peer.encode([text], parse)
        self.same(f"{name}, whole", [text], self.one_by_one([text], policy), whole or [])
        self.row.texts += len(lines) + 1
        self.row.bytes += len(text.encode())
        self.row.ids += sum(len(ids) for ids in right if ids)
        some, size = 0, 0
        while some < len(lines) and size < SOME:
            size += len(lines[some])
            some += 1
        self.decoded(name, lines[:some], right[:some])
        self.framed(name, lines[:some])

    def decoded(self, name: str, texts: Sequence[str], ids: peers.Answers) -> None:
        """The texts of ids, in a batch and one by one."""
        if self.peer.decode is None:
            return
        known = [(text, each) for text, each in zip(texts, ids, strict=True) if each is not None]
        lists = [each for _, each in known]
        right = self.peer.decode(lists)
        texts = [text for text, _ in known]
        self.same(f"{name}, decode", texts, self.tok.decode_batch(lists), right)
        self.same(f"{name}, decode one", texts, [self.tok.decode(each) for each in lists], right)
        self.row.decoded += len(lists)

    def framed(self, name: str, texts: Sequence[str]) -> None:
        """What the template puts around texts."""
        if self.peer.framed is None:
            return
        right = self.peer.framed(texts)
        none = {"truncation": False, "padding": False}
        try:
            found = self.tok.encoding_batch(texts, special="parse", **none)
        except jogak.EncodeError:
            return
        self.same(f"{name}, template", texts, [each.ids.tolist() for each in found], right)
        self.row.framed += len(texts)

    def hostile(self, count: int) -> None:
        """Texts made to confuse, special tokens parsed and as text."""
        specials = list(self.tok.spec.special_tokens)[:300] + peers.special_texts(self.path)
        texts = hostile(count, specials, len(self.row.path))
        for special, parse in (("parse", True), ("text", False)):
            right = self.peer.encode(texts, parse)
            if right is None:
                continue
            policy: jogak.SpecialPolicy = "parse" if parse else "text"
            self.same(f"hostile, {special}", texts, self.batch(texts, policy), right)
            self.row.texts += len(texts)
            self.row.bytes += sum(len(text.encode()) for text in texts)
            self.row.ids += sum(len(ids) for ids in right if ids)
            self.decoded("hostile", texts, right)
        self.framed("hostile", texts)

    def expected_ids(self) -> None:
        """The ids that llama.cpp gives."""
        texts = peers.expected_texts(self.path)
        right = self.peer.encode(texts, False) or []
        self.same("expected ids", texts, self.batch(texts, "text"), right)
        self.row.texts += len(texts)
        self.row.bytes += sum(len(text.encode()) for text in texts)
        self.row.ids += sum(len(ids) for ids in right if ids)

    def unsaid(self) -> dict[str, object]:
        """What is known of a published file by its content, which is another when written again."""
        spec = self.tok.spec
        if self.file.format == "vocab-txt":
            return {"normalizer": spec.normalizer}
        return {"special_tokens": spec.special_tokens} if self.file.format == "vocab-merges" else {}

    def written(self, texts: Sequence[str]) -> None:
        """The file written again: the same Spec, and the same ids from its own library."""
        if self.file.format is None:
            return
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / self.path.name
            if self.file.format == "vocab-merges":
                target = Path(folder)
            self.tok.save(target, format=self.file.format)
            again = jogak.load(target, **self.file.options, **self.unsaid())
            if again.spec != self.tok.spec:
                self.row.differences.append("written: read as another Spec")
                print(f"  ≠ {self.row.path}: written: read as another Spec", flush=True)
            theirs = self.file.open(target)
            for parse in (True, False):
                right = self.peer.encode(texts, parse)
                if right is not None:
                    found = theirs.encode(texts, parse)
                    self.same("written, in its library", texts, found or [], right)
            self.row.written = "same"


def checked(file: peers.ModelFile, options: argparse.Namespace) -> Row:
    """Everything about one file."""
    row = Row(
        file.path if not file.path.startswith("/") else f"mistral_common/{Path(file.path).name}"
    )
    started = time.perf_counter()
    try:
        check = Check(file, row)
        if file.open is peers.expected:
            check.expected_ids()
        elif options.hostile:
            check.hostile(options.hostile)
        else:
            some: list[str] = []
            for name, text in corpora(round(options.mb * 1_000_000)):
                check.corpus(name, text)
                some += text[:SOME].split("\n")
            check.written(some)
    except (jogak.JogakError, ImportError, OSError) as error:
        row.differences.append(f"{type(error).__name__}: {error}")
    print(f"{time.perf_counter() - started:6.1f} s  {line_of(row)}", flush=True)
    return row


def line_of(row: Row) -> str:
    """A line of the table, in Markdown."""
    size = f"{row.bytes / 1e6:.1f}" if row.bytes > 100_000 else f"{row.bytes / 1e6:.3f}"
    cells = [row.path, row.library, f"{row.texts:,}", size, f"{row.ids:,}", f"{row.decoded:,}",
             f"{row.framed:,}", row.written, str(len(row.differences))]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Compare, print, and tell whether anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("only", nargs="*", help="parts of the paths of files")
    parser.add_argument("--mb", type=float, default=5.0, help="how much of each corpus")
    parser.add_argument("--hostile", type=int, default=0, help="how many texts made to confuse")
    options = parser.parse_args()
    if not (DATA / "models").is_dir():
        print(
            f"no models under {DATA}; set JOGAK_DATA to the folder that has them", file=sys.stderr
        )
        return 2
    files = peers.model_files(DATA / "models")
    wanted = [
        file
        for file in files
        if not options.only or any(part in file.path for part in options.only)
    ]
    rows = [checked(file, options) for file in wanted]
    heads = (
        "file",
        "library",
        "texts",
        "MB",
        "ids",
        "decoded",
        "template",
        "written",
        "differences",
    )
    print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    print("\n".join(map(line_of, rows)))
    for row in rows:
        for shown in row.differences:
            print(f"{row.path}: {shown}")
    return int(any(row.differences for row in rows))


if __name__ == "__main__":
    sys.exit(main())
