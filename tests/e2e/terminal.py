"""A real pseudo-terminal with an emulator on the other side: start the installed command, press keys, read the screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyte

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "pgup": "\x1b[5~",
    "pgdn": "\x1b[6~",
    "space": " ",
}
# A hang guard, not a timing: a healthy machine needs a fraction of it.
HANG_S = 40.0


class ScreenNeverShowed(AssertionError):
    """What was waited for did not appear; carries the screen as it was."""


class Terminal:
    """One program in one pseudo-terminal.

    Args:
        command: program and arguments; a bare ``flashtui`` is the installed console script.
        size: columns and rows.
        env: the whole environment of the program.
    """

    def __init__(
        self, command: Sequence[str], *, size: tuple[int, int], env: Mapping[str, str]
    ) -> None:
        columns, rows = size
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        self._status: int | None = None
        program = shutil.which(command[0])
        assert program is not None, f"{command[0]} is not installed"
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execve(program, [program, *command[1:]], {"TERM": "xterm-256color", **env})
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size, as a window or tmux does."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, *keys: str) -> None:
        """Type keys by name or character, `ctrl+x` included."""
        for key in keys:
            text = chr(ord(key[-1]) & 31) if key.startswith("ctrl+") else KEYS.get(key, key)
            os.write(self._fd, text.encode())
            self._pump(0.05)

    @property
    def text(self) -> str:
        """The screen as text."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, what: str | Callable[[str], bool], *, hang_s: float = HANG_S) -> str:
        """Read until the screen contains a text or satisfies a predicate; returns the screen."""
        shows = (lambda screen: what in screen) if isinstance(what, str) else what
        end = time.monotonic() + hang_s
        while time.monotonic() < end:
            if shows(self.text):
                return self.text
            if not self._pump(0.1):
                break
        if shows(self.text):
            return self.text
        message = f"never showed {what!r}; the screen was:\n{self.text}"
        raise ScreenNeverShowed(message)

    def shows(self, text: str, *, within_s: float = 1.0) -> bool:
        """Whether a text is on the screen, now or after reading on for a moment."""
        end = time.monotonic() + within_s
        while text not in self.text and time.monotonic() < end:
            self._pump(0.05)
        return text in self.text

    def wait_exit(self, *, hang_s: float = HANG_S) -> int:
        """Read until the program has ended; returns its exit code (128 + signal when killed)."""
        end = time.monotonic() + hang_s
        while self._status is None and time.monotonic() < end:
            self._pump(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
        assert self._status is not None, f"did not end; the screen was:\n{self.text}"
        code = os.waitstatus_to_exitcode(self._status)
        return 128 - code if code < 0 else code

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        os.kill(self.pid, number)

    def close(self) -> None:
        """End whatever is left."""
        if self._status is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                _, self._status = os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                self._status = 0
        os.close(self._fd)

    def _pump(self, seconds: float) -> bool:
        """Feed what arrives within ``seconds`` to the emulator; False when the other side is gone."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self._fd], [], [], left)[0]:
                return True
            try:
                data = os.read(self._fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.raw += data
            self._stream.feed(data)
        return True


def clean_env(home: Path, **extra: str) -> dict[str, str]:
    """An environment without keys, with a private home."""
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {
        "LANG": "C.UTF-8",
        **keep,
        "HOME": str(home),
        "FLASHTUI_HOME": str(home / "flashtui"),
        **extra,
    }
