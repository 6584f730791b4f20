"""What the simulated RunPod account owns: templates, endpoints, workers, jobs, pods, volumes.

Plain mutable records; the rules that change them are in `serverless`, `pods` and `account`.
All times are epoch seconds on the simulator's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TERMINAL = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"})
"""Job states that never change again. Source: docs serverless/endpoints/job-states."""


@dataclass(slots=True)
class Template:
    """Container settings, either named and kept, or the inline part of one endpoint or pod."""

    template_id: str
    name: str
    image: str
    owner: str
    args: str = ""
    disk_gb: int = 20
    volume_gb: int = 0
    mount_path: str = "/workspace"
    ports: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    registry: str | None = None
    is_serverless: bool = False
    is_public: bool = False
    readme: str = ""
    start_ssh: bool = True
    start_jupyter: bool = True
    category: str = "NVIDIA"
    allowed_cuda: tuple[str, ...] = ()
    bound_to: str | None = None
    """The endpoint that uses it; it cannot be deleted meanwhile."""
    freed_at: float | None = None
    """When its endpoint went away: it stays undeletable for two minutes more."""


@dataclass(slots=True)
class JobPlan:
    """What will become of a job, decided when it is submitted."""

    run_s: float
    outcome: str = "COMPLETED"
    output: Any = None
    error: Any = None
    steps: int = 0
    retries: int = 0
    lost_after_s: float | None = None
    """Seconds after submission at which the platform forgets the job before its end."""
    chunks: tuple[Any, ...] = ()
    """What `/stream` hands out, spread over the run."""


@dataclass(slots=True)
class Job:
    """One request on the queue of an endpoint."""

    job_id: str
    created_at: float
    payload: dict[str, Any]
    plan: JobPlan
    execution_timeout_s: float
    ttl_s: float
    is_sync: bool = False
    status: str = "IN_QUEUE"
    started_at: float | None = None
    ended_at: float | None = None
    worker_id: str | None = None
    retries: int = 0
    output: Any = None
    error: Any = None
    streamed: int = 0
    stream: list[Any] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether its state is final."""
        return self.status in TERMINAL


@dataclass(slots=True)
class Worker:
    """One container of an endpoint.

    `started_at` is None while it waits for a machine (throttled); `ready_at` ends the start-up.
    """

    worker_id: str
    created_at: float
    version: int
    image: str
    gpu_count: int
    started_at: float | None = None
    ready_at: float | None = None
    gpu_id: str | None = None
    place_id: str | None = None
    usd_per_hour: float = 0.0
    job_id: str | None = None
    idle_since: float | None = None
    is_unhealthy: bool = False
    log: list[tuple[float, str, str]] = field(default_factory=list)
    """(time, `container` or `system`, line)"""

    def status(self, now: float) -> str:
        """REST v2's worker state at a moment."""
        if self.is_unhealthy:
            return "UNHEALTHY"
        if self.started_at is None:
            return "THROTTLED"
        if self.ready_at is None or now < self.ready_at:
            return "INITIALIZING"
        return "RUNNING" if self.job_id else "IDLE"


@dataclass(slots=True)
class Endpoint:
    """A serverless endpoint with its workers and its queue."""

    endpoint_id: str
    name: str
    owner: str
    template: Template
    created_at: float
    priced_at: float
    """The moment whose pool prices its workers are billed at."""
    pools: tuple[str, ...] = ("AMPERE_16",)
    excluded: tuple[str, ...] = ()
    gpu_count: int = 1
    workers_min: int = 0
    workers_max: int = 3
    workers_standby: int = 1
    idle_timeout_s: int = 10
    scaler: str = "QUEUE_DELAY"
    scaler_value: float = 4
    locations: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    execution_timeout_ms: int = 0
    flashboot: str = "OFF"
    kind: str = "QB"
    cuda_min: str | None = None
    cuda_allowed: tuple[str, ...] = ()
    instance_ids: tuple[str, ...] = ()
    version: int = 0
    usd_per_hour: float | None = None
    """A literal rate of the scenario, instead of the pool's price."""
    workers: dict[str, Worker] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    completed: int = 0
    failed: int = 0
    retried: int = 0
    releases: list[dict[str, Any]] = field(default_factory=list)
    clock: float = 0.0
    """Up to when its workers and jobs have been moved on."""
    rates: dict[str, float] = field(default_factory=dict)
    """What the ledger bills now, by part."""
    deleted_at: float | None = None
    removed_at: float | None = None
    """When a delete that was accepted takes effect, where that is later."""
    shown_until: float | None = None
    """A deleted endpoint is in listings until then."""


@dataclass(slots=True)
class Pod:
    """A rented pod; `status` is the wish (`desiredStatus`), `ready_at` when its container runs."""

    pod_id: str
    name: str
    owner: str
    template: Template
    gpu_id: str
    gpu_count: int
    cloud: str
    usd_per_hour: float
    created_at: float
    started_at: float
    ready_at: float
    place_id: str | None = None
    country: str | None = None
    machine_id: str = ""
    status: str = "RUNNING"
    is_spot: bool = False
    template_id: str | None = None
    volume_id: str | None = None
    locked: bool = False
    last_change: str = ""
    ended_at: float | None = None
    removed_at: float | None = None
    """When a terminate that was accepted takes effect, where that is later."""
    shown_until: float | None = None
    """A terminated pod is in listings until then."""
    log: list[tuple[float, str, str]] = field(default_factory=list)

    def v2_status(self, now: float) -> str:
        """REST v2's lifecycle status at a moment."""
        if self.status != "RUNNING":
            return self.status
        if now < self.started_at + 5:
            return "PROVISIONING"
        return "STARTING" if now < self.ready_at else "RUNNING"


@dataclass(slots=True)
class Volume:
    """A network volume: billed whether or not anything uses it."""

    volume_id: str
    name: str
    size_gb: int
    place_id: str
    kind: str = "STANDARD"
