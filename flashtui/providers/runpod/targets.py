"""What a handle points at: an endpoint or a pod, by id, by name, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from flashtui.domain.errors import Rejected
from flashtui.domain.text import clean
from flashtui.providers.runpod.labels import is_ours_like, same_name
from flashtui.providers.runpod.replies import NAME
from flashtui.providers.runpod.wire_types import is_resource_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtui.domain.run import JobHandle
    from flashtui.providers.runpod.wire import Endpoint, Pod

Kind = Literal["endpoint", "pod"]


AMBIGUOUS_CREATE = "create_was_ambiguous"
"""Set in a handle's data when the answer to the create was lost: then everything of this name is this run's."""


@dataclass(frozen=True, slots=True)
class HandleTarget:
    """A handle's resource.

    Attributes:
        resource_id: empty where only the name is known (a create whose answer was lost).
        job_id: empty where no job was queued, or where its id is not known.
        owns_name: whatever carries this name was made for this run, because a create's answer was lost; otherwise a
            namesake is somebody else's and is left alone.
        data: the handle's own, for the key that owns it.
    """

    kind: Kind
    resource_id: str
    name: str
    job_id: str
    owns_name: bool
    data: Mapping[str, object]

    @property
    def shown(self) -> str:
        """How to name it to a person."""
        return f"{self.kind} {self.resource_id or self.name}"

    def is_in(self, item: Endpoint | Pod) -> bool:
        """Whether a listed item is this resource."""
        return item.id == self.resource_id or (self.owns_name and same_name(item.name, self.name))


def target_of(handle: JobHandle) -> HandleTarget:
    """Read a handle.

    Raises:
        Rejected: it names nothing of RunPod's.
    """
    data = handle.data
    kind: Kind = "pod" if data.get("pod_id") or data.get("pod_name") else "endpoint"
    resource_id, name = data.get(f"{kind}_id"), data.get(f"{kind}_name")
    shown = clean(name) if isinstance(name, str) else ""
    found = HandleTarget(
        kind=kind,
        resource_id=_resource_id(resource_id),
        name=shown,
        job_id=_resource_id(data.get("job_id")),
        owns_name=is_ours_like(shown) and (not resource_id or bool(data.get(AMBIGUOUS_CREATE))),
        data=data,
    )
    if not found.resource_id and not found.owns_name:
        msg = f"{NAME}: the handle names no endpoint or pod, so there is nothing to act on"
        raise Rejected(msg, provider=NAME, operation="read handle")
    return found


def _resource_id(value: object) -> str:
    if value is None or value == "":
        return ""
    if not is_resource_id(value):
        msg = f"{NAME}: {clean(value, limit=60)!r} cannot be an id of RunPod's"
        raise Rejected(msg, provider=NAME, operation="read handle")
    return str(value)
