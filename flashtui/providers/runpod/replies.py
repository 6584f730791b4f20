"""From an answer of RunPod to nothing wrong, or to one typed error with a sentence; no raw body gets past here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import ValidationError

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
from flashtui.domain.text import clean
from flashtui.net.decode import is_html, json_body, json_object, malformed
from flashtui.net.retry import TOO_MANY, is_passing, retry_after_s
from flashtui.providers.runpod.wire import Problem
from flashtui.providers.runpod.wire_graphql import GraphqlProblem
from flashtui.providers.runpod.wire_types import Wire, rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from flashtui.net.exchange import Reply

    _Model = TypeVar("_Model", bound=Wire)

NAME = "runpod"
_SENTENCE_CHARS = 240
# Cloudflare's firewall answers for RunPod with a page or this line; it knows nothing of keys.
_BLOCKED = re.compile(rb"error code: 1\d\d\d|cloudflare", re.IGNORECASE)
_MONEY = re.compile(
    r"\b(?:balance|insufficient (?:funds|credit|balance)|not enough credit|billing|spend(?:ing)? limit)\b"
    r"|workers? quota",
    re.IGNORECASE,
)
_NO_MACHINE = re.compile(
    r"no longer any instances available|no instances? (?:is|are)? ?(?:currently )?available|out of stock|no capacity",
    re.IGNORECASE,
)
_NOT_LOGGED_IN = re.compile(
    r"unauthori[sz]ed|unauthenticated|not (?:logged|signed) in|session expired|invalid (?:api )?key"
    r"|invalid (?:bearer )?token",
    re.IGNORECASE,
)
_NOT_ALLOWED = re.compile(
    r"forbidden|access denied|permission|not allowed|missing (?:rights|scope)", re.IGNORECASE
)
_REDIRECTION = 3
_UNAUTHORIZED = 401
_MEANINGS: dict[int, tuple[type[ProviderError], str]] = {
    401: (AuthRejected, "the API key{key} is not accepted (401); set RUNPOD_API_KEY to a good one"),
    402: (AccountProblem, "refused by the account (402)"),
    403: (ScopeRejected, "the API key{key} may not do this (403); use one that may"),
    404: (NotFound, "there is no such thing under this key (404)"),
    410: (ApiGone, "RunPod no longer serves this at this address (410)"),
}
_SERVER_SIDE = frozenset({"", "INTERNAL_SERVER_ERROR"})


def require_ok(
    reply: Reply, operation: str, redact: Callable[[str], str], *, key: str = ""
) -> None:
    """Return for a 2xx answer; raise the error that the status means otherwise.

    Args:
        reply: any status.
        operation: what was being done, e.g. ``"list endpoints"``.
        redact: takes secrets out of the provider's words.
        key: how to name the key that was used, for errors about it.

    Raises:
        ProviderError: of the kind that fits; ``Ambiguous`` for 5xx, which a caller that only reads never sees.
    """
    if 200 <= reply.status < 300:
        return
    raise refusal(reply, operation, redact, key=key)


def refusal(
    reply: Reply, operation: str, redact: Callable[[str], str], *, key: str = ""
) -> ProviderError:
    """The error for an answer outside 2xx."""
    said = words(reply, redact)
    kind, sentence = _meaning(reply, said, key)
    msg = f"{NAME}: {operation}: {sentence}"
    if kind is RateLimited:
        return RateLimited(
            msg,
            retry_after_s=retry_after_s(reply),
            provider=NAME,
            operation=operation,
            status=reply.status,
            body=said,
        )
    return kind(msg, provider=NAME, operation=operation, status=reply.status, body=said)


def words(reply: Reply, redact: Callable[[str], str]) -> str:
    """The provider's own explanation, redacted and cleaned; empty for a page or an answer without one."""
    try:
        told = Problem.model_validate(json_object(reply, NAME, "")).sentence
    except (MalformedReply, ValidationError):
        told = "" if is_html(reply) else reply.body[:1000].decode("utf-8", "replace")
    return clean(redact(told), limit=_SENTENCE_CHARS)


def _meaning(reply: Reply, said: str, key: str) -> tuple[type[ProviderError], str]:
    status = reply.status
    quoted = f": {said}" if said else ""
    if status == TOO_MANY:
        return RateLimited, f"asked too often (429){quoted}; asking again more slowly"
    if is_passing(status):
        return Ambiguous, f"RunPod answered {status}{quoted}; it may have been carried out"
    if status // 100 == _REDIRECTION:
        return _redirected(status)
    if is_html(reply) or _BLOCKED.search(reply.body[:2000]):
        return Unavailable, (
            f"blocked before it reached RunPod ({status}, a firewall's or a proxy's page); this says nothing about the key"
        )
    if status != _UNAUTHORIZED and _MONEY.search(said):
        return AccountProblem, f"refused by the account ({status}){quoted}"
    if status in _MEANINGS:
        kind, sentence = _MEANINGS[status]
        return kind, sentence.format(key=key) + quoted
    if _NO_MACHINE.search(said):
        return NoCapacity, f"nothing of this kind is free now ({status}){quoted}"
    return Rejected, f"refused ({status}){quoted}"


