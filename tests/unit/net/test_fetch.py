"""Reads are repeated when that may help, at a growing distance, and never for ever."""

from __future__ import annotations

from itertools import pairwise

import httpx
import pytest

from flashtui.domain.errors import MalformedReply, NotSent, RateLimited, Unavailable
from flashtui.net.exchange import Http, Reply
from tests.fakes import Answer, Raw, ScriptedHttp, open_http, scripted_server

URL = "http://127.0.0.1/thing"
OK = Answer({"ok": True})


async def fetch(http: Http, url: str = URL, *, attempts: int = 4, within_s: float = 60.0) -> Reply:
    return await http.fetch(
        "GET", url, attempts=attempts, within_s=within_s, provider="vast", operation="search"
    )


def gaps(script: ScriptedHttp) -> list[float]:
    return [b.at - a.at for a, b in pairwise(script.requests)]


@pytest.mark.parametrize(
    "passing",
    [
        Answer("oops", 500),
        Answer("<html>", 502),
        Answer("", 520),
        Answer("slow", 429),
        httpx.ReadTimeout("x"),
        httpx.ConnectError("x"),
        httpx.RemoteProtocolError("x"),
    ],
    ids=["500", "502", "520", "429", "timeout", "connect", "protocol"],
)
async def test_a_passing_failure_is_asked_again(passing: Answer | Exception) -> None:
    script = ScriptedHttp().on("GET /thing", passing, OK)
    assert (await fetch(script.http())).status == 200
    assert len(script.requests) == 2


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 410])
async def test_a_refusal_is_not_repeated(status: int) -> None:
    script = ScriptedHttp().on("GET /thing", Answer({}, status))
    assert (await fetch(script.http())).status == status
    assert len(script.requests) == 1


async def test_pauses_grow_when_the_provider_gives_no_time() -> None:
    """Vast's 429 comes as text, as text with a threshold, and as JSON without any header."""
    script = ScriptedHttp().on(
        "GET /thing",
        Answer("API requests too frequent", 429),
        Answer("API requests too frequent: endpoint threshold=1.0", 429),
        Answer({"detail": "API requests too frequent: endpoint threshold=1.0"}, 429),
        OK,
    )
    assert (await fetch(script.http())).status == 200
    waited = gaps(script)
    assert waited == sorted(waited)
    assert waited[0] >= 1.0


async def test_no_request_leaves_before_the_time_the_provider_gave() -> None:
    script = ScriptedHttp().on("GET /thing", Answer("", 429, {"Retry-After": "37"}), OK)
    await fetch(script.http())
    assert gaps(script)[0] >= 37


async def test_a_pause_longer_than_the_budget_is_reported_at_once() -> None:
    script = ScriptedHttp().on("GET /thing", Answer("", 429, {"Retry-After": "86400"}))
    with pytest.raises(RateLimited) as caught:
        await fetch(script.http())
    assert caught.value.retry_after_s == 86400
    assert len(script.requests) == 1


async def test_it_gives_up_after_the_last_attempt_with_the_provider_s_words() -> None:
    script = ScriptedHttp().on("GET /thing", Answer("upstream unavailable", 503))
    with pytest.raises(Unavailable, match=r"503 \(upstream unavailable\)") as caught:
        await fetch(script.http(), attempts=3)
    assert caught.value.status == 503
    assert len(script.requests) == 3


async def test_no_try_starts_after_the_budget() -> None:
    script = ScriptedHttp().on("GET /thing", Answer("", 503))
    http = script.http()
    with pytest.raises(Unavailable):
        await fetch(http, attempts=100, within_s=60)
    assert script.requests[-1].at - script.requests[0].at < 60


async def test_slowness_is_told_from_a_broken_line() -> None:
    script = ScriptedHttp().on("GET /thing", httpx.ReadTimeout("x"))
    with pytest.raises(Unavailable) as caught:
        await fetch(script.http(), attempts=1)
    assert caught.value.kind == "timeout"


async def test_without_a_connection_it_says_so() -> None:
    script = ScriptedHttp().on("GET /thing", httpx.ConnectError("All connection attempts failed"))
    with pytest.raises(NotSent):
        await fetch(script.http(), attempts=2)
    assert len(script.requests) == 2


async def test_an_answer_in_a_broken_coding_is_not_asked_for_again() -> None:
    script = ScriptedHttp().on("GET /thing", httpx.DecodingError("x"))
    with pytest.raises(MalformedReply):
        await fetch(script.http())
    assert len(script.requests) == 1


async def test_a_kept_connection_that_the_server_dropped_is_replaced() -> None:
    async with scripted_server(OK, Raw(then="reset"), OK) as server, open_http() as http:
        await fetch(http, server.base_url)
        assert (await fetch(http, server.base_url)).status == 200
    assert len(server.requests) == 3
