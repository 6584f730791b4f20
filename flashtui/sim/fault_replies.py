"""What a client receives when a fault strikes the exchange itself: replies and broken connections."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashtui.sim.http import Request, Response, json_response

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from flashtui.sim.faults import Fault

BEFORE: dict[str, str] = {
    "reset": "the connection is reset; nothing is carried out",
    "hang": "no answer ever comes; nothing is carried out",
    "html_200": "a proxy's HTML page with status 200",
    "html_403": "a firewall's HTML page with status 403",
    "html_502": "a proxy's HTML page with status 502",
    "empty_body": "status 200 with an empty body; nothing is carried out",
    "auth_401": "the key is refused with 401",
    "auth_empty": "the key is refused with 401 and an empty body",
    "auth_403": "the key is refused with 403",
    "auth_404": "the key is refused with 404",
    "rate_limited": "429; args.form: text threshold detail error; args.retry_after, args.in_body",
    "no_capacity": "500 whose text means that no machine is free",
    "server_error": "500 that means nothing",
    "unavailable": "503 with a JSON body",
    "login_redirect": "302 to a login page, which answers HTML with status 200",
}
AFTER: dict[str, str] = {
    "lost_reply": "carried out; the connection closes without a reply",
    "reset_after_commit": "carried out; the connection is reset",
    "hang_after_commit": "carried out; no answer ever comes",
    "slow": "carried out; the answer takes args.seconds (default 2) of real time",
    "drip": "carried out; the body comes at args.bytes_per_s (default 200) of real time",
    "cut": "carried out; the connection closes after args.share of the body (default 0.5)",
    "truncated_json": "carried out; the body ends in the middle, with a matching length",
    "json_array": "carried out; the body is a JSON array",
    "null_numbers": "numbers come as null (args.fields, args.share as in all of these)",
    "string_numbers": "numbers come as text",
    "nan_numbers": "numbers come as NaN or Infinity",
    "unknown_state": "status fields carry a word nobody has documented",
    "new_gpu_names": "GPU names are ones that did not exist yesterday",
    "missing_fields": "fields are absent",
    "control_characters": "text fields carry escape sequences, raw control characters and markup",
}
_STATES = {"actual_status", "cur_state", "status", "desiredStatus", "stockStatus"}
_GPU_NAMES = {"gpu_name", "displayName", "gpuDisplayName"}
_NOT_MEASURES = {"success", "id", "new_contract", "limit", "total", "count"}
_HOSTILE = "\x1b[31m[bold red]\x07 line\r\n\x00[/x] \u202e"
_PAGE = (
    "<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"
)
_LIMIT_TEXT = "API requests too frequent"


def instead(fault: Fault, request: Request, now: float) -> Response:
    """The answer to a request that is not carried out."""
    del now
    return _INSTEAD[fault.name](fault, request)


def changed(fault: Fault, response: Response) -> Response:
    """The answer of a request that was carried out, as the fault leaves it."""
    if fault.name in _TRANSPORT:
        _TRANSPORT[fault.name](fault, response)
        return response
    return _rewritten(fault, response)


def login_page() -> Response:
    """Where `login_redirect` leads to."""
    return _html(200, "Log in")


def _html(status: int, title: str) -> Response:
    body = _PAGE.format(title=title).encode()
    return Response(status, body, {"Content-Type": "text/html; charset=UTF-8"})


def _refused(status: int) -> Callable[[Fault, Request], Response]:
    """A refused key in the provider's own form. Source: vast 1.2; runpod 3 (problem+json)."""

    def build(_fault: Fault, request: Request) -> Response:
        if request.surface == "vast":
            text = "This action requires login." if status == 403 else "Invalid user key"
            body = {"success": False, "error": "auth_error", "msg": text}
            return json_response(status, body)
        return _problem(
            status,
            {401: "missing bearer token", 403: "access denied"}.get(status, "resource not found"),
        )

    return build


def _problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    body = {"title": "Error", "status": status, "detail": detail}
    kept = {"Content-Type": "application/problem+json", **(headers or {})}
    return json_response(status, body, headers=kept)


def _rate_limited(fault: Fault, request: Request) -> Response:
    """The forms of 429 that clients have seen. Source: vast 5.1."""
    form = fault.text_arg("form", "error" if request.surface == "vast" else "problem")
    wait = fault.args.get("retry_after")
    headers = {} if wait is None else {"Retry-After": str(wait)}
    in_body = fault.args.get("in_body")
    extra = {} if in_body is None else {"retry_after": in_body}
    if form in {"text", "threshold"}:
        text = _LIMIT_TEXT + (": endpoint threshold=4.5" if form == "threshold" else "")
        return Response(429, text.encode(), {"Content-Type": "text/plain", **headers})
    if form == "detail":
        detail = f"{_LIMIT_TEXT} endpoint threshold=1.0"
        return json_response(429, {"detail": detail, **extra}, headers=headers)
    if form == "problem":
        # Source: docs api-reference-v2/openapi.json, TooManyRequestsError.
        left = wait if isinstance(wait, int) else 12
        headers["RateLimit"] = f'"minute";r=0;t={left}, "hour";r=2800;t=1812'
        headers["RateLimit-Policy"] = '"minute";q=60;w=60, "hour";q=3000;w=3600'
        return _problem(429, "rate limit exceeded for the minute window", headers)
    body = {"success": False, "error": "rate_limit_exceeded", "msg": _LIMIT_TEXT, **extra}
    return json_response(429, body, headers=headers)


def _no_capacity(_fault: Fault, request: Request) -> Response:
    text = "There are no longer any instances available with the requested specifications."
    if request.surface == "vast":
        return json_response(500, {"success": False, "error": "server_error", "msg": text})
    return json_response(500, {"error": f"create pod: {text}", "status": 500})


