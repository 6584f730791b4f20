"""Clocks that move by themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flashtui.net.clocks import LoopbackClock, SystemClock


class Other:
    """A simulator's clock and the real seconds under it."""

    def __init__(self) -> None:
        self.epoch_s = 1_000_000.0
        self.speed = 60.0
        self.real_s = 5.0
        self.fails = False
        self.readings = 0

    def read(self) -> tuple[float, float]:
        self.readings += 1
        if self.fails:
            raise ConnectionRefusedError
        return self.epoch_s, self.speed

    def clock(self) -> LoopbackClock:
        return LoopbackClock(self.read, real=lambda: self.real_s)


def at(epoch_s: float) -> datetime:
    return datetime.fromtimestamp(epoch_s, UTC)


def test_it_counts_on_between_readings_at_the_other_speed() -> None:
    other = Other()
    clock = other.clock()
    clock.now()
    other.real_s += 0.05
    assert clock.now() == at(1_000_003.0)
    assert other.readings == 1


def test_a_jump_of_the_other_clock_is_followed() -> None:
    other = Other()
    clock = other.clock()
    clock.now()
    other.epoch_s += 3600
    other.real_s += 0.2
    assert clock.now() == at(1_003_600.0)


def test_a_lost_simulator_leaves_it_counting_on() -> None:
    other = Other()
    clock = other.clock()
    clock.now()
    other.fails = True
    other.real_s += 10
    assert clock.now() == at(1_000_600.0)


def test_the_first_reading_has_to_work() -> None:
    other = Other()
    other.fails = True
    with pytest.raises(ConnectionRefusedError):
        other.clock().now()


def test_monotonic_stands_still_when_the_other_clock_is_set_back() -> None:
    other = Other()
    clock = other.clock()
    before = clock.monotonic()
    other.epoch_s -= 100
    other.real_s += 1
    assert clock.monotonic() == before


async def test_sleep_ends_when_the_other_seconds_have_passed() -> None:
    other = Other()

    def real() -> float:
        other.real_s += 0.001
        return other.real_s

    clock = LoopbackClock(lambda: (1_000_000.0 + 1000 * other.real_s, 1000.0), real=real)
    before = clock.monotonic()
    await clock.sleep(10.0)
    assert clock.monotonic() - before >= 10.0


def test_the_system_clock_is_aware_and_moves() -> None:
    clock = SystemClock()
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.monotonic() <= clock.monotonic()


async def test_the_system_clock_does_not_wait_for_negative_times() -> None:
    await SystemClock().sleep(-1.0)
