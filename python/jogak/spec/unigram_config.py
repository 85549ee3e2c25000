"""How to train a Unigram language model (`Unigram`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from jogak.errors import ConfigError
from jogak.spec.checks import at_least, characters_of, flag, made, one_of, share, unknown_text
from jogak.spec.record import asdict, dataclass, field
from jogak.spec.unigram import Precision

__all__ = ["SeedRule", "Unigram"]

SeedRule: TypeAlias = Literal["suffix", "sentencepiece"]

_FLAGS = (
    "split_by_unicode_script",
    "split_by_number",
    "split_digits",
    "split_by_whitespace",
    "allow_whitespace_only_pieces",
    "treat_whitespace_as_suffix",
    "byte_fallback",
    "fuse_unknown",
    "hard_vocab_limit",
)


@dataclass(frozen=True, kw_only=True)
class Unigram:
    """How to train a Unigram language model (Kudo 2018).

    Training starts with far more pieces than wanted and repeats: estimate the probability of every
    piece from all ways to cut the corpus (expectation and maximisation), then remove the pieces whose
    loss hurts the likelihood of the corpus least.

    Args:
        vocab_size: how many pieces the vocabulary has in the end, special tokens, byte pieces and
            user-defined pieces counted.
        seed_size: how many substrings training starts with, besides all characters: those of highest
            count times length. None takes six times the vocabulary, 20,000 or more: on text of
            another kind that is better than many more, on text of the same kind as good.
        seeds: which substrings are candidates. ``"suffix"``: those that occur twice or more and not
            always before the same character; the end of a word or script is no character.
            ``"sentencepiece"``: those that are followed by two different characters somewhere, be it
            beyond the script or the word, whose end is a character too; slower.
        shrinking_factor: the share of the pieces that stays in each round, above 0 and below 1.
            More rounds (0.9) are a little better and slower.
        num_sub_iterations: how often probabilities are estimated in each round.
        max_piece_length: no piece is longer than this, in characters; up to 64.
        character_coverage: the most frequent characters that together make up this share of the text
            are the alphabet, above 0 and up to 1; 0.9995 unless another limit is given. Other
            characters are unknown, and in no piece.
        alphabet_size: the most frequent characters, this many, are the alphabet (ties: smaller code
            point).
        characters: the alphabet is just these characters, whether they occur or not.
        required_chars: characters that are in the alphabet whether they are frequent or not.
        split_by_unicode_script: no piece has characters of two scripts (kana count as Han; digits
            and punctuation are together a script of their own).
        split_by_number: the digits 0 to 9 are kept from letters, as another script is. Without,
            they go with any script.
        split_digits: each of the digits 0 to 9 is a piece of its own.
        split_by_whitespace: a ``▁`` (or space) starts a piece. Without, it may also stand in the
            middle, so that pieces cross words; the pre-tokenizer must then leave words together
            (``Metaspace(split=False)``, which is taken unless another is named).
        allow_whitespace_only_pieces: pieces of several ``▁`` and nothing else may be learned.
        treat_whitespace_as_suffix: a ``▁`` ends a piece, rather than to start it; goes with
            ``Metaspace(suffix=True)``, which is taken unless another is named.
        byte_fallback: add the 256 pieces ``<0x00>`` to ``<0xFF>``, which stand for the bytes of
            characters outside the alphabet.
        user_defined: texts that are pieces wherever they stand, are never cut, and of which nothing
            is learned. They count for ``vocab_size``.
        unknown: the text of the piece that stands for what nothing covers; None makes such texts an
            error. Not used with byte fallback. If it is not among the ``special_tokens``, it gets
            the id behind all others and is not counted in ``vocab_size``.
        fuse_unknown: one unknown piece for a run of unknown characters rather than one for each.
        hard_vocab_limit: a corpus that gives fewer pieces than ``vocab_size`` is an error; without,
            there are fewer.
        precision: how sums of scores are rounded when texts are cut, as in `UnigramModel`.
            ``"single"`` is SentencePiece's way, for tokenizers that are to become a ``.model``: scores
            are rounded to 32 bits, and words are not cut at spaces (``Metaspace(split=False)``), since
            it sums up over the whole text.

    Raises:
        ConfigError: a value that cannot be, or options that contradict each other.

    >>> Unigram(vocab_size=8000).character_coverage
    0.9995
    """

    vocab_size: int = 8000
    seed_size: int | None = None
    seeds: SeedRule = "suffix"
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2
    max_piece_length: int = 16
    character_coverage: float | None = None
    alphabet_size: int | None = None
    characters: str | None = field(default=None, repr=False)
    required_chars: str = ""
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    split_by_whitespace: bool = True
    allow_whitespace_only_pieces: bool = False
    treat_whitespace_as_suffix: bool = False
    byte_fallback: bool = False
    user_defined: tuple[str, ...] = ()
    unknown: str | None = "<unk>"
    fuse_unknown: bool = True
    hard_vocab_limit: bool = True
    precision: Precision = "double"

    def __post_init__(self) -> None:
        if self.seed_size is None and isinstance(self.vocab_size, int):
            size = min(max(6 * self.vocab_size, 20_000), 2**25)
            object.__setattr__(self, "seed_size", size)
        for option, least, most in (
            ("vocab_size", 1, 2**31),
            ("seed_size", 0, 2**25),
            ("num_sub_iterations", 1, 1000),
            ("max_piece_length", 1, 64),
        ):
            value = getattr(self, option)
            if value is None:
                raise ConfigError(f"{option} is None; expected a whole number, {least} or more")
            at_least(option, value, least)
            if value > most:
                raise ConfigError(f"{option} is {value}; expected at most {most:,}")
        at_least("alphabet_size", self.alphabet_size, 1)
        one_of("seeds", self.seeds, get_args(SeedRule))
        one_of("precision", self.precision, get_args(Precision))
        factor = self.shrinking_factor
        if isinstance(factor, bool) or not isinstance(factor, (int, float)) or not 0 < factor < 1:
            raise ConfigError(
                f"shrinking_factor is {factor!r}; expected a number above 0 and below 1"
            )
        share("character_coverage", self.character_coverage)
        limits = ("alphabet_size", "character_coverage", "characters")
        given = [option for option in limits if getattr(self, option) is not None]
        if self.characters is not None:
            characters_of(self.characters)
        if len(given) > 1:
            raise ConfigError(
                f"{given[0]} and {given[1]} both limit the alphabet; give one of them"
            )
        if not given:
            object.__setattr__(self, "character_coverage", 0.9995)
        if not isinstance(self.required_chars, str):
            raise ConfigError(
                f"required_chars is {self.required_chars!r}; expected a text with the characters"
            )
        for option in _FLAGS:
            flag(option, getattr(self, option))
        if isinstance(self.user_defined, str):
            raise ConfigError(
                f"user_defined is the text {self.user_defined!r}; expected a list of texts"
            )
        texts = tuple(self.user_defined)
        for text in texts:
            if not isinstance(text, str) or not text:
                raise ConfigError(f"user_defined has {text!r}; expected texts that are not empty")
            if texts.count(text) > 1:
                raise ConfigError(f"user_defined has {text!r} twice; expected each text once")
        object.__setattr__(self, "user_defined", texts)
        unknown_text(self.unknown)

    def to_dict(self) -> dict[str, Any]:
        """The config as plain data, as files hold it."""
        return {
            "type": "unigram",
            **asdict(self),
            "user_defined": list(self.user_defined),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Unigram:
        """The way back from `to_dict`.

        Raises:
            ConfigError: an unknown option or an impossible value.

        >>> Unigram.from_dict(Unigram(vocab_size=300).to_dict()) == Unigram(vocab_size=300)
        True
        """
        options = dict(data)
        options.pop("type", None)
        return made("Unigram", cls, options)
