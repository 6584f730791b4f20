"""The complete listing of an account's instances, or an error: the only thing that can prove an instance gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.errors import IncompleteListing, ProviderError
from flashtui.net.decode import json_object
from flashtui.providers.vast import fields
from flashtui.providers.vast.auth import NAME
from flashtui.providers.vast.wire import InstanceRow, read_rows

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.net.exchange import Reply
    from flashtui.providers.vast.route import Route

# One second is the minimum; requests do not arrive at the distance at which they leave.
LIST_INTERVAL_S = 1.2
PAGE_SIZE = 25
# An account with more instances than this is a listing that goes round in circles.
MOST_PAGES = 200
_OPERATION = "list instances"


@dataclass(frozen=True, slots=True)
class InstanceListing:
    """Every instance of the account, all pages.

    Attributes:
        skipped: entries without a readable id; with any of those nothing is proven gone.
        received_at: when the first page arrived: nothing in it is known to be newer.
    """

    rows: tuple[InstanceRow, ...]
    skipped: int
    received_at: datetime

    def has(self, instance_id: int) -> bool:
        """Whether the instance is listed."""
        return any(row.id == instance_id for row in self.rows)

    def labelled(self, label: str) -> tuple[InstanceRow, ...]:
        """Instances with exactly this label, oldest id first."""
        found = (row for row in self.rows if row.label == label)
        return tuple(sorted(found, key=lambda row: row.id))


async def list_instances(route: Route) -> InstanceListing:
    """``GET /api/v1/instances/``: every page.

    Raises:
        IncompleteListing: a page is missing, goes round in circles or has another shape.
        ProviderError: the key was refused, the route is gone, or nothing could be read.
    """
    rows: dict[int, InstanceRow] = {}
    skipped, total = 0, 0
    seen_tokens: set[str] = set()
    after: str | None = None
    first_at: datetime | None = None
    for number in range(1, MOST_PAGES + 1):
        page, reply = await _page(route, after, number)
        first_at = first_at or reply.received_at
        found, bad = read_rows(InstanceRow, _entries(page, number))
        rows.update((row.id, row) for row in found)
        skipped += bad
        total = fields.whole(page.get("total_instances")) or 0
        after = _next_token(page, number)
        if after is None:
            listed = len(rows) + skipped
            if listed < total:
                msg = f"{listed} of {total} instances were listed"
                raise _incomplete(msg)
            return InstanceListing(tuple(rows.values()), skipped, first_at)
        if after in seen_tokens:
            break
        seen_tokens.add(after)
    msg = "its pages go round in circles"
    raise _incomplete(msg)


async def _page(route: Route, after: str | None, number: int) -> tuple[dict[str, object], Reply]:
    params: dict[str, str | int] = {
        "select_filters": "{}",
        "order_by": '[{"col": "id", "dir": "asc"}]',
        "limit": PAGE_SIZE,
    }
    if after is not None:
        params["after_token"] = after
    try:
        reply = await route.read(
            "GET",
            "/api/v1/instances/",
            _OPERATION,
            params=params,
            lane="list",
            min_interval_s=LIST_INTERVAL_S,
        )
        return json_object(reply, NAME, _OPERATION), reply
    except ProviderError as error:
        if number == 1:
            raise
        msg = f"page {number} could not be read ({error})"
        raise _incomplete(msg) from error


def _entries(page: dict[str, object], number: int) -> list[object]:
    rows = page.get("instances")
    if isinstance(rows, list):
        return rows
    msg = f"page {number} has no list of instances"
    raise _incomplete(msg)


def _next_token(page: dict[str, object], number: int) -> str | None:
    value = page.get("next_token")
    if value is None or value == "":
        return None
    token = fields.token(value)
    if token is not None:
        return token
    msg = f"page {number} ends in something that is no token"
    raise _incomplete(msg)


def _incomplete(what: str) -> IncompleteListing:
    msg = f"{NAME}: {_OPERATION}: not whole, {what}; nothing is taken as gone"
    return IncompleteListing(msg, provider=NAME, operation=_OPERATION)
