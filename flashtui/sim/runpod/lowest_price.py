"""GraphQL's `lowestPrice`: what one type costs under a filter, and whether any is free.

Sources: docs references/graphql-spec (GpuLowestPriceInput, LowestPrice); recordings: a type that a data
centre does not have answers an object of nulls, a type the cloud does not offer answers null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.sim.runpod.market import LEVELS, graphql_stock
from flashtui.sim.runpod.places import COMMUNITY_COUNTRIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.sim.runpod.account import RunpodState
    from flashtui.sim.runpod.cards import Card

_FREE_AT = {"NONE": (), "LOW": (1,), "MEDIUM": (1, 2, 4), "HIGH": (1, 2, 4, 8)}
_SHARE_RENTED = {"NONE": 1.0, "LOW": 0.97, "MEDIUM": 0.85, "HIGH": 0.65}
_CUDA = ("12.4", "12.6", "12.8", "12.9")
_HOST_DISK_GB = 2000
_HOST_MBPS = 800


def lowest_price(
    state: RunpodState, card: Card, wanted: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The answer for one type; None where the asked cloud does not offer the type at all."""
    clouds = _clouds(card, wanted.get("secureCloud"))
    if not clouds:
        return None
    level, cloud, place = _best(state, card, wanted, clouds)
    most = card.max_secure if cloud == "SECURE" else card.max_community
    counts = [count for count in _FREE_AT[level] if count <= most]
    count = wanted.get("gpuCount") or 1
    if not counts or count > max(counts) or not _host_fits(card, wanted, count):
        return _nothing(card)
    prices = state.market.prices(card, state.market.tick(state.now))
    is_secure = cloud == "SECURE"
    total = int(60 + 900 * card.plenty)
    rented = int(total * _SHARE_RENTED[level])
    return {
        "gpuName": card.name,
        "gpuTypeId": card.gpu_id,
        "uninterruptablePrice": prices.secure if is_secure else prices.community,
        "minimumBidPrice": prices.secure_spot if is_secure else prices.community_spot,
        "stockStatus": graphql_stock(level),
        "minVcpu": card.vcpu * count,
        "minMemory": card.ram_gb * count,
        "minDisk": 20,
        "minDownload": 500,
        "minUpload": 300,
        "rentedCount": rented,
        "totalCount": total,
        "rentalPercentage": rented / total,
        "maxGpuCount": most,
        "maxUnreservedGpuCount": max(counts),
        "availableGpuCounts": counts,
        "countryCode": place if not is_secure else None,
        "supportPublicIp": True,
        "compliance": [],
        "gpuTypeCudaVersions": [
            {"cudaVersion": version, "availability": True} for version in _CUDA
        ],
    }


def _clouds(card: Card, secure: object) -> list[str]:
    """The clouds a filter admits and the type is offered in; null means either."""
    clouds = []
    if card.secure and secure is not False:
        clouds.append("SECURE")
    if card.community and secure is not True:
        clouds.append("COMMUNITY")
    return clouds


def _best(
    state: RunpodState, card: Card, wanted: Mapping[str, Any], clouds: list[str]
) -> tuple[str, str, str]:
    """The cheapest admitted place with anything free: (level, cloud, place)."""
    tick = state.market.tick(state.now)
    product = "SERVERLESS" if wanted.get("includeAiApi") else "POD"
    center, country = wanted.get("dataCenterId"), wanted.get("countryCode")
    found: list[tuple[str, str, str]] = []
    if "COMMUNITY" in clouds and not center:
        for code in COMMUNITY_COUNTRIES:
            if not country or code == country:
                level = state.market.stock(card, f"community:{code}", product, tick)
                found.append((level, "COMMUNITY", code))
    if "SECURE" in clouds:
        for place in state.market.places(card):
            if center and place.place_id != center:
                continue
            if country and place.country != country:
                continue
            level = state.market.stock(card, place.place_id, product, tick)
            found.append((level, "SECURE", place.place_id))
    cheapest = "COMMUNITY" if "COMMUNITY" in clouds else "SECURE"
    usable = [row for row in found if row[0] != "NONE"]
    preferred = [row for row in usable if row[1] == cheapest] or usable
    return max(preferred, key=lambda row: LEVELS.index(row[0]), default=("NONE", cheapest, ""))


def _host_fits(card: Card, wanted: Mapping[str, Any], count: int) -> bool:
    """Whether the simulated hosts meet the filter's wishes on CPU, memory, disk and network."""
    limits = (
        ("minMemoryInGb", card.ram_gb * count * 4),
        ("minVcpuCount", card.vcpu * count * 4),
        ("minDisk", _HOST_DISK_GB),
        ("totalDisk", _HOST_DISK_GB),
        ("minDownload", _HOST_MBPS),
        ("minUpload", _HOST_MBPS),
    )
    if any((wanted.get(name) or 0) > limit for name, limit in limits):
        return False
    versions = wanted.get("allowedCudaVersions")
    floor = wanted.get("minCudaVersion") or wanted.get("cudaVersion")
    if versions and not set(versions) & set(_CUDA):
        return False
    return not floor or _number(floor) <= _number(_CUDA[-1])


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _nothing(card: Card) -> dict[str, Any]:
    """Nothing free: an object of nulls, not a null object."""
    return {"gpuName": card.name, "gpuTypeId": card.gpu_id, "availableGpuCounts": []}
