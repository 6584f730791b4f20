"""What SQLite says went wrong, as one sentence that names the file, the fact and the next step."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from flashtui.domain.errors import StoreError
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from pathlib import Path

_PRIMARY = 0xFF
_ELSEWHERE = "set FLASHTUI_HOME to a directory on a local disk"
_SENTENCES: dict[int, str] = {
    sqlite3.SQLITE_NOTADB: "is not a flashtui store (it is no SQLite file); move it away, and a new one is made",
    sqlite3.SQLITE_CORRUPT: "is damaged; nothing was changed in it: restore a copy, or move it away for a new one",
    sqlite3.SQLITE_READONLY: "is read-only; nothing can be recorded: check its owner and mode",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full, and nothing is being saved until there is space",
    sqlite3.SQLITE_PERM: f"may not be opened (permission denied); check its owner and mode, or {_ELSEWHERE}",
    sqlite3.SQLITE_CANTOPEN: f"cannot be opened; check that its directory exists and may be written, or {_ELSEWHERE}",
    sqlite3.SQLITE_PROTOCOL: f"is on a disk without working file locks (a network drive?); {_ELSEWHERE}",
    sqlite3.SQLITE_NOLFS: f"is on a disk that cannot hold it; {_ELSEWHERE}",
}
_LOCKING_IO = frozenset(
    {
        sqlite3.SQLITE_IOERR_LOCK,
        sqlite3.SQLITE_IOERR_RDLOCK,
        sqlite3.SQLITE_IOERR_UNLOCK,
        sqlite3.SQLITE_IOERR_SHMLOCK,
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMMAP,
    }
)
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


def sentence(path: Path, error: sqlite3.Error, timeout_s: float) -> str:
    """The sentence for one of SQLite's errors."""
    code = getattr(error, "sqlite_errorcode", None)
    said = clean(error, 120)
    if code is None:
        return f"{path} could not be used: {said}"
    if code in _LOCKING_IO:
        return f"{path} {_SENTENCES[sqlite3.SQLITE_PROTOCOL]}"
    primary = code & _PRIMARY
    if primary in _BUSY:
        return f"{path} has been locked by another program for {timeout_s:g} s; try again when that is done"
    if primary == sqlite3.SQLITE_IOERR:
        return f"{path} could not be read or written (disk error: {said}); check the disk"
    return f"{path} {_SENTENCES.get(primary, f'could not be used: {said}')}"


def store_error(path: Path, error: sqlite3.Error, timeout_s: float) -> StoreError:
    """One of SQLite's errors as ours."""
    return StoreError(sentence(path, error, timeout_s))
