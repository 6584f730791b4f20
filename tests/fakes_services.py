"""Stand-ins for what services work with: providers that follow a script, a store without a thread, a disk that fails."""

from __future__ import annotations

import asyncio
import contextlib
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from flashtui.domain.errors import ProviderError, StoreError
from flashtui.domain.gpu import GpuClass, get_gpu_info
from flashtui.domain.market import Account, PriceSheet
from flashtui.domain.run import Inventory, JobHandle, Observation, PollResult, Resource
from flashtui.providers.base import Plugin
from flashtui.providers.registry import Registry
from flashtui.services.session import Session
from flashtui.settings import Settings
from flashtui.store import Store
from tests import build
from tests.fakes import FakeClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from flashtui.domain.job import JobSpec
    from flashtui.domain.market import Offer
    from flashtui.providers.base import Context

T = TypeVar("T")


class InlineOwner:
    """Runs store work at once, in the caller's thread; ``broken`` is what a failing disk says."""

    def __init__(self) -> None:
        self.broken = ""

    async def run(self, work: Callable[[], T]) -> T:
        if self.broken:
            raise StoreError(self.broken)
        return work()

    async def close(self, last: Callable[[], None]) -> None:
        last()


@dataclass
class FakeProvider:
    """Destroys and cancels as the script says, and remembers what it was asked.

    Attributes:
        script: outcomes of destroy and cancel, in order; the last one stays. None: done; a callable is awaited first.
        takes_s: seconds of the clock that each of them takes.
        witness: looks at the world at the moment of being asked.
    """

    clock: FakeClock
    name: str = "vast"
    configured: bool = True
    script: list[Exception | None] = field(default_factory=lambda: [None])
    takes_s: float = 0.0
    rates: dict[str, float | Exception] = field(default_factory=lambda: {"H100": 1.89})
    asked: list[tuple[str, JobHandle, float]] = field(default_factory=list)
    witness: Callable[[], Awaitable[None]] | None = None

    def is_configured(self) -> bool:
        return self.configured

    def preflight(self, require_hf: bool = True) -> list[str]:
        return []

    def gpu_classes(self) -> list[GpuClass]:
        return [get_gpu_info(name) for name in self.rates]

    async def hourly_rate(self, gpu: str) -> float:
        found = self.rates[gpu]
        if isinstance(found, Exception):
            raise found
        return found

    async def submit_run(
        self,
        spec: JobSpec,
        seed: int,
        *,
        log: Callable[[Observation], None] | None = None,
        on_handle: Callable[[JobHandle], Awaitable[None]] | None = None,
        attempt: int = 0,
        offers: Sequence[Offer] | None = None,
        exclude_machine_ids: AbstractSet[str] = frozenset(),
    ) -> PollResult:
        return PollResult(ok=False)

    async def poll(
        self,
        handle: JobHandle,
        spec: JobSpec,
        seed: int,
        *,
        log: Callable[[Observation], None] | None = None,
    ) -> PollResult:
        return PollResult(ok=False)

    async def cancel(self, handle: JobHandle) -> None:
        await self._play("cancel", handle)

    async def destroy(self, handle: JobHandle) -> None:
        await self._play("destroy", handle)

    async def gc(self, spec: JobSpec) -> None:
        return None

    async def sweep_orphans(self, active_labels: AbstractSet[str] | None = None) -> list[str]:
        return []

    async def _play(self, what: str, handle: JobHandle) -> None:
        self.asked.append((what, handle, self.clock.elapsed_s))
        if self.witness is not None:
            await self.witness()
        if self.takes_s:
            await self.clock.sleep(self.takes_s)
        outcome = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if outcome is not None:
            raise outcome


