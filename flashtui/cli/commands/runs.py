"""``flashtui runs``: what is rented now, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashtui.cli.exit_codes import ExitCode
from flashtui.cli.world import demo_option, json_option, run_with_tools

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from flashtui.bootstrap.tools import Tools
    from flashtui.services.board import RunRow
    from flashtui.services.look import Look


@click.command()
@click.option("--all", "show_all", is_flag=True, help="Also runs that are over.")
@json_option
@demo_option
def command(*, show_all: bool, as_json: bool, demo: bool) -> int:
    """What is rented now and what it costs: the runs of the store, with what the providers list of them.

    Machines on the accounts that are of no run here are counted in the foreign burn rate.
    """
    return run_with_tools(lambda tools: _runs(tools, show_all=show_all, as_json=as_json), demo=demo)


async def _runs(tools: Tools, *, show_all: bool, as_json: bool) -> int:
    from flashtui.bootstrap.session import look_at_runs
    from flashtui.cli.documents import document, error_item, run_item, totals
    from flashtui.cli.output import print_json

    look = await look_at_runs(tools)
    now = tools.clock.now()
    rows = [
        row for row in look.rows if row.kind in {"run", "ghost"} and (show_all or _is_current(row))
    ]
    if as_json:
        resources = {run.run_id: run.resources for run in look.runs}
        items = [run_item(row, resources.get(row.run_id or "", ()), now) for row in rows]
        unowned = [run_item(row, (), now) for row in look.rows if row.kind in {"orphan", "foreign"}]
        text = document("runs", now, items, [error_item(e) for e in look.errors])
        print_json({**text, **totals(look.burn, look.accounts, look.rows), "unowned": unowned})
    else:
        print_look(look, now, rows)
    return ExitCode.OK


def _is_current(row: RunRow) -> bool:
    return row.may_bill or row.state in {"queued", "provisioning", "running"}


def print_look(look: Look, now: datetime, rows: Sequence[RunRow] | None = None) -> None:
    """Runs and what is of no run here, as a table with the totals below; what failed goes to stderr."""
    if rows is None:
        rows = [row for row in look.rows if row.kind in {"run", "ghost"} and _is_current(row)]
    from flashtui.cli.output import print_table, say, warn
    from flashtui.domain.money import format_rate, format_usd

    unowned = [row for row in look.rows if row.kind in {"orphan", "foreign"}]
    heads = ("RUN", "STATE", "THEIRS", "GPU", "PROVIDER", "RESOURCE", "$/h", "SPENT", "NOTE")
    if rows or unowned:
        print_table(heads, [run_cells(row, now) for row in [*rows, *unowned]], right=(6, 7))
    else:
        say("nothing is rented by runs of this store")
    burn = look.burn
    unknown = f", {burn.unknown} with an unknown rate" if burn.unknown else ""
    say(
        f"burn ${format_rate(burn.now)}/h ({format_rate(burn.foreign)} not of this store{unknown}), today {format_usd(burn.today)}"
    )
    for error in look.errors:
        warn(f"{error.provider}: {error.message}")


def run_cells(row: RunRow, now: datetime) -> tuple[str, ...]:
    """One run as text cells."""
    from flashtui.domain.money import format_rate, format_usd

    spent = row.cost_at(now)
    name = row.run_id if row.kind in {"run", "ghost"} else f"? {row.kind} {row.label or ''}".strip()
    return (
        name or "?",
        row.state,
        row.resource_state,
        f"{row.gpu or '?'} x{row.num_gpus}",
        row.provider or "-",
        row.resource_id or "-",
        format_rate(row.rate, decimals=3),
        ("~" if row.cost_is_estimate and spent is not None else "") + format_usd(spent),
        row.note,
    )
