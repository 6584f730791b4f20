"""Dated events that faults bring upon contracts: which ones, when, in this stretch of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flashtui.sim.faults import Fault, Faults
    from flashtui.sim.vast.contract import Contract

ON_CONTRACTS = ("price_rise", "host_withdrawal", "host_offline", "outbid", "container_exits")
ON_ACCOUNT = ("balance_out", "foreign_instance")


class Strike(NamedTuple):
    """One event and whom it hits; contract id 0 is the account."""

    at: float
    fault: Fault
    contract_id: int


def strikes(
    faults: Faults, live: Mapping[int, Contract], since: float, now: float
) -> Iterator[Strike]:
    """Events that become due between two moments."""
    if not faults.has_events():
        return
    for name in ON_ACCOUNT:
        if fault := faults.due(name, "vast", "account"):
            yield Strike(_moment(fault, since, now), fault, 0)
    for contract in list(live.values()):
        actual = contract.phase(now).actual
        for name in ON_CONTRACTS:
            if not _concerns(name, contract, actual):
                continue
            if fault := faults.due(name, "vast", str(contract.contract_id), contract.label or ""):
                yield Strike(_moment(fault, since, now), fault, contract.contract_id)


def _concerns(name: str, contract: Contract, actual: str | None) -> bool:
    if name == "outbid":
        return contract.bid is not None and actual == "running"
    return actual == "running"


def _moment(fault: Fault, since: float, now: float) -> float:
    """When it was ordered for, if that lies in this stretch; a late comer is hit now."""
    ordered = fault.since + fault.after_s
    return min(max(ordered, since), now) if ordered >= since else now
