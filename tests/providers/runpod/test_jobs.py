"""A run from create to its end: sent once, handed over before anything else, nothing left behind unproven."""

from __future__ import annotations

import itertools
import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from flashtui.domain.errors import (
    AccountProblem,
    Ambiguous,
    ApiGone,
    AuthRejected,
    DestroyUnconfirmed,
    NoCapacity,
    NotSent,
    ProviderError,
    RateLimited,
    Rejected,
    ScopeRejected,
    Unavailable,
)
from flashtui.domain.gpu import UnsupportedGpuError
from flashtui.domain.run import JobHandle, PollResult
from flashtui.domain.secret import Secret
from flashtui.providers.runpod.api import RunpodApi
from flashtui.providers.runpod.auth import KeyRing
from flashtui.providers.runpod.catalog import Catalog
from flashtui.providers.runpod.follow import Follower
from flashtui.providers.runpod.listings import Listings
from flashtui.providers.runpod.teardown import Means
from flashtui.providers.runpod.watch import Beat
from tests.fakes import T0, Answer, FakeClock, ScriptedHttp
from tests.providers.runpod.rig import (
    CATALOG,
    CREATE,
    ENDPOINTS,
    KEY,
    OTHER_ACCOUNT,
    READ_ONLY,
    Rig,
    SimRig,
    against_sim,
    catalog_gpu,
    scripted,
    spec,
)

if TYPE_CHECKING:
    from pathlib import Path

    from flashtui.domain.job import JobSpec
    from flashtui.domain.run import Observation

RUN = "flash-1781850000-0a1b2c3d"
NAME = "flash-4090-00000a1b2c3d942722e7"
QUICK = """
[runpod]
sells_out = false
[runpod.serverless]
start_s = [30, 30]
[[runpod.plans]]
endpoint = "*"
run_s = 600
steps = 60
"""
STARVED = QUICK.replace('endpoint = "*"', 'endpoint = "*"\nstarve = true')
NO_CONTENT = Answer(b"", 204)
MADE = Answer({"id": "ep1", "name": NAME, "createdAt": "2026-08-07T12:00:03Z"}, 201)
QUEUED = Answer({"id": "job1", "status": "IN_QUEUE"})
DONE = Answer({"id": "job1", "status": "COMPLETED", "output": {"loss": 0.5}})
RUNJOB = "POST /jobs/ep1/run"
STATUS = "GET /jobs/ep1/status/job1"
HEALTH = "GET /jobs/ep1/health"
DELETE = "DELETE /v2/serverless/ep1"
CANCEL = "POST /jobs/ep1/cancel/job1"
WORKERS = "GET /v2/serverless/ep1/workers"


class Kept:
    """Keeps every handle that is handed over, as a store would."""

    def __init__(self) -> None:
        self.handles: list[dict[str, Any]] = []
        self.seen: list[Observation] = []

    async def handle(self, handle: JobHandle) -> None:
        self.handles.append(json.loads(json.dumps(handle.to_dict())))

    def log(self, observation: Observation) -> None:
        self.seen.append(observation)


def _script() -> ScriptedHttp:
    made = ScriptedHttp(FakeClock())
    made.on(CATALOG, Answer({"gpus": [catalog_gpu()]}))
    made.on(CREATE, MADE).on(RUNJOB, QUEUED).on(STATUS, DONE)
    return made.on(DELETE, NO_CONTENT).on(ENDPOINTS, Answer({"endpoints": []}))


def _listed(rig: SimRig) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rig.sim.rest("GET", "/serverless").json["endpoints"]
    return found


def _handle(**more: Any) -> JobHandle:
    return JobHandle("runpod", {"endpoint_id": "ep1", "job_id": "job1", **more})


# -- submit ----------------------------------------------------------------------------------------


