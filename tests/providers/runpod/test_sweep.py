"""Reaping by name: one run's leavings, and what no active run claims."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from flashtui.domain.errors import AuthRejected, IncompleteListing, SweepRefused
from flashtui.providers.runpod.labels import belongs, canonical_name, is_ours_like, same_name
from tests.providers.runpod.rig import PODS, against_sim, script, scripted, spec

if TYPE_CHECKING:
    from pathlib import Path

RUN = "flash-1781850000-0a1b2c3d"
NAME = "flash-5090-00000a1b2c3d942722e7"


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ("flash-4090-e1a2b3c4d5e6", "flash-4090-e1a2b3c4d5e6"),
        ("live-flash-4090-e1a2b3c4d5e6", "flash-4090-e1a2b3c4d5e6"),
        ("flash-4090-e1a2b3c4d5e6-fb", "flash-4090-e1a2b3c4d5e6"),
        ("live-flash-4090-e1a2b3c4d5e6 -fb", "flash-4090-e1a2b3c4d5e6"),
        ("live-chat-demo", "chat-demo"),
        ("live-", "live-"),
        (None, ""),
    ],
)
def test_a_name_is_known_whatever_runpod_puts_around_it(shown: str | None, name: str) -> None:
    assert canonical_name(shown) == name


def test_no_name_is_like_no_other() -> None:
    assert not same_name(None, None)
    assert not same_name("", "")
    assert same_name("live-a -fb", "a")


@pytest.mark.parametrize("name", ["chat", "flash", "flash-4090", "flash--x", "flash-4090-A B"])
def test_a_name_of_another_form_is_not_ours(name: str) -> None:
    assert not is_ours_like(name)


@pytest.mark.parametrize(
    ("name", "label", "is_its"),
    [
        (NAME, RUN, True),
        (f"{NAME}r1", RUN, True),
        (f"{NAME}r12", RUN, True),
        (NAME, NAME, True),
        (NAME, "flash-", False),
        (NAME, "flash-1781850000-0a1b2c3e", False),
        ("flash-4090-flash10004234fdd", "flash-100", True),
        ("flash-4090-flash10004234fdd", "flash-1000", False),
        ("flash-run-1", "flash-run", False),
        ("flash-100-s0-a0", "100", True),
        ("flash-1000-s0-a0", "flash-100", False),
        ("chat", RUN, False),
    ],
)
def test_a_name_belongs_to_the_run_whose_hash_it_carries(
    name: str, label: str, is_its: bool
) -> None:
    assert belongs(name, label) is is_its


async def test_gc_takes_every_attempt_of_the_run_and_nothing_else(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        for name in (NAME, f"live-{NAME}r1 -fb", "flash-5090-othersuffix", "chat"):
            rig.sim.endpoint(name=name)
            await rig.provider.gc(spec(RUN))
        left = {e["name"] for e in rig.sim.rest("GET", "/serverless").json["endpoints"]}
    assert left == {"flash-5090-othersuffix", "chat"}


async def test_gc_never_raises_and_reports(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with against_sim(tmp_path, keys=("rpa_WRONG",)) as rig:
        with caplog.at_level(logging.WARNING):
            await rig.provider.gc(spec(RUN))
    assert RUN in caplog.text
    assert "could not list" in caplog.text


async def test_one_that_cannot_be_destroyed_does_not_keep_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with against_sim(tmp_path, confirm_within_s=10.0) as rig:
        stuck = rig.sim.endpoint(name="flash-4090-aaaa")
        loose = rig.sim.endpoint(name="flash-4090-bbbb")
        rig.sim.fault("server_error", surface="runpod", route=f"DELETE */{stuck}")
        assert await rig.provider.sweep_orphans(set()) == [loose]
    assert stuck in caplog.text


async def test_pods_with_a_name_of_ours_are_swept_too(tmp_path: Path) -> None:
    pods = "".join(
        f'[[runpod.pods]]\nid = "{i}"\nname = "{n}"\ngpu_id = "NVIDIA L4"\ncreated_at = -60.0\n'
        for i, n in (("pod1", "flash-run-v1"), ("pod2", "workbench"))
    )
    async with against_sim(tmp_path, f"[runpod]\nsells_out = false\n{pods}") as rig:
        assert await rig.provider.sweep_orphans(set()) == ["pod1"]


@pytest.mark.parametrize("labels", [None, {""}, {"flash-1", " "}])
async def test_a_sweep_that_does_not_know_what_is_active_is_refused(
    tmp_path: Path, labels: set[str] | None
) -> None:
    made = script()
    with pytest.raises(SweepRefused):
        await scripted(made, tmp_path).provider.sweep_orphans(labels)
    assert made.requests == []


async def test_half_a_listing_is_none(tmp_path: Path) -> None:
    async with against_sim(tmp_path) as rig:
        rig.sim.endpoint(name="flash-4090-aaaa")
        rig.sim.fault("server_error", surface="runpod", route=PODS)
        with pytest.raises(IncompleteListing, match="nothing was destroyed"):
            await rig.provider.sweep_orphans(set())
        assert len(rig.sim.rest("GET", "/serverless").json["endpoints"]) == 1


async def test_without_a_key_there_is_nothing_to_sweep_with(tmp_path: Path) -> None:
    with pytest.raises(AuthRejected):
        await scripted(script(), tmp_path, keys=()).provider.sweep_orphans(set())
