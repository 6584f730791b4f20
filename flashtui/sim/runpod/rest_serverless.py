"""REST v2 serverless: endpoints, their workers, releases and worker logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod.contract import CONTAINER, CUDA, NAME, TEXT, TEXTS, Shape
from flashtui.sim.runpod.gpu_choice import GpuChoice
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.records import Endpoint, Template
from flashtui.sim.runpod.route import Route
from flashtui.sim.runpod.words import rfc3339

if TYPE_CHECKING:
    from flashtui.sim.runpod.rest import Call

_GPU = {
    "pools": Shape("array", items=TEXT, low=1),
    "excludedTypes": TEXTS,
    "count": Shape("integer", low=1),
    "allowedCudaVersions": CUDA,
}
_WORKERS = Shape(
    "object",
    fields={
        "min": Shape("integer", low=0),
        "max": Shape("integer", low=0),
        "idleTimeout": Shape("integer", low=1, high=3600),
    },
)
_SCALING = Shape(
    "object",
    required=("type",),
    fields={
        "type": Shape("string", choices=("QUEUE_DELAY", "REQUEST_COUNT")),
        "queueDelay": Shape("number", low=0.5),
        "requestCount": Shape("integer", low=1),
    },
)
_FIELDS = {
    **CONTAINER,
    "name": NAME,
    "templateId": NAME,
    "scaling": _SCALING,
    "workers": _WORKERS,
    "dataCenterIds": TEXTS,
    "networkVolumes": TEXTS,
    "timeout": Shape("integer"),
    "flashboot": Shape("string", choices=("OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT")),
    "cpu": Shape("array", low=1),
}
_CREATE = Shape(
    "object",
    required=("name", "type", "scaling"),
    fields={
        **_FIELDS,
        "type": Shape("string", choices=("QUEUE", "LOAD_BALANCER")),
        "gpu": Shape(
            "object",
            required=("pools",),
            fields={**_GPU, "minCudaVersion": Shape("string", pattern=r"^\d+\.\d+$")},
        ),
    },
)
_UPDATE = Shape(
    "object",
    fields={
        **_FIELDS,
        "gpu": Shape(
            "object",
            fields={**_GPU, "minCudaVersion": Shape("string", pattern=r"^$|^\d+\.\d+$")},
        ),
    },
)


def shown(call: Call, endpoint: Endpoint) -> dict[str, Any]:
    """An endpoint as REST v2 prints it."""
    template = endpoint.template
    base = f"{call.world.url('jobs')}/v2/{endpoint.endpoint_id}"
    workers: dict[str, Any] = {"min": endpoint.workers_min, "max": endpoint.workers_max}
    is_queue = endpoint.kind == "QB"
    if not (is_queue and endpoint.scaler == "REQUEST_COUNT"):
        workers["idleTimeout"] = endpoint.idle_timeout_s
    value = endpoint.scaler_value
    value = int(value) if value == int(value) else value
    scaling: dict[str, Any] = {"type": endpoint.scaler}
    scaling["queueDelay" if endpoint.scaler == "QUEUE_DELAY" else "requestCount"] = value
    item: dict[str, Any] = {
        "id": endpoint.endpoint_id,
        "name": endpoint.name,
        "type": "QUEUE" if is_queue else "LOAD_BALANCER",
        "requestUrls": _urls(base),
        "image": template.image,
        "args": template.args,
        "disk": template.disk_gb,
        "ports": list(template.ports),
        "env": dict(template.env),
        "registry": template.registry,
        "workers": workers,
        "scaling": scaling,
        "dataCenterIds": list(endpoint.locations),
        "networkVolumes": list(endpoint.volumes),
        "timeout": endpoint.execution_timeout_ms,
        "flashboot": endpoint.flashboot,
        "createdAt": rfc3339(endpoint.created_at),
    }
    if endpoint.instance_ids:
        item["cpu"] = [{"id": flavor} for flavor in endpoint.instance_ids]
        return item
    gpu: dict[str, Any] = {
        "pools": list(endpoint.pools),
        "count": endpoint.gpu_count,
        "allowedCudaVersions": list(endpoint.cuda_allowed),
        "minCudaVersion": endpoint.cuda_min,
    }
    if endpoint.excluded:
        gpu["excludedTypes"] = list(endpoint.excluded)
    item["gpu"] = gpu
    return item


def _urls(base: str) -> dict[str, str]:
    return {
        "run": f"{base}/run",
        "runSync": f"{base}/runsync",
        "status": f"{base}/status/{{job_id}}",
        "stream": f"{base}/stream/{{job_id}}",
        "cancel": f"{base}/cancel/{{job_id}}",
        "retry": f"{base}/retry/{{job_id}}",
        "purgeQueue": f"{base}/purge-queue",
        "health": f"{base}/health",
    }


def find_endpoint(call: Call) -> Endpoint:
    """The endpoint the path names.

    Raises:
        ProblemError: none that the caller can see.
    """
    endpoint = call.state.endpoint(call.args["id"], call.owner)
    if endpoint is None:
        raise ProblemError(404, "resource not found")
    return endpoint


def list_endpoints(call: Call) -> Response:
    """All endpoints of the account."""
    rows = call.state.listed_endpoints(call.owner, call.request.route)
    return json_response(200, {"endpoints": [shown(call, endpoint) for endpoint in rows]})


def get_endpoint(call: Call) -> Response:
    """One endpoint."""
    endpoint = find_endpoint(call)
    if call.state.quirks.hides(endpoint.endpoint_id, call.request.route):
        raise ProblemError(404, "resource not found")
    return json_response(200, shown(call, endpoint))


def create_endpoint(call: Call) -> Response:
    """Make an endpoint; it starts without workers unless `workers.min` asks for some."""
    body, state = call.body, call.state
    _check_rules(body)
    template = _container(call, body, body["name"])
    workers = body.get("workers", {})
    state.check_quota(call.owner, int(workers.get("max", 3)))
    gpu = body.get("gpu", {})
    choice = _choice(gpu) if gpu else GpuChoice(())
    _check_volumes(call, body)
    endpoint = Endpoint(
        endpoint_id=state.new_id(14),
        name=body["name"],
        owner=call.owner,
        template=template,
        created_at=call.now,
        priced_at=call.now,
        pools=choice.pools,
        excluded=choice.excluded,
        gpu_count=gpu.get("count", 1),
        workers_min=workers.get("min", 0),
        workers_max=workers.get("max", 3),
        idle_timeout_s=workers.get("idleTimeout", 10),
        scaler=body["scaling"]["type"],
        scaler_value=_scaler_value(body["scaling"]),
        locations=tuple(body.get("dataCenterIds", ())),
        volumes=tuple(body.get("networkVolumes", ())),
        execution_timeout_ms=body.get("timeout", 300_000),
        flashboot=body.get("flashboot", "OFF"),
        kind="QB" if body["type"] == "QUEUE" else "LB",
        cuda_min=gpu.get("minCudaVersion"),
        cuda_allowed=tuple(gpu.get("allowedCudaVersions", template.allowed_cuda)),
        instance_ids=tuple(str(cpu.get("id")) for cpu in body.get("cpu", ())),
    )
    state.refuse_if_ordered(call.request.route)
    state.add_endpoint(endpoint, call.request.route)
    return json_response(201, shown(call, endpoint))


def _check_rules(body: dict[str, Any]) -> None:
    if ("gpu" in body) == ("cpu" in body):
        raise ProblemError(400, "exactly one of gpu or cpu is required")
    if "templateId" not in body and not body.get("image"):
        raise ProblemError(422, "Request validation failed.", ["$: missing properties 'image'"])
    scaling = body["scaling"]
    wanted = "queueDelay" if scaling["type"] == "QUEUE_DELAY" else "requestCount"
    if wanted not in scaling or len(scaling) > 2:
        raise ProblemError(422, "Request validation failed.", [f"$.scaling: want '{wanted}' only"])
    if body["type"] == "LOAD_BALANCER" and scaling["type"] != "REQUEST_COUNT":
        errors = ["$.scaling.type: value must be 'REQUEST_COUNT'"]
        raise ProblemError(422, "Request validation failed.", errors)
    is_counted = body["type"] == "QUEUE" and scaling["type"] == "REQUEST_COUNT"
    if is_counted and "idleTimeout" in body.get("workers", {}):
        raise ProblemError(400, "workers.idleTimeout does not apply to this scaler")


def _scaler_value(scaling: dict[str, Any]) -> float:
    return float(scaling.get("queueDelay", scaling.get("requestCount", 4)))


def _choice(gpu: dict[str, Any]) -> GpuChoice:
    if gpu.get("allowedCudaVersions") and gpu.get("minCudaVersion"):
        raise ProblemError(400, "allowedCudaVersions and minCudaVersion are mutually exclusive")
    excluded = tuple(gpu_id.strip() for gpu_id in gpu.get("excludedTypes", ()))
    choice = GpuChoice(tuple(gpu["pools"]), excluded)
    trouble = choice.problem()
    if trouble is not None:
        raise ProblemError(400, trouble)
    return choice


def _check_volumes(call: Call, body: dict[str, Any]) -> None:
    for volume_id in body.get("networkVolumes", ()):
        if volume_id not in call.state.volumes:
            raise ProblemError(404, "network volume not found")


def _container(call: Call, body: dict[str, Any], name: str) -> Template:
    """Container settings: the template's, overridden by the body; env merges, the body wins."""
    settings: dict[str, Any] = {}
    if "templateId" in body:
        base = call.state.template(body["templateId"], call.owner)
        if base is None:
            raise ProblemError(404, "template not found")
        if not base.is_serverless:
            errors = ["$.templateId: template is not a serverless template"]
            raise ProblemError(422, "Request validation failed.", errors)
        settings = {
            "image": base.image,
            "args": base.args,
            "disk_gb": base.disk_gb,
            "ports": base.ports,
            "env": dict(base.env),
            "registry": base.registry,
            "allowed_cuda": base.allowed_cuda,
        }
    for field, key in (("image", "image"), ("args", "args"), ("disk", "disk_gb")):
        if field in body:
            settings[key] = body[field]
    if "ports" in body:
        settings["ports"] = tuple(body["ports"])
    if "registry" in body:
        settings["registry"] = body["registry"]
    settings["env"] = {**settings.get("env", {}), **body.get("env", {})}
    return Template(
        template_id=call.state.new_id(10),
        name=f"{name}__template",
        owner=call.owner,
        is_serverless=True,
        **settings,
    )


