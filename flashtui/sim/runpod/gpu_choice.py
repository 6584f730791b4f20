"""Which cards an endpoint may run on: pools minus types, in GraphQL's and in REST's spelling."""

from __future__ import annotations

from dataclasses import dataclass

from flashtui.sim.runpod.cards import CARD_BY_ID, pool_members, pool_names


@dataclass(frozen=True, slots=True)
class GpuChoice:
    """Pools and the types taken out of them."""

    pools: tuple[str, ...]
    excluded: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """GraphQL's `gpuIds`: pools first, then `-type` for each exclusion, alphabetical."""
        minus = sorted((f"-{gpu_id}" for gpu_id in self.excluded), key=str.lower)
        return ",".join([*self.pools, *minus])

    def problem(self) -> str | None:
        """Why nothing can be placed on it, None when it is sound."""
        for pool in self.pools:
            if pool not in pool_names():
                return f"unknown GPU pool '{pool}'"
        members = {card.gpu_id for pool in self.pools for card in pool_members(pool)}
        for gpu_id in self.excluded:
            if gpu_id not in members:
                return f"excluded type '{gpu_id}' is not a GPU type in one of the pools"
        if not members - set(self.excluded):
            return "the selection leaves no GPU type"
        return None


def from_text(text: str) -> GpuChoice:
    """Read GraphQL's `gpuIds`: comma-separated pools, and `-type` to take a type out.

    Source: docs sdks/graphql/manage-endpoints; unrecognised exclusions are accepted silently
    (docs openapi.json, `excludedTypes`).
    """
    tokens = [token.strip() for token in text.split(",") if token.strip()]
    pools = tuple(token for token in tokens if not token.startswith("-"))
    minus = tuple(token[1:].strip() for token in tokens if token.startswith("-"))
    return GpuChoice(pools, tuple(gpu_id for gpu_id in minus if gpu_id in CARD_BY_ID))
