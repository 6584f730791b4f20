"""From a job to what RunPod is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flashtui.domain.errors import ConfigError
from flashtui.domain.gpu import UnsupportedGpuError
from flashtui.domain.job import JobSpec, WorkSpec
from flashtui.domain.secret import Secret
from flashtui.providers.runpod.train import DEFAULT_IMAGE, endpoint_for, gpu_of, job_for, wall_s
from flashtui.providers.runpod.wire import CatalogGpu, NewEndpoint
from tests.providers.runpod.rig import spec

RUN = "flash-1781850000-0a1b2c3d"
CATALOG = (
    CatalogGpu(id="NVIDIA GeForce RTX 4090", pool="ADA_24"),
    CatalogGpu(id="NVIDIA MIG 1g.24gb", pool="ADA_24"),
)


def _endpoint(job: JobSpec, token: Secret | None = None, attempt: int = 0) -> NewEndpoint:
    return endpoint_for(job, attempt, pool="ADA_24", catalog=CATALOG, hf_token=token)


def test_every_other_type_of_the_pool_is_excluded() -> None:
    gpu = _endpoint(spec(RUN)).gpu
    assert (gpu.pools, gpu.excluded_types, gpu.count) == (("ADA_24",), ("NVIDIA MIG 1g.24gb",), 1)


def test_a_card_that_needs_newer_drivers_says_so() -> None:
    assert _endpoint(spec(RUN, gpu="RTX 5090")).gpu.min_cuda_version == "13.0"


def test_image_disk_and_place_are_the_jobs() -> None:
    job = replace(
        spec(RUN),
        job=WorkSpec(image="acme/worker:1", env={"MODE": "fast"}),
        gpu=replace(spec(RUN).gpu, disk_gb=200, datacenter="EU-RO-1"),
    )
    body = _endpoint(job).body()
    assert (body["image"], body["disk"]) == ("acme/worker:1", 200)
    assert (body["dataCenterIds"], body["env"]) == (["EU-RO-1"], {"MODE": "fast"})


def test_without_an_image_the_worker_has_one() -> None:
    body = _endpoint(spec(RUN)).body()
    assert body["image"] == DEFAULT_IMAGE
    assert "dataCenterIds" not in body


def test_the_token_is_in_the_environment() -> None:
    assert _endpoint(spec(RUN), Secret("hf_x")).env == {"HF_TOKEN": "hf_x"}


def test_what_cannot_be_handed_over_is_refused_in_words() -> None:
    own = replace(spec(RUN), job=WorkSpec(env={"WANDB_API_KEY": "$WANDB_API_KEY"}))
    with pytest.raises(ConfigError, match="WANDB_API_KEY"):
        _endpoint(own)
    volume = replace(spec(RUN), gpu=replace(spec(RUN).gpu, network_volume="data"))
    with pytest.raises(ConfigError, match="network_volume"):
        _endpoint(volume)


def test_a_class_that_runpod_does_not_have_is_refused() -> None:
    with pytest.raises(UnsupportedGpuError, match="not on RunPod"):
        gpu_of(spec(RUN, gpu="H100 NVL"))


@pytest.mark.parametrize(("asked", "wall"), [(10, 60), (1200, 1200), (10_000_000, 604_800)])
def test_the_wall_clock_stays_within_what_runpod_takes(asked: int, wall: int) -> None:
    job = spec(RUN, max_wall_seconds=asked)
    policy = job_for(job, 0, 0).policy
    assert wall_s(job) == wall
    assert policy.execution_timeout_ms == wall * 1000
    assert wall * 1000 <= policy.ttl_ms <= 604_800_000


def test_the_worker_is_told_the_whole_job() -> None:
    told = job_for(spec(RUN), 3, 1).input
    assert JobSpec.from_dict(told["job_spec"]) == spec(RUN)
    assert (told["run_id"], told["seed"], told["attempt"]) == (RUN, 3, 1)
