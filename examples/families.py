"""The same words cut by every family: ten pieces each, learned from fourteen Korean sentences.

python examples/families.py
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

import jogak

SENTENCES = Path(__file__).resolve().parent / "korean_sentences.txt"
WORDS = ("간장은", "부모님이", "간장계란밥", "계란간장볶음밥")

# Beside the ten pieces a vocabulary holds the alphabet: 112 characters, and for WordPiece 80 of them
# once more with ## in front, as they stand inside of words.
CONFIGS: dict[str, jogak.BPE | jogak.WordPiece | jogak.Unigram] = {
    "BPE": jogak.BPE(num_merges=10, marker="none", ties="first-seen"),
    "longest match": jogak.BPE(
        num_merges=10, marker="none", ties="first-seen", strategy="longest-match"
    ),
    "WordPiece": jogak.WordPiece(vocab_size=202),
    "WordPiece, count": jogak.WordPiece(vocab_size=202, criterion="count"),
    "Unigram": jogak.Unigram(vocab_size=122, character_coverage=1.0),
}


def train(config: jogak.BPE | jogak.WordPiece | jogak.Unigram) -> jogak.Tokenizer:
    """A tokenizer of words between spaces; those of one character, mostly particles, are left out."""
    return jogak.train(SENTENCES, config, pretokenizer="whitespace", min_word_length=2)


def learned(tok: jogak.Tokenizer) -> list[str]:
    """The pieces that are more than one character, in the order of their ids."""
    others = ("<unk>", "[UNK]")
    return [p for p in tok.vocab if p not in others and len(p.removeprefix("##")) > 1]


def table(*headings: str) -> Table:
    """An empty table with these headings."""
    empty = Table(box=None, header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
    for heading in headings:
        empty.add_column(heading, no_wrap=not heading, overflow="fold")
    return empty


def main() -> None:
    """Trains all, and shows what each learned and how it cuts the words."""
    toks = {name: train(config) for name, config in CONFIGS.items()}
    console = Console(highlight=False)

    pieces = table("", "ten pieces, in the order of their ids")
    for name, tok in toks.items():
        pieces.add_row(name, Text(" ".join(learned(tok))))
    console.print(pieces)
    console.print()

    cuts = table("", *WORDS)
    for name, tok in toks.items():
        cuts.add_row(name, *(Text("·".join(tok.tokens(word))) for word in WORDS))
    console.print(cuts)


if __name__ == "__main__":
    main()
