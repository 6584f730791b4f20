"""Style names to terminal styles, and the characters to draw with, for the theme in use.

Colour never carries a meaning alone: every role that says something also has a word or a mark where it is used, and
every theme without colours tells the roles apart by attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style

from flashtui.ui.themes import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashtui.ui.cells import Span


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Every character beyond letters and digits that the program draws itself."""

    ascii_only: bool
    horizontal: str
    top_left: str
    top_right: str
    ellipsis: str
    up: str
    down: str
    branch: str
    more_left: str
    more_right: str
    bullet: str
    ascending: str
    descending: str


UNICODE = Glyphs(
    ascii_only=False,
    horizontal="─",
    top_left="┌",
    top_right="┐",
    ellipsis="…",
    up="^",
    down="v",
    branch="└ ",
    more_left="<",
    more_right=">",
    bullet="·",
    ascending="^",
    descending="v",
)
ASCII = Glyphs(
    ascii_only=True,
    horizontal="-",
    top_left="+",
    top_right="+",
    ellipsis="..",
    up="^",
    down="v",
    branch="- ",
    more_left="<",
    more_right=">",
    bullet="|",
    ascending="^",
    descending="v",
)


@lru_cache(maxsize=8)
def _styles(theme: str, *, no_color: bool) -> MappingProxyType[str, Style]:
    roles = ROLES["plain" if no_color else theme]
    # Textual lays no background under lines that a widget draws itself.
    base = Style.parse(roles[""])
    return MappingProxyType({role: base + Style.parse(text) for role, text in roles.items()})


class Paint:
    """What every widget draws with; one object, so that a change of theme reaches all of them.

    Args:
        theme: a name in :data:`flashtui.ui.themes.ROLES`.
        ascii_only: draw and show ASCII only; other characters of outside text become ``?``.
        no_color: attributes only.
    """

    def __init__(self, theme: str, *, ascii_only: bool = False, no_color: bool = False) -> None:
        self.glyphs = ASCII if ascii_only else UNICODE
        self._no_color = no_color
        self.use(theme)

    def use(self, theme: str) -> None:
        """Switch to a theme."""
        self._roles = dict(_styles(theme, no_color=self._no_color))

    def style(self, role: str) -> Style:
        """The style of a role; several roles joined by a blank add up from left to right."""
        found = self._roles.get(role)
        if found is None:
            found = Style.combine(self._roles[part] for part in role.split())
            self._roles[role] = found
        return found

    def fit(self, text: str, width: int, *, right: bool = False) -> str:
        """Text in exactly ``width`` cells: padded, or cut with an ellipsis; wide characters are counted as such."""
        return _fit(text, width, right, self.glyphs.ascii_only, self.glyphs.ellipsis)

    def segments(self, spans: Iterable[Span], width: int, *, rest: str = "") -> list[Segment]:
        """Spans as segments that fill exactly ``width`` cells, neighbours of one style joined.

        Args:
            spans: from left to right; what does not fit is cut.
            width: cells.
            rest: the role of what is left over at the right.
        """
        pieces: list[tuple[str, str]] = []
        left = width
        for text, role in spans:
            shown = self.plain(text)
            cells = cell_len(shown)
            if cells > left:
                shown, cells = self.fit(shown, left), left
            left -= cells
            if pieces and pieces[-1][1] == role:
                pieces[-1] = (pieces[-1][0] + shown, role)
            elif shown:
                pieces.append((shown, role))
            if left == 0:
                break
        if left:
            pieces.append((" " * left, rest))
        return [Segment(text, self.style(role)) for text, role in pieces]

    def plain(self, text: str) -> str:
        """Text as this terminal can show it."""
        if self.glyphs.ascii_only and not text.isascii():
            return text.encode("ascii", "replace").decode("ascii")
        return text


@lru_cache(maxsize=4096)
def _fit(text: str, width: int, right: bool, ascii_only: bool, ellipsis: str) -> str:  # noqa: FBT001 - cached: positional
    if width <= 0:
        return ""
    if ascii_only and not text.isascii():
        text = text.encode("ascii", "replace").decode("ascii")
    cells = len(text) if text.isascii() else cell_len(text)
    if cells > width:
        mark = ellipsis if width > len(ellipsis) else ""
        text = set_cell_size(text, width - len(mark)) + mark
        cells = width
    padding = " " * (width - cells)
    return padding + text if right else text + padding
