"""Rented machines of simulated Vast as local processes: what the container's start would run, with what it would see.

Source: vast 3.1 (args, onstart, env), 1.2 (`CONTAINER_ID` and `CONTAINER_API_KEY` inside a container).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.sim.vast.contract import Contract, Phase
    from flashtui.sim.world import World


class RealWork:
    """Starts, follows and ends one process per running contract; does nothing in a world without work."""

    def __init__(self, world: World) -> None:
        self._world = world

    def follow(self, contract: Contract, phase: Phase) -> None:
        """A contract has entered a state."""
        work = self._world.work
        if work is None:
            return
        command = command_of(contract)
        if phase.actual == "running" and phase.intended == "running" and command:
            work.start(_name(contract), command, self._env(contract))
        elif phase.actual not in {"running", "offline", "unknown"}:
            work.kill(_name(contract))

    def end(self, contract: Contract) -> None:
        """A contract is destroyed, and everything it ran with it."""
        if self._world.work is not None:
            self._world.work.kill(_name(contract))

    def exit_code(self, contract: Contract) -> int | None:
        """How a contract's process ended; None while it runs or when it has none."""
        work = self._world.work
        return None if work is None else work.exit_code(_name(contract))

    def lines(self, contract: Contract) -> list[str] | None:
        """What a contract's process has printed; None when nothing real runs there."""
        work = self._world.work
        if work is None or not command_of(contract):
            return None
        return work.output(_name(contract)).splitlines()

    def _env(self, contract: Contract) -> dict[str, str]:
        asked = contract.asked.get("env")
        own = {
            name: str(value)
            for name, value in (asked.items() if isinstance(asked, dict) else ())
            if not name.startswith("-")
        }
        return {
            "VAST_URL": self._world.url("vast"),
            **own,
            "CONTAINER_ID": str(contract.contract_id),
            "CONTAINER_API_KEY": contract.api_key,
        }


def command_of(contract: Contract) -> list[str]:
    """The client's `args`, else its `onstart` script; empty where it sent neither."""
    args, onstart = contract.asked.get("args"), contract.asked.get("onstart")
    if isinstance(args, list) and args:
        return [str(word) for word in args]
    return ["bash", "-c", str(onstart)] if onstart else []


def _name(contract: Contract) -> str:
    return f"vast-{contract.contract_id}"
