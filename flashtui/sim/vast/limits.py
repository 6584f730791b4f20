"""Minimum intervals per endpoint and identity, behind the scenario's `[vast] rate_limits = true`.

Source: vast 5.1 (table of seconds, the 12 s penalty for creates, both body styles).
"""

from __future__ import annotations

from collections import OrderedDict, deque

from flashtui.sim.http import Response, json_response

INTERVALS_S = {
    "list": 1.0,
    "detail": 2.0,
    "manage": 1.0,
    "destroy": 3.0,
    "create": 4.5,
    "bid": 5.5,
    "execute": 1.5,
    "charges": 1.0,
    "invoices": 3.0,
    "prepay": 2.0,
}
_CREATE_PENALTY_S = 12.0
_SEARCHES_PER_MINUTE = 10
_KEPT = 2000


class Limits:
    """Remembers when each identity last used each endpoint, in simulated time."""

    def __init__(self, *, is_on: bool) -> None:
        self._is_on = is_on
        self._free_at: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._searches: OrderedDict[str, deque[float]] = OrderedDict()
        self.refused = 0

    def check(self, endpoint: str, identity: str, now: float) -> Response | None:
        """A 429 when this comes too soon, else None."""
        if not self._is_on:
            return None
        wait = (
            self._search(identity, now)
            if endpoint == "search"
            else self._interval(endpoint, identity, now)
        )
        if wait <= 0:
            return None
        self.refused += 1
        return self._refusal(INTERVALS_S.get(endpoint, 6.0))

    def _interval(self, endpoint: str, identity: str, now: float) -> float:
        interval = INTERVALS_S.get(endpoint)
        if interval is None:
            return 0.0
        key = (endpoint, identity)
        wait = self._free_at.get(key, 0.0) - now
        if wait > 0:
            if endpoint == "create":
                self._free_at[key] = now + _CREATE_PENALTY_S
            return wait
        self._free_at[key] = now + interval
        self._free_at.move_to_end(key)
        if len(self._free_at) > _KEPT:
            self._free_at.popitem(last=False)
        return 0.0

    def _search(self, identity: str, now: float) -> float:
        recent = self._searches.setdefault(identity, deque(maxlen=_SEARCHES_PER_MINUTE))
        if len(self._searches) > _KEPT:
            self._searches.popitem(last=False)
        if len(recent) == _SEARCHES_PER_MINUTE and now - recent[0] < 60:
            return 60 - (now - recent[0])
        recent.append(now)
        return 0.0

    def _refusal(self, threshold: float) -> Response:
        text = "API requests too frequent"
        if self.refused % 3 == 1:
            return Response(
                429,
                f"{text}: endpoint threshold={threshold}".encode(),
                {"Content-Type": "text/plain"},
            )
        if self.refused % 3 == 2:
            return json_response(429, {"detail": f"{text} endpoint threshold={threshold}"})
        return json_response(429, {"success": False, "error": "rate_limit_exceeded", "msg": text})
