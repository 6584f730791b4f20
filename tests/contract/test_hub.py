"""The official `huggingface_hub` library uploads and downloads through the simulator: artifacts travel this way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.contract.conftest import Bench

CLIENT = "hub"
pytestmark = [pytest.mark.contract, pytest.mark.timeout(300)]


def test_a_dataset_repository_from_create_to_download(bench: Bench) -> None:
    """Create, upload small files by commit, list, download, and find the same bytes."""
    seen = bench.python(
        "import json\n"
        "from huggingface_hub import HfApi, hf_hub_download\n"
        "api = HfApi()\n"
        "api.create_repo('acme/contract', repo_type='dataset', exist_ok=True)\n"
        "put = lambda data, name: api.upload_file(path_or_fileobj=data, path_in_repo=name, repo_id='acme/contract', repo_type='dataset')\n"
        "put(b'{\"stage\": \"boot\"}', 'sft/run-1/heartbeat.json'); put(b'\\x00\\xff' * 100, 'sft/run-1/blob.bin')\n"
        "names = api.list_repo_files('acme/contract', repo_type='dataset')\n"
        "path = hf_hub_download('acme/contract', 'sft/run-1/blob.bin', repo_type='dataset')\n"
        "put(b'{\"stage\": \"done\"}', 'sft/run-1/heartbeat.json')\n"
        "beat = open(hf_hub_download('acme/contract', 'sft/run-1/heartbeat.json', repo_type='dataset')).read()\n"
        "print(json.dumps({'names': names, 'blob': open(path, 'rb').read().hex(), 'beat': beat}))"
    )
    assert {"sft/run-1/heartbeat.json", "sft/run-1/blob.bin"} <= set(seen["names"])
    assert bytes.fromhex(seen["blob"]) == b"\x00\xff" * 100
    assert seen["beat"] == '{"stage": "done"}'
    assert bench.violations() == []


def test_a_missing_file_and_a_wrong_token_are_their_own_errors(bench: Bench) -> None:
    """A reader of heartbeats has to tell "not there yet" from "not allowed"."""
    seen = bench.python(
        "import json\n"
        "from huggingface_hub import HfApi, hf_hub_download\n"
        "from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError\n"
        "HfApi().create_repo('acme/contract', repo_type='dataset', exist_ok=True)\n"
        "names = []\n"
        "try:\n    hf_hub_download('acme/contract', 'nope.json', repo_type='dataset')\n"
        "except EntryNotFoundError as e:\n    names.append('entry')\n"
        "try:\n    HfApi(token='hf_wrong').create_repo('acme/other', repo_type='dataset')\n"
        "except HfHubHTTPError as e:\n    names.append(e.response.status_code)\n"
        "print(json.dumps(names))"
    )
    assert seen == ["entry", 401]
    assert bench.violations() == []


def test_a_wrong_answer_of_the_simulator_is_noticed(bench: Bench) -> None:
    """The proof that these tests can fail: a refused create makes the library raise."""
    bench.admin("fault", {"name": "html_403", "surface": "hub", "route": "POST *", "count": 5})
    done = bench.run(
        "python",
        "-c",
        "from huggingface_hub import HfApi\nHfApi().create_repo('acme/contract', repo_type='dataset')",
    )
    assert done.returncode != 0
    assert "403" in done.stderr
