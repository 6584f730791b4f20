"""RunPod's ids and our classes."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from flashtui.domain.gpu import GPU_CLASSES
from flashtui.providers.runpod.gpus import (
    CLASSES,
    ENUM_MEMBERS,
    NATIVE,
    class_of_id,
    class_of_short,
    others_in_pool,
    pool_of,
    shown_name,
    stock_from_text,
)
from flashtui.providers.runpod.price_list import FLEX_USD_PER_HOUR, flex_rate
from flashtui.providers.runpod.wire import CatalogGpu

POINTS = Path(__file__).parents[2] / "data" / "runpod_price_points.csv"


def _points() -> list[dict[str, str]]:
    with POINTS.open(newline="") as file:
        return list(csv.DictReader(file))


def _catalog(*pairs: tuple[str, str | None]) -> tuple[CatalogGpu, ...]:
    return tuple(CatalogGpu(id=gpu_id, pool=pool) for gpu_id, pool in pairs)


def test_the_members_and_ids_are_those_of_the_published_table() -> None:
    published = {row["flash_gputype_member"]: row["gpu_id"] for row in _points()}
    published.pop("", None)
    assert dict(ENUM_MEMBERS) == published


def test_every_class_with_a_runpod_name_has_an_id_and_its_memory_agrees() -> None:
    memory = {row["gpu_id"]: int(row["memory_gb"]) for row in _points()}
    expected = [g.name for g in GPU_CLASSES if g.enum_member]
    assert [g.name for g in CLASSES] == expected
    assert {name: memory[gpu_id] for name, gpu_id in NATIVE.items()} == {
        g.name: g.vram_gb for g in CLASSES
    }


def test_the_published_serverless_rates_are_those_of_the_table() -> None:
    published = {row["gpu_id"]: row["serverless_flex_usd_per_h"] for row in _points()}
    assert {name: FLEX_USD_PER_HOUR.get(name, "") for name in NATIVE} == {
        name: published[gpu_id] for name, gpu_id in NATIVE.items()
    }


def test_a_class_without_a_published_rate_has_none() -> None:
    assert flex_rate("RTX 5090") is None


@pytest.mark.parametrize(
    ("gpu_id", "name"),
    [
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA  RTX A4500", "RTX A4500"),
        ("nvidia h100 80gb hbm3", "H100"),
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb", None),
        ("", None),
        (None, None),
    ],
)
def test_an_id_is_one_class_or_none(gpu_id: str | None, name: str | None) -> None:
    found = class_of_id(gpu_id)
    assert (found.name if found else None) == name


def test_an_unmanaged_type_shows_its_own_name_without_control_characters() -> None:
    assert shown_name("NVIDIA B200\x1b[2J") == "NVIDIA B200"
    assert shown_name(None) is None


def test_the_token_in_an_endpoint_name_tells_the_class() -> None:
    found = class_of_short("pro6000wk")
    assert found is not None
    assert found.name == "RTX Pro 6000 WK"
    assert class_of_short("") is None


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("High", "high"),
        ("MEDIUM", "medium"),
        (" low ", "low"),
        ("None", "none"),
        ("Out", "none"),
        ("Plenty", "unknown"),
        ("", "unknown"),
        (None, "unknown"),
    ],
)
def test_stock_is_read_in_any_case_and_unknown_words_are_unknown(
    text: str | None, stock: str
) -> None:
    assert stock_from_text(text) == stock


def test_pinning_excludes_every_other_type_that_is_in_the_pool_now() -> None:
    catalog = _catalog(
        ("NVIDIA H100 80GB HBM3", "ADA_80_PRO"),
        ("NVIDIA H100 PCIe", "ADA_80_PRO"),
        ("NVIDIA H100 NVL", "ADA_80_PRO"),
        ("NVIDIA L40S", "ADA_48_PRO"),
    )
    assert pool_of(catalog, "NVIDIA H100 80GB HBM3") == "ADA_80_PRO"
    assert others_in_pool(catalog, "ADA_80_PRO", "NVIDIA H100 80GB HBM3") == (
        "NVIDIA H100 NVL",
        "NVIDIA H100 PCIe",
    )


def test_a_type_without_a_pool_cannot_be_pinned() -> None:
    assert pool_of(_catalog(("NVIDIA B200", None)), "NVIDIA B200") is None
    assert pool_of((), "NVIDIA B200") is None
