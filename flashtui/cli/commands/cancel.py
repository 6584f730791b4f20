"""``flashtui cancel``: stop the work of a run."""

from __future__ import annotations

import click

from flashtui.cli.ending import end_targets
from flashtui.cli.world import demo_option, json_option, run_with_tools


@click.command()
@click.argument("targets", metavar="RUN...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@demo_option
def command(*, targets: tuple[str, ...], yes: bool, as_json: bool, demo: bool) -> int:
    """Stop the work of a run; what is rented bills on until it is destroyed."""
    return run_with_tools(
        lambda tools: end_targets(tools, "cancel", targets, yes=yes, as_json=as_json), demo=demo
    )
