"""``flashtui prices``: one row per provider, product and GPU class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flashtui.cli.world import (
    chosen_providers,
    demo_option,
    gpu_class,
    gpu_option,
    json_option,
    provider_option,
    run_with_tools,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from flashtui.bootstrap.tools import Tools
    from flashtui.domain.market import PriceSheet, Quote


@click.command()
@gpu_option
@provider_option
@json_option
@demo_option
def command(*, gpu: str | None, provider: str | None, as_json: bool, demo: bool) -> int:
    """Live price and availability, one row per provider, product and GPU class.

    The price is that of one GPU for one hour of that product. A provider that fails is named, and its last good or
    built-in rows are shown, marked.
    """
    wanted = gpu_class(gpu)
    return run_with_tools(
        lambda tools: _prices(tools, wanted, provider, as_json=as_json), demo=demo
    )


async def _prices(tools: Tools, gpu: str | None, provider: str | None, *, as_json: bool) -> int:
    from flashtui.cli.asking import answered, read_sheets
    from flashtui.cli.documents import document, error_item, price_item
    from flashtui.cli.output import print_json

    sheets = await read_sheets(tools, chosen_providers(tools, provider), named=provider is not None)
    now = tools.clock.now()
    quotes = [q for sheet in sheets for q in sheet.quotes if gpu is None or q.gpu == gpu]
    errors = [sheet.error for sheet in sheets if sheet.error is not None]
    if as_json:
        items = [price_item(q, now, tools.settings.poll_seconds) for q in quotes]
        print_json(document("prices", now, items, [error_item(e) for e in errors]))
    else:
        print_sheets(sheets, quotes, now, tools.settings.poll_seconds)
    return answered(sheets, named=provider is not None)


def print_sheets(
    sheets: Sequence[PriceSheet], quotes: list[Quote], now: datetime, interval_s: float
) -> None:
    """The rows as a table, cheapest first; what failed goes to stderr."""
    from flashtui.cli.output import print_table, warn

    quotes = sorted(quotes, key=lambda q: (q.rate is None, q.rate.micros if q.rate else 0, q.gpu))
    heads = ("GPU", "VRAM", "PROVIDER", "PRODUCT", "$/GPU-h", "AVAILABLE", "SOURCE", "AGE", "")
    print_table(heads, [_row(q, now, interval_s) for q in quotes], right=(1, 4))
    for sheet in sheets:
        if sheet.error is not None:
            warn(f"{sheet.provider}: {sheet.error.message}")


def _row(quote: Quote, now: datetime, interval_s: float) -> tuple[str, ...]:
    from flashtui.cli.documents import price_item
    from flashtui.domain.money import format_rate

    item: dict[str, Any] = price_item(quote, now, interval_s)
    expired = item["freshness"] == "unknown"
    mark = "~" if quote.source == "static" else ""
    price = "?" if expired else mark + format_rate(quote.rate, decimals=3)
    stale = "STALE" if item["stale"] and quote.source != "static" else ""
    return (
        quote.gpu,
        str(quote.vram_gb),
        quote.provider,
        quote.product,
        price if quote.rate is not None else "-",
        availability(quote),
        quote.source,
        age(item["age_s"]),
        " ".join(word for word in (stale, "" if quote.validated else "unvalidated") if word),
    )


def availability(quote: Quote) -> str:
    """Offers or stock, in one word."""
    if quote.available is not None:
        return f"{quote.available} offers" if quote.available else "none"
    return quote.stock


def age(seconds: float) -> str:
    """``4s``, ``12m``, ``3h``, ``5d``."""
    for limit, divisor, unit in ((90, 1, "s"), (5400, 60, "m"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{int(seconds // divisor)}{unit}"
    return f"{int(seconds // 86_400)}d"
