"""Which provider, class and offer a job would get, at what price, and why not the others.

Pure: everything it decides from is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from flashtui.domain.market import Offer, Product, Quote, ReasonCode, Source


@dataclass(frozen=True)
class Candidate:
    """One way to get the job run: a class with a provider at a price.

    Attributes:
        hourly_usd: one card, US dollars per hour, for ``product``.
        vram_gb: nominal memory of the class, GB.
        offer: the provider's own hint for submit (the Vast offer); opaque to the allocator.
    """

    provider: str
    gpu: str
    hourly_usd: float
    vram_gb: int
    validated: bool
    offer: Any = None
    product: Product = "instance"
    source: Source = "live"
    observed_at: datetime | None = None


@dataclass(frozen=True)
class Exclusion:
    """One class or group of offers that was not chosen, and why.

    Attributes:
        detail: a sentence with the numbers that decided.
        count: how many offers this stands for.
    """

    provider: str
    gpu: str
    reason: ReasonCode
    detail: str
    count: int = 1


@dataclass(frozen=True)
class Allocation:
    """The result of an allocation, as the seeds' contract has it, with what explains it beside.

    Attributes:
        candidates: ranked; the first is the chosen one; a retry walks this list.
        provider_offers: every usable market offer, for the walk at submit.
        escalated_from: the pin that was given up because it cannot hold the job.
    """

    provider: str
    gpu: str
    hourly_usd: float
    min_vram_gb: int
    candidates: tuple[Candidate, ...]
    offer: Any = None
    provider_offers: tuple[Any, ...] = ()
    escalated_from: str | None = None
    excluded: tuple[Exclusion, ...] = ()
    product: Product = "instance"


@dataclass(frozen=True, slots=True)
class SizingPart:
    """One summand of the memory estimate, GB."""

    label: str
    gb: float


@dataclass(frozen=True, slots=True)
class Sizing:
    """How the needed memory came about.

    Attributes:
        need_gb: what the allocation asks for.
        estimate_gb: before headroom and floors; None where there is no estimate.
        source: ``"catalogue"``, ``"published size"``, ``"default"`` (size unknown) or ``"given"``.
        notes: floors and escalations that applied, one sentence each.
    """

    need_gb: int
    estimate_gb: float | None
    headroom: float
    source: str
    parts: tuple[SizingPart, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AllocationRequest:
    """What the job asks for.

    Attributes:
        gpu: a pin (any accepted spelling); None: none.
        provider: ``"auto"`` or a registry name.
        train: the ``[train]`` knobs, as a mapping or an object with attributes.
        min_vram_gb: overrides the sizing.
        params_b: parameters in billions of a model outside the catalogue; None: not known.
        hours: expected length, for the cost of the job and for offers that end too soon.
    """

    model_id: str
    algorithm: str
    gpu: str | None = None
    provider: str = "auto"
    disk_gb: int = 60
    allow_unvalidated: bool | None = None
    exclude_machine_ids: frozenset[str] = frozenset()
    train: Mapping[str, Any] | object | None = None
    thinking: bool = False
    min_vram_gb: int | None = None
    params_b: float | None = None
    hours: float | None = None
    max_usd_per_hour: float | None = None
    product: Product | None = None


@dataclass(frozen=True, slots=True)
class ProviderBook:
    """What one provider had to say when the allocation was made.

    Attributes:
        available: configured and allowed to be asked.
        why_not: a sentence when it is not, or when it could not answer.
        failed: it was asked and could not answer (``why_not`` says how).
        quotes: prices by class, for providers without single offers.
        offers: single offers, for market providers, cheapest first or not.
    """

    provider: str
    available: bool = True
    why_not: str = ""
    failed: bool = False
    quotes: tuple[Quote, ...] = ()
    offers: tuple[Offer, ...] = ()


@dataclass(frozen=True, slots=True)
class AllocationReport:
    """An allocation that never raises: the winner or none, and the whole explanation.

    Attributes:
        winner: None when nothing fits.
        remedies: what to relax to get a fit, one sentence each.
        summary: one line for a log or a status line.
        could_not_ask: providers that could not answer; with these, "nothing fits" is not proven.
    """

    request: AllocationRequest
    sizing: Sizing
    winner: Candidate | None
    candidates: tuple[Candidate, ...]
    excluded: tuple[Exclusion, ...]
    escalated_from: str | None
    summary: str
    remedies: tuple[str, ...] = ()
    could_not_ask: tuple[str, ...] = ()
    provider_offers: tuple[Any, ...] = field(default=())
