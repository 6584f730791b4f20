"""Allocation across the installed providers: asks those that may be asked, then decides by the pure rules."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from flashtui.domain.allocation import (
    Allocation,
    AllocationRequest,
    ProviderBook,
    allocate_from,
    allocation_summary,
    book_from_sheet,
)
from flashtui.domain.errors import ProviderError
from flashtui.domain.gpu import canonical_gpu, get_gpu_info
from flashtui.domain.rules import LEAST_DISK_GB
from flashtui.domain.sizing import model_required_vram_gb
from flashtui.settings import vram_headroom
from flashtui.settings.keys import key_variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from flashtui.domain.market import Offer
    from flashtui.providers.base import OfferSource, Plugin
    from flashtui.providers.library import Library
    from flashtui.settings import Settings

__all__ = [
    "allocate",
    "allocate_in",
    "allocation_summary",
    "vram_headroom",
    "why_not_configured",
]

# As many offers as one search may bring; a class that is on a later page cannot be chosen.
_OFFERS = 256


async def allocate(
    model_id: str,
    algorithm: str,
    *,
    gpu: str | None = None,
    provider: str = "auto",
    disk_gb: int = 60,
    allow_unvalidated: bool | None = None,
    exclude_machine_ids: AbstractSet[str | int] = frozenset(),
    train: Mapping[str, Any] | object | None = None,
    thinking: bool = False,
) -> Allocation:
    """The cheapest way to get a job run, with the providers of the process's own environment.

    Args:
        model_id: a catalogued model or any other.
        algorithm: ``sft`` or ``grpo``.
        gpu: a pin, in any accepted spelling; it is given up when it cannot hold the job.
        provider: ``auto`` or one name.
        disk_gb: never less than 60 counts.
        allow_unvalidated: only an explicit True lets in classes that have not passed a smoke.
        exclude_machine_ids: market machines that must not be used.
        train: the ``[train]`` knobs.
        thinking: whether the model reasons before it answers.

    Raises:
        UnsupportedGpuError: unknown names, a provider that cannot be asked, a failed search, or nothing that fits;
            each is a class of its own in ``flashtui.domain.allocation``.
    """
    from flashtui.providers.library import library

    request = AllocationRequest(
        model_id=model_id,
        algorithm=algorithm,
        gpu=gpu,
        provider=(provider or "auto").strip().lower(),
        disk_gb=disk_gb,
        allow_unvalidated=allow_unvalidated,
        exclude_machine_ids=frozenset(str(machine) for machine in exclude_machine_ids),
        train=train,
        thinking=thinking,
    )
    return await allocate_in(library(), request)


async def allocate_in(world: Library, request: AllocationRequest) -> Allocation:
    """:func:`allocate` with the providers of one world.

    Raises:
        UnsupportedGpuError: like :func:`allocate`.
    """
    if request.gpu is not None:
        canonical_gpu(request.gpu)  # an unknown name is not worth asking anybody
    return allocate_from(
        request,
        await _read_books(world, request),
        headroom=world.settings.vram_headroom,
        now=world.clock.now(),
        interval_s=world.settings.poll_seconds,
        preference=world.settings.preference,
        rules=world.settings.rules,
    )


def why_not_configured(settings: Settings, provider: str) -> str:
    """Why a provider cannot be asked, in a sentence that says what to do."""
    variable = key_variable(provider)
    if settings.skip_net:
        return f"{provider} needs {variable} and the network (FLASH_SKIP_NET is set)"
    problem = settings.key_problem(provider)
    return f"{provider}: {problem}" if problem else f"{provider} has no key: set {variable}"


async def _read_books(world: Library, request: AllocationRequest) -> list[ProviderBook]:
    plugins = world.registry.plugins()
    known = request.provider in {"auto", *plugins}
    books = await asyncio.gather(
        *(
            _read_book(world, plugin, request)
            if known and request.provider in {"auto", name}
            else _unread(plugin)
            for name, plugin in plugins.items()
        )
    )
    failed = (
        ProviderBook(name, available=False, why_not=why)
        for name, why in world.registry.failures.items()
        if name in world.registry.names
    )
    return [*books, *failed]


async def _unread(plugin: Plugin) -> ProviderBook:
    return ProviderBook(plugin.provider.name)


async def _read_book(world: Library, plugin: Plugin, request: AllocationRequest) -> ProviderBook:
    """What one provider has to say; a failure to say it is part of the book."""
    from flashtui.providers.method_prices import MethodPrices

    name = plugin.provider.name
    prices = plugin.prices or MethodPrices(plugin.provider, world.clock)
    if not plugin.provider.is_configured():
        why_not = why_not_configured(world.settings, name)
        return book_from_sheet(name, prices.static_sheet(), configured=False, why_not=why_not)
    try:
        if plugin.offers is not None:
            offers = await _search(plugin.offers, world, request)
            return ProviderBook(name, offers=offers)
        return book_from_sheet(name, await prices.sheet(), configured=True)
    except ProviderError as error:
        return ProviderBook(name, failed=True, why_not=str(error))


async def _search(
    source: OfferSource, world: Library, request: AllocationRequest
) -> tuple[Offer, ...]:
    """Offers that are large enough; those of a pin apart, so that cheaper ones cannot push it off the page."""
    need = request.min_vram_gb or model_required_vram_gb(
        request.model_id,
        request.algorithm,
        train=request.train,
        thinking=request.thinking,
        headroom=world.settings.vram_headroom,
        params_b=request.params_b,
    )
    disk_gb = max(request.disk_gb, LEAST_DISK_GB)
    found = await source.offers(min_vram_gb=need, disk_gb=disk_gb, limit=_OFFERS)
    if request.gpu is None or get_gpu_info(request.gpu).vram_gb < need:
        return found
    pinned = await source.offers(
        gpu=canonical_gpu(request.gpu), min_vram_gb=need, disk_gb=disk_gb, limit=_OFFERS
    )
    return _once(pinned, found)


def _once(*searches: Iterable[Offer]) -> tuple[Offer, ...]:
    by_id = {offer.offer_id: offer for search in searches for offer in search}
    return tuple(by_id.values())
