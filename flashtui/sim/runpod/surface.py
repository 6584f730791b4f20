"""The two surfaces of the simulated RunPod: control plane (GraphQL, REST v2) and job runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod.account import RunpodState
from flashtui.sim.runpod.graphql_api import GraphqlApi
from flashtui.sim.runpod.jobs import JobApi
from flashtui.sim.runpod.rest import RestV2, retired
from flashtui.sim.runpod.words import rfc3339

if TYPE_CHECKING:
    from flashtui.sim.http import Request
    from flashtui.sim.world import World


class RunpodSurface:
    """POST /graphql, REST under /v2, and the retired /v1."""

    name = "runpod"

    def __init__(self, world: World) -> None:
        self.account = RunpodState(world)
        self._graphql = GraphqlApi(self.account)
        self._rest = RestV2(self.account)

    def handle(self, request: Request) -> Response:
        """Answer a request of the control plane."""
        head = request.path.strip("/").split("/")[0]
        if head == "graphql":
            return self._graphql.handle(request)
        if head == "v2":
            return self._rest.handle(request, self.account.now)
        strict = self.account.world.strict
        if head == "v1":
            strict.record("runpod", "retired_route", request.route)
            return retired()
        strict.record("runpod", "unknown_route", request.route)
        return json_response(404, {"error": "not found"})

    def advance(self, now: float) -> None:
        """Bring the account up to now."""
        self.account.advance(now)

    def prices(self, at: float) -> list[dict[str, object]]:
        """Every GPU type's prices and stock at a moment."""
        return list(self.account.market.at(at))

    def state(self) -> list[dict[str, object]]:
        """Endpoints and pods as the provider sees them now."""
        account, now = self.account, self.account.now
        rows: list[dict[str, object]] = []
        for endpoint in account.endpoints.values():
            workers = {
                w.worker_id: _worker(w.status(now), w.gpu_id) for w in endpoint.workers.values()
            }
            jobs = {job.job_id: job.status for job in endpoint.jobs.values()}
            rows.append(
                {
                    "kind": "endpoint",
                    "id": endpoint.endpoint_id,
                    "label": endpoint.name,
                    "created_at": rfc3339(endpoint.created_at),
                    "workers": workers,
                    "jobs": jobs,
                }
            )
        for pod in account.pods.values():
            row: dict[str, object] = {"kind": "pod", "id": pod.pod_id, "label": pod.name}
            rows.append({**row, "status": pod.v2_status(now), "gpu": pod.gpu_id})
        return rows


def _worker(status: str, gpu_id: str | None) -> dict[str, Any]:
    return {"status": status, "gpu": gpu_id}


class JobsSurface:
    """The job runtime; works on the same account as the control plane."""

    name = "jobs"

    def __init__(self, world: World) -> None:
        self._world = world
        self._api: JobApi | None = None

    def handle(self, request: Request) -> Response:
        """Answer a queue operation."""
        if self._api is None:
            control = self._world.surfaces["runpod"]
            if not isinstance(control, RunpodSurface):
                message = "the job runtime needs the control plane's account"
                raise TypeError(message)
            self._api = JobApi(control.account)
        return self._api.handle(request)

    def advance(self, now: float) -> None:
        """Nothing: the control plane's surface moves the shared account on."""

    def prices(self, at: float) -> list[dict[str, object]]:
        """Nothing is sold here."""
        del at
        return []

    def state(self) -> list[dict[str, object]]:
        """Shown with the control plane."""
        return []
