"""Reading instances: list v1 with pages and tokens, list v0, detail, filter hints.

Source: vast 3.2 (detail and its null forms), 3.3 (list, tokens, filters, the retired v0 list).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from flashtui.sim.http import Request, Response, json_response
from flashtui.sim.vast import query as language
from flashtui.sim.vast.instance_json import instance
from flashtui.sim.vast.replies import bad_request, refusal

if TYPE_CHECKING:
    from flashtui.sim.vast.contracts import Contracts
    from flashtui.sim.world import World

_PAGE = 25
_SMALL_PAGE = 5
_PARAMETERS = {
    "select_filters",
    "order_by",
    "limit",
    "after_token",
    "select_cols",
    "api_key",
    "owner",
}
_COMPUTED = {"dph_total", "num_gpus"}
Rows = list[language.Row]
T = TypeVar("T", list[object], dict[str, object])


class Instances:
    """Answers what exists, from the contracts at a moment."""

    def __init__(self, world: World, contracts: Contracts) -> None:
        self._world = world
        self._contracts = contracts
        self._v0 = str(world.scenario.table("vast").get("v0_list", "gone"))

    def state(self) -> list[dict[str, object]]:
        """Every live contract in full, whatever faults hide it."""
        now = self._world.time.now()
        return [self._shown(contract_id, now) for contract_id in self._contracts.live]

    def detail(self, request: Request, instance_id: int) -> Response:
        """`GET /api/v0/instances/{id}/`: one object, or null, under the plural key."""
        now = self._world.time.now()
        contract = self._contracts.live.get(instance_id)
        hidden = contract is None or not contract.existed(now)
        if hidden or self._world.faults.take("null_detail", "vast", request.route):
            return json_response(200, {"instances": None})
        return json_response(200, {"instances": self._shown(instance_id, now)})

    def list_v0(self, _request: Request) -> Response:
        """The retired list: 410, or for some accounts an empty list without any error."""
        if self._v0 == "empty":
            return json_response(200, {"instances": []})
        return refusal(410, "deprecated_endpoint", "Use /api/v1/instances/ instead.")

    def filters(self, _request: Request) -> Response:
        """`GET /api/v0/instances/filters/`: values worth filtering by."""
        rows = self.state()
        names = ("actual_status", "verification", "gpu_name")
        seen = {tuple(row[name] for name in names) for row in rows}
        found = [dict(zip(names, values, strict=True)) for values in sorted(seen, key=str)]
        return json_response(200, {"filters": found})

    def list_v1(self, request: Request) -> Response:
        """`GET /api/v1/instances/`: filtered, ordered, at most 25 a page."""
        for name in set(request.query) - _PARAMETERS:
            self._world.strict.record("vast", "unknown_parameter", f"instances: {name}")
        try:
            return self._listed(request)
        except language.BadQuery as error:
            return bad_request("invalid_request", str(error))

    def _listed(self, request: Request) -> Response:
        after = request.first("after_token")
        if after and self._world.faults.take("failing_second_page", "vast", request.route):
            return json_response(
                500, {"success": False, "error": "server_error", "msg": "error 500"}
            )
        rows = self._matching(request)
        start = 0
        if after:
            last = _id_in(after)
            if last is None:
                return bad_request("invalid_token", "after_token is not one of ours")
            start = next(
                (i + 1 for i, row in enumerate(rows) if row["id"] == last), _behind(rows, last)
            )
        page = rows[start : start + _limit(request.first("limit"))]
        more = start + len(page) < len(rows)
        columns = [str(name) for name in _json(request, "select_cols", list) or []]
        return json_response(
            200,
            {
                "success": True,
                "instances_found": len(page),
                "total_instances": len(rows),
                "label_counts": Counter(str(row["label"] or "") for row in rows),
                "next_token": _token(page[-1]["id"]) if more and page else None,
                "instances": [{name: row.get(name) for name in columns} for row in page]
                if columns
                else page,
            },
        )

    def _matching(self, request: Request) -> Rows:
        rows = self._rows(request)
        filters: dict[str, object] = _json(request, "select_filters", dict) or {}
        if computed := _COMPUTED & set(filters):
            msg = f"{min(computed)} is computed and cannot be filtered"
            raise language.BadQuery(msg)
        if not rows:
            return []
        known = rows[0].keys()
        tests = language.tests_from(filters, known, self._note)
        order = _json(request, "order_by", list) or []
        chosen: Rows = [row for row in rows if all(test(row) for test in tests)]
        return language.ordered(chosen, [*order, {"col": "id", "dir": "asc"}], known, self._note)

    def _rows(self, request: Request) -> Rows:
        at = self._world.time.now()
        if fault := self._world.faults.take("stale_listing", "vast", request.route):
            at -= fault.number_arg("age_s", 60.0)
        everything = [*self._contracts.gone, *self._contracts.live.values()]
        shown = [contract for contract in everything if contract.existed(at)]
        missing = (
            self._world.faults.take("missing_from_list", "vast", request.route) if shown else None
        )
        if missing is not None:
            newest = max(contract.contract_id for contract in shown)
            left_out = int(missing.number_arg("id", newest))
            shown = [contract for contract in shown if contract.contract_id != left_out]
        start = self._world.start
        return [instance(contract, at, start) for contract in shown]

    def _shown(self, contract_id: int, now: float) -> dict[str, object]:
        return instance(self._contracts.live[contract_id], now, self._world.start)

    def _note(self, kind: str, detail: str) -> None:
        self._world.strict.record("vast", kind, f"instances: {detail}")


def _json(request: Request, name: str, kind: type[T]) -> T | None:
    text = request.first(name)
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError as error:
        msg = f"{name} is no JSON"
        raise language.BadQuery(msg) from error
    if not isinstance(found, kind):
        msg = f"{name} must be a JSON {kind.__name__}"
        raise language.BadQuery(msg)
    return found


def _limit(text: str | None) -> int:
    try:
        asked = _PAGE if text is None else int(text)
    except ValueError as error:
        msg = "limit must be an integer"
        raise language.BadQuery(msg) from error
    return _SMALL_PAGE if asked <= 0 else min(asked, _PAGE)


def _token(instance_id: object) -> str:
    return base64.urlsafe_b64encode(f"id:{instance_id}".encode()).decode()


def _id_in(token: str) -> int | None:
    try:
        text = base64.urlsafe_b64decode(token).decode()
        return int(text.removeprefix("id:")) if text.startswith("id:") else None
    except (ValueError, binascii.Error):
        return None


def _behind(rows: Rows, last: int) -> int:
    """Where to go on when the token's row is gone: behind all smaller ids."""
    return sum(1 for row in rows if isinstance(row["id"], int) and row["id"] <= last)
