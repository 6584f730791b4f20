"""From the bytes of an answer to JSON values, or to an error in words; nothing a server sends gets past it raw."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from flashtui.domain.errors import MalformedReply
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from flashtui.net.exchange import Reply

_SNIPPET_CHARS = 200
_SNIPPET_BYTES = 4000
_FIRST_ERROR = 400
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


def json_body(reply: Reply, provider: str, operation: str) -> object:
    """The JSON value of an answer.

    Numbers with a fraction come as ``Decimal``; NaN and Infinity come as None; control characters inside strings
    are let through (real answers hold them), so every text still has to be cleaned before it is shown.

    Raises:
        MalformedReply: empty, a web page, cut off, or otherwise not JSON.
    """
    text = reply.body.decode("utf-8-sig", errors="replace")
    try:
        return cast(
            "object", json.loads(text, strict=False, parse_float=Decimal, parse_constant=_no_number)
        )
    except (ValueError, RecursionError) as error:
        raise _malformed(reply, _what_it_is(reply, text), provider, operation) from error


def json_object(reply: Reply, provider: str, operation: str) -> dict[str, object]:
    """The JSON object of an answer.

    Raises:
        MalformedReply: as :func:`json_body`, or another kind of value than an object.
    """
    value = json_body(reply, provider, operation)
    if not isinstance(value, dict):
        raise _malformed(
            reply, f"a JSON {_kind(value)} where an object belongs", provider, operation
        )
    return cast("dict[str, object]", value)


def malformed(reply: Reply, what: str, provider: str, operation: str) -> MalformedReply:
    """The error for an answer of an unexpected shape.

    Args:
        reply: the answer; none of its content goes into the message.
        what: what is wrong, completing "the answer is …".
        provider: registry name.
        operation: what was being done.
    """
    return _malformed(reply, what, provider, operation)


def snippet(reply: Reply) -> str:
    """A short, safe part of an error answer for log and audit; empty for a success, which may hold secrets.

    The text still has to pass the redactor (``Http.snippet`` does both).
    """
    if reply.status < _FIRST_ERROR:
        return ""
    text = reply.body[:_SNIPPET_BYTES].decode("utf-8", errors="replace")
    title = _TITLE.search(text)
    return clean(title.group(1).strip() if title else text, limit=_SNIPPET_CHARS)


def is_html(reply: Reply) -> bool:
    """Whether the answer is a web page (a proxy's error, a hotel's login)."""
    head = reply.body[:200].lstrip().lower()
    return head.startswith((b"<!doctype", b"<html", b"<head", b"<body"))


def _malformed(reply: Reply, what: str, provider: str, operation: str) -> MalformedReply:
    msg = f"{provider}: {operation}: the answer is {what} (status {reply.status}, {len(reply.body)} bytes)"
    return MalformedReply(msg, provider=provider, operation=operation, status=reply.status)


def _what_it_is(reply: Reply, text: str) -> str:
    if not text.strip():
        return "empty"
    if is_html(reply):
        return "a web page (HTML), not data: a proxy or a login page may be in the way"
    return "not whole or not JSON"


def _kind(value: object) -> str:
    return {list: "list", str: "text", bool: "true or false", type(None): "null"}.get(
        type(value), "number"
    )


def _no_number(_name: str) -> None:
    return None
