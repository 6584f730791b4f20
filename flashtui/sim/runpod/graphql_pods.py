"""GraphQL mutations on pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtui.sim.runpod import graphql_views as views
from flashtui.sim.runpod.graphql_root import Root, env_of, texts
from flashtui.sim.runpod.pods import NoCapacityError, PodWish
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.records import Pod, Template

if TYPE_CHECKING:
    from collections.abc import Mapping


class PodRoot(Root):
    """Rent, stop, resume, end."""

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
        base.ports = texts(wanted.get("ports")) or base.ports
        base.env.update(env_of(wanted.get("env")))
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
