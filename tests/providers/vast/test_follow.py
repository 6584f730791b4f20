"""Following an attempt to its end: the reference scenarios on a virtual clock, and what they leave open."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.errors import Unavailable
from flashtui.domain.money import HourlyRate
from flashtui.net.hub import HubFiles
from flashtui.providers.vast.api import VastApi
from flashtui.providers.vast.follow import Walk
from flashtui.providers.vast.handles import target_of
from flashtui.providers.vast.signals import Place, Signals
from flashtui.providers.vast.watch import MOST_ERRORS, InstanceWatch, Limits
from tests.fakes import T0, Answer
from tests.providers.vast.rig import (
    BAD_KEY,
    DATA,
    T0_S,
    Rig,
    detail,
    handle,
    instance_row,
    job,
    scripted,
    show,
)

if TYPE_CHECKING:
    from pathlib import Path

    from flashtui.domain.run import Observation, PollResult
    from tests.fakes import Sent

REFERENCE = json.loads((DATA / "reference_poll_cost_sweep.json").read_text())
SCENARIOS = [s for s in REFERENCE["poll_scenarios"] if s["provider"] == "vast"]
FOLDER = "sft/flash-100/seed0"
REPO = "/datasets/acme/runs/resolve/main"
ID = 28450117
ROUTE = show(ID)
NEVER = 10**9


class World:
    """An instance and its repository as functions of the seconds since launch."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.status: list[tuple[float, Any]] = [(0, "running")]
        self.files: dict[str, list[tuple[float, str | bytes | None]]] = {}
        self.looks: list[Observation] = []
        rig.script.on(ROUTE, self._detail)
        names = ("heartbeat.json", "DONE", "metrics.json")
        for name in (*names, *(f"vast_attempt{n}.json" for n in range(3))):
            rig.script.on(f"GET {REPO}/{FOLDER}/{name}", self._file(name))

    def beat(self, at_s: float, stage: str, **content: object) -> None:
        text = json.dumps({"stage": stage, "ts": T0_S + at_s, **content})
        self.files.setdefault("heartbeat.json", []).append((at_s, text))

    def put(self, name: str, at_s: float, content: object) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        self.files.setdefault(name, []).append((at_s, text))

    def done(self, at_s: float) -> None:
        self.put("DONE", at_s, f"{T0_S + at_s:.3f}")

    async def follow(
        self, *, deadline_s: float | None = None, attempt: int = 0, hub: bool = True, **data: Any
    ) -> PollResult:
        context = self.rig.context
        target = target_of(handle(ID, attempt=attempt, **data))
        launched_at = target.launched_at or context.clock.now()
        endpoint = context.settings.hf_endpoint
        place = Place("acme/runs", FOLDER, attempt, launched_at)
        signals = Signals(HubFiles(context.http, endpoint, None, "vast"), place)
        limits = Limits(launched_at, deadline_s or 90_000, has_heartbeats=hub)
        walk = Walk(
            VastApi(context),
            context.clock,
            target,
            limits,
            signals if hub else None,
            self.looks.append,
        )
        return await walk.to_end()

    @property
    def elapsed_s(self) -> float:
        return round(self.rig.clock.elapsed_s, 6)

    def _now(self, timeline: list[tuple[float, Any]]) -> Any:
        current = None
        for at_s, value in timeline:
            if at_s <= self.rig.clock.elapsed_s:
                current = value
        return current

    def _detail(self, _sent: Sent) -> Answer:
        status = self._now(self.status)
        if isinstance(status, Answer):
            return status
        if isinstance(status, dict) and "raise" in status:
            return Answer("", 503)
        if status == "missing":
            return detail(None)
        fields = status if isinstance(status, dict) else {"actual_status": status}
        return detail(instance_row(ID, **fields))

    def _file(self, name: str) -> Any:
        def answer(_sent: Sent) -> Answer:
            content = self._now(self.files.get(name, []))
            if content is None:
                return Answer({"error": "Entry not found"}, 404)
            return content if isinstance(content, Answer) else Answer(content)

        return answer


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(scripted(tmp_path))


