"""Every simulated provider destroys with proof, sweeps only what is ours, and never shows its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flashtui.domain.errors import AuthRejected, DestroyUnconfirmed, ProviderError
from flashtui.domain.run import JobHandle
from tests.providers.conformance.houses import (
    CANARY,
    HOUSES,
    OTHER_RUN,
    RUN,
    everything_shown,
    simulated,
)

if TYPE_CHECKING:
    from pathlib import Path

    from flashtui.domain.run import Resource
    from flashtui.providers.base import Plugin

every_house = pytest.mark.parametrize("name", sorted(HOUSES))


async def _listed(plugin: Plugin) -> dict[str, Resource]:
    assert plugin.inventory is not None
    inventory = await plugin.inventory.inventory()
    assert inventory.complete
    return {r.resource_id: r for r in inventory.resources}


@every_house
async def test_what_is_listed_can_be_destroyed_from_its_stored_handle_twice(
    name: str, tmp_path: Path
) -> None:
    house = HOUSES[name]
    async with simulated(name, tmp_path) as (plugin, sim):
        resource_id = house.rent(sim, house.label(RUN))
        found = (await _listed(plugin))[resource_id]
        handle = JobHandle.from_dict(found.handle.to_dict())
        await plugin.provider.destroy(handle)
        assert resource_id not in await _listed(plugin)
        await plugin.provider.destroy(handle)
        assert sim.violations() == []


@every_house
async def test_a_destroy_that_cannot_be_proven_is_unconfirmed(name: str, tmp_path: Path) -> None:
    house = HOUSES[name]
    async with simulated(name, tmp_path) as (plugin, sim):
        resource_id = house.rent(sim, house.label(RUN))
        handle = (await _listed(plugin))[resource_id].handle
        sim.fault("server_error", surface=name, route=house.reads)
        with pytest.raises(DestroyUnconfirmed) as caught:
            await plugin.provider.destroy(handle)
        assert resource_id in str(caught.value)
        assert caught.value.evidence


@every_house
async def test_an_answer_lost_after_the_destroy_is_settled_by_looking(
    name: str, tmp_path: Path
) -> None:
    house = HOUSES[name]
    async with simulated(name, tmp_path) as (plugin, sim):
        resource_id = house.rent(sim, house.label(RUN))
        handle = (await _listed(plugin))[resource_id].handle
        sim.fault("lost_reply", surface=name, route=house.destroys, count=1)
        await plugin.provider.destroy(handle)
        assert sim.fired("lost_reply") == 1
        assert resource_id not in await _listed(plugin)


@every_house
async def test_a_sweep_spares_active_runs_and_strangers(name: str, tmp_path: Path) -> None:
    house = HOUSES[name]
    async with simulated(name, tmp_path) as (plugin, sim):
        orphan = house.rent(sim, house.label(RUN))
        active = house.rent(sim, house.label(OTHER_RUN))
        foreign = house.rent(sim, "somebody-elses-box")
        assert await plugin.provider.sweep_orphans({OTHER_RUN}) == [orphan]
        assert set(await _listed(plugin)) == {active, foreign}


@every_house
async def test_a_run_does_not_own_what_another_with_a_longer_id_rents(
    name: str, tmp_path: Path
) -> None:
    house = HOUSES[name]
    async with simulated(name, tmp_path) as (plugin, sim):
        theirs = house.rent(sim, house.label(OTHER_RUN))
        assert await plugin.provider.sweep_orphans({RUN}) == [theirs]


@every_house
async def test_a_sweep_that_cannot_list_destroys_nothing(name: str, tmp_path: Path) -> None:
    house = HOUSES[name]
    async with simulated(name, tmp_path) as (plugin, sim):
        house.rent(sim, house.label(RUN))
        sim.fault("server_error", surface=name, route=house.reads)
        with pytest.raises(ProviderError):
            await plugin.provider.sweep_orphans(set())
        assert not any(row["closed_at"] for row in sim.admin("GET", "/_sim/ledger")["resources"])


@every_house
async def test_a_wrong_key_is_an_error_that_does_not_show_it(name: str, tmp_path: Path) -> None:
    async with simulated(name, tmp_path, key=CANARY) as (plugin, _sim):
        assert plugin.inventory is not None
        with pytest.raises(AuthRejected) as caught:
            await plugin.inventory.inventory()
    assert CANARY not in everything_shown(caught.value, caught.value.body, vars(caught.value))
