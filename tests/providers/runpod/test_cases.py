"""Cases on record, by id: the kind of fault of each is replayed on the route that this client uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.errors import DestroyUnconfirmed, ProviderError
from flashtui.domain.money import HourlyRate
from flashtui.domain.run import JobHandle
from tests.fakes import Answer, FakeClock, ScriptedHttp
from tests.providers.runpod.rig import (
    CATALOG,
    ENDPOINTS,
    GRAPHQL,
    PODS,
    Rig,
    catalog_gpu,
    scripted,
)

if TYPE_CHECKING:
    from flashtui.domain.market import Quote
    from flashtui.domain.run import Resource

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[2] / "data" / "cases.json").read_text())
}
NO_CONTENT = Answer(b"", 204)


def _payload(case_id: str) -> Any:
    return CASES[case_id]["payload"]


async def _pods_of(body: object, home: Path) -> dict[str, Quote]:
    made = ScriptedHttp(FakeClock()).on(GRAPHQL, Answer(body))
    sheet = await scripted(made, home, keys=()).prices.sheet()
    return {q.gpu: q for q in sheet.quotes if q.product == "pod"}


def _listing(pods: list[dict[str, Any]]) -> Answer:
    """Pods of REST v1 in the words of REST v2."""
    return Answer(
        {
            "pods": [
                {
                    "id": pod["id"],
                    "name": pod.get("name", "box"),
                    "status": pod.get("desiredStatus", "RUNNING"),
                    "cost": 0 if pod.get("desiredStatus") == "EXITED" else pod.get("costPerHr"),
                    "gpu": {"id": "NVIDIA A100-SXM4-80GB", "count": pod.get("gpuCount", 1)},
                    "runtime": pod.get("runtime", {"uptime": 5}),
                    "mounts": {"persistent": {"size": pod["volumeInGb"], "path": "/workspace"}}
                    if "volumeInGb" in pod
                    else {},
                    "startedAt": pod.get("lastStartedAt"),
                }
                for pod in pods
            ]
        }
    )


async def _resources(made: ScriptedHttp, home: Path, **options: Any) -> dict[str, Resource]:
    rig = scripted(made, home, **options)
    assert rig.plugin.inventory is not None
    return {r.resource_id: r for r in (await rig.plugin.inventory.inventory()).resources}


def _account(pods: Answer | None = None, endpoints: Answer | None = None) -> ScriptedHttp:
    made = ScriptedHttp(FakeClock())
    made.on(CATALOG, Answer({"gpus": [catalog_gpu()]}))
    made.on(PODS, pods or Answer({"pods": []}))
    return made.on(ENDPOINTS, endpoints or Answer({"endpoints": []}))


async def test_c005_what_is_out_of_stock_has_no_price_and_no_exception(tmp_path: Path) -> None:
    found = await _pods_of(_payload("C005")["body"], tmp_path)
    h200, l4 = found["NVIDIA H200"], found["L4"]
    assert (h200.rate, h200.stock, h200.available) == (None, "none", 0)
    assert (l4.rate, l4.stock, l4.available) == (None, "none", 0)


async def test_c008_the_price_before_a_secure_launch_is_the_secure_one(tmp_path: Path) -> None:
    quote = (await _pods_of(_payload("C008")["body"], tmp_path))["A100 PCIe"]
    assert quote.rate == HourlyRate.of("1.52")


async def test_c022_a_placeholder_is_never_a_price(tmp_path: Path) -> None:
    found = await _pods_of(_payload("C022")["body"], tmp_path)
    assert {name: None if q.rate is None else float(q.rate) for name, q in found.items()} == {
        "NVIDIA B200": 6.39,
        "NVIDIA GeForce RTX 3080": 0.17,
        "AMD Instinct MI300X OAM": 2.49,
    }
    assert found["NVIDIA GeForce RTX 3080"].regions == ("community cloud",)


async def test_c023_a_serverless_run_is_priced_as_serverless(tmp_path: Path) -> None:
    payload = _payload("C023")
    usd = payload["serverless_usd_per_second"]["RTX 4090"] * 3600
    made = ScriptedHttp(FakeClock()).on(
        GRAPHQL, Answer({"data": {"gpuTypes": payload["gpuTypes"]}})
    )
    made.on(CATALOG, Answer({"gpus": [catalog_gpu(price={"serverless": usd})]}))
    sheet = await scripted(made, tmp_path).prices.sheet()
    rates = {q.product: q.rate for q in sheet.quotes if q.gpu == "RTX 4090"}
    assert rates["serverless"] == HourlyRate.of("1.116")
    assert await scripted(made, tmp_path).provider.hourly_rate("RTX 4090") == 1.116


async def test_c046_a_pod_that_never_booted_is_starting_and_counts(tmp_path: Path) -> None:
    found = await _resources(_account(_listing(_payload("C046")["body"])), tmp_path)
    assert {r.state for r in found.values()} == {"starting"}
    assert {r.rate for r in found.values()} == {HourlyRate.of("2.69")}
    assert len(found) == 5


async def test_c048_a_stopped_pod_is_listed_with_what_its_storage_costs(tmp_path: Path) -> None:
    (pod,) = (await _resources(_account(_listing(_payload("C048")["body"])), tmp_path)).values()
    assert pod.state == "stopped"
    assert pod.rate is not None
    assert float(pod.rate) == pytest.approx(0.055, abs=0.001)


async def test_c052_a_404_under_another_key_never_means_gone(tmp_path: Path) -> None:
    keys = _payload("C052")["keys"]
    pod = _payload("C052")["sequence"][1]["body"]

    def listing(sent: Any) -> Answer:
        owner = sent.headers["authorization"].endswith(keys["B"])
        return _listing([pod]) if owner else Answer({"pods": []})

    made = _account().on(PODS, listing)
    both = await _resources(made, tmp_path, keys=(keys["A"], keys["B"]))
    handle = both["podfake060"].handle
    assert both["podfake060"].state == "running"
    only_a = scripted(made, tmp_path, keys=(keys["A"],))
    with pytest.raises(ProviderError, match="not set any more"):
        await only_a.provider.destroy(handle)


async def test_c062_only_a_real_404_is_one(tmp_path: Path) -> None:
    handle = JobHandle("runpod", {"pod_id": "404-4040123"})
    made = _account(_listing([{"id": "404-4040123"}]))
    made.on("DELETE /v2/pods/404-4040123", Answer({"error": "404-4040123 failed: 404"}, 500))
    with pytest.raises(DestroyUnconfirmed):
        await scripted(made, tmp_path).provider.destroy(handle)


async def test_c063_a_terminate_that_failed_is_repeated_no_sooner_than_the_hint(
    tmp_path: Path,
) -> None:
    first, still, second = _payload("C063")["sequence"]
    made = _account().on(PODS, _listing([still["body"]]), Answer({"pods": []}))
    route = "DELETE /v2/pods/podfake100"
    made.on(route, Answer(first["body"], first["status"]), Answer(b"", second["status"]))
    await scripted(made, tmp_path).provider.destroy(JobHandle("runpod", {"pod_id": "podfake100"}))
    asked = [s.at for s in made.sent(route)]
    assert asked[1] - asked[0] >= second["t"]


async def test_c065_a_lost_login_proves_nothing(tmp_path: Path) -> None:
    expired = Answer({"error": "Session expired"}, 404)
    made = _account(expired).on("DELETE /v2/pods/p1", expired)
    with pytest.raises(DestroyUnconfirmed, match="login is not accepted") as caught:
        await scripted(made, tmp_path).provider.destroy(JobHandle("runpod", {"pod_id": "p1"}))
    assert caught.value.kind == "auth"


async def test_c071_ending_a_pod_is_a_delete_never_a_stop(tmp_path: Path) -> None:
    pod_id = _payload("C071")["pod"]["id"]
    made = _account().on(f"DELETE /v2/pods/{pod_id}", NO_CONTENT)
    await scripted(made, tmp_path).provider.destroy(JobHandle("runpod", {"pod_id": pod_id}))
    assert {s.method for s in made.requests} == {"DELETE", "GET"}


@pytest.mark.parametrize("status", [401, 403])
async def test_c077_a_key_that_may_not_destroy_says_so_after_one_try(
    tmp_path: Path, status: int
) -> None:
    made = _account(_listing([{"id": "p1"}]))
    made.on("DELETE /v2/pods/p1", Answer({"title": "T", "status": status, "detail": "no"}, status))
    with pytest.raises(DestroyUnconfirmed, match="still there"):
        await scripted(made, tmp_path).provider.destroy(JobHandle("runpod", {"pod_id": "p1"}))
    assert len(made.sent("DELETE /v2/pods/p1")) == 1


async def test_c078_a_lost_answer_and_a_404_end_as_destroyed(tmp_path: Path) -> None:
    import httpx

    made = _account(_listing([{"id": "p1"}]))
    not_found = Answer({"title": "Not Found", "status": 404, "detail": "not found"}, 404)
    made.on("DELETE /v2/pods/p1", httpx.ReadError("reset"), not_found)
    made.on(PODS, _listing([{"id": "p1"}]), Answer({"pods": []}))
    await scripted(made, tmp_path).provider.destroy(JobHandle("runpod", {"pod_id": "p1"}))


@pytest.mark.parametrize("row", [0, 1])
async def test_c080_cancelling_the_job_is_not_enough_and_the_delete_is_repeated(
    tmp_path: Path, row: int
) -> None:
    cancelled, failed, deleted = _payload("C080")["sequence"]
    stored = _payload("C080")["db"][row]
    endpoint_id = stored["endpoint_id"]
    there = Answer({"endpoints": [{"id": endpoint_id, "name": stored["endpoint_name"]}]})
    made = _account(endpoints=there).on(ENDPOINTS, there, Answer({"endpoints": []}))
    delete = f"DELETE /v2/serverless/{endpoint_id}"
    made.on(delete, Answer(failed["body"], failed["status"]), Answer(b"", deleted["status"]))
    cancel = f"POST /jobs/{endpoint_id}/cancel/{stored['job_id']}"
    made.on(cancel, Answer(cancelled["body"], cancelled["status"]))
    await scripted(made, tmp_path).provider.destroy(JobHandle("runpod", dict(stored)))
    assert len(made.sent(delete)) == 2
    assert len(made.sent(cancel)) == (1 if stored["job_id"] else 0)


async def test_c085_a_key_that_cannot_be_read_leaves_the_listing_incomplete(tmp_path: Path) -> None:
    down = True

    def listing(sent: Any) -> Answer:
        is_b = sent.headers["authorization"].endswith("KEYB000")
        return Answer("", 500) if is_b and down else Answer({"endpoints": [], "pods": []})

    made = _account().on(PODS, listing).on(ENDPOINTS, listing)
    rig = scripted(made, tmp_path, keys=("rpa_TESTKEYA000", "rpa_TESTKEYB000"))
    assert rig.plugin.inventory is not None
    first = await rig.plugin.inventory.inventory()
    assert (first.complete, "...B000" in first.problem or "500" in first.problem) == (False, True)
    with pytest.raises(ProviderError, match="nothing was destroyed"):
        await rig.provider.sweep_orphans(set())
    down = False
    assert (await rig.plugin.inventory.inventory()).complete


async def test_c088_a_stopped_pod_alone_is_in_the_listing_with_its_cost(tmp_path: Path) -> None:
    found = await _resources(_account(_listing(_payload("C088")["pods"])), tmp_path)
    pod = found["podfake160"]
    assert pod.rate is not None
    assert (pod.state, round(float(pod.rate), 3)) == ("stopped", 0.055)


async def test_c091_names_that_runpod_decorates_are_known_and_strangers_left_alone(
    tmp_path: Path,
) -> None:
    payload = _payload("C091")
    endpoints = payload["endpoints"]
    gone: set[str] = set()

    def listing(_sent: Any) -> Answer:
        return Answer({"endpoints": [e for e in endpoints if e["id"] not in gone]})

    def delete(sent: Any) -> Answer:
        gone.add(sent.path.rpartition("/")[2])
        return NO_CONTENT

    made = _account().on(ENDPOINTS, listing)
    for endpoint in endpoints:
        made.on(f"DELETE /v2/serverless/{endpoint['id']}", delete)
        made.on(f"GET /jobs/{endpoint['id']}/health", Answer({"workers": {}}))
    found = await _resources(made, tmp_path)
    assert found["epfake01"].label == payload["db"][0]["endpoint_name"]
    swept = await scripted(made, tmp_path).provider.sweep_orphans(
        {payload["db"][0]["endpoint_name"]}
    )
    assert swept == ["epfake07"]
    assert gone == {"epfake07"}


async def test_c096_a_pod_of_four_cards_costs_what_runpod_says_for_all_of_them(
    tmp_path: Path,
) -> None:
    found = await _resources(_account(_listing([_payload("C096")["pod"]])), tmp_path)
    pod = found["podfake200"]
    assert (pod.num_gpus, pod.rate) == (4, HourlyRate.of("5.96"))


async def _variant(index: int, home: Path) -> tuple[Rig, Answer]:
    variant = _payload("C167")["variants"][index]
    answer = Answer(variant["body"], variant["status"])
    return scripted(ScriptedHttp(FakeClock()).on(GRAPHQL, answer), home), answer


async def test_c167_graphql_that_is_not_well_is_never_an_empty_market(tmp_path: Path) -> None:
    rig, answer = await _variant(0, tmp_path)
    with pytest.raises(ProviderError, match="Something went wrong"):
        await scripted(
            ScriptedHttp(FakeClock()).on(GRAPHQL, answer), tmp_path, keys=()
        ).prices.sheet()
    _, half = await _variant(1, tmp_path)
    made = ScriptedHttp(FakeClock()).on(GRAPHQL, half)
    sheet = await scripted(made, tmp_path, keys=()).prices.sheet()
    assert "L4" in {q.gpu for q in sheet.quotes if q.product == "pod"}
    assert not sheet.complete
    rig, _ = await _variant(2, tmp_path)
    assert rig.plugin.account is not None
    account = await rig.plugin.account.account()
    assert (account.balance, "no access" in account.note) == (None, True)
    rig, _ = await _variant(3, tmp_path)
    assert rig.plugin.account is not None
    with pytest.raises(ProviderError) as caught:
        await rig.plugin.account.account()
    assert caught.value.kind == "auth"


async def test_c169_keys_in_a_records_environment_are_not_taken_in(tmp_path: Path) -> None:
    payload = _payload("C169")
    (told,) = payload["body"]["data"]["myself"]["endpoints"]
    env = {row["key"]: row["value"] for row in told["env"]}
    record = Answer({"endpoints": [{"id": told["id"], "name": told["name"], "env": env}]})
    made = _account(endpoints=record).on(f"GET /jobs/{told['id']}/health", Answer({}))
    found = await _resources(made, tmp_path)
    broken = Answer({"endpoints": [{"id": "?/?", "env": env}]})
    with pytest.raises(ProviderError) as caught:
        await _resources(_account(endpoints=broken), tmp_path)
    shown = repr(found) + str(caught.value) + caught.value.body + repr(caught.value.__cause__)
    assert not any(secret in shown for secret in payload["grep_for"])


async def test_c170_limits_in_headers_are_kept_and_the_detail_is_shown_plain(
    tmp_path: Path,
) -> None:
    made = _account()
    steps = [
        Answer(step.get("body", {"gpus": [catalog_gpu()]}), step["status"], step["headers"])
        for step in _payload("C170")["sequence"]
    ]
    made.on(CATALOG, *steps[:2], Answer({"gpus": [catalog_gpu()]}))
    made.on(GRAPHQL, Answer({"data": {"gpuTypes": [{"id": "NVIDIA L4"}]}}))
    rig = scripted(made, tmp_path)
    await rig.prices.sheet()
    await made.clock.advance(2.5)
    await rig.prices.sheet()
    times = [s.at for s in made.sent(CATALOG)]
    assert times[1] - times[0] >= 40 / 4
    assert times[2] - times[1] >= 37
    made.on(CATALOG, steps[3])
    await made.clock.advance(60)
    sheet = await rig.prices.sheet()
    assert sheet.error is not None
    assert sheet.error.kind == "rate_limited"
