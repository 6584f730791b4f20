"""Text from outside becomes one harmless line."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.text import clean

NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x1b[]\\\x07\x9b\x9d\x9c\u202e\u200b\u2066\ufeff\ud800\n\r\t0;31m"),
    )
)


@given(text=NASTY, limit=st.integers(0, 60))
def test_nothing_that_moves_or_hides_gets_through(text: str, limit: int) -> None:
    line = clean(text, limit)
    assert len(line) <= limit
    assert all(unicodedata.category(char)[0] != "C" or _is_unassigned(char) for char in line)
    assert not any(char.isspace() and char != " " for char in line)


def _is_unassigned(char: str) -> bool:
    return unicodedata.category(char) == "Cn"


@given(text=NASTY)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(text=st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=200))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("dirty", "line"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("\x1b]0;owned\x07title", "title"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never closed\nkept", "kept"),
        ("\x1bPq#0;2\x1b\\after", "after"),
        ("\x9b31mred", "red"),
        ("\x1bcreset", "reset"),
        ("a\u202eb\u2066c\u200bd\ufeffe", "abcde"),
        ("one\r\n\ttwo  three", "one two three"),
        ("  padded ", "padded"),
        ("naïve café", "naïve café"),
        ("日本", "日本"),
    ],
)
def test_sequences_go_as_a_whole(dirty: str, line: str) -> None:
    assert clean(dirty) == line


@pytest.mark.parametrize(
    ("value", "line"), [(None, ""), (b"caf\xc3\xa9 \xff", "café \ufffd"), (12.5, "12.5")]
)
def test_other_values_become_text(value: object, line: str) -> None:
    assert clean(value) == line


def test_what_is_too_long_ends_in_an_ellipsis() -> None:
    assert clean("abcdef", 4) == "abc…"
    assert clean("abcdef", 1) == "…"
    assert clean("abcdef", 0) == ""
