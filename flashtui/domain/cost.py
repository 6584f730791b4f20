"""What rented things have cost, cost now, and how long the money lasts. What is not known stays unknown and is counted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.money import ZERO_RATE, ZERO_USD, HourlyRate, Usd

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from flashtui.domain.market import Account
    from flashtui.domain.run import RentedResource, Run

# Two clocks differ by so much at most; a launch further ahead is a broken stamp, not a launch.
_SKEW = timedelta(minutes=5)
_NO_TIME = timedelta(0)


@dataclass(frozen=True, slots=True)
class CostSum:
    """A sum of costs.

    Attributes:
        known: the sum of those that are known.
        unknown: how many were left out.
    """

    known: Usd
    unknown: int

    @property
    def total(self) -> Usd | None:
        """The sum; None when anything was left out."""
        return None if self.unknown else self.known


@dataclass(frozen=True, slots=True)
class RateSum:
    """A sum of hourly rates, and how many were left out because they are not known."""

    rate: HourlyRate
    unknown: int


def resource_cost(resource: RentedResource, now: datetime) -> Usd | None:
    """Cost of a resource up to ``now``; None when its launch or its rate is not known.

    What was accrued under earlier rates is kept up to ``cost_until``; from there the billing rate counts. Otherwise the
    accepted rate of the whole resource runs from its launch. Only a proven end stops the clock; a teardown that was
    asked for does not.
    """
    if resource.cost is not None:
        return _since_accrual(resource.cost, resource, now)
    return cost_between(resource, resource.launched_at, now)


def _since_accrual(cost: Usd, resource: RentedResource, now: datetime) -> Usd | None:
    if resource.cost_until is None:
        return cost
    end = now if resource.confirmed_gone_at is None else min(resource.confirmed_gone_at, now)
    seconds = _seconds(resource.cost_until, end)
    if seconds <= 0:
        return cost
    return (
        None if resource.billing_rate is None else cost + resource.billing_rate.cost_over(seconds)
    )


def cost_between(
    resource: RentedResource, start: datetime | None, end: datetime, *, now: datetime | None = None
) -> Usd | None:
    """Share of a resource's running cost that falls into a span of time, e.g. today; None: not known.

    What was accrued under earlier rates is spread evenly over the time it was accrued in.

    Args:
        resource: what is billed.
        start: None: its launch.
        end: the span's end.
        now: the present when it comes before ``end``; nothing is billed in advance.
    """
    launched, gone = resource.launched_at, resource.confirmed_gone_at
    present = end if now is None else min(now, end)
    if launched is None or launched > (now or end) + _SKEW:
        return None
    last = present if gone is None else min(gone, present)
    first = launched if start is None else max(launched, start)
    if resource.cost is None:
        return None if resource.rate is None else resource.rate.cost_over(_seconds(first, last))
    kept_until = resource.cost_until or gone or now or end
    kept = _share(resource.cost, launched, kept_until, first, last)
    after_s = _seconds(max(first, kept_until), last)
    if after_s <= 0:
        return kept
    return (
        None if resource.billing_rate is None else kept + resource.billing_rate.cost_over(after_s)
    )


def _share(cost: Usd, since: datetime, until: datetime, first: datetime, last: datetime) -> Usd:
    """The part of a cost, spread evenly from ``since`` to ``until``, between two moments."""
    whole = until - since
    part = min(until, last) - max(since, first)
    if part <= _NO_TIME or whole <= _NO_TIME:
        return ZERO_USD
    return Usd(round(cost.micros * (part / whole)))


def _seconds(first: datetime, last: datetime) -> float:
    return (last - first).total_seconds()


def run_cost(run: Run, now: datetime) -> CostSum:
    """Cost of everything a run ever rented, all attempts; a run that rented nothing costs what was recorded, or nothing."""
    if not run.resources:
        return CostSum(run.recorded_cost or ZERO_USD, 0)
    return add_costs(resource_cost(resource, now) for resource in run.resources)


def add_costs(costs: Iterable[Usd | None]) -> CostSum:
    """Add up, counting those that are not known."""
    known, unknown = ZERO_USD, 0
    for cost in costs:
        if cost is None:
            unknown += 1
        else:
            known += cost
    return CostSum(known, unknown)


def burn(rates: Iterable[HourlyRate | None]) -> RateSum:
    """Add up the rates of whole resources that may bill, counting those that are not known."""
    total, unknown = ZERO_RATE, 0
    for rate in rates:
        if rate is None:
            unknown += 1
        else:
            total += rate
    return RateSum(total, unknown)


def hours_left(account: Account, rate: HourlyRate) -> float | None:
    """Hours until the balance is used up at a rate; None when the balance is not known or nothing bills."""
    if account.balance is None or not rate:
        return None
    return max(0.0, account.balance.micros / rate.micros)
