"""The hub as a client sees it: repositories, commits, trees, downloads, tokens, and reports of runs."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest

from tests.sim.runpod_sim import Reply, Sim, running

TOKEN = "hf_demo"


def _hub(sim: Sim, method: str, path: str, body: object = None, **options: Any) -> Reply:
    return sim.call("hub", method, path, body, **{"key": TOKEN, **options})


def _create(sim: Sim, name: str = "runs", **changes: Any) -> Reply:
    body = {"name": name, "organization": "acme", "type": "dataset", "visibility": "private"}
    return _hub(sim, "POST", "/api/repos/create", {**body, **changes})


def _commit(sim: Sim, *entries: dict[str, Any], parent: str | None = None) -> Reply:
    header = {"summary": "upload", "description": ""}
    if parent is not None:
        header["parentCommit"] = parent
    lines = [{"key": "header", "value": header}, *entries]
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    headers = {"Content-Type": "application/x-ndjson"}
    return _hub(sim, "POST", "/api/datasets/acme/runs/commit/main", body, headers=headers)


def _file(path: str, content: bytes) -> dict[str, Any]:
    text = base64.b64encode(content).decode()
    return {"key": "file", "value": {"path": path, "content": text, "encoding": "base64"}}


def _paths(sim: Sim, query: str = "?recursive=true") -> list[str]:
    rows = _hub(sim, "GET", f"/api/datasets/acme/runs/tree/main{query}").json
    return [row["path"] for row in rows]


def test_a_committed_file_comes_back_with_gits_own_id() -> None:
    with running() as sim:
        _create(sim)
        oid = _commit(sim, _file("sft/run/heartbeat.json", b'{"step": 1}')).json["commitOid"]
        got = _hub(sim, "GET", "/datasets/acme/runs/resolve/main/sft/run/heartbeat.json")
    assert got.body == b'{"step": 1}'
    assert got.headers["x-repo-commit"] == oid
    # What `git hash-object` prints for this content.
    assert got.headers["etag"] == '"0cb5e9d270bbdc5b445287735c402d5f7679e0f8"'


def test_head_tells_size_and_identity_without_the_content() -> None:
    with running() as sim:
        _create(sim)
        _commit(sim, _file("a.txt", b"hello"))
        head = _hub(sim, "HEAD", "/datasets/acme/runs/resolve/main/a.txt")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", "5")


def test_a_part_of_a_file_can_be_asked_for() -> None:
    with running() as sim:
        _create(sim)
        _commit(sim, _file("a.txt", b"hello"))
        path = "/datasets/acme/runs/resolve/main/a.txt"
        part = _hub(sim, "GET", path, headers={"Range": "bytes=2-"})
        beyond = _hub(sim, "GET", path, headers={"Range": "bytes=9-"})
    assert (part.status, part.body, part.headers["content-range"]) == (206, b"llo", "bytes 2-4/5")
    assert beyond.status == 416


def test_small_files_are_told_to_go_inline() -> None:
    with running() as sim:
        _create(sim)
        body = {"files": [{"path": "a.txt", "size": 5, "sample": ""}]}
        answer = _hub(sim, "POST", "/api/datasets/acme/runs/preupload/main", body).json
    assert answer["files"] == [
        {"path": "a.txt", "uploadMode": "regular", "shouldIgnore": False, "oid": None}
    ]


def test_a_file_that_is_there_already_is_announced_by_its_id() -> None:
    with running() as sim:
        _create(sim)
        _commit(sim, _file("a.txt", b"hello"))
        body = {"files": [{"path": "a.txt", "size": 5, "sample": ""}]}
        answer = _hub(sim, "POST", "/api/datasets/acme/runs/preupload/main", body).json
    assert answer["files"][0]["oid"] == "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"


def test_folders_are_listed_one_level_at_a_time_unless_asked_otherwise() -> None:
    with running() as sim:
        _create(sim)
        _commit(sim, _file("code/a.py", b"1"), _file("code/lib/b.py", b"2"), _file("c.txt", b"3"))
        assert _paths(sim, "") == ["code", "c.txt"]
        assert _paths(sim) == ["code", "code/lib", "c.txt", "code/a.py", "code/lib/b.py"]


def test_a_long_listing_comes_in_pages_that_name_the_next() -> None:
    with running() as sim:
        _create(sim)
        _commit(sim, *[_file(f"f{number}", b"x") for number in range(5)])
        first = _hub(sim, "GET", "/api/datasets/acme/runs/tree/main?limit=3")
        link = first.headers["link"]
        path = link[link.index("/api/") : link.index(">")]
        second = _hub(sim, "GET", path)
    assert [len(first.json), len(second.json)] == [3, 2]
    assert "link" not in second.headers


def test_deleting_a_folder_takes_what_is_in_it() -> None:
    with running() as sim:
        _create(sim)
        _commit(sim, _file("code/a.py", b"1"), _file("keep", b"2"))
        _commit(sim, {"key": "deletedFolder", "value": {"path": "code/"}})
        missing = _commit(sim, {"key": "deletedFile", "value": {"path": "nothing"}})
        assert _paths(sim) == ["keep"]
    assert (missing.status, missing.headers["x-error-code"]) == (404, "EntryNotFound")


def test_a_commit_on_an_old_parent_is_refused() -> None:
    with running() as sim:
        _create(sim)
        first = _commit(sim, _file("a", b"1")).json["commitOid"]
        _commit(sim, _file("a", b"2"))
        late = _commit(sim, _file("a", b"3"), parent=first)
        now = _hub(sim, "GET", "/datasets/acme/runs/resolve/main/a")
    assert (late.status, now.body) == (412, b"2")


def test_an_older_revision_still_has_the_older_content() -> None:
    with running() as sim:
        _create(sim)
        first = _commit(sim, _file("a", b"1")).json["commitOid"]
        _commit(sim, _file("a", b"2"))
        assert _hub(sim, "GET", f"/datasets/acme/runs/resolve/{first}/a").body == b"1"


def test_creating_twice_is_a_conflict() -> None:
    with running() as sim:
        assert [_create(sim).status, _create(sim).status] == [200, 409]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/datasets/acme/nothing", "RepoNotFound"),
        ("/api/datasets/acme/runs/revision/nothing", "RevisionNotFound"),
        ("/datasets/acme/runs/resolve/main/nothing", "EntryNotFound"),
    ],
)
def test_what_is_missing_is_named_in_a_header(path: str, code: str) -> None:
    with running() as sim:
        _create(sim)
        reply = _hub(sim, "GET", path)
    assert (reply.status, reply.headers["x-error-code"]) == (404, code)


def test_a_private_repository_does_not_exist_for_strangers() -> None:
    with running() as sim:
        _create(sim)
        reply = _hub(sim, "GET", "/api/datasets/acme/runs", key=None)
    assert (reply.status, reply.headers["x-error-code"]) == (401, "RepoNotFound")


def test_a_wrong_token_and_a_reading_token_are_told_apart() -> None:
    with running() as sim:
        _create(sim)
        wrong = _hub(sim, "GET", "/api/whoami-v2", key="hf_wrong")
        reads = _hub(sim, "GET", "/api/datasets/acme/runs", key="hf_demoread")
        writes = _hub(sim, "POST", "/api/datasets/acme/runs/commit/main", b"", key="hf_demoread")
    assert [wrong.status, reads.status, writes.status] == [401, 200, 403]


def test_a_foreign_namespace_is_refused() -> None:
    with running() as sim:
        assert _create(sim, organization="somebody").status == 403


def test_a_large_object_goes_through_the_batch_protocol() -> None:
    content = b"large" * 10
    oid = hashlib.sha256(content).hexdigest()
    with running() as sim:
        _create(sim)
        ask = {"operation": "upload", "objects": [{"oid": oid, "size": 50}]}
        answer = _hub(sim, "POST", "/datasets/acme/runs.git/info/lfs/objects/batch", ask).json
        href = answer["objects"][0]["actions"]["upload"]["href"]
        early = {"key": "lfsFile", "value": {"path": "w", "algo": "sha256", "oid": oid, "size": 50}}
        assert _commit(sim, early).status == 400
        put = _hub(sim, "PUT", href.removeprefix(sim.running.url("hub")), content)
        assert put.status == 200
        assert _commit(sim, early).status == 200
        got = _hub(sim, "GET", "/datasets/acme/runs/resolve/main/w")
    assert got.body == content
    assert got.headers["x-linked-etag"] == f'"{oid}"'


def test_an_unknown_route_is_recorded() -> None:
    with running() as sim:
        _hub(sim, "GET", "/api/nothing")
        assert sim.violations() == ["unknown_route"]


def test_old_commits_are_forgotten_so_that_memory_stays_flat() -> None:
    with running() as sim:
        _create(sim)
        for number in range(320):
            _commit(sim, _file("heartbeat.json", b"%d" % number))
        history = _hub(sim, "GET", "/api/datasets/acme/runs/commits/main").json
    assert len(history) == 300


_REPORT = """
[[hub.reports]]
repo = "acme/runs"
run_id = "flash-1-aa"
phase = "sft"
began_at = -10
setup_s = 100
steps = 60
step_s = 10
"""


def _heartbeat(sim: Sim) -> dict[str, Any]:
    path = "/datasets/acme/runs/resolve/main/sft/flash-1-aa/seed0/heartbeat.json"
    answer: dict[str, Any] = _hub(sim, "GET", path).json
    return answer


def test_a_scenario_run_reports_its_stages_its_steps_and_its_end() -> None:
    with running(_REPORT) as sim:
        assert _heartbeat(sim)["stage"] == "boot"
        sim.step(50)
        assert _heartbeat(sim)["stage"] == "sft_model_load"
        sim.step(40 + 95)
        beat = _heartbeat(sim)
        assert (beat["stage"], beat["step"]) == ("sft_step", 6)
        sim.step(600)
        done = _hub(sim, "GET", "/datasets/acme/runs/resolve/main/sft/flash-1-aa/seed0/DONE")
        metrics = _hub(
            sim, "GET", "/datasets/acme/runs/resolve/main/sft/flash-1-aa/seed0/metrics.json"
        )
    assert float(done.body) > 1_800_000_000
    assert metrics.json["train_tokens"] == 60 * 18_400


def test_a_stalled_run_stops_reporting_and_never_ends() -> None:
    with running(f"{_REPORT}stalls_at_step = 12\n") as sim:
        sim.step(300)
        first = _heartbeat(sim)
        sim.step(3600)
        assert _heartbeat(sim) == first
        assert "sft/flash-1-aa/seed0/DONE" not in _paths(sim)


def test_a_failing_run_leaves_its_traceback() -> None:
    with running(f"{_REPORT}fails_at_step = 12\n") as sim:
        sim.step(600)
        assert _heartbeat(sim)["stage"] == "error_sft"
        assert "sft/flash-1-aa/seed0/error_sft.txt" in _paths(sim)


def test_a_stale_hub_shows_the_file_as_it_was() -> None:
    with running() as sim:
        _create(sim)
        _commit(sim, _file("a", b"1"))
        sim.step(30)
        _commit(sim, _file("a", b"2"))
        sim.fault("stale_listing", surface="hub", count=1, args={"age_s": 10})
        path = "/datasets/acme/runs/resolve/main/a"
        assert [_hub(sim, "GET", path).body, _hub(sim, "GET", path).body] == [b"1", b"2"]
