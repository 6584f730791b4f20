"""The default world for use as a library, where no composition root has been at work: from the process's environment."""

from __future__ import annotations

import asyncio
import json
import os
import urllib.request
from dataclasses import dataclass
from random import Random, SystemRandom  # noqa: TID251 - this is a composition root, for library use
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from flashtui.providers.registry import Registry
from flashtui.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from httpx import AsyncClient  # noqa: TID251 - only its name; net.transport builds it

    from flashtui.domain.clock import Clock
    from flashtui.providers.base import Context

_PREFIXES = ("FLASH_", "FLASHTUI_", "HF_", "XDG_")
_SUFFIXES = ("_API_KEY", "_PROXY", "_proxy")
_NAMES = frozenset({"HOME", "HF_TOKEN", "NO_COLOR"})
_CLOCK_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class Library:
    """Settings, clock and providers of the process's environment."""

    settings: Settings
    clock: Clock
    registry: Registry


_current: tuple[Mapping[str, str], Library] | None = None


def library() -> Library:
    """The default world; the same one until a variable that matters to it changes.

    Raises:
        ConfigError: ``config.toml`` cannot be read.
    """
    global _current  # noqa: PLW0603 - the seeds' registry is one per process, by contract
    relevant = _relevant(os.environ)
    if _current is None or _current[0] != relevant:
        _current = (relevant, build_library(relevant))
    return _current[1]


def build_library(env: Mapping[str, str]) -> Library:
    """A world of its own from an environment; nothing is contacted.

    Raises:
        ConfigError: ``config.toml`` cannot be read.
    """
    from flashtui.net.clocks import LoopbackClock, SystemClock

    settings = Settings.load(env)
    url = settings.clock_url
    clock: Clock = SystemClock() if url is None else LoopbackClock(lambda: _simulated_time(url))
    contexts = _contexts(settings, clock, env)
    return Library(settings, clock, Registry(contexts, preference=settings.preference))


def _relevant(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in env.items()
        if name in _NAMES or name.startswith(_PREFIXES) or name.endswith(_SUFFIXES)
    }


def _contexts(settings: Settings, clock: Clock, env: Mapping[str, str]) -> Callable[[str], Context]:
    """What each plugin is handed; httpx is imported when the first one asks."""
    from flashtui.net.pace import Pacer
    from flashtui.net.secret import Redactor

    rng: Random = SystemRandom()
    redactor = Redactor()
    pacer = Pacer(clock)

    def context_for(name: str) -> Context:
        from flashtui.net.exchange import Http
        from flashtui.providers.base import Context

        keys, token = settings.api_keys(name), settings.hf_token()
        for secret in keys if token is None else (*keys, token):
            redactor.register(secret)
        http = Http(_client_per_loop(settings, env), clock, rng, pacer, redactor)
        return Context(settings, keys, token, http, clock, rng)

    return context_for


def _client_per_loop(settings: Settings, env: Mapping[str, str]) -> Callable[[], AsyncClient]:
    """One client for each event loop, without connections that stay open: nobody is there to close them at its end."""
    clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncClient] = WeakKeyDictionary()

    def client() -> AsyncClient:
        from flashtui.net.transport import build_client

        loop = asyncio.get_running_loop()
        if loop not in clients:
            clients[loop] = build_client(loopback=settings.simulated, env=env)
            clients[loop].headers["Connection"] = "close"
        return clients[loop]

    return client


def _simulated_time(url: str) -> tuple[float, float]:
    """A simulator's present and speed; the address is on loopback, settings see to that."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=_CLOCK_TIMEOUT_S) as answer:
        told = json.load(answer)
    return float(told["now"]), float(told["speed"])
