"""Builders: values with readable defaults, of which a test names only what matters to it.

Money is given in dollars, moments as seconds before the fixed present ``T0``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from flashtui.domain.market import Account, FeedError, Offer, PriceSheet, Quote
from flashtui.domain.money import ZERO_RATE, HourlyRate, Usd
from flashtui.domain.operation import Operation, Target
from flashtui.domain.run import Inventory, JobHandle, RentedResource, Resource, Run
from flashtui.services.board import Burn, PlanState, RunRow, Snapshot, SourceHealth
from flashtui.services.plan import PlanJob
from tests.fakes import T0

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

POLL_S = 45.0


def ago(seconds: float, now: datetime = T0) -> datetime:
    """So many seconds before the present."""
    return now - timedelta(seconds=seconds)


def usd(dollars: float) -> Usd:
    return Usd.of(dollars)


def rate(dollars_per_hour: float | None) -> HourlyRate | None:
    return None if dollars_per_hour is None else HourlyRate.of(dollars_per_hour)


def quote(
    gpu: str = "H100",
    dollars: float | None = 1.89,
    provider: str = "vast",
    **more: Any,
) -> Quote:
    """A live price of one H100 instance, seen four seconds ago."""
    fields: dict[str, Any] = {
        "provider": provider,
        "gpu": gpu,
        "vram_gb": 80,
        "product": "instance" if provider == "vast" else "serverless",
        "rate": rate(dollars),
        "available": 7,
        "stock": "unknown",
        "regions": ("US-TX",),
        "source": "live",
        "observed_at": ago(4),
        "validated": True,
        "rentable": True,
    }
    return Quote(**{**fields, **more})


def offer(number: int = 1, gpu: str = "H100", dollars: float = 1.89, **more: Any) -> Offer:
    """A usable offer of one card."""
    fields: dict[str, Any] = {
        "provider": "vast",
        "offer_id": f"{900_000 + number}",
        "machine_id": f"{21_000 + number}",
        "gpu": gpu,
        "gpu_raw": "H100 SXM",
        "num_gpus": 1,
        "vram_gb": 80,
        "product": "instance",
        "rate": rate(dollars),
        "gpu_rate": rate(dollars - 0.02),
        "storage_rate": rate(0.02),
        "down_usd_per_gb": None,
        "up_usd_per_gb": None,
        "priced_disk_gb": 60,
        "reliability": 0.998,
        "verified": True,
        "datacenter": True,
        "cuda": 13.0,
        "disk_gb": 800.0,
        "inet_down_mbps": 900.0,
        "inet_up_mbps": 900.0,
        "region": "US-TX",
        "available_until": None,
        "min_bid": None,
        "observed_at": ago(4),
    }
    return Offer(**{**fields, **more})


def sheet(*quotes: Quote, provider: str = "vast", **more: Any) -> PriceSheet:
    """A sheet with these quotes, or with one; seen when its first quote was."""
    rows = quotes or (quote(provider=provider),)
    fields: dict[str, Any] = {
        "provider": provider,
        "quotes": rows,
        "observed_at": rows[0].observed_at,
    }
    return PriceSheet(**{**fields, **more})


def feed_error(
    provider: str = "vast", kind: Any = "network", message: str = "no route"
) -> FeedError:
    return FeedError(provider, kind, message, ago(3))


def account(provider: str = "vast", dollars: float | None = 48.2, **more: Any) -> Account:
    fields: dict[str, Any] = {
        "provider": provider,
        "balance": None if dollars is None else usd(dollars),
        "spend": None,
        "spend_limit": None,
        "observed_at": ago(4),
    }
    return Account(**{**fields, **more})


def handle(resource_id: str = "21377744", provider: str = "vast", **data: Any) -> JobHandle:
    """What destroy needs."""
    name = "instance_id" if provider == "vast" else "endpoint_id"
    return JobHandle(provider, {name: resource_id, **data})


def rented(
    resource_id: str = "21377744",
    run_id: str = "flash-1",
    dollars: float | None = 2.0,
    **more: Any,
) -> RentedResource:
    """A machine of a run, rented an hour ago for two dollars an hour, still there."""
    provider = more.get("provider", "vast")
    fields: dict[str, Any] = {
        "provider": provider,
        "resource_id": resource_id,
        "run_id": run_id,
        "handle": handle(resource_id, provider),
        "label": f"{run_id}-s0-a0",
        "gpu": "H100",
        "num_gpus": 1,
        "product": "instance" if provider == "vast" else "serverless",
        "rate": rate(dollars),
        "rate_source": "offer" if dollars is not None else "unknown",
        "attempt": 0,
        "state": "running",
        "raw_status": "running",
        "launched_at": ago(3600),
        "last_seen_at": ago(8),
        "teardown_requested_at": None,
        "confirmed_gone_at": None,
        "evidence": "",
    }
    return RentedResource(**{**fields, **more})


def run(run_id: str = "flash-1", *resources: RentedResource, **more: Any) -> Run:
    """A running run on one H100; give it resources, or it has one of its own."""
    owned = more.pop("resources", resources or (rented(run_id=run_id),))
    fields: dict[str, Any] = {
        "run_id": run_id,
        "state": "running",
        "goal": "run",
        "provider": "vast",
        "gpu": "H100",
        "num_gpus": 1,
        "product": "instance",
        "label": f"{run_id}-s0-a0",
        "attempt": 0,
        "spec": {"model": "Qwen/Qwen3.5-4B", "algorithm": "sft"},
        "created_at": ago(3700),
        "updated_at": ago(8),
        "started_at": ago(3600),
        "ended_at": None,
        "last_error": "",
        "progress": "812/2000",
        "heartbeat_at": ago(8),
        "recorded_cost": None,
        "revision": 1,
        "resources": tuple(owned),
    }
    return Run(**{**fields, **more})


def resource(
    resource_id: str = "21377744",
    label: str = "flash-1-s0-a0",
    dollars: float | None = 2.0,
    **more: Any,
) -> Resource:
    """A running machine as a provider lists it."""
    provider = more.get("provider", "vast")
    fields: dict[str, Any] = {
        "provider": provider,
        "resource_id": resource_id,
        "kind": "instance" if provider == "vast" else "endpoint",
        "label": label,
        "gpu": "H100",
        "num_gpus": 1,
        "product": "instance" if provider == "vast" else "serverless",
        "rate": rate(dollars),
        "state": "running",
        "raw_status": "running",
        "started_at": ago(3600),
        "observed_at": ago(4),
        "handle": handle(resource_id, provider),
    }
    return Resource(**{**fields, **more})


def inventory(*resources: Resource, provider: str = "vast", **more: Any) -> Inventory:
    """A complete listing of these, read four seconds ago."""
    fields: dict[str, Any] = {
        "provider": provider,
        "resources": resources,
        "complete": True,
        "observed_at": ago(4),
    }
    return Inventory(**{**fields, **more})


def target(resource_id: str = "21377744", run_id: str | None = "flash-1", **more: Any) -> Target:
    fields: dict[str, Any] = {
        "provider": "vast",
        "resource_id": resource_id,
        "run_id": run_id,
        "label": "flash-1-s0-a0",
    }
    return Target(**{**fields, **more})


def operation(op_id: str = "op-1", **more: Any) -> Operation:
    """A destroy that has been asked for and waits for proof."""
    fields: dict[str, Any] = {
        "op_id": op_id,
        "kind": "destroy",
        "target": target(),
        "actor": "tui",
        "phase": "driving",
        "requested_at": ago(40),
        "not_before": None,
        "updated_at": ago(4),
        "attempts": 1,
        "last_answer": "",
    }
    return Operation(**{**fields, **more})


def run_row(run_id: str | None = "flash-1", **more: Any) -> RunRow:
    """A healthy run that has cost two dollars so far, by our own count."""
    fields: dict[str, Any] = {
        "key": f"run:{run_id}",
        "kind": "run",
        "run_id": run_id,
        "provider": "vast",
        "resource_id": "21377744",
        "state": "running",
        "resource_state": "running",
        "raw_status": "running",
        "gpu": "H100",
        "num_gpus": 1,
        "product": "instance",
        "rate": rate(2.0),
        "rate_source": "offer",
        "started_at": ago(3600),
        "ended_at": None,
        "settled": usd(2.0),
        "accrues_since": T0,
        "cost_is_estimate": True,
        "observed_at": ago(8),
        "heartbeat_at": ago(8),
        "progress": "812/2000",
        "label": f"{run_id}-s0-a0",
        "note": "",
        "may_bill": True,
        "target": Target("vast", "21377744", run_id, f"{run_id}-s0-a0"),
        "operation": None,
    }
    return RunRow(**{**fields, **more})


def health(provider: str = "vast", source: str = "prices", **more: Any) -> SourceHealth:
    fields: dict[str, Any] = {
        "provider": provider,
        "source": source,
        "state": "ok",
        "last_good_at": ago(4),
        "error": None,
        "next_at": ago(-41),
        "interval_s": POLL_S,
    }
    return SourceHealth(**{**fields, **more})


def snapshot(
    sheets: Iterable[PriceSheet] = (), runs: Iterable[RunRow] = (), **more: Any
) -> Snapshot:
    """Everything a screen needs, with nothing in it but what is given."""
    fields: dict[str, Any] = {
        "as_of": T0,
        "sheets": tuple(sheets),
        "health": (),
        "runs": tuple(runs),
        "accounts": (),
        "burn": Burn(ZERO_RATE, ZERO_RATE, 0, None, None),
        "plan": PlanState(PlanJob(), None, "", None, None),
        "alerts": (),
        "events": (),
        "operations": (),
        "simulated": False,
        "read_only": False,
        "poll_interval_s": POLL_S,
    }
    return Snapshot(**{**fields, **more})
