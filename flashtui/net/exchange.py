"""One HTTP exchange with a provider: paced, with one deadline, every failure typed, nothing secret in any text."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict, Unpack

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from flashtui.domain.clock import Deadline
from flashtui.domain.errors import (
    Ambiguous,
    AuthRejected,
    ConfigError,
    MalformedReply,
    NotSent,
    RateLimited,
    Unavailable,
)
from flashtui.net.decode import snippet
from flashtui.net.failures import Progress, failure, too_slow
from flashtui.net.retry import TOO_MANY, backoff_s, is_passing, retry_after_s, spacing_s
from flashtui.net.urls import host_of

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.net.pace import Budget, Pacer
    from flashtui.net.secret import Redactor, Secret
    from flashtui.net.transport import Client

_KEY = re.compile(r"[\x21-\x7e]+")
_FIRST_PAUSE_S = 2.0
# So that clients told the same time do not all come back in the same moment.
_SPREAD = 0.1


class ExchangeOptions(TypedDict):
    """The keywords of :meth:`Http.send`, which explains them."""

    provider: str
    operation: str
    secret: NotRequired[Secret | None]
    json: NotRequired[object]
    params: NotRequired[Mapping[str, str | int] | None]
    headers: NotRequired[Mapping[str, str] | None]
    timeout_s: NotRequired[float]
    pace_key: NotRequired[str | None]
    min_interval_s: NotRequired[float]
    budget: NotRequired[Budget | None]
    max_bytes: NotRequired[int]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came.

    Attributes:
        status: any; redirects (3xx) are never followed.
        body: whole and decoded from its transfer coding.
        headers: names in lower case.
        received_at: when the last byte was in.
    """

    status: int
    body: bytes
    headers: Mapping[str, str]
    received_at: datetime


