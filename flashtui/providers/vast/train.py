"""From a job to the body that rents an offer for it: image, disk, label, and what the container starts with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashtui.domain.rules import LEAST_DISK_GB
from flashtui.providers.vast.wire import CreateBody

if TYPE_CHECKING:
    from flashtui.domain.job import JobSpec
    from flashtui.domain.market import Offer
    from flashtui.domain.money import HourlyRate
    from flashtui.net.secret import Secret

DEFAULT_IMAGE = "ghcr.io/freesolo-co/flash-worker:cu128"
# What the default image holds; a job with a command of its own replaces it.
DEFAULT_COMMAND = "python -u -m flash.engine.worker"
LEAST_WALL_S = 60


def disk_of(spec: JobSpec) -> int:
    """The disk that is rented, GB; it cannot be changed later."""
    return max(LEAST_DISK_GB, spec.request().disk_gb)


def wall_s(spec: JobSpec) -> int:
    """Seconds from launch that the work may take."""
    return max(LEAST_WALL_S, spec.gpu.max_wall_seconds)


def label_of(spec: JobSpec, seed: int, attempt: int) -> str:
    """The label of one attempt, by which its instance is found without its id."""
    from flashtui.domain.naming import vast_label

    return vast_label(spec.run_id, seed, attempt)


def body_for(spec: JobSpec, seed: int, attempt: int, *, hf_token: Secret | None) -> CreateBody:
    """What is sent to rent an offer for this attempt, on demand.

    Args:
        spec: the job.
        seed: of this run of it.
        attempt: from 0.
        hf_token: handed to the worker in its environment; the account's own key never is.
    """
    env = {
        **spec.job.env,
        "FLASHTUI_RUN_ID": spec.run_id,
        "FLASHTUI_SEED": str(seed),
        "FLASHTUI_ATTEMPT": str(attempt),
        "FLASHTUI_MAX_WALL_S": str(wall_s(spec)),
        "FLASHTUI_JOB_SPEC": json.dumps(spec.to_dict(), separators=(",", ":")),
    }
    if hf_token is not None:
        env["HF_TOKEN"] = hf_token.reveal()
    return CreateBody(
        image=spec.job.image or DEFAULT_IMAGE,
        disk=disk_of(spec),
        label=label_of(spec, seed, attempt),
        args=("bash", "-c", spec.job.command or DEFAULT_COMMAND),
        env=env,
    )


def rate_with_disk(offer: Offer, disk_gb: int) -> HourlyRate | None:
    """What the whole offer costs per hour with this disk; None: its price is not known."""
    if disk_gb == offer.priced_disk_gb or offer.gpu_rate is None or offer.storage_rate is None:
        return offer.rate
    storage = offer.storage_rate.times(disk_gb).per(max(1, offer.priced_disk_gb))
    return offer.gpu_rate + storage