def _scene(world: World, scenario: dict[str, Any]) -> None:
    world.status = [(at, value) for at, value in scenario["instance_timeline"]]
    for at_s, beat in scenario["heartbeat_timeline"] or []:
        world.beat(at_s, **beat)
    for name, entries in scenario["hf_files"].items():
        for at_s, content in entries:
            text = f"{T0_S + at_s:.3f}" if content == "@done" else content
            world.put(name, at_s, text)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[s["name"] for s in SCENARIOS])
async def test_reference_scenario(world: World, scenario: dict[str, Any]) -> None:
    _scene(world, scenario)
    result = await world.follow(
        deadline_s=scenario["deadline_s"], hourly_usd=scenario["hourly_usd"]
    )
    expected = scenario["result"]
    assert (result.ok, result.failure) == (expected["ok"], expected["failure"])
    assert result.metrics == expected["metrics"]
    assert world.elapsed_s == scenario["elapsed_s"]
    wanted = expected["detail"] or {}
    if wanted.get("reason") == "passed_through" and scenario["name"] == "vast_marker_failure":
        assert result.detail == wanted["text"]
    elif wanted.get("reason") == "deadline":
        assert "deadline" in str(result.detail)
    elif wanted.get("reason") == "never_started":
        assert "never started: loading for 915 s" in str(result.detail)


def test_every_vast_scenario_of_the_reference_is_played() -> None:
    assert len(SCENARIOS) == 9


@pytest.mark.parametrize(
    "row", [r for r in REFERENCE["poll_error_backoff"] if r["interval_s"] == 15.0]
)
def test_reference_backoff(row: dict[str, Any]) -> None:
    watch = InstanceWatch(Limits(T0, NEVER))
    outcomes = [watch.failed(Unavailable("HTTP 503"), T0) for _ in range(MOST_ERRORS)]
    assert outcomes[:-1] == row["sleeps"]
    assert [not isinstance(outcome, float) for outcome in outcomes] == row["give_up"]


# -- clocks begin at the launch ------------------------------------------------------------------------------------


async def test_a_restart_does_not_give_a_new_deadline(world: World) -> None:
    world.beat(6900, "rl_step", step=40)
    await world.rig.clock.sleep(7000)
    result = await world.follow(deadline_s=7200)
    assert "deadline" in str(result.detail)
    assert world.elapsed_s <= 7230


async def test_a_restart_does_not_give_a_new_window_to_start(world: World) -> None:
    world.status = [(0, "loading")]
    await world.rig.clock.sleep(905)
    result = await world.follow()
    assert result.failure == "stalled"
    assert world.elapsed_s == 905


async def test_a_hub_out_of_reach_is_not_a_worker_that_stalls(world: World) -> None:
    world.files["heartbeat.json"] = [(0, Answer("", 401))]  # type: ignore[list-item]
    await world.rig.clock.sleep(7000)
    result = await world.follow(deadline_s=20_000)
    assert "deadline" in str(result.detail)


async def test_a_running_instance_whose_worker_is_silent_gets_the_long_window_of_set_up(
    world: World,
) -> None:
    world.beat(100, "boot")
    world.beat(400, "sft_start")
    result = await world.follow()
    assert (result.failure, world.elapsed_s) == ("stalled", 3405)
    assert "set-up" in str(result.detail)


async def test_after_the_first_training_step_the_window_is_shorter(world: World) -> None:
    world.beat(100, "boot")
    world.beat(900, "rl_step", step=1)
    result = await world.follow()
    assert (result.failure, world.elapsed_s) == ("stalled", 2415)
    assert "training" in str(result.detail)


async def test_a_heartbeat_counts_at_its_own_time_and_never_moves_back(world: World) -> None:
    world.beat(900, "rl_step", step=9)
    late = json.dumps({"stage": "rl_step", "step": 8, "ts": T0_S + 600})
    world.files["heartbeat.json"].append((1500, late))
    result = await world.follow()
    assert world.elapsed_s == 2415
    assert result.failure == "stalled"


