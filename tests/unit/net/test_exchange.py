"""What one exchange reports, whatever the other side does."""

from __future__ import annotations

import random
import traceback

import httpx
import pytest

from flashtui.domain.errors import (
    Ambiguous,
    AuthRejected,
    ConfigError,
    MalformedReply,
    NotSent,
    ProviderError,
)
from flashtui.net.exchange import Http
from flashtui.net.pace import Pacer
from flashtui.net.secret import Redactor, Secret
from flashtui.net.transport import USER_AGENT
from tests.fakes import Answer, FakeClock, Raw, ScriptedHttp, open_http, scripted_server

KEY = Secret("canary-key-0123456789")
QUERY = "hidden-query"
URL = "http://127.0.0.1/thing"


async def send(http: Http, url: str = URL, **options: object) -> object:
    return await http.send(
        "PUT",
        url,
        provider="vast",
        operation="rent",
        secret=KEY,
        **options,  # type: ignore[arg-type]
    )


async def test_any_status_is_an_answer() -> None:
    script = ScriptedHttp().on("GET /thing", Answer({"error": "x"}, 503, {"X-Thing": "1"}))
    reply = await script.http().send("GET", URL, provider="vast", operation="look")
    assert (reply.status, reply.headers["x-thing"]) == (503, "1")


async def test_the_key_travels_in_the_header_only() -> None:
    script = ScriptedHttp().on("PUT /thing", Answer({}))
    await send(script.http(), json={"a": 1}, params={"q": "{}"})
    (sent,) = script.requests
    assert sent.headers["authorization"] == f"Bearer {KEY.reveal()}"
    assert sent.query == {"q": "{}"}


async def test_a_redirect_is_not_followed() -> None:
    elsewhere = Answer(b"", 302, {"location": "http://127.0.0.1:1/login"})
    async with scripted_server(elsewhere) as server, open_http() as http:
        reply = await http.send(
            "GET", server.base_url, provider="vast", operation="look", secret=KEY
        )
    assert reply.status == 302
    assert len(server.requests) == 1


async def test_the_program_names_itself() -> None:
    async with scripted_server(Answer({})) as server, open_http() as http:
        await http.send("GET", server.base_url, provider="vast", operation="look")
    assert server.requests[0].headers["user-agent"] == USER_AGENT


async def test_a_refused_connection_means_nothing_was_sent() -> None:
    async with scripted_server(Answer({})) as server:
        url = server.base_url
    async with open_http() as http:
        with pytest.raises(NotSent, match="Connection refused"):
            await send(http, url)


