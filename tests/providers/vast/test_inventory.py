"""Everything the account rents, as resources; and its money."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flashtui.domain.errors import AuthRejected, IncompleteListing, NotSent
from flashtui.domain.money import HourlyRate, Usd
from tests.fakes import T0, Answer
from tests.providers.vast.rig import (
    BAD_KEY,
    KEY,
    LIST,
    T0_S,
    USER,
    instance_row,
    page,
    scripted,
    simulated,
)

if TYPE_CHECKING:
    from pathlib import Path


async def test_an_instance_becomes_a_resource_with_its_handle(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, page(instance_row(5, label="flash-100-s0-a1")))
    listed = await rig.inventory()
    (found,) = listed.resources
    assert listed.complete
    assert (found.resource_id, found.kind, found.label) == ("5", "instance", "flash-100-s0-a1")
    assert (found.gpu, found.num_gpus, found.product) == ("RTX 4090", 1, "instance")
    assert (found.state, found.raw_status, found.started_at) == ("running", "running", T0)
    assert found.rate == HourlyRate.of("0.363333")
    kept = found.handle.to_dict()
    assert kept["provider"] == "vast"
    assert (kept["instance_id"], kept["machine_id"], kept["gpu"]) == (5, 38861, "RTX 4090")
    assert (kept["started_ts"], kept["hourly_usd"]) == (T0_S, pytest.approx(0.363333, abs=1e-6))


async def test_a_stopped_instance_is_listed_with_its_storage_rate(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, page(instance_row(5, actual_status="stopped")))
    (found,) = (await rig.inventory()).resources
    assert (found.state, found.rate) == ("stopped", HourlyRate.of("0.01"))
    assert "still billed" in found.note


async def test_somebody_else_s_row_with_nulls_hurts_no_other(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, page({"id": 1}, {"id": "2", "label": 7, "gpu_name": None}, instance_row(5)))
    found = (await rig.inventory()).resources
    assert [r.resource_id for r in found] == ["1", "2", "5"]
    assert (found[0].label, found[0].gpu, found[0].rate, found[0].started_at) == (
        "",
        None,
        None,
        None,
    )


async def test_a_board_that_is_not_managed_keeps_its_own_name(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, page(instance_row(5, gpu_name="B200", gpu_ram=183359, is_bid=True)))
    (found,) = (await rig.inventory()).resources
    assert (found.gpu, found.product) == ("B200", "interruptible")


async def test_entries_without_an_id_make_the_listing_incomplete(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, page(instance_row(5), {"label": "flash-x"}))
    listed = await rig.inventory()
    assert not listed.complete
    assert len(listed.resources) == 1


async def test_half_a_listing_is_an_error(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, page(instance_row(5), token="t", total=2), Answer("", 500))
    with pytest.raises(IncompleteListing):
        await rig.inventory()


async def test_no_key_is_not_nothing_there(tmp_path: Path) -> None:
    rig = scripted(tmp_path, key=None)
    with pytest.raises(AuthRejected, match="VAST_API_KEY") as caught:
        await rig.inventory()
    assert caught.value.kind == "no_key"
    assert rig.script.requests == []


async def test_offline_nothing_is_asked(tmp_path: Path) -> None:
    with pytest.raises(NotSent, match="FLASH_SKIP_NET"):
        await scripted(tmp_path, FLASH_SKIP_NET="1").inventory()


async def test_a_rejected_key_is_named_without_showing_it(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(LIST, BAD_KEY)
    with pytest.raises(AuthRejected) as caught:
        await rig.inventory()
    assert KEY not in f"{caught.value}{caught.value.body}{caught.value!r}"


async def test_secrets_of_an_instance_are_nowhere_in_a_resource(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(
        LIST,
        page(
            instance_row(
                5,
                jupyter_token="jt_FAKE0123456789",
                extra_env=[["HF_TOKEN", "hf_FAKETOKEN000"]],
                onstart="export HF_TOKEN=hf_FAKETOKEN000; python train.py",
            )
        ),
    )
    shown = repr(await rig.inventory())
    assert all(secret not in shown for secret in ("jt_FAKE", "hf_FAKE", "train.py"))


async def test_a_cut_off_listing_does_not_quote_its_secrets(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    whole = page(instance_row(5, jupyter_token="jt_FAKE0123456789")).content
    cut = whole[: whole.index(b"jt_FAKE") + 9]
    rig.script.on(LIST, Answer(cut))
    with pytest.raises(Exception, match="not whole") as caught:
        await rig.inventory()
    assert "jt_FAKE" not in repr(caught.value) + repr(caught.value.__cause__)[:200]


async def test_more_instances_than_a_page_are_all_seen(tmp_path: Path) -> None:
    async with simulated(tmp_path, "empty") as (rig, sim):
        market = sim.search({"num_gpus": {"eq": 1}})
        machines: dict[int, int] = {o["machine_id"]: o["id"] for o in market}
        rented = {str(sim.rent(offer_id)) for offer_id in list(machines.values())[:30]}
        sim.step(5)
        listed = await rig.inventory()
        assert {r.resource_id for r in listed.resources} == rented
        assert listed.complete
        assert sim.violations() == []


async def test_credit_is_the_balance(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(USER, Answer({"id": 1, "credit": -0.4, "balance": 0}))
    assert rig.plugin.account is not None
    account = await rig.plugin.account.account()
    assert account.balance == Usd.of("-0.4")
    assert (account.spend, account.spend_limit) == (None, None)


async def test_a_credit_that_is_not_told_is_unknown(tmp_path: Path) -> None:
    rig = scripted(tmp_path)
    rig.script.on(USER, Answer({"id": 1, "credit": None, "balance": 0}))
    assert rig.plugin.account is not None
    assert (await rig.plugin.account.account()).balance is None
