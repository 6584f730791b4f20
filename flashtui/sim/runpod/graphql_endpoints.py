"""GraphQL mutations on serverless endpoints. Source: docs sdks/graphql/manage-endpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.sim.runpod import graphql_views as views
from flashtui.sim.runpod.gpu_choice import from_text
from flashtui.sim.runpod.graphql_root import NOT_FOUND, Root, env_of, texts
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.records import Endpoint, Template

if TYPE_CHECKING:
    from collections.abc import Mapping


class EndpointRoot(Root):
    """Save, delete, rebind."""

    def saveEndpoint(self, _info: object, **arguments: Any) -> dict[str, Any]:  # noqa: N802
        """Create, or with an id replace: fields left out of an update go back to their defaults."""
        owner, state, wanted = self._caller.writer(), self._state, arguments["input"]
        old = None
        if wanted.get("id"):
            old = state.endpoint(wanted["id"], owner)
            if old is None:
                raise ProblemError(404, NOT_FOUND)
        self._check(wanted)
        most = _given(wanted, "workersMax", 3)
        state.check_quota(owner, most - (old.workers_max if old else 0))
        state.refuse_if_ordered(f"{self._caller.route} saveEndpoint")
        endpoint = self._endpoint(wanted, owner, old)
        if old is None:
            state.add_endpoint(endpoint, f"{self._caller.route} saveEndpoint")
        else:
            state.fleet.settle(endpoint)
        return views.endpoint(state, endpoint)

    @staticmethod
    def _check(wanted: Mapping[str, Any]) -> None:
        name = wanted.get("name") or ""
        if not 3 <= len(name) <= 191:
            raise ProblemError(400, "Endpoint name must be between 3 and 191 characters")
        if wanted.get("template") and wanted.get("templateId"):
            raise ProblemError(400, "Cannot specify both templateId and template")
        if not wanted.get("template") and not wanted.get("templateId"):
            raise ProblemError(400, "templateId or template is required")
        if not wanted.get("gpuIds") and not wanted.get("instanceIds"):
            raise ProblemError(400, "gpuIds or instanceIds is required")
        if _given(wanted, "workersMin", 0) > _given(wanted, "workersMax", 3):
            raise ProblemError(400, "workersMin must not exceed workersMax")

    def _endpoint(self, wanted: Mapping[str, Any], owner: str, old: Endpoint | None) -> Endpoint:
        state = self._state
        choice = from_text(wanted.get("gpuIds") or "")
        trouble = choice.problem() if wanted.get("gpuIds") else None
        if trouble is not None:
            raise ProblemError(400, f"Invalid gpuIds: {trouble}")
        volume_ids = [wanted.get("networkVolumeId")]
        volume_ids += [row["networkVolumeId"] for row in wanted.get("networkVolumeIds") or ()]
        endpoint = old or Endpoint(
            endpoint_id=state.new_id(14),
            name=wanted["name"],
            owner=owner,
            template=Template("", "", "", owner),
            created_at=state.now,
            priced_at=state.now,
        )
        endpoint.template = self._endpoint_template(wanted, owner, endpoint)
        endpoint.name = wanted["name"]
        endpoint.pools, endpoint.excluded = choice.pools, choice.excluded
        endpoint.gpu_count = _given(wanted, "gpuCount", 1)
        endpoint.instance_ids = tuple(wanted.get("instanceIds") or ())
        endpoint.workers_min = _given(wanted, "workersMin", 0)
        endpoint.workers_max = _given(wanted, "workersMax", 3)
        endpoint.workers_standby = _given(wanted, "workersStandby", 1)
        endpoint.idle_timeout_s = _given(wanted, "idleTimeout", 10)
        endpoint.scaler = str(wanted.get("scalerType") or "QUEUE_DELAY")
        endpoint.scaler_value = _given(wanted, "scalerValue", 4)
        endpoint.locations = texts(wanted.get("locations"))
        endpoint.volumes = tuple(str(volume_id) for volume_id in volume_ids if volume_id)
        endpoint.execution_timeout_ms = _given(wanted, "executionTimeoutMs", 0)
        endpoint.cuda_min = wanted.get("minCudaVersion") or None
        endpoint.cuda_allowed = texts(wanted.get("allowedCudaVersions"))
        endpoint.flashboot = str(wanted.get("flashBootType") or "OFF")
        endpoint.kind = str(wanted.get("type") or "QB")
        endpoint.version += 0 if old is None else 1
        return endpoint

    def _endpoint_template(
        self, wanted: Mapping[str, Any], owner: str, endpoint: Endpoint
    ) -> Template:
        inline = wanted.get("template")
        if inline is None:
            found = self._state.template(wanted["templateId"], owner)
            if found is None and endpoint.template.template_id == wanted["templateId"]:
                found = endpoint.template
            if found is None or not found.is_serverless:
                raise ProblemError(400, "Template not found or not a serverless template")
            if found.bound_to not in {None, endpoint.endpoint_id}:
                raise ProblemError(400, "Template is already bound to another endpoint")
            found.bound_to = endpoint.endpoint_id
            return found
        return Template(
            template_id=endpoint.template.template_id or self._state.new_id(10),
            name=inline.get("name") or f"{wanted['name']}__template",
            image=inline.get("imageName") or "",
            owner=owner,
            args=inline.get("dockerArgs") or "",
            disk_gb=inline.get("containerDiskInGb") or 20,
            ports=texts(inline.get("ports")),
            env=env_of(inline.get("env")),
            registry=inline.get("containerRegistryAuthId") or None,
            is_serverless=True,
            bound_to=endpoint.endpoint_id,
        )

    def deleteEndpoint(self, _info: object, id: str) -> None:  # noqa: A002, N802
        """Delete; refused until both worker limits are zero. Null on success."""
        owner = self._caller.writer()
        endpoint = self._state.endpoint(id, owner)
        if endpoint is None:
            raise ProblemError(404, NOT_FOUND)
        if endpoint.workers_max or endpoint.workers_min:
            message = "Endpoint must have 0 min and max workers before it can be deleted."
            raise ProblemError(400, message)
        self._state.delete_endpoint(endpoint, f"{self._caller.route} deleteEndpoint")

    def updateEndpointTemplate(self, _info: object, **arguments: Any) -> dict[str, Any]:  # noqa: N802
        """Bind another template to an endpoint."""
        owner, wanted = self._caller.writer(), arguments.get("input") or {}
        endpoint = self._state.endpoint(wanted.get("endpointId", ""), owner)
        template = self._state.template(wanted.get("templateId", ""), owner)
        if endpoint is None or template is None:
            raise ProblemError(404, NOT_FOUND)
        endpoint.template = template
        template.bound_to = endpoint.endpoint_id
        endpoint.version += 1
        return views.endpoint(self._state, endpoint)


def _given(wanted: Mapping[str, Any], name: str, default: int) -> int:
    value = wanted.get(name)
    return default if value is None else int(value)
