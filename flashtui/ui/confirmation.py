"""The state of one question before something irreversible: what may be pressed when, and what it means; no drawing.

Nothing that can be typed ahead, held down or hit by habit confirms: the keys sleep at first, the focus is on Cancel, and
where a mistake would cost somebody else's machine a part of its id has to be typed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from flashtui.domain.operation import OperationKind, Target
    from flashtui.services.board import RunRow
    from flashtui.ui.ports import LiveCheckPort

DEAD_S = 0.8
QUIET_S = 0.3
CHECK_WITHIN_S = 4.0
GRACE_S = 10.0
CHALLENGE_LENGTH = 4
Focus: TypeAlias = Literal["cancel", "challenge", "confirm"]
Outcome: TypeAlias = Literal["open", "cancelled", "confirmed"]
_FORWARD = frozenset({"tab", "right", "down"})
_BACK = frozenset({"shift+tab", "left", "up"})
_NO = frozenset({"escape", "q"})


@dataclass(slots=True)
class Confirmation:
    """One question about one target, both frozen at the keypress.

    Attributes:
        row: the row as it was shown when the key was pressed.
        opened_at: on the monotonic scale, as every ``at`` below.
        unsaved: the store cannot record the request.
        check: what the live re-read found; None: no answer yet.
    """

    kind: OperationKind
    row: RunRow
    target: Target
    opened_at: float
    unsaved: bool = False
    check: LiveCheckPort | None = None
    check_failed: str = ""
    typed: str = ""
    focus: Focus = "cancel"
    _wakes_at: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._wakes_at = self.opened_at + DEAD_S

    @property
    def expected(self) -> str:
        """What has to be typed: the end of the id."""
        return self.target.resource_id[-CHALLENGE_LENGTH:]

    @property
    def challenge(self) -> str:
        """Why the id has to be typed, in words; empty: it does not."""
        if self.unsaved:
            return "the request cannot be recorded"
        if self.check is None:
            return "it could not be checked" if self.check_failed else ""
        if self.check.status == "unverified":
            return "it could not be checked"
        return "it belongs to no run of this store" if self.row.kind == "foreign" else ""

    @property
    def refused(self) -> str:
        """Why it cannot be done at all; empty: it can."""
        if self.check is not None and self.check.status == "changed":
            return self.check.message or "this id now belongs to something else"
        return ""

    @property
    def waiting(self) -> bool:
        """Whether the provider is still being asked."""
        return self.check is None and not self.check_failed

    @property
    def can_confirm(self) -> bool:
        """Whether the button does anything."""
        if self.refused or self.waiting:
            return False
        return not self.challenge or (bool(self.expected) and self.typed == self.expected)

    @property
    def hastens(self) -> str | None:
        """The operation that is counting down already, whose wait a yes would skip; None: there is none."""
        op = self.row.operation
        return (
            op.op_id if op is not None and op.phase == "pending" and op.kind == self.kind else None
        )

    @property
    def grace_s(self) -> float:
        """How long it can be taken back: typing an id is thought enough, and a cancel is not irreversible."""
        return 0.0 if self.challenge or self.kind == "cancel" or self.hastens else GRACE_S

    def asleep(self, at: float) -> bool:
        """Whether keys are ignored now."""
        return at < self._wakes_at

    def answered(self, check: LiveCheckPort) -> None:
        """The provider has answered."""
        self.check = check

    def time_passed(self, at: float) -> bool:
        """Give up waiting for the provider when it takes too long; True when that changed anything."""
        if self.waiting and at - self.opened_at >= CHECK_WITHIN_S:
            self.check_failed = "no answer in time"
            return True
        return False

    def press(self, key: str, character: str | None, at: float) -> Outcome:
        """One key. Enter confirms only on the button, and only when the button is live."""
        if self.asleep(at):
            self._wakes_at = max(self._wakes_at, at + QUIET_S)
            return "open"
        if key in _FORWARD or key in _BACK:
            self._step(1 if key in _FORWARD else -1)
            return "open"
        if self.focus == "challenge" and self._typed_key(key, character):
            return "open"
        if key in _NO or (key == "enter" and self.focus == "cancel"):
            return "cancelled"
        if key == "enter" and self.focus == "confirm" and self.can_confirm:
            return "confirmed"
        return "open"

    def _typed_key(self, key: str, character: str | None) -> bool:
        if key == "backspace":
            self.typed = self.typed[:-1]
        elif character is not None and character.isprintable() and len(character) == 1:
            self.typed = (self.typed + character)[: len(self.expected)]
        else:
            return False
        return True

    def _step(self, by: int) -> None:
        stops: list[Focus] = ["cancel"]
        if self.challenge:
            stops.append("challenge")
        if not self.refused:
            stops.append("confirm")
        at = stops.index(self.focus) if self.focus in stops else 0
        self.focus = stops[(at + by) % len(stops)]
