"""The lines of the runs pane: what the store knows beside what the providers list. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.cost import run_cost
from flashtui.domain.operation import Target
from flashtui.services.board import RunRow
from flashtui.services.ownership import sort_resources

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from flashtui.domain.money import HourlyRate
    from flashtui.domain.operation import Operation
    from flashtui.domain.run import Inventory, RentedResource, Resource, ResourceState, Run
    from flashtui.services.board import RowKind

# A listing may lag behind a create; a resource is not called missing before it is this old.
_YOUNG = timedelta(minutes=2)
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RowSources:
    """What rows are made of.

    Attributes:
        inventories: the last complete listing of each provider that could be read.
        operations: newest first.
    """

    runs: Sequence[Run]
    inventories: Sequence[Inventory]
    operations: Sequence[Operation]


def run_rows(sources: RowSources, now: datetime) -> tuple[RunRow, ...]:
    """Runs that may bill first, then what nobody here knows of, then runs that are over; each newest first."""
    sorted_resources = sort_resources(sources.inventories, sources.runs)
    operations = _newest_by_target(sources.operations)
    listed_at = {i.provider: i.observed_at for i in sources.inventories if i.complete}
    rows = [
        _run_row(run, sorted_resources.ours, listed_at, operations, now) for run in sources.runs
    ]
    orphans = [
        _unowned("orphan", r, run.run_id, operations, now) for r, run in sorted_resources.orphans
    ]
    foreign = [_unowned("foreign", r, None, operations, now) for r in sorted_resources.foreign]
    live = [
        row for row in rows if row.may_bill or row.state in {"queued", "provisioning", "running"}
    ]
    over = [row for row in rows if row not in live]
    return (*live, *orphans, *foreign, *over)


def _newest_by_target(operations: Iterable[Operation]) -> dict[_Key, Operation]:
    newest: dict[_Key, Operation] = {}
    for operation in operations:
        key = (operation.target.provider, operation.target.resource_id)
        known = newest.get(key)
        if known is None or (operation.is_open and not known.is_open):
            newest[key] = operation
    return newest


def _current(run: Run) -> RentedResource | None:
    """The resource a run's line is about: the newest that may bill, else the newest."""
    return next(
        (r for r in reversed(run.resources) if r.may_bill),
        run.resources[-1] if run.resources else None,
    )


def _run_row(
    run: Run,
    ours: Mapping[_Key, Resource],
    listed_at: Mapping[str, datetime],
    operations: Mapping[_Key, Operation],
    now: datetime,
) -> RunRow:
    resource = _current(run)
    key = (resource.provider, resource.resource_id) if resource else ("", "")
    seen = ours.get(key)
    operation = operations.get(key)
    billing = [r for r in run.resources if r.may_bill]
    cost = run_cost(run, now).total if run.resources else run.recorded_cost
    missing = resource is not None and _is_missing(resource, seen, listed_at)
    rate = _rate(resource, seen)
    return RunRow(
        key=f"run:{run.run_id}",
        kind="ghost" if missing else "run",
        run_id=run.run_id,
        provider=resource.provider if resource else run.provider,
        resource_id=resource.resource_id if resource else None,
        state=run.state,
        resource_state=_resource_state(resource, seen, operation, missing=missing),
        raw_status=seen.raw_status if seen else (resource.raw_status if resource else ""),
        gpu=resource.gpu if resource else run.gpu,
        num_gpus=resource.num_gpus if resource else run.num_gpus,
        product=resource.product if resource else run.product,
        rate=rate,
        rate_source=resource.rate_source if resource else "unknown",
        started_at=run.started_at or (resource.launched_at if resource else None),
        ended_at=run.ended_at,
        settled=cost,
        accrues_since=now if billing and cost is not None and rate is not None else None,
        cost_is_estimate=bool(billing) or not run.resources,
        observed_at=_latest(
            seen.observed_at if seen else None, resource.last_seen_at if resource else None
        ),
        heartbeat_at=run.heartbeat_at,
        progress=run.progress,
        label=run.label or "",
        note=_note(run, seen, operation, missing=missing, now=now),
        may_bill=bool(billing),
        target=_target(resource, run) if billing else None,
        operation=operation,
        goal=run.goal,
        attempt=run.attempt,
        last_error=run.last_error,
    )


def _rate(resource: RentedResource | None, seen: Resource | None) -> HourlyRate | None:
    if resource is None:
        return None
    if resource.rate is not None:
        return resource.rate
    return seen.rate if seen else None


def _latest(*stamps: datetime | None) -> datetime | None:
    known = [stamp for stamp in stamps if stamp is not None]
    return max(known) if known else None


def _target(resource: RentedResource | None, run: Run) -> Target | None:
    if resource is None:
        return None
    return Target(resource.provider, resource.resource_id, run.run_id, resource.label)


def _is_missing(
    resource: RentedResource, seen: Resource | None, listed_at: Mapping[str, datetime]
) -> bool:
    """Recorded here and not proven gone, yet absent from a complete listing that came long enough after its launch."""
    at = listed_at.get(resource.provider)
    if at is None or seen is not None or not resource.may_bill:
        return False
    return resource.launched_at is None or at - resource.launched_at > _YOUNG


def _resource_state(
    resource: RentedResource | None,
    seen: Resource | None,
    operation: Operation | None,
    *,
    missing: bool,
) -> ResourceState:
    if resource is None:
        return "none"
    if not resource.may_bill:
        return "gone"
    if (
        operation is not None
        and operation.kind == "destroy"
        and operation.phase in {"driving", "verifying", "unconfirmed"}
    ):
        return "unconfirmed" if operation.phase == "unconfirmed" else "destroying"
    if missing:
        return "unconfirmed"
    return seen.state if seen else resource.state


def _note(
    run: Run, seen: Resource | None, operation: Operation | None, *, missing: bool, now: datetime
) -> str:
    if run.broken:
        return run.broken
    if operation is not None and operation.is_open:
        return operation_note(operation, now)
    if missing:
        return "not in the provider's listing, not proven gone; D asks for proof"
    if run.may_bill and run.state in {"done", "failed", "cancelled"}:
        return f"{run.state}, STILL BILLING"
    if seen is not None and seen.note:
        return seen.note
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
    now: datetime,
) -> RunRow:
    operation = operations.get((resource.provider, resource.resource_id))
    started = resource.started_at
    cost = None
    if started is not None and resource.rate is not None:
        cost = resource.rate.cost_over((now - started).total_seconds())
    words = f"belongs to {run_id}, which has no such machine" if run_id else "not in this store"
    is_open = operation is not None and operation.is_open
    return RunRow(
        key=f"res:{resource.provider}:{resource.resource_id}",
        kind=kind,
        run_id=run_id,
        provider=resource.provider,
        resource_id=resource.resource_id,
        state="unknown",
        resource_state="destroying" if is_open else resource.state,
        raw_status=resource.raw_status,
        gpu=resource.gpu,
        num_gpus=resource.num_gpus,
        product=resource.product,
        rate=resource.rate,
        rate_source="unknown" if resource.rate is None else "provider",
        started_at=started,
        ended_at=None,
        settled=cost,
        accrues_since=now if cost is not None else None,
        cost_is_estimate=True,
        observed_at=resource.observed_at,
        heartbeat_at=None,
        progress=None,
        label=resource.label,
        note=operation_note(operation, now) if operation is not None and is_open else words,
        may_bill=resource.state != "gone",
        target=Target(resource.provider, resource.resource_id, run_id, resource.label),
        operation=operation,
    )
