"""RunPod's market as a client sees it: prices, placeholders, stock, and both APIs saying the same."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from flashtui.sim.runpod.cards import CARDS
from flashtui.sim.runpod.market import Market
from tests.sim.runpod_sim import START, Sim, running

_TYPES = """query($c: Int!) { gpuTypes { id displayName memoryInGb secureCloud communityCloud securePrice
 communityPrice secureSpotPrice communitySpotPrice clusterPrice
 lowestPrice(input: {gpuCount: $c, secureCloud: true}) {
  minimumBidPrice uninterruptablePrice stockStatus minVcpu availableGpuCounts } } }"""


def _types(sim: Sim, count: int = 1) -> dict[str, dict[str, Any]]:
    rows = sim.graphql(_TYPES, {"c": count}, key=None).json["data"]["gpuTypes"]
    return {row["id"]: row for row in rows}


def test_every_type_of_the_price_list_is_there_without_a_key() -> None:
    with running() as sim:
        found = _types(sim)
    assert len(found) == 46
    assert found["NVIDIA GeForce RTX 4090"]["memoryInGb"] == 24


def test_a_cloud_that_does_not_offer_a_type_shows_a_placeholder() -> None:
    with running() as sim:
        found = _types(sim)
    assert (found["NVIDIA B200"]["communityCloud"], found["NVIDIA B200"]["communityPrice"]) == (
        False,
        0.5,
    )
    assert (
        found["NVIDIA GeForce RTX 3080"]["secureCloud"],
        found["NVIDIA GeForce RTX 3080"]["securePrice"],
    ) == (False, 0)
    assert found["NVIDIA H200"]["secureSpotPrice"] is None
    assert found["unknown"]["memoryInGb"] == 0


def test_a_type_outside_the_asked_cloud_has_no_lowest_price_at_all() -> None:
    with running() as sim:
        assert _types(sim)["NVIDIA GeForce RTX 3080"]["lowestPrice"] is None


def test_a_sold_out_type_has_a_lowest_price_made_of_nulls() -> None:
    with running() as sim:
        sim.fault("stock_out", args={"gpu": "NVIDIA H200"})
        lowest = _types(sim)["NVIDIA H200"]["lowestPrice"]
    assert lowest == {
        "minimumBidPrice": None,
        "uninterruptablePrice": None,
        "stockStatus": None,
        "minVcpu": None,
        "availableGpuCounts": [],
    }


def test_one_class_sells_out_everywhere_within_a_quarter_of_an_hour() -> None:
    market = Market(7)
    card = next(card for card in CARDS if card.gpu_id == market.sold_out_class)
    levels = {
        market.best_stock(
            card, "POD", market.tick(START + second), [p.place_id for p in market.places(card)]
        )
        for second in range(0, 900, 30)
    }
    assert "NONE" in levels
    assert len(levels) > 1


def test_prices_move_with_time_and_hold_within_a_tick() -> None:
    with running() as sim:
        first = _types(sim)
        sim.step(4)
        assert _types(sim) == first
        sim.step(1)
        later = _types(sim)
    moved = [gpu for gpu in first if first[gpu]["securePrice"] != later[gpu]["securePrice"]]
    assert len(moved) > 5


def test_the_same_seed_gives_the_same_market_and_another_seed_another() -> None:
    assert Market(7).at(START) == Market(7).at(START)
    assert Market(7).at(START) != Market(8).at(START)


def test_no_price_but_the_noisy_cluster_price_has_more_than_six_decimals() -> None:
    for row in Market(3).at(START + 1234):
        for part in ("secure", "community", "serverless"):
            assert row[part] is None or row[part] == round(row[part], 6)


def test_rest_and_graphql_agree_card_by_card() -> None:
    with running() as sim:
        rest = sim.rest("GET", "/catalog/gpus?include=AVAILABILITY&product=POD&cloud=SECURE").json[
            "gpus"
        ]
        graphql = _types(sim)
    for item in rest:
        assert item["price"]["secure"] == graphql[item["id"]]["securePrice"]
        lowest = graphql[item["id"]]["lowestPrice"]
        stock = (lowest["stockStatus"] or "NONE") if lowest else "NONE"
        assert item["availability"] == stock.upper()


def test_a_serverless_price_belongs_to_a_pool_and_is_not_the_pod_price() -> None:
    with running() as sim:
        items = {item["id"]: item for item in sim.rest("GET", "/catalog/gpus").json["gpus"]}
    card = items["NVIDIA GeForce RTX 4090"]
    assert card["pool"] == "ADA_24"
    assert card["price"]["serverless"] / card["price"]["secure"] > 1.3
    assert "serverless" not in items["NVIDIA GeForce RTX 5090"]["price"]
    assert "serverless" not in items["NVIDIA RTX PRO 4500 Blackwell"]["price"]


def test_slices_of_a_card_look_plentiful_and_are_in_no_pool() -> None:
    with running() as sim:
        gpu_id = "NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb"
        path = f"/catalog/gpus/{quote(gpu_id)}?include=AVAILABILITY&product=SERVERLESS"
        card = sim.rest("GET", path).json
    assert (card["availability"], card["pool"]) == ("HIGH", None)


def test_availability_needs_a_product_and_a_product_needs_availability() -> None:
    with running() as sim:
        assert sim.rest("GET", "/catalog/gpus?include=AVAILABILITY").status == 400
        assert sim.rest("GET", "/catalog/gpus?product=POD").status == 400
        reply = sim.rest(
            "GET", "/catalog/gpus?include=AVAILABILITY&product=POD&cudaVersions=twelve"
        )
    assert reply.status == 422
    assert reply.headers["content-type"] == "application/problem+json"


def test_one_type_can_be_asked_for_many_places_in_one_request() -> None:
    query = """{ gpuTypes(input: {id: "NVIDIA H100 80GB HBM3"}) { id
      here: lowestPrice(input: {dataCenterId: "US-KS-2", secureCloud: true, gpuCount: 1}) { stockStatus }
      there: lowestPrice(input: {dataCenterId: "nowhere", secureCloud: true, gpuCount: 1}) {
        stockStatus uninterruptablePrice } } dataCenters { id location } countryCodes }"""
    with running() as sim:
        data = sim.graphql(query, key=None).json["data"]
    assert len(data["gpuTypes"]) == 1
    assert data["gpuTypes"][0]["there"] == {"stockStatus": None, "uninterruptablePrice": None}
    assert "US-KS-2" in {place["id"] for place in data["dataCenters"]}
    assert None in data["countryCodes"]


def test_an_unknown_type_is_an_empty_list_not_an_error() -> None:
    with running() as sim:
        reply = sim.graphql('{ gpuTypes(input: {id: "nothing"}) { id } }', key=None)
    assert reply.json == {"data": {"gpuTypes": []}}


def test_the_control_route_tells_the_price_of_any_past_moment() -> None:
    with running() as sim:
        shown = _types(sim)["NVIDIA L4"]["securePrice"]
        sim.step(600)
        rows = sim.admin("GET", f"prices?at={START}")["runpod"]
    assert next(row for row in rows if row["id"] == "NVIDIA L4")["secure"] == shown


def test_data_centres_can_be_filtered_and_carry_their_stock() -> None:
    with running() as sim:
        path = "/catalog/datacenters?regions=EUROPE&include=GPU_AVAILABILITY"
        places = sim.rest("GET", path).json["dataCenters"]
    assert {place["region"] for place in places} == {"EUROPE"}
    assert all(place["gpuAvailability"] for place in places)
