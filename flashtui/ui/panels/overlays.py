"""What lies over the panes for a while: a sheet of lines, and the question before something irreversible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.ui.cells import Line, Span
from flashtui.ui.confirm_lines import confirm_lines, confirm_title, fitted
from flashtui.ui.lines import LineView
from flashtui.ui.parts import line_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.geometry import Size

    from flashtui.ui.confirmation import Confirmation
    from flashtui.ui.containment import Kit

_FRAME = 2
_PADDING = 2
_LEAST_WIDTH = 40
CONFIRM_WIDTH = 76


class Overlay(LineView):
    """A framed box above the panes, placed by hand so that everything around it stays readable."""

    def __init__(self, kit: Kit, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(kit, id=id, classes="overlay")
        self.display = False

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self.display

    def close(self) -> None:
        """Take it away."""
        self.display = False

    def open_at(self, lines: Sequence[Line], screen: Size, width: int) -> None:
        """Show lines in the middle of the screen."""
        height = min(len(lines) + _FRAME, screen.height)
        self.styles.width = width
        self.styles.height = height
        self.styles.offset = ((screen.width - width) // 2, max(0, (screen.height - height) // 2))
        self.show(lines)
        self.display = True


class Sheet(Overlay):
    """Lines to read: the help, an explanation."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(kit, id="sheet")
        self.topic = ""
        self._title = ""
        self._text: Sequence[Line] = ()

    def open_sheet(self, topic: str, title: str, lines: Sequence[Line], screen: Size) -> None:
        """Show lines about a topic."""
        self.topic = topic
        self.top = 0
        self._title = title
        self._text = lines
        self.place(screen)

    def place(self, screen: Size) -> None:
        """As wide as the lines need, as high as there is room."""
        lines, title = self._text, self._title
        wanted = max((line_cells(row) for row in lines), default=0) + _FRAME + _PADDING
        width = min(max(wanted, len(title) + _FRAME + _PADDING, _LEAST_WIDTH), screen.width)
        more = "   j and k scroll" if len(lines) + 2 + _FRAME > screen.height else ""
        head: list[Line] = [(Span(f" {title}", "title.focus"), Span(more, "dim")), ()]
        self.open_at([*head, *((Span(" "), *row) for row in lines)], screen, width)


class ConfirmBox(Overlay):
    """The question; the keys are led to it by the screen for as long as it is open."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(kit, id="confirm")
        self.question: Confirmation | None = None

    def ask(self, question: Confirmation, screen: Size) -> None:
        """Open."""
        self.question = question
        self.top = 0
        self.redraw(screen)

    def redraw(self, screen: Size) -> None:
        """Show the question as it stands."""
        if self.question is None:
            return
        width = min(CONFIRM_WIDTH, screen.width)
        inner = width - _FRAME - _PADDING
        rows = confirm_lines(self.question, self.kit.clock.now(), inner)
        head: list[Line] = [(Span(f" {confirm_title(self.question)} ", "alarm"),), ()]
        shown = fitted([*head, *rows], screen.height - _FRAME)
        self.open_at([(Span(" "), *row) for row in shown], screen, width)

    def close(self) -> None:
        """Take it away and forget the question."""
        super().close()
        self.question = None
