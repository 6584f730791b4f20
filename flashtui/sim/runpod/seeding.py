"""Fills the simulated account with what a scenario says exists at the start.

`[[runpod.endpoints]]`: name, id, pools, excluded, gpu_count, workers_max, idle_timeout_s, disk_gb, env,
created_at (seconds relative to the start), usd_per_hour (a literal rate instead of the pool's).
`[[runpod.jobs]]`: endpoint (name or id), id, created_at, input, and the fields of a job plan.
`[[runpod.pods]]`: name, id, gpu_id, gpu_count, cloud, created_at, usd_per_hour, disk_gb, volume_gb, env,
boots (false: the container never comes up), status (EXITED: stopped since stopped_at).
`[[runpod.volumes]]`: id, name, size_gb, place_id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.sim.runpod.cards import CARD_BY_ID
from flashtui.sim.runpod.records import Endpoint, Job, Pod, Template, Volume
from flashtui.sim.runpod.words import browser_date

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.sim.runpod.account import RunpodState

IMAGE = "runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2404"
_WEEK_S = 7 * 86_400.0


def fill(state: RunpodState, table: Mapping[str, Any]) -> None:
    """Make everything in the scenario's `[runpod]` table exist; jobs are replayed up to the start."""
    for row in table.get("volumes", ()):
        volume = Volume(row["id"], row["name"], int(row["size_gb"]), row["place_id"])
        state.add_volume(volume, state.start)
    for row in table.get("endpoints", ()):
        names = {row.get("id"), row["name"]}
        jobs = [job for job in table.get("jobs", ()) if job.get("endpoint") in names]
        _endpoint(state, row, jobs)
    for row in table.get("pods", ()):
        _pod(state, row)


def _endpoint(state: RunpodState, row: Mapping[str, Any], jobs: list[Mapping[str, Any]]) -> None:
    created = state.start + float(row.get("created_at", 0))
    owner = str(row.get("owner", "user_demo"))
    literal = row.get("usd_per_hour")
    endpoint = Endpoint(
        endpoint_id=str(row.get("id") or state.new_id(14)),
        name=row["name"],
        owner=owner,
        template=Template(
            template_id=state.new_id(10),
            name=f"{row['name']}__template",
            image=row.get("image", IMAGE),
            owner=owner,
            disk_gb=int(row.get("disk_gb", 20)),
            env=dict(row.get("env", {})),
            is_serverless=True,
        ),
        created_at=created,
        priced_at=created,
        pools=tuple(row.get("pools", ("ADA_24",))),
        excluded=tuple(row.get("excluded", ())),
        gpu_count=int(row.get("gpu_count", 1)),
        workers_min=int(row.get("workers_min", 0)),
        workers_max=int(row.get("workers_max", 1)),
        idle_timeout_s=int(row.get("idle_timeout_s", 60)),
        execution_timeout_ms=int(row.get("execution_timeout_ms", 86_400_000)),
        usd_per_hour=None if literal is None else float(literal),
    )
    state.endpoints[endpoint.endpoint_id] = endpoint
    state.fleet.open(endpoint)
    for job_row in sorted(jobs, key=lambda job: float(job.get("created_at", 0))):
        _job(state, endpoint, job_row)
    state.fleet.advance(endpoint, state.start)


def _job(state: RunpodState, endpoint: Endpoint, row: Mapping[str, Any]) -> None:
    created = state.start + float(row.get("created_at", 0))
    state.fleet.advance(endpoint, created)
    job_id = str(row.get("id") or f"{state.new_uuid()}-u1")
    job = Job(
        job_id=job_id,
        created_at=created,
        payload=dict(row.get("input", {})),
        plan=state.plans.from_table(row, job_id),
        execution_timeout_s=endpoint.execution_timeout_ms / 1000,
        ttl_s=_WEEK_S,
    )
    state.submit(endpoint, job)


def _pod(state: RunpodState, row: Mapping[str, Any]) -> None:
    created = state.start + float(row.get("created_at", 0))
    card = CARD_BY_ID[row["gpu_id"]]
    owner, cloud = str(row.get("owner", "user_demo")), str(row.get("cloud", "SECURE"))
    count = int(row.get("gpu_count", 1))
    prices = state.market.prices(card, state.market.tick(created))
    price = prices.secure if cloud == "SECURE" else prices.community
    pod = Pod(
        pod_id=str(row.get("id") or state.new_id(14)),
        name=row["name"],
        owner=owner,
        template=Template(
            template_id=state.new_id(10),
            name=f"{row['name']}__template",
            image=row.get("image", IMAGE),
            owner=owner,
            disk_gb=int(row.get("disk_gb", 40)),
            volume_gb=int(row.get("volume_gb", 40)),
            ports=("8888/http", "22/tcp"),
            env=dict(row.get("env", {})),
        ),
        gpu_id=card.gpu_id,
        gpu_count=count,
        cloud=cloud,
        usd_per_hour=float(row.get("usd_per_hour", round(price * count, 6))),
        created_at=created,
        started_at=created,
        ready_at=created + 60 if row.get("boots", True) else float("inf"),
        place_id=row.get("place_id", "US-KS-2") if cloud == "SECURE" else None,
        country="US",
        machine_id=state.new_id(12),
        last_change=f"Rented by User: {browser_date(created)}",
    )
    state.pods[pod.pod_id] = pod
    state.park.open(pod)
    if row.get("status") == "EXITED":
        state.park.stop(pod, state.start + float(row.get("stopped_at", 0)))
