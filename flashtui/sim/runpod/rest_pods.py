"""REST v2 pods: rent, look, change, stop, start, terminate, logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod.contract import CONTAINER, CUDA, FLAG, NAME, TEXT, TEXTS, Shape
from flashtui.sim.runpod.logs import printed, stream
from flashtui.sim.runpod.pods import NoCapacityError, PodWish
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.records import Pod, Template
from flashtui.sim.runpod.route import Route
from flashtui.sim.runpod.words import rfc3339

if TYPE_CHECKING:
    from flashtui.sim.runpod.rest import Call

_MOUNTS = Shape(
    "object",
    fields={
        "persistent": Shape(
            "object",
            required=("size", "path"),
            fields={"size": Shape("integer", low=10), "path": TEXT},
        ),
        "network": Shape(
            "array",
            high=1,
            items=Shape(
                "object", required=("volumeId", "path"), fields={"volumeId": TEXT, "path": TEXT}
            ),
        ),
    },
)
_CREATE = Shape(
    "object",
    required=("name",),
    fields={
        **CONTAINER,
        "name": NAME,
        "cloud": Shape("string", choices=("SECURE", "COMMUNITY")),
        "dataCenterIds": TEXTS,
        "globalNetworking": FLAG,
        "mounts": _MOUNTS,
        "startJupyter": FLAG,
        "startSsh": FLAG,
        "templateId": NAME,
        "cpu": Shape("object"),
        "gpu": Shape(
            "object",
            required=("id",),
            fields={
                "id": TEXT,
                "count": Shape("integer", low=1),
                "allowedCudaVersions": CUDA,
                "minCudaVersion": Shape("string", pattern=r"^\d+\.\d+$"),
            },
        ),
    },
)
_UPDATE = Shape(
    "object",
    fields={
        **CONTAINER,
        "name": NAME,
        "locked": FLAG,
        "globalNetworking": FLAG,
        "mounts": _MOUNTS,
        "templateId": TEXT,
    },
)
_ACTION = Shape(
    "object",
    required=("action",),
    fields={"action": Shape("string", choices=("start", "stop", "restart", "terminate"))},
)
_ACTIONS = {
    "RUNNING": ["stop", "restart", "terminate"],
    "EXITED": ["start", "terminate"],
    "ERROR": ["start", "terminate"],
    "PROVISIONING": ["stop", "terminate"],
    "STARTING": ["stop", "terminate"],
}


def shown(pod: Pod, now: float) -> dict[str, Any]:
    """A pod as REST v2 prints it."""
    status, template = pod.v2_status(now), pod.template
    is_up = status == "RUNNING"
    mounts: dict[str, Any] = {}
    if pod.volume_id is not None:
        mounts["network"] = [{"volumeId": pod.volume_id, "path": template.mount_path}]
    elif template.volume_gb:
        mounts["persistent"] = {"size": template.volume_gb, "path": template.mount_path}
    return {
        "id": pod.pod_id,
        "name": pod.name,
        "status": status,
        "actions": _ACTIONS.get(status, []),
        "image": template.image,
        "args": template.args,
        "disk": template.disk_gb,
        "mounts": mounts,
        "ports": list(template.ports),
        "env": dict(template.env),
        "registry": template.registry,
        "gpu": {"id": pod.gpu_id, "count": pod.gpu_count},
        "cloud": pod.cloud,
        "dataCenterId": pod.place_id,
        "cudaVersion": "12.8" if now >= pod.ready_at else None,
        "ssh": {"proxy": _proxy(pod), "direct": None},
        "template": pod.template_id,
        "cost": pod.usd_per_hour if pod.status == "RUNNING" else 0.0,
        "locked": pod.locked,
        "globalNetworking": {"enabled": False},
        "runtime": _runtime(pod, now) if is_up else None,
        "createdAt": rfc3339(pod.created_at),
        "startedAt": rfc3339(pod.ready_at) if now >= pod.ready_at else None,
    }


def _proxy(pod: Pod) -> dict[str, Any]:
    user = f"{pod.pod_id}-{pod.machine_id[:8]}"
    return {
        "host": "ssh.runpod.io",
        "port": 22,
        "username": user,
        "command": f"ssh {user}@ssh.runpod.io",
    }


def _runtime(pod: Pod, now: float) -> dict[str, Any]:
    return {
        "uptime": int(now - pod.ready_at),
        "gpus": [{"util": 94, "memoryUtil": 78} for _ in range(pod.gpu_count)],
        "cpu": {"util": 12},
        "memory": {"util": 31},
        "ports": [
            {"private": 22, "public": 34446, "type": "tcp", "ip": "203.0.113.7"}
            for port in pod.template.ports
            if port == "22/tcp"
        ],
    }


def _found(call: Call) -> Pod:
    pod = call.state.pod(call.args["id"], call.owner)
    if pod is None:
        raise ProblemError(404, "pod not found")
    return pod


def list_pods(call: Call) -> Response:
    """The account's pods, without cluster members (there are none here)."""
    rows = call.state.listed_pods(call.owner, call.request.route)
    return json_response(200, {"pods": [shown(pod, call.now) for pod in rows]})


def get_pod(call: Call) -> Response:
    """One pod."""
    pod = _found(call)
    if call.state.quirks.hides(pod.pod_id, call.request.route):
        raise ProblemError(404, "pod not found")
    return json_response(200, shown(pod, call.now))


