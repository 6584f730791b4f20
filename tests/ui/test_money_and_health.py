"""The status lines as words: horizon, burn, sources; nothing is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.market import Account
from flashtui.domain.money import ZERO_RATE
from flashtui.services.board import Burn
from flashtui.ui.health import provider_health, store_health
from flashtui.ui.money import burn_line, horizon_line, horizons
from flashtui.ui.parts import line_cells
from flashtui.ui.status_lines import alert_line, health_line, money_line, open_alerts
from tests.fakes import T0
from tests.ui import samples
from tests.ui.samples import ago, rate, usd

if TYPE_CHECKING:
    from flashtui.ui.cells import Line


def text(row: Line) -> str:
    return "".join(span.text for span in row)


def account(balance: float | None = 9.05, spend: float | None = None, age_s: float = 4) -> Account:
    return Account(
        "vast",
        None if balance is None else usd(balance),
        None if spend is None else rate(spend),
        None,
        ago(age_s),
    )


def horizon(money: Account, *rates: float | None) -> Any:
    runs = tuple(
        samples.run(f"r{n}", rate=None if r is None else rate(r)) for n, r in enumerate(rates)
    )
    return horizons(samples.snapshot(accounts=(money,), runs=runs), T0)[0]


def test_the_money_ends_at_balance_over_what_is_seen_running() -> None:
    assert horizon(account(9.0), 2.0, 1.0).hours == pytest.approx(3.0)


def test_the_higher_of_two_rates_decides_and_a_difference_is_said() -> None:
    found = horizon(account(9.0, spend=4.5), 2.0, 1.0)
    assert found.hours == pytest.approx(2.0)
    assert "they say 4.50/h" in text(horizon_line(found, brief=False))


def test_figures_that_agree_are_said_once() -> None:
    assert "they say" not in text(horizon_line(horizon(account(9.0, spend=3.05), 3.0), brief=False))


def test_nothing_running_means_no_end() -> None:
    found = horizon(account(9.0))
    assert found.hours is None
    assert text(horizon_line(found, brief=True)) == "vast $9.00"


def test_an_unknown_or_outdated_balance_is_a_question_mark() -> None:
    assert text(horizon_line(horizon(account(None), 2.0), brief=True)) == "vast ?"
    assert text(horizon_line(horizon(account(9.0, age_s=5_000), 2.0), brief=True)) == "vast ?"


@pytest.mark.parametrize(
    ("balance", "style"), [(100.0, ""), (5.0, "warn"), (0.5, "bad"), (-0.4, "bad")]
)
def test_the_end_of_the_money_grows_urgent_with_a_mark(balance: float, style: str) -> None:
    found = horizon(account(balance), 1.0)
    assert found.urgent == style
    assert text(horizon_line(found, brief=True)).endswith("!") == bool(style)


def test_a_negative_balance_is_shown_as_one() -> None:
    assert "-$0.40" in text(horizon_line(horizon(account(-0.4), 1.0), brief=False))


def test_what_has_no_known_rate_is_said_beside_the_burn() -> None:
    burn = Burn(rate(2), rate(0.5), 2, None, None)
    assert text(burn_line(burn, brief=False)) == "now $2.50/h (0.50 not ours, 2 unknown)"
    assert text(burn_line(burn, brief=True)) == "$2.50/h+?"
    assert text(burn_line(Burn(ZERO_RATE, ZERO_RATE, 0, None, None), brief=True)) == "$0.00/h"


@pytest.mark.parametrize(
    ("health", "words"),
    [
        (samples.health("vast"), "vast ok 4s"),
        (samples.health("vast", state="waiting", age_s=None), "vast waiting"),
        (samples.health("vast", state="waiting", age_s=None, next_at=ago(12)), "vast waiting 12s"),
        (samples.health("vast", state="no_key", age_s=None), "vast no key"),
        (samples.health("vast", state="off", age_s=None), "vast off"),
        (samples.health("vast", state="stale", age_s=131, error=samples.error()),
         "vast STALE 2m (rate limited, retry 24s)"),
        (samples.health("vast", state="down", age_s=None, error=samples.error(kind="auth"), next_at=None),
         "vast DOWN never (auth, R tries again)"),
    ],
)  # fmt: skip
def test_the_state_of_a_provider_is_words_with_an_age(health: Any, words: str) -> None:
    snapshot = samples.snapshot(health=(health,))
    assert text(provider_health(snapshot, "vast", T0, brief=False)) == words


def test_the_worst_source_of_a_provider_speaks_for_it() -> None:
    snapshot = samples.snapshot(
        health=(
            samples.health("vast"),
            samples.health("vast", "inventory", "down", 300, error=samples.error(kind="timeout")),
        )
    )
    assert text(provider_health(snapshot, "vast", T0, brief=True)) == "vast inventory DOWN 5m"


def test_a_store_that_failed_is_never_left_out() -> None:
    snapshot = samples.snapshot(store_error="database is locked")
    assert "FAILED: database is locked" in text(store_health(snapshot, T0))
    assert "FAILED" in text(health_line(snapshot, T0, 100))


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 200, 300])
def test_status_lines_are_never_wider_than_the_screen(width: int) -> None:
    snapshot = samples.snapshot()
    for row in (money_line(snapshot, T0, width), health_line(snapshot, T0, width)):
        assert line_cells(row) <= width


def test_burn_mode_and_simulation_stay_longest() -> None:
    snapshot = samples.snapshot(read_only=True)
    shown = text(money_line(snapshot, T0, 42))
    for part in ("$6.76/h", "SIMULATED", "RO"):
        assert part in shown


def test_alerts_come_by_severity_then_age_and_without_the_acknowledged() -> None:
    snapshot = samples.snapshot()
    assert [a.key for a in open_alerts(snapshot)] == ["billing:run-12", "horizon:vast"]
    quiet = replace(snapshot, alerts=tuple(replace(a, acknowledged=True) for a in snapshot.alerts))
    assert alert_line(quiet, 120) == ()
