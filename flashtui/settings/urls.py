"""Whether an address stays on this machine."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(url: str) -> bool:
    """Whether the host of a URL is ``localhost`` or a loopback address; False for anything that cannot be read."""
    try:
        host = urlsplit(url.strip()).hostname
    except ValueError:
        return False
    if host is None:
        return False
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
