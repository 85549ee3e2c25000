"""Decoder chains and streams: equal to Hugging Face's, to the plain-Python twin, and to each other."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak import reference
from jogak.spec import (
    BPEModel,
    DecodeByteFallback,
    DecodeByteLevel,
    DecodeCTC,
    DecodeFuse,
    DecodeMetaspace,
    DecodeReplace,
    DecoderStage,
    DecodeStrip,
    DecodeSuffix,
    DecodeWordPiece,
    Spec,
    resolve_pretokenizer,
)

#: Parts of token texts that some rule looks at.
PARTS = [
    *("a", "n", "do", " ", "  ", ".", ",", "?", "!", "'", "s", "m", "'s", " n't", "not", "|", "<pad>"),
    *("##", "#", "</w>", "</", "w>", "▁", "▁▁", "Ġ", "Ċ", "é", "가", "😀", "Ã", "©", "ì", "ģ", "ļ"),
    *("<0x41>", "<0xEA>", "<0xB0>", "<0x80>", "<0x", ">", "<0x+F>", "<0xg1>", "<0xé>", "<0x4é>"),
]  # fmt: skip
texts = st.one_of(
    st.sampled_from(PARTS),
    st.sampled_from([part for part in PARTS if part.startswith("<0x")]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("".join),
    st.just(""),
)
REGEXES = [" +", "a*", "(?=a)", "▁", r"\A", r"\z", "(?<=n)d", "[a-z]"]

stages: st.SearchStrategy[DecoderStage] = st.one_of(
    st.builds(DecodeByteLevel),
    st.builds(DecodeByteFallback),
    st.builds(DecodeFuse),
    st.builds(DecodeWordPiece, st.sampled_from(["##", "", "▁", "aa"]), st.booleans()),
    st.builds(
        DecodeMetaspace,
        st.sampled_from(["▁", "a", " "]),
        st.sampled_from(["first", "always", "never"]),
    ),
    st.builds(DecodeSuffix, st.sampled_from(["</w>", "a", "▁", " "])),
    st.builds(
        DecodeReplace,
        st.sampled_from(["▁", "aa", "nan", " ", ""]),
        st.sampled_from([" ", "", "ab"]),
    ),
    st.builds(
        DecodeReplace,
        st.sampled_from(REGEXES),
        st.sampled_from([" ", "", "ab"]),
        st.just(True),
    ),
    st.builds(
        DecodeStrip,
        st.sampled_from([" ", "a", "▁"]),
        st.integers(0, 3),
        st.sampled_from([0, 0, 1, 2]),
    ),
    st.builds(
        DecodeCTC, st.sampled_from(["<pad>", "a"]), st.sampled_from(["|", " "]), st.booleans()
    ),
)
chains = st.lists(stages, max_size=4).map(tuple)


def tokenizer_of(pieces: Sequence[str], chain: Sequence[DecoderStage] | None) -> jogak.Tokenizer:
    """A tokenizer that decodes; special tokens are those that begin with ``<pad``."""
    model = BPEModel(pieces=tuple(pieces), merges=())
    special = {text: id_ for id_, text in enumerate(pieces) if text.startswith("<pad")}
    decoder = None if chain is None else tuple(chain)
    return jogak.Tokenizer(
        Spec(
            model=model,
            pretokenizer=resolve_pretokenizer("none"),
            special_tokens=special,
            decoder=decoder,
        )
    )


def streamed(tok: jogak.Tokenizer, ids: Sequence[int], sizes: Sequence[int], **options: Any) -> str:
    """The text of a stream that gets the ids in lists of these sizes."""
    stream = tok.decoder(**options)
    out, at = "", 0
    for size in (*sizes, len(ids)):
        out += stream.push(ids[at : at + size])
        at += size
    return out + stream.finish()


def theirs(stage: DecoderStage) -> Any:
    """The stage as Hugging Face has it."""
    tokenizers = pytest.importorskip("tokenizers")
    d = tokenizers.decoders
    if isinstance(stage, DecodeByteLevel):
        return d.ByteLevel()
    if isinstance(stage, DecodeByteFallback):
        return d.ByteFallback()
    if isinstance(stage, DecodeFuse):
        return d.Fuse()
    if isinstance(stage, DecodeWordPiece):
        return d.WordPiece(prefix=stage.prefix, cleanup=stage.cleanup)
    if isinstance(stage, DecodeMetaspace):
        return d.Metaspace(replacement=stage.replacement, prepend_scheme=stage.prepend)
    if isinstance(stage, DecodeSuffix):
        return d.BPEDecoder(suffix=stage.suffix)
    if isinstance(stage, DecodeReplace):
        pattern = tokenizers.Regex(stage.pattern) if stage.regex else stage.pattern
        return d.Replace(pattern, stage.replacement)
    if isinstance(stage, DecodeStrip):
        return d.Strip(stage.content, stage.start, stage.stop)
    return d.CTC(stage.pad_token, stage.word_delimiter_token, stage.cleanup)


def their_answer(chain: Sequence[DecoderStage], tokens: Sequence[str]) -> str | None:
    """What Hugging Face's chain gives; None where it breaks off."""
    if not chain:
        return " ".join(tokens)
    decoders = pytest.importorskip("tokenizers").decoders
    try:
        return str(decoders.Sequence([theirs(stage) for stage in chain]).decode(list(tokens)))
    except BaseException as error:
        assert type(error).__name__ == "PanicException", error
        return None


