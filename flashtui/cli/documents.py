"""JSON documents of the commands: domain values in, plain JSON out; one function per item of the public interface.

Unknown is ``null``, never 0; money is a number of US dollars, exact to six decimals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.domain.market import Freshness, freshness

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from flashtui.domain.allocation import AllocationReport, Candidate, Exclusion, Sizing
    from flashtui.domain.market import Account, FeedError, Offer, Quote
    from flashtui.domain.money import HourlyRate, Usd
    from flashtui.domain.run import RentedResource
    from flashtui.services.board import Burn, RunRow

Json = dict[str, Any]


def document(schema: str, generated_at: datetime, items: list[Json], errors: list[Json]) -> Json:
    """The envelope of every document."""
    return {
        "schema": f"flashtui.{schema}/1",
        "generated_at": stamp(generated_at),
        "errors": errors,
        "items": items,
    }


def stamp(moment: datetime | None) -> str | None:
    """ISO-8601 in UTC with a ``Z``; None stays None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def usd(amount: HourlyRate | Usd | None) -> float | None:
    """Dollars, or null."""
    return None if amount is None else float(amount)


def error_item(error: FeedError) -> Json:
    """One entry of ``errors``."""
    return {"provider": error.provider, "kind": error.kind, "message": error.message}


def price_item(quote: Quote, now: datetime, interval_s: float) -> Json:
    """``flashtui.prices/1``; past ten intervals the price moves to ``last_usd_per_hour``.

    A price of the built-in list has a date but was never observed: it is never fresh, and never expires.
    """
    age_s = max(0.0, (now - quote.observed_at).total_seconds())
    static = quote.source == "static"
    state = Freshness.STALE if static else freshness(age_s, interval_s)
    expired = state is Freshness.UNKNOWN
    return {
        "provider": quote.provider,
        "gpu": quote.gpu,
        "vram_gb": quote.vram_gb,
        "product": quote.product,
        "usd_per_hour": None if expired else usd(quote.rate),
        "last_usd_per_hour": usd(quote.rate),
        "available": quote.available,
        "stock": quote.stock,
        "regions": list(quote.regions),
        "source": quote.source,
        "observed_at": stamp(quote.observed_at),
        "age_s": round(age_s, 3),
        "stale": state is not Freshness.FRESH,
        "freshness": str(state),
        "validated": quote.validated,
        "rentable": quote.rentable and quote.source == "live" and state is Freshness.FRESH,
        "managed": quote.managed,
        "offer_id": quote.offer_id,
        "history": None,
    }


def offer_item(offer: Offer) -> Json:
    """``flashtui.offers/1``."""
    return {
        "provider": offer.provider,
        "offer_id": offer.offer_id,
        "machine_id": offer.machine_id,
        "gpu": offer.gpu,
        "gpu_raw": offer.gpu_raw,
        "num_gpus": offer.num_gpus,
        "vram_gb": offer.vram_gb,
        "product": offer.product,
        "usd_per_hour": usd(offer.rate),
        "usd_per_gpu_hour": usd(offer.rate_per_gpu),
        "parts": {
            "gpu_usd_per_hour": usd(offer.gpu_rate),
            "storage_usd_per_hour": usd(offer.storage_rate),
            "storage_gb": offer.priced_disk_gb,
            "down_usd_per_gb": usd(offer.down_usd_per_gb),
            "up_usd_per_gb": usd(offer.up_usd_per_gb),
        },
        "min_bid_usd_per_hour": usd(offer.min_bid),
        "reliability": offer.reliability,
        "verified": offer.verified,
        "datacenter": offer.datacenter,
        "cuda": offer.cuda,
        "disk_gb": offer.disk_gb,
        "inet_down_mbps": offer.inet_down_mbps,
        "inet_up_mbps": offer.inet_up_mbps,
        "region": offer.region,
        "available_until": stamp(offer.available_until),
        "observed_at": stamp(offer.observed_at),
        "usable": offer.usable,
        "reasons": list(offer.reasons),
    }


def allocation_item(report: AllocationReport) -> Json:
    """``flashtui.allocate/1``; ``provider`` is null when nothing fits."""
    winner = report.winner
    return {
        "min_vram_gb": report.sizing.need_gb,
        "provider": winner.provider if winner else None,
        "gpu": winner.gpu if winner else None,
        "product": winner.product if winner else None,
        "hourly_usd": winner.hourly_usd if winner else None,
        "offer_id": _offer_id(winner),
        "source": winner.source if winner else None,
        "observed_at": stamp(winner.observed_at) if winner else None,
        "escalated_from": report.escalated_from,
        "summary": report.summary,
        "candidates": [_candidate(c) for c in report.candidates],
        "excluded": [_exclusion(e) for e in report.excluded],
        "sizing": _sizing(report.sizing),
        "remedies": list(report.remedies),
        "could_not_ask": list(report.could_not_ask),
        "failure": report.failure,
        "warnings": list(report.warnings),
        "hours": report.request.hours,
        "job_usd": _job_usd(report),
    }


