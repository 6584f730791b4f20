"""Pods in time: boot, stop, spot interruption, and what the ledger bills for them.

Sources: docs pods/pricing (billed by the second from deployment; container disk 0.10, volume 0.10
running and 0.20 stopped, dollars per GB and month), pods/choose-a-pod (spot), accounts-billing/billing
(what happens at zero balance).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.sim.runpod.cards import CARD_BY_ID, Card
from flashtui.sim.runpod.market import LEVELS, Market
from flashtui.sim.runpod.places import COMMUNITY_COUNTRIES, PLACE_BY_ID
from flashtui.sim.runpod.quirks import NO_INSTANCES
from flashtui.sim.runpod.records import Pod, Template
from flashtui.sim.runpod.serverless import HOURS_PER_MONTH
from flashtui.sim.runpod.words import browser_date

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from flashtui.sim.runpod.books import Books
    from flashtui.sim.runpod.real_work import RealWork

DISK_RUNNING = 0.10
VOLUME_RUNNING = 0.10
VOLUME_STOPPED = 0.20
_MAX_GPUS = {"NONE": 0, "LOW": 1, "MEDIUM": 4, "HIGH": 12}


class NoCapacityError(Exception):
    """Nothing free for a pod request; the message is what the provider says."""


@dataclass(frozen=True, slots=True)
class PodWish:
    """What a client asks for when it rents a pod."""

    name: str
    gpu_id: str
    template: Template
    gpu_count: int = 1
    cloud: str = "SECURE"
    """SECURE, COMMUNITY or ALL."""
    places: tuple[str, ...] = ()
    country: str | None = None
    bid: float | None = None
    """Dollars per GPU-hour for an interruptible pod, None for on-demand."""
    template_id: str | None = None
    volume_id: str | None = None


class PodPark:
    """Rents, stops and bills pods."""

    def __init__(
        self,
        market: Market,
        books: Books,
        *,
        boot_s: tuple[float, float],
        new_id: Callable[[int], str],
        rng: Callable[..., random.Random],
    ) -> None:
        self._market = market
        self._books = books
        self._boot_s = boot_s
        self.work: RealWork | None = None
        self._new_id = new_id
        self._rng = rng

    def rent(self, wish: PodWish, owner: str, now: float) -> Pod:
        """Rent at once; billing starts now although the container boots first.

        Raises:
            NoCapacityError: no machine, or the bid is below the floor.
        """
        card = CARD_BY_ID.get(wish.gpu_id)
        if card is None or wish.gpu_id == "unknown":
            raise NoCapacityError(NO_INSTANCES)
        cloud, place = self._find(card, wish, now)
        prices = self._market.prices(card, self._market.tick(now))
        price = prices.secure if cloud == "SECURE" else prices.community
        if wish.bid is not None:
            floor = prices.secure_spot if cloud == "SECURE" else prices.community_spot
            if floor is None or wish.bid < floor:
                raise NoCapacityError(NO_INSTANCES)
            price = wish.bid
        pod_id = self._new_id(14)
        low, high = self._boot_s
        pod = Pod(
            pod_id=pod_id,
            name=wish.name,
            owner=owner,
            template=wish.template,
            gpu_id=wish.gpu_id,
            gpu_count=wish.gpu_count,
            cloud=cloud,
            usd_per_hour=round(price * wish.gpu_count, 6),
            created_at=now,
            started_at=now,
            ready_at=now + self._rng("runpod", "boot", pod_id).uniform(low, high),
            place_id=place if cloud == "SECURE" else None,
            country=PLACE_BY_ID[place].country if cloud == "SECURE" else place,
            machine_id=self._new_id(12),
            is_spot=wish.bid is not None,
            template_id=wish.template_id,
            volume_id=wish.volume_id,
            last_change=f"Rented by User: {browser_date(now)}",
        )
        pod.log.append((now, "system", f"create container {wish.template.image}"))
        pod.log.append((pod.ready_at, "system", "start container"))
        self.open(pod)
        return pod

    def open(self, pod: Pod) -> None:
        """Begin the pod's line in the ledger."""
        self._books.open(pod.pod_id, kind="pod", label=pod.name, gpu=pod.gpu_id, at=pod.created_at)
        self._bill(pod, pod.created_at)

    def can_place(self, wish: PodWish, now: float) -> bool:
        """Whether a request could be met now."""
        card = CARD_BY_ID.get(wish.gpu_id)
        try:
            return card is not None and bool(self._find(card, wish, now))
        except NoCapacityError:
            return False

    def _find(self, card: Card, wish: PodWish, now: float) -> tuple[str, str]:
        tick = self._market.tick(now)
        options = [*self._secure(card, wish, tick), *self._communal(card, wish, tick)]
        rank, cloud, place = max(options, key=lambda option: option[0], default=(0, "", ""))
        if _MAX_GPUS[LEVELS[rank]] < wish.gpu_count:
            raise NoCapacityError(NO_INSTANCES)
        return cloud, place

    def _secure(self, card: Card, wish: PodWish, tick: int) -> Iterator[tuple[int, str, str]]:
        if wish.cloud == "COMMUNITY" or wish.gpu_count > card.max_secure:
            return
        for place in self._market.places(card):
            is_asked = not wish.places or place.place_id in wish.places
            if is_asked and wish.country in {None, place.country}:
                level = self._market.stock(card, place.place_id, "POD", tick)
                yield LEVELS.index(level), "SECURE", place.place_id

    def _communal(self, card: Card, wish: PodWish, tick: int) -> Iterator[tuple[int, str, str]]:
        is_offered = card.community and wish.gpu_count <= card.max_community
        if wish.cloud == "SECURE" or wish.places or not is_offered:
            return
        for country in COMMUNITY_COUNTRIES:
            if wish.country in {None, country}:
                level = self._market.stock(card, f"community:{country}", "POD", tick)
                yield LEVELS.index(level), "COMMUNITY", country

    def advance(self, pod: Pod, now: float) -> None:
        """Start a pod's process once its container is up."""
        if self.work is not None and pod.status == "RUNNING" and now >= pod.ready_at:
            self.work.pod_ready(pod)

    def stop(self, pod: Pod, now: float, reason: str = "Exited by User") -> None:
        """Release the GPU; the volume goes on costing, at the stopped rate."""
        if self.work is not None:
            self.work.pod_stopped(pod)
        pod.status = "EXITED"
        pod.last_change = f"{reason}: {browser_date(now)}"
        pod.log.append((now, "system", "stop container"))
        self._bill(pod, now)

    def resume(self, pod: Pod, gpu_count: int, now: float) -> None:
        """Start again on the same host.

        Raises:
            NoCapacityError: the host has no free GPU any more.
        """
        card = CARD_BY_ID.get(pod.gpu_id)
        if card is not None and self._market.is_sold_out(card, self._market.tick(now)):
            message = "There are not enough free GPUs on the host machine to start this pod."
            raise NoCapacityError(message)
        per_gpu = pod.usd_per_hour / pod.gpu_count
        pod.gpu_count = gpu_count
        pod.usd_per_hour = round(per_gpu * gpu_count, 6)
        pod.status = "RUNNING"
        pod.started_at = now
        low, high = self._boot_s
        pod.ready_at = now + self._rng("runpod", "boot", pod.pod_id, str(now)).uniform(low, high)
        pod.last_change = f"Resumed by User: {browser_date(now)}"
        self._bill(pod, now)

    def terminate(self, pod: Pod, now: float) -> None:
        """End all billing for good."""
        if self.work is not None:
            self.work.pod_stopped(pod)
        pod.status = "TERMINATED"
        pod.ended_at = now
        pod.shown_until = max(now, pod.shown_until or 0.0)
        self._bill(pod, now)
        self._books.close(pod.pod_id, now)

    def reprice(self, pod: Pod, factor: float, now: float) -> None:
        """Charge another rate for a pod that is already rented."""
        pod.usd_per_hour = round(pod.usd_per_hour * factor, 6)
        self._bill(pod, now)

    def _bill(self, pod: Pod, now: float) -> None:
        is_up = pod.status == "RUNNING"
        is_stopped = pod.status == "EXITED"
        disk = pod.template.disk_gb * DISK_RUNNING if is_up else 0.0
        volume = pod.template.volume_gb if pod.volume_id is None else 0
        volume_rate = VOLUME_RUNNING if is_up else VOLUME_STOPPED if is_stopped else 0.0
        rates = {
            "gpu": pod.usd_per_hour if is_up else 0.0,
            "storage": round((disk + volume * volume_rate) / HOURS_PER_MONTH, 9),
        }
        for part, rate in rates.items():
            self._books.set_rate(pod.pod_id, part, rate, now)
