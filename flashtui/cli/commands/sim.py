"""``flashtui sim``: the simulator alone, on loopback."""

from __future__ import annotations

from pathlib import Path

import click

HELP_TAIL = """\b
Admin routes, JSON in and out, on every listener:
  POST /_sim/reset      {"seed": 7, "scenario": "demo"}   start over
  POST /_sim/step       {"seconds": 60}                   move the clock
  GET  /_sim/time       -> {"now": epoch s, "speed": x}
  POST /_sim/time       {"speed": 10}
  POST /_sim/fault      {"name": ..., "route": ..., "count": ..., "probability": ...}; GET lists, DELETE clears
  GET  /_sim/ledger     what the providers would bill, per resource, to the second
  GET  /_sim/prices     [?at=EPOCH] every provider's prices at that moment
  GET  /_sim/state      machines and endpoints as the providers see them
  GET  /_sim/runs       the scenario's runs
  GET  /_sim/violations requests that no documentation allows
"""


@click.command(epilog=HELP_TAIL)
@click.option(
    "--port",
    type=click.IntRange(0, 65532),
    default=0,
    help="First of four ports; 0 takes free ones.",
)
@click.option(
    "--scenario", metavar="S", default="demo", help="A built-in scenario or a path to a .toml file."
)
@click.option("--seed", type=int, default=7, help="Which market.")
@click.option(
    "--speed",
    type=click.FloatRange(0.0, 3600.0),
    default=1.0,
    help="Simulated seconds per second; 0 stands still.",
)
@click.option(
    "--fault", multiple=True, metavar="JSON", help="Order a fault at start; may be repeated."
)
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    help="Fill this directory's store with the scenario's runs.",
)
def command(
    port: int, scenario: str, seed: int, speed: float, fault: tuple[str, ...], home: Path | None
) -> int:
    """The simulator alone, on 127.0.0.1: Vast.ai, RunPod and the Hugging Face hub.

    First prints ``export NAME=VALUE`` lines that point flashtui and the official tools at it, then serves until interrupted.
    """
    from flashtui.bootstrap.simulator import serve

    return serve(port=port, scenario=scenario, seed=seed, speed=speed, faults=fault, home=home)
