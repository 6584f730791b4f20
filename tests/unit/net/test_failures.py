"""How far a request had come decides between "nothing was sent" and "it may have arrived"."""

from __future__ import annotations

import ssl
from types import SimpleNamespace

import httpx
import pytest

from flashtui.domain.errors import Ambiguous, NotSent
from flashtui.net.failures import Progress, failure, too_slow


async def progress(*events: tuple[str, bytes]) -> Progress:
    seen = Progress()
    for name, method in events:
        await seen.trace(name, {"request": SimpleNamespace(method=method)})
    return seen


CONNECTING = ("connection.connect_tcp.started", b"PUT")
TUNNEL = ("http11.send_request_headers.started", b"CONNECT")
SENDING = ("http11.send_request_headers.started", b"PUT")


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ([CONNECTING], NotSent),
        ([CONNECTING, TUNNEL], NotSent),
        ([CONNECTING, TUNNEL, SENDING], Ambiguous),
        ([SENDING], Ambiguous),
        ([], Ambiguous),
    ],
    ids=["connecting", "tunnel", "sent through a tunnel", "sent", "nothing known"],
)
async def test_out_of_time(events: list[tuple[str, bytes]], kind: type[Exception]) -> None:
    error = too_slow(await progress(*events), 30, "vast", "rent", "host.example")
    assert type(error) is kind
    assert error.kind == "timeout"


async def test_a_break_while_connecting_sent_nothing() -> None:
    error = failure(OSError(5, "x"), await progress(CONNECTING), "vast", "rent", "h", str)
    assert type(error) is NotSent


async def test_a_certificate_that_is_not_accepted_is_said_in_words() -> None:
    refused = ssl.SSLCertVerificationError(1, "certificate verify failed")
    refused.verify_message = "self-signed certificate"
    broken = httpx.ConnectError("ssl")
    broken.__cause__ = refused
    error = failure(broken, Progress(), "vast", "rent", "h", str)
    assert "certificate not accepted: self-signed certificate" in str(error)


async def test_an_unknown_name_is_said_in_words() -> None:
    broken = httpx.ConnectError("x")
    broken.__cause__ = OSError(-2, "Name or service not known")
    assert "Name or service not known" in str(failure(broken, Progress(), "v", "o", "h", str))