async def test_a_run_is_created_queued_followed_and_its_endpoint_left_to_destroy(
    tmp_path: Path,
) -> None:
    kept = Kept()
    async with against_sim(tmp_path, QUICK) as rig:
        result = await rig.provider.submit_run(
            spec(RUN), 3, log=kept.log, on_handle=kept.handle, attempt=0
        )
        (endpoint,) = _listed(rig)
        assert rig.sim.violations() == []
        await rig.provider.destroy(JobHandle.from_dict(kept.handles[-1]))
        assert _listed(rig) == []
    assert (result.ok, result.failure) == (True, None)
    first, second = kept.handles
    assert "job_id" not in first
    assert second["job_id"]
    assert endpoint["name"] == first["endpoint_name"] == NAME
    assert first["key_fingerprint"] == Secret(KEY).fingerprint()
    assert (first["gpu"], first["gpu_count"], first["attempt"], first["seed"]) == (
        "RTX 4090",
        1,
        0,
        3,
    )
    assert [o.state for o in kept.seen][:1] == ["starting"]
    assert {o.raw_status for o in kept.seen} >= {"IN_QUEUE", "IN_PROGRESS", "COMPLETED"}
    assert any(o.progress for o in kept.seen)


async def test_the_endpoint_gets_one_worker_of_the_very_card_and_limits(tmp_path: Path) -> None:
    async with against_sim(tmp_path, QUICK) as rig:
        await rig.provider.submit_run(spec(RUN, gpu="H100", max_wall_seconds=1200), 0)
        (endpoint,) = _listed(rig)
    assert endpoint["gpu"]["pools"] == ["ADA_80_PRO"]
    assert set(endpoint["gpu"]["excludedTypes"]) == {"NVIDIA H100 NVL", "NVIDIA H100 PCIe"}
    assert endpoint["gpu"]["minCudaVersion"] == "12.8"
    assert endpoint["workers"] == {"min": 0, "max": 1, "idleTimeout": 5}
    assert endpoint["timeout"] == 1_200_000


async def test_a_later_attempt_has_a_name_of_its_own(tmp_path: Path) -> None:
    async with against_sim(tmp_path, QUICK) as rig:
        await rig.provider.submit_run(spec(RUN), 0, attempt=2)
        (endpoint,) = _listed(rig)
    assert endpoint["name"] == f"{NAME}r2"


async def test_the_handle_is_on_disk_before_the_job_is_queued(tmp_path: Path) -> None:
    made = _script()

    async def store(_handle: JobHandle) -> None:
        made.requests.append(made.requests[0].__class__("STORE", "", {}, {}, b""))

    await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0, on_handle=store)
    lines = [s.line.strip() for s in made.requests]
    assert lines == [CATALOG, CREATE, "STORE", RUNJOB, "STORE", STATUS]


async def test_a_secret_goes_to_the_worker_in_the_environment_only(tmp_path: Path) -> None:
    made = _script()
    rig = scripted(made, tmp_path, hf_token="hf_FAKETOKEN00000000")
    await rig.provider.submit_run(spec(RUN), 0)
    create, queue = made.sent(CREATE)[0], made.sent(RUNJOB)[0]
    assert b"hf_FAKETOKEN00000000" in create.body
    assert b"hf_FAKETOKEN00000000" not in queue.body


async def test_the_job_has_limits_and_room_for_the_queue(tmp_path: Path) -> None:
    made = _script()
    await scripted(made, tmp_path).provider.submit_run(spec(RUN, max_wall_seconds=1200), 1)
    told: Any = made.sent(RUNJOB)[0].json
    assert told["policy"] == {"executionTimeout": 1_200_000, "ttl": 4_800_000}
    assert (told["input"]["run_id"], told["input"]["seed"]) == (RUN, 1)


