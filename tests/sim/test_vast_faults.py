"""Every fault by name, ordered over the control route and seen from a client's side on Vast's listener."""

from __future__ import annotations

import json
import math
import socket
from http.client import IncompleteRead, RemoteDisconnected
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.sim.faults import MEANING, Faults, catalogue
from tests.sim.vast_sim import START, Sim

if TYPE_CHECKING:
    from pathlib import Path

RUNNING = (
    '[[vast.instances]]\nid = 5001\nlabel = "run-1"\ngpu_name = "RTX 4090"\ndph_base = 0.36\nstorage_cost = 0.15\n'
    "disk_space = 16\ncreated_at = -1000.0\nrunning_at = -900.0\n"
)
BID = '[[vast.instances]]\nid = 5002\nlabel = "spot"\ngpu_name = "L4"\nbid = 5.0\ncreated_at = -500.0\n'
ON_RUNPOD = {
    name for name, text in MEANING.items()
    if any(word in text for word in ("GraphQL", "endpoint", "job", "worker", "GPU type", "400: no instances", "a pool"))
} - {"foreign_instance"}  # fmt: skip
DESTROY = "DELETE /api/v0/instances/*"
CREATE = "PUT /api/v0/asks/*"
LIST = "GET /api/v1/instances*"


@pytest.fixture
def sim(vast: Sim, tmp_path: Path) -> Sim:
    vast.start_over_with(tmp_path, "[vast]\ncredit_usd = 20\n" + RUNNING + BID)
    return vast


def destroy(sim: Sim, number: int = 5001, **kwargs: Any) -> Any:
    return sim.send("DELETE", f"/api/v0/instances/{number}/", {}, **kwargs)


def exists(sim: Sim, number: int = 5001) -> bool:
    """Whether the simulator, not the API, says that a machine is still there."""
    return any(row["id"] == number for row in sim.admin("GET", "/_sim/state")["vast"])


def listed(sim: Sim) -> list[int]:
    return [row["id"] for row in sim.instances()["instances"]]


def ask(sim: Sim) -> int:
    offers = sim.search({"num_gpus": {"eq": 1}, "gpu_name": {"eq": "RTX 3090"}})
    return int(offers[0]["id"])


def create(sim: Sim, ask_id: int, **fields: object) -> Any:
    body = {"client_id": "me", "image": "acme/worker:1", "disk": 60, **fields}
    return sim.send("PUT", f"/api/v0/asks/{ask_id}/", body)


# -- answered without being carried out ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "status", "content_type"),
    [
        ("html_200", 200, "text/html; charset=UTF-8"),
        ("html_403", 403, "text/html; charset=UTF-8"),
        ("html_502", 502, "text/html; charset=UTF-8"),
        ("empty_body", 200, "application/json"),
        ("auth_empty", 401, "application/json"),
        ("auth_401", 401, "application/json"),
        ("auth_403", 403, "application/json"),
        ("auth_404", 404, "application/json"),
        ("rate_limited", 429, "application/json"),
        ("no_capacity", 500, "application/json"),
        ("server_error", 500, "application/json"),
        ("unavailable", 503, "application/json"),
    ],
)
def test_a_refused_destroy_destroys_nothing(
    sim: Sim, name: str, status: int, content_type: str
) -> None:
    sim.fault(name, surface="vast", route=DESTROY, count=1)
    reply = destroy(sim)
    assert (reply.status, sim.fired(name), exists(sim)) == (status, 1, True)
    assert reply.headers.get("Content-Type", content_type) == content_type
    if name.startswith("auth_4"):
        assert reply.json["error"] == "auth_error"
    assert destroy(sim).status == 200
    assert not exists(sim)


def test_a_login_page_stands_behind_a_redirect(sim: Sim) -> None:
    sim.fault("login_redirect", route=LIST, count=1)
    reply = sim.send("GET", "/api/v1/instances/")
    assert (reply.status, sim.fired("login_redirect")) == (302, 1)
    page = sim.send("GET", reply.headers["Location"].removeprefix(sim.running.url("vast")))
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=UTF-8")


