"""The rows of the market: one per provider, product and class, and the offers behind those that are opened; pure."""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from flashtui.domain.market import Freshness, freshness
from flashtui.ui.cells import seconds_since

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from flashtui.domain.allocation import Candidate
    from flashtui.domain.market import Offer, PriceSheet, Quote
    from flashtui.domain.money import HourlyRate
    from flashtui.ui.columns import Look


class MarketRow(NamedTuple):
    """A quote, or one offer behind it.

    Attributes:
        quote: the class row, or the class row an offer belongs to.
        offer: None on a class row.
        picked: the allocator would take this one for the job in focus.
        moved: the last change of the price: -1 down, 1 up, 0 none lately.
        opened: the offers behind this class row are listed below it.
        withheld: it was too old to be believed when the rows were made; it ranks as unknown.
        spot: dollars per GPU-hour of the same on interruptible terms, for comparison.
    """

    quote: Quote
    offer: Offer | None = None
    picked: bool = False
    moved: int = 0
    opened: bool = False
    withheld: bool = False
    spot: HourlyRate | None = None

    @property
    def rate(self) -> HourlyRate | None:
        """Dollars per GPU-hour, as last seen."""
        return self.quote.rate if self.offer is None else self.offer.rate_per_gpu

    @property
    def believed_rate(self) -> HourlyRate | None:
        """The same, unless it is too old to be ranked by."""
        return None if self.withheld else self.rate


def quote_key(quote: Quote) -> str:
    """The identity of a class row."""
    return f"q:{quote.provider}:{quote.product}:{quote.gpu}"


def offer_key(offer: Offer) -> str:
    """The identity of an offer."""
    return f"o:{offer.provider}:{offer.offer_id}"


def market_rows(
    sheets: Sequence[PriceSheet],
    *,
    opened: Collection[str] = (),
    pick: Candidate | None = None,
    moves: Mapping[str, int] = MappingProxyType({}),
    look: Look | None = None,
    whole: bool = True,
) -> tuple[dict[str, MarketRow], dict[str, list[str]]]:
    """All rows by key, and the keys of offers by the key of the class row they belong under.

    Args:
        sheets: the newest of every provider.
        opened: keys of class rows whose offers are wanted.
        pick: the allocator's choice.
        moves: by key, which way the price went.
        look: the moment, to tell which prices are too old; None: none is.
        whole: with boards that are not managed classes, which nothing here can submit to.
    """
    rows: dict[str, MarketRow] = {}
    children: dict[str, list[str]] = {}
    picked_offer = _offer_id(pick)
    for sheet in sheets:
        spots = _spot_rates(sheet)
        for quote in sheet.quotes:
            if not is_row(quote, spots, whole=whole):
                continue
            key = quote_key(quote)
            is_open = key in opened
            rows[key] = MarketRow(
                quote,
                None,
                _is_pick(quote, pick),
                moves.get(key, 0),
                opened=is_open,
                withheld=_withheld(quote, look),
                spot=spots.get(quote.gpu) if quote.product == "instance" else None,
            )
        wanted = {
            k: r.quote for k, r in rows.items() if r.opened and r.quote.provider == sheet.provider
        }
        if not wanted:
            continue
        behind = _by_class(sheet.offers)
        for key, quote in wanted.items():
            offers = behind.get((quote.gpu, quote.product), ())
            children[key] = [offer_key(offer) for offer in offers]
            for offer in offers:
                is_pick = rows[key].picked and offer.offer_id == picked_offer
                rows[offer_key(offer)] = MarketRow(quote, offer, is_pick, spot=offer.min_bid)
    return rows, children


def _spot_rates(sheet: PriceSheet) -> Mapping[str, HourlyRate]:
    """Interruptible prices by class, where the same class has an on-demand row to stand beside."""
    on_demand = {quote.gpu for quote in sheet.quotes if quote.product == "instance"}
    return {
        quote.gpu: quote.rate
        for quote in sheet.quotes
        if quote.product == "interruptible" and quote.rate is not None and quote.gpu in on_demand
    }


def is_row(quote: Quote, spots: Mapping[str, HourlyRate], *, whole: bool) -> bool:
    """Whether a quote has a row of its own: an interruptible price stands in the row of its class."""
    if quote.product == "interruptible" and quote.gpu in spots:
        return False
    return whole or quote.managed


def _withheld(quote: Quote, look: Look | None) -> bool:
    return look is not None and quote_freshness(quote, look) is Freshness.UNKNOWN


def quote_freshness(quote: Quote, look: Look) -> Freshness:
    """How far a price may be trusted; a built-in list is dated, not aged."""
    if quote.source == "static":
        return Freshness.FRESH
    return freshness(seconds_since(quote.observed_at, look.now), look.interval_s)


def _by_class(offers: Iterable[Offer]) -> Mapping[tuple[str, str], list[Offer]]:
    groups: dict[tuple[str, str], list[Offer]] = defaultdict(list)
    for offer in offers:
        groups[offer.gpu or offer.gpu_raw, offer.product].append(offer)
    return groups


def _is_pick(quote: Quote, pick: Candidate | None) -> bool:
    return (
        pick is not None
        and (quote.provider, quote.gpu) == (pick.provider, pick.gpu)
        and quote.product == pick.product
    )


def _offer_id(pick: Candidate | None) -> str | None:
    """The id of the picked offer; the hint is the provider's own, so it is only asked for an id."""
    found = getattr(pick.offer, "offer_id", None) if pick is not None else None
    return None if found is None else str(found)


def price_moves(
    before: Mapping[str, HourlyRate], sheets: Sequence[PriceSheet]
) -> tuple[dict[str, HourlyRate], dict[str, int]]:
    """The prices now, and for each key that has changed which way it went."""
    now = {
        quote_key(quote): quote.rate
        for sheet in sheets
        for quote in sheet.quotes
        if quote.rate is not None
    }
    moved = {
        key: 1 if rate > before[key] else -1
        for key, rate in now.items()
        if key in before and rate != before[key]
    }
    return now, moved
