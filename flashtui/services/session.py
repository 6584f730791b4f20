"""One running session: feeds that read the world, operations that outlive the screen, and the board they fill."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Self

from flashtui.domain.errors import StoreError
from flashtui.services.board import Board
from flashtui.services.control import Control
from flashtui.services.feed import Feed, sleep_or_wake
from flashtui.services.known import Known
from flashtui.services.lookup import ask_sheet, standing_sheet
from flashtui.store.audit import StoredAlert

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only
    from collections.abc import Callable, Coroutine
    from types import TracebackType

    from flashtui.domain.clock import Clock
    from flashtui.domain.run import Run
    from flashtui.providers.base import Plugin
    from flashtui.providers.registry import Registry
    from flashtui.services.plan import PlanJob
    from flashtui.settings import Settings
    from flashtui.store import Store, Tables

_LOG = logging.getLogger(__name__)
_INVENTORY_S = 15.0
_ACCOUNT_S = 60.0
_STORE_S = 1.0
# Alerts and freshness change with time alone.
_TICK_S = 5.0
_RECOVERY_S = 15.0
_DRAIN_S = 30.0


class Session:
    """What a dashboard or a command works with.

    Leaving the block ends the feeds at once, gives operations under way a bounded time to be proven, and closes the
    store; what is not proven by then is taken up by the next session.
    """

    def __init__(
        self, settings: Settings, registry: Registry, store: Store, clock: Clock, rng: random.Random
    ) -> None:
        self.clock = clock
        self._settings = settings
        self._registry = registry
        self._store = store
        self._rng = rng
        self._feeds: list[Feed] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._operations: set[asyncio.Task[None]] = set()
        self._dirty = asyncio.Event()
        self.known = Known(settings, clock)
        self.board = Board(self.known.snapshot([]))
        self.control = Control(
            store,
            registry,
            clock,
            rng,
            spawn=self._own,
            changed=self._reload_soon,
            fallback=settings.state_dir / "audit-fallback.jsonl",
            read_only=settings.read_only,
        )
        self._reload = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._load_kept()
        try:
            await self.control.recover()
        except StoreError as error:
            self.known.store_error = str(error)
        self._publish()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._drain()
        await self._store.close()

    @property
    def exit_code(self) -> int:
        """0; 3 when an operation of this session is not proven."""
        return 3 if self.control.driver.any_unconfirmed else 0

    def start_feeds(self) -> None:
        """Begin to read the world."""
        for name, plugin in self._registry.plugins().items():
            self._add_provider(name, plugin)
        self._feeds.append(self._feed("", "store", self._ask_store, _STORE_S))
        self._feeds.append(self._feed("", "recovery", self._ask_recovery, _RECOVERY_S))
        for feed in self._feeds:
            self._start(feed.run(), f"{feed.provider}-{feed.source}")
        self._start(self._publish_for_ever(), "board")

    def set_job(self, job: PlanJob) -> None:
        """Let the preview follow another job."""
        self.known.job = job
        self._dirty.set()

    def refresh(self) -> None:
        """Ask all sources now, also those that a bad key had stopped; operations that wait try again."""
        for feed in self._feeds:
            feed.refresh()
        self.control.driver.hasten_all()

    def acknowledge(self, alert_key: str) -> None:
        """Take an alert off the alert line."""
        self.known.acknowledged |= {alert_key}
        self._dirty.set()
        self._start(self._keep_alerts(), "alerts")

    async def runs(self) -> tuple[Run, ...]:
        """What the store knows now.

        Raises:
            StoreError: it cannot be read.
        """
        return await self._store.run(lambda tables: tables.runs.list())

    def _add_provider(self, name: str, plugin: Plugin) -> None:
        has_static = plugin.prices is not None and bool(plugin.prices.static_sheet().quotes)
        if self._settings.skip_net and not has_static:
            self.known.switched_off[name] = "offline (FLASH_SKIP_NET is set)"
            return
        if name not in self.known.sheets:
            self.known.sheets[name] = standing_sheet(name, plugin, None, None)

        async def prices() -> None:
            await self._ask_prices(name, plugin)

        self._feeds.append(self._feed(name, "prices", prices, self._settings.poll_seconds))
        if self._settings.skip_net:
            return
        if not plugin.provider.is_configured():
            self.known.no_key[name] = self._settings.key_problem(name) or "no key"
            return
        if plugin.inventory is not None:
            self._feeds.append(
                self._feed(
                    name, "inventory", lambda: self._ask_inventory(name, plugin), _INVENTORY_S
                )
            )
        if plugin.account is not None:
            self._feeds.append(
                self._feed(name, "account", lambda: self._ask_account(name, plugin), _ACCOUNT_S)
            )

    def _feed(
        self,
        provider: str,
        source: str,
        ask: Callable[[], Coroutine[None, None, None]],
        interval_s: float,
    ) -> Feed:
        return Feed(
            provider,
            source,
            ask,
            clock=self.clock,
            rng=self._rng,
            interval_s=interval_s,
            changed=self._dirty.set,
        )

    async def _ask_prices(self, name: str, plugin: Plugin) -> None:
        sheet = await ask_sheet(name, plugin, self.clock)
        self.known.sheets[name] = sheet
        if sheet.observed_at is not None:
            await self._keep(lambda tables: tables.prices.save_sheet(sheet))

    async def _ask_inventory(self, name: str, plugin: Plugin) -> None:
        assert_source = plugin.inventory
        if assert_source is None:
            return
        inventory = await assert_source.inventory()
        self.known.inventories[name] = inventory
        seen = await self._keep(lambda tables: tables.runs.mark_seen(inventory.resources))
        if seen:
            self._reload.set()

    async def _ask_account(self, name: str, plugin: Plugin) -> None:
        source = plugin.account
        if source is None:
            return
        account = await source.account()
        self.known.accounts[name] = account
        await self._keep(lambda tables: tables.prices.save_account(account))

    async def _ask_store(self) -> None:
        """Read again when anybody has written: a run started in another terminal shows up here."""
        try:
            token = await self._store.token()
            if token != self.known.store_token or self._reload.is_set():
                self._reload.clear()
                await self._load_runs()
                self.known.store_token = token
            self.known.store_error = ""
        except StoreError as error:
            self.known.store_error = str(error)

    async def _ask_recovery(self) -> None:
        """Take up what a process that has ended left open."""
        if not self.known.store_error:
            await self.control.recover()

    async def _load_runs(self) -> None:
        now = self.clock.now()

        def read(tables: Tables) -> None:
            self.known.runs = tables.runs.list()
            self.known.operations = tables.operations.since(self.known.recent(now))
            self.known.stored_events = tables.events.recent(200)

        await self._store.run(read)

    async def _load_kept(self) -> None:
        def read(tables: Tables) -> None:
            self.known.sheets = dict(tables.prices.load_sheets())
            self.known.accounts = {
                account.provider: account for account in tables.prices.accounts()
            }
            alerts = tables.alerts.list()
            self.known.since = {alert.key: alert.since for alert in alerts}
            self.known.acknowledged = frozenset(alert.key for alert in alerts if alert.acknowledged)

        try:
            await self._store.run(read)
            await self._load_runs()
        except StoreError as error:
            self.known.store_error = str(error)

    async def _keep(self, work: Callable[[Tables], object]) -> object:
        """Write what was learnt; a store that fails costs the memory, not the dashboard."""
        if self._settings.read_only:
            return None
        try:
            return await self._store.write(work)
        except StoreError as error:
            self.known.store_error = str(error)
            return None

    async def _keep_alerts(self) -> None:
        alerts = [
            StoredAlert(a.key, a.severity, a.text, a.since, a.acknowledged)
            for a in self.board.snapshot.alerts
        ]
        await self._keep(lambda tables: tables.alerts.replace(alerts))

    def _reload_soon(self) -> None:
        self._reload.set()
        for feed in self._feeds:
            if feed.source == "store":
                feed.refresh()
        self._dirty.set()

    async def _publish_for_ever(self) -> None:
        while True:
            await sleep_or_wake(self.clock, _TICK_S, self._dirty)
            self._dirty.clear()
            before = {(a.key, a.acknowledged) for a in self.board.snapshot.alerts}
            self._publish()
            if {(a.key, a.acknowledged) for a in self.board.snapshot.alerts} != before:
                await self._keep_alerts()

    def _publish(self) -> None:
        try:
            health = [feed.health for feed in self._feeds if feed.source != "recovery"]
            self.board.put(self.known.snapshot(health, self._registry))
        except Exception:  # noqa: BLE001 - see below
            # A fault in one computation must not freeze every pane for ever: the next change tries again.
            _LOG.exception("snapshot")

    def _own(self, work: Coroutine[None, None, None]) -> None:
        """Run an operation that closing the screen does not end."""
        task = asyncio.ensure_future(work)
        self._operations.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._operations.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("operation ended by a fault", exc_info=task.exception())

    def _start(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.ensure_future(work)
        task.set_name(name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drain(self) -> None:
        """Skip graces, give operations time for their proof, then leave the rest to the next session."""
        if not self._operations:
            return
        self.control.driver.hasten_all()
        _, unfinished = await asyncio.wait(self._operations, timeout=_DRAIN_S)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
