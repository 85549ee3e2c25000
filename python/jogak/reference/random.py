"""The random numbers of BPE-dropout: SplitMix64, small enough to write down in any language.

Rule: the same seed gives the same numbers, on every machine and in every language. A generator is
made for one text and read in order; nothing is global.

Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators" (OOPSLA), in the
constants of Vigna's https://prng.di.unimi.it/splitmix64.c.
"""

from __future__ import annotations

_64_BITS = (1 << 64) - 1


class SplitMix64:
    """A stream of unsigned 64-bit numbers.

    Args:
        seed: where the stream starts; its lowest 64 bits are used.

    >>> stream = SplitMix64(1234567)
    >>> [stream.next_u64() for _ in range(3)]
    [6457827717110365317, 3203168211198807973, 9817491932198370423]
    """

    def __init__(self, seed: int) -> None:
        self._state = seed & _64_BITS

    def next_u64(self) -> int:
        """The next number, from 0 to 2**64 - 1.

        >>> SplitMix64(0).next_u64()
        16294208416658607535
        """
        self._state = (self._state + 0x9E3779B97F4A7C15) & _64_BITS
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _64_BITS
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _64_BITS
        return mixed ^ (mixed >> 31)

    def next_float(self) -> float:
        """The next number as a fraction in [0, 1): its upper 53 bits over 2**53, which is exact.

        >>> SplitMix64(0).next_float()
        0.8833108082136426
        """
        return (self.next_u64() >> 11) / (1 << 53)
