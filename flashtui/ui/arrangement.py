"""Which panes are on the screen at which size; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from flashtui.ui.keys import PANES

if TYPE_CHECKING:
    from flashtui.ui.keys import PaneName

Kind: TypeAlias = Literal["sliver", "single", "multi", "wide"]
SLIVER_BELOW = 60
SINGLE_BELOW = 100
WIDE_FROM = 160
SHORT_BELOW = 20
MULTI_ROWS = 32
WIDE_ROWS = 44


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A way to use the screen.

    Attributes:
        kind: ``sliver`` one-liners, ``single`` one pane and tabs, ``multi`` four panes, ``wide`` with a detail pane.
        short: no room for a strip below the list.
        status_lines: how many; where there are two, the alert takes the place of the health.
        panes: what is shown.
    """

    kind: Kind
    short: bool
    status_lines: int
    panes: tuple[PaneName, ...]

    @property
    def framed(self) -> bool:
        """Whether panes have frames."""
        return self.kind in {"multi", "wide"}


def arrange(width: int, height: int, active: PaneName, *, zoomed: bool) -> Arrangement:
    """How a terminal of this size is used."""
    kind = _kind(width, height)
    if zoomed and kind != "single":
        kind = "single"
    panes: tuple[PaneName, ...] = PANES
    if kind == "sliver":
        panes = ()
    elif kind == "single":
        panes = (active,)
    short = height < SHORT_BELOW
    return Arrangement(kind, short, 2 if short or width < SINGLE_BELOW else 3, panes)


def _kind(width: int, height: int) -> Kind:
    if width < SLIVER_BELOW:
        return "sliver"
    if width >= WIDE_FROM and height >= WIDE_ROWS:
        return "wide"
    if width >= SINGLE_BELOW and height >= MULTI_ROWS:
        return "multi"
    return "single"
