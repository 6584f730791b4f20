"""GraphQL mutations on templates and registry credentials. Source: docs sdks/graphql/manage-pod-templates."""

from __future__ import annotations

from typing import Any

from flashtui.sim.runpod import graphql_views as views
from flashtui.sim.runpod.graphql_root import NOT_FOUND, Root, env_of, texts
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.records import Template


class TemplateRoot(Root):
    """Save and delete."""

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
            ports=texts(wanted.get("ports")),
            env=env_of(wanted["env"]),
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
            raise ProblemError(404, NOT_FOUND)
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
            raise ProblemError(404, NOT_FOUND)
