"""The one thread that owns the store's connection: work is handed to it and awaited.

The thread is a daemon: a wait for another program's lock must not keep a process from ending.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from flashtui.domain.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Owner(Protocol):
    """Who runs the work on the connection."""

    async def run(self, work: Callable[[], T]) -> T:
        """Run it, one after the other, and return what it returns."""
        ...

    async def close(self, last: Callable[[], None]) -> None:
        """Run one last thing; nothing after it."""
        ...


class StoreThread:
    """An :class:`Owner` with a thread of its own, started on first use."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, work: Callable[[], T]) -> T:
        """Run it on the thread.

        Raises:
            StoreError: the store has been closed.
        """
        if self._closed:
            msg = "the store has been closed"
            raise StoreError(msg)
        return await asyncio.wrap_future(self._hand_over(work))

    async def close(self, last: Callable[[], None]) -> None:
        """Let the thread finish what it has, do one last thing, and end; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._thread is not None:
            done = self._hand_over(last)
            self._work.put(None)
            await asyncio.wrap_future(done)

    def _hand_over(self, work: Callable[[], T]) -> Future[T]:
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="store", daemon=True)
            self._thread.start()
        done: Future[T] = Future()
        self._work.put((work, done))
        return done

    def _serve(self) -> None:
        while (item := self._work.get()) is not None:
            work, done = item
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001 - whatever it is belongs to who asked
                done.set_exception(error)
