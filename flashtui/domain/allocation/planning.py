"""The allocation itself: gather from every book that may be asked, rank, give up a pin that cannot hold the job."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashtui.domain.allocation.failures import (
    NothingFitsError,
    ProviderNotAvailable,
    SearchFailed,
    SoldOut,
    UnknownProviderError,
)
from flashtui.domain.allocation.remedies import remedies
from flashtui.domain.allocation.screening import not_asked, screen
from flashtui.domain.allocation.values import (
    Allocation,
    AllocationReport,
    AllocationRequest,
    Candidate,
    Exclusion,
    FailureKind,
    ProviderBook,
)
from flashtui.domain.allocation.wish import Wish, wish_of
from flashtui.domain.allocation.wording import named, summary
from flashtui.domain.gpu import GPU_INFO, GpuClass, UnknownGpuError, UnsupportedGpuError
from flashtui.domain.money import micros_from_usd
from flashtui.domain.rules import Rules
from flashtui.domain.sizing import Sizing, size_job
from flashtui.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from flashtui.domain.market import Offer

DEFAULT_PREFERENCE: tuple[str, ...] = ("runpod", "vast")
_ERRORS: Mapping[FailureKind, type[UnsupportedGpuError]] = {
    "unknown_gpu": UnknownGpuError,
    "unknown_provider": UnknownProviderError,
    "provider_not_available": ProviderNotAvailable,
    "search_failed": SearchFailed,
    "sold_out": SoldOut,
    "nothing_fits": NothingFitsError,
}


@dataclass(frozen=True, slots=True)
class _Gathered:
    candidates: tuple[Candidate, ...]
    excluded: tuple[Exclusion, ...]
    offers: tuple[Offer, ...]


def plan(
    request: AllocationRequest,
    books: Sequence[ProviderBook],
    *,
    headroom: float,
    now: datetime,
    interval_s: float,
    preference: Sequence[str] = DEFAULT_PREFERENCE,
    rules: Rules | None = None,
    classes: Mapping[str, GpuClass] = GPU_INFO,
) -> AllocationReport:
    """What the job would get, and a reason for everything else; never raises.

    Args:
        request: the job.
        books: what every installed provider has to say.
        headroom: factor on the memory estimate.
        now: the present.
        interval_s: the configured poll interval, for the freshness rule.
        preference: which provider wins at equal price and size; others follow by name.
        rules: what offers were held against before, for the sentences; None: the defaults.
        classes: the managed classes.
    """
    sizing = size_job(
        request.model_id,
        request.algorithm,
        train=request.train,
        thinking=request.thinking,
        headroom=headroom,
        params_b=request.params_b,
        min_vram_gb=request.min_vram_gb,
    )
    try:
        wish = wish_of(
            request,
            sizing.need_gb,
            now=now,
            interval_s=interval_s,
            rules=rules or Rules(),
            classes=classes,
        )
    except UnknownGpuError as error:
        return _refused(request, sizing, "unknown_gpu", str(error))
    wanted = (request.provider or "auto").strip().lower()
    refusal = _provider_refusal(wanted, books)
    if refusal is not None:
        return _refused(request, sizing, *refusal)
    asked = [book for book in books if book.available and wanted in {"auto", book.provider}]
    return _planned(request, sizing, wish, asked, books, preference)


def allocate_from(
    request: AllocationRequest,
    books: Sequence[ProviderBook],
    *,
    headroom: float,
    now: datetime,
    interval_s: float,
    preference: Sequence[str] = DEFAULT_PREFERENCE,
    rules: Rules | None = None,
    classes: Mapping[str, GpuClass] = GPU_INFO,
) -> Allocation:
    """The allocation of :func:`plan`, or the reason why there is none.

    Raises:
        UnsupportedGpuError: one of its relatives in ``flashtui.domain.allocation.failures``.
    """
    report = plan(
        request,
        books,
        headroom=headroom,
        now=now,
        interval_s=interval_s,
        preference=preference,
        rules=rules,
        classes=classes,
    )
    return allocation_of(report)


def allocation_of(report: AllocationReport) -> Allocation:
    """A report as the seeds' contract has it: the allocation, or an error.

    Raises:
        UnsupportedGpuError: one of its relatives in ``flashtui.domain.allocation.failures``.
    """
    winner = report.winner
    if winner is None:
        message = "\n".join([report.summary, *(f"- {remedy}" for remedy in report.remedies)])
        raise _ERRORS[report.failure or "nothing_fits"](message)
    return Allocation(
        provider=winner.provider,
        gpu=winner.gpu,
        hourly_usd=winner.hourly_usd,
        min_vram_gb=report.sizing.need_gb,
        candidates=report.candidates,
        offer=winner.offer,
        provider_offers=report.provider_offers,
        escalated_from=report.escalated_from,
        excluded=report.excluded,
        product=winner.product,
    )


def _planned(
    request: AllocationRequest,
    sizing: Sizing,
    wish: Wish,
    asked: Sequence[ProviderBook],
    books: Sequence[ProviderBook],
    preference: Sequence[str],
) -> AllocationReport:
    found = _gather(asked, wish, preference)
    pin = wish.pin
    if not found.candidates and pin is not None:
        wish = replace(wish, pin=None)
        found = _gather(asked, wish, preference)
    escalated = pin.name if pin is not None and wish.pin is None and found.candidates else None
    left_out = [
        line
        for book in books
        if book not in asked
        for line in not_asked(book, wish, _why_not_asked(book, request.provider))
    ]
    excluded = (*found.excluded, *left_out)
    silent = tuple(book.provider for book in asked if book.failed)
    report = AllocationReport(
        request=request,
        sizing=sizing,
        winner=found.candidates[0] if found.candidates else None,
        candidates=found.candidates,
        excluded=excluded,
        escalated_from=escalated,
        summary="",
        could_not_ask=silent,
        provider_offers=found.offers,
    )
    if report.winner is None:
        return _without_winner(report, wish, asked, books, preference)
    return replace(
        report,
        summary=summary(found.candidates, wish.need_gb),
        warnings=tuple(_warnings(report, report.winner, books)),
    )


def _gather(books: Sequence[ProviderBook], wish: Wish, preference: Sequence[str]) -> _Gathered:
    screened = [screen(book, wish) for book in books]
    excluded = [line for result in screened for line in result.excluded]
    candidates = [candidate for result in screened for candidate in result.candidates]
    if any(candidate.source != "static" for candidate in candidates):
        excluded += [_list_price(c) for c in candidates if c.source == "static"]
        candidates = [candidate for candidate in candidates if candidate.source != "static"]
    places = {name: place for place, name in enumerate(preference)}
    order = {name: place for place, name in enumerate(wish.classes)}

    def rank(candidate: Candidate) -> tuple[int, int, int, str, int]:
        return (
            micros_from_usd(candidate.hourly_usd),
            candidate.vram_gb,
            places.get(candidate.provider, len(places)),
            candidate.provider,
            order[candidate.gpu],
        )

    return _Gathered(
        tuple(sorted(candidates, key=rank)),
        tuple(excluded),
        tuple(offer for result in screened for offer in result.usable),
    )


def _list_price(candidate: Candidate) -> Exclusion:
    """A built-in price is the last resort: it does not compete with what somebody offers now."""
    seen = candidate.observed_at
    when = f" of {seen:%Y-%m-%d}" if seen is not None else ""
    detail = f"list price{when}, {named(candidate)}: not compared with live prices (no key?)"
    return Exclusion(candidate.provider, candidate.gpu, "not_asked", detail)


def _provider_refusal(wanted: str, books: Sequence[ProviderBook]) -> tuple[FailureKind, str] | None:
    """A named provider that does not exist or cannot be asked."""
    if wanted == "auto":
        return None
    book = next((book for book in books if book.provider == wanted), None)
    if book is None:
        legal = ", ".join(["auto", *(book.provider for book in books)])
        return "unknown_provider", f"unknown provider {clean(wanted, 40)!r}; one of {legal}"
    if book.available:
        return None
    usable = ", ".join(book.provider for book in books if book.available) or "none"
    why = book.why_not or f"{wanted} is not configured"
    return "provider_not_available", f"{why} (available: {usable})"


def _refused(
    request: AllocationRequest, sizing: Sizing, kind: FailureKind, sentence: str
) -> AllocationReport:
    return AllocationReport(
        request=request,
        sizing=sizing,
        winner=None,
        candidates=(),
        excluded=(),
        escalated_from=None,
        summary=sentence,
        failure=kind,
    )


def _why_not_asked(book: ProviderBook, wanted: str) -> str:
    if not book.available:
        return book.why_not or "not configured"
    return f"only {clean(wanted, 40).lower()} was asked"


def _warnings(
    report: AllocationReport, winner: Candidate, books: Sequence[ProviderBook]
) -> list[str]:
    found: list[str] = []
    if report.escalated_from is not None:
        found.append(
            f"{report.escalated_from} cannot be had for this job ({report.sizing.need_gb} GB): "
            f"{named(winner)} instead"
        )
    for book in books:
        if book.provider in report.could_not_ask:
            found.append(f"could not ask {book.provider}: {book.why_not or 'no answer'}")
        elif not book.available:
            found.append(f"compared without {book.provider}: {book.why_not or 'not configured'}")
    if winner.source == "static":
        found.append("list price: nobody was asked what is on offer now")
    return found


def _without_winner(
    report: AllocationReport,
    wish: Wish,
    asked: Sequence[ProviderBook],
    books: Sequence[ProviderBook],
    preference: Sequence[str],
) -> AllocationReport:
    kind, sentence = _failure(report, wish, asked)
    if kind == "search_failed":
        return replace(report, failure=kind, summary=sentence)

    def best(other: Wish, from_books: Sequence[ProviderBook]) -> Candidate | None:
        candidates = _gather(from_books, other, preference).candidates
        return candidates[0] if candidates else None

    return replace(
        report, failure=kind, summary=sentence, remedies=remedies(wish, asked, books, best)
    )


def _failure(
    report: AllocationReport, wish: Wish, asked: Sequence[ProviderBook]
) -> tuple[FailureKind, str]:
    silent = report.could_not_ask
    reasons = "; ".join(book.why_not or book.provider for book in asked if book.failed)
    if silent and len(silent) == len(asked):
        return "search_failed", f"could not ask {', '.join(silent)}: {reasons}; try again"
    sold_out = sorted({line.gpu for line in report.excluded if line.reason == "sold_out"})
    kinds = "known" if wish.unvalidated else "validated"
    job = f"{clean(report.request.model_id, 80)} needs {wish.need_gb} GB"
    where = ", ".join(book.provider for book in asked) or "no provider"
    note = f" (could not ask {', '.join(silent)}: {reasons})" if silent else ""
    if sold_out:
        names = ", ".join(sold_out)
        return "sold_out", f"{job}; nothing that fits is on offer now at {where}: {names}{note}"
    return "nothing_fits", f"{job}; no {kinds} class or offer at {where} fits{note}"
