"""The lines of the runs pane: what the store knows beside what the providers list. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.accrual import accrued, billing_rate
from flashtui.domain.cost import add_costs, burn, resource_cost
from flashtui.domain.money import ZERO_USD, HourlyRate, Usd
from flashtui.domain.operation import Target
from flashtui.domain.run import TERMINAL_STATES
from flashtui.services.board import RunRow
from flashtui.services.ownership import sort_resources

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from flashtui.domain.operation import Operation
    from flashtui.domain.run import Inventory, RentedResource, Resource, ResourceState, Run
    from flashtui.services.board import RowKind

# A listing may lag behind a create, and miss a page: only what was not seen for this long is called missing.
_YOUNG = timedelta(minutes=2)
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RowSources:
    """What rows are made of.

    Attributes:
        inventories: the last listing of each provider that could be read.
        operations: open ones, and those that ended a moment ago.
    """

    runs: Sequence[Run]
    inventories: Sequence[Inventory]
    operations: Sequence[Operation]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The world that run rows are held against."""

    ours: Mapping[_Key, Resource]
    orphans: Mapping[str, str]
    listed_at: Mapping[str, datetime]
    operations: Mapping[_Key, Operation]
    now: datetime


def run_rows(sources: RowSources, now: datetime) -> tuple[RunRow, ...]:
    """Runs that may bill first, then what nobody here holds, then runs that are over; each newest first."""
    found = sort_resources(sources.inventories, sources.runs)
    operations = _newest_by_target(sources.operations)
    seen = _Seen(
        found.ours,
        {run.run_id: resource.resource_id for resource, run in found.orphans},
        {i.provider: i.observed_at for i in sources.inventories if i.complete},
        operations,
        now,
    )
    rows = [_run_row(run, seen) for run in sources.runs]
    orphans = [_unowned("orphan", r, run.run_id, operations) for r, run in found.orphans]
    foreign = [_unowned("foreign", r, None, operations) for r in found.foreign]
    live = [row for row in rows if row.may_bill or row.state not in TERMINAL_STATES]
    over = [row for row in rows if not (row.may_bill or row.state not in TERMINAL_STATES)]
    return (*live, *orphans, *foreign, *over)


def _newest_by_target(operations: Iterable[Operation]) -> dict[_Key, Operation]:
    """The operation a row is about: an open one before one that is over, a destroy before a cancel, the newest."""

    def rank(operation: Operation) -> tuple[bool, bool, datetime]:
        return operation.is_open, operation.kind == "destroy", operation.requested_at

    newest: dict[_Key, Operation] = {}
    for operation in sorted(operations, key=rank):
        if operation.phase != "withdrawn":
            newest[operation.target.provider, operation.target.resource_id] = operation
    return newest


def _current(run: Run) -> RentedResource | None:
    """The resource a run's line is about: the newest that may bill, else the newest."""
    billing = [r for r in run.resources if r.may_bill]
    candidates = billing or run.resources
    return candidates[-1] if candidates else None


def _run_row(run: Run, seen: _Seen) -> RunRow:
    rented = _current(run)
    key = (rented.provider, rented.resource_id) if rented else ("", "")
    listed, operation = seen.ours.get(key), seen.operations.get(key)
    billing = [_as_listed(r, seen) for r in run.resources if r.may_bill]
    settled, since = _cost(run, billing, seen.now)
    missing = rented is not None and _is_missing(rented, listed, seen.listed_at)
    told_rate = listed is not None and listed.rate is not None
    return RunRow(
        key=f"run:{run.run_id}",
        kind="ghost" if missing and not _is_under_way(operation) else "run",
        run_id=run.run_id,
        provider=rented.provider if rented else run.provider,
        resource_id=rented.resource_id if rented else None,
        state=run.state,
        resource_state=_resource_state(rented, listed, operation, missing=missing),
        raw_status=listed.raw_status if listed else rented.raw_status if rented else "",
        gpu=(rented.gpu if rented else None) or run.gpu,
        num_gpus=rented.num_gpus if rented else run.num_gpus,
        product=rented.product if rented else run.product,
        rate=_rate(billing, rented),
        rate_source="provider" if told_rate else rented.rate_source if rented else "unknown",
        started_at=run.started_at or (rented.launched_at if rented else None),
        ended_at=run.ended_at,
        settled=settled,
        accrues_since=since,
        cost_is_estimate=run.recorded_cost is None or bool(billing),
        observed_at=_latest(
            listed.observed_at if listed else None, rented.last_seen_at if rented else None
        ),
        heartbeat_at=run.heartbeat_at,
        progress=run.progress,
        label=run.label or (rented.label if rented else ""),
        note=_note(run, billing, listed, operation, seen, missing=missing),
        may_bill=bool(billing),
        target=_target(run, rented) if rented and billing else None,
        operation=operation,
        goal=run.goal,
        attempt=run.attempt,
        last_error=run.last_error,
    )


def _as_listed(rented: RentedResource, seen: _Seen) -> RentedResource:
    """What is kept of a resource, at the rate that was seen last even where that could not be saved."""
    listed = seen.ours.get((rented.provider, rented.resource_id))
    if listed is None or listed.rate is None:
        return rented
    if rented.last_seen_at is not None and listed.observed_at <= rented.last_seen_at:
        return rented
    return accrued(rented, listed.rate, listed.observed_at)


def _rate(billing: Sequence[RentedResource], rented: RentedResource | None) -> HourlyRate | None:
    """What everything of the run that bills costs now; of a run that is over, what it was rented at."""
    if not billing:
        return rented.rate if rented else None
    total = burn(billing_rate(r) for r in billing)
    return None if total.unknown else total.rate


