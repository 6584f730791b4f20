"""Run the command line as ``python -m flashtui``."""

from flashtui.cli import entry

if __name__ == "__main__":
    entry()
