"""BPE whose ids are the ranks, beside tiktoken: ranks in any order, vocabularies without some bytes."""

from __future__ import annotations

import base64
import random
import re
from pathlib import Path
from typing import Any

import pytest

import jogak
from jogak.formats import bytelevel
from jogak.reference import following, merged_by_ranks
from jogak.tokenizer.following import Following

PATTERNS = (r"\w+|[^\w]", r"[\s\S]+", r"\S+|\s+")
BYTES = [bytes([byte]) for byte in range(256)]


def peer(ranks: dict[bytes, int], pattern: str) -> Any:
    tiktoken = pytest.importorskip("tiktoken")
    return tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def model(ranks: dict[bytes, int], **options: Any) -> jogak.BPEModel:
    pieces: list[str | None] = [None] * (max(ranks.values()) + 1)
    for piece, rank in ranks.items():
        pieces[rank] = bytelevel.from_bytes(piece)
    marker = jogak.Marker("byte-level")
    return jogak.BPEModel(
        **{"merges": None, **options}, pieces=tuple(pieces), marker=marker, alphabet="bytes"
    )


def ours(ranks: dict[bytes, int], pattern: str) -> jogak.Tokenizer:
    words = (jogak.Split(pattern, matches="only"),)
    return jogak.Tokenizer(jogak.Spec(model=model(ranks, whole_word=True), pretokenizer=words))


def vocabulary(source: random.Random, letters: str, single: list[bytes]) -> dict[bytes, int]:
    """Some pieces of these letters, some cut within characters, with ranks in any order."""
    pieces = set()
    for _ in range(source.randint(1, 25)):
        text = "".join(source.choices(letters, k=source.randint(2, source.choice((3, 5, 8)))))
        piece = text.encode()
        start = source.randrange(len(piece))
        cut = piece[start : source.randint(start + 1, len(piece))]
        pieces.add(cut if source.random() < 0.3 else piece)
    every = list(dict.fromkeys([*single, *sorted(pieces)]))
    ranks = list(range(len(every)))
    if source.random() < 0.8:
        source.shuffle(ranks)
    return dict(zip(every, ranks, strict=True))


def test_ranks_in_any_order_equal_tiktoken() -> None:
    """Parts of higher rank than the whole, and pieces that smaller ranks do not make."""
    source = random.Random(1)
    late = 0
    for _ in range(400):
        letters = source.choice(["a", "ab", "abc", "ab한"])
        ranks = vocabulary(source, letters, BYTES)
        pattern = source.choice(PATTERNS)
        theirs, tok = peer(ranks, pattern), ours(ranks, pattern)
        late += any(max(pair) > tok.id(left + right) for pair, (left, right) in
                    zip(tok.merge_ids, tok.merges, strict=True) if len(left + right) > 2)  # fmt: skip
        for _ in range(10):
            text = "".join(source.choices(f"{letters} ", k=source.choice((1, 8, 20, 60, 1500))))
            assert tok.encode(text) == theirs.encode_ordinary(text)
            assert tok.encoding(text).ids.tolist() == tok.encode(text)
            if len(text) < 100:  # a trace keeps every step
                assert list(tok.explain(text).ids) == tok.encode(text)
    assert late > 20


def test_what_may_follow_equals_the_reference() -> None:
    """Ends that are text, and ends within characters, where white space follows and where none does."""
    # Not \\s: Python takes four control characters more for white space.
    pattern = "[^ \n\u3000]+|[ \n\u3000]+"
    words, source, lengths = re.compile(pattern).findall, random.Random(3), set()
    for _ in range(150):
        letters = source.choice(["ab", "a \n", "ab한 ", "a\u3000\u00a0\x1c"])
        single = sorted({bytes([byte]) for byte in letters.encode()})
        ranks = vocabulary(source, letters, single)
        found = Following(ours(ranks, pattern))
        for _ in range(10):
            text = "".join(source.choices(letters, k=source.randint(1, 6)))
            assert found.last_word(text) == words(text)[-1]
            data = text.encode()
            end = data[source.randrange(len(data)) :]
            assert found.merged(end) == merged_by_ranks(end, ranks)
            expected = following(end, ranks, words)
            assert found.ways(end) == expected
            lengths |= {len(way) for way in expected}
    assert {1, 2, 3} <= lengths


