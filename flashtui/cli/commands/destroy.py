"""``flashtui destroy``: tear down what bills, and prove it."""

from __future__ import annotations

import click

from flashtui.cli.ending import end_targets
from flashtui.cli.world import demo_option, json_option, run_with_tools


@click.command()
@click.argument("targets", metavar="RUN|PROVIDER:ID...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask; counts as the typed id.")
@json_option
@demo_option
def command(*, targets: tuple[str, ...], yes: bool, as_json: bool, demo: bool) -> int:
    """Tear down what a run, or a single resource, bills, and prove it gone.

    Returns 0 when complete listings of the provider no longer have it, 3 when that could not be proven: then it may
    still bill, and a dashboard goes on trying.
    """
    return run_with_tools(
        lambda tools: end_targets(tools, "destroy", targets, yes=yes, as_json=as_json), demo=demo
    )