@pytest.mark.parametrize(
    ("args", "content_type", "part"),
    [
        ({"form": "text"}, "text/plain", b"API requests too frequent"),
        ({"form": "threshold"}, "text/plain", b"endpoint threshold=4.5"),
        ({"form": "detail"}, "application/json", b'{"detail":'),
        ({"form": "error"}, "application/json", b"rate_limit_exceeded"),
        ({"form": "error", "in_body": 7}, "application/json", b'"retry_after":7'),
    ],
)
@pytest.mark.parametrize("wait", [None, "2.5"])
def test_429_comes_in_every_form_with_and_without_a_time_to_wait(
    sim: Sim, args: dict[str, object], content_type: str, part: bytes, wait: str | None
) -> None:
    sim.fault("rate_limited", args={**args, **({"retry_after": wait} if wait else {})})
    reply = sim.send("GET", "/api/v1/instances/")
    assert (reply.status, reply.headers["Content-Type"]) == (429, content_type)
    assert part in reply.body
    assert reply.headers.get("Retry-After") == wait


def test_a_search_quota_names_its_end(sim: Sim) -> None:
    sim.fault("search_quota", count=1, args={"reset_s": 600})
    reply = sim.send("POST", "/api/v0/bundles/", {"limit": 1})
    assert (reply.status, reply.json["error"]) == (429, "search_quota_exceeded")
    assert reply.headers["X-RateLimit-Reset"] == str(int(START + 600))


# -- broken connections ----------------------------------------------------------------------------------------------


def test_a_reset_before_anything_is_carried_out(sim: Sim) -> None:
    sim.fault("reset", route=DESTROY, count=1)
    with pytest.raises(ConnectionResetError):
        destroy(sim)
    assert (sim.fired("reset"), exists(sim)) == (1, True)


def test_a_hang_before_anything_is_carried_out(sim: Sim) -> None:
    sim.fault("hang", route=DESTROY, count=1)
    with pytest.raises(TimeoutError):
        destroy(sim, timeout_s=0.2)
    assert (sim.fired("hang"), exists(sim)) == (1, True)


def test_a_reply_is_lost_after_the_commit(sim: Sim) -> None:
    offer = ask(sim)
    sim.fault("lost_reply", route=CREATE, count=1)
    with pytest.raises(RemoteDisconnected):
        create(sim, offer, label="run-9")
    labels = [row["label"] for row in sim.admin("GET", "/_sim/state")["vast"]]
    assert sim.fired("lost_reply") == 1
    assert "run-9" in labels


def test_a_reset_after_the_commit(sim: Sim) -> None:
    sim.fault("reset_after_commit", route=DESTROY, count=1)
    with pytest.raises(ConnectionResetError):
        destroy(sim)
    assert (sim.fired("reset_after_commit"), exists(sim)) == (1, False)


def test_a_hang_after_the_commit(sim: Sim) -> None:
    sim.fault("hang_after_commit", route=DESTROY, count=1)
    with pytest.raises(TimeoutError):
        destroy(sim, timeout_s=0.2)
    assert (sim.fired("hang_after_commit"), exists(sim)) == (1, False)


def test_a_slow_answer_is_whole_but_late(sim: Sim) -> None:
    sim.fault("slow", route=DESTROY, count=2, args={"seconds": 0.3})
    with pytest.raises(TimeoutError):
        destroy(sim, timeout_s=0.1)
    assert destroy(sim, 5002).json == {"success": True}
    assert sim.fired("slow") == 2


