"""The whole of one row in a few lines, for the strip below a list and the pane beside it; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.market import Freshness
from flashtui.domain.text import clean
from flashtui.ui.cells import (
    NOTHING,
    UNKNOWN,
    Line,
    Span,
    age_text,
    duration_text,
    line,
    rate_text,
    seconds_since,
    usd_text,
)
from flashtui.ui.market_columns import row_freshness
from flashtui.ui.parts import wrapped
from flashtui.ui.run_columns import gpu, name, note, observed
from flashtui.ui.run_state import run_state

if TYPE_CHECKING:
    from flashtui.domain.market import Offer
    from flashtui.services.board import RunRow
    from flashtui.ui.columns import Look
    from flashtui.ui.market_rows import MarketRow


def market_detail(row: MarketRow | None, look: Look, width: int) -> list[Line]:
    """A class row or an offer."""
    if row is None:
        return [line(Span("no row chosen", "dim"))]
    if row.offer is not None:
        return _offer(row.offer, look, width)
    quote = row.quote
    age = age_text(seconds_since(quote.observed_at, look.now))
    state = row_freshness(row, look)
    word = "" if state is Freshness.FRESH else f" {state.upper()}"
    where = ", ".join(clean(region) for region in quote.regions) or "no region said"
    last = f"last seen {rate_text(quote.rate)}/h" if state is Freshness.UNKNOWN else ""
    price = last or f"{rate_text(quote.rate)}/h per GPU"
    lines = [
        line(
            Span(clean(quote.gpu), "bold"),
            f" {quote.vram_gb} GB  {quote.provider} {quote.product}  ",
            Span(price, "price"),
            Span(f"  {quote.source}, {age} old{word}", "warn" if word else "dim"),
        ),
        *wrapped(where, width, style="dim"),
    ]
    if row.picked:
        lines.append(line(Span("* ", "mark"), "the allocator would take this; 3 Plan says why"))
    if not quote.rentable:
        lines.append(line(Span("shown for comparison: this product cannot be submitted", "dim")))
    return lines


def _offer(offer: Offer, look: Look, width: int) -> list[Line]:
    age = age_text(seconds_since(offer.observed_at, look.now))
    until = ""
    if offer.available_until is not None:
        left = (offer.available_until - look.now).total_seconds()
        until = f"  max {duration_text(left)}"
    reliability = UNKNOWN if offer.reliability is None else f"{offer.reliability:.3f}"
    facts = (
        f"reliability {reliability}  CUDA {offer.cuda or UNKNOWN}  disk {_gb(offer.disk_gb)}"
        f"  down/up {_mbps(offer.inet_down_mbps)}/{_mbps(offer.inet_up_mbps)} Mbit/s{until}"
    )
    lines = [
        line(
            Span(f"{offer.num_gpus}x {clean(offer.gpu_raw)}", "bold"),
            f" {offer.vram_gb} GB  {offer.provider} offer {clean(offer.offer_id)} machine "
            f"{clean(offer.machine_id) or UNKNOWN}  {clean(offer.region) or NOTHING}",
            Span(f"  {age} old", "dim"),
        ),
        line(
            Span(f"{rate_text(offer.rate)}/h", "price"),
            f" = GPU {rate_text(offer.gpu_rate)} + disk {offer.priced_disk_gb} GB "
            f"{rate_text(offer.storage_rate)}",
        ),
        *wrapped(facts, width, style="dim"),
    ]
    if offer.reasons:
        words = ", ".join(reason.replace("_", " ") for reason in offer.reasons)
        lines.append(line(Span(f"would not be rented: {words}", "warn")))
    return lines


def run_detail(row: RunRow | None, look: Look, width: int, *, selected: bool) -> list[Line]:
    """A run, or a machine that is not ours."""
    if row is None:
        return [line(Span("nothing is rented", "dim"))]
    if not selected:
        gone = "the row the cursor was on has gone; move to choose another (x and D are off until then)"
        return wrapped(gone, width, style="warn")
    state = run_state(row, look.now)
    now = look.now
    seen = age_text(seconds_since(row.observed_at, now))
    fresh = observed(row, look)
    theirs = clean(row.raw_status) or row.resource_state
    word = "" if fresh is Freshness.FRESH or not row.may_bill else f" {fresh.upper()}"
    product = row.product or ""
    ident = f"{row.provider or NOTHING} {product} {clean(row.resource_id) or NOTHING}"
    cost = usd_text(row.cost_at(now), estimate=row.cost_is_estimate)
    lines = [
        line(Span(name(row), "bold"), " ", Span(state.text, state.style), f"  {ident}"),
        line(
            f"{gpu(row)}  ",
            Span(f"{rate_text(row.rate)}/h", "price"),
            f" ({row.rate_source})  spent ",
            Span(cost, "price"),
            f"  they say {theirs}, {seen} ago",
            Span(word, "warn"),
        ),
    ]
    if row.label and row.label != name(row):
        lines.append(line(Span("label ", "dim"), clean(row.label)))
    if row.heartbeat_at is not None:
        beat = age_text(seconds_since(row.heartbeat_at, now))
        lines.append(
            line(Span("heartbeat ", "dim"), f"{beat} ago  ", Span(clean(row.progress), "dim"))
        )
    if note(row):
        lines += wrapped(note(row), width, style="warn" if state.style in {"bad", "alarm"} else "")
    if row.last_error and row.last_error != note(row):
        lines += wrapped(f"last error: {clean(row.last_error, 400)}", width, style="dim")
    return lines


def _gb(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0f} GB"


def _mbps(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0f}"
