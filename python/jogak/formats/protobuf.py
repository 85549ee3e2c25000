"""Protocol buffers from strangers: just the wire format, read with suspicion and written plainly.

    message  = field*
    field    = tag value            tag = number * 8 + wire type, as a varint
    value    = varint (0) | 8 bytes (1) | length, bytes (2) | 4 bytes (5)

Rule: no schema is known here. Every error names the byte of the file. What is read never takes more
memory than a small multiple of the file: lengths are compared with what is there before anything is
cut out. Groups (wire types 3 and 4, long out of use) are refused.

Source: https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from jogak.errors import FormatError
from jogak.formats.checked import fault
from jogak.spec.record import dataclass

__all__ = ["Field", "bytes_field", "fields", "float_field", "int_field", "varint"]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIRE_NAMES = {
    VARINT: "a varint",
    FIXED64: "8 bytes",
    BYTES: "a length and bytes",
    FIXED32: "4 bytes",
}


@dataclass(frozen=True)
class Field:
    """One field of a message, as it stands in the file.

    Args:
        number: which field.
        wire: the wire type: 0, 1, 2 or 5.
        value: a number for varints, else the bytes.
        start: the byte of the file where the field's value starts.
        place: the message that it is in, for errors, such as ``pieces[3]``.
        file: the file's name, or None.
        tag: the byte of the file where the field itself starts.
        end: the byte behind the field.
    """

    number: int
    wire: int
    value: int | bytes
    start: int
    place: str
    file: str | None
    tag: int
    end: int

    def fault(self, message: str) -> FormatError:
        """A `FormatError` about this field: ``file: place, byte 12: message``."""
        where = f"{self.place}, byte {self.start}" if self.place else f"byte {self.start}"
        return fault(self.file, where, f"{where}: {message}")

    def _expect(self, wire: int, what: str) -> int | bytes:
        if self.wire != wire:
            raise self.fault(
                f"field {self.number} is {_WIRE_NAMES[self.wire]}; expected {_WIRE_NAMES[wire]} ({what})"
            )
        return self.value

    def unsigned(self, bits: int = 64) -> int:
        """A whole number from 0 on."""
        value = self._expect(VARINT, "a whole number")
        assert isinstance(value, int)
        if value >> bits:
            raise self.fault(f"field {self.number} is {value}; expected less than 2**{bits}")
        return value

    def signed(self) -> int:
        """A whole number of 32 bits with a sign (``int32``, ``enum``)."""
        value = self._expect(VARINT, "a whole number")
        assert isinstance(value, int)
        value -= (value >> 63) << 64
        if not -(2**31) <= value < 2**31:
            raise self.fault(f"field {self.number} is {value}; expected a number of 32 bits")
        return value

    def flag(self) -> bool:
        """True or false."""
        return self.unsigned() != 0

    def number32(self) -> float:
        """A floating-point number of 32 bits; infinities and NaN come through."""
        value = self._expect(FIXED32, "a 32-bit number")
        assert isinstance(value, bytes)
        (number,) = struct.unpack("<f", value)
        return float(number)

    def data(self) -> bytes:
        """Bytes."""
        value = self._expect(BYTES, "bytes")
        assert isinstance(value, bytes)
        return value

    def text(self) -> str:
        """A text in UTF-8."""
        data = self.data()
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.fault(
                f"field {self.number} is not UTF-8 ({error.reason} at byte {error.start} of it); "
                "expected a text"
            ) from None

    def message(self, place: str) -> Iterator[Field]:
        """The fields of a message inside this one."""
        return fields(self.data(), place, self.file, self.start)


def fields(data: bytes, place: str, file: str | None, offset: int = 0) -> Iterator[Field]:
    """The fields of a message, in the order of the file.

    Args:
        data: the message.
        place: what it is called in errors; empty for the whole file.
        file: the file's name, or None.
        offset: where the message starts in the file.

    Raises:
        FormatError: a value that goes on behind the end, a varint of more than 64 bits, a field
            number 0, a wire type that there is not.

    >>> [(f.number, f.value) for f in fields(bytes([0x08, 0x96, 0x01, 0x12, 1, 65]), "", None)]
    [(1, 150), (2, b'A')]
    """
    at = 0

    def wrong(here: int, message: str) -> FormatError:
        where = f"{place}, byte {offset + here}" if place else f"byte {offset + here}"
        return fault(file, where, f"{where}: {message}")

    def read_varint(at: int) -> tuple[int, int]:
        value = 0
        for index in range(10):
            if at + index >= len(data):
                raise wrong(at, "the data ends within a number; is the file whole?")
            byte = data[at + index]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if value >> 64:
                    break
                return value, at + index + 1
        raise wrong(at, "a number of more than 64 bits; is this a protocol buffer?")

    while at < len(data):
        tag = at
        key, at = read_varint(at)
        number, wire = key >> 3, key & 7
        if not 0 < number < 1 << 29:
            raise wrong(tag, f"a field number {number}; expected 1 to 536870911")
        start = at
        value: int | bytes
        if wire == VARINT:
            value, at = read_varint(at)
        elif wire in (FIXED64, FIXED32, BYTES):
            length = {FIXED64: 8, FIXED32: 4}.get(wire)
            if length is None:
                length, at = read_varint(at)
            start = at
            if length > len(data) - at:
                raise wrong(
                    start,
                    f"field {number} says {length} bytes, but {len(data) - at} are left; "
                    "is the file whole?",
                )
            value = data[at : at + length]
            at += length
        else:
            raise wrong(tag, f"field {number} has wire type {wire}; expected 0, 1, 2 or 5")
        yield Field(number, wire, value, offset + start, place, file, offset + tag, offset + at)


def varint(value: int) -> bytes:
    """A whole number; negative ones as 64-bit two's complement.

    >>> varint(150), len(varint(-1))
    (b'\\x96\\x01', 10)
    """
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def int_field(number: int, value: int) -> bytes:
    """A whole number or a flag as a field."""
    return varint(number << 3 | VARINT) + varint(value)


def float_field(number: int, value: float) -> bytes:
    """A 32-bit number as a field."""
    return varint(number << 3 | FIXED32) + struct.pack("<f", value)


def bytes_field(number: int, value: bytes | str) -> bytes:
    """Bytes, a text or a message as a field."""
    data = value.encode("utf-8") if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data
