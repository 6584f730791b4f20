"""Offers as the API shows them. Source: vast 2.3 (fields), 2.4 (prices, exactly), 2.7 (complete example)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.sim.vast.offers import Offer


class Moment:
    """The present of a market, shared by all its rows, because what is left of a listing shrinks by itself."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = 0.0


class OfferRow(Mapping[str, object]):
    """One priced offer for filters and orders to look at; `whole` is what goes over the wire."""

    __slots__ = ("_allocated_gb", "_fixed", "_kind", "_moment", "_priced", "offer")

    def __init__(
        self,
        offer: Offer,
        fixed: dict[str, object],
        kind: str,
        allocated_gb: float,
        moment: Moment,
    ) -> None:
        self.offer = offer
        self._fixed = fixed
        self._kind = kind
        self._allocated_gb = allocated_gb
        self._moment = moment
        self._priced: dict[str, object] | None = None

    def whole(self) -> dict[str, object]:
        """Every field the API shows."""
        priced = self._prices()
        base, disk = _float(priced["dph_base"]), _float(priced["storage_total_cost"])
        return {
            **self._fixed,
            **priced,
            "duration": self._duration(),
            "search": hourly(base, disk),
            "instance": hourly(0.0, disk),
        }

    def get(self, name: str, default: object = None) -> object:
        """A field, or the default."""
        found = self._fixed.get(name, self)
        if found is not self:
            return found
        return self._duration() if name == "duration" else self._prices().get(name, default)

    def __getitem__(self, name: str) -> object:
        found = self.get(name, self)
        if found is self:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from self._fixed
        yield from self._prices()
        yield "duration"

    def __len__(self) -> int:
        return len(self._fixed) + len(self._prices()) + 1

    def _prices(self) -> dict[str, object]:
        """Worked out when first asked for: most rows fall to filters on what never changes."""
        if self._priced is None:
            self._priced = prices_of(self.offer, self._fixed, self._kind, self._allocated_gb)
        return self._priced

    def _duration(self) -> float:
        return self.offer.end_date - self._moment.at


def _float(value: object) -> float:
    return value if isinstance(value, float) else 0.0


def static_row(offer: Offer, start: float) -> dict[str, object]:
    """The fields of an offer that do not depend on its price. Source: vast 2.3."""
    machine, part, board = offer.machine, offer.part, offer.machine.board
    fraction = part.size / machine.gpu_count
    return {
        "id": offer.offer_id,
        "ask_contract_id": offer.offer_id,
        "bundle_id": 611_000_000 + machine.number * 10 + part.size,
        "bundled_results": None,
        "machine_id": machine.machine_id,
        "host_id": machine.host_id,
        "hostname": None,
        "cluster_id": None,
        "resource_type": "gpu",
        "num_gpus": part.size,
        "gpu_name": board.gpu_name,
        "gpu_arch": board.gpu_arch,
        "gpu_ram": board.gpu_ram,
        "gpu_total_ram": board.gpu_ram * part.size,
        "gpu_frac": fraction,
        "gpu_ids": [200_000 + machine.number * 32 + gpu for gpu in part.gpus()],
        "gpu_lanes": 16,
        "gpu_mem_bw": board.gpu_mem_bw,
        "gpu_max_power": board.gpu_max_power,
        "gpu_max_temp": 90.0,
        "compute_cap": board.compute_cap,
        "cpu_cores": machine.cpu_cores,
        "cpu_cores_effective": round(machine.cpu_cores * fraction, 2),
        "disk_space": machine.disk_space,
        "direct_port_count": max(int(machine.direct_ports * fraction), 0),
        **machine.traits,
        "dlperf": round(board.dlperf * part.size, 2),
        "total_flops": round(board.total_flops * part.size, 2),
        "storage_cost": machine.storage_cost,
        "is_bid": False,
        "discount_rate": 0.0,
        "discounted_hourly": 0.0,
        "credit_discount_max": 0.4 if machine.number % 3 else None,
        "platform_fee": None,
        "inet_down_billed": None,
        "inet_up_billed": None,
        "rn": 1,
        "rentable": True,
        "rented": False,
        "start_date": start - 3600.0 * (1 + machine.number % 300),
        "end_date": offer.end_date,
        "time_remaining": "",
        "time_remaining_isbid": "",
        "avail_vol_ask_id": offer.offer_id - 4 if machine.number % 2 else None,
        "avail_vol_dph": 0.000208 if machine.number % 2 else None,
        "avail_vol_size": 300.0 if machine.number % 2 else None,
        "nw_disk_min_bw": None,
        "nw_disk_max_bw": None,
        "nw_disk_avg_bw": None,
        "logo": "/static/logos/vastai_small2.png",
        "webpage": None,
    }


def prices_of(
    offer: Offer, static: dict[str, object], kind: str, allocated_gb: float
) -> dict[str, object]:
    """The fields that depend on price and storage. Source: vast 2.4."""
    base = offer.min_bid if kind == "bid" else offer.dph_base
    disk = offer.machine.storage_cost * allocated_gb / 720
    total = base + disk
    board, size = offer.machine.board, offer.part.size
    reliability = static["reliability2"]
    weight = reliability if isinstance(reliability, float) else 0.9
    return {
        "dph_base": base,
        "storage_total_cost": disk,
        "dph_total": total,
        "dph_total_adj": total,
        "dlperf_per_dphtotal": board.dlperf * size / total,
        "flops_per_dphtotal": board.total_flops * size / total,
        "vram_costperhour": total / (board.gpu_ram * size),
        "min_bid": offer.min_bid,
        "discounted_dph_total": total,
        "score": round(board.dlperf * size / total * weight, 2),
    }


def hourly(gpu: float, disk: float) -> dict[str, object]:
    """The block in which offers and instances repeat their price."""
    return {
        "gpuCostPerHour": gpu,
        "diskHour": disk,
        "totalHour": gpu + disk,
        "discountTotalHour": 0.0,
        "discountedTotalPerHour": gpu + disk,
    }
