"""The cheapest class of one provider by a table of rates: allocation without a market."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.allocation.failures import NothingFitsError
from flashtui.domain.gpu import GPU_CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.domain.money import HourlyRate


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
