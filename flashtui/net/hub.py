"""Reads single small files of a dataset repository on the hub, where a run's worker leaves its signs of life."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from flashtui.domain.errors import AuthRejected, Unavailable
from flashtui.net.urls import host_of

if TYPE_CHECKING:
    from flashtui.net.exchange import Http
    from flashtui.net.secret import Secret

_MOST_BYTES = 2_000_000
_TIMEOUT_S = 15.0
_WITHIN_S = 20.0


class HubFiles:
    """The files of dataset repositories, with one token.

    Args:
        http: shared.
        endpoint: base address of the hub.
        token: None: public repositories only.
        provider: registry name of who asks, for errors.
    """

    def __init__(self, http: Http, endpoint: str, token: Secret | None, provider: str) -> None:
        self._http = http
        self._endpoint = endpoint.rstrip("/")
        self._token = token
        self._provider = provider

    async def read(self, repo: str, path: str) -> bytes | None:
        """A file of the main branch as it is now; None: there is no such file (yet).

        Raises:
            ProviderError: could not be read; that says nothing about the file.
        """
        operation = "read the run's repository"
        url = f"{self._endpoint}/datasets/{quote(repo)}/resolve/main/{quote(path)}"
        reply = await self._http.fetch(
            "GET",
            url,
            provider=self._provider,
            operation=operation,
            secret=self._token,
            headers={"Cache-Control": "no-cache"},
            timeout_s=_TIMEOUT_S,
            pace_key=f"hub:{host_of(url)}",
            max_bytes=_MOST_BYTES,
            attempts=2,
            within_s=_WITHIN_S,
        )
        if reply.status == 200:
            return reply.body
        if reply.status == 404:
            return None
        if reply.status in {401, 403}:
            msg = f"{self._provider}: {operation}: the hub refused the token (status {reply.status}); check HF_TOKEN"
            raise AuthRejected(
                msg, provider=self._provider, operation=operation, status=reply.status
            )
        msg = f"{self._provider}: {operation}: the hub answered {reply.status}"
        raise Unavailable(msg, provider=self._provider, operation=operation, status=reply.status)
