"""What every command works with, built once from settings and closed in order."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random, SystemRandom
from typing import TYPE_CHECKING

from flashtui.bootstrap.logs import log_to
from flashtui.domain.errors import ConfigError
from flashtui.net.clocks import LoopbackClock, SystemClock
from flashtui.net.exchange import Http
from flashtui.net.pace import Pacer
from flashtui.net.secret import Redactor
from flashtui.net.urls import checked_base_url
from flashtui.providers.base import Context
from flashtui.providers.registry import Registry
from flashtui.settings import is_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from flashtui.domain.clock import Clock
    from flashtui.net.transport import Client
    from flashtui.settings import Settings

_BASE_URLS = {
    "FLASHTUI_VAST_URL": "vast_url",
    "FLASHTUI_RUNPOD_GRAPHQL_URL": "runpod_graphql_url",
    "FLASHTUI_RUNPOD_REST_URL": "runpod_rest_url",
    "FLASHTUI_RUNPOD_JOBS_URL": "runpod_jobs_url",
    "HF_ENDPOINT": "hf_endpoint",
}


@dataclass(frozen=True, slots=True)
class Tools:
    """The injected world of one process."""

    settings: Settings
    clock: Clock
    rng: Random
    redactor: Redactor
    http: Http
    registry: Registry


@asynccontextmanager
async def open_tools(settings: Settings, env: Mapping[str, str]) -> AsyncIterator[Tools]:
    """Build what every command needs; nothing is contacted.

    Args:
        settings: loaded from ``env``.
        env: for proxy and certificate variables.

    Raises:
        ConfigError: a base URL would send a key in the clear, or the simulator named by ``FLASHTUI_CLOCK_URL`` is gone.
    """
    for name, attribute in _BASE_URLS.items():
        checked_base_url(name, getattr(settings, attribute))
    async with AsyncExitStack() as stack:
        clock = _clock(settings, stack)
        rng = SystemRandom()
        redactor = Redactor()
        stack.callback(log_to(settings.log_file, redactor))
        pacer = Pacer(clock)
        http = Http(_client_on_first_use(settings, env, stack), clock, rng, pacer, redactor)

        def context_for(name: str) -> Context:
            keys = settings.api_keys(name)
            for secret in (*keys, settings.hf_token()):
                if secret is not None:
                    redactor.register(secret)
            return Context(settings, keys, settings.hf_token(), http, clock, rng)

        registry = Registry(context_for, preference=settings.preference)
        yield Tools(settings, clock, rng, redactor, http, registry)


def _clock(settings: Settings, stack: AsyncExitStack) -> Clock:
    if settings.clock_url is None:
        return SystemClock()
    from flashtui.bootstrap.simclock import SimClockReader

    try:
        reader = SimClockReader(settings.clock_url)
    except (OSError, ValueError, KeyError) as error:
        msg = f"the simulator at {settings.clock_url} does not answer ({error}); start `flashtui sim`, or unset FLASHTUI_CLOCK_URL"
        raise ConfigError(msg) from error
    stack.callback(reader.close)
    return LoopbackClock(reader.read)


class _ClientOnFirstUse:
    """Builds the one client when the first request is made: a command that asks nobody pays for none."""

    def __init__(self, settings: Settings, env: Mapping[str, str]) -> None:
        self._loopback = all(is_loopback(getattr(settings, a)) for a in _BASE_URLS.values())
        self._env = env
        self.client: Client | None = None

    def __call__(self) -> Client:
        if self.client is None:
            from flashtui.net.transport import build_client

            self.client = build_client(loopback=self._loopback, env=self._env)
        return self.client

    async def aclose(self) -> None:
        if self.client is not None:
            await self.client.aclose()


def _client_on_first_use(
    settings: Settings, env: Mapping[str, str], stack: AsyncExitStack
) -> _ClientOnFirstUse:
    maker = _ClientOnFirstUse(settings, env)
    stack.push_async_callback(maker.aclose)
    return maker
