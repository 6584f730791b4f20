"""Asks providers once for a one-shot command, and says what the answers mean for the exit code."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from flashtui.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashtui.bootstrap.tools import Tools
    from flashtui.domain.allocation import ProviderBook
    from flashtui.domain.market import PriceSheet

# A one-shot is waited for; it must come to an end even when a provider hangs.
DEADLINE_S = 20.0


async def read_sheets(tools: Tools, names: Iterable[str], *, named: bool) -> list[PriceSheet]:
    """One refresh of each provider, all at once; failures become the ``error`` of a sheet that holds older rows.

    Args:
        tools: the opened world.
        names: who is asked.
        named: the person named the provider, so that a missing key is an error and not just silence.
    """
    from flashtui.bootstrap.memory import PriceMemory

    memory = PriceMemory(tools.settings)
    remembered = await memory.load()
    sheets = list(
        await asyncio.gather(
            *(_one(tools, name, remembered.get(name), named=named) for name in names)
        )
    )
    await memory.save(
        [sheet for sheet in sheets if sheet.error is None and sheet.observed_at is not None]
    )
    return sheets


async def _one(tools: Tools, name: str, last: PriceSheet | None, *, named: bool) -> PriceSheet:
    from dataclasses import replace

    from flashtui.domain.market import FeedError
    from flashtui.services.lookup import refresh_sheet

    plugin = tools.registry.plugin(name)
    sheet = await refresh_sheet(name, plugin, tools.clock, last=last, deadline_s=DEADLINE_S)
    if (
        sheet.error is None
        and named
        and not tools.settings.api_keys(name)
        and not tools.settings.skip_net
    ):
        why = (
            tools.settings.key_problem(name)
            or f"{name}: no key is set; `flashtui doctor` says where it is looked for"
        )
        return replace(sheet, error=FeedError(name, "no_key", why, tools.clock.now()))
    return sheet


def books(tools: Tools, sheets: Iterable[PriceSheet]) -> list[ProviderBook]:
    """What every installed provider has to say to an allocation; those that were not asked say so."""
    from flashtui.domain.allocation import ProviderBook, book_from_sheet

    asked = {sheet.provider: sheet for sheet in sheets}
    found = []
    for name, plugin in tools.registry.plugins().items():
        if name in asked:
            configured = plugin.provider.is_configured()
            found.append(
                book_from_sheet(
                    name, asked[name], configured=configured, why_not=_why_not(tools, name)
                )
            )
        else:
            found.append(ProviderBook(name))  # could be asked; the person named another
    return found


def _why_not(tools: Tools, name: str) -> str:
    if tools.settings.skip_net:
        return f"{name}: offline (FLASH_SKIP_NET is set)"
    return tools.settings.key_problem(name) or f"{name}: no key is set"


def answered(sheets: Sequence[PriceSheet], *, named: bool) -> ExitCode:
    """4 when nobody that was asked could answer, 2 when a named provider has no key, else 0."""
    errors = [sheet.error for sheet in sheets]
    if named and any(e is not None and e.kind == "no_key" for e in errors):
        return ExitCode.USAGE
    if sheets and all(sheet.error is not None and not _has_live_rows(sheet) for sheet in sheets):
        return ExitCode.UNREACHABLE
    return ExitCode.OK


def _has_live_rows(sheet: PriceSheet) -> bool:
    """Whether a part of the provider answered just now, though another part failed."""
    return any(quote.source == "live" for quote in sheet.quotes)
