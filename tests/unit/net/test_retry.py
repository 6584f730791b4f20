"""How long the provider asked to wait, in every way they say it."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from flashtui.net.exchange import Reply
from flashtui.net.retry import backoff_s, is_passing, retry_after_s, spacing_s
from tests.fakes import T0


def said(body: bytes = b"", **headers: str) -> Reply:
    return Reply(429, body, {k.replace("_", "-"): v for k, v in headers.items()}, T0)


IN_A_MINUTE = T0 + timedelta(seconds=60)


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        (said(retry_after="37"), 37.0),
        (said(retry_after="2.5"), 2.5),
        (said(retry_after=IN_A_MINUTE.strftime("%a, %d %b %Y %H:%M:%S GMT")), 60.0),
        (said(retry_after="Fri, 07 Aug 2020 12:00:00 GMT"), 0.0),
        (said(x_ratelimit_reset=str(T0.timestamp() + 600)), 600.0),
        (said(b'{"retry_after": 9}'), 9.0),
        (said(b'{"retry_after": "9"}'), 9.0),
        (said(b"API requests too frequent: endpoint threshold=4.5"), 4.5),
        (said(b'{"detail":"API requests too frequent endpoint threshold=1.0"}'), 1.0),
        (said(b'{"error":"unable to terminate, try again in 60 seconds"}'), 60.0),
        (said(b'{"retry_after": 9}', retry_after="37"), 37.0),
        (said(b"API requests too frequent"), None),
        (said(b'{"retry_after": true}'), None),
        (said(b"[" * 5000), None),
        (said(retry_after="soon"), None),
        (said(retry_after="-5"), None),
        (said(retry_after="nan"), None),
    ],
)
def test_the_time_asked_for(reply: Reply, seconds: float | None) -> None:
    assert retry_after_s(reply) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"ratelimit": "limit=60, remaining=3, reset=40"}, 10.0),
        ({"ratelimit": '"default";r=0;t=12'}, 12.0),
        ({"ratelimit-remaining": "1", "ratelimit-reset": "20"}, 10.0),
        ({"ratelimit": "limit=60, remaining=50, reset=40"}, None),
        ({"ratelimit": "nonsense"}, None),
        ({}, None),
    ],
)
def test_an_allowance_that_runs_out(headers: dict[str, str], seconds: float | None) -> None:
    assert spacing_s(Reply(200, b"", headers, T0)) == seconds


def test_backoff_doubles_up_to_its_cap() -> None:
    rng = random.Random(7)
    pauses = [backoff_s(n, rng) for n in range(1, 12)]
    assert pauses[:4] == sorted(pauses[:4])
    assert all(0.7 <= p <= 39.0 for p in pauses)


def test_backoff_survives_any_number_of_failures() -> None:
    assert backoff_s(100_000, random.Random(7)) <= 39.0


@pytest.mark.parametrize(
    ("status", "passing"), [(429, True), (500, True), (599, True), (404, False)]
)
def test_which_status_passes(status: int, *, passing: bool) -> None:
    assert is_passing(status) is passing
