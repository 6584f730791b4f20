"""Price sheets: one refresh of one provider, and what stands when a refresh fails."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from flashtui.domain.errors import ProviderError
from flashtui.domain.market import FeedError, PriceSheet, Quote
from flashtui.domain.money import HourlyRate
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.domain.gpu import GpuClass
    from flashtui.providers.base import Plugin


async def ask_sheet(name: str, plugin: Plugin, clock: Clock) -> PriceSheet:
    """The provider's own table; for one that has only the eleven methods, its classes at their hourly rates.

    Raises:
        ProviderError: it could not be read.
    """
    if plugin.prices is not None:
        return await plugin.prices.sheet()
    quotes: list[Quote] = []
    failures: list[Exception] = []
    for gpu in plugin.provider.gpu_classes():
        try:
            rate = HourlyRate.of(await plugin.provider.hourly_rate(gpu.name))
        except (ProviderError, ValueError) as error:
            failures.append(error)
            rate = None
        quotes.append(_plain_quote(name, gpu, rate, clock.now()))
    refusals = [failure for failure in failures if isinstance(failure, ProviderError)]
    if refusals and len(failures) == len(quotes):
        raise refusals[0]
    return PriceSheet(name, tuple(quotes), clock.now())


def _plain_quote(name: str, gpu: GpuClass, rate: HourlyRate | None, now: datetime) -> Quote:
    return Quote(
        provider=name,
        gpu=gpu.name,
        vram_gb=gpu.vram_gb,
        product="instance",
        rate=rate or None,
        available=None,
        stock="unknown",
        regions=(),
        # The eleven methods do not say where a rate comes from; one equal to the built-in price is taken for it.
        source="static" if rate == HourlyRate.of(gpu.hourly_usd) else "live",
        observed_at=now,
        validated=name in gpu.validated_on,
        rentable=False,
    )


def standing_sheet(
    name: str, plugin: Plugin, last: PriceSheet | None, error: FeedError | None
) -> PriceSheet:
    """What is shown while the newest attempt has failed, or before the first: the last good rows, else the built-in list."""
    if last is not None and last.quotes:
        return replace(last, error=error)
    if plugin.prices is not None:
        return replace(plugin.prices.static_sheet(), error=error)
    return PriceSheet(name, (), None, error=error)


async def refresh_sheet(
    name: str,
    plugin: Plugin,
    clock: Clock,
    *,
    last: PriceSheet | None = None,
    deadline_s: float = 30.0,
) -> PriceSheet:
    """One refresh for a one-shot command; never raises: a failure is the sheet's ``error`` beside older rows."""
    try:
        async with asyncio.timeout(deadline_s):
            return await ask_sheet(name, plugin, clock)
    except ProviderError as error:
        failure = FeedError(name, error.kind, clean(error, 300), clock.now())
    except TimeoutError:
        failure = FeedError(
            name, "timeout", f"{name} did not answer within {deadline_s:.0f} s", clock.now()
        )
    return standing_sheet(name, plugin, last, failure)
