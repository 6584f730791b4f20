"""The detail pane of wide screens: the whole of what the cursor is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical

from flashtui.ui.cells import line
from flashtui.ui.lines import LineView
from flashtui.ui.panels.pane import frame_line
from flashtui.ui.parts import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from flashtui.ui.cells import Line
    from flashtui.ui.containment import Kit


class DetailBox(Vertical):
    """Lines about one row, with a frame."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(id="detail")
        self.kit = kit
        self.heading = LineView(kit, id="detail-heading", classes="heading")
        self.view = LineView(kit, id="detail-view", classes="body")

    def compose(self) -> ComposeResult:
        """Heading and lines."""
        yield self.heading
        with Vertical(classes="frame"):
            yield self.view

    def show(self, subject: str, lines: Sequence[Line]) -> None:
        """Show other lines."""
        width = self.heading.size.width
        self.heading.show(
            [frame_line(self.kit.paint.glyphs, "Detail", [Part(line(subject))], width)]
        )
        self.view.show(lines)
