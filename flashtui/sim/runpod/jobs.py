"""The job runtime of the simulated RunPod: queue operations of one endpoint.

Sources: docs serverless/endpoints/operation-reference, job-states and send-requests (sizes, policy,
rate limits). The bodies of its errors are not documented; small JSON objects are used here.
"""

from __future__ import annotations

import json
import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod import job_queue, worker_api
from flashtui.sim.runpod.account import OWNER_OF_KEY
from flashtui.sim.runpod.job_queue import job_answer
from flashtui.sim.runpod.records import Endpoint, Job, JobPlan

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashtui.sim.http import Request
    from flashtui.sim.runpod.account import RunpodState

_MOST_BYTES = {"run": 10_000_000, "runsync": 20_000_000}
_DEFAULT_EXECUTION_S = 600.0
_DEFAULT_TTL_S = 86_400.0
_WEEK_S = 7 * 86_400.0
_WINDOW_S = 10.0
_LIMITS = {
    "run": 1000,
    "runsync": 2000,
    "status": 2000,
    "stream": 2000,
    "cancel": 100,
    "purge-queue": 2,
    "requests": 10,
}
"""Requests per ten seconds, endpoint and user."""
_BODY_FIELDS = frozenset({"input", "webhook", "policy", "s3Config"})
_POLICY_FIELDS = frozenset({"executionTimeout", "lowPriority", "ttl"})


@dataclass(frozen=True, slots=True)
class JobCall:
    """One authorised request for an endpoint's queue."""

    state: RunpodState
    request: Request
    endpoint: Endpoint
    now: float
    job_id: str
    body: dict[str, Any]


