"""REST v2 catalog: GPU types with prices and stock, data centres, CPU flavours, public templates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod.market import LEVELS
from flashtui.sim.runpod.places import COMMUNITY_COUNTRIES, PLACES, Place
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.route import Route

if TYPE_CHECKING:
    from flashtui.sim.runpod.cards import Card
    from flashtui.sim.runpod.rest import Call

_PRODUCTS = ("POD", "CLUSTER", "SERVERLESS")
_SCOPED = ("count", "cloud", "countryCodes", "cudaVersions", "minCudaVersion")
_CUDA = ("12.4", "12.6", "12.8", "12.9", "13.0")
_CPUS: tuple[dict[str, Any], ...] = tuple(
    {
        "id": flavor,
        "name": name,
        "group": group,
        "vcpu": {"min": 2, "max": 32},
        "ramGbPerVcpu": ram,
        "price": {"securePerVcpu": price, "serverlessPerVcpu": round(price * 0.8, 4)},
    }
    for flavor, name, group, ram, price in (
        ("cpu3c", "Compute-Optimized", "Gen 3", 2, 0.03),
        ("cpu3g", "General-Purpose", "Gen 3", 4, 0.035),
        ("cpu5c", "Compute-Optimized", "Gen 5", 2, 0.04),
    )
)


def _product(call: Call) -> list[str] | None:
    """The product contexts of an availability read, None for a plain read."""
    include = call.listed("include")
    if include not in ([], ["AVAILABILITY"]):
        raise ProblemError(422, "Request validation failed.", ["include: want AVAILABILITY"])
    products = call.listed("product")
    if include and not products:
        raise ProblemError(400, "product is required with include=AVAILABILITY")
    scoped = ["product"] if products else [name for name in _SCOPED if call.param(name)]
    if not include and scoped:
        raise ProblemError(400, f"{scoped[0]} is valid only with include=AVAILABILITY")
    for product in products:
        if product not in _PRODUCTS:
            raise ProblemError(422, "Request validation failed.", [f"product: unknown {product}"])
    return products if include else None


def _cuda(call: Call) -> list[str]:
    """The CUDA versions an availability read is scoped to."""
    exact, floor = call.listed("cudaVersions"), call.param("minCudaVersion")
    if exact and floor:
        raise ProblemError(400, "cudaVersions and minCudaVersion are mutually exclusive")
    for version in exact:
        if not re.fullmatch(r"\d+\.\d+", version):
            raise ProblemError(422, "Request validation failed.", [f"cudaVersions: {version}"])
    if floor is None:
        return exact or list(_CUDA)
    if not re.fullmatch(r"\d+(\.\d+)?", floor):
        raise ProblemError(422, "Request validation failed.", [f"minCudaVersion: {floor}"])
    return [version for version in _CUDA if _number(version) >= _number(floor)]


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _price(call: Call, card: Card) -> dict[str, float]:
    found = call.state.market.prices(card, call.state.market.tick(call.now))
    price = {"secure": found.secure, "community": found.community}
    if found.serverless is not None and card.pool is not None:
        price["serverless"] = found.serverless
    return price


def _gpu(call: Call, card: Card, products: list[str] | None) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": card.gpu_id,
        "name": card.name,
        "pool": card.pool,
        "manufacturer": card.maker.upper() or "UNKNOWN",
        "memory": card.memory_gb,
        "secure": card.secure,
        "community": card.community,
        "price": _price(call, card),
        "maxCount": {"secure": card.max_secure, "community": card.max_community},
    }
    if products is not None:
        item.update(_availability(call, card, products))
    return item


def _availability(call: Call, card: Card, products: list[str]) -> dict[str, Any]:
    state, countries = call.state, call.listed("countryCodes")
    tick = state.market.tick(call.now)
    versions = _cuda(call)
    is_amd = card.maker == "AMD"
    if call.param("cloud") == "COMMUNITY":
        places = [f"community:{c}" for c in COMMUNITY_COUNTRIES if not countries or c in countries]
        places = places if card.community else []
        shown: list[Place] = []
    else:
        found = state.market.places(card)
        shown = [p for p in found if not countries or p.country in countries]
        places = [place.place_id for place in shown]
    levels = {
        place: max(
            (state.market.stock(card, place, product, tick) for product in products),
            key=LEVELS.index,
        )
        for place in places
    }
    count = int(call.param("count") or 1)
    needed = 0 if count == 1 else 1 if count <= 4 else 2
    levels = {
        place: level if LEVELS.index(level) > needed or level == "NONE" else "NONE"
        for place, level in levels.items()
    }
    best = max(levels.values(), key=LEVELS.index, default="NONE") if versions else "NONE"
    answer: dict[str, Any] = {"availability": best}
    if best != "NONE" and shown:
        answer["dataCenters"] = [
            {"id": place, "name": place, "availability": level} for place, level in levels.items()
        ]
    if not is_amd and card.memory_gb:
        answer["cudaVersions"] = [
            {"version": version, "available": best != "NONE" and version != "13.0"}
            for version in versions
        ]
    return answer


def list_gpus(call: Call) -> Response:
    """Every GPU type; with countryCodes only those with a data centre there."""
    products = _product(call)
    countries = call.listed("countryCodes")
    for country in countries:
        if not re.fullmatch("[A-Z]{2}", country):
            raise ProblemError(422, "Request validation failed.", [f"countryCodes: {country}"])
    cards = [
        card
        for card in call.state.cards()
        if not countries or any(p.country in countries for p in call.state.market.places(card))
    ]
    return json_response(200, {"gpus": [_gpu(call, card, products) for card in cards]})


def get_gpu(call: Call) -> Response:
    """One GPU type by its id."""
    products = _product(call)
    for card in call.state.cards():
        if card.gpu_id == call.args["id"]:
            return json_response(200, _gpu(call, card, products))
    raise ProblemError(404, "gpu type not found")


def _place(call: Call, place: Place, include: list[str]) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": place.place_id,
        "name": place.place_id,
        "region": place.region,
        "globalNetwork": place.is_global,
        "networkVolumeTypes": ["STANDARD"] if place.has_storage else [],
        "compliance": ["SOC_2_TYPE_2"] if place.is_global else [],
    }
    if "GPU_AVAILABILITY" in include:
        tick = call.state.market.tick(call.now)
        item["gpuAvailability"] = [
            {
                "id": card.gpu_id,
                "name": card.name,
                "availability": call.state.market.stock(card, place.place_id, "POD", tick),
            }
            for card in call.state.cards()
            if place in call.state.market.places(card)
        ]
    if "CPU_AVAILABILITY" in include:
        item["cpuAvailability"] = [
            {"id": cpu["id"], "name": cpu["name"], "availability": "HIGH"} for cpu in _CPUS
        ]
    return item


def list_places(call: Call) -> Response:
    """Data centres, filtered by region, storage tier, compliance or global network."""
    regions, tiers = call.listed("regions"), call.listed("networkVolumeTypes")
    is_global, compliance = call.param("globalNetwork"), call.listed("compliance")
    rows = [
        _place(call, place, call.listed("include"))
        for place in PLACES
        if (not regions or place.region in regions)
        and (is_global is None or place.is_global == (is_global == "true"))
    ]
    chosen = [
        row
        for row in rows
        if (not tiers or set(tiers) & set(row["networkVolumeTypes"]))
        and (not compliance or set(compliance) <= set(row["compliance"]))
    ]
    return json_response(200, {"dataCenters": chosen})


def get_place(call: Call) -> Response:
    """One data centre."""
    for place in PLACES:
        if place.place_id == call.args["id"]:
            return json_response(200, _place(call, place, call.listed("include")))
    raise ProblemError(404, "data center not found")


def list_cpus(call: Call) -> Response:
    """CPU flavours; always plentiful."""
    products = call.listed("product") if call.param("include") else None
    extra = {} if products is None else {"availability": "HIGH"}
    return json_response(200, {"cpus": [{**cpu, **extra} for cpu in _CPUS]})


def get_cpu(call: Call) -> Response:
    """One CPU flavour."""
    for cpu in _CPUS:
        if cpu["id"] == call.args["id"]:
            return json_response(200, cpu)
    raise ProblemError(404, "cpu type not found")


def list_public_templates(_call: Call) -> Response:
    """Public templates: none are simulated."""
    return json_response(200, {"templates": []})


_GPU_QUERY = ("include", "product", *_SCOPED)
_CPU_QUERY = ("include", "product", "vcpuCount")
_PLACE_QUERY = ("include", "regions", "networkVolumeTypes", "compliance", "globalNetwork")

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v2/catalog/gpus", list_gpus, "listGpuTypes", _GPU_QUERY),
    Route("GET", "/v2/catalog/gpus/{id}", get_gpu, "getGpuType", _GPU_QUERY),
    Route("GET", "/v2/catalog/datacenters", list_places, "listDataCenters", _PLACE_QUERY),
    Route("GET", "/v2/catalog/datacenters/{id}", get_place, "getDataCenter", ("include",)),
    Route("GET", "/v2/catalog/cpus", list_cpus, "listCpuTypes", _CPU_QUERY),
    Route("GET", "/v2/catalog/cpus/{id}", get_cpu, "getCpuType", _CPU_QUERY),
    Route(
        "GET", "/v2/catalog/templates", list_public_templates, "listPublicTemplates", ("source",)
    ),
)