def test_a_dripping_body_keeps_the_connection_alive_without_getting_on(sim: Sim) -> None:
    sim.fault("drip", route="GET /api/v0/gpu_names/*", count=1, args={"bytes_per_s": 50})
    address = sim.running.url("vast").removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1])), timeout=2) as raw:
        raw.sendall(b"GET /api/v0/gpu_names/unique/ HTTP/1.1\r\nHost: sim\r\n\r\n")
        head = raw.recv(4096).partition(b"\r\n\r\n")
        promised = int(head[0].lower().partition(b"content-length: ")[2].split()[0])
        got = len(head[2]) + len(raw.recv(64)) + len(raw.recv(64))
    assert sim.fired("drip") == 1
    assert 0 < got < promised / 2


def test_a_connection_is_cut_in_the_middle_of_the_body(sim: Sim) -> None:
    sim.fault("cut", route=LIST, count=1)
    with pytest.raises(IncompleteRead):
        sim.instances()
    assert sim.fired("cut") == 1


def test_json_ends_in_the_middle_although_the_length_is_right(sim: Sim) -> None:
    sim.fault("truncated_json", route=LIST, count=1)
    reply = sim.send("GET", "/api/v1/instances/")
    assert int(reply.headers["Content-Length"]) == len(reply.body)
    with pytest.raises(json.JSONDecodeError):
        _ = reply.json
    assert sim.fired("truncated_json") == 1


# -- replies that lie or are odd -------------------------------------------------------------------------------------


def test_a_json_array_takes_the_place_of_the_object(sim: Sim) -> None:
    sim.fault("json_array", route=LIST, count=1)
    assert isinstance(sim.instances(), list)
    assert sim.fired("json_array") == 1


@pytest.mark.parametrize(
    ("name", "is_odd"),
    [
        ("null_numbers", lambda value: value is None),
        ("string_numbers", lambda value: isinstance(value, str)),
        ("nan_numbers", lambda value: isinstance(value, float) and not math.isfinite(value)),
    ],
)
def test_numbers_come_as_null_text_or_nan(sim: Sim, name: str, is_odd: Any) -> None:
    sim.fault(
        name, route="POST /api/v0/bundles*", count=1, args={"fields": ["dph_total"], "share": 1.0}
    )
    offers = sim.search({"limit": 5})
    assert all(is_odd(offer["dph_total"]) for offer in offers)
    assert all(isinstance(offer["dph_base"], float) for offer in offers)
    assert sim.fired(name) == 1


def test_some_numbers_of_any_field_are_hit_when_none_is_named(sim: Sim) -> None:
    sim.fault("null_numbers", route="POST /api/v0/bundles*", count=1)
    offer = sim.search({"limit": 1})[0]
    assert 10 < sum(value is None for value in offer.values()) < 70
    assert offer["id"] is not None
    assert offer["machine_id"] is not None


def test_fields_are_missing(sim: Sim) -> None:
    sim.fault(
        "missing_fields",
        route=LIST,
        count=1,
        args={"fields": ["dph_total", "start_date"], "share": 1.0},
    )
    rows = sim.instances()["instances"]
    assert all("dph_total" not in row and "start_date" not in row for row in rows)
    assert sim.fired("missing_fields") == 1


def test_a_state_nobody_has_documented(sim: Sim) -> None:
    sim.fault("unknown_state", route=LIST, count=1, args={"share": 1.0})
    assert {row["actual_status"] for row in sim.instances()["instances"]} == {"hibernating"}
    assert sim.fired("unknown_state") == 1


def test_gpus_that_did_not_exist_yesterday(sim: Sim) -> None:
    known = set(sim.send("GET", "/api/v0/gpu_names/unique/").json["gpu_names"])
    sim.fault("new_gpu_names", route="POST /api/v0/bundles*", count=1, args={"share": 1.0})
    assert not {offer["gpu_name"] for offer in sim.search({"limit": 20})} & known
    assert sim.fired("new_gpu_names") == 1


