"""FlashApp: follows the board, keeps time, holds the theme, and survives faults of its own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App

from flashtui.domain.text import clean
from flashtui.ui.containment import Faults, Kit
from flashtui.ui.crash import write_report
from flashtui.ui.output import cropped
from flashtui.ui.paint import Paint
from flashtui.ui.screens.dashboard import Dashboard
from flashtui.ui.themes import ANSI_THEME, DEFAULT_THEME, THEMES, theme_after

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rich.console import RenderableType
    from textual.actions import ActionParseResult
    from textual.dom import DOMNode
    from textual.driver import Driver
    from textual.screen import Screen

    from flashtui.services.board import Snapshot
    from flashtui.ui.ports import SessionPort

CRASHED = 70
_log = logging.getLogger(__name__)


class FlashApp(App[None], inherit_bindings=False):
    """The dashboard program.

    Args:
        session: what is shown and asked.
        theme: a name in :data:`flashtui.ui.themes.THEMES`; anything else is the default.
        ascii_only: draw with ASCII only.
        no_color: send no colour at all; attributes carry the difference.
        tick_s: how often ages are drawn; None: never (pictures).
        resize_settle_s: how long a size has to hold still before the layout follows; 0: at once.
        report_dir: where a report of a crash is written; None: nowhere.
        redact: takes secrets out of a text.
        driver_class: how the terminal is driven; None: Textual's choice.
    """

    TITLE = "flashtui"
    CSS_PATH: ClassVar = "screens/dashboard.tcss"
    ENABLE_COMMAND_PALETTE = False
    ESCAPE_TO_MINIMIZE = False
    BINDINGS: ClassVar = []

    def __init__(
        self,
        session: SessionPort,
        *,
        theme: str | None = None,
        ascii_only: bool = False,
        no_color: bool = False,
        tick_s: float | None = 1.0,
        resize_settle_s: float = 0.15,
        report_dir: Path | None = None,
        redact: Callable[[str], str] = str,
        driver_class: type[Driver] | None = None,
    ) -> None:
        chosen = theme if theme is not None and theme in THEMES else DEFAULT_THEME
        if no_color and not THEMES[chosen].ansi:
            chosen = ANSI_THEME
        # Textual decides on its colour filters while it is being made, by the theme it finds then.
        self.set_reactive(FlashApp.theme, chosen)
        super().__init__(driver_class=driver_class)
        for known in THEMES.values():
            self.register_theme(known)
        self.stylesheet.set_variables(self.get_css_variables())
        self.session = session
        self.kit = Kit(
            Paint(chosen, ascii_only=ascii_only, no_color=no_color),
            session.clock,
            Faults(session.clock),
        )
        self.ascii_only = ascii_only
        self._unknown_theme = theme if theme not in {None, *THEMES} else None
        self.report_file: Path | None = None
        self._no_color = no_color
        self._tick_s = tick_s
        self._resize_settle_s = resize_settle_s
        self._report_dir = report_dir
        self._redact = redact
        self._dashboard: Dashboard | None = None

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours of our own that a theme of Textual's lacks."""
        return {"frame": "#808080", "frame-focus": "#ffffff"}

    def get_default_screen(self) -> Screen[Any]:
        """The dashboard is the one screen."""
        self._dashboard = Dashboard(self.session, self.kit, resize_settle_s=self._resize_settle_s)
        return self._dashboard

    def on_mount(self) -> None:
        """Start to follow the board and the clock."""
        self.run_worker(self._follow(), exit_on_error=False, group="board", name="board")
        if self._unknown_theme is not None and self._dashboard is not None:
            named = (
                f"there is no theme {clean(self._unknown_theme, 30)}; there are {', '.join(THEMES)}"
            )
            self._dashboard.say(named, "warn")
        if self._tick_s is not None:
            self.set_interval(self._tick_s, self.tick)

    async def _follow(self) -> None:
        with self.kit.faults.contained("following the board"):
            async for snapshot in self.session.board.changes():
                self.show(snapshot)

    def show(self, snapshot: Snapshot) -> None:
        """Show one snapshot; a fault in it costs this picture, not the next."""
        dashboard = self._dashboard
        if dashboard is None or not dashboard.is_mounted:
            return
        with self.kit.faults.contained("showing a snapshot"), self.batch_update():
            dashboard.show(snapshot)

    def tick(self) -> None:
        """A second has passed."""
        dashboard = self._dashboard
        if dashboard is None or not dashboard.is_mounted:
            return
        with self.kit.faults.contained("the clock tick"), self.batch_update():
            dashboard.tick()

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do what a key says; a fault in it costs this key, not the program."""
        with self.kit.faults.contained(f"the key for {action}"):
            return await super().run_action(action, default_namespace, namespaces)
        return True

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Send a picture, or the part of it that changed."""
        super()._display(screen, cropped(renderable))

    def next_theme(self) -> str:
        """Switch to the next theme and return its name."""
        name = theme_after(self.theme, ansi_only=self._no_color)
        self.kit.paint.use(name)
        self.theme = name
        return name

    def _handle_exception(self, error: Exception) -> None:
        """End on a fault that nobody contained; what comes after the first one is only logged."""
        if self._exit:
            _log.error("after the end: %s", type(error).__name__, exc_info=error)
            return
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Write a report without locals, which may hold keys, and say so in two lines."""
        error = self._exception
        if error is None:
            return
        _log.error("the dashboard ended", exc_info=error)
        sentences, self.report_file = write_report(
            error, self._report_dir, self.session.clock.now(), self._redact
        )
        self._return_code = CRASHED
        self._exit_renderables.append(sentences)
        self._close_messages_no_wait()
