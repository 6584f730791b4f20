"""Where a key may go."""

from __future__ import annotations

import pytest

from flashtui.domain.errors import ConfigError
from flashtui.net.urls import checked_base_url, host_of, is_loopback


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://console.vast.ai/", "https://console.vast.ai"),
        (" https://api.runpod.io/graphql ", "https://api.runpod.io/graphql"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://localhost:1/x//", "http://localhost:1/x"),
        ("http://[::1]:5", "http://[::1]:5"),
    ],
)
def test_safe_addresses_are_taken_without_a_trailing_slash(given: str, used: str) -> None:
    assert checked_base_url("FLASHTUI_VAST_URL", given) == used


@pytest.mark.parametrize(
    "url",
    [
        "http://console.vast.ai",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "http://0x7f000001.example",
        "ftp://127.0.0.1",
        "console.vast.ai",
        "",
        "http://[::1",
        "https://user:hidden@host.example",
        "https://host.example/?api_key=hidden",
    ],
)
def test_anything_else_is_refused_with_the_name_of_the_variable(url: str) -> None:
    with pytest.raises(ConfigError, match="FLASHTUI_VAST_URL") as caught:
        checked_base_url("FLASHTUI_VAST_URL", url)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.9.9.9", True),
        ("http://LOCALHOST", True),
        ("https://10.0.0.1", False),
        ("http://[::1]", True),
        ("nonsense", False),
    ],
)
def test_loopback_is_this_machine_only(url: str, *, loopback: bool) -> None:
    assert is_loopback(url) is loopback


def test_messages_name_the_host_without_its_query() -> None:
    assert host_of("https://u:p@host.example:444/a?api_key=1") == "host.example:444"
    assert host_of("http://host.example:notaport/") == "host.example"
    assert host_of("::") == "?"
