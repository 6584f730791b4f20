"""RunPod's REST v2: refusals in problem+json, quota headers, pods, templates, volumes, billing, retired v1."""

from __future__ import annotations

from typing import Any

import pytest

from flashtui.sim.runpod.rest import ROUTES
from tests.sim.runpod_sim import A4090, Sim, running


def _pod(sim: Sim, **changes: Any) -> dict[str, Any]:
    body = {
        "name": "foreign-pod",
        "gpu": {"id": "NVIDIA RTX A6000"},
        "image": "acme/notebook:1",
        "disk": 40,
        "mounts": {"persistent": {"size": 100, "path": "/workspace"}},
    }
    reply = sim.rest("POST", "/pods", {**body, **changes})
    assert reply.status == 201, reply.body
    pod: dict[str, Any] = reply.json
    return pod


def test_the_retired_version_answers_410() -> None:
    with running() as sim:
        reply = sim.call("runpod", "GET", "/v1/endpoints")
    assert reply.status == 410


@pytest.mark.parametrize(
    ("key", "status", "detail"),
    [(None, 401, "missing bearer token"), ("rpa_WRONG", 401, "invalid bearer token")],
)
def test_a_missing_and_a_wrong_key_are_problems(key: str | None, status: int, detail: str) -> None:
    with running() as sim:
        reply = sim.rest("GET", "/serverless", key=key)
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json == {"title": "Unauthorized", "status": status, "detail": detail}


def test_a_read_only_key_may_not_create() -> None:
    with running() as sim:
        reply = sim.rest("POST", "/serverless", A4090, key="rpa_DEMOREADONLY")
    assert (reply.status, reply.json["detail"]) == (403, "access denied")


def test_every_answer_tells_the_quota() -> None:
    with running() as sim:
        first = sim.rest("GET", "/pods").headers
        second = sim.rest("GET", "/pods").headers
    assert first["ratelimit-policy"].startswith('"minute";q=60;w=60')
    assert '"minute";r=59;' in first["ratelimit"]
    assert '"minute";r=58;' in second["ratelimit"]


def test_an_enforced_quota_answers_429_with_the_seconds_to_wait() -> None:
    with running("[runpod]\nenforce_quota = true\n") as sim:
        replies = [sim.rest("GET", "/pods") for _ in range(61)]
    assert [reply.status for reply in replies[:60]] == [200] * 60
    assert replies[60].status == 429
    assert 0 < int(replies[60].headers["retry-after"]) <= 60


def test_an_unknown_field_is_named_and_recorded() -> None:
    with running() as sim:
        reply = sim.rest("POST", "/serverless", {**A4090, "workersMax": 1})
        kinds = sim.violations()
    assert reply.status == 422
    assert reply.json["errors"] == ["$: additional properties 'workersMax' not allowed"]
    assert kinds == ["unknown_field"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"gpu": {"pools": ["ADA_24"], "excludedTypes": ["NVIDIA L4"]}}, 400),
        ({"gpu": {"pools": ["ADA_24"], "excludedTypes": ["NVIDIA GeForce RTX 4090"]}}, 400),
        ({"gpu": {"pools": ["NO_SUCH_POOL"]}}, 400),
        ({"gpu": {"pools": []}}, 422),
        ({"image": None}, 422),
        ({"scaling": {"type": "QUEUE_DELAY"}}, 422),
        ({"scaling": {"type": "QUEUE_DELAY", "queueDelay": 0.1}}, 422),
        ({"workers": {"idleTimeout": 7200}}, 422),
        ({"cpu": [{"id": "cpu3c"}]}, 400),
        ({"templateId": "nothing"}, 404),
        ({"networkVolumes": ["nothing"]}, 404),
        ({"type": "LOAD_BALANCER"}, 422),
    ],
)
def test_a_body_that_breaks_the_contract_makes_no_endpoint(
    changes: dict[str, Any], status: int
) -> None:
    with running() as sim:
        reply = sim.rest("POST", "/serverless", {**A4090, **changes})
        listed = sim.rest("GET", "/serverless").json["endpoints"]
    assert (reply.status, listed) == (status, [])


def test_a_patch_changes_only_what_it_names() -> None:
    with running() as sim:
        endpoint = sim.endpoint()
        changed = sim.rest("PATCH", f"/serverless/{endpoint}", {"workers": {"max": 0}}).json
        releases = sim.rest("GET", f"/serverless/{endpoint}/releases").json["releases"]
    assert changed["workers"] == {"min": 0, "max": 0, "idleTimeout": 60}
    assert changed["image"] == "acme/worker:1"
    assert releases[0]["diff"][0]["field"] == "workers"


def test_the_answer_of_a_create_carries_the_addresses_of_its_queue() -> None:
    with running() as sim:
        urls = sim.rest("POST", "/serverless", A4090).json["requestUrls"]
        path = urls["health"].removeprefix(sim.running.url("jobs"))
        assert sim.call("jobs", "GET", path).status == 200


