"""The client's models and the simulator's answers against the third witness, `facts.toml`."""

from __future__ import annotations

import json
import tomllib
import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.providers.runpod import wire as runpod_rest
from flashtui.providers.runpod import wire_graphql, wire_jobs
from flashtui.providers.vast import wire as vast
from flashtui.sim.server import Running, start_in_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

FACTS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("facts.toml").read_text(encoding="utf-8")
)
READERS: dict[str, type[BaseModel]] = {
    "vast_offer": vast.OfferRow,
    "vast_instance": vast.InstanceRow,
    "vast_instance_cost": vast.CostRow,
    "vast_user": vast.UserRow,
    "vast_charge": vast.ChargeRow,
    "runpod_gpu_type": wire_graphql.GpuType,
    "runpod_lowest_price": wire_graphql.LowestPrice,
    "runpod_place": wire_graphql.Place,
    "runpod_place_stock": wire_graphql.GpuStock,
    "runpod_myself": wire_graphql.Myself,
    "runpod_graphql_error": wire_graphql.GraphqlProblem,
    "runpod_catalog_gpu": runpod_rest.CatalogGpu,
    "runpod_catalog_price": runpod_rest.CatalogPrice,
    "runpod_catalog_stock": runpod_rest.DataCenterStock,
    "runpod_endpoint": runpod_rest.Endpoint,
    "runpod_endpoint_gpu": runpod_rest.EndpointGpu,
    "runpod_endpoint_workers": runpod_rest.EndpointWorkers,
    "runpod_worker": runpod_rest.Worker,
    "runpod_pod": runpod_rest.Pod,
    "runpod_pod_gpu": runpod_rest.PodGpu,
    "runpod_pod_mounts": runpod_rest.Mounts,
    "runpod_pod_volume": runpod_rest.PersistentMount,
    "runpod_problem": runpod_rest.Problem,
    "runpod_job": wire_jobs.JobStatus,
    "runpod_health": wire_jobs.Health,
    "runpod_health_jobs": wire_jobs.JobCounts,
    "runpod_health_workers": wire_jobs.WorkerCounts,
}
# What is sent is not read; the contract tests and the simulator's strictness judge it.
SENT = {
    "Query",
    "CreateBody",
    "NewGpu",
    "NewWorkers",
    "QueueDelay",
    "NewEndpoint",
    "Policy",
    "RunJob",
}
TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "number": (int, float),
    "str": (str,),
    "bool": (bool,),
    "list": (list,),
    "object": (dict,),
    "any": (object,),
}


def wire_name(model: type[BaseModel], field: str) -> str:
    return model.model_fields[field].alias or field


def test_every_model_that_reads_has_facts() -> None:
    """A model nobody has witnessed would be a guess."""
    models = {
        value
        for module in (vast, runpod_rest, wire_graphql, wire_jobs)
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and getattr(value, "model_fields", None)
    }
    assert {m for m in models if m.__name__ not in SENT} == set(READERS.values())


@pytest.mark.parametrize("group", READERS)
def test_every_field_that_is_read_has_a_fact_and_every_fact_is_read(group: str) -> None:
    """Neither a field without a source nor a fact that nobody needs."""
    model = READERS[group]
    assert {wire_name(model, field) for field in model.model_fields} == set(FACTS[group]["fields"])
    assert FACTS[group]["source"]


@pytest.mark.parametrize("group", READERS)
def test_the_model_reads_the_documented_example(group: str) -> None:
    """As the fact says it: the same number, the same text, in the same unit."""
    model, facts = READERS[group], FACTS[group]["fields"]
    read = model.model_validate_json(json.dumps({name: fact[2] for name, fact in facts.items()}))
    for field in model.model_fields:
        kind, _, example = facts[wire_name(model, field)]
        value = getattr(read, field)
        assert value is not None, field
        if kind.startswith(("int", "number")):
            number = value.timestamp() if isinstance(value, datetime) else float(value)
            assert number == pytest.approx(float(example)), field
        elif kind.startswith("bool"):
            assert value is example, field
        elif kind.startswith("str") and isinstance(value, str):
            assert value == example, field


@pytest.fixture(scope="module")
def answers() -> Iterator[dict[str, Any]]:
    """One real answer of the simulator for each method and path of the facts."""
    running = start_in_thread("calm", 7, 1.0, 0)
    yield collect(running)
    running.close()


