"""The proxy variables of a bastion host: which proxy a request goes through, or why a variable cannot be used."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flashtui.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

_USABLE = frozenset({"http", "https"})


@dataclass(frozen=True, slots=True)
class ProxyRules:
    """What the environment says about proxies.

    Attributes:
        https: for https addresses; None: go directly.
        http: for http addresses; None: go directly.
        direct: hosts, suffixes, addresses and networks that are reached without a proxy.
    """

    https: str | None = None
    http: str | None = None
    direct: tuple[str, ...] = ()

    def proxy_for(self, scheme: str, host: str) -> str | None:
        """The proxy for a request; None: go directly."""
        proxy = self.https if scheme == "https" else self.http
        return None if proxy is None or goes_direct(host, self.direct) else proxy


def proxy_rules(env: Mapping[str, str]) -> ProxyRules:
    """Read ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY`` (either case; lower case wins).

    Raises:
        ConfigError: a variable names a kind of proxy that cannot be used; its password is not in the message.
    """
    direct = tuple(e.strip() for e in _value(env, "no_proxy").split(",") if e.strip())
    for_all = _proxy(env, "all_proxy")
    return ProxyRules(
        https=_proxy(env, "https_proxy") or for_all,
        http=_proxy(env, "http_proxy") or for_all,
        direct=direct,
    )


def goes_direct(host: str, entries: tuple[str, ...]) -> bool:
    """Whether a ``NO_PROXY`` list covers a host.

    Entries are ``*``, names (with all names below them), addresses with or without brackets, networks; a port in an
    entry is ignored, and an entry that is none of these covers nothing.
    """
    bare = host.strip("[]").lower().rstrip(".")
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        address = None
    return any(_covers(entry.lower(), bare, address) for entry in entries)


def _covers(
    entry: str, host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None
) -> bool:
    if entry == "*":
        return True
    if address is None:
        name = entry.removeprefix("*").lstrip(".").partition(":")[0]
        return bool(name) and (host == name or host.endswith(f".{name}"))
    literal = entry.partition("]")[0].lstrip("[") if entry.startswith("[") else entry
    if literal.count(":") == 1:
        literal = literal.partition(":")[0]
    try:
        return address in ipaddress.ip_network(literal, strict=False)
    except ValueError:
        return False


def _proxy(env: Mapping[str, str], name: str) -> str | None:
    value = _value(env, name)
    if not value:
        return None
    url = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(url)
        host, scheme, _port = parts.hostname, parts.scheme.lower(), parts.port
    except ValueError:
        host, scheme = None, ""
    if scheme in _USABLE and host:
        return url
    what = f"{scheme}:// proxies" if scheme not in _USABLE and scheme else "this address"
    msg = (
        f"{_name_in(env, name)}: {what} cannot be used; set it to http://host:port, or unset it, "
        "or list the provider in NO_PROXY"
    )
    raise ConfigError(msg)


def _value(env: Mapping[str, str], name: str) -> str:
    return env.get(_name_in(env, name), "").strip()


def _name_in(env: Mapping[str, str], name: str) -> str:
    return name if env.get(name, "").strip() else name.upper()
