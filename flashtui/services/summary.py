"""The store alone in a few figures: burn, what may bill unseen, how long the money lasts. No network."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.accrual import billing_rate
from flashtui.domain.cost import burn, hours_left
from flashtui.domain.money import HourlyRate
from flashtui.store import reading

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

    from flashtui.domain.market import Account
    from flashtui.domain.operation import Operation
    from flashtui.domain.run import RentedResource, Run

_WARN_HOURS = 6.0
# Nobody has looked at a billing resource for so long: it bills unseen.
_UNSEEN_AFTER = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures.

    Attributes:
        burn: per hour, everything recorded that may bill.
        unknown: billing resources without a known rate.
        billing: how many resources may bill.
        hours: provider to hours until its balance is used up.
        unseen: what may bill without anybody knowing, one sentence each.
        warnings: what else wants attention.
    """

    burn: HourlyRate
    unknown: int
    billing: int
    hours: tuple[tuple[str, float], ...]
    unseen: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def horizons(self) -> tuple[tuple[str, str], ...]:
        """Provider to ``19h52m``."""
        return tuple((provider, f"{int(h)}h{int(h * 60) % 60:02d}m") for provider, h in self.hours)


def summarise(db_file: Path, now: datetime) -> Summary:
    """Read the store and sum up; a store that does not exist is an empty one.

    Raises:
        StoreError: it is there but cannot be read.
    """
    with reading(db_file) as tables:
        if tables is None:
            return Summary(HourlyRate(0), 0, 0, (), (), ())
        runs = tables.runs.list()
        operations = tuple(stored.operation for stored in tables.operations.open())
        accounts = tables.prices.accounts()
    return _summary(runs, operations, accounts, now)


def _summary(
    runs: Iterable[Run], operations: Iterable[Operation], accounts: Iterable[Account], now: datetime
) -> Summary:
    runs = tuple(runs)
    billing = [r for run in runs for r in run.resources if r.may_bill]
    total = burn(billing_rate(r) for r in billing)
    hours = [(a.provider, left) for a in accounts if (left := _hours(a, billing)) is not None]
    unseen = [
        f"{o.target.resource_id} on {o.target.provider} may still bill"
        for o in operations
        if o.phase == "unconfirmed"
    ]
    unseen += [
        f"{run.run_id} is {run.state} but may still bill"
        for run in runs
        if run.may_bill and run.state in {"done", "failed", "cancelled"}
    ]
    warnings = [
        f"{r.run_id} not looked at since {_since(r)}" for r in billing if _is_unseen(r, now)
    ]
    warnings += [
        f"{provider} money ends in {left:.1f} h" for provider, left in hours if left < _WARN_HOURS
    ]
    warnings += [f"{run.run_id}: {run.broken}" for run in runs if run.broken]
    return Summary(
        total.rate, total.unknown, len(billing), tuple(hours), tuple(unseen), tuple(warnings)
    )


def _hours(account: Account, billing: Iterable[RentedResource]) -> float | None:
    rates = burn(billing_rate(r) for r in billing if r.provider == account.provider)
    return hours_left(account, rates.rate)


def _is_unseen(resource: RentedResource, now: datetime) -> bool:
    seen = resource.last_seen_at
    return seen is None or now - seen > _UNSEEN_AFTER


def _since(resource: RentedResource) -> str:
    return (
        "it was recorded"
        if resource.last_seen_at is None
        else f"{resource.last_seen_at:%Y-%m-%d %H:%M} UTC"
    )
