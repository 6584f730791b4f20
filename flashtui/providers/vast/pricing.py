"""Prices and offers of Vast's market.

Two searches: the policy's own, filtered by Vast and checked again here, feeds prices and allocation at every refresh; a wide
one, filtered by GPU alone, shows single offers with what speaks against them.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from flashtui.domain.errors import NotSent, ProviderError
from flashtui.domain.gpu import UnsupportedGpuError, canonical_gpu, get_gpu_info
from flashtui.domain.market import Freshness, PriceSheet, freshness
from flashtui.domain.money import HourlyRate
from flashtui.providers.registry import remember_rates
from flashtui.providers.vast.auth import NAME, key_of
from flashtui.providers.vast.gpus import (
    NATIVE,
    SMALLEST_VRAM_GB,
    least_reported_mb,
)
from flashtui.providers.vast.offers import offer_from_row
from flashtui.providers.vast.quotes import by_price, quotes_of, unmanaged_boards
from flashtui.providers.vast.walk import PAGE_ROWS, walk_market
from flashtui.providers.vast.wire import Query

if TYPE_CHECKING:
    from flashtui.domain.market import Offer
    from flashtui.providers.base import Context
    from flashtui.providers.vast.api import VastApi
    from flashtui.providers.vast.walk import Walked
    from flashtui.providers.vast.wire import FilterValue, Operator

    Filters = dict[str, dict[Operator, FilterValue]]

# Ten searches a minute are allowed: one refresh leaves room for the next and for a look at single offers.
_SHEET_PAGES = 6
_OFFER_PAGES = 3
# Readers that come together share one refresh.
_SHARED_S = 2.0
# A key press must not wait for a whole market to be normalised.
_ROWS_AT_ONCE = 128


class VastPrices:
    """The pricing module: a ``PriceSource`` and an ``OfferSource``.

    The public market can be read without a key; rows are then not rentable.
    """

    def __init__(self, context: Context, api: VastApi) -> None:
        self._settings = context.settings
        self._clock = context.clock
        self._has_key = key_of(context) is not None
        self._api = api
        self._refreshing = asyncio.Lock()
        self._sheet: PriceSheet | None = None
        self._error: ProviderError | None = None
        self._tried_at = float("-inf")

    def static_sheet(self) -> PriceSheet:
        """Empty: a market has no list prices, and those of the class table are RunPod's."""
        return PriceSheet(NAME, (), None)

    async def sheet(self) -> PriceSheet:
        """Every class that Vast has, priced for the disk of the rules; readers that come together share one refresh.

        Raises:
            ProviderError: the market could not be read.
        """
        await self._refresh_if_older(_SHARED_S)
        if self._error is not None:
            raise self._error
        assert self._sheet is not None  # noqa: S101 - set by every refresh that did not fail
        return self._sheet

    async def offers(
        self,
        *,
        gpu: str | None = None,
        min_vram_gb: int | None = None,
        disk_gb: int = 60,
        limit: int = 100,
    ) -> tuple[Offer, ...]:
        """Single offers, cheapest first, those that the rules would not rent included with their reasons.

        Args:
            gpu: a class in any spelling, or Vast's own name of a board that is not managed; None: all.
            min_vram_gb: least memory of one card, GB.
            disk_gb: the disk that prices include, GB.
            limit: most offers.

        Raises:
            ProviderError: the market could not be read.
        """
        self._refuse_offline("search offers")
        filters: Filters = {"rentable": {"eq": True}}
        name = _canonical(gpu) if gpu is not None else None
        if gpu is not None:
            if name is not None and name not in NATIVE:
                return ()
            filters["gpu_name"] = {"eq": NATIVE[name] if name is not None else gpu.strip()}
        floor_gb = max(min_vram_gb or 0, get_gpu_info(name).vram_gb if name is not None else 0)
        if floor_gb:
            filters["gpu_ram"] = {"gte": least_reported_mb(floor_gb)}
        query = Query(
            filters=filters, limit=max(1, min(limit, PAGE_ROWS)), allocated_storage=disk_gb
        )
        walked = await walk_market(self._api, query, most_pages=_OFFER_PAGES, enough=limit)
        found = [
            offer
            for offer in await self._normalised(walked, disk_gb)
            if (name is None or offer.gpu == name) and offer.vram_gb >= (min_vram_gb or 0)
        ]
        return tuple(found[:limit])

    async def usable_offers(self, gpus: frozenset[str], disk_gb: int) -> tuple[Offer, ...]:
        """What the policy would rent now of some classes, cheapest first: one fresh search by the policy.

        Raises:
            ProviderError: the market could not be read.
        """
        self._refuse_offline("search offers")
        floor_gb = min((get_gpu_info(gpu).vram_gb for gpu in gpus), default=SMALLEST_VRAM_GB)
        filters = self._policy_filters(disk_gb, floor_gb)
        if gpus:
            filters["gpu_name"] = {"in": tuple(sorted({NATIVE[gpu] for gpu in gpus}))}
        query = Query(filters=filters, limit=PAGE_ROWS, allocated_storage=disk_gb)
        walked = await walk_market(self._api, query, most_pages=_OFFER_PAGES)
        found = await self._normalised(walked, disk_gb)
        return tuple(offer for offer in found if offer.usable and (not gpus or offer.gpu in gpus))

    async def hourly_rate(self, gpu: str) -> HourlyRate:
        """One card of the cheapest usable offer: live when fresh, else the class table's price.

        A failure to read is remembered for one poll interval, so that asking for every class costs one search.

        Raises:
            UnsupportedGpuError: not a class that Vast has.
        """
        name = canonical_gpu(gpu)
        if name not in NATIVE:
            msg = f"{name} is not on Vast; its classes are {', '.join(NATIVE)}"
            raise UnsupportedGpuError(msg)
        static = HourlyRate.of(get_gpu_info(name).hourly_usd)
        if self._settings.skip_net:
            return static
        await self._refresh_if_older(self._settings.poll_seconds)
        return self._fresh_rates().get(name, static)

    async def _refresh_if_older(self, max_age_s: float) -> None:
        async with self._refreshing:
            if self._clock.monotonic() - self._tried_at > max_age_s:
                await self._refresh()

    async def _refresh(self) -> None:
        try:
            self._sheet, self._error = await self._read_sheet(), None
        except ProviderError as error:
            self._error = error
        self._tried_at = self._clock.monotonic()

    async def _read_sheet(self) -> PriceSheet:
        self._refuse_offline("read prices")
        disk_gb = self._settings.rules.disk_gb
        query = Query(
            filters=self._policy_filters(disk_gb, SMALLEST_VRAM_GB),
            limit=PAGE_ROWS,
            allocated_storage=disk_gb,
        )
        walked = await walk_market(self._api, query, most_pages=_SHEET_PAGES)
        offers = await self._normalised(walked, disk_gb)
        observed_at = walked.observed_at or self._clock.now()
        quotes = quotes_of(
            offers, observed_at=observed_at, complete=walked.complete, can_rent=self._has_key
        )
        remember_rates(NAME, {q.gpu: q.rate for q in quotes if q.rate and q.product == "instance"})
        return PriceSheet(
            provider=NAME,
            quotes=quotes,
            observed_at=observed_at,
            offers=offers,
            unmanaged=unmanaged_boards(offers),
            complete=walked.complete,
            skipped=walked.skipped,
        )

    def _policy_filters(self, disk_gb: int, floor_gb: int) -> Filters:
        rules = self._settings.rules
        filters: Filters = {
            "rentable": {"eq": True},
            "num_gpus": {"eq": 1},
            "gpu_ram": {"gte": least_reported_mb(floor_gb)},
            "reliability2": {"gte": rules.reliability},
            "disk_space": {"gte": max(disk_gb, rules.disk_gb)},
            "inet_down": {"gte": rules.inet_down_mbps},
        }
        if rules.verified:
            filters["verified"] = {"eq": True}
        if rules.datacenter:
            filters["datacenter"] = {"eq": True}
        return filters

    async def _normalised(self, walked: Walked, disk_gb: int) -> tuple[Offer, ...]:
        rules = self._settings.rules
        if walked.skipped:
            logging.getLogger(__name__).warning(
                "vast: %d entries of the market could not be read", walked.skipped
            )
        found: list[Offer] = []
        for row, observed_at in walked.rows.values():
            found.append(offer_from_row(row, rules, disk_gb, observed_at))
            if len(found) % _ROWS_AT_ONCE == 0:
                await self._clock.sleep(0)
        return tuple(sorted(found, key=by_price))

    def _fresh_rates(self) -> dict[str, HourlyRate]:
        now, interval_s = self._clock.now(), self._settings.poll_seconds
        quotes = self._sheet.quotes if self._sheet is not None else ()
        return {
            quote.gpu: quote.rate
            for quote in quotes
            if quote.rate is not None
            and quote.product == "instance"
            and freshness((now - quote.observed_at).total_seconds(), interval_s) is Freshness.FRESH
        }

    def _refuse_offline(self, operation: str) -> None:
        if self._settings.skip_net:
            msg = f"{NAME}: {operation}: FLASH_SKIP_NET is set, so the market is not asked; unset it to go online"
            offline = NotSent(msg, provider=NAME, operation=operation)
            offline.kind = "not_applicable"
            raise offline


def _canonical(gpu: str) -> str | None:
    try:
        return canonical_gpu(gpu)
    except UnsupportedGpuError:
        return None