def create_pod(call: Call) -> Response:
    """Rent a pod of exactly one GPU type; it is billed from now, while it boots."""
    body = call.body
    if ("gpu" in body) == ("cpu" in body):
        raise ProblemError(400, "exactly one of gpu or cpu is required")
    if "cpu" in body:
        raise ProblemError(400, "cpu pods have no capacity")
    if body["gpu"].get("allowedCudaVersions") and body["gpu"].get("minCudaVersion"):
        raise ProblemError(400, "allowedCudaVersions and minCudaVersion are mutually exclusive")
    mounts = body.get("mounts", {})
    if len(mounts) > 1:
        raise ProblemError(400, "mounts.persistent and mounts.network are mutually exclusive")
    network = mounts.get("network", [])
    if network and network[0]["volumeId"] not in call.state.volumes:
        raise ProblemError(404, "network volume not found")
    wish = PodWish(
        name=body["name"],
        gpu_id=body["gpu"]["id"],
        template=_container(call, body),
        gpu_count=body["gpu"].get("count", 1),
        cloud=body.get("cloud", "SECURE"),
        places=tuple(body.get("dataCenterIds", ())),
        template_id=body.get("templateId"),
        volume_id=network[0]["volumeId"] if network else None,
    )
    call.state.refuse_if_ordered(call.request.route)
    try:
        pod = call.state.rent(wish, call.owner)
    except NoCapacityError as error:
        raise ProblemError(400, str(error)) from error
    return json_response(201, shown(pod, call.now))


def _container(call: Call, body: dict[str, Any]) -> Template:
    base = Template(call.state.new_id(10), f"{body['name']}__template", "", call.owner, disk_gb=20)
    if "templateId" in body:
        found = call.state.template(body["templateId"], call.owner)
        if found is None:
            raise ProblemError(404, "template not found")
        if found.is_serverless:
            errors = ["$.templateId: template is a serverless template"]
            raise ProblemError(422, "Request validation failed.", errors)
        base.image, base.args, base.disk_gb = found.image, found.args, found.disk_gb
        base.ports, base.registry, base.env = found.ports, found.registry, dict(found.env)
        base.volume_gb, base.mount_path = found.volume_gb, found.mount_path
    elif not body.get("image"):
        raise ProblemError(422, "Request validation failed.", ["$: missing properties 'image'"])
    _override(base, body)
    persistent = body.get("mounts", {}).get("persistent")
    network = body.get("mounts", {}).get("network")
    if persistent:
        base.volume_gb, base.mount_path = persistent["size"], persistent["path"]
    if network:
        base.volume_gb, base.mount_path = 0, network[0]["path"]
    return base


def _override(template: Template, body: dict[str, Any]) -> None:
    template.image = body.get("image", template.image)
    template.args = body.get("args", template.args)
    template.disk_gb = body.get("disk", template.disk_gb)
    template.ports = tuple(body.get("ports", template.ports))
    template.registry = body.get("registry", template.registry)
    template.env = {**template.env, **body.get("env", {})}


def update_pod(call: Call) -> Response:
    """Change what the body names."""
    pod, body = _found(call), call.body
    pod.name = body.get("name", pod.name)
    pod.locked = body.get("locked", pod.locked)
    _override(pod.template, {**body, "env": {}})
    if "env" in body:
        pod.template.env = dict(body["env"])
    return json_response(200, shown(pod, call.now))


def delete_pod(call: Call) -> Response:
    """Terminate for good; host-local storage goes with it."""
    call.state.terminate(_found(call), call.request.route)
    return Response(204)


def pod_action(call: Call) -> Response:
    """start, stop, restart or terminate; 409 where the pod's state does not allow it."""
    pod, action = _found(call), call.body["action"]
    if action not in _ACTIONS.get(pod.v2_status(call.now), []):
        raise ProblemError(409, f"action {action} is not valid for a pod in its current status")
    if action == "terminate":
        return delete_pod(call)
    if action == "stop" and pod.locked:
        raise ProblemError(409, "pod is locked")
    if action == "stop":
        call.state.park.stop(pod, call.now)
    elif action == "restart":
        pod.ready_at = call.now + 5
    else:
        try:
            call.state.park.resume(pod, pod.gpu_count, call.now)
        except NoCapacityError as error:
            raise ProblemError(400, str(error)) from error
    return json_response(200, shown(pod, call.now))


def pod_logs(call: Call) -> Response:
    """A pod's log as server-sent events."""
    pod = _found(call)
    return stream(call, [*pod.log, *printed(call, pod.pod_id, pod.ready_at)])


_ONE = "/v2/pods/{id}"
_LOG_QUERY = ("source", "tail", "since")

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v2/pods", list_pods, "listPods", ("includeClusterPods",)),
    Route("POST", "/v2/pods", create_pod, "createPod", body=_CREATE),
    Route("GET", _ONE, get_pod, "getPod"),
    Route("PATCH", _ONE, update_pod, "updatePod", body=_UPDATE),
    Route("DELETE", _ONE, delete_pod, "deletePod"),
    Route("GET", f"{_ONE}/logs", pod_logs, "getPodLogs", _LOG_QUERY),
    Route("POST", f"{_ONE}/action", pod_action, "podAction", body=_ACTION),
)
