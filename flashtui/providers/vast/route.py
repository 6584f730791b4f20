"""How a request reaches Vast: address, key, pace and refusal, the same for every route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.net.urls import is_loopback
from flashtui.providers.vast.auth import NAME, identity_of, key_of
from flashtui.providers.vast.replies import refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.net.exchange import Reply
    from flashtui.net.pace import Budget
    from flashtui.providers.base import Context


class Route:
    """Sends to one account's address, in lanes that are paced apart.

    Args:
        context: settings, key and HTTP.
    """

    def __init__(self, context: Context) -> None:
        self.http = context.http
        self._base = context.settings.vast_url.rstrip("/")
        self._key = key_of(context)
        self._identity = identity_of(context)

    async def read(
        self,
        method: str,
        path: str,
        operation: str,
        *,
        lane: str,
        json: object = None,
        params: Mapping[str, str | int] | None = None,
        min_interval_s: float = 0.0,
        budget: Budget | None = None,
        attempts: int = 4,
        timeout_s: float = 30.0,
    ) -> Reply:
        """A request that changes nothing; repeated when that may help.

        Raises:
            ProviderError: no answer, or a refusal.
        """
        reply = await self.http.fetch(
            method,
            f"{self._base}{path}",
            provider=NAME,
            operation=operation,
            secret=self._key,
            json=json,
            params=params,
            pace_key=self._lane(lane),
            min_interval_s=min_interval_s,
            budget=budget,
            attempts=attempts,
            timeout_s=timeout_s,
        )
        self.raise_refusal(reply, operation)
        return reply

    async def change(
        self,
        method: str,
        path: str,
        operation: str,
        *,
        lane: str,
        json: object,
        min_interval_s: float,
    ) -> Reply:
        """A request that changes something; sent once, any answer is returned.

        Raises:
            ProviderError: no whole answer.
        """
        return await self.http.send(
            method,
            f"{self._base}{path}",
            provider=NAME,
            operation=operation,
            secret=self._key,
            json=json,
            pace_key=self._lane(lane),
            min_interval_s=min_interval_s,
        )

    def raise_refusal(self, reply: Reply, operation: str) -> None:
        """Raise what an answer stands for, unless it is a success."""
        error = refusal(reply, operation, self.http)
        if error is not None:
            raise error

    def may_fetch(self, url: str) -> bool:
        """Whether an address named by an answer may be read (without the key)."""
        if url.startswith("https://"):
            return True
        return url.startswith("http://") and is_loopback(url) and is_loopback(self._base)

    def _lane(self, lane: str) -> str:
        return f"{NAME}:{lane}:{self._identity}"
