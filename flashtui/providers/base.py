"""The provider contract: the eleven methods, the small protocols beside them, and what a plugin is handed.

Everything public of the seeds' first document can be imported from here; the values live in ``flashtui.domain``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from flashtui.domain.allocation import Allocation, Candidate
from flashtui.domain.gpu import (
    GPU_CLASSES,
    GPU_INFO,
    KNOWN,
    POLICY_NAMES,
    SUPPORTED,
    GpuClass,
    UnsupportedGpuError,
    canonical_gpu,
    get_gpu_info,
    gpu_short,
    is_validated,
    min_cuda_modern,
    providers_for,
    unvalidated_allowed,
    vast_gpu_for_offer,
)
from flashtui.domain.run import JobHandle, Observation, PollResult

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type of what is injected
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from flashtui.domain.clock import Clock
    from flashtui.domain.job import JobSpec
    from flashtui.domain.market import Account, Offer, PriceSheet
    from flashtui.domain.run import Inventory
    from flashtui.net.exchange import Http
    from flashtui.net.secret import Secret
    from flashtui.settings import Settings

__all__ = [
    "GPU_CLASSES",
    "GPU_INFO",
    "KNOWN",
    "POLICY_NAMES",
    "SUPPORTED",
    "AccountSource",
    "Allocation",
    "Candidate",
    "Context",
    "GpuClass",
    "InventorySource",
    "JobHandle",
    "Observation",
    "OfferSource",
    "Plugin",
    "PollResult",
    "PriceSource",
    "Provider",
    "UnsupportedGpuError",
    "canonical_gpu",
    "cheapest_gpu",
    "get_gpu_info",
    "gpu_short",
    "is_validated",
    "min_cuda_modern",
    "providers_for",
    "resolve_gpu_policy",
    "unvalidated_allowed",
    "vast_gpu_for_offer",
]


@runtime_checkable
class Provider(Protocol):
    """One place that rents GPUs: the eleven names every provider has.

    Methods that can touch the network are coroutines; constructors and the others do no I/O.
    """

    @property
    def name(self) -> str:
        """Registry name, e.g. ``"vast"``."""
        ...

    def is_configured(self) -> bool:
        """Whether a key is present and the network allowed; looks at configuration only."""
        ...

    def preflight(self, require_hf: bool = True) -> list[str]:  # noqa: FBT001, FBT002 - the seeds' signature
        """What is missing, one sentence each; empty: ready."""
        ...

    def gpu_classes(self) -> list[GpuClass]:
        """The classes this provider can rent (rows of the shared table)."""
        ...

    async def hourly_rate(self, gpu: str) -> float:
        """US dollars per hour for one card: live when fresh, else static.

        Raises:
            UnsupportedGpuError: not a class of this provider.
        """
        ...

    async def submit_run(
        self,
        spec: JobSpec,
        seed: int,
        *,
        log: Callable[[Observation], None] | None = None,
        on_handle: Callable[[JobHandle], Awaitable[None]] | None = None,
        attempt: int = 0,
        offers: Sequence[Offer] | None = None,
        exclude_machine_ids: AbstractSet[str] = frozenset(),
    ) -> PollResult:
        """Rent, start, hand over the handle (awaited, so that it is on disk), then poll to the end."""
        ...

    async def poll(
        self,
        handle: JobHandle,
        spec: JobSpec,
        seed: int,
        *,
        log: Callable[[Observation], None] | None = None,
    ) -> PollResult:
        """Follow a persisted handle to a terminal state; each look goes through ``log``."""
        ...

    async def cancel(self, handle: JobHandle) -> None:
        """Stop the worker; idempotent. What is rented goes on billing until it is destroyed.

        Raises:
            ProviderError: could not ask, or they refused.
        """
        ...

    async def destroy(self, handle: JobHandle) -> None:
        """Tear down what this handle owns; idempotent; returns only once it is proven gone.

        Raises:
            DestroyUnconfirmed: asked, but it may still bill.
            ProviderError: could not ask.
        """
        ...

    async def gc(self, spec: JobSpec) -> None:
        """Reap whatever this run may have left behind, by label; never raises."""
        ...

    async def sweep_orphans(self, active_labels: AbstractSet[str] | None = None) -> list[str]:
        """Destroy what this provider bills and no active run claims; returns the ids proven gone.

        Args:
            active_labels: label prefixes of runs that are active; an empty set: none is. None: not known.

        Raises:
            SweepRefused: ``active_labels`` is None; nothing was destroyed.
            IncompleteListing: the listing could not be read whole; nothing was destroyed.
        """
        ...


@runtime_checkable
class PriceSource(Protocol):
    """A provider's pricing module: the whole table in one refresh."""

    async def sheet(self) -> PriceSheet:
        """All classes and products of this provider, with source and time of observation.

        Raises:
            ProviderError: could not be read; the caller keeps its last good sheet.
        """
        ...

    def static_sheet(self) -> PriceSheet:
        """The dated built-in list: no I/O, every row ``static``; empty where there is none."""
        ...


