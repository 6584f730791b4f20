"""The simulator's clock and its ledger."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.sim.ledger import Ledger
from flashtui.sim.simtime import SimTime


class Watch:
    """Real time, moved by hand."""

    def __init__(self) -> None:
        self.at = 50.0

    def __call__(self) -> float:
        return self.at


def test_time_runs_as_fast_as_its_speed() -> None:
    watch = Watch()
    time = SimTime(1000.0, 60.0, watch)
    watch.at += 2
    assert time.now() == 1120.0


def test_a_new_speed_goes_on_from_the_same_moment() -> None:
    watch = Watch()
    time = SimTime(1000.0, 10.0, watch)
    watch.at += 1
    time.set_speed(0)
    watch.at += 100
    assert time.now() == 1010.0
    time.set_speed(1)
    watch.at += 5
    assert time.now() == 1015.0


def test_stepping_adds_to_running_time_and_a_restart_forgets_both() -> None:
    watch = Watch()
    time = SimTime(1000.0, 1.0, watch)
    watch.at += 3
    assert time.step(60) == 1063.0
    time.restart()
    assert time.now() == 1000.0


@pytest.mark.parametrize("seconds", [-1.0, float("inf"), float("nan")])
def test_time_never_goes_back_or_nowhere(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds must be finite"):
        SimTime(0.0, 1.0, Watch()).step(seconds)


def opened() -> Ledger:
    ledger = Ledger()
    ledger.open("vast", "1", kind="instance", label="run-1", gpu="L4", at=100.0)
    return ledger


def test_rates_of_parts_are_integrated_exactly() -> None:
    ledger = opened()
    ledger.set_rate("vast", "1", "gpu", 0.36, 100.0)
    ledger.set_rate("vast", "1", "storage", 0.1, 100.0)
    ledger.set_rate("vast", "1", "gpu", 0.0, 1900.0)
    assert ledger.billed("vast", "1", 3700.0) == Decimal("0.36") / 2 + Decimal("0.1")
    assert ledger.rate("vast", "1") == Decimal("0.1")


def test_a_closed_resource_keeps_its_sum_and_takes_no_more() -> None:
    ledger = opened()
    ledger.set_rate("vast", "1", "gpu", 1.0, 100.0)
    ledger.charge("vast", "1", "bandwidth", 0.25, 200.0)
    ledger.close("vast", "1", 3700.0)
    ledger.close("vast", "1", 9999.0)
    assert ledger.billed("vast", "1", 99999.0) == Decimal("1.25")
    with pytest.raises(ValueError, match="closed"):
        ledger.set_rate("vast", "1", "gpu", 1.0, 5000.0)
    row = ledger.rows(99999.0)[0]
    assert (row["billing"], row["closed_at"], row["billed_usd"]) == (False, 3700.0, 1.25)


def test_a_resource_is_opened_once() -> None:
    with pytest.raises(ValueError, match="already"):
        opened().open("vast", "1", kind="instance", label="", gpu="", at=0.0)


def test_totals_go_by_provider() -> None:
    ledger = opened()
    ledger.open("runpod", "1", kind="endpoint", label="", gpu="", at=100.0)
    ledger.set_rate("vast", "1", "gpu", 1.0, 100.0)
    ledger.set_rate("runpod", "1", "worker", 2.0, 100.0)
    assert ledger.provider_billed("vast", 3700.0) == 1
    assert ledger.provider_rate("runpod") == 2
    assert ledger.total(3700.0) == 3.0


@given(
    st.lists(
        st.tuples(st.integers(0, 5000), st.sampled_from([0.0, 0.1, 0.36, 2.05])),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 6000),
)
def test_what_falls_between_moments_adds_up_to_the_whole(
    changes: list[tuple[int, float]], cut: int
) -> None:
    ledger = opened()
    for at, rate in sorted(changes):
        ledger.set_rate("vast", "1", "gpu", rate, 100.0 + at)
    end = 7000.0
    middle = 100.0 + cut
    whole = ledger.billed("vast", "1", end)
    first = ledger.between("vast", "1", "gpu", 0.0, min(middle, end))
    second = ledger.between("vast", "1", "gpu", min(middle, end), end)
    assert abs(first + second - whole) < Decimal("1e-15")
