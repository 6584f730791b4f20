"""Drives one operation to proof: waits out its grace, asks the provider, and goes on asking until it is proven."""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.errors import AuthRejected, NotFound, ProviderError, ScopeRejected, StoreError
from flashtui.domain.operation import AuditEntry
from flashtui.domain.text import clean
from flashtui.services.feed import sleep_or_wake
from flashtui.store.audit import StoredEvent
from flashtui.store.operations import Lease

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only
    from collections.abc import Callable
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.domain.operation import Operation, Phase
    from flashtui.domain.run import JobHandle
    from flashtui.providers.registry import Registry
    from flashtui.store import Store, Tables

_LOG = logging.getLogger(__name__)
_LONGEST_PAUSE_S = 60.0
_FIRST_PAUSE_S = 4.0
_AUTH_TRIES = 3
# Longer than one attempt with its proof may take; a dead owner's lease does not have to run out.
_LEASE = timedelta(seconds=300)
_EVIDENCE = "absent from complete listings of the provider"


class Driver:
    """Drives operations that this process holds the lease of."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        clock: Clock,
        rng: random.Random,
        *,
        changed: Callable[[], None],
        record_unsaved: Callable[[Operation, str], None],
    ) -> None:
        self._store = store
        self._registry = registry
        self._clock = clock
        self._changed = changed
        self._record_unsaved = record_unsaved
        self._owner = f"{os.getpid()}:{rng.getrandbits(32):08x}"
        self._wakes: dict[str, asyncio.Event] = {}
        self._settled: dict[str, asyncio.Event] = {}
        self._last: dict[str, Operation] = {}

    def is_driving(self, op_id: str) -> bool:
        """Whether this process is driving it now."""
        return op_id in self._wakes

    def hasten(self, op_id: str) -> None:
        """Do not wait any longer: neither for the grace nor for the next try."""
        if op_id in self._wakes:
            self._wakes[op_id].set()

    def hasten_all(self) -> None:
        """The same for all of them: a key has been renewed, or the session is ending."""
        for wake in self._wakes.values():
            wake.set()

    @property
    def under_way(self) -> tuple[str, ...]:
        """Ids of operations being driven."""
        return tuple(self._wakes)

    def last(self, op_id: str) -> Operation | None:
        """The newest state of an operation that this process drives or drove."""
        return self._last.get(op_id)

    @property
    def any_unconfirmed(self) -> bool:
        """Whether an operation of this process has not been proven."""
        return any(op.phase == "unconfirmed" for op in self._last.values())

    async def settled(self, op_id: str, timeout_s: float | None) -> None:
        """Wait until it is over or first unconfirmed."""
        event = self._settled.setdefault(op_id, asyncio.Event())
        if timeout_s is None:
            await event.wait()
        else:
            await sleep_or_wake(self._clock, timeout_s, event)

    async def drive(self, operation: Operation, handle: JobHandle, *, saved: bool = True) -> None:
        """Drive one operation to its end; returns at once when another process has it."""
        op_id = operation.op_id
        if op_id in self._wakes:
            return
        self._wakes[op_id] = asyncio.Event()
        self._last[op_id] = operation
        try:
            await self._drive(operation, handle, saved=saved)
        finally:
            self._wakes.pop(op_id, None)
            self._settled.setdefault(op_id, asyncio.Event()).set()
            self._changed()

    async def _drive(self, operation: Operation, handle: JobHandle, *, saved: bool) -> None:
        if operation.not_before is not None and not await self._grace(operation):
            return
        while True:
            if saved and not await self._claim(operation.op_id):
                return
            operation = await self._note(
                operation, saved=saved, phase="driving", attempts=operation.attempts + 1
            )
            failure = await self._attempt(operation, handle)
            if failure is None:
                await self._confirmed(operation, saved=saved)
                return
            operation = await self._note(
                operation, saved=saved, phase="unconfirmed", last_answer=clean(failure, 300)
            )
            self._settled.setdefault(operation.op_id, asyncio.Event()).set()
            await self._pause(operation, failure)

    async def _grace(self, operation: Operation) -> bool:
        """Wait out the undo grace; False: it was taken back meanwhile."""
        wake = self._wakes[operation.op_id]
        until = operation.not_before or self._clock.now()
        while (left := (until - self._clock.now()).total_seconds()) > 0 and not wake.is_set():
            # In steps, so that a withdrawal by another process is noticed before anything is sent.
            await sleep_or_wake(self._clock, min(left, 1.0), wake)
        wake.clear()
        now = self._clock.now()

        def begin(tables: Tables) -> bool:
            stored = tables.operations.get(operation.op_id)
            if stored is None or not stored.operation.is_open:
                return False
            tables.operations.write(
                replace(stored.operation, phase="driving", not_before=None, updated_at=now)
            )
            return True

        try:
            begun = await self._store.write(begin)
        except StoreError:
            # It was confirmed and not taken back as far as anybody knows; a broken disk must not keep it billing.
            begun = True
        if not begun:
            self._last[operation.op_id] = replace(operation, phase="withdrawn", updated_at=now)
        return begun

    async def _claim(self, op_id: str) -> bool:
        now = self._clock.now()
        try:
            return await self._store.write(lambda tables: self._take(tables, op_id, now))
        except StoreError as error:
            _LOG.warning("lease of %s: %s", op_id, error)
            return True

    def _take(self, tables: Tables, op_id: str, now: datetime) -> bool:
        stored = tables.operations.get(op_id)
        if stored is None:
            return False
        holder = stored.lease
        if holder is not None and holder.owner != self._owner and _is_gone(holder.owner):
            # Its process has ended: nothing is gained by letting the lease run out.
            tables.operations.release_all(holder.owner)
        return tables.operations.claim(op_id, Lease(self._owner, now + _LEASE), now)

    async def _attempt(self, operation: Operation, handle: JobHandle) -> Exception | None:
        """Ask once; None: done and, for a destroy, proven."""
        try:
            provider = self._registry.plugin(operation.target.provider).provider
            if operation.kind == "destroy":
                await provider.destroy(handle)
            else:
                await provider.cancel(handle)
        except NotFound as error:
            return None if operation.kind == "cancel" else error
        except (ProviderError, KeyError) as error:
            return error
        except Exception as error:  # noqa: BLE001 - a fault of a provider module must not end the pursuit of proof
            _LOG.exception("%s of %s", operation.kind, operation.target.resource_id)
            return ProviderError(f"internal error ({type(error).__name__}); see the log")
        return None

    async def _pause(self, operation: Operation, failure: Exception) -> None:
        wake = self._wakes[operation.op_id]
        if isinstance(failure, AuthRejected | ScopeRejected) and operation.attempts >= _AUTH_TRIES:
            await wake.wait()
        else:
            pause_s = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(operation.attempts, 8))
            await sleep_or_wake(self._clock, pause_s, wake)
        wake.clear()

    async def _note(
        self,
        operation: Operation,
        *,
        saved: bool,
        phase: Phase,
        attempts: int | None = None,
        last_answer: str | None = None,
    ) -> Operation:
        now = self._clock.now()
        noted = replace(
            operation,
            phase=phase,
            updated_at=now,
            not_before=None,
            attempts=operation.attempts if attempts is None else attempts,
            last_answer=operation.last_answer if last_answer is None else last_answer,
        )
        self._last[operation.op_id] = noted

        def record(tables: Tables) -> None:
            tables.operations.write(noted)
            target = noted.target
            if phase == "driving" and noted.kind == "destroy":
                tables.runs.request_teardown(target.provider, target.resource_id, now)
            if phase == "unconfirmed":
                tables.audit.add(_entry(noted, now, "unconfirmed", noted.last_answer))
                if noted.attempts == 1:
                    words = (
                        f"{noted.kind} of {target.resource_id} not confirmed: {noted.last_answer}"
                    )
                    tables.events.add(StoredEvent(now, "alert", words))

        await self._write(noted, record, saved=saved, what=f"{phase}: {noted.last_answer}")
        return noted

    async def _confirmed(self, operation: Operation, *, saved: bool) -> None:
        now = self._clock.now()
        destroyed = operation.kind == "destroy"
        done = replace(
            operation,
            phase="confirmed",
            updated_at=now,
            last_answer=_EVIDENCE if destroyed else "stopped",
        )
        self._last[operation.op_id] = done

        def close(tables: Tables) -> None:
            target = done.target
            tables.operations.write(done)
            if destroyed:
                tables.runs.confirm_gone(
                    target.provider, target.resource_id, at=now, evidence=done.last_answer
                )
            if target.run_id is not None:
                tables.runs.transition(target.run_id, "cancelled", now=now)
            tables.audit.add(
                _entry(done, now, "confirmed", f"{done.last_answer}; {done.attempts} attempts")
            )
            words = "gone, proven" if destroyed else "work stopped; what is rented bills on"
            name = target.run_id or target.label or target.resource_id
            tables.events.add(StoredEvent(now, "info", f"{name}: {words}"))

        await self._write(done, close, saved=saved, what="confirmed")

    async def _write(
        self, operation: Operation, work: Callable[[Tables], None], *, saved: bool, what: str
    ) -> None:
        if saved:
            try:
                await self._store.write(work)
            except StoreError as error:
                self._record_unsaved(operation, f"{what} ({error})")
        else:
            self._record_unsaved(operation, what)
        self._changed()


def _entry(operation: Operation, at: datetime, action: str, detail: str) -> AuditEntry:
    subject = f"{operation.target.provider}:{operation.target.resource_id}"
    return AuditEntry(at, operation.op_id, operation.actor, action, subject, detail)


def _is_gone(owner: str) -> bool:
    """Whether the process that holds a lease cannot be alive any more (on this host; the store is on no other)."""
    pid = owner.partition(":")[0]
    if not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
