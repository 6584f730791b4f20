"""Run ids, labels and endpoint names, and whose a thing is."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.naming import (
    Label,
    canonical_endpoint,
    endpoint_name,
    endpoint_owned_by,
    is_flash_like,
    is_path_safe,
    label_owned_by,
    label_prefix,
    new_run_id,
    parse_label,
    vast_label,
)
from tests.fakes import T0

RUN_IDS = st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=128)
SMALL = st.integers(0, 50)


def test_a_run_id_comes_from_the_clock_and_the_dice_it_is_given() -> None:
    made = new_run_id(T0, random.Random(7))
    assert made == new_run_id(T0, random.Random(7))
    assert made.startswith("flash-1786104000-")
    assert is_path_safe(made)


@pytest.mark.parametrize("run_id", ["", ".hidden", "a/b", "a b", "ü", "a" * 129, "-x", "a\n"])
def test_a_run_id_that_could_leave_its_folder_is_not_safe(run_id: str) -> None:
    assert not is_path_safe(run_id)


@pytest.mark.parametrize("run_id", ["a", "0", "flash-1", "A.b_c-d", "a" * 128])
def test_a_plain_run_id_is_safe(run_id: str) -> None:
    assert is_path_safe(run_id)


@given(run_id=RUN_IDS, other=RUN_IDS, seed=SMALL, attempt=SMALL)
def test_a_label_is_owned_by_its_run_and_no_other(
    run_id: str, other: str, seed: int, attempt: int
) -> None:
    label = vast_label(run_id, seed, attempt)
    assert label_owned_by(label, run_id)
    assert label_owned_by(label, other) is (label_prefix(run_id) == label_prefix(other))
    assert parse_label(label) == Label(label_prefix(run_id), seed, attempt)


@pytest.mark.parametrize(
    ("label", "run_id"),
    [
        ("flash-1000-s0-a0", "flash-100"),
        ("flash-100-special-s0-a0", "flash-100"),
        ("flash-100-s", "flash-100"),
        ("flash-100-s0-a0-extra", "flash-100"),
        ("", ""),
        ("flash-", ""),
        ("flash-100-s0-a0", ""),
        ("somebody", "flash-100"),
    ],
)
def test_what_only_looks_alike_is_not_owned(label: str, run_id: str) -> None:
    assert not label_owned_by(label, run_id)


def test_the_bare_prefix_is_owned() -> None:
    assert label_owned_by("flash-100", "100")


def test_a_long_run_id_is_bounded_and_still_told_apart() -> None:
    first, second = "x" * 100 + "1", "x" * 100 + "2"
    assert len(label_prefix(first)) == 48
    assert label_prefix(first) != label_prefix(second)


@pytest.mark.parametrize("label", ["", "train-s0-a0", "flash-1", "flash-1-s0", "flash-1-sx-a0"])
def test_a_label_of_somebody_else_is_not_taken_apart(label: str) -> None:
    assert parse_label(label) is None


@pytest.mark.parametrize(
    "shown", ["flash-4090-x1", "live-flash-4090-x1", "flash-4090-x1-fb", "live-flash-4090-x1-fb"]
)
def test_an_endpoint_is_known_under_every_name_runpod_shows(shown: str) -> None:
    assert canonical_endpoint(shown) == "flash-4090-x1"
    assert is_flash_like(shown)


@given(run_id=RUN_IDS, other=RUN_IDS, attempt=SMALL)
def test_an_endpoint_is_owned_by_its_run_and_no_other(
    run_id: str, other: str, attempt: int
) -> None:
    name = f"live-{endpoint_name('RTX 4090', run_id, attempt)}-fb"
    assert endpoint_owned_by(name, run_id)
    assert endpoint_owned_by(name, other) is (run_id == other)


@pytest.mark.parametrize("name", ["", "my-endpoint", "flash-4090", "flash-4090-abc"])
def test_a_foreign_endpoint_is_nobodys(name: str) -> None:
    assert not endpoint_owned_by(name, "flash-1")
    assert not endpoint_owned_by(endpoint_name("L4", "x"), "")


def test_a_foreign_name_does_not_look_like_ours() -> None:
    assert not is_flash_like("training-box")