async def test_a_heartbeat_from_the_future_counts_as_now(world: World) -> None:
    world.files["heartbeat.json"] = [
        (100, json.dumps({"stage": "rl_step", "step": 1, "ts": T0_S + 10**6}))
    ]
    await world.follow()
    assert world.elapsed_s <= 100 + 15 + 1500 + 30


# -- whose files they are ------------------------------------------------------------------------------------------


async def test_an_earlier_attempt_s_files_are_somebody_else_s(world: World) -> None:
    world.put("vast_attempt1.json", 0, {"ok": False, "error": "old", "attempt": 0})
    world.beat(-900, "rl_step", step=700, attempt=0)
    world.beat(60, "boot", attempt=0)
    result = await world.follow(attempt=1, deadline_s=1000)
    assert "deadline" in str(result.detail)
    assert world.looks[-1].progress is None


async def test_the_marker_of_this_attempt_ends_it(world: World) -> None:
    world.put("vast_attempt2.json", 60, {"ok": True, "attempt": 2, "ts": T0_S + 60})
    world.put("metrics.json", 50, {"wall_seconds": 10})
    result = await world.follow(attempt=2)
    assert result.ok
    assert world.elapsed_s == 60


@pytest.mark.parametrize("broken", ["{", "[]", '{"ok": "yes"}', "\xff", ""])
async def test_a_damaged_marker_says_nothing(world: World, broken: str) -> None:
    world.put("vast_attempt0.json", 0, broken)
    result = await world.follow(deadline_s=100)
    assert "deadline" in str(result.detail)


async def test_metrics_that_come_late_are_waited_for(world: World) -> None:
    world.done(300)
    world.put("metrics.json", 318, {"wall_seconds": 5})
    result = await world.follow()
    assert result.ok
    assert 318 <= world.elapsed_s <= 325


async def test_done_without_metrics_can_be_tried_again(world: World) -> None:
    world.done(300)
    result = await world.follow()
    assert (result.ok, result.failure) == (False, "poll_error")


async def test_the_last_word_of_a_machine_that_is_gone_is_waited_for(world: World) -> None:
    world.status = [(0, "running"), (600, "exited")]
    world.beat(590, "sft_trained")
    world.done(612)
    world.put("metrics.json", 612, {"wall_seconds": 5})
    result = await world.follow()
    assert result.ok


async def test_a_hub_that_cannot_be_read_does_not_end_a_run(world: World) -> None:
    world.put("DONE", 600, f"{T0_S + 600}")
    world.put("metrics.json", 600, {"wall_seconds": 5})
    world.files["DONE"].insert(0, (0, Answer("", 503)))  # type: ignore[arg-type]
    world.files["heartbeat.json"] = [(0, Answer("", 401))]  # type: ignore[list-item]
    result = await world.follow()
    assert result.ok
    assert any("could not be read" in look.note for look in world.looks)


# -- what the instance says ----------------------------------------------------------------------------------------


async def test_three_nulls_are_no_end(world: World) -> None:
    world.status = [(0, "running"), (300, "missing"), (345, "running")]
    world.done(600)
    world.put("metrics.json", 590, {})
    assert (await world.follow()).ok


@pytest.mark.parametrize("silent", ["offline", "unknown"])
async def test_a_host_that_drops_out_for_a_moment_is_no_end(world: World, silent: str) -> None:
    world.status = [(0, "running"), (300, silent), (345, "running")]
    world.done(600)
    world.put("metrics.json", 590, {})
    assert (await world.follow()).ok


async def test_a_host_that_stays_away_after_it_has_run_is_the_end(world: World) -> None:
    world.status = [(0, "running"), (300, "offline")]
    result = await world.follow()
    assert (result.failure, world.elapsed_s) == ("job_failed", 345)


async def test_a_booting_host_that_is_unknown_is_not_dead(world: World) -> None:
    world.status = [(0, "unknown"), (200, "running")]
    world.done(600)
    world.put("metrics.json", 590, {})
    assert (await world.follow()).ok


@pytest.mark.parametrize("dead", ["exited", "stopped", "frozen", "deleted"])
async def test_what_is_dead_ends_it(world: World, dead: str) -> None:
    world.status = [(0, "running"), (300, dead)]
    result = await world.follow()
    assert result.failure == "job_failed"
    assert dead in str(result.detail)


