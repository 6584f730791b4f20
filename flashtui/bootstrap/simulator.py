"""Runs the simulator in the foreground, for ``flashtui sim``."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from flashtui.bootstrap.demo import fetch_runs
from flashtui.bootstrap.seeding import seed_store
from flashtui.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def serve(
    *,
    port: int,
    scenario: str,
    seed: int,
    speed: float,
    faults: Sequence[str] = (),
    home: Path | None = None,
) -> int:
    """Print the exports, then serve until SIGINT or SIGTERM.

    Args:
        port: first of four ports; 0 takes free ones.
        scenario: built-in name or path.
        seed: which market.
        speed: simulated seconds per real second.
        faults: JSON objects, ordered before the first request.
        home: its store is filled with the scenario's runs, and exported as ``FLASHTUI_HOME``.

    Raises:
        ConfigError: an unknown scenario, a fault that cannot be read, a port that is taken.
    """
    from flashtui.sim.server import start_in_thread

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        orders: list[dict[str, Any]] = [json.loads(text) for text in faults]
        running = start_in_thread(scenario, seed, speed, port, faults=orders)
    except (ValueError, KeyError, OSError) as error:
        msg = f"sim: {error}"
        raise ConfigError(msg) from error
    try:
        exports = running.exports()
        if home is not None:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            exports["FLASHTUI_HOME"] = str(home.absolute())
            asyncio.run(seed_store(exports, fetch_runs(running.admin_url)))
        for name, value in exports.items():
            sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
        sys.stdout.flush()
        ended.wait()
    finally:
        running.close()
    return 0