@pytest.mark.parametrize(
    "failing",
    [
        Raw(then="close"),
        Raw(then="reset"),
        Raw((b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{",)),
        Raw((b"not http at all\r\n\r\n",)),
    ],
    ids=["closed without an answer", "reset", "cut short", "not http"],
)
async def test_a_break_after_sending_is_ambiguous(failing: Raw) -> None:
    async with scripted_server(failing) as server, open_http() as http:
        with pytest.raises(Ambiguous, match="may have arrived"):
            await send(http, server.base_url)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "slow",
    [
        Raw(then="hang"),
        Raw((b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", *[b"x"] * 99), every_s=0.02),
        Raw(
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n"] * 99),
            every_s=0.02,
        ),
    ],
    ids=["silent", "drip", "endless chunks"],
)
async def test_the_deadline_covers_the_whole_answer(slow: Raw) -> None:
    """A server that keeps every single read short must not hold the exchange for ever."""
    async with scripted_server(slow) as server, open_http() as http:
        with pytest.raises(Ambiguous, match="too slow") as caught:
            await send(http, server.base_url, timeout_s=0.15)
    assert caught.value.kind == "timeout"


async def test_an_endless_body_is_cut_off() -> None:
    async with scripted_server(Answer(b"x" * 50_000)) as server, open_http() as http:
        with pytest.raises(MalformedReply, match="cut off"):
            await send(http, server.base_url, max_bytes=10_000)


async def test_connections_do_not_leak_over_failing_calls() -> None:
    """With more failures than the pool has places, later calls still get a connection."""
    async with (
        scripted_server(Answer({"a": 1}, cut_to=3), Answer({"a": 1}, cut_to=3)) as server,
        open_http() as http,
    ):
        for _ in range(30):
            with pytest.raises(Ambiguous):
                await send(http, server.base_url)
        server.steps[:] = [Answer({"a": 1})]
        reply = await http.send("GET", server.base_url, provider="vast", operation="look")
    assert reply.status == 200


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (httpx.ConnectTimeout("x"), NotSent),
        (httpx.PoolTimeout("x"), NotSent),
        (httpx.ProxyError("403 Forbidden"), NotSent),
        (httpx.ReadTimeout("x"), Ambiguous),
        (httpx.WriteError("x"), Ambiguous),
        (httpx.RemoteProtocolError("x"), Ambiguous),
        (httpx.LocalProtocolError("x"), Ambiguous),
        (httpx.DecodingError("x"), MalformedReply),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, Exception) else v.__name__,
)
async def test_failures_of_the_library_become_outcomes(
    raised: Exception, expected: type[ProviderError]
) -> None:
    script = ScriptedHttp().on("PUT /thing", raised)
    with pytest.raises(expected) as caught:
        await send(script.http())
    assert (caught.value.provider, caught.value.operation) == ("vast", "rent")


async def test_no_failure_shows_key_or_query() -> None:
    """The library's own text quotes a bad header; nothing of it may surface, not even in a traceback."""
    quoting = httpx.LocalProtocolError(f"Illegal header value b'Bearer {KEY.reveal()}'")
    script = ScriptedHttp().on("PUT /thing", quoting)
    with pytest.raises(ProviderError) as caught:
        await send(script.http(), params={"q": QUERY})
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY.reveal() not in shown
    assert QUERY not in shown


@pytest.mark.parametrize("value", ["with blank", "line\nbreak", "é-accent", ""])
async def test_a_key_that_no_header_can_carry_is_refused_before_sending(value: str) -> None:
    script = ScriptedHttp().on("GET /thing", Answer({}))
    with pytest.raises(AuthRejected, match="set it again"):
        await script.http().send(
            "GET", URL, provider="vast", operation="look", secret=Secret(value)
        )
    assert script.requests == []


async def test_a_client_that_cannot_be_built_is_a_sentence_and_is_tried_again() -> None:
    """A proxy variable that cannot be used must not keep the dashboard from opening."""
    script = ScriptedHttp().on("GET /thing", Answer({}))
    working = httpx.AsyncClient(transport=script)
    outcomes: list[httpx.AsyncClient | None] = [None, working]

    def make() -> httpx.AsyncClient:
        client = outcomes.pop(0)
        if client is None:
            msg = "ALL_PROXY: socks:// proxies cannot be used"
            raise ConfigError(msg)
        return client

    clock = FakeClock()
    http = Http(make, clock, random.Random(1), Pacer(clock), Redactor())
    with pytest.raises(NotSent, match="ALL_PROXY"):
        await http.send("GET", URL, provider="vast", operation="look")
    reply = await http.send("GET", URL, provider="vast", operation="look")
    assert reply.status == 200


async def test_a_request_waits_for_its_turn() -> None:
    script = ScriptedHttp().on("PUT /thing", Answer({}))
    http = script.http()
    for _ in range(3):
        await send(http, pace_key="create", min_interval_s=4.5)
    assert [s.at - script.requests[0].at for s in script.requests] == [0.0, 4.5, 9.0]


async def test_a_429_that_names_a_time_holds_the_next_request_of_its_kind() -> None:
    script = ScriptedHttp().on("PUT /thing", Answer("no", 429, {"Retry-After": "37"}), Answer({}))
    http = script.http()
    await send(http, pace_key="create")
    await send(http, pace_key="create")
    assert script.requests[1].at - script.requests[0].at == pytest.approx(37)


async def test_a_shrinking_allowance_slows_down_before_the_limit() -> None:
    low = Answer({}, 200, {"RateLimit": "limit=60, remaining=3, reset=40"})
    script = ScriptedHttp().on("PUT /thing", low, Answer({}))
    http = script.http()
    await send(http)
    await send(http)
    assert script.requests[1].at - script.requests[0].at == pytest.approx(10)
