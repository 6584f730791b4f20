"""What is kept of runs and resources: nothing is lost on the way, stamps stay, and a damaged record hides no other."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flashtui.domain.market import Product
from flashtui.domain.money import HourlyRate, Usd
from flashtui.domain.operation import Operation, OperationKind, Phase, Target
from flashtui.domain.run import (
    Goal,
    JobHandle,
    RateSource,
    RentedResource,
    ResourceState,
    Run,
    RunState,
)
from flashtui.store.rows import (
    operation_from_row,
    rented_from_row,
    row_from_operation,
    row_from_rented,
    row_from_run,
    run_from_row,
)
from tests import build
from tests.fakes import T0

if TYPE_CHECKING:
    from flashtui.store.db import Db
    from flashtui.store.store import Tables

MOMENTS = st.datetimes(datetime(2000, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - naive bounds by hypothesis' rule
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
RATES = st.integers(0, 10**12).map(HourlyRate)
COSTS = st.integers(-(10**12), 10**12).map(Usd)
JSON = st.dictionaries(
    TEXTS, st.one_of(TEXTS, st.integers(-(2**40), 2**40), st.booleans()), max_size=4
)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def handles(provider: str) -> st.SearchStrategy[JobHandle]:
    data = JSON.filter(lambda d: "provider" not in d)
    return data.map(lambda d: JobHandle(provider, d))


RENTED = st.builds(
    RentedResource,
    provider=st.just("vast"), resource_id=TEXTS, run_id=st.just("flash-1"), handle=handles("vast"), label=TEXTS, gpu=TEXTS,
    num_gpus=st.integers(1, 16), product=st.sampled_from(get_args(Product)), rate=maybe(RATES),
    rate_source=st.sampled_from(get_args(RateSource)), attempt=st.integers(0, 9), state=st.sampled_from(get_args(ResourceState)),
    raw_status=TEXTS, launched_at=maybe(MOMENTS), last_seen_at=maybe(MOMENTS), teardown_requested_at=maybe(MOMENTS),
    confirmed_gone_at=maybe(MOMENTS), evidence=TEXTS, cost=maybe(COSTS), cost_until=maybe(MOMENTS), billing_rate=maybe(RATES),
)  # fmt: skip
RUNS = st.builds(
    Run,
    run_id=TEXTS, state=st.sampled_from(get_args(RunState)), goal=st.sampled_from(get_args(Goal)), provider=maybe(TEXTS), gpu=maybe(TEXTS),
    num_gpus=st.integers(1, 16), product=maybe(st.sampled_from(get_args(Product))), label=maybe(TEXTS), attempt=st.integers(0, 9),
    spec=JSON, created_at=MOMENTS, updated_at=MOMENTS, started_at=maybe(MOMENTS), ended_at=maybe(MOMENTS), last_error=TEXTS,
    progress=maybe(TEXTS), heartbeat_at=maybe(MOMENTS), recorded_cost=maybe(COSTS), revision=st.integers(0, 10**6),
)  # fmt: skip
TARGETS = st.builds(Target, provider=TEXTS, resource_id=TEXTS, run_id=maybe(TEXTS), label=TEXTS)
OPERATIONS = st.builds(
    Operation,
    op_id=TEXTS, kind=st.sampled_from(get_args(OperationKind)), target=TARGETS, actor=TEXTS, phase=st.sampled_from(get_args(Phase)),
    requested_at=MOMENTS, not_before=maybe(MOMENTS), updated_at=MOMENTS, attempts=st.integers(0, 99), last_answer=TEXTS,
)  # fmt: skip
ONCE = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


class TestRoundTrip:
    """Both ways through the columns, and through SQLite itself."""

    @ONCE
    @given(RUNS)
    def test_runs(self, run: Run) -> None:
        assert run_from_row(row_from_run(run)) == run

    @ONCE
    @given(RENTED)
    def test_resources(self, rented: RentedResource) -> None:
        assert rented_from_row(row_from_rented(rented)) == (rented, "")

    @ONCE
    @given(OPERATIONS)
    def test_operations(self, operation: Operation) -> None:
        assert operation_from_row(row_from_operation(operation)) == operation

    @ONCE
    @given(run=RUNS, rented=RENTED)
    def test_through_the_database(self, db: Db, run: Run, rented: RentedResource) -> None:
        from flashtui.store.store import Tables

        kept = replace(run, resources=(replace(rented, run_id=run.run_id),))
        with db.writing() as connection:
            connection.execute("DELETE FROM resources")
            connection.execute("DELETE FROM runs")
            assert Tables(connection).runs.add(kept)
            assert Tables(connection).runs.get(run.run_id) == kept

    def test_every_column_of_a_value_is_kept(self) -> None:
        assert {f.name for f in fields(RentedResource)} <= set(row_from_rented(build.rented()))
        assert {f.name for f in fields(Run)} - {"resources", "broken"} <= set(
            row_from_run(build.run())
        )

    def test_a_handle_tells_what_is_kept_apart(self) -> None:
        data = {"seed": 3, "job_id": "j", "offer_id": 12, "machine_id": 7, "key_fingerprint": "ab"}
        row = row_from_rented(build.rented(handle=JobHandle("vast", data)))
        told = [row[name] for name in ("seed", "job_id", "offer_id", "machine_id", "account")]
        assert told == [3, "j", "12", "7", "ab"]
        assert (
            row_from_rented(build.rented(handle=JobHandle("vast", {"seed": True})))["seed"] is None
        )

    def test_a_spec_with_what_json_lacks_can_be_kept(self, tables: Tables) -> None:
        spec = {"when": T0, "rate": float("nan"), "nested": {"list": (1.5, float("inf"))}}
        tables.runs.add(build.run(spec=spec))
        kept = tables.runs.get("flash-1")
        assert kept is not None
        assert kept.spec["nested"] == {"list": [1.5, "inf"]}
        assert kept.broken == ""


class TestDamage:
    """C114: what cannot be read is said, what can be read stands, and nothing else is hidden."""

    @pytest.fixture
    def tables(self, tables: Tables) -> Tables:
        for number in range(20):
            run_id = f"sound-{number}"
            tables.runs.add(build.run(run_id, build.rented(f"id-{number}", run_id)))
        tables.runs.add(build.run("bad", build.rented("id-bad", "bad")))
        return tables

    def spoil(self, tables: Tables, statement: str, *values: object) -> Run:
        tables.runs._connection.execute(statement, values)
        runs = {run.run_id: run for run in tables.runs.list()}
        assert len(runs) == 21
        assert all(not run.broken for name, run in runs.items() if name != "bad")
        return runs["bad"]

    def test_a_handle_that_is_cut_off(self, tables: Tables) -> None:
        run = self.spoil(
            tables, "UPDATE resources SET handle = ? WHERE run_id = 'bad'", '{"remote_id": "9905'
        )
        assert run.broken.startswith("vast id-bad: handle")
        assert run.may_bill
        assert run.resources[0].handle == JobHandle("vast", {})

    def test_a_state_that_is_not_known(self, tables: Tables) -> None:
        run = self.spoil(tables, "UPDATE runs SET state = 'hibernating' WHERE run_id = 'bad'")
        assert (run.state, run.broken) == ("unknown", "state 'hibernating' cannot be read")

    def test_bytes_in_place_of_text(self, tables: Tables) -> None:
        """STRICT tables refuse them; a file that was tampered with may hold them all the same."""
        row = {**row_from_rented(build.rented()), "resource_id": b"\x00\xff\x10"}
        rented, damage = rented_from_row(row)
        assert "resource_id" in damage
        assert rented.may_bill
        assert rented.resource_id.isprintable()

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("created_at", 5), ("started_at", 2**62), ("goal", "x"), ("product", "x"), ("spec", "[1]"), ("spec", "{" * 9000),
        ],
    )  # fmt: skip
    def test_other_columns(self, tables: Tables, column: str, value: object) -> None:
        sql = f"UPDATE runs SET {column} = ? WHERE run_id = 'bad'"  # noqa: S608 - names from above
        run = self.spoil(tables, sql, value)
        assert column in run.broken

    @pytest.mark.parametrize(("column", "value"), [("rate", -5), ("launched_at", 0)])
    def test_columns_of_a_resource(self, tables: Tables, column: str, value: object) -> None:
        sql = f"UPDATE resources SET {column} = ? WHERE run_id = 'bad'"  # noqa: S608 - names from above
        run = self.spoil(tables, sql, value)
        assert column in run.broken
        assert getattr(run.resources[0], column) is None

    def test_numbers_that_are_none(self) -> None:
        row = {**row_from_run(build.run()), "attempt": "two", "recorded_cost": "much"}
        run = run_from_row(row)
        assert run.attempt == 0
        assert "attempt" in run.broken

    def test_a_damaged_operation_is_an_unproven_destroy(self) -> None:
        row = {
            **row_from_operation(build.operation()),
            "kind": "x",
            "phase": "y",
            "requested_at": 0,
        }
        operation = operation_from_row(row)
        assert (operation.kind, operation.phase) == ("destroy", "unconfirmed")


class TestRuns:
    def test_a_run_is_added_once(self, tables: Tables) -> None:
        assert tables.runs.add(build.run())
        assert not tables.runs.add(build.run(state="done"))
        assert tables.runs.get("flash-1") == build.run()
        assert tables.runs.get("nobody") is None

    def test_newest_first(self, tables: Tables) -> None:
        for name, age_s in [("b", 20), ("a", 30), ("c", 10)]:
            tables.runs.add(build.run(name, resources=(), created_at=build.ago(age_s)))
        assert [run.run_id for run in tables.runs.list()] == ["c", "b", "a"]

    def test_attempts_stand_in_order(self, tables: Tables) -> None:
        second, first = build.rented("2", attempt=1), build.rented("1", attempt=0)
        tables.runs.add(build.run("flash-1", second, first))
        run = tables.runs.get("flash-1")
        assert run is not None
        assert [r.resource_id for r in run.resources] == ["1", "2"]
        assert tables.runs.list()[0].resources == run.resources

    def test_a_terminal_state_stays(self, tables: Tables) -> None:
        tables.runs.add(build.run())
        assert tables.runs.transition("flash-1", "done", now=T0)
        assert not tables.runs.transition("flash-1", "cancelled", now=T0 + timedelta(hours=1))
        assert tables.runs.transition("flash-1", "done", now=T0, last_error="late note")
        run = tables.runs.get("flash-1")
        assert run is not None
        assert (run.state, run.ended_at, run.last_error) == ("done", T0, "late note")
        assert not tables.runs.transition("nobody", "done", now=T0)

    def test_a_write_on_an_older_reading_is_not_applied(self, tables: Tables) -> None:
        tables.runs.add(build.run(state="queued"))
        assert tables.runs.transition("flash-1", "provisioning", now=T0, revision=1)
        assert not tables.runs.transition("flash-1", "running", now=T0, revision=1)
        assert tables.runs.transition("flash-1", "running", now=T0, revision=2)

    def test_a_goal_only_grows_unless_it_is_taken_back(self, tables: Tables) -> None:
        tables.runs.add(build.run())
        assert tables.runs.set_goal("flash-1", "gone", T0)
        assert not tables.runs.set_goal("flash-1", "gone", T0)
        assert not tables.runs.set_goal("flash-1", "stopped", T0)
        assert tables.runs.set_goal("flash-1", "run", T0, back=True)
        assert not tables.runs.set_goal("nobody", "gone", T0)

    def test_progress_and_heartbeat(self, tables: Tables) -> None:
        tables.runs.add(build.run())
        tables.runs.mark_progress("flash-1", now=T0, progress="900/2000", heartbeat_at=T0)
        tables.runs.mark_progress("flash-1", now=T0, progress=None, heartbeat_at=None)
        run = tables.runs.get("flash-1")
        assert run is not None
        assert (run.progress, run.heartbeat_at, run.revision) == ("900/2000", T0, 2)

    def test_a_resource_needs_its_run(self, tables: Tables) -> None:
        import sqlite3

        with pytest.raises(sqlite3.IntegrityError):
            tables.runs.add_resource(build.rented(run_id="nobody"))


class TestStamps:
    @pytest.fixture
    def tables(self, tables: Tables) -> Tables:
        tables.runs.add(build.run())
        return tables

    def rented(self, tables: Tables) -> RentedResource:
        found = tables.runs.resource("vast", "21377744")
        assert found is not None
        return found

    def test_the_first_teardown_counts(self, tables: Tables) -> None:
        tables.runs.request_teardown("vast", "21377744", T0)
        tables.runs.request_teardown("vast", "21377744", T0 + timedelta(hours=1))
        assert self.rented(tables).teardown_requested_at == T0
        assert self.rented(tables).may_bill

    def test_the_first_proof_counts_and_closes_the_ledger(self, tables: Tables) -> None:
        assert tables.runs.confirm_gone("vast", "21377744", at=T0, evidence="two listings")
        later = T0 + timedelta(hours=5)
        assert not tables.runs.confirm_gone("vast", "21377744", at=later, evidence="again")
        assert not tables.runs.confirm_gone("vast", "unknown", at=later, evidence="x")
        gone = self.rented(tables)
        assert (gone.confirmed_gone_at, gone.evidence, gone.state) == (T0, "two listings", "gone")
        assert (gone.cost, gone.cost_until) == (build.usd(2), T0)

    def test_an_unknown_cost_stays_unknown(self, tables: Tables) -> None:
        tables.runs.add(build.run("flash-2", build.rented("2", "flash-2", None)))
        tables.runs.confirm_gone("vast", "2", at=T0, evidence="x")
        closed = tables.runs.resource("vast", "2")
        assert closed is not None
        assert closed.cost is None

    def test_recording_a_resource_again_changes_no_stamp(self, tables: Tables) -> None:
        tables.runs.confirm_gone("vast", "21377744", at=T0, evidence="x")
        again = build.rented(launched_at=build.ago(1), confirmed_gone_at=None, dollars=9.0)
        tables.runs.add_resource(again)
        kept = self.rented(tables)
        assert (kept.launched_at, kept.confirmed_gone_at) == (build.ago(3600), T0)
        assert kept.rate == build.rate(2.0)

    def test_what_is_gone_is_not_seen_again(self, tables: Tables) -> None:
        tables.runs.confirm_gone("vast", "21377744", at=T0, evidence="x")
        assert tables.runs.mark_seen([build.resource(), build.resource("foreign")]) == 0
        assert self.rented(tables).state == "gone"

    def test_a_look_is_recorded(self, tables: Tables) -> None:
        looked = build.resource(state="stopped", raw_status="EXITED", dollars=0.02, observed_at=T0)
        assert tables.runs.mark_seen([looked, build.resource("foreign")]) == 1
        seen = self.rented(tables)
        assert (seen.state, seen.raw_status, seen.last_seen_at) == ("stopped", "EXITED", T0)
        assert (seen.cost, seen.cost_until, seen.billing_rate) == (
            build.usd(2),
            T0,
            build.rate(0.02),
        )
        assert seen.rate == build.rate(2.0)

    def test_an_older_look_changes_nothing(self, tables: Tables) -> None:
        before = self.rented(tables)
        tables.runs.mark_seen([build.resource(state="stopped", observed_at=build.ago(60))])
        assert self.rented(tables) == before
