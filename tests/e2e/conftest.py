"""Fixtures of end-to-end tests: the installed command, a simulator of its own, and a private home."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.terminal import Terminal, clean_env

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

RUN_LIMIT_S = 50


@dataclass(frozen=True)
class Simulator:
    """A running `flashtui sim` and the environment that points a client at it."""

    env: dict[str, str]
    process: subprocess.Popen[str]

    def admin(self, path: str) -> Any:
        base = self.env["FLASHTUI_CLOCK_URL"].removesuffix("/time")
        with urllib.request.urlopen(f"{base}/{path}", timeout=10) as answer:
            return json.load(answer)

    def ledger(self) -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in self.admin("ledger")["resources"]}


def flashtui(env: dict[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command to its end."""
    return subprocess.run(
        ["flashtui", *args],
        env=env,
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def flashtui_json(env: dict[str, str], *args: str) -> Any:
    """Run the installed command and parse its one document."""
    done = flashtui(env, *args, "--json")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def start_simulator(tmp_path: Path) -> Iterator[Callable[..., Simulator]]:
    """Starts `flashtui sim` with a home that holds the scenario's runs."""
    running: list[subprocess.Popen[str]] = []

    def start(scenario: str = "calm", *options: str) -> Simulator:
        env = clean_env(tmp_path)
        command = [
            "flashtui",
            "sim",
            "--port",
            "0",
            "--scenario",
            scenario,
            "--home",
            str(tmp_path / "home"),
            *options,
        ]
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        exports: dict[str, str] = {}
        for line in process.stdout:
            name, _, value = line.strip().removeprefix("export ").partition("=")
            exports[name] = value
            if name == "FLASHTUI_HOME":
                break
        assert "FLASHTUI_HOME" in exports, "the simulator printed no exports"
        return Simulator({**env, **exports}, process)

    yield start
    for process in running:
        process.terminate()
        process.wait(timeout=10)
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture
def open_terminal() -> Iterator[Callable[..., Terminal]]:
    """Opens the installed command in a pseudo-terminal, and closes it whatever happens."""
    opened: list[Terminal] = []

    def start(env: dict[str, str], *args: str, size: tuple[int, int] = (120, 40)) -> Terminal:
        opened.append(Terminal(["flashtui", *args], size=size, env=env))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()
