"""Opens a session, or takes one look, with the tools of this process."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from flashtui.services.look import look
from flashtui.services.session import Session
from flashtui.store import Store

__all__ = ["Session", "look_at_runs", "open_session"]

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from flashtui.bootstrap.tools import Tools
    from flashtui.services.look import Look


@asynccontextmanager
async def open_session(
    tools: Tools, *, emergency: Callable[[str], None] | None = None
) -> AsyncIterator[Session]:
    """A session on this user's store; leaving it drains operations, for a bounded time.

    Args:
        tools: of this process.
        emergency: told what could not be recorded; None: standard error, which is the screen of a dashboard.
    """
    settings = tools.settings
    store = Store(settings.db_file, timeout_s=settings.db_timeout_s)
    async with Session(
        settings, tools.registry, store, tools.clock, tools.rng, emergency=emergency
    ) as session:
        yield session


async def look_at_runs(tools: Tools) -> Look:
    """The store, and one listing of every provider that has a key.

    Raises:
        StoreError: the store cannot be read.
    """
    settings = tools.settings
    plugins = {} if settings.skip_net else tools.registry.plugins()
    asked = {name: plugin for name, plugin in plugins.items() if plugin.provider.is_configured()}
    store = Store(settings.db_file, timeout_s=settings.db_timeout_s)
    try:
        return await look(store, asked, tools.clock, record=not settings.read_only)
    finally:
        await store.close()
