"""LineView: a widget that shows lines of styled spans and repaints only what changed in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from flashtui.ui.cells import EMPTY_LINE, Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.segment import Segment

    from flashtui.ui.containment import Kit

_WHEEL_LINES = 3


class QuietWidget(Widget):
    """Draws line by line; a fault while drawing spoils one line, not the program.

    Args:
        kit: paint, clock and faults of the dashboard.
    """

    DEFAULT_CSS = "QuietWidget { height: 1; width: 1fr; }"

    def __init__(self, kit: Kit, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.kit = kit
        self.paint = kit.paint

    def draw_line(self, y: int, width: int) -> list[Segment]:
        """The segments of one line of this widget, exactly ``width`` cells."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """One line, contained."""
        width = self.size.width
        with self.kit.faults.contained(f"drawing {self.id or type(self).__name__}"):
            return Strip(self.draw_line(y, width), width)
        return Strip.blank(width)

    def focus_changed(self) -> None:
        """The keys have come or gone; whoever looks different then says what to repaint."""

    def on_focus(self, event: events.Focus) -> None:
        """Take the keys without a repaint of the whole widget, which is what Textual would do."""
        event.prevent_default()
        self._focus(to=True)
        if self.parent is not None:
            self.parent.post_message(events.DescendantFocus(self))

    def on_blur(self, event: events.Blur) -> None:
        """Lose the keys without a repaint of the whole widget."""
        event.prevent_default()
        self._focus(to=False)
        if self.parent is not None:
            self.parent.post_message(events.DescendantBlur(self))

    def _focus(self, *, to: bool) -> None:
        self.has_focus = to
        self.focus_changed()

    def repaint_span(self, y: int, start: int, end: int) -> None:
        """Ask for a part of one line to be drawn again."""
        if end > start:
            self.refresh(Region(start, y, end - start, 1))


class LineView(QuietWidget):
    """Lines of text, scrolled by whole lines when there are more than fit."""

    def __init__(
        self,
        kit: Kit,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
        focusable: bool = False,
    ) -> None:
        super().__init__(kit, id=id, classes=classes)
        self.can_focus = focusable
        self.lines: Sequence[Line] = ()
        self.top = 0

    def show(self, lines: Sequence[Line]) -> None:
        """Show other lines; only the parts that differ are repainted."""
        before, top = self.lines, self.top
        self.lines = lines
        self.top = self._held(top)
        if self.top != top:
            self.refresh()
            return
        for y in range(self.size.height):
            self._compare(y, _at(before, top + y), _at(lines, top + y))

    def show_line(self, *spans: Line) -> None:
        """Show these lines, given one by one."""
        self.show(spans)

    def draw_line(self, y: int, width: int) -> list[Segment]:
        """The line at ``y`` of the part in view."""
        return self.paint.segments(_at(self.lines, self.top + y), width)

    def scroll_lines(self, delta: int) -> bool:
        """Move the view; True when it moved."""
        top = self._held(self.top + delta)
        moved = top != self.top
        if moved:
            self.top = top
            self.refresh()
        return moved

    def move(self, how: str) -> None:
        """Scroll as a movement key says: ``up down page_up page_down half_up half_down top bottom``."""
        page = max(1, self.size.height - 1)
        steps = {
            "up": -1,
            "down": 1,
            "page_up": -page,
            "page_down": page,
            "half_up": -page // 2,
            "half_down": page // 2,
            "top": -len(self.lines),
            "bottom": len(self.lines),
        }
        self.scroll_lines(steps.get(how, 0))

    def on_resize(self) -> None:
        """A taller view may show more than was scrolled out."""
        top = self._held(self.top)
        if top != self.top:
            self.top = top
            self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Wheel."""
        event.stop()
        self.scroll_lines(_WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Wheel."""
        event.stop()
        self.scroll_lines(-_WHEEL_LINES)

    def _held(self, top: int) -> int:
        return max(0, min(top, len(self.lines) - self.size.height))

    def _compare(self, y: int, before: Line, after: Line) -> None:
        if before == after:
            return
        width = self.size.width
        start, end = _changed_span(before, after)
        self.repaint_span(y, min(start, width), width if end is None else min(end, width))


def _at(lines: Sequence[Line], index: int) -> Line:
    return lines[index] if 0 <= index < len(lines) else EMPTY_LINE


def _changed_span(before: Line, after: Line) -> tuple[int, int | None]:
    """From which cell to which one two lines differ; None: to the end of the line."""
    head = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        head += 1
    start = sum(cell_len(span.text) for span in after[:head])
    if len(before) != len(after):
        return start, None
    tail = len(after)
    while tail > head and before[tail - 1] == after[tail - 1]:
        tail -= 1
    changed_before = sum(cell_len(span.text) for span in before[head:tail])
    changed_after = sum(cell_len(span.text) for span in after[head:tail])
    if changed_before != changed_after:
        return start, None
    return start, start + changed_after