def _server_error(_fault: Fault, request: Request) -> Response:
    if request.surface == "vast":
        return json_response(500, {"success": False, "error": "server_error", "msg": "error 500"})
    return _problem(500, "internal server error")


def _unavailable(_fault: Fault, request: Request) -> Response:
    if request.surface == "vast":
        return json_response(503, {"success": False, "error": "unavailable", "msg": "try later"})
    return _problem(503, "service unavailable")


def _login_redirect(_fault: Fault, request: Request) -> Response:
    return Response(302, b"", {"Location": f"{request.base_url}/login"})


def _empty(_fault: Fault, _request: Request) -> Response:
    return Response(200, b"", {"Content-Type": "application/json"})


_INSTEAD: dict[str, Callable[[Fault, Request], Response]] = {
    "reset": lambda _f, _r: Response(200, reset=True),
    "hang": lambda _f, _r: Response(200, hang=True),
    "html_200": lambda _f, _r: _html(200, "Checking your browser"),
    "html_403": lambda _f, _r: _html(403, "Access denied: error code 1010"),
    "html_502": lambda _f, _r: _html(502, "502 Bad Gateway"),
    "empty_body": _empty,
    "auth_401": _refused(401),
    "auth_empty": lambda _f, _r: Response(401, b"", {"Content-Type": "application/json"}),
    "auth_403": _refused(403),
    "auth_404": _refused(404),
    "rate_limited": _rate_limited,
    "no_capacity": _no_capacity,
    "server_error": _server_error,
    "unavailable": _unavailable,
    "login_redirect": _login_redirect,
}


def _lose(_fault: Fault, response: Response) -> None:
    response.lost = True


def _reset(_fault: Fault, response: Response) -> None:
    response.reset = True


def _hang(_fault: Fault, response: Response) -> None:
    response.hang = True


def _slow(fault: Fault, response: Response) -> None:
    response.delay_s += fault.number_arg("seconds", 2.0)


def _drip(fault: Fault, response: Response) -> None:
    response.drip_bytes_per_s = max(fault.number_arg("bytes_per_s", 200.0), 1.0)


def _cut(fault: Fault, response: Response) -> None:
    response.cut_after = int(len(response.body) * fault.number_arg("share", 0.5))


def _truncate(_fault: Fault, response: Response) -> None:
    response.body = response.body[: max(len(response.body) * 2 // 3, 1)]


def _as_array(_fault: Fault, response: Response) -> None:
    response.body = b"[" + response.body + b"]"


_TRANSPORT: dict[str, Callable[[Fault, Response], None]] = {
    "lost_reply": _lose,
    "reset_after_commit": _reset,
    "hang_after_commit": _hang,
    "slow": _slow,
    "drip": _drip,
    "cut": _cut,
    "truncated_json": _truncate,
    "json_array": _as_array,
}


def _rewritten(fault: Fault, response: Response) -> Response:
    """Change single fields of a JSON reply; other replies pass unchanged."""
    try:
        document = json.loads(response.body)
    except ValueError:
        return response
    wanted = fault.args.get("fields")
    chosen = set(wanted) if isinstance(wanted, list) else None
    rewrite = _Rewrite(fault.name, chosen, fault.number_arg("share", 0.5), fault.random)
    response.body = json.dumps(rewrite.apply(document)).encode()
    if fault.name == "control_characters":
        # The real service has sent raw control characters inside JSON text (vast 3.5); keep one such byte.
        response.body = response.body.replace(b"\\u0007", b"\x07")
    return response


class _Rewrite:
    """One pass over a JSON document that replaces some leaves."""

    def __init__(
        self, kind: str, fields: set[str] | None, share: float, rng: random.Random
    ) -> None:
        self._kind = kind
        self._fields = fields
        self._share = share
        self._rng = rng

    def apply(self, node: object) -> object:
        if isinstance(node, dict):
            return {
                key: self._member(key, value)
                for key, value in node.items()
                if not self._drops(key, value)
            }
        if isinstance(node, list):
            return [self.apply(item) for item in node]
        return node

    def _member(self, key: str, value: object) -> object:
        if isinstance(value, (dict, list)):
            return self.apply(value)
        if not self._concerns(key, value) or self._rng.random() >= self._share:
            return value
        return self._replaced(key, value)

    def _drops(self, key: str, value: object) -> bool:
        if self._kind != "missing_fields" or not self._concerns(key, value):
            return False
        return self._rng.random() < self._share

    def _concerns(self, key: str, value: object) -> bool:
        if self._fields is not None:
            return key in self._fields
        if self._kind in {"null_numbers", "string_numbers", "nan_numbers", "missing_fields"}:
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return is_number and key not in _NOT_MEASURES and not key.endswith(("_id", "Id"))
        if self._kind == "unknown_state":
            return key in _STATES
        if self._kind == "new_gpu_names":
            return key in _GPU_NAMES
        return isinstance(value, str) and key in {
            "label",
            "status_msg",
            "geolocation",
            "msg",
            "error",
            "name",
        }

    def _replaced(self, key: str, value: object) -> object:
        if self._kind == "null_numbers":
            return None
        if self._kind == "string_numbers":
            return str(value)
        if self._kind == "nan_numbers":
            return self._rng.choice([float("nan"), float("inf"), float("-inf")])
        if self._kind == "unknown_state":
            return "hibernating"
        if self._kind == "new_gpu_names":
            return self._rng.choice(["RTX 6090", "B300", "InstinctMI400X", "GTX 9"])
        del key
        return f"{value}{_HOSTILE}"
