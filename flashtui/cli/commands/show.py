"""``flashtui show``: one run with every resource it ever rented."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashtui.cli.exit_codes import ExitCode
from flashtui.cli.world import demo_option, json_option, run_with_tools

if TYPE_CHECKING:
    from flashtui.bootstrap.tools import Tools


@click.command()
@click.argument("run_id", metavar="RUN")
@json_option
@demo_option
def command(*, run_id: str, as_json: bool, demo: bool) -> int:
    """One run with every resource it ever rented, and what each has cost."""
    return run_with_tools(lambda tools: _show(tools, run_id, as_json=as_json), demo=demo)


async def _show(tools: Tools, run_id: str, *, as_json: bool) -> int:
    from flashtui.bootstrap.session import look_at_runs
    from flashtui.cli.commands.runs import run_cells
    from flashtui.cli.documents import document, error_item, resource_item, run_item
    from flashtui.cli.output import print_json, print_table, say, warn

    look = await look_at_runs(tools)
    now = tools.clock.now()
    row = next((r for r in look.rows if r.run_id == run_id and r.kind in {"run", "ghost"}), None)
    resources = next((run.resources for run in look.runs if run.run_id == run_id), ())
    if as_json:
        items = [] if row is None else [run_item(row, resources, now)]
        print_json(document("show", now, items, [error_item(e) for e in look.errors]))
    elif row is not None:
        heads = ("RUN", "STATE", "THEIRS", "GPU", "PROVIDER", "RESOURCE", "$/h", "SPENT", "NOTE")
        for head, cell in zip(heads, run_cells(row, now), strict=True):
            say(f"{head.lower():>9}  {cell}")
        parts = [resource_item(resource, now) for resource in resources]
        cells = [tuple("?" if v is None else str(v) for v in part.values()) for part in parts]
        if parts:
            print_table(tuple(name.upper() for name in parts[0]), cells)
    if row is None:
        warn(f"no run {run_id!r} in {tools.settings.db_file}; `flashtui runs --all` lists them")
        return ExitCode.NO
    return ExitCode.OK