def collect(running: Running) -> dict[str, Any]:
    vast_url, runpod, jobs = running.url("vast"), running.url("runpod"), running.url("jobs")
    exports = running.exports()
    keys = {
        vast_url: exports["VAST_API_KEY"],
        runpod: exports["RUNPOD_API_KEY"],
        jobs: exports["RUNPOD_API_KEY"],
    }

    def ask(base: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            f"{base}{path}", data=None if body is None else json.dumps(body).encode()
        )
        request.add_header("Authorization", f"Bearer {keys[base]}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return json.load(error)

    ask(runpod, "/graphql", {"query": POD})
    endpoints = ask(runpod, "/v2/serverless")
    endpoint = endpoints["endpoints"][0]["id"]
    job = ask(jobs, f"/v2/{endpoint}/run", {"input": {"steps": 1}})["id"]
    day = "%7B%22day%22%3A%7B%22gte%22%3A1700000000%2C%22lte%22%3A1900000000%7D%7D"
    return {
        "POST /api/v0/bundles/": ask(
            vast_url, "/api/v0/bundles/", {"limit": 20, "order": [["dph_total", "asc"]]}
        ),
        "GET /api/v1/instances/": ask(vast_url, "/api/v1/instances/"),
        "GET /api/v0/users/current/": ask(vast_url, "/api/v0/users/current/"),
        "GET /api/v0/charges/": ask(vast_url, f"/api/v0/charges/?select_filters={day}&limit=50"),
        "POST /graphql": {
            **ask(runpod, "/graphql", {"query": PRICES}),
            "errors": ask(runpod, "/graphql", {"query": "query { nothing }"})["errors"],
        },
        "GET /v2/catalog/gpus": ask(
            runpod, "/v2/catalog/gpus?include=AVAILABILITY&product=SERVERLESS"
        ),
        "GET /v2/serverless": endpoints,
        "GET /v2/serverless/{id}/workers": ask(runpod, f"/v2/serverless/{endpoint}/workers"),
        "GET /v2/pods": ask(runpod, "/v2/pods"),
        "GET /v2/{endpoint}/status/{job}": ask(jobs, f"/v2/{endpoint}/status/{job}"),
        "GET /v2/{endpoint}/health": ask(jobs, f"/v2/{endpoint}/health"),
        "GET /v2/serverless/{unknown}": ask(runpod, "/v2/serverless/nothing-here"),
    }


PRICES = """query {
  gpuTypes { id displayName memoryInGb secureCloud communityCloud securePrice communityPrice
    lowestPrice(input: {gpuCount: 1, secureCloud: true}) { uninterruptablePrice stockStatus } }
  dataCenters { id gpuAvailability { gpuTypeId stockStatus } }
  myself { clientBalance currentSpendPerHr spendLimit } }"""
POD = """mutation { podFindAndDeployOnDemand(input: {cloudType: SECURE, gpuCount: 1, volumeInGb: 20, containerDiskInGb: 20,
  gpuTypeId: "NVIDIA GeForce RTX 4090", name: "facts", imageName: "example/train:1", volumeMountPath: "/workspace"}) { id } }"""


def found_at(answer: Any, path: str) -> list[Any]:
    """Everything a dotted path leads to; `*` is every item of a list; null leads nowhere."""
    values = [answer]
    for step in filter(None, path.split(".")):
        if step == "*":
            values = [item for value in values for item in value]
        else:
            values = [value[step] for value in values if value.get(step) is not None]
    return values


@pytest.mark.parametrize("group", READERS)
def test_the_simulator_answers_what_is_documented(answers: dict[str, Any], group: str) -> None:
    """Field by field: there, of the documented type, null only where that is documented."""
    facts = FACTS[group]
    items = found_at(answers[f"{facts['method']} {facts['path']}"], facts["at"])
    assert items, "the simulator answered nothing of this kind"
    for name, (kind, _, _) in facts["fields"].items():
        optional, types = kind.endswith("?"), TYPES[kind.rstrip("?")]
        values = [item.get(name) for item in items]
        if not optional:
            assert None not in values, name
        assert all(value is None or _is_a(value, types) for value in values), (name, values[:3])


def _is_a(value: object, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and (
        bool in types or object in types or not isinstance(value, bool)
    )