def lone_strip(chain: Sequence[DecoderStage]) -> bool:
    return any(isinstance(stage, DecodeStrip) and stage.stop for stage in chain)


@given(chain=chains, tokens=st.lists(texts, max_size=12), data=st.data())
def test_chains_are_those_of_hugging_face(
    chain: tuple[DecoderStage, ...], tokens: list[str], data: st.DataObject
) -> None:
    """Any list of tokens, any chain: the core, the twin, and Hugging Face; and streams of any sizes."""
    pieces = list(dict.fromkeys(tokens)) or ["a"]
    tok = tokenizer_of(pieces, chain)
    ids = [pieces.index(text) for text in tokens]
    ours = tok.decode(ids)
    assert ours == reference.run_chain([stage.to_dict() for stage in chain], tokens)
    expected = their_answer(chain, tokens)
    assert ours == expected or (expected is None and lone_strip(chain))
    sizes = data.draw(st.lists(st.integers(0, 3), max_size=8))
    assert streamed(tok, ids, sizes) == ours
    assert streamed(tok, ids, [1] * len(ids)) == ours
    rest = [text for text in tokens if not text.startswith("<pad")]
    skipped = tok.decode(ids, skip_special_tokens=True)
    assert skipped == reference.run_chain([stage.to_dict() for stage in chain], rest)
    assert streamed(tok, ids, sizes, skip_special_tokens=True) == skipped


@pytest.mark.parametrize(
    "chain",
    [
        (DecodeByteLevel(),),
        (DecodeReplace("▁", " "), DecodeByteFallback(), DecodeFuse(), DecodeStrip(" ", 1, 0)),
        (DecodeWordPiece(),),
        (DecodeMetaspace(),),
        (DecodeSuffix(),),
        (DecodeCTC(),),
        (),
        None,
    ],
)
def test_the_chains_that_files_have(chain: tuple[DecoderStage, ...] | None) -> None:
    """Long lists of all kinds of tokens, with errors in them."""
    source = random.Random(7)
    pieces = list(dict.fromkeys(PARTS + ["".join(source.choices(PARTS, k=3)) for _ in range(200)]))
    tok = tokenizer_of(pieces, chain)
    lists = [source.choices(range(len(pieces)), k=source.randint(0, 80)) for _ in range(200)]
    for ids in lists:
        ours = tok.decode(ids)
        if chain is not None:
            assert ours == their_answer(chain, [pieces[id_] for id_ in ids])
        assert streamed(tok, ids, [source.randint(0, 4) for _ in ids]) == ours
        assert "".join(tok.decoder().feed(ids)) == ours
    expected = [tok.decode(ids) for ids in lists]
    assert tok.decode_batch(lists) == expected
    assert tok.decode_batch([np.array(ids, dtype=np.uint32) for ids in lists]) == expected
    flat = np.array([id_ for ids in lists for id_ in ids], dtype=np.uint32)
    offsets = np.cumsum([0, *map(len, lists)])
    for threads in (1, 2, 5):
        ragged = jogak.Ragged(flat, offsets)
        assert tok.decode_batch(ragged, num_threads=threads) == expected


def test_streams_give_what_is_certain() -> None:
    """Each kind of thing that waits, and no more of it than must."""
    tok = tokenizer_of(["low", "est</w>", "é", "."], (DecodeSuffix(),))
    stream = tok.decoder()
    assert [stream.push(id_) for id_ in (0, 1, 0, 1)] == ["low", "est", " low", "est"]
    assert stream.finish() == ""
    llama = (DecodeReplace("▁", " "), DecodeByteFallback(), DecodeFuse(), DecodeStrip(" ", 1, 0))
    tok = tokenizer_of(["▁a", "<0xEA>", "<0xB0>", "<0x80>", "b"], llama)
    stream = tok.decoder()
    assert [stream.push(id_) for id_ in (0, 1, 2, 3, 4, 1, 4)] == [
        *("a", "", "", "", "가b", "", "\ufffdb"),
    ]
    assert stream.push([0]) == " a"
    other = stream.copy()
    assert (stream.push(1), stream.finish(), other.push(4)) == ("", "\ufffd", "b")
    tok = tokenizer_of(["ê", "°", "Ģ", "a"], (DecodeByteLevel(),))
    stream = tok.decoder()
    assert [stream.push(id_) for id_ in (3, 0, 1, 2, 0, 3)] == ["a", "", "", "가", "", "\ufffda"]
    assert stream.push([0]) + stream.finish() == "\ufffd"
    # After its end a stream begins anew.
    assert stream.push([3]) == "a"


