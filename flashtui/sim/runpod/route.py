"""One documented route of REST v2: method, path, query, body and the function that answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashtui.sim.http import Response
    from flashtui.sim.runpod.contract import Shape
    from flashtui.sim.runpod.rest import Call


@dataclass(frozen=True, slots=True)
class Route:
    """A route.

    Attributes:
        path: with `{name}` for a path argument.
        source: operation of the documentation's OpenAPI file.
        query: parameters the documentation has; others are recorded as violations.
        body: shape of the request body, None where none is read.
    """

    method: str
    path: str
    answer: Callable[[Call], Response]
    source: str
    query: tuple[str, ...] = ()
    body: Shape | None = None
