"""``flashtui offers``: single market offers behind a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashtui.cli.exit_codes import ExitCode
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

    from flashtui.bootstrap.tools import Tools
    from flashtui.domain.market import FeedError, Offer


@click.command()
@gpu_option
@provider_option
@click.option(
    "--min-vram",
    type=click.IntRange(1, 10_000),
    metavar="GB",
    help="At least this much memory on one card.",
)
@click.option(
    "--disk",
    type=click.IntRange(1, 100_000),
    metavar="GB",
    help="Price with this disk (default: the configured one).",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 5000),
    default=100,
    show_default=True,
    metavar="N",
    help="At most N offers.",
)
@json_option
@demo_option
def command(
    *,
    gpu: str | None,
    provider: str | None,
    min_vram: int | None,
    disk: int | None,
    limit: int,
    as_json: bool,
    demo: bool,
) -> int:
    """Single market offers, cheapest first, those that the rules would not rent included with their reasons.

    Offers are Vast's; RunPod has none and is reported as not applicable.
    """
    wanted = gpu_class(gpu)
    return run_with_tools(
        lambda tools: _offers(tools, wanted, provider, min_vram, disk, limit, as_json=as_json),
        demo=demo,
    )


async def _offers(
    tools: Tools,
    gpu: str | None,
    provider: str | None,
    min_vram: int | None,
    disk: int | None,
    limit: int,
    *,
    as_json: bool,
) -> int:
    from flashtui.cli.documents import document, error_item, offer_item
    from flashtui.cli.output import print_json, warn

    found: list[Offer] = []
    errors: list[FeedError] = []
    answered = 0
    for name in chosen_providers(tools, provider):
        offers, error = await _ask(
            tools, name, gpu, min_vram, disk or tools.settings.rules.disk_gb, limit
        )
        found += offers
        if error is not None:
            errors.append(error)
        else:
            answered += 1
    now = tools.clock.now()
    if as_json:
        print_json(
            document("offers", now, [offer_item(o) for o in found], [error_item(e) for e in errors])
        )
    else:
        _print_text(found)
        for error in errors:
            warn(f"{error.provider}: {error.message}")
    return _exit_code(errors, answered, named=provider is not None)


def _exit_code(errors: Sequence[FeedError], answered: int, *, named: bool) -> ExitCode:
    failed = [e for e in errors if e.kind != "not_applicable"]
    if named and any(e.kind == "no_key" for e in failed):
        return ExitCode.USAGE
    return ExitCode.UNREACHABLE if failed and not answered else ExitCode.OK


async def _ask(
    tools: Tools, name: str, gpu: str | None, min_vram: int | None, disk: int, limit: int
) -> tuple[Sequence[Offer], FeedError | None]:
    import asyncio

    from flashtui.cli.asking import DEADLINE_S
    from flashtui.domain.errors import ProviderError
    from flashtui.domain.market import FeedError

    now = tools.clock.now()
    plugin = tools.registry.plugin(name)
    if plugin.offers is None:
        return (), FeedError(
            name,
            "not_applicable",
            f"{name} has no single offers; see `flashtui prices --provider {name}`",
            now,
        )
    if tools.settings.skip_net:
        return (), FeedError(name, "network", f"{name}: offline (FLASH_SKIP_NET is set)", now)
    try:
        async with asyncio.timeout(DEADLINE_S):
            return await plugin.offers.offers(
                gpu=gpu, min_vram_gb=min_vram, disk_gb=disk, limit=limit
            ), None
    except TimeoutError:
        return (), FeedError(
            name, "timeout", f"{name} did not answer within {DEADLINE_S:.0f} s", now
        )
    except ProviderError as error:
        return (), FeedError(name, error.kind, str(error), now)


def _print_text(offers: Sequence[Offer]) -> None:
    from flashtui.cli.output import print_table

    heads = ("OFFER", "MACHINE", "GPU", "N", "VRAM", "$/h", "$/GPU-h", "REL", "REGION", "WHY NOT")
    print_table(heads, [_row(offer) for offer in offers], right=(3, 4, 5, 6, 7))


def _row(offer: Offer) -> tuple[str, ...]:
    from flashtui.domain.money import format_rate

    reliability = "?" if offer.reliability is None else f"{offer.reliability:.3f}"
    return (
        offer.offer_id,
        offer.machine_id or "?",
        offer.gpu or f"{offer.gpu_raw} (not managed)",
        str(offer.num_gpus),
        str(offer.vram_gb),
        format_rate(offer.rate, decimals=3),
        format_rate(offer.rate_per_gpu, decimals=3),
        reliability,
        offer.region or "-",
        " ".join(offer.reasons),
    )
