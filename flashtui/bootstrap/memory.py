"""The last good prices, kept between one-shot commands in the store; a store that fails only costs the memory."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from flashtui.domain.errors import StoreError
from flashtui.store import Store, reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtui.domain.market import PriceSheet
    from flashtui.settings import Settings
    from flashtui.store import Tables

_LOG = logging.getLogger(__name__)


class PriceMemory:
    """Reads and keeps sheets."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def load(self) -> dict[str, PriceSheet]:
        """The kept sheets by provider, their live rows marked ``cached``; nothing is created when there is no store."""
        try:
            with reading(self._settings.db_file) as tables:
                return {} if tables is None else tables.prices.load_sheets()
        except StoreError as error:
            _LOG.warning("remembered prices: %s", error)
            return {}

    async def save(self, sheets: Sequence[PriceSheet]) -> None:
        """Keep these sheets."""
        if not sheets or self._settings.read_only:
            return

        def keep(tables: Tables) -> None:
            for sheet in sheets:
                tables.prices.save_sheet(sheet)

        store = Store(self._settings.db_file, timeout_s=self._settings.db_timeout_s)
        try:
            await store.write(keep)
        except StoreError as error:
            _LOG.warning("prices are not remembered: %s", error)
        finally:
            await store.close()
