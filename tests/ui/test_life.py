"""The dashboard in a real pseudo-terminal: signals, hang-ups, stuck links, sizes, characters and colours."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.terminal import Terminal, clean_env

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).resolve().parents[2]
TRIAL = (sys.executable, "-m", "tests.ui.trial")
HANG_S = 20.0
LEAVES = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?2004l")
COLOUR = re.compile(rb"\x1b\[[0-9;]*\b(3[0-7]|4[0-7]|9[0-7]|10[0-7]|38;|48;)[0-9;]*m")


@contextmanager
def trial(
    home: Path, *, size: tuple[int, int] = (120, 40), command: tuple[str, ...] = TRIAL, **env: str
) -> Iterator[Terminal]:
    terminal = Terminal(command, size=size, env=clean_env(home, PYTHONPATH=str(ROOT), **env))
    try:
        yield terminal
    finally:
        terminal.close()


def ended(pid: int) -> int:
    """The exit code of a process whose terminal is gone."""
    until = time.monotonic() + HANG_S
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("did not end after its terminal had gone")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
@pytest.mark.parametrize("keys", [(), ("2", "D")], ids=["plain", "with a question open"])
def test_a_signal_restores_the_terminal_and_is_the_exit_code(
    tmp_path: Path, number: signal.Signals, code: int, keys: tuple[str, ...]
) -> None:
    with trial(tmp_path) as terminal:
        before = termios.tcgetattr(terminal._fd)
        terminal.wait_for("RTX A4000")
        terminal.press(*keys)
        terminal.signal(number)
        assert terminal.wait_exit() == code
        assert all(sequence in terminal.raw for sequence in LEAVES)
        assert termios.tcgetattr(terminal._fd) == before


def test_q_ends_with_zero(tmp_path: Path) -> None:
    with trial(tmp_path) as terminal:
        terminal.wait_for("RTX A4000")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert all(sequence in terminal.raw for sequence in LEAVES)


@pytest.mark.parametrize("ignored", [False, True], ids=["default", "ignored as under nohup"])
def test_a_terminal_that_goes_away_ends_it(tmp_path: Path, *, ignored: bool) -> None:
    shell = ("/bin/sh", "-c", 'trap "" HUP; exec "$0" -m tests.ui.trial', sys.executable)
    with trial(tmp_path, command=shell if ignored else TRIAL) as terminal:
        terminal.wait_for("RTX A4000")
        os.close(terminal._fd)
        terminal._fd = os.open(os.devnull, os.O_RDWR)
        terminal._status = 0
        assert ended(terminal.pid) == 129


def test_a_stuck_link_does_not_stop_it(tmp_path: Path) -> None:
    """Nobody reads while the whole screen is drawn again and again; it still hears a signal."""
    with trial(tmp_path) as terminal:
        terminal.wait_for("RTX A4000")
        for _ in range(200):
            os.write(terminal._fd, b"\x0c")
        terminal.signal(signal.SIGTERM)
        assert ended(terminal.pid) == 143
        terminal._status = 0


def test_a_link_that_comes_back_shows_the_present(tmp_path: Path) -> None:
    with trial(tmp_path) as terminal:
        terminal.wait_for("RTX A4000")
        for _ in range(100):
            os.write(terminal._fd, b"\x0c")
        os.write(terminal._fd, b"3")
        time.sleep(1)
        terminal.wait_for("[3 Plan]")


def test_without_a_terminal_it_refuses_in_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        TRIAL, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT, check=False,
        env=clean_env(tmp_path, PYTHONPATH=str(ROOT)), timeout=HANG_S,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--once" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_dumb_terminal_is_refused(tmp_path: Path) -> None:
    with trial(tmp_path, TERM="dumb") as terminal:
        assert terminal.wait_exit() == 2
        assert b"TERM=dumb" in terminal.raw
        assert b"\x1b[?1049h" not in terminal.raw


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "en_US.ISO-8859-1", "PYTHONUTF8": "0"},
    ],
    ids=["C", "latin-1"],
)
def test_a_locale_without_unicode_gets_ascii(tmp_path: Path, env: dict[str, str]) -> None:
    with trial(tmp_path, size=(120, 40), command=TRIAL, **env) as terminal:
        screen = terminal.wait_for("RTX A4000")
        assert screen.isascii()
        assert terminal.raw.isascii()
        assert "+-" in screen


def test_no_color_means_none(tmp_path: Path) -> None:
    with trial(tmp_path, NO_COLOR="1", COLORTERM="truecolor") as terminal:
        terminal.wait_for("RTX A4000")
        terminal.press("j", "2", "j", "?", "?", "t", "t")
        terminal.wait_for("MAY STILL BILL")
        assert COLOUR.search(bytes(terminal.raw)) is None


def test_sixteen_colours_are_enough(tmp_path: Path) -> None:
    with trial(tmp_path, TERM="vt100") as terminal:
        terminal.wait_for("MAY STILL BILL")
        assert b"38;2;" not in terminal.raw
        assert b"38;5;" not in terminal.raw


def test_the_screen_follows_the_window(tmp_path: Path) -> None:
    with trial(tmp_path, size=(200, 60)) as terminal:
        terminal.wait_for("Detail")
        terminal.resize(80, 24)
        terminal.wait_for("[1 Market")
        terminal.wait_for(lambda screen: "q quit" in screen.splitlines()[-1])
        terminal.resize(120, 40)
        terminal.wait_for("[1 Market]")


def test_focus_reports_and_mouse_stay_off(tmp_path: Path) -> None:
    with trial(tmp_path) as terminal:
        terminal.wait_for("RTX A4000")
        raw = bytes(terminal.raw)
        assert raw.rindex(b"\x1b[?1004l") > raw.rindex(b"\x1b[?1004h")
        assert b"\x1b[?1000h" not in raw
        assert b"\x1b[?1003h" not in raw
