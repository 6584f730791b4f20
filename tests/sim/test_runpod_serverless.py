"""Serverless endpoints over time: queue, workers, job states, retention, and what the ledger bills."""

from __future__ import annotations

import pytest

from tests.sim.runpod_sim import Sim, running

_FIXED = """
[runpod]
sells_out = false
[runpod.serverless]
start_s = [30, 30]
bills_disk = false
[[runpod.plans]]
endpoint = "flash-4090-*"
run_s = 600
steps = 400
[[runpod.plans]]
endpoint = "flash-fails-*"
run_s = 20
outcome = "FAILED"
error = '{"error_type":"<class ValueError>","error_message":"bad"}'
[[runpod.plans]]
endpoint = "flash-retried-*"
run_s = 50
retries = 1
outcome = "FAILED"
error = "job timed out after 1 retries"
[[runpod.plans]]
endpoint = "flash-starved-*"
starve = true
[[runpod.plans]]
endpoint = "flash-lost-*"
run_s = 600
lost_after_s = 90
[[runpod.plans]]
endpoint = "flash-streams-*"
run_s = 100
chunks = ["a", "b", "c", "d"]
"""


def _workers(sim: Sim, endpoint_id: str) -> dict[str, int]:
    counts: dict[str, int] = sim.job("GET", f"/{endpoint_id}/health").json["workers"]
    return {name: count for name, count in counts.items() if count}


def test_a_job_waits_for_its_worker_runs_and_completes() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint)
        assert sim.status(endpoint, job)["status"] == "IN_QUEUE"
        assert _workers(sim, endpoint) == {"initializing": 1}
        sim.step(31)
        begun = sim.status(endpoint, job)
        assert (begun["status"], begun["delayTime"]) == ("IN_PROGRESS", 30_000)
        assert _workers(sim, endpoint) == {"running": 1}
        sim.step(299)
        assert sim.status(endpoint, job)["output"] == {"step": 200, "total": 400}
        sim.step(301)
        done = sim.status(endpoint, job)
        assert (done["status"], done["executionTime"]) == ("COMPLETED", 600_000)
        assert _workers(sim, endpoint) == {"idle": 1, "ready": 1}
        sim.step(60)
        assert _workers(sim, endpoint) == {}


def test_one_long_step_leads_to_the_same_state_as_many_short_ones() -> None:
    with running(_FIXED) as short, running(_FIXED) as long:
        ids = []
        for sim in (short, long):
            endpoint = sim.endpoint()
            ids.append((endpoint, sim.run(endpoint)))
        for _ in range(100):
            short.step(10)
        long.step(1000)
        assert ids[0] == ids[1]
        assert short.status(*ids[0]) == long.status(*ids[1])
        assert short.ledger(ids[0][0]) == long.ledger(ids[1][0])


def test_billing_starts_with_the_worker_and_ends_after_the_idle_tail() -> None:
    """Twenty minutes of queue cost nothing; start, work and idle tail do."""
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        sim.fault("throttled_workers", for_s=1200)
        sim.run(endpoint)
        sim.step(1199)
        assert sim.ledger(endpoint)["billed_usd"] == 0
        sim.step(3000)
        row = sim.ledger(endpoint)
    rate = row["parts"]["execution"] / 600 * 3600
    assert 1.08 < rate < 1.15
    assert row["billed_usd"] == pytest.approx(rate * (30 + 600 + 60) / 3600, abs=1e-6)
    assert not row["billing"]


def test_a_broken_second_is_billed_as_a_full_one() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        sim.run(endpoint)
        sim.step(100.25)
        assert sim.rest("DELETE", f"/serverless/{endpoint}").status == 204
        row = sim.ledger(endpoint)
    assert row["closed_at"] is not None
    per_second = row["parts"]["execution"] / 70.25
    assert row["billed_usd"] == pytest.approx(per_second * 101, abs=1e-6)


def test_disk_of_a_worker_is_billed_apart() -> None:
    with running(_FIXED.replace("bills_disk = false", "")) as sim:
        endpoint = sim.endpoint(disk=100)
        sim.run(endpoint)
        sim.step(3600 * 2)
        parts = sim.ledger(endpoint)["parts"]
    assert parts["disk"] == pytest.approx(100 * 0.10 / 730 * 690 / 3600, abs=1e-7)


def test_the_price_of_an_endpoint_is_the_one_of_its_creation() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        card = sim.rest("GET", "/catalog/gpus/NVIDIA%20GeForce%20RTX%204090").json
        sim.step(7200)
        sim.run(endpoint)
        sim.step(100)
        row = sim.ledger(endpoint)
    assert row["rate_usd_per_hour"] == pytest.approx(card["price"]["serverless"])


def test_a_failed_job_carries_its_error_as_text() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint(name="flash-fails-1")
        job = sim.run(endpoint)
        sim.step(60)
        answer = sim.status(endpoint, job)
    assert answer["status"] == "FAILED"
    assert "error_message" in answer["error"]


