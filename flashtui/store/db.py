"""One connection to the store's file: opening it safely, reading, writing, and noticing what others wrote.

A write is ``BEGIN IMMEDIATE``: a deferred transaction that turns into a write fails at once when another process writes,
whatever the busy timeout.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashtui.domain.errors import StoreError
from flashtui.store import paths, schema
from flashtui.store.failures import store_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WAL_LIMIT_BYTES = 16_000_000


class Db:
    """The file and its connection, opened on first use; of one thread.

    A failure to open is not remembered: the next use tries again, so that a disk that was full or a lock that was held
    for a while heals by itself.
    """

    def __init__(self, path: Path, *, timeout_s: float) -> None:
        self.path = path
        self._timeout_s = timeout_s
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._journal: tuple[int, int] | None = None
        self._openings = 0
        self._writes = 0

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A consistent view for a few reads.

        Raises:
            StoreError: the file cannot be opened or read.
        """
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on disk at the end of the block, or none.

        Raises:
            StoreError: the file cannot be opened or written.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection
        self._writes += 1

    def token(self) -> tuple[int, int, int]:
        """Something that is different after any process has written.

        Raises:
            StoreError: the file cannot be opened or read.
        """
        with self._translated():
            connection = self._ready()
            version = int(connection.execute("PRAGMA data_version").fetchone()[0])
        return self._openings, version, self._writes

    def close(self) -> None:
        """Close the connection; a later use opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._translated():
            connection = self._ready()
            connection.execute(begin)
            try:
                if schema.version_of(connection) != schema.VERSION:
                    schema.check_ours(connection, self.path)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # An error such as a full disk may have ended the transaction already.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise store_error(self.path, error, self._timeout_s) from error

    def _ready(self) -> sqlite3.Connection:
        if self._connection is not None:
            found = paths.identity(self.path)
            if found == self._identity:
                return self._connection
            if found is None:
                msg = f"{self.path} has been removed while it was in use; put it back, or start again for a new one"
                raise StoreError(msg)
            self._leave_replaced()
        self._connection = self._opened()
        self._identity = paths.identity(self.path)
        self._journal = paths.identity(self._beside("-wal"))
        self._openings += 1
        return self._connection

    def _leave_replaced(self) -> None:
        """Let go of a file whose name another file has now.

        The old one's journal still lies beside it, and SQLite would play it into the new one.
        """
        self.close()
        if self._journal is not None and paths.identity(self._beside("-wal")) == self._journal:
            self._beside("-wal").unlink(missing_ok=True)
            self._beside("-shm").unlink(missing_ok=True)

    def _beside(self, ending: str) -> Path:
        return self.path.with_name(self.path.name + ending)

    def _opened(self) -> sqlite3.Connection:
        paths.prepare(self.path)
        connection = _connect(f"{self.path.absolute().as_uri()}?mode=rw", self._timeout_s)
        try:
            schema.check_ours(connection, self.path)
            is_current = schema.version_of(connection) == schema.VERSION
            if not is_current or _journal_mode(connection) != "wal":
                schema.migrate(connection, self.path, self._timeout_s)
            # FULL: an intent that was committed is still there after a power cut.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def read_only(path: Path, *, timeout_s: float) -> Iterator[sqlite3.Connection | None]:
    """A look at the file without making or changing anything; None: there is none yet.

    Raises:
        StoreError: it is there, but cannot be read, or has another schema.
    """
    if paths.identity(path) is None:
        yield None
        return
    try:
        connection = _connect(f"{path.absolute().as_uri()}?mode=ro", timeout_s)
        try:
            schema.check_ours(connection, path)
            is_current = schema.version_of(connection) == schema.VERSION
            if is_current:
                connection.execute("BEGIN")
            yield connection if is_current else None
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise store_error(path, error, timeout_s) from error


def _connect(uri: str, timeout_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, timeout=timeout_s, isolation_level=None, uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def _journal_mode(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA journal_mode").fetchone()[0])
