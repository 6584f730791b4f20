"""What sizing does with what the reference rows do not show: nonsense, explanation, properties."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.catalogue import CatalogModel, params_b_from_str
from flashtui.domain.sizing import (
    check_fit,
    estimate_vram_gb,
    grpo_seq_escalation_gb,
    model_required_vram_gb,
    size_job,
)

MODEL = "Qwen/Qwen3.5-4B"
KNOBS = st.sampled_from(["max_length", "max_tokens", "lora_rank", "group_size", "batch_size", "x"])
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 1e308, math.inf, -math.inf, math.nan, "1e308"]),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=8),
    st.lists(st.integers(), max_size=2),
    st.decimals(),
)


@given(
    model=st.one_of(st.sampled_from([MODEL, "Qwen/Qwen3.5-9B", "", "acme/x"]), st.text()),
    algorithm=st.one_of(st.sampled_from(["sft", "grpo", "RL"]), st.text()),
    train=st.dictionaries(KNOBS, ANYTHING),
    thinking=st.booleans(),
    headroom=st.floats(),
    params_b=st.one_of(st.none(), st.floats()),
)
def test_sizing_never_raises_and_always_needs_a_whole_number(
    model: str,
    algorithm: str,
    train: dict[str, Any],
    thinking: bool,
    headroom: float,
    params_b: float | None,
) -> None:
    need = model_required_vram_gb(
        model, algorithm, train=train, thinking=thinking, headroom=headroom, params_b=params_b
    )
    assert isinstance(need, int)
    assert 0 <= need <= 1_000_000_000


@pytest.mark.parametrize("model", ["Qwen/Qwen3.5-9B", "acme/x"])
def test_an_absurd_context_needs_more_than_any_card_and_no_more_than_can_be_counted(
    model: str,
) -> None:
    train = {"max_length": 1e308}
    need = model_required_vram_gb(model, "grpo", train=train, params_b=8.0)
    assert need == 1_000_000_000


@given(
    length=st.integers(1, 200_000),
    longer=st.integers(0, 200_000),
    algorithm=st.sampled_from(["sft", "grpo"]),
)
def test_a_longer_context_never_needs_less(length: int, longer: int, algorithm: str) -> None:
    short = model_required_vram_gb(MODEL, algorithm, train={"max_length": length})
    long = model_required_vram_gb(MODEL, algorithm, train={"max_length": length + longer})
    assert short <= long


@pytest.mark.parametrize("train", [None, 7, "max_length", ["max_length"], SimpleNamespace()])
def test_what_is_no_mapping_of_knobs_counts_as_none(train: object) -> None:
    assert model_required_vram_gb(MODEL, "sft", train=train) == 17


def test_knobs_may_be_attributes() -> None:
    knobs = SimpleNamespace(max_length=32768)
    assert model_required_vram_gb(MODEL, "sft", train=knobs) == 53


def test_fractions_and_numbers_in_text_are_cut_off() -> None:
    assert size_job(MODEL, "sft", train={"max_length": 2048.9}) == size_job(
        MODEL, "sft", train={"max_length": "2048"}
    )


@pytest.mark.parametrize("headroom", [0.0, -1.0, math.nan, math.inf])
def test_senseless_headroom_counts_as_the_default(headroom: float) -> None:
    assert size_job(MODEL, "grpo", headroom=headroom).headroom == 1.1
    assert model_required_vram_gb(MODEL, "grpo", headroom=headroom) == 35


@pytest.mark.parametrize("algorithm", ["sft", "grpo"])
def test_the_parts_add_up_to_the_estimate(algorithm: str) -> None:
    sizing = size_job(MODEL, algorithm, train={"max_length": 9000, "max_tokens": 4000})
    assert sizing.estimate_gb == pytest.approx(sum(part.gb for part in sizing.parts))
    assert sizing.source == "catalogue"


def test_a_floor_that_applies_is_named() -> None:
    assert size_job("Qwen/Qwen3.5-0.8B", "grpo").notes == (
        "raised to 24 GB: floor for training and rollout on one card",
    )
    long = size_job("Qwen/Qwen3.5-9B", "grpo", train={"max_length": 32768, "max_tokens": 8192})
    assert long.notes[0] == "floor of 16 GB raised by 49 GB for 32768 tokens"


def test_memory_given_by_hand_overrides_everything() -> None:
    sizing = size_job(MODEL, "grpo", min_vram_gb=7)
    assert (sizing.need_gb, sizing.source, sizing.estimate_gb) == (7, "given", None)


def test_unknown_size_says_so() -> None:
    sizing = size_job("acme/unknown", "grpo")
    assert (sizing.need_gb, sizing.source) == (24, "default")
    assert "acme/unknown is not catalogued" in sizing.notes[0]
    assert "the model is not catalogued" in size_job("", "sft").notes[0]


def test_published_size_says_that_it_is_sized_as_grpo() -> None:
    sizing = size_job("acme/8b", "grpo", params_b=8.0, train={"max_length": 8192})
    assert sizing.source == "published size"
    assert sizing.notes[1].endswith("GB more for a context of 8192 tokens")


def test_escalation_needs_a_size() -> None:
    assert grpo_seq_escalation_gb(math.nan, 99_999) == 0


def test_fit_of_an_unknown_size_is_unknown_and_an_unknown_card_counts_as_32_gb() -> None:
    assert check_fit(None, "sft", "RTX 4090").verdict == "unknown"
    assert check_fit(4.0, "sft", "GTX 1080").gpu_gb == 32


def test_unknown_quantisation_counts_as_two_bytes() -> None:
    assert estimate_vram_gb(4.0, "sft", "int3") == estimate_vram_gb(4.0, "sft", "bf16")


def test_size_that_cannot_be_read_counts_as_four_billion() -> None:
    assert params_b_from_str(None) is None
    assert CatalogModel("a/b", "700M", "bf16", 8, "RTX 4090").params_b == 4.0
