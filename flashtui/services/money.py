"""Burn rate, spent today, spent in all: over every resource of the accounts. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.cost import add_costs, burn, cost_between, run_cost
from flashtui.domain.money import ZERO_USD
from flashtui.services.board import Burn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from flashtui.domain.cost import CostSum
    from flashtui.domain.money import HourlyRate, Usd
    from flashtui.domain.run import RentedResource, Run
    from flashtui.services.board import RunRow


def burn_of(rows: Iterable[RunRow], runs: Sequence[Run], now: datetime) -> Burn:
    """What everything costs now and has cost; sums leave out what is not known, unless that is all there is."""
    rows = tuple(rows)
    ours = burn(_rates(rows, {"run", "ghost"}))
    foreign = burn(_rates(rows, {"orphan", "foreign"}))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today = add_costs(_today(r, midnight, now) for run in runs for r in run.resources)
    total = add_costs(_cost(run, now) for run in runs if run.resources or run.recorded_cost)
    return Burn(
        ours.rate, foreign.rate, ours.unknown + foreign.unknown, _known(today), _known(total)
    )


def _rates(rows: Iterable[RunRow], kinds: set[str]) -> list[HourlyRate | None]:
    # A stopped machine goes on paying for its disk; what it pays is in its rate, or the rate is unknown.
    return [row.rate for row in rows if row.kind in kinds and row.may_bill]


def _cost(run: Run, now: datetime) -> Usd | None:
    if run.recorded_cost is not None and not run.may_bill:
        return run.recorded_cost
    return run_cost(run, now).total


def _today(resource: RentedResource, midnight: datetime, now: datetime) -> Usd | None:
    gone = resource.confirmed_gone_at
    if gone is not None and gone <= midnight:
        return ZERO_USD
    return cost_between(resource, midnight, now)


def _known(costs: CostSum) -> Usd | None:
    return None if costs.unknown and not costs.known else costs.known
