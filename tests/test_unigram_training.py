"""Unigram training: the core equals its twin to the last bit, and real peers are not better."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jogak
from jogak.explain import Estimation, Pruning, UnigramTrainingTrace
from jogak.reference import unigram_train as twin
from jogak.spec import UnigramModel

HUG = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


def script(character: str) -> str:
    """The script of the letters of these tests."""
    if "가" <= character <= "힣":
        return "Hangul"
    if character == "\u0301":
        return "Inherited"
    return {"д": "Cyrillic", "г": "Cyrillic"}.get(
        character, "Latin" if character.isascii() and character.isalpha() else "Common"
    )


def learned(tok: jogak.Tokenizer, *others: str) -> dict[str, float]:
    """Piece -> score of what was learned."""
    model = tok.spec.model
    assert isinstance(model, UnigramModel)
    pairs = zip(model.pieces, model.scores, strict=True)
    without = {"<unk>", *tok.spec.special_tokens, *others}
    return {piece: score for piece, score in pairs if piece is not None and piece not in without}


def train(words: Mapping[str, int], threads: int = 1, trace: bool = False, **options: Any) -> Any:
    return jogak.train(
        words,
        jogak.Unigram(**{"character_coverage": 1.0, **options}),
        pretokenizer="none",
        num_threads=threads,
        trace=trace,
    )


letters = st.sampled_from(["ab", "abcde", "abдг1.", "ab\u0301г가나", "가나다라마바사"])
inventories = letters.flatmap(
    lambda chosen: st.dictionaries(
        st.one_of(
            st.text(chosen, min_size=1, max_size=8), st.text(chosen, min_size=1, max_size=60)
        ),
        st.one_of(st.integers(1, 9), st.integers(1, 10**12)),
        min_size=1,
        max_size=40,
    )
)
options = st.fixed_dictionaries(
    {
        "seed_size": st.sampled_from([0, 3, 30, 1_000_000]),
        "shrinking_factor": st.sampled_from([0.5, 0.75, 0.9]),
        "num_sub_iterations": st.integers(1, 3),
        "max_piece_length": st.sampled_from([1, 2, 5, 16, 33, 64]),
        "character_coverage": st.sampled_from([1.0, 0.95, 0.8]),
    }
)


@settings(deadline=None)
@given(
    words=inventories,
    extra=st.integers(0, 40),
    options=options,
    scripts=st.booleans(),
    threads=st.integers(1, 3),
)
def test_the_core_equals_its_twin(
    words: dict[str, int], extra: int, options: dict[str, Any], scripts: bool, threads: int
) -> None:
    size = len(twin.alphabet(words, options["character_coverage"])) + extra
    expected = twin.train(words, size, script=script if scripts else None, **options)
    if len(expected.pieces) < size:
        with pytest.raises(jogak.ConfigError, match=f"at most {len(expected.pieces)}:"):
            train(words, threads, vocab_size=size, split_by_unicode_script=scripts, **options)
        size = len(expected.pieces)
        expected = twin.train(words, size, script=script if scripts else None, **options)
    tok = train(words, threads, vocab_size=size, split_by_unicode_script=scripts, **options)
    # Pieces, their order, and every bit of their scores.
    assert list(learned(tok).items()) == list(expected.pieces.items())
    rounds = [(one.start, one.estimated, one.kept) for one in tok.training.rounds]
    assert rounds == list(expected.sizes)


@settings(deadline=None, max_examples=30)
@given(words=inventories, seeds=st.sampled_from(["suffix", "sentencepiece"]), order=st.randoms())
def test_threads_order_and_traces_change_nothing(
    words: dict[str, int], seeds: str, order: Any
) -> None:
    size = len(set("".join(words)))
    first = train(words, vocab_size=size, seeds=seeds)
    shuffled = list(words.items())
    order.shuffle(shuffled)
    again = train(dict(shuffled), threads=3, trace=True, vocab_size=size, seeds=seeds)
    assert again.spec == first.spec
    assert again.training == first.training
    assert first.training.trace is None
    assert isinstance(again.training.trace, UnigramTrainingTrace)


def test_a_case_done_by_hand() -> None:
    # Chunks ab x 3, a, b. Candidates: ab alone (3 times, length 2): scores a 4, b 4, ab 6.
    # First probabilities 4/14, 4/14, 6/14. In "ab", a + b has 16/196 and ab 84/196: shares .16, .84.
    # Expected: a, b 1 + 3 x .16 = 1.48 each, ab 2.52.
    tok = train({"ab": 3, "a": 1, "b": 1}, trace=True, vocab_size=3)
    first = tok.training.trace.estimations[0]
    assert {one.piece: round(one.expected, 4) for one in first.expected} == {
        "ab": 2.52,
        "a": 1.48,
        "b": 1.48,
    }
    assert {one.piece: one.before for one in first.expected} == {
        "ab": 6 / 14,
        "a": 4 / 14,
        "b": 4 / 14,
    }
    likelihood = 3 * math.log(100 / 196) + 2 * math.log(4 / 14)
    assert first.log_likelihood == pytest.approx(likelihood, rel=1e-12)
    assert sorted(learned(tok)) == ["a", "ab", "b"]


def test_the_trace_tells_what_happened() -> None:
    words = {"abcabc": 5, "abcd": 3, "bcd": 4, "cdab": 2, "dcba": 3, "aabb": 2}
    tok = train(words, trace=True, vocab_size=5, shrinking_factor=0.5)
    trace, rounds = tok.training.trace, tok.training.rounds
    assert len(trace.prunings) == len(rounds) - 1 == trace.total_rounds - 1
    assert len(trace.estimations) == 2 * len(rounds)
    for step in trace.steps:
        if isinstance(step, Pruning):
            gone = step.removed_total + step.unused_total + step.split_total
            # What was expected too rarely has gone before.
            assert step.kept <= step.pieces - gone
            assert step.kept == rounds[step.round].kept
            kept = [one.loss for one in step.largest if one.loss is not None]
            removed = [one.loss for one in step.removed if one.loss is not None]
            assert not kept or not removed or min(kept) >= max(removed)
        else:
            assert isinstance(step, Estimation)
            assert step.log_likelihood < 0
    plain = twin.train(words, 5, shrinking_factor=0.5)
    likelihoods = [step.log_likelihood for step in trace.estimations]
    assert likelihoods == pytest.approx(plain.likelihoods, rel=1e-12)
    assert "round 1, removal" in str(trace)
    assert trace.to_dict()["total_rounds"] == len(rounds)
    only_first = jogak.train(
        words, tok.training.config, pretokenizer="none", trace=1
    ).training.trace
    assert only_first.steps == tuple(step for step in trace.steps if step.round == 0)


def test_what_is_trained_can_be_saved(tmp_path: Path) -> None:
    tok = jogak.train(HUG, jogak.Unigram(vocab_size=10), special_tokens=["<pad>"])
    tok.save(tmp_path / "hug.jogak.json")
    loaded = jogak.load(tmp_path / "hug.jogak.json")
    assert (loaded.spec, loaded.training) == (tok.spec, tok.training)
    assert loaded.tokens("hugs") == tok.tokens("hugs")


def test_ids_and_pieces_that_are_not_learned() -> None:
    config = jogak.Unigram(
        vocab_size=267, byte_fallback=True, user_defined=["ug"], character_coverage=1.0
    )
    tok = jogak.train(HUG, config, pretokenizer="none", special_tokens=["<pad>", "<s>"])
    model = tok.spec.model
    assert isinstance(model, UnigramModel)
    assert model.pieces[:3] == ("<pad>", "<s>", "<0x00>")
    assert model.pieces[258] == "ug"
    assert model.user_defined == (258,)
    assert len(tok) == 267
    # Nothing is learned across a user-defined piece, and nothing of it.
    assert not any("g" in piece for piece in model.pieces[259:] if piece)
    assert tok.tokens("hugs") == ["h", "ug", "s"]


def test_required_characters_are_pieces() -> None:
    config = jogak.Unigram(vocab_size=5, character_coverage=0.5, required_chars="zé")
    tok = jogak.train({"aaab": 9, "aac": 1}, config, pretokenizer="none")
    scores = learned(tok)
    assert {"a", "z", "é"} <= set(scores)
    assert scores["z"] == scores["é"] == min(scores.values())
    assert "c" not in scores


def test_pieces_may_cross_words() -> None:
    texts = ["of the day", "of the night", "of the day and of the night"] * 3
    config = jogak.Unigram(vocab_size=15, split_by_whitespace=False, character_coverage=1.0)
    tok = jogak.train(iter(texts), config)
    assert any("▁" in piece.strip("▁") for piece in learned(tok))
    assert not any(piece != "▁" and piece.endswith("▁") for piece in learned(tok))


def test_the_space_may_belong_to_the_word_before() -> None:
    config = jogak.Unigram(vocab_size=8, treat_whitespace_as_suffix=True, character_coverage=1.0)
    tok = jogak.train(iter(["low lower low", "lower low"] * 5), config)
    assert "low▁" in learned(tok)
    assert not any(piece != "▁" and piece.startswith("▁") for piece in learned(tok))
    assert tok.decode(tok.encode("low lower")) == "low lower"


@pytest.mark.parametrize(
    ("config", "words", "named"),
    [
        ({"vocab_size": 3}, HUG, "at least 7: 7 for the alphabet"),
        ({"vocab_size": 500}, HUG, "at most 12:"),
        ({"vocab_size": 9, "split_by_whitespace": False}, HUG, "Metaspace.split=False"),
        ({"vocab_size": 9, "treat_whitespace_as_suffix": True}, HUG, "has suffix=False"),
    ],
)
def test_errors_say_what_to_do(config: dict[str, Any], words: dict[str, int], named: str) -> None:
    pretokenizer = "none" if named.startswith("at ") else "metaspace"
    with pytest.raises(jogak.ConfigError, match=named):
        jogak.train(words, jogak.Unigram(**config), pretokenizer=pretokenizer)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("vocab_size", 0),
        ("vocab_size", None),
        ("seed_size", -1),
        ("seeds", "best"),
        ("shrinking_factor", 1.0),
        ("shrinking_factor", float("nan")),
        ("num_sub_iterations", 0),
        ("max_piece_length", 65),
        ("character_coverage", 0.0),
        ("required_chars", 3),
        ("split_digits", "yes"),
        ("user_defined", "<sep>"),
        ("user_defined", ["a", "a"]),
        ("user_defined", [""]),
    ],
)
def test_impossible_options_are_refused(option: str, value: object) -> None:
    with pytest.raises(jogak.ConfigError, match=option):
        jogak.Unigram(**{option: value})


def test_an_interruption_hands_over_the_model_so_far() -> None:
    # Long enough that Python is asked in between, which happens every 80 ms.
    random = Random(1)
    words = {"".join(random.choices("abcdefghij", k=9)): i for i in range(1, 60_000)}

    def stop(stage: str, done: int, total: int | None) -> None:
        if stage == "pruning":
            raise KeyboardInterrupt

    config = jogak.Unigram(vocab_size=20, character_coverage=1.0)
    with pytest.raises(jogak.TrainingInterrupted) as caught:
        jogak.train(words, config, pretokenizer="none", progress=stop)
    assert len(caught.value.tokenizer) == 21
    assert caught.value.tokenizer.training.stop == "interrupted"


# --- beside the real peer -------------------------------------------------------------------------


def quality(pieces: Mapping[str, float], texts: Iterable[str]) -> tuple[float, float]:
    """Log-likelihood of the best cut per character, and tokens per character.

    Scores are made to sum up to 1: a model cannot look better by promising more than there is.
    """
    everything = math.log(sum(map(math.exp, pieces.values())))
    words = Counter(word for text in texts for word in text.split(" ") if word)
    likelihood = tokens = characters = 0.0
    for word, count in words.items():
        text = "▁" + word
        best = [(0.0, 0)] + [(-math.inf, 0)] * len(text)
        for start in range(len(text)):
            log, cuts = best[start]
            for end in range(start + 1, min(start + 16, len(text)) + 1):
                score = pieces.get(text[start:end])
                if score is None and end > start + 1:
                    continue
                step = -25.0 if score is None else score - everything
                best[end] = max(best[end], (log + step, cuts + 1), key=lambda way: way[0])
        likelihood += best[-1][0] * count
        tokens += best[-1][1] * count
        characters += len(text) * count
    return likelihood / characters, tokens / characters


@pytest.mark.parametrize(
    ("name", "vocab_size"), [("ko_nsmc.txt", 8000), ("en_docs.txt", 8000), ("zh_poetry.txt", 12000)]
)
def test_text_not_trained_on_is_modelled_as_well_as_by_sentencepiece(
    data: Callable[[str], Path], name: str, vocab_size: int
) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    text = data(f"corpora/{name}").read_bytes()[:1_500_000].decode("utf-8", "ignore")
    lines = [line for line in text.split("\n") if line.strip() and "\t" not in line]
    held = lines[::10]
    seen = [line for number, line in enumerate(lines) if number % 10]
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(seen),
        model_writer=written,
        vocab_size=vocab_size,
        model_type="unigram",
        normalization_rule_name="identity",
        max_sentence_length=1 << 20,
        minloglevel=2,
    )
    peer = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    theirs = {peer.id_to_piece(i): peer.get_score(i) for i in range(3, len(peer))}
    specials = ["<unk>", "<s>", "</s>"]
    config = jogak.Unigram(vocab_size=vocab_size)
    ours = learned(jogak.train(iter(seen), config, special_tokens=specials))
    assert len(ours) == len(theirs)
    likelihood, tokens = quality(ours, held)
    likelihood_of_peer, tokens_of_peer = quality(theirs, held)
    assert likelihood >= likelihood_of_peer
    assert tokens <= tokens_of_peer
    # Its own rule for the first pieces gives more of its pieces.
    same_rule = learned(
        jogak.train(
            iter(seen),
            jogak.Unigram(vocab_size=vocab_size, seeds="sentencepiece"),
            special_tokens=specials,
        )
    )
    assert len(same_rule.keys() & theirs.keys()) > len(ours.keys() & theirs.keys())
