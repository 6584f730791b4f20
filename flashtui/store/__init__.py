"""SQLite behind one owner thread; the only layer that knows SQL."""

from __future__ import annotations

from flashtui.store.store import DEFAULT_TIMEOUT_S, Store, Tables, reading

__all__ = ["DEFAULT_TIMEOUT_S", "Store", "Tables", "reading"]
