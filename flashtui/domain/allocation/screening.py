"""One provider's book held against a wish: what could be rented, and a reason for everything that could not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from flashtui.domain.allocation.values import Candidate, Exclusion
from flashtui.domain.allocation.wording import class_sentence, offers_sentence, quote_sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flashtui.domain.allocation.values import ProviderBook
    from flashtui.domain.allocation.wish import Wish
    from flashtui.domain.gpu import GpuClass
    from flashtui.domain.market import Offer, Quote, ReasonCode
    from flashtui.domain.money import HourlyRate

T = TypeVar("T")
# A request that names one of these leaves the other out.
_PRODUCTS_OF_A_CHOICE = {"serverless", "pod"}


_Priced = tuple["HourlyRate", "Offer"]


@dataclass(slots=True)
class Screened:
    """What came of a book.

    Attributes:
        usable: single offers that could be rented, of every class that is large enough.
    """

    candidates: list[Candidate] = field(default_factory=list)
    excluded: list[Exclusion] = field(default_factory=list)
    usable: list[Offer] = field(default_factory=list)


def screen(book: ProviderBook, wish: Wish) -> Screened:
    """Judge everything in a book; a market's single offers count before its prices by class."""
    return _screen_offers(book, wish) if book.offers else _screen_quotes(book, wish)


def not_asked(book: ProviderBook, wish: Wish, why: str) -> list[Exclusion]:
    """One line for each class of a provider that was left out."""
    mentioned = {quote.gpu for quote in book.quotes}
    return [
        Exclusion(book.provider, gpu.name, "not_asked", why, 0)
        for gpu in _classes_of(book.provider, wish, mentioned)
        if book.provider in gpu.native or gpu.name in mentioned
    ]


def _screen_offers(book: ProviderBook, wish: Wish) -> Screened:
    result = Screened()
    walk: list[_Priced] = []
    by_class = _grouped(_newest(book.offers), lambda offer: offer.gpu or "")
    unmanaged = [
        offer for name, group in by_class.items() if name not in wish.classes for offer in group
    ]
    for gpu in _classes_of(book.provider, wish, by_class):
        group = by_class.get(gpu.name, [])
        usable, rejected = _judged(group, wish)
        validated = book.provider in gpu.validated_on
        reason = _class_reason(gpu, book.provider, wish, validated=validated)
        if gpu.vram_gb >= wish.floor_gb:
            walk += usable
        if reason is not None:
            _exclude_class(result, book.provider, gpu, reason, len(group), wish)
            continue
        if usable:
            result.candidates.append(_from_offer(gpu, *usable[0]))
        elif not group:
            _exclude_class(result, book.provider, gpu, "sold_out", 0, wish)
        for code, offers in rejected.items():
            detail = offers_sentence(code, gpu, offers, len(group), wish)
            result.excluded.append(Exclusion(book.provider, gpu.name, code, detail, len(offers)))
    for raw, offers in _grouped(unmanaged, lambda offer: offer.gpu_raw).items():
        detail = f"{len(offers)} x {raw} ({_sizes(offers)}): not a managed class"
        result.excluded.append(Exclusion(book.provider, raw, "not_rentable", detail, len(offers)))
    result.usable = [offer for _, offer in sorted(walk, key=_walk_order)]
    return result


def _screen_quotes(book: ProviderBook, wish: Wish) -> Screened:
    result = Screened()
    by_class = _grouped(book.quotes, lambda quote: quote.gpu)
    for gpu in _classes_of(book.provider, wish, by_class):
        quotes = by_class.get(gpu.name, [])
        validated = book.provider in gpu.validated_on or any(q.validated for q in quotes)
        reason = _class_reason(gpu, book.provider, wish, validated=validated)
        if reason is not None or not quotes:
            _exclude_class(result, book.provider, gpu, reason or "sold_out", len(quotes), wish)
            continue
        judged = [(quote, _quote_reason(quote, book, wish)) for quote in quotes]
        offered = [(q.rate, q) for q, code in judged if code is None and q.rate is not None]
        if offered:
            rate, quote = min(offered, key=lambda pair: (pair[0], pair[1].product))
            result.candidates.append(_from_quote(gpu, quote, rate, validated=validated))
        result.excluded += [
            Exclusion(book.provider, gpu.name, code, quote_sentence(code, quote, wish))
            for quote, code in judged
            if code is not None
        ]
    for name, quotes in by_class.items():
        if name not in wish.classes:
            detail = f"{name}: not a managed class"
            result.excluded.append(
                Exclusion(book.provider, name, "not_rentable", detail, len(quotes))
            )
    return result


def _exclude_class(
    result: Screened, provider: str, gpu: GpuClass, reason: ReasonCode, count: int, wish: Wish
) -> None:
    detail = class_sentence(reason, provider, gpu, wish)
    result.excluded.append(Exclusion(provider, gpu.name, reason, detail, count))


def _classes_of(provider: str, wish: Wish, mentioned: Iterable[str]) -> list[GpuClass]:
    """The whole table for a provider that is in it, with the classes that it has no name for; else what it mentions."""
    if _is_in_table(provider, wish):
        return list(wish.classes.values())
    names = set(mentioned)
    return [gpu for gpu in wish.classes.values() if gpu.name in names]


