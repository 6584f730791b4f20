"""Runs from outside: what identifies and bills is strict, a broken figure is unknown and never a number."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.cost import resource_cost
from flashtui.store.imports import run_from_item
from tests import build
from tests.fakes import T0

if TYPE_CHECKING:
    from flashtui.domain.run import Run
    from flashtui.store.store import Tables

LIVE: dict[str, Any] = {
    "run_id": "flash-1", "state": "running", "resource_state": "running", "goal": "run", "provider": "vast", "gpu": "H100",
    "num_gpus": 1, "product": "instance", "hourly_usd": 2.0, "rate_source": "live", "started_at": "2026-08-07T11:00:00Z",
    "attempt": 0, "label": "flash-1-s0-a0", "heartbeat_age_s": 8, "progress": "5/9", "spec": {"model": "m"},
    "resources": [{"provider": "vast", "id": "99", "rate": 2.0, "launched_at": "2026-08-07T11:00:00Z", "confirmed_gone_at": None}],
    "handle": {"provider": "vast", "instance_id": 99, "label": "flash-1-s0-a0"},
}  # fmt: skip


def run(**more: Any) -> Run:
    return run_from_item({**LIVE, **more}, T0)


def test_a_live_run_is_taken_whole() -> None:
    found = run()
    (rented,) = found.resources
    assert (found.state, found.progress, found.heartbeat_at) == ("running", "5/9", build.ago(8))
    assert found.started_at == build.ago(3600)
    assert found.spec == {"model": "m"}
    assert rented.handle.data == {"instance_id": 99, "label": "flash-1-s0-a0"}
    assert (rented.resource_id, rented.state, rented.rate_source) == ("99", "running", "live")
    assert resource_cost(rented, T0) == build.usd(2)


def test_a_run_that_is_over_keeps_its_cost() -> None:
    gone = {
        "provider": "vast",
        "id": "7",
        "rate": 0.2,
        "confirmed_gone_at": "2026-08-07T11:59:00Z",
        "cost_usd": 0.84,
    }
    found = run(
        state="done", ended_at="2026-08-07T11:58:00Z", cost_usd=0.84, resources=[gone], handle=None
    )
    (rented,) = found.resources
    assert found.recorded_cost == build.usd(0.84)
    assert (rented.state, rented.may_bill) == ("gone", False)
    assert resource_cost(rented, T0 + timedelta(days=9)) == build.usd(0.84)


def test_an_estimate_is_not_a_recorded_cost() -> None:
    assert (
        run(ended_at="2026-08-07T11:58:00Z", cost_usd=1, cost_is_estimate=True).recorded_cost
        is None
    )


def test_a_cost_so_far_goes_on_from_there() -> None:
    resource = {**LIVE["resources"][0], "cost_usd": 1.25}
    (rented,) = run(resources=[resource]).resources
    assert resource_cost(rented, T0 + timedelta(hours=1)) == build.usd(3.25)


def test_a_handle_alone_is_a_resource() -> None:
    """As the seeds' system keeps it."""
    handle = {
        "endpoint_id": "ep1",
        "hourly_usd": 1.1,
        "started_ts": T0.timestamp() - 60,
        "provider": "runpod",
    }
    (rented,) = run(resources=None, handle=handle, product="serverless").resources
    assert (rented.provider, rented.resource_id, rented.launched_at) == (
        "runpod",
        "ep1",
        build.ago(60),
    )


def test_a_handle_that_is_not_among_the_resources_is_one_more() -> None:
    found = run(handle={"provider": "vast", "instance_id": 100})
    assert [r.resource_id for r in found.resources] == ["99", "100"]
    assert found.resources[0].handle.data == {}


@pytest.mark.parametrize(
    "started",
    [0.0, None, "", True, "2099-01-01T00:00:00Z", "yesterday", "2026-08-07T11:00:00", 1e300],
)
def test_a_start_that_cannot_be_is_not_known(started: object) -> None:
    """C093: never a cost since 1970."""
    (rented,) = run(
        started_at=started, resources=[{**LIVE["resources"][0], "launched_at": started}]
    ).resources
    assert rented.launched_at is None
    assert resource_cost(rented, T0) is None


@pytest.mark.parametrize("rate", ["abc", float("nan"), float("inf"), -1, True, None, [1]])
def test_a_rate_that_is_none_is_not_known(rate: object) -> None:
    """C108."""
    (rented,) = run(resources=[{**LIVE["resources"][0], "rate": rate}]).resources
    assert rented.rate is None


def test_a_rate_as_text_is_a_rate() -> None:
    (rented,) = run(resources=[{**LIVE["resources"][0], "rate": "0.74"}]).resources
    assert rented.rate == build.rate(0.74)


@pytest.mark.parametrize("cost", ["x", True, [], float("nan")])
def test_a_cost_that_is_none_is_not_known(cost: object) -> None:
    assert run(ended_at="2026-08-07T11:58:00Z", cost_usd=cost).recorded_cost is None


@pytest.mark.parametrize(
    ("word", "state"),
    [("RUNNING", "running"), ("completed", "done"), ("deployed", "done"), ("hibernating", "unknown"), (None, "unknown")],
)  # fmt: skip
def test_states_of_relatives(word: object, state: str) -> None:
    assert run(state=word).state == state


@pytest.mark.parametrize("run_id", [None, "", 7, "../etc/passwd", "a b", "x" * 200])
def test_an_id_that_is_none_is_refused(run_id: object) -> None:
    with pytest.raises(ValueError, match="a run needs a run_id"):
        run(run_id=run_id)


@pytest.mark.parametrize("entry", [{"id": ""}, {"id": "9", "provider": 5}, "text"])
def test_a_resource_that_cannot_be_acted_on_is_refused(entry: object) -> None:
    with pytest.raises(ValueError, match="needs a provider and an id"):
        run(resources=[entry], provider=None, handle=None)


def test_odd_counts_fall_back(tables: Tables) -> None:
    found = run(
        num_gpus="many", attempt=-3, heartbeat_age_s="x", goal="x", product="x", last_error="a\nb"
    )
    assert (found.num_gpus, found.attempt, found.heartbeat_at, found.goal) == (1, 0, None, "run")
    assert found.last_error == "a b"


class TestUpsert:
    def test_new(self, tables: Tables) -> None:
        tables.runs.upsert(run(), T0)
        assert [r.run_id for r in tables.runs.list()] == ["flash-1"]

    def test_again_adds_what_is_new_and_changes_no_stamp(self, tables: Tables) -> None:
        tables.runs.upsert(run(), T0)
        gone = {
            **LIVE["resources"][0],
            "confirmed_gone_at": "2026-08-07T11:30:00Z",
            "launched_at": "2026-08-07T10:00:00Z",
        }
        more = run(
            state="done",
            ended_at="2026-08-07T11:29:00Z",
            goal="gone",
            resources=[gone, {**gone, "id": "100"}],
        )
        tables.runs.upsert(more, T0)
        (found,) = tables.runs.list()
        assert (found.state, found.goal, found.ended_at) == ("done", "gone", build.ago(1860))
        assert [r.resource_id for r in found.resources] == ["99", "100"]
        assert found.resources[0].launched_at == build.ago(3600)
        assert found.resources[0].confirmed_gone_at == build.ago(1800)

    def test_a_terminal_state_stays(self, tables: Tables) -> None:
        tables.runs.upsert(run(state="done", ended_at="2026-08-07T11:29:00Z"), T0)
        tables.runs.upsert(run(state="running"), T0)
        assert tables.runs.list()[0].state == "done"