async def test_stopped_by_vast_ends_it_whatever_the_container_says(world: World) -> None:
    three = {"cur_state": "stopped", "intended_status": "stopped", "next_state": "stopped"}
    world.status = [(0, "running"), (300, {"actual_status": "running", **three})]
    result = await world.follow()
    assert "outbid" in str(result.detail)


async def test_a_container_that_cannot_start_fails_without_waiting(world: World) -> None:
    world.status = [(0, {"actual_status": "created", "status_msg": "OCI runtime create failed: x"})]
    result = await world.follow()
    assert (result.failure, world.elapsed_s) == ("stalled", 0)
    assert "OCI runtime" in str(result.detail)


@pytest.mark.parametrize("odd", ["migrating", None])
async def test_an_unknown_word_is_never_taken_for_running(world: World, odd: str | None) -> None:
    world.status = [(0, {"actual_status": odd})]
    result = await world.follow()
    assert "never started" in str(result.detail)
    assert all(look.state != "running" for look in world.looks)


async def test_seven_failed_looks_are_survived(world: World) -> None:
    world.status = [(0, {"raise": 1}), (265, "running")]
    world.done(300)
    world.put("metrics.json", 0, {})
    assert (await world.follow()).ok


@pytest.mark.parametrize(
    "failing",
    [Answer("<html>"), Answer('{"instances": {"id": 284'), Answer({"success": False}), BAD_KEY],
)
async def test_any_answer_that_is_no_instance_is_a_failed_look(
    world: World, failing: Answer
) -> None:
    world.status = [(0, failing)]
    result = await world.follow()
    assert (result.failure, world.elapsed_s) == ("poll_error", 330)


async def test_each_look_is_told_with_the_provider_s_rate(world: World) -> None:
    world.status = [(0, "loading"), (20, "running")]
    world.beat(25, "sft_step", step=3)
    world.done(60)
    world.put("metrics.json", 60, {})
    await world.follow()
    assert [look.state for look in world.looks[:3]] == ["starting", "starting", "running"]
    last = world.looks[-1]
    assert last.rate == HourlyRate.of("0.363333")
    assert (last.progress, last.started_at) == ("sft_step 3", T0)
    assert last.resource_id == str(ID)


async def test_without_a_repository_only_machine_and_deadline_end_it(world: World) -> None:
    result = await world.follow(hub=False, deadline_s=8000)
    assert "deadline" in str(result.detail)
    assert all(sent.line == ROUTE for sent in world.rig.script.requests)


async def test_the_cost_of_a_success_without_a_rate_is_not_made_up(world: World) -> None:
    world.done(60)
    world.put("metrics.json", 60, {"wall_seconds": 1})
    result = await world.follow(hourly_usd=None)
    assert result.metrics == {"wall_seconds": 1}


async def test_the_last_word_is_asked_for_at_most_every_half_minute(world: World) -> None:
    await world.follow(deadline_s=600)
    asked = [s for s in world.rig.script.requests if s.path.endswith("/DONE")]
    assert len(asked) <= 600 / 30 + 2


async def test_the_provider_follows_a_stored_handle(tmp_path: Path) -> None:
    world = World(scripted(tmp_path))
    world.done(90)
    world.put("metrics.json", 90, {"wall_seconds": 80})
    result = await world.rig.provider.poll(handle(ID), job(), 0)
    assert result.ok
    assert result.metrics is not None
    assert result.metrics["cost_usd"] == pytest.approx(0.6 * 90 / 3600, abs=1e-6)


async def test_a_handle_without_a_launch_begins_now(world: World) -> None:
    world.status = [(0, "loading")]
    await world.rig.clock.sleep(500)
    result = await world.follow(started_ts=0)
    assert result.failure == "stalled"
    assert world.elapsed_s == 1415


def test_the_reference_time_is_the_tests_own() -> None:
    assert timedelta(seconds=T0_S) == timedelta(seconds=T0.timestamp())
