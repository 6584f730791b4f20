"""Cancel and destroy, from intent to proof.

Intent, goal and audit row are one transaction and come before anything is sent. Driving belongs to the session, so that
closing the screen ends none of it; a lease keeps two processes from driving the same operation; only proof closes one.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from flashtui.domain.clock import Deadline
from flashtui.domain.errors import ConfigError, FlashtuiError, ProviderError, StoreError
from flashtui.domain.operation import Operation, Target
from flashtui.domain.text import clean
from flashtui.services import records
from flashtui.services.driving import Driver
from flashtui.services.leases import is_gone

if TYPE_CHECKING:
    import random  # noqa: TID251 - the type only
    from collections.abc import Callable, Coroutine
    from datetime import datetime
    from pathlib import Path

    from flashtui.domain.clock import Clock
    from flashtui.domain.operation import OperationKind
    from flashtui.domain.run import Inventory, JobHandle, Resource
    from flashtui.providers.registry import Registry
    from flashtui.store import Store
    from flashtui.store.operations import StoredOperation

REREAD_S = 3.0
# How often an operation that another process drives is looked up.
_LOOK_S = 1.0
_Status = Literal["found", "absent", "changed", "unverified"]


class ReadOnlyRefused(ConfigError):
    """An operation was asked for in read-only mode."""


@dataclass(frozen=True, slots=True)
class LiveCheck:
    """A look at a target just before it is acted on.

    Attributes:
        status: ``found`` as shown, ``absent`` from a complete listing, ``changed`` into something else, or
            ``unverified`` because the provider did not answer.
    """

    status: _Status
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
        shown: the handle of a target that is on the screen; None: not known.
        emergency: told what could not be saved; None: standard error.
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
        shown: Callable[[Target], JobHandle | None] | None = None,
        emergency: Callable[[str], None] | None = None,
    ) -> None:
        self._store = store
        self._registry = registry
        self._clock = clock
        self._rng = rng
        self._spawn = spawn
        self._changed = changed
        self._shown = shown or (lambda _: None)
        self._looked_up: dict[tuple[str, str], JobHandle] = {}
        self.read_only = read_only
        self.reread_s = REREAD_S
        self.ledger = records.Ledger(store, clock, fallback, emergency)
        self.driver = Driver(
            self.ledger, registry, clock, rng, changed=changed, find=self._listed_handle
        )

    async def reread(self, target: Target) -> LiveCheck:
        """Look at a target once more, within about three seconds; never raises for a provider's failure."""
        try:
            inventory = await self._inventory(target)
        except FlashtuiError as error:
            return LiveCheck("unverified", None, clean(error), self._clock.now())
        found = _find(inventory, target)
        status, message = _verdict(target, found, inventory)
        return LiveCheck(status, found, message, self._clock.now())

    async def destroy(self, target: Target, *, actor: str, grace_s: float = 0.0) -> Operation:
        """Ask for a teardown; returns once the intent is recorded (or, on a broken store, written elsewhere).

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
        """
        return await self._ask("cancel", target, actor, 0.0)

    async def withdraw(self, op_id: str) -> bool:
        """Take back an operation inside its grace; False: too late.

        Raises:
            StoreError: it cannot be recorded, so it is not taken back.
        """
        now = self._clock.now()
        done = await self._store.write(lambda tables: records.withdraw(tables, op_id, now))
        if done:
            self.driver.hasten(op_id)
        self._changed()
        return done

    async def hasten(self, op_id: str) -> None:
        """Skip the rest of an operation's grace."""
        self.driver.hasten(op_id)

    async def wait(self, op_id: str, timeout_s: float | None = None) -> Operation | None:
        """The operation once it is over or not confirmed, or as it is when the time is up.

        Args:
            op_id: of this process or another.
            timeout_s: None: for ever.

        Raises:
            StoreError: it is another process's, and the store cannot be read.
        """
        deadline = Deadline.after(self._clock, float("inf") if timeout_s is None else timeout_s)
        while True:
            operation = await self._operation(op_id)
            if operation is None or not operation.is_open or operation.phase == "unconfirmed":
                return operation
            if deadline.passed(self._clock):
                return operation
            await self.driver.step(min(_LOOK_S, deadline.remaining_s(self._clock)))

    async def recover(self) -> int:
        """Drive on what other processes have left open; how many were taken up.

        Raises:
            StoreError: the store cannot be read.
        """
        left = await self._store.run(lambda tables: tables.operations.open())
        now = self._clock.now()
        free = [stored for stored in left if self._is_free(stored, now)]
        for stored in free:
            self._spawn(self.driver.drive(stored.operation, stored.handle))
        return len(free)

    async def release(self) -> None:
        """Save what waits, and give up every lease, so that another process need not wait.

        Raises:
            StoreError: the store cannot be written.
        """
        owner = self.driver.owner
        await self.ledger.catch_up()
        if self.driver.any_open:
            await self._store.write(lambda tables: tables.operations.release_all(owner))

    async def _ask(
        self, kind: OperationKind, target: Target, actor: str, grace_s: float
    ) -> Operation:
        if self.read_only:
            msg = f"read-only: {kind} is switched off; start without --read-only"
            raise ReadOnlyRefused(msg)
        handle = await self._handle(target)
        wanted = self._wanted(kind, target, actor, grace_s)
        # The intent and the task that acts on it go together, also when whoever asked is cancelled meanwhile.
        return await asyncio.shield(asyncio.ensure_future(self._begin(wanted, handle)))

    async def _begin(self, wanted: Operation, handle: JobHandle) -> Operation:
        operation, lease = wanted, self.driver.lease()
        try:
            operation, handle = await self._store.write(
                lambda tables: records.intend(tables, wanted, handle, lease)
            )
        except StoreError:
            await self.ledger.save(
                wanted,
                lambda tables: records.intend(tables, wanted, handle, lease),
                f"{wanted.kind} asked for",
            )
        if operation is not wanted and operation.phase != "pending":
            self.driver.hasten(operation.op_id)
        self._spawn(self.driver.drive(operation, handle))
        self._changed()
        return operation

    def _wanted(self, kind: OperationKind, target: Target, actor: str, grace_s: float) -> Operation:
        now = self._clock.now()
        not_before = now + timedelta(seconds=grace_s) if grace_s > 0 else None
        return Operation(
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

    def _is_free(self, stored: StoredOperation, now: datetime) -> bool:
        if self.driver.is_driving(stored.operation.op_id):
            return False
        return stored.is_free(now) or (stored.lease is not None and is_gone(stored.lease.owner))

    async def _operation(self, op_id: str) -> Operation | None:
        own = self.driver.last(op_id)
        if own is not None:
            return own
        stored = await self._store.run(lambda tables: tables.operations.get(op_id))
        return None if stored is None else stored.operation

    async def _handle(self, target: Target) -> JobHandle:
        """What the provider needs: as shown, as last looked up, as recorded, or as listed now."""
        key = (target.provider, target.resource_id)
        for known in (self._shown(target), self._looked_up.get(key)):
            if known is not None and known.data:
                return known
        try:
            recorded = await self._store.run(
                lambda tables: tables.runs.resource(target.provider, target.resource_id)
            )
        except StoreError:
            recorded = None
        if recorded is not None and recorded.handle.data:
            return recorded.handle
        return await self._listed_handle(target) or records.minimal_handle(target)

    async def _listed_handle(self, target: Target) -> JobHandle | None:
        try:
            found = _find(await self._inventory(target), target)
        except FlashtuiError:
            return None
        return None if found is None else found.handle

    async def _inventory(self, target: Target) -> Inventory:
        """One listing, within :data:`REREAD_S` of real time: a person waits for it.

        Raises:
            FlashtuiError: there is none, or none in time.
        """
        provider = target.provider
        try:
            source = self._registry.plugin(provider).inventory
        except KeyError as error:
            raise ConfigError(str(error.args[0])) from error
        if source is None:
            msg = f"{provider} has no listing to look into"
            raise ConfigError(msg)
        try:
            async with asyncio.timeout(self.reread_s):
                inventory = await source.inventory()
        except TimeoutError as error:
            msg = f"{provider} did not answer within {self.reread_s:g} s"
            raise ProviderError(msg, provider=provider) from error
        for resource in inventory.resources:
            self._looked_up[resource.provider, resource.resource_id] = resource.handle
        return inventory


def _find(inventory: Inventory, target: Target) -> Resource | None:
    return next((r for r in inventory.resources if r.resource_id == target.resource_id), None)


def _verdict(target: Target, found: Resource | None, inventory: Inventory) -> tuple[_Status, str]:
    provider, name = target.provider, target.resource_id
    if found is None and inventory.complete:
        return "absent", f"{provider}'s complete listing does not have {name}"
    if found is None:
        why = f": {inventory.problem}" if inventory.problem else ""
        return "unverified", f"{provider}'s listing is not complete, and {name} is not in it{why}"
    if target.label and found.label != target.label:
        return "changed", f"{name} is now labelled {found.label!r}, not {target.label!r}"
    return "found", found.raw_status or found.state
