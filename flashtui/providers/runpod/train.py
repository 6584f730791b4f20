"""From a job to what RunPod is sent: the endpoint with its pinned GPU, and the one job that it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.domain.errors import ConfigError
from flashtui.domain.gpu import UnsupportedGpuError, canonical_gpu, min_cuda_modern
from flashtui.domain.naming import endpoint_name
from flashtui.providers.runpod.gpus import NATIVE, others_in_pool
from flashtui.providers.runpod.wire import NewEndpoint, NewGpu, NewWorkers
from flashtui.providers.runpod.wire_jobs import Policy, RunJob

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashtui.domain.job import JobSpec
    from flashtui.domain.secret import Secret
    from flashtui.providers.runpod.wire import CatalogGpu

DEFAULT_IMAGE = "ghcr.io/freesolo-co/flash-worker:cu128"
_LEAST_WALL_S = 60
_MOST_WALL_S = 7 * 86_400
# The time to live runs from submission and ends running jobs too, so it has room for the queue.
_QUEUE_ROOM_S = 3_600
_IDLE_TIMEOUT_S = 5
_LEAST_DISK_GB = 20


def gpu_of(spec: JobSpec) -> str:
    """The class that a job asks for.

    Raises:
        UnsupportedGpuError: no managed class, or not one of RunPod's.
    """
    name = canonical_gpu(spec.gpu.type)
    if name not in NATIVE:
        msg = f"{name} is not on RunPod; its classes are {', '.join(NATIVE)}"
        raise UnsupportedGpuError(msg)
    return name


def wall_s(spec: JobSpec) -> int:
    """Seconds from launch that a job may take."""
    return min(max(_LEAST_WALL_S, spec.gpu.max_wall_seconds), _MOST_WALL_S)


def name_of(spec: JobSpec, attempt: int) -> str:
    """The endpoint's name: class, run and attempt are in it, so that it can be found without its id."""
    return endpoint_name(gpu_of(spec), spec.run_id, attempt)


def endpoint_for(
    spec: JobSpec,
    attempt: int,
    *,
    pool: str,
    catalog: Iterable[CatalogGpu],
    hf_token: Secret | None,
) -> NewEndpoint:
    """An endpoint for one job: one worker at most, none standing by, every other type of the pool excluded.

    Raises:
        ConfigError: the job asks for something that this build cannot hand over.

    Args:
        spec: the job.
        attempt: from 0.
        pool: the serverless pool of the class, as listed now.
        catalog: the types as listed now.
        hf_token: handed to the worker; RunPod keeps it in the endpoint's environment.
    """
    if spec.gpu.network_volume is not None:
        msg = "gpu.network_volume: network volumes cannot be attached yet; take it out"
        raise ConfigError(msg)
    gpu = gpu_of(spec)
    return NewEndpoint(
        name=name_of(spec, attempt),
        gpu=NewGpu(
            pools=(pool,),
            excluded_types=others_in_pool(catalog, pool, NATIVE[gpu]),
            min_cuda_version=min_cuda_modern(gpu),
        ),
        image=spec.job.image or DEFAULT_IMAGE,
        env=_environment(spec, hf_token),
        disk=max(_LEAST_DISK_GB, spec.request().disk_gb),
        workers=NewWorkers(idle_timeout_s=_IDLE_TIMEOUT_S),
        timeout_ms=wall_s(spec) * 1000,
        data_center_ids=None if spec.gpu.datacenter is None else (spec.gpu.datacenter,),
    )


def job_for(spec: JobSpec, seed: int, attempt: int) -> RunJob:
    """The job: what the worker needs to know, without any secret, and how long it may take."""
    told: dict[str, Any] = {
        "job_spec": spec.to_dict(),
        "run_id": spec.run_id,
        "seed": seed,
        "attempt": attempt,
        "max_wall_s": wall_s(spec),
    }
    policy = Policy(
        execution_timeout_ms=wall_s(spec) * 1000,
        ttl_ms=min(wall_s(spec) + _QUEUE_ROOM_S, _MOST_WALL_S) * 1000,
    )
    return RunJob(input=told, policy=policy)


def _environment(spec: JobSpec, hf_token: Secret | None) -> dict[str, str]:
    unresolved = [name for name, value in spec.job.env.items() if value.startswith("$")]
    if unresolved:
        msg = f"job.env: {', '.join(unresolved)}: variables of your own cannot be handed over yet; write the value"
        raise ConfigError(msg)
    token = {} if hf_token is None else {"HF_TOKEN": hf_token.reveal()}
    return {**spec.job.env, **token}
