"""Large files of the simulated hub: the Git LFS batch API and where the bytes are put.

Source: git-lfs docs api/batch.md; the official library asks for `basic`, `multipart` or `xet` and takes
what the answer names. Only `basic` is offered here.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.hub.errors import HubError

if TYPE_CHECKING:
    from flashtui.sim.http import Request
    from flashtui.sim.hub.surface import Ask, Hub


def batch(ask: Ask) -> Response:
    """Say where each object is to be put; an object that is there already needs no upload."""
    ask.writable()
    body = json.loads(ask.request.body or b"{}")
    rows = []
    for item in body.get("objects", []):
        oid = str(item["oid"])
        row: dict[str, Any] = {"oid": oid, "size": item["size"]}
        if oid not in ask.hub.uploads:
            row["actions"] = {"upload": {"href": f"{ask.request.base_url}/_lfs/{oid}"}}
        rows.append(row)
    response = json_response(200, {"transfer": "basic", "objects": rows})
    response.headers["Content-Type"] = "application/vnd.git-lfs+json"
    return response


def store(hub: Hub, request: Request, parts: tuple[str, ...]) -> Response:
    """Take the bytes of one object; they must be the ones its id says."""
    if request.method != "PUT" or len(parts) != 2:
        raise HubError(404, "", "not found")
    if hashlib.sha256(request.body).hexdigest() != parts[1]:
        raise HubError(400, "", "content does not match its id")
    hub.uploads[parts[1]] = request.body
    return Response(200)
