"""A run on RunPod from create to its end: endpoint, job, looks at it, cancel.

Create and queue are sent once. Whatever has been made is handed over before anything else happens to it, and what cannot be
used is destroyed with proof.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.errors import (
    AccountProblem,
    Ambiguous,
    AuthRejected,
    DestroyUnconfirmed,
    MalformedReply,
    NotFound,
    ProviderError,
    RateLimited,
    Rejected,
    ScopeRejected,
    Unavailable,
)
from flashtui.domain.run import JobHandle
from flashtui.providers.runpod.auth import FINGERPRINT, no_key
from flashtui.providers.runpod.gpus import NATIVE, pool_of
from flashtui.providers.runpod.labels import same_name
from flashtui.providers.runpod.replies import NAME
from flashtui.providers.runpod.targets import AMBIGUOUS_CREATE, target_of
from flashtui.providers.runpod.teardown import PROOF_SPACING_S, destroy
from flashtui.providers.runpod.train import endpoint_for, gpu_of, job_for
from flashtui.providers.runpod.wire_jobs import TERMINAL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from flashtui.domain.job import JobSpec
    from flashtui.domain.run import Observation, PollResult
    from flashtui.providers.base import Context
    from flashtui.providers.runpod.auth import Key
    from flashtui.providers.runpod.catalog import Catalog
    from flashtui.providers.runpod.follow import Follower
    from flashtui.providers.runpod.teardown import Means
    from flashtui.providers.runpod.wire import Endpoint, NewEndpoint

_CATALOG_AGE_S = 60.0
_RECONCILE_LOOKS = 3
# How far RunPod's clock may be behind ours: an endpoint older than that was not made by this create.
_SKEW = timedelta(minutes=5)
# Refusals that are about the account of one key; another account may still take the job.
_ABOUT_ACCOUNT = (AuthRejected, ScopeRejected, AccountProblem, RateLimited)
_OUTCOME_UNKNOWN = (Ambiguous, MalformedReply, Unavailable, RateLimited)


class Jobs:
    """Submits, follows and cancels."""

    def __init__(
        self, context: Context, catalog: Catalog, means: Means, follower: Follower
    ) -> None:
        self._hf_token = context.hf_token
        self._is_offline = context.settings.skip_net
        self._catalog = catalog
        self._means = means
        self._follower = follower

    async def submit(
        self,
        spec: JobSpec,
        seed: int,
        *,
        log: Callable[[Observation], None] | None,
        on_handle: Callable[[JobHandle], Awaitable[None]] | None,
        attempt: int,
    ) -> PollResult:
        """Create the endpoint, hand over its handle, queue the job, hand over the handle again, follow.

        Raises:
            UnsupportedGpuError: not a class of RunPod's.
            Rejected: nothing was made, or what was made is proven gone.
            NotSent: nothing was made.
            Ambiguous: an endpoint may have been made, and none of its name is listed (yet).
            DestroyUnconfirmed: the job could not be queued, and its endpoint is not proven gone.
        """
        handle, key = await self._created(spec, seed, attempt)
        await self._hand_over(handle, on_handle)
        await self._queue(handle, key, spec, seed, attempt)
        if on_handle is not None:
            await on_handle(handle)
        return await self._follower.follow(handle, spec, log=log)

    async def follow(
        self, handle: JobHandle, spec: JobSpec, *, log: Callable[[Observation], None] | None
    ) -> PollResult:
        """Follow a persisted handle to a terminal state."""
        return await self._follower.follow(handle, spec, log=log)

    async def cancel(self, handle: JobHandle) -> None:
        """End the job and look once whether it has ended; a job that is over, gone or never queued is fine.

        Raises:
            Rejected: a pod has no job to end.
            Unavailable: RunPod took the request, but the job goes on.
            ProviderError: could not ask, or refused.
        """
        target = target_of(handle)
        if target.kind == "pod":
            msg = f"{NAME}: {target.shown} runs no job that could be cancelled; destroy ends it"
            raise Rejected(msg, provider=NAME, operation="cancel job")
        if not (target.job_id and target.resource_id):
            return
        key = await self._follower.key_of(target)
        try:
            await self._means.api.cancel(key, target.resource_id, target.job_id)
        except (AuthRejected, ScopeRejected):
            raise
        except (Ambiguous, Rejected):
            pass  # the look tells: a job that is over is refused in ways that are not documented
        try:
            status = await self._means.api.status(key, target.resource_id, target.job_id)
        except NotFound:
            return
        if status.state not in TERMINAL:
            msg = f"{NAME}: cancel of job {target.job_id} was sent, but the job still says {status.status}; cancel again, or destroy {target.shown}"
            raise Unavailable(msg, provider=NAME, operation="cancel job")

    async def _created(self, spec: JobSpec, seed: int, attempt: int) -> tuple[JobHandle, Key]:
        gpu_of(spec)
        if not self._means.keys or self._is_offline:
            raise no_key()
        refusals: list[ProviderError] = []
        for key in self._means.keys.keys:
            try:
                return await self._created_with(key, spec, seed, attempt), key
            except _ABOUT_ACCOUNT as error:
                refusals.append(error)
        raise refusals[-1]

    async def _created_with(self, key: Key, spec: JobSpec, seed: int, attempt: int) -> JobHandle:
        new = await self._endpoint_wanted(spec, attempt)
        launched_at = self._means.clock.now()
        was_lost = False
        try:
            endpoint = await self._means.api.create_endpoint(key, new)
        except _OUTCOME_UNKNOWN as error:
            endpoint = await self._reconciled(key, new.name, launched_at, error)
            was_lost = True
            launched_at = endpoint.created_at or launched_at
        data = {
            "endpoint_id": endpoint.id,
            "endpoint_name": new.name,
            FINGERPRINT: key.fingerprint,
            "gpu": gpu_of(spec),
            "gpu_type_id": NATIVE[gpu_of(spec)],
            "gpu_count": 1,
            "run_id": spec.run_id,
            "seed": seed,
            "attempt": attempt,
            "launched_at": launched_at.isoformat(),
        }
        return JobHandle(NAME, data | ({AMBIGUOUS_CREATE: True} if was_lost else {}))

    async def _endpoint_wanted(self, spec: JobSpec, attempt: int) -> NewEndpoint:
        catalog, _ = await self._catalog.read(_CATALOG_AGE_S)
        gpu = gpu_of(spec)
        pool = pool_of(catalog, NATIVE[gpu])
        if pool is None:
            msg = f"{NAME}: {gpu} is in no serverless pool of this account now, so it cannot be deployed; choose another class"
            raise Rejected(msg, provider=NAME, operation="create endpoint")
        return endpoint_for(spec, attempt, pool=pool, catalog=catalog, hf_token=self._hf_token)

    async def _reconciled(
        self, key: Key, name: str, sent_at: datetime, lost: ProviderError
    ) -> Endpoint:
        """The endpoint that a create with an unknown outcome made, found by its exact name.

        Raises:
            RateLimited: the create was refused as too fast, and nothing was made.
            Ambiguous: it may still appear, or nobody can look.
        """
        for look in range(_RECONCILE_LOOKS):
            if look:
                await self._means.clock.sleep(PROOF_SPACING_S)
            try:
                listed = await self._means.listings.endpoints(key)
            except ProviderError as error:
                fact = f"the endpoints cannot be listed: {error}"
                raise _outcome_unknown(name, lost, fact) from error
            oldest = sent_at - _SKEW
            found = [
                endpoint
                for endpoint in listed.items
                if same_name(endpoint.name, name) and (endpoint.created_at or sent_at) >= oldest
            ]
            if found:
                return max(found, key=lambda endpoint: endpoint.created_at or sent_at)
        if isinstance(lost, RateLimited):
            raise lost
        raise _outcome_unknown(name, lost, "none of that name is listed; it may still appear")

    async def _hand_over(
        self, handle: JobHandle, on_handle: Callable[[JobHandle], Awaitable[None]] | None
    ) -> None:
        if on_handle is None:
            return
        try:
            await on_handle(JobHandle(handle.provider, dict(handle.data)))
        except Exception:
            # Nobody keeps the handle, so nobody would ever end what it names.
            await destroy(handle, self._means)
            raise

    async def _queue(
        self, handle: JobHandle, key: Key, spec: JobSpec, seed: int, attempt: int
    ) -> None:
        endpoint_id = str(handle.data["endpoint_id"])
        try:
            queued = await self._means.api.run(key, endpoint_id, job_for(spec, seed, attempt))
            if not queued.id:
                msg = f"{NAME}: queue job: accepted, but the answer holds no job id"
                raise MalformedReply(msg, provider=NAME, operation="queue job")
        except ProviderError as error:
            await self._take_back(handle, error)
            msg = f"{NAME}: the job could not be queued ({error}); its endpoint {endpoint_id} was deleted and is proven gone"
            raise Rejected(
                msg, provider=NAME, operation="queue job", status=error.status, body=error.body
            ) from error
        handle.data["job_id"] = queued.id

    async def _take_back(self, handle: JobHandle, why: ProviderError) -> None:
        try:
            await destroy(handle, self._means)
        except DestroyUnconfirmed as error:
            msg = f"{NAME}: the job could not be queued ({why}), and then: {error}"
            unproven = DestroyUnconfirmed(
                msg, evidence=error.evidence, provider=NAME, status=error.status, body=error.body
            )
            unproven.kind = error.kind
            raise unproven from error


def _outcome_unknown(name: str, lost: ProviderError, fact: str) -> Ambiguous:
    msg = f"{NAME}: whether endpoint {name} was created is not known ({lost}); {fact}"
    return Ambiguous(
        msg, provider=NAME, operation="create endpoint", status=lost.status, body=lost.body
    )
