"""GraphQL queries of the simulated RunPod."""

from __future__ import annotations

from functools import partial
from typing import Any

from flashtui.sim.runpod import graphql_views as views
from flashtui.sim.runpod.cards import pool_members, pool_names
from flashtui.sim.runpod.graphql_root import Root
from flashtui.sim.runpod.money import SPEND_LIMIT
from flashtui.sim.runpod.places import COMMUNITY_COUNTRIES


class QueryRoot(Root):
    """The fields of `type Query`."""

    def gpuTypes(self, _info: object, **arguments: Any) -> list[dict[str, Any]]:  # noqa: N802
        """All types, or those of a filter; an unknown id gives an empty list."""
        wanted = arguments.get("input") or {}
        ids = [*([wanted["id"]] if wanted.get("id") else []), *(wanted.get("ids") or ())]
        cards = [card for card in self._state.cards() if not ids or card.gpu_id in ids]
        return [views.gpu_type(self._state, card) for card in cards]

    def dataCenters(self, _info: object) -> list[dict[str, Any]]:  # noqa: N802
        """All data centres."""
        return views.data_centers(self._state)

    def countryCodes(self, _info: object) -> list[str | None]:  # noqa: N802
        """Countries of the community cloud; the live list holds a null as well."""
        return [*COMMUNITY_COUNTRIES, None]

    def cpuFlavors(self, _info: object) -> list[dict[str, Any]]:  # noqa: N802
        """CPU flavours."""
        return [
            {
                "id": "cpu3c",
                "groupId": "cpu3",
                "groupName": "Gen 3",
                "displayName": "Compute-Optimized",
                "minVcpu": 2,
                "maxVcpu": 32,
                "ramMultiplier": 2,
            }
        ]

    def serverlessGpuPools(self, _info: object) -> list[dict[str, Any]]:  # noqa: N802
        """Pools with their members; needs a key."""
        self._caller.reader()
        return [
            {"id": pool, "gpuTypeIds": [card.gpu_id for card in pool_members(pool)]}
            for pool in pool_names()
        ]

    def myself(self, _info: object) -> dict[str, Any]:
        """The account: money, pods, endpoints, volumes."""
        state, owner, route = self._state, self._caller.reader(), self._caller.route
        is_mine = owner == "user_demo"
        balance = float(round(state.money.balance(state.now), 10)) if is_mine else 0.0
        rate = float(round(state.money.rate(), 10)) if is_mine else 0.0
        return {
            "id": owner,
            "email": f"{owner}@example.test",
            "clientBalance": balance,
            "currentSpendPerHr": rate,
            "spendLimit": SPEND_LIMIT,
            "minBalance": 0.0,
            "underBalance": balance <= 0,
            "pubKey": "\n".join(state.ssh_keys),
            "networkVolumes": [views.volume(v) for v in state.volumes.values()] if is_mine else [],
            "pods": lambda _info: [
                views.pod(state, pod) for pod in state.listed_pods(owner, f"{route} pods")
            ],
            "pod": lambda _info, id: self._one_pod(id),  # noqa: A006
            "endpoints": lambda _info: [
                views.endpoint(state, item)
                for item in state.listed_endpoints(owner, f"{route} endpoints")
            ],
            "endpoint": lambda _info, id: self._one_endpoint(id),  # noqa: A006
            "podTemplates": partial(self.podTemplates),
            "containerRegistryCreds": [
                {"id": key, "name": name} for key, name in state.registries.items()
            ],
            "serverlessDiscount": None,
        }

    def _one_endpoint(self, endpoint_id: str) -> dict[str, Any] | None:
        found = self._state.endpoint(endpoint_id, self._caller.reader())
        if self._state.quirks.hides(endpoint_id, f"{self._caller.route} endpoint"):
            return None
        return None if found is None else views.endpoint(self._state, found)

    def _one_pod(self, pod_id: str) -> dict[str, Any] | None:
        found = self._state.pod(pod_id, self._caller.reader())
        return None if found is None else views.pod(self._state, found)

    def pod(self, _info: object, **arguments: Any) -> dict[str, Any] | None:
        """One pod, null where there is none."""
        return self._one_pod((arguments.get("input") or {}).get("podId", ""))

    def podTemplate(self, _info: object, id: str) -> dict[str, Any] | None:  # noqa: A002, N802
        """One template."""
        found = self._state.template(id, self._caller.reader())
        return None if found is None else views.template(found)

    def podTemplates(self, _info: object) -> list[dict[str, Any]]:  # noqa: N802
        """The account's templates."""
        owner = self._caller.reader()
        return [views.template(t) for t in self._state.templates.values() if t.owner == owner]