def test_a_second_create_of_the_same_name_is_recorded() -> None:
    with running() as sim:
        sim.endpoint()
        sim.endpoint()
        assert sim.violations() == ["repeated_create"]


def test_a_wrong_method_names_the_right_ones() -> None:
    with running() as sim:
        reply = sim.rest("PUT", "/serverless")
        assert reply.status == 405
        assert reply.headers["allow"] == "GET, POST"
        assert sim.rest("GET", "/nothing").status == 404
        assert sim.violations() == ["unknown_method", "unknown_route"]


def test_a_pod_boots_bills_from_the_first_second_and_stops() -> None:
    with running() as sim:
        pod = _pod(sim)
        assert (pod["status"], pod["runtime"]) == ("PROVISIONING", None)
        sim.step(30)
        assert sim.rest("GET", f"/pods/{pod['id']}").json["status"] == "STARTING"
        sim.step(270)
        up = sim.rest("GET", f"/pods/{pod['id']}").json
        assert up["status"] == "RUNNING"
        assert up["runtime"]["uptime"] > 0
        row = sim.ledger(pod["id"])
        assert row["parts"]["gpu"] == pytest.approx(pod["cost"] * 300 / 3600, abs=1e-7)
        storage = (40 * 0.10 + 100 * 0.10) / 730
        assert row["rate_usd_per_hour"] == pytest.approx(pod["cost"] + storage, abs=1e-7)
        sim.rest("POST", f"/pods/{pod['id']}/action", {"action": "stop"})
        stopped = sim.ledger(pod["id"])
    assert stopped["billing"]
    assert stopped["rate_usd_per_hour"] == pytest.approx(100 * 0.20 / 730, abs=1e-7)


def test_a_terminated_pod_is_gone_and_bills_no_more() -> None:
    with running() as sim:
        pod = _pod(sim)
        assert sim.rest("DELETE", f"/pods/{pod['id']}").status == 204
        assert sim.rest("GET", f"/pods/{pod['id']}").status == 404
        assert sim.rest("GET", "/pods").json == {"pods": []}
        assert not sim.ledger(pod["id"])["billing"]


def test_an_action_that_does_not_fit_the_state_is_a_conflict() -> None:
    with running() as sim:
        pod = _pod(sim)
        sim.rest("POST", f"/pods/{pod['id']}/action", {"action": "stop"})
        assert sim.rest("POST", f"/pods/{pod['id']}/action", {"action": "stop"}).status == 409


def test_a_pod_of_a_sold_out_type_is_a_400_about_capacity() -> None:
    with running() as sim:
        sim.fault("stock_out", args={"gpu": "NVIDIA RTX A6000"})
        body = {"name": "p", "gpu": {"id": "NVIDIA RTX A6000"}, "image": "i"}
        reply = sim.rest("POST", "/pods", body)
    assert reply.status == 400
    assert "no longer any instances available" in reply.json["detail"]


def test_a_pod_needs_an_hour_of_credit() -> None:
    with running("[runpod]\nbalance = 0.3\n") as sim:
        body = {"name": "p", "gpu": {"id": "NVIDIA RTX A6000"}, "image": "i"}
        assert sim.rest("POST", "/pods", body).status == 402
        assert sim.rest("GET", "/pods").json == {"pods": []}


def test_money_runs_out_and_pods_stop_at_that_very_moment() -> None:
    with running("[runpod]\nbalance = 2.0\nsells_out = false\n") as sim:
        pod = _pod(sim)
        sim.step(24 * 3600)
        row = sim.ledger(pod["id"])
        balance = sim.graphql("{ myself { clientBalance } }").json["data"]["myself"]
        assert row["billed_usd"] == pytest.approx(2.0, abs=0.001)
        assert balance["clientBalance"] == pytest.approx(0.0, abs=0.001)
        assert sim.rest("GET", "/pods").json == {"pods": []}


def test_a_pod_with_a_network_volume_survives_the_end_of_the_money() -> None:
    with running("[runpod]\nbalance = 2.0\nsells_out = false\n") as sim:
        volume = sim.rest(
            "POST", "/network-volumes", {"name": "v", "size": 50, "dataCenter": "US-KS-2"}
        ).json
        mounts = {"network": [{"volumeId": volume["id"], "path": "/data"}]}
        pod = _pod(sim, mounts=mounts)
        sim.step(24 * 3600)
        assert sim.rest("GET", f"/pods/{pod['id']}").json["status"] == "EXITED"


def test_balance_falls_by_what_is_billed() -> None:
    query = "{ myself { clientBalance currentSpendPerHr } }"
    with running("[runpod]\nbalance = 100.5\n") as sim:
        pod = _pod(sim)
        before = sim.graphql(query).json["data"]["myself"]
        sim.step(3600)
        after = sim.graphql(query).json["data"]["myself"]
        billed = sim.ledger(pod["id"])["billed_usd"]
    assert before["clientBalance"] == 100.5
    assert before["currentSpendPerHr"] == pytest.approx(billed, abs=1e-6)
    assert after["clientBalance"] == pytest.approx(100.5 - billed, abs=1e-6)


