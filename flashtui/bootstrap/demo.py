"""The built-in demo world: starts the simulator beside the program (or joins a live one) and points settings at it.

A demo has a home of its own, so that a simulated dashboard can never open the real store.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtui.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PROBE_TIMEOUT_S = 2.0
# What the simulator exports; a reader of its start-up lines waits for all of them.
_WANTED = frozenset(
    {
        "FLASHTUI_VAST_URL",
        "FLASHTUI_RUNPOD_GRAPHQL_URL",
        "FLASHTUI_RUNPOD_REST_URL",
        "FLASHTUI_RUNPOD_JOBS_URL",
        "FLASHTUI_CLOCK_URL",
        "HF_ENDPOINT",
        "HF_TOKEN",
        "VAST_API_KEY",
        "RUNPOD_API_KEY",
    }
)
# Variables of the real world that must not reach a simulated session.
_REAL = ("VAST_API_KEY", "RUNPOD_API_KEY", "HF_TOKEN", "HF_ENDPOINT")


@dataclass(frozen=True, slots=True)
class DemoWorld:
    """A running simulator and the home that belongs to it.

    Attributes:
        env: the environment that settings are loaded from.
        fresh: started by us just now, so its home has been emptied and wants the scenario's runs.
    """

    env: Mapping[str, str]
    home: Path
    admin_url: str
    fresh: bool

    def runs(self) -> list[dict[str, Any]]:
        """The scenario's runs, as ``flashtui.runs/1`` items."""
        return fetch_runs(self.admin_url)


@contextmanager
def demo_world(
    env: Mapping[str, str], *, seed: int = 7, speed: float = 1.0, own_process: bool = False
) -> Iterator[DemoWorld]:
    """Join the live demo of this home, or start one that ends with this block.

    Args:
        env: the caller's environment; keys and base URLs in it are replaced.
        seed: which market.
        speed: simulated seconds per second.
        own_process: a dashboard's simulator must not sit on its interpreter lock; a one-shot may use a thread.

    Raises:
        ConfigError: the simulator did not start.
    """
    with ExitStack() as stack:
        home = _home(env, stack)
        live = _live(home)
        if live is not None:
            yield _world(env, home, live, fresh=False)
            return
        _empty(home)
        facts = stack.enter_context(_process(seed, speed) if own_process else _thread(seed, speed))
        note = home / "sim.json"
        note.write_text(json.dumps(facts, indent=1), encoding="utf-8")
        note.chmod(0o600)
        stack.callback(note.unlink, missing_ok=True)
        yield _world(env, home, facts, fresh=True)


def _world(
    env: Mapping[str, str], home: Path, facts: Mapping[str, Any], *, fresh: bool
) -> DemoWorld:
    exports: dict[str, str] = dict(facts["exports"])
    merged = {name: value for name, value in env.items() if name not in _REAL}
    merged.update(exports)
    merged["FLASHTUI_HOME"] = str(home)
    return DemoWorld(env=merged, home=home, admin_url=str(facts["admin_url"]), fresh=fresh)


def _home(env: Mapping[str, str], stack: ExitStack) -> Path:
    root = env.get("FLASHTUI_HOME", "").strip()
    home = (
        Path(root).expanduser() / "demo"
        if root
        else Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="flashtui-demo-")))
    )
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home


def _live(home: Path) -> dict[str, Any] | None:
    """What ``sim.json`` says, when the simulator it names still answers."""
    try:
        facts: dict[str, Any] = json.loads((home / "sim.json").read_text(encoding="utf-8"))
        _get_json(f"{str(facts['admin_url']).rstrip('/')}/time")
    except (OSError, ValueError, KeyError):
        return None
    return facts if set(facts.get("exports", {})) >= _WANTED else None


def _empty(home: Path) -> None:
    """Forget an earlier demo: its machines ended with its simulator."""
    for name in ("flashtui.db", "flashtui.db-wal", "flashtui.db-shm", "sim.json"):
        (home / name).unlink(missing_ok=True)


@contextmanager
def _thread(seed: int, speed: float) -> Iterator[dict[str, Any]]:
    from flashtui.sim.server import start_in_thread

    running = start_in_thread(scenario="demo", seed=seed, speed=speed, port=0)
    try:
        yield {"admin_url": running.admin_url, "pid": os.getpid(), "exports": running.exports()}
    finally:
        running.close()


@contextmanager
def _process(seed: int, speed: float) -> Iterator[dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "flashtui.sim",
        "--port",
        "0",
        "--scenario",
        "demo",
        "--seed",
        str(seed),
    ]
    command += ["--speed", str(speed), "--parent-pid", str(os.getpid())]
    # Its own session: the terminal's hang-up and Ctrl-C are the dashboard's business; --parent-pid ends it with us.
    child = subprocess.Popen(  # noqa: S603 - our own module, no shell
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        exports = _read_exports(child)
        admin_url = exports["FLASHTUI_CLOCK_URL"].removesuffix("/time")
        yield {"admin_url": admin_url, "pid": child.pid, "exports": exports}
    finally:
        child.terminate()
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if child.stdout is not None:
            child.stdout.close()


def _read_exports(child: subprocess.Popen[str]) -> dict[str, str]:
    exports: dict[str, str] = {}
    for line in child.stdout or ():
        name, _, value = line.strip().removeprefix("export ").partition("=")
        exports[name] = "".join(shlex.split(value))
        if set(exports) >= _WANTED:
            return exports
    msg = "the simulator did not start; `flashtui sim` shows why"
    raise ConfigError(msg)


def fetch_runs(admin_url: str) -> list[dict[str, Any]]:
    """The scenario's runs, as ``flashtui.runs/1`` items."""
    items: list[dict[str, Any]] = _get_json(f"{admin_url.rstrip('/')}/runs")["items"]
    return items


def _get_json(url: str) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_PROBE_TIMEOUT_S) as answer:
            return json.load(answer)
    except urllib.error.URLError as error:
        raise OSError(str(error)) from error
