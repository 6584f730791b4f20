"""Prices of a provider that has only the eleven methods: one row per class, from ``gpu_classes`` and ``hourly_rate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.gpu import UnsupportedGpuError
from flashtui.domain.market import PriceSheet, Quote
from flashtui.domain.money import HourlyRate

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.domain.gpu import GpuClass
    from flashtui.providers.base import Provider


class MethodPrices:
    """A price source on top of any provider; availability stays unknown.

    ``hourly_rate`` does not say whether its number is live or from a list, so the rows are ``cached``.
    """

    def __init__(self, provider: Provider, clock: Clock) -> None:
        self._provider = provider
        self._clock = clock

    async def sheet(self) -> PriceSheet:
        """All classes of the provider, asked one after the other.

        Raises:
            ProviderError: could not be read.
        """
        quotes = [await self._quote(gpu) for gpu in self._provider.gpu_classes()]
        return PriceSheet(self._provider.name, tuple(quotes), self._clock.now())

    def static_sheet(self) -> PriceSheet:
        """Nothing: the eleven methods have no list without asking."""
        return PriceSheet(self._provider.name, (), None)

    async def _quote(self, gpu: GpuClass) -> Quote:
        rate = await self._rate(gpu.name)
        return _row(self._provider.name, gpu, rate, self._clock.now())

    async def _rate(self, gpu: str) -> HourlyRate | None:
        try:
            return HourlyRate.of(await self._provider.hourly_rate(gpu)) or None
        except (UnsupportedGpuError, ValueError):
            return None


def _row(provider: str, gpu: GpuClass, rate: HourlyRate | None, now: datetime) -> Quote:
    return Quote(
        provider=provider,
        gpu=gpu.name,
        vram_gb=gpu.vram_gb,
        product="instance",
        rate=rate,
        available=None,
        stock="unknown",
        regions=(),
        source="cached",
        observed_at=now,
        validated=provider in gpu.validated_on,
        rentable=rate is not None,
    )
