"""Destroy, and the proof of it: two complete listings under the owner's key, two seconds apart, that lack the resource.

The answer to a DELETE proves nothing: it can be lost, be a success that was not carried out, or a 404 under another
account's key. 401, 403, 429, 5xx and time-outs prove nothing either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.clock import Deadline
from flashtui.domain.errors import DestroyUnconfirmed, NotFound, ProviderError, RateLimited
from flashtui.net.retry import backoff_s
from flashtui.providers.runpod.replies import NAME
from flashtui.providers.runpod.targets import HandleTarget, target_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random  # noqa: TID251 - the type only

    from flashtui.domain.clock import Clock
    from flashtui.domain.run import JobHandle
    from flashtui.providers.runpod.api import RunpodApi
    from flashtui.providers.runpod.auth import Key, KeyRing
    from flashtui.providers.runpod.listings import Listed, Listings
    from flashtui.providers.runpod.wire import Endpoint, Pod

PROOF_SPACING_S = 2.0
_FIRST_PAUSE_S = 2.0
_LONGEST_PAUSE_S = 15.0
# What was accepted may linger in listings; only after this long is it taken for not carried out, and asked for again.
_LINGER_S = 40.0
_EVIDENCE_LINES = 40
_NOT_TO_BE_REPEATED = frozenset({"auth", "scope", "no_key"})
_PAUSE_IN_WORDS = re.compile(r"(?:again|retry) (?:in|after) (\d{1,4}) ?s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Means:
    """What a teardown works with."""

    api: RunpodApi
    keys: KeyRing
    listings: Listings
    clock: Clock
    rng: Random
    within_s: float


async def destroy(handle: JobHandle, means: Means) -> None:
    """End the job, delete the resource, and return once it is proven gone; gone already is fine.

    Raises:
        DestroyUnconfirmed: asked, but nothing proves that it stopped billing.
        ProviderError: could not ask: the handle names nothing, or the owner's key is not set.
    """
    target = target_of(handle)
    keys = means.keys.for_resource(target.data, target.resource_id)
    await _Drive(target, keys, means).to_proof()


class _Drive:
    """One drive to proof, with its deadline and its evidence."""

    def __init__(self, target: HandleTarget, keys: tuple[Key, ...], means: Means) -> None:
        self._target = target
        self._keys = keys
        self._means = means
        self._began_at = means.clock.monotonic()
        self._deadline = Deadline.after(means.clock, means.within_s)
        self._evidence: list[str] = []
        self._error: ProviderError | None = None
        self._accepted_at: dict[str, float] = {}

    async def to_proof(self) -> None:
        """Ask and look, again and again, until the proof is there or the time is up."""
        await self._cancel_job()
        doomed = [(self._target.resource_id, key) for key in self._keys if self._target.resource_id]
        tries = 0
        while True:
            tries += 1
            self._error = None
            asked_pause_s = await self._delete(doomed)
            left = await self._look()
            if left == [] and await self._is_still_absent():
                return
            doomed = left or doomed
            backoff = backoff_s(
                tries, self._means.rng, base_s=_FIRST_PAUSE_S, cap_s=_LONGEST_PAUSE_S
            )
            pause_s = max(asked_pause_s, backoff)
            if self._is_hopeless() or pause_s >= self._deadline.remaining_s(self._means.clock):
                raise self._unconfirmed()
            await self._means.clock.sleep(pause_s)

    async def _is_still_absent(self) -> bool:
        await self._means.clock.sleep(PROOF_SPACING_S)
        return await self._look() == []

    async def _cancel_job(self) -> None:
        endpoint_id, job_id = self._target.resource_id, self._target.job_id
        if not (endpoint_id and job_id):
            return
        for key in self._keys:
            try:
                status = await self._means.api.cancel(key, endpoint_id, job_id)
                self._note(f"cancel of job {job_id}: {status}")
            except ProviderError as error:
                self._note(f"cancel of job {job_id}: {_in_short(error)}")

    async def _delete(self, doomed: Iterable[tuple[str, Key]]) -> float:
        """Send one DELETE for each; returns how many seconds RunPod asked to wait before the next."""
        pause_s = 0.0
        for resource_id, key in doomed:
            if self._is_lingering(resource_id):
                continue
            what = f"delete of {self._target.kind} {resource_id}"
            try:
                status = await self._send_delete(resource_id, key)
                self._note(f"{what}: {status}")
                self._accepted_at[resource_id] = self._means.clock.monotonic()
                self._keys = (key,)  # whoever may delete it owns it
            except NotFound as error:
                self._note(f"{what}: {error.status}, no such thing")
            except ProviderError as error:
                self._fail(what, error)
                pause_s = max(pause_s, _asked_pause_s(error))
        return pause_s

    def _is_lingering(self, resource_id: str) -> bool:
        accepted_at = self._accepted_at.get(resource_id)
        return accepted_at is not None and self._means.clock.monotonic() - accepted_at < _LINGER_S

    async def _send_delete(self, resource_id: str, key: Key) -> int:
        if self._target.kind == "pod":
            return await self._means.api.delete_pod(key, resource_id)
        return await self._means.api.delete_endpoint(key, resource_id)

    async def _look(self) -> list[tuple[str, Key]] | None:
        """What is still there; empty: complete listings lack it; None: not every listing could be read."""
        is_whole = True
        for key in self._keys:
            try:
                listed = await self._listing(key)
            except ProviderError as error:
                self._fail(f"listing of {self._target.kind}s", error)
                is_whole = False
                continue
            found = [item.id for item in listed.items if self._is_there(item)]
            fact = f"{', '.join(found)} still there" if found else "not in it"
            self._note(f"listing of {len(listed.items)} {self._target.kind}s: {fact}")
            if found:
                self._keys = (key,)
                return [(resource_id, key) for resource_id in found]
        return [] if is_whole else None

    async def _listing(self, key: Key) -> Listed[Endpoint] | Listed[Pod]:
        if self._target.kind == "pod":
            return await self._means.listings.pods(key)
        return await self._means.listings.endpoints(key)

    def _is_there(self, item: Endpoint | Pod) -> bool:
        return self._target.is_in(item) and getattr(item, "status", None) != "TERMINATED"

    def _note(self, what: str) -> None:
        stamp = self._means.clock.now().strftime("%H:%M:%SZ")
        self._evidence = [*self._evidence, f"{stamp} {what}"][-_EVIDENCE_LINES:]

    def _fail(self, what: str, error: ProviderError) -> None:
        self._error = error
        self._note(f"{what}: {_in_short(error)}")

    def _is_hopeless(self) -> bool:
        """Whether asking again with these keys changes nothing: that needs a person, or another key."""
        is_about_key = self._error is not None and self._error.kind in _NOT_TO_BE_REPEATED
        return is_about_key and not self._accepted_at

    def _unconfirmed(self) -> DestroyUnconfirmed:
        seconds = round(self._means.clock.monotonic() - self._began_at)
        last = self._evidence[-1] if self._evidence else "none"
        reason = f" {self._error}." if self._error is not None and self._is_hopeless() else ""
        msg = (
            f"{NAME}: destroy of {self._target.shown} not confirmed after {seconds} s (last answer: {last});"
            f" it may still bill.{reason}"
        )
        error = DestroyUnconfirmed(
            msg,
            evidence=tuple(self._evidence),
            provider=NAME,
            status=self._error.status if self._error else None,
            body=self._error.body if self._error else "",
        )
        if self._error is not None:
            error.kind = self._error.kind
        return error


def _in_short(error: ProviderError) -> str:
    said = f": {error.body}" if error.body else ""
    return f"{error.status}{said}" if error.status else str(error).removeprefix(f"{NAME}: ")


def _asked_pause_s(error: ProviderError) -> float:
    if isinstance(error, RateLimited):
        return error.retry_after_s or 0.0
    match = _PAUSE_IN_WORDS.search(error.body)
    return float(match[1]) if match else 0.0
