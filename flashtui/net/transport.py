"""Builds the one HTTP client of a process, for this machine's simulator or for the world behind a proxy."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

import flashtui
from flashtui.domain.errors import ConfigError
from flashtui.net.proxies import ProxyRules, proxy_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

Client = httpx.AsyncClient  # noqa: TID251 - the name by which everything else knows it
USER_AGENT = f"flashtui/{flashtui.__version__}"
_MAX_CONNECTIONS = 20
_KEEP_ALIVE = httpx.Limits(
    max_connections=_MAX_CONNECTIONS,
    max_keepalive_connections=_MAX_CONNECTIONS,
    keepalive_expiry=30.0,
)


def build_client(
    *,
    loopback: bool,
    env: Mapping[str, str] | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    timeout_s: float = 30.0,
) -> Client:
    """A client that follows no redirect and keeps no cookies of its own making.

    Args:
        loopback: every address is this machine; no proxy and no certificate store is touched.
        env: for the proxy and certificate variables; None: none of them.
        transport: used instead of sockets.
        timeout_s: default for each step of an exchange; every request brings its own.

    Raises:
        ConfigError: a proxy or certificate variable cannot be used; the message names it.
    """
    return Client(
        transport=transport or _transport(loopback=loopback, env=env or {}),
        headers={"User-Agent": USER_AGENT, "Accept": "application/json"},
        timeout=httpx.Timeout(timeout_s),
        follow_redirects=False,
        trust_env=False,
    )


class ProxyRouting(httpx.AsyncBaseTransport):
    """Sends each request directly or through the proxy that the rules name for its host."""

    def __init__(self, rules: ProxyRules, verify: ssl.SSLContext) -> None:
        self._rules = rules
        self._verify = verify
        self._routes: dict[str | None, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Route and send."""
        proxy = self._rules.proxy_for(request.url.scheme, request.url.host)
        route = self._routes.get(proxy)
        if route is None:
            route = httpx.AsyncHTTPTransport(
                verify=self._verify, proxy=proxy, limits=_KEEP_ALIVE, trust_env=False
            )
            self._routes[proxy] = route
        return await route.handle_async_request(request)

    async def aclose(self) -> None:
        """Close every route that was opened."""
        for route in self._routes.values():
            await route.aclose()


def _transport(*, loopback: bool, env: Mapping[str, str]) -> httpx.AsyncBaseTransport:
    if loopback:
        trusts_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return httpx.AsyncHTTPTransport(verify=trusts_nobody, limits=_KEEP_ALIVE, trust_env=False)
    return ProxyRouting(proxy_rules(env), _certificates(env))


def _certificates(env: Mapping[str, str]) -> ssl.SSLContext:
    file, folder = (env.get(name, "").strip() for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    if not file and not folder:
        return httpx.create_ssl_context(trust_env=False)
    try:
        if folder and not Path(folder).is_dir():
            raise NotADirectoryError(folder)
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except (OSError, ssl.SSLError) as error:
        name = "SSL_CERT_DIR" if isinstance(error, NotADirectoryError) else "SSL_CERT_FILE"
        msg = f"{name}: {env[name]} cannot be read as certificates; correct it or unset it"
        raise ConfigError(msg) from error
