"""Positions in TOML text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.toml_source import TomlSyntaxError, key_lines, line_of, parse_toml


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = 1\nb = \n", 2, 5),
        ('[x]\nkey = "half', 2, 12),
        ("\x00\x01", 1, 1),
        ("a = " + "9" * 5000, 1, 1),
        ("a = " + "[" * 3000, 1, 1),
    ],
)
def test_a_syntax_error_has_a_place(text: str, line: int, column: int) -> None:
    with pytest.raises(TomlSyntaxError) as caught:
        parse_toml(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_byte_order_mark_and_windows_line_ends_do_no_harm() -> None:
    assert parse_toml('\ufeff[vast]\r\napi_key = "x"\r\n') == {"vast": {"api_key": "x"}}


@given(st.text())
def test_any_text_parses_or_says_where_it_does_not(text: str) -> None:
    place = (1, 1)
    try:
        parse_toml(text)
    except TomlSyntaxError as error:
        place = (error.line, error.column)
    assert min(place) >= 1
    assert all(line >= 1 for line in key_lines(text).values())


def test_keys_are_found_by_their_dotted_name() -> None:
    lines = key_lines('model = 1\n[train]\nsteps = 2\n# x = 3\n[job]\nenv.A = "b"\n[[gpu."x y"]]\n')
    assert lines == {
        "model": 1,
        "train": 2,
        "train.steps": 3,
        "job": 5,
        "job.env": 6,
        "job.env.A": 6,
        "gpu.x y": 7,
    }
    assert line_of(lines, "job.env.B.c") == 6
    assert line_of(lines, "nothing") is None
