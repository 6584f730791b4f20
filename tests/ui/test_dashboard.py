"""The dashboard from outside: what each key does, and what a person can read at which size."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from flashtui.domain.market import PriceSheet
from flashtui.domain.operation import Target
from flashtui.services.board import Snapshot
from flashtui.ui.themes import THEMES
from tests.fakes import T0
from tests.ui import samples
from tests.ui.host import dashboard
from tests.ui.session import ScriptedSession

SIZES = [(80, 24), (120, 40), (200, 60)]


def fixed(sheet: PriceSheet, gpu: str, price: float) -> PriceSheet:
    """A sheet with one price changed."""
    quotes = tuple(
        replace(q, rate=samples.rate(price)) if q.gpu == gpu and q.product == "instance" else q
        for q in sheet.quotes
    )
    return replace(sheet, quotes=quotes)


def cheaper(snapshot: Snapshot, gpu: str, price: float) -> Snapshot:
    return replace(snapshot, sheets=tuple(fixed(s, gpu, price) for s in snapshot.sheets))


@pytest.mark.parametrize("size", SIZES)
async def test_one_look_tells_burn_end_of_money_and_what_is_wrong(size: tuple[int, int]) -> None:
    async with dashboard(ScriptedSession(), size) as board:
        assert "$6.76/h" in board.text
        assert "2h21m !" in board.text
        assert "SIMULATED" in board.text
        assert "run-12 may still bill" in board.line("ALERT")
        board.no_faults()


async def test_a_real_session_does_not_say_simulated() -> None:
    async with dashboard(ScriptedSession(samples.quiet())) as board:
        assert "SIMULATED" not in board.text


async def test_eighty_columns_show_one_pane_and_tabs() -> None:
    async with dashboard(ScriptedSession(), (80, 24)) as board:
        assert "[1 Market 54]" in board.text
        assert "PRODUCT" in board.text
        await board.press("2")
        assert "[2 Runs" in board.text
        assert "PRODUCT" not in board.text
        assert "MAY STILL BILL" in board.text


async def test_wide_screens_show_the_row_in_a_pane_of_its_own() -> None:
    async with dashboard(ScriptedSession(), (200, 60)) as board:
        await board.press("2", "j", "j", "j")
        assert "run-12" in board.line("Detail")


@pytest.mark.parametrize(
    "size", [(1, 1), (2, 2), (30, 8), (40, 12), (59, 20), (99, 19), (300, 100)]
)
async def test_no_size_is_too_small_or_too_large(size: tuple[int, int]) -> None:
    async with dashboard(ScriptedSession(), size) as board:
        await board.press(
            "tab", "j", "question_mark", "escape", "2", "x", "D", "escape", "slash", "a", "escape"
        )
        board.no_faults()
        await board.pilot.resize_terminal(120, 40)
        await board.press()
        assert "2 Runs" in board.text


async def test_tab_and_numbers_move_through_the_panes() -> None:
    async with dashboard(ScriptedSession()) as board:
        seen = []
        for key in ("tab", "tab", "tab", "tab", "shift+tab", "2", "3", "4", "1"):
            await board.press(key)
            seen.append(board.screen.active)
        assert seen == [
            "runs",
            "plan",
            "events",
            "market",
            "events",
            "runs",
            "plan",
            "events",
            "market",
        ]
        assert "[1 Market]" in board.text


async def test_zoom_fills_the_screen_and_q_leaves_it_before_it_quits() -> None:
    async with dashboard(ScriptedSession()) as board:
        await board.press("2", "plus_sign")
        assert "4 Events 2" in board.line("[2 Runs")
        assert "newest first" not in board.text
        await board.press("q")
        assert "newest first" in board.text
        assert board.app.is_running


async def test_a_sliver_opens_a_pane_by_number_and_goes_back_with_escape() -> None:
    async with dashboard(ScriptedSession(), (50, 16)) as board:
        assert "run-12 MAY STILL BILL" in board.text
        await board.press("1")
        assert "GPU" in board.text
        await board.press("escape")
        assert "run-12 MAY STILL BILL" in board.text


@pytest.mark.parametrize("key", ["q", "ctrl+q", "ctrl+c"])
async def test_quit(key: str) -> None:
    async with dashboard(ScriptedSession()) as board:
        await board.press(key)
        assert not board.app.is_running
        assert board.app.return_code == 0


async def test_the_cursor_stays_on_its_price_when_the_market_moves() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("j", "j")
        was = board.screen.market.table.selection
        assert was == "q:vast:instance:RTX A4000"
        session.later(10)
        await board.put(cheaper(session.board.snapshot, "RTX A4000", 3.9))
        assert board.screen.market.table.selection == was
        assert board.line(">  RTX A4000").count("3.900^") == 1


async def test_until_the_first_key_the_cursor_of_the_market_stays_on_the_best_price() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.put(cheaper(session.board.snapshot, "RTX 3090", 0.01))
        assert board.screen.market.table.selection == "q:vast:instance:RTX 3090"
        await board.press("j", "k")
        session.later(60)
        await board.put(cheaper(session.board.snapshot, "RTX 5090", 0.005))
        assert board.screen.market.table.selection == "q:vast:instance:RTX 3090"


async def test_moved_prices_carry_the_direction_for_a_while() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.put(cheaper(session.board.snapshot, "RTX A4500", 0.101))
        assert "0.101v" in board.text
        for _ in range(2):
            session.later(60)
            await board.put(replace(session.board.snapshot))
        assert "0.101v" not in board.text
        assert "0.101" in board.text


async def test_enter_opens_the_offers_behind_a_row_and_closes_them_again() -> None:
    async with dashboard(ScriptedSession(), (200, 60)) as board:
        await board.press("slash", *"h100", "space", *"!nvl", "enter")
        row = board.screen.market.table.cursor_record
        assert row is not None
        assert row.quote.provider == "vast"
        await board.press("enter")
        assert "1x H100 SXM" in board.text
        assert "reliability" in board.line("0.993")
        await board.press("j", "enter")
        assert "1x H100 SXM" not in board.text
        assert board.screen.market.table.selection == "q:vast:instance:H100"


async def test_a_price_without_offers_behind_it_says_so() -> None:
    async with dashboard(ScriptedSession()) as board:
        await board.press("slash", *"runpod", "enter", "enter")
        assert "runpod names no single offers" in board.text


async def test_the_allocators_pick_is_marked() -> None:
    async with dashboard(ScriptedSession(), (200, 60)) as board:
        assert board.line("* RTX 3090").split()[1:4] == ["*", "RTX", "3090"]


async def test_a_filter_acts_while_it_is_typed_and_says_what_it_hides() -> None:
    async with dashboard(ScriptedSession()) as board:
        await board.press("slash", *"vram>=")
        assert "54 rows" in board.text
        await board.press(*"80", "space", *"prov=vast")
        assert "5 of 54" in board.text
        assert "49 hidden" in board.text
        await board.press("enter")
        assert "filter vram>=80 prov=vast" in board.text
        await board.put(replace(samples.snapshot()))
        assert "5 of 54" in board.text
        await board.press("escape")
        assert "54 rows" in board.text


async def test_escape_while_typing_takes_the_filter_away() -> None:
    async with dashboard(ScriptedSession()) as board:
        await board.press("slash", *"zzz")
        assert "nothing passes the filter" in board.text
        await board.press("escape")
        assert "54 rows" in board.text


async def test_letters_typed_into_the_filter_are_no_commands() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("2", "slash", *"Dxqzt", "enter")
        assert board.app.is_running
        assert not board.screen.desk.is_open
        assert board.screen.runs.query_text == "Dxqzt"


async def test_events_are_filtered_by_words() -> None:
    async with dashboard(ScriptedSession()) as board:
        await board.press("4", "slash", *"429", "enter")
        assert "HTTP 429" in board.text
        assert "run-16 destroy accepted" not in board.text


async def test_order_keys_sort_by_value_and_say_so() -> None:
    async with dashboard(ScriptedSession()) as board:
        await board.press("o")
        assert "order AVAIL high first" in board.text
        await board.press("less_than_sign", "O")
        assert "order $/h high first" in board.text
        rates = [
            r.rate.micros
            for k in board.screen.market.table.model.order
            if (r := board.screen.market.table.model.records[k]).rate is not None
        ]
        assert rates == sorted(rates, reverse=True)


async def test_freeze_holds_the_list_and_counts() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("p")
        await board.put(cheaper(session.board.snapshot, "RTX A4500", 0.101))
        assert "0.101" not in board.text
        await board.wait(12)
        assert "FROZEN 12s" in board.text
        await board.press("p")
        assert "0.101" in board.text
        assert "FROZEN" not in board.text


async def test_freezing_the_runs_holds_their_order_but_never_their_state() -> None:
    session = ScriptedSession()
    async with dashboard(session, (200, 60)) as board:
        await board.press("2", "p")
        first, *rest = session.board.snapshot.runs
        trouble = replace(first, resource_state="unconfirmed")
        session.later(60)
        await board.put(replace(session.board.snapshot, runs=(*reversed(rest), trouble)))
        assert "ORDER HELD" in board.text
        assert "MAY STILL BILL" in board.line(" run-17     ")
        assert board.screen.runs.table.model.order[0] == "run:run-17"
        await board.press("p")
        assert board.screen.runs.table.model.order[-1] == "run:run-17"


async def test_ages_and_costs_tick_without_new_data() -> None:
    session = ScriptedSession()
    async with dashboard(session, (200, 60)) as board:
        assert "$9.74" in board.line("run-17")
        await board.wait(30)
        assert "$9.76" in board.line("run-17")
        assert "34s" in board.line("RTX A4500 ")


async def test_stale_rows_stay_with_a_word_and_an_age() -> None:
    async with dashboard(ScriptedSession(samples.vast_stale())) as board:
        assert "STALE" in board.line("RTX A4500 ")
        assert "2m" in board.line("RTX A4500 ")
        assert "0.155" in board.line("RTX A4500 ")
        assert "vast STALE 2m (rate limited, retry 24s)" in board.text.splitlines()[1]
        assert "vast STALE 2m" in board.line("[1 Market]")


async def test_prices_that_are_too_old_are_withheld() -> None:
    async with dashboard(ScriptedSession(samples.vast_unknown()), (200, 60)) as board:
        await board.press("slash", *"5090", "enter")
        row = next(r for r in board.text.splitlines() if "RTX 5090" in r and "UNKNOWN" in r)
        assert " ? " in row
        assert "0.8" not in row
        assert "vast DOWN 20m" in board.text


async def test_a_live_row_grows_stale_on_the_screen_without_any_news() -> None:
    async with dashboard(ScriptedSession()) as board:
        await board.wait(100)
        assert "STALE" in board.line("RTX A4500 ")


async def test_a_first_start_without_network_says_what_was_not_loaded_and_why() -> None:
    async with dashboard(ScriptedSession(samples.nothing_loaded())) as board:
        assert "not loaded yet" in board.text
        assert "no connection to console.vast.ai" in board.text
        assert "no key: set RUNPOD_API_KEY" in board.text
        assert "0 rows" not in board.text
        assert "0 billing" not in board.text
        assert "$?/h" in board.text
        assert "not everybody answered" in board.text
        assert "waiting for the first prices" in board.text


async def test_a_quiet_day_is_quiet() -> None:
    async with dashboard(ScriptedSession(samples.quiet())) as board:
        assert "nothing is rented by this store" in board.text
        assert board.text.splitlines()[2].strip() == ""


async def test_help_opens_and_closes_with_the_same_key_and_with_escape() -> None:
    async with dashboard(ScriptedSession()) as board:
        for opens, closes in (
            ("question_mark", "question_mark"),
            ("f1", "escape"),
            ("question_mark", "q"),
        ):
            await board.press(opens)
            assert "Keys in Market" in board.text
            await board.press(closes)
            assert "Keys in Market" not in board.text
        assert board.app.is_running


async def test_help_of_a_pane_lists_its_own_keys_and_scrolls() -> None:
    async with dashboard(ScriptedSession(), (80, 24)) as board:
        await board.press("2", "question_mark")
        assert "destroy the machine and prove it gone" in board.text
        await board.press("G")
        assert "STALE" in board.text


async def test_the_plan_follows_every_change_of_the_job() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("3", "j", "right")
        assert session.jobs[-1].algorithm == "grpo"
        await board.press("j", "enter", *"4096", "enter")
        assert session.jobs[-1].max_length == 4096
        await board.press("j", "l", "L")
        assert session.jobs[-1].thinking is True
        await board.press("j", "right")
        assert session.jobs[-1].pin == "RTX 4090"
        await board.press("j", "right")
        assert session.jobs[-1].provider == "runpod"
        await board.press("j", "enter", "backspace", "backspace", *"200", "enter")
        assert session.jobs[-1].disk_gb == 200
        await board.press("j", "right")
        assert session.jobs[-1].allow_unvalidated is True
        await board.press("j", "enter", *"-X", "enter")
        assert session.jobs[-1].model == "Qwen/Qwen3.5-4B-X"


async def test_a_new_job_shows_at_once_and_is_marked_until_its_plan_arrives() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("3", "j", "right")
        assert "grpo" in board.text
        assert "computing" in board.text
        await board.put(replace(session.board.snapshot, revision=2))
        assert "grpo" in board.text
        plan = replace(session.board.snapshot.plan, job=session.jobs[-1])
        await board.put(replace(session.board.snapshot, plan=plan))
        assert "computing" not in board.text


async def test_a_value_that_cannot_be_is_refused_in_words() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("3", "j", "j", "enter", *"many", "enter")
        assert "the length in tokens is a whole number" in board.text
        assert session.jobs == []
        await board.press("escape")
        assert board.screen.active == "plan"


async def test_the_plan_says_winner_runners_up_and_reasons() -> None:
    async with dashboard(ScriptedSession(), (200, 60)) as board:
        assert "0.285/h" in board.line("PICK")
        assert "+0.174" in board.line("NEXT")
        assert "32 too small" in board.line("OUT")
        assert "weights 8.0" in board.line("NEED")


async def test_nothing_fits_is_said_with_what_would_help() -> None:
    report = samples.report(
        winner=None, candidates=(), summary="nothing holds 200 GB", remedies=("allow unvalidated classes",),
        could_not_ask=("runpod",),
    )  # fmt: skip
    plan = replace(samples.snapshot().plan, report=report)
    async with dashboard(ScriptedSession(samples.snapshot(plan=plan))) as board:
        assert "nothing holds 200 GB" in board.line("NONE")
        assert "allow unvalidated classes" in board.line("TRY")
        assert "runpod could not be asked" in board.text


async def test_explain_says_why_a_row_is_not_the_pick() -> None:
    async with dashboard(ScriptedSession()) as board:
        await board.press("slash", *"a4000 vast".replace(" ", ""), "escape", "j", "j", "e")
        assert "16 GB cannot hold 21 GB" in board.text
        await board.press("e")
        assert "16 GB cannot hold 21 GB" not in board.text
        await board.press("3", "e")
        assert "Not chosen:" in board.text
        assert "weights" in board.text


async def test_acknowledge_takes_the_worst_alert() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("a")
        assert session.acknowledged == ["billing:run-12"]


async def test_refresh_asks_everybody_and_says_so() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        await board.press("R", "ctrl+r")
        assert session.refreshes == 2
        assert "asking all providers now" in board.text
        await board.wait(10)
        assert "asking all providers" not in board.text


async def test_themes_go_round() -> None:
    async with dashboard(ScriptedSession()) as board:
        seen = [board.app.theme]
        for _ in THEMES:
            await board.press("t")
            seen.append(board.app.theme)
        assert set(seen) == set(THEMES)
        assert seen[0] == seen[-1]
        board.no_faults()


async def test_an_unknown_theme_is_said_and_the_default_taken() -> None:
    async with dashboard(ScriptedSession(), theme="pink") as board:
        assert "there is no theme pink" in board.text
        assert board.app.theme == "flash-dark"


async def test_read_only_is_visible_and_takes_the_keys_away() -> None:
    session = ScriptedSession(samples.snapshot(read_only=True))
    async with dashboard(session) as board:
        await board.press("2", "x", "D")
        assert " RO " in board.text
        assert not board.screen.desk.is_open
        assert "read-only: cancel and destroy are off" in board.text
        await board.wait(10)
        assert "D destroy" not in board.text.splitlines()[-1]
        await board.press("question_mark")
        assert "prove it gone" not in board.text


async def test_states_can_be_told_apart_without_colour() -> None:
    async with dashboard(ScriptedSession(), (200, 60), ascii_only=True, no_color=True) as board:
        for word in ("running", "destroying 41s", "STALLED 19m", "MAY STILL BILL", "done, BILLS", "provisioning",
                     "ORPHAN", "NOT OURS", "done, gone", "failed, gone"):  # fmt: skip
            assert word in board.text
        assert any(row.startswith("|>") for row in board.text.splitlines())


async def test_ascii_mode_draws_nothing_else() -> None:
    odd = samples.run("日本語-é", label="ラベル")
    async with dashboard(ScriptedSession(samples.snapshot(runs=(odd,))), ascii_only=True) as board:
        await board.press("2")
        assert board.text.isascii()
        await board.press("question_mark")
        assert board.text.isascii()


@pytest.mark.parametrize(
    "label", ["sweep[a] lr=[1e-4]", "[/]", "[/usr/bin/x]", "[bold", "[red]x", "[0]"]
)
async def test_markup_in_names_and_errors_is_shown_letter_by_letter(label: str) -> None:
    row = samples.run(
        label, note=f"mount {label} full", target=Target("vast", "21377744", label, label)
    )
    failure = samples.error(message=f"mount {label} full")
    snapshot = samples.snapshot(
        runs=(row,), sheets=(), events=(), alerts=(replace(samples.alerts()[0], text=f"alert {label}"),),
        health=(samples.health("vast", state="down", age_s=None, error=failure),),
    )  # fmt: skip
    session = ScriptedSession(snapshot)
    async with dashboard(session, (200, 60)) as board:
        assert f"mount {label} full" in board.text
        assert f"alert {label}" in board.text
        await board.press("2", "D")
        assert f"DESTROY {label}" in board.text
        await board.wait(2)
        await board.press("escape")
        assert f"{label}: nothing was done" in board.text
        board.no_faults()


async def test_control_bytes_from_outside_never_reach_the_screen() -> None:
    nasty = "\x1b]0;owned\x07run\x1b[2J\x0e\x00\x9b31m\u202eevil"
    row = samples.run(
        "run-1",
        run_id=None,
        label=nasty,
        note=nasty,
        raw_status=nasty,
        resource_id="x\x1b[2Jy",
        gpu=nasty,
    )
    snapshot = samples.snapshot(
        runs=(row,), alerts=(replace(samples.alerts()[0], text=nasty),),
        events=(replace(samples.events()[0], text=nasty),),
        sheets=(PriceSheet("vast", (samples.quote(gpu=nasty, regions=(nasty,)),), T0),),
    )  # fmt: skip
    async with dashboard(ScriptedSession(snapshot), (200, 60)) as board:
        await board.press("2", "D")
        printable = board.text.replace("\n", "")
        assert printable.isprintable()
        assert "owned" not in printable
        board.no_faults()


async def test_ten_thousand_letters_are_cut_not_drawn() -> None:
    row = samples.run("r" * 10_000, note="n" * 10_000)
    async with dashboard(ScriptedSession(samples.snapshot(runs=(row,)))) as board:
        await board.press("2", "D")
        board.no_faults()


async def test_a_snapshot_that_cannot_be_drawn_costs_that_picture_only() -> None:
    session = ScriptedSession()
    async with dashboard(session) as board:
        nonsense: Any = ("not a row",)
        broken = replace(session.board.snapshot, runs=nonsense)
        await board.put(broken)
        assert board.app.is_running
        assert " failed 0s ago (AttributeError)" in board.text
        session.later(1)
        await board.put(samples.snapshot(runs=(samples.run("run-99"),)))
        assert "run-99" in board.text


async def test_five_thousand_offers_open_behind_one_row() -> None:
    sheets = samples.market()
    offers = tuple(samples.offer(n, price=1 + n / 5000) for n in range(5_000))
    snapshot = samples.snapshot(sheets=(sheets[0], replace(sheets[1], offers=offers)))
    async with dashboard(ScriptedSession(snapshot)) as board:
        await board.press(
            "slash", *"prov=vast", "space", *"h100", "space", *"!nvl", "enter", "enter"
        )
        assert len(board.screen.market.table.model) > 5_000
        await board.press("G")
        board.no_faults()
