"""blingfire, with the BERT model that comes in its package; it loads no file of another's."""

from pathlib import Path
from typing import Any

import blingfire

from common import run_texts


def load(path: str, model: str) -> Any:
    return blingfire.load_model(str(Path(blingfire.__file__).parent / model))


def encode(model: Any, texts: list[str]) -> list[Any]:
    return [
        blingfire.text_to_ids(model, text, len(text) + 2, 100, no_padding=True) for text in texts
    ]


run_texts(load, encode, lambda rows: (row.astype("uint32") for row in rows))
