"""Vast's filter language: fields, aliases, operators, ordering, as search and instance lists use it.

Source: vast 2.2 (query object, operators, aliases, virtual columns) and 3.3 (instance list filters).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeGuard, TypeVar

from flashtui.sim.vast.places import country_of

Row = Mapping[str, object]
Note = Callable[[str, str], None]
Test = Callable[[Row], bool]
R = TypeVar("R", bound=Row)

OPERATORS = frozenset({"eq", "neq", "gt", "gte", "lt", "lte", "in", "notin"})
ALIASES = {
    "reliability": "reliability2",
    "cuda_vers": "cuda_max_good",
    "dph": "dph_total",
    "dphtotal": "dph_total",
    "gpu_totalram": "gpu_total_ram",
    "driver_version": "driver_vers",
    "ubuntu_version": "os_version",
    "dlperf_usd": "dlperf_per_dphtotal",
    "flops_usd": "flops_per_dphtotal",
    "target_reliability": "expected_reliability",
    "datacenter": "hosting_type",
    "verified": "vericode",
    "cpu_ram_GB": "cpu_ram",
    "gpu_ram_GB": "gpu_ram",
    "gpu_totalram_GB": "gpu_total_ram",
}
_THOUSANDFOLD = {"cpu_ram_GB", "gpu_ram_GB", "gpu_totalram_GB"}
_AS_NUMBER = {"datacenter", "verified"}
_NULL_IS_FALSE = {
    "external",
    "rented",
    "rentable",
    "hosting_type",
    "vericode",
    "static_ip",
    "vms_enabled",
}


class BadQuery(ValueError):
    """A filter that the server refuses with 400."""


def tests_from(filters: Mapping[str, object], known: Iterable[str], note: Note) -> list[Test]:
    """One test per condition; unknown fields and operators are ignored, as the server does, and noted.

    Raises:
        BadQuery: an operand that cannot be compared.
    """
    fields = set(known)
    found: list[Test] = []
    for name, conditions in filters.items():
        column = ALIASES.get(name, name)
        if column not in fields and name not in ALIASES:
            note("unknown_filter", name)
            continue
        for operator, operand in _conditions(name, conditions, note).items():
            if operator not in OPERATORS:
                note("unknown_operator", f"{name}.{operator}")
                continue
            if test := _test(name, column, operator, operand):
                found.append(test)
    return found


def _conditions(name: str, value: object, note: Note) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    note("filter_without_operator", name)
    return {"eq": value}


def _test(name: str, column: str, operator: str, operand: object) -> Test | None:
    if name == "rented":
        # `rented eq true` widens the search to machines the caller already rents (vast 2.2): no column test.
        return None
    cell = _cell_of(column)
    if operator in {"in", "notin"}:
        if not isinstance(operand, list):
            msg = f"{name}: {operator} needs a list"
            raise BadQuery(msg)
        wanted = [_matcher(_operand(name, column, item)) for item in operand]
        negate = operator == "notin"
        return lambda row: any(match(cell(row)) for match in wanted) is not negate
    right = _operand(name, column, operand)
    if operator in {"eq", "neq"}:
        negate, match = operator == "neq", _matcher(right)
        return lambda row: match(cell(row)) is not negate
    number = _as_number(right)
    if number is None:
        msg = f"{name}: {operator} needs a number, not {operand!r}"
        raise BadQuery(msg)
    compare = _COMPARE[operator]
    return lambda row: _is_number(value := cell(row)) and compare(value, number)


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "gt": lambda left, right: left > right,
    "gte": lambda left, right: left >= right,
    "lt": lambda left, right: left < right,
    "lte": lambda left, right: left <= right,
}


def _cell_of(column: str) -> Callable[[Row], object]:
    """How a column is read: places by their country, and null as false where the server does so."""
    if column == "geolocation":
        return lambda row: country_of(row.get(column))
    if column in _NULL_IS_FALSE:
        return lambda row: row.get(column) or False
    return lambda row: row.get(column)


def _operand(name: str, column: str, value: object) -> object:
    if name in _AS_NUMBER:
        value = value in {True, "true", "True", "1"}
    if name in _THOUSANDFOLD and (number := _as_number(value)) is not None:
        return number * 1000
    if column == "geolocation" and isinstance(value, str):
        return value.strip()
    return value


def _matcher(operand: object) -> Callable[[object], bool]:
    """A test for equality, with everything that depends on the operand alone decided once."""
    if isinstance(operand, bool):
        return lambda cell: cell is operand or _as_bool(cell) == operand
    number = _as_number(operand)
    if number is None:
        truth = _as_bool(operand)
        return lambda cell: cell == operand or (isinstance(cell, bool) and cell == truth)
    is_true = bool(number)

    def test(cell: object) -> bool:
        if isinstance(cell, bool):
            return cell is is_true
        return cell == operand if isinstance(cell, str) else cell == number

    return test


def _as_bool(value: object) -> object:
    if isinstance(value, str):
        return {"true": True, "false": False, "1": True, "0": False}.get(value.lower(), value)
    return bool(value) if _is_number(value) or isinstance(value, bool) else value


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _as_number(value: object) -> float | None:
    """Numbers may come as text: the official client sends `{"num_gpus": {"eq": "1"}}`."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, (int, float, str)):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def ordered(rows: Iterable[R], order: object, known: Iterable[str], note: Note) -> list[R]:
    """Rows sorted by `[[field, "asc" | "desc"], ...]`, nulls last; unknown fields are ignored and noted.

    Raises:
        BadQuery: the order is no list of pairs.
    """
    fields = set(known)
    result = list(rows)
    for name, direction in reversed(_pairs(order)):
        column = ALIASES.get(name, name)
        if column not in fields:
            note("unknown_order_field", name)
            continue
        present = [row for row in result if row.get(column) is not None]
        absent = [row for row in result if row.get(column) is None]
        present.sort(key=lambda row: _sort_key(row[column]), reverse=direction == "desc")
        result = present + absent
    return result


def _pairs(order: object) -> list[tuple[str, str]]:
    if not isinstance(order, list):
        msg = "order must be a list of [field, direction]"
        raise BadQuery(msg)
    found: list[tuple[str, str]] = []
    for given in order:
        entry = [given.get("col"), given.get("dir", "asc")] if isinstance(given, dict) else given
        if not isinstance(entry, list) or len(entry) != 2 or entry[1] not in {"asc", "desc"}:
            msg = f"order entry {entry!r} is not [field, 'asc' or 'desc']"
            raise BadQuery(msg)
        found.append((str(entry[0]), entry[1]))
    return found


def _sort_key(value: object) -> tuple[int, float, str]:
    if isinstance(value, (int, float)):
        return (0, float(value), "")
    return (1, 0.0, str(value))
