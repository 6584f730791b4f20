"""Real work: a worker's command runs as a local process, speaks the worker's protocol, and dies with its machine."""

from __future__ import annotations

import os
import shlex
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtui.sim.scenario import from_toml
from flashtui.sim.server import build_world, serve
from flashtui.sim.simtime import SimTime
from flashtui.sim.work import Work
from flashtui.sim.world import World
from tests.sim.runpod_sim import START, Sim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SCENARIO = """
work = true
[runpod]
sells_out = false
pods_boot_s = [0, 0]
[runpod.serverless]
start_s = [0, 0]
"""
_CALLS = """
import json, os, sys, time, urllib.request
def call(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": os.environ["RUNPOD_AI_API_KEY"]}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as answer:
        return answer.status, answer.read()
worker = os.environ["RUNPOD_POD_ID"]
def take():
    while True:
        url = os.environ["RUNPOD_WEBHOOK_GET_JOB"].replace("$ID", worker)
        status, body = call("GET", url + "&job_in_progress=0")
        if status == 200:
            return json.loads(body)
def report(job, body):
    url = os.environ["RUNPOD_WEBHOOK_POST_OUTPUT"].replace("$RUNPOD_POD_ID", worker).replace("$ID", job["id"])
    call("POST", url + "&isStream=false", body)
"""
_ECHO = f"""{_CALLS}
job = take()
report(job, {{"status": "IN_PROGRESS", "output": {{"step": 1, "total": 2}}}})
print("training", job["input"]["seed"], flush=True)
report(job, {{"output": {{"seen": job["input"], "token": os.environ["HF_TOKEN"], "hub": os.environ["HF_ENDPOINT"]}}}})
time.sleep(60)
"""
_SLEEPS = f"""{_CALLS}
job = take()
report(job, {{"status": "IN_PROGRESS", "output": {{"pid": os.getpid()}}}})
time.sleep(60)
"""
_DIES = f"""{_CALLS}
job = take()
print("out of memory", flush=True)
sys.exit(137)
"""


@contextmanager
def _working(scenario: str = _SCENARIO) -> Iterator[Sim]:
    time_source = SimTime(START, 1.0, time.monotonic)
    running = serve(World(from_toml("work", scenario), 7, time_source, work=Work()))
    try:
        yield Sim(running)
    finally:
        running.close()


def _until(condition: Callable[[], Any]) -> Any:
    """Wait for something a process does by itself; the limit only guards against a hang."""
    for _ in range(2000):
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    msg = "nothing happened"
    raise AssertionError(msg)


def _endpoint(sim: Sim, script: str) -> tuple[str, str]:
    endpoint = sim.endpoint(args=f"python -c {shlex.quote(script)}", env={"HF_TOKEN": "hf_demo"})
    return endpoint, sim.run(endpoint)


def _ended(sim: Sim, endpoint: str, job: str) -> dict[str, Any] | None:
    answer = sim.status(endpoint, job)
    return answer if answer["status"] in {"COMPLETED", "FAILED"} else None


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def test_a_worker_takes_the_job_and_its_result_is_what_the_client_reads() -> None:
    with _working() as sim:
        endpoint, job = _endpoint(sim, _ECHO)
        answer = _until(lambda: _ended(sim, endpoint, job))
        worker = sim.rest("GET", f"/serverless/{endpoint}/workers").json["workers"][0]["id"]
        log = sim.rest("GET", f"/serverless/{endpoint}/workers/{worker}/logs").body
        hub = sim.running.url("hub")
    assert answer["status"] == "COMPLETED"
    assert answer["output"] == {"seen": {"seed": 0}, "token": "hf_demo", "hub": hub}
    assert b"training 0" in log


def test_deleting_the_endpoint_kills_what_its_worker_runs() -> None:
    with _working() as sim:
        endpoint, job = _endpoint(sim, _SLEEPS)
        pid = _until(lambda: sim.status(endpoint, job).get("output"))["pid"]
        assert _is_alive(pid)
        sim.rest("DELETE", f"/serverless/{endpoint}")
        assert not _is_alive(pid)


def test_a_process_that_dies_fails_its_job_with_the_exit_code() -> None:
    with _working() as sim:
        endpoint, job = _endpoint(sim, _DIES)
        answer = _until(lambda: _ended(sim, endpoint, job))
    assert (answer["status"], answer["error"]) == ("FAILED", "worker exited with exit code 137")


def test_an_image_without_a_command_stays_simulated() -> None:
    with _working(_SCENARIO + "run_s = [0, 0]\n") as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint)
        answer = _until(lambda: _ended(sim, endpoint, job))
    assert answer["status"] == "COMPLETED"


def test_a_pod_runs_its_command_until_it_is_ended() -> None:
    script = "import os, time; print('pid', os.getpid(), flush=True); time.sleep(60)"
    body = {
        "name": "p",
        "gpu": {"id": "NVIDIA RTX A6000"},
        "image": "i",
        "args": f"python -c {shlex.quote(script)}",
    }
    with _working() as sim:
        pod = sim.rest("POST", "/pods", body).json["id"]

        def said() -> str | None:
            text = sim.rest("GET", f"/pods/{pod}/logs?source=container").body.decode()
            return text if "pid " in text else None

        pid = int(_until(said).split("pid ")[1].split('"')[0])
        assert _is_alive(pid)
        sim.rest("DELETE", f"/pods/{pod}")
        assert not _is_alive(pid)


def test_closing_the_simulator_leaves_no_process_and_no_folder() -> None:
    with _working() as sim:
        endpoint, job = _endpoint(sim, _SLEEPS)
        pid = _until(lambda: sim.status(endpoint, job).get("output"))["pid"]
    assert not _is_alive(pid)


def test_nothing_runs_unless_it_was_asked_for() -> None:
    assert build_world("calm", work=False).work is None


def test_a_process_sees_nothing_of_the_hosts_environment(tmp_path: Path) -> None:
    work = Work({"HF_ENDPOINT": "http://127.0.0.1:1"})
    try:
        os.environ["CANARY_OF_THE_HOST"] = "1"
        target = tmp_path / "env"
        script = f"import os; open({str(target)!r}, 'w').write(repr(sorted(os.environ)))"
        work.start("m", ["python", "-c", script], {"MINE": "1"})
        _until(lambda: work.exit_code("m") is not None)
        seen = target.read_text()
    finally:
        del os.environ["CANARY_OF_THE_HOST"]
        work.close()
    assert "MINE" in seen
    assert "HF_ENDPOINT" in seen
    assert "CANARY" not in seen


def test_a_command_that_does_not_exist_ends_with_127_and_says_so() -> None:
    work = Work()
    try:
        work.start("m", ["no-such-program"], {})
        _until(lambda: work.exit_code("m") is not None)
        assert work.exit_code("m") == 127
        assert "no-such-program: not found" in work.output("m")
    finally:
        work.close()


def test_killing_a_machine_takes_its_children_along(tmp_path: Path) -> None:
    work = Work()
    mark = tmp_path / "child"
    try:
        work.start("m", ["sh", "-c", f"sleep 60 & echo $! > {mark}; wait"], {})
        child = int(_until(lambda: mark.exists() and mark.read_text().strip()))
        work.kill("m")
        _until(lambda: not _is_alive(child))
        assert not work.is_running("m")
    finally:
        work.close()
