"""Every answer that is not what was asked for becomes one typed error with a sentence, and no raw body gets out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from flashtui.domain.errors import (
    AccountProblem,
    Ambiguous,
    ApiGone,
    AuthRejected,
    IncompleteListing,
    MalformedReply,
    NoCapacity,
    NotFound,
    ProviderError,
    RateLimited,
    Rejected,
    ScopeRejected,
    Unavailable,
)
from flashtui.net.exchange import Reply
from flashtui.net.secret import Redactor
from flashtui.providers.runpod.replies import (
    collection_missing,
    graphql_data,
    listed,
    model_of,
    refusal,
    require_ok,
)
from flashtui.providers.runpod.wire import Endpoint
from tests.fakes import Answer

PAGE = "<!DOCTYPE html><html><title>Attention Required! | Cloudflare</title></html>"


def _reply(body: object = b"", status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, Answer(body).content, headers or {}, datetime(2026, 8, 20, tzinfo=UTC))


def _problem(status: int, detail: str = "", **more: object) -> Reply:
    return _reply({"title": "T", "status": status, "detail": detail, **more}, status)


def _refused(reply: Reply) -> ProviderError:
    return refusal(reply, "create endpoint", Redactor().clean)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (_problem(400, "bad request"), Rejected),
        (_problem(401, "missing bearer token"), AuthRejected),
        (_reply(b"", 401), AuthRejected),
        (_problem(403, "access denied"), ScopeRejected),
        (_problem(404, "resource not found"), NotFound),
        (_reply(b"", 404), NotFound),
        (_problem(409, "conflict"), Rejected),
        (_problem(410, "gone"), ApiGone),
        (_problem(422, "Request validation failed.", errors=["$.name: too long"]), Rejected),
        (_problem(429, "rate limit exceeded"), RateLimited),
        (_reply(b"", 301, {"location": "https://docs.example.test"}), ApiGone),
        (_reply(b"", 302, {"location": "/login"}), MalformedReply),
        (_problem(402, "payment required"), AccountProblem),
        (_problem(400, "Insufficient balance to deploy"), AccountProblem),
        (_problem(403, "account spend limit reached"), AccountProblem),
        (
            _problem(400, "There are no longer any instances available with the requested specs."),
            NoCapacity,
        ),
        (_problem(500, "try again"), Ambiguous),
        (_reply(PAGE, 502), Ambiguous),
        (_reply(b"", 520), Ambiguous),
        (_reply(PAGE, 403), Unavailable),
        (_reply(b"error code: 1010", 403), Unavailable),
        (_reply(PAGE, 404), Unavailable),
        (_reply(PAGE, 401), Unavailable),
    ],
)
def test_a_status_means_one_kind_of_error(reply: Reply, kind: type[ProviderError]) -> None:
    error = _refused(reply)
    assert type(error) is kind
    assert error.status == reply.status
    assert str(error).startswith("runpod: create endpoint: ")
    assert "<" not in str(error)


def test_a_firewalls_403_says_nothing_about_the_key() -> None:
    error = _refused(_reply(b"error code: 1010", 403))
    assert error.kind == "network"
    assert "nothing about the key" in str(error)


def test_the_providers_own_words_are_kept_plain() -> None:
    error = _refused(_problem(422, "no \x1b[31mway", errors=["a", "b"]))
    assert "no way; a; b" in str(error)


def test_a_key_in_the_providers_words_is_not_repeated() -> None:
    error = _refused(_problem(400, "bad env RUNPOD_API_KEY=rpa_TESTKEY000"))
    assert "rpa_TESTKEY000" not in str(error) + error.body


def test_the_pause_that_a_429_asks_for_is_kept() -> None:
    error = _refused(_reply({"detail": "slow down"}, 429, {"retry-after": "37"}))
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == 37.0


def test_the_workers_quota_is_a_problem_of_the_account() -> None:
    said = "Max workers across all endpoints must not exceed your workers quota (30)"
    assert type(_refused(_problem(400, said))) is AccountProblem


def test_success_is_no_error() -> None:
    for status in (200, 201, 204):
        require_ok(_reply(b"", status), "x", Redactor().clean)


@pytest.mark.parametrize(
    ("said", "kind"), [("Session expired", AuthRejected), ("resource not found", ApiGone)]
)
def test_a_collection_that_is_not_found_is_the_login_or_the_address(
    said: str, kind: type[ProviderError]
) -> None:
    error = _refused(_problem(404, said))
    assert isinstance(error, NotFound)
    assert type(collection_missing(error)) is kind


def test_a_listing_with_an_item_that_cannot_be_read_proves_nothing() -> None:
    reply = _reply({"endpoints": [{"id": "e1"}, {"name": "no id"}]})
    with pytest.raises(IncompleteListing, match="1 of 2"):
        listed(Endpoint, reply, "endpoints", "list endpoints", strict=True)
    assert len(listed(Endpoint, reply, "endpoints", "list endpoints", strict=False)) == 1


@pytest.mark.parametrize("body", ["", PAGE, "[", {}, {"endpoints": None}, {"endpoints": {}}, []])
def test_an_answer_without_the_list_is_malformed_not_empty(body: object) -> None:
    with pytest.raises(MalformedReply):
        listed(Endpoint, _reply(body), "endpoints", "list endpoints", strict=True)


def test_an_accepted_create_without_an_id_is_malformed_and_quotes_nothing() -> None:
    reply = _reply({"name": "x", "env": {"HF_TOKEN": "hf_FAKETOKEN000"}}, 201)
    with pytest.raises(MalformedReply) as caught:
        model_of(Endpoint, reply, "create endpoint")
    assert "hf_FAKETOKEN000" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"errors": [{"message": "Something went wrong"}], "data": None}, 200, Unavailable),
        (
            {"errors": [{"message": "x", "extensions": {"code": "INTERNAL_SERVER_ERROR"}}]},
            200,
            Unavailable,
        ),
        (
            {"errors": [{"message": "Unauthorized", "extensions": {"code": "UNAUTHENTICATED"}}]},
            200,
            AuthRejected,
        ),
        (
            {
                "errors": [{"message": "no", "extensions": {"code": "FORBIDDEN"}}],
                "data": {"a": None},
            },
            200,
            ScopeRejected,
        ),
        (
            {
                "errors": [
                    {"message": "bad field", "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}}
                ]
            },
            400,
            Rejected,
        ),
        ({"errors": [{"message": "Insufficient balance"}], "data": None}, 200, AccountProblem),
        ({"errors": ["odd"], "data": None}, 200, Unavailable),
        ({"errors": "odd", "data": None}, 200, Unavailable),
        ({"errors": []}, 200, MalformedReply),
        ({"errors": [], "data": None}, 200, MalformedReply),
        ({"data": None}, 200, MalformedReply),
        ({"data": {}}, 200, MalformedReply),
        ({"data": []}, 200, MalformedReply),
        ({"hello": 1}, 200, MalformedReply),
        ([], 200, MalformedReply),
        ("", 200, MalformedReply),
        (PAGE, 200, MalformedReply),
        (PAGE, 403, Unavailable),
        ("", 401, AuthRejected),
        ({"message": "denied"}, 403, ScopeRejected),
        ("", 410, ApiGone),
        (PAGE, 404, ApiGone),
    ],
)
def test_graphql_without_data_is_one_typed_error(
    body: object, status: int, kind: type[ProviderError]
) -> None:
    with pytest.raises(ProviderError) as caught:
        graphql_data(_reply(body, status), "read", Redactor().clean)
    assert type(caught.value) is kind


def test_the_message_of_a_graphql_error_is_kept_and_the_rest_counted() -> None:
    reply = _reply({"errors": [{"message": "first"}, {"message": "second"}], "data": None})
    with pytest.raises(ProviderError, match=r"first \(and 1 more\)"):
        graphql_data(reply, "read", Redactor().clean)


def test_half_an_answer_comes_with_its_error_beside_it() -> None:
    reply = _reply({"errors": [{"message": "timeout"}], "data": {"a": [1], "b": None}})
    data, trouble = graphql_data(reply, "read", Redactor().clean)
    assert data == {"a": [1], "b": None}
    assert trouble is not None


@pytest.mark.parametrize("errors", [None, []])
def test_an_empty_error_list_beside_data_is_no_error(errors: object) -> None:
    data, trouble = graphql_data(
        _reply({"errors": errors, "data": {"a": 1}}), "read", Redactor().clean
    )
    assert (data, trouble) == ({"a": 1}, None)


def test_a_member_that_is_null_without_any_error_is_handed_on() -> None:
    assert graphql_data(_reply({"data": {"myself": None}}), "read", Redactor().clean) == (
        {"myself": None},
        None,
    )
