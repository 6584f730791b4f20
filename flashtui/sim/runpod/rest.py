"""REST v2 of the simulated RunPod: who may ask, how often, and which route answers.

Source of every route: docs api-reference-v2/openapi.json (version 2.0.0); each route names its
operation. REST v1 was retired on 2026-11-15 (docs release-notes) and answers 410.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod import (
    rest_account,
    rest_billing,
    rest_catalog,
    rest_pods,
    rest_serverless,
    rest_workers,
)
from flashtui.sim.runpod.account import OWNER_OF_KEY, READ_ONLY_KEY
from flashtui.sim.runpod.contract import Shape, check
from flashtui.sim.runpod.problem import ProblemError, Quota, problem

if TYPE_CHECKING:
    from flashtui.sim.http import Request
    from flashtui.sim.runpod.account import RunpodState
    from flashtui.sim.runpod.route import Route
    from flashtui.sim.world import World


@dataclass(frozen=True, slots=True)
class Call:
    """One authorised request with its path arguments and its body, if it has one."""

    state: RunpodState
    request: Request
    owner: str
    now: float
    args: dict[str, str]
    body: dict[str, Any]

    @property
    def world(self) -> World:
        """The world, for faults and strictness."""
        return self.state.world

    def param(self, name: str) -> str | None:
        """A query parameter, None where it is absent."""
        return self.request.first(name)

    def listed(self, name: str) -> list[str]:
        """A comma-separated query parameter."""
        return [part for part in (self.param(name) or "").split(",") if part]


ROUTES: tuple[Route, ...] = (
    *rest_catalog.ROUTES,
    *rest_serverless.ROUTES,
    *rest_workers.ROUTES,
    *rest_pods.ROUTES,
    *rest_billing.ROUTES,
    *rest_account.ROUTES,
)


class RestV2:
    """Dispatches `/v2/...` of the control plane."""

    def __init__(self, state: RunpodState) -> None:
        self._state = state
        table = state.world.scenario.table("runpod")
        self._enforces_quota = bool(table.get("enforce_quota", False))
        self._quota = Quota()
        self._routes = [
            (route, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", route.path) + r"\Z"))
            for route in ROUTES
        ]

    def handle(self, request: Request, now: float) -> Response:
        """Answer one request of the control plane."""
        try:
            key = self._key(request)
        except ProblemError as refusal:
            return problem(refusal.status, refusal.detail)
        headers, exceeded = self._quota.take(key, now)
        try:
            if exceeded is not None and self._enforces_quota:
                detail = f"rate limit exceeded for the {exceeded} window"
                return problem(429, detail, headers=headers)
            response = self._dispatch(request, key, now)
        except ProblemError as refusal:
            response = problem(refusal.status, refusal.detail, errors=refusal.errors)
        headers.pop("Retry-After", None)
        response.headers.update(headers)
        return response

    @staticmethod
    def _key(request: Request) -> str:
        key = request.bearer()
        if key is None:
            raise ProblemError(401, "missing bearer token")
        if key not in OWNER_OF_KEY:
            raise ProblemError(401, "invalid bearer token")
        return key

    def _dispatch(self, request: Request, key: str, now: float) -> Response:
        strict = self._state.world.strict
        allowed = []
        for route, pattern in self._routes:
            match = pattern.match(request.path)
            if match is None:
                continue
            if route.method != request.method:
                allowed.append(route.method)
                continue
            if key == READ_ONLY_KEY and request.method != "GET":
                raise ProblemError(403, "access denied")
            for name in request.query:
                if name not in route.query:
                    strict.record("runpod", "unknown_filter", f"{request.route}: {name}")
            call = Call(
                state=self._state,
                request=request,
                owner=OWNER_OF_KEY[key],
                now=now,
                args=match.groupdict(),
                body=self._body(request, route.body),
            )
            return route.answer(call)
        if allowed:
            strict.record("runpod", "unknown_method", request.route)
            response = problem(405, "The requested method is not allowed for this path.")
            response.headers["Allow"] = ", ".join(allowed)
            return response
        strict.record("runpod", "unknown_route", request.route)
        raise ProblemError(404, "resource not found")

    def _body(self, request: Request, shape: Shape | None) -> dict[str, Any]:
        if shape is None:
            return {}
        try:
            body = json.loads(request.body or b"{}")
        except ValueError as error:
            raise ProblemError(400, "request body is not valid JSON") from error
        found = check(body, shape)
        for name in found.unknown:
            self._state.world.strict.record("runpod", "unknown_field", f"{request.route}: {name}")
        if found.errors:
            raise ProblemError(422, "Request validation failed.", found.errors)
        checked: dict[str, Any] = body
        return checked


def retired() -> Response:
    """What every REST v1 path answers since it was switched off."""
    return json_response(
        410, {"error": "REST API v1 has been retired. Use https://api.runpod.io/v2."}
    )
