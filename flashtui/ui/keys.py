"""Every key of the dashboard in one table: it makes the bindings, the footer, the help and the list in the README."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

PaneName: TypeAlias = Literal["market", "runs", "plan", "events"]
PANES: tuple[PaneName, ...] = ("market", "runs", "plan", "events")
EVERYWHERE: tuple[PaneName, ...] = PANES
TABLES: tuple[PaneName, ...] = ("market", "runs")
_LISTS: tuple[PaneName, ...] = ("market", "runs", "events")


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that can be done, and how.

    Attributes:
        id: its name, for rebinding and tests.
        keys: as Textual names them; the first one is shown.
        action: what the dashboard does, as an action string.
        label: one word for the footer; empty: not in the footer.
        help: one sentence for the help.
        where: panes in which it is live.
        acts: asks for an operation, so it is gone in read-only mode.
        shown: how the keys are written for a person; empty: as they are.
    """

    id: str
    keys: tuple[str, ...]
    action: str
    label: str
    help: str
    where: tuple[PaneName, ...] = EVERYWHERE
    acts: bool = False
    shown: str = ""

    @property
    def caption(self) -> str:
        """The keys as a person writes them."""
        return self.shown or " ".join(self.keys)


KEYS: tuple[Key, ...] = (
    Key("filter", ("slash",), "filter", "filter",
        "filter the list: words, !not, ~fuzzy, vram>=80, prov=vast; Esc clears", _LISTS, shown="/"),
    Key("order", ("o",), "order(1)", "order", "order by the next column", TABLES),
    Key("reverse", ("O",), "order_reverse", "", "turn the order round", TABLES),
    Key("order_left", ("less_than_sign",), "order(-1)", "", "order by the previous column", TABLES, shown="<"),
    Key("order_right", ("greater_than_sign",), "order(1)", "", "order by the next column", TABLES, shown=">"),
    Key("open", ("enter",), "open", "open",
        "open or close the offers behind a row; change a field of the plan", ("market", "plan"), shown="Enter"),
    Key("mark", ("space",), "mark", "", "mark the row, so that it can be found again", ("market",), shown="Space"),
    Key("whole", ("u",), "whole_market", "", "the whole market, with boards that are not managed classes, and back",
        ("market",)),
    Key("cancel", ("x",), "cancel", "cancel",
        "cancel the run: its work stops, the machine bills on (asks first)", ("runs",), acts=True),
    Key("destroy", ("D",), "destroy", "destroy",
        "destroy the machine and prove it gone (asks first)", ("runs",), acts=True),
    Key("undo", ("z",), "undo", "undo", "take back a destroy that is still counting down", ("runs",), acts=True),
    Key("explain", ("e",), "explain", "explain", "why this row is or is not the pick; in the plan: every reason",
        ("market", "plan")),
    Key("previous", ("H", "left"), "sideways('left')", "",
        "scroll the columns back; in the plan: the previous value", shown="H left"),
    Key("next", ("L", "right"), "sideways('right')", "",
        "scroll the columns; in the plan: the next value", shown="L right"),
    Key("down", ("j", "down"), "move('down')", "", "down; in the plan: the next field", shown="j down"),
    Key("up", ("k", "up"), "move('up')", "", "up; in the plan: the previous field", shown="k up"),
    Key("top", ("g", "home"), "move('top')", "", "to the first row", shown="g Home"),
    Key("bottom", ("G", "end"), "move('bottom')", "", "to the last row", shown="G End"),
    Key("half_down", ("ctrl+d",), "move('half_down')", "", "half a page down; never destroys (that is D)"),
    Key("half_up", ("ctrl+u",), "move('half_up')", "", "half a page up"),
    Key("page_down", ("pagedown",), "move('page_down')", "", "a page down", shown="PgDn"),
    Key("page_up", ("pageup",), "move('page_up')", "", "a page up", shown="PgUp"),
    Key("pane_next", ("tab",), "pane_next(1)", "pane", "the next pane", shown="Tab"),
    Key("pane_previous", ("shift+tab",), "pane_next(-1)", "", "the previous pane", shown="shift+Tab"),
    Key("pane_1", ("1",), "pane('market')", "", "the market: prices by provider, product and class"),
    Key("pane_2", ("2",), "pane('runs')", "", "runs: what is rented now"),
    Key("pane_3", ("3",), "pane('plan')", "", "the plan: what a job would get"),
    Key("pane_4", ("4",), "pane('events')", "", "alerts and events"),
    Key("zoom", ("plus_sign", "underscore"), "zoom", "zoom", "one pane on the whole screen, and back", shown="+ _"),
    Key("freeze", ("p",), "freeze", "freeze", "hold the list still while reading (of the runs only the order)", _LISTS),
    Key("acknowledge", ("a",), "acknowledge", "", "acknowledge the alert on line 3"),
    Key("refresh", ("R", "ctrl+r"), "refresh_now", "refresh", "ask all providers now, also those that were given up"),
    Key("theme", ("t",), "theme_next", "", "the next colour theme"),
    Key("redraw", ("ctrl+l",), "redraw", "", "draw the whole screen again"),
    Key("help", ("question_mark", "f1"), "help", "help", "this list; the same key closes it", shown="? F1"),
    Key("back", ("escape",), "back", "", "back: close, clear the filter, leave the zoom", shown="Esc"),
    Key("leave", ("q",), "leave", "quit", "back, and at the top quit; a destroy under way goes on"),
    Key("quit", ("ctrl+q", "ctrl+c"), "leave_now", "", "quit at once; a destroy under way goes on"),
)  # fmt: skip


def keys_in(pane: PaneName, *, read_only: bool) -> list[Key]:
    """The keys that are live in a pane."""
    return [k for k in KEYS if pane in k.where and not (read_only and k.acts)]


def key_of_action(action: str) -> Key | None:
    """The entry behind an action name (without parameters)."""
    return next((k for k in KEYS if k.action.partition("(")[0] == action), None)


def conflicts(keys: Iterable[Key] = KEYS) -> list[str]:
    """Keys that would mean two things in one pane, as sentences; empty: none."""
    taken: dict[tuple[str, str], str] = {}
    found = []
    for key in keys:
        for pane in key.where:
            for name in key.keys:
                other = taken.setdefault((pane, name), key.id)
                if other != key.id:
                    found.append(f"{name} is both {other} and {key.id} in {pane}")
    return found


def markdown_rows(keys: Iterable[Key] = KEYS) -> list[str]:
    """The rows of the README's table."""
    return [f"| `{key.caption}` | {key.help} |" for key in keys]
