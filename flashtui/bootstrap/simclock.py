"""Reads a simulator's clock from a thread of its own, so that asking for the time never waits for a socket."""

from __future__ import annotations

import json
import threading
import time
import urllib.request

_EVERY_S = 0.2
_TIMEOUT_S = 2.0


class SimClockReader:
    """The newest reading of ``FLASHTUI_CLOCK_URL``, carried on from the moment it was taken.

    A simulator that stops answering leaves the clock running at its last speed.

    Args:
        url: answers ``{"now": epoch seconds, "speed": simulated seconds per real second}``.

    Raises:
        OSError: the first reading failed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        # The address is on loopback (settings see to that); a proxy variable must not send it elsewhere.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._reading = self._ask()
        self._stop = threading.Event()
        threading.Thread(target=self._follow, name="simulated-clock", daemon=True).start()

    def read(self) -> tuple[float, float]:
        """The simulator's present in epoch seconds, and its speed."""
        at, epoch_s, speed = self._reading
        return epoch_s + (time.monotonic() - at) * speed, speed

    def close(self) -> None:
        """Stop following."""
        self._stop.set()

    def _follow(self) -> None:
        while not self._stop.wait(_EVERY_S):
            try:
                self._reading = self._ask()
            except (OSError, ValueError):
                continue

    def _ask(self) -> tuple[float, float, float]:
        asked = time.monotonic()
        with self._opener.open(self._url, timeout=_TIMEOUT_S) as answer:
            told = json.load(answer)
        # The answer is as old as half the round trip.
        return (asked + time.monotonic()) / 2, float(told["now"]), float(told["speed"])


def read_once(url: str) -> float:
    """The simulator's present, epoch seconds, asked once.

    Raises:
        OSError: it does not answer.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=_TIMEOUT_S) as answer:
        return float(json.load(answer)["now"])
