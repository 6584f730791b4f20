"""Instances as the API shows them. Source: vast 3.8 (fields), 3.9 (complete example), 3.6 (connection)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashtui.sim import market
from flashtui.sim.vast.contract import GPU_BILLED, STORAGE_FREE, Contract, pull_message
from flashtui.sim.vast.offer_json import hourly, static_row

if TYPE_CHECKING:
    from flashtui.sim.vast.contract import Phase

_NOT_ON_INSTANCES = {
    "id", "ask_contract_id", "bundled_results", "gpu_total_ram", "gpu_ids", "cluster_id", "hostname", "resource_type",
    "rn", "discount_rate", "discounted_hourly", "rented", "avail_vol_ask_id", "avail_vol_dph", "avail_vol_size",
    "nw_disk_min_bw", "nw_disk_max_bw", "nw_disk_avg_bw", "driver_vers", "gpu_max_power", "gpu_max_temp",
    "reliability", "reliability_mult", "expected_reliability", "internet_down_cost_per_tb", "internet_up_cost_per_tb",
    "platform_fee", "start_date", "end_date", "is_bid", "time_remaining", "time_remaining_isbid",
}  # fmt: skip
_MONTH_S, _DAY_S, _HOUR_S = 30 * 86400.0, 86400.0, 3600.0


def instance(contract: Contract, at: float, world_start: float) -> dict[str, object]:
    """One instance at a moment."""
    phase = contract.phase(at)
    shared = {
        name: value
        for name, value in static_row(contract.offer, world_start).items()
        if name not in _NOT_ON_INSTANCES
    }
    return {
        **shared,
        **_identity(contract, at),
        **_status(contract, phase, at),
        **_container(contract),
        **_network(contract, phase, at),
        **_telemetry(contract, phase, at),
        **_money(contract, phase),
    }


def _identity(contract: Contract, at: float) -> dict[str, object]:
    left = max(contract.end_date - at, 0.0)
    return {
        "id": contract.contract_id,
        "label": contract.label,
        "template_id": None,
        "template_hash_id": contract.asked.get("template_hash_id"),
        "template_name": None,
        "start_date": contract.created_at,
        "end_date": contract.end_date,
        "duration": left,
        "uptime_mins": None,
        "client_run_time": 1.1,
        "host_run_time": 2592000.0,
        "time_remaining": _words(left),
        "time_remaining_isbid": _words(left) if contract.bid is not None else "",
        "gpu_totalram": contract.machine.board.gpu_ram * contract.part.size,
        "is_bid": contract.bid is not None,
        "external": False,
        "country_code": None,
        "volume_info": [],
    }


def _status(contract: Contract, phase: Phase, at: float) -> dict[str, object]:
    return {
        "actual_status": phase.actual,
        "intended_status": phase.intended,
        "cur_state": phase.cur,
        "next_state": phase.following,
        "status_msg": pull_message(contract, at),
    }


def _container(contract: Contract) -> dict[str, object]:
    env, args = contract.asked.get("env"), contract.asked.get("args")
    return {
        "image_uuid": contract.image,
        "image_args": args if isinstance(args, list) else [],
        "image_runtype": contract.runtype,
        "extra_env": [[name, value] for name, value in env.items()]
        if isinstance(env, dict)
        else [],
        "onstart": contract.asked.get("onstart"),
        "jupyter_token": f"{contract.contract_id * 0x9E3779B97F4A7C15 & (1 << 64) - 1:064x}",
    }


def _network(contract: Contract, phase: Phase, at: float) -> dict[str, object]:
    ports, first = None, 40_000 + contract.contract_id % 20_000
    if phase.actual == "running":
        ports = {"22/tcp": _bound(first)} | {
            f"{inner}/tcp": _bound(first + number)
            for number, inner in enumerate(_asked_ports(contract), start=1)
        }
    moved_kb = _pulled_kb(contract, at)
    return {
        "public_ipaddr": contract.machine.traits["public_ipaddr"],
        "local_ipaddrs": "10.4.0.12 172.17.0.1 \n",
        "ssh_host": f"ssh{contract.contract_id % 9 + 1}.vast.ai",
        "ssh_idx": str(contract.contract_id % 9 + 1),
        "ssh_port": 30_000 + contract.contract_id % 9000,
        "machine_dir_ssh_port": first + 2,
        "direct_port_start": first if ports else -1,
        "direct_port_end": first + 2 if ports else -1,
        "ports": ports,
        "inet_down_billed": moved_kb,
        "inet_up_billed": 0.0 if moved_kb is not None else None,
    }


def _bound(port: int) -> list[dict[str, str]]:
    every = "0.0.0.0"  # noqa: S104 - text in a reply, not an address to bind
    return [{"HostIp": host, "HostPort": str(port)} for host in (every, "::")]


def _asked_ports(contract: Contract) -> list[str]:
    """Ports asked for by keys such as "-p 8080:8080" in `env` (vast 3.1)."""
    env = contract.asked.get("env")
    names = env.keys() if isinstance(env, dict) else ()
    return [name.split(":")[-1] for name in names if name.startswith("-p ") and ":" in name]


def _pulled_kb(contract: Contract, at: float) -> float | None:
    if contract.running_since(at) is None:
        return None
    return contract.billed_kb


def _telemetry(contract: Contract, phase: Phase, at: float) -> dict[str, object]:
    since = contract.running_since(at)
    shares = contract.part.size / contract.machine.gpu_count
    ram_gb = _float(contract.machine.traits["cpu_ram"]) / 1024 * shares
    fixed: dict[str, object] = {"disk_space": contract.disk_gb, "mem_limit": round(ram_gb, 1)}
    if since is None or phase.actual not in {"running", "frozen"}:
        nothing: dict[str, object] = {"gpu_util": None, "gpu_temp": None, "cpu_util": None, "mem_usage": None,
                   "vmem_usage": None, "disk_usage": -1.0, "disk_util": -1.0}  # fmt: skip
        return fixed | nothing
    tick = market.tick_of(at)
    wander = market.drift(contract.machine.key ^ 0x7E1E, tick / 9)
    busy = 0.0 if at - since < 20 else min(max(92 + 8 * wander, 0.0), 100.0)
    used = min(1.5 + (at - since) / 600 + 0.1 * contract.disk_gb, contract.disk_gb)
    return fixed | {
        "gpu_util": round(busy, 1),
        "gpu_temp": round(38 + 0.3 * busy + 3 * wander, 1),
        "cpu_util": round(0.2 + 0.05 * wander, 3),
        "mem_usage": round(min(7.9 + wander, ram_gb), 3),
        "vmem_usage": 18.2,
        "disk_usage": round(used, 2),
        "disk_util": round(used / contract.disk_gb, 4),
    }


def _money(contract: Contract, phase: Phase) -> dict[str, object]:
    disk = contract.disk_per_hour
    pays_gpu = phase.actual in GPU_BILLED
    now_gpu = contract.dph_base if pays_gpu else 0.0
    now_disk = 0.0 if phase.actual in STORAGE_FREE else disk
    total = contract.dph_base + disk
    size = contract.part.size
    board = contract.machine.board
    return {
        "dph_base": contract.dph_base,
        "dph_total": total,
        "storage_cost": contract.machine.storage_cost,
        "storage_total_cost": disk,
        "min_bid": contract.offer.min_bid,
        "search": hourly(contract.dph_base, disk),
        "instance": hourly(now_gpu, now_disk),
        "vram_costperhour": total / (board.gpu_ram * size),
        "dlperf_per_dphtotal": board.dlperf * size / total,
        "flops_per_dphtotal": board.total_flops * size / total,
        "score": round(board.dlperf * size / total, 2),
        "credit_balance": None,
        "credit_discount": None,
    }


def _words(seconds: float) -> str:
    months, rest = divmod(seconds, _MONTH_S)
    days, rest = divmod(rest, _DAY_S)
    return f"{int(months)} Mon {int(days)} D {math.floor(rest / _HOUR_S)} Hr"


def _float(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
