"""``flashtui allocate``: what a job would get, at what price, and why not the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flashtui.cli.exit_codes import ExitCode
from flashtui.cli.world import (
    chosen_providers,
    demo_option,
    gpu_class,
    gpu_option,
    json_option,
    run_with_tools,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtui.bootstrap.tools import Tools
    from flashtui.domain.allocation import AllocationReport, AllocationRequest
    from flashtui.domain.market import FeedError

_KNOBS = ("max_length", "max_tokens", "batch_size", "group_size", "lora_rank")


@click.command()
@click.option("--model", required=True, metavar="M", help="Model id, e.g. Qwen/Qwen3.5-4B.")
@click.option(
    "--algorithm", required=True, type=click.Choice(["sft", "grpo"], case_sensitive=False)
)
@gpu_option
@click.option(
    "--provider", default="auto", show_default=True, metavar="P", help="Only this provider."
)
@click.option(
    "--disk",
    "disk_gb",
    type=click.IntRange(1, 100_000),
    default=60,
    show_default=True,
    metavar="GB",
)
@click.option("--max-length", type=click.IntRange(1), metavar="N", help="Sequence length, tokens.")
@click.option(
    "--max-tokens", type=click.IntRange(1), metavar="N", help="Completion length, tokens."
)
@click.option("--batch-size", type=click.IntRange(1), metavar="N")
@click.option("--group-size", type=click.IntRange(1), metavar="N")
@click.option("--lora-rank", type=click.IntRange(1), metavar="N")
@click.option("--thinking", is_flag=True, help="The model thinks before it answers.")
@click.option(
    "--allow-unvalidated", is_flag=True, help="Also classes that have not passed a smoke run."
)
@click.option(
    "--min-vram", type=click.IntRange(1, 10_000), metavar="GB", help="Instead of the estimate."
)
@click.option(
    "--hours",
    type=click.FloatRange(0.0, 10_000.0, min_open=True),
    metavar="H",
    help="Expected length of the job.",
)
@json_option
@demo_option
def command(*, as_json: bool, demo: bool, **options: Any) -> int:
    """What a job would get, at what price, and why not the others.

    A GPU class that is named is a wish: where it cannot hold the job, the cheapest that can is taken and said so.
    """
    gpu_class(options["gpu"])
    return run_with_tools(lambda tools: _allocate(tools, options, as_json=as_json), demo=demo)


async def _allocate(tools: Tools, options: dict[str, Any], *, as_json: bool) -> int:
    from flashtui.cli.asking import books, read_sheets
    from flashtui.cli.documents import allocation_item, document, error_item
    from flashtui.cli.output import print_json
    from flashtui.domain.allocation import plan

    wanted = str(options["provider"]).strip().lower()
    names = chosen_providers(tools, None if wanted == "auto" else wanted)
    sheets = await read_sheets(tools, names, named=wanted != "auto")
    now = tools.clock.now()
    settings = tools.settings
    report = plan(
        _request(options),
        books(tools, sheets),
        headroom=settings.vram_headroom,
        now=now,
        interval_s=settings.poll_seconds,
        preference=settings.preference,
        rules=settings.rules,
    )
    errors = [sheet.error for sheet in sheets if sheet.error is not None]
    if as_json:
        print_json(
            document("allocate", now, [allocation_item(report)], [error_item(e) for e in errors])
        )
    else:
        _print_text(report)
    return _exit_code(report, errors, wanted)


def _request(options: dict[str, Any]) -> AllocationRequest:
    from flashtui.domain.allocation import AllocationRequest

    train = {knob: options[knob] for knob in _KNOBS if options[knob] is not None}
    return AllocationRequest(
        model_id=options["model"],
        algorithm=options["algorithm"].lower(),
        gpu=options["gpu"],
        provider=options["provider"],
        disk_gb=options["disk_gb"],
        allow_unvalidated=options["allow_unvalidated"] or None,
        train=train or None,
        thinking=options["thinking"],
        min_vram_gb=options["min_vram"],
        hours=options["hours"],
    )


def _exit_code(report: AllocationReport, errors: Sequence[FeedError], wanted: str) -> ExitCode:
    if report.winner is not None:
        return ExitCode.OK
    if wanted != "auto" and any(e.kind == "no_key" for e in errors):
        return ExitCode.USAGE
    if report.failure in {"unknown_provider", "unknown_gpu", "provider_not_available"}:
        return ExitCode.USAGE
    return (
        ExitCode.UNREACHABLE
        if report.could_not_ask and report.failure == "search_failed"
        else ExitCode.NO
    )


def _print_text(report: AllocationReport) -> None:
    from flashtui.cli.output import print_table, say, warn
    from flashtui.domain.money import HourlyRate, format_rate

    sizing = report.sizing
    say(
        f"need {sizing.need_gb} GB ({sizing.source}): "
        + " + ".join(f"{p.label} {p.gb:.1f}" for p in sizing.parts)
    )
    for note in sizing.notes:
        say(f"  {note}")
    say(report.summary)
    if report.candidates:
        rows = [
            (
                str(i),
                c.gpu,
                c.provider,
                c.product,
                format_rate(HourlyRate.of(c.hourly_usd), decimals=3),
                str(c.vram_gb),
                c.source,
            )
            for i, c in enumerate(report.candidates, 1)
        ]
        print_table(
            ("#", "GPU", "PROVIDER", "PRODUCT", "$/h", "VRAM", "SOURCE"), rows, right=(0, 4, 5)
        )
    for line in _excluded_lines(report):
        say(line)
    for sentence in (*report.warnings, *report.remedies):
        warn(sentence)


def _excluded_lines(report: AllocationReport) -> list[str]:
    """One line for each reason and provider; ``--json`` has every sentence."""
    groups: dict[tuple[str, str], list[str]] = {}
    for exclusion in report.excluded:
        names = groups.setdefault((exclusion.reason, exclusion.provider), [])
        if exclusion.gpu not in names:
            names.append(exclusion.gpu)
    return [
        f"not ({reason}) on {provider}: {', '.join(names)}"
        for (reason, provider), names in groups.items()
    ]