def test_text_carries_escape_sequences_and_raw_control_characters(sim: Sim) -> None:
    sim.fault("control_characters", route=LIST, count=1, args={"share": 1.0})
    reply = sim.send("GET", "/api/v1/instances/")
    assert b"\x07" in reply.body
    with pytest.raises(json.JSONDecodeError):
        _ = reply.json
    label = json.loads(reply.body, strict=False)["instances"][0]["label"]
    assert "\x1b[31m" in label
    assert sim.fired("control_characters") == 1


def test_a_success_that_was_never_carried_out(sim: Sim) -> None:
    sim.fault("reply_before_commit", count=2)
    made = create(sim, ask(sim), label="run-9").json
    assert made["success"] is True
    assert destroy(sim).json == {"success": True}
    sim.step(120)
    assert sim.instance(made["new_contract"]) is None
    assert exists(sim, 5001)
    assert sim.fired("reply_before_commit") == 2


def test_a_list_as_it_was_a_minute_ago(sim: Sim) -> None:
    sim.step(120)
    number = sim.rent()
    destroy(sim)
    sim.step(10)
    sim.fault("stale_listing", count=1, args={"age_s": 60})
    assert listed(sim) == [5001, 5002]
    assert listed(sim) == [5002, number]
    assert sim.fired("stale_listing") == 1


def test_a_destroyed_machine_that_stays_and_bills_for_forty_seconds(sim: Sim) -> None:
    sim.fault("lingering_destroy", count=1)
    assert destroy(sim).json == {"success": True}
    assert destroy(sim).json == {"success": True}
    sim.step(39)
    assert 5001 in listed(sim)
    assert sim.ledger(5001)["billing"] is True
    sim.step(2)
    assert 5001 not in listed(sim)
    assert sim.ledger(5001)["closed_at"] == START + 40
    assert sim.fired("lingering_destroy") == 1


def test_a_live_machine_is_missing_from_one_list(sim: Sim) -> None:
    sim.fault("missing_from_list", count=1)
    assert listed(sim) == [5001]
    assert listed(sim) == [5001, 5002]
    assert sim.fired("missing_from_list") == 1


def test_the_second_page_fails(sim: Sim, tmp_path: Path) -> None:
    rows = "".join(f"[[vast.instances]]\nid = {6000 + n}\n" for n in range(30))
    sim.start_over_with(tmp_path, "[vast]\ncredit_usd = 90\n" + rows)
    sim.fault("failing_second_page")
    first = sim.instances()
    assert first["instances_found"] == 25
    reply = sim.send("GET", f"/api/v1/instances/?after_token={first['next_token']}")
    assert reply.status == 500
    assert sim.fired("failing_second_page") == 1


def test_a_detail_says_null_of_a_healthy_machine(sim: Sim) -> None:
    sim.fault("null_detail", count=2)
    assert [sim.instance(5001) is None for _ in range(3)] == [True, True, False]
    assert sim.fired("null_detail") == 2


# -- what happens to machines ----------------------------------------------------------------------------------------


def test_a_running_contract_gets_dearer(sim: Sim) -> None:
    sim.fault("price_rise", after_s=600, args={"id": 5001, "factor": 1.5})
    sim.step(1200)
    assert sim.instance(5001)["dph_base"] == pytest.approx(0.54)
    assert sim.ledger(5001)["parts"]["gpu"] == pytest.approx(
        (0.36 * 1500 + 0.54 * 600) / 3600, abs=1e-7
    )
    assert sim.fired("price_rise") == 1


def test_a_host_ends_its_listing(sim: Sim) -> None:
    sim.fault("host_withdrawal", args={"id": 5001})
    shown = sim.instance(5001)
    assert {shown["cur_state"], shown["next_state"], shown["actual_status"]} == {"stopped"}
    assert shown["end_date"] <= START
    sim.step(48 * 3600 + 1)
    assert not exists(sim)
    assert sim.fired("host_withdrawal") == 1


