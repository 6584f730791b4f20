"""Instances on simulated Vast: list, detail, changes, money, logs, keys and limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.sim.vast_sim import START, Sim

if TYPE_CHECKING:
    from pathlib import Path

MANY = "\n".join(
    f'[[vast.instances]]\nid = {5000 + n}\nlabel = "run-{n}"\ngpu_name = "{"L4" if n % 2 else "A40"}"\n'
    f"created_at = {-3600.0 - n}\ndph_base = 0.5\n"
    for n in range(60)
)
ONE = (
    '[[vast.instances]]\nid = 5001\nlabel = "run-1"\ngpu_name = "RTX 4090"\ndph_base = 0.36\nstorage_cost = 0.15\n'
    "disk_space = 16\ncreated_at = -1000.0\nrunning_at = -900.0\n"
)


@pytest.fixture
def many(vast: Sim, tmp_path: Path) -> Sim:
    vast.start_over_with(tmp_path, "[vast]\ncredit_usd = 500\n" + MANY)
    return vast


@pytest.fixture
def one(vast: Sim, tmp_path: Path) -> Sim:
    vast.start_over_with(tmp_path, "[vast]\ncredit_usd = 10\n" + ONE)
    return vast


def manage(vast: Sim, **body: object) -> Any:
    return vast.send("PUT", "/api/v0/instances/5001/", body)


# -- reading ---------------------------------------------------------------------------------------------------------


def test_the_list_comes_in_pages_of_25_with_tokens(many: Sim) -> None:
    sizes, ids, token = [], [], None
    while True:
        page = many.instances(**({"after_token": token} if token else {}))
        sizes.append(page["instances_found"])
        ids += [row["id"] for row in page["instances"]]
        assert page["total_instances"] == 60
        token = page["next_token"]
        if token is None:
            break
    assert sizes == [25, 25, 10]
    assert ids == [5000 + n for n in range(60)]


def test_a_limit_above_25_is_25_and_nothing_is_5(many: Sim) -> None:
    assert many.instances(limit="100")["instances_found"] == 25
    assert many.instances(limit="7")["instances_found"] == 7
    assert many.instances(limit="0")["instances_found"] == 5


def test_paging_survives_a_row_that_is_destroyed_between_pages(many: Sim) -> None:
    first = many.instances()
    many.send("DELETE", f"/api/v0/instances/{first['instances'][-1]['id']}/", {})
    second = many.instances(after_token=first["next_token"])
    assert second["instances"][0]["id"] == 5025


def test_the_list_filters_orders_and_selects(many: Sim) -> None:
    page = many.instances(
        select_filters={"gpu_name": {"in": ["L4"]}, "label": {"in": ["run-1", "run-2", "run-3"]}},
        order_by=[{"col": "start_date", "dir": "asc"}],
        select_cols=["id", "label", "moon_phase"],
    )
    assert page["instances"] == [
        {"id": 5003, "label": "run-3", "moon_phase": None},
        {"id": 5001, "label": "run-1", "moon_phase": None},
    ]
    assert page["label_counts"] == {"run-1": 1, "run-3": 1}


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"select_filters": {"dph_total": {"lt": 1}}}, "invalid_request"),
        ({"select_filters": "{"}, "invalid_request"),
        ({"after_token": "bm9wZQ=="}, "invalid_token"),
        ({"limit": "many"}, "invalid_request"),
    ],
)
def test_a_list_request_that_cannot_be_read_is_400(one: Sim, parameters: Any, error: str) -> None:
    assert one.instances(**parameters)["error"] == error


def test_the_old_list_is_gone_or_silently_empty(one: Sim, tmp_path: Path) -> None:
    reply = one.send("GET", "/api/v0/instances/")
    assert (reply.status, reply.json["error"]) == (410, "deprecated_endpoint")
    one.start_over_with(tmp_path, '[vast]\nv0_list = "empty"\n' + ONE)
    assert one.send("GET", "/api/v0/instances").json == {"instances": []}


def test_a_detail_is_one_object_under_the_plural_key(one: Sim) -> None:
    with open("tests/data/vast_instance_example.json", encoding="utf-8") as file:  # noqa: PTH123
        documented = json.load(file)
    shown = one.instance(5001)
    assert set(documented) <= set(shown)
    assert shown["dph_total"] == pytest.approx(0.36 + 0.15 * 16 / 720)
    assert shown["start_date"] == START - 1000


def test_an_unknown_detail_is_null_with_200(one: Sim) -> None:
    reply = one.send("GET", "/api/v0/instances/4242/")
    assert (reply.status, reply.json) == (200, {"instances": None})


def test_filter_hints_name_what_is_there(one: Sim) -> None:
    hints = one.send("GET", "/api/v0/instances/filters/").json["filters"]
    assert hints == [
        {"actual_status": "running", "verification": "verified", "gpu_name": "RTX 4090"}
    ]


# -- changing --------------------------------------------------------------------------------------------------------


def test_a_stopped_instance_bills_its_storage_only(one: Sim) -> None:
    assert manage(one, state="stopped").json == {"success": True}
    assert one.instance(5001)["intended_status"] == "stopped"
    one.step(10)
    shown = one.instance(5001)
    assert shown["actual_status"] == "exited"
    assert shown["instance"]["gpuCostPerHour"] == 0
    assert one.ledger(5001)["rate_usd_per_hour"] == pytest.approx(0.15 * 16 / 720, abs=1e-8)


def test_a_stopped_instance_can_be_started(one: Sim) -> None:
    manage(one, state="stopped")
    one.step(30)
    assert manage(one, state="running").json["success"] is True
    one.step(3)
    assert one.instance(5001)["actual_status"] == "loading"
    one.step(20)
    assert one.instance(5001)["actual_status"] == "running"


@pytest.mark.parametrize(("path", "word"), [("reboot", "rebooting"), ("recycle", "recycling")])
def test_reboot_and_recycle_come_back_by_themselves(one: Sim, path: str, word: str) -> None:
    assert one.send("PUT", f"/api/v0/instances/{path}/5001/", {}).json == {"success": True}
    one.step(1)
    assert one.instance(5001)["actual_status"] == word
    one.step(10)
    assert one.instance(5001)["actual_status"] == "running"


def test_a_label_can_be_changed_up_to_its_limit(one: Sim) -> None:
    assert manage(one, label="").json == {"success": True}
    assert manage(one, label="run-2").json == {"success": True}
    assert one.instance(5001)["label"] == "run-2"
    assert one.ledger(5001)["label"] == "run-2"
    assert manage(one, label="x" * 1025).json["error"] == "label_too_long"


def test_several_can_be_stopped_and_destroyed_at_once(many: Sim) -> None:
    assert many.send("PUT", "/api/v0/instances/", {"state": "stopped", "ids": [5001, 5002]}).json[
        "success"
    ]
    assert many.instance(5002)["intended_status"] == "stopped"
    assert many.send("DELETE", "/api/v0/instances/", {"instance_ids": [5001, 5002]}).json["success"]
    assert many.instances()["total_instances"] == 58
    assert many.send("DELETE", "/api/v0/instances/", {"instance_ids": [5001]}).status == 404


def test_a_bid_can_be_changed_on_an_interruptible_instance_only(one: Sim) -> None:
    path = "/api/v0/instances/bid_price/5001/"
    assert one.send("PUT", path, {"client_id": "me", "price": 0.2}).status == 400
    offer = one.search({"num_gpus": {"eq": 1}, "min_bid": {"gt": 0.05}})[0]
    number = one.rent(offer["id"], price=offer["min_bid"])
    path = f"/api/v0/instances/bid_price/{number}/"
    assert one.send("PUT", path, {"client_id": "me", "price": offer["min_bid"] * 1.2}).json == {
        "success": True
    }
    one.step(60)
    assert one.instance(number)["dph_base"] == pytest.approx(offer["min_bid"] * 1.2)


def test_a_destroy_ends_billing_at_once_and_for_ever(one: Sim) -> None:
    assert one.send("DELETE", "/api/v0/instances/5001/", {}).json == {"success": True}
    assert one.instance(5001) is None
    assert one.instances()["instances"] == []
    row = one.ledger(5001)
    assert (row["billing"], row["closed_at"]) == (False, START)
    one.step(3600)
    assert one.ledger(5001)["billed_usd"] == row["billed_usd"]


def test_destroying_the_absent_is_404_or_a_200_that_says_no(one: Sim, tmp_path: Path) -> None:
    reply = one.send("DELETE", "/api/v0/instances/1/", {})
    assert (reply.status, reply.json["error"]) == (404, "no_such_instance")
    one.start_over_with(tmp_path, '[vast]\nabsent_destroy = "ok_false"\n')
    reply = one.send("DELETE", "/api/v0/instances/1/", {})
    assert (reply.status, reply.json["success"], reply.json["error"]) == (
        200,
        False,
        "no_such_instance",
    )


# -- money -----------------------------------------------------------------------------------------------------------


def test_gpu_time_is_billed_while_running_and_storage_all_the_time(one: Sim) -> None:
    # Created 1000 s before the start, running for 900 s of it.
    one.step(500)
    parts = one.ledger(5001)["parts"]
    assert parts["gpu"] == pytest.approx(0.36 * 1400 / 3600, abs=1e-7)
    assert parts["storage"] == pytest.approx(0.15 * 16 / 720 * 1500 / 3600, abs=1e-7)


def test_credit_falls_by_what_the_ledger_bills(one: Sim) -> None:
    before, billed = one.credit(), one.ledger(5001)["billed_usd"]
    assert before == pytest.approx(10.0)
    one.step(1800)
    assert before - one.credit() == pytest.approx(one.ledger(5001)["billed_usd"] - billed, abs=1e-6)


def test_a_step_of_an_hour_bills_like_3600_steps_of_a_second(one: Sim, tmp_path: Path) -> None:
    def life(steps: int) -> float:
        one.start_over_with(tmp_path, ONE)
        number = one.rent()
        manage(one, state="stopped")
        for _ in range(steps):
            one.world.time.step(3600 / steps)
            one.world.advance()
        return float(one.ledger(number)["billed_usd"])

    assert life(1) == pytest.approx(life(360), abs=1e-7)


def test_an_empty_account_is_stopped_to_the_second_and_without_a_card_destroyed(
    one: Sim, tmp_path: Path
) -> None:
    rate = 0.36 + 0.15 * 16 / 720
    one.start_over_with(tmp_path, f"[vast]\ncredit_usd = {rate}\n" + ONE)
    one.step(3590)
    assert one.instance(5001)["actual_status"] == "running"
    one.step(3600)
    assert one.instance(5001)["actual_status"] == "stopped"
    assert one.ledger(5001)["parts"]["gpu"] == pytest.approx(0.36 * 4500 / 3600, abs=1e-5)
    assert one.credit() < 0
    assert manage(one, state="running").json["error"] == "insufficient_credit"
    one.start_over_with(tmp_path, f"[vast]\ncredit_usd = {rate}\nhas_card = false\n" + ONE)
    one.step(7200)
    assert one.instance(5001) is None
    assert one.ledger(5001)["closed_at"] == pytest.approx(START + 3600, abs=0.01)


def test_charges_add_up_to_the_ledger_and_respect_the_range(one: Sim) -> None:
    one.step(600)

    def amount(since: float, until: float) -> float:
        text = quote(json.dumps({"day": {"gte": since, "lte": until}}))
        reply = one.send("GET", f"/api/v0/charges/?select_filters={text}").json
        return float(sum(row["amount"] for row in reply["results"]))

    assert amount(0, START + 9999) == pytest.approx(one.ledger(5001)["billed_usd"], abs=1e-6)
    assert amount(START, START + 300) == pytest.approx(
        (0.36 + 0.15 * 16 / 720) * 300 / 3600, abs=1e-6
    )
    assert one.send("GET", "/api/v0/charges/").status == 400


def test_invoices_without_a_range_say_no_with_200(one: Sim) -> None:
    reply = one.send("GET", "/api/v1/invoices/")
    assert (reply.status, reply.json["success"]) == (200, False)
    assert one.send("GET", "/api/v0/users/me/invoices?owner=me").json["invoices"] == []


# -- logs ------------------------------------------------------------------------------------------------------------


def read_log(vast: Sim, url: str) -> tuple[int, str]:
    reply = vast.send("GET", url.removeprefix(vast.running.url("vast")), key=None)
    return reply.status, reply.body.decode()


def test_a_log_is_ready_after_a_while_and_needs_no_key(one: Sim) -> None:
    reply = one.send("PUT", "/api/v0/instances/request_logs/5001/", {"tail": "5"}).json
    assert read_log(one, reply["result_url"])[0] == 404
    one.step(5)
    status, text = read_log(one, reply["result_url"])
    assert status == 200
    assert len(text.splitlines()) == 5
    assert "loss" in text


def test_a_log_can_be_filtered_and_shows_raw_terminal_codes(one: Sim) -> None:
    one.step(10)
    asked = {"filter": "INFO"}
    url = one.send("PUT", "/api/v0/instances/request_logs/5001/", asked).json["result_url"]
    one.step(5)
    assert read_log(one, url)[1] == "\x1b[32mINFO\x1b[0m loading model\n"


def test_the_daemons_log_shows_the_states(one: Sim) -> None:
    asked = {"daemon_logs": "true"}
    url = one.send("PUT", "/api/v0/instances/request_logs/5001/", asked).json["result_url"]
    one.step(5)
    assert "loading" in read_log(one, url)[1]


def test_logs_of_strangers_and_other_commands_are_refused(one: Sim) -> None:
    assert one.send("PUT", "/api/v0/instances/request_logs/9/", {}).json["error"] == "invalid_id"
    path = "/api/v0/instances/command/5001/"
    assert (
        one.send("PUT", path, {"command": "ls -l"})
        .json["result_url"]
        .startswith("http://127.0.0.1")
    )
    assert one.send("PUT", path, {"command": "cat /etc/passwd"}).status == 400


# -- keys and limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/instances/", 401),
        ("GET", "/api/v0/instances/5001/", 401),
        ("PUT", "/api/v0/asks/1/", 401),
        ("DELETE", "/api/v0/instances/5001/", 404),
        ("GET", "/api/v0/users/current/", 401),
    ],
)
def test_a_wrong_key_is_told_so_in_the_documented_forms(
    one: Sim, method: str, path: str, status: int
) -> None:
    reply = one.send(method, path, {} if method != "GET" else None, key="nonsense")
    assert (reply.status, reply.json["error"]) == (status, "auth_error")
    absent = one.send(method, path, {} if method != "GET" else None, key=None)
    assert (absent.status, absent.json["msg"]) == (403, "This action requires login.")
    assert one.instance(5001) is not None


def test_a_key_that_may_only_read_cannot_destroy(one: Sim) -> None:
    key = "vast-demo-readonly-key"
    assert one.send("GET", "/api/v1/instances/", key=key).status == 200
    assert one.send("DELETE", "/api/v0/instances/5001/", {}, key=key).status == 403
    assert one.instance(5001) is not None


def test_limits_are_off_unless_the_scenario_wants_them(one: Sim, tmp_path: Path) -> None:
    assert {one.send("GET", "/api/v1/instances/").status for _ in range(5)} == {200}
    one.start_over_with(tmp_path, "[vast]\nrate_limits = true\n" + ONE)
    replies = [one.send("GET", "/api/v1/instances/") for _ in range(4)]
    assert [reply.status for reply in replies] == [200, 429, 429, 429]
    assert [reply.headers["Content-Type"] for reply in replies[1:]] == [
        "text/plain",
        *["application/json"] * 2,
    ]
    one.step(1.1)
    assert one.send("GET", "/api/v1/instances/").status == 200


def test_ten_searches_a_minute_and_creates_4_seconds_apart(one: Sim, tmp_path: Path) -> None:
    one.start_over_with(tmp_path, "[vast]\nrate_limits = true\n" + ONE)
    statuses = [one.send("POST", "/api/v0/bundles/", {"limit": 1}).status for _ in range(11)]
    assert statuses == [200] * 10 + [429]
    body = {"image": "a", "disk": 10}
    first = [one.send("PUT", f"/api/v0/asks/{n}/", body).status for n in (1, 2)]
    assert first == [404, 429]
    one.step(5)
    assert one.send("PUT", "/api/v0/asks/3/", body).status == 429
    one.step(13)
    assert one.send("PUT", "/api/v0/asks/3/", body).status == 404


# -- strictness ------------------------------------------------------------------------------------------------------


def test_unknown_routes_and_methods_are_json_and_recorded(one: Sim) -> None:
    assert one.send("GET", "/api/v0/nothing/").json["success"] is False
    assert one.send("PATCH", "/api/v0/instances/5001/", {}).status == 405
    kinds = [kind for kind, _ in one.violations()]
    assert kinds == ["unknown_route", "unknown_method"]


def test_both_spellings_of_a_path_are_served_without_a_redirect(one: Sim) -> None:
    for path in (
        "/api/v0/users/current",
        "/api/v0/users/current/",
        "/api/v1/instances",
        "/api/v0/instances/5001",
    ):
        assert one.send("GET", path).status == 200
