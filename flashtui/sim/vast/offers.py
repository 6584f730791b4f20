"""The offers of the simulated Vast market: what is listed at a moment, at what price, under which id.

Prices follow the documented arithmetic (vast 2.4): storage_total_cost = storage_cost x GB / 720,
dph_total = dph_base + storage_total_cost, for all GPUs of the offer.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flashtui.sim import market
from flashtui.sim.vast.machines import Machine, Slice, machines
from flashtui.sim.vast.offer_json import Moment, OfferRow, static_row
from flashtui.sim.vast.orders import Closure, Move

if TYPE_CHECKING:
    from flashtui.sim.world import World

_FIRST_ID = 27_000_000
_SLICES = 64
_RELISTS = 16
_KEPT_SHEETS = 6
_KEPT_STATICS = 200


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


class Sheet(NamedTuple):
    """Everything listed during one tick."""

    at: float
    offers: dict[int, Offer]


class _Kept(NamedTuple):
    """What a machine offers, and the span of time for which that holds."""

    since: float
    until: float
    factor: float
    offers: list[Offer]


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
        self._moment = Moment()
        self._kept: dict[int, _Kept] = {}
        self._rows: OrderedDict[tuple[str, float], dict[int, OfferRow]] = OrderedDict()
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

    def rows(self, at: float, *, kind: str, allocated_gb: float) -> list[OfferRow]:
        """All offers as the API shows them, priced with so much storage; `kind` is "bid" or "on-demand"."""
        sheet, name = self.sheet(at), (kind, allocated_gb)
        self._moment.at = sheet.at
        before = self._rows.get(name, {})
        found: dict[int, OfferRow] = {}
        for offer in sheet.offers.values():
            if kind == "bid" and offer.min_bid <= 0:
                continue
            row = before.get(offer.offer_id)
            if row is None or row.offer is not offer:
                row = OfferRow(offer, self._fixed(offer), kind, allocated_gb, self._moment)
            found[offer.offer_id] = row
        self._rows[name] = found
        self._rows.move_to_end(name)
        if len(self._rows) > _KEPT_SHEETS:
            self._rows.popitem(last=False)
        return list(found.values())

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

    def take(self, offer: Offer) -> None:
        """Rent a slice: every overlapping offer disappears for everyone."""
        self._rented.setdefault(offer.machine.number, set()).update(offer.part.gpus())
        self._changed(offer.machine)

    def give_back(self, offer: Offer) -> None:
        """End a rental: the machine is listed again under new ids."""
        number = offer.machine.number
        self._rented.get(number, set()).difference_update(offer.part.gpus())
        self._relists[number] = (self._relists.get(number, 0) + 1) % _RELISTS
        self._changed(offer.machine)

    def withdraw(self, machine: Machine, until: float) -> None:
        """A host leaves the market until a moment."""
        self._away_until[machine.number] = until
        self._changed(machine)

    def _changed(self, machine: Machine) -> None:
        """Something was rented, given back or withdrawn within the tick."""
        self._kept.pop(machine.number, None)
        self._sheet = None
        self.version += 1

    def _listed(self, at: float) -> list[Offer]:
        found: list[Offer] = []
        shut = {closure.gpu_name for closure in self._closures if closure.covers(at)}
        factors = {move.gpu_name: self._moved(move.gpu_name, at) for move in self._moves}
        for machine in self._machines:
            name = machine.board.gpu_name
            if name in shut or at < self._away_until.get(machine.number, 0.0):
                continue
            found += self._offers_of(machine, at, factors.get(name, 1.0))
        return found

    def _offers_of(self, machine: Machine, at: float, factor: float) -> list[Offer]:
        """What a machine offers, from memory while nothing about it can have changed."""
        kept = self._kept.get(machine.number)
        if kept is not None and kept.since <= at < kept.until and kept.factor == factor:
            return kept.offers
        offers = (
            self._new_offers_of(machine, at, factor) if machine.is_listed(at, self._start) else []
        )
        until = machine.changes_after(at, self._start)
        self._kept[machine.number] = _Kept(at, until, factor, offers)
        return offers

    def _new_offers_of(self, machine: Machine, at: float, factor: float) -> list[Offer]:
        busy = machine.taken(at) | self._rented.get(machine.number, set())
        per_gpu = machine.usd_per_gpu(at) * factor
        floor = machine.bid_floor_per_gpu(at) * factor
        generation = machine.relistings(at, self._start) * _RELISTS + self._relists.get(
            machine.number, 0
        )
        first_id = _FIRST_ID + (generation * len(self._machines) + machine.number) * _SLICES
        found: list[Offer] = []
        seen: set[int] = set()
        end = self._start + machine.horizon_s
        for part in self._slices[machine.number]:
            if part.size in seen or any(gpu in busy for gpu in part.gpus()):
                continue
            seen.add(part.size)
            whole = round(per_gpu * part.size, 4)
            bid = round(min(floor * part.size, whole), 4)
            found.append(Offer(first_id + part.index, machine, part, whole, bid, end))
        return found

    def _moved(self, gpu_name: str, at: float) -> float:
        return math.prod(move.factor_at(at) for move in self._moves if move.gpu_name == gpu_name)

    def _fixed(self, offer: Offer) -> dict[str, object]:
        fixed = self._statics.get(offer.offer_id)
        if fixed is None:
            if len(self._statics) > 2 * len(self._machines) + _KEPT_STATICS:
                listed = self._sheet.offers if self._sheet else {}
                self._statics = {key: row for key, row in self._statics.items() if key in listed}
            fixed = self._statics[offer.offer_id] = static_row(offer, self._start)
        return fixed
