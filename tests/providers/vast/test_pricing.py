"""The price sheet and the single offers: one policy search per refresh, shared, whole, and never a made-up number."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.errors import MalformedReply, NotSent, ProviderError, Unavailable
from flashtui.domain.gpu import GPU_INFO, UnsupportedGpuError
from flashtui.domain.money import HourlyRate
from flashtui.providers.registry import cached_rates, forget_rates
from flashtui.providers.vast.gpus import CLASSES, NATIVE
from tests.fakes import T0, Answer
from tests.providers.vast.rig import BAD_KEY, SEARCH, offer_row, offers, scripted, simulated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flashtui.domain.market import PriceSheet, Product, Quote
    from tests.fakes import Sent


@pytest.fixture(autouse=True)
def _rates() -> Iterator[None]:
    forget_rates()
    yield
    forget_rates()


def row(sheet: PriceSheet, gpu: str, product: Product = "instance") -> Quote:
    (found,) = [q for q in sheet.quotes if q.gpu == gpu and q.product == product]
    return found


def priced(offer_id: int, usd: float, **changes: Any) -> dict[str, Any]:
    """A usable offer whose whole price is this, with storage in it."""
    return offer_row(offer_id, dph_base=usd, storage_cost=0, dph_total=usd, **changes)


def market(rows: list[dict[str, Any]], *, cap: int = 64) -> Any:
    """A server that applies the price cursor and cuts its answers."""

    def answer(sent: Sent) -> Answer:
        query: Any = sent.json
        bound = query.get("dph_total", {})
        found = [
            row
            for row in rows
            if row["dph_total"] >= bound.get("gte", 0) and row["dph_total"] > bound.get("gt", -1)
        ]
        found.sort(key=lambda row: row["dph_total"])
        return offers(*found[: min(cap, query["limit"])])

    return answer


async def test_the_cheapest_usable_offer_is_the_price_of_its_class(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(
        SEARCH,
        offers(
            priced(1, 0.50),
            priced(2, 0.40, geolocation=", US"),
            priced(3, 0.10, hosting_type=0),
            priced(4, 0.90, num_gpus=4),
        ),
    )
    quote = row(await rig.prices.sheet(), "RTX 4090")
    assert quote.rate == HourlyRate.of("0.4")
    assert (quote.available, quote.offer_id, quote.machine_id) == (2, "2", "2")
    assert quote.regions == ("SE", "US")
    assert (quote.source, quote.observed_at, quote.rentable) == ("live", T0, True)


async def test_every_class_has_a_row_and_one_without_an_offer_has_no_price(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.50)))
    sheet = await rig.prices.sheet()
    instances = [q for q in sheet.quotes if q.product == "instance"]
    assert [q.gpu for q in instances] == [gpu.name for gpu in CLASSES]
    h100 = row(sheet, "H100")
    assert (h100.rate, h100.available, h100.stock, h100.rentable) == (None, 0, "none", False)


async def test_interruptible_is_a_row_of_its_own_and_cannot_be_rented(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.5, min_bid=0.2), priced(2, 0.4, min_bid=None)))
    sheet = await rig.prices.sheet()
    bid = row(sheet, "RTX 4090", "interruptible")
    assert (bid.rate, bid.available, bid.rentable) == (HourlyRate.of("0.2"), 1, False)
    assert row(sheet, "RTX 4090").rate == HourlyRate.of("0.4")


async def test_no_interruptible_row_without_a_bid(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.5, min_bid=0)))
    assert all(q.product == "instance" for q in (await rig.prices.sheet()).quotes)


async def test_the_policy_is_asked_of_the_server(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers())
    await rig.prices.sheet()
    query: Any = rig.script.requests[0].json
    assert query["verified"] == query["datacenter"] == query["rentable"] == {"eq": True}
    assert query["num_gpus"] == {"eq": 1}
    assert query["reliability2"] == {"gte": 0.995}
    assert query["inet_down"] == {"gte": 200.0}
    assert query["disk_space"] == {"gte": 60}
    assert query["gpu_ram"] == {"gte": 15073}
    assert query["order"] == [["dph_total", "asc"]]
    assert query["allocated_storage"] == 60.0
    assert query["type"] == "on-demand"
    assert 1 <= query["limit"] <= 256


async def test_other_rules_are_asked_of_the_server_too(tmp_path: Path) -> None:
    rules = "[rules]\nreliability = 0.9\ndisk_gb = 100\nverified = false\ndatacenter = false\n"
    rig = scripted(tmp_path, config=rules)
    rig.script.on(SEARCH, offers(priced(1, 0.1, reliability2=0.95, hosting_type=0)))
    sheet = await rig.prices.sheet()
    query: Any = rig.script.requests[0].json
    assert "verified" not in query
    assert "datacenter" not in query
    assert (query["reliability2"], query["allocated_storage"]) == ({"gte": 0.9}, 100.0)
    assert row(sheet, "RTX 4090").available == 1


async def test_what_the_server_lets_through_is_checked_again(tmp_path: Path) -> None:
    """It does not always apply every filter."""
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.1, reliability2=0.5), priced(2, 0.5)))
    sheet = await rig.prices.sheet()
    assert row(sheet, "RTX 4090").offer_id == "2"
    assert [offer.reasons for offer in sheet.offers] == [("reliability",), ()]


@pytest.mark.parametrize("cap", [64, 256])
async def test_the_market_is_read_to_its_end_whatever_the_server_cuts(
    tmp_path: Path, cap: int
) -> None:
    """Cheap offers fill the first pages; the dear classes must be found behind them."""
    rig = scripted(tmp_path)
    rows = [priced(n, 0.2 + n / 1000) for n in range(1, 200)]
    rows.append(priced(900, 2.5, gpu_name="H100 SXM", gpu_ram=81559))
    rig.script.on(SEARCH, market(rows, cap=cap))
    sheet = await rig.prices.sheet()
    assert sheet.complete
    assert len(sheet.offers) == 200
    assert row(sheet, "H100").rate == HourlyRate.of("2.5")
    assert len({offer.offer_id for offer in sheet.offers}) == len(sheet.offers)


async def test_a_page_of_equal_prices_does_not_go_round_in_circles(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rows = [priced(n, 0.25) for n in range(1, 65)] + [priced(900, 0.5)]
    rig.script.on(SEARCH, market(rows))
    assert len((await rig.prices.sheet()).offers) == 65
    assert len(rig.script.requests) <= 4


async def test_a_market_larger_than_the_budget_is_said_to_be_unfinished(tmp_path: Path) -> None:
    """Then a class that was not met may still be there."""
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, market([priced(n, 0.2 + n / 10_000) for n in range(1, 2000)]))
    sheet = await rig.prices.sheet()
    assert not sheet.complete
    h100 = row(sheet, "H100")
    assert (h100.rate, h100.available, h100.stock) == (None, None, "unknown")
    assert len(rig.script.requests) <= 6


async def test_twenty_refreshes_keep_within_ten_searches_a_minute(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, market([priced(n, 0.2 + n / 10_000) for n in range(1, 200)]))
    for _ in range(20):
        await rig.prices.sheet()
        await rig.clock.sleep(5)
    times = [sent.at for sent in rig.script.requests]
    assert all(later - earlier >= 60 for earlier, later in zip(times, times[10:], strict=False))


async def test_readers_that_come_together_share_one_refresh(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.5)))
    sheets = await asyncio.gather(*(rig.prices.sheet() for _ in range(8)))
    assert len(rig.script.requests) == 1
    assert all(sheet is sheets[0] for sheet in sheets)


async def test_a_later_refresh_asks_again(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.5)), offers(priced(1, 0.6)))
    await rig.prices.sheet()
    await rig.clock.sleep(5)
    assert row(await rig.prices.sheet(), "RTX 4090").rate == HourlyRate.of("0.6")


async def test_boards_that_are_not_managed_are_counted_by_name(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    unmanaged = [priced(n, 0.5, gpu_name="B200", gpu_ram=183359) for n in (1, 2)]
    rig.script.on(SEARCH, offers(*unmanaged, priced(3, 0.5)))
    sheet = await rig.prices.sheet()
    assert sheet.unmanaged == {"B200": 2}
    assert len(sheet.offers) == 3


async def test_entries_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.5), None, {"id": 2}))
    sheet = await rig.prices.sheet()
    assert sheet.skipped == 2
    assert row(sheet, "RTX 4090").available == 1


@pytest.mark.parametrize("answer", [Answer({"offers": None}), Answer({}), Answer("<html>")])
async def test_an_answer_of_another_shape_is_an_error_and_not_sold_out(
    tmp_path: Path, answer: Answer
) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, answer)
    with pytest.raises(MalformedReply):
        await rig.prices.sheet()


async def test_a_later_page_that_fails_does_not_leave_half_a_market(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rows = [priced(n, 0.2 + n / 1000) for n in range(1, 65)]
    rig.script.on(SEARCH, offers(*rows), Answer("", 503))
    with pytest.raises(Unavailable):
        await rig.prices.sheet()


async def test_prices_can_be_read_without_a_key_but_nothing_rented(tmp_path: Path) -> None:
    rig = scripted(tmp_path, key=None)
    rig.script.on(SEARCH, offers(priced(1, 0.5)))
    quote = row(await rig.prices.sheet(), "RTX 4090")
    assert quote.rate == HourlyRate.of("0.5")
    assert not quote.rentable
    assert not rig.provider.is_configured()


async def test_offline_nothing_is_asked(tmp_path: Path) -> None:
    rig = scripted(tmp_path, FLASH_SKIP_NET="1")
    with pytest.raises(NotSent, match="FLASH_SKIP_NET"):
        await rig.prices.sheet()
    with pytest.raises(NotSent, match="FLASH_SKIP_NET"):
        await rig.prices.offers()
    assert await rig.provider.hourly_rate("4090") == GPU_INFO["RTX 4090"].hourly_usd
    assert rig.script.requests == []


def test_there_is_no_list_price_for_a_market(tmp_path: Path) -> None:
    sheet = scripted(tmp_path).prices.static_sheet()
    assert (sheet.quotes, sheet.observed_at) == ((), None)


async def test_the_live_rates_of_a_refresh_are_remembered(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.5)))
    await rig.prices.sheet()
    assert cached_rates("vast")["RTX 4090"] == HourlyRate.of("0.5")


# -- rates by class ------------------------------------------------------------------------------------------------


async def test_all_rates_come_from_one_search(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.5)))
    rates = {gpu.name: await rig.provider.hourly_rate(gpu.name) for gpu in CLASSES}
    assert rates["RTX 4090"] == 0.5
    assert rates["H100"] == GPU_INFO["H100"].hourly_usd
    assert len(rig.script.requests) == 1


async def test_a_failed_search_is_remembered_and_the_table_stands_in(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, BAD_KEY)
    for gpu in CLASSES:
        assert await rig.provider.hourly_rate(gpu.name) == gpu.hourly_usd
    assert len(rig.script.requests) == 1


async def test_old_prices_are_not_given_out_as_live(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.5)), BAD_KEY)
    await rig.provider.hourly_rate("RTX 4090")
    await rig.clock.sleep(600)
    assert await rig.provider.hourly_rate("RTX 4090") == GPU_INFO["RTX 4090"].hourly_usd


@pytest.mark.parametrize("gpu", ["RTX Pro 6000", "no such card"])
async def test_a_class_that_vast_does_not_have_is_refused(tmp_path: Path, gpu: str) -> None:
    with pytest.raises(UnsupportedGpuError):
        await scripted(tmp_path).provider.hourly_rate(gpu)


# -- single offers -------------------------------------------------------------------------------------------------


async def test_single_offers_show_what_speaks_against_them(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(2, 0.5), priced(1, 0.3, hosting_type=0)))
    found = await rig.prices.offers()
    assert [(o.offer_id, o.reasons) for o in found] == [("1", ("not_datacenter",)), ("2", ())]
    query: Any = rig.script.requests[0].json
    assert set(query) == {"rentable", "order", "type", "limit", "allocated_storage"}


async def test_single_offers_of_a_class_are_asked_for_by_vast_s_name_and_memory(
    tmp_path: Path,
) -> None:
    rig = scripted(tmp_path)
    small = priced(1, 0.5, gpu_name="A100 SXM4", gpu_ram=40960)
    large = priced(2, 0.9, gpu_name="A100 SXM4", gpu_ram=81920)
    rig.script.on(SEARCH, offers(small, large))
    found = await rig.prices.offers(gpu="a100 sxm", disk_gb=100)
    assert [o.offer_id for o in found] == ["2"]
    query: Any = rig.script.requests[0].json
    assert query["gpu_name"] == {"eq": "A100 SXM4"}
    assert query["gpu_ram"]["gte"] <= 81920
    assert query["allocated_storage"] == 100.0


async def test_single_offers_can_be_limited_by_memory_and_number(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rows = [priced(n, 0.2 + n / 1000, gpu_ram=81559, gpu_name="H100 SXM") for n in range(1, 9)]
    rig.script.on(SEARCH, offers(priced(90, 0.1), *rows))
    found = await rig.prices.offers(min_vram_gb=80, limit=3)
    assert [o.offer_id for o in found] == ["1", "2", "3"]
    assert len(rig.script.requests) == 1


async def test_a_board_that_is_not_managed_can_be_asked_for_by_its_own_name(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 4.0, gpu_name="B200", gpu_ram=183359)))
    (found,) = await rig.prices.offers(gpu="B200")
    assert (found.gpu, found.gpu_raw) == (None, "B200")


async def test_a_class_that_vast_never_has_costs_no_search(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    assert await rig.prices.offers(gpu="RTX Pro 6000") == ()
    assert rig.script.requests == []


async def test_what_the_policy_would_rent_is_searched_afresh_for_the_job_s_disk(
    tmp_path: Path,
) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(priced(1, 0.5), priced(2, 0.4, disk_space=80)))
    found = await rig.prices.usable_offers(frozenset({"RTX 4090"}), 100)
    assert [o.offer_id for o in found] == ["1"]
    query: Any = rig.script.requests[0].json
    assert (query["gpu_name"], query["disk_space"]) == ({"in": ["RTX 4090"]}, {"gte": 100})


# -- against the simulator -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["vast-demo-key", None])
async def test_every_live_price_is_the_simulator_s_own(tmp_path: Path, key: str | None) -> None:
    async with simulated(tmp_path, "calm", key=key) as (rig, sim):
        sheet = await rig.prices.sheet()
        policy: dict[str, Any] = {
            "verified": {"eq": True},
            "datacenter": {"eq": True},
            "rentable": {"eq": True},
            "num_gpus": {"eq": 1},
            "reliability2": {"gte": 0.995},
            "inet_down": {"gte": 200},
            "allocated_storage": 60,
        }
        theirs = {str(o["id"]): o["dph_total"] for o in sim.search(policy)}
        live = [q for q in sheet.quotes if q.product == "instance" and q.rate is not None]
        assert len(live) >= 15
        for quote in live:
            assert quote.offer_id is not None
            assert quote.rate == HourlyRate.of(theirs[quote.offer_id])
        assert sheet.complete
        assert sim.violations() == []


async def test_a_price_that_moves_is_seen_to_move(tmp_path: Path) -> None:
    async with simulated(tmp_path, "calm") as (rig, sim):
        before = await rig.prices.sheet()
        sim.step(60)
        after = await rig.prices.sheet()
        moved = [
            (a.rate, b.rate) for a, b in zip(before.quotes, after.quotes, strict=False) if a != b
        ]
        assert moved


async def test_the_used_up_quota_says_when_to_come_back(tmp_path: Path) -> None:
    async with simulated(tmp_path, "calm") as (rig, sim):
        sim.fault(
            "search_quota", surface="vast", route="POST /api/v0/bundles/", args={"reset_s": 3600}
        )
        with pytest.raises(ProviderError, match="quota") as caught:
            await rig.prices.sheet()
    assert getattr(caught.value, "retry_after_s", None) == pytest.approx(3600, abs=5)


def test_every_class_with_a_vast_name_is_rented() -> None:
    assert set(NATIVE) == {name for name, gpu in GPU_INFO.items() if gpu.vast_name}
    assert len(NATIVE) == 20
