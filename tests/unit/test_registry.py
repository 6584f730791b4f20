"""Discovery of providers: names, one, all; a broken one stops nobody else."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import flashtui.providers
from flashtui.domain.gpu import GPU_CLASSES
from flashtui.domain.money import HourlyRate
from flashtui.providers import base, library, registry
from flashtui.providers.base import Plugin
from flashtui.providers.registry import Registry, cached_rates, forget_rates, remember_rates
from flashtui.settings import Settings
from tests.build import quote, sheet
from tests.fakes import FakeClock
from tests.unit.plugins import HandMadeEntry, HandMadePrices, HandMadeProvider, entry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _plugin(name: str, *, configured: bool = True, **more: Any) -> Plugin:
    return Plugin(HandMadeProvider(name, configured=configured), **more)


def _refuse(name: str) -> Any:
    raise AssertionError(name)


def _registry(*entries: HandMadeEntry, **more: Any) -> Registry:
    return Registry(lambda name: SimpleNamespace(name=name), entry_points=entries, **more)  # type: ignore[arg-type, return-value]


@pytest.fixture(autouse=True)
def _static_rates() -> Iterator[None]:
    forget_rates()
    yield
    forget_rates()


def test_names_come_in_preference_order_without_importing_anything() -> None:
    entries = [HandMadeEntry(name, _refuse) for name in ("zeta", "vast", "alpha", "runpod")]
    found = Registry(_refuse, entry_points=entries)
    assert found.names == ("runpod", "vast", "alpha", "zeta")
    turned = Registry(_refuse, entry_points=entries, preference=("zeta", "vast"))
    assert turned.names == ("zeta", "vast", "alpha", "runpod")


def test_one_provider_is_built_once_however_its_name_is_written() -> None:
    made: list[str] = []

    def make(context: Any) -> Plugin:
        made.append(context.name)
        return _plugin("vast")

    found = _registry(HandMadeEntry("Vast", make))
    assert found.plugin(" VAST ") is found.plugin("vast")
    assert made == ["vast"]


def test_an_unknown_name_says_which_are_known() -> None:
    with pytest.raises(KeyError, match=r"unknown provider .x. \(known: vast\)"):
        _registry(entry(_plugin("vast"))).plugin("x")


def test_a_bare_checkout_says_why_it_has_no_providers() -> None:
    with pytest.raises(KeyError, match="pip install"):
        _registry().plugin("vast")


def _boom(_: Any) -> Any:
    msg = "no module\x1b[31m named 'x'"
    raise ImportError(msg)


class _Half:
    name = "half"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_boom, "ImportError: no module named 'x'"),
        (lambda _: 3, "it returned int where a Plugin is due"),
        (lambda _: Plugin(_Half()), "its provider lacks is_configured, preflight"),  # type: ignore[arg-type]
        (lambda _: _plugin("other"), "it calls itself 'other'"),
    ],
)
def test_a_provider_that_cannot_be_used_is_reported_and_the_others_work(
    make: Any, why: str
) -> None:
    found = _registry(HandMadeEntry("broken", make), entry(_plugin("vast")))
    assert list(found.plugins()) == ["vast"]
    assert why in found.failures["broken"]
    for _ in range(2):
        with pytest.raises(KeyError, match="provider broken could not be loaded"):
            found.plugin("broken")


def test_one_name_has_one_provider_and_ours_is_not_replaced() -> None:
    ours = entry(_plugin("vast"), "flashtui.providers.vast:plugin")
    same = entry(_plugin("vast"), "flashtui.providers.vast:plugin")
    foreign = HandMadeEntry("vast", _refuse, "evil:plugin")
    found = _registry(foreign, ours, same)
    assert found.plugin("vast").provider.name == "vast"
    assert "evil:plugin" in found.failures["vast (evil:plugin)"]


def test_a_name_that_cannot_be_one_is_reported() -> None:
    found = _registry(HandMadeEntry("a b\x1b[1m", _refuse))
    assert found.names == ()
    assert "cannot be named 'a b'" in found.failures["a b"]


def test_a_provider_counts_as_available_with_a_key_or_with_a_list() -> None:
    listed = HandMadePrices(sheet(), sheet(quote(source="static")))
    unlisted = HandMadePrices(sheet(), base_sheet())
    found = _registry(
        entry(_plugin("key")),
        entry(_plugin("list", configured=False, prices=listed)),
        entry(_plugin("nolist", configured=False, prices=unlisted)),
        entry(_plugin("nothing", configured=False)),
    )
    assert found.available() == ("key", "list")


def base_sheet() -> Any:
    from flashtui.domain.market import PriceSheet

    return PriceSheet("nolist", (), None)


def test_rates_are_the_last_live_ones_over_the_static_ones() -> None:
    static = cached_rates("runpod")
    assert static["RTX A5000"] == HourlyRate.of(0.27)
    assert set(static) == {gpu.name for gpu in GPU_CLASSES if "runpod" in gpu.native}
    remember_rates("runpod", {"RTX 4090": HourlyRate.of(0.1)})
    assert base.cheapest_gpu(24) == "RTX 4090"
    assert cached_rates("runpod")["RTX A5000"] == HourlyRate.of(0.27)
    forget_rates()
    assert base.cheapest_gpu(24) == "RTX A5000"


# --- the default registry of the process ---------------------------------------------------------


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("VAST_API_KEY", "RUNPOD_API_KEY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FLASHTUI_HOME", str(tmp_path))
    monkeypatch.setenv("FLASH_SKIP_NET", "1")


@pytest.mark.usefixtures("offline")
def test_the_installed_providers_are_found_and_are_single() -> None:
    assert flashtui.providers.PROVIDER_NAMES[:2] == ("runpod", "vast")
    runpod = flashtui.providers.get_provider(" RunPod ")
    assert runpod is flashtui.providers.get_provider("runpod")
    assert runpod is registry.default_provider("runpod")
    assert isinstance(runpod, base.Provider)
    assert flashtui.providers.available_providers() == ("runpod",)
    assert flashtui.providers.configured_providers() == [runpod]
    with pytest.raises(KeyError, match="unknown provider"):
        flashtui.providers.get_provider("nowhere")


def test_the_package_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        flashtui.providers.nothing_like_it  # noqa: B018


@pytest.mark.usefixtures("offline")
def test_the_default_world_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    first = library.library()
    assert library.library() is first
    monkeypatch.setenv("VAST_API_KEY", "vast-test-key-000")
    second = library.library()
    assert second is not first
    assert second.settings.api_keys("vast")[0].reveal() == "vast-test-key-000"


def test_the_default_world_teaches_its_redactor_the_keys(tmp_path: Path) -> None:
    env = {"FLASHTUI_HOME": str(tmp_path), "RUNPOD_API_KEY": "canary-0123456789"}
    context = library._contexts(Settings.load(env), FakeClock(), env)("runpod")
    assert "canary" not in context.http.redactor.clean("the key is canary-0123456789")


def test_the_default_world_keeps_one_client_per_event_loop(tmp_path: Path) -> None:
    world = library.build_library({"FLASHTUI_HOME": str(tmp_path)})
    make = library._client_per_loop(world.settings, {})

    async def two() -> tuple[object, object]:
        first, again = make(), make()
        assert first.headers["Connection"] == "close"
        await first.aclose()
        return first, again

    once, twice = asyncio.run(two())
    other, _ = asyncio.run(two())
    assert once is twice
    assert other is not once
