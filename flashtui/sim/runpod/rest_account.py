"""REST v2 templates, network volumes, registries, SSH keys, and the empty cluster list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod.contract import CONTAINER, CUDA, FLAG, NAME, TEXT, TEXTS, Shape
from flashtui.sim.runpod.places import PLACE_BY_ID
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.records import Template, Volume
from flashtui.sim.runpod.route import Route

if TYPE_CHECKING:
    from flashtui.sim.runpod.rest import Call

_TEMPLATE = {
    **CONTAINER,
    "name": NAME,
    "allowedCudaVersions": CUDA,
    "category": Shape("string", choices=("NVIDIA", "AMD", "CPU")),
    "mounts": Shape("object", fields={"persistent": Shape("object")}),
    "public": FLAG,
    "readme": TEXT,
    "startJupyter": FLAG,
    "startSsh": FLAG,
}
_CREATE_TEMPLATE = Shape(
    "object", required=("name", "image"), fields={**_TEMPLATE, "serverless": FLAG}
)
_VOLUME = {"name": NAME, "size": Shape("integer", low=10, high=4096)}
_CREATE_VOLUME = Shape(
    "object",
    required=("name", "size", "dataCenter"),
    fields={
        **_VOLUME,
        "dataCenter": NAME,
        "type": Shape("string", choices=("STANDARD", "HIGH_PERFORMANCE")),
    },
)
_REGISTRY = Shape(
    "object",
    required=("name", "username", "password"),
    fields={"name": NAME, "username": NAME, "password": NAME},
)


def _shown(template: Template) -> dict[str, Any]:
    mounts = {}
    if template.volume_gb:
        mounts["persistent"] = {"size": template.volume_gb, "path": template.mount_path}
    return {
        "id": template.template_id,
        "name": template.name,
        "image": template.image,
        "args": template.args,
        "disk": template.disk_gb,
        "mounts": mounts,
        "ports": list(template.ports),
        "env": dict(template.env),
        "registry": template.registry,
        "serverless": template.is_serverless,
        "public": template.is_public,
        "category": template.category,
        "startSsh": template.start_ssh,
        "startJupyter": template.start_jupyter,
        "allowedCudaVersions": list(template.allowed_cuda),
    }


def _template(call: Call) -> Template:
    template = call.state.templates.get(call.args["id"])
    if template is None or template.owner != call.owner:
        raise ProblemError(404, "template not found")
    return template


def list_templates(call: Call) -> Response:
    """The account's templates."""
    rows = [t for t in call.state.templates.values() if t.owner == call.owner]
    return json_response(200, {"templates": [_shown(template) for template in rows]})


def create_template(call: Call) -> Response:
    """Keep container settings under a name that no other template of the account has."""
    if call.state.template_named(call.body["name"], call.owner) is not None:
        raise ProblemError(400, "template name must be unique")
    template = Template(
        template_id=call.state.new_id(10),
        name=call.body["name"],
        image=call.body["image"],
        owner=call.owner,
        is_serverless=call.body.get("serverless", False),
    )
    _change(template, call.body)
    call.state.templates[template.template_id] = template
    return json_response(201, _shown(template))


def _change(template: Template, body: dict[str, Any]) -> None:
    template.name = body.get("name", template.name)
    template.image = body.get("image", template.image)
    template.args = body.get("args", template.args)
    template.disk_gb = body.get("disk", template.disk_gb)
    template.ports = tuple(body.get("ports", template.ports))
    template.env = dict(body.get("env", template.env))
    template.registry = body.get("registry", template.registry)
    template.is_public = body.get("public", template.is_public)
    template.category = body.get("category", template.category)
    template.readme = body.get("readme", template.readme)
    template.start_ssh = body.get("startSsh", template.start_ssh)
    template.start_jupyter = body.get("startJupyter", template.start_jupyter)
    template.allowed_cuda = tuple(body.get("allowedCudaVersions", template.allowed_cuda))
    persistent = body.get("mounts", {}).get("persistent", {})
    template.volume_gb = persistent.get("size", template.volume_gb)
    template.mount_path = persistent.get("path", template.mount_path)


def get_template(call: Call) -> Response:
    """One template."""
    return json_response(200, _shown(_template(call)))


def update_template(call: Call) -> Response:
    """Change what the body names; endpoints made from it are not affected."""
    template = _template(call)
    _change(template, call.body)
    return json_response(200, _shown(template))


def delete_template(call: Call) -> Response:
    """Delete; refused while a pod or an endpoint uses it."""
    template = _template(call)
    trouble = call.state.template_is_held(template)
    if trouble is not None:
        raise ProblemError(400, trouble)
    del call.state.templates[template.template_id]
    return Response(204)


def _volume(volume: Volume) -> dict[str, Any]:
    return {
        "id": volume.volume_id,
        "name": volume.name,
        "size": volume.size_gb,
        "dataCenter": volume.place_id,
        "type": volume.kind,
    }


