"""Renting on simulated Vast: the request's fields, every documented answer, and the life that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.sim.vast_sim import START, Sim

if TYPE_CHECKING:
    from pathlib import Path

BODY = {"client_id": "me", "image": "acme/worker:1", "disk": 60}


def cheapest(vast: Sim, **conditions: object) -> dict[str, Any]:
    query: dict[str, object] = {"num_gpus": {"eq": 1}, "gpu_name": {"eq": "RTX 3090"}, **conditions}
    return vast.search(query)[0]


def rent(vast: Sim, ask_id: int, **fields: object) -> Any:
    return vast.send("PUT", f"/api/v0/asks/{ask_id}/", {**BODY, **fields})


def test_a_create_answers_a_new_number_and_the_instances_own_key(vast: Sim) -> None:
    offer = cheapest(vast)
    reply = rent(vast, offer["id"], label="run-1", env={"-p 8080:8080": "1", "A": "b"})
    assert reply.json["success"] is True
    assert reply.json["new_contract"] != offer["id"]
    own_key = reply.json["instance_api_key"]
    number = reply.json["new_contract"]
    vast.step(60)
    assert (
        vast.send("PUT", f"/api/v0/instances/{number}/", {"state": "stopped"}, key=own_key).status
        == 200
    )
    other = vast.rent(vast.search()[0]["id"])
    assert vast.send("DELETE", f"/api/v0/instances/{other}/", {}, key=own_key).status == 403


def test_an_instance_goes_from_null_over_created_and_loading_to_running(vast: Sim) -> None:
    number = vast.rent()
    seen: list[object] = []
    messages: list[str] = []
    for _ in range(120):
        vast.step(0.5)
        shown = vast.instance(number)
        if shown is None:
            continue
        if not seen or seen[-1] != shown["actual_status"]:
            seen.append(shown["actual_status"])
        messages.append(shown["status_msg"] or "")
    assert seen == [None, "created", "loading", "running"]
    assert any("Pull complete" in message for message in messages)
    assert messages[-1].startswith("success, running acme/worker_1/")


def test_a_new_instance_is_not_in_list_and_detail_for_a_moment(vast: Sim) -> None:
    number = vast.rent()
    assert vast.instance(number) is None
    assert vast.instances()["instances"] == []
    vast.step(2)
    assert vast.instance(number)["id"] == number
    assert [row["id"] for row in vast.instances()["instances"]] == [number]


def test_ports_and_telemetry_come_with_running(vast: Sim) -> None:
    number = vast.rent(env={"-p 8080:8080": "1", "A": "b"})
    vast.step(2)
    early = vast.instance(number)
    assert early["ports"] is None
    assert early["gpu_util"] is None
    vast.step(120)
    shown = vast.instance(number)
    assert set(shown["ports"]) == {"22/tcp", "8080/tcp"}
    assert shown["ports"]["22/tcp"][0]["HostPort"].isdigit()
    assert shown["extra_env"] == [["-p 8080:8080", "1"], ["A", "b"]]
    assert 0 < shown["gpu_util"] <= 100


def test_the_disk_asked_for_is_what_is_billed(vast: Sim) -> None:
    offer = cheapest(vast)
    number = vast.rent(offer["id"], disk=250)
    vast.step(200)
    shown = vast.instance(number)
    disk = offer["storage_cost"] * 250 / 720
    assert shown["disk_space"] == 250
    assert shown["dph_total"] == pytest.approx(offer["dph_base"] + disk, abs=1e-9)
    rates = vast.ledger(number)
    assert rates["rate_usd_per_hour"] == pytest.approx(offer["dph_base"] + disk, abs=1e-6)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"image": ""}, "invalid_args"),
        ({"env": "-e A=b"}, "invalid_args"),
        ({"disk": 4}, "invalid_args"),
        ({"price": 500}, "invalid_price"),
        ({"label": "x" * 257}, "invalid_args"),
        ({"onstart": "x" * 17_000}, "invalid_args"),
        ({"args": "sleep 1"}, "invalid_args"),
    ],
)
def test_a_bad_create_is_400_and_rents_nothing(
    vast: Sim, fields: dict[str, object], error: str
) -> None:
    reply = rent(vast, cheapest(vast)["id"], **fields)
    assert (reply.status, reply.json["error"]) == (400, error)
    assert vast.admin("GET", "/_sim/state")["vast"] == []


def test_an_offer_can_be_accepted_once(vast: Sim) -> None:
    ask = cheapest(vast)["id"]
    vast.rent(ask)
    gone = rent(vast, ask)
    assert gone.status == 404
    assert "no_such_ask" in gone.json["msg"]
    raced = rent(vast, ask, cancel_unavail=True)
    assert (raced.status, raced.json["error"]) == (410, "no_such_ask")


def test_the_same_create_twice_is_recorded(vast: Sim) -> None:
    ask = cheapest(vast)["id"]
    rent(vast, ask, label="run-7")
    rent(vast, ask, label="run-7")
    assert ("repeated_create", f"ask {ask} label run-7") in vast.violations()


def test_an_unknown_field_is_recorded(vast: Sim) -> None:
    rent(vast, cheapest(vast)["id"], colour="red")
    assert ("unknown_field", "asks: colour") in vast.violations()


def test_the_official_clients_create_is_fully_known(vast: Sim) -> None:
    body = {
        "extra": None, "onstart": "echo hi", "image_login": None, "python_utf8": False, "lang_utf8": False,
        "use_jupyter_lab": False, "jupyter_dir": None, "force": False, "cancel_unavail": False,
        "template_hash_id": None, "user": None, "runtype": "ssh_direc ssh_proxy", "price": None, "label": "run-abc",
    }  # fmt: skip
    assert rent(vast, cheapest(vast)["id"], **body).status == 200
    assert vast.violations() == []


def test_a_bid_below_the_floor_is_an_error_with_a_contract_that_must_be_destroyed(
    vast: Sim,
) -> None:
    offer = cheapest(vast, min_bid={"gt": 0.05})
    reply = rent(vast, offer["id"], price=0.001)
    assert reply.status == 400
    number = reply.json["new_contract"]
    vast.step(5)
    shown = vast.instance(number)
    assert {shown["cur_state"], shown["intended_status"], shown["next_state"]} == {"stopped"}
    assert vast.ledger(number)["billing"] is True


def test_a_bid_instance_pays_its_bid_at_most_the_on_demand_price(vast: Sim) -> None:
    offers = vast.search({"num_gpus": {"eq": 1}, "min_bid": {"gt": 0.05}})
    low = vast.rent(offers[0]["id"], price=round(offers[0]["min_bid"] * 1.05, 4))
    high = vast.rent(offers[1]["id"], price=100.0)
    vast.step(3)
    assert vast.instance(low)["dph_base"] == pytest.approx(offers[0]["min_bid"] * 1.05, abs=1e-4)
    assert vast.instance(high)["dph_base"] == offers[1]["dph_base"]
    assert vast.instance(low)["is_bid"] is True


def test_a_market_that_outgrows_a_bid_stops_it(vast: Sim) -> None:
    offer = cheapest(vast, min_bid={"gt": 0.05})
    number = vast.rent(offer["id"], price=round(offer["min_bid"] * 1.001, 5))
    vast.step(48 * 3600)
    shown = vast.instance(number)
    assert shown["cur_state"] == shown["next_state"] == "stopped"
    assert vast.ledger(number)["rate_usd_per_hour"] == pytest.approx(
        offer["storage_cost"] * 60 / 720, abs=1e-6
    )


def test_a_target_state_of_stopped_rents_without_running(vast: Sim) -> None:
    number = vast.rent(target_state="stopped")
    vast.step(60)
    assert vast.instance(number)["actual_status"] == "stopped"


def test_a_bulk_create_takes_the_first_that_is_there(vast: Sim) -> None:
    ask = cheapest(vast)["id"]
    reply = vast.send("POST", "/api/v0/asks/bulk/", {**BODY, "ids": [1, ask]})
    assert reply.json["success"] is True


def test_no_credit_means_no_machine(vast: Sim, tmp_path: Path) -> None:
    vast.start_over_with(tmp_path, "[vast]\ncredit_usd = 0\n")
    reply = rent(vast, cheapest(vast)["id"])
    assert (reply.status, reply.json["error"]) == (400, "insufficient_credit")


def test_a_listing_that_ends_stops_the_instance_and_later_deletes_it(vast: Sim) -> None:
    offers = [o for o in vast.search({"num_gpus": {"eq": 1}}) if o["duration"] < 12 * 3600]
    number = vast.rent(offers[0]["id"], disk=8)
    vast.step(offers[0]["end_date"] - START + 10)
    shown = vast.instance(number)
    assert (shown["intended_status"], shown["actual_status"]) == ("stopped", "stopped")
    vast.step(48 * 3600)
    assert vast.instance(number) is None
    row = vast.ledger(number)
    assert row["closed_at"] == pytest.approx(offers[0]["end_date"] + 48 * 3600)
