"""The plan pane as lines: the job, what it would get, the runners-up, and why not the others; pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from flashtui.domain.market import Freshness, freshness
from flashtui.domain.text import clean
from flashtui.ui.cells import Line, Span, age_text, duration_text, line, seconds_since
from flashtui.ui.parts import Part, fit_parts, flowed, wrapped
from flashtui.ui.plan_fields import PLAN_FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtui.domain.allocation import AllocationReport, Candidate
    from flashtui.domain.sizing import Sizing
    from flashtui.services.board import PlanState
    from flashtui.services.plan import PlanJob
    from flashtui.ui.columns import Look

WIDE = 84
_LABEL = 6
_NARROW = 58
_ROOMY = 14
_BRIEF_ROWS = 2
_LONG = 400
_REASON_WORDS = {
    "cuda": "CUDA too old",
    "reliability": "unreliable",
    "bandwidth": "slow network",
    "disk": "too little disk",
    "pin": "not the pin",
    "not_datacenter": "not in a datacenter",
    "ends_too_soon": "end too soon",
}


class PlanView(NamedTuple):
    """The lines of the pane.

    Attributes:
        field_line: the line that the field in focus is on.
    """

    lines: tuple[Line, ...]
    field_line: int


def plan_view(
    plan: PlanState, look: Look, width: int, *, field: int | None, rows: int = 200
) -> PlanView:
    """All lines of the plan.

    Args:
        plan: the job and its report.
        look: now, and the interval of the freshness rule.
        width: cells.
        field: number of the field that the cursor is on; None: the pane does not have the keys.
        rows: how many lines there is room for; the runners-up are cut to leave room for the reasons.
    """
    job, field_line = _job_lines(plan.job, width, field)
    if plan.report is None:
        waiting = clean(plan.error, _LONG) or "waiting for the first prices"
        return PlanView((*job, (), *_labelled("", waiting, width, "warn")), field_line)
    after = _report_lines(plan, plan.report, look, width, rows - len(job))
    return PlanView((*job, *after), field_line)


def _job_lines(job: PlanJob, width: int, field: int | None) -> tuple[list[Line], int]:
    parts = []
    for number, item in enumerate(PLAN_FIELDS):
        here = number == field
        value = Span(clean(item.show(job)), "cursor" if here else "bold")
        parts.append(
            Part(line(Span(">" if here else " ", "mark"), Span(f"{item.label} ", "dim"), value))
        )
    rows = flowed(parts, width, gap=1)
    field_line, seen = 0, 0
    for number, row in enumerate(rows):
        if field is not None and seen <= field < seen + len(row):
            field_line = number
        seen += len(row)
    return [fit_parts(row, width, gap=1) for row in rows], field_line


def _report_lines(
    plan: PlanState, report: AllocationReport, look: Look, width: int, rows: int
) -> list[Line]:
    reasons = _reason_lines(report, width)
    brief = rows < _ROOMY
    head = [
        *_need_lines(report.sizing, width),
        *_pick_lines(plan, report, look, width, brief=brief),
    ]
    room = max(2, rows - len(head) - len(reasons))
    runners = _runner_lines(report, plan.job, look, width)
    shown = runners[: room - 1] + _more(len(runners) - room + 1) if len(runners) > room else runners
    return [*head, *shown, *reasons]


def _more(count: int) -> list[Line]:
    return [line(Span(f"{'':{_LABEL}}{count} more: e lists them", "dim"))]


def _need_lines(sizing: Sizing, width: int) -> list[Line]:
    how = clean(sizing.source)
    if sizing.estimate_gb is not None:
        how = f"{sizing.estimate_gb:.1f} GB estimate x {sizing.headroom:g} headroom, {how}"
    parts = "  ".join(f"{clean(p.label)} {p.gb:.1f}" for p in sizing.parts)
    text = Part(line(Span(f"{' NEED':{_LABEL}}", "dim"), Span(f"{sizing.need_gb} GB ", "price")), 9)
    return [
        fit_parts([text, Part(line(Span(how, "dim")), 5), Part(line(Span(parts, "dim")), 2)], width)
    ]


def _pick_lines(
    plan: PlanState, report: AllocationReport, look: Look, width: int, *, brief: bool
) -> list[Line]:
    winner = report.winner
    if winner is None:
        lines = _labelled(" NONE", clean(report.summary, _LONG), width, "bad")
        for remedy in report.remedies:
            lines += _labelled(" TRY", clean(remedy, _LONG), width)
        return lines
    parts = _candidate_parts(winner, None, plan.job, look, label=" PICK", width=width)
    since = seconds_since(plan.winner_since, look.now)
    if since is not None:
        parts.append(Part(line(Span(f"leads for {duration_text(since)}", "dim")), 2))
    lines = [fit_parts(parts, width, gap=_gap(width))]
    most = _BRIEF_ROWS * (width - _LABEL) - _BRIEF_ROWS if brief else _LONG
    lines += _labelled(" WHY", clean(report.summary, most), width)
    for warning in report.warnings:
        lines += _labelled(" NOTE", clean(warning, _LONG), width, "warn")
    return lines


def _runner_lines(report: AllocationReport, job: PlanJob, look: Look, width: int) -> list[Line]:
    winner = report.winner
    return [
        fit_parts(
            _candidate_parts(
                candidate, winner, job, look, label=" NEXT" if first else "", width=width
            ),
            width,
            gap=_gap(width),
        )
        for first, candidate in _firsts(report.candidates[1:])
    ]


def _gap(width: int) -> int:
    return 1 if width < _NARROW else 2


def _firsts(candidates: Sequence[Candidate]) -> list[tuple[bool, Candidate]]:
    return [(index == 0, candidate) for index, candidate in enumerate(candidates)]


def _candidate_parts(
    candidate: Candidate,
    winner: Candidate | None,
    job: PlanJob,
    look: Look,
    *,
    label: str,
    width: int,
) -> list[Part]:
    """One way to run the job: board, where, price, and the difference to the winner or its total."""
    age = seconds_since(candidate.observed_at, look.now)
    static = candidate.source == "static"
    state = Freshness.FRESH if static else freshness(age, look.interval_s)
    price = f"{'~' if static else ''}{candidate.hourly_usd:.3f}/h"
    style = "price" if winner is None else "estimate" if static else ""
    aged = candidate.source if static or age is None else f"{candidate.source} {age_text(age)}"
    word = "" if state is Freshness.FRESH else f" {state.upper()}"
    mark = Span(f"{label:{_LABEL}}", "good" if winner is None else "dim")
    gpu, provider, product = clean(candidate.gpu, 15), candidate.provider, str(candidate.product)
    if width >= _NARROW:
        gpu, provider, product = f"{gpu:<15}", f"{provider:<6}", f"{product:<10}"
        price = f"{price:>9}"
    parts = [
        Part((mark, Span(gpu, style)), 9),
        Part(line(Span(provider, style)), 7),
        Part(line(Span(product, style)), 4 + (winner is None)),
        Part(line(Span(price, style)), 8),
    ]
    if winner is not None:
        more = candidate.hourly_usd - winner.hourly_usd
        parts.append(Part(line(Span(f"{more:+.3f}", "dim")), 6))
    if job.hours:
        total = f"${candidate.hourly_usd * job.hours:.2f} for {job.hours:g}h"
        parts.append(Part(line(Span(total, style)), 5))
    parts.append(Part(line(Span(f"{candidate.vram_gb} GB", "dim")), 3))
    parts.append(Part(line(Span(f"{aged}{word}", "warn" if word else "dim")), 4))
    if not candidate.validated:
        parts.append(Part(line(Span("not validated", "warn")), 3))
    return parts


def _reason_lines(report: AllocationReport, width: int) -> list[Line]:
    """How many are out for which reason, and whom nobody could ask."""
    lines: list[Line] = []
    counts = Counter[str]()
    for exclusion in report.excluded:
        counts[exclusion.reason] += max(1, exclusion.count)
    if counts:
        words = ", ".join(f"{n} {reason_words(code)}" for code, n in counts.most_common())
        lines += _labelled(" OUT", words, width, "dim")
    for provider in report.could_not_ask:
        lines += _labelled(" ASK?", f"{clean(provider)} could not be asked", width, "warn")
    return lines


def reason_words(code: str) -> str:
    """A reason code as words that can follow a number."""
    return _REASON_WORDS.get(code, code.replace("_", " "))


def explain_lines(report: AllocationReport, width: int) -> list[Line]:
    """Everything that decided: how the memory came about, every candidate's rank, every exclusion with its sentence."""
    sizing = report.sizing
    lines: list[Line] = [line(Span(f"Memory: {sizing.need_gb} GB", "bold"))]
    lines += [line(f"  {clean(p.label):<24}{p.gb:8.2f} GB") for p in sizing.parts]
    for note in sizing.notes:
        lines += wrapped(f"  {clean(note, _LONG)}", width, indent=2)
    lines += [(), line(Span("In this order:", "bold"))]
    lines += [
        line(f"{rank:>3}  {clean(c.gpu):<16}{c.provider:<8}{c.product:<12}{c.hourly_usd:8.3f}/h")
        for rank, c in enumerate(report.candidates, 1)
    ]
    lines += [(), line(Span("Not chosen:", "bold"))]
    for out in report.excluded:
        head = f"  {clean(out.gpu)} {out.provider} ({reason_words(out.reason)}"
        head += f", {out.count} offers): " if out.count > 1 else "): "
        lines += wrapped(head + clean(out.detail, _LONG), width, indent=4)
    return lines


def why_not(report: AllocationReport | None, provider: str, gpu: str) -> list[str]:
    """Why one row of the market is or is not the pick, in sentences."""
    if report is None:
        return ["There is no plan yet: no prices have arrived."]
    if report.winner is not None and (report.winner.provider, report.winner.gpu) == (provider, gpu):
        return [f"The pick. {report.summary}"]
    ranks = [
        i for i, c in enumerate(report.candidates, 1) if (c.provider, c.gpu) == (provider, gpu)
    ]
    found = [f"It would do, at rank {ranks[0]} of {len(report.candidates)}."] if ranks else []
    found += [e.detail for e in report.excluded if (e.provider, e.gpu) == (provider, gpu)]
    return found or [f"The plan says nothing about {gpu} with {provider}."]


def _labelled(label: str, text: str, width: int, style: str = "") -> list[Line]:
    rows = wrapped(text, width - _LABEL, style=style)
    return [
        (Span(f"{label if first == 0 else '':{_LABEL}}", "dim"), *row)
        for first, row in enumerate(rows)
    ]
