"""Real work on simulated Vast: what a client starts on a rented machine runs as a local process and dies with it."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.sim.scenario import from_toml
from flashtui.sim.work import Work
from tests.sim.vast_sim import Sim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SELF_DESTRUCTION = """
import os, urllib.request
url = f"{os.environ['VAST_URL']}/api/v0/instances/{os.environ['CONTAINER_ID']}/"
key = {"Authorization": "Bearer " + os.environ["CONTAINER_API_KEY"]}
urllib.request.urlopen(urllib.request.Request(url, b"{}", key, method="DELETE"))
"""


@contextmanager
def working() -> Iterator[Sim]:
    sim = Sim(from_toml("work", "[vast]\nboot_s = [5, 5]\n"), work=Work())
    try:
        yield sim
    finally:
        sim.close()


def until(condition: Callable[[], Any]) -> Any:
    """Wait for something a process does by itself; the limit only guards against a hang."""
    for _ in range(2000):
        if found := condition():
            return found
        time.sleep(0.01)
    pytest.fail("it did not happen")


def log_of(sim: Sim, number: int) -> str:
    url = sim.send("PUT", f"/api/v0/instances/request_logs/{number}/", {}).json["result_url"]
    sim.step(5)
    return sim.send("GET", url.removeprefix(sim.running.url("vast")), key=None).body.decode()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_arguments_run_with_the_clients_environment_when_the_machine_runs() -> None:
    with working() as sim:
        script = 'echo "hello $NAME from $CONTAINER_ID, hub $HF_ENDPOINT"; sleep 60'
        number = sim.rent(
            args=["bash", "-c", script], env={"NAME": "anna", "-p 80:80": "1"}, runtype="args"
        )
        sim.step(3)
        assert log_of(sim, number).strip() == ""
        sim.step(10)
        line = until(lambda: log_of(sim, number).strip())
        assert line == f"hello anna from {number}, hub {sim.running.url('hub')}"


def test_a_start_up_script_runs_too_and_dies_with_a_destroy() -> None:
    with working() as sim:
        number = sim.rent(onstart="echo $$; sleep 60")
        sim.step(10)
        pid = int(until(lambda: log_of(sim, number).strip()))
        assert is_alive(pid)
        sim.send("DELETE", f"/api/v0/instances/{number}/", {})
        assert not is_alive(pid)


def test_a_stop_kills_and_a_start_runs_it_again() -> None:
    with working() as sim:
        number = sim.rent(onstart="echo $$; sleep 60")
        sim.step(10)
        first = int(until(lambda: log_of(sim, number).strip()))
        sim.send("PUT", f"/api/v0/instances/{number}/", {"state": "stopped"})
        sim.step(10)
        assert not is_alive(first)
        sim.send("PUT", f"/api/v0/instances/{number}/", {"state": "running"})
        sim.step(20)
        assert int(until(lambda: log_of(sim, number).strip())) != first


def test_a_process_that_ends_ends_the_container_with_its_code() -> None:
    with working() as sim:
        number = sim.rent(args=["bash", "-c", "exit 7"], runtype="args")
        sim.step(10)
        until(lambda: sim.instance(number)["actual_status"] == "exited")
        shown = sim.instance(number)
        assert "code 7" in shown["status_msg"]
        assert shown["intended_status"] == "running"


def test_a_machine_can_destroy_itself_with_its_own_key() -> None:
    with working() as sim:
        number = sim.rent(args=["python", "-c", _SELF_DESTRUCTION], runtype="args")
        sim.step(10)
        until(lambda: sim.ledger(number)["closed_at"] is not None)
        assert sim.instance(number) is None
