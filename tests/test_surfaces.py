"""`jogak.surfaces` beside its twin, `jogak.reference.surfaces`: normalized texts, places, pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jogak
from jogak.formats import protobuf
from jogak.reference import surfaces as twin
from jogak.surfaces import Counted, Cut, Surfaces

LETTERS = "ab \t▁é\u0301가각中🧩\0"
UNKNOWN, BYTE, TEXT, USER = 2, 6, 1, 4

rules = st.dictionaries(
    st.text(LETTERS[:-1], min_size=1, max_size=3), st.text("abxy ▁", max_size=3), max_size=6
)
kept = st.lists(st.text(LETTERS, min_size=1, max_size=3), max_size=3, unique=True)
data = st.lists(
    st.one_of(
        st.text(LETTERS, max_size=6).map(str.encode),
        st.sampled_from([b"\xff", b"\xe4\xb8", b"\xed\xa0\x80", b"\xf0\x9f", b"  "]),
    ),
    max_size=8,
).map(b"".join)
flags = st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans())


def surfaces(
    rules: dict[str, str],
    kept: list[str],
    flags: tuple[bool, bool, bool, bool],
    pieces: tuple[str, ...] = (),
    types: tuple[int, ...] = (),
) -> Surfaces:
    charsmap = jogak.compile_rules(list(rules.items())).data if rules else b""
    return Surfaces(charsmap, kept, *flags, pieces, bytes(types))


def by_twin(
    data: bytes,
    rules: dict[str, str],
    kept: list[str],
    flags: tuple[bool, bool, bool, bool],
) -> tuple[str, list[int]]:
    charsmap = jogak.compile_rules(list(rules.items())).data if rules else b""
    stage = jogak.Charsmap(charsmap, keep=tuple(kept))

    def matches(text: str) -> list[tuple[str, int, int]]:
        found = jogak.normalize(text, [stage])
        spans = zip(found.text, found.spans, strict=True)
        return [(letter, start, end) for letter, (start, end) in spans]

    squeeze, escape, prefix, suffix = flags
    return twin.normalize(
        data,
        matches if rules else None,
        kept,
        squeeze=squeeze,
        escape=escape,
        prefix=prefix,
        suffix=suffix,
    )


def places(data: bytes) -> list[int]:
    """Which character each byte of a text is of."""
    text = data.decode("utf-8", "surrogateescape")
    sizes = [len(letter.encode("utf-8", "surrogateescape")) for letter in text]
    return [number for number, size in enumerate(sizes) for _ in range(size)] + [len(text)]


@given(data, rules, kept, flags)
def test_texts_and_places_are_those_of_the_twin(
    data: bytes,
    rules: dict[str, str],
    kept: list[str],
    flags: tuple[bool, bool, bool, bool],
) -> None:
    text, origins = by_twin(data, rules, kept, flags)
    core = surfaces(rules, kept, flags)
    counted = core.normalize(data)
    assert counted.text == text
    assert core.texts([data, data]) == [text, text]
    sizes = [len(letter.encode()) for letter in text]
    of_bytes = [at for at, size in zip(origins, sizes, strict=False) for _ in range(size)]
    assert counted.origins(True) == of_bytes + origins[-1:]
    place = places(data)
    assert counted.origins(False) == [place[at] for at in origins]


def ids_of(text: str, pieces: tuple[str, ...], types: tuple[int, ...], fallback: bool) -> list[int]:
    """Some ids of a normalized text: the longest piece at each place, else what is unknown."""
    ids, at = [], 0
    while at < len(text):
        fits = [id_ for id_, piece in enumerate(pieces) if types[id_] in (TEXT, USER)]
        fits = [id_ for id_ in fits if pieces[id_] and text.startswith(pieces[id_], at)]
        if fits:
            best = max(fits, key=lambda id_: len(pieces[id_]))
            ids.append(best)
            at += len(pieces[best])
        else:
            names = [f"<0x{byte:02X}>" for byte in text[at].encode()]
            ids += [pieces.index(name) for name in names] if fallback else [0]
            at += 1
    return ids


@given(
    data,
    rules,
    flags,
    st.lists(st.text("abxy▁가é", min_size=1, max_size=3), max_size=6),
    st.booleans(),
)
def test_pieces_are_those_of_the_twin(
    data: bytes,
    rules: dict[str, str],
    flags: tuple[bool, bool, bool, bool],
    some: list[str],
    fallback: bool,
) -> None:
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    pieces = ("<unk>", *bytes_, *some)
    types = (UNKNOWN, *[BYTE] * 256, *[TEXT] * len(some))
    core = surfaces(rules, [], flags, pieces, types)
    counted = core.normalize(data)
    text, origins = by_twin(data, rules, [], flags)
    ids = ids_of(text, pieces, types, fallback)
    expected = twin.cut(data, text, origins, ids, pieces, unknown=0, byte_ids=range(1, 257))
    cut = counted.cut(ids, False)
    assert cut is not None
    same(cut, expected, data, pieces)
    # With one id for unknown characters that follow each other: the same, or nothing at all.
    fused = [id_ for _, id_, *_ in expected]
    found = counted.cut(fused, True)
    if found is not None:
        same(found, expected, data, pieces)
    texts = [piece for piece, *_ in expected]
    names = tuple(piece.encode() for piece in pieces)
    # Many at once, of what is text.
    try:
        whole = data.decode()
    except UnicodeDecodeError:
        return
    flat, offsets = np.array(fused * 2, dtype=np.uint32), np.array([0, len(fused), 2 * len(fused)])
    rows = core.pieces([whole, whole], flat, offsets, pieces, False)
    assert rows == ([None] * 2 if found is None else [texts] * 2)
    rows = core.pieces([whole, whole], flat, offsets, names, True)
    assert rows == ([None] * 2 if found is None else [[*map(str.encode, texts)]] * 2)


def same(cut: Cut, expected: list[twin.Surface], data: bytes, pieces: tuple[str, ...]) -> None:
    """Whether a cut is that of the twin, however it is asked for."""
    ids, texts = [id_ for _, id_, *_ in expected], [piece for piece, *_ in expected]
    names = tuple(piece.encode() for piece in pieces)
    assert cut.ids() == ids
    assert cut.pieces(pieces, False) == texts
    assert cut.pieces(names, True) == [*map(str.encode, texts)]
    rows = [(piece.encode(), *rest) for piece, *rest in expected]
    assert cut.rows() == rows
    spans = [(begin, end) for *_, begin, end in expected]
    assert cut.mapping(True) == (ids, [*map(str.encode, texts)], spans)
    place = places(data)
    in_characters = [(place[begin], place[end]) for begin, end in spans]
    assert cut.mapping(False) == (ids, texts, in_characters)
    for score in (None, -1.5):
        message = protobuf.bytes_field(1, data)
        for piece, id_, surface, begin, end in rows:
            fields = protobuf.bytes_field(1, piece) + protobuf.int_field(2, id_)
            fields += b"" if surface is None else protobuf.bytes_field(3, surface)
            fields += protobuf.int_field(4, begin) + protobuf.int_field(5, end)
            message += protobuf.bytes_field(2, fields)
        message += b"" if score is None else protobuf.float_field(3, score)
        assert cut.serialized(score) == message


def small() -> Counted:
    pieces, types = ("<unk>", "▁a", "b", "c?", "d"), (UNKNOWN, TEXT, TEXT, TEXT, 5)
    return surfaces({}, [], (True, True, True, False), pieces, types).normalize(b"ab?")


@pytest.mark.parametrize(
    "ids", [[], [1], [1, 2], [1, 2, 0, 0], [1, 2, 9], [2, 2, 0, 0, 0]], ids=str
)
def test_ids_of_another_text_are_refused(ids: list[int]) -> None:
    counted = small()
    cut = counted.cut([1, 2, 0], False)
    assert cut is not None
    assert cut.ids() == [1, 2, 0]
    with pytest.raises(jogak.EncodeError, match="not the ids of the normalized text"):
        counted.cut(ids, False)
    assert counted.cut(ids, True) is None


def test_unknown_characters_end_where_a_known_one_begins() -> None:
    """Where that is not certain, nothing is told: a piece may begin with one that is none by itself."""
    pieces, types = ("<unk>", "▁", "b", "cb", "e"), (UNKNOWN, TEXT, TEXT, TEXT, 5)
    core = surfaces({}, [], (True, True, True, False), pieces, types)
    for text, ids, expected in [
        ("xyb", [1, 0, 2], ["▁", "xy", "b"]),
        ("xyb?", [1, 0, 2, 0], ["▁", "xy", "b", "?"]),
        ("xcb", [1, 0, 2], ["▁", "xc", "b"]),
        ("xcb", [1, 0, 3], None),
        ("xeb", [1, 0, 2], None),
    ]:
        cut = core.normalize(text.encode()).cut(ids, True)
        assert (cut and cut.pieces(pieces, False)) == expected, text


def test_a_broken_charsmap_is_refused() -> None:
    with pytest.raises(jogak.FormatError):
        Surfaces(b"\xff\xff\xff\xff", [], True, True, True, False, (), b"")
