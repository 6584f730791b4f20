"""What Vast means by an answer: status and words together, because neither says it alone.

A wrong key comes as 401, 403 or 404; a taken offer as 400, 404 or 410; a refusal also as 200. So the words are read
first, as far as the answer is JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

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
from flashtui.domain.text import clean
from flashtui.net.decode import is_html
from flashtui.net.retry import TOO_MANY, is_passing, retry_after_s
from flashtui.providers.vast.auth import NAME

if TYPE_CHECKING:
    from flashtui.net.exchange import Http, Reply

_WORDS_CHARS = 200

_BAD_KEY = (
    "auth_error",
    "invalid user key",
    "session expired",
    "requires login",
    "invalid api key",
)
_ACCOUNT = ("insufficient_credit", "insufficient credit", "missing_billing", "spend_rate_limit")
_TOO_OFTEN = ("rate_limit_exceeded", "search_quota_exceeded", "requests too frequent")
_GONE = ("no_such_instance", "no_such_contract", "not_found", "not found")
_SCOPE = ("permission", "scope", "not_authorized", "not authorized", "not permitted")


_KEY_REJECTED = "the key was rejected; check VAST_API_KEY"
_RETIRED = "this address of the API has been retired"
_PLAIN: dict[int, tuple[type[ProviderError], str]] = {
    401: (AuthRejected, _KEY_REJECTED),
    404: (NotFound, "there is no such thing"),
    410: (ApiGone, _RETIRED),
}


@dataclass(frozen=True, slots=True)
class Words:
    """What an answer says, in lower case for matching and cleaned for showing.

    Attributes:
        content: the JSON object; None when the answer is not one.
        shown: error and message as one short line without secrets.
    """

    content: dict[str, object] | None
    shown: str

    def say(self, *phrases: str) -> bool:
        """Whether any of the phrases is in the error or the message."""
        said = self.shown.lower()
        return any(phrase in said for phrase in phrases)

    @property
    def refused(self) -> bool:
        """Whether the answer says in so many words that nothing was done."""
        if self.content is None:
            return False
        return self.content.get("success") is False or bool(self.content.get("error"))


def words_of(reply: Reply, http: Http) -> Words:
    """Read what an answer says; never raises."""
    content: dict[str, object] | None = None
    try:
        parsed = json.loads(reply.body.decode("utf-8", errors="replace"), strict=False)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        content = cast("dict[str, object]", parsed)
        parts = (content.get(key) for key in ("error", "msg", "detail", "message"))
        line = ": ".join(part for part in parts if isinstance(part, str) and part.strip())
        return Words(content, clean(http.redactor.clean(line), limit=_WORDS_CHARS))
    return Words(content, clean(http.snippet(reply), limit=_WORDS_CHARS))


def refusal(reply: Reply, operation: str, http: Http) -> ProviderError | None:
    """The error an answer stands for; None when it is a success.

    A 5xx is ``Ambiguous``: for a request that changes something it may have happened (reads never get here with
    one, ``Http.fetch`` repeats and reports them).
    """
    words = words_of(reply, http)
    ok = 200 <= reply.status < 300
    if ok and not words.refused:
        return None
    return _by_words(reply, words, operation) or _by_status(reply, words, operation)


def _by_words(reply: Reply, words: Words, operation: str) -> ProviderError | None:
    if reply.status == TOO_MANY or words.say(*_TOO_OFTEN):
        return _rate_limited(reply, words, operation)
    if reply.status >= 500 or words.content is None:
        return None
    if words.say(*_BAD_KEY):
        return _error(AuthRejected, reply, words, operation, _KEY_REJECTED)
    if words.say("no_such_ask"):
        return _error(OfferTaken, reply, words, operation, "the offer is gone")
    if words.say(*_ACCOUNT):
        return _error(AccountProblem, reply, words, operation, "the account stands in the way")
    if words.say("deprecated"):
        return _error(ApiGone, reply, words, operation, _RETIRED)
    if reply.status in {200, 404} and words.say(*_GONE):
        return _error(NotFound, reply, words, operation, "there is no such thing")
    return None


def _by_status(reply: Reply, words: Words, operation: str) -> ProviderError:
    kind, meaning = _meaning(reply, words)
    return _error(kind, reply, words, operation, meaning)


def _meaning(reply: Reply, words: Words) -> tuple[type[ProviderError], str]:
    status = reply.status
    if is_passing(status):
        return Ambiguous, "the provider failed, it may have been done"
    if is_html(reply):
        return MalformedReply, "the answer is a web page"
    if 300 <= status < 400:
        return MalformedReply, "the answer is a redirect, which is not followed"
    if status == 403:
        return _forbidden(words)
    if status == 404 and words.content is None:
        return MalformedReply, "the answer is no data"
    return _PLAIN.get(status, (Rejected, "refused"))


def _forbidden(words: Words) -> tuple[type[ProviderError], str]:
    if words.say(*_SCOPE):
        return ScopeRejected, "not permitted: this key may not do that"
    if words.say("invalid_args", "not your own"):
        return OfferTaken, "this offer is not for us"
    return AuthRejected, _KEY_REJECTED


def _rate_limited(reply: Reply, words: Words, operation: str) -> RateLimited:
    quota = " (the day's search quota is used up)" if words.say("search_quota_exceeded") else ""
    msg = f"{NAME}: {operation}: asked too often{quota}, status {reply.status}{_quoted(words)}"
    return RateLimited(
        msg,
        retry_after_s=retry_after_s(reply),
        provider=NAME,
        operation=operation,
        status=reply.status,
        body=words.shown,
    )


def _error(
    kind: type[ProviderError], reply: Reply, words: Words, operation: str, meaning: str
) -> ProviderError:
    msg = f"{NAME}: {operation}: {meaning} (status {reply.status}{_quoted(words)})"
    return kind(msg, provider=NAME, operation=operation, status=reply.status, body=words.shown)


def _quoted(words: Words) -> str:
    return f", {words.shown!r}" if words.shown else ""
