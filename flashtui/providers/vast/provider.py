"""Vast as a provider: the eleven methods, each handed on to the module that does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.providers.vast import preflight as checks
from flashtui.providers.vast.auth import NAME, key_of
from flashtui.providers.vast.gpus import CLASSES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from collections.abc import Set as AbstractSet

    from flashtui.domain.gpu import GpuClass
    from flashtui.domain.job import JobSpec
    from flashtui.domain.market import Offer
    from flashtui.domain.run import JobHandle, Observation, PollResult
    from flashtui.providers.base import Context
    from flashtui.providers.vast.follow import Follower
    from flashtui.providers.vast.jobs import Jobs
    from flashtui.providers.vast.pricing import VastPrices
    from flashtui.providers.vast.sweep import Sweeper
    from flashtui.providers.vast.teardown import Teardown


class VastProvider:
    """A :class:`~flashtui.providers.base.Provider` over single-GPU instances of Vast's market."""

    def __init__(
        self,
        context: Context,
        prices: VastPrices,
        jobs: Jobs,
        follower: Follower,
        teardown: Teardown,
        sweeper: Sweeper,
    ) -> None:
        self._context = context
        self._prices = prices
        self._jobs = jobs
        self._follower = follower
        self._teardown = teardown
        self._sweeper = sweeper

    @property
    def name(self) -> str:
        """``"vast"``."""
        return NAME

    def is_configured(self) -> bool:
        """Whether a key is set and the network allowed."""
        return key_of(self._context) is not None and not self._context.settings.skip_net

    def preflight(self, require_hf: bool = True) -> list[str]:  # noqa: FBT001, FBT002 - the seeds' signature
        """What is missing, one sentence each; empty: ready."""
        return checks.problems(self._context, require_hf=require_hf)

    def gpu_classes(self) -> list[GpuClass]:
        """The managed classes that Vast has."""
        return list(CLASSES)

    async def hourly_rate(self, gpu: str) -> float:
        """US dollars per hour of one card: the cheapest usable offer when fresh, else the class table's price."""
        return float(await self._prices.hourly_rate(gpu))

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
        """Rent an offer, hand over its handle, and follow the instance to the attempt's end; nothing is destroyed then."""
        return await self._jobs.submit(
            spec,
            seed,
            log=log,
            on_handle=on_handle,
            attempt=attempt,
            offers=offers,
            exclude_machine_ids=exclude_machine_ids,
        )

    async def poll(
        self,
        handle: JobHandle,
        spec: JobSpec,
        seed: int,
        *,
        log: Callable[[Observation], None] | None = None,
    ) -> PollResult:
        """Follow a persisted handle to the attempt's end."""
        return await self._follower.follow(handle, spec, seed, log=log)

    async def cancel(self, handle: JobHandle) -> None:
        """Stop the instance; its storage goes on billing until it is destroyed."""
        await self._jobs.cancel(handle)

    async def destroy(self, handle: JobHandle) -> None:
        """Delete the instance and return once it is proven gone."""
        await self._teardown.destroy(handle)

    async def gc(self, spec: JobSpec) -> None:
        """Destroy whatever carries this run's label; never raises."""
        await self._sweeper.collect(spec.run_id)

    async def sweep_orphans(self, active_labels: AbstractSet[str] | None = None) -> list[str]:
        """Destroy what carries a label like ours and no active run claims; returns the ids proven gone."""
        return await self._sweeper.sweep(active_labels)
