"""WordPiece: the core equals the reference, laws, files, traces, errors, interruption."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import inventories, texts, words

import jogak
from jogak import reference

MARKERS = [
    jogak.Marker("continuation"),
    jogak.Marker("continuation", text="@@"),
    jogak.Marker("prefix"),
    jogak.Marker("prefix", text="_"),
    jogak.Marker("prefix", text="<w>"),
]
SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


@st.composite
def configs(draw: st.DrawFn, markers: list[jogak.Marker] = MARKERS) -> jogak.WordPiece:
    """Any WordPiece that makes sense, with limits small enough to be reached."""
    return jogak.WordPiece(
        marker=draw(st.sampled_from(markers)),
        criterion=draw(st.sampled_from(["likelihood", "count"])),
        min_pair_count=draw(st.sampled_from(["auto", "auto", 1, 2, 4])),
        max_piece_length=draw(st.sampled_from([None, None, 1, 2, 3])),
        max_chars_per_word=draw(st.sampled_from([100, 100, 5, 1])),
        alphabet_size=draw(st.sampled_from([None, None, 1, 3])),
    )


def many_counts() -> st.SearchStrategy[dict[str, int]]:
    """Words with counts of all sizes, so that there are many bands."""
    return st.dictionaries(words(), st.integers(0, 9).map(lambda bits: 1 << bits), min_size=1)


def teach(
    counts: dict[str, int], config: jogak.WordPiece, specials: list[str]
) -> reference.WordPieceTraining:
    """The reference's training for a config."""
    assert isinstance(config.marker, jogak.Marker)
    size, others = config.vocab_size, list(specials)
    if config.unknown is not None and config.unknown not in others:
        others.insert(0, config.unknown)
        size = None if size is None else size + 1
    return reference.train_wordpiece(
        counts,
        spelling=oracle.spelling(config.marker),
        criterion=config.criterion,
        min_pair_count=config.min_pair_count,
        vocab_size=size,
        max_piece_length=config.max_piece_length,
        special_tokens=others,
        alphabet_size=config.alphabet_size,
    )


def model(tok: jogak.Tokenizer) -> reference.Model:
    """The reference's model of a tokenizer."""
    spec = tok.spec
    marker = spec.model.marker if spec.model.mark_words else jogak.Marker("none")
    pieces = tuple(text or f"\ue000hole {id_}" for id_, text in enumerate(spec.model.pieces))
    return reference.Model(
        pieces=pieces,
        spelling=oracle.spelling(marker),
        special_tokens=tuple(spec.special_tokens),
        unk=spec.model.unknown,
    )


def train(counts: dict[str, int], config: jogak.WordPiece, **options: Any) -> jogak.Tokenizer:
    return jogak.train(counts, config, pretokenizer="whitespace", **options)


def limit(tok: jogak.Tokenizer) -> int:
    assert isinstance(tok.spec.model, jogak.WordPieceModel)
    return tok.spec.model.max_chars_per_word


# --- training


@given(
    counts=st.one_of(inventories(), many_counts()),
    config=configs(),
    specials=st.lists(st.sampled_from(["[PAD]", "[UNK]", "ab", "##ab", "_ab"]), unique=True),
    extra=st.one_of(st.none(), st.integers(0, 20)),
)
def test_training_equals_the_reference(
    counts: dict[str, int], config: jogak.WordPiece, specials: list[str], extra: int | None
) -> None:
    """Pieces, counts, scores, live pieces, stop reason: all the same, step by step."""
    assert isinstance(config.marker, jogak.Marker)
    alphabet = reference.base_alphabet(counts, oracle.spelling(config.marker), every_plain=True)
    assume(set(specials).isdisjoint(alphabet))
    if extra is not None:
        # The unknown piece that is added is not counted.
        base = len(teach(counts, dataclasses.replace(config, vocab_size=1), specials).base)
        size = base - ("[UNK]" not in specials) + extra
        config = dataclasses.replace(config, vocab_size=size)
    tok = train(counts, config, special_tokens=specials)
    expected = teach(counts, config, specials)
    log = tok.training
    assert isinstance(log, jogak.WordPieceLog)
    assert log.stop == expected.stop
    assert [
        (s.count, s.left_count, s.right_count, s.occurrences, s.live, s.corpus_length)
        for s in log.steps
    ] == [
        (m.count, m.left_count, m.right_count, m.replaced, m.live, m.corpus_length)
        for m in expected.merges
    ]
    assert [step.score for step in log.steps] == pytest.approx(
        [float(merge.score) for merge in expected.merges]
    )
    assert (log.initial_live, log.initial_length) == (expected.start_live, expected.start_length)
    pieces = expected.pieces
    added = "[UNK]" not in specials
    # The unknown piece that nobody asked for stands behind all others; there it stands in front.
    assert tok.spec.model.pieces == ((*pieces[1:], pieces[0]) if added else pieces)


