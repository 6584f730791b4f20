"""The filter language: what passes, and that no input is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.ui.filtering import Fields, compile_filter

ROWS = {
    "h100": {"gpu": "H100", "vram": 80, "prov": "vast", "price": 1.89},
    "a100": {"gpu": "A100 SXM", "vram": 80, "prov": "runpod", "price": None},
    "4090": {"gpu": "RTX 4090", "vram": 24, "prov": "vast", "price": 0.31},
}
FIELDS: Fields[dict[str, object]] = Fields(
    values={name: lambda r, name=name: r[name] for name in ("gpu", "vram", "prov", "price")},  # type: ignore[misc]
    text=lambda r: " ".join(str(v) for v in r.values()).lower(),
)


def passing(query: str) -> set[str]:
    accept = compile_filter(query, FIELDS)
    return {key for key, row in ROWS.items() if accept is None or accept(row)}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"h100", "a100", "4090"}),
        ("rtx", {"4090"}),
        ("RTX", {"4090"}),
        ("!rtx", {"h100", "a100"}),
        ("vast 100", {"h100"}),
        ("~r49", {"4090"}),
        ("vram>=80", {"h100", "a100"}),
        ("vram<80", {"4090"}),
        ("prov=vast", {"h100", "4090"}),
        ("prov!=vast", {"a100"}),
        ("!prov=vast", {"a100"}),
        ("prov:run", {"a100"}),
        ("vram=80 prov=vast", {"h100"}),
        ("vram=80.0", {"h100", "a100"}),
        ("price<1", {"4090"}),
        ("price=?", {"a100"}),
    ],
)
def test_terms(query: str, expected: set[str]) -> None:
    assert passing(query) == expected


@pytest.mark.parametrize("query", ["vram>=", "vram>", "prov=", "!", "~", "vram>=x", "!vram>="])
def test_a_half_typed_term_filters_nothing(query: str) -> None:
    assert passing(query) == set(ROWS)


def test_an_unknown_value_is_neither_more_nor_less() -> None:
    assert "a100" not in passing("price>0")
    assert "a100" not in passing("price<1000")


def test_an_unknown_field_is_a_word() -> None:
    assert passing("colour=red") == set()


@given(st.text(max_size=30))
def test_no_input_is_an_error(query: str) -> None:
    passing(query)
