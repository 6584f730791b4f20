"""A job: what a person writes in a TOML file, checked whole, and what the store keeps of it."""

from __future__ import annotations

from flashtui.domain.job.parsing import parse_job
from flashtui.domain.job.problems import JobFileError, JobProblem
from flashtui.domain.job.spec import (
    EnvironmentSpec,
    GpuSpec,
    JobSpec,
    TrainSpec,
    WorkSpec,
)

__all__ = [
    "EnvironmentSpec",
    "GpuSpec",
    "JobFileError",
    "JobProblem",
    "JobSpec",
    "TrainSpec",
    "WorkSpec",
    "parse_job",
]
