"""Allocation across providers: who is asked, for what, and what a failure means."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from flashtui.domain.allocation import (
    AllocationRequest,
    NothingFitsError,
    ProviderNotAvailable,
    SearchFailed,
    UnknownProviderError,
)
from flashtui.domain.errors import Unavailable
from flashtui.domain.gpu import GPU_INFO, UnknownGpuError
from flashtui.domain.market import PriceSheet
from flashtui.providers import library
from flashtui.providers.allocator import allocate, allocate_in, allocation_summary
from flashtui.providers.base import Plugin
from flashtui.providers.method_prices import MethodPrices
from flashtui.providers.registry import Registry
from flashtui.settings import Settings
from tests.build import offer, quote, sheet
from tests.fakes import FakeClock
from tests.unit.plugins import (
    HandMadeEntry,
    HandMadeOffers,
    HandMadePrices,
    HandMadeProvider,
    HandMadeWorld,
    entry,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALL = AllocationRequest("Qwen/Qwen3.5-0.8B", "grpo")
DOWN = Unavailable("vast: search offers: HTTP 503", provider="vast")
NOTHING = PriceSheet("runpod", (), None)


def _prices(dollars: float = 0.69) -> HandMadePrices:
    live = quote("RTX A5000", dollars, "runpod", vram_gb=24)
    listed = quote("RTX A5000", 0.27, "runpod", vram_gb=24, source="static", rentable=False)
    return HandMadePrices(sheet(live, provider="runpod"), sheet(listed, provider="runpod"))


def _market(*gpus: str, dollars: float = 0.25) -> HandMadeOffers:
    found = [
        offer(n, gpu, dollars, vram_gb=GPU_INFO[gpu].vram_gb, storage_rate=None)
        for n, gpu in enumerate(gpus)
    ]
    return HandMadeOffers(tuple(found))


def _world(home: Path, *entries: HandMadeEntry, **env: str) -> Any:
    settings = Settings.load({"FLASHTUI_HOME": str(home), **env})
    return HandMadeWorld(settings, Registry(lambda _: None, entry_points=entries))  # type: ignore[arg-type, return-value]


def _runpod(prices: HandMadePrices, *, configured: bool = True) -> HandMadeEntry:
    return entry(Plugin(HandMadeProvider("runpod", configured=configured), prices=prices))


def _vast(market: HandMadeOffers, *, configured: bool = True) -> HandMadeEntry:
    return entry(Plugin(HandMadeProvider("vast", configured=configured), offers=market))


async def test_everybody_is_asked_and_the_cheapest_wins(tmp_path: Path) -> None:
    market = _market("RTX 3090")
    found = await allocate_in(_world(tmp_path, _vast(market), _runpod(_prices())), SMALL)
    assert (found.provider, found.gpu) == ("vast", "RTX 3090")
    assert market.searches == [{"gpu": None, "min_vram_gb": 24, "disk_gb": 60}]


async def test_only_the_named_provider_is_asked(tmp_path: Path) -> None:
    market, prices = _market("RTX 3090"), _prices()
    world = _world(tmp_path, _vast(market), _runpod(prices))
    found = await allocate_in(world, AllocationRequest(SMALL.model_id, "grpo", provider="runpod"))
    assert found.provider == "runpod"
    assert (market.searches, prices.asked) == ([], 1)


@pytest.mark.parametrize(
    ("field", "error"),
    [({"gpu": "GTX 1080"}, UnknownGpuError), ({"provider": "nowhere"}, UnknownProviderError)],
)
async def test_unknown_names_are_refused_without_asking_anybody(
    tmp_path: Path, field: dict[str, Any], error: type[Exception]
) -> None:
    market, prices = _market("RTX 3090"), _prices()
    world = _world(tmp_path, _vast(market), _runpod(prices))
    with pytest.raises(error):
        await allocate_in(world, AllocationRequest(SMALL.model_id, "grpo", **field))
    assert (market.searches, prices.asked) == ([], 0)


async def test_a_large_pin_is_searched_for_apart(tmp_path: Path) -> None:
    market = _market("RTX 3090", "H100 NVL")
    request = AllocationRequest(SMALL.model_id, "grpo", gpu="h100nvl", disk_gb=90)
    found = await allocate_in(_world(tmp_path, _vast(market)), request)
    assert found.gpu == "H100 NVL"
    assert [search["gpu"] for search in market.searches] == [None, "H100 NVL"]
    assert {search["disk_gb"] for search in market.searches} == {90}


async def test_a_pin_that_is_too_small_is_not_searched_for(tmp_path: Path) -> None:
    market = _market("H100 NVL")
    request = AllocationRequest("x", "sft", gpu="4090", min_vram_gb=30)
    found = await allocate_in(_world(tmp_path, _vast(market)), request)
    assert (found.gpu, found.escalated_from) == ("H100 NVL", "RTX 4090")
    assert len(market.searches) == 1


async def test_one_silent_provider_leaves_the_other(tmp_path: Path) -> None:
    world = _world(tmp_path, _vast(HandMadeOffers(DOWN)), _runpod(_prices()))
    assert (await allocate_in(world, SMALL)).provider == "runpod"
    with pytest.raises(SearchFailed, match="HTTP 503"):
        await allocate_in(world, AllocationRequest(SMALL.model_id, "grpo", provider="vast"))


async def test_without_a_key_only_the_list_counts(tmp_path: Path) -> None:
    prices = _prices()
    world = _world(
        tmp_path, _runpod(prices, configured=False), _vast(_market("RTX 3090"), configured=False)
    )
    found = await allocate_in(world, SMALL)
    assert (found.hourly_usd, found.candidates[0].source, prices.asked) == (0.27, "static", 0)
    with pytest.raises(ProviderNotAvailable, match=r"set VAST_API_KEY \(available: runpod\)"):
        await allocate_in(world, AllocationRequest(SMALL.model_id, "grpo", provider="vast"))


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"FLASH_SKIP_NET": "1"}, r"vast needs VAST_API_KEY and the network"),
        ({"VAST_API_KEY": "k\u2014"}, r"vast: the key from VAST_API_KEY has a character"),
    ],
)
async def test_why_a_provider_cannot_be_asked_is_said(
    tmp_path: Path, env: dict[str, str], words: str
) -> None:
    world = _world(tmp_path, _vast(_market("RTX 3090"), configured=False), **env)
    with pytest.raises(ProviderNotAvailable, match=words):
        await allocate_in(world, AllocationRequest(SMALL.model_id, "grpo", provider="vast"))


async def test_a_provider_that_cannot_be_loaded_cannot_be_asked(tmp_path: Path) -> None:
    def broken(_: Any) -> Any:
        msg = "half installed"
        raise ImportError(msg)

    world = _world(tmp_path, HandMadeEntry("vast", broken), _runpod(_prices()))
    assert (await allocate_in(world, SMALL)).provider == "runpod"
    with pytest.raises(ProviderNotAvailable, match="half installed"):
        await allocate_in(world, AllocationRequest(SMALL.model_id, "grpo", provider="vast"))


async def test_a_provider_with_only_the_eleven_methods_competes(tmp_path: Path) -> None:
    bare = HandMadeProvider("bare", rates={"RTX 4090": 0.2, "RTX 3090": -1.0, "L4": 0.0})
    world = _world(tmp_path, entry(Plugin(bare)), _runpod(_prices()))
    request = AllocationRequest(SMALL.model_id, "grpo", allow_unvalidated=True)
    found = await allocate_in(world, request)
    assert [(c.provider, c.gpu) for c in found.candidates] == [
        ("bare", "RTX 4090"),
        ("runpod", "RTX A5000"),
    ]
    unknown = {line.gpu for line in found.excluded if line.provider == "bare"}
    assert unknown >= {"RTX 3090", "L4"}
    assert MethodPrices(bare, FakeClock()).static_sheet().quotes == ()


async def test_nothing_fits_is_said_with_what_would_help(tmp_path: Path) -> None:
    world = _world(tmp_path, _runpod(_prices()))
    with pytest.raises(NothingFitsError, match="97 GB is more than every managed class has"):
        await allocate_in(world, AllocationRequest("x", "sft", min_vram_gb=97))


# --- the process's own environment ---------------------------------------------------------------


async def test_offline_allocation_ranks_the_static_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {"HOME": tmp_path, "FLASHTUI_HOME": tmp_path, "FLASH_SKIP_NET": 1}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("FLASH_VRAM_HEADROOM", "1.25")
    found = await allocate("Qwen/Qwen3.5-4B", "grpo", exclude_machine_ids={11, "12"})
    assert (found.provider, found.gpu, found.product) == ("runpod", "A100 PCIe", "pod")
    assert found.min_vram_gb == 40
    assert allocation_summary(found).startswith("A100 PCIe @ runpod $1.39/h for 40 GB")


@pytest.fixture
def clock_url() -> Iterator[str]:
    """A simulator's clock that stands still."""

    class Clock(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"now": 1_786_104_000.0, "speed": 0.0}).encode())

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Clock)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/time"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_simulated_world_has_the_simulators_time(tmp_path: Path, clock_url: str) -> None:
    base = clock_url.removesuffix("/time")
    names = ("VAST_URL", "RUNPOD_GRAPHQL_URL", "RUNPOD_REST_URL", "RUNPOD_JOBS_URL")
    env = {f"FLASHTUI_{name}": base for name in names}
    env |= {"HF_ENDPOINT": base, "FLASHTUI_CLOCK_URL": clock_url, "FLASHTUI_HOME": str(tmp_path)}
    world = library.build_library(env)
    assert world.settings.simulated
    assert world.clock.now() == FakeClock().now()
