"""Plugins made by hand: a provider with the eleven methods, sources that answer or fail, entry points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashtui.domain.errors import ProviderError
from flashtui.domain.gpu import GPU_CLASSES, GpuClass, UnsupportedGpuError
from flashtui.domain.market import Offer, PriceSheet
from flashtui.domain.run import JobHandle, PollResult
from flashtui.providers.base import Plugin
from tests.fakes import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashtui.providers.base import Context
    from flashtui.settings import Settings


class HandMadeProvider:
    """The eleven methods, no network."""

    def __init__(
        self, name: str, *, configured: bool = True, rates: dict[str, float] | None = None
    ) -> None:
        self._name = name
        self._configured = configured
        self._rates = rates or {}

    @property
    def name(self) -> str:
        return self._name

    def is_configured(self) -> bool:
        return self._configured

    def preflight(self, require_hf: bool = True) -> list[str]:
        return []

    def gpu_classes(self) -> list[GpuClass]:
        return [gpu for gpu in GPU_CLASSES if gpu.name in self._rates]

    async def hourly_rate(self, gpu: str) -> float:
        if self._rates[gpu] < 0:
            msg = f"{gpu} is not ours"
            raise UnsupportedGpuError(msg)
        return self._rates[gpu]

    async def submit_run(self, spec: Any, seed: int, **_: Any) -> PollResult:
        raise NotImplementedError

    async def poll(self, handle: JobHandle, spec: Any, seed: int, **_: Any) -> PollResult:
        raise NotImplementedError

    async def cancel(self, handle: JobHandle) -> None: ...

    async def destroy(self, handle: JobHandle) -> None: ...

    async def gc(self, spec: Any) -> None: ...

    async def sweep_orphans(self, active_labels: Any = None) -> list[str]:
        return []


@dataclass
class HandMadePrices:
    """A price source that counts how often it is asked."""

    live: PriceSheet | ProviderError
    static: PriceSheet
    asked: int = 0

    async def sheet(self) -> PriceSheet:
        self.asked += 1
        if isinstance(self.live, ProviderError):
            raise self.live
        return self.live

    def static_sheet(self) -> PriceSheet:
        return self.static


@dataclass
class HandMadeOffers:
    """A market that remembers what it was searched for."""

    found: tuple[Offer, ...] | ProviderError
    searches: list[dict[str, Any]] = field(default_factory=list)

    async def offers(
        self,
        *,
        gpu: str | None = None,
        min_vram_gb: int | None = None,
        disk_gb: int = 60,
        limit: int = 100,
    ) -> tuple[Offer, ...]:
        self.searches.append({"gpu": gpu, "min_vram_gb": min_vram_gb, "disk_gb": disk_gb})
        if isinstance(self.found, ProviderError):
            raise self.found
        return tuple(o for o in self.found if gpu in {None, o.gpu})


@dataclass(frozen=True)
class HandMadeEntry:
    """An entry point whose plugin is made by ``make``."""

    name: str
    make: Callable[[Any], Any]
    value: str = "somewhere:plugin"

    def load(self) -> Callable[[Context], Plugin]:
        return self.make


def entry(plugin: Plugin, value: str = "somewhere:plugin") -> HandMadeEntry:
    return HandMadeEntry(plugin.provider.name, lambda _: plugin, value)


@dataclass(frozen=True)
class HandMadeWorld:
    """What the allocator needs of a world."""

    settings: Settings
    registry: Any
    clock: FakeClock = field(default_factory=FakeClock)
