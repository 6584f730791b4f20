"""Contracts that a scenario file lists, on hosts of their own outside the market."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from flashtui.sim.vast import contract as life
from flashtui.sim.vast.boards import board_named
from flashtui.sim.vast.contract import Contract, Phase
from flashtui.sim.vast.machines import Slice, machine
from flashtui.sim.vast.offers import Offer

if TYPE_CHECKING:
    from flashtui.sim.world import World

_FIRST_NUMBER = 100_000
_DAY_S = 86400.0
_FIELDS = {
    "id", "label", "gpu_name", "gpu_ram", "num_gpus", "dph_base", "storage_cost", "disk_space", "image", "env",
    "onstart", "runtype", "state", "created_at", "running_at", "bid", "machine_id", "offer_id", "days_left",
}  # fmt: skip


def contract_from(world: World, row: dict[str, object], at: float | None = None) -> Contract:
    """One contract as a scenario's `[[vast.instances]]` row describes it, in Vast's own field names.

    `created_at` and `running_at` are seconds relative to `at` (the world's start); `state` is "running" (default),
    "stopped", or a word that it stays in.

    Raises:
        ValueError: an unknown field, or a value of the wrong kind.
    """
    if unknown := set(row) - _FIELDS:
        msg = f"[[vast.instances]] has unknown fields {sorted(unknown)}"
        raise ValueError(msg)
    base = world.start if at is None else at
    contract_id = int(
        _number(row, "id", 28_440_000 + zlib.crc32(repr(sorted(row.items())).encode()) % 9000)
    )
    created = base + _number(row, "created_at", 0.0)
    offer = _offer(world, row, contract_id, created)
    contract = Contract(
        contract_id=contract_id,
        offer=offer,
        created_at=created,
        label=None if row.get("label") is None else str(row["label"]),
        asked={name: row[name] for name in ("image", "env", "onstart", "runtype") if name in row},
        disk_gb=_number(row, "disk_space", 60.0),
        dph_base=offer.dph_base,
        api_key=f"{world.rng('vast', 'key', contract_id).getrandbits(256):064x}",
        end_date=offer.end_date,
        bid=None if row.get("bid") is None else _number(row, "bid", 0.0),
        visible_at=created,
        boot_s=max(_number(row, "running_at", _number(row, "created_at", 0.0) + 40.0)
                   - _number(row, "created_at", 0.0), 4.0),
    )  # fmt: skip
    contract.phases = _phases(world, contract, str(row.get("state", "running")))
    return contract


def _offer(world: World, row: dict[str, object], contract_id: int, created: float) -> Offer:
    ram = row.get("gpu_ram")
    board = board_named(str(row.get("gpu_name", "RTX 4090")), ram if isinstance(ram, int) else None)
    size = int(_number(row, "num_gpus", 1))
    host = machine(world.rng("vast", "seeded", contract_id), board, _FIRST_NUMBER + contract_id % 100_000,
                   copy=0, gpu_count=size)  # fmt: skip
    host = replace(
        host,
        machine_id=int(_number(row, "machine_id", host.machine_id)),
        storage_cost=_number(row, "storage_cost", 0.15),
    )
    usd = _number(row, "dph_base", round(board.usd_low * size, 4))
    offer_id = int(_number(row, "offer_id", contract_id - 1_000_000))
    end = created + _number(row, "days_left", 60.0) * _DAY_S
    return Offer(offer_id, host, Slice(0, 0, size), usd, round(usd / 2, 4), end)


def _phases(world: World, contract: Contract, state: str) -> list[Phase]:
    phases = life.boot(
        contract, contract.created_at, world.rng("vast", "boot", contract.contract_id)
    )
    running = phases[-1]
    if state == "running":
        return phases
    if state == "stopped":
        return [*phases, *life.cut_off(running.at + 60.0)]
    return [*phases[:-1], running._replace(actual=state, message=None)]


def _number(row: dict[str, object], name: str, default: float) -> float:
    value = row.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"[[vast.instances]] {name} must be a number, not {value!r}"
        raise ValueError(msg)
    return float(value)