@given(counts=many_counts(), config=configs())
def test_an_observer_changes_nothing(counts: dict[str, int], config: jogak.WordPiece) -> None:
    """Traced or not, watched or not: the same tokenizer with the same log."""
    silent = train(counts, config)
    watched = train(counts, config, trace=True, progress=lambda *_: None)
    assert watched == silent
    assert watched.training == silent.training
    trace: Any = watched.training.trace  # type: ignore[union-attr]  # which model it is, the test knows
    for merge, step in zip(trace.merges, silent.training.steps, strict=True):  # type: ignore[union-attr]  # which model it is, the test knows
        first = merge.candidates[0]
        assert (merge.left, merge.right, merge.count) == (first.left, first.right, first.count)
        assert merge.score == first.score == step.score  # type: ignore[union-attr]  # which model it is, the test knows
        assert (
            merge.floor <= merge.count < 2 * merge.floor
            or config.min_pair_count != "auto"
            or (config.criterion == "count")
        )
        assert str(merge)


def test_a_smaller_vocabulary_is_the_beginning_of_a_larger_one() -> None:
    """What is learned first does not depend on how much is learned."""
    counts = {f"{a}{b}{c}": 7 * i + j + 1 for i, a in enumerate("abcd") for j, b in enumerate("xyz")
              for c in ("", "a", "xy")}  # fmt: skip
    for criterion in ("likelihood", "count"):
        large = train(counts, jogak.WordPiece(vocab_size=40, criterion=criterion, unknown=None))  # type: ignore[arg-type]  # names in a list
        small = train(counts, jogak.WordPiece(vocab_size=25, criterion=criterion, unknown=None))  # type: ignore[arg-type]  # names in a list
        assert large.spec.model.pieces[:25] == small.spec.model.pieces


def test_the_floor_keeps_rare_pairs_back() -> None:
    """Without a floor the rarest pair wins; with the floor that moves, frequent pairs go first."""
    counts = {"th": 100, "the": 50, "hat": 30, "qz": 1}
    rare = train(counts, jogak.WordPiece(min_pair_count=1, vocab_size=12))
    auto = train(counts, jogak.WordPiece(vocab_size=12))
    assert "qz" in rare.vocab
    assert "th" in auto.vocab and "qz" not in auto.vocab


def test_threads_do_not_matter() -> None:
    """Counting on one thread or on four: the same pieces."""
    lines = ["the lowest newest widest lower low 계란간장볶음밥 간장계란밥"] * 50
    config = jogak.WordPiece(vocab_size=60)
    toks = [jogak.train(iter(lines), config, num_threads=n) for n in (1, 4)]
    assert toks[0] == toks[1]
    assert toks[0].training == toks[1].training


