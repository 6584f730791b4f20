"""The official Vast command line, `vastai`, against the simulator: the outcomes on record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.contract.conftest import Bench

CLIENT = "vastai"
pytestmark = [pytest.mark.contract, pytest.mark.timeout(300)]


def vast(bench: Bench, *args: str) -> str:
    """Output of one command; the tool exits 0 after HTTP errors too, so the words decide."""
    done = bench.run("vastai", *args)
    assert done.returncode == 0, done.stderr
    assert "Failed with error" not in done.stderr, done.stderr
    return done.stdout


def raw(bench: Bench, *args: str) -> Any:
    return json.loads(vast(bench, *args, "--raw"))


def test_search_offers_in_its_spellings(bench: Bench) -> None:
    """Default and `--new` route, filters as text and numbers, order, and storage that changes the price."""
    default = raw(bench, "search", "offers")
    assert len(default) > 50
    assert all(o["verification"] == "verified" and o["rentable"] for o in default)
    assert len(raw(bench, "search", "offers", "--new")) > 50
    query = "gpu_name=RTX_4090 num_gpus=1 dph_total<2 gpu_ram>=20 reliability>0.9"
    found = raw(bench, "search", "offers", query, "-o", "dph_total")
    assert found
    assert {o["gpu_name"] for o in found} == {"RTX 4090"}
    prices = [o["dph_total"] for o in found]
    assert prices == sorted(prices)
    larger = {
        o["id"]: o
        for o in raw(bench, "search", "offers", query, "-o", "dph_total", "--storage", "105")
    }
    small = next(o for o in found if o["id"] in larger and o["storage_cost"] > 0)
    risen = larger[small["id"]]["dph_base"] + small["storage_cost"] * 105 / 720
    assert larger[small["id"]]["dph_total"] == pytest.approx(risen, abs=1e-6)
    assert "RTX_4090" in vast(bench, "search", "offers", query)
    assert bench.violations() == []


def test_the_life_of_an_instance(bench: Bench) -> None:
    """Create, label, show, logs, stop, start, destroy; the ledger opens and closes with it."""
    offer = raw(bench, "search", "offers", "gpu_name=RTX_4090 num_gpus=1", "-o", "dph_total")[0]
    created = raw(
        bench, "create", "instance", str(offer["id"]), "--image", "example/train:1", "--disk", "20"
    )
    assert created["success"] is True
    instance = str(created["new_contract"])
    bench.admin("step", {"seconds": 600})
    vast(bench, "label", "instance", instance, "contract-test")
    shown = raw(bench, "show", "instance", instance)
    assert (shown["label"], shown["actual_status"]) == ("contract-test", "running")
    listed = raw(bench, "show", "instances")
    assert instance in {str(row["id"]) for row in listed}
    assert vast(bench, "logs", instance, "--tail", "5").strip()
    assert "stopping" in vast(bench, "stop", "instance", instance).lower()
    bench.admin("step", {"seconds": 60})
    assert raw(bench, "show", "instance", instance)["actual_status"] in {"stopped", "exited"}
    vast(bench, "start", "instance", instance)
    bench.admin("step", {"seconds": 120})
    assert raw(bench, "show", "instance", instance)["actual_status"] == "running"
    assert "destroying" in vast(bench, "destroy", "instance", instance, "-y").lower()
    bench.admin("step", {"seconds": 60})
    gone = bench.run("vastai", "show", "instance", instance)
    assert gone.returncode == 1
    assert "not found" in gone.stdout + gone.stderr
    row = next(r for r in bench.admin("ledger")["resources"] if r["id"] == instance)
    assert not row["billing"]
    assert row["billed_usd"] > 0
    assert bench.violations() == []


def test_more_instances_than_a_page_are_all_shown(bench: Bench) -> None:
    """Pages of 25: a client that stops after the first misses machines that bill."""
    offers = raw(bench, "search", "offers", "num_gpus=1", "-o", "dph_total")
    made: set[str] = set()
    for offer in offers:
        if len(made) == 27:
            break
        script = (
            "import json, os, requests\n"
            f"r = requests.put(os.environ['VAST_URL'] + '/api/v0/asks/{offer['id']}/', "
            "headers={'Authorization': 'Bearer ' + os.environ['VAST_API_KEY']}, "
            "json={'client_id': 'me', 'image': 'example/train:1', 'disk': 10})\n"
            "print(json.dumps(r.json()))"
        )
        answer = bench.python(script)
        if answer.get("success"):
            made.add(str(answer["new_contract"]))
    bench.admin("step", {"seconds": 60})
    assert len(made) == 27
    before = bench.admin("requests")["requests"].get("vast GET /api/v1/instances/", 0)
    assert made <= {str(row["id"]) for row in raw(bench, "show", "instances")}
    after = bench.admin("requests")["requests"]["vast GET /api/v1/instances/"]
    assert after - before == 2
    assert bench.violations() == []


def test_show_user_has_the_credit_and_no_key(bench: Bench) -> None:
    """What the balance is read from."""
    user = raw(bench, "show", "user")
    assert user["credit"] > 0
    assert bench.env["VAST_API_KEY"] not in json.dumps(user)
    assert bench.violations() == []


def test_what_is_not_there_is_said_in_the_recorded_words(bench: Bench) -> None:
    """An offer that is gone is an error text with exit 0; an instance that is gone is exit 1."""
    rent = bench.run("vastai", "create", "instance", "999999999", "--image", "a", "--disk", "10")
    assert (rent.returncode, rent.stdout) == (0, "")
    assert "Failed with error 404" in rent.stderr
    assert "no_such_ask" in rent.stderr
    shown = bench.run("vastai", "show", "instance", "999")
    assert shown.returncode == 1
    assert "not found" in shown.stderr
    assert bench.violations() == []


def test_each_command_asks_the_routes_on_record(bench: Bench) -> None:
    """`show instances` prints its table from the paged list; `--new` searches by the other route."""
    assert "running" in vast(bench, "show", "instances")
    assert "RTX_4090" in vast(bench, "search", "offers", "--new", "gpu_name=RTX_4090")
    asked = bench.admin("requests")["requests"]
    for route in (
        "GET /api/v0/instances/filters/",
        "GET /api/v1/instances/",
        "PUT /api/v0/search/asks/",
    ):
        assert asked.get(f"vast {route}") == 1, route
    assert bench.violations() == []


def test_a_wrong_answer_of_the_simulator_is_noticed(bench: Bench) -> None:
    """The proof that these tests can fail: an HTML page in place of offers leaves the tool without rows."""
    bench.admin(
        "fault",
        {"name": "html_502", "surface": "vast", "route": "POST /api/v0/bundles/*", "count": 10},
    )
    done = bench.run("vastai", "search", "offers", "--raw")
    assert done.stdout.strip() == ""
    assert json.loads(done.stderr)["status_code"] == 502
    with pytest.raises(AssertionError, match="Failed with error 502"):
        vast(bench, "search", "offers")
