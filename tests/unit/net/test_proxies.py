"""Proxy variables as bastion hosts and desktops set them."""

from __future__ import annotations

import pytest

from flashtui.domain.errors import ConfigError, NotSent
from flashtui.net.proxies import goes_direct, proxy_rules
from tests.fakes import Answer, open_http, scripted_server


@pytest.mark.parametrize(
    "env",
    [
        {"ALL_PROXY": "socks://user:hidden@127.0.0.1:7891"},
        {"ALL_PROXY": "socks5://127.0.0.1:7891"},
        {"HTTPS_PROXY": "http://"},
        {"HTTPS_PROXY": "http://host:port"},
        {"https_proxy": "http://[::1"},
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_without_its_password(env: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=next(iter(env))) as caught:
        proxy_rules(env)
    assert "hidden" not in str(caught.value)


def test_a_proxy_without_a_scheme_is_an_http_proxy() -> None:
    rules = proxy_rules({"HTTPS_PROXY": "127.0.0.1:3128"})
    assert rules.proxy_for("https", "console.vast.ai") == "http://127.0.0.1:3128"
    assert rules.proxy_for("http", "host.example") is None


def test_all_proxy_covers_what_has_none_of_its_own() -> None:
    rules = proxy_rules({"ALL_PROXY": "http://a:1", "https_proxy": "http://b:2"})
    assert rules.proxy_for("https", "x.example") == "http://b:2"
    assert rules.proxy_for("http", "x.example") == "http://a:1"


@pytest.mark.parametrize(
    ("no_proxy", "host", "direct"),
    [
        ("localhost,::1,[::1]", "::1", True),
        ("localhost,::1,[::1]", "console.vast.ai", False),
        ("10.0.0.0/8,fe80::/10", "10.2.3.4", True),
        ("10.0.0.0/8,fe80::/10", "fe80::1", True),
        ("10.0.0.0/8,fe80::/10", "11.0.0.1", False),
        ("vast.ai", "console.vast.ai", True),
        (".vast.ai:443", "console.vast.ai", True),
        ("ast.ai", "console.vast.ai", False),
        ("*", "anything.example", True),
        ("127.0.0.1:8080", "127.0.0.1", True),
        ("nonsense/::", "127.0.0.1", False),
        (", ,", "host.example", False),
    ],
)
def test_no_proxy_in_all_its_forms(no_proxy: str, host: str, *, direct: bool) -> None:
    rules = proxy_rules({"NO_PROXY": no_proxy, "ALL_PROXY": "http://p:1"})
    assert (rules.proxy_for("https", host) is None) is direct
    assert goes_direct(host, rules.direct) is direct


async def test_requests_go_through_the_proxy() -> None:
    async with (
        scripted_server(Answer({"via": "proxy"})) as proxy,
        open_http(env={"HTTP_PROXY": proxy.base_url}) as http,
    ):
        reply = await http.send("GET", "http://far.example/a", provider="vast", operation="look")
    assert reply.status == 200
    assert proxy.requests[0].headers["host"] == "far.example"


async def test_a_dead_proxy_is_no_connection() -> None:
    async with scripted_server(Answer({})) as gone:
        url = gone.base_url
    async with open_http(env={"HTTPS_PROXY": url}) as http:
        with pytest.raises(NotSent):
            await http.send("GET", "https://far.example/a", provider="vast", operation="look")


async def test_a_tunnel_that_the_proxy_refuses_sent_nothing() -> None:
    """The request for the tunnel is not the request."""
    async with (
        scripted_server(Answer("no", 407)) as proxy,
        open_http(env={"HTTPS_PROXY": proxy.base_url}) as http,
    ):
        with pytest.raises(NotSent, match="proxy"):
            await http.send("PUT", "https://far.example/a", provider="vast", operation="rent")
    assert proxy.requests[0].method == "CONNECT"


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR", "ALL_PROXY"])
async def test_what_cannot_be_used_is_named_when_a_request_is_made(name: str) -> None:
    """The dashboard opens whatever the environment holds; the pane says what is wrong with it."""
    async with open_http(env={name: "nowhere://x"}) as http:
        with pytest.raises(NotSent, match=name):
            await http.send("GET", "https://far.example/a", provider="vast", operation="look")
