"""Exit codes of every command; the meanings are part of the public interface."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the shell is told."""

    OK = 0
    NO = 1
    """The answer is no: nothing fits, unknown run."""
    USAGE = 2
    """Usage or configuration; also a named provider without a key, and ``--yes`` missing without a terminal."""
    UNCONFIRMED = 3
    """Something may still bill."""
    UNREACHABLE = 4
    """No provider that was asked could answer."""
    STORE = 5
    """The store could not be read or written."""
    HANGUP = 129
    TERMINATED = 143
