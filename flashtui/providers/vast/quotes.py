"""From single offers to one row per class: the cheapest that the rules would rent, how many there are, and where."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flashtui.domain.market import Quote
from flashtui.providers.vast.auth import NAME
from flashtui.providers.vast.gpus import CLASSES
from flashtui.providers.vast.offers import country_of, interruptible_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from flashtui.domain.gpu import GpuClass
    from flashtui.domain.market import Offer, Stock
    from flashtui.domain.money import HourlyRate


def quotes_of(
    offers: Sequence[Offer], *, observed_at: datetime, complete: bool, can_rent: bool
) -> tuple[Quote, ...]:
    """One row per class and product.

    Args:
        offers: of every class, usable or not.
        observed_at: of the refresh, for classes without an offer.
        complete: the whole market was read, so that a class without a usable offer has none.
        can_rent: a key is set.
    """
    usable: dict[str, list[Offer]] = {gpu.name: [] for gpu in CLASSES}
    for offer in offers:
        if offer.usable and offer.gpu in usable:
            usable[offer.gpu].append(offer)
    rows: list[Quote] = []
    for gpu in CLASSES:
        rows.append(
            _on_demand(gpu, usable[gpu.name], observed_at, complete=complete, can_rent=can_rent)
        )
        rows += _interruptible(gpu, usable[gpu.name])
    return tuple(rows)


def unmanaged_boards(offers: Iterable[Offer]) -> Mapping[str, int]:
    """How many offers there are of each board that is not managed, by Vast's name."""
    return dict(Counter(offer.gpu_raw for offer in offers if offer.gpu is None))


def by_price(offer: Offer) -> tuple[bool, int, int, str]:
    """Cheapest first, unknown prices last, then the older offer: a total order."""
    micros = offer.rate.micros if offer.rate is not None else 0
    return offer.rate is None, micros, len(offer.offer_id), offer.offer_id


def _on_demand(
    gpu: GpuClass, usable: Sequence[Offer], observed_at: datetime, *, complete: bool, can_rent: bool
) -> Quote:
    if not usable:
        return Quote(
            provider=NAME,
            gpu=gpu.name,
            vram_gb=gpu.vram_gb,
            product="instance",
            rate=None,
            available=0 if complete else None,
            stock="none" if complete else "unknown",
            regions=(),
            source="live",
            observed_at=observed_at,
            validated=NAME in gpu.validated_on,
            rentable=False,
        )
    cheapest = min(usable, key=by_price)
    return Quote(
        provider=NAME,
        gpu=gpu.name,
        vram_gb=gpu.vram_gb,
        product="instance",
        rate=cheapest.rate_per_gpu,
        available=len(usable),
        stock=_stock(len(usable)),
        regions=_regions(usable),
        source="live",
        observed_at=cheapest.observed_at,
        validated=NAME in gpu.validated_on,
        rentable=can_rent,
        offer_id=cheapest.offer_id,
        machine_id=cheapest.machine_id,
    )


def _interruptible(gpu: GpuClass, usable: Sequence[Offer]) -> Iterator[Quote]:
    bids: list[tuple[HourlyRate, Offer]] = []
    for offer in usable:
        rate = interruptible_rate(offer)
        if rate is not None:
            bids.append((rate, offer))
    if not bids:
        return
    rate, cheapest = min(bids, key=lambda bid: (bid[0], by_price(bid[1])))
    yield Quote(
        provider=NAME,
        gpu=gpu.name,
        vram_gb=gpu.vram_gb,
        product="interruptible",
        rate=rate,
        available=len(bids),
        stock=_stock(len(bids)),
        regions=_regions([offer for _, offer in bids]),
        source="live",
        observed_at=cheapest.observed_at,
        validated=NAME in gpu.validated_on,
        rentable=False,
        offer_id=cheapest.offer_id,
        machine_id=cheapest.machine_id,
    )


def _stock(count: int) -> Stock:
    """Vast tells offers, not stock; the words follow the count."""
    if count < 3:
        return "low"
    return "medium" if count < 10 else "high"


def _regions(offers: Iterable[Offer]) -> tuple[str, ...]:
    countries = {country_of(offer.region) for offer in offers}
    return tuple(sorted(country for country in countries if country is not None))
