"""The simulated RunPod market: prices and stock as a pure function of (seed, time).

Nothing is stored between calls: the same seed and the same five-second tick always give the same
market, so a price shown by a client can be checked later for the moment it was observed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flashtui.sim.runpod.cards import CARDS, UNLISTED_POOL_PRICE, Card, is_mig
from flashtui.sim.runpod.places import COMMUNITY_COUNTRIES, PLACES, Place

if TYPE_CHECKING:
    from collections.abc import Callable

TICK_S = 5
"""A price holds for whole ticks."""

LEVELS = ("NONE", "LOW", "MEDIUM", "HIGH")
"""Stock from empty to plentiful; REST v2 spells it so, GraphQL as High, Medium, Low or null."""

_SOLD_OUT_CYCLE_S = 900
_SOLD_OUT_FOR_S = 240
_SOLD_OUT_CLASSES = (
    "NVIDIA A100 80GB PCIe",
    "NVIDIA RTX A6000",
    "NVIDIA H100 80GB HBM3",
    "NVIDIA L40S",
)


@dataclass(frozen=True, slots=True)
class Prices:
    """What one type costs in one tick, dollars per hour for one GPU."""

    secure: float
    community: float
    secure_spot: float | None
    community_spot: float | None
    serverless: float | None


class Market:
    """Prices and stock of every type at any moment.

    Args:
        seed: of the world; another seed is another market around the same levels.
        volatility: multiplies every price movement; 0 keeps the levels themselves.
        sells_out: whether one class sells out everywhere for a while in each quarter of an hour.
    """

    def __init__(self, seed: int, *, volatility: float = 1.0, sells_out: bool = True) -> None:
        self._seed = seed
        self._volatility = volatility
        self._sells_out = sells_out
        self._prices = lru_cache(maxsize=2048)(self._compute_prices)
        self._places = lru_cache(maxsize=256)(self._compute_places)
        self._stock = lru_cache(maxsize=16384)(self._compute_stock)
        self.blocked: Callable[[], frozenset[str]] = frozenset
        offset = self._unit("sold-out", "class")
        self.sold_out_class = _SOLD_OUT_CLASSES[int(offset * len(_SOLD_OUT_CLASSES))]
        self._sold_out_phase = int(self._unit("sold-out", "phase") * _SOLD_OUT_CYCLE_S)

    @staticmethod
    def tick(at: float) -> int:
        """The tick a moment (epoch seconds) lies in."""
        return int(at // TICK_S)

    def prices(self, card: Card, tick: int) -> Prices:
        """What a type costs in a tick. A placeholder price never moves."""
        return self._prices(card, tick)

    def pool_price(self, pool: str, tick: int) -> float:
        """What a worker of a pool is billed per GPU-hour, announced or not."""
        member = next(card for card in CARDS if card.pool == pool)
        return self.prices(member, tick).serverless or UNLISTED_POOL_PRICE

    def stock(self, card: Card, place_id: str, product: str, tick: int) -> str:
        """Stock of a type in one data centre or community country: one of `LEVELS`.

        Args:
            card: the type.
            place_id: a data centre id, or `community:US` for a country of the community cloud.
            product: `POD`, `SERVERLESS` or `CLUSTER`: the same card can be scarce for one only.
            tick: see `tick()`.
        """
        if card.gpu_id in self.blocked():
            return "NONE"
        return self._stock(card, place_id, product, tick)

    def is_sold_out(self, card: Card, tick: int) -> bool:
        """Whether the type is in the part of the cycle in which it is sold out everywhere."""
        if not self._sells_out or card.gpu_id != self.sold_out_class:
            return False
        return (tick * TICK_S + self._sold_out_phase) % _SOLD_OUT_CYCLE_S < _SOLD_OUT_FOR_S

    def places(self, card: Card) -> tuple[Place, ...]:
        """The data centres that have machines with this type, free or not."""
        return self._places(card)

    def _compute_places(self, card: Card) -> tuple[Place, ...]:
        if not card.secure:
            return ()
        share = 0.25 + 0.6 * card.plenty
        chosen = tuple(
            place for place in PLACES if self._unit("place", card.gpu_id, place.place_id) < share
        )
        return chosen or PLACES[:1]

    def best_stock(self, card: Card, product: str, tick: int, places: list[str]) -> str:
        """The best level among some places; NONE for no place at all."""
        found = [LEVELS.index(self.stock(card, place, product, tick)) for place in places]
        return LEVELS[max(found, default=0)]

    def at(self, moment: float) -> list[dict[str, Any]]:
        """Every type's prices and stock at a moment, for comparison with what a client shows."""
        tick = self.tick(moment)
        rows = []
        for card in CARDS:
            found = self.prices(card, tick)
            rows.append(
                {
                    "id": card.gpu_id,
                    "pool": card.pool,
                    "secure": found.secure if card.secure else None,
                    "community": found.community if card.community else None,
                    "serverless": found.serverless,
                    "stock": self._overall(card, "POD", tick),
                    "serverless_stock": self._overall(card, "SERVERLESS", tick),
                }
            )
        return rows

    def _overall(self, card: Card, product: str, tick: int) -> str:
        places = [place.place_id for place in self.places(card)]
        if card.community and product == "POD":
            places += [f"community:{country}" for country in COMMUNITY_COUNTRIES]
        return self.best_stock(card, product, tick, places)

    def _compute_prices(self, card: Card, tick: int) -> Prices:
        def walk(part: str, level: float | None, *, amplitude: float = 0.05) -> float | None:
            if not level:
                return level
            return round(level * (1 + amplitude * self._wave(f"{card.gpu_id}/{part}", tick)), 4)

        serverless = card.serverless_price
        if serverless is not None:
            wave = self._wave(f"pool/{card.pool}", tick // 12)
            serverless = round(serverless * (1 + 0.015 * wave), 4)
        return Prices(
            secure=(walk("secure", card.secure_price) if card.secure else card.secure_price) or 0.0,
            community=(
                walk("community", card.community_price) if card.community else card.community_price
            )
            or 0.0,
            secure_spot=walk("secure-spot", card.secure_spot, amplitude=0.12),
            community_spot=walk("community-spot", card.community_spot, amplitude=0.12),
            serverless=serverless,
        )

    def _compute_stock(self, card: Card, place_id: str, product: str, tick: int) -> str:
        if is_mig(card.gpu_id):
            return "HIGH"
        if card.plenty == 0 or self.is_sold_out(card, tick):
            return "NONE"
        # Stock moves in half minutes, each place at its own moment.
        phase = int(self._unit("stock-phase", card.gpu_id, place_id) * 6)
        slow = (tick + phase) // 6
        base = self._unit("stock-base", card.gpu_id, place_id)
        now = self._unit("stock", card.gpu_id, place_id, product, str(slow))
        score = 0.55 * card.plenty + 0.3 * base + 0.3 * now
        return LEVELS[(score > 0.35) + (score > 0.55) + (score > 0.75)]

    def _wave(self, name: str, tick: int) -> float:
        """A slow walk between -1 and 1 that holds still for a few ticks at a time."""
        if not self._volatility:
            return 0.0
        cadence = 1 + int(self._unit("cadence", name) * 4)
        step = (tick + int(self._unit("phase", name) * cadence)) // cadence
        total = 0.0
        for period, weight in ((40, 0.6), (9, 0.3), (1, 0.1)):
            index, offset = divmod(step, period)
            here = self._unit(name, str(period), str(index))
            there = self._unit(name, str(period), str(index + 1))
            total += weight * (here + (there - here) * offset / period)
        return (2 * total - 1) * self._volatility

    def _unit(self, *names: str) -> float:
        text = "\x1f".join((str(self._seed), *names)).encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest()) / 2**48


def graphql_stock(level: str) -> str | None:
    """GraphQL's spelling of a stock level: null where nothing is free."""
    return None if level == "NONE" else level.capitalize()
