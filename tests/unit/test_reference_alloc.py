"""Allocation, classes and names against every visible row of the seeds' table."""

from __future__ import annotations

from typing import Any

import pytest

from flashtui.domain.allocation import (
    NothingFitsError,
    ProviderNotAvailable,
    SearchFailed,
    UnknownProviderError,
    allocate_from,
    cheapest_class,
    plan,
)
from flashtui.domain.gpu import (
    GPU_CLASSES,
    GPU_INFO,
    UnknownGpuError,
    UnsupportedGpuError,
    min_cuda_modern,
    vast_gpu_for_offer,
)
from flashtui.domain.naming import endpoint_name, label_prefix, run_suffix, vast_label
from flashtui.providers import base
from flashtui.providers.registry import forget_rates
from tests.fakes import T0
from tests.unit.reference import ALLOC, books, request, static_rates

KINDS = {
    "unknown_gpu": UnknownGpuError,
    "unknown_provider": UnknownProviderError,
    "provider_not_available": ProviderNotAvailable,
    "vast_search_failed": SearchFailed,
    "nothing_fits": NothingFitsError,
}
HOLDS = [row for row in ALLOC["allocations"] if "result" in row]
REFUSED = [row for row in ALLOC["allocations"] if "error" in row]


def _name(row: dict[str, Any]) -> str:
    return str(row["name"])


def _number(offer: Any) -> int | None:
    return None if offer is None else int(offer.offer_id)


@pytest.mark.parametrize("row", HOLDS, ids=_name)
def test_allocation_is_the_seeds(row: dict[str, Any]) -> None:
    found = allocate_from(request(row), books(row), headroom=1.1, now=T0, interval_s=45.0)
    assert {
        "provider": found.provider,
        "gpu": found.gpu,
        "hourly_usd": found.hourly_usd,
        "min_vram_gb": found.min_vram_gb,
        "offer_id": _number(found.offer),
        "candidates": [
            [c.provider, c.gpu, c.hourly_usd, c.vram_gb, c.validated, _number(c.offer)]
            for c in found.candidates
        ],
        "provider_offer_ids": [_number(offer) for offer in found.provider_offers],
    } == row["result"]


@pytest.mark.parametrize("row", REFUSED, ids=_name)
def test_refusal_is_a_relative_of_the_seeds_error(row: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedGpuError) as caught:
        allocate_from(request(row), books(row), headroom=1.1, now=T0, interval_s=45.0)
    assert isinstance(caught.value, KINDS[row["error"]["kind"]])


@pytest.mark.parametrize("row", ALLOC["allocations"], ids=_name)
def test_every_class_of_every_provider_is_chosen_or_explained(row: dict[str, Any]) -> None:
    report = plan(request(row), books(row), headroom=1.1, now=T0, interval_s=45.0)
    if report.failure in {"unknown_gpu", "unknown_provider", "provider_not_available"}:
        assert report.summary
        return
    told = {(c.provider, c.gpu) for c in report.candidates}
    told |= {(line.provider, line.gpu) for line in report.excluded}
    assert told >= {(provider, gpu.name) for gpu in GPU_CLASSES for provider in gpu.native}
    assert all(line.detail for line in report.excluded)


@pytest.mark.parametrize("row", ALLOC["cheapest_gpu"])
def test_cheapest_class_by_the_static_table(row: dict[str, Any]) -> None:
    def ask() -> str:
        return cheapest_class(
            row["min_vram_gb"],
            include_unvalidated=row["include_unvalidated"],
            rates=static_rates(),
        )

    if row["gpu"] is None:
        with pytest.raises(UnsupportedGpuError):
            ask()
    else:
        assert ask() == row["gpu"]


@pytest.mark.parametrize("row", ALLOC["resolve_gpu_policy_offline"])
def test_policy_word_or_name_resolves(row: dict[str, Any]) -> None:
    forget_rates()
    if row["gpu"] is None:
        with pytest.raises(UnsupportedGpuError):
            base.resolve_gpu_policy(row["requested"], row["model"], None, row["algorithm"])
    else:
        found = base.resolve_gpu_policy(row["requested"], row["model"], None, row["algorithm"])
        assert found == row["gpu"]


@pytest.mark.parametrize("row", ALLOC["vast_offer_class"])
def test_offer_maps_to_its_class(row: dict[str, Any]) -> None:
    assert vast_gpu_for_offer(row["gpu_name"], row["gpu_ram_mb"]) == row["gpu"]


@pytest.mark.parametrize("row", ALLOC["runpod_endpoint_names"])
def test_endpoint_name(row: dict[str, Any]) -> None:
    assert run_suffix(row["run_id"], row["attempt"]) == row["suffix"]
    assert endpoint_name(row["gpu"], row["run_id"], row["attempt"]) == row["endpoint_name"]


@pytest.mark.parametrize("row", ALLOC["vast_labels"])
def test_label(row: dict[str, Any]) -> None:
    assert label_prefix(row["run_id"]) == row["prefix"]
    assert vast_label(row["run_id"], row["seed"], row["attempt"]) == row["label"]


@pytest.mark.parametrize("row", ALLOC["gpu_classes"], ids=_name)
def test_class_table(row: dict[str, Any]) -> None:
    gpu = GPU_INFO[row["name"]]
    assert {
        "name": gpu.name,
        "runpod": gpu.enum_member is not None,
        "vram_gb": gpu.vram_gb,
        "short": gpu.short,
        "sm": gpu.sm,
        "static_usd": gpu.hourly_usd,
        "validated_on": list(gpu.validated_on),
        "min_cuda": min_cuda_modern(gpu.name),
        "vast_name": gpu.vast_name,
    } == row


def test_the_table_has_rows_of_every_kind() -> None:
    """A copied file that lost its rows would make the tests above pass without a check."""
    assert (len(HOLDS), len(REFUSED)) == (20, 7)
    assert [gpu["name"] for gpu in ALLOC["gpu_classes"]] == [gpu.name for gpu in GPU_CLASSES]
    assert len(ALLOC["cheapest_gpu"]) == 16