def _offer_id(candidate: Candidate | None) -> str | None:
    return getattr(candidate.offer, "offer_id", None) if candidate else None


def _job_usd(report: AllocationReport) -> float | None:
    hours = report.request.hours
    return (
        None
        if hours is None or report.winner is None
        else round(report.winner.hourly_usd * hours, 6)
    )


def _candidate(candidate: Candidate) -> Json:
    return {
        "provider": candidate.provider,
        "gpu": candidate.gpu,
        "product": candidate.product,
        "hourly_usd": candidate.hourly_usd,
        "vram_gb": candidate.vram_gb,
        "validated": candidate.validated,
        "offer_id": _offer_id(candidate),
        "source": candidate.source,
        "observed_at": stamp(candidate.observed_at),
    }


def _exclusion(exclusion: Exclusion) -> Json:
    return {
        "provider": exclusion.provider,
        "gpu": exclusion.gpu,
        "reason": exclusion.reason,
        "detail": exclusion.detail,
        "count": exclusion.count,
    }


def _sizing(sizing: Sizing) -> Json:
    return {
        "need_gb": sizing.need_gb,
        "estimate_gb": sizing.estimate_gb,
        "headroom": sizing.headroom,
        "source": sizing.source,
        "parts": [{"label": part.label, "gb": round(part.gb, 6)} for part in sizing.parts],
        "notes": list(sizing.notes),
    }


def run_item(row: RunRow, resources: Iterable[RentedResource], now: datetime) -> Json:
    """``flashtui.runs/1`` and ``flashtui.show/1``."""
    heartbeat = row.heartbeat_at
    return {
        "run_id": row.run_id,
        "kind": row.kind,
        "state": row.state,
        "resource_state": row.resource_state,
        "goal": row.goal,
        "provider": row.provider,
        "resource_id": row.resource_id,
        "gpu": row.gpu,
        "num_gpus": row.num_gpus,
        "product": row.product,
        "hourly_usd": usd(row.rate),
        "rate_source": row.rate_source,
        "started_at": stamp(row.started_at),
        "ended_at": stamp(row.ended_at),
        "cost_usd": usd(row.cost_at(now)),
        "cost_is_estimate": row.cost_is_estimate,
        "may_bill": row.may_bill,
        "progress": row.progress,
        "heartbeat_age_s": None
        if heartbeat is None
        else round((now - heartbeat).total_seconds(), 3),
        "observed_at": stamp(row.observed_at),
        "attempt": row.attempt,
        "label": row.label,
        "resources": [resource_item(resource, now) for resource in resources],
        "note": row.note,
        "last_error": row.last_error or None,
    }


def resource_item(resource: RentedResource, now: datetime) -> Json:
    """One entry of a run's ``resources``."""
    from flashtui.domain.cost import resource_cost

    return {
        "provider": resource.provider,
        "id": resource.resource_id,
        "rate": usd(resource.rate),
        "launched_at": stamp(resource.launched_at),
        "confirmed_gone_at": stamp(resource.confirmed_gone_at),
        "cost_usd": usd(resource_cost(resource, now)),
        "state": resource.state,
        "attempt": resource.attempt,
        "label": resource.label,
    }


def totals(burn: Burn, accounts: Iterable[Account], rows: Iterable[RunRow]) -> Json:
    """What ``runs`` says beside its items; each balance is held against what its own provider bills."""
    from flashtui.domain import cost

    rows = tuple(rows)
    balances = {}
    for account in accounts:
        own = cost.burn(
            row.rate for row in rows if row.provider == account.provider and row.may_bill
        )
        left = cost.hours_left(account, own.rate)
        balances[account.provider] = {
            "usd": usd(account.balance),
            "hours_left": None if left is None else round(left, 3),
        }
    return {
        "burn_usd_per_hour": usd(burn.ours),
        "foreign_burn_usd_per_hour": usd(burn.foreign),
        "unknown_rates": burn.unknown,
        "spent_today_usd": usd(burn.today),
        "spent_total_usd": usd(burn.total),
        "balances": balances,
    }
