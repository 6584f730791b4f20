"""Run the command line as ``python -m flashtui``."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - read by whatever interpreter somebody starts it with
    sys.exit("flashtui needs Python 3.11 or newer; this is " + sys.version.split()[0])

from flashtui.cli import entry

if __name__ == "__main__":
    entry()
