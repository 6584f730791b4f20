"""The runs pane: whose a machine is, what state it is in, and what it costs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.money import HourlyRate, Usd
from flashtui.services.money import burn_of
from flashtui.services.run_rows import RowSources, operation_note, run_rows
from tests import build
from tests.fakes import T0

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtui.domain.operation import Operation
    from flashtui.domain.run import Inventory, Run
    from flashtui.services.board import RunRow


def rows(
    runs: Sequence[Run] = (),
    inventories: Sequence[Inventory] = (),
    operations: Sequence[Operation] = (),
) -> tuple[RunRow, ...]:
    return run_rows(RowSources(runs, inventories, operations), T0)


def only(*args: Any) -> RunRow:
    (row,) = rows(*args)
    return row


def kinds(found: Sequence[RunRow]) -> list[tuple[str, str | None, str | None]]:
    return [(row.kind, row.run_id, row.resource_id) for row in found]


class TestWhose:
    def test_a_recorded_machine_is_its_runs(self) -> None:
        row = only([build.run()], [build.inventory(build.resource())])
        assert (row.kind, row.key, row.resource_state) == ("run", "run:flash-1", "running")

    def test_a_machine_with_the_name_of_a_run_that_holds_none_is_an_orphan(self) -> None:
        """The run has failed and lost its handle; the machine bills on (C090)."""
        run = build.run(state="failed", resources=(), ended_at=build.ago(9000))
        listed = build.resource("podfake170", "flash-1", kind="pod", started_at=build.ago(7200))
        found = rows([run], [build.inventory(listed)])
        orphan, failed = found
        assert (orphan.kind, orphan.run_id, orphan.cost_at(T0)) == (
            "orphan",
            "flash-1",
            build.usd(4),
        )
        assert "podfake170" in failed.note

    def test_duplicates_of_a_live_run_are_orphans(self) -> None:
        """C087: never the one that the run holds."""
        listed = [build.resource(name) for name in ("21377744", "990342", "990343")]
        assert kinds(rows([build.run()], [build.inventory(*listed)])) == [
            ("run", "flash-1", "21377744"),
            ("orphan", "flash-1", "990342"),
            ("orphan", "flash-1", "990343"),
        ]

    def test_run_100_does_not_own_what_belongs_to_run_1000(self) -> None:
        run = build.run("flash-100", resources=())
        listed = build.resource("9", "flash-1000-s0-a0")
        assert kinds(rows([run], [build.inventory(listed)]))[-1] == ("foreign", None, "9")

    def test_an_endpoint_is_known_by_its_recorded_name_under_which_it_is_shown_changed(
        self,
    ) -> None:
        run = build.run("run-e1", resources=(), label="flash-4090-e1a2b3c4d5e6")
        listed = build.resource(
            "ep1", "live-flash-4090-e1a2b3c4d5e6 -fb", provider="runpod", kind="endpoint"
        )
        found = rows([run], [build.inventory(listed, provider="runpod")])
        assert kinds(found)[-1] == ("orphan", "run-e1", "ep1")

    @pytest.mark.parametrize("label", ["", "jupyter-anna", "flash-other-s0-a0"])
    def test_everything_else_is_foreign(self, label: str) -> None:
        found = rows([build.run(resources=())], [build.inventory(build.resource("7", label))])
        assert kinds(found)[-1] == ("foreign", None, "7")

    def test_what_was_proven_gone_is_not_called_back_by_a_listing_that_lags(self) -> None:
        gone = build.rented(confirmed_gone_at=build.ago(30))
        run = build.run("flash-1", gone, state="done", ended_at=build.ago(60))
        assert len(rows([run], [build.inventory(build.resource())])) == 1

    def test_what_is_listed_long_after_its_proof_is_an_orphan(self) -> None:
        gone = build.rented(confirmed_gone_at=build.ago(600))
        run = build.run("flash-1", gone, state="done", ended_at=build.ago(700))
        assert kinds(rows([run], [build.inventory(build.resource())]))[0][0] == "orphan"

    def test_what_a_provider_itself_calls_gone_is_nobodys(self) -> None:
        assert rows([], [build.inventory(build.resource("7", "anna", state="gone"))]) == ()


class TestGhost:
    def ghost(self, **more: Any) -> RunRow:
        rented = build.rented(last_seen_at=build.ago(600), **more)
        return only([build.run("flash-1", rented)], [build.inventory()])

    def test_recorded_here_and_missing_from_complete_listings_for_a_while(self) -> None:
        row = self.ghost()
        assert (row.kind, row.resource_state, row.may_bill) == ("ghost", "unconfirmed", True)
        assert row.target is not None
        assert "not proven gone" in row.note

    def test_the_young_have_a_grace(self) -> None:
        assert self.ghost(launched_at=build.ago(60)).kind == "run"

    def test_one_listing_that_misses_it_is_not_enough(self) -> None:
        rented = build.rented(last_seen_at=build.ago(20))
        assert only([build.run("flash-1", rented)], [build.inventory()]).kind == "run"

    def test_half_a_listing_makes_no_ghosts(self) -> None:
        rented = build.rented(last_seen_at=build.ago(600))
        half = build.inventory(complete=False)
        assert only([build.run("flash-1", rented)], [half]).kind == "run"

    def test_what_is_being_destroyed_is_no_ghost(self) -> None:
        rented = build.rented(last_seen_at=build.ago(600))
        row = only([build.run("flash-1", rented)], [build.inventory()], [build.operation()])
        assert (row.kind, row.resource_state) == ("run", "destroying")

    def test_nothing_is_known_of_when_it_was_there_last(self) -> None:
        assert self.ghost(launched_at=None).kind == "ghost"


class TestState:
    def test_without_a_resource_there_is_none_and_nothing_to_act_on(self) -> None:
        row = only([build.run(state="queued", resources=())])
        assert (row.resource_state, row.target, row.may_bill) == ("none", None, False)
        assert row.rate is None
        assert row.settled is None

    def test_a_listing_knows_better_than_the_record(self) -> None:
        listed = build.resource(state="starting", raw_status="loading", note="pulling the image")
        row = only([build.run(progress=None)], [build.inventory(listed)])
        assert (row.resource_state, row.raw_status) == ("starting", "loading")
        assert row.note == "pulling the image"
        assert row.observed_at == listed.observed_at

    def test_without_a_listing_the_record_stands_with_its_age(self) -> None:
        row = only([build.run()])
        assert (row.resource_state, row.observed_at) == ("running", build.ago(8))

    def test_gone_is_gone(self) -> None:
        gone = build.rented(confirmed_gone_at=build.ago(60))
        row = only([build.run("flash-1", gone, state="done", ended_at=build.ago(60))])
        assert (row.resource_state, row.target, row.may_bill) == ("gone", None, False)

    @pytest.mark.parametrize(
        ("phase", "state", "words"),
        [
            ("driving", "destroying", "destroying, waiting for proof"),
            ("unconfirmed", "unconfirmed", "MAY STILL BILL: no answer yet"),
            ("pending", "running", "z takes it back"),
        ],
    )
    def test_an_operation_shows(self, phase: str, state: str, words: str) -> None:
        operation = build.operation(phase=phase, not_before=build.ago(-8))
        row = only([build.run()], [build.inventory(build.resource())], [operation])
        assert row.resource_state == state
        assert words in row.note
        assert row.operation == operation

    def test_an_open_destroy_is_shown_before_a_later_cancel(self) -> None:
        destroy = build.operation()
        cancel = build.operation(
            "op-2", kind="cancel", phase="confirmed", requested_at=build.ago(1)
        )
        assert only([build.run()], [], [destroy, cancel]).operation == destroy

    def test_what_was_taken_back_is_not_shown(self) -> None:
        assert only([build.run()], [], [build.operation(phase="withdrawn")]).operation is None

    def test_a_damaged_record_says_so_and_keeps_its_machine(self) -> None:
        row = only([build.run(broken="state 'x' cannot be read")])
        assert "record damaged" in row.note
        assert row.target is not None

    def test_over_but_billing_is_said_aloud_and_stands_with_the_living(self) -> None:
        over = build.run(state="done", ended_at=build.ago(300))
        found = rows([build.run("flash-2", state="done", resources=(), ended_at=T0), over])
        assert found[0].run_id == "flash-1"
        assert "STILL BILLING" in found[0].note

    def test_several_machines_of_one_run_are_named_and_their_rates_added(self) -> None:
        run = build.run("flash-1", build.rented("1", dollars=0.4), build.rented("2", attempt=1))
        row = only([run])
        assert row.rate == HourlyRate.of(2.4)
        assert row.resource_id == "2"
        assert "2 machines bill: 1, 2" in row.note

    def test_the_state_of_a_foreign_machine_follows_what_was_asked_of_it(self) -> None:
        listed = build.resource("7", "anna")
        target = build.target("7", None)
        for phase, state, bills in [
            ("driving", "destroying", True),
            ("unconfirmed", "unconfirmed", True),
            ("confirmed", "running", False),
        ]:
            operation = build.operation(target=target, phase=phase)
            (row,) = rows([], [build.inventory(listed)], [operation])
            assert (row.resource_state, row.may_bill) == (state, bills)

    def test_words_of_a_cancel(self) -> None:
        cancel = build.operation(kind="cancel", last_answer="sent")
        assert operation_note(cancel, T0) == "cancelling (sent)"
        assert operation_note(replace(cancel, phase="unconfirmed"), T0) == "not confirmed: sent"


class TestMoney:
    def test_a_live_run_costs_from_its_launch_and_is_an_estimate(self) -> None:
        row = only([build.run()], [build.inventory(build.resource())])
        assert row.cost_at(T0) == build.usd(2)
        assert row.cost_at(T0 + timedelta(hours=1)) == build.usd(4)
        assert row.cost_is_estimate

    def test_a_row_does_not_change_because_time_passes(self) -> None:
        """The screen adds what accrues; a snapshot that is always new is always drawn."""
        sources = RowSources([build.run()], [build.inventory(build.resource())], [])
        assert run_rows(sources, T0) == run_rows(sources, T0 + timedelta(seconds=30))

    def test_the_rate_is_the_one_that_was_seen_last(self) -> None:
        """C100: six hours at one price, two at another; not eight at either."""
        rented = build.rented(dollars=0.72, launched_at=build.ago(8 * 3600), rate=build.rate(0.36),
                              cost=build.usd(2.16), cost_until=build.ago(2 * 3600), billing_rate=build.rate(0.72))  # fmt: skip
        row = only([build.run("flash-1", rented)])
        assert row.rate == HourlyRate.of(0.72)
        assert row.cost_at(T0) == build.usd(3.6)

    def test_a_change_of_price_that_could_not_be_saved_counts_all_the_same(self) -> None:
        listed = build.resource(dollars=4.0)
        row = only([build.run()], [build.inventory(listed)])
        assert (row.rate, row.rate_source) == (HourlyRate.of(4), "provider")
        before = HourlyRate.of(2).cost_over(3596)
        assert row.cost_at(T0) == before + HourlyRate.of(4).cost_over(4)

    def test_attempts_are_added(self) -> None:
        """C105: three hours at 0.40, then one hour at 2.00."""
        first = build.rented(
            "1", dollars=0.4, launched_at=build.ago(4 * 3600), confirmed_gone_at=build.ago(3600)
        )
        run = build.run("flash-1", first, build.rented("2", attempt=1))
        row = only([run])
        assert row.cost_at(T0) == build.usd(3.2)
        assert row.rate == HourlyRate.of(2)

    @pytest.mark.parametrize("lost", [{"dollars": None}, {"launched_at": None}])
    def test_what_is_not_known_is_not_zero(self, lost: dict[str, Any]) -> None:
        row = only([build.run("flash-1", build.rented(**lost))])
        assert row.cost_at(T0) is None

    def test_an_unknown_closed_attempt_makes_the_sum_unknown(self) -> None:
        lost = build.rented("1", dollars=None, confirmed_gone_at=build.ago(60))
        assert only([build.run("flash-1", lost, build.rented("2"))]).cost_at(T0) is None

    def test_a_cost_that_was_recorded_is_no_estimate(self) -> None:
        gone = build.rented(confirmed_gone_at=build.ago(60))
        run = build.run("flash-1", gone, state="done", ended_at=build.ago(60), recorded_cost=Usd(0))
        row = only([run])
        assert (row.cost_at(T0), row.cost_is_estimate) == (Usd(0), False)

    def test_burn_counts_what_may_bill_and_what_is_not_known(self) -> None:
        """C099: stopped machines pay storage, unreachable ones count, gone ones do not."""
        runs = [
            build.run("flash-1", build.rented("1", "flash-1", 1.0)),
            build.run("flash-2", build.rented("2", "flash-2", 1.0, confirmed_gone_at=build.ago(9))),
            build.run("flash-3", build.rented("3", "flash-3", 1.0)),
            build.run("flash-4", build.rented("4", "flash-4", None)),
        ]
        listed = build.inventory(
            build.resource("1", dollars=1.0),
            build.resource("3", "flash-3-s0-a0", 0.02, state="stopped"),
            build.resource("9", "anna", 0.69),
        )
        found = rows(runs, [listed])
        burn = burn_of(found, runs, T0)
        assert burn.ours == HourlyRate.of(1.02)
        assert burn.foreign == HourlyRate.of(0.69)
        assert burn.now == HourlyRate.of(1.71)
        assert burn.unknown == 1

    def test_today_begins_at_midnight(self) -> None:
        yesterday = build.rented("1", launched_at=T0 - timedelta(hours=24))
        gone = build.rented("2", dollars=9.0, launched_at=T0 - timedelta(days=3), confirmed_gone_at=T0 - timedelta(days=2))  # fmt: skip
        runs = [build.run("flash-1", yesterday), build.run("flash-2", gone)]
        burn = burn_of(rows(runs), runs, T0)
        assert burn.today == build.usd(24)
        assert burn.total == build.usd(48 + 9 * 24)

    def test_sums_leave_out_what_is_not_known_unless_that_is_all(self) -> None:
        unknown = build.run("flash-1", build.rented(dollars=None))
        assert burn_of((), [unknown], T0).total is None
        both = [unknown, build.run("flash-2", build.rented("2"))]
        assert burn_of((), both, T0).total == build.usd(2)

    def test_a_recorded_cost_counts_in_the_total(self) -> None:
        run = build.run(state="done", resources=(), recorded_cost=build.usd(0.5))
        assert burn_of((), [run], T0).total == build.usd(0.5)
