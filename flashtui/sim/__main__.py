"""`python -m flashtui.sim`: the simulator as a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
import threading

from flashtui.sim import admin
from flashtui.sim import scenario as scenarios
from flashtui.sim.faults import catalogue
from flashtui.sim.server import start_in_thread

_WATCH_S = 0.25


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM, or until the parent is gone."""
    options = _parser().parse_args(argv)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        faults = [json.loads(text) for text in options.fault]
        running = start_in_thread(
            options.scenario,
            options.seed,
            options.speed,
            options.port,
            start=options.start,
            faults=faults,
            work=options.work,
        )
    except (ValueError, OSError) as error:
        sys.stderr.write(f"flashtui sim: {error}\n")
        return 2
    for name, value in running.exports().items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
    sys.stdout.flush()
    while not ended.wait(_WATCH_S):
        if options.parent_pid and not _is_alive(options.parent_pid):
            break
    running.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    names = "\n".join(f"  {name:22} {text}" for name, text in sorted(catalogue().items()))
    parser = argparse.ArgumentParser(
        prog="python -m flashtui.sim",
        description="Vast.ai, RunPod and the Hugging Face hub, simulated on 127.0.0.1.",
        epilog=f"{admin.HELP}\nFaults by name:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--port", type=int, default=0, help="first of four ports; 0 takes free ones"
    )
    parser.add_argument(
        "--scenario",
        default="demo",
        help=f"{', '.join(scenarios.names())}, or a path to a .toml file",
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--speed", type=float, default=1.0, help="simulated seconds per real second"
    )
    parser.add_argument(
        "--start", type=float, default=None, help="epoch seconds at which it begins"
    )
    parser.add_argument(
        "--fault", action="append", default=[], metavar="JSON", help="order a fault"
    )
    parser.add_argument(
        "--work", action="store_true", help="run what rented machines would run, as local processes"
    )
    parser.add_argument("--parent-pid", type=int, default=0, help="end when this process is gone")
    return parser


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    raise SystemExit(main())
