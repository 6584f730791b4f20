"""Logs of workers and pods as server-sent events.

Source: docs api-reference-v2/openapi.json getWorkerLogs, getPodLogs. The live service holds the
stream open; here it ends after the lines there are, which a client sees as a disconnect.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashtui.sim.http import Response
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.words import rfc3339

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtui.sim.runpod.rest import Call

_HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}
_MOST_LINES = 5000


def stream(call: Call, log: Sequence[tuple[float, str, str]]) -> Response:
    """The lines up to now that the query asks for: source, and since or tail."""
    source = call.param("source")
    if source not in {None, "container", "system"}:
        raise ProblemError(422, "Request validation failed.", [f"source: unknown {source}"])
    lines = [entry for entry in log if entry[0] <= call.now and source in {None, entry[1]}]
    after = call.request.headers.get("last-event-id") or call.param("since")
    if after is not None:
        lines = [entry for entry in lines if rfc3339(entry[0]) > after.split("/")[0]]
    else:
        lines = lines[-_tail(call) :] if _tail(call) else []
    body = "".join(_event(number, entry) for number, entry in enumerate(lines, start=1))
    return Response(200, body.encode(), dict(_HEADERS))


def printed(call: Call, machine_id: str, since: float | None) -> list[tuple[float, str, str]]:
    """What a real process has printed, all dated at its start; nothing where none runs."""
    work = call.state.real_work
    if work is None or since is None:
        return []
    return [(since, "container", line) for line in work.lines(machine_id)]


def _tail(call: Call) -> int:
    text = call.param("tail")
    if text is None:
        return 100
    if not text.isdigit() or int(text) > _MOST_LINES:
        raise ProblemError(422, "Request validation failed.", [f"tail: 0 to {_MOST_LINES}"])
    return int(text)


def _event(number: int, entry: tuple[float, str, str]) -> str:
    moment, source, line = entry
    stamp = rfc3339(moment)
    payload = json.dumps({"ts": stamp, "source": source, "line": line})
    return f"id: {stamp}/{number:012d}\ndata: {payload}\n\n"
