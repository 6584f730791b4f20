"""A client made of the standard library alone, for tests that look at the simulator's core and Vast from outside."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from flashtui.sim.scenario import Scenario, from_toml, load
from flashtui.sim.server import Running, serve
from flashtui.sim.simtime import SimTime
from flashtui.sim.world import World

if TYPE_CHECKING:
    from pathlib import Path

    from flashtui.sim.work import Work

START = 1_796_087_200.0
KEY = "vast-demo-key"
TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Reply:
    """One answer as it came over the socket."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Sim:
    """One simulator on loopback whose time stands still until stepped."""

    def __init__(
        self, scenario: str | Scenario = "empty", seed: int = 7, *, work: Work | None = None
    ) -> None:
        chosen = load(scenario) if isinstance(scenario, str) else scenario
        self.world = World(chosen, seed, SimTime(START, 0.0, lambda: 0.0), work=work)
        self.running: Running = serve(self.world)

    def close(self) -> None:
        self.running.close()

    def start_over(self, scenario: str = "empty", seed: int = 7) -> None:
        self.admin("POST", "/_sim/reset", {"scenario": scenario, "seed": seed})

    def start_over_with(self, folder: Path, toml: str) -> None:
        """Begin again with a scenario written on the spot."""
        path = folder / "own.toml"
        path.write_text(toml, encoding="utf-8")
        self.start_over(str(path))

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = KEY,
        surface: str = "vast",
        timeout_s: float = TIMEOUT_S,
    ) -> Reply:
        """One request on a connection of its own."""
        address = urlsplit(self.running.url(surface))
        assert address.hostname
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=timeout_s)
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        data = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, headers)
            reply = connection.getresponse()
            return Reply(reply.status, dict(reply.getheaders()), reply.read())
        finally:
            connection.close()

    def admin(self, method: str, path: str, body: object = None) -> Any:
        reply = self.send(method, path, body, key=None, surface="hub")
        assert reply.status == 200, reply.body
        return reply.json

    # -- what tests say often ------------------------------------------------------------------------------------

    def step(self, seconds: float) -> None:
        self.admin("POST", "/_sim/step", {"seconds": seconds})

    def fault(self, name: str, **fields: object) -> None:
        self.admin("POST", "/_sim/fault", {"name": name, **fields})

    def fired(self, name: str) -> int:
        return int(self.admin("GET", "/_sim/fault")["fired"].get(name, 0))

    def ledger(self, resource_id: object) -> dict[str, Any]:
        rows = self.admin("GET", "/_sim/ledger")["resources"]
        found: dict[str, Any] = next(row for row in rows if row["id"] == str(resource_id))
        return found

    def violations(self) -> list[tuple[str, str]]:
        rows = self.admin("GET", "/_sim/violations")["violations"]
        return [(row["kind"], row["detail"]) for row in rows]

    def search(self, query: dict[str, object] | None = None, **kwargs: Any) -> list[dict[str, Any]]:
        """All offers that pass, cheapest first unless the query says otherwise."""
        wanted = {"limit": 1000, "order": [["dph_total", "asc"]], **(query or {})}
        reply = self.send("POST", "/api/v0/bundles/", wanted, **kwargs)
        assert reply.status == 200, reply.body
        offers: list[dict[str, Any]] = reply.json["offers"]
        return offers

    def rent(self, offer_id: int | None = None, **fields: object) -> int:
        """Rent an offer (the cheapest RTX 3090 if none is named) and return the instance id."""
        if offer_id is None:
            query: dict[str, object] = {"gpu_name": {"eq": "RTX 3090"}, "num_gpus": {"eq": 1}}
            offer_id = self.search(query)[0]["id"]
        body = {"client_id": "me", "image": "acme/worker:1", "disk": 60, **fields}
        reply = self.send("PUT", f"/api/v0/asks/{offer_id}/", body)
        assert reply.status == 200, reply.body
        return int(reply.json["new_contract"])

    def instance(self, instance_id: int) -> Any:
        return self.send("GET", f"/api/v0/instances/{instance_id}/").json["instances"]

    def instances(self, **parameters: object) -> Any:
        """One page of the v1 list."""
        texts = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in parameters.items()
        }
        query = "&".join(f"{name}={quote(text)}" for name, text in texts.items())
        return self.send("GET", f"/api/v1/instances/?{query}").json

    def credit(self) -> float:
        return float(self.send("GET", "/api/v0/users/current/").json["credit"])


def world_of(toml: str, seed: int = 7) -> World:
    """A world without sockets whose time stands still."""
    return World(from_toml("own", toml), seed, SimTime(START, 0.0, lambda: 0.0))
