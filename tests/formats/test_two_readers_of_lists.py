"""The core's reader of the long lists of a native file, and the reader in Python: one answer, one error.

Law: as in `test_two_readers`.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import random
from typing import Any

import pytest
from format_cases import TOY_PROBES, logs, specs, toy_log, toy_spec
from hypothesis import given, settings
from hypothesis import strategies as st
from test_two_readers import answer

import jogak
from jogak import _core
from jogak.formats import Loaded, bytelevel, native
from jogak.spec import BPEModel, Marker, Named, Spec, Unigram, WordPiece
from jogak.training import TrainingLog, WordPieceLog

WORDS = {"low": 5, "lower": 2, "newest": 6, "widest": 3, "밥상": 4}


def both(data: bytes) -> tuple[Any, Any]:
    """What both readers make of a file."""
    fast = answer(lambda: native.read(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "read_lists", lambda data, wanted: None)
        slow = answer(lambda: native.read(data))
    return fast, slow


def byte_level() -> bytes:
    pieces = (*bytelevel.ALPHABET, None, "lo", "low", "<s>", "밥")
    model = BPEModel(
        pieces=pieces,
        merges=((pieces.index("l"), pieces.index("o")), (257, pieces.index("w"))),
        marker=Marker("byte-level"),
        alphabet="bytes",
    )
    special = {"<s>": 259, "밥": 260}
    return native.dumps(Spec(model=model, pretokenizer=(Named("gpt2"),), special_tokens=special))


def trained(config: Any) -> bytes:
    tok = jogak.train(WORDS, config)
    assert tok.training is not None
    return native.dumps(tok.spec, tok.training)


#: A file of every family, and the lists that the core reads in it.
FILES = {
    "bpe": (native.dumps(toy_spec(), toy_log(), TOY_PROBES), 5),
    "bpe of bytes": (byte_level(), 2),
    "bpe, trained": (trained(jogak.BPE(num_merges=9)), 5),
    "bpe by scores": (trained(jogak.BPE(num_merges=9, by_scores=True, marker="none")), 5),
    "unigram": (trained(Unigram(vocab_size=17)), 2),
    "wordpiece": (trained(WordPiece(vocab_size=30, min_pair_count=1)), 6),
}


@pytest.mark.parametrize("kind", FILES)
def test_plain_files_are_read_alike(kind: str) -> None:
    data, lists = FILES[kind]
    rest, found = _core.read_lists(data, native.lists._LISTS) or (b"", [])
    assert sum(one is not None for one in found) == lists
    assert len(json.loads(rest)) == 5
    fast, slow = both(data)
    assert isinstance(fast, Loaded)
    assert "pieces" not in vars(fast.spec.model)
    assert type(vars(slow.spec.model)["pieces"]) is tuple
    assert fast == slow
    assert native.dumps(fast.spec, fast.training, fast.probes) == data
    if kind != "bpe":  # of which no piece is "o"
        one, other = (jogak.Tokenizer(read.spec).encode("low") for read in both(data))
        assert one == other


@settings(deadline=None, max_examples=300)
@given(specs(), logs(), st.booleans())
def test_every_spec_and_log_is_read_alike(spec: Spec, log: TrainingLog, is_logged: bool) -> None:
    data = native.dumps(spec, log if is_logged else None)
    fast, slow = both(data)
    assert fast == slow
    assert fast.spec == spec


def test_nobody_can_tell_what_a_log_holds() -> None:
    for kind in ("bpe, trained", "wordpiece"):
        data, _ = FILES[kind]
        fast, slow = (read.training for read in both(data))
        assert isinstance(fast, (TrainingLog, WordPieceLog))
        assert "counts" not in vars(fast)
        assert len(fast) == len(slow) > 0
        assert repr(fast) == repr(slow)
        assert "counts" not in vars(fast)
        for twin in (pickle.loads(pickle.dumps(fast)), copy.copy(fast), copy.deepcopy(fast)):
            assert twin == slow
            assert hash(twin) == hash(slow)
        assert type(fast.counts) is tuple
        assert fast.counts == slow.counts
        assert (fast.live, fast.lengths) == (slow.live, slow.lengths)
        assert (fast.summary(), list(fast.steps)) == (slow.summary(), list(slow.steps))
        assert fast.to_dict() == slow.to_dict()
        assert dataclasses.replace(fast, stop="interrupted").stop == "interrupted"
        again, _ = both(data)
        assert dataclasses.asdict(again.training) == dataclasses.asdict(slow)
        again, _ = both(data)
        assert again.training.steps[1] == slow.steps[1]


BPE, BYTES, SCORED = (FILES[kind][0].decode() for kind in ("bpe", "bpe of bytes", "unigram"))
PIECES, MERGES = '"hug"],', '"merges":[7,2,7,4,3,8]'
FIRST = BPE[BPE.index('"pieces":[') :].split(",")[0]


#: Files that are odd or broken somewhere: what was there, and what is there instead.
CHANGED = {
    "an empty text": (BPE, FIRST, '"pieces":[""'),
    "a piece twice": (BPE, PIECES, '"un"],'),
    "a piece that is a number": (BPE, PIECES, "7],"),
    "a piece that is a list": (BPE, PIECES, '["hug"]],'),
    "a surrogate": (BPE, PIECES, '"\\ud800"],'),
    "an escape": (BPE, PIECES, '"h\\u0075g"],'),
    "a zero byte": (BPE, PIECES, '"hug","a\\u0000"],'),
    "null": (BPE, PIECES, '"hug",null],'),
    "null, cut": (BPE, PIECES, '"hug",nul],'),
    "a comma too many": (BPE, PIECES, '"hug",],'),
    "no comma": (BPE, '"un","hug"]', '"un" "hug"]'),
    "not closed": (BPE, PIECES, '"hug",'),
    "merges of texts": (BPE, MERGES, '"merges":["u g"]'),
    "merges of pairs": (BPE, MERGES, '"merges":[[7,2]]'),
    "merges of an object": (BPE, MERGES, '"merges":{"a":1}'),
    "no merges": (BPE, MERGES, '"merges":[]'),
    "merges null": (BPE, MERGES, '"merges":null'),
    "an odd merge": (BPE, MERGES, '"merges":[7,2,7]'),
    "an id too large": (BPE, MERGES, '"merges":[7,11]'),
    "an id far too large": (BPE, MERGES, '"merges":[7,4294967298]'),
    "an id of 70 bits": (BPE, MERGES, '"merges":[7,1180591620717411303424]'),
    "an id below zero": (BPE, MERGES, '"merges":[7,-1]'),
    "a zero below zero": (BPE, MERGES, '"merges":[7,2,-0,2]'),
    "an id with a fraction": (BPE, MERGES, '"merges":[7,2.0]'),
    "an id with an exponent": (BPE, MERGES, '"merges":[7,2e0]'),
    "an id with a zero before it": (BPE, MERGES, '"merges":[7,02]'),
    "a merge twice": (BPE, MERGES, '"merges":[7,2,7,2]'),
    "a merge that makes nothing": (BPE, MERGES, '"merges":[2,2]'),
    "a merge that makes nothing, HF": (
        BPE.replace('"hf_rules":false', '"hf_rules":true'), MERGES, '"merges":[2,2]',
    ),
    "a merge that makes nothing, longest match": (
        BPE.replace('"strategy":"merges"', '"strategy":"longest-match"'), MERGES, '"merges":[2,2]',
    ),
    "a field of the model that is not known": (BPE, PIECES, '"hug",null],"hole":11,'),
    "a field twice": (BPE, MERGES, f"{MERGES},{MERGES}"),
    "a section twice": (BPE, '"version":3', '"version":3,"spec":{}'),
    "lists where none should be": (BPE, '"version":3', '"version":3,"scores":[1]'),
    "scores of BPE": (BPE, MERGES, f'{MERGES},"scores":[1.0]'),
    "spaces": (BPE, MERGES, '"merges" : [ 7 ,\n2,7,\t4,3,8 ]'),
    "a hole merged": (BPE, '"n","p"', 'null,"p"'),
    "counts of texts": (BPE, '"counts":[20', '"counts":["20"'),
    "counts below zero": (BPE, '"counts":[20', '"counts":[-1'),
    "counts of 64 bits": (BPE, '"counts":[20', '"counts":[18446744073709551615'),
    "counts of 65 bits": (BPE, '"counts":[20', '"counts":[18446744073709551616'),
    "counts of 62 bits": (BPE, '"counts":[20', '"counts":[4611686018427387904'),
    "counts that are true": (BPE, '"counts":[20', '"counts":[true'),
    "too few counts": (BPE, '"counts":[20,16,15]', '"counts":[20,16]'),
    "no counts": (BPE, '"counts":[20,16,15],', ""),
    "counts that are no list": (BPE, '"counts":[20,16,15]', '"counts":20'),
    "counts null": (BPE, '"counts":[20,16,15]', '"counts":null'),
    "too many replaced": (BPE, '"occurrences":[20', '"occurrences":[200'),
    "just as many replaced": (BPE, '"occurrences":[20', '"occurrences":[82'),
    "fewer than none alive": (BPE, '"initial_live":7,', '"initial_live":0,'),
    "fewer than none alive at last": (
        BPE.replace('"initial_live":7,', '"initial_live":0,'), '"live_changes":[1,0,1]',
        '"live_changes":[1,-1,-1]',
    ),
    "none alive at last": (
        BPE.replace('"initial_live":7,', '"initial_live":0,'), '"live_changes":[1,0,1]',
        '"live_changes":[1,-1,0]',
    ),
    "a change by two": (BPE, '"live_changes":[1', '"live_changes":[2'),
    "counts of another family": (BPE, '"counts":[20', '"left_counts":[1],"counts":[20'),
    "a log without a config": (BPE, '"config":', '"konfig":'),
    "no training": (BPE, '"training":', '"training":null,"was":'),
    "a foreign character": (BYTES, '"lo"', '"l o"'),
    "a special token that is none": (BYTES, '"<s>":259', '"<s>":258'),
    "a special token without a piece": (BYTES, '"<s>":259', '"<s>":999'),
    "a score that is a text": (SCORED, '"scores":[', '"scores":["1",'),
    "one score too many": (SCORED, '"scores":[', '"scores":[1,'),
    "a score without end": (SCORED, '"scores":[', '"scores":[1e999,'),
    "a score of many digits": (SCORED, '"scores":[', f'"scores":[{"9" * 1200},'),
    "a score that is no number": (SCORED, '"scores":[', '"scores":[NaN,'),
    "scores that are no list": (SCORED, '"scores":[', '"scores":{},"more":['),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGED)
def test_odd_and_broken_files_have_one_answer(what: str) -> None:
    file, before, after = CHANGED[what]
    assert file.count(before) >= 1
    fast, slow = both(file.replace(before, after, 1).encode())
    assert fast == slow


def test_scores_are_the_same_bits() -> None:
    """What Python's float reads, to the last bit."""
    rng = random.Random(7)
    odd = ["0", "-0", "-0.0", "0e5", "1E2", "1e-400", "-2.5e-1", "9007199254740993", "5e-324"]
    odd += ["2.2250738585072011e-308", "0.1" + "0" * 700 + "1", "1" + "0" * 300, "1.0", "12.50"]
    while len(odd) < 2000:
        digits = str(rng.getrandbits(rng.randrange(1, 80)))
        exponent = rng.choice(["", f"e{rng.randrange(-320, 300)}", f"E+{rng.randrange(20)}"])
        whole, fraction = digits[:1], digits[1:]
        odd.append(rng.choice(["", "-"]) + whole + (f".{fraction}" if fraction else "") + exponent)
    file = f'{{"spec":{{"model":{{"scores":[{",".join(odd)}]}}}}}}'.encode()
    _, lists = _core.read_lists(file, native.lists._LISTS) or (b"", [])
    scores = lists[2]
    assert isinstance(scores, tuple)
    assert [one.hex() for one in scores] == [float(one).hex() for one in map(json.loads, odd)]


def test_torn_files_have_one_answer() -> None:
    """A file without some of its bytes, or with some of them doubled."""
    rng = random.Random(11)
    for file in (BPE, BYTES[-3000:], SCORED):
        data = file.encode()
        for _ in range(150):
            at, length = rng.randrange(len(data)), rng.choice([1, 1, 2, 9])
            torn = (
                data[:at] + data[at + length :]
                if rng.random() < 0.5
                else data[: at + length] + data[at:]
            )
            fast, slow = both(torn)
            assert fast == slow