@pytest.mark.parametrize(
    "lost",
    [
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("gone"),
        Answer("<html>", 502),
        Answer({"detail": "x"}, 429),
        Answer('{"id": "ep', 201),
        Answer({"name": "no id"}, 201),
        Answer("error code: 1010", 403),
    ],
)
async def test_a_create_with_an_unknown_outcome_is_settled_by_its_name_never_repeated(
    tmp_path: Path, lost: Any
) -> None:
    made = _script().on(CREATE, lost)
    found = {"id": "ep1", "name": f"live-{NAME} -fb", "createdAt": "2026-08-07T12:00:03Z"}
    made.on(ENDPOINTS, Answer({"endpoints": []}), Answer({"endpoints": [found]}))
    kept = Kept()
    result = await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0, on_handle=kept.handle)
    assert result.ok
    assert len(made.sent(CREATE)) == 1
    assert kept.handles[0]["launched_at"] == "2026-08-07T12:00:03+00:00"
    assert kept.handles[0]["create_was_ambiguous"] is True


async def test_a_create_whose_endpoint_never_shows_is_ambiguous(tmp_path: Path) -> None:
    made = _script().on(CREATE, httpx.ReadTimeout("slow"))
    with pytest.raises(Ambiguous, match=NAME):
        await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0)
    assert len(made.sent(CREATE)) == 1
    assert len(made.sent(ENDPOINTS)) == 3
    assert made.sent(RUNJOB) == []


async def test_an_older_endpoint_of_the_name_is_not_taken_for_the_new_one(tmp_path: Path) -> None:
    old = {"id": "ep0", "name": NAME, "createdAt": "2026-08-07T09:00:00Z"}
    made = _script().on(CREATE, httpx.ReadTimeout("slow"))
    made.on(ENDPOINTS, Answer({"endpoints": [old]}))
    with pytest.raises(Ambiguous):
        await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0)


async def test_without_a_listing_the_outcome_of_a_create_stays_unknown(tmp_path: Path) -> None:
    made = _script().on(CREATE, httpx.ReadTimeout("slow")).on(ENDPOINTS, Answer("", 500))
    with pytest.raises(Ambiguous, match="cannot be listed"):
        await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0)


async def test_a_create_that_was_too_fast_and_made_nothing_is_a_refusal(tmp_path: Path) -> None:
    made = _script().on(CREATE, Answer({"detail": "x"}, 429))
    with pytest.raises(RateLimited):
        await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0)


async def test_nothing_sent_is_nothing_made(tmp_path: Path) -> None:
    made = _script().on(CREATE, httpx.ConnectError("refused"))
    with pytest.raises(NotSent):
        await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0)
    assert made.sent(ENDPOINTS) == []


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("no_instances", NoCapacity),
        ("insufficient_credit", AccountProblem),
        ("worker_quota", AccountProblem),
    ],
)
async def test_a_refused_create_is_told_for_what_it_is(
    tmp_path: Path, fault: str, kind: type[ProviderError]
) -> None:
    async with against_sim(tmp_path, QUICK) as rig:
        rig.sim.fault(fault, surface="runpod")
        with pytest.raises(kind):
            await rig.provider.submit_run(spec(RUN), 0)
        assert _listed(rig) == []


async def test_an_account_that_refuses_leaves_the_run_to_the_next_one(tmp_path: Path) -> None:
    kept = Kept()
    async with against_sim(tmp_path, QUICK, keys=(READ_ONLY, OTHER_ACCOUNT)) as rig:
        result = await rig.provider.submit_run(spec(RUN), 0, on_handle=kept.handle)
    assert result.ok
    assert kept.handles[0]["key_fingerprint"] == Secret(OTHER_ACCOUNT).fingerprint()


async def test_when_every_account_refuses_the_last_refusal_is_told(tmp_path: Path) -> None:
    async with against_sim(tmp_path, QUICK, keys=(READ_ONLY,)) as rig:
        with pytest.raises(ScopeRejected):
            await rig.provider.submit_run(spec(RUN), 0)


async def test_a_class_in_no_pool_is_refused_in_words_before_anything_is_made(
    tmp_path: Path,
) -> None:
    made = _script().on(CATALOG, Answer({"gpus": [catalog_gpu(pool=None)]}))
    with pytest.raises(Rejected, match="no serverless pool"):
        await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0)
    assert made.sent(CREATE) == []