def test_file_with_ranks_in_any_order(tmp_path: Path) -> None:
    source = random.Random(2)
    for _ in range(30):
        ranks = vocabulary(source, "abc", BYTES)
        rows = (base64.b64encode(piece) + b" %d\n" % rank for piece, rank in ranks.items())
        path = tmp_path / "x.tiktoken"
        path.write_bytes(b"".join(rows))
        tok, theirs = jogak.load(path, pattern=r"\S+|\s+"), peer(ranks, r"\S+|\s+")
        tok.save(tmp_path / "y.jogak.json")
        again = jogak.load(tmp_path / "y.jogak.json")
        for _ in range(20):
            text = "".join(source.choices("abc ", k=40))
            assert tok.encode(text) == theirs.encode_ordinary(text) == again.encode(text)


def test_ranks_as_a_list_of_merges(tmp_path: Path) -> None:
    """Every piece is made of one pair only, so a list of merges says the same."""
    source = random.Random(3)
    hf = pytest.importorskip("tokenizers")
    for _ in range(60):
        tok = ours(vocabulary(source, "abc", BYTES), r"\S+|\s+")
        tok.save(tmp_path / "tokenizer.json", format="tokenizer-json")
        theirs = hf.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        for _ in range(20):
            text = "".join(source.choices("abc ", k=source.choice((2, 5, 40))))
            assert theirs.encode(text).ids == tok.encode(text)


def test_vocabularies_without_some_bytes(tmp_path: Path) -> None:
    """Pieces may be made of bytes that have no rank; by themselves these are an error."""
    source = random.Random(4)
    refused = made = unsaid = 0
    for _ in range(200):
        letters = source.choice(["ab", "abc", "ab한"])
        single = [byte for byte in BYTES if source.random() < 0.7]
        ranks = vocabulary(source, letters, single)
        theirs, tok = peer(ranks, r"\S+|\s+"), ours(ranks, r"\S+|\s+")
        for _ in range(10):
            text = "".join(source.choices(letters, k=source.choice((1, 3, 8, 60))))
            try:
                ids = tok.encode(text)
            except jogak.EncodeError:
                refused += 1
                with pytest.raises(BaseException, match="no entry found"):  # a panic, no Exception
                    theirs.encode_ordinary(text)
                continue
            made += 1
            assert ids == theirs.encode_ordinary(text)
            assert all(0 <= id_ < len(tok) for id_ in ids)
        try:
            tok.save(tmp_path / "tokenizer.json", format="tokenizer-json")
        except jogak.UnsupportedFeature as error:
            unsaid += 1
            assert "no pieces themselves" in str(error)
    assert refused > 100 and made > 100 and unsaid > 10


@pytest.mark.parametrize("listed", [False, True], ids=["ranks", "merges"])
@pytest.mark.parametrize("rules", [False, True], ids=["own", "hf"])
@pytest.mark.parametrize("text", ["c", "abcab", "한", "cc" * 400, "ab한" * 300])
def test_a_byte_that_is_missing(listed: bool, rules: bool, text: str) -> None:
    """An error that names it, the unknown piece, or nothing: never another id."""
    options: dict[str, Any] = {"merges": ((0, 1),)} if listed else {}
    if listed:
        options["hf_rules"] = rules
    elif rules:
        pytest.skip("ranks know no rules of HF")
    ranks = {b"a": 0, b"b": 1, b"ab": 2, b"<unk>": 3}

    def tokenizer(**more: Any) -> jogak.Tokenizer:
        words = (jogak.Named("whitespace"),)
        return jogak.Tokenizer(
            jogak.Spec(model=model(ranks, **options, **more), pretokenizer=words)
        )

    tok = tokenizer()
    for call in (tok.encode, tok.encoding, tok.count, lambda text: tok.encode_batch([text])):
        with pytest.raises(jogak.EncodeError):
            call(text)
    unknown = tokenizer(unknown="<unk>")
    missing = len(text.encode().replace(b"a", b"").replace(b"b", b""))
    assert unknown.encode(text) == unknown.encode_batch([text]).to_lists()[0]
    assert unknown.encode(text).count(3) == missing
    assert set(unknown.encode(text)) <= {2, 3}
    dropped = tokenizer(drop_unknown=True)
    assert dropped.encode(text) == [2] * text.count("ab")
    assert dropped.encoding(text).ids.tolist() == dropped.encode(text)
