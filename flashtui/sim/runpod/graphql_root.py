"""What the groups of GraphQL root fields share: the caller, the account, and two readers of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.sim.runpod.graphql_api import Caller

NOT_FOUND = "Resource not found"


class Root:
    """What every group of root fields works with."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._state = caller.state


def env_of(rows: list[Mapping[str, str]] | None) -> dict[str, str]:
    """A list of key and value pairs as a mapping."""
    return {row["key"]: row["value"] for row in rows or ()}


def texts(value: str | None) -> tuple[str, ...]:
    """A comma-separated text as a tuple."""
    return tuple(part.strip() for part in (value or "").split(",") if part.strip())
