"""The store as everybody uses it: work on all tables, one transaction at a time, on the owner thread."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from flashtui.store.audit import AlertRepo, AuditRepo, EventRepo
from flashtui.store.db import Db, read_only
from flashtui.store.operations import OperationRepo
from flashtui.store.prices import PriceRepo
from flashtui.store.runs import RunRepo

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flashtui.store.thread import Owner

T = TypeVar("T")
DEFAULT_TIMEOUT_S = 10.0


class Tables:
    """All tables inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.runs = RunRepo(connection)
        self.operations = OperationRepo(connection)
        self.audit = AuditRepo(connection)
        self.events = EventRepo(connection)
        self.alerts = AlertRepo(connection)
        self.prices = PriceRepo(connection)


class Store:
    """One store file.

    Nothing is opened by the constructor: the file is opened on first use, and again after a failure, so that a lock or a
    full disk heals by itself.

    Args:
        path: the file; it and its directory are made where they do not exist.
        timeout_s: how long to wait for another program's lock.
        owner: who runs the work; None: a thread of its own.
    """

    def __init__(
        self, path: Path, *, timeout_s: float = DEFAULT_TIMEOUT_S, owner: Owner | None = None
    ) -> None:
        self.path = path
        self._db = Db(path, timeout_s=timeout_s)
        # Not at the top: reading from synchronous code needs no event loop.
        from flashtui.store.thread import StoreThread

        self._owner: Owner = owner or StoreThread()

    @classmethod
    async def open(cls, path: Path, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Store:
        """A store that has been opened.

        Raises:
            StoreError: it cannot be; the message says why and what to do.
        """
        store = cls(path, timeout_s=timeout_s)
        await store.token()
        return store

    async def run(self, work: Callable[[Tables], T]) -> T:
        """Read: everything the work sees is of one moment.

        Raises:
            StoreError: the file cannot be opened or read.
        """

        def inside() -> T:
            with self._db.reading() as connection:
                return work(Tables(connection))

        return await self._owner.run(inside)

    async def write(self, work: Callable[[Tables], T]) -> T:
        """Write: all of it is on disk when this returns, or nothing.

        Raises:
            StoreError: the file cannot be opened or written.
        """

        def inside() -> T:
            with self._db.writing() as connection:
                return work(Tables(connection))

        return await self._owner.run(inside)

    async def token(self) -> tuple[int, int, int]:
        """Something that is different after anybody has written, in this process or another.

        Raises:
            StoreError: the file cannot be opened or read.
        """
        return await self._owner.run(self._db.token)

    async def close(self) -> None:
        """Finish what was asked for and close the file."""
        await self._owner.close(self._db.close)


@contextmanager
def reading(path: Path, *, timeout_s: float = 1.0) -> Iterator[Tables | None]:
    """A look at a store's file from synchronous code, without making or changing anything; None: there is none yet.

    Raises:
        StoreError: it is there but cannot be read.
    """
    with read_only(path, timeout_s=timeout_s) as connection:
        yield None if connection is None else Tables(connection)
