"""What REST v2 sends and is sent: catalogue, serverless endpoints, workers, pods, problems.

Source of every model: RunPod's published REST v2 schema, version 2.0.0 as of 2026-08-20 (`api-reference-v2/openapi.json` in
the documentation repository); each model names its schema. Container environments are never read: they hold secrets.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from flashtui.providers.runpod.wire_types import (
    Count,
    Flag,
    GpuId,
    Line,
    Moment,
    Price,
    ResourceId,
    Section,
    Texts,
    Wire,
)


class CatalogPrice(Wire):
    """`GpuType.price`: list price of one GPU in USD per hour.

    A cloud's figure means something only where that cloud's flag is true (0 and 0.5 are placeholders).
    ``serverless`` is the pool's rate; absent when the type is in no pool open to the account.
    """

    secure: Price = None
    community: Price = None
    serverless: Price = None


class DataCenterStock(Wire):
    """`DataCenterAvailability`: stock of one GPU type in one data centre (NONE, LOW, MEDIUM, HIGH)."""

    id: Line = None
    availability: Line = None


class CatalogGpu(Wire):
    """`GpuType`, one item of `GET /v2/catalog/gpus`.

    ``pool`` None: the type cannot be used for a serverless endpoint, whatever its availability says.
    """

    id: GpuId
    name: Line = None
    pool: Line = None
    memory: Count = None
    secure: Flag = None
    community: Flag = None
    price: Annotated[CatalogPrice | None, Section] = None
    availability: Line = None
    data_centers: object = Field(default=None, alias="dataCenters")


class EndpointGpu(Wire):
    """`EndpointGpuConfig`: which pools, without which types, how many GPUs a worker has."""

    pools: Texts = ()
    excluded_types: Texts = Field(default=(), alias="excludedTypes")
    count: Count = None


class EndpointWorkers(Wire):
    """`EndpointWorkers`: limits of an endpoint's fleet; ``idleTimeout`` in seconds."""

    min: Count = None
    max: Count = None
    idle_timeout_s: Count = Field(default=None, alias="idleTimeout")


class Endpoint(Wire):
    """`Endpoint`: answer of create and item of `GET /v2/serverless` (which is not paged); ``disk`` in GB for each worker."""

    id: ResourceId
    name: Line = None
    gpu: Annotated[EndpointGpu | None, Section] = None
    workers: Annotated[EndpointWorkers | None, Section] = None
    disk: Count = None
    timeout_ms: Count = Field(default=None, alias="timeout")
    created_at: Moment = Field(default=None, alias="createdAt")


class Worker(Wire):
    """`Worker`: one worker of `GET /v2/serverless/{id}/workers`; workers scaled down are not listed."""

    id: Line = None
    status: Line = None
    gpu_type_id: Line = Field(default=None, alias="gpuTypeId")
    gpu_count: Count = Field(default=None, alias="gpuCount")
    started_at: Moment = Field(default=None, alias="startedAt")


class PodGpu(Wire):
    """`GpuConfig`: a pod's GPU type and count."""

    id: Line = None
    count: Count = None


class PersistentMount(Wire):
    """`PersistentMount`: the volume disk of a pod, GB; it is billed while the pod is stopped, too."""

    size: Count = None


class Mounts(Wire):
    """`Mounts` of a pod."""

    persistent: Annotated[PersistentMount | None, Section] = None


class Pod(Wire):
    """`Pod`, one item of `GET /v2/pods`.

    ``status``: PROVISIONING, STARTING, RUNNING, EXITED, ERROR, TERMINATED. ``cost`` is USD per hour for the whole pod and
    reads 0 when EXITED, although the volume goes on billing. ``runtime`` is null until the container runs.
    """

    id: ResourceId
    name: Line = None
    status: Line = None
    gpu: Annotated[PodGpu | None, Section] = None
    cloud: Line = None
    data_center_id: Line = Field(default=None, alias="dataCenterId")
    cost: Price = None
    mounts: Annotated[Mounts | None, Section] = None
    runtime: object = None
    created_at: Moment = Field(default=None, alias="createdAt")
    started_at: Moment = Field(default=None, alias="startedAt")


class Problem(Wire):
    """`ErrorResponse` (RFC 9457); REST v1 and the job runtime said ``error`` or ``message`` instead."""

    title: Line = None
    detail: Line = None
    errors: Texts = ()
    error: Line = None
    message: Line = None

    @property
    def sentence(self) -> str:
        """The most telling text there is; empty when there is none."""
        told = self.detail or self.error or self.message or self.title or ""
        return "; ".join(part for part in (told, *self.errors[:3]) if part)


class Sent(BaseModel):
    """Base of everything that is sent: frozen, no field that the schema does not have, written by wire names."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def body(self) -> dict[str, object]:
        """The JSON object, without what is None."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class NewGpu(Sent):
    """`CreateEndpointGpuConfig`: one pool, less every other type known in it."""

    pools: tuple[str, ...]
    excluded_types: tuple[str, ...] = Field(default=(), alias="excludedTypes")
    count: int = 1
    min_cuda_version: str | None = Field(default=None, alias="minCudaVersion")


class NewWorkers(Sent):
    """`EndpointWorkers`: one worker at most, none standing by."""

    min: int = 0
    max: int = 1
    idle_timeout_s: int = Field(default=5, alias="idleTimeout", ge=1, le=3600)


class QueueDelay(Sent):
    """`QueueDelayScaling`."""

    type: Literal["QUEUE_DELAY"] = "QUEUE_DELAY"
    queue_delay_s: float = Field(default=1.0, alias="queueDelay", ge=0.5)


class NewEndpoint(Sent):
    """`CreateEndpointRequest` for a queue endpoint that runs one job.

    ``timeout_ms``: execution limit of one request. ``disk``: container disk, GB.
    """

    name: str = Field(min_length=3, max_length=60)
    type: Literal["QUEUE"] = "QUEUE"
    gpu: NewGpu
    image: str = Field(min_length=1)
    args: str | None = None
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    disk: int = Field(ge=1)
    workers: NewWorkers = NewWorkers()
    scaling: QueueDelay = QueueDelay()
    timeout_ms: int = Field(alias="timeout", gt=0)
    data_center_ids: tuple[str, ...] | None = Field(default=None, alias="dataCenterIds")
    flashboot: Literal["OFF"] = "OFF"
