"""What goes into an allocation and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from flashtui.domain.market import Offer, PriceSheet, Product, Quote, ReasonCode, Source
    from flashtui.domain.sizing import Sizing

FailureKind = Literal[
    "unknown_gpu",
    "unknown_provider",
    "provider_not_available",
    "search_failed",
    "sold_out",
    "nothing_fits",
]


@dataclass(frozen=True)
class Candidate:
    """One way to get the job run: a class with a provider at a price.

    Attributes:
        hourly_usd: one card, US dollars per hour, for ``product``, with the job's disk where that is billed.
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


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One class or group of offers that was not chosen, and why.

    Attributes:
        detail: a sentence with the numbers that decided.
        count: how many offers this stands for; 0: a class with none.
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
class AllocationRequest:
    """What the job asks for.

    Attributes:
        gpu: a pin (any accepted spelling); None: none.
        provider: ``"auto"`` or a registry name.
        train: the ``[train]`` knobs, as a mapping or an object with attributes.
        min_vram_gb: overrides the sizing.
        params_b: parameters in billions of a model outside the catalogue; None: not known.
        hours: expected length, for the cost of the job and for offers that end too soon.
        product: which product of a provider with several may be used; None: the one that can be rented.
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
        available: configured and allowed to be asked, or with a list to rank by.
        why_not: a sentence when it is not, or when it could not answer.
        failed: it was asked and could not answer (``why_not`` says how); what it said before may still be fresh.
        quotes: prices by class; they count only where there are no single offers.
        offers: single offers, in any order.
        static_may_win: its static prices are the best there is (no key, or offline), not a stopgap.
    """

    provider: str
    available: bool = True
    why_not: str = ""
    failed: bool = False
    quotes: tuple[Quote, ...] = ()
    offers: tuple[Offer, ...] = ()
    static_may_win: bool = False


def book_from_sheet(
    provider: str,
    sheet: PriceSheet | None,
    *,
    configured: bool,
    why_not: str = "",
) -> ProviderBook:
    """The book of a provider from what its price source last said.

    Args:
        provider: registry name.
        sheet: newest sheet; None: none has arrived.
        configured: it has a key and may be asked. Without, only a static list can count.
        why_not: why it is not configured, in words.
    """
    if not configured:
        quotes = tuple(q for q in sheet.quotes if q.source == "static") if sheet else ()
        reason = why_not or f"{provider} is not configured"
        return ProviderBook(
            provider, available=bool(quotes), why_not=reason, quotes=quotes, static_may_win=True
        )
    if sheet is None:
        reason = why_not or f"{provider} has not answered yet"
        return ProviderBook(provider, why_not=reason, failed=True)
    error = sheet.error
    return ProviderBook(
        provider,
        why_not=error.message if error else "",
        failed=error is not None,
        quotes=sheet.quotes,
        offers=sheet.offers,
    )


@dataclass(frozen=True, slots=True)
class AllocationReport:
    """An allocation that never raises: the winner or none, and the whole explanation.

    Attributes:
        winner: None when nothing fits.
        summary: one line for a log or a status line; without a winner, why there is none.
        remedies: what to relax to get a fit, one sentence each.
        could_not_ask: providers that could not answer; with these, "nothing fits" is not proven.
        failure: what kind of no this is; None with a winner.
        warnings: what a person should know about a winner, one sentence each.
        provider_offers: every usable market offer, cheapest first, for the walk at submit.
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
    provider_offers: tuple[Any, ...] = ()
    failure: FailureKind | None = None
    warnings: tuple[str, ...] = ()
