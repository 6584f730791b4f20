"""Names of GPU classes, and which offer is which class."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.gpu import (
    GPU_CLASSES,
    KNOWN,
    SUPPORTED,
    UnknownGpuError,
    alias_keys,
    canonical_gpu,
    get_gpu_info,
    gpu_short,
    is_validated,
    min_cuda_modern,
    providers_for,
    unvalidated_allowed,
    vast_gpu_for_offer,
)

ALL_KEYS = {key for gpu in KNOWN for key in alias_keys(gpu)}


@pytest.mark.parametrize("gpu", KNOWN)
def test_every_spelling_of_a_class_leads_to_it(gpu: str) -> None:
    spellings = alias_keys(gpu) | {gpu, f"  {gpu.upper()} "}
    assert {canonical_gpu(spelling) for spelling in spellings} == {gpu}


def test_no_two_classes_share_a_spelling() -> None:
    keys = [key for gpu in KNOWN for key in alias_keys(gpu)]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("name", "gpu"),
    [("a100", "A100 PCIe"), ("NVIDIA H100 80GB HBM3", "H100"), ("rtx-4090", "RTX 4090")],
)
def test_marketing_names(name: str, gpu: str) -> None:
    assert canonical_gpu(name) == gpu


@given(st.text().filter(lambda name: name.strip().lower() not in ALL_KEYS))
def test_any_other_name_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(UnknownGpuError, match="managed classes are RTX 4090") as caught:
        canonical_gpu(name)
    assert isinstance(caught.value, ValueError)


@given(st.sampled_from(GPU_CLASSES), st.floats(0, 200_000))
def test_an_offer_is_the_largest_class_that_its_memory_covers(gpu: object, ram_mb: float) -> None:
    name = getattr(gpu, "vast_name", None) or "Tesla T4"
    found = vast_gpu_for_offer(name, ram_mb)
    fitting = [g for g in GPU_CLASSES if g.vast_name == name and g.vram_gb <= ram_mb / 1024 + 3.5]
    assert (found is None) == (not fitting)
    if found is not None:
        assert get_gpu_info(found).vram_gb == max(g.vram_gb for g in fitting)


def test_facts_of_a_class() -> None:
    assert gpu_short("h100") == "h100"
    assert (min_cuda_modern("RTX 5090"), min_cuda_modern("L4")) == ("13.0", "12.8")
    assert providers_for("L40S") == ("vast",)
    assert providers_for("RTX 4090") == ("runpod", "vast")
    assert get_gpu_info("RTX 4090").native["vast"] == "RTX 4090"
    assert "RTX 3090" in SUPPORTED
    assert "A40" not in SUPPORTED


def test_validation_is_per_provider() -> None:
    assert is_validated("RTX 3090")
    assert is_validated("RTX 3090", "auto")
    assert is_validated("RTX 3090", "vast")
    assert not is_validated("RTX 3090", "runpod")


@pytest.mark.parametrize(("given_flag", "allowed"), [(None, False), (False, False), (True, True)])
def test_only_an_explicit_yes_lets_in_what_is_not_validated(
    given_flag: bool | None, allowed: bool
) -> None:
    assert unvalidated_allowed(given_flag) is allowed
