"""Prices of RunPod, one sheet per refresh: a GraphQL query for pods and, with a key, a REST read for serverless.

The two products cost differently (serverless 1.3 to 2.8 times as much) and are never mixed. When one of the two sources
fails, the other's rows are kept and the sheet's error says which half is old.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.errors import IncompleteListing, MalformedReply, ProviderError
from flashtui.domain.gpu import UnsupportedGpuError, canonical_gpu, get_gpu_info
from flashtui.domain.market import FeedError, Freshness, PriceSheet, freshness
from flashtui.domain.money import HourlyRate
from flashtui.providers.registry import remember_rates
from flashtui.providers.runpod.auth import Access
from flashtui.providers.runpod.gpus import NATIVE
from flashtui.providers.runpod.price_list import (
    NAME,
    flex_rate,
    static_serverless,
    static_sheet,
)
from flashtui.providers.runpod.price_rows import (
    catalog_pod_quotes,
    live_serverless_rates,
    pod_quotes,
    serverless_quotes,
    unmanaged,
)
from flashtui.providers.runpod.wire_graphql import GpuType, Place
from flashtui.providers.runpod.wire_types import rows

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.market import Product, Quote
    from flashtui.providers.base import Context
    from flashtui.providers.runpod.api import RunpodApi
    from flashtui.providers.runpod.auth import KeyRing
    from flashtui.providers.runpod.catalog import Catalog

# Readers that come together (table, preview, a command) share one refresh; the shortest poll interval is longer.
_SHARED_S = 2.0


@dataclass(frozen=True, slots=True)
class _Half:
    """What one of the two sources gave: rows, or the reason why not, or rows with a reason why not all."""

    quotes: tuple[Quote, ...] = ()
    observed_at: datetime | None = None
    error: ProviderError | None = None

    @property
    def failed(self) -> bool:
        return self.observed_at is None and self.error is not None


class RunPodPrices:
    """The pricing module: a :class:`~flashtui.providers.base.PriceSource`."""

    def __init__(self, context: Context, api: RunpodApi, keys: KeyRing, catalog: Catalog) -> None:
        self._settings = context.settings
        self._clock = context.clock
        self._api = api
        self._keys = keys
        self._catalog = catalog
        self._refreshing = asyncio.Lock()
        self._sheet: PriceSheet | None = None
        self._error: ProviderError | None = None
        self._tried_at = float("-inf")

    def static_sheet(self) -> PriceSheet:
        """The dated built-in list: no I/O."""
        return static_sheet(offline=self._settings.skip_net)

    async def sheet(self) -> PriceSheet:
        """All types and both products; readers within two seconds of each other share one refresh.

        Raises:
            ProviderError: neither source could be read.
        """
        if self._settings.skip_net:
            return self.static_sheet()
        await self._refresh_if_older(_SHARED_S)
        if self._error is not None:
            raise self._error
        assert self._sheet is not None  # noqa: S101 - set by every refresh that did not fail
        return self._sheet

    async def hourly_rate(self, gpu: str) -> HourlyRate:
        """What a flex worker with one card costs per hour: live when fresh, else the published list.

        Where there is neither (no published rate), the class table's pod rate stands in. A failure to read is remembered
        for one poll interval, so that asking for every class costs one request.

        Raises:
            UnsupportedGpuError: not a class that RunPod has.
        """
        name = canonical_gpu(gpu)
        if name not in NATIVE:
            msg = f"{name} is not on RunPod; its classes are {', '.join(NATIVE)}"
            raise UnsupportedGpuError(msg)
        static = HourlyRate.of(get_gpu_info(name).hourly_usd)
        if self._settings.skip_net:
            return static
        return (await self._live_rates()).get(name) or flex_rate(name) or static

    async def _live_rates(self) -> dict[str, HourlyRate]:
        await self._refresh_if_older(self._settings.poll_seconds)
        now, interval_s = self._clock.now(), self._settings.poll_seconds
        quotes = self._sheet.quotes if self._sheet is not None else ()
        ages = ((quote, (now - quote.observed_at).total_seconds()) for quote in quotes)
        fresh = (quote for quote, age_s in ages if freshness(age_s, interval_s) is Freshness.FRESH)
        return live_serverless_rates(fresh)

    async def _refresh_if_older(self, max_age_s: float) -> None:
        async with self._refreshing:
            if self._clock.monotonic() - self._tried_at > max_age_s:
                await self._refresh()

    async def _refresh(self) -> None:
        pods, serverless = await asyncio.gather(self._pods(), self._serverless())
        self._tried_at = self._clock.monotonic()
        if pods.failed and (serverless.failed or not self._keys):
            self._error = serverless.error if _says_more(serverless.error) else pods.error
            return
        self._error = None
        if pods.failed and serverless.observed_at is not None:
            observed_at = serverless.observed_at
            pods = _Half(
                catalog_pod_quotes(self._catalog.last, observed_at), observed_at, pods.error
            )
        self._sheet = self._merged(pods, serverless)
        remember_rates(NAME, live_serverless_rates(self._sheet.quotes))

    async def _pods(self) -> _Half:
        try:
            data, trouble, observed_at = await self._api.gpu_types()
        except ProviderError as error:
            return _Half(error=error)
        types, unreadable = rows(GpuType, data.get("gpuTypes"))
        if not types:
            return _Half(error=trouble or _no_types())
        places, _ = rows(Place, data.get("dataCenters"))
        whole = trouble is None and not unreadable
        quotes = pod_quotes(types, places, observed_at, whole=whole)
        return _Half(quotes, observed_at, trouble or (None if whole else _unreadable(unreadable)))

    async def _serverless(self) -> _Half:
        if not self._keys:
            return _Half(static_serverless())
        try:
            catalog, observed_at = await self._catalog.read(_SHARED_S)
        except ProviderError as error:
            return _Half(self._last_rows("serverless") or static_serverless(), error=error)
        may_write = self._keys.access(self._keys.first) not in {Access.READ, Access.BAD}
        return _Half(serverless_quotes(catalog, observed_at, may_write=may_write), observed_at)

    def _merged(self, pods: _Half, serverless: _Half) -> PriceSheet:
        quotes = (*serverless.quotes, *pods.quotes)
        arrived = [half.observed_at for half in (pods, serverless) if half.observed_at is not None]
        parts = (("pod prices and stock", pods.error), ("serverless prices", serverless.error))
        failed = [(part, error) for part, error in parts if error is not None]
        return PriceSheet(
            provider=NAME,
            quotes=quotes,
            observed_at=max(arrived, default=None),
            unmanaged=unmanaged(quotes),
            complete=not failed,
            error=self._feed_error(failed) if failed else None,
        )

    def _feed_error(self, failed: list[tuple[str, ProviderError]]) -> FeedError:
        told = "; ".join(f"{part} are incomplete or old ({error})" for part, error in failed)
        kind = next((e.kind for _, e in failed if _says_more(e)), failed[0][1].kind)
        return FeedError(NAME, kind, told, self._clock.now())

    def _last_rows(self, product: Product) -> tuple[Quote, ...]:
        quotes = self._sheet.quotes if self._sheet is not None else ()
        return tuple(quote for quote in quotes if quote.product == product)


def _says_more(error: ProviderError | None) -> bool:
    """Whether an error is about the key, which a person can do something about."""
    return error is not None and error.kind in {"auth", "scope"}


def _no_types() -> ProviderError:
    msg = f"{NAME}: read pod prices: the answer holds no GPU types"
    return MalformedReply(msg, provider=NAME, operation="read pod prices")


def _unreadable(count: int) -> ProviderError:
    msg = f"{NAME}: read pod prices: {count} GPU types cannot be read"
    return IncompleteListing(msg, provider=NAME, operation="read pod prices")
