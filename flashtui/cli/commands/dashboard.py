"""``flashtui``: opens the dashboard."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

from flashtui.cli.world import environment, settings_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.settings import Settings


def dashboard(
    *, demo: bool, once: bool, theme: str | None, mouse: bool, ascii_only: bool, **_: Any
) -> int:
    """Open the dashboard, or print one frame of its tables."""
    if once:
        from flashtui.cli.commands.once import once as print_once

        return print_once(demo=demo)
    from flashtui.ui.terminal import refusal

    problem = refusal(os.environ, stdin_tty=os.isatty(0), stderr_tty=os.isatty(2))
    if problem:
        return _refused(problem)
    with environment(demo=demo, own_process=True) as env:
        settings = settings_from(env).with_options(
            theme=theme, mouse=True if mouse else None, ascii=True if ascii_only else None
        )
        return asyncio.run(_show(settings, env))


def _refused(problem: str) -> int:
    from flashtui.cli.exit_codes import ExitCode
    from flashtui.cli.output import warn

    warn(problem)
    return ExitCode.USAGE


async def _show(settings: Settings, env: Mapping[str, str]) -> int:
    from flashtui.bootstrap.session import open_session
    from flashtui.bootstrap.tools import open_tools
    from flashtui.ui.run import run_dashboard

    unsaved: list[str] = []
    async with (
        open_tools(settings, env) as tools,
        open_session(tools, emergency=unsaved.append) as session,
    ):
        session.start_feeds()
        code = await run_dashboard(session, settings, redact=tools.redactor.clean)
    # While it was up, standard error was the screen.
    for line in unsaved:
        print(line, file=sys.stderr)
    return code or session.exit_code
