"""Which outcomes of a request that changes nothing may be repeated, and after how long."""

from __future__ import annotations

import json
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only
    from datetime import datetime

    from flashtui.net.exchange import Reply

TOO_MANY = 429
_PASSING_4XX = frozenset({408, 425})
_FIRST_SERVER_ERROR = 500
_BASE_S = 1.0
_CAP_S = 30.0
_IN_WORDS = re.compile(
    rb"(?:threshold\s*=\s*|retry[_ ]after[\"']?\s*[:=]?\s*[\"']?|try again in\s+)(\d{1,6}(?:\.\d{1,6})?)",
    re.IGNORECASE,
)
_WORDS_WITHIN = 4096


def is_passing(status: int) -> bool:
    """Whether a status says "not now" to a request that may be sent again."""
    return status == TOO_MANY or status in _PASSING_4XX or status >= _FIRST_SERVER_ERROR


def backoff_s(
    attempt: int, rng: random.Random, *, base_s: float = _BASE_S, cap_s: float = _CAP_S
) -> float:
    """Seconds before the next try: doubling, capped, with jitter of 0.7 to 1.3.

    Args:
        attempt: how many tries have failed, from 1.
        rng: the injected source of chance.
        base_s: after the first failure.
        cap_s: never more, before jitter.
    """
    doubled = base_s * 2.0 ** min(attempt - 1, 30)
    return min(doubled, cap_s) * (0.7 + 0.6 * rng.random())


def retry_after_s(reply: Reply) -> float | None:
    """How long the provider asked to wait: header first, then body; None: it did not say.

    Understood are ``Retry-After`` as seconds or HTTP date, ``X-RateLimit-Reset`` as epoch seconds (Vast's search
    quota), a JSON ``retry_after``, and the words of both providers ("endpoint threshold=4.5", "try again in 60").
    """
    header = reply.headers.get("retry-after", "").strip()
    if header:
        asked = _seconds(header)
        if asked is None:
            asked = _until_date(header, reply.received_at)
        if asked is not None:
            return asked
    reset = _seconds(reply.headers.get("x-ratelimit-reset", "").strip())
    if reset is not None:
        return max(0.0, reset - reply.received_at.timestamp())
    return _from_body(reply.body)


def spacing_s(reply: Reply) -> float | None:
    """Seconds to leave before the next request when a ``RateLimit`` header says the allowance runs out; else None."""
    header = reply.headers.get("ratelimit", "")
    remaining = _parameter(header, "remaining", "r")
    reset = _parameter(header, "reset", "t")
    if remaining is None or reset is None:
        remaining = _seconds(reply.headers.get("ratelimit-remaining", "").strip())
        reset = _seconds(reply.headers.get("ratelimit-reset", "").strip())
    if remaining is None or reset is None or remaining > _LOW_ALLOWANCE:
        return None
    return reset / (remaining + 1)


_LOW_ALLOWANCE = 5


def _parameter(header: str, *names: str) -> float | None:
    for name in names:
        match = re.search(rf"\b{name}\s*=\s*(\d{{1,9}})", header, re.IGNORECASE)
        if match:
            return float(match.group(1))
    return None


def _seconds(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,12}(?:\.\d{1,9})?", text) else None


def _until_date(text: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return max(0.0, (moment - now).total_seconds())


def _from_body(body: bytes) -> float | None:
    head = body[:_WORDS_WITHIN]
    try:
        parsed = json.loads(head)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        asked = parsed.get("retry_after")
        if isinstance(asked, int | float) and not isinstance(asked, bool) and asked >= 0:
            return float(asked)
    match = _IN_WORDS.search(head)
    return float(match.group(1)) if match else None
