"""Which rows a table has, in which order, and which of them the cursor is on; no drawing.

Everything is bound to keys: a refresh, another order, rows that come and go never put the cursor on another thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

R = TypeVar("R")
_NO_CHILDREN: Mapping[str, Sequence[str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SortBy(Generic[R]):
    """An order: by a value of the record, unknown last in both directions, equal values as they came."""

    value: Callable[[R], Any]
    falling: bool = False

    def ordered(self, keys: Iterable[str], records: Mapping[str, R]) -> list[str]:
        """Keys in this order."""
        known: list[tuple[Any, str]] = []
        unknown: list[str] = []
        for key in keys:
            value = self.value(records[key])
            if value is None:
                unknown.append(key)
            else:
                known.append((value, key))
        known.sort(key=_value_of, reverse=self.falling)
        return [key for _, key in known] + unknown


def _value_of(pair: tuple[Any, str]) -> Any:
    return pair[0]


class TableModel(Generic[R]):
    """Rows by key.

    Attributes:
        order: the keys that are shown, in order, children after their parent.
        cursor: the key the cursor is on; None in an empty table.
        selected: whether the person has put the cursor there; False after the row under it has gone.
        marks: keys that are marked.
    """

    def __init__(self, sort: SortBy[R] | None = None) -> None:
        self.records: Mapping[str, R] = {}
        self.order: list[str] = []
        self.cursor: str | None = None
        self.selected = True
        self.marks: set[str] = set()
        self.sort = sort
        self._children: Mapping[str, Sequence[str]] = _NO_CHILDREN
        self._parents: Sequence[str] = ()
        self._accept: Callable[[R], bool] | None = None
        self._index: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.order)

    @property
    def selection(self) -> str | None:
        """The key that an action would act on; None: nothing, and no action is possible."""
        return self.cursor if self.selected else None

    @property
    def cursor_index(self) -> int:
        """Row number of the cursor; 0 in an empty table."""
        return self._index.get(self.cursor, 0) if self.cursor is not None else 0

    def index_of(self, key: str) -> int:
        """Row number of a key; 0 when it is not shown."""
        return self._index.get(key, 0)

    def replace(
        self,
        records: Mapping[str, R],
        children: Mapping[str, Sequence[str]] | None = None,
        *,
        hold_order: bool = False,
    ) -> None:
        """Take new records.

        Args:
            records: all of them, children included.
            children: keys that belong under another key, by that key.
            hold_order: keep the rows where they are; new ones go to the end.
        """
        self.records = records
        self._children = children or _NO_CHILDREN
        inner = {key for keys in self._children.values() for key in keys}
        self._parents = [key for key in records if key not in inner] if inner else list(records)
        self.marks &= records.keys()
        self._rebuild(hold_order=hold_order)

    def reorder(self, sort: SortBy[R] | None) -> None:
        """Change the order; the cursor stays on its row."""
        self.sort = sort
        self._rebuild()

    def resort(self) -> bool:
        """Put held rows in order; True when that moved anything."""
        before = self.order
        self._rebuild()
        return self.order != before

    def filter(self, accept: Callable[[R], bool] | None) -> None:
        """Show only accepted rows. The person does this, so the row the cursor ends on counts as chosen."""
        was = self.cursor
        self._accept = accept
        self._rebuild()
        if self.cursor != was and self.order:
            self.cursor = self.order[0]
        self.selected = True

    def move_to(self, index: int) -> bool:
        """Put the cursor on a row by number, held to what is there; True when anything changed."""
        if not self.order:
            return False
        key = self.order[max(0, min(index, len(self.order) - 1))]
        changed = key != self.cursor or not self.selected
        self.cursor = key
        self.selected = True
        return changed

    def toggle_mark(self, key: str) -> None:
        """Mark or unmark a row."""
        self.marks ^= {key}

    def _rebuild(self, *, hold_order: bool = False) -> None:
        old_order = self.order
        accept = self._accept
        tops = [k for k in self._parents if accept is None or self._accepted(k, accept)]
        if hold_order and old_order:
            place = {key: i for i, key in enumerate(old_order)}
            new = len(place)
            tops = self._sorted(tops)
            tops.sort(key=lambda key: place.get(key, new))
        else:
            tops = self._sorted(tops)
        self.order = self._with_children(tops) if self._children else tops
        self._index = {key: i for i, key in enumerate(self.order)}
        self._replace_cursor(old_order)

    def _accepted(self, key: str, accept: Callable[[R], bool]) -> bool:
        if accept(self.records[key]):
            return True
        return any(accept(self.records[child]) for child in self._children.get(key, ()))

    def _sorted(self, keys: list[str]) -> list[str]:
        return keys if self.sort is None else self.sort.ordered(keys, self.records)

    def _with_children(self, tops: list[str]) -> list[str]:
        accept = self._accept
        order: list[str] = []
        for key in tops:
            order.append(key)
            inner = [
                k for k in self._children.get(key, ()) if accept is None or accept(self.records[k])
            ]
            order.extend(self._sorted(inner))
        return order

    def _replace_cursor(self, old_order: Sequence[str]) -> None:
        if not self.order:
            self.selected = self.selected and self.cursor is None
            self.cursor = None
        elif self.cursor is None:
            self.cursor = self.order[0]
        elif self.cursor not in self._index:
            self.cursor = self._neighbour(old_order)
            self.selected = False

    def _neighbour(self, old_order: Sequence[str]) -> str:
        """The nearest row that is still there: below first, then above."""
        at = next((i for i, key in enumerate(old_order) if key == self.cursor), 0)
        below = (key for key in old_order[at + 1 :] if key in self._index)
        above = (key for key in reversed(old_order[:at]) if key in self._index)
        return next(below, None) or next(above, None) or self.order[0]
