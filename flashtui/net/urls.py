"""Which addresses a key may be sent to: https anywhere, plain http on this machine only."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from flashtui.domain.errors import ConfigError
from flashtui.settings.urls import is_loopback

__all__ = ["checked_base_url", "host_of", "is_loopback"]


def checked_base_url(name: str, url: str) -> str:
    """The base URL without trailing slashes, if it is safe to send a key there.

    Args:
        name: the variable or setting that holds it, for the message.
        url: as configured.

    Raises:
        ConfigError: not an http(s) address, or plain http to another machine.
    """
    text = url.strip()
    parts = _split(text)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        msg = f"{name}: not a web address; give one such as https://host.example"
        raise ConfigError(msg)
    if parts.username or parts.password:
        msg = f"{name}: the address holds a user name or password; take it out"
        raise ConfigError(msg)
    if parts.query or parts.fragment:
        msg = (
            f"{name}: the address holds a query ({parts.hostname}/…?…); give only the base address"
        )
        raise ConfigError(msg)
    if parts.scheme == "http" and not is_loopback(text):
        msg = (
            f"{name}: plain http to {parts.hostname} would send the key in the clear; "
            "use https (http is for this machine only)"
        )
        raise ConfigError(msg)
    return text.rstrip("/")


def host_of(url: str) -> str:
    """Host and port of an address, for messages; never its path, query or user."""
    parts = _split(url)
    if parts is None or not parts.hostname:
        return "?"
    try:
        port = parts.port
    except ValueError:
        port = None
    return parts.hostname if port is None else f"{parts.hostname}:{port}"


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url.strip())
    except ValueError:  # e.g. an unclosed bracket of an IPv6 address
        return None
