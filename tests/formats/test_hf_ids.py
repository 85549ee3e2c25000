"""Tokenizers of ``tokenizer.json`` give the ids, and the texts, that Hugging Face's library gives.

Random files, and real ones on real corpora. ``JOGAK_HYPOTHESIS=thorough`` takes thousands of files, and
5 MB of every corpus.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hf_generated
import pytest

import jogak
from jogak.errors import ConfigError, FormatError, JogakError, UnsupportedFeature
from jogak.formats import hf_json
from jogak.formats.bytelevel import ALPHABET, OF_TEXT

tokenizers = pytest.importorskip("tokenizers")

THOROUGH = os.environ.get("JOGAK_HYPOTHESIS") == "thorough"
FILES = range(5000 if THOROUGH else 400)
Data = Callable[[str], Path]


class Peer:
    """Their tokenizer; None for what it refuses."""

    def __init__(self, file: str) -> None:
        self.tokenizer = tokenizers.Tokenizer.from_str(file)

    def encode(self, text: str) -> list[int] | None:
        with refusals():
            return list(self.tokenizer.encode(text, add_special_tokens=False).ids)
        return None

    def decode(self, ids: list[int], skip: bool) -> str | None:
        with refusals():
            return str(self.tokenizer.decode(ids, skip_special_tokens=skip))
        return None


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """What the library raises, its panics among it (they are no Exception)."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException:
        return


def opened(file: str) -> jogak.Tokenizer | str:
    """Our tokenizer, or what it was refused for."""
    try:
        return jogak.Tokenizer(hf_json.loads(file.encode()))
    except UnsupportedFeature:
        return "unsupported"
    except (FormatError, ConfigError) as error:
        return f"{type(error).__name__}: {error}"


def is_unclear(tok: jogak.Tokenizer) -> bool:
    """Whether the library itself does not know.

    Of two tokens that are one once they are normalized it finds any (it goes by a hash map).
    """
    spec = tok.spec
    texts = [
        jogak.normalize(each.text, spec.normalizer).text
        for each in spec.added_tokens
        if each.normalized
    ]
    return len({*texts}) < len(texts)


