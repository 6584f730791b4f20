"""What an operation writes into the store at each step, one transaction a step; and what goes elsewhere when it cannot."""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from flashtui.domain.errors import StoreError
from flashtui.domain.operation import AuditEntry
from flashtui.domain.run import TERMINAL_STATES, JobHandle
from flashtui.domain.text import clean
from flashtui.store.audit import StoredEvent
from flashtui.store.operations import Lease, StoredOperation

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from flashtui.domain.clock import Clock
    from flashtui.domain.operation import Operation, Target
    from flashtui.domain.run import Run
    from flashtui.store import Store, Tables

_LOG = logging.getLogger(__name__)
# Set in a handle that was made up from an id alone: whoever drives it looks for the real one first.
UNLISTED = "unlisted"
_PROOF = "absent from complete listings of the provider"


def minimal_handle(target: Target) -> JobHandle:
    """What can be said of a resource that is neither recorded nor listed: its id."""
    return JobHandle(
        target.provider,
        {"instance_id": target.resource_id, "label": target.label, UNLISTED: True},
    )


def name_of(target: Target) -> str:
    """How a target is named to a person."""
    whose = target.run_id or target.label or "a machine of no run here"
    return f"{whose} ({target.provider} {target.resource_id})"


def intend(
    tables: Tables, wanted: Operation, handle: JobHandle, lease: Lease
) -> tuple[Operation, JobHandle]:
    """Operation, goal and audit row; an open one of the same kind on the same target is joined.

    Asking again while one counts down skips the rest of its grace.
    """
    target, now = wanted.target, wanted.requested_at
    running = tables.operations.open_on(target.provider, target.resource_id, wanted.kind)
    if running is not None:
        return _joined(tables, running, wanted), running.handle
    known = tables.runs.resource(target.provider, target.resource_id)
    if known is not None and known.handle.data:
        handle = known.handle
    run = _run_that_ends(tables, target)
    goal = run.goal if run is not None else None
    tables.operations.add(StoredOperation(wanted, handle, goal_before=goal, lease=lease))
    if run is not None:
        tables.runs.set_goal(run.run_id, "gone" if wanted.kind == "destroy" else "stopped", now)
    tables.audit.add(entry(wanted, now, "intent", f"{wanted.kind} of {name_of(target)}"))
    words = f"{wanted.kind} of {name_of(target)} asked for ({wanted.actor})"
    tables.events.add(StoredEvent(now, "you", words))
    return wanted, handle


def _joined(tables: Tables, running: StoredOperation, wanted: Operation) -> Operation:
    operation, now = running.operation, wanted.requested_at
    tables.audit.add(entry(operation, now, "asked again", f"by {wanted.actor}"))
    if operation.phase == "pending":
        operation = replace(operation, phase="driving", not_before=None, updated_at=now)
        tables.operations.write(operation)
    return operation


def withdraw(tables: Tables, op_id: str, now: datetime) -> bool:
    """Take back an operation that is still pending, and what was wanted of its run; False: too late."""
    stored = tables.operations.get(op_id)
    if stored is None or stored.operation.phase != "pending":
        return False
    operation = replace(stored.operation, phase="withdrawn", updated_at=now)
    tables.operations.write(operation)
    target = operation.target
    if target.run_id is not None and stored.goal_before is not None:
        tables.runs.set_goal(target.run_id, stored.goal_before, now, back=True)
    tables.audit.add(entry(operation, now, "withdrawn", "taken back within the grace"))
    words = f"took back the {operation.kind} of {name_of(target)}"
    tables.events.add(StoredEvent(now, "you", words))
    return True


def note(tables: Tables, operation: Operation, *, owner: str | None) -> bool:
    """Record a step; False: it is over, or another process drives it now."""
    if not tables.operations.write(operation, owner=owner):
        return False
    target, now = operation.target, operation.updated_at
    if operation.phase == "driving" and operation.kind == "destroy":
        tables.runs.request_teardown(target.provider, target.resource_id, now)
    if operation.phase in {"unconfirmed", "refused"}:
        tables.audit.add(entry(operation, now, operation.phase, operation.last_answer))
        if operation.attempts == 1:
            words = (
                f"{operation.kind} of {name_of(target)} {operation.phase}: {operation.last_answer}"
            )
            tables.events.add(StoredEvent(now, "alert", words))
    return True


def refuse(tables: Tables, operation: Operation, *, owner: str | None) -> bool:
    """Record that a provider will not do it; what was wanted of the run is as before."""
    stored = tables.operations.get(operation.op_id)
    if not note(tables, operation, owner=owner):
        return False
    run_id = operation.target.run_id
    if stored is not None and stored.goal_before is not None and run_id is not None:
        tables.runs.set_goal(run_id, stored.goal_before, operation.updated_at, back=True)
    return True


