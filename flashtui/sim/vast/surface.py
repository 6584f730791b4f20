"""Vast.ai on loopback: which request goes to which part, after key, scope and rate limit.

Source of every route: vast 2.1 (search), 3 (instances), 4 (account), 6 (what the official client sends). Almost all
paths end in a slash and some clients leave it out, so both spellings are served and none redirects (vast 1.1).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from flashtui.sim.http import Request, Response, json_response
from flashtui.sim.vast import seeded
from flashtui.sim.vast.account import Caller, Keys
from flashtui.sim.vast.changes import Changes
from flashtui.sim.vast.contracts import Contracts
from flashtui.sim.vast.instances import Instances
from flashtui.sim.vast.limits import Limits
from flashtui.sim.vast.logs import Logs
from flashtui.sim.vast.money import Money
from flashtui.sim.vast.offers import Market
from flashtui.sim.vast.rent import Renting
from flashtui.sim.vast.replies import auth_error, refusal, scope_error
from flashtui.sim.vast.search import Search

if TYPE_CHECKING:
    from flashtui.sim.world import World

Answer = Callable[[Request, Caller, int], Response]


class _Route(NamedTuple):
    """One documented route. `wrong_key` is the status of `auth_error` there; `scope` None needs no key."""

    method: str
    path: re.Pattern[str]
    scope: str | None
    limit: str
    wrong_key: int
    answer: Answer


class VastSurface:
    """The whole provider: market, contracts, account."""

    name = "vast"

    def __init__(self, world: World) -> None:
        table = world.scenario.table("vast")
        credit = table.get("credit_usd", 25.0)
        self._world = world
        self.market = Market(world)
        self.contracts = Contracts(
            world,
            self.market,
            credit_usd=float(credit) if isinstance(credit, (int, float)) else 25.0,
            has_card=table.get("has_card") is not False,
        )
        for row in world.scenario.rows("vast", "instances"):
            self.contracts.enter(seeded.contract_from(world, row))
        self.contracts.start_account()
        self._keys = Keys(world, self.contracts)
        self._limits = Limits(is_on=table.get("rate_limits") is True)
        self._search = Search(world, self.market)
        self._instances = Instances(world, self.contracts)
        self._routes = self._route_table()

    def advance(self, now: float) -> None:
        """Bring contracts and credit up to a moment."""
        self.contracts.advance(now)

    def prices(self, at: float) -> list[dict[str, object]]:
        """Every offer's price at a moment."""
        return self.market.prices(at)

    def state(self) -> list[dict[str, object]]:
        """Every live instance, whatever faults hide it."""
        return self._instances.state()

    def handle(self, request: Request) -> Response:
        """Answer one request."""
        path = request.path.rstrip("/") + "/"
        known = False
        for route in self._routes:
            found = route.path.fullmatch(path)
            if found is None:
                continue
            known = True
            if route.method == request.method:
                return self._answered(route, request, int(found.groupdict().get("id") or 0))
        kind = "unknown_method" if known else "unknown_route"
        self._world.strict.record("vast", kind, request.route)
        if known:
            return refusal(405, "method_not_allowed", f"{request.method} is not allowed here")
        return json_response(
            404, {"success": False, "error": "not_found", "msg": f"no route {path}"}
        )

    def _answered(self, route: _Route, request: Request, number: int) -> Response:
        caller = self._keys.caller(request)
        if route.scope is not None:
            if caller.is_wrong:
                return auth_error(route.wrong_key)
            if not caller.has_key:
                return auth_error(403)
            if route.scope not in caller.scopes:
                return scope_error(route.scope)
            if caller.only_instance not in {None, number}:
                return scope_error(route.scope)
        if refused := self._limits.check(route.limit, caller.identity, self._world.time.now()):
            return refused
        return route.answer(request, caller, number)

    def _route_table(self) -> list[_Route]:
        return [*self._search_routes(), *self._instance_routes(), *self._account_routes()]

    def _search_routes(self) -> list[_Route]:
        # vast 2.1: four spellings; works without a key; a wrong key is 404 here (vast 1.2).
        search, world = self._search, self._world

        def names(_request: Request, _caller: Caller, _number: int) -> Response:
            # vast 1.4: the official client fetches this at import, without a key.
            return json_response(200, {"gpu_names": self.market.gpu_names()})

        def types(_request: Request, _caller: Caller, _number: int) -> Response:
            # vast 4: public and keyless.
            return json_response(
                200, {"success": True, "gpu_types": self.market.gpu_types(world.time.now())}
            )

        return [
            _route(
                "POST",
                "/api/v0/bundles/",
                None,
                "search",
                lambda r, c, _n: search.bundles(r, c),
                404,
            ),
            _route(
                "GET",
                "/api/v0/bundles/",
                None,
                "search",
                lambda r, c, _n: search.bundles(r, c),
                404,
            ),
            _route(
                "PUT",
                "/api/v0/search/asks/",
                None,
                "search",
                lambda r, c, _n: search.asks(r, c),
                404,
            ),
            _route(
                "GET",
                "/api/v0/search/asks/",
                None,
                "search",
                lambda r, c, _n: search.asks(r, c),
                404,
            ),
            _route("GET", "/api/v0/gpu_names/unique/", None, "public", names),
            _route("GET", "/api/v0/gpu_types/", None, "public", types),
        ]

    def _instance_routes(self) -> list[_Route]:
        # vast 3.1-3.4. A wrong key is 401 on reads and create, and 404 elsewhere (vast 1.2).
        read, write = "instance_read", "instance_write"
        renting = Renting(self._world, self.market, self.contracts)
        changes = Changes(self._world, self.contracts)
        logs = Logs(self._world, self.contracts)
        shown, one = self._instances, r"(?P<id>\d+)"
        v0 = "/api/v0/instances"
        return [
            _route("GET", "/api/v1/instances/", read, "list", lambda r, _c, _n: shown.list_v1(r), 401),
            _route("GET", f"{v0}/", read, "list", lambda r, _c, _n: shown.list_v0(r), 401),
            _route("GET", f"{v0}/filters/", read, "filters", lambda r, _c, _n: shown.filters(r), 401),
            _route("GET", f"{v0}/{one}/", read, "detail", lambda r, _c, n: shown.detail(r, n), 401),
            _route("PUT", f"/api/v0/asks/{one}/", write, "create", lambda r, _c, n: renting.rent(r, n), 401),
            _route("POST", "/api/v0/asks/bulk/", write, "create", lambda r, _c, _n: renting.rent_many(r), 401),
            _route("PUT", f"{v0}/{one}/", write, "manage", lambda r, _c, n: changes.manage(r, n), 404),
            _route("PUT", f"{v0}/", write, "manage", lambda r, _c, _n: changes.manage_many(r), 404),
            _route("PUT", f"{v0}/reboot/{one}/", write, "manage", lambda r, _c, n: changes.bounce(r, n), 404),
            _route("PUT", f"{v0}/recycle/{one}/", write, "manage", lambda r, _c, n: changes.bounce(r, n), 404),
            _route("PUT", f"{v0}/bid_price/{one}/", write, "bid", lambda r, _c, n: changes.change_bid(r, n), 404),
            _route("PUT", f"{v0}/prepay/{one}/", write, "prepay", lambda r, _c, n: changes.prepay(r, n), 404),
            _route("DELETE", f"{v0}/{one}/", write, "destroy", lambda r, _c, n: changes.destroy(r, n), 404),
            _route("DELETE", f"{v0}/", write, "destroy", lambda r, _c, _n: changes.destroy_many(r), 404),
            _route("PUT", f"{v0}/request_logs/{one}/", read, "manage", lambda r, _c, n: logs.request_logs(r, n), 404),
            _route("PUT", f"{v0}/command/{one}/", write, "execute", lambda r, _c, n: logs.command(r, n), 404),
            _route("GET", r"/s3/vast\.ai/instance_logs/[0-9a-f]+\.log/", None, "public",
                   lambda r, _c, _n: logs.read(r, r.path.rstrip("/").rpartition("/")[2])),
        ]  # fmt: skip

    def _account_routes(self) -> list[_Route]:
        # vast 4.
        money = Money(self._world, self.contracts)
        one = r"(?P<id>\d+)"
        return [
            _route("GET", "/api/v0/users/current/", "user_read", "user", lambda r, c, _n: money.user(r, c)),
            _route("GET", "/api/v0/charges/", "billing_read", "charges", lambda r, _c, _n: money.charges(r)),
            _route("GET", "/api/v1/invoices/", "billing_read", "invoices", lambda r, _c, _n: money.invoices(r)),
            _route("GET", "/api/v0/users/me/invoices/", "billing_read", "invoices",
                   lambda r, _c, _n: money.old_invoices(r)),
            _route("GET", f"/api/v0/instances/balance/{one}/", "billing_read", "user",
                   lambda r, _c, n: money.deposit(r, n)),
        ]  # fmt: skip


def _route(
    method: str, path: str, scope: str | None, limit: str, answer: Answer, wrong_key: int = 401
) -> _Route:
    return _Route(method, re.compile(path), scope, limit, wrong_key, answer)
