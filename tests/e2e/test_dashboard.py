"""The dashboard in a real pseudo-terminal: what a person sees, and a destroy by keyboard that the provider's books confirm."""

from __future__ import annotations

import json
import re
import signal
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import flashtui
from tests.e2e.terminal import clean_env

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.conftest import Simulator
    from tests.e2e.terminal import Terminal

    StartSimulator = Callable[..., Simulator]
    OpenTerminal = Callable[..., Terminal]

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


def live_rows(screen: str) -> bool:
    """Whether live rows of both providers are on the screen."""
    return bool(re.search(r"runpod .*live", screen) and re.search(r"vast .*live", screen))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_the_demo_opens_with_live_rows_of_both_providers(
    tmp_path: Path, open_terminal: OpenTerminal, size: tuple[int, int]
) -> None:
    """One command, no key, no network; q leaves, and the simulator ends with it."""
    terminal = open_terminal(clean_env(tmp_path), "--demo", size=size)
    terminal.wait_for(live_rows)
    assert "SIMULATED" in terminal.text
    facts = json.loads((tmp_path / "flashtui" / "demo" / "sim.json").read_text())
    terminal.press("q")
    assert terminal.wait_exit() == 0
    assert not (tmp_path / "flashtui" / "demo" / "sim.json").exists()
    assert facts["pid"] != terminal.pid


def test_a_run_destroyed_by_keyboard_is_gone_in_the_ledger(
    start_simulator: StartSimulator, open_terminal: OpenTerminal
) -> None:
    """Enter, y and type-ahead do nothing; Tab and Enter after the dead time do; the row says gone when it is."""
    simulator = start_simulator("calm", "--speed", "4")
    terminal = open_terminal(simulator.env, size=(200, 60))
    terminal.wait_for(live_rows)
    terminal.press("2")
    resource = select_running_vast_run(terminal)
    terminal.press("D", "tab", "enter", "y")
    terminal.wait_for(">[ Cancel ]<")
    terminal.press("y", "enter")
    leave_dialog(terminal)
    assert simulator.ledger()[resource]["billing"]
    terminal.press("D")
    terminal.wait_for(lambda screen: "checked" in screen.lower() and "Cancel" in screen)
    confirm(terminal)
    terminal.wait_for(lambda _: not simulator.ledger()[resource]["billing"])
    terminal.press("q")
    assert terminal.wait_exit() == 0
    shown = json.loads(flashtui(simulator.env, "runs", "--all", "--json").stdout)
    mine = next(r for r in shown["items"] if any(x["id"] == resource for x in r["resources"]))
    assert (mine["resource_state"], mine["may_bill"]) == ("gone", False)


def test_quitting_during_a_destroy_does_not_stop_it(
    start_simulator: StartSimulator, open_terminal: OpenTerminal
) -> None:
    """A confirmed destroy is committed: leaving skips the grace and waits for the proof, for a bounded time."""
    simulator = start_simulator("calm", "--speed", "4")
    terminal = open_terminal(simulator.env, size=(200, 60))
    terminal.wait_for(live_rows)
    terminal.press("2")
    resource = select_running_vast_run(terminal)
    terminal.press("D")
    terminal.wait_for(lambda screen: "checked" in screen.lower() and "Cancel" in screen)
    confirm(terminal)
    terminal.press("ctrl+q")
    assert terminal.wait_exit() == 0
    assert not simulator.ledger()[resource]["billing"]


def test_a_run_recorded_by_another_process_appears(
    start_simulator: StartSimulator, open_terminal: OpenTerminal, tmp_path: Path
) -> None:
    """The runs pane follows the store, whoever writes it."""
    simulator = start_simulator()
    terminal = open_terminal(simulator.env, size=(200, 60))
    terminal.wait_for(live_rows)
    item = {
        "run_id": "flash-1790000000-feedbeef",
        "state": "queued",
        "provider": "vast",
        "gpu": "L4",
        "goal": "run",
    }
    runs = tmp_path / "more.json"
    runs.write_text(json.dumps({"schema": "flashtui.runs/1", "items": [item]}))
    assert flashtui(simulator.env, "import", str(runs)).returncode == 0
    terminal.wait_for("queued", hang_s=20)


def test_one_provider_down_is_said_in_words_while_the_other_lives(
    start_simulator: StartSimulator, open_terminal: OpenTerminal
) -> None:
    """A dead port must not keep the dashboard from opening, nor hide what is wrong."""
    simulator = start_simulator()
    env = {**simulator.env, "FLASHTUI_VAST_URL": "http://127.0.0.1:1"}
    terminal = open_terminal(env, size=(120, 40))
    terminal.wait_for(
        lambda screen: bool(re.search(r"runpod .*live", screen)) and "vast DOWN" in screen
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_with_its_code_and_a_restored_terminal(
    tmp_path: Path, open_terminal: OpenTerminal, number: signal.Signals, code: int
) -> None:
    """No alternate screen, no hidden cursor and no mouse reporting may be left behind."""
    terminal = open_terminal(clean_env(tmp_path), "--demo")
    terminal.wait_for(live_rows)
    terminal.signal(number)
    assert terminal.wait_exit() == code
    assert terminal.raw.rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"\x1b[?1049h")


def test_without_a_terminal_it_says_what_to_do(tmp_path: Path) -> None:
    """A pipe gets a sentence and exit code 2; --once gets the tables."""
    env = clean_env(tmp_path)
    refused = flashtui(env, "--demo")
    assert refused.returncode == 2
    assert "--once" in refused.stderr
    once = flashtui(env, "--demo", "--once")
    assert once.returncode == 0
    assert "SIMULATED" in once.stdout
    assert "RTX 4090" in once.stdout


def select_running_vast_run(terminal: Terminal) -> str:
    """Move the cursor to a Vast run that is running; returns its instance id, as the detail shows it."""
    for _ in range(12):
        found = re.search(r"running\s+vast instance (\d{8})", terminal.text)
        if found:
            return found[1]
        terminal.press("j")
    raise AssertionError(terminal.text)


def confirm(terminal: Terminal) -> None:
    """Move to the Destroy button, once the dialog listens, and press it."""
    for _ in range(30):
        terminal.press("tab")
        if terminal.shows(">[ Destroy ]<"):
            break
    for _ in range(30):
        terminal.press("enter")
        if not terminal.shows("[ Destroy ]", within_s=0.3):
            return
    raise AssertionError(terminal.text)


def leave_dialog(terminal: Terminal) -> None:
    """Press Escape until the dialog is gone."""
    for _ in range(30):
        terminal.press("esc")
        if not terminal.shows("[ Destroy ]", within_s=0.3):
            return
    raise AssertionError(terminal.text)
