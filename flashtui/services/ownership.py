"""Whose a listed resource is: a run's live one, an orphan of a run recorded here, or foreign."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from flashtui.domain.naming import canonical_endpoint, endpoint_owned_by, label_owned_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashtui.domain.run import Inventory, RentedResource, Resource, Run

# A listing may lag behind a proof: what was proven gone is not called back to life by it at once.
_LINGER = timedelta(seconds=90)


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
    """Sort everything that the accounts rent; what a provider itself calls gone is nobody's."""
    recorded = {(r.provider, r.resource_id): (r, run) for run in runs for r in run.resources}
    ours: dict[tuple[str, str], Resource] = {}
    orphans: list[tuple[Resource, Run]] = []
    foreign: list[Resource] = []
    for resource in (r for inventory in inventories for r in inventory.resources):
        key = (resource.provider, resource.resource_id)
        rented, run = recorded.get(key, (None, None))
        if rented is not None and rented.may_bill:
            ours[key] = resource
        elif resource.state == "gone" or (rented is not None and _lingers(resource, rented)):
            continue
        elif (owner := run or owner_of(resource, runs)) is not None:
            orphans.append((resource, owner))
        else:
            foreign.append(resource)
    return Sorted(ours, tuple(orphans), tuple(foreign))


def owner_of(resource: Resource, runs: Iterable[Run]) -> Run | None:
    """The recorded run that a resource's label belongs to, at the label's boundary; None: none."""
    label = resource.label
    if not label:
        return None
    return next((run for run in runs if _is_named_for(label, run)), None)


def _is_named_for(label: str, run: Run) -> bool:
    if label_owned_by(label, run.run_id) or endpoint_owned_by(label, run.run_id):
        return True
    name = canonical_endpoint(label)
    recorded = {run.label, *(rented.label for rented in run.resources)} - {None, ""}
    return name in recorded or label in recorded


def _lingers(resource: Resource, rented: RentedResource) -> bool:
    gone_at = rented.confirmed_gone_at
    return gone_at is not None and resource.observed_at - gone_at < _LINGER