def test_a_retried_job_counts_its_delay_anew() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint(name="flash-retried-1")
        job = sim.run(endpoint)
        sim.step(35)
        assert sim.status(endpoint, job)["delayTime"] == 30_000
        sim.step(60)
        again = sim.status(endpoint, job)
        assert (again["status"], again["retries"], again["delayTime"]) == ("IN_PROGRESS", 1, 80_000)
        sim.step(60)
        assert sim.status(endpoint, job)["error"] == "job timed out after 1 retries"


def test_a_job_longer_than_its_execution_timeout_times_out() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint, executionTimeout=60_000)
        sim.step(91)
        answer = sim.status(endpoint, job)
    assert (answer["status"], answer["executionTime"]) == ("TIMED_OUT", 60_000)


def test_ttl_drops_even_a_running_job() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint, ttl=100_000)
        sim.step(99)
        assert sim.status(endpoint, job)["status"] == "IN_PROGRESS"
        sim.step(2)
        assert sim.job("GET", f"/{endpoint}/status/{job}").status == 404


def test_a_finished_job_is_kept_for_half_an_hour() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint)
        sim.step(630 + 1799)
        assert sim.status(endpoint, job)["status"] == "COMPLETED"
        sim.step(2)
        assert sim.job("GET", f"/{endpoint}/status/{job}").status == 404
        assert sim.job("GET", f"/{endpoint}/health").json["jobs"]["completed"] == 1


def test_a_lost_job_is_404_before_it_has_ended() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint(name="flash-lost-1")
        job = sim.run(endpoint)
        sim.step(89)
        assert sim.status(endpoint, job)["status"] == "IN_PROGRESS"
        sim.step(2)
        assert sim.job("GET", f"/{endpoint}/status/{job}").status == 404


def test_cancelling_frees_the_worker_and_cancelling_again_changes_nothing() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint)
        sim.step(40)
        cancel = f"/{endpoint}/cancel/{job}"
        assert sim.job("POST", cancel).json == {"id": job, "status": "CANCELLED"}
        assert _workers(sim, endpoint) == {"idle": 1, "ready": 1}
        assert sim.job("POST", cancel).json == {"id": job, "status": "CANCELLED"}
        assert sim.status(endpoint, job) == {"id": job, "status": "CANCELLED"}


def test_retry_queues_a_failed_job_under_its_id() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint(name="flash-fails-1")
        job = sim.run(endpoint)
        sim.step(60)
        assert sim.job("POST", f"/{endpoint}/retry/{job}").json == {"id": job, "status": "IN_QUEUE"}
        assert sim.status(endpoint, job)["status"] == "IN_PROGRESS"


def test_purging_drops_queued_jobs_and_leaves_the_running_one() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        first = sim.run(endpoint)
        sim.step(40)
        sim.run(endpoint)
        sim.run(endpoint)
        answer = sim.job("POST", f"/{endpoint}/purge-queue").json
        assert answer == {"removed": 2, "status": "completed"}
        assert sim.status(endpoint, first)["status"] == "IN_PROGRESS"


def test_a_stream_hands_out_what_is_new() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint(name="flash-streams-1")
        job = sim.run(endpoint)
        sim.step(80)
        first = sim.job("GET", f"/{endpoint}/stream/{job}").json
        assert first["stream"] == [{"output": "a"}, {"output": "b"}]
        assert sim.job("GET", f"/{endpoint}/stream/{job}").json["stream"] == []
        sim.step(60)
        assert len(sim.job("GET", f"/{endpoint}/stream/{job}").json["stream"]) == 2


def test_a_starved_job_waits_for_ever_and_costs_nothing() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint(name="flash-starved-1")
        job = sim.run(endpoint)
        sim.step(12 * 3600)
        assert sim.status(endpoint, job)["status"] == "IN_QUEUE"
        assert set(_workers(sim, endpoint)) <= {"throttled"}
        assert sim.ledger(endpoint)["billed_usd"] == 0


def test_a_full_queue_grows_workers_up_to_the_maximum() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint(workers={"min": 0, "max": 3, "idleTimeout": 5})
        for _ in range(5):
            sim.run(endpoint)
        sim.step(200)
        assert _workers(sim, endpoint) == {"running": 3}


def test_a_minimum_of_workers_stays_without_work() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint(workers={"min": 1, "max": 2, "idleTimeout": 5})
        sim.step(3600)
        assert _workers(sim, endpoint) == {"idle": 1, "ready": 1}
        assert sim.ledger(endpoint)["billing"]


def test_the_worker_list_says_where_and_on_what_it_runs() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        sim.run(endpoint)
        sim.step(40)
        answer = sim.rest("GET", f"/serverless/{endpoint}/workers").json
        worker = answer["workers"][0]
        log = sim.rest("GET", f"/serverless/{endpoint}/workers/{worker['id']}/logs")
    assert (worker["status"], worker["gpuTypeId"]) == ("RUNNING", "NVIDIA GeForce RTX 4090")
    assert answer["summary"]["running"] == answer["summary"]["total"] == 1
    assert log.headers["content-type"] == "text/event-stream"
    assert b"start container" in log.body


