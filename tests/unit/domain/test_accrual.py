"""How looks at a resource change what is kept of it."""

from __future__ import annotations

from dataclasses import replace

from flashtui.domain.accrual import accrued, billing_rate, observed
from flashtui.domain.cost import resource_cost
from flashtui.domain.money import HourlyRate
from flashtui.domain.run import JobHandle
from tests.build import ago, handle, rented, resource, usd
from tests.fakes import T0

ONE, TWO = HourlyRate.of(1), HourlyRate.of(2)


def test_an_older_look_changes_nothing() -> None:
    kept = rented(last_seen_at=ago(5))
    assert observed(kept, resource(observed_at=ago(6))) is kept


def test_a_look_brings_state_and_time() -> None:
    seen = observed(rented(dollars=2.0), resource(state="stopped", raw_status="stopped", rate=None))
    assert (seen.state, seen.raw_status, seen.rate) == ("stopped", "stopped", TWO)


def test_a_missing_launch_and_handle_come_from_the_provider() -> None:
    kept = rented(launched_at=None, handle=JobHandle("vast", {}))
    seen = observed(kept, resource(started_at=ago(60), observed_at=T0))
    assert seen.launched_at == ago(60)
    assert seen.handle == handle()
    future = observed(kept, resource(started_at=ago(-60), observed_at=T0))
    assert future.launched_at is None


def test_the_same_rate_settles_nothing() -> None:
    kept = rented(dollars=1.0)
    assert accrued(kept, ONE, T0) is kept
    assert billing_rate(kept) == ONE


def test_a_new_rate_settles_what_ran_up_under_the_old_one() -> None:
    kept = rented(dollars=1.0, launched_at=ago(7200))
    risen = accrued(kept, TWO, ago(3600))
    assert (risen.cost, risen.cost_until, billing_rate(risen)) == (usd(1), ago(3600), TWO)
    assert resource_cost(risen, T0) == usd(3)
    again = accrued(risen, ONE, T0)
    assert (again.cost, billing_rate(again)) == (usd(3), ONE)


def test_a_first_known_rate_stands_in_for_the_time_before() -> None:
    kept = rented(dollars=None, launched_at=ago(3600))
    assert accrued(kept, ONE, T0).cost == usd(1)
    lost = replace(
        rented(cost=usd(5), cost_until=ago(3600), launched_at=ago(7200)), billing_rate=None
    )
    assert accrued(lost, ONE, T0).cost == usd(6)
