"""Destroy returns when two complete listings under the owner's key lack the resource, and never before."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.errors import (
    AuthRejected,
    DestroyUnconfirmed,
    ProviderError,
    Rejected,
)
from flashtui.domain.run import JobHandle
from flashtui.domain.secret import Secret
from flashtui.providers.runpod.targets import AMBIGUOUS_CREATE
from tests.fakes import Answer, FakeClock, ScriptedHttp
from tests.providers.runpod.rig import (
    ENDPOINTS,
    KEY,
    OTHER_ACCOUNT,
    PODS,
    READ_ONLY,
    against_sim,
    scripted,
)

if TYPE_CHECKING:
    from pathlib import Path

NAME = "flash-4090-abc123def456"
DELETE = "DELETE /v2/serverless/ep1"
GONE = Answer({"endpoints": []})
THERE = Answer({"endpoints": [{"id": "ep1", "name": NAME}]})
NO_CONTENT = Answer(b"", 204)
NOT_FOUND = Answer({"title": "Not Found", "status": 404, "detail": "resource not found"}, 404)
ERROR_500 = Answer({"title": "Error", "status": 500, "detail": "try again"}, 500)
POD = {"id": "pod1", "name": "box", "status": "RUNNING"}


def _handle(**more: Any) -> JobHandle:
    return JobHandle("runpod", {"endpoint_id": "ep1", "endpoint_name": NAME, **more})


def _script(delete: list[Any], listings: list[Any]) -> ScriptedHttp:
    made = ScriptedHttp(FakeClock())
    return made.on(DELETE, *delete).on(ENDPOINTS, *listings)


async def _destroy(made: ScriptedHttp, home: Path, handle: JobHandle | None = None) -> None:
    await scripted(made, home).provider.destroy(handle or _handle())


async def test_an_endpoint_with_a_running_job_is_gone_from_the_ledger(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        job_id = rig.sim.run(endpoint_id)
        rig.sim.step(120)
        data = {"endpoint_id": endpoint_id, "endpoint_name": NAME, "job_id": job_id}
        await rig.provider.destroy(JobHandle("runpod", data))
        bill = rig.sim.ledger(endpoint_id)
        rig.sim.step(3600)
        assert rig.sim.ledger(endpoint_id)["billed_usd"] == bill["billed_usd"]
        assert rig.sim.violations() == []


async def test_destroying_twice_is_fine(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        handle = JobHandle("runpod", {"endpoint_id": endpoint_id, "endpoint_name": NAME})
        await rig.provider.destroy(handle)
        await rig.provider.destroy(handle)


async def test_an_adopted_pod_is_destroyed_too(tmp_path: Path) -> None:
    pod = '[[runpod.pods]]\nid = "pod1"\nname = "box"\ngpu_id = "NVIDIA L4"\ncreated_at = -60.0\n'
    async with against_sim(tmp_path, f"[runpod]\nsells_out = false\n{pod}") as rig:
        await rig.provider.destroy(JobHandle("runpod", {"pod_id": "pod1"}))
        assert rig.plugin.inventory is not None
        assert (await rig.plugin.inventory.inventory()).resources == ()


async def test_the_proof_is_two_listings_two_seconds_apart(tmp_path: Path) -> None:
    made = _script([NO_CONTENT], [GONE])
    await _destroy(made, tmp_path)
    first, second = (s.at for s in made.sent(ENDPOINTS))
    assert second - first >= 2.0


async def test_one_listing_without_it_is_not_enough(tmp_path: Path) -> None:
    """A listing can miss a live resource once."""
    made = _script([NO_CONTENT], [GONE, THERE, GONE])
    await _destroy(made, tmp_path)
    assert len(made.sent(ENDPOINTS)) == 4


async def test_a_success_that_was_not_carried_out_is_asked_for_again(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        rig.sim.fault("reply_before_commit", surface="runpod", route="DELETE *", count=1)
        await rig.provider.destroy(JobHandle("runpod", {"endpoint_id": endpoint_id}))
        assert rig.sim.fired("reply_before_commit") == 1
        assert rig.sim.rest("GET", "/serverless").json == {"endpoints": []}


async def test_a_resource_that_lingers_is_waited_for(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        rig.sim.fault("lingering_destroy", surface="runpod", args={"seconds": 40})
        await rig.provider.destroy(JobHandle("runpod", {"endpoint_id": endpoint_id}))
        assert rig.sim.rest("GET", "/serverless").json == {"endpoints": []}


async def test_what_lingers_is_not_deleted_again_at_every_look(tmp_path: Path) -> None:
    made = _script([NO_CONTENT], [THERE, THERE, THERE, GONE])
    await _destroy(made, tmp_path)
    assert len(made.sent(DELETE)) == 1


async def test_what_lingers_past_the_time_allowed_is_unconfirmed_with_its_evidence(
    tmp_path: Path,
) -> None:
    made = _script([NO_CONTENT], [THERE])
    with pytest.raises(DestroyUnconfirmed, match=r"ep1 not confirmed after .* may still bill") as e:
        await _destroy(made, tmp_path)
    assert "ep1 still there" in str(e.value)
    assert any("delete of endpoint ep1: 204" in line for line in e.value.evidence)
    assert made.clock.elapsed_s <= 120.0


@pytest.mark.parametrize("first", [ERROR_500, Answer("", 502), Answer({"detail": "x"}, 429)])
async def test_a_failed_delete_is_sent_again_until_it_is_gone(
    tmp_path: Path, first: Answer
) -> None:
    made = _script([first, NO_CONTENT], [THERE, GONE])
    await _destroy(made, tmp_path)
    assert len(made.sent(DELETE)) == 2


async def test_no_second_delete_before_the_time_that_runpod_asked_for(tmp_path: Path) -> None:
    busy = Answer({"error": "unable to terminate, try again in 60 seconds"}, 500)
    made = _script([busy, NO_CONTENT], [THERE, GONE])
    await _destroy(made, tmp_path)
    first, second = (s.at for s in made.sent(DELETE))
    assert second - first >= 60.0


async def test_a_pause_longer_than_the_time_allowed_ends_the_attempt(tmp_path: Path) -> None:
    day = Answer({"detail": "slow down"}, 429, {"Retry-After": "86400"})
    made = _script([day], [THERE])
    with pytest.raises(DestroyUnconfirmed) as caught:
        await _destroy(made, tmp_path)
    assert caught.value.kind == "rate_limited"
    assert len(made.sent(DELETE)) == 1


async def test_a_404_with_the_resource_listed_is_not_gone(tmp_path: Path) -> None:
    made = _script([NOT_FOUND], [THERE])
    with pytest.raises(DestroyUnconfirmed):
        await _destroy(made, tmp_path)


async def test_a_lost_answer_is_settled_by_the_listing(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        rig.sim.fault("lost_reply", surface="runpod", route="DELETE *", count=1)
        await rig.provider.destroy(JobHandle("runpod", {"endpoint_id": endpoint_id}))
        assert rig.sim.rest("GET", "/serverless").json == {"endpoints": []}


@pytest.mark.parametrize("status", [401, 403, 500])
async def test_without_a_listing_there_is_no_proof(tmp_path: Path, status: int) -> None:
    refused = Answer({"title": "T", "status": status, "detail": "no"}, status)
    with pytest.raises(DestroyUnconfirmed):
        await _destroy(_script([NO_CONTENT], [refused]), tmp_path)


async def test_a_lost_login_is_named_and_not_asked_for_again_and_again(tmp_path: Path) -> None:
    expired = Answer({"error": "Session expired"}, 404)
    made = _script([expired], [expired])
    with pytest.raises(DestroyUnconfirmed, match="login is not accepted") as caught:
        await _destroy(made, tmp_path)
    assert caught.value.kind == "auth"
    assert len(made.sent(DELETE)) == 1


async def test_a_key_that_may_only_read_says_so_at_once(tmp_path: Path) -> None:
    async with against_sim(tmp_path, keys=(READ_ONLY,)) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        with pytest.raises(DestroyUnconfirmed, match="may not do this") as caught:
            await rig.provider.destroy(JobHandle("runpod", {"endpoint_id": endpoint_id}))
        assert caught.value.kind == "scope"
        assert "still there" in str(caught.value)


async def test_a_key_that_may_only_read_can_still_see_that_it_is_gone(tmp_path: Path) -> None:
    denied = Answer({"title": "Forbidden", "status": 403, "detail": "access denied"}, 403)
    await _destroy(_script([denied], [GONE]), tmp_path)


async def test_the_wrong_account_cannot_prove_anything_gone(tmp_path: Path) -> None:
    async with against_sim(tmp_path, keys=(OTHER_ACCOUNT,)) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        handle = JobHandle(
            "runpod",
            {"endpoint_id": endpoint_id, "key_fingerprint": Secret(KEY).fingerprint()},
        )
        with pytest.raises(AuthRejected, match="not set any more"):
            await rig.provider.destroy(handle)
        assert len(rig.sim.rest("GET", "/serverless").json["endpoints"]) == 1


async def test_a_handle_without_an_owner_is_looked_for_under_every_key(tmp_path: Path) -> None:
    async with against_sim(tmp_path, keys=(OTHER_ACCOUNT, KEY)) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        await rig.provider.destroy(JobHandle("runpod", {"endpoint_id": endpoint_id}))
        assert rig.sim.rest("GET", "/serverless").json == {"endpoints": []}


async def test_without_an_owner_one_key_that_cannot_list_leaves_it_unproven(tmp_path: Path) -> None:
    made = _script([NOT_FOUND], [GONE, ERROR_500])

    def listing(sent: Any) -> Answer:
        return GONE if sent.headers["authorization"].endswith("A000") else ERROR_500

    made.on(ENDPOINTS, listing)
    rig = scripted(made, tmp_path, keys=("rpa_TESTKEYA000", "rpa_TESTKEYB000"))
    with pytest.raises(DestroyUnconfirmed):
        await rig.provider.destroy(_handle())


async def test_the_job_is_cancelled_first_and_a_failure_of_that_stops_nothing(
    tmp_path: Path,
) -> None:
    made = _script([NO_CONTENT], [GONE]).on("POST /jobs/ep1/cancel/job1", ERROR_500)
    await _destroy(made, tmp_path, _handle(job_id="job1"))
    assert [s.line for s in made.requests][:2] == ["POST /jobs/ep1/cancel/job1", DELETE]


async def test_a_namesake_of_another_run_is_left_alone(tmp_path: Path) -> None:
    other = Answer({"endpoints": [{"id": "ep2", "name": NAME}]})
    made = _script([NO_CONTENT], [other])
    await _destroy(made, tmp_path)
    assert {s.line for s in made.requests} == {DELETE, ENDPOINTS}


async def test_after_a_lost_create_everything_of_the_name_goes(tmp_path: Path) -> None:
    twin = Answer({"endpoints": [{"id": "ep2", "name": f"live-{NAME} -fb"}]})
    made = _script([NO_CONTENT], [twin, GONE]).on("DELETE /v2/serverless/ep2", NO_CONTENT)
    await _destroy(made, tmp_path, _handle(**{AMBIGUOUS_CREATE: True}))
    assert len(made.sent("DELETE /v2/serverless/ep2")) == 1


async def test_a_handle_with_only_a_name_finds_what_carries_it(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        rig.sim.endpoint(name=NAME)
        await rig.provider.destroy(JobHandle("runpod", {"endpoint_name": NAME}))
        assert rig.sim.rest("GET", "/serverless").json == {"endpoints": []}


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"endpoint_id": ""},
        {"endpoint_id": "../pods/p1"},
        {"endpoint_id": 7},
        {"endpoint_id": ["ep1"]},
        {"endpoint_name": "chat"},
        {"pod_name": "box"},
    ],
)
async def test_a_handle_that_names_nothing_is_refused_before_anything_is_sent(
    tmp_path: Path, data: dict[str, Any]
) -> None:
    made = ScriptedHttp(FakeClock())
    with pytest.raises(Rejected):
        await _destroy(made, tmp_path, JobHandle("runpod", data))
    assert made.requests == []


async def test_without_a_key_nothing_can_be_asked(tmp_path: Path) -> None:
    made = ScriptedHttp(FakeClock())
    with pytest.raises(AuthRejected) as caught:
        await scripted(made, tmp_path, keys=()).provider.destroy(_handle())
    assert caught.value.kind == "no_key"


async def test_a_terminated_pod_in_the_listing_is_gone(tmp_path: Path) -> None:
    made = ScriptedHttp(FakeClock()).on("DELETE /v2/pods/pod1", NO_CONTENT)
    made.on(PODS, Answer({"pods": [{**POD, "status": "TERMINATED"}]}))
    await _destroy(made, tmp_path, JobHandle("runpod", {"pod_id": "pod1"}))


async def test_pods_are_listed_with_those_of_clusters(tmp_path: Path) -> None:
    made = ScriptedHttp(FakeClock()).on("DELETE /v2/pods/pod1", NO_CONTENT)
    made.on(PODS, Answer({"pods": []}))
    await _destroy(made, tmp_path, JobHandle("runpod", {"pod_id": "pod1"}))
    assert made.sent(PODS)[0].query == {"includeClusterPods": "true"}


async def test_many_teardowns_at_once_share_their_listings(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        ids = [rig.sim.endpoint(name=f"{NAME}{n}") for n in range(10)]
        before = rig.sim.world.requests["runpod GET"]
        async with asyncio.TaskGroup() as group:
            for endpoint_id in ids:
                group.create_task(
                    rig.provider.destroy(JobHandle("runpod", {"endpoint_id": endpoint_id}))
                )
        assert rig.sim.world.requests["runpod GET"] - before <= 10
        assert rig.sim.rest("GET", "/serverless").json == {"endpoints": []}


async def test_no_error_and_no_evidence_shows_the_key(tmp_path: Path) -> None:
    echo = Answer({"detail": f"Bearer {KEY} is not welcome"}, 400)
    with pytest.raises(ProviderError) as caught:
        await _destroy(_script([echo], [THERE]), tmp_path)
    shown = " ".join([str(caught.value), repr(caught.value), caught.value.body])
    assert isinstance(caught.value, DestroyUnconfirmed)
    assert KEY not in shown + " ".join(caught.value.evidence)
