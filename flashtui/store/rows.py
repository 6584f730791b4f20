"""Rows and values, both ways: the only place that knows which column holds what.

A record that is damaged comes back with what could be read, and says in words what could not; it never hides another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from flashtui.domain.market import Product
from flashtui.domain.operation import Operation, OperationKind, Phase, Target
from flashtui.domain.run import (
    Goal,
    JobHandle,
    RateSource,
    RentedResource,
    ResourceState,
    Run,
    RunState,
)
from flashtui.domain.text import clean
from flashtui.store.columns import Fields, Value, json_text, micros, moment, optional_stamp, stamp

if TYPE_CHECKING:
    from collections.abc import Mapping

_RUN_STATES = get_args(RunState)
_GOALS = get_args(Goal)
_PRODUCTS = get_args(Product)
_RESOURCE_STATES = get_args(ResourceState)
_RATE_SOURCES = get_args(RateSource)
_KINDS = get_args(OperationKind)
_PHASES = get_args(Phase)
_LONGEST_HANDLE_TEXT = 200


def row_from_run(run: Run) -> dict[str, Value]:
    """The columns of a run, without its resources."""
    return {
        "run_id": run.run_id,
        "state": run.state,
        "goal": run.goal,
        "provider": run.provider,
        "gpu": run.gpu,
        "num_gpus": run.num_gpus,
        "product": run.product,
        "label": run.label,
        "attempt": run.attempt,
        "spec": json_text(run.spec),
        "created_at": stamp(run.created_at),
        "updated_at": stamp(run.updated_at),
        "started_at": optional_stamp(run.started_at),
        "ended_at": optional_stamp(run.ended_at),
        "last_error": run.last_error,
        "progress": run.progress,
        "heartbeat_at": optional_stamp(run.heartbeat_at),
        "recorded_cost": micros(run.recorded_cost),
        "revision": run.revision,
    }


def run_from_row(
    row: Mapping[str, Any], resources: tuple[RentedResource, ...] = (), damage: str = ""
) -> Run:
    """A run; ``broken`` is set when its own columns, or as ``damage`` tells its resources, could not all be read."""
    fields = Fields(row)
    product = None
    if row["product"] is not None:
        product = fields.choice("product", _PRODUCTS, None)
    created_at = fields.moment("created_at")
    return Run(
        run_id=fields.text("run_id"),
        state=fields.choice("state", _RUN_STATES, "unknown"),
        goal=fields.choice("goal", _GOALS, "run"),
        provider=fields.optional_text("provider"),
        gpu=fields.optional_text("gpu"),
        num_gpus=fields.integer("num_gpus", 1),
        product=product,
        label=fields.optional_text("label"),
        attempt=fields.integer("attempt", 0),
        spec=fields.mapping("spec"),
        created_at=created_at or moment(0),
        updated_at=fields.moment("updated_at") or created_at or moment(0),
        started_at=fields.moment("started_at"),
        ended_at=fields.moment("ended_at"),
        last_error=fields.text("last_error"),
        progress=fields.optional_text("progress"),
        heartbeat_at=fields.moment("heartbeat_at"),
        recorded_cost=fields.usd("recorded_cost"),
        revision=fields.integer("revision", 0),
        resources=resources,
        broken=_told(fields, damage),
    )


def row_from_rented(rented: RentedResource) -> dict[str, Value]:
    """The columns of a resource; what its handle says of offer, machine, job and account is kept apart as well."""
    data = rented.handle.data
    return {
        "provider": rented.provider,
        "resource_id": rented.resource_id,
        "run_id": rented.run_id,
        "seed": _integer(data.get("seed")),
        "attempt": rented.attempt,
        "handle": json_text(rented.handle.to_dict()),
        "label": rented.label,
        "job_id": _short(data.get("job_id")),
        "offer_id": _short(data.get("offer_id")),
        "machine_id": _short(data.get("machine_id")),
        "account": _short(data.get("key_fingerprint")),
        "gpu": rented.gpu,
        "num_gpus": rented.num_gpus,
        "product": rented.product,
        "rate": micros(rented.rate),
        "rate_source": rented.rate_source,
        "billing_rate": micros(rented.billing_rate),
        "cost": micros(rented.cost),
        "cost_until": optional_stamp(rented.cost_until),
        "state": rented.state,
        "raw_status": rented.raw_status,
        "launched_at": optional_stamp(rented.launched_at),
        "last_seen_at": optional_stamp(rented.last_seen_at),
        "teardown_requested_at": optional_stamp(rented.teardown_requested_at),
        "confirmed_gone_at": optional_stamp(rented.confirmed_gone_at),
        "evidence": rented.evidence,
    }


def rented_from_row(row: Mapping[str, Any]) -> tuple[RentedResource, str]:
    """A resource, and what of it could not be read; damaged or not, it is still there and may bill."""
    fields = Fields(row)
    handle = fields.mapping("handle")
    provider = fields.text("provider")
    rented = RentedResource(
        provider=provider,
        resource_id=fields.text("resource_id"),
        run_id=fields.text("run_id"),
        handle=JobHandle.from_dict({"provider": provider, **handle}),
        label=fields.text("label"),
        gpu=fields.text("gpu"),
        num_gpus=fields.integer("num_gpus", 1),
        product=fields.choice("product", _PRODUCTS, "instance"),
        rate=fields.rate("rate"),
        rate_source=fields.choice("rate_source", _RATE_SOURCES, "unknown"),
        attempt=fields.integer("attempt", 0),
        state=fields.choice("state", _RESOURCE_STATES, "unknown"),
        raw_status=fields.text("raw_status"),
        launched_at=fields.moment("launched_at"),
        last_seen_at=fields.moment("last_seen_at"),
        teardown_requested_at=fields.moment("teardown_requested_at"),
        confirmed_gone_at=fields.moment("confirmed_gone_at"),
        evidence=fields.text("evidence"),
        cost=fields.usd("cost"),
        cost_until=fields.moment("cost_until"),
        billing_rate=fields.rate("billing_rate"),
    )
    damage = _told(fields, "")
    return rented, f"{rented.provider} {rented.resource_id}: {damage}" if damage else ""


def row_from_operation(operation: Operation) -> dict[str, Value]:
    """The columns of an operation, without handle, goal and lease."""
    target = operation.target
    return {
        "op_id": operation.op_id,
        "kind": operation.kind,
        "provider": target.provider,
        "resource_id": target.resource_id,
        "run_id": target.run_id,
        "label": target.label,
        "actor": operation.actor,
        "phase": operation.phase,
        "is_open": int(operation.is_open),
        "requested_at": stamp(operation.requested_at),
        "not_before": optional_stamp(operation.not_before),
        "updated_at": stamp(operation.updated_at),
        "attempts": operation.attempts,
        "last_answer": operation.last_answer,
    }


def operation_from_row(row: Mapping[str, Any]) -> Operation:
    """An operation; of a damaged one whatever can be read, as a destroy that is not proven."""
    fields = Fields(row)
    requested_at = fields.moment("requested_at") or moment(0)
    kind: OperationKind = fields.choice("kind", _KINDS, "destroy")
    phase: Phase = fields.choice("phase", _PHASES, "unconfirmed")
    return Operation(
        op_id=fields.text("op_id"),
        kind=kind,
        target=Target(
            provider=fields.text("provider"),
            resource_id=fields.text("resource_id"),
            run_id=fields.optional_text("run_id"),
            label=fields.text("label"),
        ),
        actor=fields.text("actor"),
        phase=phase,
        requested_at=requested_at,
        not_before=fields.moment("not_before"),
        updated_at=fields.moment("updated_at") or requested_at,
        attempts=fields.integer("attempts", 0),
        last_answer=fields.text("last_answer"),
    )


def handle_from_row(row: Mapping[str, Any]) -> JobHandle:
    """The handle in a row that has ``provider`` and ``handle``."""
    fields = Fields(row)
    return JobHandle.from_dict({"provider": fields.text("provider"), **fields.mapping("handle")})


def _told(fields: Fields, damage: str) -> str:
    return clean("; ".join([*fields.problems, *([damage] if damage else [])]), 300)


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _short(value: object) -> str | None:
    return None if value is None else clean(value, _LONGEST_HANDLE_TEXT)