def _is_in_table(provider: str, wish: Wish) -> bool:
    return any(provider in gpu.native for gpu in wish.classes.values())


def _class_reason(
    gpu: GpuClass, provider: str, wish: Wish, *, validated: bool
) -> ReasonCode | None:
    if provider not in gpu.native and _is_in_table(provider, wish):
        return "not_rentable"
    if gpu.vram_gb < wish.need_gb:
        return "too_small"
    if wish.pin is not None and gpu.name != wish.pin.name:
        return "pin"
    return None if validated or wish.unvalidated else "not_validated"


def _judged(
    offers: Iterable[Offer], wish: Wish
) -> tuple[list[_Priced], dict[ReasonCode, list[Offer]]]:
    """What could be rented, cheapest first, and the rest by its first reason."""
    usable: list[_Priced] = []
    rejected: dict[ReasonCode, list[Offer]] = {}
    for offer in offers:
        rate = wish.rate_of(offer)
        reasons = _offer_reasons(offer, rate, wish)
        reason = next((reason for reason in reasons if reason not in wish.ignored), None)
        if reason is None and rate is not None:
            usable.append((rate, offer))
        else:
            rejected.setdefault(reason or "price_unknown", []).append(offer)
    return sorted(usable, key=_walk_order), rejected


def _walk_order(priced: _Priced) -> tuple[HourlyRate, int, int, str]:
    """Cheapest first, then the smaller card, then the older id; a total order."""
    rate, offer = priced
    return rate, offer.vram_gb, len(offer.offer_id), offer.offer_id


def _offer_reasons(offer: Offer, rate: HourlyRate | None, wish: Wish) -> Iterator[ReasonCode]:
    yield from offer.reasons
    if offer.num_gpus != 1 or offer.product == "interruptible":
        yield "not_rentable"
    if not rate:
        yield "price_unknown"
    if not wish.is_fresh(offer.observed_at):
        yield "stale"
    if offer.machine_id is not None and offer.machine_id in wish.machines:
        yield "excluded_machine"
    if offer.disk_gb is not None and offer.disk_gb < wish.disk_gb:
        yield "disk"
    if offer.available_until is not None and offer.available_until < wish.until:
        yield "ends_too_soon"
    if _is_too_dear(rate, wish):
        yield "too_dear"


def _quote_reason(quote: Quote, book: ProviderBook, wish: Wish) -> ReasonCode | None:
    reasons = _quote_reasons(quote, book, wish)
    return next((reason for reason in reasons if reason not in wish.ignored), None)


def _quote_reasons(quote: Quote, book: ProviderBook, wish: Wish) -> Iterator[ReasonCode]:
    if {quote.product, wish.product} == _PRODUCTS_OF_A_CHOICE:
        yield "not_asked"
    if quote.available == 0 or quote.stock == "none":
        yield "sold_out"
    if not quote.rate:
        yield "price_unknown"
    yield from _trust_reasons(quote, book, wish)
    if _is_too_dear(quote.rate, wish):
        yield "too_dear"


def _trust_reasons(quote: Quote, book: ProviderBook, wish: Wish) -> Iterator[ReasonCode]:
    """A built-in price counts only where it is the best there is; any other must be fresh and rentable."""
    if quote.source == "static":
        if not book.static_may_win:
            yield "stale"
        if quote.product == "pod" and any(q.product == "serverless" for q in book.quotes):
            yield "not_rentable"
        return
    if not quote.rentable:
        yield "not_rentable"
    if not wish.is_fresh(quote.observed_at):
        yield "stale"


def _sizes(offers: Iterable[Offer]) -> str:
    sizes = sorted({offer.vram_gb for offer in offers})
    return f"{', '.join(map(str, sizes))} GB" if sizes[0] > 0 else "memory size not known"


def _is_too_dear(rate: HourlyRate | None, wish: Wish) -> bool:
    return wish.cap is not None and rate is not None and rate > wish.cap


def _from_offer(gpu: GpuClass, rate: HourlyRate, offer: Offer) -> Candidate:
    return Candidate(
        provider=offer.provider,
        gpu=gpu.name,
        hourly_usd=float(rate),
        vram_gb=gpu.vram_gb,
        validated=offer.provider in gpu.validated_on,
        offer=offer,
        product=offer.product,
        observed_at=offer.observed_at,
    )


def _from_quote(gpu: GpuClass, quote: Quote, rate: HourlyRate, *, validated: bool) -> Candidate:
    return Candidate(
        provider=quote.provider,
        gpu=gpu.name,
        hourly_usd=float(rate),
        vram_gb=gpu.vram_gb,
        validated=validated,
        product=quote.product,
        source=quote.source,
        observed_at=quote.observed_at,
    )


def _newest(offers: Iterable[Offer]) -> list[Offer]:
    """One of each offer id: the one seen last."""
    found: dict[str, Offer] = {}
    for offer in offers:
        other = found.get(offer.offer_id)
        if other is None or other.observed_at <= offer.observed_at:
            found[offer.offer_id] = offer
    return list(found.values())


def _grouped(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
