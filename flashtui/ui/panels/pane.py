"""Pane: a heading, a body that can have the keys, and a strip below it; what all four panes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical

from flashtui.ui.cells import Line, Span, age_text, line
from flashtui.ui.help_lines import PANE_TITLES
from flashtui.ui.keys import PANES
from flashtui.ui.lines import LineView, QuietWidget
from flashtui.ui.parts import Part, fit_parts, line_cells

if TYPE_CHECKING:
    from datetime import datetime

    from textual.app import ComposeResult

    from flashtui.services.board import Snapshot
    from flashtui.ui.columns import Look
    from flashtui.ui.containment import Kit
    from flashtui.ui.keys import PaneName
    from flashtui.ui.paint import Glyphs


class Pane(Vertical):
    """One of the four panes.

    Args:
        kit: paint, clock and faults of the dashboard.
        pane: which one.

    Attributes:
        framed: drawn with a frame, as in layouts with several panes.
        query_text: the filter as typed.
        frozen_at: since when it is held still; None: it is not.
    """

    # What is rented must never look as it no longer is: there, freezing holds the order only.
    FREEZES_CONTENT: ClassVar = True

    def __init__(self, kit: Kit, pane: PaneName) -> None:
        super().__init__(id=pane, classes="pane")
        self.kit = kit
        self.pane = pane
        self.framed = False
        self.query_text = ""
        self.frozen_at: datetime | None = None
        self.heading = LineView(kit, id=f"{pane}-heading", classes="heading")
        self.strip = LineView(kit, id=f"{pane}-strip", classes="strip")
        self.body = self.make_body()
        self.body.add_class("body")
        self._newest: Snapshot | None = None

    def compose(self) -> ComposeResult:
        """Heading, body, strip."""
        yield self.heading
        with Vertical(classes="frame"):
            yield self.body
            yield self.strip

    # -- to be said by each pane -------------------------------------------------------------------------------------

    def make_body(self) -> QuietWidget:
        """The widget that has the keys."""
        raise NotImplementedError

    def apply(self, snapshot: Snapshot, look: Look) -> None:
        """Show a snapshot."""
        raise NotImplementedError

    def pass_time(self, look: Look) -> None:
        """Let a second pass."""
        raise NotImplementedError

    def summary(self) -> list[Part]:
        """What the heading says beside the name."""
        return []

    def detail(self, _look: Look, _width: int) -> list[Line]:
        """The whole of what the cursor is on; empty where there is nothing to say."""
        return []

    def subject(self) -> str:
        """The name of what the cursor is on."""
        return ""

    def aside(self, _look: Look) -> Line:
        """What the heading says at its right end."""
        return ()

    def count(self) -> str:
        """What the tab says after the name, e.g. `` 143``."""
        return ""

    def move(self, how: str) -> None:
        """A movement key."""
        raise NotImplementedError

    def refilter(self, query: str) -> None:
        """Another filter, possibly half typed."""
        self.query_text = query

    # -- common ------------------------------------------------------------------------------------------------------

    @property
    def newest(self) -> Snapshot | None:
        """The newest snapshot, shown or held back."""
        return self._newest

    def show(self, snapshot: Snapshot, look: Look) -> None:
        """Take the newest snapshot; a frozen pane only remembers it."""
        self._newest = snapshot
        if self.frozen_at is None or not self.FREEZES_CONTENT:
            with self.kit.faults.contained(f"{self.pane} pane"):
                self.apply(snapshot, look)
        self.draw_around(look)

    def tick(self, look: Look) -> None:
        """A second has passed."""
        with self.kit.faults.contained(f"{self.pane} pane"):
            self.pass_time(look)
        self.draw_around(look)

    def toggle_freeze(self, look: Look) -> None:
        """Hold still, or catch up."""
        self.frozen_at = look.now if self.frozen_at is None else None
        if self.frozen_at is None and self._newest is not None:
            self.show(self._newest, look)
        else:
            self.draw_around(look)

    def draw_around(self, look: Look) -> None:
        """Heading and strip."""
        with self.kit.faults.contained(f"{self.pane} heading"):
            self._draw_heading(look)
            if self.strip.display and self.strip.size.width:
                self.strip.show(self.detail(look, self.strip.size.width))

    def _draw_heading(self, look: Look) -> None:
        width = self.heading.size.width
        parts = self.summary()
        if self.query_text:
            parts.append(Part(line(Span("filter ", "dim"), Span(self.query_text, "bold")), 7))
        if self.frozen_at is not None:
            held = age_text((look.now - self.frozen_at).total_seconds())
            word = "FROZEN" if self.FREEZES_CONTENT else "ORDER HELD"
            parts.insert(0, Part(line(Span(f" {word} {held} ", "tag")), 9))
        if not self.framed:
            self.heading.show([fit_parts(parts, width)])
            return
        focused = self.body.has_focus
        name = f"{PANES.index(self.pane) + 1} {PANE_TITLES[self.pane]}"
        self.heading.show(
            [
                frame_line(
                    self.kit.paint.glyphs,
                    name,
                    parts,
                    width,
                    focused=focused,
                    aside=self.aside(look),
                )
            ]
        )


def frame_line(
    glyphs: Glyphs,
    name: str,
    parts: list[Part],
    width: int,
    *,
    focused: bool = False,
    aside: Line = (),
) -> Line:
    """The upper edge of a frame with a name, what belongs beside it, and something at the right end."""
    frame = "frame.focus" if focused else "frame"
    title = Span(f"[{name}]" if focused else f" {name} ", "title.focus" if focused else "title")
    room = width - len(name) - 8
    inner = fit_parts([*parts, Part(aside, 6)], room)
    if aside and inner[-len(aside) :] == aside:
        inner = inner[: -len(aside) - 1]
    else:
        aside = ()
    edge = Span(glyphs.top_left + glyphs.horizontal, frame)
    left = (edge, title, Span("  " if inner else ""), *inner)
    end = (Span(" "), *aside, Span(f" {glyphs.horizontal}", frame)) if aside else ()
    rest = max(0, width - line_cells(left) - line_cells(end) - 2)
    corner = Span(glyphs.top_right, frame)
    return (*left, Span(f" {glyphs.horizontal * rest}", frame), *end, corner)
