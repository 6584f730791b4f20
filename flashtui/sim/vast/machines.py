"""Hosts of the simulated Vast market: what each has, when it is listed, and what it asks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from flashtui.sim import market
from flashtui.sim.vast import places
from flashtui.sim.vast.boards import BOARDS, Board

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_DAY_S = 86400.0
# A whole class of GPU moves at most this often.
_CLASS_TICKS = 6
_MACHINES_PER_WEIGHT = 1.65


@dataclass(frozen=True, slots=True)
class Slice:
    """A run of neighbouring GPUs of one machine that is offered as a whole."""

    index: int
    first: int
    size: int

    def gpus(self) -> range:
        """Positions of its GPUs in the machine."""
        return range(self.first, self.first + self.size)


@dataclass(frozen=True, slots=True)
class Machine:
    """One host.

    Attributes:
        number: position in the market, from 0.
        is_steady: it never leaves the market and its first GPU is never taken by others.
        window_s: how long it stays before it decides anew whether to be listed.
        usd: asking price of one GPU around which it walks.
        horizon_s: how long before its listing ends, from the start of the world.
        traits: the fields of an offer that neither price nor slice changes.
    """

    number: int
    board: Board
    gpu_count: int
    machine_id: int
    host_id: int
    key: int
    is_steady: bool
    window_s: float
    usd: float
    bid_share: float
    storage_cost: float
    horizon_s: float
    cpu_cores: int
    disk_space: float
    direct_ports: int
    traits: dict[str, object]

    def usd_per_gpu(self, at: float) -> float:
        """Asking price of one GPU at a moment; holds for whole ticks."""
        tick = market.tick_of(at)
        return self.usd * market.walk(self.key, tick) * (0.5 + 0.5 * self.board_factor(tick))

    def bid_floor_per_gpu(self, at: float) -> float:
        """Lowest winning bid for one GPU at a moment; 0 where the host takes no bids."""
        wander = market.walk(self.key, market.tick_of(at)) ** 2
        return self.usd_per_gpu(at) * self.bid_share * wander

    def board_factor(self, tick: int) -> float:
        """How the whole class of GPU moves together."""
        return _board_factor(self.board.gpu_name, self._class_tick(tick))

    def changes_after(self, at: float, start: float) -> float:
        """A moment until which neither its prices nor what it has free can change."""
        tick = market.tick_of(at)
        moments = [market.walk_ends(self.key, tick) * market.TICK_S]
        moments.append((self._class_tick(tick) + _CLASS_TICKS) * market.TICK_S)
        moments += [market.window_ends(*window) for window in self._windows(at)]
        if not self.is_steady:
            moments.append(market.window_ends(self.key, at, self.window_s))
        horizon = start + self.horizon_s
        return min(*moments, horizon if horizon > at else math.inf)

    def _class_tick(self, tick: int) -> int:
        """The tick at which the class last moved; classes take turns."""
        offset = self.board.gpu_ram % _CLASS_TICKS
        return (tick + offset) // _CLASS_TICKS * _CLASS_TICKS - offset

    def _windows(self, at: float) -> list[tuple[int, float, float]]:
        return [(self.key + gpu * 7919, at, 900.0 + 60 * gpu) for gpu in range(self.gpu_count)]

    def is_listed(self, at: float, start: float) -> bool:
        """Whether the host offers anything at a moment."""
        if at >= start + self.horizon_s:
            return False
        return self.is_steady or market.is_in(self.key, at, window_s=self.window_s, share=0.86)

    def relistings(self, at: float, start: float) -> int:
        """How many times it has decided about its listing since the start; offer ids follow it."""
        if self.is_steady:
            return 0
        began = market.window_of(self.key, start, self.window_s)
        return max(market.window_of(self.key, at, self.window_s) - began, 0)

    def taken(self, at: float) -> frozenset[int]:
        """Positions of the GPUs that other people have rented at a moment."""
        return frozenset(
            gpu
            for gpu, (key, moment, window_s) in enumerate(self._windows(at))
            if not (self.is_steady and gpu == 0)
            and market.is_in(key, moment, window_s=window_s, share=0.25)
        )

    def slices(self) -> list[Slice]:
        """Every slice it could be offered in, largest first."""
        found: list[Slice] = []
        size = self.gpu_count
        while True:
            for first in range(0, self.gpu_count - size + 1, size):
                found.append(Slice(len(found), first, size))
            if size == 1:
                return found
            size = size // 2 if size % 2 == 0 else 1


@lru_cache(maxsize=512)
def _board_factor(gpu_name: str, tick: int) -> float:
    return market.walk(market.key_of("board", gpu_name), tick)


def machines(rng_for: Callable[..., random.Random], scale: float) -> list[Machine]:
    """All hosts of a market, in proportion to the boards' weights; `scale` 1 is a normal day."""
    found: list[Machine] = []
    for board_number, board in enumerate(BOARDS):
        for copy in range(max(1, round(board.weight * _MACHINES_PER_WEIGHT * scale))):
            rng = rng_for("vast", "machine", board_number, copy)
            found.append(machine(rng, board, len(found), copy=copy))
    return found


