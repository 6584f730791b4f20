"""The table widget: what it draws, what it draws again, and what its keys do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len

from flashtui.ui.cells import Cell, Span
from flashtui.ui.columns import Column, Look
from flashtui.ui.keyed_table import SETTLE_S, KeyedTable
from tests.fakes import T0, FakeClock
from tests.ui.host import Host, kit, screen_text, settle

if TYPE_CHECKING:
    from rich.segment import Segment

LOOK = Look(T0, 45.0)


@dataclass(frozen=True)
class Thing:
    name: str
    price: float | None = 1.0
    note: str = ""


COLUMNS: tuple[Column[Thing], ...] = (
    Column("name", "NAME", 12, lambda r, _: Cell(r.name), lambda r: r.name),
    Column("price", "PRICE", 7, lambda r, _: Cell("?" if r.price is None else f"{r.price:.2f}", "price"),
           lambda r: r.price, "right"),
    Column("note", "NOTE", 10, lambda r, _: Cell(r.note)),
    *(Column(f"c{n}", f"C{n}", 9, lambda r, _, n=n: Cell(f"{r.name}/{n}")) for n in range(5)),  # type: ignore[misc]
)  # fmt: skip


class Counted(KeyedTable[Thing]):
    """Counts what is drawn and which cells are made."""

    drawn = 0

    def draw_line(self, y: int, width: int) -> list[Segment]:
        self.drawn += 1
        return super().draw_line(y, width)


def table(**more: Any) -> Counted:
    return Counted(kit(), COLUMNS, **more)


def things(count: int) -> dict[str, Thing]:
    return {f"k{n}": Thing(f"thing-{n:05}", float(n)) for n in range(count)}


def clock(widget: KeyedTable[Any]) -> FakeClock:
    assert isinstance(widget.kit.clock, FakeClock)
    return widget.kit.clock


async def test_five_thousand_rows_are_drawn_as_many_as_fit() -> None:
    widget = table()
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        widget.show(things(5_000), LOOK)
        await settle(pilot)
        assert widget.drawn <= 2 * 24
        assert "thing-00000" in screen_text(pilot.app)


async def test_a_changed_cell_costs_one_line_whatever_the_number_of_rows() -> None:
    widget = table()
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        rows = things(5_000)
        widget.show(rows, LOOK)
        await settle(pilot)
        widget.drawn = 0
        widget.show({**rows, "k3": Thing("thing-00003", 99.0)}, LOOK)
        await settle(pilot)
        assert widget.drawn == 1
        assert "99.00" in screen_text(pilot.app)


async def test_nothing_is_drawn_when_nothing_in_view_changes() -> None:
    widget = table()
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        rows = things(5_000)
        widget.show(rows, LOOK)
        await settle(pilot)
        widget.drawn = 0
        widget.show({**rows, "k4000": Thing("thing-04000", 99.0)}, LOOK)
        widget.tick(LOOK)
        await settle(pilot)
        assert widget.drawn == 0


async def test_a_cursor_key_costs_two_lines_and_a_page_costs_the_window() -> None:
    widget = table()
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        widget.show(things(20_000), LOOK)
        await settle(pilot)
        widget.drawn = 0
        widget.move("down")
        await settle(pilot)
        assert widget.drawn == 2
        widget.drawn = 0
        widget.move("bottom")
        await settle(pilot)
        assert widget.drawn <= 24
        assert "thing-19999" in screen_text(pilot.app)


@pytest.mark.parametrize(
    ("how", "row"),
    [("down", 1), ("page_down", 22), ("half_down", 11), ("bottom", 99), ("up", 0), ("top", 0)],
)
async def test_movement_from_the_top(how: str, row: int) -> None:
    widget = table()
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        widget.show(things(100), LOOK)
        await settle(pilot)
        widget.move(how)
        assert widget.selection == f"k{row}"


async def test_the_cursor_and_its_place_on_the_screen_survive_new_rows_above() -> None:
    widget = table()
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        widget.show(things(60), LOOK)
        await settle(pilot)
        for _ in range(39):
            widget.move("down")
        await settle(pilot)
        line = next(
            n for n, row in enumerate(screen_text(pilot.app).splitlines()) if row.startswith(">")
        )
        widget.show({"new": Thing("new", 0.0), **things(60)}, LOOK)
        await settle(pilot)
        lines = screen_text(pilot.app).splitlines()
        assert lines[line].startswith(">")
        assert "thing-00039" in lines[line]


async def test_cursor_and_sideways_scroll_follow_a_row_that_moves_and_outlive_one_that_goes() -> (
    None
):
    """Row 40, two columns to the right; the row moves to place 12, then it goes."""
    widget = table(sort="price")
    async with Host(widget).run_test(size=(60, 24)) as pilot:
        rows = things(60)
        widget.show(rows, LOOK)
        await settle(pilot)
        for _ in range(39):
            widget.move("down")
        widget.move("right")
        widget.move("right")
        await settle(pilot)
        header = screen_text(pilot.app).splitlines()[0]
        assert "NAME" in header
        assert "PRICE" not in header
        for refresh in range(10):
            clock(widget).elapsed_s += 45
            if refresh >= 4:
                rows["k39"] = Thing("thing-00039", 11.5)
            if refresh >= 7:
                rows.pop("k39", None)
            widget.show(dict(rows), LOOK)
            await settle(pilot)
            assert screen_text(pilot.app).splitlines()[0] == header
            if refresh == 5:
                assert widget.selection == "k39"
                assert widget.model.cursor_index == 12
        assert widget.selection is None
        assert widget.model.cursor == "k12"
        assert any(row.startswith("~") for row in screen_text(pilot.app).splitlines())


async def test_rows_hold_still_after_a_key_and_fall_into_place_later() -> None:
    widget = table(sort="price")
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        widget.show(things(5), LOOK)
        await settle(pilot)
        widget.move("down")
        widget.show({**things(5), "k0": Thing("thing-00000", 50.0)}, LOOK)
        assert widget.model.order[0] == "k0"
        widget.tick(LOOK)
        assert widget.model.order[0] == "k0"
        clock(widget).elapsed_s += SETTLE_S
        widget.tick(LOOK)
        assert widget.model.order == ["k1", "k2", "k3", "k4", "k0"]
        assert widget.selection == "k1"


async def test_sorting_by_value_not_by_text() -> None:
    widget = table()
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        widget.show({str(p): Thing(f"t{p}", p) for p in (2.1, 10.24, 0.35, 1.49, None)}, LOOK)
        await settle(pilot)
        widget.sort_by("price")
        assert widget.model.order == ["0.35", "1.49", "2.1", "10.24", "None"]
        widget.sort_reverse()
        assert widget.model.order == ["10.24", "2.1", "1.49", "0.35", "None"]
        await settle(pilot)
        assert "PRICEv" in screen_text(pilot.app)


async def test_order_steps_through_the_columns_that_can_be_sorted_by() -> None:
    widget = table(sort="name")
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        widget.show(things(3), LOOK)
        await settle(pilot)
        widget.sort_step(1)
        assert widget.sort_column == "price"
        widget.sort_step(1)
        assert widget.sort_column == "name"
        widget.sort_by("note")
        assert widget.sort_column == "name"


@pytest.mark.parametrize(
    "text",
    [
        "sweep[a] lr=[1e-4]",
        "[/]",
        "[/usr/bin/x]",
        "[bold",
        "[red]x",
        "[0]",
        "日本語のラベル",
        "مرحبا",
    ],
)
async def test_any_text_is_shown_letter_by_letter(text: str) -> None:
    columns: list[Column[Thing]] = [Column("name", "NAME", 30, lambda r, _: Cell(r.name))]
    widget = KeyedTable(kit(), columns)
    async with Host(widget).run_test(size=(60, 6)) as pilot:
        widget.show({"a": Thing(text), "b": Thing("plain")}, LOOK)
        await settle(pilot)
        assert text in screen_text(pilot.app)
        assert widget.kit.faults.newest is None


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 9, 30, 79, 200])
async def test_every_line_is_exactly_as_wide_as_the_table(width: int) -> None:
    widget = table()
    async with Host(widget).run_test(size=(width, 6)) as pilot:
        widget.show({"a": Thing("日本語のラベル日本語", 1.0, "メモ"), "b": Thing("b" * 50)}, LOOK)
        await settle(pilot)
        for y in range(6):
            assert sum(cell_len(s.text) for s in widget.draw_line(y, width)) == width
        assert widget.kit.faults.newest is None


async def test_a_fault_in_one_cell_spoils_that_line_and_nothing_else() -> None:
    def risky(row: Thing, _look: Look) -> Cell:
        return Cell(str(1 / (row.price or 0)))

    columns: list[Column[Thing]] = [
        Column("name", "NAME", 12, lambda r, _: Cell(r.name)),
        Column("x", "X", 9, risky),
    ]
    widget = KeyedTable(kit(), columns)
    async with Host(widget).run_test(size=(40, 6)) as pilot:
        widget.show({"good": Thing("good", 2.0), "bad": Thing("bad", 0.0)}, LOOK)
        await settle(pilot)
        lines = screen_text(pilot.app).splitlines()
        assert "good" in lines[1]
        assert "0.5" in lines[1]
        assert "bad" in lines[2]
        assert "fault" in lines[2]
        assert widget.kit.faults.newest is not None
        assert widget.kit.faults.newest.kind == "ZeroDivisionError"


async def test_an_empty_table_says_why() -> None:
    widget = table()
    async with Host(widget).run_test(size=(60, 6)) as pilot:
        widget.show_empty([(Span("nothing yet: no key"),)])
        widget.show({}, LOOK)
        await settle(pilot)
        assert "nothing yet: no key" in screen_text(pilot.app)
        widget.show(things(1), LOOK)
        await settle(pilot)
        assert "nothing yet" not in screen_text(pilot.app)
        widget.move("down")
        widget.show({}, LOOK)
        await settle(pilot)
        assert "nothing yet" in screen_text(pilot.app)
        assert widget.selection is None


async def test_a_click_puts_the_cursor_where_it_points() -> None:
    widget = table()
    async with Host(widget).run_test(size=(60, 10)) as pilot:
        widget.show(things(30), LOOK)
        await settle(pilot)
        await pilot.click(offset=(5, 4))
        assert widget.selection == "k3"


async def test_marks_show_in_the_gutter_and_stay_with_their_row() -> None:
    widget = table(sort="price")
    async with Host(widget).run_test(size=(60, 8)) as pilot:
        widget.show(things(3), LOOK)
        await settle(pilot)
        widget.toggle_mark()
        clock(widget).elapsed_s += 10
        widget.show({**things(3), "k0": Thing("thing-00000", 9.0)}, LOOK)
        await settle(pilot)
        marked = [row for row in screen_text(pilot.app).splitlines() if row[2:3] == "+"]
        assert len(marked) == 1
        assert "thing-00000" in marked[0]


async def test_sizes_change_without_losing_the_cursor() -> None:
    widget = table()
    async with Host(widget).run_test(size=(80, 24)) as pilot:
        widget.show(things(500), LOOK)
        await settle(pilot)
        widget.move("bottom")
        for size in ((40, 10), (1, 1), (200, 60), (30, 3)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            assert widget.selection == "k499"
        assert "thing-00499" in screen_text(pilot.app)