def test_a_host_goes_offline_bills_nothing_and_comes_back(sim: Sim) -> None:
    sim.fault("host_offline", args={"id": 5001, "seconds": 120})
    sim.step(60)
    assert sim.instance(5001)["actual_status"] == "offline"
    assert sim.ledger(5001)["rate_usd_per_hour"] == 0
    sim.step(61)
    assert sim.instance(5001)["actual_status"] == "running"
    assert sim.fired("host_offline") == 1


def test_a_higher_bid_stops_an_interruptible_machine(sim: Sim) -> None:
    sim.fault("outbid")
    shown = sim.instance(5002)
    assert {shown["cur_state"], shown["intended_status"], shown["next_state"]} == {"stopped"}
    assert sim.instance(5001)["actual_status"] == "running"
    assert sim.fired("outbid") == 1


def test_the_balance_runs_out_and_everything_stops(sim: Sim) -> None:
    sim.fault("balance_out", after_s=30, surface="vast")
    sim.step(29)
    assert sim.instance(5001)["actual_status"] == "running"
    sim.step(2)
    assert {sim.instance(number)["intended_status"] for number in (5001, 5002)} == {"stopped"}
    assert sim.credit() <= 0
    assert create(sim, ask(sim)).json["error"] == "insufficient_credit"
    assert sim.fired("balance_out") == 1


def test_a_balance_can_fall_without_being_gone(sim: Sim) -> None:
    sim.fault("balance_out", surface="vast", args={"usd": 1.5})
    assert sim.credit() == pytest.approx(1.5, abs=1e-3)
    assert sim.instance(5001)["actual_status"] == "running"


def test_a_container_ends_by_itself(sim: Sim) -> None:
    sim.fault("container_exits", args={"id": 5001, "code": 137})
    shown = sim.instance(5001)
    assert (shown["actual_status"], shown["intended_status"]) == ("exited", "running")
    assert "137" in shown["status_msg"]
    assert sim.ledger(5001)["billing"] is True
    assert sim.fired("container_exits") == 1


def test_a_container_never_starts_and_only_the_text_says_why(sim: Sim) -> None:
    sim.fault("stuck_created", count=1)
    number = sim.rent()
    sim.step(3600)
    shown = sim.instance(number)
    assert shown["actual_status"] == "created"
    assert "OCI runtime create failed" in shown["status_msg"]
    assert sim.fired("stuck_created") == 1


@pytest.mark.parametrize("status", [404, 410, 400])
def test_somebody_else_is_faster(sim: Sim, status: int) -> None:
    offer = ask(sim)
    sim.fault("offer_taken", count=1, args={"status": status})
    reply = create(sim, offer)
    assert reply.status == status
    assert "no_such_ask" in reply.json["error"] + reply.json["msg"]
    assert offer not in [row["id"] for row in sim.search()]
    assert sim.fired("offer_taken") == 1


def test_an_error_that_rented_all_the_same(sim: Sim) -> None:
    sim.fault("error_with_contract", count=1)
    reply = create(sim, ask(sim))
    assert (reply.status, reply.json["success"]) == (400, False)
    assert exists(sim, reply.json["new_contract"])
    assert sim.fired("error_with_contract") == 1


@pytest.mark.parametrize("name", ["insufficient_credit", "spend_rate_limit"])
def test_the_account_may_not_rent(sim: Sim, name: str) -> None:
    sim.fault(name, count=1)
    reply = create(sim, ask(sim))
    assert (reply.json["success"], reply.json["error"]) == (False, name)
    assert sim.fired(name) == 1


def test_a_start_is_queued_and_bills_when_it_comes_true(sim: Sim) -> None:
    sim.send("PUT", "/api/v0/instances/5001/", {"state": "stopped"})
    sim.step(60)
    sim.fault("queued_start", count=1, args={"seconds": 100})
    reply = sim.send("PUT", "/api/v0/instances/5001/", {"state": "running"})
    assert (reply.status, reply.json["success"]) == (200, False)
    assert "queued" in reply.json["msg"]
    sim.step(90)
    assert sim.instance(5001)["actual_status"] == "scheduling"
    sim.step(30)
    assert sim.instance(5001)["actual_status"] == "running"
    assert sim.ledger(5001)["rate_usd_per_hour"] > 0.36
    assert sim.fired("queued_start") == 1


