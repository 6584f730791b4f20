"""Records of the simulated RunPod as GraphQL prints them; one dictionary per type of the schema."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flashtui.sim.runpod.cards import CARD_BY_ID, Card
from flashtui.sim.runpod.gpu_choice import GpuChoice
from flashtui.sim.runpod.lowest_price import lowest_price
from flashtui.sim.runpod.market import graphql_stock
from flashtui.sim.runpod.places import PLACE_BY_ID, PLACES, Place
from flashtui.sim.runpod.words import millis

if TYPE_CHECKING:
    from flashtui.sim.runpod.account import RunpodState
    from flashtui.sim.runpod.records import Endpoint, Pod, Template, Volume, Worker


def gpu_type(state: RunpodState, card: Card) -> dict[str, Any]:
    """A GPU type; prices are dollars per hour for one GPU."""
    found = state.market.prices(card, state.market.tick(state.now))
    counts = (card.max_secure, card.max_community)
    month = found.secure * 0.85 if card.secure else None
    return {
        "id": card.gpu_id,
        "displayName": card.name,
        "manufacturer": card.maker,
        "memoryInGb": card.memory_gb,
        "cudaCores": card.cuda_cores,
        "maxGpuCount": max(counts),
        "maxGpuCountSecureCloud": card.max_secure,
        "maxGpuCountCommunityCloud": card.max_community,
        "minPodGpuCount": 1,
        "secureCloud": card.secure,
        "communityCloud": card.community,
        "securePrice": found.secure,
        "communityPrice": found.community,
        "secureSpotPrice": found.secure_spot,
        "communitySpotPrice": found.community_spot,
        "oneWeekPrice": None,
        "oneMonthPrice": None if month is None else round(month, 2),
        "threeMonthPrice": None if month is None else round(month * 0.97, 2),
        "sixMonthPrice": None if month is None else round(month * 0.94, 2),
        # The live list shows the noise of this multiplication, e.g. 1.9679999999999997.
        "clusterPrice": found.secure * 1.2,
        "throttled": False,
        "nodeGroupDatacenters": [],
        "lowestPrice": partial(_lowest, state, card),
    }


def _lowest(
    state: RunpodState, card: Card, _info: object, **arguments: Any
) -> dict[str, Any] | None:
    return lowest_price(state, card, arguments.get("input") or {})


def data_center(state: RunpodState, place: Place) -> dict[str, Any]:
    """A data centre."""
    return {
        "id": place.place_id,
        "name": place.place_id,
        "location": place.location,
        "listed": True,
        "storageSupport": place.has_storage,
        "gpuAvailability": partial(_availability, state, place),
    }


def _availability(
    state: RunpodState, place: Place, _info: object, **_arguments: Any
) -> list[dict[str, Any]]:
    tick = state.market.tick(state.now)
    rows = []
    for card in state.cards():
        if place not in state.market.places(card):
            continue
        level = graphql_stock(state.market.stock(card, place.place_id, "POD", tick))
        rows.append(
            {
                "id": f"{place.place_id}-{card.gpu_id}",
                "available": level is not None,
                "stockStatus": level,
                "gpuTypeId": card.gpu_id,
                "gpuTypeDisplayName": card.name,
                "displayName": card.name,
            }
        )
    return rows


def data_centers(state: RunpodState) -> list[dict[str, Any]]:
    """Every data centre."""
    return [data_center(state, place) for place in PLACES]


def volume(item: Volume) -> dict[str, Any]:
    """A network volume."""
    return {
        "id": item.volume_id,
        "name": item.name,
        "size": item.size_gb,
        "dataCenterId": item.place_id,
        "dataCenter": {"id": item.place_id, "name": item.place_id},
    }


def key_values(env: dict[str, str]) -> list[dict[str, str]]:
    """An environment as GraphQL lists it. The live service shows secrets here as they are."""
    return [{"key": key, "value": value} for key, value in env.items()]


def pod(state: RunpodState, item: Pod) -> dict[str, Any]:
    """A pod; `runtime` is null until its container runs."""
    now = state.now
    template = item.template
    card = CARD_BY_ID.get(item.gpu_id)
    is_up = item.status == "RUNNING" and now >= item.ready_at
    volumes = state.volumes
    return {
        "id": item.pod_id,
        "name": item.name,
        "desiredStatus": item.status,
        "imageName": template.image,
        "dockerArgs": template.args,
        "dockerId": None,
        "env": [f"{key}={value}" for key, value in template.env.items()],
        "gpuCount": item.gpu_count,
        "gpuTypeId": item.gpu_id,
        "costPerHr": item.usd_per_hour,
        "adjustedCostPerHr": item.usd_per_hour,
        "containerDiskInGb": template.disk_gb,
        "volumeInGb": template.volume_gb,
        "volumeMountPath": template.mount_path,
        "networkVolumeId": item.volume_id,
        "networkVolume": volume(volumes[item.volume_id]) if item.volume_id in volumes else None,
        "lastStatusChange": item.last_change,
        "lastStartedAt": millis(item.started_at),
        "createdAt": millis(item.created_at),
        "machineId": item.machine_id,
        "machine": {
            "podHostId": f"{item.pod_id}-{item.machine_id[:8]}",
            "gpuDisplayName": card.name if card else item.gpu_id,
            "gpuTypeId": item.gpu_id,
            "dataCenterId": item.place_id,
            "location": item.country,
            "secureCloud": item.cloud == "SECURE",
        },
        "memoryInGb": (card.ram_gb if card else 16) * item.gpu_count,
        "vcpuCount": (card.vcpu if card else 4) * item.gpu_count,
        "podType": "INTERRUPTABLE" if item.is_spot else "RESERVED",
        "port": None,
        "ports": ",".join(template.ports),
        "uptimeSeconds": int(now - item.started_at) if item.status == "RUNNING" else 0,
        "templateId": item.template_id,
        "locked": item.locked,
        "runtime": _runtime(item, now) if is_up else None,
    }


def _runtime(item: Pod, now: float) -> dict[str, Any]:
    return {
        "uptimeInSeconds": int(now - item.ready_at),
        "ports": [
            {
                "ip": "100.65.0.101",
                "isIpPublic": False,
                "privatePort": 8888,
                "publicPort": 60141,
                "type": "http",
            }
        ],
        "gpus": [
            {
                "id": f"GPU-{item.machine_id}-{index}",
                "gpuUtilPercent": 94,
                "memoryUtilPercent": 78,
            }
            for index in range(item.gpu_count)
        ],
        "container": {"cpuPercent": 12, "memoryPercent": 31},
    }


def template(item: Template) -> dict[str, Any]:
    """A pod or serverless template."""
    return {
        "id": item.template_id,
        "name": item.name,
        "imageName": item.image,
        "containerDiskInGb": item.disk_gb,
        "volumeInGb": item.volume_gb,
        "volumeMountPath": item.mount_path,
        "dockerArgs": item.args,
        "env": key_values(item.env),
        "ports": ",".join(item.ports),
        "isServerless": item.is_serverless,
        "isPublic": item.is_public,
        "readme": item.readme,
        "startSsh": item.start_ssh,
        "startJupyter": item.start_jupyter,
        "containerRegistryAuthId": item.registry or "",
    }


def endpoint(state: RunpodState, item: Endpoint) -> dict[str, Any]:
    """An endpoint with the pods its workers run in."""
    first_volume = item.volumes[0] if item.volumes else None
    known = state.volumes
    return {
        "id": item.endpoint_id,
        "name": item.name,
        "userId": item.owner,
        "templateId": item.template.template_id,
        "template": template(item.template),
        "gpuIds": GpuChoice(item.pools, item.excluded).text,
        "gpuCount": item.gpu_count,
        "instanceIds": list(item.instance_ids),
        "locations": ",".join(item.locations),
        "networkVolumeId": first_volume,
        "networkVolumeIds": list(item.volumes),
        "networkVolume": volume(known[first_volume]) if first_volume in known else None,
        "idleTimeout": item.idle_timeout_s,
        "scalerType": item.scaler,
        "scalerValue": round(item.scaler_value),
        "workersMin": item.workers_min,
        "workersMax": item.workers_max,
        "workersStandby": item.workers_standby,
        "workersPFBTarget": 0,
        "executionTimeoutMs": item.execution_timeout_ms,
        "minCudaVersion": item.cuda_min,
        "allowedCudaVersions": ",".join(item.cuda_allowed),
        "flashBootType": item.flashboot,
        "type": item.kind,
        "version": item.version,
        "createdAt": millis(item.created_at),
        "aiKey": None,
        "activeBuildid": None,
        "idePodId": None,
        "flashEnvironmentId": None,
        "hubReleaseId": None,
        "env": key_values(item.template.env),
        "pods": [_worker_pod(item, worker) for worker in item.workers.values()],
    }


def _worker_pod(item: Endpoint, worker: Worker) -> dict[str, Any]:
    is_placed = worker.started_at is not None
    place = PLACE_BY_ID.get(worker.place_id or "")
    return {
        "id": worker.worker_id,
        "name": f"{item.name} -worker",
        "desiredStatus": "RUNNING" if is_placed else "EXITED",
        "imageName": worker.image,
        "gpuCount": worker.gpu_count,
        "gpuTypeId": worker.gpu_id,
        "costPerHr": worker.usd_per_hour,
        "createdAt": millis(worker.created_at),
        "machine": {"dataCenterId": worker.place_id, "location": place.country if place else None},
    }
