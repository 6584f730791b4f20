"""Sentences of an allocation: every one names the number that decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.gpu import DEFAULT_MIN_CUDA
from flashtui.domain.money import HourlyRate, format_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, timedelta

    from flashtui.domain.allocation.values import Allocation, Candidate
    from flashtui.domain.allocation.wish import Wish
    from flashtui.domain.gpu import GpuClass
    from flashtui.domain.market import Offer, Quote, ReasonCode


def class_sentence(reason: ReasonCode, provider: str, gpu: GpuClass, wish: Wish) -> str:
    """Why a whole class is out."""
    if reason == "too_small":
        return f"{gpu.vram_gb} GB; the job needs {wish.need_gb} GB"
    if reason == "pin":
        return f"the job is pinned to {wish.pin.name if wish.pin else 'another class'}"
    if reason == "not_validated":
        where = ", ".join(gpu.validated_on)
        only = f"on {where} only" if where else "nowhere yet"
        return f"not validated on {provider} (validated {only}); allow_unvalidated lets it in"
    if reason == "sold_out":
        return f"fits, but {provider} has no {gpu.name} on offer now"
    return f"{provider} does not rent {gpu.name}"


def quote_sentence(reason: ReasonCode, quote: Quote, wish: Wish) -> str:
    """Why a price by class is out."""
    price = f"{quote.product} at ${format_rate(quote.rate)}/h"
    if reason == "sold_out":
        return f"fits, but no {quote.gpu} {quote.product} is available now"
    if reason == "price_unknown":
        return f"no known price for {quote.gpu} as {quote.product}"
    if reason == "not_asked":
        return f"{price}: only {wish.product} was asked for"
    if reason == "too_dear":
        return f"{price}, above the limit of ${format_rate(wish.cap)}/h"
    if reason == "stale" and quote.source == "static":
        return f"only a list price of {quote.observed_at:%Y-%m-%d} is known: {price}"
    if reason == "stale":
        return f"{price} was seen {age(wish.now - quote.observed_at)} ago"
    return f"{price} is shown for comparison; this product cannot be rented from here"


def offers_sentence(
    reason: ReasonCode, gpu: GpuClass, offers: Sequence[Offer], of: int, wish: Wish
) -> str:
    """Why a group of offers of one class is out.

    Args:
        reason: what they share.
        gpu: their class.
        offers: the group; not empty.
        of: how many offers of the class there are in all.
        wish: what they were held against.
    """
    return f"{len(offers)} of {of}: {_OFFERS[reason](offers, gpu, wish)}"


_Words = "Callable[[Sequence[Offer], GpuClass, Wish], str]"


def _disk(offers: Sequence[Offer], _: GpuClass, wish: Wish) -> str:
    largest = _most(offers, lambda offer: offer.disk_gb)
    return f"disk {wish.disk_gb} GB (largest found {_number(largest)} GB)"


def _cuda(offers: Sequence[Offer], gpu: GpuClass, _: Wish) -> str:
    newest = _most(offers, lambda offer: offer.cuda)
    needed = gpu.min_cuda_modern or DEFAULT_MIN_CUDA
    return f"host CUDA {needed} (newest found {_number(newest)})"


def _reliability(offers: Sequence[Offer], _: GpuClass, wish: Wish) -> str:
    best = _most(offers, lambda offer: offer.reliability)
    return f"reliability {wish.rules.reliability:g} (best found {_number(best)})"


def _bandwidth(offers: Sequence[Offer], _: GpuClass, wish: Wish) -> str:
    best = _most(offers, lambda offer: offer.inet_down_mbps)
    return f"download {wish.rules.inet_down_mbps:g} Mbit/s (best found {_number(best)})"


def _price_unknown(*_: object) -> str:
    return "no usable price"


def _stale(offers: Sequence[Offer], _: GpuClass, wish: Wish) -> str:
    newest = max(offer.observed_at for offer in offers)
    return f"seen {age(wish.now - newest)} ago, too old to decide on"


def _too_dear(offers: Sequence[Offer], _: GpuClass, wish: Wish) -> str:
    rates = [rate for offer in offers if (rate := wish.rate_of(offer)) is not None]
    lowest = min(rates, default=None)
    return (
        f"above the limit of ${format_rate(wish.cap)}/h with {wish.disk_gb} GB disk "
        f"(cheapest ${format_rate(lowest, decimals=3)}/h)"
    )


def _ends(offers: Sequence[Offer], _: GpuClass, wish: Wish) -> str:
    latest = max((o.available_until for o in offers if o.available_until), default=None)
    if latest is None:
        return "ends too soon"
    left = f"the longest is there for another {span(latest, wish.now)}"
    if wish.hours is None:
        return f"ends too soon ({left})"
    return f"ends before {wish.hours:g} h and 20 min of start-up are over ({left})"


def _excluded_machine(offers: Sequence[Offer], _: GpuClass, __: Wish) -> str:
    ids = sorted({offer.machine_id or "?" for offer in offers}, key=lambda i: (len(i), i))
    return f"on excluded machine {', '.join(ids[:5])}{' and more' if len(ids) > 5 else ''}"


def _not_rentable(offers: Sequence[Offer], gpu: GpuClass, wish: Wish) -> str:
    several = [offer for offer in offers if offer.num_gpus != 1]
    if several:
        cheapest = min(several, key=lambda o: (wish.rate_of(o) or _DEAREST, o.offer_id))
        rate = format_rate(wish.rate_of(cheapest))
        return (
            f"only {cheapest.num_gpus} cards together (${rate}/h for all, {gpu.vram_gb} GB each); "
            "one process uses one card"
        )
    if any(offer.product == "interruptible" for offer in offers):
        return "interruptible, which cannot be rented from here"
    return "rented, offline or withdrawn"


_DEAREST = HourlyRate(10**15)
_OFFERS: Mapping[ReasonCode, Callable[[Sequence[Offer], GpuClass, Wish], str]] = {
    "disk": _disk,
    "cuda": _cuda,
    "reliability": _reliability,
    "bandwidth": _bandwidth,
    "not_verified": lambda *_: "machine not verified",
    "not_datacenter": lambda *_: "not in a data centre",
    "price_unknown": _price_unknown,
    "stale": _stale,
    "too_dear": _too_dear,
    "ends_too_soon": _ends,
    "excluded_machine": _excluded_machine,
    "not_rentable": _not_rentable,
    "sold_out": lambda *_: "sold out",
    "too_small": lambda _, gpu, wish: f"{gpu.vram_gb} GB; the job needs {wish.need_gb} GB",
    "not_validated": lambda *_: "not validated",
    "not_asked": lambda *_: "not asked for",
    "pin": lambda *_: "another class is pinned",
}


def allocation_summary(allocation: Allocation) -> str:
    """One line: the choice, its price, the need, the offer behind it, and the runner-up."""
    return summary(allocation.candidates, allocation.min_vram_gb)


def summary(candidates: Sequence[Candidate], need_gb: int) -> str:
    """The line of :func:`allocation_summary` for ranked candidates, of which there is at least one."""
    first = candidates[0]
    line = f"{named(first)} for {need_gb} GB{_offer_words(first)}"
    return line if len(candidates) == 1 else f"{line}; next {named(candidates[1])}"


def named(candidate: Candidate) -> str:
    """``RTX 3090 @ vast $0.25/h``."""
    rate = format_rate(HourlyRate.of(candidate.hourly_usd))
    return f"{candidate.gpu} @ {candidate.provider} ${rate}/h"


def _offer_words(candidate: Candidate) -> str:
    offer_id = getattr(candidate.offer, "offer_id", None)
    if offer_id is None:
        return ""
    region = getattr(candidate.offer, "region", None)
    return f" (offer {offer_id}{f', {region}' if region else ''})"


def age(passed: timedelta) -> str:
    """``31 s``, ``12 min``, ``3.5 h``, ``4 d``."""
    seconds = max(0.0, passed.total_seconds())
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.0f} d"


def span(until: datetime, now: datetime) -> str:
    """How long until a moment, as :func:`age` writes it."""
    return age(until - now)


def _most(offers: Sequence[Offer], of: Callable[[Offer], float | None]) -> float | None:
    return max((value for offer in offers if (value := of(offer)) is not None), default=None)


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"
