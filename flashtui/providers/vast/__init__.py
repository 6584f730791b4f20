"""Vast: single instances of a market of verified data centres, over its REST API."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.providers.base import Context, Plugin, Provider

    PROVIDER: Provider

__all__ = ["PROVIDER", "plugin"]


def plugin(context: Context) -> Plugin:
    """Build the provider and its sources; no I/O."""
    from flashtui.providers.base import Plugin
    from flashtui.providers.vast.api import VastApi
    from flashtui.providers.vast.follow import Follower
    from flashtui.providers.vast.gpus import NATIVE
    from flashtui.providers.vast.inventory import VastInventory
    from flashtui.providers.vast.jobs import Jobs
    from flashtui.providers.vast.pricing import VastPrices
    from flashtui.providers.vast.provider import VastProvider
    from flashtui.providers.vast.sweep import Sweeper
    from flashtui.providers.vast.teardown import Teardown

    api = VastApi(context)
    prices = VastPrices(context, api)
    teardown = Teardown(context, api)
    follower = Follower(context, api)
    jobs = Jobs(context, api, prices, follower, teardown)
    sweeper = Sweeper(context, api, teardown)
    inventory = VastInventory(context, api)
    return Plugin(
        provider=VastProvider(context, prices, jobs, follower, teardown, sweeper),
        prices=prices,
        offers=prices,
        inventory=inventory,
        account=inventory,
        native_names=NATIVE,
    )


def __getattr__(name: str) -> object:
    if name == "PROVIDER":
        from flashtui.providers.registry import default_plugin

        return default_plugin("vast").provider
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
