"""The worker's side of the job runtime: take a job, report progress and results, ping.

Sources: the requests of the official `runpod` package's worker (rp_job, rp_http, rp_progress, rp_ping).
An answer without a job comes after half a second, because the worker asks again at once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod import job_queue
from flashtui.sim.runpod.real_work import worker_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashtui.sim.http import Request
    from flashtui.sim.runpod.account import RunpodState
    from flashtui.sim.runpod.records import Endpoint, Job, Worker

_IDLE_POLL_S = 0.5
_STOP_POLL_S = 2.0


@dataclass(frozen=True, slots=True)
class _Call:
    state: RunpodState
    request: Request
    endpoint: Endpoint
    worker: Worker
    job_id: str

    def job(self) -> Job | None:
        """The job the path names, if this worker has it."""
        job = self.endpoint.jobs.get(self.job_id)
        return job if job is not None and job.worker_id == self.worker.worker_id else None


def handle(state: RunpodState, request: Request, parts: list[str]) -> Response | None:
    """Answer a worker's request; None where the path is none of a worker's."""
    answer = _OPERATIONS.get(parts[2]) if len(parts) > 3 else None
    if answer is None:
        return None
    endpoint = state.endpoints.get(parts[1])
    worker = endpoint.workers.get(parts[3]) if endpoint is not None else None
    if endpoint is None or worker is None:
        return json_response(404, {"error": "worker not found"})
    if request.headers.get("authorization", "").removeprefix("Bearer ") != worker_key(worker):
        return Response(401)
    job_id = parts[4] if len(parts) > 4 else ""
    return answer(_Call(state, request, endpoint, worker, job_id))


def _nothing(delay_s: float) -> Response:
    return Response(204, delay_s=delay_s)


def _take(call: _Call) -> Response:
    jobs = _begin(call, 1)
    return json_response(200, jobs[0]) if jobs else _nothing(_IDLE_POLL_S)


def _take_batch(call: _Call) -> Response:
    size = call.request.first("batch_size") or "1"
    jobs = _begin(call, int(size) if size.isdigit() else 1)
    return json_response(200, jobs) if jobs else _nothing(_IDLE_POLL_S)


def _begin(call: _Call, most: int) -> list[dict[str, Any]]:
    """Hand out queued jobs; a worker here works on one at a time."""
    now = call.state.now
    if call.worker.status(now) != "IDLE" or most < 1:
        return []
    queue = job_queue.queued(call.endpoint)
    if not queue:
        return []
    job_queue.take(queue[0], call.worker, now)
    call.state.fleet.settle(call.endpoint)
    return [{"id": queue[0].job_id, "input": queue[0].payload}]


def _done(call: _Call) -> Response:
    job = call.job()
    if job is None or job.is_over:
        return json_response(200, {"status": "ignored"})
    body = _body(call.request)
    if body.get("status") == "IN_PROGRESS":
        job.output = body.get("output")
        return json_response(200, {"status": "ok"})
    job.error = body.get("error")
    job.output = body.get("output")
    status = "COMPLETED" if job.error is None else "FAILED"
    job_queue.end(call.endpoint, job, status, call.state.now)
    call.state.fleet.settle(call.endpoint)
    return json_response(200, {"status": "ok"})


def _stream(call: _Call) -> Response:
    job = call.job()
    if job is not None:
        job.stream.append(_body(call.request).get("output"))
    return json_response(200, {"status": "ok"})


def _stop(call: _Call) -> Response:
    """The jobs this worker should stop: cancelled or timed out while it had them."""
    ids = [
        job.job_id
        for job in call.endpoint.jobs.values()
        if job.worker_id == call.worker.worker_id and job.status in {"CANCELLED", "TIMED_OUT"}
    ]
    if not ids:
        return _nothing(_STOP_POLL_S)
    return json_response(200, {"jobsToStop": ids}) if _once(call, ids) else _nothing(_STOP_POLL_S)


def _once(call: _Call, ids: list[str]) -> bool:
    """Whether these ids have not been told to the worker before."""
    mark = f"told to stop {' '.join(ids)}"
    if any(line == mark for _, _, line in call.worker.log):
        return False
    call.worker.log.append((call.state.now, "system", mark))
    return True


def _ping(_call: _Call) -> Response:
    return json_response(200, {"status": "ok"})


def _body(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(request.body or b"{}")
    except ValueError:
        return {"error": "worker sent no JSON"}
    return body if isinstance(body, dict) else {"output": body}


_OPERATIONS: dict[str, Callable[[_Call], Response]] = {
    "job-take": _take,
    "job-take-batch": _take_batch,
    "job-done": _done,
    "job-stream": _stream,
    "job-stop": _stop,
    "ping": _ping,
}
