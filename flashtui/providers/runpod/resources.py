"""What a listing's endpoint or pod is to us, purely: label, state, GPU, rate per hour, handle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.money import ZERO_RATE, HourlyRate
from flashtui.domain.run import JobHandle, Resource
from flashtui.domain.text import clean
from flashtui.providers.runpod.auth import FINGERPRINT
from flashtui.providers.runpod.gpus import class_of_short, shown_name
from flashtui.providers.runpod.labels import canonical_name, short_of
from flashtui.providers.runpod.replies import NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from flashtui.domain.run import ResourceState
    from flashtui.providers.runpod.auth import Key
    from flashtui.providers.runpod.wire import CatalogGpu, Endpoint, Pod, Worker
    from flashtui.providers.runpod.wire_jobs import Health, WorkerCounts

# The volume disk of a stopped pod (documentation, `pods/storage/types.mdx`): twice the price of a running one's.
_STOPPED_VOLUME_USD_PER_GB_MONTH = "0.20"
# Container disk of a running worker (documentation, `serverless/pricing.mdx`).
_WORKER_DISK_USD_PER_GB_MONTH = "0.10"
_HOURS_PER_MONTH = 730
_BILLED_STATUS = frozenset({"RUNNING", "IDLE", "INITIALIZING"})
_POD_STATES: Mapping[str, ResourceState] = {
    "PROVISIONING": "starting",
    "STARTING": "starting",
    "RUNNING": "running",
    "EXITED": "stopped",
    "ERROR": "unknown",
    "TERMINATED": "gone",
}


@dataclass(frozen=True, slots=True)
class Rates:
    """Serverless rates of one GPU, by id and by pool; what is not there is not known."""

    by_id: Mapping[str, HourlyRate]
    by_pool: Mapping[str, HourlyRate]
    types: tuple[CatalogGpu, ...] = ()

    @classmethod
    def of(cls, catalog: Iterable[CatalogGpu]) -> Rates:
        """Read off the catalogue; where types of one pool differ, the dearest stands for the pool."""
        types = tuple(catalog)
        by_id: dict[str, HourlyRate] = {}
        by_pool: dict[str, HourlyRate] = {}
        for item in types:
            usd = item.price.serverless if item.price else None
            if item.pool is None or usd is None or usd <= 0:
                continue
            by_id[item.id] = HourlyRate.of(usd)
            by_pool[item.pool] = max(by_id[item.id], by_pool.get(item.pool, ZERO_RATE))
        return cls(by_id, by_pool, types)

    def of_endpoint(self, endpoint: Endpoint) -> HourlyRate | None:
        """The rate of one GPU of an endpoint: of its dearest pool; None where any of them has no known rate."""
        pools = endpoint.gpu.pools if endpoint.gpu else ()
        known = [self.by_pool[pool] for pool in pools if pool in self.by_pool]
        return max(known) if known and len(known) == len(pools) else None


def endpoint_resource(
    endpoint: Endpoint,
    key: Key,
    health: Health | None,
    workers: tuple[Worker, ...],
    rates: Rates,
    observed_at: datetime,
) -> Resource:
    """An endpoint with what its workers cost now.

    Args:
        endpoint: from the listing.
        key: whose listing it was.
        health: None: not known.
        workers: those that are up, as far as they were asked for.
        rates: serverless rates.
        observed_at: when it was seen.
    """
    counts = health.workers if health else None
    state, raw = _endpoint_state(health)
    started = min((w.started_at for w in workers if w.started_at is not None), default=None)
    name = canonical_name(endpoint.name)
    return Resource(
        provider=NAME,
        resource_id=endpoint.id,
        kind="endpoint",
        label=name,
        gpu=_endpoint_gpu(endpoint, name, workers, rates),
        num_gpus=(endpoint.gpu.count if endpoint.gpu else None) or 1,
        product="serverless",
        rate=_endpoint_rate(endpoint, counts, workers, rates),
        state=state,
        raw_status=raw,
        started_at=started or endpoint.created_at,
        observed_at=observed_at,
        handle=JobHandle(
            NAME,
            {
                "endpoint_id": endpoint.id,
                "endpoint_name": endpoint.name or "",
                FINGERPRINT: key.fingerprint,
            },
        ),
        note=_workers_note(counts),
    )


def pod_resource(pod: Pod, key: Key, observed_at: datetime) -> Resource:
    """A pod; a stopped one costs its volume, one that never booted costs all the same."""
    raw = (pod.status or "unknown").upper()
    state = _POD_STATES.get(raw, "unknown")
    note = ""
    if state == "running" and not pod.runtime:
        state, note = "starting", "RunPod calls it running, but its container is not up"
    if state == "stopped":
        note = "stopped; its volume goes on costing"
    return Resource(
        provider=NAME,
        resource_id=pod.id,
        kind="pod",
        label=canonical_name(pod.name),
        gpu=shown_name(pod.gpu.id if pod.gpu else None),
        num_gpus=(pod.gpu.count if pod.gpu else None) or 1,
        product="pod",
        rate=_pod_rate(pod, state),
        state=state,
        raw_status=clean(raw, limit=40),
        started_at=pod.started_at or pod.created_at,
        observed_at=observed_at,
        handle=JobHandle(
            NAME, {"pod_id": pod.id, "pod_name": pod.name or "", FINGERPRINT: key.fingerprint}
        ),
        note=note,
    )


def _endpoint_state(health: Health | None) -> tuple[ResourceState, str]:
    counts = health.workers if health else None
    if counts is None:
        return "unknown", "unknown"
    if counts.running:
        return "running", "RUNNING"
    if counts.initializing:
        return "starting", "INITIALIZING"
    if counts.billed:
        return "running", "IDLE"
    if counts.unhealthy:
        return "unknown", "UNHEALTHY"
    if counts.throttled:
        return "starting", "THROTTLED"
    if health is not None and health.jobs is not None and health.jobs.in_queue:
        return "starting", "IN_QUEUE"
    return "stopped", "SCALED TO ZERO"


def _endpoint_gpu(
    endpoint: Endpoint, name: str, workers: tuple[Worker, ...], rates: Rates
) -> str | None:
    real = {w.gpu_type_id for w in workers if w.gpu_type_id}
    if len(real) == 1:
        return shown_name(real.pop())
    known = class_of_short(short_of(name))
    if known is not None:
        return known.name
    chosen = endpoint.gpu
    if chosen is None:
        return None
    possible = {t.id for t in rates.types if t.pool in chosen.pools} - set(chosen.excluded_types)
    return shown_name(possible.pop()) if len(possible) == 1 else None


def _endpoint_rate(
    endpoint: Endpoint, counts: WorkerCounts | None, workers: tuple[Worker, ...], rates: Rates
) -> HourlyRate | None:
    """Cards and container disks of the workers that are up; the whole endpoint, per hour."""
    if counts is None:
        return None
    if counts.billed == 0:
        return ZERO_RATE
    cards = _cards_rate(endpoint, counts.billed, workers, rates)
    if cards is None:
        return None
    return cards + _disk_rate(_WORKER_DISK_USD_PER_GB_MONTH, endpoint.disk or 0).times(
        counts.billed
    )


def _cards_rate(
    endpoint: Endpoint, billed: int, workers: tuple[Worker, ...], rates: Rates
) -> HourlyRate | None:
    pool_rate = rates.of_endpoint(endpoint)
    cards = (endpoint.gpu.count if endpoint.gpu else None) or 1
    known = [w for w in workers if (w.status or "").upper() in _BILLED_STATUS]
    if len(known) != billed:
        return None if pool_rate is None else pool_rate.times(cards * billed)
    total = ZERO_RATE
    for worker in known:
        rate = rates.by_id.get(worker.gpu_type_id or "", pool_rate)
        if rate is None:
            return None
        total += rate.times(worker.gpu_count or cards)
    return total


def _disk_rate(usd_per_gb_month: str, size_gb: int) -> HourlyRate:
    return HourlyRate.of(usd_per_gb_month).times(size_gb).per(_HOURS_PER_MONTH)


def _pod_rate(pod: Pod, state: ResourceState) -> HourlyRate | None:
    if state == "gone":
        return ZERO_RATE
    if state != "stopped":
        return None if pod.cost is None else HourlyRate.of(pod.cost)
    volume = pod.mounts.persistent if pod.mounts else None
    if volume is None:
        return ZERO_RATE if pod.mounts else None
    if volume.size is None:
        return None
    return _disk_rate(_STOPPED_VOLUME_USD_PER_GB_MONTH, volume.size)


def _workers_note(counts: WorkerCounts | None) -> str:
    if counts is None:
        return "its workers could not be counted"
    named = (
        (counts.running, "running"),
        (counts.initializing, "starting"),
        (counts.idle, "idle"),
        (counts.throttled, "throttled (host busy)"),
        (counts.unhealthy, "unhealthy"),
    )
    told = ", ".join(f"{n} {word}" for n, word in named if n)
    return f"workers: {told}" if told else ""
