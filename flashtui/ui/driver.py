"""The terminal driver: notices when the terminal is gone, drops frames instead of blocking, asks for no focus reports."""

from __future__ import annotations

import asyncio
import os
import select
import threading
from typing import TYPE_CHECKING, Any

from textual.drivers.linux_driver import LinuxDriver

from flashtui.ui.writer import DroppingWriter

if TYPE_CHECKING:
    from textual.app import App
    from textual.drivers._writer_thread import WriterThread

HANGUP = 129
_POLL_MS = 250
# When the event loop is stuck as well, nothing else can end the process.
_LAST_RESORT_S = 5.0
_NO_FOCUS_REPORTS = "\x1b[?1004l"
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class FlashDriver(LinuxDriver):
    """Textual's driver for Linux and macOS, hardened for terminals behind SSH.

    Args:
        app: the app.
        debug: Textual's debug mode.
        mouse: whether mouse reports are asked for.
        size: a fixed size; None: the terminal's.
    """

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        self._writer: DroppingWriter | None = None
        self._closed = threading.Event()
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._main_loop = asyncio.get_running_loop()

    @property
    def _writer_thread(self) -> WriterThread | None:
        return self._writer

    @_writer_thread.setter
    def _writer_thread(self, made: WriterThread | None) -> None:
        """Textual makes a writer that blocks when its queue is full; ours takes its place before it is started."""
        if made is None or self._file is None:
            self._writer = None
            return
        ascii_only = bool(getattr(self._app, "ascii_only", False))
        self._writer = DroppingWriter(
            self._file, encoding="ascii" if ascii_only else "utf-8", on_drain=self._ask_for_repaint
        )

    def start_application_mode(self) -> None:
        """Start, then watch the terminal."""
        self._closed.clear()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self._writer is None:
            return
        # Each report of a pane switch in tmux would cost a repaint of the whole screen.
        self.write(_NO_FOCUS_REPORTS)
        threading.Thread(target=self._watch, name="tty-watch", daemon=True).start()

    def stop_application_mode(self) -> None:
        """Restore the terminal, ahead of frames that still wait."""
        if self._writer is None:
            return
        self._writer.make_room()
        super().stop_application_mode()

    def close(self) -> None:
        """The terminal is no longer ours."""
        self._closed.set()
        super().close()

    def _get_terminal_size(self) -> tuple[int, int]:
        """The size of the terminal itself: variables of the environment do not follow a resize."""
        for fd in (2, self.fileno):
            try:
                width, height = os.get_terminal_size(fd)
            except OSError:
                continue
            if width and height:
                return width, height
        return super()._get_terminal_size()

    def _watch(self) -> None:
        """Wait for the other end to go away; works even while the event loop is stuck."""
        poller = select.poll()
        poller.register(self.fileno, 0)
        while not self._closed.is_set():
            if any(event & _GONE for _, event in poller.poll(_POLL_MS)):
                self._hung_up()
                return

    def _hung_up(self) -> None:
        # The input thread would read the end of the file for ever.
        self.exit_event.set()
        if self._writer is not None:
            self._writer.hang_up()
        self._main_loop.call_soon_threadsafe(self._leave)
        if not self._closed.wait(_LAST_RESORT_S):
            os._exit(HANGUP)

    def _leave(self) -> None:
        self._app.exit(return_code=HANGUP)

    def _ask_for_repaint(self) -> None:
        self._main_loop.call_soon_threadsafe(self._repaint)

    def _repaint(self) -> None:
        if self._app.is_running and self._app.screen_stack:
            self._app.screen.refresh(layout=True)
