"""What the job runtime sends and is sent: queued, status, health.

Source: RunPod's documentation `serverless/endpoints/operation-reference.mdx` and `serverless/endpoints/job-states.mdx`. Every
field but the status may be missing; times are milliseconds.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from flashtui.providers.runpod.wire import Sent
from flashtui.providers.runpod.wire_types import Count, Line, Section, Wire

JobState = Literal[
    "IN_QUEUE", "IN_PROGRESS", "COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT", "UNKNOWN"
]
TERMINAL: frozenset[JobState] = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"})
_KNOWN: frozenset[str] = frozenset({"IN_QUEUE", "IN_PROGRESS", *TERMINAL})


def _plain(value: object) -> object:
    """JSON as the worker meant it: the exact decimals of the wire become ordinary numbers."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


Json = Annotated[Any, BeforeValidator(_plain)]


class JobStatus(Wire):
    """Answer of `/run`, `/status/{job}` and `/cancel/{job}`.

    ``output`` can be there while the job is in progress (its own progress reports), and is any JSON value.
    ``error`` is a text, a JSON text or an object. ``retries``: how often the platform itself started the job anew.
    """

    id: Line = None
    status: Line = None
    delay_time_ms: Count = Field(default=None, alias="delayTime")
    execution_time_ms: Count = Field(default=None, alias="executionTime")
    worker_id: Line = Field(default=None, alias="workerId")
    retries: Count = None
    output: Json = Field(default=None, repr=False)
    error: Json = Field(default=None, repr=False)

    @property
    def state(self) -> JobState:
        """The status as one of the six documented words; any other text is ``"UNKNOWN"``."""
        word = (self.status or "").upper()
        return word if word in _KNOWN else "UNKNOWN"  # type: ignore[return-value]

    @property
    def error_text(self) -> str:
        """What went wrong, in the worker's words, uncleaned; empty when nothing is said."""
        return _error_text(self.error)


def _error_text(error: object) -> str:
    if isinstance(error, dict):
        kind, message = error.get("error_type"), error.get("error_message")
        parts = [str(part) for part in (kind, message) if part]
        return ": ".join(parts) or json.dumps(error, default=str)
    if not isinstance(error, str):
        return "" if error is None else json.dumps(error, default=str)
    if error.lstrip().startswith("{"):
        try:
            decoded = json.loads(error)
        except (ValueError, RecursionError):
            return error
        return _error_text(decoded) if isinstance(decoded, dict) else error
    return error


class JobCounts(Wire):
    """`jobs` of `/health`; completed, failed and retried are totals since the endpoint was made."""

    in_queue: Count = Field(default=None, alias="inQueue")
    in_progress: Count = Field(default=None, alias="inProgress")


class WorkerCounts(Wire):
    """`workers` of `/health`: how many are in which state now.

    ``ready`` overlaps with idle and exists only here. Counts can exceed the endpoint's maximum: throttled workers sit on
    busy hosts and are not billed.
    """

    idle: Count = None
    initializing: Count = None
    ready: Count = None
    running: Count = None
    throttled: Count = None
    unhealthy: Count = None

    @property
    def billed(self) -> int:
        """Workers that cost money now: from their start to their full stop, the idle tail included."""
        idle = self.idle if self.idle is not None else self.ready
        return sum(n or 0 for n in (self.running, self.initializing, idle))

    @property
    def granted(self) -> int:
        """Workers that prove that a machine was given, whatever it is doing."""
        return sum(
            n or 0 for n in (self.running, self.initializing, self.idle, self.ready, self.unhealthy)
        )


class Health(Wire):
    """Answer of `/health`; None: that section is missing, which says nothing (it is not zero)."""

    jobs: Annotated[JobCounts | None, Section] = None
    workers: Annotated[WorkerCounts | None, Section] = None


class Policy(Sent):
    """`policy` of a job: both limits in milliseconds; ``ttl`` counts from submission and ends running jobs, too."""

    execution_timeout_ms: int = Field(alias="executionTimeout", ge=5_000, le=604_800_000)
    ttl_ms: int = Field(alias="ttl", ge=10_000, le=604_800_000)


class RunJob(Sent):
    """Body of `/run`; an empty input is refused by the workers."""

    input: dict[str, Any] = Field(min_length=1, repr=False)
    policy: Policy