def test_a_stream_does_not_take_ids_that_stand_for_nothing() -> None:
    tok = tokenizer_of(["a", "b"], (DecodeFuse(),))
    stream = tok.decoder()
    stream.push(0)
    with pytest.raises(jogak.DecodeError, match="id 7"):
        stream.push([1, 7])
    with pytest.raises(jogak.DecodeError, match="id 7"):
        tok.decode([1, 7])
    with pytest.raises(jogak.DecodeError, match="list 1 of the batch: id 7"):
        tok.decode_batch([[0], [7]])
    with pytest.raises(jogak.DecodeError, match="offsets"):
        tok.decode_batch(jogak.Ragged(np.array([0], dtype=np.uint32), np.array([0, 2])))
    assert stream.push(1) + stream.finish() == "b"


def test_bytes_stay_where_text_has_replacements() -> None:
    tok = tokenizer_of(["<0x41>", "<0xEA>", "<0xB0>", "a"], (DecodeByteFallback(), DecodeFuse()))
    assert tok.decode([3, 0, 1, 2]) == "a\ufffd\ufffd\ufffd"
    assert tok.decode_bytes([3, 0, 1, 2]) == b"aA\xea\xb0"
    with pytest.raises(jogak.DecodeError, match="byte 2"):
        tok.decode([3, 0, 1, 2], errors="strict")
    tok = tokenizer_of(["ê", "°", "a"], (DecodeByteLevel(),))
    assert tok.decode_bytes([2, 0, 1]) == b"a\xea\xb0"


MODELS = [
    "bert-base-cased",
    "gpt-neox",
    "gpt2",
    "phi-3-mini",
    "roberta-base",
    "t5-small",
    "xlnet-base-cased",
    "mistral-v1",
]


@pytest.mark.parametrize("name", MODELS)
def test_real_models(name: str, data: Callable[[str], Path]) -> None:
    """Random ids of real vocabularies, through the decoder of their file."""
    tokenizers = pytest.importorskip("tokenizers")
    path = data(f"models/{name}/tokenizer.json")
    peer = tokenizers.Tokenizer.from_file(str(path))
    found = json.loads(path.read_text())
    size = 1 + max(peer.get_vocab().values())
    pieces = tuple(peer.id_to_token(id_) for id_ in range(size))
    special = {token["content"]: token["id"] for token in found["added_tokens"] if token["special"]}
    tok = jogak.Tokenizer(
        Spec(
            model=BPEModel(pieces=pieces, merges=()),
            pretokenizer=resolve_pretokenizer("none"),
            special_tokens=special,
            decoder=stages_of(found["decoder"]),
        )
    )
    source = random.Random(3)
    known = [id_ for id_, text in enumerate(pieces) if text is not None]
    lists = [source.choices(known, k=source.randint(0, 60)) for _ in range(200)]
    lists += [peer.encode(text).ids for text in ("Don't do that, 계란밥 😀!", "  two  spaces\n")]
    for ids in lists:
        for skip in (False, True):
            expected = peer.decode(ids, skip_special_tokens=skip)
            assert tok.decode(ids, skip_special_tokens=skip) == expected
            sizes = [source.randint(0, 3) for _ in ids]
            assert streamed(tok, ids, sizes, skip_special_tokens=skip) == expected


def stages_of(decoder: Any) -> tuple[DecoderStage, ...]:
    """A decoder section of a tokenizer.json."""
    if decoder is None:
        return ()
    kind = decoder["type"]
    if kind == "Sequence":
        return tuple(stage for part in decoder["decoders"] for stage in stages_of(part))
    if kind == "ByteLevel":
        return (DecodeByteLevel(),)
    if kind == "WordPiece":
        return (DecodeWordPiece(decoder["prefix"], decoder["cleanup"]),)
    if kind == "Metaspace":
        prepend = decoder.get("prepend_scheme", "always")
        return (DecodeMetaspace(decoder["replacement"], prepend),)
    if kind == "Replace":
        return (DecodeReplace(decoder["pattern"]["String"], decoder["content"]),)
    if kind == "Strip":
        return (DecodeStrip(decoder["content"], decoder["start"], decoder["stop"]),)
    return {"ByteFallback": (DecodeByteFallback(),), "Fuse": (DecodeFuse(),)}[kind]