def _redirected(status: int) -> tuple[type[ProviderError], str]:
    if status in {301, 308}:
        return ApiGone, f"RunPod no longer serves this at this address ({status}, moved)"
    return MalformedReply, (
        f"redirected elsewhere ({status}) instead of answered: a proxy or a login page may be in the way"
    )


def model_of(model: type[_Model], reply: Reply, operation: str) -> _Model:
    """The body as a model.

    Raises:
        MalformedReply: not a JSON object, or without what identifies it.
    """
    try:
        return model.model_validate(json_object(reply, NAME, operation))
    except (ValidationError, RecursionError):
        # The library's text quotes the input, which may hold secrets.
        raise malformed(reply, "not of the documented shape", NAME, operation) from None


def listed(
    model: type[_Model], reply: Reply, name: str, operation: str, *, strict: bool
) -> tuple[_Model, ...]:
    """The items of ``{"<name>": [...]}``.

    Args:
        model: what an item is.
        reply: the answer.
        name: the member that holds the list.
        operation: what was being done.
        strict: an item that cannot be read makes the whole listing worthless as a proof; else it is left out.

    Raises:
        IncompleteListing: ``strict`` and an item cannot be read.
        MalformedReply: there is no such list.
    """
    body = json_object(reply, NAME, operation)
    value = body.get(name)
    if not isinstance(value, list):
        raise malformed(reply, f"without a list of {name}", NAME, operation)
    found, unreadable = rows(model, value)
    if strict and unreadable:
        msg = f"{NAME}: {operation}: {unreadable} of {len(value)} items cannot be read, so the listing proves nothing"
        raise IncompleteListing(msg, provider=NAME, operation=operation, status=reply.status)
    return found


def graphql_data(
    reply: Reply, operation: str, redact: Callable[[str], str]
) -> tuple[dict[str, object], ProviderError | None]:
    """The ``data`` of a GraphQL answer, and what was wrong beside it.

    RunPod reports errors with status 200 or 400, with ``data`` null, half there or whole.

    Returns:
        What data there is, and the error it came with; None: it came whole.

    Raises:
        ProviderError: there is no data.
    """
    if reply.status in {404, 410}:
        msg = f"{NAME}: {operation}: RunPod's GraphQL is no longer served at this address ({reply.status})"
        raise ApiGone(msg, provider=NAME, operation=operation, status=reply.status)
    body = _graphql_body(reply, operation, redact)
    data, problems = body.get("data"), body.get("errors")
    trouble = _graphql_error(problems, reply, operation, redact) if problems else None
    if isinstance(data, dict) and any(value is not None for value in data.values()):
        return data, trouble
    if trouble is not None:
        raise trouble
    if isinstance(data, dict) and data:
        return data, None
    raise malformed(reply, "without data", NAME, operation)


def _graphql_body(reply: Reply, operation: str, redact: Callable[[str], str]) -> dict[str, object]:
    try:
        body = json_body(reply, NAME, operation)
    except MalformedReply:
        require_ok(reply, operation, redact)
        raise
    if not isinstance(body, dict) or not ("data" in body or "errors" in body):
        require_ok(reply, operation, redact)
        raise malformed(reply, "without data", NAME, operation)
    return body


def _graphql_error(
    problems: object, reply: Reply, operation: str, redact: Callable[[str], str]
) -> ProviderError:
    read, _ = rows(GraphqlProblem, problems)
    first = read[0] if read else GraphqlProblem()
    said = clean(redact(first.message or "no reason given"), limit=_SENTENCE_CHARS)
    more = f" (and {len(read) - 1} more)" if len(read) > 1 else ""
    kind = _graphql_kind(first.code, said, reply.status)
    msg = f"{NAME}: {operation}: RunPod reports an error: {said}{more}"
    return kind(msg, provider=NAME, operation=operation, status=reply.status, body=said)


def _graphql_kind(code: str, said: str, status: int) -> type[ProviderError]:
    if code == "UNAUTHENTICATED" or status == 401 or _NOT_LOGGED_IN.search(said):
        return AuthRejected
    if code == "FORBIDDEN" or status == 403 or _NOT_ALLOWED.search(said):
        return ScopeRejected
    if _MONEY.search(said):
        return AccountProblem
    if code in _SERVER_SIDE:
        return Unavailable
    return Rejected


def collection_missing(error: NotFound) -> ProviderError:
    """What a 404 for a collection means: a collection is always there, so it is the login or the address."""
    kind: type[ProviderError] = ApiGone
    fact = "RunPod no longer serves this at this address (404)"
    if _NOT_LOGGED_IN.search(error.body):
        kind, fact = AuthRejected, f"the login is not accepted (404: {error.body})"
    msg = f"{NAME}: {error.operation}: {fact}"
    return kind(msg, provider=NAME, operation=error.operation, status=404, body=error.body)
