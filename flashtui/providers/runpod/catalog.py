"""The catalogue of GPU types, read once for everybody who needs it: prices, pool pinning, the rate of a running worker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from flashtui.domain.errors import ProviderError

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.providers.runpod.api import RunpodApi
    from flashtui.providers.runpod.auth import KeyRing
    from flashtui.providers.runpod.wire import CatalogGpu


class Catalog:
    """The last answer with its age; concurrent readers share one request."""

    def __init__(self, api: RunpodApi, keys: KeyRing, clock: Clock) -> None:
        self._api = api
        self._keys = keys
        self._clock = clock
        self._reading = asyncio.Lock()
        self._items: tuple[CatalogGpu, ...] = ()
        self._observed_at: datetime | None = None
        self._read_at = float("-inf")

    @property
    def last(self) -> tuple[CatalogGpu, ...]:
        """The last items read, of any age; empty before the first."""
        return self._items

    async def read(self, max_age_s: float) -> tuple[tuple[CatalogGpu, ...], datetime]:
        """Items and when they arrived, not older than asked for.

        Raises:
            ProviderError: could not be read; :attr:`last` stays.
        """
        async with self._reading:
            if self._observed_at is None or self._clock.monotonic() - self._read_at > max_age_s:
                self._items, self._observed_at = await self._api.catalog(self._keys.first)
                self._read_at = self._clock.monotonic()
            return self._items, self._observed_at

    async def read_or_last(self, max_age_s: float) -> tuple[CatalogGpu, ...]:
        """As :meth:`read`, but what was last read where that fails (nothing, if never)."""
        try:
            return (await self.read(max_age_s))[0]
        except ProviderError:
            return self._items
