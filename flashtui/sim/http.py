"""Requests and responses as the simulator sees them, independent of how they travelled."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class TransportFault(Exception):
    """What a client of an in-process mount gets where a socket would have broken."""


class ConnectionWasReset(TransportFault):
    """The connection was reset before any byte of a reply."""


class ReplyLost(TransportFault):
    """The connection closed without a reply; the request may have been carried out."""


class BodyCut(TransportFault):
    """The connection closed in the middle of the body."""


class Hung(TransportFault):
    """Nothing was ever answered."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request.

    Attributes:
        surface: which listener it came in on: "vast", "runpod", "jobs" or "hub".
        path: percent-decoded, without the query.
        raw_path: as it was on the wire, with the query.
        headers: lower-case names.
        base_url: address of the listener, for links that point back to it.
    """

    surface: str
    method: str
    path: str
    raw_path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes
    client: str
    base_url: str

    @property
    def route(self) -> str:
        """Method and path, the text that fault patterns are matched against."""
        return f"{self.method} {self.path}"

    def first(self, name: str) -> str | None:
        """First value of a query parameter, or None."""
        values = self.query.get(name)
        return values[0] if values else None

    def bearer(self) -> str | None:
        """Key of an `Authorization: Bearer` header, or None."""
        scheme, _, key = self.headers.get("authorization", "").partition(" ")
        return key.strip() if scheme.lower() == "bearer" and key.strip() else None


@dataclass(slots=True)
class Response:
    """One HTTP answer, plus what happens to it on its way (set by faults).

    Attributes:
        delay_s: real seconds before the first byte.
        drip_bytes_per_s: body speed in real time, or None for at once.
        cut_after: bytes of the body that are sent before the connection closes, or None.
        reset: the connection is reset and no byte is sent.
        lost: the connection is closed and no byte is sent.
        hang: no byte is sent and the connection stays open.
        hold: of a request that waits for something: asked again until it gives the answer, None meanwhile.
    """

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_bytes_per_s: float | None = None
    cut_after: int | None = None
    reset: bool = False
    lost: bool = False
    hang: bool = False
    hold: Callable[[], Response | None] | None = None

    def delivered(self) -> Response:
        """This answer as an in-process client receives it.

        Raises:
            TransportFault: where a socket would have broken.
        """
        if self.hang or self.hold is not None:
            msg = "no answer before the client's time limit"
            raise Hung(msg)
        if self.reset:
            msg = "connection reset by peer"
            raise ConnectionWasReset(msg)
        if self.lost:
            msg = "server disconnected without sending a response"
            raise ReplyLost(msg)
        if self.cut_after is not None and self.cut_after < len(self.body):
            msg = f"connection closed after {self.cut_after} of {len(self.body)} bytes"
            raise BodyCut(msg)
        return self


def json_response(status: int, obj: object, *, headers: dict[str, str] | None = None) -> Response:
    """An answer with a JSON body; the content type is exactly `application/json`.

    The official Vast client compares the content type for equality, so no charset is added.
    """
    body = json.dumps(obj, separators=(",", ":")).encode()
    return Response(status, body, {"Content-Type": "application/json", **(headers or {})})