def close(tables: Tables, operation: Operation, evidence: str) -> None:
    """Operation, resource, ledger and run, closed together at the moment of proof."""
    target, now = operation.target, operation.updated_at
    is_destroy = operation.kind == "destroy"
    ended = _run_that_ends(tables, target)
    tables.operations.write(operation)
    if is_destroy:
        tables.runs.confirm_gone(target.provider, target.resource_id, at=now, evidence=evidence)
        _close_others(tables, operation)
    if ended is not None:
        tables.runs.transition(ended.run_id, "cancelled", now=now)
    tables.audit.add(entry(operation, now, "confirmed", evidence))
    words = "gone, proven" if is_destroy else "work stopped; what is rented bills on"
    if ended is not None and ended.state in TERMINAL_STATES:
        words += f"; the run had {_ENDED_BEFORE[ended.state]} before"
    tables.events.add(StoredEvent(now, "info", f"{name_of(target)}: {words}"))


_ENDED_BEFORE = {"done": "finished", "failed": "failed", "cancelled": "been cancelled"}


def _close_others(tables: Tables, destroyed: Operation) -> None:
    """What else was asked of a resource is over when the resource is gone."""
    target, now = destroyed.target, destroyed.updated_at
    for stored in tables.operations.open_on_resource(target.provider, target.resource_id):
        over = replace(
            stored.operation, phase="confirmed", updated_at=now, last_answer="the resource is gone"
        )
        tables.operations.write(over)
        tables.audit.add(entry(over, now, "confirmed", over.last_answer))


def _run_that_ends(tables: Tables, target: Target) -> Run | None:
    """The run that an operation on this resource is about.

    A duplicate, or what an earlier attempt left behind, can go without the run that still has another one.
    """
    run = tables.runs.get(target.run_id) if target.run_id is not None else None
    if run is None:
        return None
    key = (target.provider, target.resource_id)
    keys = {(r.provider, r.resource_id) for r in run.resources}
    others = {(r.provider, r.resource_id) for r in run.resources if r.may_bill} - {key}
    return run if key in keys and not others else None


def proof(operation: Operation, now: datetime) -> str:
    """What a destroy that returned has shown, as evidence."""
    if operation.kind != "destroy":
        return "stopped"
    seconds = round((now - operation.requested_at).total_seconds())
    times = "once" if operation.attempts == 1 else f"{operation.attempts} times"
    return f"{_PROOF}; asked {times}, proven {seconds} s after the request"


def entry(operation: Operation, at: datetime, action: str, detail: str) -> AuditEntry:
    """One line of the trail."""
    subject = f"{operation.target.provider}:{operation.target.resource_id}"
    return AuditEntry(at, operation.op_id, operation.actor, action, subject, clean(detail, 600))


class Ledger:
    """Writes steps into the store, in order; what cannot be written goes to a fallback file and is written later.

    A broken disk must not keep a machine billing, so a step that cannot be saved does not stop what it is about.

    Args:
        store: ours.
        clock: stamps of the fallback file.
        fallback: JSON lines of what could not be saved.
        emergency: told what could not be saved, one line each.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        fallback: Path,
        emergency: Callable[[str], None] | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._fallback = fallback
        self._emergency = emergency or _to_stderr
        self._waiting: list[Callable[[Tables], object]] = []

    @property
    def unsaved(self) -> int:
        """How many steps wait to be saved."""
        return len(self._waiting)

    async def save(self, operation: Operation, step: Callable[[Tables], object], what: str) -> None:
        """Write a step now or, when the store fails, elsewhere now and into the store later."""
        self._waiting.append(step)
        try:
            await self.catch_up()
        except StoreError as error:
            self._elsewhere(operation, f"{what} (not saved: {error})")

    async def attempt(self, step: Callable[[Tables], bool]) -> bool:
        """Write a step that decides whether to go on; a store that fails decides nothing: go on.

        Steps that wait come first.
        """
        try:
            await self.catch_up()
            return await self._store.write(step)
        except StoreError as error:
            _LOG.warning("not saved: %s", error)
            return True

    async def catch_up(self) -> None:
        """Write everything that waits, in order.

        Raises:
            StoreError: the store still fails.
        """
        waiting = list(self._waiting)
        if not waiting:
            return

        def all_of_it(tables: Tables) -> None:
            for step in waiting:
                step(tables)

        await self._store.write(all_of_it)
        del self._waiting[: len(waiting)]

    def _elsewhere(self, operation: Operation, what: str) -> None:
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
        self._emergency(f"flashtui audit (not saved): {line}")
        try:
            self._fallback.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._fallback, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            _LOG.warning("the fallback audit file cannot be written: %s", error)


def _to_stderr(line: str) -> None:
    sys.stderr.write(line + "\n")
