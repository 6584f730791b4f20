"""Gone is what two complete listings say, and nothing else; everything short of that may still bill."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import httpx
import pytest

from flashtui.domain.errors import AuthRejected, DestroyUnconfirmed, NotSent, Rejected
from flashtui.domain.run import JobHandle
from tests.fakes import Answer
from tests.providers.vast.rig import (
    BAD_KEY,
    GONE,
    KEY,
    LIST,
    OK,
    T0_S,
    delete,
    handle,
    instance_row,
    manage,
    page,
    scripted,
    show,
    simulated,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.providers.vast.rig import Rig

ID = 990250
# Old enough that a listing without it means something.
OLD = handle(ID, started_ts=T0_S - 3600)
STILL = page(instance_row(ID))
WITHOUT = page(instance_row(7))
LOST = httpx.RemoteProtocolError("Server disconnected without sending a response.")


def ready(
    tmp_path: Path, deletes: list[Answer | Exception], lists: list[Answer | Exception]
) -> Rig:
    rig = scripted(tmp_path)
    rig.script.on(delete(ID), *deletes).on(LIST, *lists)
    return rig


async def test_one_delete_and_two_listings_apart_are_the_proof(tmp_path: Path) -> None:
    rig = ready(tmp_path, [OK], [WITHOUT])
    await rig.provider.destroy(OLD)
    assert len(rig.script.sent(delete(ID))) == 1
    first, second = rig.script.sent(LIST)
    assert second.at - first.at >= 2.0


async def test_a_null_detail_is_not_asked_for_and_proves_nothing(tmp_path: Path) -> None:
    rig = ready(tmp_path, [OK], [WITHOUT])
    await rig.provider.destroy(OLD)
    assert rig.script.sent(show(ID)) == []


async def test_accepted_is_not_gone(tmp_path: Path) -> None:
    rig = ready(tmp_path, [OK], [STILL])
    with pytest.raises(DestroyUnconfirmed, match=f"{ID} not confirmed after 120 s") as caught:
        await rig.provider.destroy(OLD)
    assert "may still bill" in str(caught.value)
    assert "still has it" in str(caught.value)
    assert any("200" in line for line in caught.value.evidence)


async def test_an_instance_that_lingers_is_asked_about_again_and_then_proven_gone(
    tmp_path: Path,
) -> None:
    rig = ready(tmp_path, [OK], [*[STILL] * 10, WITHOUT])
    await rig.provider.destroy(OLD)
    assert len(rig.script.sent(delete(ID))) == 2


async def test_absent_once_and_back_again_is_not_gone(tmp_path: Path) -> None:
    rig = ready(tmp_path, [OK], [WITHOUT, STILL, WITHOUT, WITHOUT])
    await rig.provider.destroy(OLD)
    assert len(rig.script.sent(LIST)) == 4


async def test_a_lost_answer_and_a_404_are_settled_by_looking(tmp_path: Path) -> None:
    rig = ready(tmp_path, [LOST, GONE], [STILL, WITHOUT])
    await rig.provider.destroy(OLD)
    assert len(rig.script.sent(delete(ID))) == 2


async def test_already_gone_is_fine(tmp_path: Path) -> None:
    rig = ready(tmp_path, [GONE], [WITHOUT])
    await rig.provider.destroy(OLD)
    refused = Answer({"success": False, "error": "no_such_instance"})
    rig = ready(tmp_path, [refused], [page()])
    await rig.provider.destroy(OLD)


@pytest.mark.parametrize(
    "failing",
    [
        Answer(f"could not stop container for instance {ID}", 500),
        Answer({"success": False, "msg": "busy"}),
        Answer("<html>502</html>", 502),
        Answer("API requests too frequent", 429),
        httpx.ConnectError("refused (port 4040)"),
        httpx.ReadTimeout("x"),
    ],
    ids=["500", "success false", "html", "429", "no connection", "timeout"],
)
async def test_a_delete_that_fails_is_sent_again_at_a_distance_until_the_time_is_up(
    tmp_path: Path, failing: Answer | Exception
) -> None:
    rig = ready(tmp_path, [failing], [STILL])
    with pytest.raises(DestroyUnconfirmed, match="may still bill"):
        await rig.provider.destroy(OLD)
    times = [sent.at for sent in rig.script.sent(delete(ID))]
    assert len(times) >= 3
    assert all(later - earlier >= 3.0 for earlier, later in pairwise(times))
    assert rig.clock.elapsed_s <= 125


async def test_an_id_with_404_in_it_is_no_404(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    text = "could not stop container for instance 4040123"
    rig.script.on(delete(4040123), Answer(text, 500)).on(LIST, page(instance_row(4040123)))
    with pytest.raises(DestroyUnconfirmed):
        await rig.provider.destroy(handle(4040123, started_ts=T0_S - 3600))


async def test_the_pause_that_the_provider_asks_for_is_kept(tmp_path: Path) -> None:
    busy = Answer("", 429, {"Retry-After": "30"})
    rig = ready(tmp_path, [busy, OK], [STILL, WITHOUT])
    await rig.provider.destroy(OLD)
    first, second = rig.script.sent(delete(ID))
    assert second.at - first.at >= 30


@pytest.mark.parametrize(
    "refusal",
    [
        BAD_KEY,
        Answer({"success": False, "error": "auth_error", "msg": "Session expired"}, 404),
        Answer({"error": "insufficient permissions"}, 403),
        Answer("", 401),
    ],
    ids=["wrong key", "session", "scope", "401"],
)
async def test_a_refused_key_is_unconfirmed_at_once_and_in_words(
    tmp_path: Path, refusal: Answer
) -> None:
    rig = ready(tmp_path, [refusal], [STILL])
    with pytest.raises(DestroyUnconfirmed, match="VAST_API_KEY") as caught:
        await rig.provider.destroy(OLD)
    assert "may still bill" in str(caught.value)
    assert caught.value.kind in {"auth", "scope"}
    assert rig.clock.elapsed_s == 0
    assert len(rig.script.requests) == 1


async def test_a_login_that_expires_between_delete_and_listing_proves_nothing(
    tmp_path: Path,
) -> None:
    rig = ready(tmp_path, [OK], [BAD_KEY])
    with pytest.raises(DestroyUnconfirmed, match="rejected"):
        await rig.provider.destroy(OLD)


@pytest.mark.parametrize(
    "listing",
    [
        [Answer("", 500)],
        [page(instance_row(7), token="t", total=2), Answer("", 500)],
        [Answer({"success": True, "instances": None})],
        [Answer({"success": False, "error": "deprecated_endpoint", "msg": "x"})],
        [page(instance_row(7), {"label": "no id"})],
        [Answer("<html>")],
        [httpx.ReadTimeout("x")],
    ],
    ids=["500", "half", "null", "deprecated", "unreadable entry", "html", "timeout"],
)
async def test_a_listing_that_is_not_whole_proves_nothing(
    tmp_path: Path, listing: list[Answer | Exception]
) -> None:
    rig = ready(tmp_path, [OK], listing)
    with pytest.raises(DestroyUnconfirmed) as caught:
        await rig.provider.destroy(OLD)
    assert caught.value.evidence


async def test_a_brand_new_instance_that_is_not_listed_yet_is_watched_longer(
    tmp_path: Path,
) -> None:
    """The listing lags behind a create, so its first silence means nothing."""
    rig = ready(tmp_path, [LOST, OK], [page(), STILL, WITHOUT])
    await rig.provider.destroy(handle(ID, started_ts=T0_S))
    listings = rig.script.sent(LIST)
    assert len(listings) >= 4
    assert len(rig.script.sent(delete(ID))) == 2


async def test_absence_from_another_account_s_listing_is_no_proof(tmp_path: Path) -> None:
    rig = ready(tmp_path, [GONE], [page()])
    with pytest.raises(DestroyUnconfirmed, match="another key"):
        await rig.provider.destroy(handle(ID, key_fingerprint="feedfacecafe"))


async def test_a_new_key_of_the_same_account_is_believed_once_it_has_seen_the_instance(
    tmp_path: Path,
) -> None:
    rig = ready(tmp_path, [OK], [WITHOUT])
    await rig.provider.destroy(handle(ID, key_fingerprint="feedfacecafe"))


async def test_no_key_cannot_ask(tmp_path: Path) -> None:
    with pytest.raises(AuthRejected, match="VAST_API_KEY"):
        await scripted(tmp_path, key=None).provider.destroy(OLD)
    with pytest.raises(NotSent):
        await scripted(tmp_path, FLASH_SKIP_NET="1").provider.destroy(OLD)


@pytest.mark.parametrize("data", [{}, {"instance_id": None}, {"instance_id": True}, {"label": "x"}])
async def test_a_handle_that_names_nothing_is_refused(
    tmp_path: Path, data: dict[str, object]
) -> None:
    with pytest.raises(Rejected, match="names no instance"):
        await scripted(tmp_path).provider.destroy(JobHandle("vast", dict(data)))


async def test_a_handle_of_the_older_tool_with_its_id_as_text_is_enough(tmp_path: Path) -> None:
    rig = ready(tmp_path, [OK], [WITHOUT])
    await rig.provider.destroy(JobHandle("vast", {"instance_id": str(ID)}))


async def test_no_error_shows_the_key(tmp_path: Path) -> None:
    rig = ready(tmp_path, [Answer(f"key {KEY} is odd", 500)], [STILL])
    with pytest.raises(DestroyUnconfirmed) as caught:
        await rig.provider.destroy(OLD)
    assert KEY not in str(caught.value) + "".join(caught.value.evidence) + caught.value.body


# -- cancel --------------------------------------------------------------------------------------------------------


async def test_cancel_stops_and_does_not_destroy(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(manage(ID), OK)
    await rig.provider.cancel(OLD)
    (sent,) = rig.script.requests
    assert (sent.line, sent.json) == (manage(ID), {"state": "stopped"})


async def test_cancel_of_what_is_gone_is_fine(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(manage(ID), GONE)
    await rig.provider.cancel(OLD)


@pytest.mark.parametrize("refusal", [BAD_KEY, Answer({"success": False, "msg": "busy"})])
async def test_a_refused_cancel_is_an_error(tmp_path: Path, refusal: Answer) -> None:
    rig = scripted(tmp_path)
    rig.script.on(manage(ID), refusal)
    with pytest.raises(Rejected):
        await rig.provider.cancel(OLD)


async def test_a_cancelled_instance_still_bills_its_storage(tmp_path: Path) -> None:
    async with simulated(tmp_path) as (rig, sim):
        instance_id = sim.rent(label="flash-1-s0-a0")
        sim.step(600)
        (found,) = (await rig.inventory()).resources
        await rig.provider.cancel(found.handle)
        sim.step(30)
        (stopped,) = (await rig.inventory()).resources
        assert stopped.resource_id == str(instance_id)
        assert stopped.state == "stopped"
        assert stopped.rate is not None
        assert found.rate is not None
        assert 0 < stopped.rate.micros < found.rate.micros / 2
