"""Pictures and pilots see the same terminal everywhere: no colour switches from outside, no animation, no network."""

from __future__ import annotations

import os
from importlib.metadata import version

import pytest

PINS = {"textual": "8.2.8", "pytest-textual-snapshot": "1.1.0", "syrupy": "4.8.0"}


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name in {"NO_COLOR", "FORCE_COLOR", "COLORTERM"} or name.startswith("TEXTUAL"):
            monkeypatch.delenv(name)


def pytest_configure(config: pytest.Config) -> None:
    """Pictures made with other versions would differ in every line: refuse to make them."""
    if not config.getoption("update_snapshots", default=False):
        return
    wrong = {n: version(n) for n, wanted in PINS.items() if version(n) != wanted}
    if wrong:
        message = f"snapshots are made with {PINS}, not {wrong}"
        raise pytest.UsageError(message)
