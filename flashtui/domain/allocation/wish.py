"""A request with everything resolved: what each quote and offer is held against."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from flashtui.domain.gpu import GpuClass, UnknownGpuError, canonical_gpu
from flashtui.domain.market import Freshness, freshness
from flashtui.domain.money import MAX_USD_PER_HOUR, HourlyRate
from flashtui.domain.rules import LEAST_DISK_GB, STARTUP_S, Rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.domain.allocation.values import AllocationRequest
    from flashtui.domain.market import Offer, Product, ReasonCode

# An offer with less than this left cannot even be rented.
_LEAST_TIME_LEFT_S = 60


@dataclass(frozen=True, slots=True)
class Wish:
    """What a job needs and allows.

    Attributes:
        pin: the one class that is wanted; None: any.
        disk_gb: never less than the floor.
        machines: ids that must not be used again.
        until: how long an offer must last.
        cap: dearest rate that is allowed; None: any.
        ignored: reasons that do not count, to find out what they cost.
    """

    need_gb: int
    pin: GpuClass | None
    disk_gb: int
    unvalidated: bool
    machines: frozenset[str]
    hours: float | None
    until: datetime
    cap: HourlyRate | None
    product: Product | None
    now: datetime
    interval_s: float
    rules: Rules
    classes: Mapping[str, GpuClass]
    ignored: frozenset[ReasonCode] = frozenset()

    @property
    def floor_gb(self) -> int:
        """The smallest class worth keeping in the offer book."""
        return max(self.need_gb, self.pin.vram_gb if self.pin else 0)

    def is_fresh(self, observed_at: datetime) -> bool:
        """Whether an observation may decide."""
        age_s = (self.now - observed_at).total_seconds()
        return freshness(age_s, self.interval_s) is Freshness.FRESH

    def rate_of(self, offer: Offer) -> HourlyRate | None:
        """What the whole offer costs per hour with this job's disk."""
        if (
            offer.rate is None
            or offer.gpu_rate is None
            or offer.storage_rate is None
            or offer.priced_disk_gb <= 0
        ):
            return offer.rate
        return offer.gpu_rate + offer.storage_rate.times(self.disk_gb).per(offer.priced_disk_gb)


def wish_of(
    request: AllocationRequest,
    need_gb: int,
    *,
    now: datetime,
    interval_s: float,
    rules: Rules,
    classes: Mapping[str, GpuClass],
) -> Wish:
    """The request, resolved.

    Raises:
        UnknownGpuError: the pin is no class.
    """
    work_s = _LEAST_TIME_LEFT_S if request.hours is None else request.hours * 3600 + STARTUP_S
    return Wish(
        need_gb=need_gb,
        pin=_pin(request.gpu, classes),
        disk_gb=max(request.disk_gb, LEAST_DISK_GB),
        unvalidated=request.allow_unvalidated is True,
        machines=frozenset(str(machine) for machine in request.exclude_machine_ids),
        hours=request.hours,
        until=now + timedelta(seconds=work_s),
        cap=_cap(request.max_usd_per_hour),
        product=request.product,
        now=now,
        interval_s=interval_s,
        rules=rules,
        classes=classes,
    )


def _pin(name: str | None, classes: Mapping[str, GpuClass]) -> GpuClass | None:
    if name is None:
        return None
    try:
        return classes[canonical_gpu(name)]
    except (UnknownGpuError, KeyError):
        wanted = name.strip().lower()
        for gpu in classes.values():
            if gpu.name.lower() == wanted:
                return gpu
        raise


def _cap(usd_per_hour: float | None) -> HourlyRate | None:
    """The limit; beyond every price it is none."""
    if usd_per_hour is None or not usd_per_hour < MAX_USD_PER_HOUR:
        return None
    return HourlyRate.of(max(0.0, usd_per_hour))
