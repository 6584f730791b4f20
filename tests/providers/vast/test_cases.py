"""Cases on record, by id: the kind of fault of each is replayed on the route that this client uses."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from flashtui.domain.errors import (
    Ambiguous,
    ApiGone,
    AuthRejected,
    DestroyUnconfirmed,
    MalformedReply,
    RateLimited,
    Rejected,
    Unavailable,
)
from flashtui.domain.money import HourlyRate
from flashtui.providers.vast.api import VastApi
from flashtui.providers.vast.offers import country_of
from tests.fakes import Answer
from tests.providers.vast.rig import (
    DATA,
    LIST,
    OK,
    SEARCH,
    Rig,
    delete,
    detail,
    handle,
    instance_row,
    job,
    offer_row,
    offers,
    page,
    rent,
    scripted,
    show,
)
from tests.providers.vast.test_offers import normalised

if TYPE_CHECKING:
    from pathlib import Path

    from flashtui.domain.market import Offer, PriceSheet, Quote
    from flashtui.domain.run import JobHandle, Resource

CASES = {case["id"]: case for case in json.loads((DATA / "cases.json").read_text())}
OLD = {"started_ts": 1_772_323_200.0}


def payload(case_id: str) -> Any:
    return CASES[case_id]["payload"]


def answer(step: dict[str, Any]) -> Answer | Exception:
    """A step of a case as an answer or as what the line does."""
    failures = {
        "ReadTimeout": httpx.ReadTimeout("x"),
        "RemoteProtocolError": httpx.RemoteProtocolError("x"),
    }
    if "error" in step:
        name = step["error"].partition(":")[0]
        return failures.get(name, httpx.ConnectError(step["error"]))
    return Answer(step.get("body", ""), step["status"], step.get("headers", {}))


async def sheet_of(rig: Rig, *steps: Answer | Exception) -> PriceSheet:
    rig.script.on(SEARCH, *steps)
    return await rig.prices.sheet()


def instance_quote(sheet: PriceSheet, gpu: str) -> Quote:
    (found,) = [q for q in sheet.quotes if q.gpu == gpu and q.product == "instance"]
    return found


async def single_offers(rig: Rig, *steps: Answer) -> dict[str, Offer]:
    rig.script.on(SEARCH, *steps)
    return {offer.offer_id: offer for offer in await rig.prices.offers()}


async def resources(rig: Rig, *steps: Answer | Exception) -> dict[str, Resource]:
    rig.script.on(LIST, *steps)
    return {r.resource_id: r for r in (await rig.inventory()).resources}


# -- prices --------------------------------------------------------------------------------------------------------


async def test_c001_whole_machine_and_single_card(tmp_path: Path) -> None:
    body = Answer(payload("C001")["body"])
    found = await single_offers(scripted(tmp_path), body)
    four, one = found["1001"], found["1002"]
    assert (four.num_gpus, four.rate, four.rate_per_gpu) == (
        4,
        HourlyRate.of("1.6"),
        HourlyRate.of("0.4"),
    )
    assert (one.rate, one.rate_per_gpu) == (HourlyRate.of("0.45"), HourlyRate.of("0.45"))
    cheapest = instance_quote(await sheet_of(scripted(tmp_path), body), "RTX 4090")
    assert (cheapest.offer_id, cheapest.rate) == ("1002", HourlyRate.of("0.45"))


async def test_c002_offers_as_one_object_or_not_at_all(tmp_path: Path) -> None:
    single, null, missing = payload("C002")["variants"]
    sheet = await sheet_of(scripted(tmp_path), Answer(single))
    assert instance_quote(sheet, "RTX A6000").rate == HourlyRate.of("0.47")
    for variant in (null, missing):
        with pytest.raises(MalformedReply):
            await sheet_of(scripted(tmp_path), Answer(variant))


async def test_c004_a_failing_search_gives_no_price_and_a_later_one_the_new(tmp_path: Path) -> None:
    first, _, last = payload("C004")["sequence"]
    rig = scripted(tmp_path)
    sheet = await sheet_of(rig, Answer(first["body"]))
    assert instance_quote(sheet, "H100").rate == HourlyRate.of("2.1")
    await rig.clock.sleep(60)
    with pytest.raises(Unavailable, match="503"):
        await sheet_of(rig, Answer("upstream unavailable", 503))
    await rig.clock.sleep(60)
    sheet = await sheet_of(rig, Answer(last["body"]))
    assert instance_quote(sheet, "H100").rate == HourlyRate.of("2.25")
    assert instance_quote(sheet, "H100").observed_at == sheet.observed_at


async def test_c007_places_in_every_form(tmp_path: Path) -> None:
    found = await single_offers(scripted(tmp_path), Answer(payload("C007")["body"]))
    regions = [found[n].region for n in ("3101", "3102", "3103", "3104")]
    assert regions == [None, None, "US", "Norway, NO"]
    assert [country_of(region) for region in regions].count("US") == 1


async def test_c010_the_lowest_bid_is_not_the_price(tmp_path: Path) -> None:
    case = payload("C010")
    sheet = await sheet_of(scripted(tmp_path), offers(case["offer"]))
    assert instance_quote(sheet, "RTX 4090").rate == HourlyRate.of("0.31")
    (bid,) = [q for q in sheet.quotes if q.product == "interruptible"]
    assert (bid.rate, bid.rentable) == (HourlyRate.of("0.12"), False)
    found = await resources(
        scripted(tmp_path), page(case["instance_after"] | {"actual_status": "running"})
    )
    (resource,) = found.values()
    assert (resource.rate, resource.product) == (HourlyRate.of("0.31"), "instance")


async def test_c011_the_disk_of_the_job_is_in_the_price(tmp_path: Path) -> None:
    case = payload("C011")
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(case["offer"]))
    (offer,) = await rig.prices.offers(disk_gb=case["job"]["disk_gb"])
    assert offer.rate is not None
    assert 0.327 <= float(offer.rate) <= 0.328
    assert float(offer.rate) > case["job"]["max_usd_per_hour"]
    assert offer.storage_rate == HourlyRate.of("0.027778")


async def test_c013_a_host_that_changes_its_card_changes_its_class(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    seen = []
    for row in payload("C013")["sequence"]:
        (offer,) = (await sheet_of(rig, offers(row))).offers
        seen.append((offer.gpu, offer.gpu_raw, offer.rate))
        await rig.clock.sleep(60)
    assert seen == [
        ("RTX 3090", "RTX 3090", HourlyRate.of("0.17")),
        (None, "RTX 5060 Ti", HourlyRate.of("0.11")),
        ("RTX 3090", "RTX 3090", HourlyRate.of("0.17")),
    ]


async def test_c016_malformed_offers_hurt_no_other_and_are_counted(tmp_path: Path) -> None:
    sheet = await sheet_of(scripted(tmp_path), Answer(payload("C016")["body"]))
    assert [(o.offer_id, o.rate) for o in sheet.offers] == [("3603", HourlyRate.of("0.49"))]
    assert sheet.skipped == 3


def test_c017_one_documented_price(tmp_path: Path) -> None:
    offer = normalised(payload("C017"))
    assert offer.rate is not None
    assert 0.80 <= float(offer.rate) <= 0.815


async def test_c019_taken_and_ended_offers_are_not_available(tmp_path: Path) -> None:
    case = payload("C019")
    start = datetime.fromisoformat(case["clock"])
    sheet = await sheet_of(scripted(tmp_path, start=start), offers(*case["offers"]))
    quote = instance_quote(sheet, "RTX A6000")
    assert (quote.available, quote.rate) == (1, HourlyRate.of("0.44"))
    assert [o.offer_id for o in sheet.offers if o.usable] == ["3901"]


async def test_c020_what_the_rules_remove_is_there_with_the_rule_that_removed_it(
    tmp_path: Path,
) -> None:
    rows = offers(*payload("C020")["offers"])
    found = await single_offers(scripted(tmp_path), rows)
    assert [offer.reasons for offer in found.values()] == [("reliability",)] * 7
    relaxed = scripted(tmp_path, config="[rules]\nreliability = 0.99\n")
    assert instance_quote(await sheet_of(relaxed, rows), "H100").available == 7


async def test_c023_vast_s_side_of_the_comparison(tmp_path: Path) -> None:
    sheet = await sheet_of(scripted(tmp_path), offers(*payload("C023")["vast"]))
    assert instance_quote(sheet, "RTX 4090").rate == HourlyRate.of("0.95")


# -- listings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 410])
async def test_c042_c043_a_retired_route_is_not_an_empty_account(
    tmp_path: Path, status: int
) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, Answer(payload("C042")["body"], status))
    with pytest.raises(ApiGone, match="retired") as caught:
        await rig.inventory()
    assert "key" not in str(caught.value).replace("deprecated", "")
    single = payload("C043")["sequence"][1]
    rig.script.on(show(990001), Answer(single["body"]))
    row = await VastApi(rig.context).instance(990001)
    assert row is not None
    assert row.actual_status == "running"


async def test_c049_unknown_states_are_never_running_and_never_over(tmp_path: Path) -> None:
    found = await resources(scripted(tmp_path), Answer(payload("C049")["body"]))
    assert {n: r.state for n, r in found.items()} == {
        "990101": "starting",
        "990102": "starting",
        "990103": "unknown",
        "990104": "unknown",
    }
    assert found["990103"].rate == HourlyRate.of("0.4")
    assert "still billed" in found["990103"].note
    assert found["990104"].raw_status == "migrating"


@pytest.mark.parametrize("step", payload("C054")["sequence"])
async def test_c054_a_login_problem_is_not_an_absence(tmp_path: Path, step: dict[str, Any]) -> None:
    rig = scripted(tmp_path)
    rig.script.on(show(990001), Answer(step["body"], step["status"])).on(
        LIST, Answer(step["body"], step["status"])
    )
    with pytest.raises(AuthRejected):
        await VastApi(rig.context).instance(990001)
    with pytest.raises(AuthRejected, match="VAST_API_KEY"):
        await rig.inventory()


async def test_c158_secrets_of_a_listing_are_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = Answer(payload("C158")["body"])
    found = await resources(scripted(tmp_path), whole)
    assert found["990701"].state == "running"
    rig = scripted(tmp_path)
    rig.script.on(LIST, Answer(whole.content[:300]))
    with pytest.raises(MalformedReply) as caught:
        await rig.inventory()
    shown = repr(found) + str(caught.value) + caught.value.body + caplog.text
    for secret in ("hf_FAKETOKEN", "jt_FAKE", "wb_FAKE", "train.py"):
        assert secret not in shown


# -- destroy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", payload("C062")["sequence"])
async def test_c062_only_a_real_404_is_one(tmp_path: Path, step: dict[str, Any]) -> None:
    rig = scripted(tmp_path)
    rig.script.on(delete(4040123), answer(step)).on(LIST, page(instance_row(4040123)))
    with pytest.raises(DestroyUnconfirmed, match="may still bill"):
        await rig.provider.destroy(handle(4040123, **OLD))
    assert len(rig.script.sent(delete(4040123))) > 1


async def test_c065_an_expired_login_is_not_gone(tmp_path: Path) -> None:
    deleting, listing = payload("C065")["sequence"]
    rig = scripted(tmp_path)
    rig.script.on(delete(990201), answer(deleting)).on(LIST, answer(listing))
    with pytest.raises(DestroyUnconfirmed, match="Session expired") as caught:
        await rig.provider.destroy(handle(990201, **OLD))
    assert caught.value.kind == "auth"
    rig.script.on(delete(990201), OK).on(LIST, page())
    await rig.provider.destroy(handle(990201, **OLD))


async def test_c077_a_key_that_may_not_destroy(tmp_path: Path) -> None:
    told = ""
    for refusal in (
        Answer({"error": "insufficient permissions"}, 401),
        answer(payload("C077")["sequence"][1]),
    ):
        rig = scripted(tmp_path)
        rig.script.on(delete(990140), refusal).on(LIST, page(instance_row(990140)))
        with pytest.raises(DestroyUnconfirmed) as caught:
            await rig.provider.destroy(handle(990140, **OLD))
        assert caught.value.kind in {"auth", "scope"}
        assert len(rig.script.sent(delete(990140))) == 1
        told = str(caught.value)
    assert "not permitted: this key may not do that" in told


async def test_c078_a_destroy_whose_answer_was_lost_is_done(tmp_path: Path) -> None:
    lost, gone = payload("C078")["sequence"]
    rig = scripted(tmp_path)
    rig.script.on(delete(990250), answer(lost), answer(gone)).on(
        LIST, page(instance_row(990250)), page()
    )
    await rig.provider.destroy(handle(990250, **OLD))
    assert len(rig.script.sent(delete(990250))) == 2


# -- create --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", payload("C068")["variants"], ids=lambda v: str(v)[:40])
async def test_c068_a_create_that_may_have_happened_is_adopted(
    tmp_path: Path, variant: dict[str, Any]
) -> None:
    rows = payload("C068")["then"]["body"]["instances"]
    start = datetime.fromisoformat("2026-03-01T00:00:30+00:00")
    rig = scripted(tmp_path, start=start)
    listed = [{**row, "label": "flash-run-k1-s0-a0"} for row in rows]
    rig.script.on(rent(1), answer(variant)).on(LIST, page(*listed))
    rig.script.on(show(990220), detail({**listed[0], "actual_status": "exited"}))
    kept: list[JobHandle] = []

    async def keep(found: JobHandle) -> None:
        kept.append(found)

    await rig.provider.submit_run(
        job("run-k1", train={"hf_repo": ""}), 0, on_handle=keep, offers=[normalised(offer_row(1))]
    )
    assert len(rig.script.sent(rent(1))) == 1
    assert (kept[0].data["instance_id"], kept[0].data["started_ts"]) == (990220, 1772323202.0)


async def test_c069_an_instance_in_a_contradictory_answer_is_recorded(tmp_path: Path) -> None:
    first, *others = payload("C069")["variants"]
    rig = scripted(tmp_path)
    rig.script.on(rent(1), answer(first)).on(delete(990230), OK).on(LIST, page())
    kept: list[Any] = []

    async def keep(found: JobHandle) -> None:
        kept.append(found.data["instance_id"])

    spec, given = job(train={"hf_repo": ""}), [normalised(offer_row(1))]
    with pytest.raises(Rejected, match="proven gone"):
        await rig.provider.submit_run(spec, 0, on_handle=keep, offers=given)
    assert kept == [990230]
    for variant in others:
        rig.script.on(rent(1), answer(variant))
        with pytest.raises(Ambiguous, match="may exist"):
            await rig.provider.submit_run(spec, 0, offers=given)


# -- manners -------------------------------------------------------------------------------------------------------


async def test_c154_a_429_in_any_form_is_waited_out(tmp_path: Path) -> None:
    """Within one refresh a second try is made; after that the feed's own pause comes on top."""
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, *(answer(step) for step in payload("C154")["sequence"]))
    with pytest.raises(RateLimited, match="asked too often"):
        await rig.prices.sheet()
    await rig.clock.sleep(10)
    assert (await rig.prices.sheet()).complete
    gaps = [later.at - earlier.at for earlier, later in pairwise(rig.script.requests)]
    assert len(gaps) == 3
    assert min(gaps) >= 1.0


