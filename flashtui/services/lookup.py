"""Price sheets: one refresh of one provider, and what stands when a refresh fails."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from flashtui.domain.errors import ProviderError
from flashtui.domain.market import FeedError, PriceSheet
from flashtui.domain.text import clean
from flashtui.providers.method_prices import MethodPrices

if TYPE_CHECKING:
    from flashtui.domain.clock import Clock
    from flashtui.providers.base import Plugin


async def ask_sheet(plugin: Plugin, clock: Clock) -> PriceSheet:
    """The provider's own table; for one that has only the eleven methods, its classes at their hourly rates.

    Raises:
        ProviderError: it could not be read.
    """
    return await (plugin.prices or MethodPrices(plugin.provider, clock)).sheet()


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
            return await ask_sheet(plugin, clock)
    except ProviderError as error:
        failure = FeedError(name, error.kind, clean(error, 300), clock.now())
    except TimeoutError:
        failure = FeedError(
            name, "timeout", f"{name} did not answer within {deadline_s:.0f} s", clock.now()
        )
    return standing_sheet(name, plugin, last, failure)
