"""The account's own routes: user, charges, invoices, deposit. Source: vast 4."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashtui.sim.http import Request, Response, json_response
from flashtui.sim.vast.replies import bad_request, refusal

if TYPE_CHECKING:
    from flashtui.sim.vast.account import Caller
    from flashtui.sim.vast.contract import Contract
    from flashtui.sim.vast.contracts import Contracts
    from flashtui.sim.world import World

_TYPES = {"gpu": "gpu", "storage": "disk", "bandwidth": "bwd"}
_MOST_ROWS = 500


class Money:
    """What the account has and has spent."""

    def __init__(self, world: World, contracts: Contracts) -> None:
        self._world = world
        self._contracts = contracts

    def user(self, _request: Request, caller: Caller) -> Response:
        """`GET /api/v0/users/current/`: `credit` is the money to show, `balance` the invoice balance."""
        now = self._world.time.now()
        credit = self._contracts.credit(now)
        spent = float(self._world.ledger.provider_billed("vast", now))
        return json_response(
            200,
            {
                "id": 104233,
                "email": "demo@example.com",
                "username": "demo",
                "credit": credit,
                "balance": 0.0,
                "balance_threshold": 1.0,
                "balance_threshold_enabled": False,
                "autobill_threshold": None,
                "autobill_amount": None,
                "total_spend": -spent,
                "can_pay": True,
                "has_billing": True,
                "billing_creditonly": 1,
                "host_agreement_accepted": 0,
                "ssh_key": None,
                "key_id": 771,
                "sid": "S:0f5c",
                "api_key": caller.identity,
            },
        )

    def charges(self, request: Request) -> Response:
        """`GET /api/v0/charges/`: one row per instance with its parts; `day` is required."""
        span = _span(request, "day")
        if span is None:
            return bad_request("invalid_args", "error 400/3467: select_filters must have day")
        now = self._world.time.now()
        rows = [
            self._charge(contract, span[0], min(span[1], now)) for contract in self._everything()
        ]
        found = [row for row in rows if row is not None]
        if request.first("latest_first") == "true":
            found.reverse()
        limit = _limit(request.first("limit"))
        skip = _limit(request.first("after_token"), 0)
        page = found[skip : skip + limit]
        more = skip + len(page) < len(found)
        return json_response(
            200,
            {"success": True, "count": len(page), "total": len(found),
             "next_token": str(skip + len(page)) if more else None, "results": page},
        )  # fmt: skip

    def invoices(self, request: Request) -> Response:
        """`GET /api/v1/invoices/`: payments; without a range it is 200 with `success: false`."""
        if _span(request, "when") is None:
            return refusal(200, "invalid_args", "select_filters must have when")
        return json_response(
            200, {"success": True, "count": 0, "total": 0, "next_token": None, "results": []}
        )

    def old_invoices(self, _request: Request) -> Response:
        """`GET /api/v0/users/me/invoices`."""
        credit = self._contracts.credit(self._world.time.now())
        current = {"charges": 0.0, "service_fee": 0.0, "total": 0.0, "credit": credit}
        return json_response(200, {"invoices": [], "current": current})

    def deposit(self, _request: Request, _instance_id: int) -> Response:
        """`GET /api/v0/instances/balance/{id}/`: prepaid deposit of one instance."""
        return json_response(200, {"success": True, "balance": 0.0, "discount_rate": 0.0})

    def _everything(self) -> list[Contract]:
        contracts = [*self._contracts.gone, *self._contracts.live.values()]
        return sorted(contracts, key=lambda contract: contract.created_at)

    def _charge(self, contract: Contract, since: float, until: float) -> dict[str, object] | None:
        ledger, name = self._world.ledger, str(contract.contract_id)
        start = max(contract.created_at, since)
        end = until if contract.destroyed_at is None else min(contract.destroyed_at, until)
        if end <= start:
            return None
        parts = {
            part: float(ledger.between("vast", name, part, start, end))
            for part in ledger.parts("vast", name)
        }
        items = [
            {
                "start": start,
                "end": end,
                "type": _TYPES.get(part, part),
                "amount": round(usd, 8),
                "description": part,
            }
            for part, usd in parts.items()
        ]
        return {
            "start": start,
            "end": end,
            "type": "instance",
            "source": f"instance-{name}",
            "description": f"Instance {name} {contract.machine.board.gpu_name}",
            "amount": round(sum(parts.values()), 8),
            "metadata": {"label": contract.label},
            "items": items,
        }


def _span(request: Request, name: str) -> tuple[float, float] | None:
    try:
        filters = json.loads(request.first("select_filters") or "{}")
        bounds = filters[name]
        return float(bounds.get("gte", 0)), float(bounds.get("lte", 1e12))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _limit(text: str | None, default: int = 20) -> int:
    return min(int(text), _MOST_ROWS) if text and text.isdigit() else default
