"""``flashtui --once``: one frame of the tables as plain text; needs no terminal and no Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.cli.world import run_with_tools

if TYPE_CHECKING:
    from flashtui.bootstrap.tools import Tools


def once(*, demo: bool) -> int:
    """Print prices, then runs."""
    return run_with_tools(_once, demo=demo)


async def _once(tools: Tools) -> int:
    from flashtui.bootstrap.session import look_at_runs
    from flashtui.cli.asking import answered, read_sheets
    from flashtui.cli.commands.prices import print_sheets
    from flashtui.cli.commands.runs import print_look
    from flashtui.cli.output import say

    sheets = await read_sheets(tools, tools.registry.names, named=False)
    look = await look_at_runs(tools)
    now = tools.clock.now()
    tag = " SIMULATED" if tools.settings.simulated else ""
    say(f"flashtui{tag} {now:%Y-%m-%d %H:%M:%S} UTC")
    print_sheets(
        sheets, [q for sheet in sheets for q in sheet.quotes], now, tools.settings.poll_seconds
    )
    say("")
    print_look(look, now)
    return answered(sheets, named=False)
