"""Cancel and destroy, from intent to proof.

Intent, goal and audit row are one transaction and come before anything is sent. Driving belongs to the session, so that
closing the screen ends none of it; a lease keeps two processes from driving the same operation; only proof closes one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from flashtui.domain.errors import ConfigError, ProviderError, StoreError
from flashtui.domain.operation import AuditEntry, Operation, Target
from flashtui.domain.run import JobHandle
from flashtui.domain.text import clean
from flashtui.services.driving import Driver
from flashtui.store.audit import StoredEvent
from flashtui.store.operations import StoredOperation

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only
    from collections.abc import Callable, Coroutine
    from datetime import datetime
    from pathlib import Path

    from flashtui.domain.clock import Clock
    from flashtui.domain.operation import OperationKind
    from flashtui.domain.run import Resource
    from flashtui.providers.registry import Registry
    from flashtui.store import Store, Tables

_LOG = logging.getLogger(__name__)
_REREAD_S = 3.0


class ReadOnlyRefused(ConfigError):
    """An operation was asked for in read-only mode."""


@dataclass(frozen=True, slots=True)
class LiveCheck:
    """A look at a target just before it is acted on.

    Attributes:
        status: ``found`` as shown, ``absent`` from a complete listing, ``changed`` into something else, or
            ``unverified`` because the provider did not answer.
    """

    status: Literal["found", "absent", "changed", "unverified"]
    resource: Resource | None
    message: str
    checked_at: datetime


class Control:
    """Operations of one session.

    Args:
        store: where intents go first.
        registry: who is asked.
        clock: stamps and waits.
        rng: operation ids.
        spawn: starts a coroutine that the session owns.
        changed: told after every step.
        fallback: where the audit goes when the store cannot be written.
        read_only: refuse new operations; those under way go on.
    """

    def __init__(
        self,
        store: Store,
        registry: Registry,
        clock: Clock,
        rng: random.Random,
        *,
        spawn: Callable[[Coroutine[None, None, None]], None],
        changed: Callable[[], None],
        fallback: Path,
        read_only: bool = False,
    ) -> None:
        self._store = store
        self._registry = registry
        self._clock = clock
        self._rng = rng
        self._spawn = spawn
        self._changed = changed
        self._fallback = fallback
        self.read_only = read_only
        self.driver = Driver(
            store, registry, clock, rng, changed=changed, record_unsaved=self._record_unsaved
        )

    async def reread(self, target: Target) -> LiveCheck:
        """Look at a target once more, within about three seconds; never raises for a provider's failure."""
        try:
            plugin = self._registry.plugin(target.provider)
            if plugin.inventory is None:
                return self._check(
                    "unverified", None, f"{target.provider} has no listing to look into"
                )
            async with asyncio.timeout(_REREAD_S):
                inventory = await plugin.inventory.inventory()
        except TimeoutError:
            return self._check(
                "unverified", None, f"{target.provider} did not answer within {_REREAD_S:.0f} s"
            )
        except (ProviderError, KeyError) as error:
            return self._check(
                "unverified", None, clean(error.args[0] if error.args else error, 200)
            )
        found = next((r for r in inventory.resources if r.resource_id == target.resource_id), None)
        if found is None:
            status: Literal["absent", "unverified"] = (
                "absent" if inventory.complete else "unverified"
            )
            return self._check(
                status, None, f"{target.provider}'s listing does not have {target.resource_id}"
            )
        if target.label and found.label != target.label:
            return self._check(
                "changed",
                found,
                f"{target.resource_id} is now labelled {found.label!r}, not {target.label!r}",
            )
        return self._check("found", found, f"{found.raw_status or found.state}")

    def _check(
        self,
        status: Literal["found", "absent", "changed", "unverified"],
        resource: Resource | None,
        message: str,
    ) -> LiveCheck:
        return LiveCheck(status, resource, message, self._clock.now())

    async def destroy(self, target: Target, *, actor: str, grace_s: float = 0.0) -> Operation:
        """Ask for a teardown; returns once the intent is recorded (or, on a broken store, written to the fallback file).

        Args:
            target: frozen when the person pressed the key.
            actor: who asks.
            grace_s: seconds during which :meth:`withdraw` takes it back.

        Raises:
            ReadOnlyRefused: read-only mode.
        """
        return await self._ask("destroy", target, actor, grace_s)

    async def cancel(self, target: Target, *, actor: str) -> Operation:
        """Ask for a stop of the work; what is rented goes on billing.

        Raises:
            ReadOnlyRefused: read-only mode.
            StoreError: the intent could not be recorded.
        """
        return await self._ask("cancel", target, actor, 0.0)

    async def _ask(
        self, kind: OperationKind, target: Target, actor: str, grace_s: float
    ) -> Operation:
        if self.read_only:
            msg = f"read-only: {kind} is switched off"
            raise ReadOnlyRefused(msg)
        now = self._clock.now()
        not_before = now + timedelta(seconds=grace_s) if grace_s > 0 else None
        wanted = Operation(
            op_id=f"op-{self._rng.getrandbits(48):012x}",
            kind=kind,
            target=target,
            actor=actor,
            phase="pending" if not_before else "driving",
            requested_at=now,
            not_before=not_before,
            updated_at=now,
            attempts=0,
            last_answer="",
        )
        try:
            operation, handle = await self._store.write(lambda tables: _intend(tables, wanted))
        except StoreError as error:
            if kind == "destroy":
                return self._ask_unsaved(wanted, error)
            raise
        self._changed()
        self._spawn(self.driver.drive(operation, handle))
        return operation

    def _ask_unsaved(self, wanted: Operation, error: StoreError) -> Operation:
        """A broken disk must not keep a machine billing: the teardown is sent, its record goes elsewhere."""
        _LOG.error("intent not saved: %s", error)
        self._record_unsaved(wanted, f"intent not saved: {error}")
        handle = minimal_handle(wanted.target)
        self._spawn(self.driver.drive(wanted, handle, saved=False))
        return wanted

    def _record_unsaved(self, operation: Operation, what: str) -> None:
        line = json.dumps(
            {
                "at": self._clock.now().isoformat(),
                "op_id": operation.op_id,
                "kind": operation.kind,
                "target": f"{operation.target.provider}:{operation.target.resource_id}",
                "run_id": operation.target.run_id,
                "actor": operation.actor,
                "what": clean(what, 400),
            }
        )
        sys.stderr.write(f"flashtui audit (not saved): {line}\n")
        try:
            with self._fallback.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            _LOG.warning("fallback audit file: %s", error)

    async def withdraw(self, op_id: str) -> bool:
        """Take back an operation inside its grace; False: too late."""
        now = self._clock.now()

        def undo(tables: Tables) -> bool:
            stored = tables.operations.get(op_id)
            if stored is None or stored.operation.phase != "pending":
                return False
            operation = replace(stored.operation, phase="withdrawn", updated_at=now)
            tables.operations.write(operation)
            if operation.target.run_id is not None and stored.goal_before is not None:
                tables.runs.set_goal(operation.target.run_id, stored.goal_before, now, back=True)
            tables.audit.add(_entry(operation, now, "withdrawn", "taken back within the grace"))
            tables.events.add(
                StoredEvent(now, "you", f"took back the destroy of {_name(operation.target)}")
            )
            return True

        done = await self._store.write(undo)
        self._changed()
        return done

    async def hasten(self, op_id: str) -> None:
        """Skip the rest of an operation's grace."""
        self.driver.hasten(op_id)

    async def wait(self, op_id: str, timeout_s: float | None = None) -> Operation | None:
        """The operation once it is over or first unconfirmed, or as it is when the time is up."""
        await self.driver.settled(op_id, timeout_s)
        known = self.driver.last(op_id)
        if known is not None:
            return known
        stored = await self._store.run(lambda tables: tables.operations.get(op_id))
        return None if stored is None else stored.operation

    async def recover(self) -> int:
        """Drive on what other processes have left open; returns how many were taken up."""
        left = await self._store.run(lambda tables: tables.operations.open())
        taken = 0
        for stored in left:
            if not self.driver.is_driving(stored.operation.op_id):
                taken += 1
                self._spawn(self.driver.drive(stored.operation, stored.handle))
        return taken


