"""A running simulator and a plain HTTP client for it, for tests that look at RunPod and the hub from outside."""

from __future__ import annotations

import http.client
import json
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flashtui.sim.scenario import from_toml
from flashtui.sim.server import Running, serve
from flashtui.sim.simtime import SimTime
from flashtui.sim.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

START = 1_800_000_000.0
KEY = "rpa_DEMOKEY"
QUIET = "[runpod]\nsells_out = false\n"
A4090 = {
    "name": "flash-4090-abc",
    "type": "QUEUE",
    "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
    "gpu": {"pools": ["ADA_24"]},
    "image": "acme/worker:1",
    "timeout": 86_400_000,
    "disk": 20,
    "workers": {"min": 0, "max": 1, "idleTimeout": 60},
}


@dataclass(frozen=True)
class Reply:
    """One answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Sim:
    """Talks to one running simulator."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.world = running.world

    def call(
        self,
        surface: str,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = KEY,
        headers: dict[str, str] | None = None,
        timeout: float = 10,
    ) -> Reply:
        parts = urlsplit(self.running.url(surface))
        connection = http.client.HTTPConnection(
            parts.hostname or "", parts.port or 0, timeout=timeout
        )
        sent = {"User-Agent": "test", **(headers or {})}
        if key is not None:
            sent["Authorization"] = f"Bearer {key}"
        data: bytes | None = None
        if isinstance(body, bytes):
            data = body
        elif body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body=data, headers=sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()

    def rest(self, method: str, path: str, body: object = None, **options: Any) -> Reply:
        return self.call("runpod", method, f"/v2{path}", body, **options)

    def job(self, method: str, path: str, body: object = None, **options: Any) -> Reply:
        return self.call("jobs", method, f"/v2{path}", body, **options)

    def graphql(self, query: str, variables: object = None, **options: Any) -> Reply:
        body = {"query": query} if variables is None else {"query": query, "variables": variables}
        return self.call("runpod", "POST", "/graphql", body, **options)

    def admin(self, method: str, path: str, body: object = None) -> Any:
        return self.call("hub", method, f"/_sim/{path}", body, key=None).json

    def step(self, seconds: float) -> None:
        self.admin("POST", "step", {"seconds": seconds})

    def fault(self, name: str, **order: Any) -> None:
        answer = self.admin("POST", "fault", {"name": name, **order})
        assert "fault" in answer, answer

    def fired(self, name: str) -> int:
        return int(self.admin("GET", "fault")["fired"].get(name, 0))

    def ledger(self, resource_id: str) -> dict[str, Any]:
        rows = self.admin("GET", "ledger")["resources"]
        return next(row for row in rows if row["id"] == resource_id)

    def violations(self) -> list[str]:
        return [row["kind"] for row in self.admin("GET", "violations")["violations"]]

    def endpoint(self, **changes: Any) -> str:
        """Make an endpoint and return its id."""
        reply = self.rest("POST", "/serverless", {**A4090, **changes})
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def run(self, endpoint_id: str, **policy: int) -> str:
        """Queue a job and return its id."""
        body: dict[str, Any] = {"input": {"seed": 0}}
        if policy:
            body["policy"] = policy
        reply = self.job("POST", f"/{endpoint_id}/run", body)
        assert reply.status == 200, reply.body
        return str(reply.json["id"])

    def status(self, endpoint_id: str, job_id: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.job("GET", f"/{endpoint_id}/status/{job_id}").json
        return answer


@contextmanager
def running(scenario: str = QUIET, *, seed: int = 7, speed: float = 0) -> Iterator[Sim]:
    """A simulator whose clock stands still until a test steps it."""
    world = World(from_toml("test", scenario), seed, SimTime(START, speed, time.monotonic))
    server = serve(world)
    try:
        yield Sim(server)
    finally:
        server.close()
