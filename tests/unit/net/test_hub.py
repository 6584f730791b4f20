"""Single files of a run's repository."""

from __future__ import annotations

import pytest

from flashtui.domain.errors import AuthRejected, ProviderError, Unavailable
from flashtui.net.hub import HubFiles
from flashtui.net.secret import Secret
from tests.fakes import Answer, ScriptedHttp

DECODED = "GET /datasets/acme/runs/resolve/main/sft/run x/seed0/DONE"
PATH = "sft/run x/seed0/DONE"


def files(script: ScriptedHttp) -> HubFiles:
    return HubFiles(script.http(), "http://127.0.0.1:9/", Secret("hf_TOKEN0000"), "vast")


async def test_a_file_is_read_with_the_token_and_past_caches() -> None:
    script = ScriptedHttp().on(DECODED, Answer("1796075412.5"))
    assert await files(script).read("acme/runs", PATH) == b"1796075412.5"
    (sent,) = script.requests
    assert sent.headers["authorization"] == "Bearer hf_TOKEN0000"
    assert sent.headers["cache-control"] == "no-cache"


async def test_no_file_is_none() -> None:
    script = ScriptedHttp().on(DECODED, Answer({"error": "Entry not found"}, 404))
    assert await files(script).read("acme/runs", PATH) is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer("", 401), AuthRejected),
        (Answer("", 403), AuthRejected),
        (Answer("", 302, {"Location": "https://cdn.example"}), Unavailable),
        (Answer("", 503), Unavailable),
    ],
)
async def test_a_failure_is_not_an_absence(answer: Answer, kind: type[ProviderError]) -> None:
    script = ScriptedHttp().on(DECODED, answer)
    with pytest.raises(kind):
        await files(script).read("acme/runs", PATH)
