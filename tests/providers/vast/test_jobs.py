"""Renting: one create per offer, unknown outcomes settled by label, nothing rented that nobody keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from flashtui.domain.errors import (
    AccountProblem,
    Ambiguous,
    AuthRejected,
    DestroyUnconfirmed,
    NoCapacity,
    NotSent,
    ProviderError,
    Rejected,
)
from tests.fakes import T0, Answer
from tests.providers.vast.rig import (
    BAD_KEY,
    GONE,
    LIST,
    NO_SUCH_ASK,
    OK,
    SEARCH,
    T0_S,
    Rig,
    created,
    delete,
    detail,
    instance_row,
    job,
    offer_row,
    offers,
    page,
    rent,
    scripted,
    show,
    simulated,
)
from tests.providers.vast.test_offers import normalised

if TYPE_CHECKING:
    from pathlib import Path

    from flashtui.domain.market import Offer
    from flashtui.domain.run import JobHandle, PollResult

LABEL = "flash-100-s0-a0"
# The attempt ends at the first look, so that these tests are about what comes before.
ENDS = detail(instance_row(990, actual_status="exited"))
NOTHING = page()


def offer(offer_id: int, machine_id: int | None = None, **changes: Any) -> Offer:
    return normalised(offer_row(offer_id, machine_id=machine_id or offer_id, **changes))


class Kept:
    """What somebody who keeps handles was given, and how many requests had left by then."""

    def __init__(self, rig: Rig, fails: Exception | None = None) -> None:
        self.handles: list[dict[str, Any]] = []
        self.looks_before: list[int] = []
        self._rig = rig
        self._fails = fails

    async def __call__(self, handle: JobHandle) -> None:
        self.handles.append(handle.to_dict())
        self.looks_before.append(len(self._rig.script.sent(show(990))))
        if self._fails is not None:
            raise self._fails


async def submit(rig: Rig, *given: Offer, kept: Kept | None = None, **options: Any) -> PollResult:
    spec = job(train={"hf_repo": ""})
    return await rig.provider.submit_run(spec, 0, on_handle=kept, offers=given or None, **options)


def creates(rig: Rig) -> list[str]:
    return [s.path for s in rig.script.requests if s.path.startswith("/api/v0/asks/")]


async def test_the_first_offer_is_rented_once_and_its_handle_kept_before_any_look(
    tmp_path: Path,
) -> None:
    rig = scripted(tmp_path)
    rig.script.on(rent(1), created(990)).on(show(990), ENDS)
    kept = Kept(rig)
    result = await submit(rig, offer(1), offer(2), kept=kept)
    assert creates(rig) == ["/api/v0/asks/1/"]
    assert kept.looks_before == [0]
    (handle,) = kept.handles
    assert handle["provider"] == "vast"
    assert (handle["instance_id"], handle["offer_id"], handle["machine_id"]) == (990, 1, "1")
    assert (handle["label"], handle["gpu"], handle["started_ts"]) == (LABEL, "RTX 4090", T0_S)
    assert handle["hourly_usd"] == pytest.approx(0.3725)
    assert handle["key_fingerprint"]
    assert result.failure == "job_failed"


async def test_the_body_names_image_disk_and_label(tmp_path: Path) -> None:
    rig = scripted(tmp_path, hf_token="hf_TOKEN0000")
    rig.script.on(rent(1), created(990)).on(show(990), ENDS)
    await submit(rig, offer(1), attempt=3)
    body: Any = rig.script.requests[0].json
    assert (body["label"], body["disk"], body["price"]) == ("flash-100-s0-a3", 60.0, None)
    assert body["env"]["HF_TOKEN"] == "hf_TOKEN0000"


async def test_a_taken_offer_leads_to_the_next(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(rent(1), NO_SUCH_ASK).on(rent(2), created(990)).on(show(990), ENDS)
    await submit(rig, offer(1), offer(2))
    assert creates(rig) == ["/api/v0/asks/1/", "/api/v0/asks/2/"]


async def test_after_five_taken_offers_the_market_is_asked_once_more(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    for n in range(1, 20):
        rig.script.on(rent(n), NO_SUCH_ASK)
    fresh = [offer_row(n, machine_id=n) for n in (3, 11, 12, 13, 14, 15, 16)]
    rig.script.on(SEARCH, offers(*fresh))
    with pytest.raises(NoCapacity, match="none of 10 offers"):
        await submit(rig, *(offer(n) for n in range(1, 8)))
    assert creates(rig) == [f"/api/v0/asks/{n}/" for n in (1, 2, 3, 4, 5, 11, 12, 13, 14, 15)]
    assert len(rig.script.sent(SEARCH)) == 1


async def test_a_machine_that_was_tried_or_excluded_is_not_rented_under_another_offer(
    tmp_path: Path,
) -> None:
    rig = scripted(tmp_path)
    rig.script.on(rent(1), NO_SUCH_ASK)
    again = offer_row(21, machine_id=500)
    excluded = offer_row(22, machine_id=600)
    rig.script.on(SEARCH, offers(again, excluded))
    with pytest.raises(NoCapacity):
        await submit(
            rig, offer(1, machine_id=500), offer(2, machine_id=600), exclude_machine_ids={"600"}
        )
    assert creates(rig) == ["/api/v0/asks/1/"]


async def test_offers_that_the_rules_refuse_are_not_rented(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers())
    with pytest.raises(NoCapacity):
        await submit(rig, offer(1, hosting_type=0), offer(2, num_gpus=4))
    assert creates(rig) == []


async def test_without_given_offers_the_market_is_asked_for_the_class(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(SEARCH, offers(offer_row(5))).on(rent(5), created(990)).on(show(990), ENDS)
    await submit(rig)
    query: Any = rig.script.requests[0].json
    assert query["gpu_name"] == {"in": ["RTX 4090"]}
    assert creates(rig) == ["/api/v0/asks/5/"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer({"success": False, "error": "insufficient_credit"}, 400), AccountProblem),
        (BAD_KEY, AuthRejected),
        (Answer({"success": False, "error": "invalid_args", "msg": "disk"}, 400), Rejected),
    ],
)
async def test_a_refusal_that_is_not_about_the_offer_stops_the_walk(
    tmp_path: Path, answer: Answer, kind: type[ProviderError]
) -> None:
    rig = scripted(tmp_path)
    rig.script.on(rent(1), answer)
    with pytest.raises(kind):
        await submit(rig, offer(1), offer(2))
    assert creates(rig) == ["/api/v0/asks/1/"]


async def test_a_create_that_never_left_may_be_sent_again(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    refused = httpx.ConnectError("refused")
    rig.script.on(rent(1), refused, refused, created(990)).on(show(990), ENDS)
    await submit(rig, offer(1))
    rig.script.on(rent(1), refused)
    with pytest.raises(NotSent):
        await submit(rig, offer(1))


@pytest.mark.parametrize(
    "lost",
    [
        httpx.ReadTimeout("x"),
        Answer("<html>Bad Gateway</html>", 502),
        Answer("API requests too frequent", 429),
        Answer('{"success": true, "new_con'),
        Answer({"success": True}),
        Answer({"success": True, "new_contract": "abc"}),
        Answer(""),
    ],
    ids=["timeout", "502", "429", "cut off", "no id", "odd id", "empty"],
)
async def test_a_create_of_unknown_outcome_is_adopted_by_its_label_and_never_repeated(
    tmp_path: Path, lost: Answer | Exception
) -> None:
    """The listing lags; the instance found has its own start and rate."""
    rig = scripted(tmp_path)
    other = instance_row(7, label="flash-100-s0-a00")
    found = instance_row(
        990, label=LABEL, actual_status="loading", start_date=T0_S - 28, dph_total=0.4
    )
    rig.script.on(rent(1), lost).on(LIST, NOTHING, Answer("", 400), page(other, found))
    rig.script.on(show(990), ENDS)
    kept = Kept(rig)
    await submit(rig, offer(1), offer(2), kept=kept)
    assert creates(rig) == ["/api/v0/asks/1/"]
    (handle,) = kept.handles
    assert handle["instance_id"] == 990
    assert handle["started_ts"] == T0_S - 28
    assert handle["hourly_usd"] == 0.4


async def test_an_unknown_outcome_that_stays_unknown_rents_nothing_else(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(rent(1), httpx.ReadTimeout("x")).on(LIST, NOTHING)
    with pytest.raises(Ambiguous, match=f"{LABEL} after 5 complete listings") as caught:
        await submit(rig, offer(1), offer(2))
    assert "may still appear and bill" in str(caught.value)
    assert creates(rig) == ["/api/v0/asks/1/"]


async def test_an_unknown_outcome_that_nobody_can_look_into_says_so(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(rent(1), httpx.ReadTimeout("x")).on(LIST, BAD_KEY)
    with pytest.raises(Ambiguous, match="could not always be listed"):
        await submit(rig, offer(1))


async def test_a_found_instance_without_a_start_is_destroyed(tmp_path: Path) -> None:
    """Its cost could never be known."""
    rig = scripted(tmp_path)
    found = page(instance_row(990, label=LABEL, start_date=0))
    rig.script.on(rent(1), httpx.ReadTimeout("x")).on(LIST, found, NOTHING).on(delete(990), OK)
    kept = Kept(rig)
    with pytest.raises(Rejected, match="proven gone"):
        await submit(rig, offer(1), kept=kept)
    assert len(kept.handles) == 1


async def test_an_instance_named_in_a_refusal_is_recorded_then_destroyed(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    refused = {"success": False, "error": "bid_too_low", "new_contract": 990230}
    rig.script.on(rent(1), Answer(refused)).on(delete(990230), OK).on(LIST, NOTHING)
    kept = Kept(rig)
    with pytest.raises(Rejected, match="990230 was rented but of no use"):
        await submit(rig, offer(1), offer(2), kept=kept)
    assert [handle["instance_id"] for handle in kept.handles] == [990230]
    assert creates(rig) == ["/api/v0/asks/1/"]


async def test_one_that_cannot_be_proven_gone_is_said_to_bill(tmp_path: Path) -> None:
    rig = scripted(tmp_path, within_s=20)
    refused = {"success": False, "error": "bid_too_low", "new_contract": 990230}
    still = page(instance_row(990230))
    rig.script.on(rent(1), Answer(refused)).on(delete(990230), Answer("", 500)).on(LIST, still)
    with pytest.raises(DestroyUnconfirmed, match="may still bill"):
        await submit(rig, offer(1))


async def test_a_handle_that_nobody_could_keep_is_destroyed(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(rent(1), created(990)).on(delete(990), OK).on(LIST, NOTHING)
    full = OSError("disk full")
    with pytest.raises(OSError, match="disk full"):
        await submit(rig, offer(1), kept=Kept(rig, full))
    assert len(rig.script.sent(delete(990))) == 1
    assert rig.script.sent(show(990)) == []


async def test_no_key_rents_nothing(tmp_path: Path) -> None:
    rig = scripted(tmp_path, key=None)
    with pytest.raises(AuthRejected, match="VAST_API_KEY"):
        await submit(rig, offer(1))
    with pytest.raises(NotSent, match="FLASH_SKIP_NET"):
        await submit(scripted(tmp_path, FLASH_SKIP_NET="1"), offer(1))
    assert rig.script.requests == []


async def test_an_offer_priced_for_another_disk_is_kept_at_the_job_s_rate(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(rent(1), created(990)).on(show(990), ENDS)
    kept = Kept(rig)
    spec = job(train={"hf_repo": ""}, gpu={"disk_gb": 120})
    await rig.provider.submit_run(
        spec, 0, on_handle=kept, offers=[offer(1, dph_base=0.3, storage_cost=0.12)]
    )
    assert kept.handles[0]["hourly_usd"] == pytest.approx(0.32)


# -- on the simulator ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["lost_reply", "reset_after_commit", "truncated_json"])
async def test_on_the_simulator_a_lost_answer_never_rents_twice(tmp_path: Path, fault: str) -> None:
    async with simulated(tmp_path) as (rig, sim):
        sim.fault(fault, surface="vast", route="PUT /api/v0/asks/*", count=1)
        kept: list[JobHandle] = []

        async def keep(handle: JobHandle) -> None:
            kept.append(handle)
            sim.send("DELETE", f"/api/v0/instances/{handle.data['instance_id']}/", {})

        spec = job(train={"hf_repo": ""}, gpu={"type": "RTX 3090"})
        result = await rig.provider.submit_run(spec, 0, on_handle=keep)
        assert sim.fired(fault) == 1
        assert len(sim.admin("GET", "/_sim/ledger")["resources"]) == 1
        assert kept[0].data["label"] == LABEL
        assert result.failure == "job_failed"
        await rig.provider.destroy(kept[0])
        assert sim.violations() == []


async def test_on_the_simulator_a_run_is_rented_followed_and_proven_gone(tmp_path: Path) -> None:
    async with simulated(tmp_path) as (rig, sim):
        kept: list[JobHandle] = []
        seen: list[str] = []

        async def keep(handle: JobHandle) -> None:
            kept.append(handle)

        spec = job(train={"hf_repo": ""}, gpu={"type": "RTX 3090", "max_wall_seconds": 600})
        result = await rig.provider.submit_run(
            spec, 0, on_handle=keep, log=lambda look: seen.append(look.state)
        )
        assert result.failure == "stalled"
        assert "deadline" in str(result.detail)
        assert "running" in seen
        assert seen.index("starting") < seen.index("running")
        ledger = sim.ledger(kept[0].data["instance_id"])
        assert ledger["closed_at"] is None
        await rig.provider.destroy(kept[0])
        assert sim.ledger(kept[0].data["instance_id"])["closed_at"] is not None
        assert sim.violations() == []


def test_the_tests_present_is_aware() -> None:
    assert T0.tzinfo is not None


async def test_gone_before_it_was_looked_at_is_fine(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(rent(1), created(990)).on(show(990), GONE)
    result = await submit(rig, offer(1))
    assert (result.ok, result.failure) == (False, "job_failed")
    assert "4 looks in a row" in str(result.detail)
