"""The reference tables as the tests need them: raw offers normalised by the seeds' rules, books with injected rates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtui.domain.allocation import AllocationRequest, ProviderBook
from flashtui.domain.gpu import get_gpu_info, is_validated, min_cuda_modern, vast_gpu_for_offer
from flashtui.domain.market import Offer, Quote, ReasonCode
from flashtui.domain.money import HourlyRate
from tests.fakes import T0

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parent.parent / "data"
ALLOC: dict[str, Any] = json.loads((DATA / "reference_alloc.json").read_text(encoding="utf-8"))
VRAM: dict[str, Any] = json.loads((DATA / "reference_vram.json").read_text(encoding="utf-8"))


def static_rates() -> dict[str, HourlyRate]:
    return {gpu: HourlyRate.of(usd) for gpu, usd in ALLOC["runpod_rates"]["static"].items()}


def normalised(raw: dict[str, Any]) -> Offer:
    """A raw offer of the file, held against the seeds' rules."""
    gpu = vast_gpu_for_offer(raw["gpu_name"], raw["gpu_ram"])
    return Offer(
        provider="vast",
        offer_id=str(raw["id"]),
        machine_id=str(raw["machine_id"]),
        gpu=gpu,
        gpu_raw=raw["gpu_name"],
        num_gpus=1,
        vram_gb=get_gpu_info(gpu).vram_gb if gpu else raw["gpu_ram"] // 1024,
        product="instance",
        rate=HourlyRate.of(raw["dph_total"]) or None,
        gpu_rate=None,
        storage_rate=None,
        down_usd_per_gb=None,
        up_usd_per_gb=None,
        priced_disk_gb=60,
        reliability=raw["reliability2"],
        verified=raw["verification"] == "verified",
        datacenter=raw["hosting_type"] == 1,
        cuda=raw["cuda_max_good"],
        disk_gb=raw["disk_space"],
        inet_down_mbps=raw["inet_down"],
        inet_up_mbps=None,
        region=raw["geolocation"],
        available_until=None,
        min_bid=None,
        observed_at=T0,
        reasons=tuple(_reasons(raw, gpu)),
    )


def _reasons(raw: dict[str, Any], gpu: str | None) -> Iterator[ReasonCode]:
    if raw["verification"] != "verified":
        yield "not_verified"
    if raw["hosting_type"] != 1:
        yield "not_datacenter"
    if raw["reliability2"] < 0.995:
        yield "reliability"
    if raw["disk_space"] < 60:
        yield "disk"
    if raw["inet_down"] < 200:
        yield "bandwidth"
    if gpu is not None and raw["cuda_max_good"] < float(min_cuda_modern(gpu)):
        yield "cuda"


def runpod_book(rates: str, *, offline: bool) -> ProviderBook:
    """Every class at its injected rate: live serverless ones, or the static pod table."""
    quotes = tuple(
        Quote(
            provider="runpod",
            gpu=gpu,
            vram_gb=get_gpu_info(gpu).vram_gb,
            product="pod" if offline else "serverless",
            rate=HourlyRate.of(usd),
            available=None,
            stock="unknown",
            regions=(),
            source="static" if offline else "live",
            observed_at=T0,
            validated=is_validated(gpu, "runpod"),
            rentable=not offline,
        )
        for gpu, usd in ALLOC["runpod_rates"][rates].items()
    )
    return ProviderBook("runpod", quotes=quotes, static_may_win=offline)


def vast_book(row: dict[str, Any]) -> ProviderBook:
    """The market as a row of the table found it."""
    if row["FLASH_SKIP_NET"] or not row["vast_key_set"]:
        return ProviderBook("vast", available=False, why_not="vast has no key: set VAST_API_KEY")
    if row["vast_search_fails"]:
        return ProviderBook("vast", failed=True, why_not="vast: search offers: no answer")
    raw = ALLOC["vast_raw_offers"][row["book"]]
    return ProviderBook("vast", offers=tuple(normalised(offer) for offer in raw))


def books(row: dict[str, Any]) -> list[ProviderBook]:
    return [runpod_book(row["rates"], offline=row["FLASH_SKIP_NET"]), vast_book(row)]


def request(row: dict[str, Any]) -> AllocationRequest:
    given = dict(row["kwargs"])
    machines = frozenset(str(machine) for machine in given.pop("exclude_machine_ids", ()))
    return AllocationRequest(
        row["model"],
        row["algorithm"],
        min_vram_gb=row["forced_need"],
        exclude_machine_ids=machines,
        **given,
    )
