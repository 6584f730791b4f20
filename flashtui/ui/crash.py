"""The report of a crash: a traceback without locals and without secrets, in a file; two lines on the terminal."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from rich.text import Text

from flashtui import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path


def write_report(
    error: BaseException, folder: Path | None, now: datetime, redact: Callable[[str], str]
) -> tuple[Text, Path | None]:
    """Write the report.

    Args:
        error: what ended the program.
        folder: where to; None: nowhere.
        now: for the name of the file.
        redact: takes secrets out of a text.

    Returns:
        What to say on the terminal, and the file; None: it could not be written.
    """
    # Source lines and locals stay out: only names and numbers of lines, so that no value gets into the file.
    trace = "".join(
        f'  File "{f.filename}", line {f.lineno}, in {f.name}\n'
        for f in traceback.extract_tb(error.__traceback__)
    )
    kind = type(error).__name__
    body = redact(f"flashtui {__version__}, {now.isoformat()}\n{kind}: {error}\n{trace}")
    path = _save(body, folder, now)
    where = f"report: {path}" if path is not None else "no report could be written"
    said = (
        f"flashtui: the dashboard ended on a fault of its own ({kind}); what is rented is not touched by it\n"
        f"{where}; a destroy under way is taken up by the next start"
    )
    return Text(said), path


def _save(body: str, folder: Path | None, now: datetime) -> Path | None:
    if folder is None:
        return None
    path = folder / f"crash-{now:%Y%m%d-%H%M%S}.txt"
    try:
        path.touch(mode=0o600)
        path.write_text(body, encoding="utf-8")
    except OSError:
        return None
    return path