@pytest.mark.parametrize("gpu", ["L40S", "no such card"])
async def test_a_class_that_runpod_does_not_have_is_refused_before_anything_is_asked(
    tmp_path: Path, gpu: str
) -> None:
    made = _script()
    with pytest.raises(UnsupportedGpuError):
        await scripted(made, tmp_path).provider.submit_run(spec(RUN, gpu=gpu), 0)
    assert made.requests == []


@pytest.mark.parametrize("options", [{"keys": ()}, {"env": {"FLASH_SKIP_NET": "1"}}])
async def test_without_a_key_or_a_network_nothing_is_submitted(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    made = _script()
    with pytest.raises(AuthRejected):
        await scripted(made, tmp_path, **options).provider.submit_run(spec(RUN), 0)
    assert made.requests == []


@pytest.mark.parametrize(
    "failed",
    [
        Answer({"error": "bad"}, 400),
        Answer("", 500),
        httpx.ReadTimeout("slow"),
        Answer({"status": "IN_QUEUE"}),
        Answer("<html>"),
    ],
)
async def test_a_job_that_cannot_be_queued_takes_its_endpoint_with_it(
    tmp_path: Path, failed: Any
) -> None:
    made = _script().on(RUNJOB, failed)
    with pytest.raises(Rejected, match="ep1 was deleted and is proven gone"):
        await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0)
    assert len(made.sent(RUNJOB)) == 1
    assert len(made.sent(DELETE)) == 1
    assert len(made.sent(ENDPOINTS)) == 2


async def test_an_endpoint_that_cannot_be_taken_back_may_still_bill(tmp_path: Path) -> None:
    made = _script().on(RUNJOB, Answer("", 500)).on(ENDPOINTS, Answer("", 500))
    with pytest.raises(DestroyUnconfirmed, match="could not be queued") as caught:
        await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0)
    assert caught.value.evidence


async def test_an_endpoint_whose_handle_nobody_kept_is_destroyed(tmp_path: Path) -> None:
    made = _script()

    async def full(_handle: JobHandle) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        await scripted(made, tmp_path).provider.submit_run(spec(RUN), 0, on_handle=full)
    assert len(made.sent(DELETE)) == 1
    assert made.sent(RUNJOB) == []


# -- follow ----------------------------------------------------------------------------------------


async def _poll(
    made: ScriptedHttp, home: Path, handle: JobHandle | None = None, **more: Any
) -> Any:
    rig: Rig = scripted(made, home)
    return await rig.provider.poll(handle or _handle(), spec(RUN, **more), 0)


async def test_a_starved_job_is_no_capacity_after_five_minutes(tmp_path: Path) -> None:
    async with against_sim(tmp_path, STARVED) as rig:
        before = rig.context.clock.monotonic()
        result = await rig.provider.submit_run(spec(RUN), 0)
        took_s = rig.context.clock.monotonic() - before
    assert (result.ok, result.failure) == (False, "no_capacity")
    assert 300 <= took_s <= 330


async def test_a_smaller_card_than_asked_for_ends_the_run(tmp_path: Path) -> None:
    mig = "NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb"
    scenario = QUICK.replace('endpoint = "*"', f'endpoint = "*"\nsubstitute = "{mig}"')
    async with against_sim(tmp_path, scenario) as rig:
        result = await rig.provider.submit_run(spec(RUN, gpu="RTX Pro 6000 WK"), 0)
    assert result.failure == "wrong_gpu"
    assert "24 GB where 96 GB" in (result.detail or "")


async def test_another_card_of_the_same_size_is_told_and_goes_on(tmp_path: Path) -> None:
    kept = Kept()
    scenario = QUICK.replace('endpoint = "*"', 'endpoint = "*"\nsubstitute = "NVIDIA H100 PCIe"')
    async with against_sim(tmp_path, scenario) as rig:
        result = await rig.provider.submit_run(spec(RUN, gpu="H100"), 0, log=kept.log)
    assert result.ok
    assert any("on NVIDIA H100 PCIe, not on H100" in o.note for o in kept.seen)


