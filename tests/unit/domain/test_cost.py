"""Costs, burn and time to zero; what is not known is counted, never zero."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.cost import burn, cost_between, hours_left, resource_cost, run_cost
from flashtui.domain.money import ZERO_RATE, ZERO_USD, HourlyRate, Usd
from tests.build import account, ago, rate, rented, run, usd
from tests.fakes import T0

if TYPE_CHECKING:
    from flashtui.domain.run import RentedResource


def test_a_live_resource_costs_its_rate_since_launch() -> None:
    assert resource_cost(rented(dollars=2.0, launched_at=ago(5400)), T0) == usd(3)


def test_only_proof_stops_the_clock() -> None:
    asked = rented(dollars=1.0, launched_at=ago(7200), teardown_requested_at=ago(3600))
    assert resource_cost(asked, T0) == usd(2)
    gone = rented(dollars=1.0, launched_at=ago(7200), confirmed_gone_at=ago(3600))
    assert resource_cost(gone, T0) == usd(1)
    assert resource_cost(gone, T0 + timedelta(days=30)) == usd(1)


def test_a_settled_cost_wins_even_when_it_is_zero() -> None:
    assert resource_cost(rented(cost=ZERO_USD, launched_at=ago(3600)), T0) == ZERO_USD


@pytest.mark.parametrize(
    "broken",
    [
        {"launched_at": None},
        {"dollars": None},
        {"launched_at": datetime(2099, 1, 1, tzinfo=UTC)},
    ],
)
def test_a_cost_that_cannot_be_known_is_not_zero(broken: dict[str, Any]) -> None:
    """C093: no launch, no rate, or a launch in another century."""
    assert resource_cost(rented(**broken), T0) is None


def test_a_launch_slightly_ahead_of_our_clock_costs_nothing_yet() -> None:
    assert resource_cost(rented(launched_at=ago(-60)), T0) == ZERO_USD


def test_all_attempts_count_at_their_own_rates() -> None:
    """C105: three hours at 0.40 and one at 2.00 are 3.20."""
    first = rented("1", dollars=0.4, launched_at=ago(4 * 3600), confirmed_gone_at=ago(3600))
    second = rented("2", dollars=2.0, launched_at=ago(3600))
    found = run_cost(run(resources=(first, second)), T0)
    assert (found.total, found.unknown) == (usd(3.2), 0)


def test_a_run_with_an_unknown_part_has_no_total_but_a_known_part() -> None:
    found = run_cost(run(resources=(rented("1"), rented("2", dollars=None))), T0)
    assert (found.total, found.unknown) == (None, 1)
    assert found.known == resource_cost(rented("1"), T0)


def test_a_run_that_rented_nothing_costs_what_was_recorded_or_nothing() -> None:
    assert run_cost(run(resources=()), T0).total == ZERO_USD
    assert run_cost(run(resources=(), recorded_cost=usd(5)), T0).total == usd(5)


def test_a_span_takes_its_share() -> None:
    """C106: half an hour on each side of midnight."""
    midnight = T0.replace(hour=0)
    thing = rented(
        dollars=1.0,
        launched_at=midnight - timedelta(minutes=30),
        confirmed_gone_at=midnight + timedelta(minutes=30),
    )
    day = timedelta(days=1)
    assert cost_between(thing, midnight - day, midnight, now=T0) == usd(0.5)
    assert cost_between(thing, midnight, midnight + day, now=T0) == usd(0.5)
    assert cost_between(thing, midnight + day, midnight + 2 * day, now=T0) == ZERO_USD
    assert cost_between(thing, midnight - 2 * day, midnight - day, now=T0) == ZERO_USD


@given(
    parts=st.lists(st.integers(0, 100_000), min_size=2, max_size=6, unique=True),
    micros=st.integers(0, 10_000_000),
)
def test_spans_add_up_to_the_whole(parts: list[int], micros: int) -> None:
    cuts = [T0 + timedelta(seconds=s) for s in sorted(parts)]
    thing = rented(launched_at=cuts[0], rate=HourlyRate(micros))
    shares = [cost_between(thing, start, end, now=cuts[-1]) for start, end in pairwise(cuts)]
    whole = resource_cost(thing, cuts[-1])
    assert whole is not None
    total = sum(share.micros for share in shares if share is not None)
    assert abs(total - whole.micros) <= len(shares)


def _risen() -> RentedResource:
    """C100: six hours at 0.36, then the host asks for 0.72; seen two hours later."""
    return rented(
        dollars=0.36,
        launched_at=ago(8 * 3600),
        cost=usd(6 * 0.36),
        cost_until=ago(2 * 3600),
        billing_rate=rate(0.72),
    )


def test_a_rate_that_rose_counts_from_when_it_rose() -> None:
    assert resource_cost(_risen(), T0) == usd(6 * 0.36 + 2 * 0.72)
    gone = replace(_risen(), confirmed_gone_at=ago(3600))
    assert resource_cost(gone, T0) == usd(6 * 0.36 + 0.72)
    just_seen = replace(_risen(), cost_until=T0)
    assert resource_cost(just_seen, T0) == usd(6 * 0.36)


def test_a_span_across_a_rise_takes_both_parts() -> None:
    assert cost_between(_risen(), ago(3 * 3600), T0) == usd(0.36 + 2 * 0.72)
    assert cost_between(_risen(), None, ago(3 * 3600), now=T0) == usd(5 * 0.36)
    assert cost_between(_risen(), ago(3600), T0) == usd(0.72)


def test_an_unknown_rate_after_the_kept_part_is_not_zero() -> None:
    lost = replace(_risen(), billing_rate=None)
    assert resource_cost(lost, T0) is None
    assert cost_between(lost, None, T0) is None
    assert cost_between(lost, None, ago(3 * 3600), now=T0) == usd(5 * 0.36)


def test_a_settled_cost_is_spread_over_the_life_of_the_resource() -> None:
    settled = rented(launched_at=ago(7200), confirmed_gone_at=ago(3600), cost=usd(1), dollars=None)
    assert cost_between(settled, ago(5400), T0) == usd(0.5)
    assert cost_between(rented(launched_at=T0, cost=usd(1)), None, T0) == ZERO_USD


def test_burn_counts_what_it_does_not_know() -> None:
    found = burn([rate(1), None, rate(0.02)])
    assert (found.rate, found.unknown) == (rate(1.02), 1)


def test_time_to_zero() -> None:
    assert hours_left(account(dollars=10), HourlyRate.of(4)) == 2.5
    assert hours_left(account(dollars=-1), HourlyRate.of(4)) == 0.0
    assert hours_left(account(dollars=None), HourlyRate.of(4)) is None
    assert hours_left(account(dollars=10), ZERO_RATE) is None


def test_usd_of_a_sum_is_exact() -> None:
    assert Usd(1) + Usd(2) == Usd(3)
