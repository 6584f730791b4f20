"""``flashtui import``: loads ``flashtui.runs/1`` items into the store."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashtui.cli.exit_codes import ExitCode
from flashtui.cli.world import demo_option, run_with_tools
from flashtui.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtui.bootstrap.tools import Tools


@click.command(name="import")
@click.argument("source", metavar="RUNS.json", type=click.Path(path_type=Path, allow_dash=True))
@demo_option
def command(*, source: Path, demo: bool) -> int:
    """Load ``flashtui.runs/1`` items (as `flashtui runs --json` prints them) into the store; ``-`` reads stdin.

    A run that is already known is completed, never taken back.
    """
    items = _items(source)
    return run_with_tools(lambda tools: _import(tools, items), demo=demo)


def _items(source: Path) -> Sequence[dict[str, Any]]:
    try:
        text = sys.stdin.read() if str(source) == "-" else source.read_text(encoding="utf-8")
        document = json.loads(text)
    except OSError as error:
        msg = f"{source} cannot be read: {(error.strerror or 'unknown reason').lower()}"
        raise ConfigError(msg) from error
    except ValueError as error:
        msg = f"{source} is not JSON: {error}"
        raise ConfigError(msg) from error
    items = document.get("items") if isinstance(document, dict) else document
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        msg = f'{source} has no list of runs; `{{"schema": "flashtui.runs/1", "items": [...]}}` is expected'
        raise ConfigError(msg)
    return items


async def _import(tools: Tools, items: Sequence[dict[str, Any]]) -> int:
    from flashtui.bootstrap.seeding import import_items
    from flashtui.cli.output import say

    count = await import_items(tools.settings, items, tools.clock.now())
    say(f"{count} of {len(items)} runs recorded in {tools.settings.db_file}")
    return ExitCode.OK