class Http:
    """Sends requests for the providers.

    Args:
        client: one shared client, or what hands it out (asked for every exchange; it makes it on first use); a
            ``ConfigError`` from there (a proxy variable that cannot be used) becomes ``NotSent`` with its sentence.
        clock: paces, waits and stamps; the deadline of an exchange runs on real time, as the network does.
        rng: jitter.
        pacer: shared by everything that uses this object.
        redactor: learns every key that is sent.
    """

    def __init__(
        self,
        client: Client | Callable[[], Client],
        clock: Clock,
        rng: random.Random,
        pacer: Pacer,
        redactor: Redactor,
    ) -> None:
        self._client = client
        self.clock = clock
        self._rng = rng
        self.pacer = pacer
        self.redactor = redactor

    def snippet(self, reply: Reply) -> str:
        """A short part of an error answer, cleaned and redacted; empty for a success."""
        return self.redactor.clean(snippet(reply))

    async def send(
        self,
        method: str,
        url: str,
        *,
        provider: str,
        operation: str,
        secret: Secret | None = None,
        json: object = None,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        pace_key: str | None = None,
        min_interval_s: float = 0.0,
        budget: Budget | None = None,
        max_bytes: int = 32_000_000,
    ) -> Reply:
        """One exchange; never repeated.

        Args:
            method: HTTP method.
            url: without query.
            provider: registry name, for errors.
            operation: what is being done, for errors, e.g. ``"search offers"``.
            secret: sent as ``Authorization: Bearer``.
            json: body; None: no body.
            params: query.
            headers: more headers.
            timeout_s: for the whole exchange, from connecting to the last byte (not for the wait for one's turn).
            pace_key: endpoint and identity that ``min_interval_s``, ``budget`` and penalties count for; None: the
                host, where only penalties count.
            min_interval_s: seconds between two requests of this pace key.
            budget: so many requests within a window.
            max_bytes: a longer answer is cut off and refused.

        Returns:
            The answer with any status.

        Raises:
            NotSent: nothing left this machine.
            Ambiguous: the request may have been carried out.
            MalformedReply: too long or in a broken coding; to a create this says as little as ``Ambiguous``.
            AuthRejected: the key cannot be a key; nothing was sent.
        """
        lane = pace_key or f"host:{host_of(url)}"
        client = self._ready_client(provider, operation)
        all_headers = {**(headers or {}), **self._authorization(secret, provider, operation)}
        progress = Progress()
        try:
            request = client.build_request(
                method,
                url,
                json=json,
                params=params,
                headers=all_headers,
                timeout=_timeouts(timeout_s),
                extensions={"trace": progress.trace},
            )
        except (httpx.InvalidURL, ValueError):
            msg = f"{provider}: {operation}: the request cannot be written; nothing was sent"
            raise NotSent(msg, provider=provider, operation=operation) from None
        await self.pacer.wait(lane, min_interval_s, budget=budget)
        try:
            async with asyncio.timeout(timeout_s):
                reply = await self._exchange(client, request, max_bytes, provider, operation)
        except TimeoutError as error:
            raise too_slow(progress, timeout_s, provider, operation, host_of(url)) from error
        except (httpx.HTTPError, httpx.StreamError, OSError, ValueError) as error:
            # The library's own text can quote the header that it could not send, so it is not chained.
            raise failure(
                error, progress, provider, operation, host_of(url), self.redactor.clean
            ) from None
        self._note_limits(lane, reply)
        return reply

    async def fetch(
        self,
        method: str,
        url: str,
        *,
        attempts: int = 4,
        within_s: float = 60.0,
        **exchange: Unpack[ExchangeOptions],
    ) -> Reply:
        """An exchange that changes nothing (read, search, listing), repeated when that may help.

        Args:
            method: HTTP method.
            url: without query.
            attempts: tries in all.
            within_s: no further try starts later than this after the first.
            exchange: the keywords of :meth:`send`, for each try.

        Returns:
            An answer that is neither 429 nor 5xx (408 and 425 count as passing too).

        Raises:
            RateLimited: still 429, or the pause asked for is longer than ``within_s`` allows.
            Unavailable: still failing; ``kind`` says whether it was time or something else.
            NotSent: no connection.
            MalformedReply: an answer too long or in a broken coding.
            AuthRejected: the key cannot be a key.
        """
        deadline = Deadline.after(self.clock, within_s)
        provider, operation = exchange["provider"], exchange["operation"]

        async def once() -> Reply:
            try:
                reply = await self.send(method, url, **exchange)
            except Ambiguous as error:
                unavailable = Unavailable(str(error), provider=provider, operation=operation)
                unavailable.kind = error.kind
                raise unavailable from error
            self._refuse_passing(reply, provider, operation)
            return reply

        retrying = AsyncRetrying(
            sleep=self.clock.sleep,
            wait=self._pause_before_next,
            stop=lambda state: self._give_up(state, attempts, deadline),
            retry=retry_if_exception_type((NotSent, Unavailable, RateLimited)),
            reraise=True,
        )
        return await retrying(once)

    def _ready_client(self, provider: str, operation: str) -> Client:
        if isinstance(self._client, httpx.AsyncClient):  # noqa: TID251 - recognised, not built
            return self._client
        try:
            return self._client()
        except ConfigError as error:
            raise NotSent(str(error), provider=provider, operation=operation) from error

    def _authorization(
        self, secret: Secret | None, provider: str, operation: str
    ) -> dict[str, str]:
        if secret is None:
            return {}
        self.redactor.register(secret)
        if not _KEY.fullmatch(secret.reveal()):
            msg = f"{provider}: the API key holds characters that no key has (blank, newline or non-ASCII); set it again"
            raise AuthRejected(msg, provider=provider, operation=operation)
        return {"Authorization": f"Bearer {secret.reveal()}"}

    async def _exchange(
        self, client: Client, request: httpx.Request, max_bytes: int, provider: str, operation: str
    ) -> Reply:
        response = await client.send(request, stream=True)
        try:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > max_bytes:
                    msg = f"{provider}: {operation}: the answer is longer than {max_bytes // 1_000_000} MB and was cut off"
                    raise MalformedReply(
                        msg, provider=provider, operation=operation, status=response.status_code
                    )
        finally:
            await response.aclose()
        names = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status_code, bytes(body), names, self.clock.now())

    def _note_limits(self, lane: str, reply: Reply) -> None:
        pause = retry_after_s(reply) if reply.status == TOO_MANY else spacing_s(reply)
        if pause is not None:
            self.pacer.penalise(lane, pause)

    def _refuse_passing(self, reply: Reply, provider: str, operation: str) -> None:
        if not is_passing(reply.status):
            return
        said = self.snippet(reply)
        quoted = f" ({said})" if said else ""
        if reply.status == TOO_MANY:
            msg = f"{provider}: {operation}: asked too often, status 429{quoted}; asking again more slowly"
            raise RateLimited(
                msg,
                retry_after_s=retry_after_s(reply),
                provider=provider,
                operation=operation,
                status=reply.status,
                body=said,
            )
        msg = f"{provider}: {operation}: the provider answered {reply.status}{quoted}; asking again later"
        raise Unavailable(
            msg, provider=provider, operation=operation, status=reply.status, body=said
        )

    def _pause_before_next(self, state: RetryCallState) -> float:
        backoff = backoff_s(state.attempt_number, self._rng, base_s=_FIRST_PAUSE_S)
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after_s if isinstance(error, RateLimited) else None
        if asked is None:
            return backoff
        return max(backoff, asked * (1.0 + _SPREAD * self._rng.random()))

    def _give_up(self, state: RetryCallState, attempts: int, deadline: Deadline) -> bool:
        if state.attempt_number >= attempts:
            return True
        return self.clock.monotonic() + state.upcoming_sleep >= deadline.at_monotonic


def _timeouts(timeout_s: float) -> httpx.Timeout:
    # Connecting and waiting for a free connection give up before the whole exchange does, so that "nothing was
    # sent" is known for what it is.
    early = min(10.0, timeout_s * 0.8)
    return httpx.Timeout(timeout_s, connect=early, pool=early)
