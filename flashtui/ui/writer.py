"""The writer between the dashboard and a terminal that may be slow, stuck or gone; it never blocks the event loop."""

from __future__ import annotations

import os
import select
from queue import Empty, Full
from typing import IO, TYPE_CHECKING

from textual.drivers._writer_thread import WriterThread

if TYPE_CHECKING:
    from collections.abc import Callable

_STOP_WITHIN_S = 1.0
_WRITABLE_S = 1.0


class DroppingWriter(WriterThread):
    """Writes in its own thread; while the link is stuck frames are dropped, and once it flows again one is asked for.

    It writes to the file descriptor itself: a thread that is stuck inside a buffered file holds a lock that the
    interpreter wants at its end.

    Args:
        file: the terminal.
        encoding: of the terminal; what it cannot say becomes ``?``.
        on_drain: called from this thread when output flows again after frames were dropped.
    """

    def __init__(self, file: IO[str], *, encoding: str, on_drain: Callable[[], None]) -> None:
        super().__init__(file)
        self._fd = file.fileno()
        self._encoding = encoding
        self._on_drain = on_drain
        self.dropped = 0
        self.gone = False

    def write(self, text: str) -> None:
        """Queue a frame; drop it when the queue is full or the terminal gone."""
        if self.gone:
            return
        try:
            self._queue.put_nowait(text)
        except Full:
            self.dropped += 1

    def run(self) -> None:
        """Write until told to stop."""
        while (text := self._queue.get()) is not None:
            self._put_out(text.encode(self._encoding, "replace"))
            if self.dropped and not self.gone and self._queue.empty():
                self.dropped = 0
                self._on_drain()

    def stop(self) -> None:
        """Stop soon; frames that wait give way to what restores the terminal, which was queued last."""
        while True:
            try:
                self._queue.put_nowait(None)
            except Full:
                self._forget_oldest()
            else:
                break
        self.join(timeout=_STOP_WITHIN_S)

    def hang_up(self) -> None:
        """The terminal is gone: write nothing more."""
        self.gone = True

    def make_room(self) -> None:
        """Forget the frames that wait, so that what follows gets through."""
        while not self._queue.empty():
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        try:
            self._queue.get_nowait()
        except Empty:
            return

    def _put_out(self, data: bytes) -> None:
        while data and not self.gone:
            try:
                written = os.write(self._fd, data)
            except BlockingIOError:
                select.select([], [self._fd], [], _WRITABLE_S)
            except OSError:
                self.gone = True
            else:
                data = data[written:]
