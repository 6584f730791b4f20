"""Answers that several Vast routes share."""

from __future__ import annotations

import json

from flashtui.sim.http import Response, json_response


def success(**extra: object) -> Response:
    """`{"success": true, ...}`."""
    return json_response(200, {"success": True, **extra})


def refusal(status: int, error: str, message: str, **extra: object) -> Response:
    """`{"success": false, "error": ..., "msg": ...}` with any status, 200 included."""
    return json_response(status, {"success": False, "error": error, "msg": message, **extra})


def bad_request(error: str, message: str) -> Response:
    """A request the server does not understand."""
    return refusal(400, error, message)


def auth_error(status: int) -> Response:
    """A key that is wrong (401, on some routes 404) or absent (403). Source: vast 1.2."""
    text = "This action requires login." if status == 403 else "Invalid user key"
    return refusal(status, "auth_error", text)


def scope_error(scope: str) -> Response:
    """A key whose permissions do not cover the route. The status is inferred, not documented (vast 1.2)."""
    return refusal(403, "not_authorized", f"API key lacks the permission {scope}.")


def no_such_instance(instance_id: int) -> Response:
    """Destroying or changing what is not there. Source: vast 3.4."""
    return refusal(
        404,
        "no_such_instance",
        f"error 404/3600: no_such_instance Instance {instance_id} not found.",
    )


def json_object(body: bytes) -> dict[str, object] | None:
    """The body as a JSON object; an empty body is an empty object; anything else is None."""
    if not body.strip():
        return {}
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
