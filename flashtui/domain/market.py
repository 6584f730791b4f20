"""Prices and offers as values: what is asked for a GPU, by whom, for which product, seen when and where.

A number without product, source and age is not a price; none of these types can hold one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from flashtui.domain.errors import ErrorKind
    from flashtui.domain.money import HourlyRate, Usd

Product = Literal["serverless", "pod", "instance", "interruptible"]
Source = Literal["live", "cached", "static"]
Stock = Literal["high", "medium", "low", "none", "unknown"]
ReasonCode = Literal[
    "too_small",
    "not_validated",
    "sold_out",
    "not_asked",
    "stale",
    "too_dear",
    "ends_too_soon",
    "excluded_machine",
    "disk",
    "cuda",
    "reliability",
    "bandwidth",
    "not_verified",
    "not_datacenter",
    "price_unknown",
    "not_rentable",
    "pin",
]

DEFAULT_POLL_S = 45.0
STALE_AFTER_INTERVALS = 2
UNKNOWN_AFTER_INTERVALS = 10


class Freshness(StrEnum):
    """How far a number may be trusted by its age alone."""

    FRESH = "fresh"
    STALE = "stale"
    UNKNOWN = "unknown"


def freshness(age_s: float | None, interval_s: float = DEFAULT_POLL_S) -> Freshness:
    """The one rule for table, preview and alerts.

    Args:
        age_s: seconds since the observation; None: never observed.
        interval_s: the configured poll interval.
    """
    if age_s is None or age_s > UNKNOWN_AFTER_INTERVALS * interval_s:
        return Freshness.UNKNOWN
    return Freshness.STALE if age_s > STALE_AFTER_INTERVALS * interval_s else Freshness.FRESH


@dataclass(frozen=True, slots=True)
class Quote:
    """The price of one GPU of one class from one provider, for one product.

    Attributes:
        gpu: canonical class name; the provider's own name when the class is not managed.
        vram_gb: memory of one card, GB.
        rate: dollars per GPU-hour that would be billed for this product; None: unknown or nothing on offer.
        available: number of offers or cards that could be rented now; None: the provider does not say.
        observed_at: when the provider said so; for static prices the date of the table.
        rentable: this exact row could be submitted by this build, now.
        offer_id: the offer behind the price, where there is one.
    """

    provider: str
    gpu: str
    vram_gb: int
    product: Product
    rate: HourlyRate | None
    available: int | None
    stock: Stock
    regions: tuple[str, ...]
    source: Source
    observed_at: datetime
    validated: bool
    rentable: bool
    managed: bool = True
    offer_id: str | None = None
    machine_id: str | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """One market offer, normalised, with the reasons why current rules would not rent it.

    Attributes:
        gpu: canonical class; None when the board is not managed.
        gpu_raw: the provider's own name, cleaned of control characters.
        vram_gb: memory of one card, GB (as reported, rounded to the class where there is one).
        rate: whole offer, per hour, with storage for ``priced_disk_gb``.
        gpu_rate: the GPU part of ``rate``.
        storage_rate: the storage part of ``rate``.
        down_usd_per_gb / up_usd_per_gb: transfer, billed apart, micro-dollars inside; None: not said.
        available_until: latest end of a rental; None: not said.
        reasons: empty when usable.
        native: the provider's own record, opaque to everyone else; what submit needs.
    """

    provider: str
    offer_id: str
    machine_id: str | None
    gpu: str | None
    gpu_raw: str
    num_gpus: int
    vram_gb: int
    product: Product
    rate: HourlyRate | None
    gpu_rate: HourlyRate | None
    storage_rate: HourlyRate | None
    down_usd_per_gb: Usd | None
    up_usd_per_gb: Usd | None
    priced_disk_gb: int
    reliability: float | None
    verified: bool | None
    datacenter: bool | None
    cuda: float | None
    disk_gb: float | None
    inet_down_mbps: float | None
    inet_up_mbps: float | None
    region: str | None
    available_until: datetime | None
    min_bid: HourlyRate | None
    observed_at: datetime
    reasons: tuple[ReasonCode, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether the current rules would rent it."""
        return not self.reasons

    @property
    def rate_per_gpu(self) -> HourlyRate | None:
        """Dollars per GPU-hour."""
        return self.rate.per(self.num_gpus) if self.rate is not None and self.num_gpus > 0 else None


@dataclass(frozen=True, slots=True)
class FeedError:
    """Why the last attempt to read a provider failed, in words."""

    provider: str
    kind: ErrorKind
    message: str
    at: datetime
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PriceSheet:
    """Everything one provider's pricing module found in one refresh.

    Attributes:
        observed_at: when the answer arrived; None: never answered (rows are static or absent).
        offers: the single offers behind the rows, for providers that have them.
        unmanaged: offers or types of boards that are not managed, by the provider's name.
        complete: whether the provider's whole answer was read.
        error: set when rows are older than the last attempt.
        skipped: entries of the answer that could not be read; the others are here.
    """

    provider: str
    quotes: tuple[Quote, ...]
    observed_at: datetime | None
    offers: tuple[Offer, ...] = ()
    unmanaged: Mapping[str, int] | None = None
    complete: bool = True
    error: FeedError | None = None
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Account:
    """Money with one provider; None: the key may not read it, or the provider does not say.

    Attributes:
        note: why something is not known, in a sentence; empty when there is nothing to explain.
    """

    provider: str
    balance: Usd | None
    spend: HourlyRate | None
    spend_limit: HourlyRate | None
    observed_at: datetime
    note: str = ""
