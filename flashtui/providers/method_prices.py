"""Prices of a provider that has only the eleven methods: one row per class, from ``gpu_classes`` and ``hourly_rate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.errors import ProviderError
from flashtui.domain.market import PriceSheet, Quote
from flashtui.domain.money import HourlyRate

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.domain.gpu import GpuClass
    from flashtui.providers.base import Provider


class MethodPrices:
    """A price source on top of any provider; availability stays unknown."""

    def __init__(self, provider: Provider, clock: Clock) -> None:
        self._provider = provider
        self._clock = clock

    async def sheet(self) -> PriceSheet:
        """All classes of the provider, asked one after the other; a class that fails has no price.

        Raises:
            ProviderError: none could be read.
        """
        quotes: list[Quote] = []
        failures: list[Exception] = []
        for gpu in self._provider.gpu_classes():
            try:
                rate = HourlyRate.of(await self._provider.hourly_rate(gpu.name)) or None
            except (ProviderError, ValueError) as error:
                failures.append(error)
                rate = None
            quotes.append(_row(self._provider.name, gpu, rate, self._clock.now()))
        refusals = [failure for failure in failures if isinstance(failure, ProviderError)]
        if refusals and len(failures) == len(quotes):
            raise refusals[0]
        return PriceSheet(self._provider.name, tuple(quotes), self._clock.now())

    def static_sheet(self) -> PriceSheet:
        """Nothing: the eleven methods have no list without asking."""
        return PriceSheet(self._provider.name, (), None)


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
        # The eleven methods do not say where a rate comes from; one equal to the built-in price is taken for it.
        source="static" if rate == HourlyRate.of(gpu.hourly_usd) else "live",
        observed_at=now,
        validated=provider in gpu.validated_on,
        rentable=rate is not None,
    )
