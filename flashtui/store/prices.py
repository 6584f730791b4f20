"""Prices on disk: the last sheet of each provider for the next start, and raw samples for sparklines and ranges."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any, get_args

from flashtui.domain.market import Account, PriceSheet, Product, Quote, Stock
from flashtui.domain.money import HourlyRate, Usd
from flashtui.store.columns import micros, moment, stamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import datetime

KEPT_DAYS = 30
_PRODUCTS = get_args(Product)
_STOCKS = get_args(Stock)


class PriceRepo:
    """The tables ``sheets``, ``price_samples`` and ``accounts`` inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def save_sheet(self, sheet: PriceSheet) -> None:
        """Keep a sheet's rows in place of the provider's earlier ones; static rows are in the program already."""
        quotes = [_json_from_quote(q) for q in sheet.quotes if q.source != "static"]
        if sheet.observed_at is None or not quotes:
            return
        self._connection.execute(
            "INSERT INTO sheets (provider, observed_at, quotes) VALUES (?, ?, ?)"
            " ON CONFLICT (provider) DO UPDATE SET observed_at = excluded.observed_at, quotes = excluded.quotes",
            (sheet.provider, stamp(sheet.observed_at), json.dumps(quotes, separators=(",", ":"))),
        )

    def load_sheets(self) -> dict[str, PriceSheet]:
        """The last sheet of each provider, every row marked ``cached``; one that cannot be read is left out."""
        sheets: dict[str, PriceSheet] = {}
        for row in self._connection.execute("SELECT provider, observed_at, quotes FROM sheets"):
            quotes = _quotes(row["provider"], row["quotes"])
            if quotes:
                sheets[row["provider"]] = PriceSheet(
                    row["provider"], quotes, moment(row["observed_at"])
                )
        return sheets

    def sample(self, sheet: PriceSheet) -> None:
        """Append the live rows of a refresh to the history."""
        rows = [
            (
                stamp(q.observed_at),
                q.provider,
                q.gpu,
                q.product,
                micros(q.rate),
                q.available,
                q.stock,
            )
            for q in sheet.quotes
            if q.source == "live"
        ]
        self._connection.executemany(
            "INSERT OR IGNORE INTO price_samples (at, provider, gpu, product, rate, available, stock)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    def ranges(
        self, since: datetime
    ) -> dict[tuple[str, str, Product], tuple[HourlyRate, HourlyRate]]:
        """Lowest and highest rate since a moment, by provider, class and product."""
        rows = self._connection.execute(
            "SELECT provider, gpu, product, min(rate) AS low, max(rate) AS high FROM price_samples"
            " WHERE at >= ? AND rate IS NOT NULL GROUP BY provider, gpu, product",
            (stamp(since),),
        )
        return {
            (r["provider"], r["gpu"], r["product"]): (HourlyRate(r["low"]), HourlyRate(r["high"]))
            for r in rows
        }

    def samples(
        self, provider: str, gpu: str, product: Product, since: datetime
    ) -> tuple[tuple[datetime, HourlyRate | None], ...]:
        """The rates of one row since a moment, oldest first."""
        rows = self._connection.execute(
            "SELECT at, rate FROM price_samples WHERE at >= ? AND provider = ? AND gpu = ? AND product = ? ORDER BY at",
            (stamp(since), provider, gpu, product),
        )
        return tuple(
            (moment(r["at"]), None if r["rate"] is None else HourlyRate(r["rate"])) for r in rows
        )

    def forget(self, now: datetime) -> int:
        """Drop samples that are older than :data:`KEPT_DAYS`; how many."""
        oldest = stamp(now - timedelta(days=KEPT_DAYS))
        return self._connection.execute(
            "DELETE FROM price_samples WHERE at < ?", (oldest,)
        ).rowcount

    def save_account(self, account: Account) -> None:
        """Keep what a provider last said of the money."""
        self._connection.execute(
            "INSERT OR REPLACE INTO accounts (provider, balance, spend, spend_limit, observed_at, note)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                account.provider,
                micros(account.balance),
                micros(account.spend),
                micros(account.spend_limit),
                stamp(account.observed_at),
                account.note,
            ),
        )

    def accounts(self) -> tuple[Account, ...]:
        """What each provider last said of the money."""
        rows = self._connection.execute("SELECT * FROM accounts ORDER BY provider")
        return tuple(
            Account(
                provider=r["provider"],
                balance=None if r["balance"] is None else Usd(r["balance"]),
                spend=None if r["spend"] is None else HourlyRate(r["spend"]),
                spend_limit=None if r["spend_limit"] is None else HourlyRate(r["spend_limit"]),
                observed_at=moment(r["observed_at"]),
                note=r["note"],
            )
            for r in rows
        )


def _json_from_quote(quote: Quote) -> dict[str, Any]:
    return {
        "gpu": quote.gpu,
        "vram_gb": quote.vram_gb,
        "product": quote.product,
        "rate": micros(quote.rate),
        "available": quote.available,
        "stock": quote.stock,
        "regions": list(quote.regions),
        "observed_at": stamp(quote.observed_at),
        "validated": quote.validated,
        "rentable": quote.rentable,
        "managed": quote.managed,
        "offer_id": quote.offer_id,
        "machine_id": quote.machine_id,
    }


def _quotes(provider: str, text: str) -> tuple[Quote, ...]:
    try:
        return tuple(_quote(provider, item) for item in json.loads(text))
    except (ValueError, TypeError, KeyError, OverflowError):
        return ()


def _quote(provider: str, item: Mapping[str, Any]) -> Quote:
    if item["product"] not in _PRODUCTS or item["stock"] not in _STOCKS:
        raise ValueError(item["product"])
    return Quote(
        provider=provider,
        gpu=str(item["gpu"]),
        vram_gb=int(item["vram_gb"]),
        product=item["product"],
        rate=None if item["rate"] is None else HourlyRate(int(item["rate"])),
        available=None if item["available"] is None else int(item["available"]),
        stock=item["stock"],
        regions=tuple(str(region) for region in item["regions"]),
        source="cached",
        observed_at=moment(int(item["observed_at"])),
        validated=bool(item["validated"]),
        rentable=bool(item["rentable"]),
        managed=bool(item["managed"]),
        offer_id=item["offer_id"],
        machine_id=item["machine_id"],
    )
