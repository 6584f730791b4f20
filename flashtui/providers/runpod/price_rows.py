"""From wire models to price rows, purely: which of RunPod's figures is a price, and for what.

A figure counts only where its cloud's flag is true and it is above zero: RunPod prints 0, 0.5 or something stale for clouds
in which it does not offer the type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.gpu import is_validated
from flashtui.domain.market import Quote
from flashtui.domain.money import HourlyRate
from flashtui.domain.text import clean
from flashtui.providers.runpod.gpus import SENTINEL, class_of_id, stock_from_text
from flashtui.providers.runpod.price_list import NAME
from flashtui.providers.runpod.wire import DataCenterStock
from flashtui.providers.runpod.wire_graphql import GpuStock
from flashtui.providers.runpod.wire_types import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from decimal import Decimal

    from flashtui.domain.market import Product, Stock
    from flashtui.providers.runpod.wire import CatalogGpu
    from flashtui.providers.runpod.wire_graphql import GpuType, Place

COMMUNITY = "community cloud"
_OFFERED: frozenset[Stock] = frozenset({"high", "medium", "low"})


def pod_quotes(
    types: Iterable[GpuType], places: Iterable[Place], observed_at: datetime, *, whole: bool
) -> tuple[Quote, ...]:
    """Pod rows from GraphQL: the secure-cloud price; the community price only for what secure cloud does not have.

    Args:
        types: all GPU types.
        places: data centres with their stock.
        observed_at: when they arrived.
        whole: the answer had no errors beside it; otherwise a null proves nothing about stock.
    """
    by_place = _places_with_stock(places)
    return _unique(
        _pod_quote(gpu, by_place.get(gpu.id, ()), observed_at, whole=whole)
        for gpu in types
        if gpu.id.lower() != SENTINEL
    )


def catalog_pod_quotes(catalog: Iterable[CatalogGpu], observed_at: datetime) -> tuple[Quote, ...]:
    """Pod rows from REST, for when GraphQL does not answer: prices without stock."""
    return _unique(
        _quote(
            item.id,
            item.memory,
            "pod",
            _price(item.price.secure if item.price else None, offered=item.secure),
            observed_at,
        )
        for item in catalog
        if item.id.lower() != SENTINEL
    )


def serverless_quotes(
    catalog: Iterable[CatalogGpu], observed_at: datetime, *, may_write: bool
) -> tuple[Quote, ...]:
    """Serverless rows from REST: the rate of a flex worker.

    A managed class outside every pool keeps its row, so that it is seen not to be rentable; its availability is RunPod's
    word for something that cannot be deployed and is not passed on.
    """
    return _unique(
        _serverless_quote(item, observed_at, may_write=may_write)
        for item in catalog
        if item.id.lower() != SENTINEL and (item.pool is not None or class_of_id(item.id))
    )


def live_serverless_rates(quotes: Iterable[Quote]) -> dict[str, HourlyRate]:
    """Class to rate, of the live serverless rows that have one."""
    return {
        quote.gpu: quote.rate
        for quote in quotes
        if quote.product == "serverless"
        and quote.source == "live"
        and quote.managed
        and quote.rate is not None
    }


def unmanaged(quotes: Iterable[Quote]) -> dict[str, int]:
    """Types that are not managed, by RunPod's name; each counts once."""
    return dict.fromkeys((quote.gpu for quote in quotes if not quote.managed), 1)


def _serverless_quote(item: CatalogGpu, observed_at: datetime, *, may_write: bool) -> Quote:
    places, _ = rows(DataCenterStock, item.data_centers or [])
    is_deployable = item.pool is not None
    return _quote(
        item.id,
        item.memory,
        "serverless",
        _price(item.price.serverless if item.price else None, offered=is_deployable),
        observed_at,
        stock=stock_from_text(item.availability) if is_deployable else "none",
        regions=tuple(p.id for p in places if p.id and stock_from_text(p.availability) in _OFFERED)
        if is_deployable
        else (),
        rentable=is_deployable and may_write,
    )


def _pod_quote(
    gpu: GpuType, places: tuple[str, ...], observed_at: datetime, *, whole: bool
) -> Quote:
    secure = _price(gpu.secure_price, offered=gpu.secure_cloud)
    community = _price(gpu.community_price, offered=gpu.community_cloud)
    if gpu.secure_cloud is False and community is not None:
        return _quote(gpu.id, gpu.memory_gb, "pod", community, observed_at, regions=(COMMUNITY,))
    stock = _pod_stock(gpu, whole=whole)
    rate = None if stock == "none" else secure
    return _quote(gpu.id, gpu.memory_gb, "pod", rate, observed_at, stock=stock, regions=places)


def _pod_stock(gpu: GpuType, *, whole: bool) -> Stock:
    if "lowest_price" not in gpu.model_fields_set or not (whole or gpu.lowest_price):
        return "unknown"
    lowest = gpu.lowest_price
    if lowest is None or (lowest.uninterruptable_price is None and lowest.stock_status is None):
        return "none"
    return stock_from_text(lowest.stock_status)


def _places_with_stock(places: Iterable[Place]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for place in places:
        stocks, _ = rows(GpuStock, place.gpu_availability or [])
        for stock in stocks:
            if place.id and stock.gpu_type_id and stock_from_text(stock.stock_status) in _OFFERED:
                found.setdefault(stock.gpu_type_id, []).append(place.id)
    return {gpu_id: tuple(dict.fromkeys(ids)) for gpu_id, ids in found.items()}


def _price(usd: Decimal | None, *, offered: bool | None) -> HourlyRate | None:
    if offered is not True or usd is None or usd <= 0:
        return None
    return HourlyRate.of(usd)


def _quote(
    gpu_id: str,
    memory_gb: int | None,
    product: Product,
    rate: HourlyRate | None,
    observed_at: datetime,
    *,
    stock: Stock = "unknown",
    regions: tuple[str, ...] = (),
    rentable: bool = False,
) -> Quote:
    known = class_of_id(gpu_id)
    return Quote(
        provider=NAME,
        gpu=known.name if known else clean(gpu_id, limit=60),
        vram_gb=known.vram_gb if known else memory_gb or 0,
        product=product,
        rate=rate,
        available=0 if stock == "none" else None,
        stock=stock,
        regions=regions,
        source="live",
        observed_at=observed_at,
        validated=known is not None and is_validated(known.name, NAME),
        rentable=rentable,
        managed=known is not None,
    )


def _unique(quotes: Iterable[Quote]) -> tuple[Quote, ...]:
    """One row per name: RunPod has listed a type twice, under spellings that differ in blanks."""
    found: Mapping[str, Quote] = {}
    for quote in quotes:
        found = found if quote.gpu in found else {**found, quote.gpu: quote}
    return tuple(found.values())
