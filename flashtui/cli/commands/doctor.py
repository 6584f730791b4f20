"""``flashtui doctor``: what is configured, reachable and wrong, in sentences a person can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashtui.cli.exit_codes import ExitCode
from flashtui.cli.world import demo_option, json_option, run_with_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtui.bootstrap.tools import Tools
    from flashtui.services.diagnosis import Finding


@click.command()
@click.option(
    "--config",
    "show_config",
    is_flag=True,
    help="Print every key of config.toml with its default and meaning.",
)
@json_option
@demo_option
def command(*, show_config: bool, as_json: bool, demo: bool) -> int:
    """What is configured, reachable and wrong, in sentences. No secret is printed."""
    if show_config:
        from flashtui.cli.config_reference import config_reference

        click.echo(config_reference(), nl=False)
        return ExitCode.OK
    return run_with_tools(lambda tools: _doctor(tools, as_json=as_json), demo=demo)


async def _doctor(tools: Tools, *, as_json: bool) -> int:
    from flashtui.cli.documents import document
    from flashtui.cli.output import print_json
    from flashtui.services.diagnosis import diagnose

    findings = await diagnose(tools.settings, tools.registry, tools.clock)
    findings = [*findings, *_terminal_findings()]
    if as_json:
        items = [
            {"check": f.check, "ok": f.ok, "message": f.message, "fix": f.fix} for f in findings
        ]
        print_json(document("doctor", tools.clock.now(), items, []))
    else:
        _print_text(findings)
    return ExitCode.OK if all(f.ok for f in findings) else ExitCode.USAGE


def _terminal_findings() -> list[Finding]:
    import os
    import sys

    from flashtui.services.diagnosis import Finding

    term = os.environ.get("TERM", "")
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    tmux = "inside tmux" if os.environ.get("TMUX") else "not inside tmux"
    usable = term not in {"", "dumb"}
    fix = "" if usable else "set TERM, or use `flashtui --once` and the other commands"
    facts = f"TERM={term or 'unset'}, {tmux}, output encoding {encoding or 'unknown'}"
    # A pipe has no terminal, and that is no fault: only a person at a terminal that cannot draw has a problem.
    return [Finding("terminal", usable or not sys.stdout.isatty(), facts, fix)]


def _print_text(findings: Sequence[Finding]) -> None:
    from flashtui.cli.output import say

    width = max(len(f.check) for f in findings)
    for finding in findings:
        say(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.check.ljust(width)}  {finding.message}")
        if not finding.ok and finding.fix:
            say(f"      {' ' * width}  -> {finding.fix}")
