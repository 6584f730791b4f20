"""Opens the dashboard on a terminal and says how it ended; imports Textual only once it is certain to be needed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashtui.ui.terminal import needs_ascii, prepare, refusal, theme_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashtui.settings import Settings
    from flashtui.ui.app import FlashApp
    from flashtui.ui.ports import SessionPort

UNUSABLE = 2
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


async def run_dashboard(
    session: SessionPort, settings: Settings, *, redact: Callable[[str], str] = str
) -> int:
    """Show the dashboard until the person leaves or the terminal does.

    Args:
        session: an open session; its feeds and operations are the caller's.
        settings: theme, characters, colours, mouse, and where a report of a crash goes.
        redact: takes secrets out of a text, for that report.

    Returns:
        0; 2 when there is no usable terminal (the reason has been printed); 70 after a fault of our own;
        129, 130 and 143 after a hang-up, a SIGINT from outside and a SIGTERM.
    """
    reason = refusal(os.environ, stdin_tty=_is_tty(0), stderr_tty=_is_tty(2))
    if reason:
        sys.stderr.write(f"{reason}\n")
        return UNUSABLE
    prepare(os.environ, no_color=settings.no_color)
    app = _make_app(session, settings, redact)
    with _signals_end(app):
        await app.run_async(mouse=settings.mouse)
    return app.return_code or 0


def _make_app(session: SessionPort, settings: Settings, redact: Callable[[str], str]) -> FlashApp:
    from flashtui.ui.app import FlashApp

    driver = None
    if os.name == "posix":
        from flashtui.ui.driver import FlashDriver

        driver = FlashDriver
    encoding = getattr(sys.__stderr__, "encoding", None)
    return FlashApp(
        session,
        theme=theme_for(os.environ, settings.theme, no_color=settings.no_color),
        ascii_only=settings.ascii or needs_ascii(os.environ, encoding),
        no_color=settings.no_color,
        report_dir=settings.state_dir,
        redact=redact,
        driver_class=driver,
    )


@contextmanager
def _signals_end(app: FlashApp) -> Iterator[None]:
    """The first SIGTERM or SIGHUP ends the dashboard in order; a second SIGTERM ends the process at once.

    A hang-up often arrives twice, from the kernel and from the shell, so later ones are ignored while the
    session finishes what it has begun.
    """
    loop = asyncio.get_running_loop()
    ended: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        if number == signal.SIGTERM and number in ended:
            os._exit(128 + number)
        ended.append(number)
        app.exit(return_code=128 + number)

    for number in _SIGNALS:
        loop.add_signal_handler(number, end, number)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
        if app.return_code == 128 + signal.SIGHUP or signal.SIGHUP in ended:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _is_tty(fd: int) -> bool:
    try:
        return os.isatty(fd)
    except OSError:
        return False
