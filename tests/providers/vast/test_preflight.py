"""What is missing before Vast can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtui.providers.vast.auth import describe_key, identity_of
from tests.providers.vast.rig import KEY, scripted

if TYPE_CHECKING:
    from pathlib import Path


def test_with_key_and_token_nothing_is_missing(tmp_path: Path) -> None:
    assert scripted(tmp_path, hf_token="hf_TOKEN0000").provider.preflight() == []


def test_each_problem_is_a_sentence_with_its_variable(tmp_path: Path) -> None:
    found = scripted(tmp_path, key=None, FLASH_SKIP_NET="1").provider.preflight()
    assert [sentence.split()[0].rstrip(":") for sentence in found] == [
        "FLASH_SKIP_NET",
        "VAST_API_KEY",
        "HF_TOKEN",
    ]


def test_the_hub_is_not_always_needed(tmp_path: Path) -> None:
    assert scripted(tmp_path).provider.preflight(require_hf=False) == []


def test_a_key_is_described_by_its_end_only(tmp_path: Path) -> None:
    context = scripted(tmp_path).context
    assert describe_key(context).endswith("ends in 6789")
    assert KEY not in describe_key(context) + identity_of(context)
    assert describe_key(scripted(tmp_path, key=None).context) == "no key"
