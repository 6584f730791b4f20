"""Money is exact."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.money import (
    ZERO_USD,
    HourlyRate,
    Usd,
    format_rate,
    format_usd,
    micros_from_usd,
)

MICROS = st.integers(-(10**13), 10**13)
RATES = st.integers(0, 10**11)


@given(MICROS)
def test_an_amount_survives_the_way_through_json(micros: int) -> None:
    assert Usd.of(float(Usd(micros))) == Usd(micros)
    assert Usd.of(Decimal(micros) / 1_000_000) == Usd(micros)


@given(MICROS, MICROS)
def test_sums_are_exact(first: int, second: int) -> None:
    assert Usd(first) + Usd(second) - Usd(second) == Usd(first)


@given(RATES, st.integers(1, 16))
def test_a_share_times_the_count_is_the_whole_within_rounding(micros: int, count: int) -> None:
    assert abs(HourlyRate(micros).per(count).times(count).micros - micros) <= count
    assert HourlyRate(micros).times(count).per(count) == HourlyRate(micros)


def test_three_times_99_cents_is_2_97() -> None:
    assert HourlyRate.of(0.99).times(3) == HourlyRate.of(2.97)


@given(RATES, st.floats(0, 1e7), st.floats(0, 1e7))
def test_cost_grows_with_time(micros: int, first: float, more: float) -> None:
    rate = HourlyRate(micros)
    assert rate.cost_over(first) <= rate.cost_over(first + more)


def test_an_hour_costs_the_rate_and_a_negative_time_nothing() -> None:
    assert HourlyRate.of(1.89).cost_over(3600) == Usd.of(1.89)
    assert HourlyRate.of(1.89).cost_over(-5) == ZERO_USD


@pytest.mark.parametrize("bad", [math.nan, math.inf, "abc", "", True])
def test_what_is_no_money_is_refused(bad: float | str) -> None:
    with pytest.raises(ValueError, match="not an amount of money"):
        micros_from_usd(bad)


@pytest.mark.parametrize("bad", [-0.01, 100_001])
def test_what_is_no_price_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not a price per hour"):
        HourlyRate.of(bad)


def test_rounding_is_half_up() -> None:
    assert HourlyRate.of("0.3412345").micros == 341_235
    assert Usd.of("0.0000005").micros == 1


def test_unknown_money_is_a_question_mark() -> None:
    assert (format_usd(None), format_rate(None)) == ("?", "?")
    assert format_usd(Usd.of(-0.4)) == "-$0.40"
    assert format_rate(HourlyRate.of(0.3412), decimals=3) == "0.341"
    assert (bool(Usd(0)), bool(HourlyRate(0)), bool(Usd(1))) == (False, False, True)
    assert float(HourlyRate.of(1) + HourlyRate.of(2)) == 3.0
