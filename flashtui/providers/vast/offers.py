"""From one row of a search to an ``Offer``: price for the chosen disk with its parts, place, and what speaks against it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashtui.domain.gpu import GPU_INFO
from flashtui.domain.market import Offer
from flashtui.domain.money import HourlyRate, Usd
from flashtui.providers.vast.auth import NAME
from flashtui.providers.vast.gpus import class_of, least_cuda, nominal_gb

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from flashtui.domain.market import ReasonCode
    from flashtui.domain.rules import Rules
    from flashtui.providers.vast.wire import OfferRow

# Vast bills storage by the month of 30 days.
_HOURS_PER_MONTH = 720
_COUNTRY = re.compile(r"[A-Z]{2}", re.ASCII)
_VERIFIED = "verified"
_DATACENTER = 1


def offer_from_row(row: OfferRow, rules: Rules, disk_gb: int, observed_at: datetime) -> Offer:
    """Normalise one row.

    Args:
        row: as read.
        rules: what the policy asks of an offer.
        disk_gb: the disk that would be rented, GB.
        observed_at: when the answer arrived.
    """
    gpu = class_of(row.gpu_name, row.gpu_ram)
    total, gpu_part, storage_part = _price(row, disk_gb)
    return Offer(
        provider=NAME,
        offer_id=str(row.id),
        machine_id=str(row.machine_id) if row.machine_id is not None else None,
        gpu=gpu,
        gpu_raw=row.gpu_name,
        num_gpus=row.num_gpus,
        vram_gb=GPU_INFO[gpu].vram_gb if gpu is not None else nominal_gb(row.gpu_ram),
        product="instance",
        rate=_rate(total),
        gpu_rate=_rate(gpu_part),
        storage_rate=_rate(storage_part),
        down_usd_per_gb=_usd(row.inet_down_cost),
        up_usd_per_gb=_usd(row.inet_up_cost),
        priced_disk_gb=disk_gb,
        reliability=_reliability(row),
        verified=_is_verified(row),
        datacenter=None if row.hosting_type is None else row.hosting_type == _DATACENTER,
        cuda=row.cuda_max_good,
        disk_gb=row.disk_space,
        inet_down_mbps=row.inet_down,
        inet_up_mbps=row.inet_up,
        region=region_of(row.geolocation),
        available_until=row.end_date,
        min_bid=_rate(row.min_bid) if row.min_bid else None,
        observed_at=observed_at,
        reasons=_reasons(row, rules, disk_gb, observed_at, gpu, total),
    )


def interruptible_rate(offer: Offer) -> HourlyRate | None:
    """What the offer would cost per hour at its lowest winning bid, with storage; None: no bid is taken."""
    if offer.min_bid is None:
        return None
    return offer.min_bid if offer.storage_rate is None else offer.min_bid + offer.storage_rate


def region_of(geolocation: str | None) -> str | None:
    """``"Stockholm, SE"`` stays, ``", US"`` is ``"US"``; None: the place is not known."""
    parts = [part.strip() for part in (geolocation or "").split(",")]
    return ", ".join(part for part in parts if part) or None


def country_of(region: str | None) -> str | None:
    """The two-letter country at the end of a region; a region without one stands for itself."""
    if region is None:
        return None
    last = region.rpartition(",")[2].strip()
    return last if _COUNTRY.fullmatch(last) else region


def _price(row: OfferRow, disk_gb: int) -> tuple[Decimal | None, Decimal | None, Decimal | None]:
    """Whole, GPU and storage part in dollars per hour; the whole only where the parts are not told."""
    storage = None if row.storage_cost is None else row.storage_cost * disk_gb / _HOURS_PER_MONTH
    base = row.dph_base or None
    if base is not None and storage is not None:
        return base + storage, base, storage
    total = row.dph_total or None
    if total is not None and base is not None and total >= base:
        return total, base, total - base
    return total, base, storage


def _reasons(
    row: OfferRow,
    rules: Rules,
    disk_gb: int,
    now: datetime,
    gpu: str | None,
    total: Decimal | None,
) -> tuple[ReasonCode, ...]:
    """Everything that speaks against renting it under the rules.

    A key that the answer does not hold is not held against an offer (the search itself asked for it); one that is
    there without a usable value is.
    """
    verified = _is_told(row, "verification", "vericode")
    datacenter = _is_told(row, "hosting_type")
    least_disk = max(disk_gb, rules.disk_gb)
    least_version = least_cuda(gpu) if gpu is not None else 0.0
    reliability = _reliability(row)
    objections: dict[ReasonCode, bool] = {
        "not_rentable": _is_taken(row, now),
        "price_unknown": total is None,
        "not_verified": rules.verified and verified and not _is_verified(row),
        "not_datacenter": rules.datacenter and datacenter and row.hosting_type != _DATACENTER,
        "reliability": _is_short(
            row, reliability, rules.reliability, "reliability2", "reliability"
        ),
        "bandwidth": _is_short(row, row.inet_down, rules.inet_down_mbps, "inet_down"),
        "disk": _is_short(row, row.disk_space, least_disk, "disk_space"),
        "cuda": _is_short(row, row.cuda_max_good, least_version, "cuda_max_good"),
    }
    return tuple(code for code, stands in objections.items() if stands)


def _is_taken(row: OfferRow, now: datetime) -> bool:
    # Several cards are offered as one slice that can only be rented whole, which this build does not do.
    if row.num_gpus != 1 or row.rented is True or row.rentable is False:
        return True
    return row.end_date is not None and row.end_date <= now


def _is_told(row: OfferRow, *keys: str) -> bool:
    return not row.model_fields_set.isdisjoint(keys)


def _is_short(row: OfferRow, value: float | None, least: float, *keys: str) -> bool:
    return _is_told(row, *keys) and (value is None or value < least)


def _reliability(row: OfferRow) -> float | None:
    return row.reliability2 if row.reliability2 is not None else row.reliability


def _is_verified(row: OfferRow) -> bool | None:
    if row.verification is not None:
        return row.verification == _VERIFIED
    return None if row.vericode is None else row.vericode == 1


def _rate(usd_per_hour: Decimal | None) -> HourlyRate | None:
    if usd_per_hour is None:
        return None
    try:
        return HourlyRate.of(usd_per_hour)
    except ValueError:
        return None


def _usd(amount: Decimal | None) -> Usd | None:
    return None if amount is None else Usd.of(amount)