def update_endpoint(call: Call) -> Response:
    """Change only what the body names. A new container is a new version."""
    endpoint, body = find_endpoint(call), call.body
    if "cpu" in body and not endpoint.instance_ids:
        raise ProblemError(400, "compute family cannot be changed")
    if "workers" in body:
        wanted = int(body["workers"].get("max", endpoint.workers_max))
        call.state.check_quota(call.owner, wanted - endpoint.workers_max)
    _check_volumes(call, body)
    call.state.fleet.advance(endpoint, call.now)
    before = shown(call, endpoint)
    _apply_container(call, endpoint, body)
    _apply_gpu(endpoint, body.get("gpu", {}))
    _apply_settings(endpoint, body)
    _record_release(call, endpoint, before)
    call.state.fleet.settle(endpoint)
    return json_response(200, shown(call, endpoint))


def _apply_container(call: Call, endpoint: Endpoint, body: dict[str, Any]) -> None:
    if not {"image", "args", "disk", "ports", "env", "registry", "templateId"} & set(body):
        return
    old = endpoint.template
    base = {
        "image": old.image,
        "args": old.args,
        "disk": old.disk_gb,
        "ports": list(old.ports),
        "registry": old.registry,
    }
    base["env"] = body.get("env", old.env)
    endpoint.template = _container(call, {**base, **body}, endpoint.name)


