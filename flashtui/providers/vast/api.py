"""Vast's routes, one coroutine each: bytes in, models out, every refusal a typed error.

Reads are repeated by ``Http.fetch``; what changes something is sent once and says how it ended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flashtui.domain.errors import (
    Ambiguous,
    AuthRejected,
    IncompleteListing,
    MalformedReply,
    NotFound,
    ProviderError,
    Rejected,
)
from flashtui.domain.text import clean
from flashtui.net.decode import json_object, malformed
from flashtui.net.pace import Budget
from flashtui.providers.vast import fields
from flashtui.providers.vast.auth import NAME
from flashtui.providers.vast.listing import MOST_PAGES, InstanceListing, list_instances
from flashtui.providers.vast.replies import refusal, words_of
from flashtui.providers.vast.route import Route
from flashtui.providers.vast.wire import ChargeRow, InstanceRow, OfferRow, UserRow, read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from flashtui.providers.base import Context
    from flashtui.providers.vast.wire import CreateBody, Query

# Vast counts searches per address: ten a minute. The others are minimum intervals per route and key, in seconds, with
# a little room: the distance at which requests leave is not the distance at which they arrive.
SEARCH_BUDGET = Budget(10, 60.5)
SHOW_INTERVAL_S = 2.2
MANAGE_INTERVAL_S = 1.2
CREATE_INTERVAL_S = 5.0
DESTROY_INTERVAL_S = 3.2

_LOG_BYTES = 4_000_000
_LOG_TRIES = 20
_LOG_PAUSE_S = 1.0
# A search takes a second or two; one that hangs must soon be said to hang.
_SEARCH_S = 12.0


@dataclass(frozen=True, slots=True)
class OfferPage:
    """One answer to a search.

    Attributes:
        skipped: entries that could not be read.
    """

    rows: tuple[OfferRow, ...]
    skipped: int
    received_at: datetime

    @property
    def entries(self) -> int:
        """How many entries the answer held, the skipped included."""
        return len(self.rows) + self.skipped


@dataclass(frozen=True, slots=True)
class Created:
    """How a create that named an instance ended.

    Attributes:
        instance_id: the new instance.
        complaint: set when the same answer also said that it failed: the instance exists and must go.
    """

    instance_id: int
    complaint: ProviderError | None = None


class VastApi:
    """The routes of one account.

    Args:
        context: settings, key, HTTP, clock.
    """

    def __init__(self, context: Context) -> None:
        self._route = Route(context)
        self._clock = context.clock

    async def search_offers(self, query: Query) -> OfferPage:
        """``POST /api/v0/bundles/``.

        Raises:
            MalformedReply: ``offers`` is missing or null; that is never an empty market.
            ProviderError: could not be read.
        """
        operation = "search offers"
        reply = await self._route.read(
            "POST",
            "/api/v0/bundles/",
            operation,
            json=query.body(),
            lane="search",
            budget=SEARCH_BUDGET,
            # A feed asks again by itself; a person who waits for the first screen should soon read what is wrong.
            attempts=2,
            timeout_s=_SEARCH_S,
        )
        offers = json_object(reply, NAME, operation).get("offers")
        if isinstance(offers, dict):
            offers = [offers]
        if not isinstance(offers, list):
            raise malformed(reply, "without a list of offers", NAME, operation)
        rows, skipped = read_rows(OfferRow, offers)
        return OfferPage(rows, skipped, reply.received_at)

    async def instances(self) -> InstanceListing:
        """``GET /api/v1/instances/``: every page; raises like :func:`list_instances`."""
        return await list_instances(self._route)

    async def instance(self, instance_id: int) -> InstanceRow | None:
        """``GET /api/v0/instances/{id}/``; None: null, or a 404 to a key that is good.

        None proves nothing: the null also comes for healthy and for brand-new instances.

        Raises:
            MalformedReply: an answer without an instance that is not null either.
            ProviderError: could not be read.
        """
        operation = f"show instance {instance_id}"
        try:
            reply = await self._route.read(
                "GET",
                f"/api/v0/instances/{instance_id}/",
                operation,
                lane="show",
                min_interval_s=SHOW_INTERVAL_S,
                attempts=1,
            )
        except NotFound:
            return None
        content = json_object(reply, NAME, operation)
        found = content.get("instances")
        if "instances" in content and found is None:
            return None
        rows, _ = read_rows(InstanceRow, [found])
        if not rows:
            raise malformed(reply, "without an instance", NAME, operation)
        return rows[0]

    async def create(self, offer_id: int, body: CreateBody) -> Created:
        """``PUT /api/v0/asks/{id}/``, sent exactly once.

        Raises:
            NotSent: nothing left this machine.
            Rejected: refused in so many words, without an instance (``OfferTaken``, ``AccountProblem`` …).
            Ambiguous: everything else: an instance may exist under the label.
        """
        operation = f"rent offer {offer_id}"
        try:
            reply = await self._route.change(
                "PUT",
                f"/api/v0/asks/{offer_id}/",
                operation,
                json=body.body(),
                lane="create",
                min_interval_s=CREATE_INTERVAL_S,
            )
        except MalformedReply as error:
            raise _may_exist(operation, str(error), error.status) from error
        words = words_of(reply, self._route.http)
        complaint = refusal(reply, operation, self._route.http)
        contract = fields.optional_identity((words.content or {}).get("new_contract"))
        if contract is not None:
            return Created(contract, complaint)
        if isinstance(complaint, AuthRejected) or (
            isinstance(complaint, Rejected) and words.refused
        ):
            raise complaint
        said = str(complaint) if complaint is not None else "an answer without a usable id"
        raise _may_exist(operation, said, reply.status)

    async def set_label(self, instance_id: int, label: str) -> None:
        """``PUT /api/v0/instances/{id}/`` with a label."""
        await self._manage(instance_id, {"label": label}, f"label instance {instance_id}")

    async def set_state(self, instance_id: int, state: Literal["running", "stopped"]) -> None:
        """``PUT /api/v0/instances/{id}/`` with a state; a stopped instance goes on billing its storage."""
        verb = "start" if state == "running" else "stop"
        await self._manage(instance_id, {"state": state}, f"{verb} instance {instance_id}")

    async def destroy(self, instance_id: int) -> str:
        """``DELETE /api/v0/instances/{id}/``, sent once; the answer in words. Accepted is not yet gone.

        Raises:
            NotFound: the provider knows no such instance.
            ProviderError: not accepted, or unknown whether it was.
        """
        operation = f"destroy instance {instance_id}"
        reply = await self._route.change(
            "DELETE",
            f"/api/v0/instances/{instance_id}/",
            operation,
            json={},
            lane="destroy",
            min_interval_s=DESTROY_INTERVAL_S,
        )
        self._route.raise_refusal(reply, operation)
        if json_object(reply, NAME, operation).get("success") is not True:
            raise malformed(reply, "without success: true", NAME, operation)
        return f"DELETE answered {reply.status}, success"

    async def logs(self, instance_id: int, *, tail: int = 400) -> str | None:
        """The last lines of the container's log, raw; None: not ready within the time.

        ``PUT /api/v0/instances/request_logs/{id}/`` names an address that is read, without the key, until the file
        is there.
        """
        operation = f"logs of instance {instance_id}"
        reply = await self._route.change(
            "PUT",
            f"/api/v0/instances/request_logs/{instance_id}/",
            operation,
            json={"tail": str(tail)},
            lane="logs",
            min_interval_s=MANAGE_INTERVAL_S,
        )
        self._route.raise_refusal(reply, operation)
        url = json_object(reply, NAME, operation).get("result_url")
        if not isinstance(url, str) or not self._route.may_fetch(url):
            raise malformed(reply, "without an address for the log", NAME, operation)
        for _ in range(_LOG_TRIES):
            log = await self._route.http.send(
                "GET", url, provider=NAME, operation=operation, max_bytes=_LOG_BYTES
            )
            if log.status == 200:
                return log.body.decode("utf-8", errors="replace")
            await self._clock.sleep(_LOG_PAUSE_S)
        return None

    async def current_user(self) -> UserRow:
        """``GET /api/v0/users/current/``.

        Raises:
            MalformedReply: neither credit nor balance in the answer.
        """
        operation = "read the account"
        reply = await self._route.read("GET", "/api/v0/users/current/", operation, lane="user")
        rows, _ = read_rows(UserRow, [json_object(reply, NAME, operation)])
        if not rows or (rows[0].credit is None and rows[0].balance is None):
            raise malformed(reply, "without a balance", NAME, operation)
        return rows[0]

    async def charges(self, since: datetime, until: datetime) -> tuple[ChargeRow, ...]:
        """``GET /api/v0/charges/``: every page.

        Raises:
            IncompleteListing: pages that go round in circles.
        """
        operation = "read charges"
        days = {"day": {"gte": int(since.timestamp()), "lte": int(until.timestamp())}}
        params: dict[str, str | int] = {"select_filters": json.dumps(days), "limit": 500}
        rows: list[ChargeRow] = []
        for _ in range(MOST_PAGES):
            reply = await self._route.read(
                "GET",
                "/api/v0/charges/",
                operation,
                params=params,
                lane="charges",
                min_interval_s=MANAGE_INTERVAL_S,
            )
            page = json_object(reply, NAME, operation)
            results = page.get("results")
            if not isinstance(results, list):
                raise malformed(reply, "without results", NAME, operation)
            rows += read_rows(ChargeRow, results)[0]
            after = fields.token(page.get("next_token"))
            if after is None:
                return tuple(rows)
            params = {**params, "after_token": after}
        msg = f"{NAME}: {operation}: more than {MOST_PAGES} pages"
        raise IncompleteListing(msg, provider=NAME, operation=operation)

    async def _manage(self, instance_id: int, change: Mapping[str, Any], operation: str) -> None:
        reply = await self._route.change(
            "PUT",
            f"/api/v0/instances/{instance_id}/",
            operation,
            json=dict(change),
            lane="manage",
            min_interval_s=MANAGE_INTERVAL_S,
        )
        self._route.raise_refusal(reply, operation)


def _may_exist(operation: str, said: str, status: int | None) -> Ambiguous:
    msg = f"{NAME}: {operation}: outcome unknown, an instance may exist ({clean(said)})"
    return Ambiguous(msg, provider=NAME, operation=operation, status=status)
