"""Balance and spend, as far as the key may read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from flashtui.domain.errors import ApiGone, ScopeRejected
from flashtui.domain.market import Account
from flashtui.domain.money import HourlyRate, Usd
from flashtui.providers.runpod.replies import NAME
from flashtui.providers.runpod.wire_graphql import Myself

if TYPE_CHECKING:
    from decimal import Decimal

    from flashtui.domain.clock import Clock
    from flashtui.providers.runpod.api import RunpodApi
    from flashtui.providers.runpod.auth import KeyRing

_NO_ACCESS = f"{NAME}: read the account: not logged in, or the key has no access to it"


class RunPodAccount:
    """An :class:`~flashtui.providers.base.AccountSource`; the account of the first key."""

    def __init__(self, api: RunpodApi, keys: KeyRing, clock: Clock) -> None:
        self._api = api
        self._keys = keys
        self._clock = clock

    async def account(self) -> Account:
        """Money as GraphQL tells it; unknown where the key may not read it or GraphQL is gone.

        Raises:
            ProviderError: could not be read: no key, a bad key, no connection, nonsense.
        """
        try:
            data, trouble, observed_at = await self._api.myself(self._keys.first)
        except (ScopeRejected, ApiGone) as error:
            return Account(NAME, None, None, None, self._clock.now(), note=str(error))
        try:
            money = Myself.model_validate(data.get("myself"))
        except ValidationError:
            note = str(trouble) if trouble else _NO_ACCESS
            return Account(NAME, None, None, None, observed_at, note=note)
        return Account(
            provider=NAME,
            balance=None if money.client_balance is None else Usd.of(money.client_balance),
            spend=_rate(money.current_spend_per_hr),
            spend_limit=_rate(money.spend_limit),
            observed_at=observed_at,
            note="" if trouble is None else str(trouble),
        )


def _rate(usd: Decimal | None) -> HourlyRate | None:
    return None if usd is None else HourlyRate.of(usd)
