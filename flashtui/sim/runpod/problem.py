"""Answers of REST v2: JSON, RFC 9457 problems, and the quota headers.

Source: docs api-reference-v2/openapi.json, components/responses and components/headers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.sim.http import Response, json_response

if TYPE_CHECKING:
    from collections.abc import Sequence

_TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    410: "Gone",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    500: "Internal Server Error",
}


class ProblemError(Exception):
    """A refusal on its way to becoming an `application/problem+json` answer."""

    def __init__(self, status: int, detail: str, errors: Sequence[str] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = tuple(errors)


def problem(
    status: int,
    detail: str,
    *,
    errors: Sequence[str] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    """A problem answer: title, status, detail, and `errors` where a body broke the contract."""
    body: dict[str, object] = {
        "title": _TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    if errors:
        body["errors"] = list(errors)
    kept = {"Content-Type": "application/problem+json", **(headers or {})}
    return json_response(status, body, headers=kept)


class Quota:
    """The rate limit of REST v2 per key: 60 a minute, 3000 an hour, 50000 a day.

    The figures are the ones of the documentation's example. Windows are fixed and counted on the
    simulator's clock.
    """

    WINDOWS = (("minute", 60, 60), ("hour", 3000, 3600), ("day", 50_000, 86_400))

    def __init__(self, limits: Sequence[tuple[str, int, int]] = WINDOWS) -> None:
        self._limits = tuple(limits)
        self._used: dict[tuple[str, str], tuple[int, int]] = {}

    def take(self, key: str, now: float) -> tuple[dict[str, str], str | None]:
        """Count one request; gives the headers, and the window that is used up, if any."""
        state: list[str] = []
        exceeded: str | None = None
        wait = 0
        for name, quota, length in self._limits:
            index = int(now // length)
            seen, used = self._used.get((key, name), (index, 0))
            used = used + 1 if seen == index else 1
            self._used[key, name] = (index, used)
            left = int(length - now % length) or 1
            state.append(f'"{name}";r={max(0, quota - used)};t={left}')
            if used > quota and exceeded is None:
                exceeded, wait = name, left
        policy = ", ".join(f'"{name}";q={quota};w={length}' for name, quota, length in self._limits)
        headers = {"RateLimit": ", ".join(state), "RateLimit-Policy": policy}
        if exceeded is not None:
            headers["Retry-After"] = str(wait)
        return headers, exceeded
