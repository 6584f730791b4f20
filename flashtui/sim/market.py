"""Seeded markets without memory: every value is a pure function of a key and a moment.

Nothing is accumulated, so any moment can be asked for in any order, two processes with one seed agree, and stepping
the clock by an hour costs nothing. A price holds for whole ticks.
"""

from __future__ import annotations

import math
import zlib

TICK_S = 5.0
_MASK = (1 << 64) - 1


def tick_of(epoch: float) -> int:
    """Number of the tick that a moment lies in, counted from the epoch."""
    return math.floor(epoch / TICK_S)


def key_of(*names: object) -> int:
    """A stable 64-bit key for a name such as (seed, "vast", machine number)."""
    text = "/".join(str(name) for name in names).encode()
    return _mixed((zlib.crc32(text) << 32) | zlib.adler32(text))


def chance(key: int, index: int) -> float:
    """A number in [0, 1) that depends on the key and the index alone."""
    return _mixed(key + index * 0x9E3779B97F4A7C15) / (1 << 64)


def drift(key: int, position: float) -> float:
    """A smooth wander between -1 and 1 that turns about once per unit of position."""
    left = math.floor(position)
    part = position - left
    smooth = part * part * (3 - 2 * part)
    low, high = chance(key, left), chance(key, left + 1)
    return 2 * (low + (high - low) * smooth) - 1


def walk(key: int, tick: int) -> float:
    """A random-walk-like factor around 1: hours move it by a tenth, minutes by a few hundredths.

    It changes on only some ticks, as hosts reprice now and then and not all at once.
    """
    held = _held(key, tick)
    slow = drift(key, held / 1400)
    middle = drift(key ^ 0x5DEECE66D, held / 130)
    quick = 2 * chance(key ^ 0xB5297A4D, held) - 1
    return math.exp(0.10 * slow + 0.04 * middle + 0.012 * quick)


def walk_ends(key: int, tick: int) -> int:
    """The first tick after this one at which the walk may move."""
    return _held(key, tick) - key % 97 + _period(key)


def is_in(key: int, epoch: float, *, window_s: float, share: float) -> bool:
    """Whether something that comes and goes is there: it decides anew once per window."""
    return chance(key, window_of(key, epoch, window_s)) < share


def window_of(key: int, epoch: float, window_s: float) -> int:
    """Number of the window of a comer and goer that a moment lies in."""
    return math.floor(epoch / window_s + (key % 1000) / 1000)


def window_ends(key: int, epoch: float, window_s: float) -> float:
    """Moment at which the window that a moment lies in ends."""
    return (window_of(key, epoch, window_s) + 1 - (key % 1000) / 1000) * window_s


def _period(key: int) -> int:
    return 2 + key % 11


def _held(key: int, tick: int) -> int:
    period = _period(key)
    return (tick + key % 97) // period * period


def _mixed(value: int) -> int:
    value &= _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)
