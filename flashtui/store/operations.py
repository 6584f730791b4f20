"""Operations on disk: intent before anything is sent, who drives it now, and how it ended.

A lease says which process drives an operation. It is taken by compare-and-set and has to be renewed, so that exactly one
process drives, and another goes on when that one has died.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from flashtui.store.columns import Fields, json_text, optional_stamp, stamp
from flashtui.store.rows import handle_from_row, operation_from_row, row_from_operation

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import datetime

    from flashtui.domain.operation import Operation, OperationKind
    from flashtui.domain.run import Goal, JobHandle


@dataclass(frozen=True, slots=True)
class Lease:
    """Who may drive, until when."""

    owner: str
    until: datetime


@dataclass(frozen=True, slots=True)
class StoredOperation:
    """An operation with what it takes to drive it from any process.

    Attributes:
        handle: what the provider needs.
        goal_before: what was wanted of the run before; None: there is no run.
        lease: None: nobody drives it.
    """

    operation: Operation
    handle: JobHandle
    goal_before: Goal | None = None
    lease: Lease | None = None

    def is_free(self, now: datetime) -> bool:
        """Whether anybody may take it."""
        return self.lease is None or self.lease.until <= now


class OperationRepo:
    """The table ``operations`` inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, stored: StoredOperation) -> None:
        """Record an intent; there must be no open one of the same kind on the same resource."""
        lease = stored.lease
        row = row_from_operation(stored.operation) | {
            "handle": json_text(stored.handle.to_dict()),
            "goal_before": stored.goal_before,
            "lease_owner": lease.owner if lease else None,
            "lease_until": optional_stamp(lease.until) if lease else None,
        }
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        self._connection.execute(f"INSERT INTO operations ({names}) VALUES ({marks})", row)  # noqa: S608

    def get(self, op_id: str) -> StoredOperation | None:
        """One operation."""
        return self._one("op_id = ?", op_id)

    def open_on(
        self, provider: str, resource_id: str, kind: OperationKind
    ) -> StoredOperation | None:
        """The open operation of a kind on a resource; there is never more than one."""
        return self._one(
            "provider = ? AND resource_id = ? AND kind = ? AND is_open = 1",
            provider,
            resource_id,
            kind,
        )

    def open(self) -> tuple[StoredOperation, ...]:
        """Everything that is not over."""
        return self._many("is_open = 1 ORDER BY requested_at, op_id")

    def open_on_resource(self, provider: str, resource_id: str) -> tuple[StoredOperation, ...]:
        """Everything that is not over on one resource."""
        return self._many(
            "provider = ? AND resource_id = ? AND is_open = 1 ORDER BY op_id", provider, resource_id
        )

    def since(self, at: datetime) -> tuple[Operation, ...]:
        """Open ones, and those that ended at or after a moment."""
        found = self._many("is_open = 1 OR updated_at >= ? ORDER BY requested_at, op_id", stamp(at))
        return tuple(stored.operation for stored in found)

    def write(self, operation: Operation, *, owner: str | None = None) -> bool:
        """Write phase, attempts and answer of an operation that is still open; whether it was written.

        Args:
            operation: as it is to be.
            owner: only while this one holds the lease; None: whoever holds it.
        """
        values: dict[str, Any] = {
            "op_id": operation.op_id,
            "phase": operation.phase,
            "is_open": int(operation.is_open),
            "not_before": optional_stamp(operation.not_before),
            "updated_at": stamp(operation.updated_at),
            "attempts": operation.attempts,
            "last_answer": operation.last_answer,
            "owner": owner,
        }
        done = self._connection.execute(
            "UPDATE operations SET phase = :phase, is_open = :is_open, not_before = :not_before,"
            " updated_at = :updated_at, attempts = :attempts, last_answer = :last_answer"
            " WHERE op_id = :op_id AND is_open = 1 AND (:owner IS NULL OR lease_owner = :owner)",
            values,
        )
        return done.rowcount == 1

    def claim(self, op_id: str, lease: Lease, now: datetime) -> bool:
        """Take or renew the lease; False: it is over, or another process holds it."""
        done = self._connection.execute(
            "UPDATE operations SET lease_owner = :owner, lease_until = :until WHERE op_id = :op_id AND is_open = 1"
            " AND (lease_owner IS NULL OR lease_owner = :owner OR lease_until <= :now)",
            {
                "owner": lease.owner,
                "until": stamp(lease.until),
                "op_id": op_id,
                "now": stamp(now),
            },
        )
        return done.rowcount == 1

    def release_all(self, owner: str) -> None:
        """Give up every lease of a process that ends, so that another need not wait."""
        self._connection.execute(
            "UPDATE operations SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = ?",
            (owner,),
        )

    def _one(self, where: str, *values: object) -> StoredOperation | None:
        found = self._many(where, *values)
        return found[0] if found else None

    def _many(self, where: str, *values: object) -> tuple[StoredOperation, ...]:
        rows = self._connection.execute(f"SELECT * FROM operations WHERE {where}", values)  # noqa: S608
        return tuple(_stored(row) for row in rows)


def _stored(row: Mapping[str, Any]) -> StoredOperation:
    until = Fields(row).moment("lease_until")
    lease = None
    if row["lease_owner"] is not None and until is not None:
        lease = Lease(str(row["lease_owner"]), until)
    goal = row["goal_before"]
    return StoredOperation(
        operation_from_row(row), handle_from_row(row), cast("Goal | None", goal), lease
    )
