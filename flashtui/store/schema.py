"""Tables of the store, as named migrations.

Every table is STRICT. Money is INTEGER micro-dollars, every moment INTEGER microseconds since 1970 in UTC. Migrations go
through sqlite-utils, which is imported only when there is something to migrate.
"""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashtui.domain.errors import StoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

VERSION = 1
# "flsh": tells our files from other programs' SQLite files.
APPLICATION_ID = 0x666C7368
_LOOK_AGAIN_S = 0.02

_FIRST = (
    """
    CREATE TABLE runs (
        run_id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        goal TEXT NOT NULL,
        provider TEXT,
        gpu TEXT,
        num_gpus INTEGER NOT NULL,
        product TEXT,
        label TEXT,
        attempt INTEGER NOT NULL,
        spec TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        started_at INTEGER,
        ended_at INTEGER,
        last_error TEXT NOT NULL,
        progress TEXT,
        heartbeat_at INTEGER,
        recorded_cost INTEGER,
        revision INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE resources (
        provider TEXT NOT NULL,
        resource_id TEXT NOT NULL,
        run_id TEXT NOT NULL REFERENCES runs (run_id),
        seed INTEGER,
        attempt INTEGER NOT NULL,
        handle TEXT NOT NULL,
        label TEXT NOT NULL,
        job_id TEXT,
        offer_id TEXT,
        machine_id TEXT,
        account TEXT,
        gpu TEXT NOT NULL,
        num_gpus INTEGER NOT NULL,
        product TEXT NOT NULL,
        rate INTEGER,
        rate_source TEXT NOT NULL,
        billing_rate INTEGER,
        cost INTEGER,
        cost_until INTEGER,
        state TEXT NOT NULL,
        raw_status TEXT NOT NULL,
        launched_at INTEGER,
        last_seen_at INTEGER,
        teardown_requested_at INTEGER,
        confirmed_gone_at INTEGER,
        settled_at INTEGER,
        evidence TEXT NOT NULL,
        PRIMARY KEY (provider, resource_id)
    ) STRICT
    """,
    "CREATE INDEX resources_of_run ON resources (run_id)",
    """
    CREATE TABLE operations (
        op_id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        provider TEXT NOT NULL,
        resource_id TEXT NOT NULL,
        run_id TEXT,
        label TEXT NOT NULL,
        actor TEXT NOT NULL,
        phase TEXT NOT NULL,
        is_open INTEGER NOT NULL,
        requested_at INTEGER NOT NULL,
        not_before INTEGER,
        updated_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        last_answer TEXT NOT NULL,
        handle TEXT NOT NULL,
        goal_before TEXT,
        lease_owner TEXT,
        lease_until INTEGER
    ) STRICT
    """,
    "CREATE UNIQUE INDEX one_open_operation ON operations (provider, resource_id, kind) WHERE is_open = 1",
    "CREATE INDEX operations_by_time ON operations (updated_at)",
    """
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        op_id TEXT,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        subject TEXT NOT NULL,
        detail TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END
    """,
    """
    CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END
    """,
    """
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        level TEXT NOT NULL,
        text TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE alerts (
        key TEXT PRIMARY KEY,
        severity TEXT NOT NULL,
        text TEXT NOT NULL,
        since INTEGER NOT NULL,
        acknowledged INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE sheets (
        provider TEXT PRIMARY KEY,
        observed_at INTEGER NOT NULL,
        quotes TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE accounts (
        provider TEXT PRIMARY KEY,
        balance INTEGER,
        spend INTEGER,
        spend_limit INTEGER,
        observed_at INTEGER NOT NULL,
        note TEXT NOT NULL
    ) STRICT
    """,
    # By time first: rows arrive in time order, so a commit touches one page and not one for every class.
    """
    CREATE TABLE price_samples (
        at INTEGER NOT NULL,
        provider TEXT NOT NULL,
        gpu TEXT NOT NULL,
        product TEXT NOT NULL,
        rate INTEGER,
        available INTEGER,
        stock TEXT NOT NULL,
        PRIMARY KEY (at, provider, gpu, product)
    ) STRICT, WITHOUT ROWID
    """,
)


def version_of(connection: sqlite3.Connection) -> int:
    """The schema version written in the file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def check_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Look before anything is written.

    Raises:
        StoreError: a newer program's file, or another program's.
    """
    version = version_of(connection)
    if version > VERSION:
        msg = f"{path} was written by a newer flashtui (schema {version}, this one knows {VERSION}); upgrade this one, or set FLASHTUI_HOME"
        raise StoreError(msg)
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID and not _is_empty(connection):
        msg = f"{path} is an SQLite file of another program; move it away, or set FLASHTUI_HOME"
        raise StoreError(msg)


def migrate(connection: sqlite3.Connection, path: Path, timeout_s: float) -> None:
    """Bring a file to :data:`VERSION`; one process at a time, the others wait and then find it done."""
    with _turn(path, timeout_s):
        check_ours(connection, path)
        # Switching to WAL needs the file for itself and is not waited for by SQLite, hence inside the turn.
        connection.execute("PRAGMA journal_mode = WAL")
        if version_of(connection) == VERSION:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            _apply(connection)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _apply(connection: sqlite3.Connection) -> None:
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

    migrations = Migrations("flashtui")

    @migrations(name="0001_first")
    def first(database: Database) -> None:
        for statement in _FIRST:
            database.conn.execute(statement)

    migrations.apply(Database(connection, execute_plugins=False))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


@contextmanager
def _turn(path: Path, timeout_s: float) -> Iterator[None]:
    """One process at a time. A lock on the directory: it needs no file of its own, and ends with its holder."""
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    pause = threading.Event()
    tries = int(timeout_s / _LOOK_AGAIN_S) + 1
    try:
        while not _locked(descriptor):
            tries -= 1
            if tries <= 0:
                msg = f"{path} is being prepared by another flashtui, which has not finished in {timeout_s:g} s; try again"
                raise StoreError(msg)
            pause.wait(_LOOK_AGAIN_S)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
