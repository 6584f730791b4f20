"""The dated built-in prices: what is shown before RunPod has answered, and all there is without network or without a key."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from flashtui.domain.gpu import is_validated
from flashtui.domain.market import PriceSheet, Quote
from flashtui.domain.money import HourlyRate
from flashtui.providers.runpod.gpus import CLASSES

if TYPE_CHECKING:
    from flashtui.domain.gpu import GpuClass
    from flashtui.domain.market import Product

NAME = "runpod"
# RunPod's page of serverless prices (documentation, `snippets/serverless-gpu-pricing-table.mdx`) of this date.
FLEX_AS_OF = datetime(2026, 8, 20, tzinfo=UTC)
FLEX_USD_PER_HOUR: dict[str, str] = {
    "RTX A4000": "0.576",
    "RTX A4500": "0.576",
    "RTX 4000 Ada": "0.576",
    "RTX A5000": "0.684",
    "RTX 3090": "0.684",
    "L4": "0.684",
    "RTX 4090": "1.116",
    "RTX A6000": "1.224",
    "A40": "1.224",
    "RTX 6000 Ada": "1.908",
    "A100 PCIe": "2.736",
    "A100 SXM": "2.736",
    "H100": "4.176",
    "RTX Pro 6000": "3.996",
    "RTX Pro 6000 WK": "3.996",
}
"""Dollars per GPU-hour of a flex worker; a class that is not here has no published rate."""

# The shared class table's own snapshot of secure on-demand pods.
PODS_AS_OF = datetime(2026, 6, 11, tzinfo=UTC)


def flex_rate(gpu: str) -> HourlyRate | None:
    """The published serverless rate of a class; None where there is none."""
    usd = FLEX_USD_PER_HOUR.get(gpu)
    return None if usd is None else HourlyRate.of(usd)


def static_serverless() -> tuple[Quote, ...]:
    """One row per class; classes without a published rate have no price."""
    return tuple(_row(g, "serverless", flex_rate(g.name), FLEX_AS_OF) for g in CLASSES)


def static_pods() -> tuple[Quote, ...]:
    """One row per class, from the shared class table."""
    return tuple(_row(g, "pod", HourlyRate.of(g.hourly_usd), PODS_AS_OF) for g in CLASSES)


def static_sheet(*, offline: bool) -> PriceSheet:
    """Everything that is known without asking.

    Args:
        offline: only the seeds' pod table, which is what an offline allocation ranks by.
    """
    return PriceSheet(
        NAME, static_pods() if offline else (*static_serverless(), *static_pods()), None
    )


def _row(gpu: GpuClass, product: Product, rate: HourlyRate | None, as_of: datetime) -> Quote:
    return Quote(
        provider=NAME,
        gpu=gpu.name,
        vram_gb=gpu.vram_gb,
        product=product,
        rate=rate,
        available=None,
        stock="unknown",
        regions=(),
        source="static",
        observed_at=as_of,
        validated=is_validated(gpu.name, NAME),
        rentable=False,
    )
