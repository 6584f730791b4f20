"""The offers of the simulated Vast market: what is listed at a moment, at what price, under which id.

Prices follow the documented arithmetic (vast 2.4): storage_total_cost = storage_cost x GB / 720,
dph_total = dph_base + storage_total_cost, for all GPUs of the offer.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flashtui.sim import market
from flashtui.sim.vast.machines import Machine, Slice, machines
from flashtui.sim.vast.offer_json import prices_of, static_row
from flashtui.sim.vast.orders import Closure, Move

if TYPE_CHECKING:
    from flashtui.sim.world import World

_FIRST_ID = 27_000_000
_SLICES = 64
_RELISTS = 16
_KEPT_SHEETS = 6


@dataclass(frozen=True, slots=True)
class Offer:
    """One slice of a machine that can be rented at a moment.

    Attributes:
        dph_base: dollars per hour for its GPUs, on demand.
        min_bid: lowest winning bid in dollars per hour for the slice, 0 where none is taken.
        end_date: epoch seconds at which the host's listing ends.
    """

    offer_id: int
    machine: Machine
    part: Slice
    dph_base: float
    min_bid: float
    end_date: float


@dataclass(slots=True)
class Sheet:
    """Everything listed during one tick."""

    at: float
    offers: dict[int, Offer]
    rows: OrderedDict[tuple[str, float], list[dict[str, object]]] = field(
        default_factory=OrderedDict
    )


class Market:
    """The offers at any moment: a pure function of seed and time, minus what is rented here.

    Attributes:
        version: grows whenever a rental changes what is listed.
    """

    def __init__(self, world: World) -> None:
        table = world.scenario.table("market")
        scale = table.get("scale", 1.0)
        self._start = world.start
        self._machines = machines(
            world.rng, float(scale) if isinstance(scale, (int, float)) else 1.0
        )
        self._slices = [machine.slices() for machine in self._machines]
        self._closures = [
            Closure.from_row(row, world.start) for row in world.scenario.rows("market", "sold_out")
        ]
        self._moves = [
            Move.from_row(row, world.start) for row in world.scenario.rows("market", "moves")
        ]
        self._rented: dict[int, set[int]] = {}
        self._relists: dict[int, int] = {}
        self._away_until: dict[int, float] = {}
        self._statics: dict[int, dict[str, object]] = {}
        self._sheet: Sheet | None = None
        self.version = 0

    def gpu_names(self) -> list[str]:
        """Every spelling on this market."""
        return sorted({machine.board.gpu_name for machine in self._machines})

    def gpu_types(self, at: float) -> list[dict[str, object]]:
        """How many GPUs of each kind are on offer."""
        counts: dict[str, int] = dict.fromkeys(self.gpu_names(), 0)
        for offer in self.sheet(at).offers.values():
            if offer.part.size == 1:
                counts[offer.machine.board.gpu_name] += 1
        return [{"gpu_name": name, "available": count} for name, count in counts.items()]

    def sheet(self, at: float) -> Sheet:
        """What is listed at a moment, kept for the length of a tick."""
        tick = market.tick_of(at) * market.TICK_S
        if self._sheet is None or self._sheet.at != tick:
            self._sheet = Sheet(tick, {offer.offer_id: offer for offer in self._listed(tick)})
        return self._sheet

    def rows(self, at: float, *, kind: str, allocated_gb: float) -> list[dict[str, object]]:
        """All offers as the API shows them, priced with so much storage; `kind` is "bid" or "on-demand"."""
        sheet = self.sheet(at)
        kept = sheet.rows.get((kind, allocated_gb))
        if kept is None:
            kept = [self._row(offer, sheet.at, kind, allocated_gb) for offer in sheet.offers.values()
                    if kind != "bid" or offer.min_bid > 0]  # fmt: skip
            sheet.rows[kind, allocated_gb] = kept
            if len(sheet.rows) > _KEPT_SHEETS:
                sheet.rows.popitem(last=False)
        return kept

    def prices(self, at: float) -> list[dict[str, object]]:
        """Bare prices at any moment; storage is not included beyond the server's default of 8 GB."""
        offers = self._listed(market.tick_of(at) * market.TICK_S)
        return [
            {
                "id": offer.offer_id,
                "gpu_name": offer.machine.board.gpu_name,
                "num_gpus": offer.part.size,
                "dph_base": offer.dph_base,
                "storage_cost": offer.machine.storage_cost,
                "dph_total": offer.dph_base + offer.machine.storage_cost * 8.0 / 720,
                "min_bid": offer.min_bid,
            }
            for offer in offers
        ]

    def row(self, offer: Offer, at: float, allocated_gb: float) -> dict[str, object]:
        """One offer as the API shows it."""
        return self._row(offer, at, "on-demand", allocated_gb)

    def take(self, offer: Offer) -> None:
        """Rent a slice: every overlapping offer disappears for everyone."""
        self._rented.setdefault(offer.machine.number, set()).update(offer.part.gpus())
        self._changed()

    def give_back(self, offer: Offer) -> None:
        """End a rental: the machine is listed again under new ids."""
        number = offer.machine.number
        self._rented.get(number, set()).difference_update(offer.part.gpus())
        self._relists[number] = (self._relists.get(number, 0) + 1) % _RELISTS
        self._statics.clear()
        self._changed()

    def withdraw(self, machine: Machine, until: float) -> None:
        """A host leaves the market until a moment."""
        self._away_until[machine.number] = until
        self._changed()

    def _changed(self) -> None:
        """Something was rented, given back or withdrawn within the tick."""
        self._sheet = None
        self.version += 1

    def _listed(self, at: float) -> list[Offer]:
        found: list[Offer] = []
        shut = {closure.gpu_name for closure in self._closures if closure.covers(at)}
        for machine in self._machines:
            if machine.board.gpu_name in shut or not machine.is_listed(at, self._start):
                continue
            if at < self._away_until.get(machine.number, 0.0):
                continue
            found += self._offers_of(machine, at)
        return found

    def _offers_of(self, machine: Machine, at: float) -> list[Offer]:
        busy = machine.taken(at) | self._rented.get(machine.number, set())
        per_gpu = machine.usd_per_gpu(at) * self._moved(machine, at)
        floor = machine.bid_floor_per_gpu(at) * self._moved(machine, at)
        generation = machine.relistings(at, self._start) * _RELISTS + self._relists.get(
            machine.number, 0
        )
        first_id = _FIRST_ID + (generation * len(self._machines) + machine.number) * _SLICES
        found: list[Offer] = []
        seen: set[int] = set()
        for part in self._slices[machine.number]:
            if part.size in seen or any(gpu in busy for gpu in part.gpus()):
                continue
            seen.add(part.size)
            whole = round(per_gpu * part.size, 4)
            bid = round(min(floor * part.size, whole), 4)
            found.append(
                Offer(
                    first_id + part.index,
                    machine,
                    part,
                    whole,
                    bid,
                    self._start + machine.horizon_s,
                )
            )
        return found

    def _moved(self, machine: Machine, at: float) -> float:
        factor = 1.0
        for move in self._moves:
            if move.gpu_name == machine.board.gpu_name:
                factor *= move.factor_at(at)
        return factor

    def _row(self, offer: Offer, at: float, kind: str, allocated_gb: float) -> dict[str, object]:
        static = self._statics.get(offer.offer_id)
        if static is None:
            static = self._statics[offer.offer_id] = static_row(offer, self._start)
            if len(self._statics) > 20_000:
                self._statics.clear()
        return {
            **static,
            **prices_of(offer, static, kind, allocated_gb),
            "duration": offer.end_date - at,
        }
