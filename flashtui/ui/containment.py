"""Faults of our own on the screen: contained where they happen, logged, and shown as health instead of ending anything."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

    from flashtui.domain.clock import Clock
    from flashtui.ui.paint import Paint

_log = logging.getLogger(__name__)
_MOST_KINDS = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """The newest fault: where, which kind, when, and how many of them so far."""

    what: str
    kind: str
    at: datetime
    count: int


class Faults:
    """Collects faults of the screen; one place decides what happens to them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.newest: Fault | None = None
        self._logged: set[tuple[str, str]] = set()

    def record(self, what: str, error: BaseException) -> None:
        """Remember and log one; a fault that repeats itself is logged once, not once per frame."""
        kind = type(error).__name__
        count = 1 if self.newest is None else self.newest.count + 1
        self.newest = Fault(what, kind, self._clock.now(), count)
        if (what, kind) not in self._logged and len(self._logged) < _MOST_KINDS:
            self._logged.add((what, kind))
            _log.error("screen: %s failed", what, exc_info=error)

    def contained(self, what: str) -> _Contained:
        """Run a block whose failure must not end the dashboard."""
        return _Contained(self, what)


class _Contained:
    """The one edge between a fault of ours and Textual's exit; cancellation and exits pass through."""

    def __init__(self, faults: Faults, what: str) -> None:
        self._faults = faults
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._faults.record(self._what, error)
        return True


@dataclass(frozen=True, slots=True)
class Kit:
    """What every widget of the dashboard is handed."""

    paint: Paint
    clock: Clock
    faults: Faults
