"""The dashboard in a sliver of a terminal: one line per thing that matters, the most urgent first; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.market import Freshness
from flashtui.domain.text import clean
from flashtui.ui.cells import Line, Span, age_text, line, rate_text, seconds_since, usd_text
from flashtui.ui.health import has_been_counted
from flashtui.ui.market_columns import row_freshness
from flashtui.ui.market_rows import market_rows
from flashtui.ui.money import burn_line, horizon_line, horizons
from flashtui.ui.parts import Part, fit_parts
from flashtui.ui.run_columns import short_name
from flashtui.ui.run_state import run_flag, run_state
from flashtui.ui.status_lines import open_alerts

if TYPE_CHECKING:
    from flashtui.services.board import RunRow, Snapshot
    from flashtui.ui.columns import Look
    from flashtui.ui.market_rows import MarketRow

_BEST = 5


def sliver_lines(snapshot: Snapshot, look: Look, width: int) -> list[Line]:
    """Burn and horizon, alerts, runs, then the best prices."""
    alerts = open_alerts(snapshot)
    tag = line(Span("SIM", "tag")) if snapshot.simulated else ()
    parts = [
        Part(burn_line(snapshot.burn, brief=True, counted=has_been_counted(snapshot)), 9),
        Part(tag, 8),
        *(Part(horizon_line(h, brief=True), 5) for h in horizons(snapshot, look.now) if h.urgent),
        Part(line(Span(f"{len(alerts)} alerts", "warn")) if alerts else (), 7),
    ]
    lines = [fit_parts(parts, width, gap=1)]
    lines += [
        line(Span(f"! {clean(alert.text)}", "bad"))
        for alert in alerts
        if alert.severity == "critical"
    ]
    lines += [_run(row, look, width) for row in snapshot.runs if row.may_bill]
    lines += [_price(row, look, width) for row in _best(snapshot, look)]
    return lines


def _run(row: RunRow, look: Look, width: int) -> Line:
    flag = run_flag(row, look.now)
    state = run_state(row, look.now)
    cost = usd_text(row.cost_at(look.now), estimate=row.cost_is_estimate)
    parts = [
        Part(line(Span(flag.text.strip(), flag.style), clean(short_name(row), 12)), 9),
        Part(line(Span(state.text, state.style)), 8),
        Part(line(clean(row.progress, 8)), 2),
        Part(line(f"{rate_text(row.rate)}/h"), 5),
        Part(line(cost), 6),
    ]
    return fit_parts(parts, width, gap=1)


def _best(snapshot: Snapshot, look: Look) -> list[MarketRow]:
    """The cheapest fresh prices of what could be submitted, one for each board."""
    rows, _ = market_rows(snapshot.sheets)
    good = [
        row
        for row in rows.values()
        if row.rate is not None
        and row.quote.rentable
        and row_freshness(row, look) is Freshness.FRESH
    ]
    good.sort(key=lambda row: 0 if row.rate is None else row.rate.micros)
    boards: dict[str, MarketRow] = {}
    for row in good:
        boards.setdefault(row.quote.gpu, row)
    return list(boards.values())[:_BEST]


def _price(row: MarketRow, look: Look, width: int) -> Line:
    age = age_text(seconds_since(row.quote.observed_at, look.now))
    parts = [
        Part(line(clean(row.quote.gpu, 15)), 9),
        Part(line(Span(rate_text(row.rate), "price")), 8),
        Part(line(row.quote.provider), 5),
        Part(line(Span(f"{age} old", "dim")), 3),
    ]
    return fit_parts(parts, width, gap=1)