class Scripted:
    """A source of answers, in order; the last one stays; an exception is raised."""

    def __init__(self, *answers: object) -> None:
        self.answers: list[object] = list(answers)
        self.asked_at: list[float] = []
        self.clock: FakeClock | None = None

    def next(self) -> Any:
        self.asked_at.append(self.clock.elapsed_s if self.clock else 0.0)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class FakePrices(Scripted):
    """A price source."""

    def __init__(self, *answers: object, static: PriceSheet | None = None) -> None:
        super().__init__(*answers)
        self._static = static or PriceSheet("vast", (), None)

    async def sheet(self) -> PriceSheet:
        return self.next()  # type: ignore[no-any-return]

    def static_sheet(self) -> PriceSheet:
        return self._static


class FakeInventory(Scripted):
    """A listing; resources stand for the complete listing of them, at the clock's present."""

    async def inventory(self) -> Inventory:
        answer = self.next()
        if isinstance(answer, Inventory):
            return answer
        assert self.clock is not None
        now = self.clock.now()
        return Inventory(
            "vast", tuple(_seen(r, now) for r in answer), complete=True, observed_at=now
        )


def _seen(resource: Resource, now: Any) -> Resource:
    from dataclasses import replace

    return replace(resource, observed_at=now)


class FakeAccount(Scripted):
    """Money with a provider."""

    async def account(self) -> Account:
        return self.next()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Entry:
    """An installed provider."""

    name: str
    plugin: Plugin | Exception
    value: str = "tests.fakes_services:plugin"

    def load(self) -> Callable[[Context], Plugin]:
        def made(_: Context) -> Plugin:
            if isinstance(self.plugin, Exception):
                raise self.plugin
            return self.plugin

        return made


def registry(*plugins: Plugin, broken: Exception | None = None) -> Registry:
    """What is installed: these, and one that cannot be loaded."""
    entries = [Entry(p.provider.name, p) for p in plugins]
    if broken is not None:
        entries.append(Entry("broken", broken))
    return Registry(lambda _: None, entry_points=entries)  # type: ignore[arg-type, return-value]


@dataclass
class World:
    """Everything a session of the tests consists of; several sessions can share its file and its provider."""

    path: Path
    clock: FakeClock = field(default_factory=lambda: FakeClock(auto=False))
    prices: FakePrices | None = None
    inventory: FakeInventory | None = None
    account: FakeAccount | None = None
    env: dict[str, str] = field(default_factory=dict)
    broken_plugin: Exception | None = None
    emergencies: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.provider = FakeProvider(self.clock)
        self.owner = InlineOwner()
        self.inventory = self.inventory or FakeInventory((build.resource(),))

    @property
    def db_file(self) -> Path:
        return self.path / "flashtui.db"

    def store(self) -> Store:
        return Store(self.db_file, timeout_s=0.0, owner=self.owner)

    def registry(self) -> Registry:
        for source in (self.prices, self.inventory, self.account):
            if source is not None:
                source.clock = self.clock
        plugin = Plugin(
            self.provider, prices=self.prices, inventory=self.inventory, account=self.account
        )
        return registry(plugin, broken=self.broken_plugin)

    def settings(self) -> Settings:
        return Settings.load(self.env, home=self.path)

    def session(self, seed: int = 1) -> Session:
        return Session(
            self.settings(),
            self.registry(),
            self.store(),
            self.clock,
            random.Random(seed),
            emergency=self.emergencies.append,
        )

    @contextlib.asynccontextmanager
    async def running(self, seed: int = 1, *, feeds: bool = False) -> AsyncIterator[Session]:
        """A session; on leaving, the clock goes on by itself until the session has ended."""
        session = self.session(seed)
        await session.__aenter__()
        if feeds:
            session.start_feeds()
            await self.clock.advance(0)
        try:
            yield session
        finally:
            await self.end(session)

    async def end(self, session: Session) -> None:
        ending = asyncio.ensure_future(session.__aexit__(None, None, None))
        await self.clock.advance(0)
        while not ending.done():
            await self.clock.advance(1)
        await ending

    async def record(self, *runs: Any) -> None:
        await self.store().write(lambda tables: [tables.runs.add(run) for run in runs])


def failure(message: str = "vast: no answer", kind: Any = "network") -> ProviderError:
    """A failure of the provider of a given kind."""
    error = ProviderError(message, provider="vast")
    error.kind = kind
    return error
