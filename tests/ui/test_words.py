"""Numbers in words, lines that have to fit, columns that have to fit."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from flashtui.domain.money import Usd
from flashtui.ui.cells import Cell, Span, age_text, duration_text, line, rate_text, usd_text
from flashtui.ui.columns import GUTTER, Column, place
from flashtui.ui.paint import Paint
from flashtui.ui.parts import Part, fit_parts, flowed, line_cells, spread, wrapped


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59.9, "59s"), (60, "1m"), (3599, "59m"), (10_920, "3h02m"), (90_000, "1d01h"), (8.7e6, "100d"), (-5, "0s")],
)  # fmt: skip
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "?"), (4.2, "4s"), (540, "9m"), (10_800, "3h"), (172_800, "2d")]
)
def test_ages_fit_four_cells(seconds: float | None, text: str) -> None:
    assert age_text(seconds) == text


def test_unknown_money_is_a_question_mark_and_an_estimate_says_so() -> None:
    assert rate_text(None) == "?"
    assert usd_text(None, estimate=True) == "?"
    assert usd_text(Usd.of("1.5"), estimate=True) == "~$1.50"


def test_the_lightest_parts_of_a_line_go_first() -> None:
    parts = [Part(line("name"), 1), Part(line("money"), 9), Part(line("more"), 5)]
    assert "".join(s.text for s in fit_parts(parts, 17)) == "name  money  more"
    assert "".join(s.text for s in fit_parts(parts, 16)) == "money  more"
    assert "".join(s.text for s in fit_parts(parts, 6)) == "money"


def test_both_ends_of_a_line_are_kept_apart_and_the_right_one_gives_way() -> None:
    both = spread(line("left"), line("right"), 12)
    assert line_cells(both) == 12
    assert "".join(s.text for s in spread(line("left"), line("right"), 8)) == "left"


def test_parts_flow_like_words() -> None:
    rows = flowed([Part(line(word)) for word in ("aaaa", "bbbb", "cccc")], 10)
    assert [[part.spans[0].text for part in row] for row in rows] == [["aaaa", "bbbb"], ["cccc"]]


def test_sentences_are_wrapped_to_the_width() -> None:
    assert all(line_cells(row) <= 12 for row in wrapped("one two three four five", 12))


@pytest.mark.parametrize("text", ["H100", "GPU 日本語 名前", "é" * 30, "…", ""])
@pytest.mark.parametrize("width", [0, 1, 2, 3, 7, 20])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_fitted_text_has_exactly_its_width(text: str, width: int, *, ascii_only: bool) -> None:
    paint = Paint("flash-dark", ascii_only=ascii_only)
    fitted = paint.fit(text, width)
    assert cell_len(fitted) == width
    assert fitted.isascii() or not ascii_only


def test_segments_of_a_line_fill_its_width_and_join_equal_styles() -> None:
    paint = Paint("flash-dark")
    segments = paint.segments([Span("a"), Span("b"), Span("日本", "bad"), Span("x" * 40)], 12)
    assert sum(cell_len(s.text) for s in segments) == 12
    assert segments[0].text == "ab"


def _column(name: str, width: int, **more: object) -> Column[str]:
    return Column(name, name, width, lambda r, _: Cell(r), **more)  # type: ignore[arg-type]


def test_columns_that_do_not_fit_are_left_out_whole() -> None:
    columns = [_column("a", 10), _column("b", 10), _column("c", 10)]
    layout = place(columns, GUTTER + 22, 0)
    assert [p.column.id for p in layout.shown] == ["a", "b"]
    assert layout.hidden_right == 1


def test_the_first_column_stays_when_the_others_scroll() -> None:
    columns = [_column(c, 10) for c in "abcd"]
    layout = place(columns, GUTTER + 22, 2)
    assert [p.column.id for p in layout.shown] == ["a", "d"]
    assert (layout.hidden_left, layout.hidden_right) == (2, 0)


def test_scrolling_ends_at_the_last_column() -> None:
    layout = place([_column(c, 10) for c in "abcd"], GUTTER + 22, 99)
    assert [p.column.id for p in layout.shown] == ["a", "d"]


def test_the_flexible_column_takes_what_is_left() -> None:
    columns = [_column("a", 4), _column("note", 5, flex=True), _column("z", 3)]
    layout = place(columns, 60, 0)
    assert layout.shown[-1].x + layout.shown[-1].width == 60


def test_columns_belong_to_widths() -> None:
    columns = [
        _column("a", 4),
        _column("narrow", 4, max_width=99),
        _column("wide", 4, min_width=100),
    ]
    assert [p.column.id for p in place(columns, 80, 0).shown] == ["a", "narrow"]
    assert [p.column.id for p in place(columns, 120, 0).shown] == ["a", "wide"]


@pytest.mark.parametrize("width", range(1, 12))
def test_a_table_of_hardly_any_width_still_has_a_layout(width: int) -> None:
    layout = place([_column("a", 10), _column("b", 10)], width, 0)
    assert all(p.width >= 0 for p in layout.shown)
