"""The line at the bottom in which something is typed: a filter, a field of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.widgets import Input

from flashtui.ui.cells import Span, line
from flashtui.ui.lines import LineView

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from flashtui.ui.containment import Kit


class Prompt(Horizontal):
    """A label, an input, and room for a sentence about what was typed."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(id="prompt")
        self.kit = kit
        self.topic = ""
        self.label = LineView(kit, id="prompt-label")
        self.input = Input(id="prompt-input", compact=True, select_on_focus=False)
        self.input.cursor_blink = False
        self.remark = LineView(kit, id="prompt-remark")
        self.display = False

    def compose(self) -> ComposeResult:
        """Label, input, remark."""
        yield self.label
        yield self.input
        yield self.remark

    @property
    def is_open(self) -> bool:
        """Whether something is being typed."""
        return self.display

    def ask(self, topic: str, label: str, value: str) -> None:
        """Open with a value to change."""
        self.topic = topic
        self.label.styles.width = len(label) + 1
        self.label.show([line(Span(label, "key"))])
        self.say("")
        with self.input.prevent(Input.Changed):
            self.input.value = value
            self.input.cursor_position = len(value)
        self.display = True

    def say(self, text: str) -> None:
        """A sentence beside the input; empty: none."""
        self.remark.styles.width = len(text) + 1
        self.remark.show([line(Span(text, "warn"))])

    def close(self) -> None:
        """Take it away."""
        self.topic = ""
        self.display = False
