"""Words: how often each occurs, and which symbols it starts from.

Rules:
- An inventory is {word: count} in the order in which words were first seen. That order is part of
  the input: the tie rule `first-seen` reads it.
- A symbol is known by its text alone. Two symbols with equal text are the same piece.
- A character is a Unicode code point. Text is compared code point by code point, which is also the
  order of UTF-8 bytes.
- The marker says how a word's border is written:

      none          l o w                 nothing is written
      suffix        l o w </w>            own last symbol (Sennrich et al. 2016, the paper)
      suffix        l o w</w>             joined to the last character (subword-nmt 0.2, HF)
      prefix        ▁ l o w               own first symbol (SentencePiece)
      continuation  l ##o ##w             before every symbol but the first (BERT)
      byte-level    l o w, Ġ l o w        the symbols are bytes, each drawn as a character (GPT-2)

With `byte-level` the alphabet is the 256 bytes and nothing is ever unknown; with every other marker
it is the characters that occur, all of them or the most frequent ones. A `metaspace` pre-tokenizer
writes the ▁ into the text itself; the marker is then `none`.

Sources: Sennrich, Haddow, Birch 2016 (https://aclanthology.org/P16-1162); Radford et al. 2019 for
the byte table; Kudo & Richardson 2018 (https://aclanthology.org/D18-2012) for coverage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MARKERS = {"none": "", "suffix": "</w>", "prefix": "▁", "continuation": "##", "byte-level": ""}
"""Each marker and the text it writes unless another is given."""


def _byte_table() -> dict[int, str]:
    """GPT-2's drawing of bytes: a printable byte is its Latin-1 character, the others follow U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {byte: chr(byte) for byte in printable}
    table.update({byte: chr(0x100 + place) for place, byte in enumerate(others)})
    return table


BYTE_TO_CHAR = _byte_table()
"""Byte -> the printable character that draws it; the space is Ġ."""

CHAR_TO_BYTE = {char: byte for byte, char in BYTE_TO_CHAR.items()}
"""The way back."""


def inventory(words: Iterable[str], min_word_length: int = 1) -> dict[str, int]:
    """Counts words, in the order they are first seen.

    Args:
        words: words of a corpus, such as those `pretokenize` gives.
        min_word_length: shorter words are left out; in characters.

    >>> inventory("a low low newer".split(), min_word_length=2)
    {'low': 2, 'newer': 1}
    """
    return dict(Counter(word for word in words if len(word) >= max(min_word_length, 1)))


@dataclass(frozen=True)
class Spelling:
    """How a word is written as symbols.

    Args:
        marker: one of `MARKERS`.
        marker_text: the text the marker writes; `None` is the usual one.
        marker_symbol: for `suffix` only: "own" writes it as a symbol of its own, "joined" glues it
            to the last character.

    Raises:
        ValueError: for a marker or a combination that does not exist.

    >>> Spelling("suffix").symbols("low")
    ['l', 'o', 'w', '</w>']
    >>> Spelling("suffix", marker_symbol="joined").symbols("low")
    ['l', 'o', 'w</w>']
    >>> Spelling("prefix").symbols("low")
    ['▁', 'l', 'o', 'w']
    >>> Spelling("continuation").symbols("low")
    ['l', '##o', '##w']
    >>> Spelling("byte-level").symbols(" é")
    ['Ġ', 'Ã', '©']
    """

    marker: str = "none"
    marker_text: str | None = None
    marker_symbol: str = "own"

    def __post_init__(self) -> None:
        if self.marker not in MARKERS:
            raise ValueError(f"marker {self.marker!r} is not one of {', '.join(MARKERS)}")
        usual = MARKERS[self.marker]
        if self.marker_text is not None and bool(self.marker_text) != bool(usual):
            raise ValueError(f"marker {self.marker!r} cannot write {self.marker_text!r}")
        if self.marker_symbol not in ("own", "joined"):
            raise ValueError(f"marker_symbol {self.marker_symbol!r} is not 'own' or 'joined'")
        if self.marker_symbol == "joined" and self.marker != "suffix":
            raise ValueError("marker_symbol 'joined' goes with marker 'suffix' only")

    @property
    def alphabet(self) -> str:
        """What the first symbols are made of: "bytes" or "chars".

        >>> Spelling("byte-level").alphabet
        'bytes'
        """
        return "bytes" if self.marker == "byte-level" else "chars"

    @property
    def text(self) -> str:
        """The text the marker writes, empty for `none` and `byte-level`.

        >>> Spelling("suffix").text
        '</w>'
        """
        return MARKERS[self.marker] if self.marker_text is None else self.marker_text

    def units(self, word: str) -> list[str]:
        """The word as it is covered by pieces: its characters (or drawn bytes), and the marker of a
        `suffix` or `prefix` as one more unit. No piece ever begins or ends inside a unit.

        >>> Spelling("suffix", marker_symbol="joined").units("low")
        ['l', 'o', 'w', '</w>']
        """
        if not word:
            return []
        if self.marker == "byte-level":
            return [BYTE_TO_CHAR[byte] for byte in word.encode("utf-8")]
        if self.marker == "suffix":
            return [*word, self.text]
        if self.marker == "prefix":
            return [self.text, *word]
        return list(word)

    def symbols(self, word: str) -> list[str]:
        """The symbols a word starts from, before any merge. An empty word has none.

        >>> Spelling().symbols("low")
        ['l', 'o', 'w']
        """
        units = self.units(word)
        if self.marker_symbol == "joined" and units:
            return [*units[:-2], units[-2] + units[-1]]
        if self.marker == "continuation":
            return units[:1] + [self.text + char for char in units[1:]]
        return units

    def merge(self, left: str, right: str) -> str:
        """The text of the piece that two neighbours make. With `continuation` the right one's
        marker goes: it no longer stands at a border.

        >>> Spelling("continuation").merge("##a", "##b")
        '##ab'
        """
        return left + (right.removeprefix(self.text) if self.marker == "continuation" else right)

    def window(self, units: Sequence[str], start: int, end: int) -> str:
        """The text of a piece that would cover `units[start:end]` of a word.

        >>> Spelling("continuation").window(["l", "o", "w"], 1, 3)
        '##ow'
        """
        inner = self.marker == "continuation" and start > 0
        return (self.text if inner else "") + "".join(units[start:end])

    def length(self, piece: str) -> int:
        """The length of a piece in characters (`byte-level`: in bytes), its marker not counted.

        >>> Spelling("suffix").length("est</w>")
        3
        """
        if self.marker == "suffix":
            return len(piece.removesuffix(self.text))
        return len(piece.removeprefix(self.text))

    def unit_length(self, piece: str) -> int:
        """The length of a piece in units: as `length`, but a `suffix` or `prefix` marker counts one.

        >>> Spelling("suffix").unit_length("est</w>")
        4
        """
        if self.marker == "suffix":
            return self.length(piece) + piece.endswith(self.text)
        if self.marker == "prefix":
            return self.length(piece) + piece.startswith(self.text)
        return self.length(piece)


