"""Decimal numbers as Hugging Face's library reads them from JSON, to the last bit.

Rust's serde_json does not round correctly unless asked to: it takes the digits as one whole number,
turns that into 64-bit floating point, and divides or multiplies once by a power of ten. One score in
four of a ``tokenizer.json`` differs in the last bit from what every other reader gets, and near-ties
between segmentations are decided by it.
"""

from __future__ import annotations

import re

__all__ = ["serde_float"]

_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?")
_MOST = (1 << 64) - 1
# Written out: ``10.0**23`` is another number than ``1e23``, which that library takes.
_TENS = [float(f"1e{power}") for power in range(309)]


def serde_float(text: str) -> float:
    """The number that serde_json makes of a JSON number with a fraction or an exponent.

    Pass it to ``json.loads`` as ``parse_float``.

    Raises:
        ValueError: not a JSON number, or one too large for 64 bits.

    >>> serde_float("-3.1416"), serde_float("1e3")
    (-3.1416, 1000.0)
    >>> serde_float("-2.0122928619384766") - -2.0122928619384766
    -4.440892098500626e-16
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no JSON number")
    sign, whole, fraction, power = match.groups()
    digits, exponent = 0, int(power or 0)
    full = False
    for index, digit in enumerate(whole + (fraction or "")):
        in_fraction = index >= len(whole)
        # What no longer fits in 64 bits is dropped, not rounded.
        full = full or digits * 10 + int(digit) > _MOST
        if not full:
            digits = digits * 10 + int(digit)
        exponent += (not in_fraction and full) - (in_fraction and not full)
    number = float(digits)
    while number != 0.0 and abs(exponent) > 308:
        if exponent > 0:
            raise ValueError(f"{text!r} is too large for a number of 64 bits")
        number /= 1e308
        exponent += 308
    if number == 0.0:
        exponent = 0
    number = number / _TENS[-exponent] if exponent < 0 else number * _TENS[exponent]
    if number == float("inf"):
        raise ValueError(f"{text!r} is too large for a number of 64 bits")
    return -number if sign else number
