"""Every installed provider keeps the contract; a new one is held to it by being installed."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING

import pytest

from flashtui.domain.errors import ProviderError, SweepRefused
from flashtui.domain.gpu import GPU_INFO, UnsupportedGpuError
from flashtui.domain.run import JobHandle
from flashtui.providers import get_provider
from flashtui.providers.base import (
    AccountSource,
    InventorySource,
    OfferSource,
    PriceSource,
    Provider,
)
from flashtui.providers.registry import Registry
from tests.providers.conformance.houses import CANARY, HOUSES, built, everything_shown, names

if TYPE_CHECKING:
    from pathlib import Path

MODULES = ("api", "auth", "gpus", "jobs", "preflight", "pricing", "provider", "train", "wire")
METHODS = tuple(name for name in vars(Provider) if not name.startswith("_"))
every_provider = pytest.mark.parametrize("name", names())
COROUTINES = {"hourly_rate", "submit_run", "poll", "cancel", "destroy", "gc", "sweep_orphans"}


def test_the_contract_has_eleven_names() -> None:
    assert len(METHODS) == 11
    assert {n for n in METHODS if inspect.iscoroutinefunction(getattr(Provider, n))} == COROUTINES


def test_the_two_built_in_providers_are_installed() -> None:
    assert set(HOUSES) <= set(names())


def test_every_provider_loads() -> None:
    registry = Registry(lambda _: pytest.fail("no context is needed to list"))
    assert registry.failures == {}


@every_provider
def test_it_has_the_names_of_the_contract_with_the_same_parameters(
    name: str, tmp_path: Path
) -> None:
    provider = built(name, tmp_path).plugin.provider
    assert isinstance(provider, Provider)
    assert provider.name == name
    for method in set(METHODS) - {"name"}:
        ours, theirs = getattr(provider, method), getattr(Provider, method)
        expected = list(inspect.signature(theirs).parameters.values())[1:]
        found = list(inspect.signature(ours).parameters.values())
        assert [(p.name, p.kind, p.default) for p in found] == [
            (p.name, p.kind, p.default) for p in expected
        ], method
        assert inspect.iscoroutinefunction(ours) == (method in COROUTINES), method


@every_provider
def test_it_has_the_fixed_modules(name: str) -> None:
    package = type_package(name)
    for module in MODULES:
        assert importlib.import_module(f"{package}.{module}").__doc__, module


def type_package(name: str) -> str:
    entry = Registry(lambda _: pytest.fail("not needed"))._entries()[name]
    return entry.value.partition(":")[0]


@every_provider
def test_its_provider_is_the_one_that_the_registry_hands_out(name: str) -> None:
    package = importlib.import_module(type_package(name))
    assert package.PROVIDER is get_provider(name)


@every_provider
def test_nothing_is_asked_before_a_coroutine_is_awaited(name: str, tmp_path: Path) -> None:
    made = built(name, tmp_path, keys=("key-0123456789",))
    provider = made.plugin.provider
    provider.is_configured()
    provider.preflight()
    provider.gpu_classes()
    if made.plugin.prices is not None:
        made.plugin.prices.static_sheet()
    assert made.script.requests == []


@every_provider
def test_it_is_configured_with_a_key_and_a_network(name: str, tmp_path: Path) -> None:
    assert built(name, tmp_path, keys=("key-0123456789",)).plugin.provider.is_configured()
    assert not built(name, tmp_path).plugin.provider.is_configured()
    offline = built(name, tmp_path, keys=("key-0123456789",), FLASH_SKIP_NET="1")
    assert not offline.plugin.provider.is_configured()


@every_provider
def test_preflight_says_what_is_missing_and_nothing_when_ready(name: str, tmp_path: Path) -> None:
    missing = built(name, tmp_path).plugin.provider.preflight()
    assert any(HOUSES[name].variable in sentence for sentence in missing)
    assert any("HF_TOKEN" in sentence for sentence in missing)
    without_hub = built(name, tmp_path).plugin.provider.preflight(require_hf=False)
    assert not any("HF_TOKEN" in sentence for sentence in without_hub)
    ready = built(name, tmp_path, keys=("key-0123456789",), hf=True)
    assert ready.plugin.provider.preflight() == []


@every_provider
def test_its_classes_are_rows_of_the_shared_table(name: str, tmp_path: Path) -> None:
    plugin = built(name, tmp_path).plugin
    classes = plugin.provider.gpu_classes()
    assert classes == [g for g in GPU_INFO.values() if name in g.native]
    assert set(plugin.native_names) == {g.name for g in classes}


@every_provider
async def test_offline_rates_are_the_static_ones(name: str, tmp_path: Path) -> None:
    provider = built(name, tmp_path, FLASH_SKIP_NET="1").plugin.provider
    for gpu in provider.gpu_classes():
        assert await provider.hourly_rate(gpu.name) == gpu.hourly_usd


@every_provider
async def test_a_class_that_is_not_its_own_has_no_rate(name: str, tmp_path: Path) -> None:
    provider = built(name, tmp_path, FLASH_SKIP_NET="1").plugin.provider
    others = [g.name for g in GPU_INFO.values() if name not in g.native]
    for gpu in [*others, "no such card"]:
        with pytest.raises(UnsupportedGpuError):
            await provider.hourly_rate(gpu)


@every_provider
async def test_a_sweep_without_knowing_what_is_active_is_refused(name: str, tmp_path: Path) -> None:
    made = built(name, tmp_path, keys=("key-0123456789",))
    with pytest.raises(SweepRefused):
        await made.plugin.provider.sweep_orphans()
    with pytest.raises(SweepRefused):
        await made.plugin.provider.sweep_orphans(None)
    assert made.script.requests == []


@every_provider
async def test_a_handle_that_names_nothing_is_refused_and_nothing_is_sent(
    name: str, tmp_path: Path
) -> None:
    made = built(name, tmp_path, keys=("key-0123456789",))
    with pytest.raises(ProviderError):
        await made.plugin.provider.destroy(JobHandle(name, {}))
    assert made.script.requests == []


@every_provider
def test_its_sources_keep_their_protocols(name: str, tmp_path: Path) -> None:
    plugin = built(name, tmp_path).plugin
    sources = (
        (plugin.prices, PriceSource),
        (plugin.offers, OfferSource),
        (plugin.inventory, InventorySource),
        (plugin.account, AccountSource),
    )
    for source, protocol in sources:
        assert source is None or isinstance(source, protocol)


@every_provider
def test_the_built_in_list_says_that_it_is_static(name: str, tmp_path: Path) -> None:
    prices = built(name, tmp_path).plugin.prices
    if prices is None:
        return
    for quote in prices.static_sheet().quotes:
        assert (quote.provider, quote.source, quote.rentable) == (name, "static", False)


@every_provider
async def test_the_key_shows_nowhere(name: str, tmp_path: Path) -> None:
    made = built(name, tmp_path, keys=(CANARY,))
    plugin, provider = made.plugin, made.plugin.provider
    shown = everything_shown(plugin, provider, plugin.inventory, made.context)
    shown += everything_shown(provider.preflight(), vars(provider))
    assert CANARY not in shown
