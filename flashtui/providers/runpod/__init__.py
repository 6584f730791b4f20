"""RunPod: serverless endpoints that run one job each, pod prices for comparison, and whatever else the account rents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.providers.base import Context, Plugin, Provider

    PROVIDER: Provider

__all__ = ["PROVIDER", "plugin"]


def plugin(context: Context) -> Plugin:
    """Build the provider and its sources; no I/O."""
    from flashtui.providers.base import Plugin
    from flashtui.providers.runpod.account import RunPodAccount
    from flashtui.providers.runpod.api import RunpodApi
    from flashtui.providers.runpod.auth import KeyRing
    from flashtui.providers.runpod.catalog import Catalog
    from flashtui.providers.runpod.follow import Follower
    from flashtui.providers.runpod.gpus import NATIVE
    from flashtui.providers.runpod.inventory import RunPodInventory
    from flashtui.providers.runpod.jobs import Jobs
    from flashtui.providers.runpod.listings import Listings
    from flashtui.providers.runpod.pricing import RunPodPrices
    from flashtui.providers.runpod.provider import RunPodProvider
    from flashtui.providers.runpod.teardown import Means

    keys = KeyRing(context.keys)
    api = RunpodApi(context.settings, context.http, keys)
    listings = Listings(api, keys, context.clock)
    catalog = Catalog(api, keys, context.clock)
    prices = RunPodPrices(context, api, keys, catalog)
    means = Means(api, keys, listings, context.clock, context.rng, context.confirm_within_s)
    jobs = Jobs(context, catalog, means, Follower(means, catalog))
    return Plugin(
        provider=RunPodProvider(context, keys, prices, jobs, means),
        prices=prices,
        inventory=RunPodInventory(api, keys, listings, catalog, context.clock),
        account=RunPodAccount(api, keys, context.clock),
        native_names=NATIVE,
    )


def __getattr__(name: str) -> object:
    if name == "PROVIDER":
        from flashtui.providers.registry import default_plugin

        return default_plugin("runpod").provider
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
