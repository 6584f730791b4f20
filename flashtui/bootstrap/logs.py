"""The log file: rotating, private, redacted. Nothing is ever logged to the terminal: the dashboard draws there."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING

from flashtui.net.secret import RedactingFilter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flashtui.net.secret import Redactor

_LARGEST_BYTES = 2_000_000
_KEPT = 3
_LOGGER = logging.getLogger("flashtui")


class _PrivateFile(RotatingFileHandler):
    """Made on the first record, readable by its owner only; a disk that fails costs the log, not the program."""

    def _open(self):  # type: ignore[no-untyped-def]
        from pathlib import Path

        path = Path(self.baseFilename)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the base class's name
        """Say nothing: standard error is the screen."""


def log_to(path: Path, redactor: Redactor) -> Callable[[], None]:
    """Send everything that is logged to a file, redacted; returns what undoes it."""
    handler = _PrivateFile(
        path, maxBytes=_LARGEST_BYTES, backupCount=_KEPT, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    handler.addFilter(RedactingFilter(redactor))
    propagates = _LOGGER.propagate
    _LOGGER.addHandler(handler)
    _LOGGER.propagate = False

    def undo() -> None:
        _LOGGER.removeHandler(handler)
        _LOGGER.propagate = propagates
        handler.close()

    return undo
