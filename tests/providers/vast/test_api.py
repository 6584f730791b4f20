"""The routes: strict listings, a create that is sent once, details that prove nothing, logs without the key."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import httpx
import pytest

from flashtui.domain.errors import (
    AccountProblem,
    Ambiguous,
    ApiGone,
    AuthRejected,
    IncompleteListing,
    MalformedReply,
    NotFound,
    NotSent,
    OfferTaken,
    ProviderError,
    RateLimited,
    Rejected,
    Unavailable,
)
from flashtui.providers.vast.api import VastApi
from flashtui.providers.vast.wire import CreateBody, Query
from tests.fakes import T0, Answer
from tests.providers.vast.rig import (
    BAD_KEY,
    GONE,
    KEY,
    LIST,
    NO_SUCH_ASK,
    OK,
    SEARCH,
    USER,
    created,
    delete,
    detail,
    instance_row,
    manage,
    offer_row,
    offers,
    page,
    rent,
    scripted,
    show,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes import ScriptedHttp

QUERY = Query(filters={"rentable": {"eq": True}}, limit=64, allocated_storage=60)
BODY = CreateBody(image="acme/worker:1", disk=60, label="flash-100-s0-a0")


@pytest.fixture
def api(tmp_path: Path) -> tuple[VastApi, ScriptedHttp]:
    rig = scripted(tmp_path)
    return VastApi(rig.context), rig.script


Api = tuple[VastApi, "ScriptedHttp"]


async def test_one_malformed_offer_hurts_no_other(api: Api) -> None:
    vast, script = api
    script.on(SEARCH, offers(offer_row(1, num_gpus=0), offer_row(2), None, "x", offer_row(True)))
    found = await vast.search_offers(QUERY)
    assert [row.id for row in found.rows] == [2]
    assert (found.skipped, found.entries) == (4, 5)


async def test_offers_as_one_object_is_one_offer(api: Api) -> None:
    vast, script = api
    script.on(SEARCH, Answer({"offers": offer_row(7)}))
    assert [row.id for row in (await vast.search_offers(QUERY)).rows] == [7]


@pytest.mark.parametrize("body", [{"success": True}, {"offers": None}, {"offers": "x"}, []])
async def test_an_answer_without_offers_is_never_an_empty_market(api: Api, body: object) -> None:
    vast, script = api
    script.on(SEARCH, Answer(body))
    with pytest.raises(MalformedReply):
        await vast.search_offers(QUERY)


async def test_a_searching_key_travels_in_the_header_only(api: Api) -> None:
    vast, script = api
    script.on(SEARCH, offers())
    await vast.search_offers(QUERY)
    (sent,) = script.requests
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(sent.query) + sent.body.decode()


async def test_without_a_key_no_authorization_is_sent(tmp_path: Path) -> None:
    rig = scripted(tmp_path, key=None)
    rig.script.on(SEARCH, offers())
    await VastApi(rig.context).search_offers(QUERY)
    assert "authorization" not in rig.script.requests[0].headers


async def test_no_more_than_ten_searches_leave_in_any_minute(api: Api) -> None:
    vast, script = api
    script.on(SEARCH, offers())
    for _ in range(25):
        await vast.search_offers(QUERY)
    times = [sent.at for sent in script.requests]
    assert all(later - earlier >= 60 for earlier, later in zip(times, times[10:], strict=False))


# -- listing -------------------------------------------------------------------------------------------------------


async def test_every_page_is_read(api: Api) -> None:
    vast, script = api
    script.on(
        LIST,
        page(instance_row(1), instance_row(2), token="t1", total=3),
        page(instance_row(3), total=3),
    )
    listing = await vast.instances()
    assert [row.id for row in listing.rows] == [1, 2, 3]
    assert [sent.query.get("after_token") for sent in script.requests] == [None, "t1"]
    assert script.requests[0].query["limit"] == "25"


async def test_an_instance_on_two_pages_is_one(api: Api) -> None:
    vast, script = api
    script.on(LIST, page(instance_row(1), token="t1", total=1), page(instance_row(1), total=1))
    assert len((await vast.instances()).rows) == 1


@pytest.mark.parametrize(
    "second",
    [
        Answer("oops", 500),
        Answer({"success": True, "instances": None}),
        Answer({"success": True}),
        Answer("<html>"),
        Answer('{"success": true, "instances": ['),
        page(instance_row(2), token="t1", total=9),
        page(instance_row(2), total=9),
        Answer({"success": True, "instances": [], "next_token": 7}),
        httpx.ReadTimeout("x"),
        BAD_KEY,
    ],
    ids=["500", "null", "missing", "html", "cut", "circle", "short", "odd token", "timeout", "key"],
)
async def test_a_listing_that_stops_half_way_is_no_listing(
    api: Api, second: Answer | Exception
) -> None:
    vast, script = api
    script.on(LIST, page(instance_row(1), token="t1", total=9), second)
    with pytest.raises(IncompleteListing, match="nothing is taken as gone"):
        await vast.instances()


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        (BAD_KEY, AuthRejected),
        (Answer({"success": False, "error": "deprecated_endpoint", "msg": "x"}), ApiGone),
        (Answer({"success": False, "error": "deprecated_endpoint", "msg": "x"}, 410), ApiGone),
        (Answer("", 503), Unavailable),
        (Answer([]), MalformedReply),
        (Answer({"instances": {}}), IncompleteListing),
    ],
)
async def test_a_first_page_that_fails_says_why(
    api: Api, first: Answer, kind: type[ProviderError]
) -> None:
    vast, script = api
    script.on(LIST, first)
    with pytest.raises(kind):
        await vast.instances()


async def test_an_entry_without_an_id_is_counted(api: Api) -> None:
    vast, script = api
    script.on(LIST, page(instance_row(1), {"label": "x"}, total=2))
    listing = await vast.instances()
    assert (len(listing.rows), listing.skipped) == (1, 1)


async def test_pages_are_not_asked_for_more_than_once_a_second(api: Api) -> None:
    vast, script = api
    script.on(LIST, page(instance_row(1), token="t1", total=2), page(instance_row(2), total=2))
    await vast.instances()
    assert script.requests[1].at - script.requests[0].at >= 1.0


# -- one instance --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [detail(None), GONE])
async def test_a_null_or_an_honest_404_is_no_instance(api: Api, answer: Answer) -> None:
    vast, script = api
    script.on(show(5), answer)
    assert await vast.instance(5) is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (BAD_KEY, AuthRejected),
        (Answer({"success": False, "msg": "try later"}), Rejected),
        (Answer({"success": True}), MalformedReply),
        (detail({"label": "x"}), MalformedReply),
        (Answer("<html>", 404), MalformedReply),
        (Answer("", 500), Unavailable),
    ],
)
async def test_anything_else_is_an_error_and_not_an_absence(
    api: Api, answer: Answer, kind: type[ProviderError]
) -> None:
    vast, script = api
    script.on(show(5), answer)
    with pytest.raises(kind):
        await vast.instance(5)


async def test_a_raw_control_character_does_not_hide_an_instance(api: Api) -> None:
    vast, script = api
    script.on(show(5), Answer(b'{"instances": {"id": 5, "status_msg": "pull\x01ing\n"}}'))
    row = await vast.instance(5)
    assert row is not None
    assert row.status_msg == "pulling"


# -- create --------------------------------------------------------------------------------------------------------


async def test_a_create_gives_the_instance_and_never_the_instance_key(api: Api) -> None:
    vast, script = api
    script.on(rent(9), created(990))
    made = await vast.create(9, BODY)
    assert (made.instance_id, made.complaint) == (990, None)
    assert "c0ffee99" not in repr(made)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (NO_SUCH_ASK, OfferTaken),
        (BAD_KEY, AuthRejected),
        (Answer("", 401), AuthRejected),
        (Answer({"success": False, "error": "insufficient_credit"}, 400), AccountProblem),
        (Answer({"success": False, "error": "invalid_args", "msg": "x"}, 400), Rejected),
        (Answer({"success": False, "error": "rate_limit_exceeded"}, 429), RateLimited),
        (httpx.ConnectError("refused"), NotSent),
    ],
)
async def test_a_plain_no_is_a_rejection(
    api: Api, answer: Answer | Exception, kind: type[ProviderError]
) -> None:
    vast, script = api
    script.on(rent(9), answer)
    with pytest.raises(kind):
        await vast.create(9, BODY)
    assert len(script.sent(rent(9))) == 1


@pytest.mark.parametrize(
    "answer",
    [
        httpx.ReadTimeout("x"),
        httpx.RemoteProtocolError("x"),
        httpx.DecodingError("x"),
        Answer("<html>Bad Gateway</html>", 502),
        Answer({"success": False, "error": "server_error"}, 500),
        Answer("API requests too frequent", 429),
        Answer("<html>", 404),
        Answer('{"success": true, "new_con'),
        Answer({"success": True}),
        Answer({"success": True, "new_contract": "abc"}),
        Answer({"success": True, "new_contract": True}),
        Answer(""),
        Answer([]),
        Answer("", 302, {"Location": "https://elsewhere.example"}),
    ],
    ids=str,
)
async def test_everything_else_may_have_rented_and_is_not_sent_again(
    api: Api, answer: Answer | Exception
) -> None:
    vast, script = api
    script.on(rent(9), answer)
    with pytest.raises(Ambiguous, match="may "):
        await vast.create(9, BODY)
    assert len(script.sent(rent(9))) == 1


async def test_an_instance_named_in_a_refusal_exists(api: Api) -> None:
    vast, script = api
    answer = {"success": False, "error": "bid_too_low", "new_contract": 990230}
    script.on(rent(9), Answer(answer, 400))
    made = await vast.create(9, BODY)
    assert made.instance_id == 990230
    assert isinstance(made.complaint, Rejected)


async def test_creates_keep_their_distance(api: Api) -> None:
    vast, script = api
    script.on(rent(9), created(990))
    await vast.create(9, BODY)
    await vast.create(9, BODY)
    assert script.requests[1].at - script.requests[0].at >= 4.5


# -- what changes an instance --------------------------------------------------------------------------------------


async def test_stop_and_label_are_one_request_each(api: Api) -> None:
    vast, script = api
    script.on(manage(5), OK)
    await vast.set_state(5, "stopped")
    await vast.set_label(5, "flash-1-s0-a0")
    assert [sent.json for sent in script.requests] == [
        {"state": "stopped"},
        {"label": "flash-1-s0-a0"},
    ]


async def test_a_destroy_that_is_not_a_success_is_not_accepted(api: Api) -> None:
    vast, script = api
    for answer, kind in [
        (Answer({"success": False}), Rejected),
        (Answer({}), MalformedReply),
        (Answer("ok"), MalformedReply),
        (Answer("", 204), MalformedReply),
        (GONE, NotFound),
        (BAD_KEY, AuthRejected),
        (Answer("instance 4040", 500), Ambiguous),
    ]:
        script.on(delete(5), answer)
        with pytest.raises(kind):
            await vast.destroy(5)
    script.on(delete(5), OK)
    assert "200" in await vast.destroy(5)


async def test_destroys_keep_their_distance(api: Api) -> None:
    vast, script = api
    script.on(delete(5), OK).on(delete(6), OK)
    await vast.destroy(5)
    await vast.destroy(6)
    assert script.requests[1].at - script.requests[0].at >= 3.0


# -- logs, account, charges ----------------------------------------------------------------------------------------

ASK_LOGS = "PUT /api/v0/instances/request_logs/5/"


async def test_a_log_is_read_without_the_key_once_it_is_there(api: Api) -> None:
    vast, script = api
    script.on(ASK_LOGS, Answer({"success": True, "result_url": "https://s3.example/log"}))
    script.on("GET /log", Answer("", 404), Answer("", 403), Answer("line 1\nline 2\n"))
    assert await vast.logs(5) == "line 1\nline 2\n"
    assert all("authorization" not in sent.headers for sent in script.sent("GET /log"))


async def test_a_log_that_does_not_come_is_not_waited_for_for_ever(api: Api) -> None:
    vast, script = api
    script.on(ASK_LOGS, Answer({"success": True, "result_url": "http://127.0.0.1:9/log"}))
    script.on("GET /log", Answer("", 404))
    assert await vast.logs(5) is None
    assert len(script.sent("GET /log")) <= 30


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://10.0.0.1/x", "javascript:x", None, 7]
)
async def test_a_log_is_only_read_where_it_may_be(api: Api, url: object) -> None:
    vast, script = api
    script.on(ASK_LOGS, Answer({"success": True, "result_url": url}))
    with pytest.raises(MalformedReply):
        await vast.logs(5)


async def test_credit_is_read_without_the_account_s_secrets(api: Api) -> None:
    vast, script = api
    script.on(USER, Answer({"id": 1, "credit": 12.34, "api_key": "leak", "email": "a@b.example"}))
    user = await vast.current_user()
    assert str(user.credit) == "12.34"
    assert "leak" not in repr(user)


async def test_an_account_without_money_fields_is_not_zero(api: Api) -> None:
    vast, script = api
    script.on(USER, Answer({"id": 1}))
    with pytest.raises(MalformedReply):
        await vast.current_user()


async def test_charges_are_read_to_the_last_page(api: Api) -> None:
    vast, script = api
    first = {"results": [{"source": "instance-5", "amount": 0.25}], "next_token": "t"}
    script.on(
        "GET /api/v0/charges/",
        Answer(first),
        Answer({"results": [{"source": "instance-6", "amount": "0.5"}], "next_token": None}),
    )
    rows = await vast.charges(T0 - timedelta(days=7), T0)
    assert [(row.source, str(row.amount)) for row in rows] == [
        ("instance-5", "0.25"),
        ("instance-6", "0.5"),
    ]
    assert '"day"' in script.requests[0].query["select_filters"]
