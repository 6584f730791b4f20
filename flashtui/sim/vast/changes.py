"""Changing instances: label, start, stop, reboot, recycle, bid, prepay, destroy.

Source: vast 3.4 (requests, answers, what destroying the absent says).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.sim.vast import contract as life
from flashtui.sim.vast.replies import bad_request, json_object, no_such_instance, refusal, success

if TYPE_CHECKING:
    from flashtui.sim.http import Request, Response
    from flashtui.sim.vast.contract import Contract, Phase
    from flashtui.sim.vast.contracts import Contracts
    from flashtui.sim.world import World

_QUEUED = "Required resources are currently unavailable, state change queued."
_LABEL_LIMIT = 1024


class Changes:
    """Carries out what a caller asks of existing contracts."""

    def __init__(self, world: World, contracts: Contracts) -> None:
        self._world = world
        self._contracts = contracts

    def manage(self, request: Request, instance_id: int) -> Response:
        """`PUT /api/v0/instances/{id}/` with `label` or `state`."""
        body = json_object(request.body)
        if body is None:
            return bad_request("invalid_args", "error 400/3467: body is no JSON object")
        self._note_fields(body, {"label", "state"})
        contract = self._contracts.live.get(instance_id)
        if contract is None:
            return no_such_instance(instance_id)
        if "label" in body:
            return self._label(contract, body["label"])
        return self._state(request, contract, body.get("state"))

    def manage_many(self, request: Request) -> Response:
        """`PUT /api/v0/instances/` with `state` and `ids`."""
        body = json_object(request.body)
        ids = body.get("ids") if body else None
        if body is None or not isinstance(ids, list):
            return bad_request("invalid_args", "error 400/3467: ids must be a list")
        self._note_fields(body, {"state", "ids"})
        unknown = [number for number in ids if number not in self._contracts.live]
        if unknown:
            return refusal(404, "no_such_instance", f"error 404/3600: no_such_instance {unknown}")
        answers = [
            self._state(request, self._contracts.live[number], body.get("state")) for number in ids
        ]
        return next(
            (answer for answer in answers if b'"success":true' not in answer.body), success()
        )

    def bounce(self, request: Request, instance_id: int) -> Response:
        """`PUT /api/v0/instances/reboot/{id}/` and `…/recycle/{id}/`."""
        contract = self._contracts.live.get(instance_id)
        if contract is None:
            return no_such_instance(instance_id)
        now = self._world.time.now()
        if contract.phase(now).actual != "running":
            return refusal(400, "invalid_args", "error 400/3467: instance is not running")
        word = "recycling" if "/recycle/" in request.path else "rebooting"
        contract.plan(now, *life.bounce(contract, now, word))
        self._contracts.replan(contract)
        return success()

    def change_bid(self, request: Request, instance_id: int) -> Response:
        """`PUT /api/v0/instances/bid_price/{id}/` `{"client_id": "me", "price": ...}`."""
        body = json_object(request.body) or {}
        self._note_fields(body, {"client_id", "price"})
        contract, price = self._contracts.live.get(instance_id), body.get("price")
        if contract is None:
            return no_such_instance(instance_id)
        if (
            isinstance(price, bool)
            or not isinstance(price, (int, float))
            or not 0.001 <= price <= 128
        ):
            return refusal(
                400, "invalid_price", "error 400/3468: price must be between 0.001 and 128"
            )
        if contract.bid is None:
            return refusal(400, "invalid_args", "error 400/3467: instance is not interruptible")
        self._contracts.change_bid(contract, float(price), self._world.time.now())
        return success()

    def prepay(self, request: Request, instance_id: int) -> Response:
        """`PUT /api/v0/instances/prepay/{id}/` `{"amount": ...}`: accepted, gives the discount fields."""
        if instance_id not in self._contracts.live:
            return no_such_instance(instance_id)
        amount = (json_object(request.body) or {}).get("amount")
        if isinstance(amount, bool) or not isinstance(amount, (int, float)) or amount <= 0:
            return bad_request("invalid_args", "error 400/3467: amount must be positive")
        return success(timescale=1.0, discount_rate=0.2)

    def destroy(self, request: Request, instance_id: int) -> Response:
        """`DELETE /api/v0/instances/{id}/`: at once, or later while the answer already says success."""
        contract = self._contracts.live.get(instance_id)
        if contract is None:
            return self._absent(instance_id)
        if self._world.faults.take("reply_before_commit", "vast", request.route):
            return success()
        now = self._world.time.now()
        if contract.gone_at is not None and not contract.is_expired:
            return success()
        if fault := self._world.faults.take("lingering_destroy", "vast", request.route):
            self._contracts.linger(contract, now + fault.number_arg("seconds", 40.0))
            return success()
        self._contracts.destroy(contract, now)
        return success()

    def destroy_many(self, request: Request) -> Response:
        """`DELETE /api/v0/instances/` `{"instance_ids": [...]}`."""
        ids = (json_object(request.body) or {}).get("instance_ids")
        if not isinstance(ids, list):
            return bad_request("invalid_args", "error 400/3467: instance_ids must be a list")
        unknown = [number for number in ids if number not in self._contracts.live]
        if unknown:
            return refusal(404, "no_such_instance", f"error 404/3600: no_such_instance {unknown}")
        for number in ids:
            self.destroy(request, number)
        return success()

    def _absent(self, instance_id: int) -> Response:
        """Both documented forms: 404, or 200 with `success: false` (vast 3.4)."""
        if self._world.scenario.table("vast").get("absent_destroy") == "ok_false":
            return refusal(200, "no_such_instance", f"no_such_instance {instance_id}")
        return no_such_instance(instance_id)

    def _label(self, contract: Contract, label: object) -> Response:
        if not isinstance(label, str):
            return bad_request("invalid_args", "error 400/3467: label must be text")
        if len(label) > _LABEL_LIMIT:
            return refusal(
                400, "label_too_long", f"label_too_long: at most {_LABEL_LIMIT} characters"
            )
        contract.label = label
        self._world.ledger.relabel("vast", str(contract.contract_id), label)
        return success()

    def _state(self, request: Request, contract: Contract, state: object) -> Response:
        if state == "stopped":
            return self._stop(contract)
        if state == "running":
            return self._start(request, contract)
        return bad_request("invalid_args", "error 400/3467: state must be running or stopped")

    def _stop(self, contract: Contract) -> Response:
        now = self._world.time.now()
        if contract.phase(now).intended != "stopped":
            contract.plan(now, *life.stopping(contract, now))
            self._contracts.replan(contract)
        return success()

    def _start(self, request: Request, contract: Contract) -> Response:
        now = self._world.time.now()
        phase = contract.phase(now)
        if self._contracts.credit(now) <= 0:
            return refusal(
                400, "insufficient_credit", "Your account lacks credit; see the billing page."
            )
        if contract.is_expired:
            return refusal(400, "invalid_args", "error 400/3467: instance has expired")
        if phase.intended == "running" and phase.actual not in {"exited", "stopped"}:
            return success()
        if fault := self._world.faults.take("queued_start", "vast", request.route):
            self._queue(contract, phase, now, fault.number_arg("seconds", 120.0))
            return refusal(200, "resources_unavailable", _QUEUED)
        contract.plan(now, *life.restart(contract, now))
        self._contracts.replan(contract)
        return success()

    def _queue(self, contract: Contract, phase: Phase, now: float, wait_s: float) -> None:
        """A queued start: scheduled, and it bills once the GPU is free (vast 3.4)."""
        waiting = phase._replace(
            at=now, actual="scheduling", intended="running", following="running"
        )
        contract.plan(now, waiting, *life.restart(contract, now + wait_s))
        self._contracts.replan(contract)

    def _note_fields(self, body: dict[str, object], known: set[str]) -> None:
        for name in set(body) - known:
            self._world.strict.record("vast", "unknown_field", f"instances: {name}")
