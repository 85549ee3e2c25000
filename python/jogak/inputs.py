"""What goes around the ids of texts, and how long they are: options, from calls and from the `Spec`.

Rule: says what is to be done, and has the core do it (`crates/jogak/src/inputs.rs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from jogak import _core
from jogak.errors import ConfigError
from jogak.spec import Padding, Spec, Template, Truncation
from jogak.spec.record import replace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


__all__ = ["PaddingLike", "TruncationLike", "around", "around_array", "around_batch", "make_inputs"]

#: A length, all options, False for none, None (and True) for those of the `Spec`.
TruncationLike: TypeAlias = Truncation | int | bool | None
#: A length, all options, True or ``"longest"`` for as long as the longest, False for none, None for
#: those of the `Spec`.
PaddingLike: TypeAlias = Padding | int | bool | Literal["longest"] | None

#: What tokens that fill are called. They are looked for where nobody says which one it is.
PAD_TOKENS = ("<pad>", "[PAD]", "<|pad|>", "<|padding|>", "<PAD>", "<|finetune_right_pad_id|>")

#: So many forms of inputs are kept: callers come back with the same few.
_MOST_FORMS = 16

_Options = TypeVar("_Options", Padding, Truncation)


def _truncation(spec: Spec, given: object) -> Truncation | None:
    known = spec.truncation
    if given is None:
        return known
    if given is False:
        return None
    if isinstance(given, Truncation):
        return given
    if given is True:
        if known is None:
            raise ConfigError(
                "truncation=True takes the length of the tokenizer's spec, which has none; pass a number"
            )
        return known
    if isinstance(given, int):
        return _changed(known, max_length=given) or Truncation(given)
    raise ConfigError(
        f"truncation is {given!r}; expected a number, a Truncation, True, False or None"
    )


def _padding(spec: Spec, given: object) -> Padding | None:
    known = spec.padding
    if given is None:
        return known
    if given is False:
        return None
    if isinstance(given, Padding):
        return given
    if given is not True and given != "longest" and not isinstance(given, int):
        raise ConfigError(
            f"padding is {given!r}; expected a number, a Padding, True, 'longest', False or None"
        )
    length = None if given is True or given == "longest" else given
    if changed := _changed(known, length=length):
        return changed
    for token in PAD_TOKENS:
        if token in spec.special_tokens:
            return Padding(token, spec.special_tokens[token], length=length)
    raise ConfigError(
        "no special token is known to fill inputs up; say which: "
        f"padding=jogak.Padding(token='<pad>', id=0, length={length})"
    )


def _changed(known: _Options | None, **options: Any) -> _Options | None:
    return None if known is None else replace(known, **options)


def _form(
    template: Template,
    pair: bool,
    add_special_tokens: bool,
    truncation: Truncation | None,
    padding: Padding | None,
    overflow: bool,
) -> _core.Form:
    """All that makes inputs of ids, as the core takes it."""
    parts = template.pair if pair else template.single
    slots: list[tuple[str | tuple[int, ...], int]] = [
        (part.what, part.type_id)
        for part in parts
        if add_special_tokens or isinstance(part.what, str)
    ]
    cut = fill = None
    if (t := truncation) is not None:
        cut = (t.max_length, t.stride, t.side, t.strategy)
    if (p := padding) is not None:
        fill = (p.id, p.type_id, p.side, p.length, p.multiple_of)
    return _core.Form(slots, cut, fill, overflow)


def _split(texts: Iterable[object]) -> tuple[list[str], list[str] | None]:
    """Texts, or first and second texts."""
    if isinstance(texts, str):
        raise ConfigError(
            "found one text; expected a list of texts (for one text call encoding(text))"
        )
    given: list[Any] = list(texts)
    if all(isinstance(text, str) for text in given):
        return given, None
    for place, both in enumerate(given):
        if (
            isinstance(both, str)
            or not isinstance(both, Sequence)
            or len(both) != 2
            or not all(isinstance(text, str) for text in both)
        ):
            raise ConfigError(
                f"input {place} is {both!r:.80}; expected texts only, or pairs of two texts only"
            )
    return [first for first, _ in given], [second for _, second in given]


def make_inputs(
    core: _core.Tokenizer,
    spec: Spec,
    forms: dict[object, _core.Form],
    texts: Iterable[str] | Iterable[tuple[str, str]],
    options: tuple[bool, TruncationLike, PaddingLike, bool, bool],
    special: str,
    threads: int,
    strategy: str | None,
    draw: tuple[str, float, int] | None,
    *,
    one: bool = False,
) -> Any:
    """The inputs of texts or pairs of texts, an `EncodingBatch`; or the first of them by itself, an
    `Encoding`. See `jogak.Tokenizer.encoding_batch`.
    """
    add_special_tokens, truncation, padding, overflow, spans = options
    firsts, seconds = _split(texts)
    fill = _padding(spec, padding)
    cut = _truncation(spec, truncation)
    key = (seconds is not None, bool(add_special_tokens), cut, fill, bool(overflow))
    if (form := forms.get(key)) is None:
        if len(forms) >= _MOST_FORMS:
            forms.clear()
        form = forms[key] = _form(spec.template, *key)
    trim = spec.template.trim_spans
    columns = _core.make_inputs(
        core, firsts, seconds, form, special, threads, spans, trim, strategy, draw
    )
    # Only who asks for inputs needs what they come in.
    from jogak.encoding import EncodingBatch

    made = EncodingBatch.first if one else EncodingBatch
    return made(columns, spec.model.table, None if fill is None else fill.token)


# --- ids alone


def around(template: Template, ids: list[int]) -> list[int]:
    """Ids of one text with those of a template around them."""
    out: list[int] = []
    for part in template.single:
        out += ids if isinstance(part.what, str) else part.what
    return out


def around_array(template: Template, ids: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """As `around`, for an array."""
    import numpy as np

    parts = [
        ids if isinstance(part.what, str) else np.array(part.what, dtype=np.uint32)
        for part in template.single
    ]
    return np.concatenate(parts) if parts else ids[:0]


def around_batch(
    template: Template, ids: NDArray[np.uint32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """As `around`, for the ids of many texts."""
    import numpy as np

    rows = len(offsets) - 1
    parts = template.single
    texts = sum(isinstance(part.what, str) for part in parts)
    added = sum(len(part.what) for part in parts if not isinstance(part.what, str))
    new = offsets * texts + np.arange(rows + 1) * added
    out = np.empty(int(new[-1]), dtype=np.uint32)
    lengths = np.diff(offsets)
    # Where in every row the part is that comes next.
    at = new[:-1].copy()
    row_of = np.repeat(np.arange(rows), lengths)
    in_row = np.arange(len(ids)) - np.repeat(offsets[:-1], lengths)
    for part in parts:
        if isinstance(part.what, str):
            out[at[row_of] + in_row] = ids
            at += lengths
        else:
            for id_ in part.what:
                out[at] = id_
                at += 1
    return out, new
