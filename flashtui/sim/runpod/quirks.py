"""Ordered misbehaviour of the simulated RunPod: translates the world's faults into its own terms.

The faults are ordered in `sim.faults`; which of them mean something here is the list of names this
module asks for. Nothing here happens unless it was ordered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from flashtui.sim.runpod.cards import CARD_BY_ID, Card

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    def fakes_destroy(self, route: str) -> bool:
        """Whether a destroy only says that it did."""
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

    def is_starved(self, endpoint: Endpoint) -> bool:
        """Whether no machine is found for this endpoint."""
        return self._of_endpoint("throttled_workers", endpoint) is not None

    def substitute(self, endpoint: Endpoint) -> str | None:
        """The type that workers land on instead of the one asked for."""
        fault = self._of_endpoint("mig_substitution", endpoint)
        if fault is None:
            return None
        default = "NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb"
        return str(fault.get("gpu", default))

    def _of_endpoint(self, name: str, endpoint: Endpoint) -> dict[str, object] | None:
        route = f"{endpoint.endpoint_id} {endpoint.name}"
        fault = self._world.faults.take(name, "runpod", route)
        return None if fault is None else fault.args


def quota_text(quota: int) -> str:
    """The sentence of a create that would exceed the account's workers."""
    return f"Max workers across all endpoints must not exceed your workers quota ({quota})."
