"""Operations, audit, events, alerts and prices on disk."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from flashtui.domain.operation import AuditEntry
from flashtui.domain.run import JobHandle
from flashtui.store.audit import StoredAlert, StoredEvent
from flashtui.store.operations import Lease, StoredOperation
from tests import build
from tests.fakes import T0

if TYPE_CHECKING:
    from flashtui.store.store import Tables

LATER = T0 + timedelta(seconds=60)


def stored(op_id: str = "op-1", lease: Lease | None = None, **more: object) -> StoredOperation:
    return StoredOperation(build.operation(op_id, **more), build.handle(), "run", lease)


class TestOperations:
    def test_an_operation_is_found_again_whole(self, tables: Tables) -> None:
        wanted = stored(lease=Lease("1:a", LATER))
        tables.operations.add(wanted)
        assert tables.operations.get("op-1") == wanted
        assert tables.operations.open() == (wanted,)
        assert tables.operations.open_on("vast", "21377744", "destroy") == wanted
        assert tables.operations.open_on("vast", "21377744", "cancel") is None
        assert tables.operations.get("op-2") is None

    def test_one_open_operation_of_a_kind_on_a_resource(self, tables: Tables) -> None:
        tables.operations.add(stored())
        with pytest.raises(sqlite3.IntegrityError):
            tables.operations.add(stored("op-2"))
        tables.operations.add(stored("op-3", kind="cancel"))
        over = replace(build.operation(), phase="confirmed")
        assert tables.operations.write(over)
        tables.operations.add(stored("op-2"))
        on_it = tables.operations.open_on_resource("vast", "21377744")
        assert [s.operation.op_id for s in on_it] == ["op-2", "op-3"]

    def test_what_is_over_is_not_written_again(self, tables: Tables) -> None:
        tables.operations.add(stored())
        assert tables.operations.write(build.operation(phase="confirmed"))
        assert not tables.operations.write(build.operation(phase="driving"))

    def test_only_the_holder_of_the_lease_writes(self, tables: Tables) -> None:
        tables.operations.add(stored(lease=Lease("1:a", LATER)))
        assert not tables.operations.write(build.operation(attempts=5), owner="2:b")
        assert tables.operations.write(build.operation(attempts=5), owner="1:a")

    def test_a_lease_is_taken_by_one_renewed_by_it_and_taken_over_when_it_has_run_out(
        self, tables: Tables
    ) -> None:
        tables.operations.add(stored())
        assert tables.operations.claim("op-1", Lease("1:a", LATER), T0)
        assert not tables.operations.claim("op-1", Lease("2:b", LATER), T0)
        assert tables.operations.claim("op-1", Lease("1:a", LATER), T0)
        assert tables.operations.claim("op-1", Lease("2:b", LATER + timedelta(hours=1)), LATER)
        assert not tables.operations.claim("op-1", Lease("1:a", LATER), LATER)

    def test_a_lease_that_is_given_up_is_free(self, tables: Tables) -> None:
        tables.operations.add(stored(lease=Lease("1:a", LATER)))
        found = tables.operations.get("op-1")
        assert found is not None
        assert not found.is_free(T0)
        assert found.is_free(LATER)
        tables.operations.release_all("1:a")
        found = tables.operations.get("op-1")
        assert found is not None
        assert found.is_free(T0)

    def test_what_is_over_has_no_lease_to_take(self, tables: Tables) -> None:
        tables.operations.add(stored(phase="confirmed"))
        assert not tables.operations.claim("op-1", Lease("1:a", LATER), T0)

    def test_recent_ones_and_open_ones(self, tables: Tables) -> None:
        old, new = build.ago(900), build.ago(10)
        tables.operations.add(stored("op-1", phase="confirmed", updated_at=old))
        tables.operations.add(stored("op-2", phase="confirmed", updated_at=new))
        tables.operations.add(stored("op-3", updated_at=old))
        assert [o.op_id for o in tables.operations.since(build.ago(60))] == ["op-2", "op-3"]

    def test_a_handle_keeps_its_own_words(self, tables: Tables) -> None:
        handle = JobHandle("runpod", {"endpoint_id": "e", "nested": {"a": [1]}})
        tables.operations.add(StoredOperation(build.operation(), handle))
        found = tables.operations.get("op-1")
        assert found is not None
        assert found.handle == handle


class TestTrail:
    def entry(self, number: int, op_id: str | None = "op-1") -> AuditEntry:
        return AuditEntry(build.ago(-number), op_id, "tui", "intent", "vast:1", f"line {number}")

    def test_in_order(self, tables: Tables) -> None:
        entries = [self.entry(n, "op-1" if n % 2 else None) for n in range(6)]
        for entry in entries:
            tables.audit.add(entry)
        assert tables.audit.list() == tuple(entries)
        assert tables.audit.list(limit=2) == tuple(entries[-2:])
        assert tables.audit.list("op-1") == tuple(entries[1::2])

    @pytest.mark.parametrize("statement", ["UPDATE audit SET detail = 'x'", "DELETE FROM audit"])
    def test_it_can_only_grow(self, tables: Tables, statement: str) -> None:
        tables.audit.add(self.entry(1))
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            tables.audit._connection.execute(statement)


def test_events_are_bounded(tables: Tables) -> None:
    for number in range(2005):
        tables.events.add(StoredEvent(build.ago(-number), "info", f"event {number}"))
    kept = tables.events.recent(5000)
    assert len(kept) == 2000
    assert kept[-1] == StoredEvent(build.ago(-2004), "info", "event 2004")
    assert tables.events.recent(1) == (kept[-1],)


def test_alerts_that_are_up(tables: Tables) -> None:
    first = StoredAlert("a", "warn", "x", T0, acknowledged=True)
    tables.alerts.replace([first, StoredAlert("b", "info", "y", T0, acknowledged=False)])
    assert len(tables.alerts.list()) == 2
    tables.alerts.replace([first])
    assert tables.alerts.list() == (first,)


class TestPrices:
    def test_the_last_sheet_comes_back_as_cached(self, tables: Tables) -> None:
        live = build.quote(regions=("US", "SE"), machine_id="m", offer_id="o")
        free = build.quote("A40", None, available=None)
        tables.prices.save_sheet(build.sheet(live, free, offers=(build.offer(),)))
        (sheet,) = tables.prices.load_sheets().values()
        assert sheet.quotes == (replace(live, source="cached"), replace(free, source="cached"))
        assert sheet.observed_at == live.observed_at
        assert sheet.offers == ()

    def test_static_rows_are_not_kept_and_nothing_replaces_something(self, tables: Tables) -> None:
        tables.prices.save_sheet(build.sheet(build.quote()))
        tables.prices.save_sheet(build.sheet(build.quote(source="static")))
        tables.prices.save_sheet(build.sheet(build.quote(dollars=9), observed_at=None))
        (sheet,) = tables.prices.load_sheets().values()
        assert sheet.quotes[0].rate == build.rate(1.89)

    @pytest.mark.parametrize(
        "text", ["{", "[{}]", "[1]", '[{"product": "x", "stock": "high"}]', "null"]
    )
    def test_a_sheet_that_cannot_be_read_is_left_out(self, tables: Tables, text: str) -> None:
        tables.prices.save_sheet(build.sheet(provider="runpod"))
        tables.prices.save_sheet(build.sheet())
        tables.prices._connection.execute(
            "UPDATE sheets SET quotes = ? WHERE provider = 'vast'", (text,)
        )
        assert list(tables.prices.load_sheets()) == ["runpod"]

    def test_samples_and_ranges(self, tables: Tables) -> None:
        for age_s, dollars in [(7200, 9.0), (60, 1.5), (30, 2.5), (10, None)]:
            tables.prices.sample(
                build.sheet(build.quote(dollars=dollars, observed_at=build.ago(age_s)))
            )
        tables.prices.sample(build.sheet(build.quote(source="cached", dollars=0.1)))
        key = ("vast", "H100", "instance")
        since = build.ago(3600)
        assert tables.prices.ranges(since) == {key: (build.rate(1.5), build.rate(2.5))}
        assert [r for _, r in tables.prices.samples(*key, since)] == [  # type: ignore[arg-type]
            build.rate(1.5), build.rate(2.5), None,
        ]  # fmt: skip

    def test_the_same_sample_twice_is_one(self, tables: Tables) -> None:
        tables.prices.sample(build.sheet())
        tables.prices.sample(build.sheet())
        assert len(tables.prices.samples("vast", "H100", "instance", build.ago(60))) == 1

    def test_old_samples_are_dropped(self, tables: Tables) -> None:
        tables.prices.sample(build.sheet(build.quote(observed_at=build.ago(31 * 86_400))))
        tables.prices.sample(build.sheet())
        assert tables.prices.forget(T0) == 1

    def test_accounts(self, tables: Tables) -> None:
        rich = build.account(spend=build.rate(1), spend_limit=build.rate(80))
        poor = build.account("runpod", None, note="the key may not read it")
        tables.prices.save_account(build.account(dollars=1))
        tables.prices.save_account(rich)
        tables.prices.save_account(poor)
        assert tables.prices.accounts() == (poor, rich)
