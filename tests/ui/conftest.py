"""Pictures and pilots see the same terminal everywhere: no colour switches from outside, exact versions."""

from __future__ import annotations

import os
from importlib.metadata import version

import pytest

PINS = {"textual": "8.2.8", "pytest-textual-snapshot": "1.1.0", "syrupy": "4.8.0"}
_PLUGIN = "TEXTUAL_SNAPSHOT_"


def _outside_switches() -> list[str]:
    named = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES", "ESCDELAY")
    textual = [n for n in os.environ if n.startswith("TEXTUAL") and not n.startswith(_PLUGIN)]
    return [*(n for n in named if n in os.environ), *textual]


# Textual reads some of them when it is imported, others when an app is made.
for _name in _outside_switches():
    del os.environ[_name]


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _outside_switches():
        monkeypatch.delenv(name)


def pytest_configure(config: pytest.Config) -> None:
    """Pictures made with other versions would differ in every line: refuse to make them."""
    if not config.getoption("update_snapshots", default=False):
        return
    wrong = {n: version(n) for n, wanted in PINS.items() if version(n) != wanted}
    if wrong:
        message = f"snapshots are made with {PINS}, not {wrong}"
        raise pytest.UsageError(message)