def answer(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except JogakError:
        return None


@pytest.mark.filterwarnings("ignore")
def test_random_files_give_the_same_ids_and_texts() -> None:
    seen: Counter[str] = Counter()
    for seed in FILES:
        file = hf_generated.file(seed)
        peer = None
        with refusals():
            peer = Peer(file)
        tok = opened(file)
        if isinstance(tok, str):
            # What they open is refused by name, never called broken.
            assert peer is None or tok == "unsupported", (seed, tok)
            seen["refused"] += 1
            continue
        if peer is None or is_unclear(tok):
            seen["theirs refused" if peer is None else "unclear"] += 1
            continue
        written = hf_json.dumps(tok.spec).decode()
        assert hf_json.loads(written.encode()) == tok.spec, seed
        again = Peer(written)
        rng = random.Random(seed)
        for text in [hf_generated.text(rng) for _ in range(8)]:
            expected = peer.encode(text)
            if expected is None:
                seen["no ids"] += 1
                continue
            ids = answer(lambda tok=tok, text=text: tok.encode(text, special="parse"))
            assert ids == expected, (seed, text)
            assert again.encode(text) == expected, (seed, text)
            for skip in (False, True):
                decoded = peer.decode(expected, skip)
                if decoded is None:
                    continue
                back = answer(
                    lambda tok=tok, ids=ids, skip=skip: tok.decode(ids, skip_special_tokens=skip)
                )
                assert back == decoded, (seed, text, skip)
                assert again.decode(expected, skip) == decoded, (seed, text, skip)
            seen["texts"] += 1
    assert seen["texts"] > 4 * len(FILES), seen
    assert seen["refused"] < len(FILES) / 4, seen


def test_merges_of_characters_over_whole_texts_give_the_same_ids() -> None:
    # They are cut where no piece lies across, unless what stands for unknown characters could join.
    seen = 0
    for seed in FILES:
        file = hf_generated.whole_text_bpe(seed)
        peer, tok = Peer(file), opened(file)
        if isinstance(tok, str):
            assert tok == "unsupported", (seed, tok)
            continue
        rng = random.Random(seed)
        for text in [hf_generated.whole_text(rng) for _ in range(8)]:
            expected = peer.encode(text)
            if expected is None:
                continue
            # New, and known.
            assert tok.encode(text) == tok.encode(text) == expected, (seed, text)
            assert tok.encode_batch([text] * 3).to_lists() == [expected] * 3, (seed, text)
            seen += 1
    assert seen > 4 * len(FILES), seen


REAL = [
    *(
        "bert-base-cased",
        "gpt2",
        "gpt-neox",
        "mistral-v1",
        "phi-3-mini",
        "roberta-base",
        "t5-small",
    ),
    *("xlnet-base-cased", "whisper/whisper-tiny.", "whisper/whisper-large-v3."),
]
CORPORA = [
    *("en_docs", "ko_nsmc", "code", "zh_poetry", "react_tf_ko", "tf_zh-cn", "cppdocs_ja"),
    *("cppdocs_ko", "cppdocs_ru", "cppdocs_zh-cn", "small/pride_and_prejudice", "small/botchan"),
    *("small/tinyshakespeare", "small/wagahaiwa_nekodearu", "small/wikitext2_test"),
    *("small/wikitext2_valid", "small/utf8_sequence_0x10ffff"),
]


def parts(path: Path, size: int) -> list[str]:
    """The start of a file, in lines and in one piece."""
    text = path.read_bytes()[:size].decode("utf-8", "ignore")
    lines = [line for line in text.split("\n") if line]
    return [text[:100_000], *lines] if THOROUGH else [text, *lines[:200]]


@pytest.mark.parametrize("name", REAL)
def test_real_files_give_the_same_ids_and_texts(name: str, data: Data) -> None:
    path = data(f"models/{name}{'' if name.endswith('.') else '/'}tokenizer.json")
    tok, peer = jogak.load(path), tokenizers.Tokenizer.from_file(str(path))
    for corpus in CORPORA:
        whole = THOROUGH or corpus.startswith("small/utf8")
        texts = parts(data(f"corpora/{corpus}.txt"), 5_000_000 if whole else 20_000)
        theirs = [each.ids for each in peer.encode_batch(texts, add_special_tokens=False)]
        assert tok.encode_batch(texts, special="parse").to_lists() == theirs, corpus
        for text, ids in zip(texts[:50], theirs, strict=False):
            assert tok.encode(text, special="parse") == ids
        for skip in (False, True):
            expected = peer.decode_batch(theirs, skip_special_tokens=skip)
            assert [tok.decode(ids, skip_special_tokens=skip) for ids in theirs] == expected, corpus


#: What joins with a space before it or behind it, what falls apart, what is replaced, and plain letters.
CLUSTERS = [
    *("\u0301", "\u200d", "\u0600", "\u06dd", "\u0d4e", "``", "''", "`", "'", "é", "e\u0301", "가"),
    *(
        "\u1100",
        "\u1161",
        "\u11a8",
        "ㅋ",
        "ﬁ",
        "½",
        "…",
        "“",
        "\U0001f3fd",
        "👍",
        "👩\u200d👧",
        "🇰🇷",
    ),
    *(
        "\ufe0f",
        "★",
        "①",
        "＾",
        "ﾞ",
        "ｶﾞ",
        "¨",
        "\u00a0",
        "\u3000",
        "\u2028",
        "\t",
        "\r\n",
        "\x00",
        "ß",
    ),
    *("ŉ", "日", "「", "a", "don't", "▁", "<sep>", "\u0c4d", "क्षि", "ำ", "\U000e0061", "\u115f"),
]


@pytest.mark.parametrize("name", ["t5-small", "xlnet-base-cased"])
def test_clusters_at_the_ends_of_words_give_the_same_ids(name: str, data: Data) -> None:
    path = data(f"models/{name}/tokenizer.json")
    tok, peer = jogak.load(path), tokenizers.Tokenizer.from_file(str(path))
    rng = random.Random(6)
    for _ in range(50_000 if THOROUGH else 2_000):
        bits = (
            rng.choice(rng.choice([CLUSTERS, [" ", "word "]])) for _ in range(rng.randint(1, 25))
        )
        text = "".join(bits)
        expected = peer.encode(text, add_special_tokens=False).ids
        # New, and known.
        assert tok.encode(text, special="parse") == expected, text
        assert tok.encode(text, special="parse") == expected, text


def test_unknown_characters_without_an_unknown_piece() -> None:
    """Unigram with ``unk_id`` null: an error as soon as one is the best way to come to a place."""
    rng = random.Random(5)
    seen: Counter[bool] = Counter()
    for _ in range(400):
        pieces = {"".join(rng.choices("ab가é ", k=rng.randrange(1, 4))): 0.0 for _ in range(6)}
        if fallback := rng.random() < 0.4:
            pieces |= {f"<0x{byte:02X}>": 0.0 for byte in range(rng.choice([256, 100]))}
        vocab = [(text, rng.choice([-1.0, -3.5, -20.0, rng.uniform(-30, 0)])) for text in pieces]
        words = rng.choice(
            [None, {"type": "Whitespace"}, {"type": "Metaspace", "replacement": "▁"}]
        )
        model = {"type": "Unigram", "unk_id": None, "byte_fallback": fallback, "vocab": vocab}
        file = json.dumps({"version": "1.0", "pre_tokenizer": words, "model": model})
        peer, tok = Peer(file), jogak.Tokenizer(hf_json.loads(file.encode()))
        for _ in range(8):
            text = "".join(rng.choices("ab가é x", (4, 4, 2, 2, 1, 0.3), k=rng.randrange(9)))
            expected = peer.encode(text)
            seen[expected is None] += 1
            ways: tuple[Callable[[], Any], ...] = (
                lambda tok=tok, text=text: tok.encode(text),
                lambda tok=tok, text=text: tok.encode_batch([text]).to_lists()[0],
                lambda tok=tok, text=text: tok.encoding(
                    text, add_special_tokens=False
                ).ids.tolist(),
            )
            for way in ways:
                assert answer(way) == expected, (file, text)
    assert min(seen.values()) > 400, seen


def test_bytes_that_no_text_has_may_lack() -> None:
    """GPT-NeoX's vocabulary has none of them and is a byte-level one; one byte more, and it is not."""
    rng = random.Random(7)
    unseen = [letter for letter in ALPHABET if letter not in OF_TEXT]
    assert len(unseen) == 13
    for lacking in [[], unseen, *(rng.sample(unseen, rng.randrange(1, 13)) for _ in range(20))]:
        for more in [[], ["Ã"], ["a"], ["Ġ"]]:
            letters = [letter for letter in ALPHABET if letter not in (*lacking, *more)]
            merges = [("Ġ", "a"), ("t", "h"), ("th", "e"), ("ê", "°"), ("ê°", "Ģ")]
            merges = [pair for pair in merges if {*"".join(pair)} <= {*letters}]
            pieces = [*rng.sample(letters, len(letters)), *map("".join, merges)]
            model = {
                "type": "BPE",
                "vocab": {text: id_ for id_, text in enumerate(pieces)},
                "merges": merges,
                "unk_token": rng.choice([None, "b"]),
                "fuse_unk": rng.random() < 0.5,
            }
            words = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
            file = json.dumps({"version": "1.0", "pre_tokenizer": words, "model": model})
            peer, tok = Peer(file), jogak.Tokenizer(hf_json.loads(file.encode()))
            assert isinstance(tok.spec.model, jogak.BPEModel)
            assert tok.spec.model.alphabet == ("chars" if more else "bytes")
            for _ in range(10):
                kinds = ("the a", "é가이\n", [chr(rng.randrange(0xD800))])
                text = "".join(rng.choice(rng.choice(kinds)) for _ in range(12))
                assert tok.encode(text) == peer.encode(text), (lacking, more, text)
