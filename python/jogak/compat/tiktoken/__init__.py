"""tiktoken 0.14's face: ``import jogak.compat.tiktoken as tiktoken``.

Vocabularies come from folders of this machine, never from a network: see `get_encoding`. What tiktoken
keeps in `tiktoken.core`, `tiktoken.load`, `tiktoken.registry` and `tiktoken.model` stands in modules of
those names here.

Left out: ``tiktoken._educational``. Where tiktoken panics (a text with a byte that has no rank), this
raises `jogak.EncodeError`.
"""

from jogak.compat.tiktoken.core import Encoding
from jogak.compat.tiktoken.model import encoding_for_model, encoding_name_for_model
from jogak.compat.tiktoken.registry import get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

#: The release of tiktoken whose face this is.
__version__ = "0.14.0"
