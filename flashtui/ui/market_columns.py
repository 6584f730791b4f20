"""What a row of the market shows in which column, and by what it can be filtered; pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from flashtui.domain.market import Freshness, freshness
from flashtui.domain.text import clean
from flashtui.ui.cells import NOTHING, UNKNOWN, Cell, age_text, rate_text, seconds_since
from flashtui.ui.columns import Column
from flashtui.ui.filtering import Fields
from flashtui.ui.market_rows import quote_freshness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.ui.columns import Look
    from flashtui.ui.market_rows import MarketRow

PRODUCT_WORDS: Mapping[str, str] = MappingProxyType({"interruptible": "interrupt."})
STOCK_WORDS: Mapping[str, str] = MappingProxyType({"medium": "med"})
_STOCK_RANK = MappingProxyType({"none": 0, "low": 1, "medium": 2, "high": 3})


def row_freshness(row: MarketRow, look: Look) -> Freshness:
    """How far the price of a row may be trusted."""
    if row.offer is None:
        return quote_freshness(row.quote, look)
    return freshness(seconds_since(row.offer.observed_at, look.now), look.interval_s)


def _is_unknown(row: MarketRow, look: Look) -> bool:
    return row_freshness(row, look) is Freshness.UNKNOWN


def _tone(row: MarketRow, look: Look, style: str = "") -> str:
    """Dim what is old or what the rules would not rent; the words are in other columns."""
    if row_freshness(row, look) is not Freshness.FRESH:
        return "dim"
    if row.offer is not None:
        return style if row.offer.usable else "dim"
    return style if row.quote.managed else "dim"


def _gpu(row: MarketRow, look: Look) -> Cell:
    if row.offer is None:
        return Cell(clean(row.quote.gpu), _tone(row, look))
    return Cell(f"- {row.offer.num_gpus}x {clean(row.offer.gpu_raw)}", _tone(row, look))


def _vram(row: MarketRow, look: Look) -> Cell:
    return Cell(str((row.offer or row.quote).vram_gb), _tone(row, look))


def _provider(row: MarketRow, look: Look) -> Cell:
    return Cell(row.quote.provider, _tone(row, look))


def _product(row: MarketRow, look: Look) -> Cell:
    product = (row.offer or row.quote).product
    return Cell(PRODUCT_WORDS.get(product, product), _tone(row, look))


def _price(row: MarketRow, look: Look) -> Cell:
    state = row_freshness(row, look)
    if row.rate is None or state is Freshness.UNKNOWN:
        return Cell(f"{UNKNOWN} ", "dim")
    static = row.quote.source == "static" and row.offer is None
    if static:
        return Cell(f"~{rate_text(row.rate)} ", "estimate")
    mark = {-1: "v", 1: "^"}.get(row.moved, " ")
    plain = state is Freshness.FRESH and (row.offer is None or row.offer.usable)
    return Cell(f"{rate_text(row.rate)}{mark}", "price" if plain else "dim")


def _spot(row: MarketRow, look: Look) -> Cell:
    if row.spot is None or _is_unknown(row, look):
        return Cell("" if row.offer is not None else NOTHING, "dim")
    return Cell(rate_text(row.spot), _tone(row, look))


def _available(row: MarketRow, look: Look) -> Cell:
    if _is_unknown(row, look):
        return Cell(UNKNOWN, "dim")
    if row.offer is not None:
        return Cell("yes" if row.offer.usable else "no", _tone(row, look))
    count = row.quote.available
    return Cell(UNKNOWN if count is None else str(count), _tone(row, look))


def _stock(row: MarketRow, look: Look) -> Cell:
    if _is_unknown(row, look):
        return Cell(UNKNOWN, "dim")
    stock = "unknown" if row.offer is not None else row.quote.stock
    text = NOTHING if stock == "unknown" else STOCK_WORDS.get(stock, stock)
    return Cell(text, _tone(row, look, "warn" if stock == "none" else ""))


def _available_or_stock(row: MarketRow, look: Look) -> Cell:
    """One narrow column for both ways in which providers say how much there is."""
    if row.offer is None and row.quote.available is None and row.quote.stock != "unknown":
        return _stock(row, look)
    return _available(row, look)


def _region(row: MarketRow, look: Look) -> Cell:
    return Cell(clean(_sort_region(row)) or NOTHING, _tone(row, look))


def _regions(row: MarketRow, look: Look) -> Cell:
    """With how many more there are."""
    others = len(row.quote.regions) - 1 if row.offer is None else 0
    more = f" +{others}" if others > 0 else ""
    return Cell(f"{_region(row, look).text}{more}", _tone(row, look))


def _validated(row: MarketRow, look: Look) -> Cell:
    if row.offer is not None:
        return Cell("")
    return Cell("yes" if row.quote.validated else "no", _tone(row, look))


def _source(row: MarketRow, look: Look) -> Cell:
    state = row_freshness(row, look)
    if state is Freshness.STALE:
        return Cell("STALE", "warn")
    if state is Freshness.UNKNOWN:
        return Cell("UNKNOWN", "bad")
    source = row.quote.source if row.offer is None else "live"
    return Cell(source, {"live": "good"}.get(source, "dim"))


def _age(row: MarketRow, look: Look) -> Cell:
    age = seconds_since((row.offer or row.quote).observed_at, look.now)
    state = row_freshness(row, look)
    style = {Freshness.STALE: "warn", Freshness.UNKNOWN: "bad"}.get(state, "dim")
    return Cell(age_text(age), style)


def _reliability(row: MarketRow, look: Look) -> Cell:
    value = None if row.offer is None else row.offer.reliability
    return Cell("" if row.offer is None else _number(value, ".3f"), _tone(row, look))


def _note(row: MarketRow, look: Look) -> Cell:
    """What speaks against a row, in words."""
    if row.offer is not None:
        words = ", ".join(reason.replace("_", " ") for reason in row.offer.reasons)
        return Cell(words or f"machine {clean(row.offer.machine_id) or UNKNOWN}", "dim")
    if not row.quote.managed:
        return Cell("not a managed class", "dim")
    return Cell("" if row.quote.rentable else "for comparison, cannot be submitted", "dim")


def _number(value: float | None, spec: str) -> str:
    return UNKNOWN if value is None else format(value, spec)


def _sort_rate(row: MarketRow) -> int | None:
    return None if row.believed_rate is None else row.believed_rate.micros


def _sort_available(row: MarketRow) -> int | None:
    if row.offer is not None:
        return int(row.offer.usable)
    return None if row.withheld else row.quote.available


def _sort_stock(row: MarketRow) -> int | None:
    return None if row.offer is not None else _STOCK_RANK.get(row.quote.stock)


def _sort_available_or_stock(row: MarketRow) -> int | None:
    found = _sort_available(row)
    return _sort_stock(row) if found is None else found


def _sort_age(row: MarketRow) -> float:
    return -(row.offer or row.quote).observed_at.timestamp()


def _sort_region(row: MarketRow) -> str | None:
    if row.offer is not None:
        return row.offer.region
    return row.quote.regions[0] if row.quote.regions else None


MARKET_COLUMNS: tuple[Column[MarketRow], ...] = (
    Column("gpu", "GPU", 15, _gpu, lambda r: r.quote.gpu),
    Column("vram", "VRAM", 4, _vram, lambda r: (r.offer or r.quote).vram_gb, "right", falling=True),
    Column("provider", "PROV", 6, _provider, lambda r: r.quote.provider),
    Column("product", "PRODUCT", 10, _product, lambda r: (r.offer or r.quote).product),
    Column("rate", "$/h", 7, _price, _sort_rate, "right"),
    Column(
        "stock", "AVL", 4, _available_or_stock, _sort_available_or_stock, "right",
        max_width=99, falling=True,
    ),
    Column("available", "AVAIL", 6, _available, _sort_available, "right", 100, falling=True),
    Column("stock_word", "STOCK", 6, _stock, _sort_stock, min_width=100, falling=True),
    Column("spot", "SPOT", 6, _spot, lambda r: None if r.spot is None else r.spot.micros, "right", 100),
    Column("region", "REGION", 8, _region, _sort_region, max_width=99),
    Column("regions", "REGION", 11, _regions, _sort_region, min_width=100),
    Column("validated", "VAL", 3, _validated, lambda r: not r.quote.validated),
    Column("source", "SOURCE", 7, _source, lambda r: r.quote.source),
    Column("age", "AGE", 4, _age, _sort_age, "right"),
    Column("reliability", "REL", 5, _reliability,
           lambda r: None if r.offer is None else r.offer.reliability, "right", 128, falling=True),
    Column("note", "NOTE", 20, _note, min_width=128, flex=True),
)  # fmt: skip


def _text(row: MarketRow) -> str:
    quote, offer = row.quote, row.offer
    parts = [quote.gpu, quote.provider, quote.product, quote.source, *quote.regions]
    if offer is not None:
        parts += [offer.gpu_raw, offer.region or "", offer.offer_id, offer.machine_id or ""]
    return " ".join(parts).lower()


def _dollars(row: MarketRow) -> float | None:
    return None if row.believed_rate is None else float(row.believed_rate)


def _known_stock(row: MarketRow) -> str | None:
    return None if row.offer is not None or row.quote.stock == "unknown" else row.quote.stock


MARKET_FIELDS: Fields[MarketRow] = Fields(
    values={
        "gpu": lambda r: r.quote.gpu,
        "vram": lambda r: (r.offer or r.quote).vram_gb,
        **dict.fromkeys(("prov", "provider"), lambda r: r.quote.provider),
        "product": lambda r: (r.offer or r.quote).product,
        **dict.fromkeys(("$", "$/h", "price", "rate"), _dollars),
        "spot": lambda r: None if r.spot is None else float(r.spot),
        "avail": _sort_available,
        "stock": _known_stock,
        "region": _sort_region,
        **dict.fromkeys(("val", "validated"), lambda r: "yes" if r.quote.validated else "no"),
        "source": lambda r: r.quote.source,
        "rel": lambda r: None if r.offer is None else r.offer.reliability,
    },
    text=_text,
)
