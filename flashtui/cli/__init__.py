"""The command line: parses, prints, and turns every outcome into an exit code.

Importing it costs nothing heavy; commands import what they need when they run.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing escapes as a traceback."""
    from flashtui.cli.app import run

    return run(argv)


def entry() -> NoReturn:
    """The console script."""
    sys.exit(main(sys.argv[1:]))
