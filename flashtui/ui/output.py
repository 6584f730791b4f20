"""What is sent to the terminal for a partial update: the part of a line that changed, from its first cell to its last.

Textual 8.2.8 starts at the left edge of the widget, so that one new number at the end of a row costs the whole row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import textual
from textual._compositor import ChopsUpdate, CompositorUpdate

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# The version whose inner structure this module has been tested with; with another one Textual does it its own way.
TESTED_WITH = "8.2.8"


class CroppedUpdate(CompositorUpdate):
    """The same update, cropped at both ends.

    Args:
        update: what Textual wants to send.
    """

    def __init__(self, update: ChopsUpdate) -> None:
        self._update = update

    def render_segments(self, console: Console) -> str:
        """Cursor movements and styled text."""
        pieces: list[str] = []
        update = self._update
        for y, start, end in update.spans:
            for chop_end, (x, strip) in zip(
                update.chop_ends[y], update.chops[y].items(), strict=False
            ):
                first, last = max(x, start), min(chop_end, end)
                if strip is None or last <= first:
                    continue
                part = strip.crop(first - x, last - x)
                pieces.append(f"\x1b[{y + 1};{first + 1}H{part.render(console)}")
        return "".join(pieces)


def cropped(renderable: RenderableType | CompositorUpdate | None) -> Any:
    """A partial update cropped at both ends; anything else as it is."""
    if isinstance(renderable, ChopsUpdate) and textual.__version__ == TESTED_WITH:
        return CroppedUpdate(renderable)
    return renderable