class JobApi:
    """Dispatches `/v2/{endpointId}/...` of the job runtime."""

    def __init__(self, state: RunpodState) -> None:
        self._state = state
        self._seen: dict[tuple[str, str], deque[float]] = {}

    def handle(self, request: Request) -> Response:
        """Answer one queue operation."""
        now = self._state.now
        parts = request.path.strip("/").split("/")
        own = worker_api.handle(self._state, request, parts)
        if own is not None:
            return own
        key = request.bearer() or request.headers.get("authorization", "").strip()
        owner = OWNER_OF_KEY.get(key)
        if owner is None:
            return Response(401, b"", {"Content-Type": "application/json"})
        operation = parts[2] if len(parts) > 2 and parts[0] == "v2" else ""
        known = _OPERATIONS.get((request.method, operation, len(parts)))
        if known is None:
            self._state.world.strict.record("jobs", "unknown_route", request.route)
            return json_response(404, {"error": "not found"})
        endpoint = self._state.endpoint(parts[1], owner)
        if endpoint is None:
            return json_response(404, {"error": "endpoint not found"})
        if self._is_too_fast(endpoint, operation, now):
            return json_response(429, {"error": "too many requests"})
        if endpoint.kind == "LB":
            return json_response(400, {"error": "not allowed for QB API"})
        self._check_query(request, operation)
        body = self._body(request, operation)
        if isinstance(body, Response):
            return body
        job_id = parts[3] if len(parts) > 3 else ""
        return known(JobCall(self._state, request, endpoint, now, job_id, body))

    def _is_too_fast(self, endpoint: Endpoint, operation: str, now: float) -> bool:
        limit = _LIMITS.get(operation)
        if limit is None or self._state.world.time.speed == 0:
            # A clock that stands still would put every request into one window.
            return False
        seen = self._seen.setdefault((endpoint.endpoint_id, operation), deque())
        # The limit is on real seconds; simulated ones pass `speed` times as fast.
        span = _WINDOW_S * self._state.world.time.speed
        while seen and seen[0] <= now - span:
            seen.popleft()
        seen.append(now)
        workers = sum(1 for w in endpoint.workers.values() if w.status(now) == "RUNNING")
        return len(seen) > max(limit, workers * limit // 20)

    def _check_query(self, request: Request, operation: str) -> None:
        allowed = {"runsync": {"wait"}, "status": {"ttl"}}.get(operation, set())
        for name in request.query:
            if name not in allowed:
                detail = f"{request.route}: {name}"
                self._state.world.strict.record("jobs", "unknown_filter", detail)

    def _body(self, request: Request, operation: str) -> dict[str, Any] | Response:
        most = _MOST_BYTES.get(operation)
        if most is None:
            return {}
        if len(request.body) > most:
            return json_response(413, {"error": "payload too large"})
        try:
            body = json.loads(request.body)
        except ValueError:
            return json_response(400, {"error": "invalid JSON body"})
        if not isinstance(body, dict) or not isinstance(body.get("input"), dict):
            return json_response(400, {"error": "input is required"})
        policy = body.get("policy")
        names = {*(set(body) - _BODY_FIELDS), *(set(policy or {}) - _POLICY_FIELDS)}
        for name in names:
            self._state.world.strict.record("jobs", "unknown_field", f"{request.route}: {name}")
        return body


def _bounded(value: object, low: float, default: float) -> float:
    """A policy time given in milliseconds, in seconds within its documented bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return default
    return min(max(value / 1000, low), _WEEK_S)


def submit(call: JobCall, *, is_sync: bool) -> Job:
    """Put a new job on the queue."""
    policy = call.body.get("policy") or {}
    prefix = "sync-" if is_sync else ""
    job_id = f"{prefix}{call.state.new_uuid()}-u1"
    configured = call.endpoint.execution_timeout_ms / 1000
    job = Job(
        job_id=job_id,
        created_at=call.now,
        payload=call.body["input"],
        plan=_plan(call, job_id, is_sync=is_sync),
        execution_timeout_s=_bounded(
            policy.get("executionTimeout"), 5.0, configured or _DEFAULT_EXECUTION_S
        ),
        ttl_s=_bounded(policy.get("ttl"), 10.0, _DEFAULT_TTL_S),
        is_sync=is_sync,
    )
    call.state.submit(call.endpoint, job)
    return job


def _plan(call: JobCall, job_id: str, *, is_sync: bool) -> JobPlan:
    if call.state.fleet.is_real(call.endpoint):
        return JobPlan(run_s=math.inf)
    return call.state.plans.plan(call.endpoint, job_id, is_sync=is_sync)


def run(call: JobCall) -> Response:
    """Queue a job; not idempotent: the same body twice is two jobs."""
    job = submit(call, is_sync=False)
    return json_response(200, {"id": job.job_id, "status": "IN_QUEUE"})


def runsync(call: JobCall) -> Response:
    """Queue a job and wait for it; what is not final when the wait ends has to be polled.

    While the clock stands still nothing would ever happen, so the answer comes at once.
    """
    job = submit(call, is_sync=True)
    asked = call.request.first("wait")
    wait_s = int(asked) / 1000 if asked is not None and asked.isdigit() else 90.0
    until = call.now + min(max(wait_s, 1.0), 300.0)

    def answer() -> Response | None:
        now = call.state.now
        is_standing_still = call.state.world.time.speed == 0
        if not job.is_over and now < until and not is_standing_still:
            return None
        return json_response(200, job_answer(job, now))

    return answer() or Response(200, hold=answer)


def _job(call: JobCall) -> Job | None:
    return call.endpoint.jobs.get(call.job_id)


_GONE = {"error": "job not found"}


def status(call: JobCall) -> Response:
    """A job's state; 404 once it is forgotten."""
    job = _job(call)
    if job is None:
        return json_response(404, _GONE)
    ttl = call.request.first("ttl")
    if ttl is not None and ttl.isdigit():
        job.ttl_s = min(job.ttl_s, call.now - job.created_at + int(ttl) / 1000)
    return json_response(200, job_answer(job, call.now))


def stream(call: JobCall) -> Response:
    """What the handler has yielded since the last look."""
    job = _job(call)
    if job is None:
        return json_response(404, _GONE)
    everything = [*job.stream, *_due_chunks(job, call.now)]
    fresh = everything[job.streamed :]
    job.streamed = len(everything)
    rows = [{"output": chunk} for chunk in fresh]
    return json_response(200, {"status": job.status, "stream": rows})


def _due_chunks(job: Job, now: float) -> list[Any]:
    chunks = job.plan.chunks
    if job.started_at is None or not chunks:
        return []
    end = job.ended_at if job.ended_at is not None else now
    share = min(1.0, (end - job.started_at) / job.plan.run_s)
    return list(chunks[: int(share * len(chunks))])


def cancel(call: JobCall) -> Response:
    """Cancel a queued or running job; a finished one keeps its state."""
    job = _job(call)
    if job is None:
        return json_response(404, _GONE)
    if not job.is_over:
        job_queue.end(call.endpoint, job, "CANCELLED", call.now)
        call.state.fleet.settle(call.endpoint)
    return json_response(200, {"id": job.job_id, "status": job.status})


def retry(call: JobCall) -> Response:
    """Queue a failed or timed-out job again, under the same id."""
    job = _job(call)
    if job is None:
        return json_response(404, _GONE)
    if job.status not in {"FAILED", "TIMED_OUT"}:
        return json_response(400, {"error": f"job is {job.status}"})
    job_queue.requeue(call.endpoint, job, call.now)
    call.state.fleet.settle(call.endpoint)
    return json_response(200, {"id": job.job_id, "status": "IN_QUEUE"})


def purge(call: JobCall) -> Response:
    """Drop all queued jobs; running ones go on."""
    queued = job_queue.queued(call.endpoint)
    for job in queued:
        del call.endpoint.jobs[job.job_id]
    call.state.fleet.settle(call.endpoint)
    return json_response(200, {"removed": len(queued), "status": "completed"})


def health(call: JobCall) -> Response:
    """Cumulative job counters and present workers."""
    endpoint = call.endpoint
    states = [worker.status(call.now) for worker in endpoint.workers.values()]
    jobs = endpoint.jobs.values()
    idle = states.count("IDLE")
    answer = {
        "jobs": {
            "completed": endpoint.completed,
            "failed": endpoint.failed,
            "inProgress": sum(1 for job in jobs if job.status == "IN_PROGRESS"),
            "inQueue": sum(1 for job in jobs if job.status == "IN_QUEUE"),
            "retried": endpoint.retried,
        },
        "workers": {
            "idle": idle,
            "initializing": states.count("INITIALIZING"),
            "ready": idle,
            "running": states.count("RUNNING"),
            "throttled": states.count("THROTTLED"),
            "unhealthy": states.count("UNHEALTHY"),
        },
    }
    return json_response(200, answer)


def requests(call: JobCall) -> Response:
    """The endpoint's jobs; only the rate-limit table of the documentation names this."""
    rows = [job_answer(job, call.now) for job in call.endpoint.jobs.values()]
    return json_response(200, {"requests": rows})


_OPERATIONS: dict[tuple[str, str, int], Callable[[JobCall], Response]] = {
    ("POST", "run", 3): run,
    ("POST", "runsync", 3): runsync,
    ("GET", "status", 4): status,
    ("POST", "status", 4): status,
    ("GET", "stream", 4): stream,
    ("POST", "stream", 4): stream,
    ("POST", "cancel", 4): cancel,
    ("POST", "retry", 4): retry,
    ("POST", "purge-queue", 3): purge,
    ("GET", "health", 3): health,
    ("GET", "requests", 3): requests,
}
"""(method, operation, parts of the path) of docs serverless/endpoints/operation-reference."""
