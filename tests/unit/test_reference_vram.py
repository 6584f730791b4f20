"""Sizing against every visible row of the seeds' table."""

from __future__ import annotations

from typing import Any

import pytest

from flashtui.domain.catalogue import CATALOGUE
from flashtui.domain.sizing import (
    check_fit,
    estimate_vram_gb,
    grpo_seq_escalation_gb,
    model_required_vram_gb,
    params_b_from_str,
)
from tests.unit.reference import VRAM


@pytest.mark.parametrize("row", VRAM["model_required_vram_gb"])
def test_need_of_a_catalogued_or_unknown_model(row: dict[str, Any]) -> None:
    need = model_required_vram_gb(
        row["model"],
        row["algorithm"],
        train=row["train"],
        thinking=row["thinking"],
        headroom=row["headroom"],
    )
    assert need == row["required_gb"]


@pytest.mark.parametrize("row", VRAM["open_model_required_gb"]["rows"])
def test_need_of_a_model_known_by_its_size(row: dict[str, Any]) -> None:
    need = model_required_vram_gb(
        "acme/open", row["algorithm"], train=row["train"], params_b=row["params_b"]
    )
    assert need == row["required_gb"]


@pytest.mark.parametrize("row", VRAM["estimate_vram_gb_raw"])
def test_estimate_before_headroom(row: dict[str, Any]) -> None:
    assert estimate_vram_gb(**row["args"]) == pytest.approx(row["gb"], abs=5e-7)


@pytest.mark.parametrize("row", VRAM["grpo_seq_escalation_gb"])
def test_long_context_escalation(row: dict[str, Any]) -> None:
    assert grpo_seq_escalation_gb(row["params_b"], row["seq_len"]) == row["gb"]


@pytest.mark.parametrize("row", VRAM["params_b_from_str"])
def test_size_in_words(row: dict[str, Any]) -> None:
    assert params_b_from_str(row["in"]) == row["out"]


@pytest.mark.parametrize("row", VRAM["check_fit"])
def test_verdict_on_a_card(row: dict[str, Any]) -> None:
    fit = check_fit(row["params_b"], row["algorithm"], row["gpu"], row["quant"])
    assert fit.est_gb == pytest.approx(row["est_gb"], abs=5e-5)
    assert (fit.verdict, fit.gpu_gb) == (row["verdict"], row["gpu_gb"])


@pytest.mark.parametrize("row", VRAM["catalog"])
def test_facts_of_the_catalogue(row: dict[str, Any]) -> None:
    model = CATALOGUE[row["id"]]
    assert {
        "id": model.model_id,
        "params": model.params,
        "algos": list(model.algorithms),
        "min_vram_gb": model.min_vram_gb,
        "quant": model.quant,
        "recommended_gpu": model.recommended_gpu,
        "grpo_min_vram_gb": model.grpo_min_vram_gb,
        "min_disk_gb": model.min_disk_gb,
        "thinking": model.thinking,
        "params_b": model.params_b,
    } == row


def test_the_table_has_rows_of_every_kind() -> None:
    """A copied file that lost its rows would make the tests above pass without a check."""
    assert len(VRAM["model_required_vram_gb"]) == 32
    assert len(VRAM["open_model_required_gb"]["rows"]) == 22
    assert len(VRAM["catalog"]) == len(CATALOGUE) == 5
