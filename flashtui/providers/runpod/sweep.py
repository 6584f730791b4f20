"""Reaping by name: what one run left behind, and what no active run claims."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from flashtui.domain.errors import IncompleteListing, ProviderError, SweepRefused
from flashtui.domain.naming import PREFIX
from flashtui.providers.runpod.auth import no_key
from flashtui.providers.runpod.labels import belongs
from flashtui.providers.runpod.replies import NAME
from flashtui.providers.runpod.resources import Rates, endpoint_resource, pod_resource
from flashtui.providers.runpod.teardown import destroy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from flashtui.domain.run import Resource
    from flashtui.providers.runpod.teardown import Means

_log = logging.getLogger(__name__)
_AT_ONCE = 4


async def sweep(means: Means, active_labels: AbstractSet[str] | None) -> list[str]:
    """Destroy what carries a name like ours and belongs to no active run; returns the ids proven gone.

    A name that does not begin with ``flash-`` is somebody else's. One that cannot be destroyed is logged, and the others
    are destroyed all the same.

    Args:
        means: what a teardown works with.
        active_labels: run ids (or whole labels) of active runs.

    Raises:
        SweepRefused: ``active_labels`` is None, or holds an empty label, which would stand for any run.
        IncompleteListing: not everything could be listed; nothing was destroyed.
    """
    if active_labels is None or not all(label.strip() for label in active_labels):
        msg = f"{NAME}: sweep refused: which runs are active is not known; nothing was destroyed"
        raise SweepRefused(msg, provider=NAME, operation="sweep")
    found = await everything(means)
    orphans = [r for r in found if _is_orphan(r, active_labels)]
    return await _destroy_each(orphans, means, "sweep")


async def collect(means: Means, run_id: str) -> None:
    """Destroy whatever carries this run's name, of any attempt; never raises, always reports to the log."""
    try:
        found = await everything(means)
    except ProviderError as error:
        _log.warning("runpod: gc of run %s could not list: %s", run_id, error)
        return
    left = [r for r in found if r.label.startswith(PREFIX) and belongs(r.label, run_id)]
    gone = await _destroy_each(left, means, "gc")
    _log.info("runpod: gc of run %s: %d found, %d gone", run_id, len(left), len(gone))


async def everything(means: Means) -> list[Resource]:
    """Endpoints and pods of every key, without states and rates.

    Raises:
        IncompleteListing: a part could not be read.
    """
    if not means.keys:
        raise no_key()
    unpriced = Rates({}, {})
    found: dict[str, Resource] = {}
    for key in means.keys.keys:
        try:
            endpoints = await means.listings.endpoints(key)
            pods = await means.listings.pods(key)
        except ProviderError as error:
            msg = f"{NAME}: not everything could be listed, so nothing was destroyed: {error}"
            raise IncompleteListing(
                msg, provider=NAME, operation="sweep", status=error.status
            ) from error
        listed = [
            *(endpoint_resource(e, key, None, (), unpriced, endpoints.at) for e in endpoints.items),
            *(pod_resource(pod, key, pods.at) for pod in pods.items),
        ]
        for resource in listed:
            found.setdefault(resource.resource_id, resource)
    return list(found.values())


def _is_orphan(resource: Resource, active_labels: Iterable[str]) -> bool:
    name = resource.label
    return name.startswith(PREFIX) and not any(belongs(name, label) for label in active_labels)


async def _destroy_each(resources: Iterable[Resource], means: Means, why: str) -> list[str]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(resource: Resource) -> str | None:
        async with room:
            try:
                await destroy(resource.handle, means)
            except ProviderError as error:
                _log.warning(
                    "runpod: %s of %s (%s): %s", why, resource.resource_id, resource.label, error
                )
                return None
        return resource.resource_id

    done = await asyncio.gather(*(one(resource) for resource in resources))
    return [resource_id for resource_id in done if resource_id is not None]
