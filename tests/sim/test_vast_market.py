"""The simulated Vast market: its size, its classes, its movement, and what a search leaves of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.sim.vast_sim import KEY, START, Sim, world_of

if TYPE_CHECKING:
    from pathlib import Path

# Spelling, MB per GPU and least CUDA of what a training job on Vast is placed on.
WANTED = [
    ("RTX 4090", 24564, 12.8), ("RTX 5090", 32607, 13.0), ("RTX A4000", 16376, 12.8), ("RTX 2000Ada", 16380, 12.8),
    ("RTX A4500", 20470, 12.8), ("RTX 4000Ada", 20475, 12.8), ("RTX A5000", 24564, 12.8), ("RTX 3090", 24576, 12.8),
    ("L4", 23034, 12.8), ("RTX PRO 4000", 24467, 13.0), ("RTX A6000", 49140, 12.8), ("A40", 46068, 12.8),
    ("RTX 6000Ada", 49140, 12.8), ("L40S", 46068, 12.8), ("A100 SXM4", 40960, 12.8), ("A100 SXM4", 81920, 12.8),
    ("A100 PCIE", 81920, 12.8), ("H100 SXM", 81559, 12.8), ("H100 NVL", 95830, 12.8), ("RTX PRO 6000", 97887, 13.0),
]  # fmt: skip
UNMANAGED = {"RTX 3060", "Tesla V100", "RTX 3070", "B200", "H200", "RTX 4070S Ti", "GTX 1080 Ti"}


def policy(gpu_name: str, gpu_ram: int, cuda: float) -> dict[str, object]:
    return {
        "gpu_name": {"eq": gpu_name},
        "gpu_ram": {"eq": gpu_ram},
        "cuda_max_good": {"gte": cuda},
        "verified": {"eq": True},
        "hosting_type": {"eq": 1},
        "reliability2": {"gte": 0.995},
        "inet_down": {"gte": 200},
        "num_gpus": {"eq": 1},
        "allocated_storage": 60,
    }


@pytest.mark.parametrize("minutes", [0, 7, 60, 1440])
def test_every_class_a_job_wants_has_an_offer_that_passes(vast: Sim, minutes: int) -> None:
    vast.step(minutes * 60)
    missing = [wanted for wanted in WANTED if not vast.search(policy(*wanted))]
    assert not missing


@pytest.mark.parametrize("seed", [1, 7, 99])
def test_the_market_has_at_least_400_offers_of_managed_and_other_boards(
    vast: Sim, seed: int
) -> None:
    vast.start_over(seed=seed)
    offers = vast.search()
    names = {offer["gpu_name"] for offer in offers}
    assert len(offers) >= 400
    assert names >= UNMANAGED
    assert len(names) >= 40


def test_the_market_has_good_and_bad_hosts(vast: Sim) -> None:
    offers = vast.search()
    assert {offer["verification"] for offer in offers} == {"verified", "unverified", "deverified"}
    assert {offer["hosting_type"] for offer in offers} >= {0, 1}
    assert any(offer["reliability2"] < 0.995 for offer in offers)
    assert any(offer["inet_down"] < 100 for offer in offers)
    assert any(offer["cuda_max_good"] < 12.8 for offer in offers)
    assert any(offer["duration"] < 6 * 3600 for offer in offers)
    assert any(offer["geolocation"] is None for offer in offers)


def test_an_offer_has_every_documented_field(vast: Sim) -> None:
    with open("tests/data/vast_offer_example.json", encoding="utf-8") as file:  # noqa: PTH123
        documented = json.load(file)
    offer = vast.search({"limit": 1})[0]
    assert set(documented) <= set(offer)


def test_prices_move_within_seconds_and_hold_within_a_tick(vast: Sim) -> None:
    before = {offer["id"]: offer["dph_base"] for offer in vast.search()}
    vast.step(1.0)
    assert {offer["id"]: offer["dph_base"] for offer in vast.search()} == before
    vast.step(9.0)
    after = {offer["id"]: offer["dph_base"] for offer in vast.search()}
    moved = [number for number in before.keys() & after.keys() if before[number] != after[number]]
    assert len(moved) >= 20
    assert all(0.8 < after[number] / before[number] < 1.25 for number in moved)


def test_offers_come_and_go_within_a_minute(vast: Sim) -> None:
    before = {offer["id"] for offer in vast.search()}
    vast.step(60)
    after = {offer["id"] for offer in vast.search()}
    assert before - after
    assert after - before


def test_prices_are_a_function_of_seed_and_moment_alone(vast: Sim) -> None:
    vast.step(35)
    seen = {offer["id"]: offer["dph_base"] for offer in vast.search()}
    vast.step(1000)
    told = vast.admin("GET", f"/_sim/prices?at={START + 35}")["vast"]
    assert {row["id"]: row["dph_base"] for row in told} == seen
    other = world_of("").surfaces["vast"].prices(START + 35)
    assert {row["id"]: row["dph_base"] for row in other} == seen


def test_another_seed_is_another_market(vast: Sim) -> None:
    first = [offer["dph_base"] for offer in vast.search()]
    vast.start_over(seed=8)
    assert [offer["dph_base"] for offer in vast.search()] != first


@pytest.mark.parametrize("storage_gb", [5.0, 8.0, 16.0, 60.0, 250.0])
def test_storage_is_priced_as_documented(vast: Sim, storage_gb: float) -> None:
    for offer in vast.search({"allocated_storage": storage_gb}):
        disk = offer["storage_cost"] * storage_gb / 720
        assert offer["storage_total_cost"] == pytest.approx(disk, abs=1e-12)
        assert offer["dph_total"] == pytest.approx(offer["dph_base"] + disk, abs=1e-12)
        assert offer["search"]["totalHour"] == pytest.approx(offer["dph_total"], abs=1e-12)
        assert offer["instance"]["totalHour"] == pytest.approx(disk, abs=1e-12)
        assert offer["vram_costperhour"] == pytest.approx(
            offer["dph_total"] / offer["gpu_total_ram"]
        )
        assert offer["disk_space"] >= storage_gb


def test_without_a_storage_size_the_server_prices_eight_gigabytes(vast: Sim) -> None:
    offer = vast.search({"limit": 1})[0]
    assert offer["storage_total_cost"] == pytest.approx(offer["storage_cost"] * 8 / 720)


def test_the_four_spellings_find_the_same_offers(vast: Sim) -> None:
    query = {"gpu_name": {"eq": "RTX 4090"}, "order": [["dph_total", "asc"]], "limit": 10}
    text = quote(json.dumps(query))
    replies = [
        vast.send("POST", "/api/v0/bundles/", query),
        vast.send("PUT", "/api/v0/search/asks/", {"select_cols": ["*"], "q": query}),
        vast.send("GET", f"/api/v0/bundles?q={text}"),
        vast.send("GET", f"/api/v0/search/asks/?q={text}"),
    ]
    found = [[offer["id"] for offer in reply.json["offers"]] for reply in replies]
    assert len(found[0]) == 10
    assert found == [found[0]] * 4
    assert {reply.headers["Content-Type"] for reply in replies} == {"application/json"}


def check(vast: Sim, name: str, condition: dict[str, object], holds: Any) -> None:
    """A filter lets exactly those offers pass for which `holds` is true, and some, but not all."""
    everything = vast.search()
    passed = vast.search({name: condition})
    expected = [offer["id"] for offer in everything if holds(offer)]
    assert [offer["id"] for offer in passed] == expected
    assert 0 < len(expected) < len(everything)


@pytest.mark.parametrize(
    ("name", "condition", "holds"),
    [
        ("num_gpus", {"eq": "2"}, lambda o: o["num_gpus"] == 2),
        ("num_gpus", {"neq": 1}, lambda o: o["num_gpus"] != 1),
        ("dph_total", {"lt": "0.5"}, lambda o: o["dph_total"] < 0.5),
        ("dph", {"lte": 0.5, "gt": 0.2}, lambda o: 0.2 < o["dph_total"] <= 0.5),
        ("reliability", {"gt": "0.99"}, lambda o: o["reliability2"] > 0.99),
        ("cuda_vers", {"gte": "12.8"}, lambda o: o["cuda_max_good"] >= 12.8),
        ("gpu_ram", {"gte": 24000.0}, lambda o: o["gpu_ram"] >= 24000),
        ("gpu_ram_GB", {"gte": 48}, lambda o: o["gpu_ram"] >= 48000),
        ("gpu_name", {"in": ["L4", "A40"]}, lambda o: o["gpu_name"] in {"L4", "A40"}),
        ("gpu_name", {"notin": ["L4", "A40"]}, lambda o: o["gpu_name"] not in {"L4", "A40"}),
        ("verified", {"eq": True}, lambda o: o["verification"] == "verified"),
        ("verification", {"eq": "deverified"}, lambda o: o["verification"] == "deverified"),
        ("datacenter", {"eq": True}, lambda o: o["hosting_type"] == 1),
        ("datacenter", {"eq": False}, lambda o: o["hosting_type"] != 1),
        ("driver_version", {"gte": 570000000}, lambda o: o["driver_vers"] >= 570000000),
        ("geolocation", {"in": ["SE", "US"]}, lambda o: (o["geolocation"] or "")[-2:] in {"SE", "US"}),
        ("duration", {"gt": 259200.0}, lambda o: o["duration"] > 259200),
        ("static_ip", {"eq": True}, lambda o: o["static_ip"]),
        ("compute_cap", {"gte": "890"}, lambda o: o["compute_cap"] >= 890),
        ("target_reliability", {"gte": 0.99}, lambda o: o["expected_reliability"] >= 0.99),
        ("os_version", {"eq": "22.04"}, lambda o: o["os_version"] == "22.04"),
        ("static_ip", {"eq": "true"}, lambda o: o["static_ip"]),
        ("static_ip", {"neq": 1}, lambda o: not o["static_ip"]),
        ("min_bid", {"eq": 0}, lambda o: o["min_bid"] == 0),
    ],
)  # fmt: skip
def test_filters_are_really_applied(
    vast: Sim, name: str, condition: dict[str, object], holds: Any
) -> None:
    check(vast, name, condition, holds)
    assert vast.violations() == []


def test_the_official_clients_defaults_hide_nothing_but_the_unverified(vast: Sim) -> None:
    defaults: dict[str, object] = {
        "verified": {"eq": True},
        "external": {"eq": False},
        "rentable": {"eq": True},
        "rented": {"eq": False},
    }
    assert len(vast.search(defaults)) == len(vast.search({"verified": {"eq": True}}))


def test_a_name_with_underscores_finds_nothing(vast: Sim) -> None:
    assert vast.search({"gpu_name": {"eq": "RTX_4090"}}) == []


def test_an_unknown_filter_is_ignored_and_recorded(vast: Sim) -> None:
    assert len(vast.search({"compute_capability": {"gte": 890}})) == len(vast.search())
    assert ("unknown_filter", "search: compute_capability") in vast.violations()


@pytest.mark.parametrize(
    "query",
    [
        {"num_gpus": {"gte": "many"}},
        {"gpu_name": {"in": "L4"}},
        {"order": "dph_total"},
        {"order": [["dph_total", "down"]]},
        {"limit": "a lot"},
    ],
)
def test_a_query_that_cannot_be_read_is_refused(vast: Sim, query: dict[str, object]) -> None:
    reply = vast.send("POST", "/api/v0/bundles/", query)
    assert reply.status == 400
    assert reply.json["error"] == "invalid_args"


def test_order_goes_by_several_fields_in_both_directions(vast: Sim) -> None:
    offers = vast.search({"order": [["num_gpus", "desc"], ["dph_total", "asc"]]})
    keys = [(-offer["num_gpus"], offer["dph_total"]) for offer in offers]
    assert keys == sorted(keys)


def test_without_an_order_a_page_of_more_is_a_sample(vast: Sim) -> None:
    reply = vast.send("POST", "/api/v0/bundles/", {"limit": 20})
    prices = [offer["dph_total"] for offer in reply.json["offers"]]
    assert len(prices) == 20
    assert prices != sorted(prices)


def test_without_a_key_there_are_the_64_cheapest_whatever_is_asked(vast: Sim) -> None:
    reply = vast.send(
        "POST", "/api/v0/bundles/", {"limit": 500, "order": [["score", "desc"]]}, key=None
    )
    cheapest = [offer["id"] for offer in vast.search()[:64]]
    assert [offer["id"] for offer in reply.json["offers"]] == cheapest


def test_a_wrong_key_is_404_on_search(vast: Sim) -> None:
    reply = vast.send("POST", "/api/v0/bundles/", {}, key="nonsense")
    assert (reply.status, reply.json["error"]) == (404, "auth_error")


def test_chosen_columns_come_alone_and_unknown_ones_as_null(vast: Sim) -> None:
    body = {
        "select_cols": ["id", "dph_total", "moon_phase"],
        "q": {"limit": 1, "order": [["dph_total", "asc"]]},
    }
    offer = vast.send("PUT", "/api/v0/search/asks/", body).json["offers"][0]
    assert set(offer) == {"id", "dph_total", "moon_phase"}
    assert offer["moon_phase"] is None


def test_an_interruptible_search_is_priced_by_the_bid_floor(vast: Sim) -> None:
    on_demand = {offer["id"]: offer for offer in vast.search()}
    offers = vast.search({"type": "bid"})
    assert offers
    assert all(offer["dph_base"] == offer["min_bid"] > 0 for offer in offers)
    assert all(offer["is_bid"] is False for offer in offers)
    assert all(offer["min_bid"] <= on_demand[offer["id"]]["dph_base"] for offer in offers)


def test_slices_of_one_machine_overlap_and_vanish_together(vast: Sim) -> None:
    big = vast.search({"num_gpus": {"gte": 4}, "order": [["dph_total", "asc"]]})[0]
    machine: dict[str, object] = {"machine_id": {"eq": big["machine_id"]}}
    slices = vast.search(machine)
    assert len(slices) >= 3
    vast.rent(big["id"])
    left = vast.search(machine)
    assert not any(set(offer["gpu_ids"]) & set(big["gpu_ids"]) for offer in left)


def test_after_a_destroy_the_machine_is_listed_under_new_ids(vast: Sim) -> None:
    offer = vast.search(policy("RTX 5090", 32607, 13.0))[0]
    instance = vast.rent(offer["id"])
    assert all(other["id"] != offer["id"] for other in vast.search())
    vast.send("DELETE", f"/api/v0/instances/{instance}/", {})
    again = vast.search({"machine_id": {"eq": offer["machine_id"]}, "num_gpus": {"eq": 1}})
    assert again
    assert again[0]["id"] != offer["id"]


def test_a_class_that_is_sold_out_comes_back(vast: Sim, tmp_path: Path) -> None:
    toml = '[[market.sold_out]]\ngpu_name = "L4"\nfrom_s = 60\nfor_s = 120\nevery_s = 600\n'
    vast.start_over_with(tmp_path, toml)
    counts = []
    for _ in range(5):
        counts.append(len(vast.search({"gpu_name": {"eq": "L4"}})) > 0)
        vast.step(50)
    assert counts == [True, True, False, False, True]


def test_a_price_moves_by_order_of_the_scenario(vast: Sim, tmp_path: Path) -> None:
    normal = vast.search({"gpu_name": {"eq": "L40S"}, "num_gpus": {"eq": 1}})
    toml = '[[market.moves]]\ngpu_name = "L40S"\nfrom_s = 0\nfor_s = 60\nfactor = 0.5\n'
    vast.start_over_with(tmp_path, toml)
    halved = vast.search({"gpu_name": {"eq": "L40S"}, "num_gpus": {"eq": 1}})
    assert [offer["dph_base"] for offer in halved] == pytest.approx(
        [offer["dph_base"] / 2 for offer in normal], abs=1e-4
    )


def test_the_days_quota_on_rows_ends_at_midnight(vast: Sim, tmp_path: Path) -> None:
    vast.start_over_with(tmp_path, "[vast]\ndaily_row_quota = 30\n")
    page = {"limit": 20, "order": [["dph_total", "asc"]]}
    assert [vast.send("POST", "/api/v0/bundles/", page).status for _ in range(3)] == [200, 200, 429]
    refused = vast.send("POST", "/api/v0/bundles/", page)
    assert refused.json["error"] == "search_quota_exceeded"
    midnight = float(refused.headers["X-RateLimit-Reset"])
    assert midnight % 86400 == 0
    vast.step(midnight - START + 1)
    assert vast.send("POST", "/api/v0/bundles/", page).status == 200


def test_the_servers_cap_wins_over_the_limit(vast: Sim, tmp_path: Path) -> None:
    vast.start_over_with(tmp_path, "[vast]\nsearch_cap = 64\n")
    assert len(vast.search({"limit": 500})) == 64


def test_names_and_types_need_no_key(vast: Sim) -> None:
    names = vast.send("GET", "/api/v0/gpu_names/unique/", key=None).json["gpu_names"]
    assert {"RTX 4090", "H100 SXM", "GTX 1660 S"} <= set(names)
    types = vast.send("GET", "/api/v0/gpu_types/", key=None).json["gpu_types"]
    assert {row["gpu_name"] for row in types} == set(names)


def test_key_can_come_in_the_query(vast: Sim) -> None:
    reply = vast.send("GET", f"/api/v0/users/current?api_key={KEY}", key=None)
    assert reply.status == 200