def test_billing_adds_up_to_the_ledger_and_survives_deletion() -> None:
    with running() as sim:
        endpoint = sim.endpoint()
        sim.run(endpoint)
        sim.step(5000)
        sim.rest("DELETE", f"/serverless/{endpoint}")
        path = f"/billing/serverless?bucketSize=hour&lastN=3&serverlessId={endpoint}"
        answer = sim.rest("GET", path).json
        billed = sim.ledger(endpoint)["billed_usd"]
    assert answer["metadata"]["totals"]["totalAmount"] == pytest.approx(billed, abs=1e-6)
    assert answer["metadata"]["uniqueServerlessCount"] == 1
    assert {row["serverlessId"] for row in answer["records"]} == {endpoint}


def test_all_spending_together_names_each_component() -> None:
    with running() as sim:
        _pod(sim)
        sim.endpoint()
        sim.step(3600)
        answer = sim.rest("GET", "/billing?bucketSize=day&lastN=2").json
        total = sum(row["billed_usd"] for row in sim.admin("GET", "ledger")["resources"])
    totals = answer["metadata"]["totals"]
    assert totals["totalAmount"] == pytest.approx(total, abs=1e-5)
    assert totals["podGpuAmount"] > totals["podDiskAmount"] > 0


def test_public_endpoint_billing_is_another_product_and_empty() -> None:
    with running() as sim:
        assert sim.rest("GET", "/billing/endpoints").json["records"] == []
        assert sim.rest("GET", "/billing?lastN=2&startTime=2026-01-01T00:00:00Z").status == 400


def test_a_network_volume_costs_without_being_used() -> None:
    with running() as sim:
        body = {"name": "v", "size": 1500, "dataCenter": "EU-RO-1"}
        volume = sim.rest("POST", "/network-volumes", body).json
        row = sim.ledger(volume["id"])
        assert row["rate_usd_per_hour"] == pytest.approx((1000 * 0.07 + 500 * 0.05) / 730, abs=1e-7)
        assert sim.rest("DELETE", f"/network-volumes/{volume['id']}").status == 204
        assert not sim.ledger(volume["id"])["billing"]


def test_a_template_made_by_rest_feeds_an_endpoint() -> None:
    with running() as sim:
        template = sim.rest(
            "POST",
            "/templates",
            {"name": "t", "image": "acme/w:2", "serverless": True, "env": {"A": "1", "B": "2"}},
        ).json
        body = {key: value for key, value in A4090.items() if key != "image"}
        made = sim.rest(
            "POST", "/serverless", {**body, "templateId": template["id"], "env": {"B": "3"}}
        ).json
    assert (made["image"], made["env"]) == ("acme/w:2", {"A": "1", "B": "3"})


def test_a_missing_registry_is_a_400_on_delete() -> None:
    with running() as sim:
        assert sim.rest("DELETE", "/registries/nothing").status == 400


def test_scenario_pods_exist_with_their_literal_price() -> None:
    scenario = """
[[runpod.pods]]
id = "podforeign0001"
name = "notebook-anna"
gpu_id = "NVIDIA A40"
created_at = -7200
usd_per_hour = 0.44
volume_gb = 0
disk_gb = 0
"""
    with running(scenario) as sim:
        pod = sim.rest("GET", "/pods").json["pods"][0]
        row = sim.ledger("podforeign0001")
    assert (pod["name"], pod["cost"], pod["status"]) == ("notebook-anna", 0.44, "RUNNING")
    assert row["billed_usd"] == pytest.approx(0.88)


_DOCUMENTED = """
getSshKeys updateSshKeys listPods createPod getPod updatePod deletePod getPodLogs podAction listClusters
listEndpoints createEndpoint getEndpoint updateEndpoint deleteEndpoint listEndpointWorkers
listEndpointReleases getWorkerLogs listTemplates createTemplate getTemplate updateTemplate deleteTemplate
listNetworkVolumes createNetworkVolume getNetworkVolume updateNetworkVolume deleteNetworkVolume
listRegistries createRegistry getRegistry deleteRegistry listGpuTypes getGpuType listCpuTypes getCpuType
listDataCenters getDataCenter listPublicTemplates listBilling listPodBilling listServerlessBilling
listEndpointBilling listNetworkVolumeBilling listClusterBilling
"""


def test_every_route_is_an_operation_of_the_documentation() -> None:
    """Operation ids of RunPod's OpenAPI file of 2026-08; only clusters and registry delegations are left out."""
    assert sorted(route.source for route in ROUTES) == sorted(_DOCUMENTED.split())
