"""Looks at a job every ten seconds until it is over: status, health while it waits, the card that it really got."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from flashtui.domain.errors import NotFound, ProviderError, Rejected
from flashtui.domain.run import Observation, PollResult
from flashtui.domain.text import clean
from flashtui.providers.runpod.gpus import shown_name
from flashtui.providers.runpod.replies import NAME
from flashtui.providers.runpod.targets import target_of
from flashtui.providers.runpod.train import wall_s
from flashtui.providers.runpod.watch import POLL_S, JobWatch, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flashtui.domain.job import JobSpec
    from flashtui.domain.run import JobHandle, ResourceState
    from flashtui.providers.runpod.auth import Key
    from flashtui.providers.runpod.catalog import Catalog
    from flashtui.providers.runpod.targets import HandleTarget
    from flashtui.providers.runpod.teardown import Means
    from flashtui.providers.runpod.watch import Beat
    from flashtui.providers.runpod.wire_jobs import JobState, JobStatus

_CATALOG_AGE_S = 3600.0
_GPU_CHECKS = 3
_STATES: Mapping[JobState, ResourceState] = {
    "IN_QUEUE": "starting",
    "IN_PROGRESS": "running",
    "COMPLETED": "stopped",
    "FAILED": "stopped",
    "CANCELLED": "stopped",
    "TIMED_OUT": "stopped",
    "UNKNOWN": "unknown",
}


class Heartbeats(Protocol):
    """Reads the worker's signs of life from wherever it leaves them."""

    async def latest(self, handle: JobHandle, spec: JobSpec) -> Beat | None:
        """The newest heartbeat of this very attempt; None: none yet.

        Raises:
            ProviderError: could not be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Follower:
    """Follows jobs by their handles."""

    means: Means
    catalog: Catalog
    heartbeats: Heartbeats | None = None

    async def follow(
        self, handle: JobHandle, spec: JobSpec, *, log: Callable[[Observation], None] | None
    ) -> PollResult:
        """Look until the job is over, or can be said to be.

        Raises:
            ProviderError: the handle names nothing that can be followed, or its owner's key is not set.
        """
        target = target_of(handle)
        if target.kind == "pod":
            msg = f"{NAME}: {target.shown} runs no job that could be followed"
            raise Rejected(msg, provider=NAME, operation="follow job")
        if not (target.job_id and target.resource_id):
            detail = f"no job is known on {target.shown}: it was never queued, or its id was lost"
            return PollResult(ok=False, failure="lost", detail=detail)
        key = await self.key_of(target)
        return await _Walk(self, target, key, handle, spec, log).to_end()

    async def key_of(self, target: HandleTarget) -> Key:
        """The key that owns a handle's endpoint; found by listing where the handle does not say and there are several.

        Raises:
            ProviderError: the owner's key is not set, or could not be found out.
        """
        keys = self.means.keys.for_resource(target.data, target.resource_id)
        if len(keys) > 1:
            for key in keys:
                await self.means.listings.endpoints(key)
            keys = self.means.keys.for_resource(target.data, target.resource_id)
        return keys[0]


class _Walk:
    """One job being followed."""

    def __init__(
        self,
        owner: Follower,
        target: HandleTarget,
        key: Key,
        handle: JobHandle,
        spec: JobSpec,
        log: Callable[[Observation], None] | None,
    ) -> None:
        self._means = owner.means
        self._catalog = owner.catalog
        self._heartbeats = owner.heartbeats
        self._target = target
        self._key = key
        self._handle = handle
        self._spec = spec
        self._log = log
        self._watch = JobWatch(_limits(handle, spec, owner.heartbeats), self._means.clock.now())
        self._checked_workers: set[str] = set()
        self._gpu_checks_left = _GPU_CHECKS
        self._note = ""

    async def to_end(self) -> PollResult:
        """Look, wait, look again."""
        while True:
            outcome = await self._look()
            if isinstance(outcome, PollResult):
                return outcome
            await self._means.clock.sleep(outcome)

    async def _look(self) -> PollResult | float:
        """One look: the end, or seconds until the next."""
        try:
            status = await self._means.api.status(
                self._key, self._target.resource_id, self._target.job_id
            )
        except NotFound:
            return self._watch.not_found() or self._pause()
        except ProviderError as error:
            return self._watch.failed(error, self._means.clock.now())
        ended = self._watch.looked(status, self._means.clock.now())
        result = ended or await self._look_beside(status)
        self._report(status)
        return result or self._watch.verdict(self._means.clock.now()) or self._pause()

    def _pause(self) -> float:
        return self._watch.clipped(POLL_S, self._means.clock.now())

    async def _look_beside(self, status: JobStatus) -> PollResult | None:
        now = self._means.clock.now()
        if self._watch.wants_health(now):
            try:
                health = await self._means.api.health(self._key, self._target.resource_id)
                self._watch.health(health, now)
            except ProviderError as error:
                self._note = f"workers could not be counted: {error}"
        if self._heartbeats is not None:
            try:
                beat = await self._heartbeats.latest(self._handle, self._spec)
            except ProviderError as error:
                beat, self._note = None, f"heartbeats could not be read: {error}"
            if beat is not None:
                self._watch.beat(beat, now)
        if status.state == "IN_PROGRESS" and status.worker_id:
            return await self._check_gpu(status.worker_id)
        return None

    async def _check_gpu(self, worker_id: str) -> PollResult | None:
        """Compare the card of a worker with the one asked for: RunPod has handed out slices of others."""
        wanted = self._handle.data.get("gpu_type_id")
        is_known = worker_id in self._checked_workers or not isinstance(wanted, str)
        if is_known or self._gpu_checks_left <= 0:
            return None
        self._gpu_checks_left -= 1
        try:
            workers = await self._means.api.workers(self._key, self._target.resource_id)
        except ProviderError:
            return None
        got = next((w.gpu_type_id for w in workers if w.id == worker_id), None)
        if got is None:
            return None
        self._checked_workers.add(worker_id)
        if got == wanted:
            return None
        self._note = f"its worker is on {shown_name(got)}, not on {shown_name(str(wanted))}"
        memory = {t.id: t.memory for t in await self._catalog.read_or_last(_CATALOG_AGE_S)}
        got_gb, wanted_gb = memory.get(got), memory.get(str(wanted))
        if got_gb is None or wanted_gb is None or got_gb >= wanted_gb:
            return None
        detail = f"{self._note}: {got_gb} GB where {wanted_gb} GB were asked for"
        return PollResult(ok=False, failure="wrong_gpu", detail=detail)

    def _report(self, status: JobStatus) -> None:
        if self._log is None:
            return
        self._log(
            Observation(
                provider=NAME,
                resource_id=self._target.resource_id,
                state=_STATES[status.state],
                raw_status=clean(status.status, limit=40) or "unknown",
                observed_at=self._means.clock.now(),
                note=clean(self._note or _retried(status), limit=300),
                progress=_progress(status),
            )
        )


def _limits(handle: JobHandle, spec: JobSpec, heartbeats: Heartbeats | None) -> Limits:
    data = handle.data
    cards = data.get("gpu_count")
    return Limits(
        launched_at=_moment(data.get("launched_at")),
        wall_s=wall_s(spec),
        cards=cards if isinstance(cards, int) and not isinstance(cards, bool) else 1,
        is_last_choice=data.get("on_last_gpu") is True,
        has_heartbeats=heartbeats is not None,
    )


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return parsed.astimezone(UTC) if parsed.tzinfo else None


def _retried(status: JobStatus) -> str:
    return f"RunPod itself has started it anew {status.retries} times" if status.retries else ""


def _progress(status: JobStatus) -> str | None:
    output = status.output
    if not isinstance(output, dict):
        return None
    step, total = output.get("step"), output.get("total", output.get("total_steps"))
    numbers = [n for n in (step, total) if isinstance(n, int) and not isinstance(n, bool)]
    return "/".join(str(n) for n in numbers) if numbers and isinstance(step, int) else None