def test_progress_and_interruption() -> None:
    """A progress callback sees the stage; Ctrl-C in it ends training with the pieces so far."""
    seen: list[tuple[str, int, int | None]] = []
    tok = train(SENNRICH, jogak.WordPiece(vocab_size=20), progress=lambda *a: seen.append(a))
    made = len(tok.training)  # type: ignore[arg-type]  # it has a log
    assert seen[-1] == ("merging", made, made)

    def stop(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(jogak.TrainingInterrupted) as caught:
        train(SENNRICH, jogak.WordPiece(vocab_size=19), progress=stop)
    partial = caught.value.tokenizer
    assert partial.training is not None and partial.training.stop == "interrupted"
    assert partial.encode("low")


# --- encoding


@st.composite
def tokenizers(draw: st.DrawFn) -> jogak.Tokenizer:
    """A tokenizer that learned a little, or whose pieces were made up."""
    config = draw(configs())
    if draw(st.booleans()):
        return train(draw(inventories()), config)
    parts = st.text("ab#가_@<w>", min_size=1, max_size=5)
    mark = config.marker.text or ""  # type: ignore[union-attr]  # which model it is, the test knows
    made_up = st.one_of(parts, parts.map(lambda text: mark + text), st.just(mark))
    pieces = draw(st.lists(made_up, unique=True, max_size=14))
    pieces = [piece for piece in pieces if piece != "[UNK]"]
    return jogak.Tokenizer(
        jogak.Spec(
            model=jogak.WordPieceModel(
                pieces=("[UNK]", *pieces),
                marker=config.marker,  # type: ignore[arg-type]  # resolved by then
                unknown="[UNK]",
                max_chars_per_word=config.max_chars_per_word,
            ),
            pretokenizer=(jogak.Named("whitespace"),),
        )
    )


@given(
    tok=tokenizers(),
    text=st.one_of(texts(12), st.lists(st.text("aab#가_@<w>", max_size=9)).map(" ".join)),
)
def test_encoding_equals_the_reference(tok: jogak.Tokenizer, text: str) -> None:
    """The same tokens for every word, and the same matches in the trace."""
    known, most = model(tok), limit(tok)
    found = [
        reference.encode_wordpiece(known, word, most)
        for word in reference.pretokenize(text, "whitespace")
    ]
    tokens = [token for word in found for token in word.tokens]
    assert tok.tokens(text) == tokens
    ids = [tok.vocab[token] for token in tokens]
    # Twice: the second time from memory.
    assert tok.encode(text) == ids and tok.encode(text) == ids
    trace = tok.explain(text)
    assert list(trace.ids) == ids, "an observer changes nothing"
    for ours, theirs in zip(trace.words, found, strict=True):
        assert ours.stop == theirs.stop
        taken: list[Any] = [step for step in ours.steps if step.candidates]  # type: ignore[union-attr]  # which model it is, the test knows
        assert [step.candidates for step in taken] == [match.tried for match in theirs.matches]
        assert [step.piece for step in taken] == [match.tried[0] for match in theirs.matches]
    assert str(trace)


@given(tok=tokenizers(), text=texts(12))
def test_spans_tile_the_words(tok: jogak.Tokenizer, text: str) -> None:
    """The tokens of a word lie side by side and cover it, unknown or not."""
    data = text.encode()
    for word in tok.explain(text).words:
        start, end = word.span
        assert data[start:end].decode() == word.text
        borders = [start, *(at for span in word.token_spans for at in span), end]
        assert borders[::2] == borders[1::2]


@given(
    counts=inventories(),
    marker=st.sampled_from(MARKERS),
    text=st.lists(words("aabbc가나é")).map(" ".join),
)
def test_decoding_gives_the_words_back(
    counts: dict[str, int], marker: jogak.Marker, text: str
) -> None:
    """Words that are known come back with one space between them."""
    tok = train(counts, jogak.WordPiece(marker=marker, min_pair_count=1))
    assume(marker.text not in text and "[UNK]" not in tok.tokens(text))  # type: ignore[operator]  # it has a text
    assert tok.decode(tok.encode(text)) == text


def test_long_words() -> None:
    """The limit counts characters; time is linear where no limit stops it."""
    pieces = ("[UNK]", "a", "##a", "##" + "a" * 5000 + "b", "가")
    spec = jogak.Spec(
        model=jogak.WordPieceModel(pieces=pieces, unknown="[UNK]", max_chars_per_word=10**6),
        pretokenizer=(jogak.Named("none"),),
    )
    tok = jogak.Tokenizer(spec)
    # A plain walk would read 5,000 characters for each of these.
    assert len(tok.encode("a" * 1_000_000)) == 1_000_000
    assert tok.tokens("a" * 1_000_001) == ["[UNK]"]
    short = jogak.Tokenizer(
        dataclasses.replace(spec, model=dataclasses.replace(spec.model, max_chars_per_word=1))  # type: ignore[type-var]  # it is a WordPiece model
    )
    assert short.tokens("가") == ["가"]
    assert short.tokens("aa") == ["[UNK]"]
    assert short.explain("aa").words[0].stop == "too-long"


def test_without_an_unknown_piece() -> None:
    """A word that pieces cannot cover is an error that shows it."""
    tok = train(SENNRICH, jogak.WordPiece(unknown=None))
    with pytest.raises(jogak.EncodeError, match="xylo"):
        tok.encode("low xylo")
    assert tok.tokens("low xylo") == ["low", "xylo"]


# --- whole texts and files


def test_usual_pretokenizers() -> None:
    """BERT's words for ##, ▁ for a prefix, white space for any other prefix."""
    lines = ["low lower, lowest!"]
    bert = jogak.train(iter(lines), jogak.WordPiece())
    assert bert.spec.pretokenizer == (jogak.Named("bert"),)
    spaced = jogak.train(iter(lines), jogak.WordPiece(marker="prefix", min_pair_count=1))
    assert spaced.spec.pretokenizer == (jogak.Metaspace(),)
    assert spaced.decode(spaced.encode("lower, low")) == "lower, low"
    other = jogak.train(iter(lines), jogak.WordPiece(marker=jogak.Marker("prefix", "_")))
    assert other.spec.pretokenizer == (jogak.Named("whitespace"),)


@given(tok=tokenizers())
def test_saved_and_pickled(tok: jogak.Tokenizer, tmp_path_factory: Any) -> None:
    """A file and a pickle hold all of it."""
    path = tmp_path_factory.mktemp("wordpiece") / "own.json"
    tok.save(path)
    for again in (jogak.load(path), pickle.loads(pickle.dumps(tok))):
        assert again == tok
        assert again.training == tok.training


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"marker": "none"}, "continuation"),
        ({"marker": "suffix"}, "continuation"),
        ({"criterion": "loss"}, "likelihood"),
        ({"min_pair_count": "some"}, "auto"),
        ({"min_pair_count": 0}, "at least 1"),
        ({"min_pair_count": None}, "auto"),
        ({"vocab_size": 0}, "at least 1"),
        ({"max_chars_per_word": 0}, "expected 1"),
        ({"max_chars_per_word": True}, "expected 1"),
        ({"alphabet_size": 0}, "at least 1"),
        ({"unknown": ""}, "not empty"),
    ],
)
def test_impossible_configs(options: dict[str, Any], words: str) -> None:
    """An impossible option is an error when the config is made, and says what is possible."""
    with pytest.raises(jogak.ConfigError, match=words):
        jogak.WordPiece(**options)


def test_what_only_bpe_has() -> None:
    """Merges, strategies, dropout and resizing are refused with the reason."""
    tok = train(SENNRICH, jogak.WordPiece())
    assert tok.merges == ()
    assert "WordPiece" in repr(tok)
    for call in (
        lambda: tok.encode("low", strategy="merges"),
        lambda: tok.count("low", strategy="longest-match"),
        lambda: tok.encode("low", dropout=0.1),
        lambda: tok.resized(12),
        lambda: jogak.train(SENNRICH, jogak.WordPiece(vocab_size=3)),
        lambda: jogak.train(SENNRICH, jogak.WordPiece(), pretokenizer="metaspace"),
    ):
        with pytest.raises(jogak.ConfigError):
            call()


def test_files_of_merges_refuse_it(tmp_path: Path) -> None:
    """vocab.json with merges.txt and rank files have no place for WordPiece."""
    tok = train(SENNRICH, jogak.WordPiece())
    for format in ("vocab-merges", "tiktoken"):
        with pytest.raises(jogak.UnsupportedFeature):
            tok.save(tmp_path / format, format=format)