async def test_a_job_that_vanishes_is_lost(tmp_path: Path) -> None:
    async with against_sim(tmp_path, QUICK) as rig:
        rig.sim.fault("job_lost", surface="jobs", after_s=200)
        result = await rig.provider.submit_run(spec(RUN), 0)
    assert result.failure == "lost"


async def test_a_failed_job_says_why(tmp_path: Path) -> None:
    scenario = QUICK + 'outcome = "FAILED"\nerror = "CUDA out of memory"\n'
    async with against_sim(tmp_path, scenario) as rig:
        result = await rig.provider.submit_run(spec(RUN), 0)
    assert (result.ok, result.failure) == (False, "job_failed")
    assert "out of memory" in (result.detail or "")


async def test_looks_that_keep_failing_end_in_a_poll_error(tmp_path: Path) -> None:
    made = _script().on(STATUS, Answer("<html>", 503))
    result = await _poll(made, tmp_path)
    assert (result.failure, "503" in result.detail) == ("poll_error", True)
    times = [s.at - made.sent(STATUS)[0].at for s in made.sent(STATUS)]
    assert times == [0, 10, 30, 60, 100, 150, 210, 270]


async def test_looks_are_ten_seconds_apart(tmp_path: Path) -> None:
    busy = Answer({"id": "job1", "status": "IN_PROGRESS"})
    made = _script().on(STATUS, busy, busy, busy, DONE)
    assert (await _poll(made, tmp_path)).ok
    times = [s.at for s in made.sent(STATUS)]
    assert [later - first for first, later in itertools.pairwise(times)] == [10, 10, 10]


async def test_c060_a_result_that_has_expired_ends_the_following(tmp_path: Path) -> None:
    made = _script().on(STATUS, Answer({"error": "not found"}, 404))
    result = await _poll(made, tmp_path)
    assert result.failure == "lost"
    first, second = (s.at for s in made.sent(STATUS))
    assert second - first == 10.0


async def test_c061_job_states_go_on_while_the_control_api_is_retired(tmp_path: Path) -> None:
    retired = Answer({"error": "API version retired"}, 410)
    going = {
        "id": "job1",
        "status": "IN_PROGRESS",
        "workerId": "wkfake01",
        "output": {"step": 120, "total": 400},
    }
    made = _script().on(STATUS, Answer(going), DONE).on(ENDPOINTS, retired).on(WORKERS, retired)
    kept = Kept()
    rig = scripted(made, tmp_path)
    result = await rig.provider.poll(
        _handle(gpu_type_id="NVIDIA GeForce RTX 4090"), spec(RUN), 0, log=kept.log
    )
    assert result.ok
    assert kept.seen[0].progress == "120/400"
    assert rig.plugin.inventory is not None
    with pytest.raises(ApiGone, match="no longer serves this"):
        await rig.plugin.inventory.inventory()
    made.on(ENDPOINTS, Answer(b"", 301, {"location": "https://docs.example.test/migrate"}))
    with pytest.raises(ApiGone, match="no longer serves this"):
        await rig.plugin.inventory.inventory()


@pytest.mark.parametrize("launched_at", ["2026-08-07T11:30:00+00:00", "2026-08-07T11:30:00Z"])
async def test_the_deadline_counts_from_the_launch_in_the_handle(
    tmp_path: Path, launched_at: str
) -> None:
    made = _script().on(STATUS, Answer({"id": "job1", "status": "IN_PROGRESS"}))
    handle = _handle(launched_at=launched_at)
    result = await _poll(made, tmp_path, handle, max_wall_seconds=2000)
    assert "deadline" in result.detail
    assert made.clock.elapsed_s == 260.0


