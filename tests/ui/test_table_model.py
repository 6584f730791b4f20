"""Rows by key: order, cursor, marks, filter; nothing is drawn."""

from __future__ import annotations

import random
from typing import Any

from flashtui.ui.table_model import SortBy, TableModel


def model(values: dict[str, Any], *, falling: bool = False) -> TableModel[Any]:
    table: TableModel[Any] = TableModel(SortBy(lambda value: value, falling))
    table.replace(values)
    return table


def test_unknown_values_come_last_in_both_directions() -> None:
    values = {"a": 2.10, "b": 10.24, "c": 0.35, "d": 1.49, "e": None}
    assert model(values).order == ["c", "d", "a", "b", "e"]
    assert model(values, falling=True).order == ["b", "a", "d", "c", "e"]


def test_equal_values_keep_their_order_between_refreshes() -> None:
    table = model({"x": 1, "y": 1, "z": 1}, falling=True)
    table.replace({"x": 1, "y": 1, "z": 1})
    assert table.order == ["x", "y", "z"]


def test_the_cursor_stays_on_its_row_when_another_order_moves_it() -> None:
    table = model({"a": 1, "b": 2, "c": 3})
    table.move_to(0)
    table.replace({"a": 9, "b": 2, "c": 3})
    assert table.order == ["b", "c", "a"]
    assert (table.cursor, table.cursor_index, table.selection) == ("a", 2, "a")


def test_the_cursor_stays_on_its_row_when_rows_come_and_go_above_it() -> None:
    table = model({"a": 1, "b": 2, "c": 3, "d": 4})
    table.move_to(2)
    table.replace({"c": 3, "d": 4})
    assert table.selection == "c"
    table.replace({"0": 0, "1": 1, "c": 3, "d": 4})
    assert (table.selection, table.cursor_index) == ("c", 2)


def test_a_row_that_goes_leaves_the_cursor_on_its_neighbour_and_nothing_chosen() -> None:
    table = model({"a": 1, "b": 2, "c": 3})
    table.move_to(1)
    table.replace({"a": 1, "c": 3})
    assert table.cursor == "c"
    assert table.selection is None


def test_the_last_row_that_goes_leaves_the_cursor_on_the_one_above() -> None:
    table = model({"a": 1, "b": 2, "c": 3})
    table.move_to(2)
    table.replace({"a": 1, "b": 2})
    assert (table.cursor, table.selection) == ("b", None)


def test_after_the_chosen_row_has_gone_a_key_chooses_again() -> None:
    table = model({"a": 1, "b": 2})
    table.move_to(1)
    table.replace({"a": 1})
    assert table.selection is None
    assert table.move_to(table.cursor_index)
    assert table.selection == "a"


def test_a_table_that_was_empty_for_a_moment_has_nothing_chosen() -> None:
    table = model({"a": 1})
    table.move_to(0)
    table.replace({})
    table.replace({"a": 1, "b": 2})
    assert (table.cursor, table.selection) == ("a", None)


def test_the_first_row_is_chosen_when_rows_arrive_for_the_first_time() -> None:
    assert model({"b": 2, "a": 1}).selection == "a"


def test_held_rows_keep_their_places_and_new_ones_go_to_the_end() -> None:
    table = model({"a": 1, "b": 2, "c": 3})
    table.replace({"a": 9, "b": 2, "c": 3, "n": 0}, hold_order=True)
    assert table.order == ["a", "b", "c", "n"]
    assert table.resort()
    assert table.order == ["n", "b", "c", "a"]
    assert not table.resort()


def test_children_follow_their_parent_in_any_order() -> None:
    table = model({"p": 5, "q": 1, "p1": 7, "p2": 6})
    table.replace({"p": 5, "q": 1, "p1": 7, "p2": 6}, {"p": ["p1", "p2"]})
    assert table.order == ["q", "p", "p2", "p1"]


def test_a_filter_hides_and_the_row_it_leaves_the_cursor_on_is_chosen() -> None:
    table = model({"a": 1, "b": 2, "c": 3})
    table.filter(lambda value: value > 1)
    assert table.order == ["b", "c"]
    assert table.selection == "b"
    table.filter(None)
    assert table.selection == "b"


def test_a_filter_that_accepts_a_child_keeps_its_parent() -> None:
    table = model({"p": 5, "q": 1, "p1": 7})
    table.replace({"p": 5, "q": 1, "p1": 7}, {"p": ["p1"]})
    table.filter(lambda value: value == 7)
    assert table.order == ["p", "p1"]


def test_marks_stay_with_keys_and_go_with_them() -> None:
    table = model({"a": 1, "b": 2})
    table.toggle_mark("b")
    table.replace({"b": 0, "a": 1})
    assert table.marks == {"b"}
    table.replace({"a": 1})
    assert table.marks == set()


def test_rows_replaced_again_and_again_never_lose_the_cursor() -> None:
    """Two hundred refreshes, half of the rows new each time, the order turned now and then."""
    rng = random.Random(7)
    keys = [f"k{i}" for i in range(50)]
    table = model(dict.fromkeys(keys, 1))
    for turn in range(200):
        gone = set(rng.sample(keys, 25))
        keys = [k for k in keys if k not in gone] + [f"k{turn}-{i}" for i in range(25)]
        table.move_to(rng.randrange(50))
        values = {key: rng.random() for key in keys}
        table.replace(values, hold_order=turn % 3 == 0)
        table.reorder(SortBy(lambda value: value, bool(turn % 2)))
        assert len(table.order) == 50
        assert set(table.order) == set(keys)
        assert table.cursor in values
        assert table.order[table.cursor_index] == table.cursor
        assert table.selection in {None, table.cursor}
    expected = sorted(table.records, key=table.records.__getitem__, reverse=True)
    assert table.order == expected
