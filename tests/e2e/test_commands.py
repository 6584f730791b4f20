"""The installed commands against a simulator of their own: prices, money, cancel and destroy."""

from __future__ import annotations

import csv
import json
import socket
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import flashtui, flashtui_json
from tests.e2e.terminal import clean_env

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.conftest import Simulator

    StartSimulator = Callable[..., Simulator]

pytestmark = pytest.mark.e2e
DISK_GB = 60
DATA = Path(__file__).resolve().parents[1] / "data"


def epoch(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


def runpod_ids() -> dict[str, str]:
    """Class to RunPod's own id, by the published table and not by the client's."""
    from flashtui.domain.gpu import GPU_CLASSES

    with (DATA / "runpod_price_points.csv").open(encoding="utf-8") as file:
        by_member = {row["flash_gputype_member"]: row["gpu_id"] for row in csv.DictReader(file)}
    return {g.name: by_member[g.enum_member] for g in GPU_CLASSES if g.enum_member}


def told(simulator: Simulator, at: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What each provider asked at a moment, by offer and by GPU id."""
    prices = simulator.admin(f"prices?at={epoch(at)}")
    return {str(o["id"]): o for o in prices["vast"]}, {g["id"]: g for g in prices["runpod"]}


def test_every_live_price_is_the_simulators_own_at_its_observation(
    start_simulator: StartSimulator,
) -> None:
    """A number on screen has to be the number that was asked, for the disk that would be rented."""
    simulator = start_simulator()
    rows = flashtui_json(simulator.env, "prices")["items"]
    ids = runpod_ids()
    compared = set()
    for row in rows:
        if row["source"] != "live" or row["usd_per_hour"] is None or not row["managed"]:
            continue
        vast, runpod = told(simulator, row["observed_at"])
        if row["product"] == "instance":
            offer = vast[row["offer_id"]]
            assert row["usd_per_hour"] == pytest.approx(
                offer["dph_base"] + offer["storage_cost"] * DISK_GB / 720, abs=1e-6
            )
        elif row["product"] in {"serverless", "pod"}:
            asked = runpod[ids[row["gpu"]]][
                "serverless" if row["product"] == "serverless" else "secure"
            ]
            assert row["usd_per_hour"] == pytest.approx(asked, abs=1e-6), row
        else:
            continue
        compared.add((row["provider"], row["product"]))
    assert compared == {("vast", "instance"), ("runpod", "serverless"), ("runpod", "pod")}


def test_prices_have_product_source_and_age_and_move(start_simulator: StartSimulator) -> None:
    """At least 19 of the 21 classes from both providers, and a market that lives."""
    from flashtui.domain.gpu import KNOWN

    simulator = start_simulator()
    first = flashtui_json(simulator.env, "prices")
    assert first["schema"] == "flashtui.prices/1"
    assert first["errors"] == []
    managed = [row for row in first["items"] if row["gpu"] in KNOWN]
    assert len({row["gpu"] for row in managed}) >= 19
    assert {row["provider"] for row in managed} == {"runpod", "vast"}
    assert all(
        row["product"] and row["source"] and row["age_s"] is not None for row in first["items"]
    )
    before = {(r["provider"], r["product"], r["gpu"]): r["usd_per_hour"] for r in managed}
    base = simulator.env["FLASHTUI_CLOCK_URL"].removesuffix("/time")
    request = urllib.request.Request(f"{base}/step", data=b'{"seconds": 120}', method="POST")
    urllib.request.urlopen(request, timeout=10).close()
    later = flashtui_json(simulator.env, "prices")["items"]
    moved = [
        r
        for r in later
        if before.get((r["provider"], r["product"], r["gpu"])) not in {None, r["usd_per_hour"]}
    ]
    assert {row["provider"] for row in moved} == {"runpod", "vast"}


@pytest.mark.parametrize("fault", ["closed", "garbled"])
def test_a_failing_provider_leaves_the_other_untouched(
    start_simulator: StartSimulator, fault: str
) -> None:
    """Closed port or nonsense: named in words, the other provider live, exit code 0."""
    simulator = start_simulator()
    env = dict(simulator.env)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        if fault == "closed":
            env["FLASHTUI_VAST_URL"] = f"http://127.0.0.1:{held.getsockname()[1]}"
        else:
            # The hub's listener knows nothing of Vast's routes.
            env["FLASHTUI_VAST_URL"] = env["HF_ENDPOINT"]
        done = flashtui(env, "prices", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert [error["provider"] for error in document["errors"]] == ["vast"]
    assert document["errors"][0]["message"]
    live = [r for r in document["items"] if r["provider"] == "runpod" and r["source"] == "live"]
    assert live
    assert env["VAST_API_KEY"] not in done.stdout + done.stderr


def test_nobody_answering_is_exit_code_4_and_old_rows_are_marked(
    start_simulator: StartSimulator,
) -> None:
    """The last good rows come back as cached, and never as something to rent."""
    simulator = start_simulator()
    flashtui_json(simulator.env, "prices")
    env = {**simulator.env, "FLASHTUI_VAST_URL": simulator.env["HF_ENDPOINT"]}
    done = flashtui(env, "prices", "--provider", "vast", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 4
    assert document["items"]
    assert {row["source"] for row in document["items"]} == {"cached"}
    assert not any(row["rentable"] for row in document["items"])


def test_destroy_is_proven_in_the_ledger_and_costs_what_it_says(
    start_simulator: StartSimulator,
) -> None:
    """Gone means that the provider's own books have closed."""
    simulator = start_simulator()
    run = next(
        r
        for r in flashtui_json(simulator.env, "runs")["items"]
        if r["provider"] == "vast" and r["state"] == "running"
    )
    resource_id = run["resources"][0]["id"]
    assert simulator.ledger()[resource_id]["billing"]
    done = flashtui(simulator.env, "destroy", run["run_id"], "--yes", "--json")
    (item,) = json.loads(done.stdout)["items"]
    assert (done.returncode, item["outcome"], item["run_id"]) == (0, "done", run["run_id"])
    assert not simulator.ledger()[resource_id]["billing"]
    again = flashtui(simulator.env, "destroy", run["run_id"], "--yes", "--json")
    assert (again.returncode, json.loads(again.stdout)["items"][0]["outcome"]) == (0, "already")
    shown = flashtui_json(simulator.env, "show", run["run_id"])["items"][0]
    assert (shown["resource_state"], shown["may_bill"]) == ("gone", False)
    assert shown["cost_usd"] == pytest.approx(
        simulator.ledger()[resource_id]["billed_usd"], abs=0.01
    )


def test_cancel_stops_the_work_and_does_not_claim_more(start_simulator: StartSimulator) -> None:
    """Cancel is not destroy: what is rented bills on, and the row says so."""
    simulator = start_simulator()
    run = next(
        r
        for r in flashtui_json(simulator.env, "runs")["items"]
        if r["provider"] == "runpod" and r["state"] == "running"
    )
    done = flashtui(simulator.env, "cancel", run["run_id"], "--yes", "--json")
    assert (done.returncode, json.loads(done.stdout)["items"][0]["outcome"]) == (0, "done")
    shown = flashtui_json(simulator.env, "show", run["run_id"])["items"][0]
    assert (shown["state"], shown["goal"], shown["may_bill"]) == ("cancelled", "stopped", True)


def test_a_destroy_without_a_yes_sends_nothing(start_simulator: StartSimulator) -> None:
    """A script that forgot --yes must not destroy; it gets a usage error."""
    simulator = start_simulator()
    run = flashtui_json(simulator.env, "runs")["items"][0]
    done = flashtui(simulator.env, "destroy", run["run_id"], "--json")
    assert (done.returncode, json.loads(done.stdout)["items"][0]["outcome"]) == (2, "refused")
    assert simulator.ledger()[run["resources"][0]["id"]]["billing"]


def test_a_destroy_that_cannot_be_proven_is_exit_code_3(start_simulator: StartSimulator) -> None:
    """A wrong key proves nothing gone, whatever the provider answers."""
    simulator = start_simulator()
    run = next(r for r in flashtui_json(simulator.env, "runs")["items"] if r["provider"] == "vast")
    env = {**simulator.env, "VAST_API_KEY": "vast-some-other-key"}
    done = flashtui(env, "destroy", run["run_id"], "--yes", "--json")
    assert (done.returncode, json.loads(done.stdout)["items"][0]["outcome"]) == (3, "unconfirmed")
    assert simulator.ledger()[run["resources"][0]["id"]]["billing"]
    status = flashtui(simulator.env, "status", "--check")
    assert status.returncode == 3
    assert "vast-some-other-key" not in done.stdout + done.stderr


def test_an_orphan_and_a_foreign_machine_are_counted_apart(start_simulator: StartSimulator) -> None:
    """Burn covers the whole account; what is of no run here is its own sum."""
    simulator = start_simulator()
    document = flashtui_json(simulator.env, "runs")
    assert {row["kind"] for row in document["unowned"]} == {"orphan", "foreign"}
    assert document["foreign_burn_usd_per_hour"] > 0
    assert set(document["balances"]) == {"runpod", "vast"}


def test_offline_is_said_and_uses_the_built_in_list(tmp_path: Path) -> None:
    """FLASH_SKIP_NET: RunPod by the static table, Vast unavailable, nothing contacted."""
    env = clean_env(tmp_path, FLASH_SKIP_NET="1")
    document = flashtui_json(env, "allocate", "--model", "Qwen/Qwen3.5-0.8B", "--algorithm", "grpo")
    (item,) = document["items"]
    assert (item["provider"], item["gpu"], item["hourly_usd"], item["product"]) == (
        "runpod",
        "RTX A5000",
        0.27,
        "pod",
    )
    assert item["candidates"][0]["source"] == "static"
    named = flashtui(
        env,
        "allocate",
        "--model",
        "Qwen/Qwen3.5-0.8B",
        "--algorithm",
        "grpo",
        "--provider",
        "vast",
        "--json",
    )
    assert named.returncode != 0
    assert json.loads(named.stdout)["items"][0]["provider"] is None


def test_demo_needs_no_key_no_network_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """The demo of a one-shot command ends with it."""
    env = clean_env(tmp_path)
    document = flashtui_json(env, "prices", "--demo")
    assert {row["provider"] for row in document["items"]} == {"runpod", "vast"}
    assert document["errors"] == []
    assert not (tmp_path / "flashtui" / "demo" / "sim.json").exists()


def test_half_of_a_provider_failing_leaves_the_other_half_live(
    start_simulator: StartSimulator,
) -> None:
    """Pod prices and serverless prices come from two services; one of them down is an error, not an outage."""
    simulator = start_simulator()
    env = {**simulator.env, "FLASHTUI_RUNPOD_REST_URL": f"{simulator.env['HF_ENDPOINT']}/v2"}
    done = flashtui(env, "prices", "--provider", "runpod", "--json")
    document = json.loads(done.stdout)
    sources = {(row["product"], row["source"]) for row in document["items"]}
    assert done.returncode == 0
    assert [error["provider"] for error in document["errors"]] == ["runpod"]
    assert ("pod", "live") in sources
    assert ("serverless", "live") not in sources
