"""Workers and pods of the simulated RunPod as local processes, fed through the worker's own protocol.

Sources: the worker side of the official `runpod` package (serverless/modules/rp_job, rp_http, rp_ping):
a worker takes jobs, posts results and progress, and pings, at addresses it finds in its environment.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

if TYPE_CHECKING:
    from flashtui.sim.runpod.records import Endpoint, Pod, Template, Worker
    from flashtui.sim.work import Work
    from flashtui.sim.world import World


class RealWork:
    """Starts what the client's container settings say; an image alone cannot be run and stays simulated."""

    def __init__(self, world: World, work: Work) -> None:
        self._world = world
        self._work = work

    def runs(self, endpoint: Endpoint) -> bool:
        """Whether workers of this endpoint are real processes: the client sent a command."""
        return bool(command_of(endpoint.template))

    def worker_ready(self, endpoint: Endpoint, worker: Worker) -> None:
        """A worker's container is up: start its process, unless it already runs."""
        self._work.start(
            worker.worker_id, command_of(endpoint.template), self._worker_env(endpoint, worker)
        )

    def worker_stopped(self, worker: Worker) -> None:
        """A worker is gone: whatever it ran is killed."""
        self._work.kill(worker.worker_id)

    def exit_code(self, worker: Worker) -> int | None:
        """How the worker's process ended, None while it runs."""
        return self._work.exit_code(worker.worker_id)

    def lines(self, machine_id: str) -> list[str]:
        """What a worker or pod has printed."""
        return self._work.output(machine_id).splitlines()

    def pod_ready(self, pod: Pod) -> None:
        """A pod's container is up."""
        command = command_of(pod.template)
        if command:
            env = {**pod.template.env, "RUNPOD_POD_ID": pod.pod_id}
            env["RUNPOD_GPU_COUNT"] = str(pod.gpu_count)
            self._work.start(pod.pod_id, command, env)

    def pod_stopped(self, pod: Pod) -> None:
        """A pod is stopped or gone."""
        self._work.kill(pod.pod_id)

    def _worker_env(self, endpoint: Endpoint, worker: Worker) -> dict[str, str]:
        base = f"{self._world.url('jobs')}/v2/{endpoint.endpoint_id}"
        gpu = quote_plus(worker.gpu_id or "")
        return {
            **endpoint.template.env,
            "RUNPOD_POD_ID": worker.worker_id,
            "RUNPOD_ENDPOINT_ID": endpoint.endpoint_id,
            "RUNPOD_AI_API_KEY": worker_key(worker),
            "RUNPOD_WEBHOOK_GET_JOB": f"{base}/job-take/$ID?gpu={gpu}",
            "RUNPOD_WEBHOOK_POST_OUTPUT": f"{base}/job-done/$RUNPOD_POD_ID/$ID?gpu={gpu}",
            "RUNPOD_WEBHOOK_POST_STREAM": f"{base}/job-stream/$RUNPOD_POD_ID/$ID?gpu={gpu}",
            "RUNPOD_WEBHOOK_PING": f"{base}/ping/$RUNPOD_POD_ID?gpu={gpu}",
            "RUNPOD_PING_INTERVAL": "10000",
            "RUNPOD_GPU_COUNT": str(worker.gpu_count),
            "RUNPOD_DC_ID": worker.place_id or "",
        }


def command_of(template: Template) -> list[str]:
    """The start command a client sent, split as a shell would; empty where it sent none."""
    try:
        return shlex.split(template.args)
    except ValueError:
        return ["sh", "-c", template.args]


def worker_key(worker: Worker) -> str:
    """The key with which a worker's own process calls back; good for nothing else."""
    return f"rpw_{worker.worker_id}"
