"""Drives one operation to proof: waits out its grace, asks the provider, and goes on asking until it is proven."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.errors import NotFound, ProviderError, RateLimited, Rejected
from flashtui.domain.text import clean
from flashtui.net.retry import backoff_s
from flashtui.services import records
from flashtui.services.leases import is_gone, new_owner
from flashtui.services.supervise import outcome
from flashtui.services.waiting import sleep_or_wake
from flashtui.store.operations import Lease

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.domain.operation import Operation, Phase, Target
    from flashtui.domain.run import JobHandle
    from flashtui.providers.registry import Registry
    from flashtui.services.records import Ledger
    from flashtui.store import Tables

_LOG = logging.getLogger(__name__)
LONGEST_PAUSE_S = 60.0
_FIRST_PAUSE_S = 4.0
_AUTH_TRIES = 3
# Kinds of failure that asking again does not mend: a person has to.
_ABOUT_KEY = frozenset({"auth", "scope", "no_key"})
_LEASE = timedelta(seconds=60)
_RENEW_S = 20.0


class Driver:
    """Drives the operations that this process holds the lease of.

    Args:
        ledger: where steps are recorded.
        registry: who is asked.
        clock: stamps and waits.
        rng: jitter, and this process's name on leases.
        changed: told after every step.
        find: looks for the handle of a target that was known by its id alone; None: not listed.
    """

    def __init__(
        self,
        ledger: Ledger,
        registry: Registry,
        clock: Clock,
        rng: random.Random,
        *,
        changed: Callable[[], None],
        find: Callable[[Target], Awaitable[JobHandle | None]],
    ) -> None:
        self._ledger = ledger
        self._registry = registry
        self._clock = clock
        self._rng = rng
        self._changed = changed
        self._find = find
        self.owner = new_owner(rng)
        self._wakes: dict[str, asyncio.Event] = {}
        self._stepped = asyncio.Event()
        self._own: dict[str, Operation] = {}
        self._parked: set[str] = set()

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Everything this process drives or drove, in its newest state."""
        return tuple(self._own.values())

    @property
    def any_open(self) -> bool:
        """Whether an operation of this process is not over."""
        return any(operation.is_open for operation in self._own.values())

    @property
    def all_parked(self) -> bool:
        """Whether everything that is being driven waits for a person."""
        return self._parked >= set(self._wakes)

    def is_driving(self, op_id: str) -> bool:
        """Whether this process is driving it now."""
        return op_id in self._wakes

    def last(self, op_id: str) -> Operation | None:
        """The newest state of an operation that this process drives or drove."""
        return self._own.get(op_id)

    def lease(self) -> Lease:
        """A lease for this process, from now."""
        return Lease(self.owner, self._clock.now() + _LEASE)

    def hasten(self, op_id: str) -> None:
        """Do not wait any longer: neither for the grace nor for the next try."""
        if op_id in self._wakes:
            self._wakes[op_id].set()

    def hasten_all(self) -> None:
        """The same for all of them: a key has been renewed, or the session is ending."""
        for wake in self._wakes.values():
            wake.set()

    def forget_before(self, moment: datetime) -> None:
        """Drop what was over before a moment."""
        self._own = {
            op_id: operation
            for op_id, operation in self._own.items()
            if operation.is_open or operation.updated_at >= moment
        }

    async def step(self, timeout_s: float) -> None:
        """Wait for the next step of any operation, or so many seconds."""
        await sleep_or_wake(self._clock, timeout_s, self._stepped)

    async def drive(self, operation: Operation, handle: JobHandle) -> None:
        """Drive one operation to its end; returns at once when another process has it."""
        op_id = operation.op_id
        if op_id in self._wakes:
            return
        self._wakes[op_id] = asyncio.Event()
        renewing: asyncio.Task[None] | None = None
        try:
            if await self._claim(op_id):
                self._now_at(operation)
                renewing = asyncio.ensure_future(self._renew(op_id))
                await self._drive(operation, handle)
        finally:
            del self._wakes[op_id]
            self._parked.discard(op_id)
            if renewing is not None:
                renewing.cancel()
                await asyncio.gather(renewing, return_exceptions=True)
            self._has_stepped()

    async def _drive(self, operation: Operation, handle: JobHandle) -> None:
        wake = self._wakes[operation.op_id]
        if operation.not_before is not None:
            left_s = (operation.not_before - self._clock.now()).total_seconds()
            await sleep_or_wake(self._clock, max(0.0, left_s), wake)
            wake.clear()
        about_key = 0
        while True:
            operation = self._at(operation, "driving", attempts=operation.attempts + 1)
            if not await self._may_go_on(operation):
                return
            failure = await self._attempt(operation, handle)
            if failure is None:
                await self._confirmed(operation)
                return
            if operation.kind == "cancel" and _is_refusal(failure):
                await self._refused(operation, failure)
                return
            operation = self._at(operation, "unconfirmed", last_answer=clean(failure, 300))
            await self._save(operation, operation.last_answer)
            about_key = about_key + 1 if failure.kind in _ABOUT_KEY else 0
            await self._pause(operation, failure, parked=about_key >= _AUTH_TRIES)

    async def _claim(self, op_id: str) -> bool:
        """Take or renew the lease; an operation that is not in the store yet has no other claimant."""
        now = self._clock.now()

        def take(tables: Tables) -> bool:
            stored = tables.operations.get(op_id)
            if stored is None:
                return False
            holder = stored.lease
            if holder is not None and holder.owner != self.owner and is_gone(holder.owner):
                # Its process has ended: nothing is gained by letting the lease run out.
                tables.operations.release_all(holder.owner)
            return tables.operations.claim(op_id, self.lease(), now)

        return await self._ledger.attempt(take)

    async def _renew(self, op_id: str) -> None:
        while True:
            await self._clock.sleep(_RENEW_S)
            await self._claim(op_id)

    async def _may_go_on(self, operation: Operation) -> bool:
        """Record that the provider is about to be asked; False: taken back, over, or another process's now."""
        going = await self._ledger.attempt(
            lambda tables: records.note(tables, operation, owner=self.owner)
        )
        if going:
            self._now_at(operation)
        else:
            self._own.pop(operation.op_id, None)  # the store knows better
        return going

    async def _attempt(self, operation: Operation, handle: JobHandle) -> ProviderError | None:
        """Ask once; None: done and, for a destroy, proven."""
        asked = self._ask(operation, handle)
        name = f"{operation.kind} of {operation.target.provider} {operation.target.resource_id}"
        failure = await outcome(asked, name, expected=(ProviderError, KeyError))
        if failure is None or (operation.kind == "cancel" and isinstance(failure, NotFound)):
            return None
        if isinstance(failure, ProviderError):
            return failure
        if isinstance(failure, KeyError):
            return ProviderError(str(failure.args[0]))
        return ProviderError(f"internal error ({type(failure).__name__}); see the log")

    async def _ask(self, operation: Operation, handle: JobHandle) -> None:
        provider = self._registry.plugin(operation.target.provider).provider
        if handle.data.get(records.UNLISTED):
            handle = await self._find(operation.target) or handle
        if operation.kind == "destroy":
            await provider.destroy(handle)
        else:
            await provider.cancel(handle)

    async def _pause(self, operation: Operation, failure: ProviderError, *, parked: bool) -> None:
        wake = self._wakes[operation.op_id]
        if parked:
            self._parked.add(operation.op_id)
            await wake.wait()
            self._parked.discard(operation.op_id)
        else:
            wanted_s = failure.retry_after_s if isinstance(failure, RateLimited) else None
            backoff = backoff_s(
                operation.attempts, self._rng, base_s=_FIRST_PAUSE_S, cap_s=LONGEST_PAUSE_S
            )
            pause_s = min(LONGEST_PAUSE_S, max(backoff, wanted_s or 0.0))
            await sleep_or_wake(self._clock, pause_s, wake)
        wake.clear()

    async def _confirmed(self, operation: Operation) -> None:
        evidence = records.proof(operation, self._clock.now())
        done = self._at(operation, "confirmed", last_answer=evidence)
        await self._ledger.save(
            done, lambda tables: records.close(tables, done, evidence), f"confirmed: {evidence}"
        )
        self._now_at(done)

    async def _refused(self, operation: Operation, failure: ProviderError) -> None:
        refused = self._at(operation, "refused", last_answer=clean(failure, 300))
        await self._ledger.save(
            refused, lambda tables: records.refuse(tables, refused, owner=self.owner), "refused"
        )
        self._now_at(refused)

    async def _save(self, operation: Operation, what: str) -> None:
        await self._ledger.save(
            operation,
            lambda tables: records.note(tables, operation, owner=self.owner),
            f"{operation.phase}: {what}",
        )
        self._now_at(operation)

    def _at(
        self,
        operation: Operation,
        phase: Phase,
        *,
        attempts: int | None = None,
        last_answer: str | None = None,
    ) -> Operation:
        return replace(
            operation,
            phase=phase,
            not_before=None,
            updated_at=self._clock.now(),
            attempts=operation.attempts if attempts is None else attempts,
            last_answer=operation.last_answer if last_answer is None else last_answer,
        )

    def _now_at(self, operation: Operation) -> None:
        self._own[operation.op_id] = operation
        self._has_stepped()

    def _has_stepped(self) -> None:
        stepped, self._stepped = self._stepped, asyncio.Event()
        stepped.set()
        self._changed()


def _is_refusal(failure: ProviderError) -> bool:
    """A no that asking again does not turn into a yes, and that is not about the key."""
    passing = isinstance(failure, RateLimited) or failure.kind in _ABOUT_KEY
    return isinstance(failure, Rejected) and not passing