def test_deleting_ends_workers_and_jobs_at_once() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        job = sim.run(endpoint)
        sim.step(100)
        assert sim.rest("DELETE", f"/serverless/{endpoint}").status == 204
        assert sim.rest("GET", f"/serverless/{endpoint}").status == 404
        assert sim.rest("DELETE", f"/serverless/{endpoint}").status == 404
        assert sim.job("GET", f"/{endpoint}/status/{job}").status == 404
        assert not sim.ledger(endpoint)["billing"]


def test_somebody_elses_key_sees_nothing_of_ours() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        assert sim.rest("GET", "/serverless", key="rpa_DEMOOTHER").json == {"endpoints": []}
        assert sim.rest("DELETE", f"/serverless/{endpoint}", key="rpa_DEMOOTHER").status == 404
        assert sim.job("GET", f"/{endpoint}/health", key="rpa_DEMOOTHER").status == 404


def test_the_runtime_takes_the_bare_key_and_refuses_a_wrong_one() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        bare = {"Authorization": "rpa_DEMOKEY"}
        assert sim.job("GET", f"/{endpoint}/health", key=None, headers=bare).status == 200
        wrong = sim.job("GET", f"/{endpoint}/health", key="rpa_WRONG")
    assert (wrong.status, wrong.body) == (401, b"")


def test_queueing_the_same_input_twice_makes_two_jobs() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        assert sim.run(endpoint) != sim.run(endpoint)


def test_scenario_jobs_have_been_running_for_as_long_as_it_says() -> None:
    scenario = """
[runpod.serverless]
start_s = [30, 30]
[[runpod.endpoints]]
id = "ep4090demo0001"
name = "flash-4090-demo"
created_at = -3640
[[runpod.jobs]]
id = "job-demo-u1"
endpoint = "flash-4090-demo"
created_at = -3630
run_s = 7200
steps = 400
"""
    with running(scenario) as sim:
        answer = sim.status("ep4090demo0001", "job-demo-u1")
        row = sim.ledger("ep4090demo0001")
    assert answer["status"] == "IN_PROGRESS"
    assert answer["output"] == {"step": 200, "total": 400}
    assert row["billed_usd"] == pytest.approx(row["rate_usd_per_hour"] * 3630 / 3600, abs=1e-4)


def test_a_synchronous_job_is_waited_for() -> None:
    with running(
        f"{_FIXED.split('[[runpod.plans]]', maxsplit=1)[0]}sync_run_s = [5, 5]\n", speed=100
    ) as sim:
        endpoint = sim.endpoint()
        answer = sim.job("POST", f"/{endpoint}/runsync", {"input": {"a": 1}}).json
    assert (answer["status"], answer["output"]) == ("COMPLETED", {"ok": True})
    assert answer["id"].startswith("sync-")


def test_a_synchronous_job_that_takes_too_long_is_handed_back_unfinished() -> None:
    with running(_FIXED, speed=100) as sim:
        endpoint = sim.endpoint()
        path = f"/{endpoint}/runsync?wait=10000"
        answer = sim.job("POST", path, {"input": {"a": 1}}).json
    assert answer["status"] == "IN_QUEUE"


def test_a_synchronous_result_is_kept_for_a_minute() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        job = sim.job("POST", f"/{endpoint}/runsync", {"input": {"a": 1}}).json["id"]
        sim.step(630 + 59)
        assert sim.status(endpoint, job)["status"] == "COMPLETED"
        sim.step(2)
        assert sim.job("GET", f"/{endpoint}/status/{job}").status == 404


def test_purging_too_often_is_too_many_requests() -> None:
    with running(_FIXED, speed=1) as sim:
        endpoint = sim.endpoint()
        statuses = [sim.job("POST", f"/{endpoint}/purge-queue").status for _ in range(3)]
    assert statuses == [200, 200, 429]


def test_an_unknown_queue_operation_is_recorded() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        assert sim.job("POST", f"/{endpoint}/cancel/nothing").status == 404
        assert sim.violations() == []
        assert sim.job("POST", f"/{endpoint}/pause").status == 404
        assert sim.violations() == ["unknown_route"]


def test_a_body_without_input_is_refused() -> None:
    with running(_FIXED) as sim:
        endpoint = sim.endpoint()
        assert sim.job("POST", f"/{endpoint}/run", {"prompt": "x"}).status == 400
        body = {"input": {}, "policy": {"executionTimeout": 5000, "priority": 1}, "hook": "x"}
        assert sim.job("POST", f"/{endpoint}/run", body).status == 200
        assert sim.violations() == ["unknown_field", "unknown_field"]


def test_a_load_balancing_endpoint_has_no_queue() -> None:
    scaling = {"type": "REQUEST_COUNT", "requestCount": 4}
    with running(_FIXED) as sim:
        endpoint = sim.endpoint(type="LOAD_BALANCER", scaling=scaling)
        reply = sim.job("POST", f"/{endpoint}/run", {"input": {}})
    assert reply.json == {"error": "not allowed for QB API"}
