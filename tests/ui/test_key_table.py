"""The table of keys: one source for bindings, footer, help and README."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.binding import Binding

from flashtui.ui.help_lines import footer_line, help_lines
from flashtui.ui.keys import KEYS, PANES, conflicts, keys_in, markdown_rows
from flashtui.ui.parts import line_cells
from flashtui.ui.screens.dashboard import Dashboard

FORBIDDEN = ("alt+", "f2", "f3", "meta")


def words(rows: object) -> str:
    return " ".join(span.text for row in rows for span in row)  # type: ignore[attr-defined]


def test_no_key_means_two_things_in_one_pane() -> None:
    assert conflicts() == []


def test_a_conflict_would_be_found() -> None:
    clash = replace(KEYS[0], id="other", keys=KEYS[1].keys, where=KEYS[1].where)
    assert conflicts([*KEYS, clash]) == [
        f"o is both order and other in {pane}" for pane in KEYS[1].where
    ]


def test_every_entry_has_an_action_a_binding_and_a_sentence() -> None:
    bound = {binding.id for binding in Dashboard.BINDINGS if isinstance(binding, Binding)}
    for key in KEYS:
        assert hasattr(Dashboard, f"action_{key.action.partition('(')[0]}")
        assert key.id in bound
        assert key.help


def test_ids_are_unique_and_no_key_needs_alt_or_high_function_keys() -> None:
    assert len({key.id for key in KEYS}) == len(KEYS)
    assert not [k for key in KEYS for k in key.keys if k.startswith(FORBIDDEN)]


def test_destroy_is_a_capital_letter_and_ctrl_d_moves() -> None:
    by_key = {name: key.id for key in KEYS for name in key.keys}
    assert by_key["D"] == "destroy"
    assert "d" not in by_key
    assert by_key["ctrl+d"] == "half_down"


@pytest.mark.parametrize("pane", PANES)
def test_help_lists_every_key_that_is_live_and_the_footer_some(pane: object) -> None:
    live = keys_in(pane, read_only=False)  # type: ignore[arg-type]
    text = words(help_lines(pane, read_only=False))  # type: ignore[arg-type]
    assert all(key.help in text for key in live)
    assert "help" in words([footer_line(pane, 80, read_only=False)])  # type: ignore[arg-type]


def test_read_only_has_no_keys_that_act() -> None:
    assert not [key for key in keys_in("runs", read_only=True) if key.acts]
    assert "prove it gone" not in words(help_lines("runs", read_only=True))


@pytest.mark.parametrize("width", [10, 20, 40, 80, 200])
def test_the_footer_fits_and_keeps_help_longest(width: int) -> None:
    row = footer_line("runs", width, read_only=False)
    assert line_cells(row) <= width
    assert "?" in words([row])


def test_the_readme_gets_one_row_for_every_key() -> None:
    rows = markdown_rows()
    assert len(rows) == len(KEYS)
    assert "| `D` | destroy the machine and prove it gone (asks first) |" in rows
