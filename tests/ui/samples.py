"""Frozen snapshots of a small market and a few runs in every state a panel can show."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from flashtui.domain.allocation import AllocationReport, Candidate, Exclusion
from flashtui.domain.gpu import GPU_CLASSES
from flashtui.domain.market import Account, FeedError, Offer, PriceSheet, Quote
from flashtui.domain.money import HourlyRate, Usd
from flashtui.domain.operation import Operation, Target
from flashtui.domain.sizing import Sizing
from flashtui.domain.vram import SizingPart
from flashtui.services.board import Alert, Burn, Event, PlanState, RunRow, Snapshot, SourceHealth
from flashtui.services.plan import PlanJob
from tests.fakes import T0

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.run import Resource

_REGIONS = ("US-TX", "US-OR", "EU-NL", "EU-SE-1", "CA-MTL-3", "JP-TYO")
_STOCKS = ("high", "medium", "low", "none")


def ago(seconds: float, now: datetime = T0) -> datetime:
    return now - timedelta(seconds=seconds)


def usd(value: float) -> Usd:
    return Usd.of(value)


def rate(value: float) -> HourlyRate:
    return HourlyRate.of(value)


def quote(
    provider: str = "vast", gpu: str = "H100", price: float | None = 1.89, **more: Any
) -> Quote:
    fields: dict[str, Any] = {
        "provider": provider,
        "gpu": gpu,
        "vram_gb": 80,
        "product": "instance" if provider == "vast" else "pod",
        "rate": None if price is None else rate(price),
        "available": 7,
        "stock": "unknown",
        "regions": ("US-TX",),
        "source": "live",
        "observed_at": ago(4),
        "validated": True,
        "rentable": True,
    }
    return Quote(**{**fields, **more})


def offer(number: int = 1, gpu: str | None = "H100", price: float = 1.89, **more: Any) -> Offer:
    fields: dict[str, Any] = {
        "provider": "vast",
        "offer_id": f"{900000 + number}",
        "machine_id": f"{21000 + number}",
        "gpu": gpu,
        "gpu_raw": "H100 SXM",
        "num_gpus": 1,
        "vram_gb": 80,
        "product": "instance",
        "rate": rate(price),
        "gpu_rate": rate(price - 0.02),
        "storage_rate": rate(0.02),
        "down_usd_per_gb": usd(0.002),
        "up_usd_per_gb": usd(0.003),
        "priced_disk_gb": 60,
        "reliability": 0.996,
        "verified": True,
        "datacenter": True,
        "cuda": 12.8,
        "disk_gb": 800.0,
        "inet_down_mbps": 812.0,
        "inet_up_mbps": 790.0,
        "region": "US-TX",
        "available_until": T0 + timedelta(days=12, hours=4),
        "min_bid": None,
        "observed_at": ago(4),
    }
    return Offer(**{**fields, **more})


def market(
    now: datetime = T0, *, vast_age_s: float = 4, runpod_age_s: float = 11
) -> tuple[PriceSheet, PriceSheet]:
    """Both providers, every class they have, at plausible prices."""
    runpod, vast = [], []
    for number, gpu in enumerate(GPU_CLASSES):
        region = _REGIONS[number % len(_REGIONS)]
        if gpu.vast_name is not None:
            price = round(gpu.hourly_usd * (0.62 + 0.07 * (number % 4)), 3)
            vast.append(
                quote("vast", gpu.name, price, vram_gb=gpu.vram_gb, available=(number * 7) % 23,
                      regions=(region, "US-CA"), validated="vast" in gpu.validated_on,
                      observed_at=ago(vast_age_s, now))
            )  # fmt: skip
        if gpu.enum_member is not None:
            stock = _STOCKS[number % 4]
            common: dict[str, Any] = {
                "vram_gb": gpu.vram_gb, "available": None, "stock": stock,
                "validated": "runpod" in gpu.validated_on, "observed_at": ago(runpod_age_s, now),
            }  # fmt: skip
            runpod.append(
                quote(
                    "runpod",
                    gpu.name,
                    round(gpu.hourly_usd * 1.7, 3),
                    product="serverless",
                    regions=(),
                    **common,
                )
            )
            runpod.append(
                quote(
                    "runpod",
                    gpu.name,
                    gpu.hourly_usd,
                    product="pod",
                    rentable=False,
                    regions=(region,),
                    **common,
                )
            )
    offers = tuple(
        offer(n, price=round(2.0398 + n * 0.031, 3), region=_REGIONS[n % 6], num_gpus=1 + n % 2,
              reliability=0.999 - n * 0.002, reasons=("reliability",) if n > 2 else (),
              observed_at=ago(vast_age_s, now))
        for n in range(5)
    )  # fmt: skip
    return (
        PriceSheet("runpod", tuple(runpod), ago(runpod_age_s, now)),
        PriceSheet("vast", tuple(vast), ago(vast_age_s, now), offers, {"RTX 3060": 12, "V100": 4}),
    )


def run(name: str = "run-17", **more: Any) -> RunRow:
    """A healthy run on one H100."""
    fields: dict[str, Any] = {
        "key": f"run:{name}",
        "kind": "run",
        "run_id": name,
        "provider": "vast",
        "resource_id": "21377744",
        "state": "running",
        "resource_state": "running",
        "raw_status": "running",
        "gpu": "H100",
        "num_gpus": 1,
        "product": "instance",
        "rate": rate(2.02),
        "rate_source": "offer",
        "started_at": ago(17_400),
        "ended_at": None,
        "settled": usd(9.74),
        "accrues_since": T0,
        "cost_is_estimate": False,
        "observed_at": ago(8),
        "heartbeat_at": ago(8),
        "progress": "812/2000",
        "label": name,
        "note": "",
        "may_bill": True,
        "target": Target("vast", "21377744", name, name),
        "operation": None,
    }
    return RunRow(**{**fields, **more})


def operation(
    phase: Any = "verifying", kind: Any = "destroy", target: Target | None = None, **more: Any
) -> Operation:
    fields: dict[str, Any] = {
        "op_id": f"op-{phase}",
        "kind": kind,
        "target": target or Target("vast", "21370091", "run-16", "run-16"),
        "actor": "tui",
        "phase": phase,
        "requested_at": ago(41),
        "not_before": None,
        "updated_at": ago(4),
        "attempts": 3,
        "last_answer": "",
    }
    return Operation(**{**fields, **more})


def runs() -> tuple[RunRow, ...]:
    """One in every state that matters."""
    destroying = operation()
    billing = operation("unconfirmed", target=Target("runpod", "9f3kq2", "run-12"),
                        last_answer="HTTP 200, still listed")  # fmt: skip
    return (
        run(),
        run("run-16", resource_id="21370091", gpu="A100 SXM", rate=rate(0.97), settled=usd(4.1),
            progress=None, operation=destroying, target=destroying.target, goal="gone",
            heartbeat_at=None),
        run("run-15", provider="runpod", product="serverless", resource_id="ep7x2k", gpu="RTX A5000",
            rate=rate(0.486), settled=usd(1.22), heartbeat_at=ago(1140), progress="40/400",
            raw_status="RUNNING", note="no heartbeat for 19 minutes",
            target=Target("runpod", "ep7x2k", "run-15", "run-15")),
        run("run-12", provider="runpod", product="serverless", resource_id="9f3kq2", gpu="H100",
            rate=rate(2.39), settled=usd(21.33), resource_state="unconfirmed", raw_status="RUNNING",
            state="failed", heartbeat_at=None, progress=None, operation=billing, target=billing.target),
        run("run-14", state="done", resource_id="21361111", rate=rate(0.55), settled=usd(3.3), gpu="L40S",
            heartbeat_at=None, progress="400/400", target=Target("vast", "21361111", "run-14")),
        run("run-18", state="provisioning", resource_id=None, resource_state="none", raw_status="",
            rate=None, rate_source="unknown", settled=None, accrues_since=None, gpu="RTX A6000", may_bill=False,
            started_at=None, observed_at=None, heartbeat_at=None, progress=None, target=None),
        run("run-09", kind="orphan", key="res:vast:21355555", run_id="run-09", resource_id="21355555",
            rate=rate(0.31), settled=usd(0.62), gpu="RTX 4090", state="unknown", heartbeat_at=None, progress=None,
            cost_is_estimate=True, label="flash-run-09-1", note="a machine of run-09 that nobody holds",
            target=Target("vast", "21355555", "run-09", "flash-run-09-1")),
        run("", kind="foreign", key="res:runpod:k3x9d1", run_id=None, provider="runpod", product="pod",
            resource_id="k3x9d1", rate=rate(0.69), rate_source="provider", settled=None, accrues_since=None,
            gpu="RTX 4090", state="unknown", raw_status="RUNNING", heartbeat_at=None, progress=None,
            label="jupyter [/x]", note="26 h old, in no store here",
            target=Target("runpod", "k3x9d1", None, "jupyter [/x]")),
        run("run-11", state="done", resource_state="gone", raw_status="", may_bill=False, target=None,
            rate=rate(2.02), settled=usd(6.02), accrues_since=None, ended_at=ago(7200), heartbeat_at=None,
            progress="400/400", observed_at=ago(7200), note="gone, proven by two listings"),
        run("run-10", state="failed", resource_state="gone", raw_status="", may_bill=False, target=None,
            rate=rate(1.1), settled=usd(0.41), accrues_since=None, ended_at=ago(9000), heartbeat_at=None,
            progress="12/400", observed_at=ago(9000), last_error="CUDA out of memory"),
    )  # fmt: skip


def candidate(
    provider: str = "vast", gpu: str = "RTX 3090", price: float = 0.2852, **more: Any
) -> Candidate:
    fields: dict[str, Any] = {
        "provider": provider, "gpu": gpu, "hourly_usd": price, "vram_gb": 24, "validated": True,
        "product": "instance", "source": "live", "observed_at": ago(4),
    }  # fmt: skip
    return Candidate(**{**fields, **more})


def report(**more: Any) -> AllocationReport:
    job = PlanJob()
    winner = candidate()
    fields: dict[str, Any] = {
        "request": job.request(),
        "sizing": Sizing(
            21, 18.6, 1.1, "catalogue",
            (SizingPart("weights", 8.0), SizingPart("optimizer", 3.1), SizingPart("activations", 7.5)),
            ("rounded up to whole GB",),
        ),
        "winner": winner,
        "candidates": (
            winner,
            candidate("runpod", "RTX A5000", 0.459, product="serverless"),
            candidate("vast", "RTX Pro 4000", 0.2856),
            candidate("vast", "RTX 5090", 0.822, vram_gb=32),
            candidate("runpod", "RTX 4090", 1.173, product="serverless"),
        ),
        "excluded": (
            Exclusion("vast", "RTX A4000", "too_small", "16 GB cannot hold 21 GB", 31),
            Exclusion("runpod", "RTX 2000 Ada", "too_small", "16 GB cannot hold 21 GB"),
            Exclusion("vast", "A40", "not_validated", "A40 is not validated on vast", 9),
            Exclusion("vast", "L40S", "sold_out", "no offer of L40S passes the rules", 0),
            Exclusion("vast", "H100", "reliability", "2 of 5 offers are below 0.995", 2),
        ),
        "escalated_from": None,
        "summary": "cheapest of 5 that hold 21 GB and are validated",
    }  # fmt: skip
    return AllocationReport(**{**fields, **more})


def health(
    provider: str, source: str = "prices", state: Any = "ok", age_s: float | None = 4, **more: Any
) -> SourceHealth:
    fields: dict[str, Any] = {
        "provider": provider, "source": source, "state": state,
        "last_good_at": None if age_s is None else ago(age_s), "error": None,
        "next_at": T0 + timedelta(seconds=24), "interval_s": 45.0,
    }  # fmt: skip
    return SourceHealth(**{**fields, **more})


def error(
    provider: str = "vast", kind: Any = "rate_limited", message: str = "too many requests"
) -> FeedError:
    return FeedError(provider, kind, message, ago(3), T0 + timedelta(seconds=24))


def alerts() -> tuple[Alert, ...]:
    return (
        Alert("horizon:vast", "warn", "vast balance reaches zero in 3h02m", ago(600)),
        Alert("billing:run-12", "critical", "run-12 may still bill: 9f3kq2 is still listed by runpod", ago(1500)),
        Alert("foreign:k3x9d1", "info", "a machine on runpod belongs to no run of this store", ago(93_000), acknowledged=True),
    )  # fmt: skip


def events() -> tuple[Event, ...]:
    return (
        Event(ago(2), "warn", "vast HTTP 429, backing off to 30 s (2nd)"),
        Event(ago(41), "info", "run-16 destroy accepted by vast; verifying"),
        Event(ago(44), "you", "D run-16 confirmed"),
        Event(ago(1500), "alert", "run-12 may still bill"),
        Event(ago(93_000), "info", "run-11 gone, verified, billed 2h31m"),
    )


def snapshot(**more: Any) -> Snapshot:
    rows = more.pop("runs", runs())
    fields: dict[str, Any] = {
        "as_of": T0,
        "sheets": market(),
        "health": (
            health("runpod", age_s=11), health("runpod", "inventory", age_s=8),
            health("vast"), health("vast", "inventory", age_s=8),
            health("store", "store", age_s=1),
        ),
        "runs": rows,
        "accounts": (
            Account("runpod", usd(61.2), rate(3.56), rate(80), ago(11)),
            Account("vast", usd(9.05), None, None, ago(4)),
        ),
        "burn": Burn(rate(6.07), rate(0.69), 0, usd(38.12), usd(241.55)),
        "plan": PlanState(PlanJob(), report(), "", ago(4), ago(260)),
        "alerts": alerts(),
        "events": events(),
        "operations": tuple(r.operation for r in rows if r.operation is not None),
        "simulated": True,
        "read_only": False,
        "poll_interval_s": 45.0,
    }  # fmt: skip
    return Snapshot(**{**fields, **more})


def quiet() -> Snapshot:
    """Nothing rented, nothing wrong."""
    return snapshot(
        runs=(),
        alerts=(),
        events=(),
        burn=Burn(rate(0), rate(0), 0, usd(0), usd(0)),
        simulated=False,
    )


def vast_stale() -> Snapshot:
    """Vast has not answered for two minutes; its rows stand."""
    sheets = market(vast_age_s=131)
    return snapshot(
        sheets=(sheets[0], replace(sheets[1], error=error())),
        health=(health("runpod", age_s=11), health("vast", state="stale", age_s=131, error=error()),
                health("store", "store", age_s=1)),
    )  # fmt: skip


def vast_unknown() -> Snapshot:
    """Vast has not answered for twenty minutes."""
    sheets = market(vast_age_s=1200)
    failure = error(kind="network", message="vast answers 500 (server error)")
    return snapshot(
        sheets=(sheets[0], replace(sheets[1], error=failure)),
        health=(health("runpod", age_s=11), health("vast", state="down", age_s=1200, error=failure),
                health("store", "store", age_s=1)),
    )  # fmt: skip


def nothing_loaded() -> Snapshot:
    """A first start without network."""
    plan = PlanState(PlanJob(), None, "waiting for the first prices", None, None)
    return snapshot(
        sheets=(), runs=(), alerts=(), events=(), accounts=(), plan=plan, simulated=False,
        health=(
            health("runpod", state="no_key", age_s=None, error=error("runpod", "no_key", "no key: set RUNPOD_API_KEY")),
            health("vast", state="down", age_s=None, error=error("vast", "network", "no connection to console.vast.ai")),
            health("vast", "inventory", state="down", age_s=None, error=error("vast", "network", "no connection to console.vast.ai")),
        ),
        burn=Burn(rate(0), rate(0), 0, None, None),
    )  # fmt: skip


def found(row: RunRow) -> Resource:
    """A live answer that agrees with the row."""
    from flashtui.domain.run import JobHandle, Resource

    assert row.provider is not None
    assert row.resource_id is not None
    return Resource(
        row.provider, row.resource_id, "instance", row.label, row.gpu, row.num_gpus, row.product or "instance",
        row.rate, row.resource_state, row.raw_status, row.started_at, T0, JobHandle(row.provider),
    )  # fmt: skip
