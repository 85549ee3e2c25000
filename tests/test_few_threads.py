"""Where the system gives fewer threads than were asked for: those that there are do the work, nobody
waits for the others, and the calling thread does all of it if there are none.

Each case runs in a process whose address space has room for the stacks of so many threads.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="address space is limited as Linux does"
)

LIMIT = """
import os, resource, sys

# A thread asks for this much address space, and there is room for so many of them.
os.environ["RUST_MIN_STACK"] = str(1 << 32)

def limit(room):
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + (int(room) << 32) + (2 << 30),) * 2)
"""

COUNT = """
from jogak.counts import count

corpus = ["a b"] * 100_000 if sys.argv[1] == "documents" else sys.argv[1]
limit(sys.argv[2])
try:
    print(count(corpus, pretokenizer="whitespace", num_threads=8).total)
except Exception as error:
    print(type(error).__name__, error)
"""

REST = """
import random
import jogak

draw = random.Random(7)
words = ["".join(draw.choices("aeinst밥", k=draw.randrange(2, 12))) for _ in range(60_000)]
counts = jogak.Counts.from_dict({word: draw.randrange(1, 99) for word in words})
texts = [" ".join(words[start:start + 100]) for start in range(0, len(words), 100)]
tok = jogak.train(counts, jogak.BPE(num_merges=20), special_tokens=["<pad>"], num_threads=1)
rows = tok.encode_batch(texts, num_threads=1).to_lists()
model_inputs = {"padding": 9, "truncation": 9}

works = {
    "encode": lambda n: tok.encode_batch(texts, num_threads=n).to_lists(),
    "spans": lambda n: tok.encoding_batch(texts, num_threads=n, **model_inputs).input_ids.tolist(),
    "decode": lambda n: tok.decode_batch(rows, num_threads=n),
    "bpe": lambda n: jogak.train(counts, jogak.BPE(num_merges=50), num_threads=n).spec,
    "unigram": lambda n: jogak.train(counts, jogak.Unigram(vocab_size=100), num_threads=n).spec,
    "wordpiece": lambda n: jogak.train(counts, jogak.WordPiece(vocab_size=60), num_threads=n).spec,
}
expected = {name: work(1) for name, work in works.items()}
limit(sys.argv[1])
for name, work in works.items():
    try:
        told = work(8) == expected[name]
    except BaseException as error:
        told = repr(error)
    print(name, told)
"""


def told(program: str, *arguments: str, given: str = "") -> str:
    """What a program prints; it has to end by itself."""
    ended = subprocess.run(
        [sys.executable, "-c", LIMIT + program, *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert not ended.returncode, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("corpus", ["documents", "file", "standard input"])
@pytest.mark.parametrize("room", [0, 1, 3])
def test_counting(tmp_path: Path, corpus: str, room: int) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b\n" * 1_000_000)
    given = "a b\n" * 100_000 if corpus == "standard input" else ""
    name = {"file": str(path), "standard input": "-"}.get(corpus, corpus)
    answer = told(COUNT, name, str(room), given=given)
    if room == 0:
        assert answer.startswith("CorpusError the system gives no thread to count on")
    else:
        assert answer == ("2000000\n" if corpus == "file" else "200000\n")


@pytest.mark.parametrize("room", [0, 1, 3])
def test_all_other_work(room: int) -> None:
    """The answers are those of one thread."""
    answers = dict(line.split(" ", 1) for line in told(REST, str(room)).splitlines())
    assert answers.keys() >= {"encode", "decode", "bpe", "unigram", "wordpiece"}
    assert set(answers.values()) == {"True"}, answers
