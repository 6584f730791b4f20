"""The simulator, and the official clients' own environments, which `.ci/contract` makes."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.sim.server import Running, start_in_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMIT_S = 110


@dataclass(frozen=True)
class Bench:
    """One simulator and a client environment pointed at it."""

    running: Running
    bin: Path
    env: dict[str, str]

    def admin(self, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.running.admin_url}/{path}", data=data)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        program = [str(self.bin / command[0]), *command[1:]]
        return subprocess.run(
            program,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def python(self, script: str) -> Any:
        """Run a script with the client's interpreter; what it prints last is JSON."""
        done = self.run("python", "-c", script)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout.strip().splitlines()[-1])

    def violations(self) -> list[Any]:
        rows: list[Any] = self.admin("violations")["violations"]
        return rows


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """A calm simulator for the client that the test module names."""
    root = os.environ.get("FLASHTUI_CONTRACT")
    if root is None:
        pytest.skip(
            "the official clients are not installed; .ci/contract installs them and runs these tests"
        )
    home = tmp_path / "home"
    home.mkdir()
    running = start_in_thread("calm", 7, 1.0, 0)
    env = {
        **running.exports(),
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_STATE_HOME": str(home / "state"),
        "HF_HOME": str(home / "hf"),
        "VASTAI_NO_UPDATE_CHECK": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    yield Bench(running, Path(root) / request.module.CLIENT / "bin", env)
    running.close()
