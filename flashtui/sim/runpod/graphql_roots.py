"""The root fields of the simulated RunPod's GraphQL: one method per query or mutation, by its own name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flashtui.sim.runpod import graphql_views as views
from flashtui.sim.runpod.cards import pool_members, pool_names
from flashtui.sim.runpod.gpu_choice import from_text
from flashtui.sim.runpod.money import SPEND_LIMIT
from flashtui.sim.runpod.places import COMMUNITY_COUNTRIES
from flashtui.sim.runpod.pods import NoCapacityError, PodWish
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.records import Endpoint, Pod, Template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.sim.runpod.graphql_api import Caller

_NOT_FOUND = "Resource not found"


def _env(rows: list[Mapping[str, str]] | None) -> dict[str, str]:
    return {row["key"]: row["value"] for row in rows or ()}


def _texts(value: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (value or "").split(",") if part.strip())


class Roots:
    """Root value of every operation; methods carry the schema's names."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._state = caller.state

    # -- queries ---------------------------------------------------------------------------------

    def gpuTypes(self, _info: object, **arguments: Any) -> list[dict[str, Any]]:  # noqa: N802
        """All types, or those of a filter; an unknown id gives an empty list."""
        wanted = arguments.get("input") or {}
        ids = [*([wanted["id"]] if wanted.get("id") else []), *(wanted.get("ids") or ())]
        cards = [card for card in self._state.cards() if not ids or card.gpu_id in ids]
        return [views.gpu_type(self._state, card) for card in cards]

    def dataCenters(self, _info: object) -> list[dict[str, Any]]:  # noqa: N802
        """All data centres."""
        return views.data_centers(self._state)

    def countryCodes(self, _info: object) -> list[str | None]:  # noqa: N802
        """Countries of the community cloud; the live list holds a null as well."""
        return [*COMMUNITY_COUNTRIES, None]

    def cpuFlavors(self, _info: object) -> list[dict[str, Any]]:  # noqa: N802
        """CPU flavours."""
        return [
            {
                "id": "cpu3c",
                "groupId": "cpu3",
                "groupName": "Gen 3",
                "displayName": "Compute-Optimized",
                "minVcpu": 2,
                "maxVcpu": 32,
                "ramMultiplier": 2,
            }
        ]

    def serverlessGpuPools(self, _info: object) -> list[dict[str, Any]]:  # noqa: N802
        """Pools with their members; needs a key."""
        self._caller.reader()
        return [
            {"id": pool, "gpuTypeIds": [card.gpu_id for card in pool_members(pool)]}
            for pool in pool_names()
        ]

    def myself(self, _info: object) -> dict[str, Any]:
        """The account: money, pods, endpoints, volumes."""
        state, owner, route = self._state, self._caller.reader(), self._caller.route
        is_mine = owner == "user_demo"
        balance = float(round(state.money.balance(state.now), 10)) if is_mine else 0.0
        rate = float(round(state.money.rate(), 10)) if is_mine else 0.0
        return {
            "id": owner,
            "email": f"{owner}@example.test",
            "clientBalance": balance,
            "currentSpendPerHr": rate,
            "spendLimit": SPEND_LIMIT,
            "minBalance": 0.0,
            "underBalance": balance <= 0,
            "pubKey": "\n".join(state.ssh_keys),
            "networkVolumes": [views.volume(v) for v in state.volumes.values()] if is_mine else [],
            "pods": lambda _info: [
                views.pod(state, pod) for pod in state.listed_pods(owner, f"{route} pods")
            ],
            "pod": lambda _info, id: self._one_pod(id),  # noqa: A006
            "endpoints": lambda _info: [
                views.endpoint(state, item)
                for item in state.listed_endpoints(owner, f"{route} endpoints")
            ],
            "endpoint": lambda _info, id: self._one_endpoint(id),  # noqa: A006
            "podTemplates": partial(self.podTemplates),
            "containerRegistryCreds": [
                {"id": key, "name": name} for key, name in state.registries.items()
            ],
            "serverlessDiscount": None,
        }

    def _one_endpoint(self, endpoint_id: str) -> dict[str, Any] | None:
        found = self._state.endpoint(endpoint_id, self._caller.reader())
        return None if found is None else views.endpoint(self._state, found)

    def _one_pod(self, pod_id: str) -> dict[str, Any] | None:
        found = self._state.pod(pod_id, self._caller.reader())
        return None if found is None else views.pod(self._state, found)

    def pod(self, _info: object, **arguments: Any) -> dict[str, Any] | None:
        """One pod, null where there is none."""
        return self._one_pod((arguments.get("input") or {}).get("podId", ""))

    def podTemplate(self, _info: object, id: str) -> dict[str, Any] | None:  # noqa: A002, N802
        """One template."""
        found = self._state.template(id, self._caller.reader())
        return None if found is None else views.template(found)

    def podTemplates(self, _info: object) -> list[dict[str, Any]]:  # noqa: N802
        """The account's templates."""
        owner = self._caller.reader()
        return [views.template(t) for t in self._state.templates.values() if t.owner == owner]

    # -- pods ------------------------------------------------------------------------------------

    def podFindAndDeployOnDemand(self, _info: object, **arguments: Any) -> dict[str, Any]:  # noqa: N802
        """Rent on demand; billed from now."""
        return self._rent(arguments.get("input") or {}, None)

    def podRentInterruptable(self, _info: object, **arguments: Any) -> dict[str, Any]:  # noqa: N802
        """Rent at a bid; refused below the floor."""
        wanted = arguments["input"]
        return self._rent(wanted, float(wanted.get("bidPerGpu") or 0))

    def deployCpuPod(self, _info: object, **_arguments: Any) -> None:  # noqa: N802
        """CPU pods are not simulated: none is ever free."""
        self._caller.writer()
        raise ProblemError(400, "There are no longer any instances available")

    def _rent(self, wanted: Mapping[str, Any], bid: float | None) -> dict[str, Any]:
        owner, state = self._caller.writer(), self._state
        state.refuse_if_ordered(f"{self._caller.route} podFindAndDeployOnDemand")
        template = self._pod_template(wanted, owner)
        wish = PodWish(
            name=wanted.get("name") or "unnamed",
            gpu_id=wanted.get("gpuTypeId") or next(iter(wanted.get("gpuTypeIdList") or ()), ""),
            template=template,
            gpu_count=wanted.get("gpuCount") or 1,
            cloud=str(wanted.get("cloudType") or "ALL"),
            places=tuple(filter(None, [wanted.get("dataCenterId")])),
            country=wanted.get("countryCode") or None,
            bid=bid,
            template_id=wanted.get("templateId") or None,
            volume_id=wanted.get("networkVolumeId") or None,
        )
        try:
            pod = state.rent(wish, owner)
        except NoCapacityError as error:
            raise ProblemError(400, str(error)) from error
        return views.pod(state, pod)

    def _pod_template(self, wanted: Mapping[str, Any], owner: str) -> Template:
        base = Template(self._state.new_id(10), "", "", owner, disk_gb=20)
        known = self._state.template(wanted.get("templateId") or "", owner)
        if known is not None:
            base.image, base.args, base.env = known.image, known.args, dict(known.env)
            base.disk_gb, base.volume_gb, base.ports = known.disk_gb, known.volume_gb, known.ports
        base.image = wanted.get("imageName") or base.image
        base.args = wanted.get("dockerArgs") or base.args
        base.disk_gb = wanted.get("containerDiskInGb") or base.disk_gb
        base.volume_gb = wanted.get("volumeInGb") or base.volume_gb
        base.mount_path = wanted.get("volumeMountPath") or base.mount_path
        base.ports = _texts(wanted.get("ports")) or base.ports
        base.env.update(_env(wanted.get("env")))
        if not base.image:
            raise ProblemError(400, "imageName is required")
        return base

    def _mine(self, arguments: Mapping[str, Any]) -> Pod:
        pod = self._state.pod(arguments["input"]["podId"], self._caller.writer())
        if pod is None:
            raise ProblemError(404, "pod not found to terminate or stop")
        return pod

    def podStop(self, _info: object, **arguments: Any) -> dict[str, Any]:  # noqa: N802
        """Release the GPU; the volume goes on costing."""
        pod = self._mine(arguments)
        if pod.status == "RUNNING":
            self._state.park.stop(pod, self._state.now)
        return views.pod(self._state, pod)

    def podResume(self, _info: object, **arguments: Any) -> dict[str, Any]:  # noqa: N802
        """Start a stopped pod again."""
        pod = self._mine(arguments)
        count = arguments["input"].get("gpuCount") or pod.gpu_count
        try:
            self._state.park.resume(pod, count, self._state.now)
        except NoCapacityError as error:
            raise ProblemError(400, str(error)) from error
        return views.pod(self._state, pod)

    def podBidResume(self, _info: object, **arguments: Any) -> dict[str, Any]:  # noqa: N802
        """Start a stopped spot pod at a new bid."""
        pod = self._mine(arguments)
        pod.usd_per_hour = arguments["input"]["bidPerGpu"] * pod.gpu_count
        return self.podResume(_info, **arguments)

    def podTerminate(self, _info: object, **arguments: Any) -> None:  # noqa: N802
        """End a pod for good; null on success."""
        self._state.terminate(self._mine(arguments), f"{self._caller.route} podTerminate")

    # -- endpoints -------------------------------------------------------------------------------

    def saveEndpoint(self, _info: object, **arguments: Any) -> dict[str, Any]:  # noqa: N802
        """Create, or with an id replace: fields left out of an update go back to their defaults."""
        owner, state, wanted = self._caller.writer(), self._state, arguments["input"]
        old = None
        if wanted.get("id"):
            old = state.endpoint(wanted["id"], owner)
            if old is None:
                raise ProblemError(404, _NOT_FOUND)
        self._check(wanted)
        most = _given(wanted, "workersMax", 3)
        state.check_quota(owner, most - (old.workers_max if old else 0))
        state.refuse_if_ordered(f"{self._caller.route} saveEndpoint")
        endpoint = self._endpoint(wanted, owner, old)
        if old is None:
            state.add_endpoint(endpoint)
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
        endpoint.locations = _texts(wanted.get("locations"))
        endpoint.volumes = tuple(str(volume_id) for volume_id in volume_ids if volume_id)
        endpoint.execution_timeout_ms = _given(wanted, "executionTimeoutMs", 0)
        endpoint.cuda_min = wanted.get("minCudaVersion") or None
        endpoint.cuda_allowed = _texts(wanted.get("allowedCudaVersions"))
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
            ports=_texts(inline.get("ports")),
            env=_env(inline.get("env")),
            registry=inline.get("containerRegistryAuthId") or None,
            is_serverless=True,
            bound_to=endpoint.endpoint_id,
        )

    def deleteEndpoint(self, _info: object, id: str) -> None:  # noqa: A002, N802
        """Delete; refused until both worker limits are zero. Null on success."""
        owner = self._caller.writer()
        endpoint = self._state.endpoint(id, owner)
        if endpoint is None:
            raise ProblemError(404, _NOT_FOUND)
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
            raise ProblemError(404, _NOT_FOUND)
        endpoint.template = template
        template.bound_to = endpoint.endpoint_id
        endpoint.version += 1
        return views.endpoint(self._state, endpoint)

    # -- templates and registries ----------------------------------------------------------------

    def saveTemplate(self, _info: object, **arguments: Any) -> dict[str, Any]:  # noqa: N802
        """Create or change a template; its name is unique in the account."""
        owner, wanted = self._caller.writer(), arguments.get("input") or {}
        old = self._state.template(wanted.get("id") or "", owner)
        named = self._state.template_named(wanted["name"], owner)
        if named is not None and named is not old:
            raise ProblemError(400, "Template name must be unique")
        template = Template(
            template_id=old.template_id if old else self._state.new_id(10),
            name=wanted["name"],
            image=wanted["imageName"],
            owner=owner,
            args=wanted.get("dockerArgs") or "",
            disk_gb=wanted["containerDiskInGb"],
            volume_gb=wanted["volumeInGb"],
            mount_path=wanted.get("volumeMountPath") or "/workspace",
            ports=_texts(wanted.get("ports")),
            env=_env(wanted["env"]),
            registry=wanted.get("containerRegistryAuthId") or None,
            is_serverless=bool(wanted.get("isServerless")),
            is_public=bool(wanted.get("isPublic")),
            readme=wanted.get("readme") or "",
            start_ssh=bool(wanted.get("startSsh", True)),
            bound_to=old.bound_to if old else None,
        )
        self._state.templates[template.template_id] = template
        return views.template(template)

    def deleteTemplate(self, _info: object, **arguments: Any) -> None:  # noqa: N802
        """Delete by name; refused while in use, and for two minutes after."""
        owner = self._caller.writer()
        template = self._state.template_named(arguments.get("templateName") or "", owner)
        if template is None:
            raise ProblemError(404, _NOT_FOUND)
        trouble = self._state.template_is_held(template)
        if trouble is not None:
            raise ProblemError(400, trouble)
        del self._state.templates[template.template_id]

    def saveRegistryAuth(self, _info: object, **arguments: Any) -> dict[str, str]:  # noqa: N802
        """Keep a registry credential."""
        self._caller.writer()
        registry_id = self._state.new_id(10)
        self._state.registries[registry_id] = arguments["input"]["name"]
        return {"id": registry_id, "name": arguments["input"]["name"]}

    def deleteRegistryAuth(self, _info: object, registryAuthId: str) -> None:  # noqa: N802, N803
        """Forget a registry credential."""
        self._caller.writer()
        if self._state.registries.pop(registryAuthId, None) is None:
            raise ProblemError(404, _NOT_FOUND)


def _given(wanted: Mapping[str, Any], name: str, default: int) -> int:
    value = wanted.get(name)
    return default if value is None else int(value)
