"""REST v2: the workers of an endpoint, their logs, and its configuration history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod.logs import printed, stream
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.rest_serverless import find_endpoint
from flashtui.sim.runpod.route import Route
from flashtui.sim.runpod.words import rfc3339

if TYPE_CHECKING:
    from flashtui.sim.runpod.records import Endpoint, Worker
    from flashtui.sim.runpod.rest import Call


def _worker(endpoint: Endpoint, worker: Worker, now: float) -> dict[str, Any]:
    is_placed = worker.started_at is not None
    is_up = worker.ready_at is not None and now >= worker.ready_at
    return {
        "id": worker.worker_id,
        "status": worker.status(now),
        "isStale": worker.version != endpoint.version,
        "version": worker.version,
        "gpuCount": worker.gpu_count,
        "image": worker.image,
        "uptimeSeconds": int(now - (worker.started_at or now)) if is_up else None,
        "gpuTypeId": worker.gpu_id,
        "dataCenterId": worker.place_id,
        "startedAt": rfc3339(worker.started_at) if is_placed and worker.started_at else None,
    }


def list_workers(call: Call) -> Response:
    """The workers that exist now, with a histogram of their states."""
    endpoint = find_endpoint(call)
    rows = [_worker(endpoint, worker, call.now) for worker in endpoint.workers.values()]
    summary = {
        state.lower(): sum(1 for row in rows if row["status"] == state)
        for state in ("RUNNING", "IDLE", "INITIALIZING", "THROTTLED", "UNHEALTHY")
    }
    summary["total"] = len(rows)
    answer = {"workers": rows, "summary": summary, "endpointVersion": endpoint.version}
    return json_response(200, answer)


def worker_logs(call: Call) -> Response:
    """A worker's log as server-sent events."""
    worker = find_endpoint(call).workers.get(call.args["workerId"])
    if worker is None:
        raise ProblemError(404, "worker not found")
    return stream(call, [*worker.log, *printed(call, worker.worker_id, worker.ready_at)])


def list_releases(call: Call) -> Response:
    """The endpoint's configuration history, newest first."""
    endpoint = find_endpoint(call)
    total = len(endpoint.workers)
    latest = sum(1 for w in endpoint.workers.values() if w.version == endpoint.version)
    rollout = {
        "inProgress": latest < total,
        "workersOnLatest": latest,
        "workersTotal": total,
        "percentOnLatest": round(100 * latest / total) if total else 0,
    }
    answer = {
        "endpointVersion": endpoint.version,
        "rollout": rollout,
        "releases": endpoint.releases,
    }
    return json_response(200, answer)


_ONE = "/v2/serverless/{id}"
_LOG_QUERY = ("source", "tail", "since")

ROUTES: tuple[Route, ...] = (
    Route("GET", f"{_ONE}/workers", list_workers, "listEndpointWorkers"),
    Route("GET", f"{_ONE}/workers/{{workerId}}/logs", worker_logs, "getWorkerLogs", _LOG_QUERY),
    Route("GET", f"{_ONE}/releases", list_releases, "listEndpointReleases"),
)
