"""RunPod as a provider: the eleven methods, each handed on to the module that does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.providers.runpod import preflight as checks
from flashtui.providers.runpod.gpus import CLASSES
from flashtui.providers.runpod.replies import NAME
from flashtui.providers.runpod.sweep import collect, sweep
from flashtui.providers.runpod.teardown import destroy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from collections.abc import Set as AbstractSet

    from flashtui.domain.gpu import GpuClass
    from flashtui.domain.job import JobSpec
    from flashtui.domain.market import Offer
    from flashtui.domain.run import JobHandle, Observation, PollResult
    from flashtui.providers.base import Context
    from flashtui.providers.runpod.auth import KeyRing
    from flashtui.providers.runpod.jobs import Jobs
    from flashtui.providers.runpod.pricing import RunPodPrices
    from flashtui.providers.runpod.teardown import Means


class RunPodProvider:
    """A :class:`~flashtui.providers.base.Provider` over RunPod's serverless endpoints; adopted pods can be destroyed too."""

    def __init__(
        self, context: Context, keys: KeyRing, prices: RunPodPrices, jobs: Jobs, means: Means
    ) -> None:
        self._context = context
        self._keys = keys
        self._prices = prices
        self._jobs = jobs
        self._means = means

    @property
    def name(self) -> str:
        """``"runpod"``."""
        return NAME

    def is_configured(self) -> bool:
        """Whether a key is set and the network allowed."""
        return bool(self._keys) and not self._context.settings.skip_net

    def preflight(self, require_hf: bool = True) -> list[str]:  # noqa: FBT001, FBT002 - the seeds' signature
        """What is missing, one sentence each; empty: ready."""
        return checks.problems(self._context, self._keys, require_hf=require_hf)

    def gpu_classes(self) -> list[GpuClass]:
        """The managed classes that RunPod has."""
        return list(CLASSES)

    async def hourly_rate(self, gpu: str) -> float:
        """US dollars per hour of a flex worker with one card: live when fresh, else static."""
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
        """Create an endpoint, hand over its handle, queue the job, and follow it to its end."""
        return await self._jobs.submit(spec, seed, log=log, on_handle=on_handle, attempt=attempt)

    async def poll(
        self,
        handle: JobHandle,
        spec: JobSpec,
        seed: int,
        *,
        log: Callable[[Observation], None] | None = None,
    ) -> PollResult:
        """Follow a persisted handle to a terminal state."""
        return await self._jobs.follow(handle, spec, log=log)

    async def cancel(self, handle: JobHandle) -> None:
        """Stop the job; its endpoint stays until it is destroyed."""
        await self._jobs.cancel(handle)

    async def destroy(self, handle: JobHandle) -> None:
        """Delete the endpoint (or adopted pod) and return once it is proven gone."""
        await destroy(handle, self._means)

    async def gc(self, spec: JobSpec) -> None:
        """Destroy whatever carries this run's name; never raises."""
        await collect(self._means, spec.run_id)

    async def sweep_orphans(self, active_labels: AbstractSet[str] | None = None) -> list[str]:
        """Destroy what carries a name like ours and no active run claims; returns the ids proven gone."""
        return await sweep(self._means, active_labels)
