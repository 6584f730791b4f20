"""Alerts: what rings, how loud, since when, and when it stops."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.services.alerts import Concerns, alerts_of
from tests import build
from tests.fakes import T0

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.services.board import Alert


def alerts(
    *rows: Any,
    since: dict[str, datetime] | None = None,
    acknowledged: frozenset[str] = frozenset(),
    **more: Any,
) -> tuple[Alert, ...]:
    return alerts_of(Concerns(rows, **more), T0, since=since or {}, acknowledged=acknowledged)


def keys(*rows: Any, **more: Any) -> list[tuple[str, str]]:
    return [(alert.key, alert.severity) for alert in alerts(*rows, **more)]


def test_a_healthy_run_is_quiet() -> None:
    assert alerts(build.run_row()) == ()


@pytest.mark.parametrize(("age_s", "rings"), [(200, False), (301, True)])
def test_an_orphan_rings_after_five_minutes(age_s: float, rings: bool) -> None:
    """Younger ones may be what a run is just renting."""
    row = build.run_row(key="res:vast:9", kind="orphan", started_at=build.ago(age_s))
    assert bool(keys(row)) == rings


def test_an_orphan_without_a_start_rings_at_once() -> None:
    row = build.run_row(key="res:vast:9", kind="orphan", started_at=None, rate=None)
    (alert,) = alerts(row)
    assert (alert.key, alert.severity) == ("orphan:res:vast:9", "critical")
    assert "unknown rate" in alert.text


def test_a_foreign_machine_is_information_as_long_as_it_bills() -> None:
    row = build.run_row(None, key="res:vast:9", kind="foreign", label="an\x1b[31mna")
    (alert,) = alerts(row)
    assert (alert.key, alert.severity) == ("foreign:res:vast:9", "info")
    assert "\x1b" not in alert.text
    assert keys(build.run_row(kind="foreign", may_bill=False)) == []


def test_a_ghost_warns() -> None:
    assert keys(build.run_row(kind="ghost")) == [("ghost:run:flash-1", "warn")]


@pytest.mark.parametrize(
    ("operation", "rings"),
    [
        ({"requested_at": build.ago(60)}, False),
        ({"requested_at": build.ago(130)}, True),
        ({"phase": "unconfirmed", "requested_at": build.ago(5)}, True),
        ({"phase": "pending", "not_before": build.ago(-5), "requested_at": build.ago(130)}, False),
        ({"phase": "confirmed", "requested_at": build.ago(600)}, False),
        ({"kind": "cancel", "requested_at": build.ago(600)}, False),
    ],
)
def test_a_destroy_without_proof_rings_after_two_minutes(
    operation: dict[str, Any], rings: bool
) -> None:
    row = build.run_row(operation=build.operation(**operation))
    assert keys(row) == ([("billing:run:flash-1", "critical")] if rings else [])


@pytest.mark.parametrize(("over_s", "rings"), [(60, False), (121, True)])
def test_a_machine_that_bills_on_after_its_run_rings_after_two_minutes(
    over_s: float, rings: bool
) -> None:
    row = build.run_row(state="done", ended_at=build.ago(over_s), heartbeat_at=None)
    assert keys(row) == ([("ended:run:flash-1", "critical")] if rings else [])


def test_a_run_whose_end_is_not_known_rings_at_once_when_it_bills() -> None:
    assert keys(build.run_row(state="failed"))[0] == ("ended:run:flash-1", "critical")


@pytest.mark.parametrize(("age_s", "told"), [(3600, True), (90_000, False)])
def test_a_failed_run_is_told_for_a_day(age_s: float, told: bool) -> None:
    row = build.run_row(state="failed", may_bill=False, ended_at=build.ago(age_s), last_error="OOM")
    found = alerts(row)
    assert bool(found) == told
    if told:
        assert found[0].text == "flash-1 failed: OOM"


@pytest.mark.parametrize(
    ("silent_s", "severity"), [(200, None), (400, "warn"), (1300, "critical"), (None, None)]
)
def test_a_worker_that_falls_silent_rings(silent_s: float | None, severity: str | None) -> None:
    """One that never said anything is not judged."""
    row = build.run_row(heartbeat_at=None if silent_s is None else build.ago(silent_s))
    assert keys(row) == ([("silent:run:flash-1", severity)] if severity else [])


@pytest.mark.parametrize(
    ("dollars", "severity"), [(13.0, None), (11.0, "warn"), (1.9, "critical"), (-1.0, "critical")]
)
def test_money_that_ends_soon_rings(dollars: float, severity: str | None) -> None:
    found = keys(build.run_row(), accounts=(build.account(dollars=dollars),))
    assert found == ([("balance:vast", severity)] if severity else [])


def test_money_that_is_not_known_does_not_ring() -> None:
    assert keys(build.run_row(), accounts=(build.account(dollars=None),)) == []


def test_money_clears_only_when_it_lasts_a_tenth_longer() -> None:
    since = {"balance:vast": build.ago(60)}
    assert keys(build.run_row(), accounts=(build.account(dollars=12.5),), since=since)
    assert not keys(build.run_row(), accounts=(build.account(dollars=13.3),), since=since)


def test_a_source_that_has_been_silent_for_ten_intervals_warns() -> None:
    failed = build.feed_error()
    old = build.health(state="down", error=failed, last_good_at=build.ago(451))
    young = build.health(state="stale", error=failed, last_good_at=build.ago(449))
    assert keys(health=(old,)) == [("stale:vast:prices", "warn")]
    assert keys(health=(young, build.health())) == []


def test_a_source_that_waits_for_a_person_warns_at_once() -> None:
    stopped = build.health(state="down", error=build.feed_error(kind="auth"), next_at=None)
    (alert,) = alerts(health=(stopped,))
    assert "R tries again" in alert.text


def test_a_missing_key_is_no_alarm() -> None:
    unset = build.health(state="no_key", error=build.feed_error(kind="no_key"), next_at=None)
    assert alerts(health=(unset,)) == ()


def test_never_answered_and_still_tried_is_shown_by_health_alone() -> None:
    new = build.health(state="down", error=build.feed_error(), last_good_at=None)
    assert alerts(health=(new,)) == ()


def test_a_store_that_fails_is_critical() -> None:
    assert keys(store_error="disk full") == [("store", "critical")]


def test_what_nobody_has_seen_comes_first_then_the_worst_then_the_oldest() -> None:
    rows = [
        build.run_row("flash-1", kind="ghost"),
        build.run_row("flash-2", kind="ghost"),
        build.run_row("flash-3", state="failed"),
        build.run_row("flash-4", state="failed"),
    ]
    since = {"ghost:run:flash-2": T0 - timedelta(hours=1)}
    found = alerts(*rows, since=since, acknowledged=frozenset({"ended:run:flash-3"}))
    assert [a.key for a in found] == [
        "ended:run:flash-4",
        "ghost:run:flash-2",
        "ghost:run:flash-1",
        "ended:run:flash-3",
    ]
    assert found[1].since == T0 - timedelta(hours=1)
    assert found[3].acknowledged
