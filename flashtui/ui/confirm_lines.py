"""The question before a cancel or destroy, in words; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.text import clean
from flashtui.ui.cells import Line, Span, age_text, line, rate_text, seconds_since, usd_text
from flashtui.ui.confirmation import DEAD_S, GRACE_S
from flashtui.ui.parts import wrapped
from flashtui.ui.run_columns import gpu, name
from flashtui.ui.run_state import run_state

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.services.board import RunRow
    from flashtui.ui.confirmation import Confirmation
    from flashtui.ui.ports import LiveCheckPort

_LONG = 100
_NAME = 50
_THINGS = {
    "serverless": "endpoint",
    "pod": "pod",
    "instance": "instance",
    "interruptible": "instance",
}
FOOT = f"Enter and Esc cancel; keys sleep {DEAD_S:g} s after opening."


def confirm_title(question: Confirmation) -> str:
    """The heading of the box."""
    return f"{question.kind.upper()} {clean(name(question.row), _NAME)}"


def confirm_lines(question: Confirmation, now: datetime, width: int) -> list[Line]:
    """Everything a person needs to know before saying yes."""
    lines = [
        *_identity(question.row, now, width),
        *_live(question, now, width),
        (),
        *_consequences(question, width),
    ]
    if question.unsaved:
        lines += wrapped(
            "The store cannot be written: sent, but not recorded.",
            width,
            style="bad",
        )
    lines += [(), *_challenge(question, width), _buttons(question), ()]
    lines += wrapped(FOOT, width, style="dim")
    return lines


def fitted(rows: list[Line], room: int) -> list[Line]:
    """The lines for a low screen: blank ones go first, then those that only explain."""
    kept = list(rows)
    for is_spare in (_is_blank, _is_dim):
        for row in [row for row in kept if is_spare(row)]:
            if len(kept) <= room:
                return kept
            kept.remove(row)
    return kept


def _is_blank(row: Line) -> bool:
    return not row


def _is_dim(row: Line) -> bool:
    return all(span.style == "dim" for span in row)


def _identity(row: RunRow, now: datetime, width: int) -> list[Line]:
    thing = _THINGS.get(row.product or "", "resource")
    started = ""
    if row.started_at is not None:
        started = f", started {row.started_at:%d %b %H:%M} UTC"
    cost = usd_text(row.cost_at(now), estimate=row.cost_is_estimate)
    lines = wrapped(
        f"{row.provider} {thing} {clean(row.resource_id, _NAME)}  {gpu(row)}{started}",
        width,
        style="bold",
    )
    if row.label and clean(row.label) != name(row):
        lines += wrapped(f"label {clean(row.label, _NAME)}", width)
    lines += wrapped(
        f"{rate_text(row.rate)}/h, spent {cost}, here it is: {run_state(row, now).text}", width
    )
    if row.kind == "foreign":
        lines += wrapped("No run of this store: somebody else may need it.", width, style="bad")
    elif row.kind == "orphan":
        lines += wrapped(
            "An orphan: a run of this store made it, and no longer holds it.", width, style="warn"
        )
    return lines


def _live(question: Confirmation, now: datetime, width: int) -> list[Line]:
    provider = question.target.provider
    if question.waiting:
        return wrapped(f"asking {provider} for its present state ...", width, style="dim")
    if question.check is None:
        return _unverified(provider, question.check_failed, width)
    return _checked(question.check, provider, now, width)


def _checked(check: LiveCheckPort, provider: str, now: datetime, width: int) -> list[Line]:
    ago = age_text(seconds_since(check.checked_at, now))
    message = clean(check.message, _LONG)
    if check.status == "unverified":
        return _unverified(provider, message, width)
    if check.status == "changed":
        return wrapped(f"REFUSED: {message}", width, style="bad")
    if check.status == "absent":
        text = f"{provider} does not list it any more ({ago} ago). Going on asks again and closes it with proof."
        return wrapped(text, width, style="warn")
    found = check.resource
    if found is None:
        return wrapped(f"checked with {provider} {ago} ago: {message}", width, style="good")
    state = clean(found.raw_status) or found.state
    return wrapped(
        f"checked with {provider} {ago} ago: {state}, {rate_text(found.rate)}/h",
        width,
        style="good",
    )


def _unverified(provider: str, why: str, width: int) -> list[Line]:
    tail = f": {clean(why, _LONG)}" if why else ""
    return wrapped(f"COULD NOT VERIFY with {provider}{tail}", width, style="bad")


def _consequences(question: Confirmation, width: int) -> list[Line]:
    row = question.row
    thing = _THINGS.get(row.product or "", "resource")
    if question.hastens:
        return wrapped(
            "It is counting down already. Destroy now skips the rest of the wait, and z no longer helps.",
            width,
        )
    if question.kind == "cancel":
        text = f"Cancel stops the work. The {thing} stays, and what is rented bills on until it is destroyed (D)."
        return wrapped(text, width)
    stops = f"Destroying stops all billing of this {thing}, disk included."
    lost = "LOST  everything on its own disk"
    then = "It is done when complete listings no longer have it; until then it is shown as billing."
    return [
        *wrapped(stops, width),
        *wrapped(lost, width, style="warn"),
        *wrapped(then, width, style="dim"),
    ]


def _challenge(question: Confirmation, width: int) -> list[Line]:
    if question.refused or not question.challenge:
        return []
    blank = question.typed.ljust(len(question.expected), "_")
    here = question.focus == "challenge"
    ask = f"Type the last {len(question.expected)} of the id ({question.challenge}):"
    field = (Span("> " if here else "  ", "mark"), Span(f"[{blank}]", "cursor" if here else "bold"))
    return [*wrapped(ask, width), field, ()]


def _buttons(question: Confirmation) -> Line:
    word = (
        "Cancel the run"
        if question.kind == "cancel"
        else "Destroy now"
        if question.hastens
        else "Destroy"
    )
    no = " Back " if question.kind == "cancel" else " Cancel "
    yes = f" {word} " if question.can_confirm else f" {word} (not yet) "
    if question.refused:
        yes = ""
    on_no, on_yes = question.focus == "cancel", question.focus == "confirm"
    grace = (
        f"   then {GRACE_S:g} s to undo with z" if question.grace_s and question.can_confirm else ""
    )
    return line(
        "   ",
        Span(f">[{no}]<" if on_no else f" [{no}] ", "cursor" if on_no else ""),
        "   ",
        Span(
            (f">[{yes}]<" if on_yes else f" [{yes}] ") if yes else "",
            _yes_style(question, on=on_yes),
        ),
        Span(grace, "dim"),
    )


def _yes_style(question: Confirmation, *, on: bool) -> str:
    if on:
        return "alarm" if question.can_confirm else "cursor"
    return "bad" if question.can_confirm else "dim"
