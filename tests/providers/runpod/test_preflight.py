"""What is missing, in sentences a person can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.providers.runpod.rig import READ_ONLY, against_sim, script, scripted

if TYPE_CHECKING:
    from pathlib import Path


def test_offline_is_said(tmp_path: Path) -> None:
    provider = scripted(script(), tmp_path, env={"FLASH_SKIP_NET": "1"}).provider
    assert any("FLASH_SKIP_NET" in sentence for sentence in provider.preflight(require_hf=False))


def test_a_key_that_cannot_be_one_is_explained(tmp_path: Path) -> None:
    rig = scripted(script(), tmp_path, keys=(), env={"RUNPOD_API_KEY": "rpa_WITH\u00e9ACCENT"})
    (sentence,) = rig.provider.preflight(require_hf=False)
    assert "not allowed in a key" in sentence


async def test_a_key_that_was_refused_is_named(tmp_path: Path) -> None:
    async with against_sim(tmp_path, keys=("rpa_WRONGKEY0000",)) as rig:
        await rig.prices.sheet()
        (sentence,) = rig.provider.preflight(require_hf=False)
    assert "...0000 is not accepted" in sentence


async def test_a_key_that_may_only_read_is_named_once_that_is_known(tmp_path: Path) -> None:
    async with against_sim(tmp_path, keys=(READ_ONLY,)) as rig:
        assert rig.provider.preflight(require_hf=False) == []
        rig.sim.endpoint(name="flash-4090-abc")
        swept = await rig.provider.sweep_orphans(set())
        (sentence,) = rig.provider.preflight(require_hf=False)
    assert swept == []
    assert "may only read" in sentence
