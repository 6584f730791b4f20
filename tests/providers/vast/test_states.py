"""What an instance's fields mean: state, present cost, and a sentence where the state alone would mislead."""

from __future__ import annotations

from typing import Any

import pytest

from flashtui.domain.money import HourlyRate
from flashtui.providers.vast.states import (
    current_rate,
    note_of,
    raw_status,
    start_failure,
    state_of,
)
from flashtui.providers.vast.wire import InstanceRow
from tests.providers.vast.rig import instance_row


def bare(**fields: Any) -> InstanceRow:
    return InstanceRow.model_validate({"id": 1, **fields})


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (None, "starting"),
        ("created", "starting"),
        ("loading", "starting"),
        ("scheduling", "starting"),
        ("rebooting", "starting"),
        ("running", "running"),
        ("stopped", "stopped"),
        ("exited", "stopped"),
        ("frozen", "unknown"),
        ("unknown", "unknown"),
        ("offline", "unknown"),
        ("migrating", "unknown"),
        ("RUNNING?", "unknown"),
        ("deleted", "destroying"),
    ],
)
def test_the_state_of_a_container(status: str | None, state: str) -> None:
    assert state_of(bare(actual_status=status)) == state


def test_a_word_that_vast_has_never_used_stays_as_it_is() -> None:
    assert raw_status(bare(actual_status="migrating")) == "migrating"
    assert raw_status(bare()) == "provisioning"


def test_all_three_states_stopped_is_stopped_whatever_the_container_says() -> None:
    row = bare(
        actual_status="running",
        cur_state="stopped",
        intended_status="stopped",
        next_state="stopped",
    )
    assert state_of(row) == "stopped"


def test_the_provider_s_own_present_figure_is_the_rate() -> None:
    row = bare(actual_status="loading", dph_total=0.4, instance={"totalHour": 0.01})
    assert current_rate(row) == HourlyRate.of("0.01")


@pytest.mark.parametrize(
    ("status", "usd"),
    [
        ("running", "0.4"),
        ("frozen", "0.4"),
        ("offline", "0.4"),
        ("migrating", "0.4"),
        ("loading", "0.02"),
        (None, "0.02"),
        ("stopped", "0.02"),
        ("exited", "0.02"),
    ],
)
def test_the_gpu_counts_while_it_is_billed_and_storage_always(status: str | None, usd: str) -> None:
    row = bare(actual_status=status, dph_total=0.4, storage_total_cost=0.02)
    assert current_rate(row) == HourlyRate.of(usd)


def test_storage_is_found_in_any_of_its_forms() -> None:
    assert current_rate(bare(actual_status="stopped", storage_cost=0.72, disk_space=100)) == (
        HourlyRate.of("0.1")
    )
    assert current_rate(bare(actual_status="stopped", dph_total=0.4, dph_base=0.3)) == (
        HourlyRate.of("0.1")
    )


def test_a_stopped_instance_without_figures_has_an_unknown_rate_and_never_the_whole() -> None:
    assert current_rate(bare(actual_status="stopped", dph_total=0.4)) is None
    assert current_rate(bare(actual_status="running")) is None


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("frozen", "still billed in full"),
        ("exited", "still billed"),
        ("stopped", "storage is still billed"),
        ("offline", "does not answer"),
        ("running", ""),
    ],
)
def test_a_state_that_would_mislead_has_a_sentence(status: str, words: str) -> None:
    assert words in note_of(bare(actual_status=status))


@pytest.mark.parametrize(
    "message",
    [
        "Error response from daemon: OCI runtime create failed: runc",
        "failed to inject CDI devices: unresolvable",
        "pull access denied for acme/private",
    ],
)
def test_a_container_that_cannot_start_says_why(message: str) -> None:
    row = bare(actual_status="created", status_msg=f"{message}\n")
    assert start_failure(row) == message
    assert message in note_of(row)


def test_pulling_is_no_failure() -> None:
    row = bare(actual_status="loading", status_msg="4c7d: Download complete")
    assert start_failure(row) is None


def test_a_message_of_a_running_container_is_no_start_failure() -> None:
    row = InstanceRow.model_validate(instance_row(status_msg="oci runtime create failed earlier"))
    assert start_failure(row) is None