NO_MARKER = Spelling()
"""The plainest spelling: the characters of the word and nothing else."""


def base_alphabet(
    counts: Mapping[str, int],
    spelling: Spelling,
    alphabet_size: int | None = None,
    character_coverage: float = 1.0,
    every_plain: bool = False,
) -> list[str]:
    """The pieces that exist before the first merge, in the order of their ids.

    `byte-level`: all 256 bytes, by the code point of the character that draws them.
    Otherwise: every first symbol that occurs in the inventory. Those without a marker come first,
    then those that carry or are one, each group sorted by text. A symbol whose character is cut off
    by a limit is left out; a marker that is a symbol of its own never is.

    Args:
        counts: the inventory.
        spelling: how its words are written.
        alphabet_size: keep this many characters, the most frequent ones. Occurrences are weighted
            with the word counts, markers are not counted, and of equals the smaller code point wins.
        character_coverage: keep the most frequent characters until kept / all >= this share of all
            character occurrences, in (0, 1]. With both limits the tighter one holds.
        every_plain: every character that is kept is also there without the marker.

    >>> base_alphabet({"low": 5, "lo": 1}, Spelling("continuation"))
    ['l', '##o', '##w']
    >>> base_alphabet({"low": 5, "lo": 1}, Spelling("suffix"), alphabet_size=2)
    ['l', 'o', '</w>']
    >>> base_alphabet({}, Spelling("byte-level"))[220]
    'Ġ'
    """
    if spelling.alphabet == "bytes":
        if alphabet_size is not None or character_coverage != 1.0:
            raise ValueError("the byte alphabet is always whole: it takes no limits")
        return sorted(CHAR_TO_BYTE)
    if alphabet_size is not None and alphabet_size < 0:
        raise ValueError(f"alphabet_size is {alphabet_size}, expected 0 or more")
    if not 0.0 < character_coverage <= 1.0:
        raise ValueError(f"character_coverage is {character_coverage}, expected 0 < coverage <= 1")

    chars: Counter[str] = Counter()
    for word, count in counts.items():
        for char in word:
            chars[char] += count
    by_frequency = sorted(chars, key=lambda char: (-chars[char], char))
    kept: set[str] = set()
    covered, everything = 0, sum(chars.values())
    for char in by_frequency[:alphabet_size]:
        if covered / everything >= character_coverage:
            break
        kept.add(char)
        covered += chars[char]

    plain: set[str] = set()
    marked: set[str] = set()
    for word in counts:
        for symbol, char in zip(spelling.symbols(word), _characters(word, spelling), strict=True):
            if char in kept or char == "":
                (plain if symbol == char else marked).add(symbol)
    if every_plain:
        plain |= kept
    return sorted(plain) + sorted(marked - plain)


def _characters(word: str, spelling: Spelling) -> list[str]:
    """The character behind each first symbol of a word; empty for a marker that stands alone."""
    if word and spelling.marker == "suffix" and spelling.marker_symbol == "own":
        return [*word, ""]
    if word and spelling.marker == "prefix":
        return ["", *word]
    return list(word)
