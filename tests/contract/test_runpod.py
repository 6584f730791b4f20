"""The official RunPod library against the simulator: GraphQL, endpoints and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.contract.conftest import Bench

CLIENT = "runpod"
pytestmark = [pytest.mark.contract, pytest.mark.timeout(300)]
START = "import json, os, runpod\nrunpod.api_key = os.environ['RUNPOD_API_KEY']\n"


def test_catalogue_and_pods(bench: Bench) -> None:
    """get_gpus, get_gpu, get_pods, create_pod, stop_pod, terminate_pod."""
    seen = bench.python(
        START + "gpu = 'NVIDIA GeForce RTX 4090'\n"
        "gpus = runpod.get_gpus(); one = runpod.get_gpu(gpu)\n"
        "pod = runpod.create_pod('contract-test', 'example/train:1', gpu)\n"
        "listed = [p['id'] for p in runpod.get_pods()]\n"
        "stopped = runpod.stop_pod(pod['id']); runpod.terminate_pod(pod['id'])\n"
        "left = [p['id'] for p in runpod.get_pods()]\n"
        "print(json.dumps({'gpus': len(gpus), 'price': one['securePrice'], 'pod': pod['id'], 'listed': listed,"
        " 'stopped': stopped['desiredStatus'], 'left': left}))"
    )
    assert seen["gpus"] > 40
    assert 0.4 < seen["price"] < 1.2
    assert seen["pod"] in seen["listed"]
    assert seen["stopped"] == "EXITED"
    assert seen["pod"] not in seen["left"]
    row = next(r for r in bench.admin("ledger")["resources"] if r["id"] == seen["pod"])
    assert not row["billing"]
    assert bench.violations() == []


def test_an_unknown_gpu_is_an_error(bench: Bench) -> None:
    """An empty list is what makes the library say so."""
    seen = bench.python(
        START
        + "try:\n    runpod.get_gpu('NVIDIA NOTHING')\nexcept ValueError as e:\n    print(json.dumps(str(e)))"
    )
    assert seen
    assert bench.violations() == []


def test_endpoints_and_jobs(bench: Bench) -> None:
    """create_template, create_endpoint, get_endpoints; run, run_sync, status, cancel, health, purge_queue."""
    made = bench.python(
        START
        + "t = runpod.create_template('contract-template', 'example/train:1', is_serverless=True)\n"
        "e = runpod.create_endpoint('contract-endpoint', t['id'], gpu_ids='ADA_24', workers_max=1)\n"
        "print(json.dumps({'endpoint': e['id'], 'listed': [x['id'] for x in runpod.get_endpoints()]}))"
    )
    assert made["endpoint"] in made["listed"]
    ran = bench.python(
        START + f"ep = runpod.Endpoint({made['endpoint']!r})\n"
        "job = ep.run({'input': {'steps': 5}}); first = job.status()\n"
        "health = ep.health(); cancelled = job.cancel(); after = job.status()\n"
        "ep.run({'input': {'steps': 5}}); purged = ep.purge_queue()\n"
        "print(json.dumps({'first': first, 'health': sorted(health), 'cancelled': cancelled['status'],"
        " 'after': after, 'purged': purged['status']}))"
    )
    assert ran["first"] in {"IN_QUEUE", "IN_PROGRESS"}
    assert ran["health"] == ["jobs", "workers"]
    assert (ran["cancelled"], ran["after"], ran["purged"]) == (
        "CANCELLED",
        "CANCELLED",
        "completed",
    )
    bench.admin("time", {"speed": 600})
    output = bench.python(
        START + f"ep = runpod.Endpoint({made['endpoint']!r})\n"
        "print(json.dumps(ep.run_sync({'input': {'steps': 1}}, timeout=100)))"
    )
    assert output is not None
    assert bench.violations() == []


def test_a_wrong_answer_of_the_simulator_is_noticed(bench: Bench) -> None:
    """The proof that these tests can fail: errors beside data make the library raise."""
    bench.admin(
        "fault",
        {"name": "graphql_errors", "surface": "runpod", "route": "POST /graphql*", "count": 5},
    )
    done = bench.run("python", "-c", START + "runpod.get_gpus()")
    assert done.returncode != 0
    assert "QueryError" in done.stderr
