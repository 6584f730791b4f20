"""What a row of the market says: price, source, age; and what it does not say."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from flashtui.domain.market import PriceSheet
from flashtui.domain.money import HourlyRate
from flashtui.ui.columns import Look
from flashtui.ui.filtering import compile_filter
from flashtui.ui.market_columns import MARKET_COLUMNS, MARKET_FIELDS
from flashtui.ui.market_rows import MarketRow, market_rows, offer_key, price_moves, quote_key
from flashtui.ui.table_model import SortBy
from tests.fakes import T0
from tests.ui import samples
from tests.ui.samples import ago, quote

LOOK = Look(T0, 45.0)
COLUMNS = {column.id: column for column in MARKET_COLUMNS}


def shown(row: MarketRow, column: str) -> str:
    return COLUMNS[column].cell(row, LOOK).text


def style(row: MarketRow, column: str) -> str:
    return COLUMNS[column].cell(row, LOOK).style


def row(**more: Any) -> MarketRow:
    return MarketRow(quote(**more))


def test_a_live_price_is_plain_with_three_decimals() -> None:
    assert shown(row(price=0.3412345), "rate") == "0.341 "
    assert shown(row(), "source") == "live"
    assert shown(row(), "age") == "4s"


def test_a_price_from_the_list_is_an_estimate_and_never_stale() -> None:
    static = row(source="static", observed_at=ago(15_000_000))
    assert shown(static, "rate") == "~1.890 "
    assert style(static, "rate") == "estimate"
    assert shown(static, "source") == "static"
    assert shown(static, "age") == "173d"


@pytest.mark.parametrize(
    ("age_s", "source", "price"),
    [(90, "live", "1.890 "), (91, "STALE", "1.890 "), (451, "UNKNOWN", "? ")],
)
def test_a_price_grows_stale_after_two_intervals_and_unknown_after_ten(
    age_s: float, source: str, price: str
) -> None:
    old = row(observed_at=ago(age_s))
    assert shown(old, "source") == source
    assert shown(old, "rate") == price


def test_a_stale_row_is_dim_all_over_and_says_so() -> None:
    old = row(observed_at=ago(200))
    assert {style(old, column) for column in ("gpu", "vram", "rate", "provider")} == {"dim"}


def test_unknown_is_a_question_mark_never_zero() -> None:
    blank = row(price=None, available=None, regions=())
    assert shown(blank, "rate").strip() == "?"
    assert shown(blank, "available") == "?"
    assert shown(blank, "region") == "-"


def test_one_narrow_column_says_how_much_there_is_in_the_providers_own_way() -> None:
    assert shown(row(available=7), "stock") == "7"
    assert shown(row(available=None, stock="medium"), "stock") == "med"
    assert shown(row(available=None, stock="unknown"), "stock") == "?"


def test_a_price_that_is_withheld_ranks_as_unknown() -> None:
    sheets = [
        PriceSheet("vast", (quote(price=0.1, observed_at=ago(1000)),), ago(1000)),
        PriceSheet("runpod", (quote("runpod", price=5.0),), T0),
    ]
    rows, _ = market_rows(sheets, look=LOOK)
    value = COLUMNS["rate"].sort
    assert value is not None
    assert SortBy(value).ordered(rows, rows) == ["q:runpod:pod:H100", "q:vast:instance:H100"]
    assert shown(rows["q:vast:instance:H100"], "available") == "?"
    cheap = compile_filter("price<1", MARKET_FIELDS)
    assert cheap is not None
    assert not any(cheap(r) for r in rows.values())


def test_what_cannot_be_submitted_or_is_not_managed_says_so() -> None:
    assert "comparison" in shown(row(rentable=False), "note")
    assert shown(row(managed=False), "note") == "not a managed class"
    assert style(row(managed=False), "gpu") == "dim"


def test_offers_behind_a_row_are_those_of_its_class_and_product() -> None:
    mine = (
        samples.offer(1),
        samples.offer(2, product="interruptible"),
        samples.offer(3, gpu="A40", gpu_raw="A40"),
    )
    sheet = PriceSheet("vast", (quote(), quote(gpu="A40")), T0, mine)
    rows, children = market_rows([sheet], opened={quote_key(quote())})
    assert children == {quote_key(quote()): [offer_key(mine[0])]}
    assert rows[offer_key(mine[0])].offer == mine[0]


def test_offers_of_boards_that_are_not_managed_open_by_the_providers_name() -> None:
    strange = samples.offer(1, gpu=None, gpu_raw="RTX 3060")
    unmanaged = quote(gpu="RTX 3060", managed=False)
    _, children = market_rows(
        [PriceSheet("vast", (unmanaged,), T0, (strange,))], opened={quote_key(unmanaged)}
    )
    assert list(children.values()) == [[offer_key(strange)]]


def test_an_offer_that_would_not_be_rented_says_why() -> None:
    bad = MarketRow(quote(), samples.offer(reasons=("reliability", "not_verified")))
    assert shown(bad, "note") == "reliability, not verified"
    assert shown(bad, "stock") == "no"


def test_the_price_of_an_offer_is_per_gpu() -> None:
    assert shown(MarketRow(quote(), samples.offer(price=4.0, num_gpus=2)), "rate") == "2.000 "


def test_the_pick_is_marked_on_its_class_and_on_its_offer() -> None:
    sheet = PriceSheet(
        "vast", (quote(), quote(gpu="A40")), T0, (samples.offer(1), samples.offer(2))
    )
    pick = samples.candidate(gpu="H100", offer=SimpleNamespace(offer_id="900002"))
    rows, _ = market_rows([sheet], opened={quote_key(quote())}, pick=pick)
    assert {key for key, r in rows.items() if r.picked} == {quote_key(quote()), "o:vast:900002"}


def test_prices_that_changed_say_which_way() -> None:
    first = PriceSheet(
        "vast", (quote(price=1.0), quote(gpu="A40", price=2.0), quote(gpu="L4", price=3.0)), T0
    )
    known, moves = price_moves({}, [first])
    assert moves == {}
    second = replace(
        first, quotes=(quote(price=0.9), quote(gpu="A40", price=2.1), quote(gpu="L4", price=3.0))
    )
    assert price_moves(known, [second])[1] == {
        quote_key(quote()): -1,
        quote_key(quote(gpu="A40")): 1,
    }


@pytest.mark.parametrize(
    ("column", "rows", "expected"),
    [
        ("rate", {"a": {"price": 2.1}, "b": {"price": 10.24}, "c": {"price": 0.35}, "d": {"price": None}}, "cabd"),
        ("vram", {"a": {"vram_gb": 8}, "b": {"vram_gb": 96}, "c": {"vram_gb": 141}, "d": {"vram_gb": 24}}, "adbc"),
        ("age", {"a": {"observed_at": ago(540)}, "b": {"observed_at": ago(172_800)}, "c": {"observed_at": ago(10_800)}}, "acb"),
        ("available", {"a": {"available": 3}, "b": {"available": None}, "c": {"available": 0}}, "cab"),
        ("stock_word", {"a": {"stock": "low"}, "b": {"stock": "high"}, "c": {"stock": "unknown"}}, "abc"),
    ],
)  # fmt: skip
def test_columns_sort_by_value(column: str, rows: dict[str, dict[str, Any]], expected: str) -> None:
    records = {key: row(**fields) for key, fields in rows.items()}
    value = COLUMNS[column].sort
    assert value is not None
    assert "".join(SortBy(value).ordered(records, records)) == expected
    unknown = [key for key in records if value(records[key]) is None]
    assert (
        SortBy(value, falling=True).ordered(records, records)[len(records) - len(unknown) :]
        == unknown
    )


@pytest.mark.parametrize(
    ("query", "count"),
    [("vram>=80 prov=vast", 1), ("product=pod", 1), ("stock=high", 1), ("price<1", 1), ("val=no", 1), ("us-tx", 2), ("rel>0.9", 0)],
)  # fmt: skip
def test_fields_of_the_filter(query: str, count: int) -> None:
    rows = [
        row(),
        row(
            provider="runpod",
            gpu="L4",
            vram_gb=24,
            price=0.39,
            stock="high",
            available=None,
            validated=False,
        ),
    ]
    accept = compile_filter(query, MARKET_FIELDS)
    assert accept is not None
    assert sum(accept(r) for r in rows) == count


def test_an_interruptible_price_stands_in_the_row_of_its_class() -> None:
    """Two prices of one class are one line; where there is no on-demand row, it keeps its own."""
    on_demand = quote(gpu="L4", product="instance")
    cheaper = quote(gpu="L4", product="interruptible", price=0.11)
    alone = quote(gpu="A40", product="interruptible", price=0.2)
    rows, _ = market_rows([PriceSheet("vast", (on_demand, cheaper, alone), T0)])
    assert list(rows) == [quote_key(on_demand), quote_key(alone)]
    assert rows[quote_key(on_demand)].spot == HourlyRate.of("0.11")


def test_boards_that_are_not_managed_are_left_out_unless_the_whole_market_is_wanted() -> None:
    """What nothing here can submit to must not push what can off the screen."""
    managed, strange = quote(gpu="L4"), quote(gpu="RTX 3060", managed=False)
    sheets = [PriceSheet("vast", (managed, strange), T0)]
    assert list(market_rows(sheets, whole=False)[0]) == [quote_key(managed)]
    assert set(market_rows(sheets)[0]) == {quote_key(managed), quote_key(strange)}
