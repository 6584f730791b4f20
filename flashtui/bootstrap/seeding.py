"""Records ``flashtui.runs/1`` items in a store: for ``import``, and for the scenario's runs of a simulated home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.domain.errors import ConfigError
from flashtui.net.clocks import SystemClock
from flashtui.settings import Settings
from flashtui.store import Store
from flashtui.store.imports import run_from_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from flashtui.store import Tables


async def seed_store(env: Mapping[str, str], items: Iterable[Mapping[str, Any]]) -> int:
    """Record the runs of a scenario in the store of a simulated environment; returns how many there were."""
    return await import_items(Settings.load(env), items, SystemClock().now())


async def import_items(
    settings: Settings, items: Iterable[Mapping[str, Any]], now: datetime
) -> int:
    """Record items; all of them or, when one is not a run, none.

    Raises:
        ConfigError: an item is not a run.
        StoreError: the store could not be written.
    """
    try:
        runs = [run_from_item(item, now) for item in items]
    except ValueError as error:
        raise ConfigError(str(error)) from error

    def record(tables: Tables) -> None:
        for run in runs:
            tables.runs.upsert(run, now)

    store = Store(settings.db_file, timeout_s=settings.db_timeout_s)
    try:
        await store.write(record)
    finally:
        await store.close()
    return len(runs)
