"""Allocation without a market: the seeds' price table, and the cheapest class by a table of rates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from flashtui.domain.allocation.failures import NothingFitsError
from flashtui.domain.gpu import GPU_CLASSES
from flashtui.domain.market import Product, Quote
from flashtui.domain.money import HourlyRate

if TYPE_CHECKING:
    from collections.abc import Mapping

SEED_TABLE_DATE = datetime(2026, 6, 11, tzinfo=UTC)


def seed_table_quotes(provider: str = "runpod", product: Product = "pod") -> tuple[Quote, ...]:
    """The static prices of the class table as quotes: what an offline allocation ranks; never rentable."""
    return tuple(
        Quote(
            provider=provider,
            gpu=gpu.name,
            vram_gb=gpu.vram_gb,
            product=product,
            rate=HourlyRate.of(gpu.hourly_usd),
            available=None,
            stock="unknown",
            regions=(),
            source="static",
            observed_at=SEED_TABLE_DATE,
            validated=provider in gpu.validated_on,
            rentable=False,
        )
        for gpu in GPU_CLASSES
        if provider in gpu.native
    )


def cheapest_class(
    min_vram_gb: int,
    *,
    include_unvalidated: bool,
    rates: Mapping[str, HourlyRate],
    provider: str = "runpod",
) -> str:
    """The cheapest class of one provider with at least so many GB; at equal price the smaller card.

    Args:
        min_vram_gb: GB of one card.
        include_unvalidated: also classes that have not passed a smoke on this provider.
        rates: of one card, by class; a class without one cannot be chosen.
        provider: whose classes.

    Raises:
        NothingFitsError: none is large enough.
    """
    pool = [
        gpu
        for gpu in GPU_CLASSES
        if provider in gpu.native
        and gpu.vram_gb >= min_vram_gb
        and (include_unvalidated or provider in gpu.validated_on)
        and gpu.name in rates
    ]
    if not pool:
        kind = "known" if include_unvalidated else "validated"
        msg = f"no {kind} {provider} class has {min_vram_gb} GB or more"
        raise NothingFitsError(msg)
    return min(pool, key=lambda gpu: (rates[gpu.name], gpu.vram_gb)).name
