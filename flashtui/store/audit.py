"""The audit trail (append-only, the database refuses anything else), the events pane's lines, and alerts that are up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.operation import AuditEntry
from flashtui.store.columns import moment, stamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from datetime import datetime

_MOST_EVENTS = 2000


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """Something that happened."""

    at: datetime
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class StoredAlert:
    """A state that wants attention."""

    key: str
    severity: str
    text: str
    since: datetime
    acknowledged: bool


class AuditRepo:
    """The table ``audit`` inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, entry: AuditEntry) -> None:
        """Append one line."""
        self._connection.execute(
            "INSERT INTO audit (at, op_id, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?, ?)",
            (stamp(entry.at), entry.op_id, entry.actor, entry.action, entry.subject, entry.detail),
        )

    def list(self, op_id: str | None = None, *, limit: int = 500) -> tuple[AuditEntry, ...]:
        """The trail, oldest first: of one operation, or the newest ``limit`` lines of all."""
        where, values = ("WHERE op_id = ?", (op_id,)) if op_id is not None else ("", ())
        rows = self._connection.execute(
            f"SELECT * FROM audit {where} ORDER BY id DESC LIMIT ?",  # noqa: S608 - fixed text
            (*values, limit),
        ).fetchall()
        return tuple(
            AuditEntry(
                moment(row["at"]),
                row["op_id"],
                row["actor"],
                row["action"],
                row["subject"],
                row["detail"],
            )
            for row in reversed(rows)
        )


class EventRepo:
    """The table ``events`` inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, event: StoredEvent) -> None:
        """Append one, and forget the oldest beyond a bound."""
        added = self._connection.execute(
            "INSERT INTO events (at, level, text) VALUES (?, ?, ?)",
            (stamp(event.at), event.level, event.text),
        )
        newest = added.lastrowid or 0
        self._connection.execute("DELETE FROM events WHERE id <= ?", (newest - _MOST_EVENTS,))

    def recent(self, limit: int) -> tuple[StoredEvent, ...]:
        """The newest, oldest first."""
        rows = self._connection.execute(
            "SELECT at, level, text FROM events ORDER BY id DESC LIMIT ?", (limit,)
        ).fetchall()
        return tuple(StoredEvent(moment(r["at"]), r["level"], r["text"]) for r in reversed(rows))


class AlertRepo:
    """The table ``alerts`` inside one transaction: what is up, so that a restart does not ring again."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def list(self) -> tuple[StoredAlert, ...]:
        """Everything that was up when it was last written."""
        rows = self._connection.execute("SELECT * FROM alerts ORDER BY since, key")
        return tuple(
            StoredAlert(
                r["key"], r["severity"], r["text"], moment(r["since"]), bool(r["acknowledged"])
            )
            for r in rows
        )

    def replace(self, alerts: Iterable[StoredAlert]) -> None:
        """What is up now; everything else has cleared."""
        self._connection.execute("DELETE FROM alerts")
        self._connection.executemany(
            "INSERT INTO alerts (key, severity, text, since, acknowledged) VALUES (?, ?, ?, ?, ?)",
            [(a.key, a.severity, a.text, stamp(a.since), int(a.acknowledged)) for a in alerts],
        )
