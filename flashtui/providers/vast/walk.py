"""Reads a market page by page: Vast's search has no page tokens, so the next page begins at the last price."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.providers.vast.api import OfferPage, VastApi
    from flashtui.providers.vast.wire import OfferRow, Query

PAGE_ROWS = 256
# Answers are cut at this many rows (or a multiple) for some keys and without one, whatever limit is asked for.
_CUT_ROWS = 64


@dataclass(slots=True)
class Walked:
    """What a walk found.

    Attributes:
        rows: by offer id, each with the moment its page arrived.
        skipped: entries that could not be read.
        complete: the walk came to the end of the market.
        observed_at: when the first page arrived; nothing found is older.
    """

    rows: dict[int, tuple[OfferRow, datetime]] = field(default_factory=dict)
    skipped: int = 0
    complete: bool = False
    observed_at: datetime | None = None

    def add(self, page: OfferPage) -> int:
        """Take in a page; how many of its offers were not known yet."""
        before = len(self.rows)
        for row in page.rows:
            self.rows.setdefault(row.id, (row, page.received_at))
        self.skipped += page.skipped
        self.observed_at = self.observed_at or page.received_at
        return len(self.rows) - before


async def walk_market(
    api: VastApi, query: Query, *, most_pages: int, enough: int | None = None
) -> Walked:
    """Read pages in the order of their price until the end, the budget, or enough offers.

    Args:
        api: one account's routes.
        query: ordered by ``dph_total``, cheapest first.
        most_pages: searches that may be spent.
        enough: stop at this many offers; None: read to the end.

    Raises:
        ProviderError: a page could not be read.
    """
    walked = Walked()
    page_query = query
    for _ in range(most_pages):
        page = await api.search_offers(page_query)
        new = walked.add(page)
        if not _may_be_cut(page.entries, query.limit):
            walked.complete = True
            break
        if enough is not None and len(walked.rows) >= enough:
            break
        last = _last_price(page)
        if last is None:
            break
        # A whole page of one price would come again for ever.
        page_query = query.beyond(last, skip_equal=new == 0)
    return walked


def _may_be_cut(entries: int, limit: int) -> bool:
    return entries > 0 and (entries >= limit or entries % _CUT_ROWS == 0)


def _last_price(page: OfferPage) -> float | None:
    prices = [row.dph_total for row in page.rows if row.dph_total is not None]
    return float(max(prices)) if prices else None
