"""Ordered misbehaviour of the simulated RunPod: translates the world's faults into its own terms.

The faults are ordered in `sim.faults`; which of them mean something here is the list of names this
module asks for. Nothing here happens unless it was ordered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from flashtui.sim.runpod.cards import CARD_BY_ID, Card
from flashtui.sim.runpod.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtui.sim.runpod.plans import Plans
    from flashtui.sim.runpod.records import Endpoint
    from flashtui.sim.world import World

NO_INSTANCES = (
    "There are no longer any instances available with the requested specifications. "
    "Please refresh and try again."
)
NO_CREDIT = "You do not have enough credit for one hour of this configuration. Please add funds."
CATCH_ALL = "Something went wrong. Please try again later or contact support."

_NEW_CARD = replace(
    CARD_BY_ID["NVIDIA B200"],
    gpu_id="NVIDIA R300 SXM7",
    name="R300",
    memory_gb=384,
    secure_price=9.99,
    pool="RUBIN_384",
    serverless_price=12.96,
)
"""A type no client can know: new id, new name, new pool."""

_SLICE = "NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb"

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A create that the provider turns down."""

    status: int
    """REST v2's status; GraphQL answers 200 with the sentence as its error."""
    detail: str


class Quirks:
    """Asks the world's faults by name."""

    def __init__(self, world: World) -> None:
        self._world = world

    def refusal(self, route: str) -> Refusal | None:
        """Why a create is turned down, None where nothing was ordered."""
        faults = self._world.faults
        if faults.take("no_instances", "runpod", route) is not None:
            return Refusal(400, NO_INSTANCES)
        if faults.take("insufficient_credit", "runpod", route) is not None:
            return Refusal(402, NO_CREDIT)
        quota = faults.take("worker_quota", "runpod", route)
        if quota is not None:
            return Refusal(400, quota_text(int(quota.number_arg("quota", 30))))
        return None

    def only_pretends(self, route: str) -> bool:
        """Whether a create or destroy answers success and does nothing."""
        return self._world.faults.take("reply_before_commit", "runpod", route) is not None

    def linger(self, route: str) -> tuple[float, bool] | None:
        """Seconds a destroyed thing stays, and whether it goes on billing; None for no fault."""
        fault = self._world.faults.take("lingering_destroy", "runpod", route)
        if fault is None:
            return None
        return fault.number_arg("seconds", 40.0), bool(fault.args.get("bills", True))

    def stale_age(self, route: str) -> float | None:
        """How old a listing is to be, None for the present one."""
        fault = self._world.faults.take("stale_listing", "runpod", route)
        return None if fault is None else fault.number_arg("age_s", 60.0)

    def without_missing(self, rows: Sequence[_Row], ids: Sequence[str], route: str) -> list[_Row]:
        """The rows, less the one that a fault leaves out."""
        fault = self._world.faults.take("missing_from_list", "runpod", route) if rows else None
        if fault is None:
            return list(rows)
        wanted = fault.text_arg("id", ids[-1])
        return [row for row, row_id in zip(rows, ids, strict=True) if row_id != wanted]

    def blocked(self) -> frozenset[str]:
        """GPU types that a fault says are out of stock."""
        found = set()
        for row in self._world.faults.rows():
            args = row["args"]
            if row["name"] == "stock_out" and row["active"] and isinstance(args, dict):
                found.add(str(args.get("gpu", "")))
        return frozenset(found)

    def new_cards(self) -> tuple[Card, ...]:
        """GPU types that did not exist yesterday."""
        for row in self._world.faults.rows():
            if row["name"] == "new_gpu_id" and row["active"]:
                return (_NEW_CARD,)
        return ()

    def of_endpoint(self, name: str, endpoint: Endpoint) -> dict[str, object] | None:
        """Arguments of a fault that strikes an endpoint now, None for no fault."""
        route = f"{endpoint.endpoint_id} {endpoint.name}"
        fault = self._world.faults.take(name, "runpod", route)
        return None if fault is None else fault.args

    def is_stuck(self, pod_name: str) -> bool:
        """Whether a new pod never boots."""
        return self._world.faults.take("stuck_starting", "runpod", f"pod {pod_name}") is not None

    def hides(self, resource_id: str, route: str) -> bool:
        """Whether the detail of a live resource says that it does not exist."""
        fault = self._world.faults.take("null_detail", "runpod", route)
        return fault is not None and fault.text_arg("id", resource_id) == resource_id

    def fails_after_create(self, route: str) -> bool:
        """Whether a create answers an error although it was carried out."""
        return self._world.faults.take("error_with_contract", "runpod", route) is not None


class OrderedTrouble(Trouble):
    """Trouble with workers and jobs, as the scenario's plans and the ordered faults say."""

    def __init__(self, plans: Plans, quirks: Quirks) -> None:
        self._plans = plans
        self._quirks = quirks

    def is_starved(self, endpoint: Endpoint) -> bool:
        """By plan or by the fault `throttled_workers`."""
        if self._plans.is_starved(endpoint):
            return True
        return self._quirks.of_endpoint("throttled_workers", endpoint) is not None

    def substitute(self, endpoint: Endpoint) -> str | None:
        """By plan or by the fault `mig_substitution`."""
        planned = self._plans.substitute(endpoint)
        if planned is not None:
            return planned
        args = self._quirks.of_endpoint("mig_substitution", endpoint)
        return None if args is None else str(args.get("gpu", _SLICE))

    def is_stuck(self, endpoint: Endpoint) -> bool:
        """By the fault `stuck_starting`."""
        return self._quirks.of_endpoint("stuck_starting", endpoint) is not None

    def loses_end(self, endpoint: Endpoint) -> bool:
        """By the fault `progress_race`."""
        return self._quirks.of_endpoint("progress_race", endpoint) is not None


def quota_text(quota: int) -> str:
    """The sentence of a create that would exceed the account's workers."""
    return f"Max workers across all endpoints must not exceed your workers quota ({quota})."
