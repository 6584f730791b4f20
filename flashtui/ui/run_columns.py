"""What a row of the runs pane shows in which column, and by what it can be filtered; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.market import Freshness, freshness
from flashtui.domain.text import clean
from flashtui.ui.cells import (
    NOTHING,
    UNKNOWN,
    Cell,
    age_text,
    duration_text,
    rate_text,
    seconds_since,
    usd_text,
)
from flashtui.ui.columns import Column
from flashtui.ui.filtering import Fields
from flashtui.ui.run_state import operation_note, run_flag, run_state

if TYPE_CHECKING:
    from flashtui.services.board import RunRow
    from flashtui.ui.columns import Look

_NAME_WIDTH = 11
_LEAST_TAIL = 4


def flag(row: RunRow, look: Look) -> Cell:
    """The character beside the cursor mark."""
    return run_flag(row, look.now)


def name(row: RunRow) -> str:
    """What a person calls it."""
    return clean(row.run_id or row.label or row.resource_id) or UNKNOWN


def short_name(row: RunRow) -> str:
    """The same where there is little room: of a run id the part that differs from the others."""
    whole = name(row)
    tail = whole.rpartition("-")[2]
    if row.run_id and len(whole) > _NAME_WIDTH and _LEAST_TAIL <= len(tail) <= _NAME_WIDTH:
        return tail
    return whole


def observed(row: RunRow, look: Look) -> Freshness:
    """How far the provider's side of a row may be trusted."""
    return freshness(seconds_since(row.observed_at, look.now), look.interval_s)


def theirs(row: RunRow, look: Look) -> Cell:
    """The provider's own word for the state of the machine."""
    if row.resource_id is None or row.resource_state == "none":
        return Cell(NOTHING, "dim")
    if observed(row, look) is Freshness.UNKNOWN and row.may_bill:
        return Cell(UNKNOWN, "dim")
    word = clean(row.raw_status) or row.resource_state
    stale = observed(row, look) is not Freshness.FRESH
    return Cell(word.lower(), "dim" if stale or not row.may_bill else "")


def gpu(row: RunRow) -> str:
    """Board and how many of them."""
    if row.gpu is None:
        return UNKNOWN
    return f"{clean(row.gpu)} x{row.num_gpus}" if row.num_gpus > 1 else clean(row.gpu)


def note(row: RunRow) -> str:
    """The sentence that matters most about a row."""
    return clean(operation_note(row.operation) or row.note or row.last_error)


def _quiet(row: RunRow) -> str:
    return "" if row.may_bill or row.state in {"queued", "provisioning", "running"} else "dim"


def _rate(row: RunRow, _look: Look) -> Cell:
    if row.rate is None:
        return Cell(UNKNOWN if row.may_bill else NOTHING, "dim")
    if not row.may_bill:
        return Cell(rate_text(row.rate), "dim")
    return Cell(rate_text(row.rate), "estimate" if row.rate_source == "static" else "price")


def _spent(row: RunRow, look: Look) -> Cell:
    cost = row.cost_at(look.now)
    text = usd_text(cost, estimate=row.cost_is_estimate)
    return Cell(text, "estimate" if row.cost_is_estimate else _quiet(row))


def _seen(row: RunRow, look: Look) -> Cell:
    if row.resource_id is None or (row.observed_at is None and not row.may_bill):
        return Cell(NOTHING, "dim")
    if not row.may_bill:
        return Cell(age_text(seconds_since(row.observed_at, look.now)), "dim")
    style = {Freshness.STALE: "warn", Freshness.UNKNOWN: "bad"}.get(observed(row, look), "dim")
    return Cell(age_text(seconds_since(row.observed_at, look.now)), style)


def _up(row: RunRow, look: Look) -> Cell:
    if row.started_at is None:
        return Cell(NOTHING, "dim")
    end = row.ended_at or look.now
    return Cell(duration_text((end - row.started_at).total_seconds()), _quiet(row))


def _note(row: RunRow, look: Look) -> Cell:
    stale = row.may_bill and observed(row, look) is not Freshness.FRESH
    word = f"{observed(row, look).upper()} " if stale and row.resource_id is not None else ""
    return Cell(f"{word}{note(row)}", "warn" if stale else "dim")


RUN_COLUMNS: tuple[Column[RunRow], ...] = (
    Column("run", "RUN", _NAME_WIDTH, lambda r, _: Cell(short_name(r), _quiet(r)), name),
    Column("state", "STATE", 16, lambda r, k: run_state(r, k.now), lambda r: r.state),
    Column("theirs", "THEIRS", 8, theirs, lambda r: r.raw_status or r.resource_state),
    Column("gpu", "GPU", 9, lambda r, _: Cell(gpu(r), _quiet(r)), gpu),
    Column("provider", "PROV", 6, lambda r, _: Cell(r.provider or NOTHING, _quiet(r)),
           lambda r: r.provider),
    Column("instance", "INSTANCE", 12, lambda r, _: Cell(clean(r.resource_id) or NOTHING, "dim"),
           lambda r: r.resource_id, min_width=140),
    Column("progress", "PROGRESS", 9, lambda r, _: Cell(clean(r.progress) or NOTHING, _quiet(r)),
           lambda r: r.progress, min_width=116),
    Column("rate", "$/h", 6, _rate, lambda r: None if r.rate is None else r.rate.micros, "right",
           falling=True),
    Column("spent", "SPENT", 8, _spent, lambda r: None if r.settled is None else r.settled.micros,
           "right", falling=True),
    Column("up", "UP", 6, _up, lambda r: None if r.started_at is None else -r.started_at.timestamp(),
           "right", min_width=140),
    Column("seen", "SEEN", 4, _seen,
           lambda r: None if r.observed_at is None else -r.observed_at.timestamp(), "right"),
    Column("note", "NOTE", 16, _note, min_width=100, flex=True),
)  # fmt: skip


def _text(row: RunRow) -> str:
    parts = (
        name(row),
        row.label,
        row.state,
        row.resource_state,
        row.raw_status,
        gpu(row),
        row.kind,
    )
    return " ".join((*parts, row.provider or "", row.resource_id or "", row.note)).lower()


RUN_FIELDS: Fields[RunRow] = Fields(
    values={
        "run": name,
        "state": lambda r: r.state,
        "kind": lambda r: r.kind,
        "gpu": gpu,
        **dict.fromkeys(("prov", "provider"), lambda r: r.provider),
        "id": lambda r: r.resource_id,
        **dict.fromkeys(("$", "$/h", "rate"), lambda r: None if r.rate is None else float(r.rate)),
        "spent": lambda r: None if r.settled is None else float(r.settled),
        "bills": lambda r: "yes" if r.may_bill else "no",
    },
    text=_text,
)
