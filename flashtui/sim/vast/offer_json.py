"""Offers as the API shows them. Source: vast 2.3 (fields), 2.4 (prices, exactly), 2.7 (complete example)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.sim.vast.offers import Offer


class OfferRow(Mapping[str, object]):
    """One priced offer for filters and orders to look at; `whole` is what goes over the wire."""

    __slots__ = ("_fixed", "_priced", "offer")

    def __init__(
        self, offer: Offer, fixed: dict[str, object], kind: str, allocated_gb: float
    ) -> None:
        self.offer = offer
        self._fixed = fixed
        self._priced = prices_of(offer, fixed, kind, allocated_gb)

    def at(self, moment: float) -> OfferRow:
        """The same offer later on, while its price still holds."""
        self._priced["duration"] = self.offer.end_date - moment
        return self

    def whole(self) -> dict[str, object]:
        """Every field the API shows."""
        base, disk = self._priced["dph_base"], self._priced["storage_total_cost"]
        blocks = {
            "search": hourly(_float(base), _float(disk)),
            "instance": hourly(0.0, _float(disk)),
        }
        return {**self._fixed, **self._priced, **blocks}

    def __getitem__(self, name: str) -> object:
        return self._priced[name] if name in self._priced else self._fixed[name]

    def get(self, name: str, default: object = None) -> object:
        """A field, or the default."""
        found = self._priced.get(name, self)
        return self._fixed.get(name, default) if found is self else found

    def __iter__(self) -> Iterator[str]:
        yield from self._fixed
        yield from self._priced

    def __len__(self) -> int:
        return len(self._fixed) + len(self._priced)


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
