"""The life of jobs on an endpoint's queue: taken, ended, retried, lost, forgotten.

Sources: docs serverless/endpoints/job-states, operation-reference (retention) and send-requests
(execution timeout; the ttl covers the running time too).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashtui.sim.runpod.records import Endpoint, Job, Worker
    from flashtui.sim.runpod.trouble import Trouble

RETENTION_S = {False: 1800.0, True: 60.0}
"""How long a finished job is kept, by `is_sync`."""


def queued(endpoint: Endpoint) -> list[Job]:
    """The jobs nobody works on yet, oldest first."""
    return [job for job in endpoint.jobs.values() if job.status == "IN_QUEUE"]


def end(endpoint: Endpoint, job: Job, status: str, now: float) -> None:
    """Give a job its final state and free its worker."""
    job.status = status
    job.ended_at = now
    if status == "COMPLETED":
        endpoint.completed += 1
    elif status in {"FAILED", "TIMED_OUT"}:
        endpoint.failed += 1
    _release(endpoint, job, now)


def requeue(endpoint: Endpoint, job: Job, now: float) -> None:
    """Put a job back on the queue; its delay counts on from its submission."""
    _release(endpoint, job, now)
    job.status = "IN_QUEUE"
    job.started_at = job.ended_at = job.worker_id = None
    job.output = job.error = None


def fail_over(endpoint: Endpoint, job: Job, now: float) -> None:
    """A worker fails a job and the platform queues it again by itself."""
    job.retries += 1
    endpoint.retried += 1
    requeue(endpoint, job, now)


def take(job: Job, worker: Worker, now: float) -> None:
    """A worker begins a job."""
    job.status = "IN_PROGRESS"
    job.started_at = now
    job.worker_id = worker.worker_id
    worker.job_id = job.job_id
    worker.idle_since = None
    worker.log.append((now, "container", f"job {job.job_id} started"))


def lose(endpoint: Endpoint, job: Job, now: float) -> None:
    """The platform forgets a job before its end; its status is 404 from now on."""
    _release(endpoint, job, now)
    del endpoint.jobs[job.job_id]


def forget(endpoint: Endpoint, now: float) -> None:
    """Drop what is past its ttl or its retention."""
    for job in list(endpoint.jobs.values()):
        if now >= forgotten_at(job):
            lose(endpoint, job, now)


def forgotten_at(job: Job) -> float:
    """When the platform answers 404 for a job: retention after its end, else its ttl."""
    if job.ended_at is not None:
        return job.ended_at + RETENTION_S[job.is_sync]
    lost = math.inf if job.plan.lost_after_s is None else job.plan.lost_after_s
    return job.created_at + min(job.ttl_s, lost)


def ends_at(job: Job, *, has_real_work: bool) -> float:
    """When a running job ends: by its plan, or with real work by its time limit alone."""
    if job.started_at is None:
        return math.inf
    limit = job.started_at + job.execution_timeout_s
    return limit if has_real_work else min(job.started_at + job.plan.run_s, limit)


def finish(endpoint: Endpoint, trouble: Trouble, now: float, *, has_real_work: bool) -> None:
    """End the running jobs whose time has come."""
    for job in endpoint.jobs.values():
        is_due = now >= ends_at(job, has_real_work=has_real_work)
        if job.status != "IN_PROGRESS" or job.started_at is None or not is_due:
            continue
        if now >= job.started_at + job.execution_timeout_s:
            end(endpoint, job, "TIMED_OUT", now)
        elif job.retries < job.plan.retries:
            fail_over(endpoint, job, now)
        elif trouble.loses_end(endpoint):
            job.output = _progress(job, now)
            _release(endpoint, job, now)
            job.plan.run_s = job.execution_timeout_s = math.inf
        else:
            job.output, job.error = job.plan.output, job.plan.error
            end(endpoint, job, job.plan.outcome, now)


def _release(endpoint: Endpoint, job: Job, now: float) -> None:
    worker = endpoint.workers.get(job.worker_id or "")
    if worker is not None and worker.job_id == job.job_id:
        worker.job_id = None
        worker.idle_since = now
        worker.log.append((now, "container", f"job {job.job_id} ended: {job.status}"))


def job_answer(job: Job, now: float) -> dict[str, Any]:
    """A job as `/status` shows it; every field but id and status can be missing.

    Source: docs serverless/endpoints/operation-reference; times are milliseconds.
    """
    answer: dict[str, Any] = {"id": job.job_id, "status": job.status}
    if job.status == "CANCELLED":
        return answer
    start = job.started_at if job.started_at is not None else now
    answer["delayTime"] = round((start - job.created_at) * 1000)
    if job.started_at is not None:
        answer["workerId"] = job.worker_id
    if job.ended_at is not None and job.started_at is not None:
        answer["executionTime"] = round((job.ended_at - job.started_at) * 1000)
    if job.retries:
        answer["retries"] = job.retries
    output = _progress(job, now) if job.status == "IN_PROGRESS" else job.output
    if output is not None:
        answer["output"] = output
    if job.error is not None:
        answer["error"] = job.error
    return answer


def _progress(job: Job, now: float) -> Any:
    if job.output is not None or not job.plan.steps or job.started_at is None:
        return job.output
    share = min(1.0, (now - job.started_at) / job.plan.run_s)
    return {"step": int(share * job.plan.steps), "total": job.plan.steps}
