"""What an answer of Vast means, whatever status it comes with."""

from __future__ import annotations

import pytest

from flashtui.domain.errors import (
    AccountProblem,
    Ambiguous,
    ApiGone,
    AuthRejected,
    MalformedReply,
    NotFound,
    OfferTaken,
    ProviderError,
    RateLimited,
    Rejected,
    ScopeRejected,
)
from flashtui.net.exchange import Reply
from flashtui.net.secret import Redactor
from flashtui.providers.vast.replies import refusal
from tests.fakes import T0, Answer, ScriptedHttp


def meaning(answer: Answer, redactor: Redactor | None = None) -> ProviderError | None:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    reply = Reply(answer.status, answer.content, headers, T0)
    return refusal(reply, "rent offer 1", ScriptedHttp().http(redactor=redactor))


def said(error: str, msg: str = "", status: int = 400) -> Answer:
    return Answer({"success": False, "error": error, "msg": msg}, status)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (said("auth_error", "Invalid user key", 404), AuthRejected),
        (said("auth_error", "Session expired", 404), AuthRejected),
        (Answer({"success": False, "msg": "Invalid user key"}, 401), AuthRejected),
        (Answer({"msg": "Invalid user key"}, 404), AuthRejected),
        (Answer({"error": "auth_error", "msg": "This action requires login."}, 403), AuthRejected),
        (Answer("", 401), AuthRejected),
        (Answer("forbidden", 403), AuthRejected),
        (said("auth_error", "Invalid user key", 200), AuthRejected),
        (Answer({"error": "insufficient permissions"}, 403), ScopeRejected),
        (said("not_authorized", "", 403), ScopeRejected),
        (said("invalid_args", "error 403/3586: machine 7 is not your own", 403), OfferTaken),
        (said("invalid_args", "error 404/3603: no_such_ask by id 1", 404), OfferTaken),
        (said("no_such_ask", "error 410/3907: no longer available.", 410), OfferTaken),
        (said("no_such_ask", "", 400), OfferTaken),
        (said("no_such_ask", "", 200), OfferTaken),
        (said("insufficient_credit", "", 400), AccountProblem),
        (said("missing_billing", "", 200), AccountProblem),
        (said("spend_rate_limit", "new accounts", 403), AccountProblem),
        (said("deprecated_endpoint", "use /api/v1/instances/", 410), ApiGone),
        (said("deprecated_endpoint", "deprecated, use /api/v1/instances/", 200), ApiGone),
        (Answer("gone", 410), ApiGone),
        (Answer("API requests too frequent", 429), RateLimited),
        (Answer({"detail": "API requests too frequent endpoint threshold=1.0"}, 429), RateLimited),
        (said("rate_limit_exceeded", "", 429), RateLimited),
        (said("rate_limit_exceeded", "", 200), RateLimited),
        (said("no_such_instance", "Instance 5 not found", 404), NotFound),
        (said("no_such_instance", "", 200), NotFound),
        (Answer({"detail": "Not found"}, 404), NotFound),
        (Answer("<html>404</html>", 404), MalformedReply),
        (Answer("404 page not found", 404), MalformedReply),
        (Answer("", 301, {"Location": "https://elsewhere.example/"}), MalformedReply),
        (Answer("<!doctype html><title>Login</title>", 403), MalformedReply),
        (said("invalid_args", "error 400/3467: bad disk", 400), Rejected),
        (Answer({"success": False}, 200), Rejected),
        (Answer("could not stop container for instance 4040123", 500), Ambiguous),
        (Answer({"success": False, "error": "no_such_instance"}, 502), Ambiguous),
        (Answer("<html>Bad Gateway</html>", 502), Ambiguous),
        (Answer("", 408), Ambiguous),
    ],
    ids=lambda v: v.__name__ if isinstance(v, type) else f"{v.status} {str(v.body)[:40]}",
)
def test_a_refusal_has_one_meaning(answer: Answer, kind: type[ProviderError]) -> None:
    error = meaning(answer)
    assert type(error) is kind
    assert error.status == answer.status
    assert (error.provider, error.operation) == ("vast", "rent offer 1")


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"success": True}),
        Answer({"offers": []}),
        Answer({"instances": None}),
        Answer({"success": True, "error": None}),
        Answer("", 204),
        Answer([1, 2]),
    ],
)
def test_a_success_is_no_refusal(answer: Answer) -> None:
    assert meaning(answer) is None


def test_the_used_up_search_quota_says_until_when() -> None:
    reset = str(T0.timestamp() + 7200)
    answer = Answer(
        {"error": "search_quota_exceeded", "msg": "x"}, 429, {"X-RateLimit-Reset": reset}
    )
    error = meaning(answer)
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == 7200
    assert "quota" in str(error)


def test_the_words_of_an_answer_are_clean_short_and_without_secrets() -> None:
    redactor = Redactor()
    redactor.register("canary-0123456789")
    text = "bad key canary-0123456789\x1b[31m\n" + "x" * 1000
    error = meaning(said("invalid_args", text), redactor)
    assert error is not None
    shown = str(error) + error.body
    assert "canary" not in shown
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert len(error.body) <= 200
