"""What befalls running things by order: prices rise, hosts go, workers fall ill, money vanishes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.sim.runpod import job_queue

if TYPE_CHECKING:
    from flashtui.sim.runpod.account import RunpodState
    from flashtui.sim.runpod.records import Endpoint, Pod


class Events:
    """Applies the world's dated faults to endpoints, jobs and pods."""

    def __init__(self, state: RunpodState) -> None:
        self._state = state
        self._faults = state.world.faults

    def strike(self, now: float) -> None:
        """Let every event that is due happen, once per resource."""
        if not self._faults.has_events():
            return
        money = self._faults.due("balance_out", "runpod", "account")
        if money is not None:
            self._state.money.set_balance(money.number_arg("usd", 0.0), now)
        stranger = self._faults.due("foreign_instance", "runpod", "account")
        if stranger is not None:
            self._state.add_stranger(stranger.text_arg("label", "notebook-anna"))
        for pod in list(self._state.pods.values()):
            if pod.ended_at is None:
                self._strike_pod(pod, now)
        for endpoint in list(self._state.endpoints.values()):
            self._strike_endpoint(endpoint, now)

    def _strike_pod(self, pod: Pod, now: float) -> None:
        rise = self._faults.due("price_rise", "runpod", pod.pod_id, pod.name)
        if rise is not None:
            self._state.park.reprice(pod, rise.number_arg("factor", 1.25), now)
        if pod.status != "RUNNING":
            return
        if pod.is_spot and self._faults.due("outbid", "runpod", pod.pod_id, pod.name):
            self._state.park.stop(pod, now, "Outbid")
        elif self._faults.due("host_withdrawal", "runpod", pod.pod_id, pod.name):
            self._state.park.terminate(pod, now)
            pod.shown_until = now
        elif self._faults.due("container_exits", "runpod", pod.pod_id, pod.name):
            self._state.park.stop(pod, now, "Exited by Container")

    def _strike_endpoint(self, endpoint: Endpoint, now: float) -> None:
        fleet = self._state.fleet
        for job in list(endpoint.jobs.values()):
            if not job.is_over and self._faults.due("job_lost", "jobs", job.job_id, endpoint.name):
                job_queue.lose(endpoint, job, now)
            elif job.status == "IN_PROGRESS" and self._faults.due(
                "job_retried", "jobs", job.job_id, endpoint.name
            ):
                job_queue.fail_over(endpoint, job, now)
        for worker in list(endpoint.workers.values()):
            if worker.is_unhealthy or worker.started_at is None:
                continue
            label = f"{worker.worker_id} {endpoint.name}"
            if self._faults.due("worker_unhealthy", "runpod", endpoint.endpoint_id, label):
                fleet.sicken(endpoint, worker, now)
        fleet.settle(endpoint)
