"""Runs and the resources they rent: handles, states, stamps that are written once.

A terminal state stays. A stamp keeps its first value. A write on the strength of an older reading (an older ``revision``) is
not applied, and the caller is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.accrual import observed
from flashtui.domain.cost import resource_cost
from flashtui.domain.run import TERMINAL_STATES
from flashtui.store.columns import json_text, micros, optional_stamp, stamp
from flashtui.store.rows import rented_from_row, row_from_rented, row_from_run, run_from_row

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from flashtui.domain.run import Goal, RentedResource, Resource, Run, RunState
    from flashtui.store.columns import Value

_GOAL_ORDER: tuple[Goal, ...] = ("run", "stopped", "gone")


class RunRepo:
    """The tables ``runs`` and ``resources`` inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def list(self) -> tuple[Run, ...]:
        """Every run with every resource it ever rented, newest first."""
        owned: dict[str, list[tuple[RentedResource, str]]] = {}
        for row in self._connection.execute("SELECT * FROM resources ORDER BY attempt, rowid"):
            owned.setdefault(str(row["run_id"]), []).append(rented_from_row(row))
        rows = self._connection.execute("SELECT * FROM runs ORDER BY created_at DESC, run_id")
        return tuple(_with_resources(row, owned.get(str(row["run_id"]), ())) for row in rows)

    def get(self, run_id: str) -> Run | None:
        """One run; None: no such run."""
        row = self._connection.execute("SELECT * FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if row is None:
            return None
        rows = self._connection.execute(
            "SELECT * FROM resources WHERE run_id = ? ORDER BY attempt, rowid", (run_id,)
        )
        return _with_resources(row, [rented_from_row(found) for found in rows])

    def resource(self, provider: str, resource_id: str) -> RentedResource | None:
        """One resource; None: not of a run of this store."""
        row = self._connection.execute(
            "SELECT * FROM resources WHERE provider = ? AND resource_id = ?",
            (provider, resource_id),
        ).fetchone()
        return None if row is None else rented_from_row(row)[0]

    def add(self, run: Run) -> bool:
        """Record a new run with its resources; False: there is one of this id, and nothing was changed."""
        added = self._insert("runs", row_from_run(run), "DO NOTHING")
        if added:
            for rented in run.resources:
                self.add_resource(rented)
        return added

    def add_resource(self, rented: RentedResource) -> bool:
        """Record what a run has rented; of one that is known, stamps and everything else that is set stay."""
        row = row_from_rented(rented)
        kept = ", ".join(
            f"{name} = coalesce({name}, excluded.{name})"
            for name in (
                "rate", "billing_rate", "cost", "cost_until", "launched_at", "last_seen_at", "teardown_requested_at",
                "confirmed_gone_at", "job_id", "offer_id", "machine_id", "account", "seed",
            )
        )  # fmt: skip
        return self._insert("resources", row, f"(provider, resource_id) DO UPDATE SET {kept}")

    def upsert(self, run: Run, now: datetime) -> None:
        """Take a run from outside: new, or what it adds to the one that is known."""
        known = self.get(run.run_id)
        if known is None:
            self.add(run)
            return
        if known.state not in TERMINAL_STATES:
            self._update(
                run.run_id,
                {
                    "state": run.state,
                    "progress": run.progress or known.progress,
                    "last_error": run.last_error or known.last_error,
                    "ended_at": optional_stamp(known.ended_at or run.ended_at),
                    "recorded_cost": micros(known.recorded_cost or run.recorded_cost),
                },
                now,
            )
        self.set_goal(run.run_id, run.goal, now)
        for rented in run.resources:
            self.add_resource(rented)

    def transition(
        self,
        run_id: str,
        state: RunState,
        *,
        now: datetime,
        revision: int | None = None,
        last_error: str | None = None,
    ) -> bool:
        """Move a run to a state; whether it was moved.

        Args:
            run_id: which run.
            state: the new state; a terminal one stamps ``ended_at``.
            now: when.
            revision: only if nobody has written since this reading; None: whatever was written.
            last_error: why, for a failed one.
        """
        known = self.get(run_id)
        if known is None or (known.state in TERMINAL_STATES and known.state != state):
            return False
        if revision is not None and known.revision != revision:
            return False
        ended_at = known.ended_at
        if state in TERMINAL_STATES and ended_at is None:
            ended_at = now
        values: dict[str, Value] = {"state": state, "ended_at": optional_stamp(ended_at)}
        if last_error is not None:
            values["last_error"] = last_error
        self._update(run_id, values, now)
        return True

    def set_goal(self, run_id: str, goal: Goal, now: datetime, *, back: bool = False) -> bool:
        """Change what is wanted of a run; whether it was changed.

        Wanting it gone is more than wanting it stopped; going back is only for an operation that was withdrawn.
        """
        known = self.get(run_id)
        if known is None or known.goal == goal:
            return False
        if not back and _GOAL_ORDER.index(goal) < _GOAL_ORDER.index(known.goal):
            return False
        self._update(run_id, {"goal": goal}, now)
        return True

    def mark_progress(
        self, run_id: str, *, now: datetime, progress: str | None, heartbeat_at: datetime | None
    ) -> None:
        """What a worker last said of itself."""
        values: dict[str, Value] = {}
        if progress is not None:
            values["progress"] = progress
        if heartbeat_at is not None:
            values["heartbeat_at"] = stamp(heartbeat_at)
        if values:
            self._update(run_id, values, now)

    def mark_seen(self, found: Iterable[Resource]) -> int:
        """Record what a provider's listing says of resources of ours; how many of ours were in it."""
        seen = 0
        for resource in found:
            known = self.resource(resource.provider, resource.resource_id)
            if known is None or not known.may_bill:
                continue
            seen += 1
            self._write_resource(observed(known, resource))
        return seen

    def request_teardown(self, provider: str, resource_id: str, at: datetime) -> None:
        """Stamp the first moment at which a provider was asked to take a resource away."""
        self._connection.execute(
            "UPDATE resources SET teardown_requested_at = coalesce(teardown_requested_at, ?)"
            " WHERE provider = ? AND resource_id = ?",
            (stamp(at), provider, resource_id),
        )

    def confirm_gone(self, provider: str, resource_id: str, *, at: datetime, evidence: str) -> bool:
        """Close a resource's clock with proof; False: unknown here, or closed before, and the first proof stays."""
        known = self.resource(provider, resource_id)
        if known is None or not known.may_bill:
            return False
        cost = micros(resource_cost(known, at))
        self._connection.execute(
            "UPDATE resources SET confirmed_gone_at = :at, state = 'gone', evidence = :evidence,"
            " cost = coalesce(:cost, cost), cost_until = CASE WHEN :cost IS NULL THEN cost_until ELSE :at END"
            " WHERE provider = :provider AND resource_id = :id",
            {
                "at": stamp(at),
                "evidence": evidence,
                "cost": cost,
                "provider": provider,
                "id": resource_id,
            },
        )
        return True

    def _write_resource(self, rented: RentedResource) -> None:
        self._connection.execute(
            "UPDATE resources SET state = ?, raw_status = ?, last_seen_at = ?, launched_at = coalesce(launched_at, ?),"
            " cost = ?, cost_until = ?, billing_rate = ?, handle = ?"
            " WHERE provider = ? AND resource_id = ? AND confirmed_gone_at IS NULL",
            (
                rented.state,
                rented.raw_status,
                optional_stamp(rented.last_seen_at),
                optional_stamp(rented.launched_at),
                micros(rented.cost),
                optional_stamp(rented.cost_until),
                micros(rented.billing_rate),
                json_text(rented.handle.to_dict()),
                rented.provider,
                rented.resource_id,
            ),
        )

    def _insert(self, table: str, row: Mapping[str, Value], on_conflict: str) -> bool:
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        # Names come from this package's own column lists.
        sql = f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT {on_conflict}"  # noqa: S608
        return self._connection.execute(sql, row).rowcount == 1

    def _update(self, run_id: str, values: Mapping[str, Value], now: datetime) -> None:
        sets = ", ".join(f"{name} = :{name}" for name in values)
        self._connection.execute(
            f"UPDATE runs SET {sets}, updated_at = :now, revision = revision + 1 WHERE run_id = :run_id",  # noqa: S608
            {**values, "now": stamp(now), "run_id": run_id},
        )


def _with_resources(row: Mapping[str, object], owned: Iterable[tuple[RentedResource, str]]) -> Run:
    owned = tuple(owned)
    damage = "; ".join(told for _, told in owned if told)
    return run_from_row(row, tuple(rented for rented, _ in owned), damage)
