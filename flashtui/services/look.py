"""One look at everything that is rented, for one-shot commands: the store, and one listing of each provider."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.errors import ProviderError, StoreError
from flashtui.domain.market import FeedError
from flashtui.domain.text import clean
from flashtui.services.money import burn_of
from flashtui.services.run_rows import RowSources, run_rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping
    from typing import TypeVar

    from flashtui.domain.clock import Clock
    from flashtui.domain.market import Account
    from flashtui.domain.run import Inventory, Run
    from flashtui.providers.base import Plugin
    from flashtui.services.board import Burn, RunRow
    from flashtui.store import Store, Tables

    T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_DEADLINE_S = 15.0


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen."""

    runs: tuple[Run, ...]
    rows: tuple[RunRow, ...]
    accounts: tuple[Account, ...]
    burn: Burn
    errors: tuple[FeedError, ...]


async def look(
    store: Store,
    plugins: Mapping[str, Plugin],
    clock: Clock,
    *,
    record: bool,
    deadline_s: float = _DEADLINE_S,
) -> Look:
    """Read the store, ask every configured provider once, and put both beside each other.

    Args:
        store: this user's.
        plugins: those that may be asked.
        clock: the present.
        record: keep what was seen in the store.
        deadline_s: real seconds for each question.

    Raises:
        StoreError: the store cannot be read.
    """
    asked = await asyncio.gather(
        *(_ask(name, plugin, clock, deadline_s) for name, plugin in plugins.items())
    )
    inventories = [inventory for inventory, _, _ in asked if inventory is not None]
    accounts = {account.provider: account for _, account, _ in asked if account is not None}

    def keep(tables: Tables) -> None:
        for inventory in inventories:
            tables.runs.mark_seen(inventory.resources)
        for account in accounts.values():
            tables.prices.save_account(account)

    if record and (inventories or accounts):
        try:
            await store.write(keep)
        except StoreError as error:
            _LOG.warning("what was seen is not kept: %s", error)
    now = clock.now()
    runs, operations, kept = await store.run(
        lambda tables: (tables.runs.list(), tables.operations.since(now), tables.prices.accounts())
    )
    rows = run_rows(RowSources(runs, inventories, operations), now)
    known = {account.provider: account for account in kept} | accounts
    errors = tuple(error for _, _, errors in asked for error in errors)
    return Look(runs, rows, tuple(known.values()), burn_of(rows, runs, now), errors)


async def _ask(
    name: str, plugin: Plugin, clock: Clock, deadline_s: float
) -> tuple[Inventory | None, Account | None, list[FeedError]]:
    errors: list[FeedError] = []
    inventory = account = None
    if plugin.inventory is not None:
        inventory = await _one(name, plugin.inventory.inventory(), clock, errors, deadline_s)
    if plugin.account is not None:
        account = await _one(name, plugin.account.account(), clock, errors, deadline_s)
    return inventory, account, errors


async def _one(
    name: str,
    question: Awaitable[T],
    clock: Clock,
    errors: list[FeedError],
    deadline_s: float,
) -> T | None:
    try:
        async with asyncio.timeout(deadline_s):
            return await question
    except ProviderError as error:
        errors.append(FeedError(name, error.kind, clean(error, 300), clock.now()))
    except TimeoutError:
        errors.append(
            FeedError(
                name, "timeout", f"{name} did not answer within {deadline_s:g} s", clock.now()
            )
        )
    return None
