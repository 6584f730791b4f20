"""Reaping by label: what one run left behind, and what no active run claims."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from flashtui.domain.errors import IncompleteListing, ProviderError, SweepRefused
from flashtui.domain.naming import PREFIX, label_owned_by, label_prefix
from flashtui.providers.vast.auth import NAME, key_of
from flashtui.providers.vast.inventory import refuse_without_key, resource_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from flashtui.domain.run import Resource
    from flashtui.providers.base import Context
    from flashtui.providers.vast.api import VastApi
    from flashtui.providers.vast.teardown import Teardown

_log = logging.getLogger(__name__)


class Sweeper:
    """Lists, picks by label, destroys one by one."""

    def __init__(self, context: Context, api: VastApi, teardown: Teardown) -> None:
        self._context = context
        self._api = api
        self._teardown = teardown

    async def sweep(self, active_labels: AbstractSet[str] | None) -> list[str]:
        """Destroy what carries a label like ours and belongs to no active run; returns the ids proven gone.

        A label that does not begin with ``flash-`` is somebody else's. What cannot be destroyed is logged, and the
        others are destroyed all the same.

        Raises:
            SweepRefused: ``active_labels`` is None, or holds an empty label, which would stand for any run.
            IncompleteListing: not everything could be listed; nothing was destroyed.
        """
        if active_labels is None or not all(label.strip() for label in active_labels):
            msg = (
                f"{NAME}: sweep refused: which runs are active is not known; nothing was destroyed"
            )
            raise SweepRefused(msg, provider=NAME, operation="sweep")
        found = await self._everything()
        orphans = [
            resource
            for resource in found
            if resource.label.startswith(PREFIX) and not is_claimed(resource.label, active_labels)
        ]
        return await self._destroy_each(orphans, "sweep")

    async def collect(self, run_id: str) -> None:
        """Destroy whatever carries this run's label, of any seed and attempt; never raises, always reports to the log."""
        try:
            found = await self._everything()
        except ProviderError as error:
            _log.warning("vast: gc of run %s could not list: %s", run_id, error)
            return
        left = [resource for resource in found if label_owned_by(resource.label, run_id)]
        gone = await self._destroy_each(left, "gc")
        _log.info("vast: gc of run %s: %d found, %d gone", run_id, len(left), len(gone))

    async def _everything(self) -> list[Resource]:
        refuse_without_key(self._context, "list instances")
        try:
            listing = await self._api.instances()
        except ProviderError as error:
            msg = f"{NAME}: not everything could be listed, so nothing was destroyed: {error}"
            incomplete = IncompleteListing(
                msg, provider=NAME, operation="sweep", status=error.status, body=error.body
            )
            raise incomplete from error
        if listing.skipped:
            _log.warning("vast: %d listed entries could not be read", listing.skipped)
        key = key_of(self._context)
        return [resource_of(row, key, listing.received_at) for row in listing.rows]

    async def _destroy_each(self, resources: Iterable[Resource], why: str) -> list[str]:
        gone: list[str] = []
        for resource in resources:
            try:
                await self._teardown.destroy(resource.handle)
            except ProviderError as error:
                _log.warning(
                    "vast: %s of %s (%s): %s", why, resource.resource_id, resource.label, error
                )
            else:
                gone.append(resource.resource_id)
        return gone


def is_claimed(label: str, active_labels: Iterable[str]) -> bool:
    """Whether an active run may own a label; here a doubt protects.

    Args:
        label: as listed.
        active_labels: run ids, their label prefixes, or whole labels.
    """
    prefixes = {label_prefix(active) for active in active_labels} | set(active_labels)
    return any(label == prefix or label.startswith(f"{prefix}-s") for prefix in prefixes)
