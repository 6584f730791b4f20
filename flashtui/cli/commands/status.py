"""``flashtui status``: one line from the store alone, no network, fast enough for a tmux status bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flashtui.cli.exit_codes import ExitCode
from flashtui.cli.world import demo_option, environment, json_option, settings_from

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.services.summary import Summary


@click.command()
@click.option("--tmux", is_flag=True, help="Short, without trailing words.")
@click.option(
    "--check",
    is_flag=True,
    help="Exit 0 when quiet, 1 on a warning, 3 when something may bill unseen.",
)
@json_option
@demo_option
def command(*, tmux: bool, check: bool, as_json: bool, demo: bool) -> int:
    """One line from the store alone: burn, runs, time to zero, alarms."""
    from flashtui.bootstrap.now import present
    from flashtui.services.summary import summarise

    with environment(demo=demo) as env:
        settings = settings_from(env)
        now = present(settings)
        summary = summarise(settings.db_file, now)
    if as_json:
        from flashtui.cli.output import print_json

        print_json(_document(summary, now))
    else:
        click.echo(_line(summary, brief=tmux))
    return _exit_code(summary) if check else ExitCode.OK


def _exit_code(summary: Summary) -> ExitCode:
    if summary.unseen:
        return ExitCode.UNCONFIRMED
    return ExitCode.NO if summary.warnings else ExitCode.OK


def _line(summary: Summary, *, brief: bool) -> str:
    from flashtui.domain.money import format_rate

    burn = f"${format_rate(summary.burn)}/h" + (
        f" +{summary.unknown} unknown" if summary.unknown else ""
    )
    parts = [burn, f"{summary.billing} billing" if summary.billing else "nothing billing"]
    parts += [f"{provider} {words}" for provider, words in summary.horizons]
    alarms = len(summary.unseen) + len(summary.warnings)
    if alarms:
        first = "" if brief else f" {(summary.unseen or summary.warnings)[0]}"
        parts.append(f"!{alarms}{first}")
    return "  ".join(parts)


def _document(summary: Summary, now: datetime) -> dict[str, Any]:
    from flashtui.cli.documents import document, usd

    item = {
        "burn_usd_per_hour": usd(summary.burn),
        "unknown_rates": summary.unknown,
        "billing": summary.billing,
        "hours_left": dict(summary.hours),
        "warnings": list(summary.warnings),
        "may_bill_unseen": list(summary.unseen),
    }
    return document("status", now, [item], [])