@runtime_checkable
class OfferSource(Protocol):
    """Single offers of a market."""

    async def offers(
        self,
        *,
        gpu: str | None = None,
        min_vram_gb: int | None = None,
        disk_gb: int = 60,
        limit: int = 100,
    ) -> tuple[Offer, ...]:
        """Offers by price, those that the rules would not rent included, each with its reasons.

        Raises:
            ProviderError: could not be read.
        """
        ...


@runtime_checkable
class InventorySource(Protocol):
    """The listing of everything an account rents; the only thing that can prove a resource gone."""

    async def inventory(self) -> Inventory:
        """All pages, or an error.

        Raises:
            ProviderError: could not be read whole.
        """
        ...


@runtime_checkable
class AccountSource(Protocol):
    """Balance and spend of an account."""

    async def account(self) -> Account:
        """Money as the provider tells it.

        Raises:
            ProviderError: could not be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a plugin is handed; it may use nothing else of the world.

    Attributes:
        settings: values from environment and file, without keys.
        keys: this provider's API keys, normalised; empty: no key.
        hf_token: for artifacts; None: not set.
        http: one shared client's manners (pace, classification, redaction).
        run_budget_s: seconds that destroy may spend on proof before it raises.
    """

    settings: Settings
    keys: tuple[Secret, ...]
    hf_token: Secret | None
    http: Http
    clock: Clock
    rng: random.Random
    confirm_within_s: float = 120.0


@dataclass(frozen=True, slots=True)
class Plugin:
    """What an entry point returns: a provider and the optional sources beside it."""

    provider: Provider
    prices: PriceSource | None = None
    offers: OfferSource | None = None
    inventory: InventorySource | None = None
    account: AccountSource | None = None
    native_names: Mapping[str, str] = field(default_factory=dict)
    extra_classes: tuple[GpuClass, ...] = ()


def cheapest_gpu(min_vram_gb: int, include_unvalidated: bool = False) -> str:  # noqa: FBT001, FBT002 - the seeds' signature
    """The cheapest RunPod class with at least ``min_vram_gb`` GB, by the last cached rate, else the static one.

    Raises:
        UnsupportedGpuError: none is large enough.
    """
    from flashtui.domain.allocation import cheapest_class
    from flashtui.providers.registry import cached_rates

    return cheapest_class(
        min_vram_gb, include_unvalidated=include_unvalidated, rates=cached_rates("runpod")
    )


def resolve_gpu_policy(
    requested: str,
    model_id: str,
    allow_unvalidated: bool | None = None,  # noqa: FBT001 - the seeds' signature
    algorithm: str = "sft",
    *,
    train: object = None,
    thinking: bool = False,
) -> str:
    """Resolve ``gpu.type`` to a class: a policy word to the cheapest that fits, any other name to its canonical form.

    Provisional: the allocator decides again, live, at submit.
    """
    if (requested or "").strip().lower() not in POLICY_NAMES:
        return canonical_gpu(requested)
    from flashtui.domain.sizing import model_required_vram_gb
    from flashtui.settings import vram_headroom

    need = model_required_vram_gb(
        model_id, algorithm, train=train, thinking=thinking, headroom=vram_headroom()
    )
    return cheapest_gpu(need, include_unvalidated=unvalidated_allowed(allow_unvalidated))
