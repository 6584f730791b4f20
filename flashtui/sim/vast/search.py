"""Offer search in its four spellings, with its caps and its daily quota on rows.

Source: vast 2.1 (endpoints), 2.2 (query object), 2.6 (caps, sampling, quota).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import TYPE_CHECKING

from flashtui.sim import market
from flashtui.sim.http import Request, Response, json_response
from flashtui.sim.vast import query as language
from flashtui.sim.vast.replies import auth_error, bad_request, json_object

if TYPE_CHECKING:
    from collections.abc import Collection

    from flashtui.sim.vast.account import Caller
    from flashtui.sim.vast.offer_json import OfferRow
    from flashtui.sim.vast.offers import Market
    from flashtui.sim.world import World

_NOT_FILTERS = {"order", "type", "limit", "allocated_storage", "disable_bundling"}
# Filterable although no offer carries them (vast 2.3, end).
_VIRTUAL = {"datacenter", "verified", "target_reliability", "rented", "external", "hosting_type"}
_KINDS = {"on-demand": "on-demand", "ondemand": "on-demand", "ask": "on-demand", "reserved": "on-demand",
          "bid": "bid", "interruptible": "bid"}  # fmt: skip
_ROWS_WITHOUT_KEY = 64
_SERVER_STORAGE_GB = 8.0
_DAY_S = 86400.0
_KEPT_ANSWERS = 32


class Search:
    """Answers searches over one market; repeats within a tick come from memory."""

    def __init__(self, world: World, offers: Market) -> None:
        table = world.scenario.table("vast")
        self._world = world
        self._market = offers
        self._cap = _int(table.get("search_cap"), 1024)
        self._default_rows = _int(table.get("search_default_rows"), 64)
        self._quota = _int(table.get("daily_row_quota"), 0)
        self._served: dict[tuple[str, int], int] = {}
        self._moment = (0, 0)
        self._kept: OrderedDict[tuple[bool, str], tuple[bytes, int]] = OrderedDict()

    def bundles(self, request: Request, caller: Caller) -> Response:
        """`POST /api/v0/bundles/`: the query object is the body. `GET` carries it as `?q=`."""
        return self._answer(request, caller, _query_of(request), None)

    def asks(self, request: Request, caller: Caller) -> Response:
        """`PUT /api/v0/search/asks/`: `{"select_cols": [...], "q": {...}}`. `GET` carries it as `?q=`."""
        if request.method == "GET":
            return self._answer(request, caller, _query_of(request), None)
        body = json_object(request.body)
        if body is None or not isinstance(body.get("q"), dict):
            return bad_request("invalid_args", "error 400: q must be an object")
        for name in set(body) - {"q", "select_cols"}:
            self._note("unknown_field", f"search/asks: {name}")
        return self._answer(request, caller, body["q"], body.get("select_cols"))

    def _answer(self, request: Request, caller: Caller, query: object, columns: object) -> Response:
        if caller.is_wrong:
            return auth_error(404)
        if not isinstance(query, dict):
            return bad_request("invalid_args", "error 400: the query must be a JSON object")
        if fault := self._world.faults.take("search_quota", "vast", request.route):
            return self._quota_used_up(fault.number_arg("reset_s", 3600.0))
        if self._quota and self._served.get(self._day(caller), 0) >= self._quota:
            return self._quota_used_up(_DAY_S - self._world.time.now() % _DAY_S)
        try:
            body, rows = self._found(query, columns, caller)
        except language.BadQuery as error:
            return bad_request("invalid_args", f"error 400/3467: {error}")
        if self._quota:
            self._count_rows(self._day(caller), rows)
        return Response(200, body, {"Content-Type": "application/json"})

    def _found(
        self, query: dict[str, object], columns: object, caller: Caller
    ) -> tuple[bytes, int]:
        now = self._world.time.now()
        text = json.dumps([query, columns], sort_keys=True)
        moment = (market.tick_of(now), self._market.version)
        if moment != self._moment:
            self._moment = moment
            self._kept.clear()
        key = (caller.has_key, text)
        if (kept := self._kept.get(key)) is None:
            rows = self._rows(query, has_key=caller.has_key, now=now)
            kept = (json.dumps({"offers": _selected(rows, columns)}).encode(), len(rows))
            self._kept[key] = kept
            if len(self._kept) > _KEPT_ANSWERS:
                self._kept.popitem(last=False)
        return kept

    def _rows(self, query: dict[str, object], *, has_key: bool, now: float) -> list[OfferRow]:
        kind = _KINDS.get(str(query.get("type", "on-demand")))
        if kind is None:
            self._note("unknown_type", str(query.get("type")))
            kind = "on-demand"
        storage = _number(query.get("allocated_storage", _SERVER_STORAGE_GB), "allocated_storage")
        everything = self._market.rows(now, kind=kind, allocated_gb=storage)
        known = tuple(everything[0]) if everything else ()
        filters = {name: value for name, value in query.items() if name not in _NOT_FILTERS}
        tests = language.tests_from(filters, {*known, *_VIRTUAL}, self._note)
        if "allocated_storage" in query:
            tests.append(_has_disk(storage))
        rows = [row for row in everything if all(test(row) for test in tests)]
        return self._page(rows, query, known, has_key=has_key, now=now)

    def _page(
        self,
        rows: list[OfferRow],
        query: dict[str, object],
        known: Collection[str],
        *,
        has_key: bool,
        now: float,
    ) -> list[OfferRow]:
        if not has_key:
            # Without a key: 64 rows, cheapest first, whatever is asked (vast 2.6).
            return language.ordered(rows, [["dph_total", "asc"]], known, self._note)[
                :_ROWS_WITHOUT_KEY
            ]
        asked = query.get("limit")
        limit = self._default_rows if asked is None else int(_number(asked, "limit"))
        limit = max(min(limit, self._cap), 0)
        if query.get("order"):
            return language.ordered(rows, query["order"], known, self._note)[:limit]
        if len(rows) <= limit:
            return rows
        # Without an order, a page of a larger result is a random sample (vast 2.6, rule 1).
        sample = self._world.rng("vast", "sample", market.tick_of(now))
        return sample.sample(rows, limit)

    def _quota_used_up(self, seconds: float) -> Response:
        reset = self._world.time.now() + seconds
        body = {
            "success": False,
            "error": "search_quota_exceeded",
            "msg": "Daily search quota exceeded.",
        }
        return json_response(429, body, headers={"X-RateLimit-Reset": str(int(reset))})

    def _count_rows(self, day: tuple[str, int], rows: int) -> None:
        """Add to today's rows; other days are forgotten, the quota resets at UTC midnight."""
        today = {key: count for key, count in self._served.items() if key[1] == day[1]}
        self._served = {**today, day: today.get(day, 0) + rows}

    def _day(self, caller: Caller) -> tuple[str, int]:
        return (caller.identity, int(self._world.time.now() // _DAY_S))

    def _note(self, kind: str, detail: str) -> None:
        self._world.strict.record("vast", kind, f"search: {detail}")


def _query_of(request: Request) -> object:
    if request.method != "GET":
        return json_object(request.body)
    text = request.first("q")
    return {} if text is None else json_object(text.encode())


def _selected(rows: list[OfferRow], columns: object) -> list[dict[str, object]]:
    whole = [row.whole() for row in rows]
    if not isinstance(columns, list) or "*" in columns:
        return whole
    return [{name: row.get(name) for name in columns} for row in whole]


def _has_disk(storage_gb: float) -> language.Test:
    def test(row: language.Row) -> bool:
        space = row["disk_space"]
        return isinstance(space, float) and space >= storage_gb

    return test


def _number(value: object, name: str) -> float:
    try:
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    msg = f"{name} must be a number, not {value!r}"
    raise language.BadQuery(msg)


def _int(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