async def test_c155_ten_minutes_of_refreshes_stay_within_the_limit(tmp_path: Path) -> None:
    case = payload("C155")
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(offer_row(1)))
    for _ in range(case["minutes"] * 2):
        await rig.prices.sheet()
        await rig.clock.sleep(30)
    times = [sent.at for sent in rig.script.requests]
    limit = case["limit"]
    for first, beyond in zip(times, times[limit["count"] :], strict=False):
        assert beyond - first >= limit["per_s"]
    assert len(times) == case["minutes"] * 2


@pytest.mark.parametrize("step", payload("C164")["sequence"], ids=lambda s: str(s)[:40])
async def test_c164_a_redirect_or_a_login_page_is_no_market(
    tmp_path: Path, step: dict[str, Any]
) -> None:
    rig = scripted(tmp_path)
    with pytest.raises(MalformedReply):
        await sheet_of(rig, answer(step))
    (sent,) = rig.script.requests
    assert sent.line == SEARCH


async def test_c166_a_line_that_drops_repeats_reads_and_never_a_create(tmp_path: Path) -> None:
    listing, creating, deleting = payload("C166")["sequence"]
    rig = scripted(tmp_path)
    rig.script.on(LIST, answer(listing), page())
    await rig.inventory()
    assert len(rig.script.sent(LIST)) == 2
    mine = instance_row(990711, label="flash-100-s0-a0")
    rig.script.on(rent(4501), answer(creating)).on(LIST, page(mine))
    rig.script.on(show(990711), detail({**mine, "actual_status": "exited"}))
    await rig.provider.submit_run(
        job(train={"hf_repo": ""}), 0, offers=[normalised(offer_row(4501))]
    )
    assert len(rig.script.sent(rent(4501))) == 1
    rig.script.on(delete(990711), answer(deleting), OK).on(LIST, page(mine), page())
    await rig.provider.destroy(handle(990711, **OLD))
    assert len(rig.script.sent(delete(990711))) == 2