def _intend(tables: Tables, wanted: Operation) -> tuple[Operation, JobHandle]:
    """The intent transaction; an open operation of the same kind on the same target is joined, not doubled."""
    target, now = wanted.target, wanted.requested_at
    running = tables.operations.open_on(target.provider, target.resource_id, wanted.kind)
    if running is not None:
        hastened = running.operation
        if hastened.phase == "pending" and wanted.not_before is None:
            hastened = replace(hastened, not_before=None, phase="driving", updated_at=now)
            tables.operations.write(hastened)
        return hastened, running.handle
    resource = tables.runs.resource(target.provider, target.resource_id)
    handle = resource.handle if resource and resource.handle.data else minimal_handle(target)
    run = tables.runs.get(target.run_id) if target.run_id is not None else None
    tables.operations.add(StoredOperation(wanted, handle, goal_before=run.goal if run else None))
    if run is not None:
        tables.runs.set_goal(run.run_id, "gone" if wanted.kind == "destroy" else "stopped", now)
    tables.audit.add(_entry(wanted, now, "intent", f"{wanted.kind} {_name(target)}"))
    tables.events.add(
        StoredEvent(now, "you", f"{wanted.kind} of {_name(target)} asked for ({wanted.actor})")
    )
    return wanted, handle


def minimal_handle(target: Target) -> JobHandle:
    """What can be said of a resource that no run here rented: its id, under every name a provider may look for."""
    names = dict.fromkeys(("instance_id", "endpoint_id", "pod_id"), target.resource_id)
    return JobHandle(target.provider, {**names, "label": target.label})


def _entry(operation: Operation, at: datetime, action: str, detail: str) -> AuditEntry:
    subject = f"{operation.target.provider}:{operation.target.resource_id}"
    return AuditEntry(at, operation.op_id, operation.actor, action, subject, detail)


def _name(target: Target) -> str:
    return f"{target.run_id or target.label or 'foreign'} ({target.provider} {target.resource_id})"
