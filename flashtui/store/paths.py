"""Where the store lies and who may read it: directory 0700, file 0600, on a local disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from flashtui.domain.errors import StoreError

_DIRECTORY_MODE = 0o700
_FILE_MODE = 0o600
_MOUNTS = Path("/proc/self/mounts")
# File systems on which SQLite's locks or its shared memory are known not to hold between hosts.
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ncpfs", "fuse.sshfs", "glusterfs"}
)
_MOUNT_FIELDS = 3


def prepare(path: Path, *, mounts: Path = _MOUNTS) -> None:
    """Make the directory and an empty file where there are none; what exists keeps its mode.

    Raises:
        StoreError: it cannot be made, is no regular file, or lies on a network drive.
    """
    kind = network_filesystem(path, mounts)
    if kind is not None:
        msg = f"{path} lies on a network drive ({kind}), where a store is not safe; set FLASHTUI_HOME to a directory on a local disk"
        raise StoreError(msg)
    try:
        path.parent.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _FILE_MODE))
    except FileExistsError:
        _check_kind(path)
    except OSError as error:
        msg = f"{path} cannot be made ({error.strerror}); check who owns {path.parent}, or set FLASHTUI_HOME"
        raise StoreError(msg) from error


def identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file that has this name now; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def network_filesystem(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The kind of network drive a path lies on; None: a local disk, or the system does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    where = path.absolute()
    best, kind = -1, ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < _MOUNT_FIELDS:
            continue
        point = Path(fields[1].replace("\\040", " "))
        if (where == point or point in where.parents) and len(point.parts) >= best:
            best, kind = len(point.parts), fields[2]
    return kind if kind in _NETWORK else None


def _check_kind(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        msg = f"{path} cannot be read ({error.strerror}); check who owns it"
        raise StoreError(msg) from error
    if not stat.S_ISREG(mode):
        msg = f"{path} is not a file, so it cannot be the store; move it away, or set FLASHTUI_HOME"
        raise StoreError(msg)
