"""When a followed job is over: the reference scenarios, the starvation rule, and the clocks behind them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flashtui.domain.errors import RateLimited, Unavailable
from flashtui.domain.run import PollResult
from flashtui.providers.runpod.watch import Beat, JobWatch, Limits
from flashtui.providers.runpod.wire_jobs import Health, JobStatus

T0 = datetime(2026, 8, 7, 12, tzinfo=UTC)
REFERENCE = Path(__file__).parents[2] / "data" / "reference_poll_cost_sweep.json"
DAY_S = 86_400.0


def _scenarios() -> list[dict[str, Any]]:
    told = json.loads(REFERENCE.read_text())
    return [s for s in told["poll_scenarios"] if s["provider"] == "runpod"]


def _at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def _watch(**limits: Any) -> JobWatch:
    return JobWatch(Limits(**{"launched_at": T0, "wall_s": DAY_S, **limits}), T0)


def _status(state: str, **more: Any) -> JobStatus:
    return JobStatus.model_validate({"id": "j", "status": state, **more})


def _health(**workers: int) -> Health:
    return Health.model_validate({"workers": workers})


def _latest(timeline: list[list[Any]], now_s: float) -> tuple[float, Any]:
    at, what = [step for step in timeline if step[0] <= now_s][-1]
    return at, what


def _play(scenario: dict[str, Any]) -> tuple[PollResult, float]:
    watch = _watch(has_heartbeats=scenario["heartbeat_timeline"] is not None)
    now_s = 0.0
    while True:
        outcome = _look(watch, scenario, now_s)
        if isinstance(outcome, PollResult):
            return outcome, now_s
        now_s += outcome


def _look(watch: JobWatch, scenario: dict[str, Any], now_s: float) -> PollResult | float:
    beats = scenario["heartbeat_timeline"]
    _, told = _latest(scenario["status_timeline"], now_s)
    told = {"status": told} if isinstance(told, str) else told
    if "raise" in told:
        return watch.failed(Unavailable(told["raise"]), _at(now_s))
    ended = watch.looked(JobStatus.model_validate(told), _at(now_s))
    if beats and beats[0][0] <= now_s:
        at, beat = _latest(beats, now_s)
        watch.beat(Beat(_at(at), beat["stage"]), _at(now_s))
    return ended or watch.verdict(_at(now_s)) or 10.0


@pytest.mark.parametrize("scenario", _scenarios(), ids=lambda s: str(s["name"]))
def test_a_reference_scenario_ends_as_it_must(scenario: dict[str, Any]) -> None:
    expected = scenario["result"]
    result, elapsed_s = _play(scenario)
    assert (result.ok, result.failure, result.metrics) == (
        expected["ok"],
        expected["failure"],
        expected["metrics"],
    )
    assert elapsed_s == scenario["elapsed_s"]
    detail = expected["detail"] or {}
    for part in ("text", "stdout_tail", "prefix", "phase"):
        assert detail.get(part, "") in (result.detail or "")
    assert str(detail.get("idle_s", "")) in (result.detail or "")


@pytest.mark.parametrize(
    "row", json.loads(REFERENCE.read_text())["poll_error_backoff"], ids=lambda r: r["interval_s"]
)
def test_pauses_after_errors_grow_to_a_minute_and_the_eighth_gives_up(row: dict[str, Any]) -> None:
    watch = _watch()
    outcomes = [watch.failed(Unavailable("x"), T0) for _ in row["give_up"]]
    assert [isinstance(o, PollResult) for o in outcomes] == row["give_up"]
    if row["interval_s"] == 10.0:
        assert outcomes[:-1] == row["sleeps"]


def test_one_good_look_forgets_the_errors_before_it() -> None:
    watch = _watch()
    for _ in range(7):
        watch.failed(Unavailable("x"), T0)
    watch.looked(_status("IN_PROGRESS"), T0)
    assert watch.failed(Unavailable("x"), T0) == 10.0


def test_a_pause_that_runpod_asks_for_is_kept_but_never_past_the_deadline() -> None:
    watch = _watch(wall_s=300.0)
    assert watch.failed(RateLimited("x", retry_after_s=200.0), T0) == 200.0
    assert watch.failed(RateLimited("x", retry_after_s=9000.0), T0) == 360.0


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED", "TIMED_OUT"])
def test_a_terminal_status_ends_it_and_its_word_comes_first(state: str) -> None:
    result = _watch().looked(_status(state, error='{"error_message": "bad"}'), T0)
    assert result == PollResult(ok=False, failure="job_failed", detail=f"[{state}] bad")


def test_a_retry_by_the_platform_is_told() -> None:
    result = _watch().looked(_status("FAILED", error="job timed out", retries=1), T0)
    assert result is not None
    assert "retried it 1 times" in (result.detail or "")


@pytest.mark.parametrize(
    ("output", "metrics"), [({"a": 1}, {"a": 1}), ([1], {"output": [1]}), (None, None)]
)
def test_any_output_of_a_completed_job_is_kept(output: object, metrics: object) -> None:
    assert _watch().looked(_status("COMPLETED", output=output), T0) == PollResult(
        ok=True,
        metrics=metrics,  # type: ignore[arg-type]
    )


def test_an_error_beside_a_completed_status_is_a_failure() -> None:
    result = _watch().looked(_status("COMPLETED", error="half done"), T0)
    assert result is not None
    assert (result.ok, result.detail) == (False, "[COMPLETED] half done")


def test_control_characters_of_a_worker_do_not_get_out() -> None:
    result = _watch().looked(_status("FAILED", error="a\x1b]0;x\x07b"), T0)
    assert result is not None
    assert result.detail == "[FAILED] ab"


def _queue(watch: JobWatch, until_s: float, *, workers: dict[str, int] | None) -> PollResult | None:
    now_s = 0.0
    while now_s <= until_s:
        watch.looked(_status("IN_QUEUE"), _at(now_s))
        if workers is not None and watch.wants_health(_at(now_s)):
            watch.health(_health(**workers), _at(now_s))
        verdict = watch.verdict(_at(now_s))
        if verdict is not None:
            return verdict
        now_s += 10.0
    return None


@pytest.mark.parametrize("workers", [{}, {"throttled": 2}])
def test_a_job_that_no_worker_comes_for_is_starved_after_five_minutes(
    workers: dict[str, int],
) -> None:
    assert _queue(_watch(), 300, workers=workers) is None
    result = _queue(_watch(), 320, workers=workers)
    assert result is not None
    assert result.failure == "no_capacity"
    assert "310 s" in (result.detail or "")


@pytest.mark.parametrize("workers", [{"initializing": 1}, {"running": 1}, {"idle": 1}])
def test_a_worker_that_is_coming_up_is_waited_for(workers: dict[str, int]) -> None:
    assert _queue(_watch(), 2400, workers=workers) is None


@pytest.mark.parametrize(
    ("limits", "until_s"),
    [({"is_last_choice": True}, 900), ({"cards": 4}, 1200), ({"cards": 9}, 1200)],
)
def test_the_last_choice_and_several_cards_get_more_time(
    limits: dict[str, Any], until_s: float
) -> None:
    assert _queue(_watch(**limits), until_s, workers={}) is None
    assert _queue(_watch(**limits), until_s + 20, workers={}) is not None


def test_without_a_readable_health_route_the_queue_alone_is_timed_with_more_patience() -> None:
    assert _queue(_watch(), 900, workers=None) is None
    result = _queue(_watch(), 920, workers=None)
    assert result is not None
    assert result.failure == "no_capacity"


def test_a_worker_that_was_seen_starts_the_clock_anew() -> None:
    watch = _watch()
    watch.looked(_status("IN_QUEUE"), T0)
    watch.health(_health(initializing=1), _at(200))
    watch.looked(_status("IN_QUEUE"), _at(490))
    watch.health(_health(), _at(490))
    assert watch.verdict(_at(490)) is None
    assert watch.verdict(_at(510)) is not None


def test_a_job_that_goes_back_to_the_queue_is_timed_from_then() -> None:
    watch = _watch()
    watch.looked(_status("IN_PROGRESS"), _at(1000))
    watch.looked(_status("IN_QUEUE"), _at(1010))
    watch.health(_health(), _at(1010))
    assert watch.verdict(_at(1290)) is None
    assert watch.verdict(_at(1320)) is not None


def test_a_worker_that_stays_unhealthy_stalls_the_job() -> None:
    result = _queue(_watch(), 300, workers={"unhealthy": 1})
    assert result is not None
    assert (result.failure, "unhealthy" in (result.detail or "")) == ("stalled", True)


def test_an_unhealthy_worker_beside_a_good_one_does_not() -> None:
    assert _queue(_watch(), 300, workers={"unhealthy": 1, "initializing": 1}) is None


def test_a_missing_health_section_says_nothing() -> None:
    watch = _watch()
    watch.looked(_status("IN_QUEUE"), T0)
    watch.health(Health(), T0)
    assert watch.wants_health(T0)


def test_health_is_read_while_in_the_queue_only_and_every_half_minute() -> None:
    watch = _watch()
    assert not watch.wants_health(T0)
    watch.looked(_status("IN_QUEUE"), T0)
    watch.health(_health(), T0)
    assert not watch.wants_health(_at(20))
    assert watch.wants_health(_at(30))
    watch.looked(_status("IN_PROGRESS"), _at(40))
    assert not watch.wants_health(_at(100))


def test_the_deadline_is_counted_from_launch_whoever_follows() -> None:
    watch = JobWatch(Limits(T0, wall_s=3600.0), _at(3500))
    watch.looked(_status("IN_PROGRESS"), _at(3500))
    assert watch.verdict(_at(3650)) is None
    result = watch.verdict(_at(3660))
    assert result is not None
    assert (result.failure, "deadline" in (result.detail or "")) == ("stalled", True)
    assert watch.clipped(10.0, _at(3655)) == 5.0


def test_without_a_launch_time_the_first_look_counts() -> None:
    watch = JobWatch(Limits(None, wall_s=100.0), _at(500))
    assert watch.verdict(_at(650)) is None
    assert watch.verdict(_at(660)) is not None


def test_a_launch_time_in_the_future_is_not_believed() -> None:
    watch = JobWatch(Limits(_at(9000), wall_s=100.0), T0)
    assert watch.verdict(_at(160)) is not None


def test_the_workers_own_reports_are_progress() -> None:
    watch = _watch()
    for now_s in range(0, 6000, 1000):
        watch.looked(_status("IN_PROGRESS", output={"step": now_s}), _at(now_s))
        assert watch.verdict(_at(now_s)) is None


def test_an_old_heartbeat_never_moves_progress_back() -> None:
    watch = _watch(has_heartbeats=True)
    watch.looked(_status("IN_PROGRESS"), T0)
    watch.beat(Beat(_at(1000), "rl_step"), _at(1000))
    watch.beat(Beat(_at(10), "rl_step"), _at(1010))
    assert watch.verdict(_at(2490)) is None


def test_a_heartbeat_from_the_future_counts_as_now() -> None:
    watch = _watch(has_heartbeats=True)
    watch.looked(_status("IN_PROGRESS"), T0)
    watch.beat(Beat(_at(90_000), "rl_step"), _at(10))
    assert watch.verdict(_at(1520)) is not None


def test_an_error_after_the_deadline_ends_it() -> None:
    result = _watch(wall_s=60.0).failed(Unavailable("x"), _at(200))
    assert isinstance(result, PollResult)
    assert "deadline" in (result.detail or "")


def test_a_job_that_is_not_known_twice_in_a_row_is_lost() -> None:
    watch = _watch()
    assert watch.not_found() is None
    watch.looked(_status("IN_PROGRESS"), T0)
    assert watch.not_found() is None
    result = watch.not_found()
    assert result is not None
    assert result.failure == "lost"
