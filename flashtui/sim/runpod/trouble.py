"""Where others take part in the life of workers: ordered trouble, and real processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from flashtui.sim.runpod.records import Endpoint, Worker


class Trouble:
    """What may go wrong with workers and jobs by order; nothing by default."""

    def is_starved(self, endpoint: Endpoint) -> bool:
        """Whether no machine is found for the endpoint."""
        del endpoint
        return False

    def substitute(self, endpoint: Endpoint) -> str | None:
        """The type that a new worker lands on instead of the one asked for."""
        del endpoint
        return None

    def is_stuck(self, endpoint: Endpoint) -> bool:
        """Whether a new worker never gets beyond its start."""
        del endpoint
        return False

    def loses_end(self, endpoint: Endpoint) -> bool:
        """Whether the end of a job gets lost and it stays IN_PROGRESS."""
        del endpoint
        return False


class WorkerHost(Protocol):
    """Runs real processes for workers (see `sim.work`); absent by default."""

    def runs(self, endpoint: Endpoint) -> bool:
        """Whether this endpoint's workers are real processes."""

    def worker_ready(self, endpoint: Endpoint, worker: Worker) -> None:
        """A worker's container is up; called again and again while it is."""

    def worker_stopped(self, worker: Worker) -> None:
        """A worker is gone: whatever it ran is killed."""

    def exit_code(self, worker: Worker) -> int | None:
        """How the worker's process ended, None while it runs."""
