"""One running session: feeds that read the world, operations that outlive the screen, and the board they fill."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Self, TypeVar

from flashtui.domain.clock import Deadline
from flashtui.domain.errors import StoreError
from flashtui.services.board import Board
from flashtui.services.control import Control
from flashtui.services.feed import Feed
from flashtui.services.known import MOST_EVENTS, RECENT, Known
from flashtui.services.lookup import ask_sheet, standing_sheet
from flashtui.services.supervise import kept_alive, outcome
from flashtui.services.waiting import sleep_or_wake
from flashtui.store.audit import StoredAlert

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only
    from collections.abc import Awaitable, Callable, Coroutine
    from types import TracebackType

    from flashtui.domain.clock import Clock
    from flashtui.domain.market import PriceSheet
    from flashtui.domain.run import Run
    from flashtui.providers.base import AccountSource, InventorySource, Plugin
    from flashtui.providers.registry import Registry
    from flashtui.services.plan import PlanJob
    from flashtui.settings import Settings
    from flashtui.store import Store, Tables

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_INVENTORY_S = 15.0
_ACCOUNT_S = 60.0
_STORE_S = 1.0
# Alerts and freshness change with time alone.
_TICK_S = 5.0
_RECOVERY_S = 15.0
_FORGET_EVERY = timedelta(hours=1)
DRAIN_S = 30.0


class Session:
    """What a dashboard or a command works with.

    Leaving the block ends the feeds at once, gives operations under way a bounded time to be proven, and closes the
    store; what is not proven by then is taken up by the next session.

    Args:
        settings: of this process.
        registry: who is installed.
        store: where runs and operations are kept; it need not be usable.
        clock: stamps and waits.
        rng: jitter and ids.
        emergency: told what could not be recorded, one line each; None: standard error.
    """

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        store: Store,
        clock: Clock,
        rng: random.Random,
        *,
        emergency: Callable[[str], None] | None = None,
    ) -> None:
        self.clock = clock
        self._settings = settings
        self._registry = registry
        self._store = store
        self._rng = rng
        self._feeds: list[Feed] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._operations: set[asyncio.Task[object]] = set()
        self._dirty = asyncio.Event()
        self._stored_changed = True
        self._token: tuple[int, int, int] | None = None
        self._forgot_at = clock.now()
        self.known = Known(settings, clock)
        self.board = Board(self.known.snapshot([], {}))
        self.control = Control(
            store,
            registry,
            clock,
            rng,
            spawn=self._own,
            changed=self._operation_changed,
            fallback=settings.state_dir / "audit-fallback.jsonl",
            read_only=settings.read_only,
            shown=self.known.handle,
            emergency=emergency,
        )

    async def __aenter__(self) -> Self:
        await self._load_kept()
        await self._ask_recovery()
        self._publish()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await _ended(self._tasks)
            await self._drain()
        finally:
            await _ended(self._operations)
            await outcome(self._left(), "leaving", expected=(StoreError,))

    @property
    def exit_code(self) -> int:
        """0; 3 when an operation of this session is not proven."""
        return 3 if self.control.driver.any_open else 0

    def start_feeds(self) -> None:
        """Begin to read the world."""
        for name, plugin in self._registry.plugins().items():
            self._add_provider(name, plugin)
        for why in self._registry.failures.values():
            self.known.note("alert", why)
        self._feeds.append(self._feed("", "store", self._ask_store, _STORE_S, quiet=True))
        self._feeds.append(self._feed("", "recovery", self._ask_recovery, _RECOVERY_S, quiet=True))
        for feed in self._feeds:
            self._start(feed.run, f"{feed.provider} {feed.source}".strip())
        self._start(self._publish_for_ever, "board")

    def set_job(self, job: PlanJob) -> None:
        """Let the preview follow another job."""
        self.known.preview.job = job
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
        self._add(name, "prices", self._ask_prices(name, plugin), self._settings.poll_seconds)
        if self._settings.skip_net:
            return
        if not plugin.provider.is_configured():
            self.known.no_key[name] = self._settings.key_problem(name) or "no key"
            return
        if plugin.inventory is not None:
            self._add(name, "inventory", self._ask_inventory(name, plugin.inventory), _INVENTORY_S)
        if plugin.account is not None:
            self._add(name, "account", self._ask_account(name, plugin.account), _ACCOUNT_S)

    def _add(
        self, provider: str, source: str, ask: Callable[[], Awaitable[None]], interval_s: float
    ) -> None:
        self._feeds.append(self._feed(provider, source, ask, interval_s))

    def _feed(
        self,
        provider: str,
        source: str,
        ask: Callable[[], Awaitable[None]],
        interval_s: float,
        *,
        quiet: bool = False,
    ) -> Feed:
        return Feed(
            provider,
            source,
            ask,
            clock=self.clock,
            rng=self._rng,
            interval_s=interval_s,
            # Our own sources say for themselves when something has changed: an idle second draws nothing.
            changed=(lambda: None) if quiet else self._dirty.set,
        )

    def _ask_prices(self, name: str, plugin: Plugin) -> Callable[[], Awaitable[None]]:
        async def ask() -> None:
            sheet = await ask_sheet(plugin, self.clock)
            self.known.sheets[name] = sheet
            if sheet.observed_at is not None:
                await self._keep_prices(sheet)

        return ask

    async def _keep_prices(self, sheet: PriceSheet) -> None:
        now = self.clock.now()
        forget = now - self._forgot_at > _FORGET_EVERY
        if forget:
            self._forgot_at = now

        def keep(tables: Tables) -> None:
            tables.prices.save_sheet(sheet)
            tables.prices.sample(sheet)
            if forget:
                tables.prices.forget(now)

        await self._keep(keep)

    def _ask_inventory(self, name: str, source: InventorySource) -> Callable[[], Awaitable[None]]:
        async def ask() -> None:
            inventory = await source.inventory()
            self.known.inventories[name] = inventory
            if await self._keep(lambda tables: tables.runs.mark_seen(inventory.resources)):
                self._stored_changed = True

        return ask

    def _ask_account(self, name: str, source: AccountSource) -> Callable[[], Awaitable[None]]:
        async def ask() -> None:
            account = await source.account()
            self.known.accounts[name] = account
            await self._keep(lambda tables: tables.prices.save_account(account))

        return ask

    async def _ask_store(self) -> None:
        """Read again when anybody has written: a run started in another terminal shows up here."""
        before = self.known.store_error
        try:
            if self.control.ledger.unsaved:
                await self.control.ledger.catch_up()
                self.known.write_error = ""
        except StoreError as error:
            self.known.write_error = f"{self.control.ledger.unsaved} steps not saved yet: {error}"
        try:
            token = await self._store.token()
            if token != self._token or self._stored_changed:
                self._stored_changed = False
                await self._load_runs()
                self._token = token
                self._dirty.set()
            self.known.read_error = ""
        except StoreError as error:
            self._stored_changed = True
            self.known.read_error = str(error)
        if self.known.store_error != before:
            self._dirty.set()

    async def _ask_recovery(self) -> None:
        """Take up what a process that has ended left open."""
        try:
            await self.control.recover()
        except StoreError as error:
            self.known.read_error = str(error)

    async def _load_runs(self) -> None:
        recent = self.clock.now() - RECENT
        self.control.driver.forget_before(recent)

        def read(tables: Tables) -> None:
            self.known.runs = tables.runs.list()
            self.known.operations = tables.operations.since(recent)
            self.known.stored_events = tables.events.recent(MOST_EVENTS)

        await self._store.run(read)

    async def _load_kept(self) -> None:
        def read(tables: Tables) -> None:
            self.known.sheets = tables.prices.load_sheets()
            self.known.accounts = {a.provider: a for a in tables.prices.accounts()}
            alerts = tables.alerts.list()
            self.known.since = {alert.key: alert.since for alert in alerts}
            self.known.acknowledged = frozenset(alert.key for alert in alerts if alert.acknowledged)

        try:
            await self._store.run(read)
            await self._load_runs()
        except StoreError as error:
            self.known.read_error = str(error)

    async def _keep(self, work: Callable[[Tables], T]) -> T | None:
        """Write what was learnt; a store that fails costs the memory, not the dashboard."""
        if self._settings.read_only:
            return None
        try:
            kept = await self._store.write(work)
        except StoreError as error:
            self.known.write_error = str(error)
            return None
        if not self.control.ledger.unsaved:
            self.known.write_error = ""
        return kept

    def _operation_changed(self) -> None:
        self.known.own_operations = self.control.driver.operations
        self._stored_changed = True
        for feed in self._feeds:
            if feed.source == "store":
                feed.refresh()
        self._dirty.set()

    async def _publish_for_ever(self) -> None:
        kept: frozenset[tuple[str, str, bool]] = frozenset()
        while True:
            await sleep_or_wake(self.clock, _TICK_S, self._dirty)
            self._dirty.clear()
            self._publish()
            alerts = self.board.snapshot.alerts
            now_up = frozenset((a.key, a.severity, a.acknowledged) for a in alerts)
            if now_up != kept:
                kept = now_up
                await self._keep_alerts()

    async def _keep_alerts(self) -> None:
        up = {a.key: a for a in self.board.snapshot.alerts}
        stored = [
            StoredAlert(a.key, a.severity, a.text, a.since, a.acknowledged) for a in up.values()
        ]
        # Of an earlier session's, what may be up still but has not been heard of yet.
        waiting = [
            StoredAlert(key, "info", "", since, key in self.known.acknowledged)
            for key, since in self.known.since.items()
            if key not in up
        ]
        await self._keep(lambda tables: tables.alerts.replace([*stored, *waiting]))

    def _publish(self) -> None:
        health = [feed.health for feed in self._feeds if feed.source != "recovery"]
        try:
            snapshot = self.known.snapshot(health, self._registry.plugins())
        except Exception:  # noqa: BLE001 - a fault in one computation must not freeze every pane for ever
            _LOG.exception("the snapshot could not be made")
            return
        self.board.put(snapshot)

    def _own(self, work: Coroutine[None, None, None]) -> None:
        """Run an operation that closing the screen does not end."""
        task: asyncio.Task[object] = asyncio.ensure_future(outcome(work, "operation"))
        self._operations.add(task)
        task.add_done_callback(self._operations.discard)

    def _start(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        def crashed(sentence: str) -> None:
            self.known.note("alert", sentence)
            self._dirty.set()

        task = asyncio.ensure_future(kept_alive(name, work, self.clock, crashed))
        task.set_name(name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drain(self) -> None:
        """Skip graces, give operations time for their proof, then leave the rest to the next session."""
        deadline = Deadline.after(self.clock, DRAIN_S)
        driver = self.control.driver
        driver.hasten_all()
        while self._operations and not deadline.passed(self.clock):
            if driver.all_parked:
                return
            await driver.step(deadline.remaining_s(self.clock))

    async def _left(self) -> None:
        try:
            await self.control.release()
        finally:
            await self._store.close()


async def _ended(tasks: set[asyncio.Task[T]]) -> None:
    """Cancel these and wait until they have ended."""
    left = tuple(tasks)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
