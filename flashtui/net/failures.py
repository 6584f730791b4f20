"""Which failure of an exchange means "nothing was sent" and which "it may have been carried out"."""

from __future__ import annotations

import os
import ssl
from typing import TYPE_CHECKING

import httpx

from flashtui.domain.errors import Ambiguous, MalformedReply, NotSent, ProviderError
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BEFORE_SENDING = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
_REASON_CHARS = 120


class Progress:
    """How far a request has come, as the connection reports it."""

    def __init__(self) -> None:
        self.is_reported = False
        self.may_have_left = False

    async def trace(self, event: str, info: Mapping[str, object]) -> None:
        """The transport's trace hook; the request to open a tunnel through a proxy is not ours."""
        self.is_reported = True
        if "send_request_headers.started" not in event:
            return
        request = info.get("request")
        self.may_have_left |= getattr(request, "method", b"") != b"CONNECT"

    @property
    def is_unsent(self) -> bool:
        """Whether the connection has said enough to know that nothing has left."""
        return self.is_reported and not self.may_have_left


def too_slow(
    progress: Progress, timeout_s: float, provider: str, operation: str, host: str
) -> ProviderError:
    """The error for an exchange that has used up its time."""
    if progress.is_unsent:
        msg = f"{provider}: {operation}: no connection to {host} within {timeout_s:g} s; nothing was sent"
        unsent = NotSent(msg, provider=provider, operation=operation)
        unsent.kind = "timeout"
        return unsent
    msg = f"{provider}: {operation}: {host} was too slow, no whole answer within {timeout_s:g} s"
    return Ambiguous(msg, provider=provider, operation=operation)


def failure(
    error: Exception,
    progress: Progress,
    provider: str,
    operation: str,
    host: str,
    redact: Callable[[str], str],
) -> ProviderError:
    """The typed error for whatever the client library raised; no key, no query in its text."""
    if isinstance(error, httpx.DecodingError):
        msg = f"{provider}: {operation}: the answer of {host} is in a broken coding"
        return MalformedReply(msg, provider=provider, operation=operation)
    if isinstance(error, _BEFORE_SENDING) or progress.is_unsent:
        reason = clean(redact(_reason(error)), limit=_REASON_CHARS)
        msg = f"{provider}: {operation}: no connection to {host} ({reason}); nothing was sent"
        unsent = NotSent(msg, provider=provider, operation=operation)
        if isinstance(error, httpx.TimeoutException):
            unsent.kind = "timeout"
        return unsent
    if isinstance(error, httpx.TimeoutException):
        msg = f"{provider}: {operation}: {host} was too slow, the request may have arrived"
        return Ambiguous(msg, provider=provider, operation=operation)
    msg = (
        f"{provider}: {operation}: the connection to {host} broke off, the request may have arrived"
    )
    lost = Ambiguous(msg, provider=provider, operation=operation)
    lost.kind = "network"
    return lost


def _reason(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"certificate not accepted: {cause.verify_message}"
        if isinstance(cause, OSError) and cause.errno is not None:
            return os.strerror(cause.errno) if cause.errno > 0 else cause.strerror or "failed"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.TimeoutException):
        return "timed out"
    if isinstance(error, httpx.ProxyError):
        return f"the proxy refused: {error}"
    # The library's text for a request that cannot be built quotes the offending header.
    return str(error) if isinstance(error, httpx.ConnectError) else type(error).__name__
