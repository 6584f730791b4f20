"""The loopback mount, the control routes, the command line and the scenario files."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from flashtui.sim import scenario as scenarios
from flashtui.sim.faults import catalogue
from flashtui.sim.http import BodyCut, ConnectionWasReset, Hung, ReplyLost, Request, Response
from flashtui.sim.server import build_world, serve, start_in_thread
from tests.sim.vast_sim import KEY, START, Sim, world_of

if TYPE_CHECKING:
    from pathlib import Path

    from flashtui.sim.http import TransportFault

EXPORTED = {
    "FLASHTUI_VAST_URL", "FLASHTUI_RUNPOD_GRAPHQL_URL", "FLASHTUI_RUNPOD_REST_URL", "FLASHTUI_RUNPOD_JOBS_URL",
    "FLASHTUI_CLOCK_URL", "HF_ENDPOINT", "HF_TOKEN", "VAST_API_KEY", "RUNPOD_API_KEY", "VAST_URL",
    "RUNPOD_API_BASE_URL", "RUNPOD_ENDPOINT_BASE_URL",
}  # fmt: skip


def request(path: str = "/api/v0/bundles/", method: str = "POST", body: bytes = b"{}") -> Request:
    return Request("vast", method, path, path, {}, {}, body, "127.0.0.1", "http://vast.sim")


# -- listeners -------------------------------------------------------------------------------------------------------


def test_everything_a_client_needs_is_exported(vast: Sim) -> None:
    exports = vast.running.exports()
    assert set(exports) == EXPORTED
    assert exports["FLASHTUI_RUNPOD_GRAPHQL_URL"] == vast.running.url("runpod") + "/graphql"
    assert exports["RUNPOD_ENDPOINT_BASE_URL"] == vast.running.url("jobs") + "/v2"
    assert all(
        value.startswith("http://127.0.0.1:") for name, value in exports.items() if "URL" in name
    )


def test_nothing_but_loopback_is_served(vast: Sim) -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.1 only"):
        serve(vast.world, host="0.0.0.0")  # noqa: S104


def test_a_fixed_port_gives_four_in_a_row_and_a_taken_one_is_an_error() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    if port > 65_000:
        pytest.skip("no four ports above it")
    running = start_in_thread("empty", port=port)
    try:
        ports = [urlsplit(running.url(name)).port for name in ("vast", "runpod", "jobs", "hub")]
        assert ports == [port, port + 1, port + 2, port + 3]
        with pytest.raises(OSError, match=r"."):
            start_in_thread("empty", port=port)
    finally:
        running.close()


def test_a_connection_is_kept_for_several_requests(vast: Sim) -> None:
    address = urlsplit(vast.running.url("vast"))
    connection = HTTPConnection(str(address.hostname), address.port, timeout=5)
    connection.request("GET", "/api/v0/gpu_names/unique/")
    connection.getresponse().read()
    before = connection.sock
    connection.request(
        "POST", "/api/v0/bundles/", iter([b'{"limit"', b": 2}"]), {"Authorization": f"Bearer {KEY}"}
    )
    assert len(json.loads(connection.getresponse().read())["offers"]) == 2
    assert connection.sock is before
    connection.close()


def test_closing_ends_open_connections() -> None:
    running = start_in_thread("empty")
    address = urlsplit(running.url("hub"))
    connection = HTTPConnection(str(address.hostname), address.port, timeout=5)
    connection.request("GET", "/_sim/time")
    connection.getresponse().read()
    running.close()
    assert connection.sock.recv(1) == b""
    connection.close()


@pytest.mark.parametrize(
    ("directive", "raised"),
    [
        ({"hang": True}, Hung),
        ({"reset": True}, ConnectionWasReset),
        ({"lost": True}, ReplyLost),
        ({"cut_after": 2}, BodyCut),
    ],
)
def test_a_broken_exchange_is_a_typed_error_in_process(
    directive: dict[str, Any], raised: type[TransportFault]
) -> None:
    with pytest.raises(raised):
        Response(200, b"body", **directive).delivered()


def test_a_whole_reply_is_delivered_as_it_is() -> None:
    reply = Response(200, b"body", cut_after=4)
    assert reply.delivered() is reply


# -- control routes --------------------------------------------------------------------------------------------------


def test_control_routes_answer_on_every_listener_without_a_key(vast: Sim) -> None:
    for surface in ("vast", "runpod", "jobs", "hub"):
        told = vast.send("GET", "/_sim/time", key=None, surface=surface).json
        assert (told["now"], told["speed"]) == (START, 0)


def test_time_can_be_stepped_and_its_speed_set(vast: Sim) -> None:
    assert vast.admin("POST", "/_sim/step", {"seconds": 90})["now"] == START + 90
    assert vast.admin("POST", "/_sim/time", {"speed": 0})["speed"] == 0


def test_a_reset_begins_the_same_world_again(vast: Sim) -> None:
    prices = [offer["dph_base"] for offer in vast.search()]
    vast.rent()
    vast.fault("server_error")
    vast.step(100)
    answer = vast.admin("POST", "/_sim/reset")
    assert (answer["now"], answer["seed"]) == (START, 7)
    assert [offer["dph_base"] for offer in vast.search()] == prices
    assert vast.admin("GET", "/_sim/ledger")["resources"] == []
    assert vast.admin("GET", "/_sim/fault")["faults"] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/_sim/step", {"seconds": -4}),
        ("/_sim/step", {}),
        ("/_sim/time", {"speed": "fast"}),
        ("/_sim/reset", {"scenario": "nowhere"}),
        ("/_sim/fault", {"name": "no_such_fault"}),
        ("/_sim/fault", {"name": "reset", "speed": 4}),
        ("/_sim/fault", {"name": "reset", "probability": 2}),
    ],
)
def test_a_control_request_that_makes_no_sense_is_400_in_words(
    vast: Sim, path: str, body: object
) -> None:
    reply = vast.send("POST", path, body, surface="hub")
    assert reply.status == 400
    assert reply.json["error"]


def test_an_unknown_control_route_lists_the_known_ones(vast: Sim) -> None:
    reply = vast.send("GET", "/_sim/nothing", surface="hub")
    assert reply.status == 404
    assert "GET /_sim/ledger" in reply.json["routes"]


def test_the_ledger_says_what_is_billed_now(vast: Sim) -> None:
    number = vast.rent(label="run-9")
    vast.step(3600)
    told = vast.admin("GET", "/_sim/ledger")
    row = told["resources"][0]
    assert (row["id"], row["label"], row["billing"], row["closed_at"]) == (
        str(number),
        "run-9",
        True,
        None,
    )
    assert set(row["parts"]) == {"gpu", "storage"}
    assert told["total_usd"] == pytest.approx(row["billed_usd"])


def test_requests_are_counted(vast: Sim) -> None:
    vast.search()
    vast.search()
    vast.instance(4242)
    vast.instance(4243)
    counts = vast.admin("GET", "/_sim/requests")["requests"]
    assert counts == {"vast POST /api/v0/bundles/": 2, "vast GET /api/v0/instances/{id}/": 2}


# -- scenarios -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", scenarios.names())
def test_every_scenario_builds_a_world_and_runs_for_ten_minutes(name: str) -> None:
    world = build_world(name, speed=0.0, start=START)
    world.handle(request())
    world.time.step(600)
    assert world.handle(request()).status in {200, 302, 401, 403, 404, 429, 500, 502, 503}


def test_the_calm_world_starts_with_runs_in_different_states_an_orphan_and_a_stranger(
    vast: Sim,
) -> None:
    vast.start_over("calm")
    runs = {run["run_id"]: run for run in vast.admin("GET", "/_sim/runs")["items"]}
    assert {run["state"] for run in runs.values()} == {
        "running",
        "provisioning",
        "done",
        "failed",
        "cancelled",
    }
    held = {
        str(handle)
        for run in runs.values()
        for handle in [run.get("handle", {}).get("instance_id")]
    }
    free = [row for row in vast.admin("GET", "/_sim/state")["vast"] if str(row["id"]) not in held]
    labels = {row["label"] for row in free}
    orphan = next(label for label in labels if label.startswith("flash-"))
    assert "jupyter-anna" in labels
    assert runs[re.sub(r"-s\d+-a\d+$", "", orphan)]["state"] == "failed"


def test_the_runs_of_a_scenario_agree_with_its_providers(vast: Sim) -> None:
    vast.start_over("calm")
    shown = {row["id"]: row for row in vast.admin("GET", "/_sim/state")["vast"]}
    for run in vast.admin("GET", "/_sim/runs")["items"]:
        if run["provider"] != "vast" or "handle" not in run:
            continue
        instance = shown[run["handle"]["instance_id"]]
        assert instance["label"] == run["label"] == run["handle"]["label"]
        assert instance["dph_total"] == pytest.approx(run["hourly_usd"], abs=1e-6)
        assert instance["machine_id"] == run["handle"]["machine_id"]
        assert run["cost_usd"] == pytest.approx(vast.ledger(instance["id"])["billed_usd"], abs=1e-6)
        assert run["handle"]["started_ts"] == instance["start_date"]


def test_a_scenario_builds_on_another(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('extends = "calm"\n[vast]\ncredit_usd = 3\n[[faults]]\nname = "slow"\n')
    made = scenarios.load(str(path))
    assert made.table("vast")["credit_usd"] == 3
    assert len(made.rows("vast", "instances")) == 4
    assert len(made.runs) == 6
    assert [fault["name"] for fault in made.faults] == ["slow"]


@pytest.mark.parametrize("text", ["[surprise]\n", "not toml", '[vast]\ninstances = "none"\n'])
def test_a_scenario_that_is_wrong_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="scenario"):
        world_of(text)


def test_a_contract_with_an_unknown_field_says_so() -> None:
    with pytest.raises(ValueError, match="colour"):
        world_of('[[vast.instances]]\ncolour = "red"\n')


def test_the_storm_orders_every_fault_there_is() -> None:
    ordered = {str(fault["name"]) for fault in scenarios.load("storm").faults}
    assert ordered == set(catalogue())


def test_the_busy_world_has_five_thousand_offers(vast: Sim) -> None:
    vast.start_over("busy")
    assert len(vast.search({"limit": 5000})) >= 5000


def test_the_demos_story_goes_as_told(vast: Sim) -> None:
    vast.start_over("demo")

    def h100() -> float:
        return float(
            vast.search({"gpu_name": {"eq": "H100 SXM"}, "num_gpus": {"eq": 1}})[0]["dph_base"]
        )

    def statuses() -> tuple[int, int]:
        search = vast.send("POST", "/api/v0/bundles/", {"limit": 1}).status
        return search, vast.send("GET", "/api/v1/instances/").status

    stranger, orphan = 28390011, 28452077
    before = h100()
    vast.step(20)
    assert h100() < 0.92 * before
    assert (statuses(), vast.instance(orphan)) == ((200, 200), None)
    vast.step(12)
    assert vast.instance(orphan)["label"] == "flash-1796061000-3b4c5d6e-s0-a1"
    vast.step(8)
    assert statuses() == (429, 429)
    vast.step(22)
    assert vast.instance(stranger)["actual_status"] == "offline"
    assert vast.send("DELETE", f"/api/v0/instances/{orphan}/", {}).json == {"success": True}
    vast.step(15)
    assert statuses() == (200, 200)
    assert orphan in [row["id"] for row in vast.instances()["instances"]]
    vast.step(10)
    assert 2.0 < vast.credit() < 2.61
    vast.step(20)
    assert orphan not in [row["id"] for row in vast.instances()["instances"]]
    assert vast.admin("GET", "/_sim/ledger")["resources"][-1]["closed_at"] == START + 62 + 40


# -- command line ----------------------------------------------------------------------------------------------------


def lines_of(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline() for _ in range(count)]


def test_the_module_prints_exports_serves_and_ends_on_a_signal() -> None:
    command = [
        sys.executable,
        "-m",
        "flashtui.sim",
        "--scenario",
        "empty",
        "--fault",
        '{"name": "server_error"}',
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        exports = dict(
            line.removeprefix("export ").strip().split("=", 1)
            for line in lines_of(process, len(EXPORTED))
        )
        assert set(exports) == EXPORTED
        address = urlsplit(exports["VAST_URL"])
        connection = HTTPConnection(str(address.hostname), address.port, timeout=5)
        connection.request("GET", "/api/v0/gpu_types/")
        assert connection.getresponse().status == 500
        connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


def test_the_module_ends_with_its_parent() -> None:
    with subprocess.Popen(["sleep", "60"]) as parent:
        command = [
            sys.executable,
            "-m",
            "flashtui.sim",
            "--scenario",
            "empty",
            "--parent-pid",
            str(parent.pid),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            lines_of(process, len(EXPORTED))
            parent.kill()
            parent.wait()
            assert process.wait(timeout=10) == 0


def test_a_wrong_option_is_one_line_and_exit_2() -> None:
    command = [sys.executable, "-m", "flashtui.sim", "--scenario", "nowhere"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 2
    assert done.stderr.startswith("flashtui sim: no scenario 'nowhere'")
