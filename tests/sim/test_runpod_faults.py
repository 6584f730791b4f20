"""Every way in which RunPod and the hub break by order, seen from a client's side."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from flashtui.sim.faults import catalogue
from tests.sim.runpod_sim import A4090, Reply, Sim, running

_FAST = """
[runpod]
sells_out = false
[runpod.serverless]
start_s = [30, 30]
[[runpod.plans]]
endpoint = "*"
run_s = 600
steps = 60
"""
_MYSELF = "{ myself { id clientBalance } }"
_ENDPOINTS = "{ myself { endpoints { id name } } }"


def _listed(sim: Sim) -> list[str]:
    return [row["id"] for row in sim.rest("GET", "/serverless").json["endpoints"]]


def _pod(sim: Sim, name: str = "p") -> str:
    body = {"name": name, "gpu": {"id": "NVIDIA RTX A6000"}, "image": "i"}
    return str(sim.rest("POST", "/pods", body).json["id"])


# -- the exchange itself ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "status", "part"),
    [
        ("html_502", 502, b"<!DOCTYPE html>"),
        ("html_403", 403, b"1010"),
        ("html_200", 200, b"<!DOCTYPE html>"),
        ("auth_empty", 401, b""),
        ("auth_401", 401, b"problem"),
        ("empty_body", 200, b""),
        ("server_error", 500, b"internal server error"),
        ("unavailable", 503, b"unavailable"),
    ],
)
def test_the_control_plane_breaks_before_it_acts(name: str, status: int, part: bytes) -> None:
    with running(_FAST) as sim:
        sim.fault(name, surface="runpod", route="POST /v2/serverless", count=1)
        reply = sim.rest("POST", "/serverless", A4090)
        assert (reply.status, _listed(sim)) == (status, [])
        assert part in reply.body or part in reply.headers.get("content-type", "").encode()
        assert sim.fired(name) == 1
        assert sim.rest("POST", "/serverless", A4090).status == 201


def test_too_many_requests_come_as_a_problem_with_the_quota_in_headers() -> None:
    with running(_FAST) as sim:
        sim.fault("rate_limited", surface="runpod", count=1, args={"retry_after": 37})
        reply = sim.rest("GET", "/serverless")
    assert (reply.status, reply.headers["retry-after"]) == (429, "37")
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.headers["ratelimit"].startswith('"minute";r=0;t=37')


@pytest.mark.parametrize("name", ["lost_reply", "reset_after_commit"])
def test_a_create_whose_answer_is_lost_has_happened(name: str) -> None:
    with running(_FAST) as sim:
        sim.fault(name, surface="runpod", route="POST /v2/serverless", count=1)
        with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
            sim.rest("POST", "/serverless", A4090)
        assert len(_listed(sim)) == 1


def test_a_delete_that_times_out_has_happened() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.fault("hang_after_commit", surface="runpod", route="DELETE *", count=1)
        with pytest.raises(TimeoutError):
            sim.rest("DELETE", f"/serverless/{endpoint}", timeout=0.2)
        assert sim.rest("GET", f"/serverless/{endpoint}").status == 404


def test_a_truncated_answer_is_no_json() -> None:
    with running(_FAST) as sim:
        sim.fault("truncated_json", surface="jobs", count=1)
        endpoint = sim.endpoint()
        with pytest.raises(json.JSONDecodeError):
            json.loads(sim.job("GET", f"/{endpoint}/health").body)


def test_the_hub_breaks_like_everybody() -> None:
    with running(_FAST) as sim:
        sim.fault("html_502", surface="hub", route="GET /api/whoami-v2", count=1)
        first = sim.call("hub", "GET", "/api/whoami-v2", key="hf_demo")
        second = sim.call("hub", "GET", "/api/whoami-v2", key="hf_demo")
    assert [first.status, second.status] == [502, 200]


# -- GraphQL -----------------------------------------------------------------------------------------


def test_graphql_fails_with_status_200_and_no_data() -> None:
    with running(_FAST) as sim:
        sim.fault("graphql_errors", count=1)
        reply = sim.graphql(_MYSELF)
    assert (reply.status, reply.json["data"]) == (200, None)
    assert reply.json["errors"][0]["extensions"]["code"] == "INTERNAL_SERVER_ERROR"
    assert reply.json["errors"][0]["message"].startswith("Something went wrong")


def test_graphql_fails_with_an_empty_list_of_errors() -> None:
    with running(_FAST) as sim:
        sim.fault("graphql_empty_errors", count=1)
        assert sim.graphql(_MYSELF).json == {"errors": [], "data": None}


def test_graphql_refuses_a_field_that_was_there_yesterday() -> None:
    with running(_FAST) as sim:
        sim.fault("graphql_validation", count=1)
        reply = sim.graphql(_MYSELF)
        assert sim.violations() == []
    assert reply.status == 400
    assert reply.json["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


def test_graphql_loses_half_of_a_list() -> None:
    with running(_FAST) as sim:
        sim.fault("graphql_partial", count=1)
        reply = sim.graphql("{ gpuTypes { id } }", key=None)
    assert reply.status == 200
    rows = reply.json["data"]["gpuTypes"]
    assert rows[0] is not None
    assert rows[1] is None
    assert reply.json["errors"][0]["path"] == ["gpuTypes", 1]


def test_graphql_loses_a_field_of_the_account() -> None:
    with running(_FAST) as sim:
        sim.fault("graphql_partial", count=1)
        answer = sim.graphql(_MYSELF).json
    assert answer["data"]["myself"] == {"id": "user_demo", "clientBalance": None}
    assert answer["errors"]


# -- creates ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("no_instances", 400, "no longer any instances available"),
        ("insufficient_credit", 402, "enough credit"),
        ("worker_quota", 400, "must not exceed your workers quota (30)"),
    ],
)
def test_a_refused_create_leaves_nothing(name: str, status: int, words: str) -> None:
    with running(_FAST) as sim:
        sim.fault(name, count=1)
        reply = sim.rest("POST", "/serverless", A4090)
        assert (reply.status, _listed(sim)) == (status, [])
    assert words in reply.json["detail"]


def test_a_create_that_answers_500_may_have_happened() -> None:
    with running(_FAST) as sim:
        sim.fault("error_with_contract", count=1)
        assert sim.rest("POST", "/serverless", A4090).status == 500
        assert len(_listed(sim)) == 1


def test_a_create_that_answers_201_may_not_have_happened() -> None:
    with running(_FAST) as sim:
        sim.fault("reply_before_commit", route="POST *", count=1)
        assert sim.rest("POST", "/serverless", A4090).status == 201
        assert _listed(sim) == []


# -- destroys and listings -------------------------------------------------------------------------------


def test_a_deleted_endpoint_lingers_and_bills_until_it_is_gone() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.run(endpoint)
        sim.step(60)
        sim.fault("lingering_destroy", count=1, args={"seconds": 40})
        assert sim.rest("DELETE", f"/serverless/{endpoint}").status == 204
        sim.step(20)
        assert sim.rest("DELETE", f"/serverless/{endpoint}").status == 204
        sim.step(19)
        assert _listed(sim) == [endpoint]
        assert sim.ledger(endpoint)["billing"]
        sim.step(2)
        row = sim.ledger(endpoint)
        assert _listed(sim) == []
    assert row["closed_at"] - row["opened_at"] == pytest.approx(100)


def test_a_deleted_endpoint_may_linger_in_lists_alone() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.fault("lingering_destroy", count=1, args={"seconds": 40, "bills": False})
        sim.rest("DELETE", f"/serverless/{endpoint}")
        assert _listed(sim) == [endpoint]
        assert sim.rest("GET", f"/serverless/{endpoint}").status == 404
        sim.step(41)
        assert _listed(sim) == []


def test_a_delete_may_answer_204_and_do_nothing() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.fault("reply_before_commit", route="DELETE *", count=1)
        assert sim.rest("DELETE", f"/serverless/{endpoint}").status == 204
        assert _listed(sim) == [endpoint]


def test_a_lingering_pod_is_listed_until_it_is_gone() -> None:
    with running(_FAST) as sim:
        pod = _pod(sim)
        sim.fault("lingering_destroy", count=1)
        sim.rest("DELETE", f"/pods/{pod}")
        assert len(sim.rest("GET", "/pods").json["pods"]) == 1
        sim.step(41)
        assert sim.rest("GET", "/pods").json["pods"] == []


def test_a_listing_may_be_older_than_the_last_create() -> None:
    with running(_FAST) as sim:
        sim.step(100)
        endpoint = sim.endpoint()
        sim.fault("stale_listing", count=1, args={"age_s": 60})
        assert _listed(sim) == []
        assert _listed(sim) == [endpoint]


def test_a_listing_may_be_older_than_the_last_delete() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.step(100)
        sim.rest("DELETE", f"/serverless/{endpoint}")
        sim.step(10)
        sim.fault("stale_listing", count=1, args={"age_s": 60})
        assert _listed(sim) == [endpoint]
        assert _listed(sim) == []


def test_a_live_endpoint_may_be_missing_from_both_lists() -> None:
    with running(_FAST) as sim:
        first, second = sim.endpoint(), sim.endpoint(name="flash-4090-def")
        sim.fault("missing_from_list", count=2)
        assert _listed(sim) == [first]
        rows = sim.graphql(_ENDPOINTS).json["data"]["myself"]["endpoints"]
        assert [row["id"] for row in rows] == [first]
        assert _listed(sim) == [first, second]


def test_the_detail_of_a_live_endpoint_may_say_404() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.fault("null_detail", count=1)
        assert sim.rest("GET", f"/serverless/{endpoint}").status == 404
        assert sim.rest("GET", f"/serverless/{endpoint}").status == 200


# -- workers and jobs ----------------------------------------------------------------------------------


def test_a_job_waits_for_ever_while_workers_are_throttled() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.fault("throttled_workers")
        job = sim.run(endpoint)
        sim.step(7200)
        health = sim.job("GET", f"/{endpoint}/health").json["workers"]
        assert sim.status(endpoint, job)["status"] == "IN_QUEUE"
    assert health["running"] == health["initializing"] == health["ready"] == 0


def test_workers_land_on_a_slice_of_a_card() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.fault("mig_substitution", count=1)
        sim.run(endpoint)
        worker = sim.rest("GET", f"/serverless/{endpoint}/workers").json["workers"][0]
    assert worker["gpuTypeId"].endswith("MIG 1g.24gb")


def test_a_worker_never_gets_beyond_its_start_and_bills() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.fault("stuck_starting", count=1)
        job = sim.run(endpoint)
        sim.step(3600)
        health = sim.job("GET", f"/{endpoint}/health").json["workers"]
        assert (health["initializing"], sim.status(endpoint, job)["status"]) == (1, "IN_QUEUE")
        assert sim.ledger(endpoint)["parts"]["start"] > 1


def test_a_pod_that_never_boots_is_running_with_no_runtime() -> None:
    with running(_FAST) as sim:
        sim.fault("stuck_starting", route="pod p", count=1)
        _pod(sim)
        sim.step(3600)
        query = "{ myself { pods { desiredStatus runtime { uptimeInSeconds } } } }"
        pods = sim.graphql(query).json["data"]["myself"]["pods"]
    assert pods == [{"desiredStatus": "RUNNING", "runtime": None}]


def test_a_job_vanishes_while_it_runs() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint)
        sim.step(60)
        sim.fault("job_lost")
        assert sim.job("GET", f"/{endpoint}/status/{job}").status == 404
        health = sim.job("GET", f"/{endpoint}/health").json
    assert health["jobs"]["inProgress"] == 0
    assert health["workers"]["idle"] == 1


def test_the_platform_retries_a_job_by_itself() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint)
        sim.step(100)
        sim.fault("job_retried")
        sim.step(1)
        answer = sim.status(endpoint, job)
    assert (answer["retries"], answer["delayTime"]) == (1, 100_000)


def test_a_finished_job_may_stay_in_progress() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        sim.fault("progress_race", count=1)
        job = sim.run(endpoint)
        sim.step(3600)
        assert sim.status(endpoint, job)["status"] == "IN_PROGRESS"
        assert sim.status(endpoint, job)["output"] == {"step": 60, "total": 60}
        assert not sim.ledger(endpoint)["billing"]


def test_an_unhealthy_worker_takes_no_job_and_bills_nothing() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint)
        sim.step(60)
        sim.fault("worker_unhealthy")
        sim.step(600)
        summary = sim.rest("GET", f"/serverless/{endpoint}/workers").json["summary"]
        assert (summary["unhealthy"], sim.status(endpoint, job)["status"]) == (1, "IN_QUEUE")
        assert not sim.ledger(endpoint)["billing"]


# -- the market and money ---------------------------------------------------------------------------------


def test_a_type_nobody_knew_appears_in_both_lists() -> None:
    with running(_FAST) as sim:
        sim.fault("new_gpu_id")
        rest = [item["id"] for item in sim.rest("GET", "/catalog/gpus").json["gpus"]]
        rows = sim.graphql("{ gpuTypes { id } }", key=None).json["data"]["gpuTypes"]
    assert "NVIDIA R300 SXM7" in rest
    assert "NVIDIA R300 SXM7" in [row["id"] for row in rows]


def test_numbers_come_as_null_text_and_nan() -> None:
    bodies: list[Reply] = []
    with running(_FAST) as sim:
        for name in ("null_numbers", "string_numbers", "nan_numbers"):
            sim.fault(name, surface="runpod", count=1, args={"fields": ["securePrice"], "share": 1})
            bodies.append(sim.graphql("{ gpuTypes { securePrice } }", key=None))
    values: list[Any] = [body.json["data"]["gpuTypes"][0]["securePrice"] for body in bodies]
    assert values[0] is None
    assert isinstance(values[1], str)
    assert values[2] != values[2] or abs(values[2]) == float("inf")


def test_a_status_may_be_a_word_nobody_has_documented() -> None:
    with running(_FAST) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint)
        sim.fault("unknown_state", surface="jobs", count=1, args={"share": 1})
        assert sim.status(endpoint, job)["status"] == "hibernating"


def test_a_running_pod_gets_dearer() -> None:
    with running(_FAST) as sim:
        pod = _pod(sim)
        before = sim.rest("GET", f"/pods/{pod}").json["cost"]
        sim.fault("price_rise", args={"factor": 1.5})
        assert sim.rest("GET", f"/pods/{pod}").json["cost"] == pytest.approx(before * 1.5)


def test_a_spot_pod_is_outbid_and_an_on_demand_pod_is_not() -> None:
    rent = """mutation { podRentInterruptable(input: {bidPerGpu: 0.5, cloudType: SECURE, gpuCount: 1,
      name: "spot", gpuTypeId: "NVIDIA RTX A6000", imageName: "i"}) { id } }"""
    with running(_FAST) as sim:
        sim.graphql(rent)
        _pod(sim)
        sim.fault("outbid")
        pods = sim.rest("GET", "/pods").json["pods"]
    assert {pod["name"]: pod["status"] for pod in pods} == {"spot": "EXITED", "p": "PROVISIONING"}


def test_a_host_goes_away_with_its_pod() -> None:
    with running(_FAST) as sim:
        pod = _pod(sim)
        sim.fault("host_withdrawal")
        assert sim.rest("GET", f"/pods/{pod}").status == 404
        assert not sim.ledger(pod)["billing"]


def test_a_container_exits_and_its_pod_stays_stopped() -> None:
    with running(_FAST) as sim:
        pod = _pod(sim)
        sim.fault("container_exits")
        assert sim.rest("GET", f"/pods/{pod}").json["status"] == "EXITED"


def test_money_runs_out_pods_end_and_jobs_wait() -> None:
    with running(_FAST) as sim:
        pod, endpoint = _pod(sim), sim.endpoint()
        job = sim.run(endpoint)
        sim.step(60)
        sim.fault("balance_out", surface="runpod")
        assert sim.rest("GET", f"/pods/{pod}").status == 404
        assert sim.status(endpoint, job)["status"] == "IN_QUEUE"
        assert sim.graphql(_MYSELF).json["data"]["myself"]["clientBalance"] == pytest.approx(0)
        assert not sim.ledger(endpoint)["billing"]


def test_a_strangers_pod_appears() -> None:
    with running(_FAST) as sim:
        sim.fault("foreign_instance", surface="runpod", args={"label": "notebook-anna"})
        assert [pod["name"] for pod in sim.rest("GET", "/pods").json["pods"]] == ["notebook-anna"]


def test_every_fault_of_this_half_has_a_description() -> None:
    names = {
        "graphql_validation", "graphql_empty_errors", "no_instances", "worker_quota",
        "mig_substitution", "new_gpu_id", "job_retried", "progress_race", "stuck_starting",
        "auth_empty",
    }  # fmt: skip
    assert names <= set(catalogue())
