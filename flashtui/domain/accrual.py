"""How a look at a resource changes what is kept of it: its state, and the cost accrued so far when its rate changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flashtui.domain.cost import resource_cost
from flashtui.domain.money import ZERO_USD

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.money import HourlyRate
    from flashtui.domain.run import RentedResource, Resource


def observed(rented: RentedResource, found: Resource) -> RentedResource:
    """What is kept of a resource after it has been seen in a listing; an older look than the last changes nothing."""
    seen_at = found.observed_at
    if rented.last_seen_at is not None and seen_at < rented.last_seen_at:
        return rented
    launched_at = rented.launched_at or _plausible(found.started_at, seen_at)
    handle = rented.handle if rented.handle.data else found.handle
    known = replace(
        rented,
        handle=handle,
        launched_at=launched_at,
        state=found.state,
        raw_status=found.raw_status,
        last_seen_at=seen_at,
    )
    return known if found.rate is None else accrued(known, found.rate, seen_at)


def accrued(rented: RentedResource, rate: HourlyRate, at: datetime) -> RentedResource:
    """What is kept after a rate was seen: at a change, cost up to then is settled under the rate that held before."""
    current = rented.billing_rate if rented.cost_until is not None else rented.rate
    if current == rate:
        return rented
    cost = resource_cost(rented, at)
    if cost is None or (rented.cost_until is None and rented.rate is None):
        # What held before the first look is not known: that look's rate stands in for it.
        since = rented.cost_until or rented.launched_at or at
        cost = (rented.cost or ZERO_USD) + rate.cost_over((at - since).total_seconds())
    return replace(rented, cost=cost, cost_until=at, billing_rate=rate)


def billing_rate(rented: RentedResource) -> HourlyRate | None:
    """What it costs per hour now, as far as is known: as last seen, else as accepted."""
    return rented.billing_rate if rented.cost_until is not None else rented.rate


def _plausible(started_at: datetime | None, seen_at: datetime) -> datetime | None:
    return started_at if started_at is not None and started_at <= seen_at else None
