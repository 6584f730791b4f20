"""Complete listings of an account; whoever needs a new one at the same time shares it.

A proof of absence needs a listing that was asked for after the teardown; twenty teardowns at once can share one.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.providers.runpod.api import RunpodApi
    from flashtui.providers.runpod.auth import Key, KeyRing
    from flashtui.providers.runpod.wire import Endpoint, Pod

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Listed(Generic[_Item]):
    """One complete listing, and when the answer was in."""

    items: tuple[_Item, ...]
    at: datetime


class SharedListing(Generic[_Item]):
    """One kind of listing under one key."""

    def __init__(self, read: Callable[[], Awaitable[tuple[_Item, ...]]], clock: Clock) -> None:
        self._read = read
        self._clock = clock
        self._reading = asyncio.Lock()
        self._asked = 0
        self._answered = 0
        self._last: Listed[_Item] | None = None

    async def fresh(self) -> Listed[_Item]:
        """A listing that is asked for after this call began, by this caller or by another who waits for one.

        Raises:
            ProviderError: it could not be read whole.
        """
        wanted = self._asked + 1
        async with self._reading:
            if self._last is None or self._answered < wanted:
                self._asked += 1
                number = self._asked
                items = await self._read()
                self._answered = number
                self._last = Listed(items, self._clock.now())
            return self._last


class Listings:
    """The listings of endpoints and of pods, for each key."""

    def __init__(self, api: RunpodApi, keys: KeyRing, clock: Clock) -> None:
        self._api = api
        self._keys = keys
        self._clock = clock
        self._endpoints: dict[str, SharedListing[Endpoint]] = {}
        self._pods: dict[str, SharedListing[Pod]] = {}

    async def endpoints(self, key: Key) -> Listed[Endpoint]:
        """Every endpoint of a key's account."""

        async def read() -> tuple[Endpoint, ...]:
            found = await self._api.endpoints(key)
            self._keys.saw(key, (endpoint.id for endpoint in found))
            return found

        shared = self._endpoints.setdefault(key.fingerprint, SharedListing(read, self._clock))
        return await shared.fresh()

    async def pods(self, key: Key) -> Listed[Pod]:
        """Every pod of a key's account."""

        async def read() -> tuple[Pod, ...]:
            found = await self._api.pods(key)
            self._keys.saw(key, (pod.id for pod in found))
            return found

        shared = self._pods.setdefault(key.fingerprint, SharedListing(read, self._clock))
        return await shared.fresh()