@pytest.mark.parametrize("launched_at", [None, 0, "yesterday", "2026-08-07T11:30:00"])
async def test_a_launch_time_that_cannot_be_read_is_not_known(
    tmp_path: Path, launched_at: object
) -> None:
    made = _script().on(STATUS, Answer({"id": "job1", "status": "IN_PROGRESS"}))
    await _poll(made, tmp_path, _handle(launched_at=launched_at), max_wall_seconds=600)
    assert made.clock.elapsed_s == 660.0


async def test_health_that_cannot_be_read_does_not_end_the_following(tmp_path: Path) -> None:
    queued = Answer({"id": "job1", "status": "IN_QUEUE"})
    made = _script().on(STATUS, queued, queued, DONE).on(HEALTH, Answer("", 500))
    kept = Kept()
    result = await scripted(made, tmp_path).provider.poll(_handle(), spec(RUN), 0, log=kept.log)
    assert result.ok
    assert "could not be counted" in kept.seen[0].note


async def test_a_platform_retry_is_told(tmp_path: Path) -> None:
    again = Answer({"id": "job1", "status": "IN_PROGRESS", "retries": 1})
    kept = Kept()
    made = _script().on(STATUS, again, DONE)
    await scripted(made, tmp_path).provider.poll(_handle(), spec(RUN), 0, log=kept.log)
    assert "anew 1 times" in kept.seen[0].note


async def test_the_owners_key_is_found_where_the_handle_does_not_say(tmp_path: Path) -> None:
    async with against_sim(tmp_path, QUICK, keys=(OTHER_ACCOUNT, KEY)) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        job_id = rig.sim.run(endpoint_id)
        handle = JobHandle("runpod", {"endpoint_id": endpoint_id, "job_id": job_id})
        assert (await rig.provider.poll(handle, spec(RUN), 0)).ok


async def test_an_endpoint_without_a_known_job_cannot_be_followed(tmp_path: Path) -> None:
    made = _script()
    result = await _poll(made, tmp_path, JobHandle("runpod", {"endpoint_id": "ep1"}))
    assert (result.failure, made.requests) == ("lost", [])


async def test_a_pod_runs_no_job(tmp_path: Path) -> None:
    pod = JobHandle("runpod", {"pod_id": "p1"})
    with pytest.raises(Rejected, match="no job"):
        await _poll(_script(), tmp_path, pod)
    with pytest.raises(Rejected, match="destroy ends it"):
        await scripted(_script(), tmp_path).provider.cancel(pod)


class Beats:
    """A reader of heartbeats that tells what it is given, the last one again and again."""

    def __init__(self, *beats: Beat | Exception | None) -> None:
        self._beats = list(beats)

    async def latest(self, handle: JobHandle, spec: JobSpec) -> Beat | None:
        assert (handle.provider, spec.run_id) == ("runpod", RUN)
        beat = self._beats.pop(0) if len(self._beats) > 1 else self._beats[0]
        if isinstance(beat, Exception):
            raise beat
        return beat


async def _followed(made: ScriptedHttp, home: Path, beats: Beats, kept: Kept) -> PollResult:
    context = scripted(made, home).context
    keys = KeyRing(context.keys)
    api = RunpodApi(context.settings, context.http, keys)
    listings = Listings(api, keys, context.clock)
    means = Means(api, keys, listings, context.clock, context.rng, context.confirm_within_s)
    follower = Follower(means, Catalog(api, keys, context.clock), beats)
    handle = _handle(launched_at=T0.isoformat())
    return await follower.follow(handle, spec(RUN), log=kept.log)


async def test_heartbeats_give_set_up_the_long_window(tmp_path: Path) -> None:
    made = _script().on(STATUS, Answer({"id": "job1", "status": "IN_PROGRESS"}))
    beats = Beats(None, Beat(T0 + timedelta(seconds=100), "boot"))
    result = await _followed(made, tmp_path, beats, Kept())
    assert (result.failure, made.clock.elapsed_s) == ("stalled", 3110.0)


