"""What a run's state is called on the screen, and which states raise a flag; pure.

Every state has words of its own, so that nothing depends on colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.run import TERMINAL_STATES
from flashtui.ui.cells import Cell, duration_text, seconds_since

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.operation import Operation
    from flashtui.services.board import RunRow

STALLED_AFTER_S = 300.0
MAY_STILL_BILL = "MAY STILL BILL"
_KIND_WORDS = {"orphan": "ORPHAN", "foreign": "NOT OURS", "ghost": "GHOST"}
_STATE_STYLES = {"running": "good", "provisioning": "warn", "queued": "warn", "unknown": "warn"}


def run_state(row: RunRow, now: datetime) -> Cell:
    """The one word (or two) for a row: an operation under way first, then trouble, then our own state."""
    under_way = _operation(row.operation, now) if row.operation is not None else None
    if under_way is not None:
        return under_way
    if row.resource_state == "unconfirmed":
        return Cell(MAY_STILL_BILL, "alarm")
    if row.kind != "run":
        return Cell(_KIND_WORDS[row.kind], "warn")
    if row.state in TERMINAL_STATES:
        return _ended(row)
    if row.goal != "run":
        return Cell("stopping" if row.goal == "stopped" else "destroying", "warn")
    if is_stalled(row, now):
        return Cell(f"STALLED {duration_text(seconds_since(row.heartbeat_at, now) or 0)}", "bad")
    return Cell(row.state, _STATE_STYLES.get(row.state, ""))


def is_stalled(row: RunRow, now: datetime) -> bool:
    """A running run whose worker has given no sign of life for a while; one that never gave any is not judged."""
    silent = seconds_since(row.heartbeat_at, now)
    return row.state == "running" and silent is not None and silent > STALLED_AFTER_S


def run_flag(row: RunRow, now: datetime) -> Cell:
    """``!`` something costs money for nothing, ``?`` nobody here knows it."""
    unproven = row.operation is not None and row.operation.phase == "unconfirmed"
    if unproven or row.resource_state == "unconfirmed" or row.kind == "ghost":
        return Cell("!", "bad")
    if row.kind in {"orphan", "foreign"}:
        return Cell("?", "warn")
    wasted = row.may_bill and row.state in TERMINAL_STATES
    return Cell("!", "bad") if wasted or is_stalled(row, now) else Cell(" ")


def operation_note(op: Operation | None) -> str:
    """What an operation is waiting for, in words; empty when there is nothing to say."""
    if op is None:
        return ""
    if op.phase == "pending":
        return "z takes it back"
    if op.phase == "verifying":
        return f"asked {op.attempts}x, waiting for proof"
    if op.phase in {"unconfirmed", "refused"}:
        return op.last_answer
    return ""


def being_destroyed(row: RunRow) -> bool:
    """Whether a teardown is under way or done: asking again changes nothing.

    While it is still counting down it is not: asking again skips the rest of the wait.
    """
    op = row.operation
    if op is None or op.kind != "destroy" or op.phase == "pending":
        return False
    return op.is_open or op.phase == "confirmed"


def _operation(op: Operation, now: datetime) -> Cell | None:
    since = duration_text(seconds_since(op.requested_at, now) or 0)
    if op.phase == "unconfirmed":
        return Cell(MAY_STILL_BILL if op.kind == "destroy" else "cancel unproven", "alarm")
    if op.phase == "refused":
        return Cell(f"{op.kind} refused", "bad")
    if op.phase == "pending":
        left = 0.0 if op.not_before is None else (op.not_before - now).total_seconds()
        return Cell(f"{op.kind} in {max(0, round(left))}s", "warn")
    if op.phase in {"driving", "verifying"}:
        return Cell(f"{'destroying' if op.kind == 'destroy' else 'cancelling'} {since}", "warn")
    if op.phase == "confirmed" and op.kind == "destroy":
        return Cell("gone, proven", "dim")
    return None


def _ended(row: RunRow) -> Cell:
    if row.may_bill:
        return Cell(f"{row.state}, BILLS", "bad")
    return Cell(f"{row.state}, gone", "dim")
