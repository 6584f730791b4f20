"""The filter language of the lists: plain words, ``!not``, ``~fuzzy`` and ``field>=value``; never an error.

Half-typed input is the normal state of a filter; a term that is not finished yet filters nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

R = TypeVar("R")
_COMPARISON = re.compile(r"([A-Za-z$/_]+)(>=|<=|!=|==|=|:|>|<)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fields(Generic[R]):
    """What a list can be filtered by.

    Attributes:
        values: field name, in lower case, to its value of a record; None: unknown. Several names may mean one field.
        text: everything a plain word is looked for in, in lower case.
    """

    values: Mapping[str, Callable[[R], Any]]
    text: Callable[[R], str]


def compile_filter(query: str, fields: Fields[R]) -> Callable[[R], bool] | None:
    """The predicate of a query; None: everything passes."""
    terms = [t for t in (_term(word, fields) for word in query.lower().split()) if t is not None]
    if not terms:
        return None
    return lambda record: all(term(record) for term in terms)


def _term(word: str, fields: Fields[R]) -> Callable[[R], bool] | None:
    if word.startswith("!"):
        inner = _term(word[1:], fields)
        return None if inner is None else _not(inner)
    if word.startswith("~"):
        return _fuzzy(word[1:], fields) if len(word) > 1 else None
    found = _COMPARISON.fullmatch(word)
    if found is not None and found[1] in fields.values:
        return _comparison(fields.values[found[1]], found[2], found[3])
    if not word:
        return None
    return lambda record: word in fields.text(record)


def _not(inner: Callable[[R], bool]) -> Callable[[R], bool]:
    return lambda record: not inner(record)


def _fuzzy(letters: str, fields: Fields[R]) -> Callable[[R], bool]:
    """The letters appear in this order, with anything between them."""
    pattern = re.compile(".*?".join(re.escape(letter) for letter in letters))
    return lambda record: pattern.search(fields.text(record)) is not None


def _comparison(
    value_of: Callable[[R], Any], operator: str, wanted: str
) -> Callable[[R], bool] | None:
    if not wanted:
        return None
    number = _number(wanted)
    if operator in {">", "<", ">=", "<="}:
        return None if number is None else _ordered(value_of, operator, number)
    if operator == "!=":
        return _not(_equal(value_of, wanted, number))
    return _equal(value_of, wanted, number)


def _ordered(
    value_of: Callable[[R], Any], operator: str, number: float
) -> Callable[[R], bool] | None:
    """An unknown value is neither more nor less than anything."""

    def holds(record: R) -> bool:
        value = _number(value_of(record))
        if value is None:
            return False
        if operator.startswith(">"):
            return value > number or (operator == ">=" and value == number)
        return value < number or (operator == "<=" and value == number)

    return holds


def _equal(value_of: Callable[[R], Any], wanted: str, number: float | None) -> Callable[[R], bool]:
    """Numbers by value, words by what they contain; ``?`` is the unknown."""

    def holds(record: R) -> bool:
        value = value_of(record)
        if value is None:
            return wanted == "?"
        own = _number(value)
        if own is not None and number is not None:
            return own == number
        return wanted in str(value).lower()

    return holds


def _number(value: object) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
