"""Runs and the resources they rent: handles, observations, states.

One run may have rented several resources (attempts); each is a row of its own that only proof closes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from flashtui.domain.market import Product
    from flashtui.domain.money import HourlyRate, Usd

RunState = Literal["queued", "provisioning", "running", "done", "failed", "cancelled", "unknown"]
ResourceState = Literal[
    "none", "starting", "running", "stopped", "destroying", "gone", "unconfirmed", "unknown"
]
Goal = Literal["run", "stopped", "gone"]
RateSource = Literal["offer", "live", "provider", "static", "unknown"]
TERMINAL_STATES: frozenset[RunState] = frozenset({"done", "failed", "cancelled"})


@dataclass
class JobHandle:
    """Provider-tagged, persisted handle: enough to poll, cancel or destroy from any process.

    ``data`` belongs to the provider (RunPod: ``endpoint_id``, ``endpoint_name``, ``job_id``; Vast: ``instance_id``,
    ``offer_id``, ``machine_id``, ``label`` …). ``provider`` routes every generic call.
    """

    provider: str
    data: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """A flat mapping with ``provider`` in it, as stored."""
        return {"provider": self.provider, **self.data}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> JobHandle:
        """The reverse of :meth:`to_dict`; a mapping without ``provider`` is RunPod's (handles older than the field)."""
        data = dict(d)
        provider = data.pop("provider", "runpod")
        return cls(provider=provider, data=data)


@dataclass
class PollResult:
    """How a run ended.

    Attributes:
        failure: ``"job_failed"``, ``"stalled"``, ``"poll_error"`` or a later addition; None when ok.
        detail: what the provider or the worker said.
    """

    ok: bool
    metrics: dict[str, Any] | None = None
    failure: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at one resource, as the provider described it.

    Attributes:
        state: theirs, mapped to our closed list; unknown text maps to ``"unknown"``.
        raw_status: the provider's own word, cleaned.
        rate: what the provider says the whole resource costs per hour now; None: it does not say.
        note: one sentence for a person, cleaned.
    """

    provider: str
    resource_id: str
    state: ResourceState
    raw_status: str
    observed_at: datetime
    rate: HourlyRate | None = None
    started_at: datetime | None = None
    note: str = ""
    progress: str | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """A billable thing found in a provider's own listing.

    Attributes:
        kind: ``"instance"``, ``"endpoint"`` or ``"pod"``.
        label: the name we or somebody gave it, cleaned; RunPod endpoint names without ``live-`` and ``-fb``.
        handle: what destroy and cancel need.
    """

    provider: str
    resource_id: str
    kind: str
    label: str
    gpu: str | None
    num_gpus: int
    product: Product
    rate: HourlyRate | None
    state: ResourceState
    raw_status: str
    started_at: datetime | None
    observed_at: datetime
    handle: JobHandle
    note: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """A provider's listing of everything this account rents.

    ``complete`` is False when any page failed: such a listing may show, never prove; ``problem`` says what failed.
    """

    provider: str
    resources: tuple[Resource, ...]
    complete: bool
    observed_at: datetime
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RentedResource:
    """What the store keeps of one paid resource. Key: (provider, resource_id), without the attempt.

    Attributes:
        rate: accepted, whole resource per hour.
        cost: accrued up to ``cost_until`` under the rates that were observed; None: nothing accrued apart yet.
        billing_rate: what counts from ``cost_until`` on; None: unknown.

    Stamps are write-once. Only ``confirmed_gone_at`` stops the clock; ``teardown_requested_at`` does not.
    """

    provider: str
    resource_id: str
    run_id: str
    handle: JobHandle
    label: str
    gpu: str
    num_gpus: int
    product: Product
    rate: HourlyRate | None
    rate_source: RateSource
    attempt: int
    state: ResourceState
    raw_status: str
    launched_at: datetime | None
    last_seen_at: datetime | None
    teardown_requested_at: datetime | None
    confirmed_gone_at: datetime | None
    evidence: str
    cost: Usd | None = None
    cost_until: datetime | None = None
    billing_rate: HourlyRate | None = None

    @property
    def may_bill(self) -> bool:
        """Whether nothing has proved yet that it stopped billing."""
        return self.confirmed_gone_at is None


@dataclass(frozen=True, slots=True)
class Run:
    """One run as the store knows it.

    Attributes:
        spec: the job's fields (``model``, ``algorithm`` …), as submitted or imported.
        revision: grows with every write; compare-and-set guards against lost updates.
        broken: set when the stored record could not be read whole; says why.
    """

    run_id: str
    state: RunState
    goal: Goal
    provider: str | None
    gpu: str | None
    num_gpus: int
    product: Product | None
    label: str | None
    attempt: int
    spec: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    last_error: str
    progress: str | None
    heartbeat_at: datetime | None
    recorded_cost: Usd | None
    revision: int
    resources: tuple[RentedResource, ...] = ()
    broken: str = ""

    @property
    def may_bill(self) -> bool:
        """Whether any resource it ever rented is not proven gone."""
        return any(r.may_bill for r in self.resources)