async def test_heartbeats_that_cannot_be_read_are_told_and_not_held_against_the_run(
    tmp_path: Path,
) -> None:
    made = _script().on(STATUS, Answer({"id": "job1", "status": "IN_PROGRESS"}), DONE)
    kept = Kept()
    result = await _followed(made, tmp_path, Beats(Unavailable("hub down")), kept)
    assert result.ok
    assert "hub down" in kept.seen[0].note


@pytest.mark.parametrize(
    "workers",
    [Answer("", 500), Answer({"workers": []}), Answer({"workers": [{"id": "w1"}]})],
)
async def test_a_card_that_cannot_be_told_ends_nothing(tmp_path: Path, workers: Answer) -> None:
    busy = Answer({"id": "job1", "status": "IN_PROGRESS", "workerId": "w1"})
    made = _script().on(STATUS, *[busy] * 6, DONE).on(WORKERS, workers)
    rig = scripted(made, tmp_path)
    handle = _handle(gpu_type_id="NVIDIA GeForce RTX 4090")
    assert (await rig.provider.poll(handle, spec(RUN), 0)).ok


# -- cancel ----------------------------------------------------------------------------------------


async def test_cancel_ends_the_job_and_leaves_the_endpoint(tmp_path: Path) -> None:
    async with against_sim(tmp_path, QUICK) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        job_id = rig.sim.run(endpoint_id)
        rig.sim.step(120)
        handle = JobHandle("runpod", {"endpoint_id": endpoint_id, "job_id": job_id})
        await rig.provider.cancel(handle)
        assert rig.sim.status(endpoint_id, job_id)["status"] == "CANCELLED"
        await rig.provider.cancel(handle)
        assert len(_listed(rig)) == 1


async def test_cancel_of_a_finished_job_is_fine(tmp_path: Path) -> None:
    async with against_sim(tmp_path, QUICK) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        job_id = rig.sim.run(endpoint_id)
        rig.sim.step(900)
        handle = JobHandle("runpod", {"endpoint_id": endpoint_id, "job_id": job_id})
        await rig.provider.cancel(handle)
        assert rig.sim.status(endpoint_id, job_id)["status"] == "COMPLETED"


@pytest.mark.parametrize(
    "answer",
    [Answer({"error": "already over"}, 400), Answer("", 404), Answer("", 500), Answer({}, 200)],
)
async def test_whatever_cancel_is_answered_the_look_after_it_tells(
    tmp_path: Path, answer: Answer
) -> None:
    made = _script().on(CANCEL, answer)
    await scripted(made, tmp_path).provider.cancel(_handle())
    assert [s.line for s in made.requests] == [CANCEL, STATUS]


async def test_a_job_that_is_gone_needs_no_cancel(tmp_path: Path) -> None:
    made = _script().on(CANCEL, Answer("", 404)).on(STATUS, Answer("", 404))
    await scripted(made, tmp_path).provider.cancel(_handle())


async def test_a_cancel_that_was_taken_and_not_done_is_not_done(tmp_path: Path) -> None:
    made = _script().on(CANCEL, Answer({"id": "job1", "status": "CANCELLED"}))
    made.on(STATUS, Answer({"id": "job1", "status": "IN_PROGRESS"}))
    with pytest.raises(Unavailable, match="still says IN_PROGRESS"):
        await scripted(made, tmp_path).provider.cancel(_handle())


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_may_not_cancel_says_so(tmp_path: Path, status: int) -> None:
    made = _script().on(CANCEL, Answer({"error": "no"}, status))
    with pytest.raises(Rejected) as caught:
        await scripted(made, tmp_path).provider.cancel(_handle())
    assert caught.value.kind in {"auth", "scope"}


async def test_without_a_job_there_is_nothing_to_cancel(tmp_path: Path) -> None:
    made = _script()
    await scripted(made, tmp_path).provider.cancel(JobHandle("runpod", {"endpoint_id": "ep1"}))
    assert made.requests == []
