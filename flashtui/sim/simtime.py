"""The simulator's clock: real time at a speed, or standing still until stepped."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class SimTime:
    """Epoch seconds that advance `speed` times as fast as `real`; speed 0 stands still."""

    def __init__(self, start: float, speed: float, real: Callable[[], float]) -> None:
        self.start = start
        self._real = real
        self._lock = threading.Lock()
        self._base = start
        self._mark = real()
        self._speed = _checked(speed)

    @property
    def speed(self) -> float:
        """Simulated seconds per real second."""
        return self._speed

    def now(self) -> float:
        """Current simulated epoch seconds."""
        with self._lock:
            return self._read()

    def step(self, seconds: float) -> float:
        """Move forward at once and return the new time."""
        if not 0 <= seconds < float("inf"):
            msg = f"seconds must be finite and not negative, not {seconds}"
            raise ValueError(msg)
        with self._lock:
            self._base = self._read() + seconds
            self._mark = self._real()
            return self._base

    def set_speed(self, speed: float) -> None:
        """Go on from the current moment at another speed."""
        checked = _checked(speed)
        with self._lock:
            self._base = self._read()
            self._mark = self._real()
            self._speed = checked

    def restart(self) -> None:
        """Go back to the start; speed stays."""
        with self._lock:
            self._base = self.start
            self._mark = self._real()

    def _read(self) -> float:
        if self._speed == 0:
            return self._base
        return self._base + (self._real() - self._mark) * self._speed


def _checked(speed: float) -> float:
    if not 0 <= speed <= 100_000:
        msg = f"speed must be between 0 and 100000, not {speed}"
        raise ValueError(msg)
    return float(speed)
