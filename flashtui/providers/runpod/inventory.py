"""Everything an account rents, with states and rates: endpoints and pods of every key, each listing whole or an error."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.errors import ProviderError
from flashtui.domain.run import Inventory
from flashtui.providers.runpod.auth import no_key
from flashtui.providers.runpod.replies import NAME
from flashtui.providers.runpod.resources import Rates, endpoint_resource, pod_resource

if TYPE_CHECKING:
    from flashtui.domain.clock import Clock
    from flashtui.domain.run import Resource
    from flashtui.providers.runpod.api import RunpodApi
    from flashtui.providers.runpod.auth import Key, KeyRing
    from flashtui.providers.runpod.catalog import Catalog
    from flashtui.providers.runpod.listings import Listings
    from flashtui.providers.runpod.wire import Endpoint, Worker
    from flashtui.providers.runpod.wire_jobs import Health, WorkerCounts

_AT_ONCE = 8
_RATES_AGE_S = 600.0
# Worker details cost a request of the small REST budget each: so many a time, and again only when the counts change.
_DETAILS_PER_LISTING = 6
_DETAILS_AGE_S = 300.0


@dataclass(frozen=True, slots=True)
class _Details:
    counts: WorkerCounts
    workers: tuple[Worker, ...]
    read_at: float


class RunPodInventory:
    """An :class:`~flashtui.providers.base.InventorySource`."""

    def __init__(
        self,
        api: RunpodApi,
        keys: KeyRing,
        listings: Listings,
        catalog: Catalog,
        clock: Clock,
    ) -> None:
        self._api = api
        self._keys = keys
        self._listings = listings
        self._catalog = catalog
        self._clock = clock
        self._details: dict[str, _Details] = {}

    async def inventory(self) -> Inventory:
        """Endpoints and pods under every key.

        With several keys, one that cannot be read leaves the listing incomplete (it may show, never prove); when none can
        be read, that is an error.

        Raises:
            ProviderError: nothing could be read whole.
        """
        if not self._keys:
            raise no_key()
        rates = Rates.of(await self._catalog.read_or_last(_RATES_AGE_S))
        answers = await asyncio.gather(*(self._of_key(key, rates) for key in self._keys.keys))
        errors = [answer for answer in answers if isinstance(answer, ProviderError)]
        if len(errors) == len(answers):
            raise errors[0]
        found: dict[str, Resource] = {}
        for answer in answers:
            if not isinstance(answer, ProviderError):
                # Two keys of one account list the same things; the first key is as good an owner as the second.
                found = {r.resource_id: r for r in answer} | found
        return Inventory(
            provider=NAME,
            resources=tuple(found.values()),
            complete=not errors,
            observed_at=self._clock.now(),
            problem="; ".join(str(error) for error in errors),
        )

    async def _of_key(self, key: Key, rates: Rates) -> tuple[Resource, ...] | ProviderError:
        try:
            endpoints = await self._listings.endpoints(key)
            pods = await self._listings.pods(key)
        except ProviderError as error:
            return error
        healths = await self._healths(key, endpoints.items)
        found = [pod_resource(pod, key, pods.at) for pod in pods.items]
        details_left = _DETAILS_PER_LISTING
        for endpoint, health in zip(endpoints.items, healths, strict=True):
            workers: tuple[Worker, ...] = ()
            if health is not None and health.workers is not None and health.workers.granted:
                workers, asked = await self._workers(
                    key, endpoint, health.workers, may_ask=details_left > 0
                )
                details_left -= asked
            found.append(endpoint_resource(endpoint, key, health, workers, rates, endpoints.at))
        self._forget_all_but({endpoint.id for endpoint in endpoints.items}, key)
        return tuple(found)

    async def _healths(self, key: Key, endpoints: tuple[Endpoint, ...]) -> list[Health | None]:
        room = asyncio.Semaphore(_AT_ONCE)

        async def of(endpoint: Endpoint) -> Health | None:
            async with room:
                try:
                    return await self._api.health(key, endpoint.id)
                except ProviderError:
                    return None  # not known, which is not the same as no workers

        return list(await asyncio.gather(*(of(endpoint) for endpoint in endpoints)))

    async def _workers(
        self, key: Key, endpoint: Endpoint, counts: WorkerCounts, *, may_ask: bool
    ) -> tuple[tuple[Worker, ...], int]:
        """The workers of an endpoint, and how many requests that took."""
        known = self._details.get(endpoint.id)
        now = self._clock.monotonic()
        if known is not None and known.counts == counts and now - known.read_at < _DETAILS_AGE_S:
            return known.workers, 0
        if not may_ask:
            return (), 0
        try:
            workers = await self._api.workers(key, endpoint.id)
        except ProviderError:
            return (), 1
        self._details[endpoint.id] = _Details(counts, workers, now)
        return workers, 1

    def _forget_all_but(self, endpoint_ids: set[str], key: Key) -> None:
        gone = [
            endpoint_id
            for endpoint_id in self._details
            if endpoint_id not in endpoint_ids
            and self._keys.owner_of({}, endpoint_id) == key.fingerprint
        ]
        for endpoint_id in gone:
            del self._details[endpoint_id]
