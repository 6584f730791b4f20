"""Everything the account rents on Vast, as resources; and the account's money."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.domain.errors import AuthRejected, NotSent
from flashtui.domain.market import Account
from flashtui.domain.money import Usd
from flashtui.domain.run import Inventory, Resource
from flashtui.providers.vast.auth import KEY_VARIABLE, NAME, key_of
from flashtui.providers.vast.gpus import class_of
from flashtui.providers.vast.handles import handle_of_row
from flashtui.providers.vast.states import current_rate, note_of, raw_status, state_of

if TYPE_CHECKING:
    from datetime import datetime

    from flashtui.net.secret import Secret
    from flashtui.providers.base import Context
    from flashtui.providers.vast.api import VastApi
    from flashtui.providers.vast.wire import InstanceRow


class VastInventory:
    """An ``InventorySource`` and an ``AccountSource``."""

    def __init__(self, context: Context, api: VastApi) -> None:
        self._context = context
        self._key = key_of(context)
        self._api = api

    async def inventory(self) -> Inventory:
        """Every instance, all pages; entries without a readable id make it incomplete.

        Raises:
            ProviderError: could not be read whole.
        """
        refuse_without_key(self._context, "list instances")
        listing = await self._api.instances()
        found = tuple(
            resource_of(row, self._key, listing.received_at)
            for row in sorted(listing.rows, key=lambda row: row.id)
        )
        return Inventory(NAME, found, listing.skipped == 0, listing.received_at)

    async def account(self) -> Account:
        """Prepaid credit; Vast tells no spend rate and no limit.

        Raises:
            ProviderError: could not be read.
        """
        refuse_without_key(self._context, "read the account")
        user = await self._api.current_user()
        return Account(
            provider=NAME,
            balance=Usd.of(user.credit) if user.credit is not None else None,
            spend=None,
            spend_limit=None,
            observed_at=self._context.clock.now(),
        )


def resource_of(row: InstanceRow, key: Secret | None, observed_at: datetime) -> Resource:
    """One instance as a resource; its handle remembers which key can see it."""
    gpu = _gpu_of(row)
    return Resource(
        provider=NAME,
        resource_id=str(row.id),
        kind="instance",
        label=row.label or "",
        gpu=gpu,
        num_gpus=row.num_gpus or 1,
        product="interruptible" if row.is_bid else "instance",
        rate=current_rate(row),
        state=state_of(row),
        raw_status=raw_status(row),
        started_at=row.start_date,
        observed_at=observed_at,
        handle=handle_of_row(row, gpu, key),
        note=note_of(row),
    )


def refuse_without_key(context: Context, operation: str) -> None:
    """Raise when there is no key or no network to ask with: no key is not "nothing there"."""
    if context.settings.skip_net:
        msg = f"{NAME}: {operation}: FLASH_SKIP_NET is set, so nothing is asked; unset it to go online"
        raise NotSent(msg, provider=NAME, operation=operation)
    if key_of(context) is None:
        msg = f"{NAME}: {operation}: no key; set {KEY_VARIABLE}"
        missing = AuthRejected(msg, provider=NAME, operation=operation)
        missing.kind = "no_key"
        raise missing


def _gpu_of(row: InstanceRow) -> str | None:
    if row.gpu_name is None:
        return None
    known = class_of(row.gpu_name, row.gpu_ram) if row.gpu_ram is not None else None
    return known or row.gpu_name
