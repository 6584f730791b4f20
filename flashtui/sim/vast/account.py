"""Who is asking: keys, their permissions, and keys that may act on one instance only. Source: vast 1.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtui.sim.http import Request
    from flashtui.sim.vast.contracts import Contracts
    from flashtui.sim.world import World

KEY = "vast-demo-key"
READ_ONLY_KEY = "vast-demo-readonly-key"
_SCOPES = frozenset(
    {
        "misc",
        "instance_read",
        "instance_write",
        "user_read",
        "user_write",
        "billing_read",
        "billing_write",
    }
)
_READ_SCOPES = frozenset({"misc", "instance_read", "user_read", "billing_read"})


@dataclass(frozen=True, slots=True)
class Caller:
    """One caller of one request.

    Attributes:
        identity: what rate limits and quotas are counted by.
        has_key: a key was sent and is known.
        is_wrong: a key was sent and is not known.
        only_instance: the one instance this key may act on, for a container's own key.
    """

    identity: str
    has_key: bool
    is_wrong: bool
    scopes: frozenset[str] = frozenset()
    only_instance: int | None = None


class Keys:
    """The keys of the account: two fixed ones, those of the scenario, and one per instance."""

    def __init__(self, world: World, contracts: Contracts) -> None:
        self._contracts = contracts
        self._scopes = {KEY: _SCOPES, READ_ONLY_KEY: _READ_SCOPES}
        for row in world.scenario.rows("vast", "keys"):
            scopes = row.get("scopes")
            self._scopes[str(row["key"])] = (
                frozenset(scopes) if isinstance(scopes, list) else _SCOPES
            )

    def caller(self, request: Request) -> Caller:
        """Who sent a request: `Authorization: Bearer`, or the older `?api_key=`."""
        key = request.bearer() or request.first("api_key")
        if not key:
            return Caller(f"anonymous@{request.client}", has_key=False, is_wrong=False)
        if (scopes := self._scopes.get(key)) is not None:
            return Caller(key, has_key=True, is_wrong=False, scopes=scopes)
        for contract in self._contracts.live.values():
            if contract.api_key == key:
                own = frozenset({"instance_read", "instance_write"})
                return Caller(
                    key[:12],
                    has_key=True,
                    is_wrong=False,
                    scopes=own,
                    only_instance=contract.contract_id,
                )
        return Caller(f"wrong@{request.client}", has_key=False, is_wrong=True)