def _apply_gpu(endpoint: Endpoint, gpu: dict[str, Any]) -> None:
    if "excludedTypes" in gpu and "pools" not in gpu:
        errors = ["$.gpu: properties 'pools' required, if 'excludedTypes' exists"]
        raise ProblemError(422, "Request validation failed.", errors)
    if "pools" in gpu:
        choice = _choice(gpu)
        endpoint.pools, endpoint.excluded = choice.pools, choice.excluded
    endpoint.gpu_count = gpu.get("count", endpoint.gpu_count)
    if "minCudaVersion" in gpu:
        endpoint.cuda_min = gpu["minCudaVersion"] or None
    if "allowedCudaVersions" in gpu:
        endpoint.cuda_allowed = tuple(gpu["allowedCudaVersions"])


def _apply_settings(endpoint: Endpoint, body: dict[str, Any]) -> None:
    workers = body.get("workers", {})
    endpoint.workers_min = workers.get("min", endpoint.workers_min)
    endpoint.workers_max = workers.get("max", endpoint.workers_max)
    endpoint.idle_timeout_s = workers.get("idleTimeout", endpoint.idle_timeout_s)
    endpoint.name = body.get("name", endpoint.name)
    endpoint.locations = tuple(body.get("dataCenterIds", endpoint.locations))
    endpoint.volumes = tuple(body.get("networkVolumes", endpoint.volumes))
    endpoint.execution_timeout_ms = body.get("timeout", endpoint.execution_timeout_ms)
    endpoint.flashboot = body.get("flashboot", endpoint.flashboot)
    if "scaling" in body:
        endpoint.scaler = body["scaling"]["type"]
        endpoint.scaler_value = _scaler_value(body["scaling"])


def _record_release(call: Call, endpoint: Endpoint, before: dict[str, Any]) -> None:
    after = shown(call, endpoint)
    diff = [
        {"field": key, "old": before.get(key), "new": after.get(key)}
        for key in after
        if before.get(key) != after.get(key)
    ]
    if not diff:
        return
    endpoint.version += 1
    call.state.books.relabel(endpoint.endpoint_id, endpoint.name)
    release = {
        "id": f"rel_{call.state.new_id(8)}",
        "version": endpoint.version,
        "source": "MANUAL",
        "buildId": None,
        "createdByUserId": endpoint.owner,
        "workerCount": 0,
        "createdAt": rfc3339(call.now),
        "diff": diff,
    }
    endpoint.releases.insert(0, release)


def delete_endpoint(call: Call) -> Response:
    """End the endpoint: all workers stop, jobs are cancelled, the bound template goes with it."""
    call.state.delete_endpoint(find_endpoint(call), call.request.route)
    return Response(204)


_BASE = "/v2/serverless"
_ONE = "/v2/serverless/{id}"

ROUTES: tuple[Route, ...] = (
    Route("GET", _BASE, list_endpoints, "listEndpoints"),
    Route("POST", _BASE, create_endpoint, "createEndpoint", body=_CREATE),
    Route("GET", _ONE, get_endpoint, "getEndpoint"),
    Route("PATCH", _ONE, update_endpoint, "updateEndpoint", body=_UPDATE),
    Route("DELETE", _ONE, delete_endpoint, "deleteEndpoint"),
)
