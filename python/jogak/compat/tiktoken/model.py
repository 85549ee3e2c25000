"""Which vocabulary a model uses, by the model's name."""

from __future__ import annotations

from jogak.compat.tiktoken.core import Encoding
from jogak.compat.tiktoken.load import Folder
from jogak.compat.tiktoken.registry import get_encoding

__all__ = [
    "MODEL_PREFIX_TO_ENCODING",
    "MODEL_TO_ENCODING",
    "encoding_for_model",
    "encoding_name_for_model",
]


def _by_name(table: dict[str, str]) -> dict[str, str]:
    """Vocabulary -> names, turned around: name -> vocabulary."""
    return {name: encoding for encoding, names in table.items() for name in names.split()}


MODEL_PREFIX_TO_ENCODING: dict[str, str] = _by_name(
    {
        "o200k_base": "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o",
        "cl100k_base": "gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 "
        "ft:babbage-002",
        "o200k_harmony": "gpt-oss-",
    }
)

MODEL_TO_ENCODING: dict[str, str] = _by_name(
    {
        "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
        "cl100k_base": "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 "
        "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large",
        "p50k_base": "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 "
        "code-cushman-002 code-cushman-001 davinci-codex cushman-codex",
        "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
        "r50k_base": "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie "
        "babbage ada text-similarity-davinci-001 text-similarity-curie-001 "
        "text-similarity-babbage-001 text-similarity-ada-001 text-search-davinci-doc-001 "
        "text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001 "
        "code-search-babbage-code-001 code-search-ada-code-001",
        "gpt2": "gpt2 gpt-2",
    }
)


def encoding_name_for_model(model_name: str) -> str:
    """The name of the vocabulary that a model uses.

    Raises:
        KeyError: the model is not known.

    >>> encoding_name_for_model("gpt-4o-2024-05-13")
    'o200k_base'
    """
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    fitting = [prefix for prefix in MODEL_PREFIX_TO_ENCODING if model_name.startswith(prefix)]
    if not fitting:
        raise KeyError(
            f"no vocabulary is known for the model {model_name}; take one by its own name, with "
            "get_encoding(name)"
        )
    return MODEL_PREFIX_TO_ENCODING[max(fitting, key=len)]


def encoding_for_model(model_name: str, *, folder: Folder | None = None) -> Encoding:
    """The vocabulary that a model uses. See `encoding_name_for_model` and `get_encoding`.

    Raises:
        KeyError: the model is not known.
        FileNotFoundError: the vocabulary's file is nowhere.
    """
    return get_encoding(encoding_name_for_model(model_name), folder=folder)
