"""Vast's key: which one is used and where it comes from; it only ever travels in the Authorization header."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.net.secret import Secret
    from flashtui.providers.base import Context

NAME = "vast"
KEY_VARIABLE = "VAST_API_KEY"
# Under this name a handle keeps which key owns what it names.
FINGERPRINT = "key_fingerprint"


def key_of(context: Context) -> Secret | None:
    """The key to send; None: none is set, and only the public market can be read."""
    return context.keys[0] if context.keys else None


def identity_of(context: Context) -> str:
    """What rate limits are counted for, without showing the key."""
    key = key_of(context)
    return key.fingerprint() if key is not None else "anonymous"


def describe_key(context: Context) -> str:
    """Where the key comes from and its last characters, for a person."""
    key = key_of(context)
    if key is None:
        return "no key"
    tail = f", ends in {key.tail()}" if key.tail() else ""
    return f"from {context.settings.key_source(NAME) or 'the caller'}{tail}"
