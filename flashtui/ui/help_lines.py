"""The help as lines: the keys that are live here, and what the marks mean; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.ui.cells import Line, Span, line
from flashtui.ui.keys import PANES, keys_in
from flashtui.ui.parts import Part, fit_parts, line_cells

if TYPE_CHECKING:
    from flashtui.ui.keys import PaneName

PANE_TITLES: dict[PaneName, str] = {
    "market": "Market",
    "runs": "Runs",
    "plan": "Plan",
    "events": "Events",
}
_MARKS = (
    (">", "the cursor; ~ the row it was on has gone, nothing is chosen"),
    ("*", "what the allocator would take for the job in the plan"),
    ("!", "costs money for nothing, or may still bill"),
    ("?", "rented, but by no run of this store; as a number: unknown"),
    ("~ 0.69", "an estimate, or a price from a built-in list"),
    ("v ^", "the price has fallen or risen lately"),
    ("STALE", "older than two refreshes; UNKNOWN: older than ten, the number is withheld"),
)
_CAPTION = 12


def help_lines(pane: PaneName, *, read_only: bool) -> list[Line]:
    """Everything that can be pressed in a pane, then the marks."""
    lines: list[Line] = [
        (Span(f" {key.caption:<{_CAPTION}} ", "key"), Span(key.help))
        for key in keys_in(pane, read_only=read_only)
    ]
    if read_only:
        lines.append(
            line(Span(f" {'':<{_CAPTION}} read-only: cancel, destroy and undo are off", "warn"))
        )
    lines += [(), line(Span(" Marks", "bold"))]
    lines += [(Span(f" {mark:<{_CAPTION}} ", "key"), Span(text)) for mark, text in _MARKS]
    return lines


def footer_line(pane: PaneName, width: int, *, read_only: bool) -> Line:
    """The keys of a pane that fit; help and quit stay to the end."""
    parts = []
    for key in keys_in(pane, read_only=read_only):
        if not key.label:
            continue
        weight = {"help": 9, "quit": 8, "cancel": 7, "destroy": 7}.get(key.label, 5)
        parts.append(Part(line(Span(key.caption.split()[0], "key"), f" {key.label}"), weight))
    return fit_parts(parts, width)


def tab_line(active: PaneName, counts: dict[PaneName, str], health: Line, width: int) -> Line:
    """The panes as tabs, with the health of the sources at the end of the line."""
    parts = []
    for number, name in enumerate(PANES, 1):
        text = f"{number} {PANE_TITLES[name]}{counts.get(name, '')}"
        here = name == active
        parts.append(
            Part(line(Span(f"[{text}]" if here else f" {text} ", "title.focus" if here else "dim")))
        )
    tabs = fit_parts(parts, width, gap=0)
    room = width - line_cells(tabs) - line_cells(health)
    return (*tabs, Span(" " * room), *health) if room >= 1 else tabs