def machine(
    rng: random.Random, board: Board, number: int, *, copy: int, gpu_count: int | None = None
) -> Machine:
    """One host. The first of each board is steady; every third is verified and well connected; others are as they come."""
    is_anchor, is_good = copy == 0, copy % 3 == 0
    count = gpu_count or (board.counts[0] if is_anchor else board.counts[copy % len(board.counts)])
    is_datacenter = is_good or rng.random() < (0.8 if board.place == "server" else 0.35)
    cpu_name, cpu_cores, cpu_ghz, mobo = rng.choice(
        places.SERVER_CPUS if is_datacenter or count > 2 else places.HOME_CPUS
    )
    storage = rng.choice((0.1, 0.1, 0.15, 0.15, 0.2, 0.149333, 0.3))
    spread = 0.55 if is_anchor else rng.random()
    return Machine(
        number=number,
        board=board,
        gpu_count=count,
        machine_id=10_000 + number * 37 + rng.randrange(37),
        host_id=60_000 + rng.randrange(40_000),
        key=rng.getrandbits(62),
        is_steady=is_anchor,
        window_s=rng.choice((25.0, 60.0, 300.0, 1200.0, 3600.0, 7200.0)),
        usd=round(board.usd_low + (board.usd_high - board.usd_low) * spread, 4),
        bid_share=0.0 if rng.random() < 0.08 else rng.uniform(0.35, 0.7),
        storage_cost=storage,
        horizon_s=_horizon(rng, is_anchor=is_anchor),
        cpu_cores=cpu_cores,
        disk_space=round(rng.uniform(180, 900) if is_good else rng.uniform(24, 1200), 1),
        direct_ports=count * rng.randrange(8, 100),
        traits={
            **_verification(rng, is_good=is_good),
            **_network(rng, is_good=is_good, is_datacenter=is_datacenter),
            **_software(rng, board, is_good=is_good),
            "hosting_type": 1 if is_datacenter else (None if rng.random() < 0.03 else 0),
            "cpu_arch": "amd64",
            "cpu_name": cpu_name,
            "cpu_ghz": cpu_ghz,
            "cpu_ram": rng.choice((64, 128, 256, 512, 1024)) * 1007,
            "mobo_name": mobo,
            "pci_gen": 5.0 if board.compute_cap >= 900 else 4.0,
            "pcie_bw": round(rng.uniform(9.0, 52.0), 1),
            "bw_nvlink": 478.1 if "SXM" in board.gpu_name or board.gpu_name in {"H200", "B200"} else 0.0,
            **_disk(rng),
        },
    )  # fmt: skip


def _horizon(rng: random.Random, *, is_anchor: bool) -> float:
    if is_anchor:
        return rng.uniform(40, 200) * _DAY_S
    return rng.choice((0.03, 0.2, 1, 5, 20, 60, 120, 300)) * rng.uniform(0.7, 1.4) * _DAY_S


def _verification(rng: random.Random, *, is_good: bool) -> dict[str, object]:
    word = (
        "verified"
        if is_good
        else rng.choices(("verified", "unverified", "deverified"), (72, 22, 6))[0]
    )
    bad_luck = rng.random()
    reliability = rng.uniform(0.9955, 0.9999)
    if not is_good and bad_luck < 0.35:
        reliability = rng.uniform(0.90, 0.9949)
    return {
        "verification": word,
        "vericode": 1 if word == "verified" else (0 if word == "unverified" else None),
        "reliability": round(reliability, 7),
        "reliability2": round(reliability, 7),
        "reliability_mult": round(reliability**2, 4),
        "expected_reliability": round(reliability**1.5, 4),
    }


def _network(rng: random.Random, *, is_good: bool, is_datacenter: bool) -> dict[str, object]:
    down = round(rng.uniform(800, 9000) if is_datacenter else math.exp(rng.uniform(3.0, 7.2)), 1)
    if not is_good and rng.random() < 0.1:
        down = round(rng.uniform(12, 190), 1)
    down_cost = rng.choice((0.0, 0.001, 0.003, 0.005, 0.01, 0.02))
    up_cost = rng.choice((0.0, 0.002, 0.005, 0.01, 0.02))
    address = f"198.51.100.{rng.randrange(1, 255)}"
    return {
        "inet_down": down,
        "inet_up": round(down * rng.uniform(0.2, 1.0), 1),
        "inet_down_cost": down_cost,
        "inet_up_cost": up_cost,
        "internet_down_cost_per_tb": round(down_cost * 1000, 6),
        "internet_up_cost_per_tb": round(up_cost * 1000, 6),
        "public_ipaddr": address + ("\n" if rng.random() < 0.3 else ""),
        "static_ip": is_datacenter or rng.random() < 0.4,
        "geolocation": None if rng.random() < 0.02 else rng.choice(places.PLACES),
        "geolocode": rng.randrange(1 << 31),
        "external": None,
    }


def _software(rng: random.Random, board: Board, *, is_good: bool) -> dict[str, object]:
    drivers = places.NEW_DRIVERS
    if not is_good:
        wanted = (50, 30, 20) if board.compute_cap < 1200 else (75, 25, 0)
        kinds = (places.NEW_DRIVERS, places.MIDDLE_DRIVERS, places.OLD_DRIVERS)
        drivers = rng.choices(kinds, wanted)[0]
    text, padded, cuda = rng.choice(drivers)
    return {
        "driver_version": text,
        "driver_vers": padded,
        "cuda_max_good": cuda,
        "os_version": rng.choice(("22.04", "22.04", "24.04", "20.04")),
        "has_avx": 1,
        "vms_enabled": rng.random() < 0.15,
        "is_vm_deverified": False,
        "gpu_display_active": rng.random() < 0.1,
    }


def _disk(rng: random.Random) -> dict[str, object]:
    name, speed = rng.choice(places.DISKS)
    return {"disk_name": name, "disk_bw": round(speed * rng.uniform(0.6, 1.0), 1)}
