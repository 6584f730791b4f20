"""Runs that come from outside, as items of ``flashtui.runs/1`` with ``handle``, ``spec`` and ``resources``.

Strict about what identifies and bills, lenient about the rest: a start of 0, a rate that is no number or a moment in the future
is not known, which is shown as such; it is never a figure.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from flashtui.domain.market import Product
from flashtui.domain.money import HourlyRate, Usd
from flashtui.domain.naming import is_path_safe
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

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_STATES: tuple[RunState, ...] = get_args(RunState)
_OTHER_STATES: Mapping[str, RunState] = {
    "completed": "done",
    "succeeded": "done",
    "deployed": "done",
    "starting": "provisioning",
    "canceled": "cancelled",
}
_ID_NAMES = ("instance_id", "endpoint_id", "pod_id", "remote_id")


def run_from_item(item: Mapping[str, Any], now: datetime) -> Run:
    """One run.

    Args:
        item: of ``flashtui.runs/1``.
        now: the moment that costs of what still bills are meant for.

    Raises:
        ValueError: it has no usable run id, or a resource without provider or id; the message says which.
    """
    run_id = item.get("run_id")
    if not isinstance(run_id, str) or not is_path_safe(run_id):
        msg = f"a run needs a run_id of letters, digits, dots and dashes, not {clean(run_id, 60)!r}"
        raise ValueError(msg)
    started_at = _moment(item.get("started_at"), now)
    resources = _resources(item, run_id, now)
    ended_at = _moment(item.get("ended_at"), now)
    is_final = ended_at is not None and not item.get("cost_is_estimate")
    return Run(
        run_id=run_id,
        state=_state(item.get("state")),
        goal=_one_of(item.get("goal"), get_args(Goal), "run"),
        provider=_optional(item.get("provider")),
        gpu=_optional(item.get("gpu")),
        num_gpus=_count(item.get("num_gpus"), 1),
        product=_one_of(item.get("product"), get_args(Product), None),
        label=_optional(item.get("label")),
        attempt=_count(item.get("attempt"), 0),
        spec=_mapping(item.get("spec")),
        created_at=started_at or now,
        updated_at=now,
        started_at=started_at,
        ended_at=ended_at,
        last_error=clean(item.get("last_error"), 500),
        progress=_optional(item.get("progress")),
        heartbeat_at=_heartbeat(item, now),
        recorded_cost=_usd(item.get("cost_usd")) if is_final else None,
        revision=1,
        resources=resources,
    )


def _resources(item: Mapping[str, Any], run_id: str, now: datetime) -> tuple[RentedResource, ...]:
    handle = _mapping(item.get("handle"))
    listed = [_mapping(entry) for entry in item.get("resources") or ()]
    owned_id = next((str(handle[name]) for name in _ID_NAMES if handle.get(name)), None)
    if owned_id is not None and owned_id not in {str(entry.get("id")) for entry in listed}:
        listed.append(_entry_from_handle(item, handle, owned_id))
    return tuple(
        _rented(entry, item, handle if str(entry.get("id")) == owned_id else {}, run_id, now)
        for entry in listed
    )


def _entry_from_handle(
    item: Mapping[str, Any], handle: Mapping[str, Any], owned_id: str
) -> dict[str, Any]:
    return {
        "provider": handle.get("provider") or item.get("provider"),
        "id": owned_id,
        "rate": handle.get("hourly_usd", item.get("hourly_usd")),
        "launched_at": handle.get("started_ts", item.get("started_at")),
    }


def _rented(
    entry: Mapping[str, Any],
    item: Mapping[str, Any],
    handle: Mapping[str, Any],
    run_id: str,
    now: datetime,
) -> RentedResource:
    provider, resource_id = entry.get("provider") or item.get("provider"), entry.get("id")
    if not isinstance(provider, str) or not provider or not resource_id:
        msg = f"run {run_id}: a resource needs a provider and an id, not {clean(dict(entry), 80)}"
        raise ValueError(msg)
    gone_at = _moment(entry.get("confirmed_gone_at"), now)
    rate, cost = _rate(entry.get("rate")), _usd(entry.get("cost_usd"))
    cost_until = (gone_at or now) if cost is not None else None
    state: ResourceState = _one_of(item.get("resource_state"), get_args(ResourceState), "unknown")
    return RentedResource(
        provider=provider,
        resource_id=str(resource_id),
        run_id=run_id,
        handle=JobHandle.from_dict({"provider": provider, **handle}),
        label=clean(entry.get("label") or handle.get("label") or item.get("label")),
        gpu=clean(entry.get("gpu") or item.get("gpu")),
        num_gpus=_count(entry.get("num_gpus", item.get("num_gpus")), 1),
        product=_one_of(entry.get("product", item.get("product")), get_args(Product), "instance"),
        rate=rate,
        rate_source=_one_of(item.get("rate_source"), get_args(RateSource), "unknown"),
        attempt=_count(entry.get("attempt", item.get("attempt")), 0),
        state="gone" if gone_at is not None else state,
        raw_status="",
        launched_at=_moment(entry.get("launched_at"), now),
        last_seen_at=None,
        teardown_requested_at=None,
        confirmed_gone_at=gone_at,
        evidence="imported as gone" if gone_at is not None else "",
        cost=cost,
        cost_until=cost_until,
        billing_rate=rate if cost_until is not None else None,
    )


def _state(value: object) -> RunState:
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in _STATES:
        return word
    return _OTHER_STATES.get(word, "unknown")


def _one_of(value: object, allowed: tuple[Any, ...], default: T) -> T:
    return cast("T", value) if value in allowed else default


def _optional(value: object) -> str | None:
    return clean(value) or None if isinstance(value, str) else None


def _count(value: object, default: int) -> int:
    usable = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return cast("int", value) if usable else default


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _heartbeat(item: Mapping[str, Any], now: datetime) -> datetime | None:
    age_s = item.get("heartbeat_age_s")
    if isinstance(age_s, bool) or not isinstance(age_s, int | float) or age_s < 0:
        return None
    return _moment(now.timestamp() - age_s, now)


def _usd(value: object) -> Usd | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return Usd.of(value)
    except ValueError:
        return None


def _rate(value: object) -> HourlyRate | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return HourlyRate.of(value)
    except ValueError:
        return None


def _moment(value: object, now: datetime) -> datetime | None:
    """A moment from ISO-8601 text or epoch seconds; None for what is absent, before 2000 or in the future."""
    found: datetime | None = None
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    if found is None or found.tzinfo is None:
        return None
    found = found.astimezone(UTC)
    return found if _EARLIEST <= found <= now else None
