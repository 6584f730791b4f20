"""The simulator's own control routes under `/_sim/`: time, faults, ledger, violations, prices, state.

They need no key, strike no fault and count as no violation. JSON in, JSON out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashtui.sim import scenario as scenarios
from flashtui.sim.faults import catalogue
from flashtui.sim.http import Request, Response, json_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashtui.sim.world import World

HELP = """\
Control routes, on every listener, JSON in and out:
  POST   /_sim/reset       {"seed": N?, "scenario": NAME?}   begin again
  POST   /_sim/step        {"seconds": X}                    move time forward at once
  GET    /_sim/time                                          {"now": epoch seconds, "speed": X}
  POST   /_sim/time        {"speed": X}                      0 stands still
  POST   /_sim/fault       {"name", "surface", "route", "count", "probability", "seed", "args", "after_s", "for_s"}
  GET    /_sim/fault                                         what is ordered, and every name there is
  DELETE /_sim/fault       {"number": N? , "name": NAME?}    withdraw one, or all
  GET    /_sim/ledger                                        what is billed, per resource, to the second
  GET    /_sim/violations                                    requests the documentation does not cover
  GET    /_sim/prices      ?at=EPOCH                         what each product costs at a moment
  GET    /_sim/state                                         resources as the providers see them
  GET    /_sim/runs                                          the scenario's runs (flashtui.runs/1 items)
  GET    /_sim/requests                                      how many requests came, per surface and route
"""


def handle(world: World, request: Request) -> Response:
    """Answer one control request; never raises for what the caller sent."""
    route = _ROUTES.get((request.method, request.path.rstrip("/")))
    if route is None:
        known = sorted(f"{method} {path}" for method, path in _ROUTES)
        return json_response(
            404, {"error": f"no such control route: {request.route}", "routes": known}
        )
    try:
        return json_response(200, route(world, request))
    except ValueError as error:
        return json_response(400, {"error": str(error)})


def _time(world: World, _request: Request) -> dict[str, object]:
    return {"now": world.time.now(), "speed": world.time.speed, "start": world.start}


def _set_time(world: World, request: Request) -> dict[str, object]:
    world.advance()
    world.time.set_speed(_number(_body(request), "speed"))
    return _time(world, request)


def _step(world: World, request: Request) -> dict[str, object]:
    world.time.step(_number(_body(request), "seconds"))
    world.advance()
    return _time(world, request)


def _reset(world: World, request: Request) -> dict[str, object]:
    body = _body(request)
    seed, scenario = body.get("seed"), body.get("scenario")
    world.reset(
        scenario=None if scenario is None else str(scenario),
        seed=None if seed is None else int(_number(body, "seed")),
    )
    return {**_time(world, request), "seed": world.seed, "scenario": world.scenario.name}


def _order_fault(world: World, request: Request) -> dict[str, object]:
    now = world.advance()
    fault = world.faults.add(_body(request))
    world.advance()
    return {"fault": fault.row(now)}


def _list_faults(world: World, _request: Request) -> dict[str, object]:
    return {
        "faults": world.faults.rows(),
        "fired": dict(world.faults.fired),
        "catalogue": catalogue(),
        "scenarios": scenarios.names(),
    }


def _withdraw_faults(world: World, request: Request) -> dict[str, object]:
    body = _body(request)
    which = body.get("number", body.get("name", request.first("name")))
    return {"removed": world.faults.remove(which)}


def _ledger(world: World, _request: Request) -> dict[str, object]:
    now = world.advance()
    rows = world.ledger.rows(now)
    return {"now": now, "resources": rows, "total_usd": world.ledger.total(now)}


def _violations(world: World, _request: Request) -> dict[str, object]:
    return {"violations": world.strict.rows(), "total": world.strict.total}


def _prices(world: World, request: Request) -> dict[str, object]:
    asked = request.first("at")
    at = world.time.now() if asked is None else _epoch(asked)
    sold: dict[str, object] = {
        name: world.surfaces[name].prices(at)
        for name in ("vast", "runpod")
        if name in world.surfaces
    }
    return {"at": at, **sold}


def _state(world: World, _request: Request) -> dict[str, object]:
    now = world.advance()
    return {"now": now, **{name: surface.state() for name, surface in world.surfaces.items()}}


def _runs(world: World, _request: Request) -> dict[str, object]:
    return {"schema": "flashtui.runs/1", "generated_at": scenarios.iso(world.time.now()),
            "errors": [], "items": world.seed_runs()}  # fmt: skip


def _requests(world: World, _request: Request) -> dict[str, object]:
    return {"requests": dict(world.requests)}


_ROUTES: dict[tuple[str, str], Callable[[World, Request], dict[str, object]]] = {
    ("GET", "/_sim/time"): _time,
    ("POST", "/_sim/time"): _set_time,
    ("POST", "/_sim/step"): _step,
    ("POST", "/_sim/reset"): _reset,
    ("POST", "/_sim/fault"): _order_fault,
    ("GET", "/_sim/fault"): _list_faults,
    ("DELETE", "/_sim/fault"): _withdraw_faults,
    ("GET", "/_sim/ledger"): _ledger,
    ("GET", "/_sim/violations"): _violations,
    ("GET", "/_sim/prices"): _prices,
    ("GET", "/_sim/state"): _state,
    ("GET", "/_sim/runs"): _runs,
    ("GET", "/_sim/requests"): _requests,
}


def _body(request: Request) -> dict[str, object]:
    if not request.body.strip():
        return {}
    try:
        body = json.loads(request.body)
    except ValueError as error:
        msg = f"body is no JSON: {error}"
        raise ValueError(msg) from error
    if not isinstance(body, dict):
        msg = "body must be a JSON object"
        raise ValueError(msg)
    return body


def _number(body: dict[str, object], name: str) -> float:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"{name} must be a number, not {value!r}"
        raise ValueError(msg)
    return float(value)


def _epoch(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        msg = f"at must be epoch seconds, not {text!r}"
        raise ValueError(msg) from error
