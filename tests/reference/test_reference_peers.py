"""The reference beside the libraries it explains: same merges, same tokens, same words.

Each test is skipped where its peer is not installed, or where the corpora are absent.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jogak.reference import (
    BYTE_TO_CHAR,
    CHAR_TO_BYTE,
    PATTERNS,
    Model,
    Spelling,
    Training,
    encode_word,
    inventory,
    pretokenize,
    tokens,
    train,
)

ReadCorpus = Callable[[str, int], str]

BYTE_LEVEL = Spelling("byte-level")
JOINED = Spelling("suffix", marker_symbol="joined")
CORPORA = ["en_docs.txt", "ko_nsmc.txt", "code.txt", "zh_poetry.txt", "cppdocs_ru.txt"]

# Self-overlap, every kind of white space, combining marks, astral characters, broken neighbours.
TORTURE = (
    "aaaaaaa aaa aaaa\tababab bababa\r\n\n  \u3000\xa0\u2028 x  y   z \n"
    "e\u0301e\u0301e\u0301 "
    "가각간 ㄱㅏ 😀😀👩‍👩‍👧 ﬁ ſ 'S 'ſ 'LL İ ǅ 12345 ٣٤٥ Ⅷ ½ $+^`|~ foo_bar/\n/ \x1c\x1d\x85\u200b"
)


def random_text(seed: int, length: int) -> str:
    """Text that mixes scripts, spaces, digits and marks, always the same for one seed."""
    source = random.Random(seed)
    letters = "aabbcd  \n\t'sSlLtT019_-./가나다ab\u0301é中😀\u3000\xa0\u017f"
    return "".join(source.choice(letters) for _ in range(length))


def overlapping_words() -> str:
    """Words of a and b in which nearly every pair overlaps itself or another."""
    source = random.Random(3)
    lengths = (source.randint(1, 20) for _ in range(150))
    return " ".join("".join(source.choices("ab", [3, 1], k=length)) for length in lengths)


def texts(read_corpus: ReadCorpus, size: int) -> Iterator[str]:
    """The start of each corpus, and two texts nobody would write."""
    yield from (read_corpus(name, size) for name in CORPORA)
    yield TORTURE
    yield random_text(7, size)


# --- training


@pytest.mark.parametrize("name", [*CORPORA, "random", "overlap"])
def test_byte_level_merges_equal_hf(name: str, read_corpus: ReadCorpus) -> None:
    hf = pytest.importorskip("tokenizers")
    if name == "random":
        text = random_text(1, 6000)
    elif name == "overlap":
        text = overlapping_words()
    else:
        text = read_corpus(name, 5000)
    trained = train(inventory(pretokenize(text, "gpt2")), spelling=BYTE_LEVEL, vocab_size=500)

    peer = hf.Tokenizer(hf.models.BPE())
    peer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = hf.trainers.BpeTrainer(
        vocab_size=500,
        min_frequency=1,
        show_progress=False,
        initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
    )
    peer.train_from_iterator([text], trainer)
    ids = peer.get_vocab()
    assert tuple(sorted(ids, key=ids.__getitem__)) == trained.pieces

    # The merges too, and with them the encoding of text that was not trained on.
    model, unseen = trained.model(), TORTURE + random_text(2, 500)
    assert tokens(unseen, model, "gpt2") == peer.encode(unseen).tokens
    assert tokens(text, model, "gpt2") == peer.encode(text).tokens


@pytest.mark.parametrize("name", ["en_docs.txt", "ko_nsmc.txt", "cppdocs_ru.txt", "overlap"])
def test_greatest_and_joined_suffix_equal_subword_nmt(name: str, read_corpus: ReadCorpus) -> None:
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    text = overlapping_words() if name == "overlap" else read_corpus(name, 10_000)
    words = pretokenize(text, "whitespace")
    trained = train(
        inventory(words), spelling=JOINED, ties="greatest", num_merges=200, min_pair_count=2
    )
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO(" ".join(words) + "\n"), codes, 200, min_frequency=2)
    expected = [tuple(line.split(" ")) for line in codes.getvalue().splitlines()[1:]]
    assert list(trained.pairs) == expected

    peer = apply_bpe.BPE(io.StringIO(codes.getvalue()), separator="")
    model = trained.model()
    for word in list(dict.fromkeys(words))[:500]:
        ours = [token.removesuffix("</w>") for token in encode_word(model, word).tokens]
        assert ours == peer.segment_tokens([word])


@pytest.mark.parametrize("name", [*CORPORA, "overlap"])
def test_sentencepiece_ties_equal_sentencepiece(name: str, read_corpus: ReadCorpus) -> None:
    sp = pytest.importorskip("sentencepiece")
    text = overlapping_words() if name == "overlap" else read_corpus(name, 6000)
    words = [word for word in pretokenize(text, "whitespace") if "▁" not in word]
    num_merges = 100 if name == "overlap" else 250
    trained = train(
        inventory(words), spelling=Spelling("prefix"), ties="sentencepiece", num_merges=num_merges
    )
    assert trained.stop == "num-merges"

    peer = io.BytesIO()
    sp.SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(words)]),
        model_writer=peer,
        model_type="bpe",
        vocab_size=3 + len(trained.base) + len(trained.merges),
        normalization_rule_name="identity",
        character_coverage=1.0,
        split_by_unicode_script=False,
        split_by_number=False,
        max_sentencepiece_length=512,
        max_sentence_length=1_000_000,
        minloglevel=2,
    )
    processor = sp.SentencePieceProcessor(model_proto=peer.getvalue())
    pieces = [processor.id_to_piece(number) for number in range(processor.get_piece_size())]
    merged = [merge.text for merge in trained.merges]
    assert pieces[3 : 3 + len(merged)] == merged
    assert sorted(pieces[3 + len(merged) :]) == sorted(trained.base)

    model = trained.model()
    for word in list(dict.fromkeys(words))[:500]:
        assert list(encode_word(model, word).tokens) == processor.encode_as_pieces(word)


@pytest.mark.parametrize("name", CORPORA)
def test_plain_characters_equal_hf(name: str, read_corpus: ReadCorpus) -> None:
    hf = pytest.importorskip("tokenizers")
    text = read_corpus(name, 5000)
    trained = train(inventory(pretokenize(text, "whitespace")), num_merges=250)
    peer = hf.Tokenizer(hf.models.BPE())
    peer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
    trainer = hf.trainers.BpeTrainer(vocab_size=len(trained.pieces), show_progress=False)
    peer.train_from_iterator([text], trainer)
    ids = peer.get_vocab()
    assert tuple(sorted(ids, key=ids.__getitem__)) == trained.pieces
    assert tokens(text, trained.model(), "whitespace") == peer.encode(text).tokens


# --- encoding


@pytest.fixture(scope="module")
def trained_bytes(read_corpus: ReadCorpus) -> Training:
    """A byte-level tokenizer of 600 pieces with cl100k words, from a bit of everything."""
    text = "".join(texts(read_corpus, 3000))
    return train(inventory(pretokenize(text, "cl100k")), spelling=BYTE_LEVEL, vocab_size=600)


@pytest.mark.parametrize("scheme", ["gpt2", "cl100k", "o200k"])
def test_encoding_equals_tiktoken(
    scheme: str, trained_bytes: Training, read_corpus: ReadCorpus
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    ranks = {
        bytes(CHAR_TO_BYTE[char] for char in piece): place
        for place, piece in enumerate(trained_bytes.pieces)
    }
    # The published pattern is read out of tiktoken, not out of this project.
    name = {"gpt2": "r50k_base", "cl100k": "cl100k_base", "o200k": "o200k_base"}[scheme]
    original = public.load_tiktoken_bpe
    public.load_tiktoken_bpe = lambda *_args, **_options: {}
    try:
        pattern = getattr(public, name)()["pat_str"]
    finally:
        public.load_tiktoken_bpe = original
    peer = tiktoken.Encoding("t", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    model = trained_bytes.model()
    for text in texts(read_corpus, 6000):
        ours = [model.ids[token] for token in tokens(text, model, scheme)]
        assert ours == peer.encode_ordinary(text)


def test_gpt2_equals_hf_on_the_real_vocabulary(data: Path, read_corpus: ReadCorpus) -> None:
    hf = pytest.importorskip("tokenizers")
    files = data / "models" / "gpt2"
    if not (files / "vocab.bpe").is_file():
        pytest.skip(f"no vocab.bpe in {files}")
    peer = hf.Tokenizer(
        hf.models.BPE.from_file(str(files / "encoder.json"), str(files / "vocab.bpe"))
    )
    peer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    ids = peer.get_vocab()
    lines = (files / "vocab.bpe").read_text(encoding="utf-8").splitlines()[1:]
    model = Model(
        tuple(sorted(ids, key=ids.__getitem__)),
        tuple((line.split(" ")[0], line.split(" ")[1]) for line in lines if line),
        spelling=BYTE_LEVEL,
    )
    for text in texts(read_corpus, 4000):
        assert tokens(text, model, "gpt2") == peer.encode(text).tokens


@pytest.mark.parametrize("spelling", [JOINED, Spelling("continuation"), Spelling()])
@pytest.mark.parametrize("fuse", [False, True])
def test_markers_encode_as_hf(spelling: Spelling, fuse: bool, read_corpus: ReadCorpus) -> None:
    # HF's trainer gives marked characters their ids in the order of a hash map, so that its ties
    # differ from run to run; it can be compared in encoding only.
    hf = pytest.importorskip("tokenizers")
    words = pretokenize(read_corpus("en_docs.txt", 8000), "whitespace")
    trained = train(inventory(words), spelling=spelling, num_merges=250, alphabet_size=40)
    model = Model(
        ("<unk>", *trained.pieces),
        trained.pairs,
        spelling=spelling,
        unk="<unk>",
        fuse_unknown=fuse,
    )
    options = {"suffix": "end_of_word_suffix", "continuation": "continuing_subword_prefix"}
    extra = {options[spelling.marker]: spelling.text} if spelling.marker != "none" else {}
    peer = hf.Tokenizer(
        hf.models.BPE(model.ids, list(model.merges), unk_token="<unk>", fuse_unk=fuse, **extra)
    )
    peer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
    text = read_corpus("code.txt", 8000) + TORTURE
    assert "<unk>" in peer.encode(text).tokens
    assert tokens(text, model, "whitespace") == peer.encode(text).tokens


def test_unknowns_and_fallback_equal_hf() -> None:
    hf = pytest.importorskip("tokenizers")
    pieces = ("<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "a", "b", "ab", "bab", "abc")
    merges = [("a", "b"), ("b", "ab")]
    for fuse in (False, True):
        for fallback in (False, True):
            for whole in (False, True):
                peer = hf.Tokenizer(
                    hf.models.BPE(
                        {piece: place for place, piece in enumerate(pieces)},
                        merges,
                        unk_token="<unk>",
                        fuse_unk=fuse,
                        byte_fallback=fallback,
                        ignore_merges=whole,
                    )
                )
                peer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
                model = Model(
                    pieces,
                    tuple(merges),
                    byte_fallback=fallback,
                    unk="<unk>",
                    fuse_unknown=fuse,
                    whole_word=whole,
                )
                text = "abab babab xya 가나a나가 bab abc b x"
                assert tokens(text, model, "whitespace") == peer.encode(text).tokens


# --- pre-tokenizers


@pytest.mark.parametrize("scheme", ["whitespace", "bert", "punctuation", "digits", "metaspace"])
def test_words_equal_hf(scheme: str, read_corpus: ReadCorpus) -> None:
    hf = pytest.importorskip("tokenizers")
    peer = {
        "whitespace": lambda: hf.pre_tokenizers.WhitespaceSplit(),
        "bert": lambda: hf.pre_tokenizers.BertPreTokenizer(),
        "punctuation": lambda: hf.pre_tokenizers.Punctuation(behavior="isolated"),
        "digits": lambda: hf.pre_tokenizers.Digits(individual_digits=True),
        "metaspace": lambda: hf.pre_tokenizers.Metaspace(prepend_scheme="always"),
    }[scheme]()
    for text in texts(read_corpus, 6000):
        words = [word for word, _ in peer.pre_tokenize_str(text)]
        assert pretokenize(text, scheme) == words


def test_byte_table_equals_hf() -> None:
    hf = pytest.importorskip("tokenizers")
    assert sorted(BYTE_TO_CHAR.values()) == sorted(hf.pre_tokenizers.ByteLevel.alphabet())
    assert set(PATTERNS) >= {"gpt2", "cl100k", "o200k"}
