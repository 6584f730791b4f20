"""From the question to the request: re-reads the target, leads keys to the question, and asks the service.

Nothing here owns an operation: the service does, so that quitting in the middle of it ends nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from flashtui.domain.errors import FlashtuiError
from flashtui.domain.text import clean
from flashtui.ui.confirmation import Confirmation
from flashtui.ui.run_columns import name

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from textual.geometry import Size

    from flashtui.domain.operation import Operation, OperationKind
    from flashtui.services.board import RunRow, Snapshot
    from flashtui.ui.containment import Faults
    from flashtui.ui.panels.overlays import ConfirmBox
    from flashtui.ui.ports import SessionPort

ACTOR = "tui"
MIN_WIDTH = 60
MIN_HEIGHT = 20


class OperationDesk:
    """Everything between the key and the service.

    Args:
        session: whose control is asked.
        faults: where faults of ours go.
        box: the question on the screen.
        size: of the screen now.
        say: shows a person one sentence: text and style.
        run: starts a coroutine that outlives the key, but not the program.
    """

    def __init__(
        self,
        session: SessionPort,
        faults: Faults,
        box: ConfirmBox,
        size: Callable[[], Size],
        say: Callable[[str, str], None],
        run: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._session = session
        self._faults = faults
        self._box = box
        self._size = size
        self._say = say
        self._run = run

    @property
    def is_open(self) -> bool:
        """Whether a question is on the screen."""
        return self._box.is_open

    def ask(self, kind: OperationKind, row: RunRow, *, unsaved: bool) -> None:
        """Open the question about a row, and look at its target once more."""
        if row.target is None:
            return
        if not self._fits():
            self._say(f"{kind} needs {MIN_WIDTH}x{MIN_HEIGHT} to show what it is about", "warn")
            return
        opened_at = self._session.clock.monotonic()
        question = Confirmation(kind, row, row.target, opened_at, unsaved=unsaved)
        self._box.ask(question, self._size())
        self._run(self._reread(question))

    def press(self, key: str, character: str | None) -> None:
        """A key while the question is open."""
        question = self._box.question
        if question is None:
            return
        outcome = question.press(key, character, self._session.clock.monotonic())
        if outcome == "open":
            self._box.redraw(self._size())
            return
        self._box.close()
        if outcome == "confirmed":
            self._run(self._send(question))
        else:
            self._say(f"{name(question.row)}: nothing was done", "dim")

    def time_passed(self) -> None:
        """A second has passed, or the size has changed."""
        question = self._box.question
        if question is None:
            return
        if not self._fits():
            self._box.close()
            self._say(
                f"{name(question.row)}: nothing was done, the screen is too small to ask", "warn"
            )
            return
        question.time_passed(self._session.clock.monotonic())
        self._box.redraw(self._size())

    def _fits(self) -> bool:
        width, height = self._size()
        return width >= MIN_WIDTH and height >= MIN_HEIGHT

    def undo(self, op: Operation) -> None:
        """Take an operation back while it is counting down."""
        self._run(self._withdraw(op))

    async def _reread(self, question: Confirmation) -> None:
        try:
            check = await self._session.control.reread(question.target)
        except FlashtuiError as error:
            question.check_failed = clean(error)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the target is then unverified
            question.check_failed = "the check failed"
            self._faults.record("re-reading the target", error)
        else:
            question.answered(check)
        if self._box.question is question:
            self._box.redraw(self._size())

    async def _send(self, question: Confirmation) -> None:
        who = name(question.row)
        try:
            # Shielded: quitting while the intent is being written must not stop it half-way.
            if question.hastens:
                await asyncio.shield(self._session.control.hasten(question.hastens))
                self._say(f"{who}: the wait is skipped", "good")
                return
            op = await asyncio.shield(self._requested(question))
        except FlashtuiError as error:
            self._say(f"{who}: {question.kind} was NOT accepted: {clean(error)}", "bad")
        except Exception as error:  # noqa: BLE001 - a fault of ours must not look like an accepted request
            self._faults.record(f"asking for a {question.kind}", error)
            self._say(f"{who}: {question.kind} may not have been accepted, look at the row", "bad")
        else:
            undo = f"; z takes it back for {question.grace_s:g} s" if op.not_before else ""
            self._say(f"{who}: {question.kind} accepted{undo}", "good")

    def _requested(self, question: Confirmation) -> Coroutine[Any, Any, Operation]:
        control = self._session.control
        if question.kind == "cancel":
            return control.cancel(question.target, actor=ACTOR)
        return control.destroy(question.target, actor=ACTOR, grace_s=question.grace_s)

    async def _withdraw(self, op: Operation) -> None:
        who = clean(op.target.label or op.target.run_id or op.target.resource_id)
        try:
            taken_back = await asyncio.shield(self._session.control.withdraw(op.op_id))
        except FlashtuiError as error:
            self._say(f"{who}: could not be taken back: {clean(error)}", "bad")
            return
        if taken_back:
            self._say(f"{who}: {op.kind} taken back", "good")
        else:
            self._say(f"{who}: too late, the {op.kind} has been sent", "bad")


def pending_operation(snapshot: Snapshot, row: RunRow | None) -> Operation | None:
    """What ``z`` would take back: the chosen row's, else the newest one that is still counting down."""
    if row is not None and row.operation is not None and row.operation.phase == "pending":
        return row.operation
    waiting = [op for op in snapshot.operations if op.phase == "pending"]
    return max(waiting, key=lambda op: op.requested_at, default=None)
