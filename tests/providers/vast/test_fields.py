"""Whatever stands in a field becomes a value or None, never an exception and never a made-up number."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.providers.vast import fields
from flashtui.providers.vast.wire import InstanceRow, OfferRow, UserRow, read_rows

HUGE = Decimal("1E+999999999")
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.text()
    | st.sampled_from(
        ["0.52", " 1e3\n", "NaN", "Infinity", "-0", "1_000", "\u0663", HUGE, 10**400]
    ),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (Decimal("0.3412345"), Decimal("0.3412345")),
        ("0.52", Decimal("0.52")),
        (" 0.52\n", Decimal("0.52")),
        (1, Decimal(1)),
        (0.1, Decimal("0.1")),
        (0, Decimal(0)),
        (True, None),
        (None, None),
        ("", None),
        ("free", None),
        (float("nan"), None),
        (Decimal("Infinity"), None),
        (-0.1, None),
        (100_001, None),
        (HUGE, None),
        ([0.1], None),
    ],
)
def test_a_price(given: object, read: Decimal | None) -> None:
    assert fields.price(given) == read


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (1, True),
        (0, False),
        ("true", True),
        (" False ", False),
        (2, None),
        (None, None),
        (1.5, None),
    ],
)
def test_a_flag_also_comes_as_a_number(given: object, *, read: bool | None) -> None:
    assert fields.flag(given) is read


@pytest.mark.parametrize(
    ("given", "read"),
    [(8, 8), (Decimal("8.0"), 8), ("8", 8), (8.5, None), (-1, None), (True, None)],
)
def test_a_whole_number(given: object, read: int | None) -> None:
    assert fields.whole(given) == read


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("198.51.100.24\n", "198.51.100.24"),
        ("a\x1b[31mred\x00", "ared"),
        ("x" * 500, "x" * 199 + "…"),
        ("  ", None),
        (None, None),
        (7, None),
    ],
)
def test_a_text_is_one_clean_line(given: object, read: str | None) -> None:
    assert fields.text(given) == read


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (Decimal("1796075412.5"), datetime(2026, 11, 30, 21, 50, 12, 500_000, tzinfo=UTC)),
        ("1796075412", datetime(2026, 11, 30, 21, 50, 12, tzinfo=UTC)),
        (0, None),
        (1_796_075_412_000, None),
        ("2026-11-30", None),
        (None, None),
    ],
)
def test_a_moment_is_epoch_seconds_and_never_1970(given: object, read: datetime | None) -> None:
    assert fields.moment(given) == read


@pytest.mark.parametrize(("given", "read"), [(12, 12), ("12", 12), (" 12 ", 12)])
def test_an_id_comes_as_a_number_or_as_its_digits(given: object, read: int) -> None:
    assert fields.identity(given) == read


@pytest.mark.parametrize(
    "given", [True, 0, -1, 1.5, "", "abc", "\uff11\uff12", None, "1" * 30, [1]]
)
def test_anything_else_is_no_id(given: object) -> None:
    with pytest.raises(ValueError, match="not an id"):
        fields.identity(given)


@given(ANYTHING)
def test_every_reader_is_total(value: object) -> None:
    for read in (
        fields.number,
        fields.quantity,
        fields.signed,
        fields.price,
        fields.whole,
        fields.flag,
        fields.text,
        fields.moment,
        fields.optional_identity,
        fields.token,
    ):
        read(value)


@given(
    st.lists(st.dictionaries(st.sampled_from(sorted(OfferRow.model_fields)), ANYTHING) | ANYTHING)
)
def test_any_list_of_anything_gives_rows_and_a_count(rows: list[object]) -> None:
    good, bad = read_rows(OfferRow, rows)
    assert len(good) + bad == len(rows)
    assert all(row.num_gpus > 0 and row.gpu_ram > 0 and row.id > 0 for row in good)


@given(st.dictionaries(st.sampled_from(sorted(InstanceRow.model_fields)), ANYTHING))
def test_an_instance_with_an_id_is_never_lost(odd: dict[str, object]) -> None:
    """Whatever the other fields hold, what bills must stay visible."""
    good, bad = read_rows(InstanceRow, [{**odd, "id": 5}])
    assert (len(good), bad) == (1, 0)


@given(st.dictionaries(st.sampled_from(sorted(UserRow.model_fields)), ANYTHING))
def test_any_account_can_be_read(odd: dict[str, object]) -> None:
    assert read_rows(UserRow, [odd])[1] == 0