def _found_volume(call: Call) -> Volume:
    volume = call.state.volumes.get(call.args["id"])
    if volume is None or call.owner != "user_demo":
        raise ProblemError(404, "network volume not found")
    return volume


def list_volumes(call: Call) -> Response:
    """The account's network volumes, which cost whether used or not."""
    rows = call.state.volumes.values() if call.owner == "user_demo" else ()
    return json_response(200, {"networkVolumes": [_volume(volume) for volume in rows]})


def create_volume(call: Call) -> Response:
    """Make a network volume in a data centre with storage."""
    place = PLACE_BY_ID.get(call.body["dataCenter"])
    if place is None or not place.has_storage:
        raise ProblemError(400, "data center does not support network volumes")
    volume = Volume(
        volume_id=call.state.new_id(10),
        name=call.body["name"],
        size_gb=call.body["size"],
        place_id=place.place_id,
        kind=call.body.get("type", "STANDARD"),
    )
    call.state.add_volume(volume, call.now)
    return json_response(201, _volume(volume))


def get_volume(call: Call) -> Response:
    """One volume."""
    return json_response(200, _volume(_found_volume(call)))


def update_volume(call: Call) -> Response:
    """Rename or enlarge."""
    volume = _found_volume(call)
    size = call.body.get("size", volume.size_gb)
    if size < volume.size_gb:
        raise ProblemError(400, "network volumes cannot shrink")
    volume.name, volume.size_gb = call.body.get("name", volume.name), size
    call.state.bill_volume(volume, call.now)
    return json_response(200, _volume(volume))


def delete_volume(call: Call) -> Response:
    """Delete for good."""
    call.state.delete_volume(_found_volume(call))
    return Response(204)


def _registry(call: Call) -> dict[str, str]:
    name = call.state.registries.get(call.args["id"])
    if name is None:
        raise ProblemError(404, "registry not found")
    return {"id": call.args["id"], "name": name}


def list_registries(call: Call) -> Response:
    """Registry credentials by name; secrets are never shown."""
    rows = [{"id": key, "name": name} for key, name in call.state.registries.items()]
    return json_response(200, {"registries": rows})


def create_registry(call: Call) -> Response:
    """Keep a credential."""
    registry_id = call.state.new_id(10)
    call.state.registries[registry_id] = call.body["name"]
    return json_response(201, {"id": registry_id, "name": call.body["name"]})


def get_registry(call: Call) -> Response:
    """One credential's name."""
    return json_response(200, _registry(call))


def delete_registry(call: Call) -> Response:
    """Forget a credential; a missing one is a 400, not a 404."""
    if call.args["id"] not in call.state.registries:
        raise ProblemError(400, "registry could not be deleted")
    del call.state.registries[call.args["id"]]
    return Response(204)


def ssh_keys(call: Call) -> Response:
    """The account's public keys."""
    return json_response(200, {"keys": list(call.state.ssh_keys)})


def replace_ssh_keys(call: Call) -> Response:
    """Replace the account's public keys."""
    call.state.ssh_keys = tuple(call.body["keys"])
    return ssh_keys(call)


def list_clusters(_call: Call) -> Response:
    """No clusters are simulated."""
    return json_response(200, {"clusters": []})


_T, _V, _R = "/v2/templates", "/v2/network-volumes", "/v2/registries"
_KEYS = Shape("object", required=("keys",), fields={"keys": TEXTS})

ROUTES: tuple[Route, ...] = (
    Route("GET", _T, list_templates, "listTemplates"),
    Route("POST", _T, create_template, "createTemplate", body=_CREATE_TEMPLATE),
    Route("GET", f"{_T}/{{id}}", get_template, "getTemplate"),
    Route(
        "PATCH",
        f"{_T}/{{id}}",
        update_template,
        "updateTemplate",
        body=Shape("object", fields=_TEMPLATE),
    ),
    Route("DELETE", f"{_T}/{{id}}", delete_template, "deleteTemplate"),
    Route("GET", _V, list_volumes, "listNetworkVolumes"),
    Route("POST", _V, create_volume, "createNetworkVolume", body=_CREATE_VOLUME),
    Route("GET", f"{_V}/{{id}}", get_volume, "getNetworkVolume"),
    Route(
        "PATCH",
        f"{_V}/{{id}}",
        update_volume,
        "updateNetworkVolume",
        body=Shape("object", fields=_VOLUME),
    ),
    Route("DELETE", f"{_V}/{{id}}", delete_volume, "deleteNetworkVolume"),
    Route("GET", _R, list_registries, "listRegistries"),
    Route("POST", _R, create_registry, "createRegistry", body=_REGISTRY),
    Route("GET", f"{_R}/{{id}}", get_registry, "getRegistry"),
    Route("DELETE", f"{_R}/{{id}}", delete_registry, "deleteRegistry"),
    Route("GET", "/v2/account/ssh-keys", ssh_keys, "getSshKeys"),
    Route("PUT", "/v2/account/ssh-keys", replace_ssh_keys, "updateSshKeys", body=_KEYS),
    Route("GET", "/v2/clusters", list_clusters, "listClusters"),
)
