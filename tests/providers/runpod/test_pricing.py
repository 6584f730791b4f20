"""The pricing module: one sheet per refresh from two sources, either of which may fail."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from flashtui.domain.errors import ApiGone, DestroyUnconfirmed, MalformedReply, Unavailable
from flashtui.domain.gpu import GPU_INFO, UnsupportedGpuError
from flashtui.domain.money import HourlyRate
from flashtui.domain.run import JobHandle
from flashtui.providers.registry import cached_rates, forget_rates
from flashtui.providers.runpod.gpus import NATIVE
from tests.fakes import Answer
from tests.providers.runpod.rig import (
    CATALOG,
    GRAPHQL,
    READ_ONLY,
    SimClock,
    against_sim,
    catalog_gpu,
    gpu_type,
    script,
    scripted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flashtui.domain.market import PriceSheet, Quote

DOWN = Answer("<html><title>502 Bad Gateway</title></html>", 502)


@pytest.fixture(autouse=True)
def _own_rates() -> Iterator[None]:
    forget_rates()
    yield
    forget_rates()


def _rows(sheet: PriceSheet, product: str) -> dict[str, Quote]:
    return {q.gpu: q for q in sheet.quotes if q.product == product}


async def test_every_live_price_equals_the_simulators_own(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        sheet = await rig.prices.sheet()
        at = SimClock(rig.sim).now().timestamp()
        theirs = {row["id"]: row for row in rig.sim.admin("GET", f"prices?at={at}")["runpod"]}
        violations = rig.sim.violations()
    serverless, pods = _rows(sheet, "serverless"), _rows(sheet, "pod")
    for name, gpu_id in NATIVE.items():
        quote = serverless[name]
        told = theirs[gpu_id]
        usd = told["serverless"] if told["pool"] else None
        assert quote.rate == (None if usd is None else HourlyRate.of(usd)), name
        assert quote.stock == (told["serverless_stock"].lower() if told["pool"] else "none"), name
        assert quote.source == "live"
        pod = pods[name]
        if pod.rate is not None:
            assert pod.rate == HourlyRate.of(told["secure"]), name
    assert sheet.complete
    assert sheet.error is None
    assert violations == []


async def test_one_refresh_costs_one_request_to_each_source(tmp_path: Path) -> None:
    made = script()
    rig = scripted(made, tmp_path)
    first, second = await asyncio.gather(rig.prices.sheet(), rig.prices.sheet())
    assert first is second
    assert [s.line for s in made.requests] == [GRAPHQL, CATALOG]


async def test_prices_need_no_key_over_graphql_and_none_is_sent(tmp_path: Path) -> None:
    made = script()
    await scripted(made, tmp_path).prices.sheet()
    graphql, catalog = made.requests
    assert "authorization" not in graphql.headers
    assert catalog.headers["authorization"] == "Bearer rpa_DEMOKEY"
    assert catalog.query == {"include": "AVAILABILITY", "product": "SERVERLESS"}


async def test_a_later_refresh_asks_again(tmp_path: Path) -> None:
    made = script()
    rig = scripted(made, tmp_path)
    await rig.prices.sheet()
    await made.clock.advance(45)
    made.on(CATALOG, Answer({"gpus": [catalog_gpu(price={"serverless": 1.2})]}))
    sheet = await rig.prices.sheet()
    assert _rows(sheet, "serverless")["RTX 4090"].rate == HourlyRate.of("1.2")


async def test_without_a_key_serverless_comes_from_the_dated_list(tmp_path: Path) -> None:
    made = script()
    sheet = await scripted(made, tmp_path, keys=()).prices.sheet()
    serverless, pods = _rows(sheet, "serverless"), _rows(sheet, "pod")
    quote = serverless["RTX 4090"]
    assert (quote.source, quote.rate) == ("static", HourlyRate.of("1.116"))
    assert quote.observed_at == datetime(2026, 8, 20, tzinfo=UTC)
    assert serverless["RTX 5090"].rate is None
    assert not any(q.rentable for q in serverless.values())
    assert pods["RTX 4090"].source == "live"
    assert [s.line for s in made.requests] == [GRAPHQL]


async def test_offline_there_is_the_seeds_table_and_no_request(tmp_path: Path) -> None:
    made = script()
    rig = scripted(made, tmp_path, env={"FLASH_SKIP_NET": "1"})
    sheet = await rig.prices.sheet()
    assert {q.gpu: float(q.rate) for q in sheet.quotes if q.rate} == {
        name: GPU_INFO[name].hourly_usd for name in NATIVE
    }
    assert {(q.product, q.source, q.rentable) for q in sheet.quotes} == {("pod", "static", False)}
    assert sheet == rig.prices.static_sheet()
    assert made.requests == []


async def test_the_static_sheet_needs_no_request_and_shows_both_products(tmp_path: Path) -> None:
    made = script()
    sheet = scripted(made, tmp_path).prices.static_sheet()
    assert {q.product for q in sheet.quotes} == {"serverless", "pod"}
    assert {q.source for q in sheet.quotes} == {"static"}
    assert sheet.observed_at is None
    assert made.requests == []


async def test_with_graphql_down_serverless_stays_live_and_pods_lose_their_stock(
    tmp_path: Path,
) -> None:
    sheet = await scripted(script(graphql=DOWN), tmp_path).prices.sheet()
    assert _rows(sheet, "serverless")["RTX 4090"].rentable
    pod = _rows(sheet, "pod")["RTX 4090"]
    assert (pod.rate, pod.stock, pod.source) == (HourlyRate.of("0.74"), "unknown", "live")
    assert sheet.error is not None
    assert "pod prices" in sheet.error.message
    assert "502" in sheet.error.message
    assert "<html" not in sheet.error.message
    assert not sheet.complete


async def test_with_rest_down_pods_stay_live_and_serverless_falls_back_to_the_list(
    tmp_path: Path,
) -> None:
    sheet = await scripted(script(catalog=DOWN), tmp_path).prices.sheet()
    assert _rows(sheet, "pod")["RTX 4090"].source == "live"
    serverless = _rows(sheet, "serverless")["RTX 4090"]
    assert (serverless.source, serverless.rentable) == ("static", False)
    assert sheet.error is not None
    assert "serverless prices" in sheet.error.message


async def test_with_rest_down_later_the_last_live_rows_keep_their_own_time(tmp_path: Path) -> None:
    made = script()
    rig = scripted(made, tmp_path)
    before = _rows(await rig.prices.sheet(), "serverless")["RTX 4090"]
    await made.clock.advance(60)
    made.on(CATALOG, DOWN)
    sheet = await rig.prices.sheet()
    assert _rows(sheet, "serverless")["RTX 4090"] == before
    assert _rows(sheet, "pod")["RTX 4090"].observed_at > before.observed_at


async def test_with_both_down_the_error_is_raised(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        await scripted(script(graphql=DOWN, catalog=DOWN), tmp_path).prices.sheet()


async def test_without_a_key_graphql_gone_is_an_error_of_that_kind(tmp_path: Path) -> None:
    rig = scripted(script(graphql=Answer({"error": "gone"}, 410)), tmp_path, keys=())
    with pytest.raises(ApiGone):
        await rig.prices.sheet()


async def test_a_bad_key_is_named_and_pods_are_shown_all_the_same(tmp_path: Path) -> None:
    async with against_sim(tmp_path, keys=("rpa_WRONG",)) as rig:
        sheet = await rig.prices.sheet()
    assert sheet.error is not None
    assert sheet.error.kind == "auth"
    assert "RUNPOD_API_KEY" in sheet.error.message
    assert _rows(sheet, "pod")["RTX 4090"].source == "live"


async def test_a_key_that_turned_out_to_be_read_only_makes_nothing_rentable(tmp_path: Path) -> None:
    async with against_sim(tmp_path, keys=(READ_ONLY,)) as rig:
        before = _rows(await rig.prices.sheet(), "serverless")["RTX 4090"].rentable
        endpoint_id = rig.sim.endpoint()
        with pytest.raises(DestroyUnconfirmed):
            await rig.provider.destroy(JobHandle("runpod", {"endpoint_id": endpoint_id}))
        await rig.context.clock.sleep(45)
        after = _rows(await rig.prices.sheet(), "serverless")["RTX 4090"].rentable
    assert (before, after) == (True, False)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>login</html>",
        '{"data": {"gpuTypes": [',
        {"data": None},
        {"data": {"gpuTypes": None}},
        {"data": {"gpuTypes": []}},
        {"data": {"gpuTypes": "none"}},
        {"errors": []},
        [],
        7,
    ],
)
async def test_nonsense_from_graphql_is_a_typed_error_never_an_empty_market(
    tmp_path: Path, body: object
) -> None:
    rig = scripted(script(graphql=Answer(body)), tmp_path, keys=())
    with pytest.raises(MalformedReply):
        await rig.prices.sheet()


@pytest.mark.parametrize(
    "body", ["", "<html>login</html>", {"gpus": None}, {"gpus": {}}, {}, [], '{"gpus": [{"id"']
)
async def test_nonsense_from_rest_keeps_the_pods(tmp_path: Path, body: object) -> None:
    sheet = await scripted(script(catalog=Answer(body)), tmp_path).prices.sheet()
    assert sheet.error is not None
    assert sheet.error.kind == "malformed"
    assert _rows(sheet, "pod")["RTX 4090"].source == "live"


async def test_a_partial_answer_shows_its_rows_and_says_that_it_is_incomplete(
    tmp_path: Path,
) -> None:
    partial = {
        "errors": [{"message": "timeout", "path": ["gpuTypes", 1]}],
        "data": {"gpuTypes": [gpu_type(), None], "dataCenters": None},
    }
    sheet = await scripted(script(graphql=Answer(partial)), tmp_path).prices.sheet()
    assert _rows(sheet, "pod")["RTX 4090"].rate is not None
    assert not sheet.complete
    assert sheet.error is not None
    assert "timeout" in sheet.error.message


async def test_types_that_cannot_be_read_make_the_sheet_incomplete(tmp_path: Path) -> None:
    odd = {"data": {"gpuTypes": [gpu_type(), {"id": 5}], "dataCenters": []}}
    sheet = await scripted(script(graphql=Answer(odd)), tmp_path).prices.sheet()
    assert _rows(sheet, "pod")["RTX 4090"].rate is not None
    assert sheet.error is not None
    assert (sheet.complete, sheet.error.kind) == (False, "incomplete")


async def test_the_hourly_rate_is_the_live_serverless_one(tmp_path: Path) -> None:
    made = script(catalog=Answer({"gpus": [catalog_gpu(price={"serverless": 1.25})]}))
    assert await scripted(made, tmp_path).provider.hourly_rate("4090") == 1.25


async def test_asking_for_every_class_costs_one_refresh(tmp_path: Path) -> None:
    made = script()
    rig = scripted(made, tmp_path)
    for name in NATIVE:
        await rig.provider.hourly_rate(name)
    assert len(made.requests) == 2


async def test_a_failure_is_remembered_so_that_every_class_does_not_retry_it(
    tmp_path: Path,
) -> None:
    made = script(graphql=Answer({}, 410), catalog=Answer({}, 410))
    rig = scripted(made, tmp_path)
    rates = [await rig.provider.hourly_rate(name) for name in NATIVE]
    assert len(made.requests) == 2
    assert rates[0] == 1.116


async def test_live_rates_that_have_grown_old_give_way_to_the_list(tmp_path: Path) -> None:
    made = script(catalog=Answer({"gpus": [catalog_gpu(price={"serverless": 1.25})]}))
    rig = scripted(made, tmp_path)
    await rig.prices.sheet()
    made.on(CATALOG, Answer({}, 410)).on(GRAPHQL, Answer({}, 410))
    await made.clock.advance(60)
    assert await rig.provider.hourly_rate("RTX 4090") == 1.25
    await made.clock.advance(60)
    assert await rig.provider.hourly_rate("RTX 4090") == 1.116


async def test_offline_the_hourly_rate_is_the_seeds(tmp_path: Path) -> None:
    rig = scripted(script(), tmp_path, env={"FLASH_SKIP_NET": "1"})
    assert await rig.provider.hourly_rate("RTX 4090") == 0.69


async def test_a_class_that_runpod_does_not_have_has_no_rate(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedGpuError, match="not on RunPod"):
        await scripted(script(), tmp_path).provider.hourly_rate("L40S")


async def test_live_rates_feed_the_synchronous_functions(tmp_path: Path) -> None:
    made = script(catalog=Answer({"gpus": [catalog_gpu(price={"serverless": 1.25})]}))
    await scripted(made, tmp_path).prices.sheet()
    assert cached_rates("runpod")["RTX 4090"] == HourlyRate.of("1.25")


async def test_a_429_is_waited_out_as_long_as_runpod_says(tmp_path: Path) -> None:
    made = script()
    slow = Answer({"title": "Too Many Requests", "status": 429}, 429, {"Retry-After": "37"})
    made.on(CATALOG, slow, Answer({"gpus": [catalog_gpu()]}))
    sheet = await scripted(made, tmp_path).prices.sheet()
    first, second = (s.at for s in made.sent(CATALOG))
    assert second - first >= 37.0
    assert sheet.complete
