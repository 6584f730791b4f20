"""What runs cost: accrued from observed rates, closed only by proof, unknown when a stamp is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.money import ZERO_USD, HourlyRate, Usd

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from flashtui.domain.market import Account
    from flashtui.domain.run import RentedResource


def resource_cost(resource: RentedResource, now: datetime) -> Usd | None:
    """Cost of one resource up to ``now``, or up to its proven end.

    What was accrued under earlier rates is kept in ``cost`` up to ``cost_until``; from there the billing rate counts.

    Returns:
        None when the start or the rate is not known: that is "not measured", never zero.
    """
    end = resource.confirmed_gone_at or now
    if resource.cost is not None and resource.cost_until is not None:
        return _grown(resource.cost, resource.billing_rate, resource.cost_until, end)
    if resource.launched_at is None or resource.rate is None:
        return resource.cost
    return resource.rate.cost_over((end - resource.launched_at).total_seconds())


def _grown(cost: Usd, rate: HourlyRate | None, since: datetime, end: datetime) -> Usd | None:
    seconds = (end - since).total_seconds()
    if rate is None:
        return cost if seconds <= 0 else None
    return cost + rate.cost_over(seconds)


def run_cost(resources: Iterable[RentedResource], now: datetime) -> Usd | None:
    """Cost of everything a run ever rented; None when it never rented, or any part is not known."""
    total: Usd | None = None
    for resource in resources:
        cost = resource_cost(resource, now)
        if cost is None:
            return None
        total = cost if total is None else total + cost
    return total


def cost_between(resource: RentedResource, start: datetime, end: datetime) -> Usd | None:
    """What a resource cost within a period: its cost at the end less its cost at the start.

    Accruals before ``cost_until`` are not kept apart; a start before it is spread evenly from the launch.
    """
    at_end = resource_cost(resource, end)
    launched = resource.launched_at
    if at_end is None or launched is None:
        return None
    stop = min(end, resource.confirmed_gone_at or end)
    if stop <= start:
        return ZERO_USD
    if launched >= start:
        return at_end
    share = (stop - start).total_seconds() / (stop - launched).total_seconds()
    return Usd(round(at_end.micros * share))


def hours_left(account: Account, burn: HourlyRate) -> float | None:
    """Hours until the balance is used up at this burn rate; None: unknown, or nothing burns."""
    if account.balance is None or not burn:
        return None
    return round(max(0.0, account.balance.micros / burn.micros), 3)
