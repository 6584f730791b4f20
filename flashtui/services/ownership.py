"""Whose a listed resource is: a run's live one, an orphan of a run recorded here, or foreign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.naming import endpoint_owned_by, label_owned_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashtui.domain.run import Inventory, Resource, Run


@dataclass(frozen=True, slots=True)
class Sorted:
    """Listed resources by whose they are.

    Attributes:
        ours: the live resource of a recorded run, by (provider, id).
        orphans: with the run they belong to: their label names a recorded run that has no such live handle.
        foreign: everything else.
    """

    ours: dict[tuple[str, str], Resource]
    orphans: tuple[tuple[Resource, Run], ...]
    foreign: tuple[Resource, ...]


def sort_resources(inventories: Iterable[Inventory], runs: Sequence[Run]) -> Sorted:
    """Sort everything that the accounts rent."""
    live = {(r.provider, r.resource_id) for run in runs for r in run.resources if r.may_bill}
    ours: dict[tuple[str, str], Resource] = {}
    orphans: list[tuple[Resource, Run]] = []
    foreign: list[Resource] = []
    for resource in (r for inventory in inventories for r in inventory.resources):
        key = (resource.provider, resource.resource_id)
        if key in live:
            ours[key] = resource
        elif (owner := owner_of(resource, runs)) is not None:
            orphans.append((resource, owner))
        else:
            foreign.append(resource)
    return Sorted(ours, tuple(orphans), tuple(foreign))


def owner_of(resource: Resource, runs: Iterable[Run]) -> Run | None:
    """The recorded run that a resource's label belongs to, at the label's boundary."""
    if not resource.label:
        return None
    owned = endpoint_owned_by if resource.kind == "endpoint" else label_owned_by
    return next((run for run in runs if owned(resource.label, run.run_id)), None)
