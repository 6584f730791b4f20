"""Reaping by label: at its boundary, only what is ours, only from a whole listing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.errors import IncompleteListing, SweepRefused
from flashtui.providers.vast.sweep import is_claimed
from tests.fakes import Answer
from tests.providers.vast.rig import (
    BAD_KEY,
    LIST,
    OK,
    T0_S,
    Rig,
    delete,
    instance_row,
    job,
    page,
    scripted,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes import Sent

LABELS: dict[int, str | None] = {
    1: "flash-100-s0-a0",
    2: "flash-1000-s0-a0",
    3: "flash-other-s1-a2",
    4: "my-notebook",
    5: None,
    6: "flash-fail-fast-s0-a1",
    7: "flash-100",
    9: "flash-keep-s0-a0",
}


def account(
    tmp_path: Path, labels: dict[int, str | None], *, stuck: frozenset[int] = frozenset()
) -> Rig:
    """An account in which a DELETE works at once, except for what is stuck."""
    rig = scripted(tmp_path)
    left = dict(labels)

    def listing(_sent: Sent) -> Answer:
        rows: list[Any] = [
            instance_row(n, label=label, start_date=T0_S - 3600) for n, label in left.items()
        ]
        return page(*rows)

    def destroyer(instance_id: int) -> Any:
        def answer(_sent: Sent) -> Answer:
            if instance_id in stuck:
                return Answer("busy", 500)
            left.pop(instance_id, None)
            return OK

        return answer

    rig.script.on(LIST, listing)
    for instance_id in labels:
        rig.script.on(delete(instance_id), destroyer(instance_id))
    return rig


def destroyed(rig: Rig) -> set[int]:
    return {
        int(sent.path.rstrip("/").rpartition("/")[2])
        for sent in rig.script.requests
        if sent.method == "DELETE"
    }


@pytest.mark.parametrize(
    ("active", "gone"),
    [
        (set(), {1, 2, 3, 6, 7}),
        ({"flash-100"}, {2, 3, 6}),
        ({"1000"}, {1, 3, 6, 7}),
        ({"fail-fast", "flash-keep"}, {1, 2, 3, 7}),
        ({"flash-100-s0-a0", "flash-keep"}, {2, 3, 6, 7}),
    ],
)
async def test_what_no_active_run_claims_is_destroyed(
    tmp_path: Path, active: set[str], gone: set[int]
) -> None:
    rig = account(tmp_path, LABELS, stuck=frozenset({9}))
    swept = await rig.provider.sweep_orphans(active)
    assert {int(name) for name in swept} == gone
    assert destroyed(rig) <= gone | {9}


async def test_foreign_labels_are_never_touched(tmp_path: Path) -> None:
    labels: dict[int, str | None] = {
        1: "Flash-1-s0-a0",
        2: "live-flash-1",
        3: "",
        4: None,
        5: "flas",
    }
    rig = account(tmp_path, labels)
    assert await rig.provider.sweep_orphans(set()) == []
    assert destroyed(rig) == set()


async def test_not_knowing_what_is_active_refuses_the_sweep(tmp_path: Path) -> None:
    rig = account(tmp_path, LABELS)
    with pytest.raises(SweepRefused, match="nothing was destroyed"):
        await rig.provider.sweep_orphans(None)
    with pytest.raises(SweepRefused):
        await rig.provider.sweep_orphans({"flash-100", " "})
    assert rig.script.requests == []


@pytest.mark.parametrize(
    "listing",
    [
        [Answer("", 500)],
        [BAD_KEY],
        [page(instance_row(1, label="flash-1-s0-a0"), token="t", total=2), Answer("", 500)],
        [Answer({"success": True, "instances": None})],
    ],
    ids=["500", "key", "half", "null"],
)
async def test_without_a_whole_listing_nothing_is_destroyed(
    tmp_path: Path, listing: list[Answer]
) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, *listing)
    with pytest.raises(IncompleteListing, match="nothing was destroyed"):
        await rig.provider.sweep_orphans(set())
    assert destroyed(rig) == set()


async def test_one_that_resists_does_not_stop_the_others(tmp_path: Path) -> None:
    rig = account(tmp_path, {1: "flash-1-s0-a0", 2: "flash-2-s0-a0"}, stuck=frozenset({1}))
    assert await rig.provider.sweep_orphans(set()) == ["2"]


@pytest.mark.parametrize(
    ("run_id", "gone"),
    [("100", {1, 7}), ("flash-100", {1, 7}), ("1000", {2}), ("fail-fast", {6}), ("nobody", set())],
)
async def test_a_run_s_leftovers_are_destroyed_by_its_own_label(
    tmp_path: Path, run_id: str, gone: set[int]
) -> None:
    rig = account(tmp_path, LABELS)
    await rig.provider.gc(job(run_id))
    assert destroyed(rig) == gone


async def test_gc_never_raises(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, BAD_KEY)
    await rig.provider.gc(job("100"))
    assert "could not list" in caplog.text


@pytest.mark.parametrize(
    ("label", "active", "claimed"),
    [
        ("flash-100-s0-a0", "100", True),
        ("flash-100-s0-a0", "flash-100", True),
        ("flash-100-s0", "flash-100", True),
        ("flash-1000-s0-a0", "flash-100", False),
        ("flash-100-s0-a0", "flash-1000", False),
        ("flash-100", "100", True),
    ],
)
def test_a_claim_ends_at_the_label_s_boundary(label: str, active: str, *, claimed: bool) -> None:
    assert is_claimed(label, [active]) is claimed


def test_a_long_run_id_still_claims_its_shortened_label() -> None:
    run_id = "flash-live-experiment-with-a-rather-long-name-0007-d1772330400"
    from flashtui.domain.naming import vast_label

    label = vast_label(run_id, 0, 0)
    assert len(label) < 60
    assert is_claimed(label, [run_id])
