"""Contexts for use as a library: built from the process's environment, where no composition root has been at work."""

from __future__ import annotations

import asyncio
import os
from random import Random, SystemRandom  # noqa: TID251 - this is a composition root, for library use
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from flashtui.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpx import AsyncClient  # noqa: TID251 - only its name; net.transport builds it

    from flashtui.providers.base import Context


def context_factory() -> Callable[[str], Context]:
    """What every plugin of the default registry is handed, from ``os.environ``.

    Raises:
        ConfigError: ``config.toml`` cannot be read.
    """
    from flashtui.net.clocks import SystemClock
    from flashtui.net.exchange import Http
    from flashtui.net.pace import Pacer
    from flashtui.net.secret import Redactor
    from flashtui.providers.base import Context

    settings = Settings.load(os.environ)
    clock = SystemClock()
    rng: Random = SystemRandom()
    redactor = Redactor()
    http = Http(_client_per_loop(loopback=settings.simulated), clock, rng, Pacer(clock), redactor)

    def context_for(name: str) -> Context:
        keys = settings.api_keys(name)
        for secret in (*keys, settings.hf_token()):
            if secret is not None:
                redactor.register(secret)
        return Context(settings, keys, settings.hf_token(), http, clock, rng)

    return context_for


def _client_per_loop(*, loopback: bool) -> Callable[[], AsyncClient]:
    """One client for each event loop: pooled connections cannot outlive the loop that opened them."""
    clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncClient] = WeakKeyDictionary()

    def client() -> AsyncClient:
        from flashtui.net.transport import build_client

        loop = asyncio.get_running_loop()
        if loop not in clients:
            clients[loop] = build_client(loopback=loopback)
        return clients[loop]

    return client