def _cost(
    run: Run, billing: Sequence[RentedResource], now: datetime
) -> tuple[Usd | None, datetime | None]:
    """Cost up to a moment, and that moment where it goes on from there; the same pair until something changes."""
    if not run.resources or (run.recorded_cost is not None and not billing):
        return run.recorded_cost, None
    closed = add_costs(resource_cost(r, now) for r in run.resources if not r.may_bill).total
    if closed is None or not billing:
        return closed, None
    if any(resource_cost(r, now) is None for r in billing):
        return None, None
    since = max(r.cost_until or r.launched_at or now for r in billing)
    open_cost = add_costs(resource_cost(r, since) for r in billing).total
    return (None, None) if open_cost is None else (closed + open_cost, since)


def _latest(*stamps: datetime | None) -> datetime | None:
    known = [stamp for stamp in stamps if stamp is not None]
    return max(known) if known else None


def _target(run: Run, rented: RentedResource) -> Target:
    return Target(rented.provider, rented.resource_id, run.run_id, rented.label)


def _is_missing(
    rented: RentedResource, listed: Resource | None, listed_at: Mapping[str, datetime]
) -> bool:
    """Recorded here and not proven gone, yet for a while now absent from complete listings."""
    at = listed_at.get(rented.provider)
    if at is None or listed is not None or not rented.may_bill:
        return False
    known_at = _latest(rented.launched_at, rented.last_seen_at)
    return known_at is None or at - known_at > _YOUNG


def _is_under_way(operation: Operation | None) -> bool:
    return operation is not None and operation.kind == "destroy" and operation.is_open


def _resource_state(
    rented: RentedResource | None,
    listed: Resource | None,
    operation: Operation | None,
    *,
    missing: bool,
) -> ResourceState:
    if rented is None:
        return "none"
    if not rented.may_bill:
        return "gone"
    if operation is not None and _is_under_way(operation) and operation.phase != "pending":
        return "unconfirmed" if operation.phase == "unconfirmed" else "destroying"
    if missing:
        return "unconfirmed"
    return listed.state if listed else rented.state


def _note(
    run: Run,
    billing: Sequence[RentedResource],
    listed: Resource | None,
    operation: Operation | None,
    seen: _Seen,
    *,
    missing: bool,
) -> str:
    if run.broken:
        return f"record damaged: {run.broken}"
    if operation is not None and operation.is_open:
        return operation_note(operation, seen.now)
    if missing:
        return "not in the provider's listing, not proven gone; D asks for proof"
    if len(billing) > 1:
        return f"{len(billing)} machines bill: {', '.join(r.resource_id for r in billing)}"
    orphan = seen.orphans.get(run.run_id)
    if orphan is not None:
        return f"machine {orphan} carries its name, and is not held by it"
    if billing and run.state in TERMINAL_STATES:
        return f"{run.state}, STILL BILLING"
    if listed is not None and listed.note:
        return listed.note
    return run.last_error or (run.progress or "")


def operation_note(operation: Operation, now: datetime) -> str:
    """What an open operation is doing, in words."""
    if operation.phase == "pending":
        left = 0.0 if operation.not_before is None else (operation.not_before - now).total_seconds()
        return f"{operation.kind} in {max(0, round(left))} s; z takes it back"
    if operation.phase == "unconfirmed":
        verb = "MAY STILL BILL" if operation.kind == "destroy" else "not confirmed"
        return f"{verb}: {operation.last_answer or 'no answer yet'}"
    doing = "destroying, waiting for proof" if operation.kind == "destroy" else "cancelling"
    return f"{doing} ({operation.last_answer})" if operation.last_answer else doing


def _unowned(
    kind: RowKind,
    resource: Resource,
    run_id: str | None,
    operations: Mapping[_Key, Operation],
) -> RunRow:
    operation = operations.get((resource.provider, resource.resource_id))
    started = resource.started_at
    known = started is not None and resource.rate is not None
    words = f"belongs to {run_id}, which does not hold it" if run_id else "not in this store"
    state = resource.state
    if operation is not None and _is_under_way(operation) and operation.phase != "pending":
        state = "unconfirmed" if operation.phase == "unconfirmed" else "destroying"
    return RunRow(
        key=f"res:{resource.provider}:{resource.resource_id}",
        kind=kind,
        run_id=run_id,
        provider=resource.provider,
        resource_id=resource.resource_id,
        state="unknown",
        resource_state=state,
        raw_status=resource.raw_status,
        gpu=resource.gpu,
        num_gpus=resource.num_gpus,
        product=resource.product,
        rate=resource.rate,
        rate_source="unknown" if resource.rate is None else "provider",
        started_at=started,
        ended_at=None,
        settled=ZERO_USD if known else None,
        accrues_since=started if known else None,
        cost_is_estimate=True,
        observed_at=resource.observed_at,
        heartbeat_at=None,
        progress=None,
        label=resource.label,
        note=_unowned_note(operation, words, resource),
        may_bill=operation is None or operation.phase != "confirmed" or operation.kind != "destroy",
        target=Target(resource.provider, resource.resource_id, run_id, resource.label),
        operation=operation,
    )


def _unowned_note(operation: Operation | None, words: str, resource: Resource) -> str:
    if operation is not None and operation.is_open:
        return operation_note(operation, operation.requested_at)
    return f"{words}; {resource.note}" if resource.note else words