def test_a_machine_nobody_asked_for_appears_and_bills(sim: Sim) -> None:
    sim.fault(
        "foreign_instance",
        after_s=45,
        args={"label": "flash-1-ab-s0-a0", "gpu_name": "RTX A5000", "id": 7001},
    )
    sim.step(44)
    assert 7001 not in listed(sim)
    sim.step(60)
    assert sim.instance(7001)["label"] == "flash-1-ab-s0-a0"
    assert sim.ledger(7001)["opened_at"] == START + 45
    assert sim.fired("foreign_instance") == 1


# -- how faults are ordered ------------------------------------------------------------------------------------------


def test_a_fault_keeps_to_its_route_count_and_window(sim: Sim) -> None:
    sim.fault("server_error", route="GET /api/v1/*", count=2, after_s=10, for_s=60)
    statuses = [sim.send("GET", "/api/v1/instances/").status]
    sim.step(11)
    statuses += [sim.send("GET", "/api/v0/users/current/").status]
    statuses += [sim.send("GET", "/api/v1/instances/").status for _ in range(3)]
    assert statuses == [200, 200, 500, 500, 200]
    sim.fault("unavailable", for_s=5)
    sim.step(6)
    assert sim.send("GET", "/api/v1/instances/").status == 200


def test_the_first_ordered_is_asked_first(sim: Sim) -> None:
    sim.fault("server_error", count=1)
    sim.fault("unavailable", count=1)
    assert [sim.send("GET", "/api/v1/instances/").status for _ in range(3)] == [500, 503, 200]


def test_a_probability_gives_the_same_pattern_for_the_same_seed(sim: Sim) -> None:
    def pattern(seed: int) -> list[int]:
        sim.admin("POST", "/_sim/reset")
        sim.fault("server_error", probability=0.5, seed=seed)
        return [sim.send("GET", "/api/v1/instances/").status for _ in range(24)]

    first = pattern(3)
    assert first == pattern(3) != pattern(4)
    assert set(first) == {200, 500}


def test_faults_can_be_withdrawn_by_name_and_number_and_all(sim: Sim) -> None:
    for name in ("server_error", "unavailable", "html_502"):
        sim.fault(name)
    assert sim.admin("DELETE", "/_sim/fault", {"name": "server_error"}) == {"removed": 1}
    assert sim.admin("DELETE", "/_sim/fault", {"number": 2}) == {"removed": 1}
    assert sim.admin("DELETE", "/_sim/fault") == {"removed": 1}
    assert sim.send("GET", "/api/v1/instances/").status == 200


def test_control_routes_strike_no_fault(sim: Sim) -> None:
    sim.fault("server_error")
    assert sim.admin("GET", "/_sim/time")["now"] == START


def test_a_scenario_file_orders_faults(sim: Sim, tmp_path: Path) -> None:
    sim.start_over_with(
        tmp_path, '[[faults]]\nname = "html_502"\nroute = "GET /api/v1/*"\ncount = 1\n' + RUNNING
    )
    assert [sim.send("GET", "/api/v1/instances/").status for _ in range(2)] == [502, 200]


def test_an_event_strikes_each_machine_with_its_probability_once() -> None:
    faults = Faults(lambda: 0.0, [{"name": "outbid", "probability": 0.5, "seed": 1}])
    struck = [faults.due("outbid", "vast", str(n)) is not None for n in range(40)]
    again = [faults.due("outbid", "vast", str(n)) is not None for n in range(40)]
    assert 8 < sum(struck) < 32
    assert not any(again)


def test_every_fault_has_a_test_here_or_beside_runpods() -> None:
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123
        text = file.read()
    untested = {name for name in catalogue() if f'"{name}"' not in text} - ON_RUNPOD
    assert untested == set()
