"""Renting: `PUT /api/v0/asks/{id}/` and `POST /api/v0/asks/bulk/`. Source: vast 3.1 (fields, limits, errors)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from flashtui.sim.http import Request, Response, json_response
from flashtui.sim.vast import contract as life
from flashtui.sim.vast.replies import bad_request, json_object, refusal, success

if TYPE_CHECKING:
    from flashtui.sim.faults import Fault
    from flashtui.sim.vast.contracts import Contracts
    from flashtui.sim.vast.offers import Market, Offer
    from flashtui.sim.world import World

_FIELDS = {
    "client_id", "image", "disk", "price", "label", "env", "onstart", "args", "args_str", "runtype", "target_state",
    "cancel_unavail", "image_login", "template_hash_id", "template_id", "volume_info", "use_jupyter_lab",
    "jupyter_dir", "python_utf8", "lang_utf8", "force", "user", "vm", "extra",
}  # fmt: skip
_ENTRY_LIMIT = 16_384
_REFUSALS = {
    404: ("invalid_args", "error 404/3603: no_such_ask Instance type by id {id} is not available."),
    410: ("no_such_ask", "error 410/3907: no_such_ask {id} is no longer available."),
    400: ("no_such_ask", "error 400: no_such_ask {id}"),
}


class Renting:
    """Turns offers into contracts."""

    def __init__(self, world: World, offers: Market, contracts: Contracts) -> None:
        table = world.scenario.table("vast")
        self._world = world
        self._market = offers
        self._contracts = contracts
        self._boot_s = _range(table.get("boot_s"), (15.0, 45.0))
        self._lag_s = _number(table.get("list_lag_s"), 1.0)
        self._pull_gb = _number(table.get("pull_gb"), 0.0)
        self._seen: deque[tuple[int, str]] = deque(maxlen=1000)
        self._lost_ids = 0

    def rent(self, request: Request, ask_id: int) -> Response:
        """Accept one ask; never idempotent."""
        asked = json_object(request.body)
        if asked is None:
            return bad_request("invalid_args", "error 400/3467: body is no JSON object")
        self._note_strictly(ask_id, asked)
        if problem := _problem(asked):
            return problem
        if problem := self._refused(request, ask_id):
            return problem
        offer = self._market.sheet(self._world.time.now()).offers.get(ask_id)
        if offer is None:
            return _gone(ask_id, 410 if asked.get("cancel_unavail") else 404)
        return self._rented(request, offer, asked)

    def rent_many(self, request: Request) -> Response:
        """`POST /api/v0/asks/bulk/`: the first of several asks that is still there."""
        asked = json_object(request.body)
        ids = asked.pop("ids", None) if asked else None
        if asked is None or not isinstance(ids, list):
            return bad_request("invalid_args", "error 400/3467: ids must be a list")
        offers = self._market.sheet(self._world.time.now()).offers
        for ask_id in ids:
            if ask_id in offers and not _problem(asked):
                return self._rented(request, offers[ask_id], asked)
        return _gone(ids[0] if ids else 0, 404)

    def _refused(self, request: Request, ask_id: int) -> Response | None:
        if fault := self._fault("offer_taken", request):
            self._lose_to_somebody(ask_id)
            return _gone(ask_id, int(fault.number_arg("status", 404)))
        if self._fault("spend_rate_limit", request):
            return refusal(400, "spend_rate_limit", "New accounts may start one instance per hour.")
        short = self._contracts.credit(self._world.time.now()) <= 0
        if short or self._fault("insufficient_credit", request):
            return refusal(
                400, "insufficient_credit", "Your account lacks credit; see the billing page."
            )
        return None

    def _rented(self, request: Request, offer: Offer, asked: dict[str, object]) -> Response:
        if self._fault("reply_before_commit", request):
            self._lost_ids += 1
            return success(new_contract=28_990_000 + self._lost_ids, instance_api_key="0" * 64)
        now = self._world.time.now()
        rng = self._world.rng("vast", "boot", offer.offer_id, len(self._contracts.gone))
        contract = self._contracts.rent(
            offer, asked, now, boot_s=rng.uniform(*self._boot_s), lag_s=self._lag_s
        )
        contract.pull_gb = self._pull_gb
        made = {"new_contract": contract.contract_id, "instance_api_key": contract.api_key}
        low_bid = contract.bid is not None and contract.bid < offer.min_bid
        if (
            low_bid
            or self._fault("error_with_contract", request)
            or asked.get("target_state") == "stopped"
        ):
            contract.plan(now, *life.cut_off(now))
            self._contracts.replan(contract)
            if asked.get("target_state") == "stopped" and not low_bid:
                return success(**made)
            # An error together with new_contract: the instance exists, stopped (vast 3.1, dstack 4036).
            return refusal(
                400, "invalid_price", "error 400/3512: bid below the current minimum", **made
            )
        if self._fault("stuck_created", request):
            contract.plan(now, *life.stuck(now, rng))
        else:
            contract.plan(now, *life.boot(contract, now, rng))
        self._contracts.replan(contract)
        return success(**made)

    def _lose_to_somebody(self, ask_id: int) -> None:
        now = self._world.time.now()
        if offer := self._market.sheet(now).offers.get(ask_id):
            self._market.withdraw(offer.machine, now + 600.0)

    def _fault(self, name: str, request: Request) -> Fault | None:
        return self._world.faults.take(name, "vast", request.route)

    def _note_strictly(self, ask_id: int, asked: dict[str, object]) -> None:
        for name in set(asked) - _FIELDS:
            self._world.strict.record("vast", "unknown_field", f"asks: {name}")
        seen = (ask_id, str(asked.get("label")))
        if asked.get("label") and seen in self._seen:
            self._world.strict.record(
                "vast", "repeated_create", f"ask {ask_id} label {asked['label']}"
            )
        self._seen.append(seen)


def _problem(asked: dict[str, object]) -> Response | None:
    if (
        not asked.get("image")
        and not asked.get("template_hash_id")
        and not asked.get("template_id")
    ):
        return bad_request("invalid_args", "error 400/3467: image is required")
    env = asked.get("env")
    if env is not None and not isinstance(env, dict):
        return bad_request("invalid_args", "error 400/3467: invalid env type: env must be a dict")
    disk, price = asked.get("disk", 10), asked.get("price")
    if not _is_number(disk) or _number(disk, 0.0) < 8:
        return bad_request("invalid_args", "error 400/3467: disk must be at least 8 GB")
    if price is not None and (not _is_number(price) or not 0.001 <= _number(price, 0.0) <= 128):
        return bad_request("invalid_price", "error 400/3468: price must be between 0.001 and 128")
    if len(str(asked.get("label") or "")) > 256:
        return bad_request("invalid_args", "error 400/3467: label is longer than 256 characters")
    return _entry_problem(asked)


def _entry_problem(asked: dict[str, object]) -> Response | None:
    args = asked.get("args")
    if args is not None and not isinstance(args, list):
        return bad_request("invalid_args", "error 400/3467: args must be a list")
    words = [str(word) for word in args] if isinstance(args, list) else []
    entry = [*words, str(asked.get("args_str") or ""), str(asked.get("onstart") or "")]
    if sum(len(part) for part in entry) > _ENTRY_LIMIT:
        return bad_request(
            "invalid_args", "error 400/3467: args, args_str and onstart are too long together"
        )
    if len(str(asked.get("image") or "")) > 1024:
        return bad_request("invalid_args", "error 400/3467: image is longer than 1024 characters")
    return None


def _gone(ask_id: int, status: int) -> Response:
    error, text = _REFUSALS.get(status, _REFUSALS[404])
    body = {"success": False, "error": error, "msg": text.format(id=ask_id)}
    return json_response(status if status in _REFUSALS else 404, body)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: object, default: float) -> float:
    return (
        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default
    )


def _range(value: object, default: tuple[float, float]) -> tuple[float, float]:
    if isinstance(value, list) and len(value) == 2:
        return (_number(value[0], default[0]), _number(value[1], default[1]))
    return default
