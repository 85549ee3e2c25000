"""The models that the benchmark opens: files of the folder of models, and a large one that is made here.

Few models that may be copied have more than 100,000 pieces, so one of 128,000 is trained on text of many
languages. It is the same for everybody, and is kept in the folder of results.
"""

from __future__ import annotations

from pathlib import Path

from texts import corpus

#: The names of what is made, and the formats.
LARGE = {"128k/tokenizer.json": "tokenizer-json", "128k/128k.jogak.json": "jogak"}


def model(name: str, models: Path, corpora: Path, made: Path) -> Path:
    """The file of a model; it may not be there.

    Args:
        name: a path in the folder of models, or one of `LARGE`.
        models: that folder.
        corpora: the folder of corpora.
        made: where what is made here is kept.
    """
    if name not in LARGE:
        return models / name
    target = made / "models" / name
    text = corpus("mixed", corpora, made / "texts")
    if not target.is_file() and text.is_file():
        import jogak

        trained = jogak.train(text, jogak.BPE(vocab_size=128_000))
        if len(trained) < 128_000:
            raise RuntimeError(f"{text} gives {len(trained):,} pieces; expected 128,000")
        target.parent.mkdir(parents=True, exist_ok=True)
        for file, family in LARGE.items():
            trained.save(made / "models" / file, format=family)
    return target
