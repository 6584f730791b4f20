"""What the dashboard needs of the rest of the program, and nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.domain.clock import Clock
    from flashtui.domain.operation import Operation, Target
    from flashtui.domain.run import Resource
    from flashtui.services.board import Board
    from flashtui.services.plan import PlanJob

LiveStatus: TypeAlias = Literal["found", "absent", "changed", "unverified"]


class LiveCheckPort(Protocol):
    """What a look at a target, just before it is acted on, has found.

    ``found``: there, and the same as shown. ``absent``: a listing lacks it. ``changed``: the id now belongs to something
    else. ``unverified``: the provider did not answer; ``message`` says why.
    """

    @property
    def status(self) -> LiveStatus:
        """The verdict."""
        ...

    @property
    def resource(self) -> Resource | None:
        """As found; None when there is nothing to show."""
        ...

    @property
    def message(self) -> str:
        """One sentence."""
        ...

    @property
    def checked_at(self) -> datetime:
        """When the provider answered, or gave up."""
        ...


class ControlPort(Protocol):
    """Operations; they are owned by a service, so that closing the screen ends none of them."""

    async def reread(self, target: Target) -> LiveCheckPort:
        """Look at a target once more, within about three seconds."""
        ...

    async def destroy(self, target: Target, *, actor: str, grace_s: float = 0.0) -> Operation:
        """Ask for a teardown; returns once the intent is recorded."""
        ...

    async def cancel(self, target: Target, *, actor: str) -> Operation:
        """Ask for a stop of the work; returns once the intent is recorded."""
        ...

    async def withdraw(self, op_id: str) -> bool:
        """Take back an operation inside its grace; False: too late."""
        ...

    async def hasten(self, op_id: str) -> None:
        """Skip the rest of the grace of an operation."""
        ...


class SessionPort(Protocol):
    """A running session, as far as a screen may see it."""

    @property
    def board(self) -> Board:
        """Where the newest snapshot lies."""
        ...

    @property
    def control(self) -> ControlPort:
        """Operations."""
        ...

    @property
    def clock(self) -> Clock:
        """The clock that everything in this session asks."""
        ...

    def set_job(self, job: PlanJob) -> None:
        """Let the allocation preview follow another job."""
        ...

    def refresh(self) -> None:
        """Ask all sources now."""
        ...

    def acknowledge(self, alert_key: str) -> None:
        """Take an alert off the alert line."""
        ...
