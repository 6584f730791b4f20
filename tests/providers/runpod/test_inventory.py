"""What an account rents, what it costs now, and whose it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.errors import AuthRejected, IncompleteListing, ProviderError
from flashtui.domain.money import HourlyRate
from flashtui.domain.secret import Secret
from tests.fakes import Answer, FakeClock, ScriptedHttp
from tests.providers.runpod.rig import (
    CATALOG,
    ENDPOINTS,
    KEY,
    OTHER_ACCOUNT,
    PODS,
    Rig,
    against_sim,
    catalog_gpu,
    scripted,
)

if TYPE_CHECKING:
    from pathlib import Path

    from flashtui.domain.run import Inventory, Resource

NAME = "flash-4090-abc123def456"
HEALTH = "GET /jobs/ep1/health"
WORKERS = "GET /v2/serverless/ep1/workers"
SCENARIO = """
[runpod]
sells_out = false
[[runpod.pods]]
id = "pod1"
name = "box"
gpu_id = "NVIDIA L4"
gpu_count = 2
usd_per_hour = 0.86
created_at = -600.0
[[runpod.pods]]
id = "pod2"
name = "parked"
gpu_id = "NVIDIA L4"
usd_per_hour = 0.43
volume_gb = 200
created_at = -9000.0
status = "EXITED"
stopped_at = -60.0
[[runpod.pods]]
id = "pod3"
name = "dud"
gpu_id = "NVIDIA L4"
usd_per_hour = 0.43
created_at = -3300.0
boots = false
"""


async def _inventory(rig: Rig) -> Inventory:
    assert rig.plugin.inventory is not None
    return await rig.plugin.inventory.inventory()


def _by_id(inventory: Inventory) -> dict[str, Resource]:
    return {r.resource_id: r for r in inventory.resources}


def _script(
    *,
    endpoint: dict[str, Any] | None = None,
    pods: list[dict[str, Any]] | None = None,
    workers: dict[str, int] | None = None,
    details: list[dict[str, Any]] | None = None,
    queued: int = 0,
) -> ScriptedHttp:
    made = ScriptedHttp(FakeClock())
    shown = {
        "id": "ep1",
        "name": NAME,
        "gpu": {"pools": ["ADA_24"], "count": 1},
        "createdAt": "2026-08-07T11:00:00Z",
        **(endpoint or {}),
    }
    made.on(ENDPOINTS, Answer({"endpoints": [shown] if pods is None else []}))
    made.on(PODS, Answer({"pods": pods or []}))
    made.on(CATALOG, Answer({"gpus": [catalog_gpu()]}))
    health: dict[str, Any] = {"jobs": {"inQueue": queued}}
    if workers is not None:
        health["workers"] = workers
    made.on(HEALTH, Answer(health))
    return made.on(WORKERS, Answer({"workers": details or []}))


async def _one(made: ScriptedHttp, home: Path) -> Resource:
    (found,) = (await _inventory(scripted(made, home))).resources
    return found


async def test_an_endpoint_costs_nothing_until_a_worker_is_up(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        endpoint_id = rig.sim.endpoint(name=f"live-{NAME} -fb")
        idle = _by_id(await _inventory(rig))[endpoint_id]
        job_id = rig.sim.run(endpoint_id)
        while rig.sim.status(endpoint_id, job_id)["status"] != "IN_PROGRESS":
            rig.sim.step(5)
        busy = _by_id(await _inventory(rig))[endpoint_id]
        theirs = rig.sim.ledger(endpoint_id)
        assert rig.sim.violations() == []
    assert (idle.state, idle.rate, idle.raw_status) == ("stopped", HourlyRate(0), "SCALED TO ZERO")
    assert (idle.label, idle.kind, idle.product) == (NAME, "endpoint", "serverless")
    assert (busy.state, busy.gpu, busy.num_gpus) == ("running", "RTX 4090", 1)
    assert busy.rate is not None
    assert float(busy.rate) == pytest.approx(theirs["rate_usd_per_hour"], rel=0.1)
    assert theirs["billing"] is True


async def test_pods_running_stopped_and_never_booted(tmp_path: Path) -> None:
    async with against_sim(tmp_path, SCENARIO) as rig:
        rig.sim.step(120)
        found = _by_id(await _inventory(rig))
    running, parked, dud = found["pod1"], found["pod2"], found["pod3"]
    assert (running.state, running.gpu, running.num_gpus) == ("running", "L4", 2)
    assert running.rate == HourlyRate.of("0.86")
    assert (parked.state, parked.product) == ("stopped", "pod")
    assert parked.rate is not None
    assert float(parked.rate) == pytest.approx(200 * 0.20 / 730, abs=1e-6)
    assert "volume" in parked.note
    assert (dud.state, dud.rate) == ("starting", HourlyRate.of("0.43"))


async def test_a_pod_called_running_without_a_container_is_starting(tmp_path: Path) -> None:
    pod = {"id": "pod1", "name": "box", "status": "RUNNING", "runtime": None, "cost": "2.69"}
    found = await _one(_script(pods=[pod]), tmp_path)
    assert (found.state, found.rate) == ("starting", HourlyRate.of("2.69"))
    assert "container is not up" in found.note


@pytest.mark.parametrize(
    ("pod", "rate"),
    [
        ({"status": "EXITED", "cost": 0, "mounts": {}}, HourlyRate(0)),
        ({"status": "EXITED", "cost": 0}, None),
        ({"status": "EXITED", "cost": 0, "mounts": {"persistent": {"size": "?"}}}, None),
        ({"status": "TERMINATED", "cost": 0}, HourlyRate(0)),
        ({"status": "RUNNING", "cost": None}, None),
        ({"status": "Rebooting", "cost": 1}, HourlyRate.of(1)),
    ],
)
async def test_what_a_pod_costs_is_told_or_unknown(
    tmp_path: Path, pod: dict[str, Any], rate: HourlyRate | None
) -> None:
    found = await _one(_script(pods=[{"id": "pod1", **pod}]), tmp_path)
    assert found.rate == rate


async def test_a_handle_holds_what_a_teardown_needs_and_no_secret(tmp_path: Path) -> None:
    secret = {"env": {"RUNPOD_API_KEY": "rpa_TESTKEY000"}, "aiKey": "rpa_TESTKEY000"}
    made = _script(endpoint=secret, workers={"running": 1})
    inventory = await _inventory(scripted(made, tmp_path))
    (found,) = inventory.resources
    assert found.handle.to_dict() == {
        "provider": "runpod",
        "endpoint_id": "ep1",
        "endpoint_name": NAME,
        "key_fingerprint": Secret(KEY).fingerprint(),
    }
    assert "rpa_TESTKEY000" not in repr(inventory)


@pytest.mark.parametrize(
    ("workers", "queued", "state", "raw", "billed"),
    [
        ({"running": 1}, 0, "running", "RUNNING", 1),
        ({"initializing": 1}, 1, "starting", "INITIALIZING", 1),
        ({"idle": 1, "ready": 1}, 0, "running", "IDLE", 1),
        ({"running": 1, "initializing": 1, "throttled": 1}, 0, "running", "RUNNING", 2),
        ({"throttled": 2}, 1, "starting", "THROTTLED", 0),
        ({"unhealthy": 1}, 1, "unknown", "UNHEALTHY", 0),
        ({}, 3, "starting", "IN_QUEUE", 0),
        ({}, 0, "stopped", "SCALED TO ZERO", 0),
    ],
)
async def test_workers_tell_state_and_rate(
    tmp_path: Path, workers: dict[str, int], queued: int, state: str, raw: str, billed: int
) -> None:
    found = await _one(_script(workers=workers, queued=queued), tmp_path)
    assert (found.state, found.raw_status) == (state, raw)
    assert found.rate == HourlyRate.of("1.116").times(billed)


async def test_workers_that_cannot_be_counted_are_unknown_not_free(tmp_path: Path) -> None:
    found = await _one(_script().on(HEALTH, Answer("", 500)), tmp_path)
    assert (found.state, found.rate) == ("unknown", None)
    assert found.note


async def test_a_health_answer_without_workers_is_unknown(tmp_path: Path) -> None:
    found = await _one(_script(workers=None), tmp_path)
    assert (found.state, found.rate) == ("unknown", None)


async def test_a_rate_that_no_pool_tells_is_unknown(tmp_path: Path) -> None:
    made = _script(endpoint={"gpu": {"pools": ["ADA_24", "OTHER"]}}, workers={"running": 1})
    assert (await _one(made, tmp_path)).rate is None


async def test_several_cards_are_several_times_the_rate(tmp_path: Path) -> None:
    made = _script(endpoint={"gpu": {"pools": ["ADA_24"], "count": 2}}, workers={"running": 1})
    found = await _one(made, tmp_path)
    assert (found.num_gpus, found.rate) == (2, HourlyRate.of("2.232"))


async def test_the_disk_of_a_worker_costs_too(tmp_path: Path) -> None:
    found = await _one(_script(endpoint={"disk": 73}, workers={"running": 1}), tmp_path)
    assert found.rate == HourlyRate.of("1.126")


async def test_the_card_that_a_worker_really_has_is_shown(tmp_path: Path) -> None:
    worker = {
        "id": "w1",
        "status": "RUNNING",
        "gpuTypeId": "NVIDIA H100 PCIe",
        "gpuCount": 1,
        "startedAt": "2026-08-07T11:30:00Z",
    }
    found = await _one(_script(workers={"running": 1}, details=[worker]), tmp_path)
    assert found.gpu == "NVIDIA H100 PCIe"
    assert found.started_at == datetime(2026, 8, 7, 11, 30, tzinfo=UTC)


async def test_without_workers_the_name_tells_the_class(tmp_path: Path) -> None:
    assert (await _one(_script(workers={}), tmp_path)).gpu == "RTX 4090"


async def test_a_foreign_endpoint_shows_the_only_card_it_can_get(tmp_path: Path) -> None:
    made = _script(endpoint={"name": "chat"}, workers={})
    assert (await _one(made, tmp_path)).gpu == "RTX 4090"
    made = _script(endpoint={"name": "chat", "gpu": {"pools": ["X"]}}, workers={})
    assert (await _one(made, tmp_path)).gpu is None


async def test_details_of_workers_are_asked_for_once_while_nothing_changes(tmp_path: Path) -> None:
    made = _script(workers={"running": 1})
    rig = scripted(made, tmp_path)
    for _ in range(3):
        await _inventory(rig)
        await made.clock.advance(45)
    assert len(made.sent(WORKERS)) == 1
    made.on(HEALTH, Answer({"workers": {"running": 2}}))
    await _inventory(rig)
    assert len(made.sent(WORKERS)) == 2


async def test_details_are_asked_for_of_six_endpoints_at_a_time(tmp_path: Path) -> None:
    made = _script()
    listed = [{"id": f"ep{n}", "name": f"e{n}", "gpu": {"pools": ["ADA_24"]}} for n in range(8)]
    made.on(ENDPOINTS, Answer({"endpoints": listed}))
    for row in listed:
        made.on(f"GET /jobs/{row['id']}/health", Answer({"workers": {"running": 1}}))
        made.on(f"GET /v2/serverless/{row['id']}/workers", Answer({"workers": []}))
    rig = scripted(made, tmp_path)
    found = _by_id(await _inventory(rig))
    assert len([s for s in made.requests if s.path.endswith("/workers")]) == 6
    assert {r.rate for r in found.values()} == {HourlyRate.of("1.116")}
    await _inventory(rig)
    assert len([s for s in made.requests if s.path.endswith("/workers")]) == 8


async def test_details_that_cannot_be_read_leave_the_pools_rate(tmp_path: Path) -> None:
    made = _script(workers={"running": 1}).on(WORKERS, Answer({"detail": "x"}, 404))
    found = await _one(made, tmp_path)
    assert (found.state, found.rate) == ("running", HourlyRate.of("1.116"))


async def test_details_of_an_endpoint_that_is_gone_are_forgotten(tmp_path: Path) -> None:
    made = _script(workers={"running": 1})
    rig = scripted(made, tmp_path)
    await _inventory(rig)
    there = Answer({"endpoints": [{"id": "ep1", "name": NAME}]})
    made.on(ENDPOINTS, Answer({"endpoints": []}), there)
    assert (await _inventory(rig)).resources == ()
    await _inventory(rig)
    assert len(made.sent(WORKERS)) == 2


async def test_a_worker_whose_card_has_no_known_rate_makes_the_rate_unknown(
    tmp_path: Path,
) -> None:
    worker = {"id": "w1", "status": "RUNNING", "gpuTypeId": "NVIDIA B200", "gpuCount": 1}
    made = _script(endpoint={"gpu": {"pools": ["OTHER"]}}, workers={"running": 1}, details=[worker])
    found = await _one(made, tmp_path)
    assert (found.rate, found.gpu) == (None, "NVIDIA B200")


async def test_rest_reads_stay_within_thirty_a_minute(tmp_path: Path) -> None:
    made = _script(pods=[])
    rig = scripted(made, tmp_path)
    for _ in range(40):
        await _inventory(rig)
    times = [s.at for s in made.requests]
    assert len(times) == 81
    assert all(later - first >= 60.0 for first, later in zip(times, times[30:], strict=False))


async def test_an_idle_account_costs_two_requests_a_look(tmp_path: Path) -> None:
    made = _script(pods=[])
    rig = scripted(made, tmp_path)
    await _inventory(rig)
    made.requests.clear()
    await made.clock.advance(45)
    await _inventory(rig)
    assert [s.line for s in made.requests] == [ENDPOINTS, PODS]


@pytest.mark.parametrize("route", [ENDPOINTS, PODS])
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer({"title": "T", "status": 401, "detail": "no"}, 401), AuthRejected),
        (Answer({"endpoints": [{"name": "?"}], "pods": [{"name": "?"}]}), IncompleteListing),
        (Answer("<html>"), ProviderError),
        (Answer({}), ProviderError),
        (Answer("", 503), ProviderError),
    ],
)
async def test_a_listing_that_is_not_whole_is_an_error_never_an_empty_account(
    tmp_path: Path, route: str, answer: Answer, kind: type[ProviderError]
) -> None:
    made = _script(workers={}).on(route, answer)
    with pytest.raises(kind):
        await _inventory(scripted(made, tmp_path))


async def test_without_a_key_nothing_is_known_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(AuthRejected) as caught:
        await _inventory(scripted(_script(), tmp_path, keys=()))
    assert caught.value.kind == "no_key"


async def test_a_second_account_that_cannot_be_read_makes_it_incomplete_and_is_named(
    tmp_path: Path,
) -> None:
    async with against_sim(tmp_path, keys=(KEY, "rpa_SOMEBODYELSE")) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        inventory = await _inventory(rig)
    assert not inventory.complete
    assert list(_by_id(inventory)) == [endpoint_id]
    assert "...ELSE" in inventory.problem


async def test_two_accounts_are_listed_together_each_thing_with_its_owner(tmp_path: Path) -> None:
    async with against_sim(tmp_path, keys=(OTHER_ACCOUNT, KEY)) as rig:
        endpoint_id = rig.sim.endpoint(name=NAME)
        inventory = await _inventory(rig)
    assert inventory.complete
    owner = _by_id(inventory)[endpoint_id].handle.data["key_fingerprint"]
    assert owner == Secret(KEY).fingerprint()


async def test_rates_are_unknown_while_the_catalogue_cannot_be_read(tmp_path: Path) -> None:
    made = _script(workers={"running": 1}).on(CATALOG, Answer({}, 410))
    found = await _one(made, tmp_path)
    assert (found.state, found.rate) == ("running", None)


async def test_the_account_tells_balance_spend_and_limit(tmp_path: Path) -> None:
    async with against_sim(tmp_path, "[runpod]\nbalance = 17.0630444381\n") as rig:
        assert rig.plugin.account is not None
        account = await rig.plugin.account.account()
    assert account.balance is not None
    assert float(account.balance) == 17.063044
    assert account.spend is not None
    assert account.note == ""


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"data": {"myself": None}}),
        Answer(
            {
                "errors": [{"message": "no", "extensions": {"code": "FORBIDDEN"}}],
                "data": {"myself": None},
            }
        ),
        Answer({"error": "retired"}, 410),
    ],
)
async def test_an_account_that_may_not_be_read_is_unknown_with_a_reason(
    tmp_path: Path, answer: Answer
) -> None:
    made = ScriptedHttp(FakeClock()).on("POST /graphql", answer)
    rig = scripted(made, tmp_path)
    assert rig.plugin.account is not None
    account = await rig.plugin.account.account()
    assert (account.balance, account.spend, account.spend_limit) == (None, None, None)
    assert account.note


async def test_nonsense_in_one_figure_leaves_the_others(tmp_path: Path) -> None:
    money = {"clientBalance": "-0.4", "currentSpendPerHr": "much", "spendLimit": 80}
    made = ScriptedHttp(FakeClock()).on("POST /graphql", Answer({"data": {"myself": money}}))
    rig = scripted(made, tmp_path)
    assert rig.plugin.account is not None
    account = await rig.plugin.account.account()
    assert account.balance is not None
    assert (float(account.balance), account.spend) == (-0.4, None)
    assert account.spend_limit == HourlyRate.of(80)


async def test_a_bad_key_is_an_error_not_an_unknown_balance(tmp_path: Path) -> None:
    async with against_sim(tmp_path, keys=("rpa_WRONG",)) as rig:
        assert rig.plugin.account is not None
        with pytest.raises(AuthRejected):
            await rig.plugin.account.account()
